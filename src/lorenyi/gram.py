"""The normalised kernel matrix, never stored unless asked, and closed under joints.

A_ij = sqrt(w_i w_j) k(x_i, x_j) / sqrt(k(x_i, x_i) k(x_j, x_j)), with weights w that sum to one
(1/n by default). It is held as factors (points with a kernel, or a ready matrix) and a vector s:

    A = diag(s) (K_1 o K_2 o ...) diag(s),

so normalisation and weights cost n numbers, a joint is a longer list of factors, and equal rows,
equality kernels and finite feature maps are exploited in one place (`Gram.reduced`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.blocks import (
    ArraySource,
    Data,
    Source,
    common,
    fits,
    from_sequence,
    hstack,
    parallel,
    read,
    require_finite,
    require_memory,
    slices,
    tree_sum,
)
from lorenyi.kernels import (
    Delta,
    Function,
    Gaussian,
    Kernel,
    Precomputed,
    row_products,
)

Index: TypeAlias = slice | np.ndarray
TILE = 512


@dataclass(frozen=True, eq=False)
class Points:
    """A factor of a Gram: prepared points with their kernel."""

    kernel: Kernel
    source: Source

    def __len__(self) -> int:
        return len(self.source)

    @property
    def array(self) -> Array:
        """An array that tells library, precision and whether a gradient is asked for."""
        return self.source.rows(slice(0, 1))

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the kernel's values between two sets of rows."""
        return self.kernel.block(self._rows(rows), self._rows(columns))

    def take(self, index: np.ndarray) -> Points:
        """Return the factor of the rows at these positions."""
        return Points(self.kernel, self.source.take(index))

    def map(self, change: Any) -> Points:
        """Return the factor with its array changed."""
        return Points(self.kernel, ArraySource(change(self.source.all())))

    def _rows(self, index: Index) -> Array:
        return (
            self.source.rows(index) if isinstance(index, slice) else self.source.take(index).all()
        )


@dataclass(frozen=True, eq=False)
class Matrix:
    """A factor of a Gram: a ready matrix, dense or sparse, not normalised."""

    array: Array
    kernel: Kernel = field(default_factory=Precomputed)

    def __len__(self) -> int:
        return int(self.array.shape[0])

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the entries at two sets of rows; sparse stays sparse."""
        if isinstance(rows, slice):
            if isinstance(columns, slice):
                return self.array[rows, columns]
            return self.block(columns, rows).T  # symmetric: rows are read in one piece
        return _columns(_arrays.take(self.array, rows), columns)

    def take(self, index: np.ndarray) -> Matrix:
        """Return the factor of the rows and columns at these positions."""
        return Matrix(_columns(_arrays.take(self.array, index), index), self.kernel)

    def map(self, change: Any) -> Matrix:
        """Return the factor with its array changed."""
        return Matrix(change(self.array), self.kernel)


def _columns(array: Array, index: Index) -> Array:
    if isinstance(index, slice) or _arrays.is_numpy(array) or _arrays.is_sparse(array):
        return array[:, index]
    return _arrays.namespace(array).take(array, _arrays.like(index, array), axis=1)


Factor: TypeAlias = Points | Matrix


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

    def named(self, name: str) -> Gram:
        """Return the same Gram with its kernels' names led by the variable's."""
        names = [f"{name}: {kernel}" for kernel in self.names]
        return Gram(self.factors, self.scale, self.weights, self.n, names, self.mass)

    @property
    def reference(self) -> Array:
        """An array that tells the library and precision of the matrix."""
        return self.scale

    @property
    def tracks_gradient(self) -> bool:
        """Whether a gradient is asked for with respect to anything in it."""
        arrays = [self.scale, *(factor.array for factor in self.factors)]
        return any(_arrays.tracks_gradient(a) for a in arrays)

    @cached_property
    def roundoff(self) -> float:
        """Relative size of the rounding in the entries."""
        growth = 4.0 * len(self.factors)
        for factor in self.factors:
            if isinstance(factor, Points) and isinstance(factor.kernel, Gaussian):
                growth += factor.source.largest_square()
        return growth * _arrays.epsilon(self.reference)

    @property
    def is_ready(self) -> bool:
        """Whether the matrix is one ready matrix, so that its entries are stored already."""
        return len(self.factors) == 1 and isinstance(self.factors[0], Matrix)

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

    def columns(self, index: np.ndarray) -> Array:
        """Return A[:, index], evaluating only these columns."""
        return self.block(slice(0, len(self)), np.asarray(index))

    def __matmul__(self, V: Array) -> Array:
        """Return A @ V, a block of rows at a time."""
        vector = V.ndim == 1
        scaled = self.scale[:, None] * (V[:, None] if vector else V)
        if self.is_ready:
            product = _symmetric_product(self.factors[0].array, scaled)
        else:
            product = _arrays.concat(self._over_rows(lambda rows: self._rows_times(rows, scaled)))
        product = self.scale[:, None] * product
        return product[:, 0] if vector else product

    def _rows_times(self, rows: slice, V: Array) -> Array:
        """Return rows of the kernel matrix times V, tile by tile."""
        if self.is_sparse or not _arrays.is_numpy(self.reference):
            return self.kernel_block(rows, slice(0, len(self))) @ V
        product = np.zeros((rows.stop - rows.start, V.shape[1]), dtype=V.dtype)
        for columns in slices(len(self), 2 * TILE):
            product += self.kernel_block(rows, columns) @ V[columns]
        return product

    def dense(self) -> Array:
        """Return A as a dense array, if it fits in memory."""
        matrix = self.scale[:, None] * self._kernel_matrix()
        if _arrays.is_numpy(matrix):
            matrix *= self.scale[None, :]
            return matrix
        return matrix * self.scale[None, :]

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
        if _arrays.is_numpy(self.reference) and m > TILE:
            return self._mirrored()
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
        rows at a time.
        """
        if self.is_ready:
            return self
        if self.is_sparse:
            everything = slice(0, len(self))
            rows = [self.kernel_block(block, everything) for block in self.row_blocks()]
            matrix = scipy.sparse.vstack(rows, format="csr")
        elif fits(self._bytes()):
            matrix = self._kernel_matrix()
        else:
            return self
        return self.with_factors([Matrix(matrix)])

    def squared_norm(self) -> Array:
        """Return |A|_F^2, the sum of the squared entries."""
        singles, blocks = self.reduced
        total = _arrays.namespace(singles).sum(singles * singles)
        for block in blocks:
            total = total + block._squared_norm()
        return total

    def _squared_norm(self) -> Array:
        if not _arrays.is_numpy(self.reference):
            dense = self.block(slice(0, len(self)), slice(0, len(self)))
            return _arrays.namespace(dense).sum(dense * dense)

        def part(tile: tuple[slice, slice]) -> float:
            rows, columns = tile
            block = self.kernel_block(rows, columns)
            left, right = self.scale[rows] ** 2, self.scale[columns] ** 2
            block = block.multiply(block) if self.is_sparse else np.square(block)
            return float(left @ (block @ right)) * (1 if rows is columns else 2)

        return np.asarray(tree_sum(parallel(part, self._tiles())))

    def single(self) -> Gram:
        """Return the same Gram in float32."""
        xp = _arrays.namespace(self.reference)
        if xp.finfo(self.reference.dtype).bits <= 32:
            return self

        def cast(array: Array) -> Array:
            if _arrays.is_sparse(array):
                return array.astype(np.float32)
            if _arrays.is_numpy(array) and array.size > 2**22:
                return _cast_in_parallel(array)
            return xp.astype(array, xp.float32) if _arrays.is_floating(array) else array

        factors = [factor.map(cast) for factor in self.factors]
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
        if len(self) != len(other):
            raise ValueError(
                f"a joint needs the same rows: {self!r} has {len(self)} and {other!r} has "
                f"{len(other)}; give variables of the same points, in the same order"
            )
        if not self._same_weights(other):
            raise ValueError(
                f"a joint needs the same weights: those of {self!r} and {other!r} differ; build "
                "both with the same weights="
            )
        arrays = [self.scale, other.scale]
        reference = common(arrays)
        s, t = (_arrays.like(a, reference) for a in arrays)
        weights = _arrays.like(self.weights, reference)
        xp = _arrays.namespace(weights)
        positive = weights > 0
        scale = xp.where(positive, s * t / xp.sqrt(xp.where(positive, weights, 1.0)), 0.0)
        factors = _merged([*self.factors, *other.factors], reference)
        return Gram(factors, scale, weights, self.n, self.names + other.names)

    def _same_weights(self, other: Gram) -> bool:
        a, b = _arrays.to_numpy(self.weights), _arrays.to_numpy(other.weights)
        close = bool(np.all(np.abs(a - b) <= 1e-6 * np.abs(a)))
        return self.n == other.n and close

    # ------------------------------------------------------------------ structure

    @property
    def reduced(self) -> tuple[Array, list[Gram]]:
        """Return eigenvalues known at sight, and smaller Grams that hold the others.

        Rows of zero weight go, equal rows become one with their weights added, an equality
        kernel splits the matrix into diagonal blocks, and a block with fewer features than rows
        is replaced by its features' second moments. All of it is exact; the nonzero eigenvalues
        of A are those returned and those of the smaller Grams together.
        """
        # Kept apart: what was made while no gradient was asked for has none to give later.
        if self.tracks_gradient not in self._reduced:
            singles, blocks = self._support()._folded()._split()
            reduced = singles, [block._dual() for block in blocks]
            self._reduced[self.tracks_gradient] = reduced
        return self._reduced[self.tracks_gradient]

    def take(self, index: np.ndarray) -> Gram:
        """Return the Gram of the rows at these positions (n and mass stay)."""
        factors = [factor.take(index) for factor in self.factors]
        return self.with_factors(
            factors, _arrays.take(self.scale, index), _arrays.take(self.weights, index)
        )

    def _support(self) -> Gram:
        positive = _arrays.to_numpy(self.weights) > 0
        return self if positive.all() else self.take(np.flatnonzero(positive))

    def _folded(self) -> Gram:
        """Fold equal rows of all factors into one (not where a gradient is asked for)."""
        if self.tracks_gradient or not all(isinstance(f, Points) for f in self.factors):
            return self
        columns = [_arrays.to_numpy(f.source.all()) for f in self.factors if isinstance(f, Points)]
        first, group = _arrays.group_rows(columns)
        if len(first) == len(self):
            return self
        weights = np.bincount(group, weights=_arrays.to_numpy(self.weights))
        folded = self.take(first)
        total = _arrays.like(weights, folded.weights)
        root = _arrays.namespace(total).sqrt(total / folded.weights)
        return self.with_factors(folded.factors, folded.scale * root, total)

    def _split(self) -> tuple[Array, list[Gram]]:
        """Split along the equality kernel into diagonal blocks; blocks of one row are values."""
        labels = [f for f in self.factors if isinstance(f, Points) and isinstance(f.kernel, Delta)]
        others = [f for f in self.factors if not isinstance(f.kernel, Delta)]
        if not labels:
            return self.weights[:0], [self]
        codes = [_arrays.to_numpy(label.source.all()) for label in labels]
        _, group = _arrays.group_rows(codes)
        rest = self.with_factors(others)
        if not others:  # all rows of a group are equal: one eigenvalue, their weight
            total = np.bincount(group, weights=_arrays.to_numpy(self.weights))
            return _arrays.like(total, self.weights), []
        order = np.argsort(group, kind="stable")
        counts = np.bincount(group)
        starts = np.cumsum(counts) - counts
        alone = order[starts[counts == 1]]
        members = [order[a : a + c] for a, c in zip(starts, counts, strict=True) if c > 1]
        blocks = [rest.take(index) for index in members]
        if len(counts) > 1:
            for block in blocks:
                block.mass = float(np.sum(_arrays.to_numpy(block.weights), dtype=np.float64))
        return _arrays.take(self.weights, alone), blocks

    def _dual(self) -> Gram:
        """Replace Z Z' by the smaller Z'Z where the kernels have finite feature maps."""
        points = [f for f in self.factors if isinstance(f, Points)]
        widths = [f.kernel.width(f.source.shape[1]) for f in points]
        finite = [w for w in widths if w is not None]
        if len(finite) < len(self.factors) or math.prod(finite) >= len(self):
            return self
        maps = [_arrays.like(f.kernel.features(f.source.all()), self.reference) for f in points]
        Z = self.scale[:, None] * reduce(row_products, maps)
        moments = Z.T @ Z
        xp = _arrays.namespace(moments)
        one = xp.ones_like(moments[0, :])
        return self.with_factors([Matrix(moments)], one, xp.linalg.diagonal(moments))


def _cast_in_parallel(array: np.ndarray) -> np.ndarray:
    """Return a large array in float32, converted on all cores."""
    single = np.empty(array.shape, dtype=np.float32)

    def cast(rows: slice) -> None:
        single[rows] = array[rows]

    parallel(cast, slices(len(array), 256))
    return single


def _symmetric_product(matrix: Array, V: Array) -> Array:
    """Return matrix @ V; in NumPy as (V' matrix)', which reads a large matrix faster."""
    if not _arrays.is_numpy(matrix):
        return matrix @ V
    return (np.ascontiguousarray(V.T) @ matrix).T


def _merged(factors: list[Factor], reference: Array) -> list[Factor]:
    """Put factors that join under one kernel side by side, and dense matrices in one library."""
    merged: list[Factor] = []
    for factor in factors:
        if isinstance(factor, Matrix):
            array = factor.array
            if _arrays.is_sparse(array) and not _arrays.is_numpy(reference):
                array = array.toarray()  # only NumPy has sparse matrices here
            merged.append(
                factor if _arrays.is_sparse(array) else Matrix(_arrays.like(array, reference))
            )
            continue
        twin = next((i for i, f in enumerate(merged) if _joins(f, factor)), None)
        if twin is None:
            merged.append(factor)
        else:
            pair = [merged[twin].source, factor.source]  # type: ignore[union-attr]
            merged[twin] = Points(factor.kernel, hstack(pair))  # type: ignore[arg-type]
    return merged


def _joins(first: Factor, second: Factor) -> bool:
    return type(first.kernel) is type(second.kernel) and second.kernel.joins


# ------------------------------------------------------------------------------------ making one


def gram(
    x: Any,
    kernel: Kernel | Any | None = None,
    *,
    weights: Any = None,
    check: Literal["seen", "full"] = "seen",
    name: str = "x",
) -> Gram:
    r"""Return the normalised kernel matrix of a variable.

    .. math:: A_{ij} = \sqrt{w_i w_j}\, k(x_i, x_j) / \sqrt{k(x_i, x_i) k(x_j, x_j)}

    Parameters
    ----------
    x : array, data-frame, column or sequence of n points; or a matrix, with `Precomputed()`
        Rows are points; further axes are flattened.
    kernel : Kernel or callable, optional
        Default: floats and 2-D integers get `Gaussian("median")`; strings, booleans, categoricals
        and 1-D integers `Delta()`; a mixed data-frame the product of both.
    weights : array of n, optional
        Frequencies: weight 2 is a repeated row, 0 an absent one, and n is their sum.
    check : {"seen", "full"}
        For a ready matrix: negative eigenvalues are an error where they are seen, or are looked
        for ("full", at the cost of a factorisation).
    name : str
        What errors call x.

    Returns
    -------
    Gram

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.gram([[0.0, 1.0], [1.0, 1.0], [3.0, 1.0]])
    Gram(n=3, Gaussian(sigma=2))
    >>> lr.gram(["red", "blue", "red"])
    Gram(n=3, Delta())
    """
    if isinstance(x, Gram):
        return _given(x, kernel, weights, name)
    if kernel is not None and not isinstance(kernel, Kernel):
        kernel = _as_kernel(kernel)
    if isinstance(kernel, Precomputed):
        return _from_matrix(x, weights, check, name)
    if kernel is not None and kernel.infinitely_divisible is None:
        warnings.warn(
            f"{kernel!r} is not known to be infinitely divisible, which the theory of these "
            "measures asks for; Function(f, infinitely_divisible=True) says that it is, and "
            "False that you accept it",
            UserWarning,
            stacklevel=2,
        )
    data = read(x, name)
    parts = _parts(data, kernel, name)
    n = int(parts[0][1].shape[0])
    frequency = None if weights is None else _frequencies(weights, n, f"{name}'s weights")
    grams = [_from_points(k, p, frequency, data.reference, name) for k, p in parts]
    return reduce(lambda a, b: a * b, grams)


def joint(*variables: Gram) -> Gram:
    """Return the joint Gram of several: the product of all."""
    if not variables:
        raise ValueError("joint() of no variables: give at least one Gram")
    return reduce(lambda a, b: a * b, [gram(A) for A in variables])


def _given(x: Gram, kernel: object, weights: object, name: str) -> Gram:
    if kernel is not None or weights is not None:
        raise ValueError(f"{name} is a Gram already: give kernel and weights where it is made")
    return x


def _as_kernel(kernel: Any) -> Kernel:
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"kernel is the class {kernel.__name__}: call it, {kernel.__name__}()")
    if not callable(kernel):
        raise TypeError(
            f"kernel must be a Kernel such as Gaussian(1.0), or a function k(X, Y); found "
            f"{kernel!r}"
        )
    return Function(kernel)


def _parts(data: Data, kernel: Kernel | None, name: str) -> list[tuple[Kernel, Array]]:
    """Pair what the data holds with kernels."""
    if isinstance(kernel, Delta) or (kernel is None and data.nominal):
        return [(kernel or Delta(), data.codes())]
    if kernel is None:
        parts: list[tuple[Kernel, Array]] = [(Gaussian("median"), data.numbers)]
        return parts + ([(Delta(), data.symbols)] if data.symbols is not None else [])
    if data.symbols is not None or data.numbers is None:
        raise TypeError(
            f"{name} has text, boolean or categorical columns, which {kernel!r} cannot read: use "
            "Delta(), or encode them as numbers"
        )
    return [(kernel, data.numbers)]


def _frequencies(weights: Any, n: int, name: str) -> np.ndarray:
    w = _arrays.to_numpy(weights if _arrays.is_array(weights) else from_sequence(weights, name))
    if w.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numbers, found dtype {w.dtype}")
    w = w.astype(np.float64)
    if w.shape != (n,):
        raise ValueError(f"{name} must be one number for each of {n} rows, found shape {w.shape}")
    bad = np.flatnonzero(~((w >= 0) & (w < np.inf)))
    if bad.size:
        raise ValueError(
            f"{name} must be finite and not negative, found {w[bad[0]]:g} at row {bad[0]}"
        )
    if w.sum() <= 1:
        raise ValueError(
            f"{name} sum to {w.sum():g}: they are frequencies, whose sum is the number of points; "
            "multiply probabilities by it"
        )
    return w


def _from_points(
    kernel: Kernel, points: Array, frequency: np.ndarray | None, reference: Array, name: str
) -> Gram:
    if not isinstance(kernel, Delta):
        points = _arrays.as_floating(points)
        reference = points[:0, :]
    kernel, source = kernel.prepare(ArraySource(points), frequency)
    n = len(source) if frequency is None else float(frequency.sum())
    relative = np.full(len(source), 1.0 / n) if frequency is None else frequency / n
    weights = _arrays.like(relative, reference)
    scale = _arrays.namespace(weights).sqrt(weights)
    diagonal = None if isinstance(kernel, Delta) else kernel.diagonal(source.all())
    if diagonal is not None:
        scale = scale / _positive_root(diagonal, f"{kernel!r} of {name}")
    return Gram([Points(kernel, source)], scale, weights, n)


def _positive_root(diagonal: Array, what: str) -> Array:
    values = _arrays.to_numpy(diagonal)
    bad = ~(values > 0)
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{what} has diagonal {values[i]:g} at row {i}: k(x, x) must be positive to normalise; "
            "drop such rows or use another kernel"
        )
    return _arrays.namespace(diagonal).sqrt(diagonal)


def _from_matrix(K: Any, weights: Any, check: str, name: str) -> Gram:
    if check not in ("seen", "full"):
        raise ValueError(f"check={check!r}: it is 'seen' or 'full'")
    K = K if _arrays.is_sparse(K) or _arrays.is_array(K) else from_sequence(K, name)
    if len(K.shape) != 2 or K.shape[0] != K.shape[1] or K.shape[0] < 2:
        raise ValueError(
            f"{name} must be a square kernel matrix, found shape {tuple(K.shape)}: points go in "
            "with another kernel than Precomputed()"
        )
    if _arrays.is_sparse(K):
        K = _checked_sparse(K, name)
        diagonal, reference = K.diagonal(), K.data
    else:
        K = _checked_dense(K, name)
        diagonal, reference = _arrays.namespace(K).linalg.diagonal(K), K[0, :0]
    n = int(K.shape[0])
    frequency = np.ones(n) if weights is None else _frequencies(weights, n, f"{name}'s weights")
    relative = _arrays.like(frequency / frequency.sum(), reference)
    root = _positive_root(diagonal, name)
    scale = _arrays.namespace(root).sqrt(relative) / root
    A = Gram([Matrix(K)], scale, relative, float(frequency.sum()))
    if check == "full":
        _prove_positive(A, name)
    return A


def _checked_sparse(K: Any, name: str) -> Any:
    if K.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, found dtype {K.dtype}")
    K = scipy.sparse.csr_array(K, dtype=K.dtype if K.dtype.kind == "f" else np.float64)
    K.sum_duplicates()
    require_finite(K.data[:, None], name)
    asymmetry = abs(K - K.T)
    worst = float(asymmetry.max()) if asymmetry.nnz else 0.0
    _require_symmetric(worst, float(abs(K).max()) if K.nnz else 0.0, K.data, name)
    return K


def _checked_dense(K: Array, name: str) -> Array:
    xp = _arrays.namespace(K)
    if xp.isdtype(K.dtype, "complex floating") or not xp.isdtype(K.dtype, ("numeric", "bool")):
        raise TypeError(f"{name} must hold real numbers, found dtype {K.dtype}")
    K = _arrays.as_floating(xp.astype(K, xp.int64) if xp.isdtype(K.dtype, "bool") else K)
    worst, largest = _asymmetry(_arrays.detach(K))
    if not (np.isfinite(worst) and np.isfinite(largest)):
        require_finite(K, name)
    _require_symmetric(worst, largest, K, name)
    return K


def _asymmetry(K: Array) -> tuple[float, float]:
    """Return the largest of |K - K'| and of |K|, tile by tile (NaN or infinity if K has any)."""
    xp = _arrays.namespace(K)

    def part(rows: slice) -> tuple[float, float]:
        worst, largest = [], []
        for columns in slices(rows.stop, TILE // 2):
            lower = K[rows, columns]
            with np.errstate(invalid="ignore"):  # infinity less infinity
                difference = K[columns, rows].T - lower
            worst += [float(xp.max(difference)), -float(xp.min(difference))]
            largest += [float(xp.max(lower)), -float(xp.min(lower))]
        return float(np.max(worst)), float(np.max(largest))

    cuts = slices(int(K.shape[0]), TILE // 2)
    # Late rows have more tiles: taking them first keeps all cores busy to the end.
    parts = parallel(part, cuts[::-1]) if _arrays.is_numpy(K) else [part(cut) for cut in cuts]
    worst, largest = np.max(np.asarray(parts), axis=0)
    return float(worst), float(largest)


def _require_symmetric(worst: float, largest: float, values: Array, name: str) -> None:
    if worst > 1e3 * _arrays.epsilon(values) * largest:
        raise ValueError(
            f"{name} is not symmetric: K and K' differ by up to {worst:.2g}; use (K + K') / 2 if "
            "that is rounding"
        )


def _prove_positive(A: Gram, name: str) -> None:
    """Factorise A + rounding I: it succeeds only if A has no eigenvalue below minus rounding."""
    import scipy.linalg

    dense = np.array(_arrays.to_numpy(A.dense()), dtype=np.float64)
    slack = len(A) * _arrays.epsilon(A.reference) * float(np.trace(dense))
    dense[np.diag_indices_from(dense)] += slack
    try:
        scipy.linalg.cholesky(dense, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError as error:
        raise ValueError(
            f"{name} is not positive semi-definite: a kernel matrix has no negative eigenvalue"
        ) from error
