"""A few LAPACK routines, called such that other threads go on meanwhile.

NumPy's and SciPy's wrappers keep the interpreter's lock during most calls, so that candidates which
are measured side by side would wait for each other. SciPy offers the routines themselves to C code
(`scipy.linalg.cython_lapack`); ctypes, which gives up the lock, calls them through that.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_lapack

LETTERS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
WORTH = 48  # rows from which waiting costs more than the call


_SIGNATURE = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_ADDRESS = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@cache
def _routine(name: str) -> Any:
    """Return a routine of SciPy's LAPACK, or None where its integers are not those of C."""
    routines: Mapping[str, Any] = cython_lapack.__pyx_capi__
    text = _SIGNATURE(routines[name])
    if b" int *" not in text:
        return None
    count = text.count(b",") + 1
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(_ADDRESS(routines[name], text))


def _address(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return argument.ctypes.data
    if isinstance(argument, bytes):
        return ctypes.cast(ctypes.c_char_p(argument), ctypes.c_void_p)
    return ctypes.cast(ctypes.byref(argument), ctypes.c_void_p)


def _call(name: str, *arguments: Any) -> int:
    """Call a routine with arrays, letters and integers; return what it says about its success."""
    info = ctypes.c_int(0)
    _routine(name)(*map(_address, arguments), ctypes.cast(ctypes.byref(info), ctypes.c_void_p))
    return info.value


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
    values = np.empty(n, dtype=a.dtype)
    size, work, numbers = ctypes.c_int(n), np.empty(1, dtype=a.dtype), np.empty(1, dtype=np.intc)
    ask = ctypes.c_int(-1)
    options = (what, b"L", size, a, size, values)
    _call(f"{letter}syevd", *options, work, ask, numbers, ask)
    lengths = ctypes.c_int(int(work[0])), ctypes.c_int(int(numbers[0]))
    work = np.empty(lengths[0].value, dtype=a.dtype)
    numbers = np.empty(lengths[1].value, dtype=np.intc)
    if _call(f"{letter}syevd", *options, work, lengths[0], numbers, lengths[1]):
        raise np.linalg.LinAlgError("eigenvalues did not converge: the matrix has NaN or infinity")
    return values, a


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
