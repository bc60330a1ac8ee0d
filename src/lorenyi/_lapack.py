"""A few LAPACK routines, called such that other threads go on meanwhile.

NumPy's and SciPy's wrappers keep the interpreter's lock during most calls, so that candidates which
are measured side by side would wait for each other. SciPy offers the routines themselves to C code
(`scipy.linalg.cython_lapack`, `cython_blas`); ctypes, which gives up the lock, calls them through
that.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

LETTERS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
WORTH = 20  # rows from which waiting costs more than the call


_SIGNATURE = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_ADDRESS = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@cache
def _routine(name: str) -> Any:
    """Return a routine of SciPy's LAPACK or BLAS, or None where its integers are not those of C."""
    routines: Mapping[str, Any] = {**cython_blas.__pyx_capi__, **cython_lapack.__pyx_capi__}
    text = _SIGNATURE(routines[name])
    if b" int *" not in text:
        return None
    count = text.count(b",") + 1
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(_ADDRESS(routines[name], text))


def _address(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return argument.ctypes.data
    return argument if isinstance(argument, bytes) else ctypes.byref(argument)


def _call(name: str, *arguments: Any) -> int:
    """Call a routine with arrays, letters and integers; return what it says about its success."""
    info = ctypes.c_int(0)
    _routine(name)(*map(_address, arguments), ctypes.byref(info))
    return info.value


def _blas(name: str, *arguments: Any) -> None:
    """Call a routine that cannot fail."""
    _routine(name)(*map(_address, arguments))


def _worth(matrix: np.ndarray) -> bool:
    """Tell whether a matrix can be passed on, and is not so small that NumPy is faster."""
    plain = matrix.ndim == 2 and matrix.dtype in LETTERS
    return plain and len(matrix) >= WORTH and _routine("dsyevd") is not None


def eigvalsh(matrix: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of a symmetric matrix, ascending."""
    return np.linalg.eigvalsh(matrix) if not _worth(matrix) else _decomposed(matrix, b"N")[0]


def eigh(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of a symmetric matrix, ascending, and eigenvectors as columns."""
    if not _worth(matrix):
        values, vectors = np.linalg.eigh(matrix)
        return values, vectors
    values, rows = _decomposed(matrix, b"V")
    return values, rows.T


def _decomposed(matrix: np.ndarray, what: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, and eigenvectors as rows where they are asked for."""
    n, letter = len(matrix), LETTERS[matrix.dtype]
    a = np.array(matrix, order="C")  # destroyed
    values, size = np.empty(n, dtype=a.dtype), ctypes.c_int(n)
    lengths = _lengths(letter, what, n)
    work, numbers = np.empty(lengths[0], dtype=a.dtype), np.empty(lengths[1], dtype=np.intc)
    rooms = (work, ctypes.c_int(lengths[0]), numbers, ctypes.c_int(lengths[1]))
    if _call(f"{letter}syevd", what, b"L", size, a, size, values, *rooms):
        raise np.linalg.LinAlgError("eigenvalues did not converge: the matrix has NaN or infinity")
    return values, a


@cache
def _lengths(letter: str, what: bytes, n: int) -> tuple[int, int]:
    """Return how much room a decomposition of order n works in."""
    size, ask = ctypes.c_int(n), ctypes.c_int(-1)
    work, numbers = np.empty(1, dtype="f4" if letter == "s" else "f8"), np.empty(1, dtype=np.intc)
    _call(f"{letter}syevd", what, b"L", size, work, size, work, work, ask, numbers, ask)
    return int(work[0]), int(numbers[0])


def orthonormal(matrix: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the columns of a matrix that has no fewer rows."""
    rows, columns = matrix.shape
    if min(rows, columns) < 1 or not _worth(matrix):
        return np.asarray(np.linalg.qr(matrix)[0])
    letter, a = LETTERS[matrix.dtype], np.array(matrix.T, order="C")  # its columns one by one
    high, wide = ctypes.c_int(rows), ctypes.c_int(columns)
    factors, work = (np.empty(size, dtype=a.dtype) for size in (columns, 64 * columns))
    room = (factors, work, ctypes.c_int(len(work)))
    _call(f"{letter}geqrf", high, wide, a, high, *room)
    _call(f"{letter}orgqr", high, wide, wide, a, high, *room)
    return a.T


def is_positive_definite(matrix: np.ndarray) -> bool:
    """Tell whether a symmetric matrix has a Cholesky factor.

    The upper triangle and the diagonal are destroyed, the lower triangle stays.
    """
    if not _worth(matrix):
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return False
        return True
    if not matrix.flags.c_contiguous or not matrix.flags.writeable:
        raise ValueError("the matrix must be writeable and in one piece of memory, row by row")
    size = ctypes.c_int(len(matrix))
    return _call(f"{LETTERS[matrix.dtype]}potrf", b"L", size, matrix, size) == 0


def can_band() -> bool:
    """Tell whether `band` can be called."""
    return _routine("dsyevd") is not None


def band(matrix: np.ndarray, width: int) -> np.ndarray:
    """Reduce a symmetric matrix to one with few diagonals and the same eigenvalues.

    Householder's reflections, as many at once as there are diagonals: 4/3 m^3 operations as for a
    tridiagonal form, but all in products of matrices.

    Parameters
    ----------
    matrix : array, m x m
        In one piece of memory; destroyed. Only what is right of the diagonal is read.
    width : int
        Number of diagonals above the main one.

    Returns
    -------
    array, m x (width + 1)
        Of each row the diagonal and what is right of it; float64.
    """
    m = len(matrix)
    found = np.zeros((m, width + 1))
    for start in range(0, m, width):
        stop = min(start + width, m)
        reflections = _reflections(matrix[start:stop, stop:]) if stop < m else None
        for i in range(start, stop):
            right = matrix[i, i : i + width + 1]
            found[i, : len(right)] = right
        if reflections is not None:
            _reflect(matrix[stop:, stop:], *reflections)
    return found


def mixed_band(matrix: np.ndarray, width: int) -> np.ndarray:
    """Do the same in float32, except for the leading eigenvectors, which come first in float64.

    What float32 rounds is what they leave, so that small eigenvalues suffer less.
    """
    m = len(matrix)
    if m <= 4 * width:
        return band(matrix, width)
    some = np.ascontiguousarray(matrix[:: m // width][:width])
    _reflect(matrix, *_reflections(some @ matrix))
    V, P = _reflections(matrix[:width, width:])
    first = np.stack([matrix[i, i : i + width + 1] for i in range(width)])
    rest = matrix[width:, width:].astype(np.float32)
    _reflect(rest, V.astype(np.float32), P.astype(np.float32))
    return np.concatenate([first, band(rest, width)])


def _reflections(panel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return V and P with Q = I - V'P'V such that R = Q'A' has only zeros below its diagonal.

    The rows of A become those of R', with what is left of V beyond them.
    """
    letter, (columns, length) = LETTERS[panel.dtype], panel.shape
    count = min(columns, length)
    T, work = (np.empty((columns, columns), dtype=panel.dtype) for _ in range(2))
    rows = panel.strides[0] // panel.itemsize
    size, wide, many, stride = map(ctypes.c_int, (length, columns, count, rows))
    _call(f"{letter}geqrt", size, wide, many, panel, stride, T, wide, work)
    V = np.triu(panel[:count], 1)
    np.fill_diagonal(V, 1)
    return V, np.tril(T[:count, :count])  # its columns are stored as rows


def _reflect(matrix: np.ndarray, V: np.ndarray, P: np.ndarray) -> None:
    """Replace what is right of the diagonal of A by that of Q'AQ."""
    letter = LETTERS[matrix.dtype]
    number = ctypes.c_float if letter == "s" else ctypes.c_double
    one, zero, minus = number(1.0), number(0.0), number(-1.0)
    rows = matrix.strides[0] // matrix.itemsize
    size, count, stride = map(ctypes.c_int, (len(matrix), len(V), rows))
    X = np.empty_like(V)
    sizes = (size, count)
    _blas(f"{letter}symm", b"L", b"L", *sizes, one, matrix, stride, V, size, zero, X, size)
    X = P @ X
    W = X - (0.5 * ((X @ V.T) @ P.T)).astype(V.dtype) @ V
    _blas(f"{letter}syr2k", b"L", b"N", *sizes, minus, V, size, W, size, one, matrix, stride)


def log_determinant(diagonals: np.ndarray, shift: float) -> float | None:
    """Return log det(B + shift I) of what `band` returns, or None if that has no such logarithm."""
    shifted = diagonals.copy()
    shifted[:, 0] += shift
    size, width = (ctypes.c_int(k) for k in (len(shifted), shifted.shape[1] - 1))
    if _call("dpbtrf", b"L", size, width, shifted, ctypes.c_int(shifted.shape[1])):
        return None
    return float(2.0 * np.sum(np.log(shifted[:, 0])))
