"""The one reader of user data: it converts variables to numbers and labels.

Data that is not in memory is read by modules found by name (`READERS`), imported only when needed.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.columns import (
    Column,
    array_columns,
    as_table,
    present,
    refuse_complex,
    require_finite,
    unmasked,
)
from lorenyi.data.frames import frame_columns, is_frame, is_table, native_columns, native_rows
from lorenyi.data.kinds import NEVER, categorical_columns, is_categorical, least_repeats
from lorenyi.data.sources import Source, hstack

# The module that reads data whose type comes from a package (or module) of this name, by
# `read(x, name) -> Data`. A line here and a file add an engine.
READERS = {"dask": "lorenyi.distributed", "pyarrow._dataset": "lorenyi.data.parquet"}


@dataclass(frozen=True)
class Data:
    """The content of a user's variable: numbers (n x d), labels (n x c codes), or both.

    They are arrays, or sources if the data is not in memory.

    Attributes
    ----------
    numbers : array, Source or None
        Columns of numbers, side by side.
    labels : array, Source or None
        Columns of labels, as codes.
    repeats : tuple of float
        How often values must occur on average for a column of few distinct whole numbers to hold
        categories: infinity where it never does.
    reference : array
        An empty array of the library in which entropies are returned.
    apart : sequence of array
        The columns of numbers one by one (n x 1), since large integers lose digits beside floats;
        empty where they are of one type.
    units : bool
        Whether each column has its own unit, as in a data-frame.
    names : tuple of str
        Of the columns, where they have any: those of numbers, then those of labels.
    """

    numbers: Array | Source | None
    labels: np.ndarray | Source | None
    repeats: tuple[float, ...]
    reference: Array
    apart: Sequence[np.ndarray] = ()
    units: bool = False
    names: tuple[str, ...] = ()

    def columns(self, categorical: bool, frequency: np.ndarray | None = None) -> str:
        """Return the names of the columns that hold categories, or of the others, shortened."""
        kinds = self._categorical(frequency)
        kinds += (True,) * (len(self.names) - len(kinds))
        chosen = [name for name, kind in zip(self.names, kinds, strict=True) if kind is categorical]
        return ", ".join(chosen if len(chosen) <= 4 else [*chosen[:3], "..."])

    def codes(self) -> np.ndarray | Source:
        """Return codes that are equal where rows are: one per row, or (a source) its columns."""
        numbers = list(self.apart) if self.apart else [self.numbers]
        return _codes([part for part in (*numbers, self.labels) if part is not None])

    def split(
        self, frequency: np.ndarray | Source | None = None
    ) -> tuple[Array | Source | None, np.ndarray | Source | None]:
        """Return the columns that hold numbers, and codes of those that hold categories.

        `frequency` is how often each row occurs.
        """
        categorical = self._categorical(frequency)
        if self.numbers is None or not any(categorical):
            return self.numbers, None if self.labels is None else _codes([self.labels])
        if all(categorical):
            return None, self.codes()
        kept = np.flatnonzero(~np.array(categorical))
        moved = np.flatnonzero(categorical)
        if isinstance(self.numbers, Source):
            categories: list[Any] = [self.numbers.each(partial(_columns, moved))]
        else:
            categories = (
                [self.apart[int(j)] for j in moved] if self.apart else [self.numbers[:, moved]]
            )
        labels = [] if self.labels is None else [self.labels]
        rest = partial(_columns, kept)
        numbers = self.numbers
        numbers = numbers.each(rest) if isinstance(numbers, Source) else rest(numbers)
        return numbers, _codes([*categories, *labels])

    def _categorical(self, frequency: Any) -> tuple[bool, ...]:
        """Return which columns of numbers hold categories."""
        if isinstance(self.numbers, Source):
            return categorical_columns(self.numbers, self.repeats, frequency)
        if self.numbers is None or min(self.repeats) == NEVER:
            return (False,) * len(self.repeats)
        columns = self.apart or _arrays.to_numpy(self.numbers).T[:, :, None]
        return tuple(
            is_categorical(column[:, 0], least, frequency)
            for column, least in zip(columns, self.repeats, strict=True)
        )


def _columns(index: np.ndarray, rows: Array) -> Array:
    return rows[:, index]


def _codes(parts: list[Any]) -> np.ndarray | Source:
    sources = [part for part in parts if isinstance(part, Source)]
    if sources:
        return hstack([source.each(_arrays.codes) for source in sources])
    rows = [_arrays.to_numpy(part) for part in parts]
    return _arrays.group_rows(rows)[1][:, None].astype(np.int64)


def read(x: Any, name: str = "x") -> Data:
    """Read a variable: an array of any library, a data-frame, one of its columns, or a sequence."""
    if isinstance(x, Data):
        return x
    if module := _reader(x):
        data: Data = importlib.import_module(module).read(x, name)
        return data
    if is_frame(x):
        return _from_columns(frame_columns(x, name)[0], name)
    if _arrays.is_sparse(x):
        raise TypeError(
            f"{name} is a SciPy sparse matrix: a kernel matrix goes in as gram({name}, "
            "Precomputed()); sparse points are not supported, pass them as a dense array"
        )
    array = as_array(x, name)
    n = int(array.shape[0]) if array.ndim else 0
    if n < 2:
        found = f"shape {tuple(array.shape)}" if array.ndim else "a scalar"
        raise ValueError(f"{name} must have at least two rows (one per point), found {found}")
    array = as_table(array, name)
    if array.shape[1] == 0:
        raise ValueError(f"{name} has {n} rows and no columns: at least one is needed")
    if _arrays.is_numpy(array) and array.dtype.kind not in "biuf":
        return _from_columns(array_columns(array, name), name)
    return _numbers(array, name)


def _from_columns(columns: Sequence[Column], name: str) -> Data:
    """Put typed columns without missing values side by side."""
    if not columns:
        raise ValueError(f"{name} has no columns: at least one is needed")
    n = len(columns[0].values)
    if n < 2:
        raise ValueError(f"{name} must have at least two rows, found {n}")
    numbers, words = present(columns)
    table = np.stack(numbers, axis=1) if numbers else None
    codes = np.stack([c.codes() for c in columns if c.kind == "label"], axis=1) if words else None
    apart = [values[:, None] for values in numbers]
    least = tuple(c.least_repeats for c in columns if c.kind != "label")
    ordered = [c for c in columns if c.kind != "label"] + [c for c in columns if c.kind == "label"]
    names = tuple(c.label.partition("[")[2].removesuffix("]").strip("'") for c in ordered)
    return Data(table, codes, least, np.empty(0), apart, len(columns) > 1, names)


def read_columns(X: Any, name: str = "X") -> list[Column]:
    """Return the typed columns of a data-frame, an array or a sequence, missing values included."""
    if is_frame(X):
        return frame_columns(X, name)[0]
    array = X if isinstance(X, np.ndarray) else _from_sequence(X, name)  # a mask is kept
    return array_columns(as_table(array, name), name)


def variables(X: Any, name: str = "X") -> tuple[list[Any], list[str]]:
    """Return the columns of a table, or the items of a sequence, and their names."""
    if is_table(X):
        return native_columns(X, name)
    if hasattr(X, "ndim"):
        if X.ndim != 2:
            raise ValueError(
                f"{name} must have two dimensions, one column per variable; found {X.ndim}"
            )
        X = [X[:, j] for j in range(X.shape[1])]
    return list(X), [f"x{j}" for j in range(len(X))]


def as_array(x: Any, name: str) -> Array:
    """Return an array of any library, or a sequence as an array; refuse masked values."""
    return unmasked(x if _arrays.is_array(x) else _from_sequence(x, name), name)


def _from_sequence(x: Any, name: str) -> np.ndarray:
    """Return a sequence of numbers, strings or rows as an array."""
    listed = hasattr(x, "__iter__") and not isinstance(x, (str, bytes, Mapping, Set))
    if not (listed or hasattr(x, "__array__")):
        raise TypeError(
            f"{name} must be an array, a data-frame column or a sequence with one point per row, "
            f"found {type(x).__name__} {x!r:.60}"
        )
    if hasattr(x, "__array__"):
        return np.asarray(x)
    items = list(x)
    try:
        array = np.asarray(items)
        # NumPy converts values beside text, such as NaN, to text.
        return np.asarray(items, dtype=object) if array.dtype.kind in "US" else array
    except ValueError as error:
        raise ValueError(
            f"{name} is ragged: its rows have different lengths; every point needs the same shape"
        ) from error


def _numbers(array: Array, name: str) -> Data:
    """Read an array of one type: a single column by its values, several as one vector per row."""
    xp = _arrays.namespace(array)
    if xp.isdtype(array.dtype, "complex floating"):
        refuse_complex(name)
    d = int(array.shape[1])
    if xp.isdtype(array.dtype, "bool"):
        least = 1.0 if d == 1 else NEVER
        return Data(xp.astype(array, xp.int64), None, (least,) * d, _reference(array))
    if _arrays.is_floating(array):
        array = _arrays.as_points(array)
        require_finite(array, name)
        reference = array[:0, :]
    else:
        reference = _reference(array)
    alone = d == 1 and not _arrays.tracks_gradient(array)
    least = least_repeats(_arrays.to_numpy(array[:0, :]).dtype) if alone else NEVER
    return Data(array, None, (least,) * d, reference)


def _reference(array: Array) -> Array:
    """Return an empty float64 array of the same library, in which entropies are returned."""
    xp = _arrays.namespace(array)
    return xp.astype(array[:0, :], xp.float64)


# ------------------------------------------------------------------------------- not in memory


def _reader(x: Any) -> str | None:
    """Return the module that reads x, if this one does not."""
    if isinstance(x, (np.memmap, Source)):
        return "lorenyi.data.blocks"
    module = type(x).__module__
    return READERS.get(module.split(".")[0]) or READERS.get(module)


def is_elsewhere(x: Any) -> bool:
    """Return whether x is not in memory."""
    return _reader(x) is not None


def in_memory(x: Any, name: str = "x") -> Any:
    """Return x as an array or data-frame in memory, if it is neither yet and fits there."""
    module = _reader(x)
    return importlib.import_module(module).collect(x, name) if module else x


def row_count(x: Any) -> int:
    """Return the number of rows of data anywhere; 0 for objects without length."""
    module = _reader(x)
    if module and hasattr(found := importlib.import_module(module), "length"):
        return int(found.length(x))
    shape = getattr(x, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else 0
    return len(x) if hasattr(x, "__len__") else 0


def take_columns(x: Any, wanted: np.ndarray, known: Sequence[str] | int, name: str = "X") -> Any:
    """Return some columns of data not in memory, which must have the known ones, or so many."""
    names = (
        x.columns if hasattr(x, "columns") else getattr(getattr(x, "schema", None), "names", None)
    )
    there = x.shape[1] if names is None else [str(n) for n in names]
    if isinstance(there, int) or isinstance(known, int):
        there, known = (k if isinstance(k, int) else len(k) for k in (there, known))
    if there != known:
        raise ValueError(
            f"{name} has the columns {there}, and was fitted with {known}: give the same ones in "
            "the same order"
        )
    return importlib.import_module(str(_reader(x))).columns(x, wanted)


def take_rows(x: Any, rows: np.ndarray, name: str = "x") -> Any:
    """Return some rows, in memory, of the type that x has there."""
    module = _reader(x)
    if module and hasattr(found := importlib.import_module(module), "take"):
        return found.take(x, rows, name)
    if is_frame(x):
        return native_rows(x, rows)
    return (x if isinstance(x, np.ma.MaskedArray) else as_array(x, name))[rows]
