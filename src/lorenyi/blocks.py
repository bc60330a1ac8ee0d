"""Where points come from: reading what a user has, and sources of row blocks.

A `Gram` never holds points itself; it reads them through a `Source`, in blocks of rows. An array
in memory is the simplest source. Files and cluster arrays are others, in modules that this one
finds by name (`READERS`) and only when such data comes along.
"""

from __future__ import annotations

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.columns import (
    Column,
    array_columns,
    frame_columns,
    is_frame,
    refuse_complex,
    unmasked,
)

BLOCK_ROWS = 2**16

# Which module reads data whose type comes from a package (or module) of this name, as
# `read(x, name) -> Data`: an engine is added by a line here and a file of its own.
READERS = {"dask": "lorenyi.distributed", "pyarrow._dataset": "lorenyi.streams"}

Spread: TypeAlias = Callable[[Callable[[Any, Any], Any], Sequence[Any]], list[Any]]


class Source(ABC):
    """Rows of points (n x d), read block by block.

    Attributes
    ----------
    like : array
        No rows, but as many columns and of the type of the others.
    """

    like: Array

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""

    @abstractmethod
    def rows(self, block: slice) -> Array:
        """Return a block of consecutive rows."""

    @abstractmethod
    def take(self, index: np.ndarray) -> Source:
        """Return the source of the rows at these positions, in this order."""

    @abstractmethod
    def each(self, function: Callable[[Array], Array]) -> Source:
        """Return the source of function(rows), where the function acts on each row alone."""

    @abstractmethod
    def stack(self, sources: Sequence[Source]) -> Source:
        """Put the columns of aligned sources, this one among them, side by side."""

    @abstractmethod
    def locate(self, places: np.ndarray) -> np.ndarray:
        """Return the rows at which the running sum of the first column passes these places."""

    def affine(self, shift: Array, scale: Array | float) -> Source:
        """Return the source of (rows - shift) / scale."""
        return self.each(partial(_moved, shift=shift, scale=scale))

    def choose(self, seed: int, stream: int, size: int) -> np.ndarray:
        """Draw rows without replacement, as `_arrays.choose` does."""
        return _arrays.choose(seed, stream, len(self), size)

    def __len__(self) -> int:
        """Number of rows."""
        return self.shape[0]

    def map(self, function: Callable[[Array, slice], Any]) -> Iterator[Any]:
        """Apply `function(rows, block)` to each block of rows, in order."""
        for block in slices(len(self), BLOCK_ROWS):
            yield function(self.rows(block), block)

    def sum(self, function: Callable[[Array, slice], Any]) -> Any:
        """Sum `function(rows, block)` over the blocks, pairwise as a tree."""
        return tree_sum(list(self.map(function)))

    def largest_square(self) -> float:
        """Return the largest squared norm of a row."""

        def largest(rows: Array, block: slice) -> float:
            rows = _arrays.detach(rows)
            xp = _arrays.namespace(rows)
            with np.errstate(over="ignore"):
                return float(xp.max(xp.sum(rows * rows, axis=1)))

        return float(max(self.map(largest)))

    def all(self) -> Array:
        """Return all rows at once."""
        return self.rows(slice(0, len(self)))


def _moved(rows: Array, shift: Array, scale: Array | float) -> Array:
    return (rows - shift) / scale


@dataclass(frozen=True, eq=False)
class ArraySource(Source):
    """Rows of an array in memory."""

    array: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n, d = self.array.shape
        return int(n), int(d)

    @property
    def like(self) -> Array:
        """No rows of the array."""
        return self.array[:0, :]

    def rows(self, block: slice) -> Array:
        """Return a block of consecutive rows."""
        return self.array[block, :]

    def all(self) -> Array:
        """Return the array itself."""
        return self.array

    def take(self, index: np.ndarray) -> ArraySource:
        """Return the source of the rows at these positions, in this order."""
        return ArraySource(_arrays.take(self.array, index))

    def each(self, function: Callable[[Array], Array]) -> ArraySource:
        """Return the source of function(rows), computed at once."""
        return ArraySource(function(self.array))

    def stack(self, sources: Sequence[Source]) -> ArraySource:
        """Put columns side by side, in the library that is not NumPy."""
        arrays = [source.all() for source in sources]
        if all(_arrays.is_numpy(a) for a in arrays):
            return ArraySource(np.concatenate(arrays, axis=1))
        reference = common(arrays)
        return ArraySource(_arrays.concat([_arrays.like(a, reference) for a in arrays], axis=1))

    def locate(self, places: np.ndarray) -> np.ndarray:
        """Return the rows at which the running sum of the first column passes these places."""
        return passing(_arrays.to_numpy(self.array)[:, 0], places)


def passing(terms: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return where the running sum of terms first reaches each place; never at a term of zero."""
    sums = np.cumsum(terms)
    return np.asarray(np.searchsorted(sums, np.minimum(places, sums[-1])))


def hstack(sources: Sequence[Source]) -> Source:
    """Put the columns of aligned sources side by side: not in memory, if one of them is not."""
    away = [source for source in sources if not isinstance(source, ArraySource)]
    return (away or sources)[0].stack(sources)


def common(arrays: Sequence[Array]) -> Array:
    """Return the array whose library and precision a combination of these takes on."""
    foreign = [a for a in arrays if not _arrays.is_numpy(a)]
    libraries = sorted({type(a).__module__.split(".")[0] for a in foreign})
    if len(libraries) > 1:
        raise TypeError(f"arrays of {' and '.join(libraries)} do not mix: convert one of them")
    return max(foreign or arrays, key=lambda a: _arrays.namespace(a).finfo(a.dtype).bits)


def slices(n: int, size: int) -> list[slice]:
    """Cut 0..n into consecutive slices of at most `size`."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def tree_sum(terms: list[Any]) -> Any:
    """Sum pairwise: rounding grows with the depth, and a cluster can do it in parallel."""
    while len(terms) > 1:
        pairs = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(terms) - len(terms) % 2 :]
    return terms[0]


@dataclass(frozen=True)
class Data:
    """What a user's variable holds: numbers (n x d), symbols (n x c codes), or both.

    They are arrays, or sources where the data is not in memory. `apart` holds columns of numbers
    one by one (n x 1), since side by side with floats large integers lose digits.
    """

    numbers: Array | Source | None
    symbols: np.ndarray | Source | None
    nominal: bool
    reference: Array
    apart: Sequence[np.ndarray] = ()

    def codes(self) -> np.ndarray | Source:
        """Return numbers that are equal where rows are: one a row, or (a source) its columns."""
        numbers = list(self.apart) if self.apart else [self.numbers]
        parts: list[Any] = [part for part in (*numbers, self.symbols) if part is not None]
        sources = [part for part in parts if isinstance(part, Source)]
        if sources:
            return hstack(sources)
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
        return _from_columns(*frame_columns(x, name), name)
    if _arrays.is_sparse(x):
        raise TypeError(
            f"{name} is a SciPy sparse matrix: a kernel matrix goes in as gram({name}, "
            "Precomputed()); sparse points are not supported, pass them as a dense array"
        )
    array = as_array(x, name)
    n = int(array.shape[0]) if array.ndim else 0
    if n < 2:
        found = f"shape {tuple(array.shape)}" if array.ndim else "a scalar"
        raise ValueError(f"{name} must have at least two rows (one a point), found {found}")
    one_dimensional = array.ndim == 1
    array = array.reshape((n, -1)) if _arrays.is_numpy(array) else _flattened(array, n)
    if array.shape[1] == 0:
        raise ValueError(f"{name} has {n} rows and no columns: at least one is needed")
    if _arrays.is_numpy(array) and array.dtype.kind not in "biuf":
        return _from_columns(array_columns(array, name), one_dimensional, name)
    return _numbers(array, name, one_dimensional)


def _from_columns(columns: Sequence[Column], one: bool, name: str) -> Data:
    """Put typed columns, none of them with a gap, side by side."""
    if not columns:
        raise ValueError(f"{name} has no columns: at least one is needed")
    n = len(columns[0].values)
    if n < 2:
        raise ValueError(f"{name} must have at least two rows, found {n}")
    numbers, words = present(columns)
    table = np.stack(numbers, axis=1) if numbers else None
    codes = np.stack([c.codes() for c in columns if c.symbol], axis=1) if words else None
    apart = [values[:, None] for values in numbers]
    return Data(table, codes, is_nominal(table, one), np.empty(0), apart)


def present(columns: Sequence[Column], first: int = 0) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the numbers and the symbols of columns; refuse those that are missing or not finite.

    Errors count rows from `first`.
    """
    numbers: list[np.ndarray] = []
    words: list[np.ndarray] = []
    for column in columns:
        values = column.present(first)
        if values.dtype.kind == "f":
            values = _arrays.as_points(values)
            require_finite(values[:, None], column.label, first)
        (words if column.symbol else numbers).append(values)
    return numbers, words


def is_nominal(numbers: np.ndarray | None, one: bool) -> bool:
    """Tell whether columns are labels: no numbers, or one column of integers."""
    return numbers is None or (numbers.dtype.kind in "iu" and one)


def _reader(x: Any) -> str | None:
    """Return the module that reads x where this one does not."""
    if isinstance(x, (np.memmap, Source)):
        return "lorenyi.streams"
    module = type(x).__module__
    return READERS.get(module.split(".")[0]) or READERS.get(module)


def in_memory(x: Any, name: str = "x") -> Any:
    """Return x as an array or data-frame in memory, if it is neither yet and fits there."""
    module = _reader(x)
    return importlib.import_module(module).collect(x, name) if module else x


def workers_of(x: Any) -> Callable[[Any], Spread | None] | None:
    """Return what sends data to the workers that hold x, for a map over items; None: no others.

    It is called once with the data that all items share, and returns `map(function, items)`,
    which gives function(data, item) for each, or None where there are no workers.
    """
    module = _reader(x)
    return getattr(importlib.import_module(module), "spread", None) if module else None


def _flattened(array: Array, n: int) -> Array:
    return _arrays.namespace(array).reshape(array, (n, -1))


def as_array(x: Any, name: str) -> Array:
    """Return an array of any library, or a sequence as an array; refuse masked values."""
    return unmasked(x if _arrays.is_array(x) else _from_sequence(x, name), name)


def _from_sequence(x: Any, name: str) -> np.ndarray:
    """Return a sequence of numbers, strings or rows as an array."""
    listed = hasattr(x, "__iter__") and not isinstance(x, (str, bytes, Mapping, Set))
    if not (listed or hasattr(x, "__array__")):
        raise TypeError(
            f"{name} must be an array, a data-frame column or a sequence with one point a row, "
            f"found {type(x).__name__} {x!r:.60}"
        )
    if hasattr(x, "__array__"):
        return np.asarray(x)
    items = list(x)
    try:
        array = np.asarray(items)
        # NumPy makes text of all that stands beside text, such as NaN.
        return np.asarray(items, dtype=object) if array.dtype.kind in "US" else array
    except ValueError as error:
        raise ValueError(
            f"{name} is ragged: its rows have different lengths; every point needs the same shape"
        ) from error


def _numbers(array: Array, name: str, one_dimensional: bool) -> Data:
    xp = _arrays.namespace(array)
    if xp.isdtype(array.dtype, "complex floating"):
        refuse_complex(name)
    if xp.isdtype(array.dtype, "bool"):
        return Data(xp.astype(array, xp.int64), None, True, _reference(array))
    if not _arrays.is_floating(array):
        return Data(array, None, one_dimensional, _reference(array))
    array = _arrays.as_points(array)
    require_finite(array, name)
    return Data(array, None, False, array[:0, :])


def _reference(array: Array) -> Array:
    """Return an empty float64 array of the same library: entropies come back in it."""
    xp = _arrays.namespace(array)
    return xp.astype(array[:0, :], xp.float64)


def require_finite(array: Array, name: str, first: int = 0) -> None:
    """Refuse NaN and infinities, naming the first; rows are counted from `first`."""
    for block in slices(int(array.shape[0]), BLOCK_ROWS):
        part = _arrays.detach(array[block, :])
        xp = _arrays.namespace(part)
        with np.errstate(over="ignore", invalid="ignore"):
            if math.isfinite(float(xp.sum(part))):  # else one is not, or the sum overflowed
                continue
        if not bool(xp.all(xp.isfinite(part))):
            bad = np.argwhere(~np.isfinite(_arrays.to_numpy(part)))[0]
            value = _arrays.to_numpy(part)[tuple(bad)]
            raise ValueError(
                f"{name} has {value} at row {first + block.start + bad[0]}, column {bad[1]}: drop "
                "or impute such rows first"
            )
