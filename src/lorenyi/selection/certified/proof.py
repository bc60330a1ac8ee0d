r"""Both ends of a block's spectrum from a few products with it and a few random columns.

For matrices J whose leading eigenvectors are nearly known. With orthonormal Q near them, T = Q'JQ,
R = JQ - QT and a bound tau on what is outside Q,

.. math:: J \preceq \begin{bmatrix} T & L' \\ L & \tau I \end{bmatrix}
          \preceq \begin{bmatrix} T + L' L / s & 0 \\ 0 & (\tau + s) I \end{bmatrix}, \quad
          L' L = R' R, \quad s > 0.

For tau, b random columns G are multiplied a few times. Let C be J outside Q, x its largest
eigenvalue and u the eigenvector: :math:`p(x)^2 |u'G|^2 \le |p(C) G|_F^2` for each polynomial p. The
least that the right side can be for p(x) = 1 is :math:`1 / \sum_j \pi_j(x)^2` with the polynomials
that are orthonormal for :math:`\operatorname{tr} G' p(C) q(C) G`, which Lanczos' recursion finds.
:math:`|u'G|^2` has the distribution :math:`\chi^2_b`, so x is smaller than where that sum reaches
the inverse of a quantile, but for its probability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from lorenyi import _arrays
from lorenyi.selection.certified.limits import LIMITS
from lorenyi.spectra.bounds import meet, peaked_from, spread_from
from lorenyi.spectra.spectrum import Spectrum

PROBES = 16  # random columns
STEPS = 14  # products with them, at most: of more the last change nothing
FAILURE = 1e-12  # probability that they miss what is largest
QUANTILE = float(stats.chi2.ppf(FAILURE, PROBES))
STREAM = 1 << 20  # of random numbers that nothing else is made of


@dataclass(frozen=True)
class Rounding:
    """What a matrix differs by from the one that is meant."""

    relative: float  # relative size of the rounding in its entries
    missing: float  # the trace that it lacks


class Basis:
    """Orthonormal columns Q that grow, and V = J Q for a matrix J, which is not kept.

    It starts from columns near the leading eigenvectors of J, about orthogonal.
    """

    def __init__(self, J: np.ndarray, near: np.ndarray) -> None:
        Q = _orthonormal(near.astype(J.dtype, copy=False))
        if Q is None:
            raise np.linalg.LinAlgError("columns that depend on each other are no basis")
        self.Q, self.V = Q, J @ Q
        self._project()

    def _project(self) -> None:
        T = (self.Q.T @ self.V).astype(np.float64)
        self.T = 0.5 * (T + T.T)
        self.R = self.V - self.Q @ self.T.astype(self.Q.dtype)

    def below(self) -> tuple[np.ndarray, np.ndarray]:
        r"""Return Ritz values, and better bounds from below: of :math:`J Q T^{-1} Q' J`."""
        theta, S = _arrays.eigh(self.T)
        keep = theta > LIMITS.resolved * theta[-1]
        W = self.V @ (S[:, keep] / np.sqrt(theta[keep])).astype(self.V.dtype)
        better = _arrays.eigvalsh((W.T @ W).astype(np.float64))
        return np.maximum(theta[::-1], 0.0), np.maximum(better[::-1], 0.0)

    @property
    def leak(self) -> np.ndarray:
        """R'R; in float32, too: its rounding is far below the values that it is set against."""
        return np.asarray((self.R.T @ self.R).astype(np.float64))

    def grow(self, J: np.ndarray) -> bool:
        """Multiply the main directions of the residuals, too, if they are any."""
        sizes, Z = _arrays.eigh(self.leak)
        count = int(np.sum(sizes > 0.01 * sizes[-1]))  # a tenth of the longest, at least
        X = self.R @ (Z[:, -count:] / np.sqrt(sizes[-count:])).astype(self.R.dtype)
        for _ in range(2):
            found = _orthonormal(X - self.Q @ (self.Q.T @ X))
            if found is None:
                return False
            X = found
        self.Q, self.V = np.hstack([self.Q, X]), np.hstack([self.V, J @ X])
        self._project()
        return True

    def enclosed(
        self, J: np.ndarray, rank: int, mass: float, off: Rounding, seed: int
    ) -> tuple[Spectrum, Spectrum] | None:
        """Enclose the spectrum (peaked, spread), or None if nothing bounds what is outside.

        J has the trace `mass` but for what it lacks; about `rank` of its eigenvalues matter.
        """
        tau = outside(J, self.Q, seed)
        if tau is None:
            return None
        theta = np.maximum(_arrays.eigvalsh(self.T)[::-1], 0.0)
        m, p = len(J), len(theta)
        # As in `Krylov`: entries, and sums of m products of which each is off by eps.
        entry = math.sqrt(m) * _arrays.epsilon(J) * float(np.max(np.diagonal(J)))
        frobenius = math.sqrt(float(np.sum(theta**2)) + mass * float(theta[-1]))
        one = off.relative * frobenius + 4 * p * entry
        tau += 2 * one + off.missing
        t = np.arange(1, p + 1)
        slack = np.sqrt(t) * one
        sums, rest = np.cumsum(theta), max(mass - float(np.sum(theta)), 0.0)
        bound = coupled(self.T, self.leak, tau, float(theta[min(rank, p - 1)]))
        beside = sums + np.minimum(rest, t * tau)
        upper = meet(np.cumsum(bound), beside) + slack + off.missing
        return peaked_from(upper, m, mass, tau), spread_from(sums - slack, m, mass)


def _orthonormal(W: np.ndarray) -> np.ndarray | None:
    """Orthonormalize columns that are about orthogonal, of any lengths."""
    # How far from dependent columns must be to come out as orthonormal as their type can tell.
    apart = 0.3 if W.dtype == np.float32 else 0.99
    for _ in range(3):
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
        if least > apart:
            break
    return W


def coupled(T: np.ndarray, leak: np.ndarray, tau: float, least: float) -> np.ndarray:
    r"""Bound eigenvalues of [T, L'; L, E] with :math:`E \preceq \tau I` and L'L = `leak`.

    It lies below the block diagonal of :math:`T + L'L / s` and :math:`(\tau + s) I`, for any
    s > 0: shares of the distance to tau of the `least` eigenvalue that matters are good ones.
    """
    gap = max(least - tau, 0.1 * tau)
    found = []
    for s in (3.0, 1.0, 0.3):
        values = _arrays.eigvalsh(T + leak / (s * gap))[::-1]
        found.append(np.maximum(values, tau + s * gap))
    return np.asarray(np.minimum.reduce(found))


def outside(J: np.ndarray, Q: np.ndarray, seed: int) -> float | None:
    """Bound the largest eigenvalue of J outside Q from random columns, if they can tell."""
    number = J.dtype.type
    X = _arrays.normal(seed, STREAM, len(J), PROBES).astype(J.dtype)
    X = X - Q @ (Q.T @ X)
    size = math.sqrt(_dot(X, X))
    diagonal, beside = [], [0.0]  # of Lanczos' tridiagonal matrix
    before, X = np.zeros_like(X), X / number(size)
    for steps in range(1, STEPS + 1):
        W = J @ X
        W -= Q @ (Q.T @ W)
        diagonal.append(_dot(X, W))
        W -= number(diagonal[-1]) * X + number(beside[-1]) * before
        beside.append(math.sqrt(_dot(W, W)))
        if steps >= 4:
            seen, bound = _largest(diagonal, beside, size)
            if bound <= (1.3 * seen if steps < STEPS else math.inf):  # near enough, or the last
                return bound if math.isfinite(bound) else None
        before, X = X, W / number(beside[-1])
    return None


def _largest(diagonal: list[float], beside: list[float], size: float) -> tuple[float, float]:
    """Return what a Lanczos matrix shows of the largest eigenvalue, and a bound on it."""
    T = np.diag(diagonal) + np.diag(beside[1:-1], 1) + np.diag(beside[1:-1], -1)
    seen = float(np.linalg.eigvalsh(T)[-1])
    x = seen * 1.01 ** np.arange(1, 100)
    before, now = np.zeros_like(x), np.ones_like(x)
    total = now.copy()
    for a, b, c in zip(diagonal, beside[:-1], beside[1:], strict=True):
        before, now = now, ((x - a) * now - b * before) / c
        total += now**2
    high = total >= size**2 / QUANTILE
    return seen, float(x[high][0]) if high.any() else math.inf


def _dot(X: np.ndarray, Y: np.ndarray) -> float:
    return float(np.einsum("ij,ij->", X, Y, dtype=np.float64))
