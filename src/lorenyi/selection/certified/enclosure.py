r"""Both ends of the spectrum of a joint, from products with its diagonal blocks.

For a block J with orthonormal columns Q near its leading eigenvectors, T = Q'JQ, R = JQ - QT and a
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

That costs as much as all else, so Q grows until a guess of tau would do, and only then it is bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import stats

from lorenyi import _arrays
from lorenyi.selection.certified.chosen import Block, Part
from lorenyi.selection.certified.limits import LIMITS
from lorenyi.spectra import Spectrum, enclosure
from lorenyi.spectra.bounds import meet, peaked_from, spread_from

Pair: TypeAlias = tuple[Spectrum, Spectrum]
Matrix: TypeAlias = Any  # has a product with columns, a length and a dtype

PROBES = 16  # random columns
STEPS = 14  # products with them, at most: of more the last change nothing
FAILURE = 1e-12  # probability that they miss what is largest
QUANTILE = float(stats.chi2.ppf(FAILURE, PROBES))
STREAM = 1 << 20  # of random numbers that nothing else is made of
OUTSIDE = 2.0  # times the least Ritz value: a guess of tau, at which random columns stop


class Basis:
    """Orthonormal columns Q that grow, and V = J Q for a matrix J, which is not kept.

    It starts from columns near the leading eigenvectors of J, about orthogonal.
    """

    def __init__(self, J: Matrix, near: np.ndarray, block: Block) -> None:
        Q = _orthonormal(near.astype(J.dtype, copy=False))
        if Q is None:
            raise np.linalg.LinAlgError("columns that depend on each other are no basis")
        self.Q, self.V, self.block = Q, J @ Q, block
        self.tau, self.ratio = math.inf, OUTSIDE  # of what is outside; to the least Ritz value
        self._project()

    def _project(self) -> None:
        T = (self.Q.T @ self.V).astype(np.float64)
        self.T = 0.5 * (T + T.T)
        self.R = self.V - self.Q @ self.T.astype(self.Q.dtype)
        self.theta = np.maximum(_arrays.eigvalsh(self.T)[::-1], 0.0)
        # R'R; in float32, too: its rounding is far below the values that it is set against.
        self.leak = np.asarray((self.R.T @ self.R).astype(np.float64))

    def below(self) -> np.ndarray:
        r"""Return better bounds from below than Ritz values: of :math:`J Q T^{-1} Q' J`."""
        theta, S = _arrays.eigh(self.T)
        keep = theta > LIMITS.resolved * theta[-1]
        W = self.V @ (S[:, keep] / np.sqrt(theta[keep])).astype(self.V.dtype)
        return np.asarray(np.maximum(_arrays.eigvalsh((W.T @ W).astype(np.float64))[::-1], 0.0))

    def grow(self, J: Matrix) -> bool:
        """Multiply the main directions of the residuals, too, if they are any."""
        sizes, Z = _arrays.eigh(self.leak)
        count = int(np.sum(sizes > LIMITS.residual * sizes[-1]))
        X = self.R @ (Z[:, -count:] / np.sqrt(sizes[-count:])).astype(self.R.dtype)
        for _ in range(2):
            found = _orthonormal(X - self.Q @ (self.Q.T @ X))
            if found is None:
                return False
            X = found
        self.Q, self.V = np.hstack([self.Q, X]), np.hstack([self.V, J @ X])
        self._project()
        return True

    @property
    def guess(self) -> float:
        """What is probably the largest eigenvalue outside Q."""
        return min(self.tau, self.ratio * float(self.theta[-1]))

    def prove(self, J: Matrix, seed: int) -> bool:
        """Bound what is outside Q, if that was not done or Q has grown; tell whether it could."""
        if self.tau > OUTSIDE * self.guess:
            self.tau = min(self.tau, outside(J, self.Q, seed, self.guess))
            self.ratio = self.tau / max(float(self.theta[-1]), 1e-300)
        return math.isfinite(self.tau)

    def enclosed(self, tau: float, rounding: bool = True) -> Pair:
        """Enclose the spectrum (peaked, spread), if tau bounds what is outside Q.

        Without `rounding`, as if products were exact.
        """
        theta, block = self.theta, self.block
        m, p = len(self.Q), len(theta)
        # As in `Krylov`: entries, and sums of m products of which each is off by eps.
        entry = math.sqrt(m) * _arrays.epsilon(self.Q) * block.largest
        frobenius = math.sqrt(float(np.sum(theta**2)) + block.mass * float(theta[-1]))
        one = (block.relative * frobenius + 4 * p * entry) * rounding
        missing = block.missing * rounding
        tau += 2 * one + missing
        t = np.arange(1, p + 1)
        slack = np.sqrt(t) * one
        sums, rest = np.cumsum(theta), max(block.mass - float(np.sum(theta)), 0.0)
        bound = coupled(self.T, self.leak, tau, float(theta[min(block.rank, p - 1)]))
        upper = meet(np.cumsum(bound), sums + np.minimum(rest, t * tau)) + slack + missing
        return peaked_from(upper, m, block.mass, tau), spread_from(sums - slack, m, block.mass)


class Enclosure:
    """The diagonal blocks of a joint: a basis for each; of small ones, all eigenvalues.

    With `twice` the start is multiplied as well, which a bound from below does not need. In float64
    (`double`) it may go on from where `before` in float32 ended.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        seed: int,
        *,
        twice: bool = True,
        double: bool = False,
        before: Enclosure | None = None,
    ) -> None:
        self.parts, self.seed, self.double, self.held = parts, seed, double, dict[int, Matrix]()
        small = {i: enclosure(complete(part)) for i, part in enumerate(parts) if part.is_small}
        self.small = {i: pair for i, pair in small.items() if pair is not None}
        self.bases: dict[int, Basis] = {}
        for i, part in enumerate(parts):
            if i not in self.small:
                J, block = self.matrix(i), part.block(double)
                if before is None:
                    near = part.near(math.ceil(LIMITS.start * part.share)).astype(J.dtype)
                    near = J @ near if twice else near
                else:
                    near = before.bases[i].Q
                self.bases[i] = Basis(J, near, block)

    def matrix(self, i: int) -> Matrix:
        """Return the matrix of a block, made anew if it was given up."""
        if i not in self.held:
            self.held[i] = self.parts[i].matrix(self.double)
        return self.held[i]

    @property
    def nbytes(self) -> int:
        """Memory that the bases take."""
        return sum(3 * basis.Q.nbytes for basis in self.bases.values())

    @property
    def failure(self) -> float:
        """Probability that what is outside some basis is larger than its bound."""
        return FAILURE * len(self.bases)

    def grow(self) -> bool:
        """Multiply the main directions of the residuals, too; tell whether there are any."""
        return max([basis.grow(self.matrix(i)) for i, basis in self.bases.items()])

    @property
    def slack(self) -> float:
        """Relative size of the rounding in sums of lower bounds on eigenvalues."""
        bases = self.bases.values()
        most = max(int(basis.Q.shape[1]) for basis in bases)
        eps = max(_arrays.epsilon(basis.Q) for basis in bases)
        return 2 * max(basis.block.relative for basis in bases) + (64 + most) * eps

    def below(self) -> tuple[np.ndarray, np.ndarray]:
        """Return Ritz values of all blocks, descending, and better lower bounds."""
        known = [pair[1].values for pair in self.small.values()]
        each = [[basis.theta for basis in self.bases.values()], []]
        each[1] = [basis.below() for basis in self.bases.values()]
        ritz, better = (np.sort(np.concatenate([*known, *found]))[::-1] for found in each)
        return ritz, better

    def prove(self) -> bool:
        """Bound what is outside each basis; tell whether that could be done."""
        return all(basis.prove(self.matrix(i), self.seed) for i, basis in self.bases.items())

    def ends(self, guessed: bool, rounding: bool = True) -> tuple[list[Spectrum], list[Spectrum]]:
        """Return what encloses each block from both sides, or would if a guess holds."""
        pairs = list(self.small.values())
        for basis in self.bases.values():
            pairs.append(basis.enclosed(basis.guess if guessed else basis.tau, rounding))
        peaked, spread = zip(*pairs, strict=True)
        return list(peaked), list(spread)


def complete(part: Part) -> Spectrum:
    """Return all eigenvalues of a block."""
    values = np.maximum(_arrays.eigvalsh(part.matrix(double=True))[::-1], 0.0)
    return Spectrum(values, len(part), part.mass, rounding=part.relative)


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


def outside(J: Matrix, Q: np.ndarray, seed: int, enough: float = 0.0) -> float:
    """Bound the largest eigenvalue of J outside Q from random columns; infinity if they can't.

    Closely, or by what is `enough`.
    """
    number = J.dtype.type
    X = _arrays.normal(seed, STREAM, len(J), PROBES).astype(J.dtype)
    X = X - Q @ (Q.T @ X)
    size = math.sqrt(_dot(X, X))
    diagonal, beside = [], [0.0]  # of Lanczos' tridiagonal matrix
    before, X = np.zeros_like(X), X / number(size)
    bound = math.inf
    for steps in range(1, STEPS + 1):
        W = J @ X
        W -= Q @ (Q.T @ W)
        diagonal.append(_dot(X, W))
        W -= number(diagonal[-1]) * X + number(beside[-1]) * before
        beside.append(math.sqrt(_dot(W, W)))
        if steps >= 4:
            seen, bound = _largest(diagonal, beside, size)
            if bound <= max(1.3 * seen, enough):
                break
        before, X = X, W / number(beside[-1])
    return bound


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
