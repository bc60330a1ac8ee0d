r"""Both ends of a spectrum, from products of the matrix with some columns.

For a matrix J with orthonormal columns Q near its leading eigenvectors, T = Q'JQ, R = JQ - QT and a
bound tau on what is outside Q,

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
from typing import Any, TypeAlias

import numpy as np
from scipy import stats

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.spectra.bounds import meet, peaked_from, spread_from
from lorenyi.spectra.spectrum import Spectrum

Pair: TypeAlias = tuple[Spectrum, Spectrum]
Matrix: TypeAlias = Any  # has a product with columns and a length

PROBES = 16  # random columns
STEPS = 14  # products with them, at most: of more the last change nothing
CLOSE = 1.3  # times what is seen of the largest eigenvalue: a bound as low need not be lower
FAILURE = 1e-12  # probability that they miss what is largest
STREAM = 1 << 20  # of random numbers that nothing else is made of


@dataclass(frozen=True)
class Block:
    """What is known of a matrix, or of one diagonal block of it, without its eigenvalues."""

    rank: int  # about how many of its eigenvalues matter
    mass: float  # its trace
    relative: float  # relative size of the rounding in its entries
    largest: float  # entry
    missing: float = 0.0  # trace that products with it lack

    def rounding(self, theta: np.ndarray, m: int, eps: float) -> float:
        """Return by how much rounding moves the largest of p eigenvalues from products.

        Entries are off by `relative`, which moves the sum of t eigenvalues by sqrt(t) times its
        share of the Frobenius norm (Hoffman and Wielandt); sums of m products are off like a random
        walk of m steps of at most the largest entry each, and so is every entry of Q'JQ.
        """
        frobenius = math.sqrt(float(np.sum(theta**2)) + self.mass * max(float(theta[-1]), 0.0))
        return self.relative * frobenius + 4 * len(theta) * math.sqrt(m) * eps * self.largest


def enclosed(
    theta: np.ndarray,
    T: np.ndarray,
    leak: np.ndarray,
    tau: float,
    block: Block,
    m: int,
    eps: float,
) -> Pair:
    """Enclose the spectrum (peaked, spread) of a matrix of m rows.

    Parameters
    ----------
    theta, T, leak : array, p and p x p
        Eigenvalues of Q'JQ, descending, that matrix, and R'R.
    tau : float
        Bound on what is outside Q.
    block : Block
        What is known of the matrix.
    m : int
        Its rows.
    eps : float
        Unit of rounding of the products; 0 as if they were exact.
    """
    theta = np.maximum(theta, 0.0)
    t = np.arange(1, len(theta) + 1)
    one, missing = (block.rounding(theta, m, eps), block.missing) if eps else (0.0, 0.0)
    slack = np.sqrt(t) * one
    sums = np.cumsum(theta)
    rest = max(block.mass - float(sums[-1]), 0.0)
    tau = min(tau, rest) + 2 * one + missing
    bound = coupled(T, leak, tau, float(theta[min(block.rank, len(theta) - 1)]))
    upper = meet(np.cumsum(bound), sums + np.minimum(rest, t * tau)) + slack + missing
    return peaked_from(upper, m, block.mass, tau), spread_from(sums - slack, m, block.mass)


def coupled(T: np.ndarray, leak: np.ndarray, tau: float, least: float) -> np.ndarray:
    r"""Bound eigenvalues of [T, L'; L, E] with :math:`E \preceq \tau I` and L'L = `leak`.

    It lies below the block diagonal of :math:`T + L'L / s` and :math:`(\tau + s) I`, for any
    s > 0: shares of the distance to tau of the `least` eigenvalue that matters are good ones.
    """
    # Above zero also where nothing is outside and the least eigenvalue that matters is zero.
    gap = max(least - tau, 0.1 * tau, 1e-12 * float(np.trace(T)), 1e-300)
    found = []
    for s in (3.0, 1.0, 0.3):
        values = _arrays.eigvalsh(T + leak / (s * gap))[::-1]
        found.append(np.maximum(values, tau + s * gap))
    return np.asarray(np.minimum.reduce(found))


def outside(J: Matrix, Q: Array, seed: int, enough: float = 0.0, failure: float = FAILURE) -> float:
    """Bound the largest eigenvalue of J outside Q from random columns; infinity if they can't.

    Closely, or by what is `enough`. It fails with a probability.
    """
    X = _arrays.like(_arrays.normal(seed, STREAM, int(Q.shape[0]), PROBES), Q)
    X = X - Q @ (Q.T @ X)
    size = math.sqrt(_dot(X, X))
    reached = size**2 / float(stats.chi2.ppf(failure, PROBES))
    diagonal, beside = [], [0.0]  # of Lanczos' tridiagonal matrix
    before, X = 0.0 * X, X / size
    bound = math.inf
    for _ in range(STEPS):
        W = J @ X
        W = W - Q @ (Q.T @ W)
        diagonal.append(_dot(X, W))
        W = W - diagonal[-1] * X - beside[-1] * before
        beside.append(math.sqrt(_dot(W, W)))
        if beside[-1] == 0.0:  # the columns have seen all that there is
            return float(np.linalg.eigvalsh(_tridiagonal(diagonal, beside))[-1])
        seen, bound = _largest(diagonal, beside, reached)
        if bound <= max(CLOSE * seen, enough):
            break
        before, X = X, W / beside[-1]
    return bound


def _largest(diagonal: list[float], beside: list[float], reached: float) -> tuple[float, float]:
    """Return what a Lanczos matrix shows of the largest eigenvalue, and a bound on it."""
    seen = float(np.linalg.eigvalsh(_tridiagonal(diagonal, beside))[-1])
    x = seen * 1.01 ** np.arange(1, 100)
    before, now = np.zeros_like(x), np.ones_like(x)
    total = now.copy()
    for a, b, c in zip(diagonal, beside[:-1], beside[1:], strict=True):
        before, now = now, ((x - a) * now - b * before) / c
        total += now**2
    high = total >= reached
    return seen, float(x[high][0]) if high.any() else math.inf


def _tridiagonal(diagonal: list[float], beside: list[float]) -> np.ndarray:
    return np.diag(diagonal) + np.diag(beside[1:-1], 1) + np.diag(beside[1:-1], -1)


def _dot(X: Array, Y: Array) -> float:
    return float((X * Y).sum())
