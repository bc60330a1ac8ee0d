"""Functions of a Gram: its entries stored, its norm, whether it is constant."""

from __future__ import annotations

import scipy.sparse

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._memory import fits
from lorenyi.gram.factors import Matrix, Points
from lorenyi.gram.memory import InMemory
from lorenyi.gram.protocol import Gram
from lorenyi.gram.tiles import bytes_of, kernel_matrix, row_blocks


def held(A: Gram) -> Gram:
    """Return the same Gram with its entries stored, for solvers that read them many times.

    If they do not fit in memory the Gram is returned unchanged: products compute them again, a
    block of rows at a time. If a gradient is tracked, the points are kept beside the entries.
    """
    if A.is_ready:
        return A
    if A.is_sparse:
        return _stored_sparse(A.collected())
    if not fits((len(A.factors) if A.tracks_gradient else 1) * bytes_of(A)):
        return A
    B = A.collected()
    if B.tracks_gradient:
        factors = [f.stored() if isinstance(f, Points) else f for f in B.factors]
        return B.changed(factors=tuple(factors))
    return _ready(B, kernel_matrix(B)[0])


def _stored_sparse(A: InMemory) -> InMemory:
    everything = slice(0, len(A))
    rows = [A.kernel_block(block, everything) for block in row_blocks(A)]
    return _ready(A, scipy.sparse.vstack(rows, format="csr"))


def _ready(A: InMemory, matrix: Array) -> InMemory:
    products = 4.0 * (len(A.factors) * A.coarsest - _arrays.epsilon(A.reference))
    return A.changed(factors=(Matrix(matrix, given_rounding=products, made_of=A.factors),))


def symmetric(A: Gram) -> Gram:
    """Return the same Gram as one stored matrix, where it fits in memory.

    Its gradient, taken on one side and counted twice, is correct for functions that treat rows
    and columns alike (v'Av, eigenvalues, norms), at half the work and memory.
    """
    stored = held(A)
    if stored.is_ready or not stored.tracks_gradient:
        return stored
    B = stored.collected()
    arrays = [f.entries if isinstance(f, Points) else f.array for f in B.factors]
    if any(array is None for array in arrays):
        return B
    return _ready(B, B.product(arrays))


def squared_norm(A: Gram) -> Array:
    """Return |A|_F^2, the sum of the squared entries."""
    singles, blocks = A.reduced
    total = _arrays.namespace(singles).sum(singles * singles)
    for block in blocks:
        stored = any(isinstance(f, Points) and f.entries is not None for f in block.factors)
        total = total + (symmetric(block) if stored else block).sum_of_squares()
    return total


def is_constant(A: Gram) -> bool:
    """Return whether all rows are equal, so that there is one eigenvalue and no information."""
    singles, blocks = A.reduced
    return int(singles.shape[0]) + sum(len(block) for block in blocks) == 1
