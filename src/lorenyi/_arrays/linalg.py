"""Decompositions of matrices in any array library.

Those of NumPy release the interpreter lock, so that tasks on threads run side by side.
"""

from __future__ import annotations

import sys

import numpy as np
import scipy.linalg

from lorenyi._arrays.libraries import Array, is_torch, namespace


def eigvalsh(matrix: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix, ascending."""
    return namespace(matrix).linalg.eigvalsh(matrix)


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, ascending, and eigenvectors of a symmetric matrix, or of a stack."""
    try:
        values, vectors = namespace(matrix).linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        # LAPACK's divide and conquer fails on some matrices whose eigenvalues are nearly equal; the
        # QR algorithm does not.
        if matrix.ndim > 2 or not np.isfinite(matrix).all():
            raise
        values, vectors = scipy.linalg.eigh(matrix, driver="ev")
    return values, vectors


def qr(matrix: Array) -> Array:
    """Return an orthonormal basis of the columns of a matrix, or of each of a stack."""
    library = sys.modules["torch"] if is_torch(matrix) else namespace(matrix)
    return library.linalg.qr(matrix)[0]


def svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Return the thin singular value decomposition U, values, V' (values descending)."""
    u, s, vh = namespace(matrix).linalg.svd(matrix, full_matrices=False)
    return u, s, vh
