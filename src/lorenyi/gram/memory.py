"""A Gram of rows in memory, in any array library; its matrix is stored only on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._threads import cores, parallel
from lorenyi.data.sources import ArraySource, Source, common, slices, tree_sum
from lorenyi.gram import tiles
from lorenyi.gram.factors import (
    TILE,
    Factor,
    Index,
    Points,
    as_single,
    is_wide,
    merged,
)
from lorenyi.gram.protocol import (
    Gram,
    are_close,
    require_same_rows,
    require_same_weights,
)
from lorenyi.gram.structure import reduced


@dataclass(frozen=True, eq=False, repr=False)
class InMemory(Gram):
    """The normalized kernel matrix of rows in memory.

    Parameters
    ----------
    factors : tuple of factors
        Points with their kernels, or ready matrices.
    scale : array
        Scale of rows and columns: roots of the weights, where factors have ones on their diagonal.
    weights : array
        The diagonal.
    n, names, mass
        As for `Gram`.
    """

    factors: tuple[Factor, ...]
    scale: Array
    weights: Array
    n: float
    names: tuple[str, ...] = ()
    mass: float = 1.0
    _reduced: dict[bool, tuple[Array, list[Gram]]] = field(default_factory=dict, init=False)
    in_memory: ClassVar[bool] = True

    def __len__(self) -> int:
        """Number of rows of the matrix."""
        return int(self.weights.shape[0])

    @property
    def reference(self) -> Array:
        """An array of the library and precision of the matrix."""
        return self.scale

    @property
    def tracks_gradient(self) -> bool:
        """Whether a gradient is tracked for any part of it."""
        tracks = _arrays.tracks_gradient
        return tracks(self.scale) or any(tracks(factor.array) for factor in self.factors)

    # ------------------------------------------------------------------ rows

    def take(self, index: np.ndarray) -> InMemory:
        """Return the Gram of the rows at these positions (n and mass stay)."""
        return replace(
            self,
            factors=tuple(factor.take(index) for factor in self.factors),
            scale=_arrays.take(self.scale, index),
            weights=_arrays.take(self.weights, index),
        )

    def rows(self, block: slice) -> InMemory:
        """Return the Gram of consecutive rows (n and mass stay); points are not copied."""
        factors = [f.rows(block) for f in self.factors if isinstance(f, Points)]
        if len(factors) < len(self.factors):
            return self.take(np.arange(len(self))[block])
        return InMemory(
            tuple(factors), self.scale[block], self.weights[block], self.n, self.names, self.mass
        )

    def collected(self) -> InMemory:
        """Return the Gram itself."""
        return self

    def weighted(self, weights: Array, n: float | None = None) -> InMemory:
        """Return the same rows with other weights, of the same sum, and optionally another n."""
        xp = _arrays.namespace(weights)
        there = self.weights > 0
        unit = self.scale / xp.sqrt(xp.where(there, self.weights, 1.0))  # of the factors: often 1
        scale = xp.sqrt(weights) * xp.where(there, unit, 1.0)
        return replace(self, scale=scale, weights=weights, n=self.n if n is None else n)

    def single(self, points: bool = True) -> InMemory:
        """Return the same Gram in float32; its entries alone, or its points too if they may be."""
        # Points far from the origin keep their precision: only the entries become float32.
        factors = [f if not points or is_wide(f) else f.map(as_single) for f in self.factors]
        return replace(
            self,
            factors=tuple(factors),
            scale=as_single(self.scale),
            weights=as_single(self.weights),
        )

    def detached(self) -> InMemory:
        """Return the same Gram without gradient history."""
        if not self.tracks_gradient:
            return self
        return replace(
            self,
            factors=tuple(factor.map(_arrays.detach) for factor in self.factors),
            scale=_arrays.detach(self.scale),
            weights=_arrays.detach(self.weights),
        )

    # ------------------------------------------------------------------ entries

    def kernel_block(self, rows: Index, columns: Index) -> Array:
        """Return K_1 o K_2 o ... between two sets of rows, before weights and normalization."""
        sparse = [f for f in self.factors if _arrays.is_sparse(f.array)]
        dense = [f for f in self.factors if not _arrays.is_sparse(f.array)]
        if not sparse:
            return self.product([f.block(rows, columns) for f in dense])
        block = reduce(lambda a, b: a.multiply(b), [f.block(rows, columns) for f in sparse])
        block = scipy.sparse.csr_array(block)
        if not dense or not block.nnz:
            return block
        # Other factors are needed at the nonzero columns only.
        seen = np.unique(block.indices)
        positions = np.arange(len(self))[columns]
        other = self.product([f.block(rows, positions[seen]) for f in dense])
        entries = other[block.tocoo().coords[0], np.searchsorted(seen, block.indices)]
        return scipy.sparse.csr_array(
            (block.data * entries, block.indices, block.indptr), block.shape
        )

    def product(self, blocks: list[Array]) -> Array:
        """Multiply blocks of the factors, entry by entry, in the precision of the matrix."""
        return reduce(lambda a, b: a * b, [_arrays.like(b, self.reference) for b in blocks])

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the entries of A at two sets of rows (dense, or sparse with a sparse factor)."""
        block = self.kernel_block(rows, columns)
        s, t = self._scale(rows), self._scale(columns)
        if _arrays.is_sparse(block):
            return scipy.sparse.diags_array(s) @ block @ scipy.sparse.diags_array(t)
        return block * s[:, None] * t[None, :]

    def columns(self, index: np.ndarray) -> Array:
        """Return A[:, index], evaluating only these columns."""
        return self.block(slice(0, len(self)), np.asarray(index))

    def cross(self, other: InMemory) -> Array:
        """Return the kernel between the rows of this Gram and those of one of the same kernels."""
        blocks = []
        for mine, theirs in zip(self.factors, other.factors, strict=True):
            if not isinstance(mine, Points) or not isinstance(theirs, Points):
                raise TypeError("a ready matrix has no points to evaluate its kernel on")
            blocks.append(mine.kernel.block(mine.source.all(), theirs.source.all()))
        return self.product(blocks)

    def entries(self, i: np.ndarray, j: np.ndarray) -> Array:
        """Return A[i_t, j_t] for two aligned lists of rows, evaluating only these."""
        return self.product([f.pairs(i, j) for f in self.factors]) * self._scale(i) * self._scale(j)

    def _scale(self, index: Index) -> Array:
        return self.scale[index] if isinstance(index, slice) else _arrays.take(self.scale, index)

    def dense(self) -> Array:
        """Return A as a dense array, if it fits in memory."""
        matrix, ours = tiles.kernel_matrix(self)
        if not _arrays.is_numpy(matrix):
            return self.scale[:, None] * matrix * self.scale[None, :]
        if ours:  # in place: another matrix would take as long to fill
            matrix *= self.scale[:, None]
        else:
            matrix = self.scale[:, None] * matrix
        matrix *= self.scale[None, :]
        return matrix

    # ------------------------------------------------------------------ products and sums

    def __matmul__(self, V: Array) -> Array:
        """Return A @ V, a block of rows at a time."""
        vector = V.ndim == 1
        scale = self.scale[:, None]
        product = scale * tiles.kernel_times(self, scale * (V[:, None] if vector else V))
        return product[:, 0] if vector else product

    def sum(self, function: Callable[[InMemory, int], Any]) -> Any:
        """Sum `function(Gram of some rows, number of the first)` over blocks of rows, as a tree."""
        return tree_sum(self._parts(function))

    def sum_and_keep(self, function: Callable[[InMemory, int], Any]) -> tuple[Any, Source]:
        """Sum the first values of a function; return its second, one per row, as a column."""
        totals, kept = zip(*self._parts(function), strict=True)
        return tree_sum(list(totals)), ArraySource(np.concatenate(kept)[:, None])

    def _parts(self, function: Callable[[InMemory, int], Any]) -> list[Any]:
        if self.tracks_gradient or not _arrays.is_numpy(self.reference):
            return [function(self, 0)]
        cuts = slices(len(self), max(-(-len(self) // (4 * cores())), TILE))
        return parallel(lambda cut: function(self.rows(cut), cut.start), cuts)

    def sum_of_squares(self) -> Array:
        """Return the sum of the squared entries, each evaluated."""
        return tiles.sum_of_squares(self)

    # ------------------------------------------------------------------ joints and structure

    def __mul__(self, other: object) -> Gram:
        """Return the joint: kernels multiply, the common weights apply once."""
        if not isinstance(other, Gram):
            return NotImplemented
        require_same_rows(self, other)
        if not isinstance(other, InMemory):
            return NotImplemented  # the other cuts this one into its blocks
        require_same_weights(self, other, are_close(self.weights, other.weights))
        reference = common([self.scale, other.scale])
        xp = _arrays.namespace(reference)
        # Labels are exact in any precision: they do not raise the precision of the joint.
        measured = [A.scale for A in (self, other) if not A.is_nominal]
        if measured:
            reference = xp.astype(reference, _arrays.like(common(measured), reference).dtype)
        weights = _arrays.like(min(self.weights, other.weights, key=_arrays.epsilon), reference)
        factors = merged([*self.factors, *other.factors], reference)
        names = self.names + other.names
        return InMemory(tuple(factors), xp.sqrt(weights), weights, self.n, names)

    @property
    def reduced(self) -> tuple[Array, list[Gram]]:
        """Return eigenvalues known from structure, and smaller Grams that hold the others."""
        # Cached separately: a result made without gradients has none to give later.
        tracks = self.tracks_gradient
        if tracks not in self._reduced:
            self._reduced[tracks] = reduced(self)
        return self._reduced[tracks]

    def reduced_to(self, factors: Sequence[Factor], scale: Array, weights: Array) -> InMemory:
        """Return a smaller Gram in memory in place of this one: n, names and mass stay."""
        return replace(self, factors=tuple(factors), scale=scale, weights=weights)
