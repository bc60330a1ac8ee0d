r"""Both ends of an entropy from a few products with each block and a few random columns.

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

It is what `Krylov.prove` does, for a basis that is good from the start, at a fraction of the cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy import stats

from lorenyi import _arrays
from lorenyi.spectra.bounds import meet, peaked_from, spread_from
from lorenyi.spectra.spectrum import Spectrum

GROWN = 0.1  # of the largest: residuals that are followed
PROBES = 16  # random columns
FAILURE = 1e-12  # probability that they miss what is largest
LEAST, MOST = 4, 14  # products with them
CLOSE = 1.3  # times the largest value seen: a bound as close is good enough
STREAM = 1 << 20  # of random numbers that nothing else is made of
SHARES = (3.0, 1.0, 0.3)  # of the distance to what is outside
TINY = 1e-5  # of the largest: Ritz values that float32 does not resolve

Multiply = Callable[[np.ndarray], np.ndarray]


class Basis:
    """A space that grows, and what a matrix J makes of it.

    Parameters
    ----------
    multiply : callable
        Returns J X for columns X.
    near : array, m x p
        Columns near its leading eigenvectors, about orthogonal.
    beside : array, m x b, optional
        Further columns to multiply.

    Attributes
    ----------
    Q, V : array, m x p
        Orthonormal columns, and J Q.
    T : array, p x p
        Q'JQ, in float64.
    R : array, m x p
        The residuals JQ - QT.
    beside : array, m x b
        J times the further columns.
    found : bool
        Whether there is a basis: columns that depend on each other are none.
    """

    def __init__(
        self, multiply: Multiply, near: np.ndarray, beside: np.ndarray | None = None
    ) -> None:
        self.multiply = multiply
        Q = _orthonormal(near)
        self.found = Q is not None
        if Q is not None:
            self.Q, p = Q, Q.shape[1]
            product = multiply(Q if beside is None else np.hstack([Q, beside]))
            self.V, self.beside = product[:, :p], product[:, p:]
            self._project()

    def _project(self) -> None:
        T = (self.Q.T @ self.V).astype(np.float64)
        self.T = 0.5 * (T + T.T)
        self.R = self.V - self.Q @ self.T.astype(self.Q.dtype)

    def values(self) -> tuple[np.ndarray, np.ndarray]:
        r"""Return Ritz values, and better bounds from below: of :math:`J Q T^{-1} Q' J`."""
        theta, S = _arrays.eigh(self.T)
        keep = theta > TINY * theta[-1]
        W = self.V @ (S[:, keep] / np.sqrt(theta[keep])).astype(self.V.dtype)
        better = _arrays.eigvalsh((W.T @ W).astype(np.float64))
        return np.maximum(theta[::-1], 0.0), np.maximum(better[::-1], 0.0)

    @property
    def leak(self) -> np.ndarray:
        """R'R."""
        # In float32, too: its rounding is far below the values that it is set against.
        return np.asarray((self.R.T @ self.R).astype(np.float64))

    def grow(self) -> bool:
        """Multiply the main directions of the residuals, too, if they are any."""
        sizes, Z = _arrays.eigh(self.leak)
        count = int(np.sum(sizes > GROWN**2 * sizes[-1]))
        X = self.R @ (Z[:, -count:] / np.sqrt(sizes[-count:])).astype(self.R.dtype)
        for _ in range(2):
            found = _orthonormal(X - self.Q @ (self.Q.T @ X))
            if found is None:
                return False
            X = found
        self.Q, self.V = np.hstack([self.Q, X]), np.hstack([self.V, self.multiply(X)])
        self._project()
        return True


class Proof:
    """Encloses the spectrum of a block, the more narrowly the more products are made with it.

    Parameters
    ----------
    J : array, m x m
        The block, or one that lies just below it.
    near : array, m x p
        Columns near its leading eigenvectors, about orthogonal.
    rank : int
        How many of its eigenvalues matter, about.
    mass : float
        The trace of the block.
    roundoff : float
        Relative size of the rounding in the entries.
    missing : float
        The trace that J lacks.
    seed : int
        Of the random columns.
    """

    def __init__(
        self,
        J: np.ndarray,
        near: np.ndarray,
        rank: int,
        mass: float,
        roundoff: float,
        missing: float,
        seed: int = 0,
    ) -> None:
        self.J, self.rank, self.mass = J, rank, mass
        self.roundoff, self.missing = roundoff, missing
        self.G = _probes(seed, len(J)).astype(J.dtype, copy=False)
        self.basis = Basis(J.__matmul__, near.astype(J.dtype, copy=False), self.G)

    def grow(self) -> bool:
        """Make products with the main directions of the residuals, if there are any."""
        return self.basis.found and self.basis.grow()

    def ends(self) -> tuple[Spectrum, Spectrum] | None:
        """Return the enclosure (peaked, spread), or None if nothing bounds what is outside."""
        if not self.basis.found:
            return None
        Q, T = self.basis.Q, self.basis.T
        inside = Q.T @ self.G
        X, JX = self.G - Q @ inside, self.basis.beside - self.basis.V @ inside
        tau = _outside(self.J, Q, X, JX)
        if tau is None:
            return None
        theta = np.maximum(_arrays.eigvalsh(T)[::-1], 0.0)
        m, p = len(self.J), len(theta)
        # As in `Krylov`: entries, and sums of m products of which each is off by eps.
        eps = float(np.finfo(self.J.dtype).eps)
        entry = math.sqrt(m) * eps * float(np.max(np.diagonal(self.J)))
        frobenius = math.sqrt(float(np.sum(theta**2)) + self.mass * float(theta[-1]))
        one = self.roundoff * frobenius + 4 * p * entry
        tau += 2 * one + self.missing
        t = np.arange(1, p + 1)
        slack = np.sqrt(t) * one
        sums, rest = np.cumsum(theta), max(self.mass - float(np.sum(theta)), 0.0)
        bound = _beside(T, self.basis.leak, tau, float(theta[min(self.rank, p - 1)]))
        beside = sums + np.minimum(rest, t * tau)
        upper = meet(np.cumsum(bound), beside) + slack + self.missing
        return peaked_from(upper, m, self.mass, tau), spread_from(sums - slack, m, self.mass)


def _orthonormal(W: np.ndarray) -> np.ndarray | None:
    """Orthonormalise columns that are about orthogonal, of any lengths."""
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


def _beside(T: np.ndarray, leak: np.ndarray, tau: float, least: float) -> np.ndarray:
    r"""Bound eigenvalues of [T, L'; L, E] with :math:`E \preceq \tau I` and L'L = `leak`.

    It lies below the block diagonal of :math:`T + L'L / s` and :math:`(\tau + s) I`, for any
    s > 0: the distance to tau of the `least` eigenvalue that matters is a good one.
    """
    gap = max(least - tau, 0.1 * tau)
    found = []
    for s in SHARES:
        values = _arrays.eigvalsh(T + leak / (s * gap))[::-1]
        found.append(np.maximum(values, tau + s * gap))
    return np.asarray(np.minimum.reduce(found))


@cache
def _quantile(columns: int) -> float:
    """Return what the squared norm of so many normal numbers exceeds, but for `FAILURE`."""
    return float(stats.chi2.ppf(FAILURE, columns))


def _probes(seed: int, m: int) -> np.ndarray:
    """Return random columns, always the same."""
    return _arrays.normal(seed, STREAM, m, PROBES).astype(np.float32)


def _outside(J: np.ndarray, Y: np.ndarray, X: np.ndarray, JX: np.ndarray) -> float | None:
    """Bound the largest eigenvalue of J outside Y from random columns X there and J X."""
    size, number = math.sqrt(_dot(X, X)), X.dtype.type
    diagonal, beside = [], [0.0]  # of Lanczos' tridiagonal matrix
    before, X, W = np.zeros_like(X), X / number(size), JX / number(size)
    for steps in range(1, MOST + 1):
        W = W - Y @ (Y.T @ W)
        diagonal.append(_dot(X, W))
        W -= number(diagonal[-1]) * X + number(beside[-1]) * before
        beside.append(math.sqrt(_dot(W, W)))
        if steps >= LEAST:
            T = np.diag(diagonal) + np.diag(beside[1:-1], 1) + np.diag(beside[1:-1], -1)
            seen = float(np.linalg.eigvalsh(T)[-1])
            x = seen * 1.01 ** np.arange(1, 100)
            high = _sum_of_squares(x, diagonal, beside) >= size**2 / _quantile(X.shape[1])
            if high.any() and (x[high][0] <= CLOSE * seen or steps == MOST):
                return float(x[high][0])
        before, X = X, W / number(beside[-1])
        W = J @ X
    return None


def _sum_of_squares(x: np.ndarray, diagonal: list[float], beside: list[float]) -> np.ndarray:
    """Return the sum of the squared orthonormal polynomials of a Lanczos matrix at x."""
    before, now = np.zeros_like(x), np.ones_like(x)
    total = now.copy()
    for a, b, c in zip(diagonal, beside[:-1], beside[1:], strict=True):
        before, now = now, ((x - a) * now - b * before) / c
        total += now**2
    return total


def _dot(X: np.ndarray, Y: np.ndarray) -> float:
    return float(np.einsum("ij,ij->", X, Y, dtype=np.float64))
