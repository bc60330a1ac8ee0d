"""The factors of a Gram: prepared points with a kernel, or a ready matrix."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._threads import parallel
from lorenyi.bandwidths import Bandwidth
from lorenyi.data.sources import ArraySource, Source, hstack, slices
from lorenyi.kernels import Cosine, Delta, Gaussian, Kernel, Laplacian, Precomputed

Index: TypeAlias = slice | np.ndarray
TILE = 512


class Rule(NamedTuple):
    """A number of columns, and the rule that chose their bandwidth (None: it was given)."""

    columns: int
    chosen: Bandwidth | None


@dataclass(frozen=True, eq=False)
class Points:
    """A factor of a Gram: prepared points with their kernel, and optionally all its entries.

    The entries are stored if they are read many times while a gradient is tracked. Their gradient
    is taken on one side and counted twice, which is correct if rows and columns are treated alike.
    """

    kernel: Kernel
    source: Source
    entries: Array | None = None
    rules: tuple[Rule, ...] = ()

    def __len__(self) -> int:
        return len(self.source)

    @property
    def array(self) -> Array:
        """An array of the same library, precision and gradient tracking."""
        source = self.source
        return source.array if isinstance(source, ArraySource) else source.rows(slice(0, 1))

    @property
    def like(self) -> Array:
        """An empty array of the same library and precision."""
        return self.source.like

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the kernel's values between two sets of rows."""
        X = self._rows(rows)
        same = isinstance(rows, slice) and isinstance(columns, slice) and rows == columns
        return self.kernel.block(X, X if same else self._rows(columns))

    def pairs(self, i: np.ndarray, j: np.ndarray) -> Array:
        """Return the kernel's values for two aligned lists of rows."""
        return self.kernel.pairs(self._rows(i), self._rows(j))

    @cached_property
    def rounding(self) -> float:
        """Relative rounding of the entries beyond that of their own precision."""
        return self.kernel.rounding(self.source)

    def rows(self, block: slice) -> Points:
        """Return the factor of consecutive rows."""
        return Points(self.kernel, ArraySource(self.source.rows(block)), rules=self.rules)

    def take(self, index: np.ndarray) -> Points:
        """Return the factor of the rows at these positions."""
        return Points(self.kernel, self.source.take(index), rules=self.rules)

    def map(self, change: Any) -> Points:
        """Return the factor with its array changed."""
        return Points(self.kernel, self.source.each(change), rules=self.rules)

    def stored(self) -> Points:
        """Return the factor with its entries."""
        if self.entries is not None:
            return self
        return replace(self, entries=self.kernel.matrix(self.source))

    @property
    def has_rules(self) -> bool:
        """Whether a bandwidth was chosen from the data."""
        return any(rule.chosen is not None for rule in self.rules)

    def _rows(self, index: Index) -> Array:
        return (
            self.source.rows(index) if isinstance(index, slice) else self.source.take(index).all()
        )


@dataclass(frozen=True, eq=False)
class Matrix:
    """A factor of a Gram: a ready matrix, dense or sparse, not normalized.

    Parameters
    ----------
    array : array
    kernel : Kernel
    given_rounding : float
        Relative rounding of its entries, beyond that of their own precision.
    made_of : tuple of factors
        Factors whose multiplied entries are stored in it; it keeps their rounding.
    """

    array: Array
    kernel: Kernel = field(default_factory=Precomputed)
    given_rounding: float = 0.0
    made_of: tuple[Factor, ...] = ()

    def __len__(self) -> int:
        return int(self.array.shape[0])

    @property
    def like(self) -> Array:
        """An array of the library and precision of the matrix."""
        return self.array

    @cached_property
    def rounding(self) -> float:
        """Relative rounding of the entries beyond that of their own precision."""
        return self.given_rounding + sum(factor.rounding for factor in self.made_of)

    def pairs(self, i: np.ndarray, j: np.ndarray) -> Array:
        """Return the entries for two aligned lists of rows."""
        return np.asarray(self.array[i, j]).reshape(-1)

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the entries at two sets of rows; sparse stays sparse."""
        if isinstance(rows, slice):
            if isinstance(columns, slice):
                return self.array[rows, columns]
            return self.block(columns, rows).T  # symmetric: rows are contiguous
        return _columns(_arrays.take(self.array, rows), columns)

    def take(self, index: np.ndarray) -> Matrix:
        """Return the factor of the rows and columns at these positions."""
        return replace(self, array=_columns(_arrays.take(self.array, index), index))

    def map(self, change: Any) -> Matrix:
        """Return the factor with its array changed."""
        return replace(self, array=change(self.array))


def _columns(array: Array, index: Index) -> Array:
    if isinstance(index, slice) or _arrays.is_numpy(array) or _arrays.is_sparse(array):
        return array[:, index]
    return _arrays.namespace(array).take(array, _arrays.like(index, array), axis=1)


Factor: TypeAlias = Points | Matrix


def as_single(array: Array) -> Array:
    """Return an array in float32 if it holds floating point numbers; a large one on all cores."""
    if _arrays.is_sparse(array):
        return array.astype(np.float32)
    if not _arrays.is_floating(array):
        return array
    if not _arrays.is_numpy(array) or array.size <= 2**22 or array.dtype == np.float32:
        xp = _arrays.namespace(array)  # may differ from the library of the other factors
        return xp.astype(array, xp.float32, copy=False)
    single = np.empty(array.shape, dtype=np.float32)

    def cast(rows: slice) -> None:
        single[rows] = array[rows]

    parallel(cast, slices(len(array), 256))
    return single


def merged(factors: list[Factor], reference: Array) -> list[Factor]:
    """Merge factors that one kernel can join, and convert dense matrices to one library."""
    merged: list[Factor] = []
    for factor in factors:
        if isinstance(factor, Matrix):
            array = factor.array
            if _arrays.is_sparse(array) and not _arrays.is_numpy(reference):
                array = array.toarray()  # only NumPy has sparse matrices here
            merged.append(
                factor
                if _arrays.is_sparse(array)
                else replace(factor, array=_arrays.like(array, reference))
            )
            continue
        twin = next((i for i, f in enumerate(merged) if _joins(f, factor)), None)
        if twin is None:
            merged.append(factor)
        else:
            merged[twin] = _side_by_side(merged[twin], factor)  # type: ignore[arg-type]
    return merged


def _side_by_side(first: Points, second: Points) -> Points:
    a, b = first.entries, second.entries
    entries = None if a is None or b is None else a * b
    rules = tuple(rule for f in (first, second) for rule in f.rules or (_given(f),))
    return Points(second.kernel, hstack([first.source, second.source]), entries, rules)


def rules_of(kernel: Kernel, columns: int) -> tuple[Rule, ...]:
    """Return the rule by which a kernel, not yet prepared, chooses its bandwidth, if any."""
    chosen = getattr(kernel, "sigma", None)
    return (Rule(columns, chosen),) if isinstance(chosen, Bandwidth) else ()


def _given(factor: Points) -> Rule:
    return Rule(factor.source.shape[1], None)


def _joins(first: Factor, second: Factor) -> bool:
    alike = type(first.kernel) is type(second.kernel) and second.kernel.joins
    if not alike or isinstance(second.kernel, Delta):
        return alike
    return _arrays.epsilon(first.array) == _arrays.epsilon(second.array)  # else rounding is lost


def is_wide(factor: Factor) -> bool:
    """Return whether float32 overflows, or merges points that the kernel distinguishes."""
    if not isinstance(factor, Points) or isinstance(factor.kernel, Delta):
        return False
    scaled = isinstance(factor.kernel, (Gaussian, Laplacian, Cosine))
    return not scaled or factor.source.largest_square() > 1e3
