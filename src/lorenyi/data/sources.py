"""Sources of rows.

A `Gram` never holds points itself; it reads them through a `Source`, in blocks of rows. An array
in memory is the simplest source; rows in files or on a cluster come as a `Stream`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array

BLOCK_ROWS = 2**16


class Source(ABC):
    """Rows of points (n x d), read block by block.

    Attributes
    ----------
    like : array
        An empty array with the same columns and type.
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
        """Return the rows at which the running sum of the first column passes these values."""

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
        for block in row_slices(len(self)):
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
        """Return the rows at which the running sum of the first column passes these values."""
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
        raise TypeError(f"arrays of {' and '.join(libraries)} cannot be mixed: convert one of them")
    return max(foreign or arrays, key=lambda a: _arrays.namespace(a).finfo(a.dtype).bits)


def slices(n: int, size: int) -> list[slice]:
    """Cut 0..n into consecutive slices of at most `size`."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def row_slices(n: int) -> list[slice]:
    """Cut n rows into blocks of the size that is read at a time."""
    return slices(n, BLOCK_ROWS)


def tree_sum(terms: list[Any]) -> Any:
    """Sum pairwise: rounding grows with the depth, and a cluster can do it in parallel."""
    while len(terms) > 1:
        pairs = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(terms) - len(terms) % 2 :]
    return terms[0]
