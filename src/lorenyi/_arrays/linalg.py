"""Decompositions of matrices in any array library.

Those of NumPy release the interpreter lock, so that tasks on threads run side by side.
"""

from __future__ import annotations

import sys

from lorenyi._arrays.libraries import Array, is_torch, namespace


def eigvalsh(matrix: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix, ascending."""
    return namespace(matrix).linalg.eigvalsh(matrix)


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, ascending, and eigenvectors of a symmetric matrix, or of a stack."""
    values, vectors = namespace(matrix).linalg.eigh(matrix)
    return values, vectors


def qr(matrix: Array) -> Array:
    """Return an orthonormal basis of the columns of a matrix, or of each of a stack."""
    library = sys.modules["torch"] if is_torch(matrix) else namespace(matrix)
    return library.linalg.qr(matrix)[0]


def svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Return the thin singular value decomposition U, values, V' (values descending)."""
    u, s, vh = namespace(matrix).linalg.svd(matrix, full_matrices=False)
    return u, s, vh
