"""Established measures of dependence for comparison: HSIC, CKA, distance correlation.

They are numbers without unit, computed from all pairs of rows in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lorenyi import _arrays
from lorenyi._threads import one_thread
from lorenyi.measures import Variable, variable


def hsic(x: Variable, y: Variable, *, weights: Any = None) -> float:
    r"""Return the Hilbert-Schmidt independence criterion, biased: tr(K H L H) / n^2.

    With weights w that sum to one and centered kernels :math:`\bar K, \bar L` it is
    :math:`\sum_{ij} w_i w_j \bar K_{ij} \bar L_{ij}`. Kernels are those of `gram`.

    Parameters
    ----------
    x, y : variable
        One variable or several, each.
    weights : array, optional
        Frequencies of the rows, where x and y are not Grams.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.hsic([0, 0, 1, 1], ["a", "a", "b", "b"])
    0.25
    """
    with one_thread():
        A, B = _centered(x, y, weights)
        return float(np.sum(A * B))


def cka(x: Variable, y: Variable, *, weights: Any = None) -> float:
    r"""Return the centered kernel alignment, HSIC(x, y) / sqrt(HSIC(x, x) HSIC(y, y)).

    Between 0 and 1; 0 where x or y is constant. Kernels are those of `gram`, which have a unit
    diagonal, so the alignment of linear kernels is that of cosines.

    Parameters
    ----------
    x, y, weights
        As in `hsic`.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.cka([0, 0, 1, 1], ["a", "a", "b", "b"])
    1.0
    """
    with one_thread():
        A, B = _centered(x, y, weights)
        return _quotient(A, B)


def distance_correlation(x: Any, y: Any, *, weights: Any = None) -> float:
    r"""Return the squared distance correlation: CKA of the kernels that distances induce.

    :math:`k(x, x') = (|x| + |x'| - |x - x'|) / 2` is centered and aligned. Columns are numbers and
    are not scaled.

    Parameters
    ----------
    x, y : array
        Numbers, one row per point.
    weights : array, optional
        Frequencies of the rows.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.distance_correlation([0.0, 1.0, 3.0], [0.0, 2.0, 6.0])
    1.0
    """
    from scipy.spatial.distance import cdist

    n = len(variable(x))
    if len(variable(y, name="y")) != n:
        raise ValueError(f"x has {n} rows and y {len(y)}: give variables of the same rows")
    points = [_arrays.to_numpy(v) if _arrays.is_array(v) else np.asarray(v) for v in (x, y)]
    points = [v.astype(np.float64).reshape(n, -1) for v in points]
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    w = w / w.sum()
    with one_thread():
        A, B = (_center(-0.5 * cdist(v, v), w) for v in points)
        return _quotient(A, B)


def _centered(x: Variable, y: Variable, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return sqrt(w_i w_j) times the centered kernels of both."""
    grams = [variable(x, weights), variable(y, weights, "y")]
    grams[0] * grams[1]  # raises an error for different rows or weights
    found = []
    for A in grams:
        w = _arrays.to_numpy(_arrays.detach(A.weights)).astype(np.float64)
        root = np.sqrt(np.where(w > 0, w, 1.0))
        K = np.asarray(_arrays.to_numpy(_arrays.detach(A.dense())), dtype=np.float64)
        found.append(_center(K / root[:, None] / root, w))
    return found[0], found[1]


def _center(K: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return sqrt(w_i w_j) times a matrix whose weighted row and column means are zero."""
    means = K @ w
    root = np.sqrt(w)
    return np.asarray((K - means[:, None] - means + w @ means) * root[:, None] * root)


def _quotient(A: np.ndarray, B: np.ndarray) -> float:
    """Return <A, B> / (|A| |B|); 0 where one of them vanishes."""
    a, b = float(np.linalg.norm(A)), float(np.linalg.norm(B))
    if min(a, b) <= 1e-14:
        return 0.0
    return float(np.sum(A * B)) / (a * b)
