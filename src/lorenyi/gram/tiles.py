"""The kernel matrix of rows in memory, tile by tile: whole, times vectors, and its squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._memory import require_memory
from lorenyi._threads import parallel
from lorenyi.data.sources import slices, tree_sum
from lorenyi.gram.factors import TILE, Points

if TYPE_CHECKING:
    from lorenyi.gram.memory import InMemory
    from lorenyi.gram.protocol import Gram

STRIPES = 4  # partial sums of a product from tiles


def bytes_of(A: Gram) -> int:
    """Return the memory that a dense matrix and its temporary copy take."""
    item = _arrays.namespace(A.reference).finfo(A.reference.dtype).bits // 8
    return int(2 * len(A) ** 2 * item)


def row_blocks(A: InMemory) -> list[slice]:
    """Cut the rows into blocks that stay in cache (one block where a gradient is kept)."""
    size = TILE // 2 if _arrays.is_numpy(A.reference) else max(1, 2**24 // len(A))
    return slices(len(A), len(A) if A.tracks_gradient else size)


def kernel_matrix(A: InMemory) -> tuple[Array, bool]:
    """Return K_1 o K_2 o ... as a dense array, and whether it may be written to."""
    m = len(A)
    require_memory(
        bytes_of(A),
        f"a dense {m} x {m} kernel matrix",
        "use a solver that reads it in blocks, such as Lanczos or InputSparsity",
    )
    if A.is_ready:
        array = A.factors[0].array
        return array.toarray() if _arrays.is_sparse(array) else array, False
    if A.is_sparse:
        everything = slice(0, m)
        blocks = [A.kernel_block(rows, everything).toarray() for rows in row_blocks(A)]
        return _arrays.concat(blocks), False
    if _arrays.is_numpy(A.reference) and m > TILE:
        return _mirrored(A), True
    factor = A.factors[0]
    if len(A.factors) == 1 and isinstance(factor, Points) and not A.tracks_gradient:
        return _arrays.like(factor.kernel.matrix(factor.source), A.reference), False
    return A.kernel_block(slice(0, m), slice(0, m)), False


def _tiles(A: InMemory) -> list[tuple[slice, slice]]:
    """Cut the upper triangle into square tiles."""
    cuts = slices(len(A), TILE)
    return [(rows, columns) for i, rows in enumerate(cuts) for columns in cuts[i:]]


def _mirrored(A: InMemory) -> np.ndarray:
    """Fill the matrix from the tiles of its upper triangle."""
    matrix = np.empty((len(A), len(A)), dtype=A.reference.dtype)

    def fill(tile: tuple[slice, slice]) -> None:
        rows, columns = tile
        block = A.kernel_block(rows, columns)
        matrix[rows, columns] = block
        if rows is not columns:
            matrix[columns, rows] = block.T

    parallel(fill, _tiles(A))
    return matrix


def kernel_times(A: InMemory, V: Array) -> Array:
    """Return the kernel matrix times V, a block of rows at a time."""
    if A.is_ready:
        return _ready_times(A.factors[0].array, V)
    if not (A.is_sparse or A.tracks_gradient) and _arrays.is_numpy(V):
        return _tiles_times(A, V)
    blocks, everything = row_blocks(A), slice(0, len(A))

    def multiply(rows: slice) -> Array:
        return A.kernel_block(rows, everything) @ V

    apart = _arrays.is_numpy(A.reference) and len(blocks) >= 4
    return _arrays.concat(parallel(multiply, blocks) if apart else [multiply(b) for b in blocks])


def _ready_times(K: Array, V: Array) -> Array:
    """Return a stored matrix times V, on all cores by blocks of rows."""
    if not (_arrays.is_numpy(K) and _arrays.is_numpy(V)) or len(K) < 4 * TILE:
        return K @ V
    product = np.empty((len(K), V.shape[1]), dtype=np.result_type(K, V))

    def multiply(rows: slice) -> None:
        np.matmul(K[rows], V, out=product[rows])

    parallel(multiply, slices(len(K), TILE))
    return product


def _tiles_times(A: InMemory, V: np.ndarray) -> np.ndarray:
    """Return the kernel matrix times V from the tiles of its upper triangle, each used twice.

    Each stripe of tiles has its own sum, so that the order of additions, and thus the rounding,
    does not depend on the number of threads.
    """
    cuts = slices(len(A), TILE)

    def stripe(first: int) -> np.ndarray:
        product = np.zeros((len(A), V.shape[1]), dtype=V.dtype)
        for i in range(first, len(cuts), STRIPES):
            for columns in cuts[i:]:
                block = A.kernel_block(cuts[i], columns)
                product[cuts[i]] += block @ V[columns]
                if columns is not cuts[i]:
                    product[columns] += block.T @ V[cuts[i]]
        return product

    total: np.ndarray = tree_sum(parallel(stripe, range(min(STRIPES, len(cuts)))))
    return total


def sum_of_squares(A: InMemory) -> Array:
    """Return the sum of the squared entries of A."""
    if not _arrays.is_numpy(A.reference):
        dense = A.block(slice(0, len(A)), slice(0, len(A)))
        return _arrays.namespace(dense).sum(dense * dense)

    def part(tile: tuple[slice, slice]) -> float:
        rows, columns = tile
        block = A.kernel_block(rows, columns)
        left, right = A.scale[rows] ** 2, A.scale[columns] ** 2
        block = block.multiply(block) if A.is_sparse else np.square(block)
        return float(left @ (block @ right)) * (1 if rows is columns else 2)

    return np.asarray(tree_sum(parallel(part, _tiles(A))))
