"""Typed columns of arrays and data-frames, read in one way everywhere.

A column holds numbers or labels, and marks missing values. Whether these are an error is decided
by the caller.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Complex, Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.kinds import NEVER, is_categorical, least_repeats
from lorenyi.data.sources import row_slices

Kind: TypeAlias = Literal["number", "time", "label"]
REMEDY = "drop or impute such rows first"
# Of a datetime, which is a date too, the first counts.
TIMES = (datetime.datetime, datetime.date, datetime.timedelta, datetime.time)


def as_table(array: Array, name: str, n: int | None = None) -> Array:
    """Return an array of one or two axes, (some) of n rows, as a table; more axes are refused."""
    if array.ndim > 2:
        shape = tuple(array.shape) if n is None else (n, *array.shape[1:])
        raise ValueError(
            f"{name} has shape {shape}: rows are points, so it has two axes. Give "
            f"{name}.reshape(len({name}), -1) for one point per item, or "
            f"{name}.reshape(-1, {array.shape[-1]}) for one point per row of the last axis; "
            "lorenyi.representations measures each [T, D] by itself"
        )
    return array[:, None] if array.ndim == 1 else array


@dataclass(frozen=True, eq=False)
class Column:
    """One typed column.

    Parameters
    ----------
    label : str
        Name used in errors.
    values : array of n
        Numbers (integers stay integers; dates and durations are days), or labels that can be
        sorted.
    kind : {"number", "time", "label"}
        What they are by their type; text, truth values and categories are labels.
    missing : array of bool
        Where there is no value. NaN in a column of floats is not marked.
    """

    label: str
    values: np.ndarray
    kind: Kind
    missing: np.ndarray

    @property
    def categorical(self) -> bool:
        """Whether the values are categories: by their type, or few distinct whole numbers."""
        few = self.kind == "number" and is_categorical(self.values[~self.missing])
        return self.kind == "label" or few

    @property
    def least_repeats(self) -> float:
        """How often values occur in the mean, at least, where numbers are categories."""
        return least_repeats(self.values.dtype) if self.kind == "number" else NEVER

    def present(self, first: int = 0) -> np.ndarray:
        """Return the values, if none is missing; errors count rows from `first`."""
        require_present(self.missing, self.label, first)
        return self.values

    @property
    def gaps(self) -> np.ndarray:
        """Where there is no value, or NaN."""
        return (
            self.missing | np.isnan(self.values) if self.values.dtype.kind == "f" else self.missing
        )

    def take(self, rows: np.ndarray) -> Column:
        """Return some rows, possibly repeated."""
        return Column(self.label, self.values[rows], self.kind, self.missing[rows])

    def numbers(self) -> np.ndarray:
        """Return numbers as float64, NaN where one is missing."""
        return np.where(self.missing, np.nan, self.values.astype(np.float64))

    def codes(self) -> np.ndarray:
        """Number the distinct values from 0, in their order; -1 where one is missing."""
        codes = np.unique(self.values, return_inverse=True)[1].astype(np.int64)
        return np.where(self.gaps, -1, codes)


# ------------------------------------------------------------------------------- checks


def require_present(missing: np.ndarray, label: str, first: int = 0) -> None:
    """Refuse missing values, naming the row of the first; rows are counted from `first`."""
    count = int(missing.sum())
    if count:
        row = first + int(np.argwhere(missing)[0][0])
        values = "values" if count > 1 else "value"
        raise ValueError(f"{label} has {count} missing {values}, first at row {row}: {REMEDY}")


def require_finite(array: Array, name: str, first: int = 0) -> None:
    """Refuse NaN and infinities, naming the first; rows are counted from `first`."""
    for block in row_slices(int(array.shape[0])):
        part = _arrays.detach(array[block, :])
        xp = _arrays.namespace(part)
        with np.errstate(over="ignore", invalid="ignore"):
            if math.isfinite(float(xp.sum(part))):  # else one is not, or the sum overflowed
                continue
        if not bool(xp.all(xp.isfinite(part))):
            bad = np.argwhere(~np.isfinite(_arrays.to_numpy(part)))[0]
            value = _arrays.to_numpy(part)[tuple(bad)]
            raise ValueError(
                f"{name} has {value} at row {first + block.start + bad[0]}, column {bad[1]}: "
                f"{REMEDY}"
            )


def present(columns: Sequence[Column], first: int = 0) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the numbers and the labels of columns; refuse those that are missing or not finite.

    Errors count rows from `first`.
    """
    numbers: list[np.ndarray] = []
    words: list[np.ndarray] = []
    for column in columns:
        values = column.present(first)
        if values.dtype.kind == "f":
            values = _arrays.as_points(values)
            require_finite(values[:, None], column.label, first)
        (words if column.kind == "label" else numbers).append(values)
    return numbers, words


def unmasked(array: Any, name: str, first: int = 0) -> Any:
    """Return a masked array as a plain one, if no value is masked; other arrays unchanged."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    require_present(np.ma.getmaskarray(array), name, first)
    return np.ma.getdata(array)


def refuse_complex(name: str) -> None:
    """Return the error message for complex numbers."""
    raise TypeError(
        f"{name} is complex: kernels here are of real points; pass its real and imaginary parts as "
        "columns"
    )


# ------------------------------------------------------------------------------- arrays


def array_columns(array: np.ndarray, name: str, first: int = 0) -> list[Column]:
    """Return the columns of a NumPy array (n x d) of any type, masked or not."""
    if array.dtype.kind == "c":
        refuse_complex(name)
    labels = [f"{name}[:, {j}]" for j in range(array.shape[1])] if array.shape[1] > 1 else [name]
    return [value_column(c, label, first) for c, label in zip(array.T, labels, strict=True)]


def value_column(values: np.ndarray, label: str, first: int) -> Column:
    """Read values of any type, masked or not."""
    missing = np.array(np.ma.getmaskarray(values))
    values = np.ma.getdata(values)
    kind = values.dtype.kind
    if kind == "c":
        refuse_complex(label)
    if kind == "V":
        raise TypeError(f"{label} is a structured array: pass its fields as columns of one type")
    if kind in "OT":
        return object_column(values.astype(object), missing, label, first)
    if kind in "mM":
        missing |= np.isnat(values)
        return Column(label, days(values), "time", missing)
    return Column(label, values, "number" if kind in "iuf" else "label", missing)


def days(values: np.ndarray) -> np.ndarray:
    """Return dates (since 1970) or durations in days; NaN where there is none."""
    kind = values.dtype.kind
    if kind == "m" and np.datetime_data(values.dtype)[0] in "YM":  # years and months vary
        values = values.astype("datetime64[D]") - np.datetime64(0, "D")
    fine = values.astype("datetime64[us]" if kind == "M" else "timedelta64[us]")
    return np.where(np.isnat(values), np.nan, fine.astype(np.int64) / 86_400e6)


def object_column(values: np.ndarray, missing: np.ndarray, label: str, first: int) -> Column:
    """Read objects of one kind: all numbers, all times, or all labels."""
    missing = missing | np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))
    known = values[~missing]
    types = set(map(type, known))
    families = {_family(t) for t in types}
    if len(families) > 1 or any(t.__hash__ is None for t in types):
        _refuse_mixture(values, missing, label, first)
    family = families.pop() if families else Real
    if family is Real:
        whole = bool(types) and all(issubclass(t, Integral) for t in types)
        return Column(label, _as_numbers(values, missing, whole, label), "number", missing)
    if family is Complex:
        refuse_complex(label)
    if family in TIMES:
        return Column(label, _times(values, missing, family), "time", missing)
    found = np.full(len(values), "", dtype=object)
    found[~missing] = list(_texts(known, family, label))
    return Column(label, found.astype(str), "label", missing)


def _is_missing(value: Any) -> bool:
    if isinstance(value, (float, np.floating, Decimal, np.datetime64, np.timedelta64)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _family(kind: type) -> type:
    """Return the family of a type; values of one family can be compared."""
    if issubclass(kind, (bool, np.bool_)):
        return bool
    if issubclass(kind, (Real, Decimal)):
        return Real
    families = (Complex, str, bytes, *TIMES)
    return next((family for family in families if issubclass(kind, family)), kind)


def _as_numbers(values: np.ndarray, missing: np.ndarray, whole: bool, label: str) -> np.ndarray:
    if not whole:
        try:
            return np.where(missing, np.nan, values).astype(np.float64)
        except OverflowError:
            raise ValueError(
                f"{label} has a number beyond the range of float64: scale it"
            ) from None
    filled = np.where(missing, 0, values)
    low, high = min(filled, default=0), max(filled, default=0)
    for kind in (np.int64, np.uint64):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return filled.astype(kind)
    raise ValueError(
        f"{label} has whole numbers from {low} to {high}, which 64 bits do not hold: convert them "
        "to text if they are labels, or to float64 if they are amounts"
    )


def _times(values: np.ndarray, missing: np.ndarray, family: type) -> np.ndarray:
    """Return dates, times of day or durations in days."""
    found = np.full(len(values), np.nan)
    day = datetime.timedelta(days=1)
    for i in np.flatnonzero(~missing):
        value = values[i]
        if family is datetime.datetime:
            zone = value.tzinfo and datetime.UTC
            value = value - datetime.datetime(1970, 1, 1, tzinfo=zone)
        elif family is datetime.date:
            value = value - datetime.date(1970, 1, 1)
        elif family is datetime.time:
            seconds = 3600 * value.hour + 60 * value.minute + value.second
            value = datetime.timedelta(seconds=seconds, microseconds=value.microsecond)
        found[i] = value / day
    return found


def _texts(values: np.ndarray, family: type, label: str) -> Iterable[str]:
    """Return labels as text that is equal where they are."""
    if family is str:
        return values
    if family is bytes:
        return (value.decode("latin-1") for value in values)
    known = {value: str(value) for value in dict.fromkeys(values)}
    if len(set(known.values())) < len(known):
        raise TypeError(
            f"{label} has different objects of type {family.__name__} with equal text: give "
            "labels, such as str(x)"
        )
    return (known[value] for value in values)


def _refuse_mixture(values: np.ndarray, missing: np.ndarray, label: str, first: int) -> None:
    rows = np.flatnonzero(~missing)
    a = int(rows[0])
    family = _family(type(values[a]))
    found = [f"{type(values[a]).__name__} {values[a]!r:.60} at row {first + a}"]
    b = next((int(r) for r in rows if _family(type(values[r])) is not family), a)
    if b > a:
        found.append(f"{type(values[b]).__name__} {values[b]!r:.60} at row {first + b}")
    raise TypeError(
        f"{label} is an object array with {' and '.join(found)}: such an argument must be all "
        "strings, or all numbers; convert it with .astype(float) or .astype(str)"
    )
