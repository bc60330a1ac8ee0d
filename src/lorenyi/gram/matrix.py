"""The normalised kernel matrix, never stored unless asked, and closed under joints.

A_ij = sqrt(w_i w_j) k(x_i, x_j) / sqrt(k(x_i, x_i) k(x_j, x_j)), with weights w that sum to one
(1/n by default). It is held as factors (points with a kernel, or a ready matrix) and a vector s:

    A = diag(s) (K_1 o K_2 o ...) diag(s),

so normalisation and weights cost n numbers, a joint is a longer list of factors, and equal rows,
equality kernels and finite feature maps are exploited in one place (`Gram.reduced`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from lorenyi import _arrays, _html
from lorenyi._arrays import Array
from lorenyi._memory import fits, require_memory
from lorenyi._threads import cores, parallel
from lorenyi.data.sources import ArraySource, Source, common, slices, tree_sum
from lorenyi.gram.factors import (
    TILE,
    Factor,
    Index,
    Matrix,
    Points,
    cast_in_parallel,
    is_wide,
    merged,
)
from lorenyi.gram.structure import reduced
from lorenyi.kernels import Delta

STRIPES = 4  # sums that a product from tiles is made of


def led_by(name: str, kernels: Sequence[str]) -> list[str]:
    """Return the names of kernels led by the variable's: "x: k", and "x[a, b]: k" for columns."""
    return [f"{name}{k}" if k.startswith("[") else f"{name}: {k}" for k in kernels]


class Gram:
    """The normalised kernel matrix A of n points; made by `gram`, combined by `A * B`.

    Attributes
    ----------
    n : int or float
        Number of points: rows, or the sum of the weights where given.
    mass : float
        The trace: 1, or the share of a diagonal block.
    weights : array
        The diagonal of A: relative weights that sum to one.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.array([0.0, 1.0, 2.0]), lr.Gaussian(1.0))
    >>> B = lr.gram(["u", "u", "v"])
    >>> (A * B).dense().round(3)
    array([[0.333, 0.202, 0.   ],
           [0.202, 0.333, 0.   ],
           [0.   , 0.   , 0.333]])
    """

    _stored_from: Gram | None = None

    def __init__(
        self,
        factors: Sequence[Factor],
        scale: Array,
        weights: Array,
        n: float,
        names: Sequence[str] | None = None,
        mass: float = 1.0,
    ) -> None:
        self.factors = tuple(factors)
        self.scale = scale
        self.weights = weights
        self.n = int(n) if n == int(n) else n
        self.names = tuple(names if names is not None else (repr(f.kernel) for f in factors))
        self.mass = mass
        self._reduced: dict[bool, tuple[Array, list[Gram]]] = {}

    # ------------------------------------------------------------------ what it looks like

    def __len__(self) -> int:
        """Number of rows of the matrix."""
        return int(self.weights.shape[0])

    def __repr__(self) -> str:
        """Name the number of points and the kernels."""
        return f"Gram(n={self.n:g}, {', '.join(self.names)})"

    def _repr_html_(self) -> str:
        """Name the points and the kernels in notebooks, one a line."""
        return _html.shown(f"Gram of {self.n:g} points", [("kernel", name) for name in self.names])

    def named(self, name: str) -> Gram:
        """Return the same Gram with its kernels' names led by the variable's."""
        names = led_by(name, self.names)
        return Gram(self.factors, self.scale, self.weights, self.n, names, self.mass)

    @property
    def reference(self) -> Array:
        """An array that tells the library and precision of the matrix."""
        return self.scale

    @property
    def tracks_gradient(self) -> bool:
        """Whether a gradient is asked for with respect to anything in it."""
        tracks = _arrays.tracks_gradient
        return tracks(self.scale) or any(tracks(factor.array) for factor in self.factors)

    @cached_property
    def roundoff(self) -> float:
        """Relative size of the rounding in the entries."""
        if self._stored_from is not None:  # storing the entries does not make them better
            return self._stored_from.roundoff
        own = 4.0 * len(self.factors) * self._coarsest
        return own + sum(factor.rounding for factor in self.factors)

    @property
    def _coarsest(self) -> float:
        """The rounding unit of the factor in the lowest precision."""
        dense = [f.array for f in self.factors if not _arrays.is_sparse(f.array)]
        floats = [self.reference, *filter(_arrays.is_floating, dense)]
        return max(map(_arrays.epsilon, floats))

    @property
    def tolerance(self) -> float:
        """Relative rounding to expect of eigenvalues; a guess where a gradient goes through.

        There nobody asks for bounds, and to look at the points would take longer than a step.
        """
        return 64 * self._coarsest if self.tracks_gradient else self.roundoff

    in_memory: ClassVar[bool] = True

    @property
    def is_weighted(self) -> bool:
        """Whether rows have different weights."""
        weights = _arrays.to_numpy(self.weights)
        return bool(np.ptp(weights) > 1e-6 * float(weights.max()))

    @property
    def is_ready(self) -> bool:
        """Whether the matrix is one ready matrix, so that its entries are stored already."""
        return len(self.factors) == 1 and isinstance(self.factors[0], Matrix)

    @property
    def is_nominal(self) -> bool:
        """Whether all its factors are equality kernels, whose entries are exact."""
        return all(isinstance(factor.kernel, Delta) for factor in self.factors)

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix has a sparse factor, and so few entries."""
        return any(_arrays.is_sparse(factor.array) for factor in self.factors)

    # ------------------------------------------------------------------ the matrix

    def diagonal(self) -> Array:
        """Return the diagonal of A: the relative weights."""
        return self.weights

    def kernel_block(self, rows: Index, columns: Index) -> Array:
        """Return K_1 o K_2 o ... between two sets of rows, before weights and normalisation."""
        sparse = [f for f in self.factors if _arrays.is_sparse(f.array)]
        dense = [f for f in self.factors if not _arrays.is_sparse(f.array)]
        if not sparse:
            return self._product([f.block(rows, columns) for f in dense])
        block = reduce(lambda a, b: a.multiply(b), [f.block(rows, columns) for f in sparse])
        block = scipy.sparse.csr_array(block)
        if not dense or not block.nnz:
            return block
        # Other factors are needed at the nonzero columns only.
        seen = np.unique(block.indices)
        positions = np.arange(len(self))[columns]
        other = self._product([f.block(rows, positions[seen]) for f in dense])
        entries = other[block.tocoo().coords[0], np.searchsorted(seen, block.indices)]
        return scipy.sparse.csr_array(
            (block.data * entries, block.indices, block.indptr), block.shape
        )

    def _product(self, blocks: list[Array]) -> Array:
        return reduce(lambda a, b: a * b, [_arrays.like(b, self.reference) for b in blocks])

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the entries of A at two sets of rows (dense, or sparse with a sparse factor)."""
        block = self.kernel_block(rows, columns)
        s, t = self._scale(rows), self._scale(columns)
        if _arrays.is_sparse(block):
            return scipy.sparse.diags_array(s) @ block @ scipy.sparse.diags_array(t)
        return block * s[:, None] * t[None, :]

    def cross(self, rows: Index, other: Gram) -> Array:
        """Return the kernel between rows of this Gram and all rows of one of the same kernels."""
        everything = slice(0, len(other))
        blocks = []
        for mine, theirs in zip(self.factors, other.factors, strict=True):
            if not isinstance(mine, Points) or not isinstance(theirs, Points):
                raise TypeError("a ready matrix has no points to evaluate its kernel on")
            blocks.append(mine.kernel.block(mine._rows(rows), theirs._rows(everything)))
        return self._product(blocks)

    def entries(self, i: np.ndarray, j: np.ndarray) -> Array:
        """Return A[i_t, j_t] for two aligned lists of rows, evaluating only these."""
        blocks = []
        for factor in self.factors:
            if isinstance(factor, Points):
                blocks.append(factor.kernel.pairs(factor._rows(i), factor._rows(j)))
            else:
                blocks.append(np.asarray(factor.array[i, j]).reshape(-1))
        return self._product(blocks) * self._scale(i) * self._scale(j)

    def _scale(self, index: Index) -> Array:
        return self.scale[index] if isinstance(index, slice) else _arrays.take(self.scale, index)

    def row_blocks(self) -> list[slice]:
        """Cut the rows into blocks that stay in cache (one block where a gradient is kept)."""
        size = TILE // 2 if _arrays.is_numpy(self.reference) else max(1, 2**24 // len(self))
        size = len(self) if self.tracks_gradient else size
        return slices(len(self), size)

    def _over_rows(self, function: Callable[[slice], Any]) -> list[Any]:
        """Apply a function to the blocks of rows, in parallel where it pays."""
        blocks = self.row_blocks()
        if _arrays.is_numpy(self.reference) and len(blocks) >= 4:
            return parallel(function, blocks)
        return [function(rows) for rows in blocks]

    def rows(self, block: slice) -> Gram:
        """Return the Gram of consecutive rows (n and mass stay); points are not copied."""
        factors = [f.rows(block) for f in self.factors if isinstance(f, Points)]
        if len(factors) < len(self.factors):
            return self.take(np.arange(len(self))[block])
        return Gram(factors, self.scale[block], self.weights[block], self.n, [], self.mass)

    def sum(self, function: Callable[[Gram, int], Any]) -> Any:
        """Sum `function(Gram of some rows, number of the first)` over blocks of rows, as a tree."""
        return tree_sum(self._parts(function))

    def sum_and_keep(self, function: Callable[[Gram, int], Any]) -> tuple[Any, Source]:
        """Sum the first values of a function; return its second, a number a row, as a column."""
        totals, kept = zip(*self._parts(function), strict=True)
        return tree_sum(list(totals)), ArraySource(np.concatenate(kept)[:, None])

    def _parts(self, function: Callable[[Gram, int], Any]) -> list[Any]:
        if self.tracks_gradient or not _arrays.is_numpy(self.reference):
            return [function(self, 0)]
        cuts = slices(len(self), max(-(-len(self) // (4 * cores())), TILE))
        return parallel(lambda cut: function(self.rows(cut), cut.start), cuts)

    def sample(self, size: int, seed: int) -> Gram:
        """Return the Gram of some rows drawn at random (all, if there are no more)."""
        return self.take(self.choose(seed, 11, size))

    def at(self, index: np.ndarray) -> tuple[Gram, np.ndarray]:
        """Return a Gram in memory that holds the rows at these positions, and where it does."""
        return self, index

    def choose(self, seed: int, stream: int, size: int) -> np.ndarray:
        """Draw rows without replacement."""
        return _arrays.choose(seed, stream, len(self), size)

    def columns(self, index: np.ndarray) -> Array:
        """Return A[:, index], evaluating only these columns."""
        return self.block(slice(0, len(self)), np.asarray(index))

    def __matmul__(self, V: Array) -> Array:
        """Return A @ V, a block of rows at a time."""
        vector = V.ndim == 1
        scale = self.scale[:, None]
        product = scale * self._times(scale * (V[:, None] if vector else V))
        return product[:, 0] if vector else product

    def forms(self, V: Array) -> Array:
        """Return v'Av for each column of V."""
        scaled = self.scale[:, None] * V
        return _arrays.namespace(V).sum(scaled * self._times(scaled), axis=0)

    def _times(self, V: Array) -> Array:
        """Return the kernel matrix times V, a block of rows at a time."""
        if self.is_ready:
            return self._ready_times(V)
        if self.is_sparse or self.tracks_gradient or not _arrays.is_numpy(V):
            return _arrays.concat(self._over_rows(lambda rows: self._rows_times(rows, V)))
        return self._tiles_times(V)

    def _ready_times(self, V: Array) -> Array:
        """Return the stored matrix times V, on all cores by blocks of rows."""
        K = self.factors[0].array
        if not (_arrays.is_numpy(K) and _arrays.is_numpy(V)) or len(K) < 4 * TILE:
            return K @ V
        product = np.empty((len(K), V.shape[1]), dtype=np.result_type(K, V))

        def multiply(rows: slice) -> None:
            np.matmul(K[rows], V, out=product[rows])

        parallel(multiply, slices(len(K), TILE))
        return product

    def _rows_times(self, rows: slice, V: Array) -> Array:
        """Return rows of the kernel matrix times V."""
        return self.kernel_block(rows, slice(0, len(self))) @ V

    def _tiles_times(self, V: np.ndarray) -> np.ndarray:
        """Return the kernel matrix times V from the tiles of its upper triangle, each used twice.

        Stripes of tiles have sums of their own, so that the order of additions, and with it the
        rounding, does not depend on the number of threads.
        """
        cuts = slices(len(self), TILE)

        def stripe(first: int) -> np.ndarray:
            product = np.zeros((len(self), V.shape[1]), dtype=V.dtype)
            for i in range(first, len(cuts), STRIPES):
                for columns in cuts[i:]:
                    block = self.kernel_block(cuts[i], columns)
                    product[cuts[i]] += block @ V[columns]
                    if columns is not cuts[i]:
                        product[columns] += block.T @ V[cuts[i]]
            return product

        total: np.ndarray = tree_sum(parallel(stripe, range(min(STRIPES, len(cuts)))))
        return total

    def dense(self) -> Array:
        """Return A as a dense array, if it fits in memory."""
        matrix = self._kernel_matrix()
        if not _arrays.is_numpy(matrix):
            return self.scale[:, None] * matrix * self.scale[None, :]
        if self._made_of_tiles:  # then it is ours, and a second one would take as long to fill
            matrix *= self.scale[:, None]
        else:
            matrix = self.scale[:, None] * matrix
        matrix *= self.scale[None, :]
        return matrix

    @property
    def _made_of_tiles(self) -> bool:
        plain = not self.is_ready and not self.is_sparse
        return plain and _arrays.is_numpy(self.reference) and len(self) > TILE

    def _bytes(self) -> int:
        """Return the memory that a dense matrix and one like it take while it is made."""
        item = _arrays.namespace(self.reference).finfo(self.reference.dtype).bits // 8
        return int(2 * len(self) ** 2 * item)

    def _kernel_matrix(self) -> Array:
        m = len(self)
        require_memory(
            self._bytes(),
            f"a dense {m} x {m} kernel matrix",
            "use a solver that reads it in blocks, such as Lanczos or InputSparsity",
        )
        if self.is_ready:
            array = self.factors[0].array
            return array.toarray() if _arrays.is_sparse(array) else array
        if self.is_sparse:
            everything = slice(0, m)
            return _arrays.concat(
                [self.kernel_block(rows, everything).toarray() for rows in self.row_blocks()]
            )
        if self._made_of_tiles:
            return self._mirrored()
        factor = self.factors[0]
        if len(self.factors) == 1 and isinstance(factor, Points) and not self.tracks_gradient:
            return _arrays.like(factor.kernel.matrix(factor.source), self.reference)
        return self.kernel_block(slice(0, m), slice(0, m))

    def _tiles(self) -> list[tuple[slice, slice]]:
        """Cut the upper triangle into square tiles."""
        cuts = slices(len(self), TILE)
        return [(rows, columns) for i, rows in enumerate(cuts) for columns in cuts[i:]]

    def _mirrored(self) -> np.ndarray:
        """Fill the matrix from the tiles of its upper triangle."""
        matrix = np.empty((len(self), len(self)), dtype=self.reference.dtype)

        def fill(tile: tuple[slice, slice]) -> None:
            rows, columns = tile
            block = self.kernel_block(rows, columns)
            matrix[rows, columns] = block
            if rows is not columns:
                matrix[columns, rows] = block.T

        parallel(fill, self._tiles())
        return matrix

    def held(self) -> Gram:
        """Return the same Gram with its entries stored, for solvers that read them many times.

        Where they do not fit in memory it is left as it is: products make them anew, a block of
        rows at a time. Where a gradient is asked for, the points stay beside their entries.
        """
        if self.is_ready:
            return self
        if self.tracks_gradient:
            if not fits(len(self.factors) * self._bytes()):
                return self
            return self.with_factors(
                [f.stored() if isinstance(f, Points) else f for f in self.factors]
            )
        if self.is_sparse:
            everything = slice(0, len(self))
            rows = [self.kernel_block(block, everything) for block in self.row_blocks()]
            matrix = scipy.sparse.vstack(rows, format="csr")
        elif fits(self._bytes()):
            matrix = self._kernel_matrix()
        else:
            return self
        return self.with_factors([Matrix(matrix)])._stored(self)

    def _stored(self, other: Gram) -> Gram:
        """Say that the entries come from another Gram, and so have its rounding."""
        self._stored_from = other
        return self

    def symmetric(self) -> Gram:
        """Return the same Gram as one stored matrix, where it fits in memory.

        Its gradient, taken on one side and counted twice, is right for functions that treat rows
        and columns alike (v'Av, eigenvalues, norms), at half the work and memory.
        """
        held = self.held()
        if held.is_ready or not held.tracks_gradient:
            return held
        arrays = [f.entries if isinstance(f, Points) else f.array for f in held.factors]
        if any(array is None for array in arrays):
            return self
        return self.with_factors([Matrix(self._product(arrays))])._stored(self)

    def squared_norm(self) -> Array:
        """Return |A|_F^2, the sum of the squared entries."""
        singles, blocks = self.reduced
        total = _arrays.namespace(singles).sum(singles * singles)
        for block in blocks:
            total = total + block._squared_norm()
        return total

    def _squared_norm(self) -> Array:
        if not _arrays.is_numpy(self.reference):
            stored = any(isinstance(f, Points) and f.entries is not None for f in self.factors)
            A = self.symmetric() if stored else self
            dense = A.block(slice(0, len(self)), slice(0, len(self)))
            return _arrays.namespace(dense).sum(dense * dense)

        def part(tile: tuple[slice, slice]) -> float:
            rows, columns = tile
            block = self.kernel_block(rows, columns)
            left, right = self.scale[rows] ** 2, self.scale[columns] ** 2
            block = block.multiply(block) if self.is_sparse else np.square(block)
            return float(left @ (block @ right)) * (1 if rows is columns else 2)

        return np.asarray(tree_sum(parallel(part, self._tiles())))

    def single(self, points: bool = True) -> Gram:
        """Return the same Gram in float32; its entries alone, or its points too if they may be."""

        def cast(array: Array) -> Array:
            if _arrays.is_sparse(array):
                return array.astype(np.float32)
            if _arrays.is_numpy(array) and array.size > 2**22 and array.dtype != np.float32:
                return cast_in_parallel(array)
            if not _arrays.is_floating(array):
                return array
            xp = _arrays.namespace(array)  # not always that of the others
            return xp.astype(array, xp.float32, copy=False)

        # Points far from the origin keep their digits: there only the entries become float32.
        factors = [f if not points or is_wide(f) else f.map(cast) for f in self.factors]
        return self.with_factors(factors, cast(self.scale), cast(self.weights))

    def detached(self) -> Gram:
        """Return the same Gram without gradient history."""
        if not self.tracks_gradient:
            return self
        factors = [factor.map(_arrays.detach) for factor in self.factors]
        return self.with_factors(factors, _arrays.detach(self.scale), _arrays.detach(self.weights))

    def with_factors(
        self, factors: Sequence[Factor], scale: Array | None = None, weights: Array | None = None
    ) -> Gram:
        """Return the Gram of other factors (and rows), of the same points and mass."""
        scale = self.scale if scale is None else scale
        weights = self.weights if weights is None else weights
        return Gram(factors, scale, weights, self.n, self.names, self.mass)

    # ------------------------------------------------------------------ joints

    def __mul__(self, other: object) -> Gram:
        """Return the joint: kernels multiply, the common weights apply once."""
        if not isinstance(other, Gram):
            return NotImplemented
        self._require_same_rows(other)
        if not other.in_memory:
            return NotImplemented  # it cuts this one into its blocks
        if not self._same_weights(other):
            raise self._different_weights(other)
        reference = common([self.scale, other.scale])
        xp = _arrays.namespace(reference)
        # Labels are exact in any precision: they do not raise that of what they join.
        measured = [A.scale for A in (self, other) if not A.is_nominal]
        if measured:
            reference = xp.astype(reference, _arrays.like(common(measured), reference).dtype)
        weights = _arrays.like(min(self.weights, other.weights, key=_arrays.epsilon), reference)
        factors = merged([*self.factors, *other.factors], reference)
        return Gram(factors, xp.sqrt(weights), weights, self.n, self.names + other.names)

    def _require_same_rows(self, other: Gram) -> None:
        if len(self) != len(other):
            raise ValueError(
                f"a joint needs the same rows: {self!r} has {len(self)} and {other!r} has "
                f"{len(other)}; give variables of the same points, in the same order"
            )

    def _different_weights(self, other: Gram) -> ValueError:
        return ValueError(
            f"a joint needs the same weights: those of {self!r} and {other!r} differ; build both "
            "with the same weights="
        )

    def _same_weights(self, other: Gram) -> bool:
        if self.weights is other.weights:
            return self.n == other.n
        a, b = _arrays.to_numpy(self.weights), _arrays.to_numpy(other.weights)
        close = bool(np.all(np.abs(a - b) <= 1e-6 * np.abs(a) + 1e-30))  # what float32 has left
        return self.n == other.n and close

    # ------------------------------------------------------------------ structure

    @property
    def is_constant(self) -> bool:
        """Whether all rows are equal, so that there is one eigenvalue and no information."""
        singles, blocks = self.reduced
        return int(singles.shape[0]) + sum(len(block) for block in blocks) == 1

    @property
    def reduced(self) -> tuple[Array, list[Gram]]:
        """Return eigenvalues known at sight, and smaller Grams that hold the others.

        Rows of zero weight go, equal rows become one with their weights added, an equality
        kernel splits the matrix into diagonal blocks, and a block with fewer features than rows
        is replaced by its features' second moments. All of it is exact; the nonzero eigenvalues
        of A are those returned and those of the smaller Grams together.
        """
        # Kept apart: what was made while no gradient was asked for has none to give later.
        tracks = self.tracks_gradient
        if tracks not in self._reduced:
            self._reduced[tracks] = reduced(self)
        return self._reduced[tracks]

    def take(self, index: np.ndarray) -> Gram:
        """Return the Gram of the rows at these positions (n and mass stay)."""
        factors = [factor.take(index) for factor in self.factors]
        return self.with_factors(
            factors, _arrays.take(self.scale, index), _arrays.take(self.weights, index)
        )
