r"""Both ends of an entropy from two products with each block and one Cholesky factorisation.

For matrices J of a few thousand rows at most whose leading eigenvectors are nearly known. With
orthonormal Q from one product, Ritz vectors Y and values :math:`\Theta` in it, and a Cholesky
factor of :math:`\tau I - J + Y \Theta Y'`, which exists only if nothing outside Y exceeds tau,

.. math:: J \preceq \begin{bmatrix} \Theta & L' \\ L & \tau I \end{bmatrix}
          \preceq \begin{bmatrix} \Theta + L' L / s & 0 \\ 0 & (\tau + s) I \end{bmatrix}, \quad
          L' L = R' R, \quad R = J Y - Y \Theta.

It is what `Krylov.prove` does, for a basis that need not grow.
"""

from __future__ import annotations

import math

import numpy as np

from lorenyi import _arrays, _lapack
from lorenyi.spectra.bounds import meet, peaked_from, spread_from
from lorenyi.spectra.krylov import mirror
from lorenyi.spectra.spectrum import Spectrum

GUESSES = (1.1, 1.35, 2.0, 4.0)  # times the first Ritz value that is not kept
KEPT = 0.85  # of the Ritz vectors


def enclose(
    J: np.ndarray, near: np.ndarray, rank: int, mass: float, roundoff: float, missing: float
) -> tuple[Spectrum, Spectrum] | None:
    """Enclose the spectrum of a block: (peaked, spread), or None if there is no proof.

    Parameters
    ----------
    J : array, m x m, float32
        The block, or one that lies just below it; destroyed.
    near : array, m x p
        Columns near its leading eigenvectors, largest first or last, about orthogonal.
    rank : int
        How many of its eigenvalues matter, about.
    mass : float
        The trace of the block.
    roundoff : float
        Relative size of the rounding in the entries.
    missing : float
        The trace that J lacks.
    """
    m, eps = len(J), float(np.finfo(J.dtype).eps)
    Q = _orthonormal(J @ near)
    if Q is None:
        return None
    V = J @ Q
    T = (Q.T @ V).astype(np.float64)
    theta, S = _arrays.eigh(0.5 * (T + T.T))
    theta, S = np.maximum(theta[::-1], 0.0), np.ascontiguousarray(S[:, ::-1], dtype=J.dtype)
    p = len(theta)
    kept = min(max(rank, int(KEPT * p)), p - 1)
    Y = Q @ S[:, :kept]
    R = V @ S[:, :kept] - Y * theta[:kept].astype(J.dtype)
    leak = R.T @ R  # float32: its rounding is far below the values that it is set against
    # As in `Krylov`: entries, and sums of m products of which each is off by eps.
    entry = math.sqrt(m) * eps * float(np.max(np.diagonal(J)))
    frobenius = math.sqrt(float(np.sum(theta**2)) + mass * float(theta[-1]))
    one = roundoff * frobenius + 4 * p * entry
    tau = _proven(J, Y, theta[:kept], float(theta[kept]))
    if tau is None:
        return None
    tau += 2 * one + missing
    t = np.arange(1, p + 1)
    slack = np.sqrt(t) * one
    sums, rest = np.cumsum(theta), max(mass - float(np.sum(theta[:kept])), 0.0)
    bound = _beside(theta[:kept], leak.astype(np.float64), tau, min(rank, kept - 1))
    beside = sums[:kept] + np.minimum(rest, t[:kept] * tau)
    upper = meet(np.cumsum(bound), beside) + slack[:kept] + missing
    return peaked_from(upper, m, mass, tau), spread_from(sums - slack, m, mass)


def _orthonormal(W: np.ndarray) -> np.ndarray | None:
    """Orthonormalise columns that are about orthogonal, of any lengths."""
    for _ in range(2):
        W = W / np.maximum(np.linalg.norm(W, axis=0), np.finfo(W.dtype).tiny)
        G = (W.T @ W).astype(np.float64)
        try:
            R = np.linalg.cholesky(G).T
        except np.linalg.LinAlgError:
            return None
        least = float(np.min(np.diag(R)))
        if least < 1e-2:  # float32 would not be enough
            return None
        W = W @ np.linalg.inv(R).astype(W.dtype)
        if least > 0.3:  # then it is as orthonormal as float32 can tell
            break
    return W


def _beside(theta: np.ndarray, leak: np.ndarray, tau: float, rank: int) -> np.ndarray:
    r"""Bound eigenvalues of [Theta, L'; L, E] with :math:`E \preceq \tau I` and L'L = `leak`.

    It lies below the block diagonal of :math:`\Theta + L'L / s` and :math:`(\tau + s) I`, for any
    s > 0: the distance to tau of the eigenvalues that matter least is a good one.
    """
    gap = max(float(theta[rank]) - tau, 0.1 * tau)
    found = []
    for s in (3 * gap, gap, 0.3 * gap):
        values = _arrays.eigvalsh(np.diag(theta) + leak / s)[::-1]
        found.append(np.maximum(values, tau + s))
    return np.asarray(np.minimum.reduce(found))


def _proven(J: np.ndarray, Y: np.ndarray, theta: np.ndarray, following: float) -> float | None:
    """Return tau such that tau I - J + Y Theta Y' is positive definite; J is destroyed."""
    diagonal, places = np.diagonal(J).copy(), np.arange(len(J))
    root = np.ascontiguousarray(Y * np.sqrt(theta).astype(Y.dtype))
    for tau in following * np.array(GUESSES):
        _lapack.subtract_from_product(J, root)
        J[places, places] += J.dtype.type(tau)
        if _lapack.is_positive_definite(J):
            largest = float(diagonal.max() + tau)
            return float(tau) + 4 * len(J) * float(np.finfo(J.dtype).eps) * largest
        J[places, places] = diagonal
        mirror(J)
    return None
