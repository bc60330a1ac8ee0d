r"""Both ends of an entropy, or the one that matters, from a Krylov basis and the Frobenius norm.

Ritz values :math:`\theta_i` of orthonormal vectors y lie below the eigenvalues :math:`\lambda_i`.
So the most even spectrum whose partial sums reach theirs has no less entropy than A: an upper end
of :math:`S_\alpha^k` for every order, without any bound on what is outside the basis. It is all
that is needed to drop a candidate. At order 2 the entropy is :math:`-\log_2 P` with

.. math:: P = \sum_{i \le k} \lambda_i^2 + \frac{R^2}{n - k}, \quad R = \sum_{i > k} \lambda_i,

and :math:`F = \|A\|_F^2 = \sum_i \lambda_i^2`, which costs one pass over the matrix, gives both:

* :math:`P \le F`, because the squares of n - k values with sum R add up to at least R^2 / (n - k);
* :math:`P \le F - \sum_{k < i \le p} \theta_i^2 - t^2 / (n - p) + (M + t)^2 / (n - k)` for p Ritz
  values, :math:`M = \sum_{k < i \le p} \theta_i` and t the mass that no Ritz value holds, or
  :math:`M (n - p) / (p - k)` if that is less: of all eigenvalues with :math:`\lambda_i \ge
  \theta_i` and that F, those have the largest P whose last n - p are equal;
* :math:`P \ge \sum_{i \le k} |A y_i|^2`, for any k of the vectors;
* :math:`P \ge F - c^2 / (4 (k - q))` with :math:`c = 1 - \sum_{i \le q} \theta_i`, for any q < k:
  with :math:`h = \lambda_k` the other squares sum to at most h R, and :math:`R \le c - (k - q) h`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._memory import fits
from lorenyi.data.sources import slices
from lorenyi.entropy import renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.spectra.bounds import spread_from
from lorenyi.spectra.krylov import Krylov

Side: TypeAlias = Literal["low", "high", "both"]  # the ends of an interval that are wanted
BLOCK = 32  # columns of a Krylov block
SMALL = 200  # rows up to which all eigenvalues cost next to nothing
SLOW = 0.015  # bits: the tolerance below which a lower end is slow to settle
FINEST = 2e-4  # bits: the width below which float32 is not enough


class Wanted(NamedTuple):
    """How well an entropy is to be known.

    Parameters
    ----------
    tol : float
        Width in bits that is narrow enough; for one end, the movement.
    enough : float
        A lower end that is as high, or an upper end that is as low, need not be better.
    side : {"low", "high", "both"}
        The ends that are wanted.
    """

    tol: float
    enough: float = math.nan
    side: Side = "both"

    def met(self, found: Estimate) -> bool:
        """Tell whether an interval is good enough (an end that has settled may be, too)."""
        if found.width <= max(self.tol, 1e-13):
            return True
        if self.side == "low":
            return found.low >= self.enough
        return self.side == "high" and found.high <= self.enough


class Part:
    """One block of the matrix: its squared norm, and Ritz vectors as they are asked for."""

    def __init__(self, A: Gram, seed: int, single: bool, hold: bool) -> None:
        matrix = A.single() if single else A
        # Entries that are made anew for each product are made in float32 from the points on.
        self.A = matrix.held() if hold else matrix.single()
        self.near = None if A.near is None else A.near.astype(self.A.reference.dtype, copy=False)
        # Of entries, of sums of squares, and of vectors that are orthonormal up to rounding.
        self.rounding = 2 * self.A.roundoff + 16 * _arrays.epsilon(self.A.reference)
        self.seed = seed
        self.krylov: Krylov | None = None

    def ritz(self) -> tuple[np.ndarray, np.ndarray]:
        """Return Ritz values, and the squared residuals |Ay - theta y|^2 of their vectors."""
        if self.krylov is None:
            return np.zeros(0), np.zeros(0)
        values, _, residual = self.krylov.ritz()
        return np.maximum(values, 0.0), residual**2

    @property
    def size(self) -> int:
        """Number of Ritz vectors."""
        return 0 if self.krylov is None else self.krylov.size

    def grow(self, size: int) -> None:
        """Have at least so many Ritz vectors, or all there are."""
        size = min(size, len(self.A))
        if self.krylov is None:
            size = size if self.near is None else int(self.near.shape[1])
            self.krylov = Krylov(self.A, BLOCK, size, self.seed, self.near)
        elif self.near is not None:
            size = self.size + 2 * BLOCK
            self.krylov.narrow(2 * BLOCK)
        self.krylov.grow(-(-size // BLOCK) * BLOCK)
        self.krylov.fill()


def squared_norm(A: Gram) -> float:
    """Return |A|_F^2 of a matrix held in memory."""
    K, s = A.factors[0].array, _arrays.to_numpy(A.scale) ** 2
    parts = [s[r].astype(np.float64) @ (np.square(K[r]) @ s) for r in slices(len(K), 128)]
    return float(np.sum(parts))


class Limits(NamedTuple):
    """What lower bounds on eigenvalues, and the sum of their squares, say about an entropy.

    Parameters
    ----------
    n : float
        Number of points.
    entropy : Renyi
        The functional, with a rank.
    slack : float
        Relative size of the rounding in sums of eigenvalues, and of squares.
    """

    n: float
    entropy: Renyi
    slack: float

    def ends(
        self,
        theta: np.ndarray,
        squares: np.ndarray,
        norm: float = math.nan,
        missing: float = 0.0,
    ) -> tuple[float, float]:
        """Return a lower and an upper bound of the entropy.

        Parameters
        ----------
        theta : array
            Lower bounds on the eigenvalues, descending.
        squares : array
            Lower bounds on the squares of some, descending.
        norm : float
            The sum of all squares, or an upper bound on it, if it is known and the order is 2.
        missing : float
            By how much that bound may exceed the sum.
        """
        if math.isnan(norm):
            return 0.0, self._high(theta)
        return self._both(theta, squares, norm, missing)

    def _high(self, theta: np.ndarray) -> float:
        """Return the entropy of the most even spectrum with such eigenvalues."""
        if not len(theta):
            return math.log2(self.n)
        even = spread_from(np.cumsum(theta) * (1 - self.slack), self.n, 1.0)
        return float(renyi_entropy(even, self.entropy.alpha, self.entropy.rank))

    def _both(
        self, theta: np.ndarray, squares: np.ndarray, F: float, missing: float
    ) -> tuple[float, float]:
        n, rank = self.n, int(self.entropy.rank or 0)
        sums = np.concatenate([[0.0], np.cumsum(theta[: rank - 1])])
        beside = float(np.min((1 - sums) ** 2 / (4 * (rank - np.arange(len(sums))))))
        even = self._even(theta[:rank])
        high = (F - self._beyond(theta)) * (1 + self.slack)
        low = max(float(np.sum(squares[:rank])), even, F - missing - beside) * (1 - self.slack)
        low, high = (min(max(end, 1 / n), 1.0) for end in sorted((low, high)))
        return -math.log2(high), -math.log2(low)

    def _even(self, theta: np.ndarray) -> float:
        """Return P of an even spectrum after the first j values, which exceed what is left each.

        Others are no lower bound: with fewer values than the rank, or with values too small, more
        of what is left may lie among the leading ones.
        """
        j = np.arange(1, len(theta) + 1)
        rest = np.maximum(1.0 - np.cumsum(theta), 0.0)
        large = np.flatnonzero(theta * (self.n - j) >= rest)
        if not len(large):
            return 1 / self.n
        last = int(large[-1])
        found: float = np.sum(theta[: last + 1] ** 2) + rest[last] ** 2 / (self.n - j[last])
        return float(found)

    def _beyond(self, theta: np.ndarray) -> float:
        """Return by how much P must lie below F at least."""
        n, p, rank = self.n, len(theta), int(self.entropy.rank or 0)
        if not rank < p < n:
            return 0.0
        middle = float(np.sum(theta[rank:]))
        rest = max(1.0 - float(np.sum(theta)), 0.0)
        t = min(rest, middle * (n - p) / (p - rank))
        spread = (middle + t) ** 2 / (n - rank) - t**2 / (n - p)
        return max(float(np.sum(theta[rank:] ** 2)) - spread, 0.0)


class Look:
    """What Ritz vectors of all blocks say about an entropy.

    Parameters
    ----------
    known : array
        Eigenvalues known at sight.
    blocks : sequence of Gram
        Blocks that hold the others.
    n : float
        Number of points.
    entropy : Renyi
        The functional, with a rank.
    seed : int
        Of the random start.
    side : {"low", "high", "both"}
        The ends that are wanted.
    """

    def __init__(
        self,
        known: np.ndarray,
        blocks: Sequence[Gram],
        n: float,
        entropy: Renyi,
        seed: int,
        side: Side = "both",
    ) -> None:
        self.known = known
        self.warm = all(block.near is not None for block in blocks)
        # With a good start one or two products are enough for the upper end.
        hold = not self.warm or side != "high"
        # Below order 1 a small tail weighs, and what float32 leaves open of it.
        single = self.warm or entropy.alpha >= 1
        self.parts = [Part(block, seed, single, hold) for block in blocks]
        self.limits = Limits(n, entropy, max(part.rounding for part in self.parts))
        self.quadratic = entropy.alpha == 2 and hold

    @property
    def size(self) -> int:
        """Number of Ritz vectors, in all blocks."""
        return sum(part.size for part in self.parts)

    def grow(self, size: int) -> None:
        """Have about so many Ritz vectors in all, those of a block at least its fair share."""
        count = len(self.parts)
        share = size if count == 1 else max(16, 3 * size // (2 * count))
        for part in self.parts:
            part.grow(share)

    @cached_property
    def norm(self) -> float:
        """The squared Frobenius norm of the whole."""
        return float(np.sum(self.known**2)) + sum(squared_norm(part.A) for part in self.parts)

    def ends(self, foreseen: bool = False) -> tuple[float, float]:
        """Return a lower and an upper bound of the entropy.

        Or what they would become if the residuals were followed: a Ritz value grows by about its
        squared residual over itself.
        """
        found = [part.ritz() for part in self.parts]
        theta = np.concatenate([self.known, *(values for values, _ in found)])
        leak = np.concatenate([np.zeros(len(self.known)), *(squares for _, squares in found)])
        if foreseen:
            theta = theta + leak / np.maximum(theta, 1e-300)
        squares = np.sort(theta**2 + leak)[::-1]
        theta = np.sort(theta)[::-1]
        norm = self.norm if self.quadratic else math.nan
        return self.limits.ends(theta, squares, norm)


def look(
    known: np.ndarray,
    blocks: Sequence[Gram],
    n: float,
    entropy: Renyi,
    tol: float,
    enough: float = math.nan,
    side: Side = "both",
    seed: int = 0,
) -> Estimate | None:
    """Return an interval of an entropy, or None where others are better at it.

    For both ends it is as wide as asked for at most. For one end the basis grows until that end
    moves by less than the tolerance; the other end is what comes with it.

    Parameters
    ----------
    known, blocks, n, entropy, seed
        See `Look`.
    tol : float
        Width in bits that is narrow enough.
    side : {"low", "high", "both"}
        Which ends are wanted; at other orders than 2 only the upper one is to be had.
    enough : float
        A lower end that is as high, or an upper end that is as low, need not be better.
    """
    rank = entropy.rank
    rows, total = max(map(len, blocks), default=0), sum(map(len, blocks))
    slow = side == "low" and tol < SLOW and enough > -math.inf
    possible = side == "high" or (entropy.alpha == 2 and not slow)
    if rank is None or total < 4 * rank or not possible or tol < FINEST:
        return None
    if rows <= SMALL or not fits(12 * rows**2):
        return None
    if side != "high" and any(block.near is not None for block in blocks):
        return None  # with a good start a proof costs no more
    most = 6 * rank if side == "low" else max(4 * rank, 256)
    most = min(most, total // (4 if side == "both" else 2))
    # A block must be multiplied once at least; a lower end needs values beyond the rank.
    least = 2 * rank if side == "low" else max(rank // 2, 2 * BLOCK)
    wanted = Wanted(tol, enough, side)
    seen = Look(known, blocks, n, entropy, seed, side)
    first = BLOCK if entropy.alpha == 2 else max(rank, 2 * BLOCK)
    size, before = 0, math.inf
    while True:
        low, high = seen.ends()
        if wanted.met(Estimate.within(low, high, high)):
            break
        end = -low if side == "low" else high
        if side != "both" and size >= least:
            move = before - end
            if seen.warm:  # what residuals show is about a third of what is to come
                ahead = seen.ends(foreseen=True)
                move = 3 * (end + ahead[0] if side == "low" else end - ahead[1])
            if move <= 0.5 * tol:
                break
        size, before = size + BLOCK if size else first, end
        if size > most:
            if side == "both":  # all eigenvalues, or a proof, cost no more
                return None
            break
        seen.grow(size)
        size = seen.size if seen.warm else size
    value = {"low": low, "high": high, "both": 0.5 * (low + high)}[side]
    return Estimate.within(low, value, high)
