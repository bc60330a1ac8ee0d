"""The entropy of a joint, known the better the more is asked of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from lorenyi.entropy import renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.joints.basis import Products
from lorenyi.joints.chosen import EPS, Chosen, Joined
from lorenyi.joints.limits import LIMITS
from lorenyi.spectra import Auto, PivotedCholesky, Spectrum, enclosure
from lorenyi.spectra.bounds import spread_from, together

Side: TypeAlias = Literal["low", "high", "both"]  # the bounds that are wanted


class Wanted(NamedTuple):
    """How well an entropy is to be known."""

    tol: float  # width in bits that is narrow enough
    enough: float = math.nan  # a lower bound as high, or an upper bound as low, need not be better
    side: Side = "both"

    @property
    def cheap(self) -> bool:
        """Whether any bound is good enough: only what takes little work is wanted."""
        return self.enough == {"low": -math.inf, "high": math.inf, "both": math.nan}[self.side]

    def met(self, found: Estimate) -> bool:
        """Tell whether an interval is good enough."""
        if found.width <= max(self.tol, 1e-13):
            return True
        if self.side == "low":
            return found.low >= self.enough
        return self.side == "high" and found.high <= self.enough


class Way(NamedTuple):
    """What an entropy may be learned from."""

    gram: Callable[[], Gram]  # of all variables
    joined: Joined | None  # made of what is kept of the chosen features
    large: bool = False  # too many rows for either


class Joint:
    """An entropy that is known the better the more is asked of it.

    A factor below the joint bounds it from above, at order 2 its norm from below, without its
    matrix. Products with that in float32 bound it closer: from above, with random columns from both
    sides. A small one has all its eigenvalues instead. What is left is for the solver to prove.
    """

    def __init__(self, entropy: Renyi, n: float) -> None:
        self.entropy, self.n = entropy, n
        self.found: Estimate | None = None  # what is known
        self.off = math.inf  # of the upper bound, in bits, about
        self._is_rough = False  # although all eigenvalues are cheap
        self._looked = self._factored = self._slow = self._stuck = False
        self._norm: tuple[float, float] | None = None  # bounds on the sum of squares, at order 2
        self._seen: Products | None = None
        self._width = math.inf  # by the products so far
        self._proven = math.inf  # the tolerance of the last proof

    @property
    def nbytes(self) -> int:
        """Memory that is kept for a closer look."""
        return 0 if self._seen is None else self._seen.nbytes

    def forget(self) -> None:
        """Give up what takes memory; what was found stays."""
        self._seen = None

    def met(self, wanted: Wanted) -> bool:
        """Tell whether it is known well enough, or nothing more can be learned."""
        if wanted.cheap and self._looked:
            return True
        if self.found is None or (self._is_rough and wanted.side == "both"):
            return False
        settled = wanted.side == "high" and self.off <= 0.5 * wanted.tol
        return wanted.met(self.found) or settled or self._proven <= wanted.tol

    def until(self, wanted: Wanted, way: Way) -> None:
        """Learn more until that is good enough."""
        joined, rank = way.joined, self.entropy.rank
        if joined is not None and not self._looked and not self.met(wanted):
            self._look(joined)
        floor = LIMITS.single if joined is None else joined.chosen.floor
        fine = wanted.side == "both" and wanted.tol < floor
        solve = way.large or joined is None or rank is None
        solve = solve or (fine and joined is not None and joined.chosen.is_smooth)
        while not self.met(wanted) and not wanted.cheap:
            last = solve or self._stuck
            if joined is not None and joined.is_whole(last or fine, wanted.side):
                self._compute(joined)
            elif joined is None or last:
                self._prove(way.gram(), wanted, way.large)
            elif not self._factored:
                self._by_products(joined)
            else:
                self._multiply(joined, wanted, fine)
        if self._seen is not None:
            self._seen.held = {}

    def _keep(self, low: float, value: float, high: float, failure: float = 0.0) -> None:
        """Keep the intersection of what was known and what was found."""
        low, high = (min(low, high), max(low, high))
        rounded = 8 * float(np.finfo(np.float64).eps) * (1 + high)  # of the formula itself
        low, high = low - rounded, high + rounded
        old = self.found
        if old is not None:
            failure += old.failure
            if max(low, old.low) <= min(high, old.high):  # else by rounding: the new one is finer
                low, high = max(low, old.low), min(high, old.high)
        self.found = Estimate.within(low, min(max(value, low), high), high, failure=failure)

    def _bits(self, spectrum: Spectrum) -> float:
        return float(renyi_entropy(spectrum, self.entropy.alpha, self.entropy.rank))

    # ------------------------------------------------------------------ without its matrix

    def _look(self, joined: Joined) -> None:
        """Bound it without making its matrix, if that is worth it."""
        self._looked, self._is_rough = True, joined.is_whole(False, "both")
        rank, quadratic = self.entropy.rank, self.entropy.alpha == 2
        if quadratic and (rank is not None or joined.most > LIMITS.dense):
            seen = joined.chosen.seen[joined.column]
            norm, slack = seen.norms[joined.labelled], 4 * joined.chosen.roundoff + 128 * EPS
            self._norm = norm * (1 - slack), (norm + joined.column.missing) * (1 + slack)
            self._from_below(seen.lengths[joined.labelled][: len(joined.g)], 512 * EPS, False)
        elif quadratic:
            self._compute(joined)
        elif rank is not None and not joined.is_small:
            self._by_products(joined)

    def _by_products(self, joined: Joined) -> None:
        """Bound it by eigenvalues of a factor below."""
        counts = [math.ceil(LIMITS.ranks * part.share) for part in joined.parts]
        each = [part.below(count) for part, count in zip(joined.parts, counts, strict=True)]
        slack = 2 * joined.chosen.roundoff + (64 + max(counts)) * EPS
        self._factored = True
        self._from_below(np.sort(np.concatenate(each))[::-1], slack)

    def _from_below(self, theta: np.ndarray, slack: float, each: bool = True) -> float:
        r"""Bound it from above by eigenvalues from below, at order 2 with the norm from both sides.

        :math:`S = -\log_2(F - D)` with the squared norm F and how far the eigenvalues beyond the
        rank k are from even, :math:`0 \le D \le \lambda_{k+1} R - R^2 / (n - k)`, where R is their
        sum. For every q < k the trace leaves :math:`(k - q) \lambda_{k+1} + R` no more than what
        the q largest leave, r: thus :math:`D \le r^2 (n - k) / 4 (k - q) (n - q)`. If only sums of
        theta are below those of eigenvalues, not `each`, D may be 0.
        """
        theta, rank = theta * (1 - slack), self.entropy.rank
        sums = np.cumsum(theta)
        low, high = 0.0, self._bits(spread_from(sums, self.n, 1.0))
        if self._norm is not None:
            least, most = self._norm
            if rank is not None:
                rest = 1 - np.concatenate([[0.0], sums[: rank - 1]])
                q = np.arange(len(rest))
                uneven = rest**2 * (self.n - rank) / (4 * (rank - q) * (self.n - q))
                least -= float(np.min(uneven))
                most -= _beyond(theta, self.n, rank) if each else 0.0
            low, high = -math.log2(min(most, 1.0)), min(high, -math.log2(max(least, 1 / self.n)))
        self._keep(low, low or high, high)
        return high

    # ------------------------------------------------------------------ by products

    def _multiply(self, joined: Joined, wanted: Wanted, fine: bool) -> None:
        """Multiply more columns with the joint than before; its matrix is made for that."""
        solver, seen = self.entropy.solver, self._seen
        upper = wanted.side == "high" and not (self._slow or fine)
        if seen is None:
            seed = solver.seed if isinstance(solver, Auto) else 0
            seen = Products(joined.parts, seed, twice=not upper, double=fine)
        else:  # where rounding is what is left, a solver goes on
            self._stuck = ((fine or self._slow) and not seen.double) or not seen.grow()
        self._seen = seen
        if upper and not self._stuck:
            self._by_values(seen)
        elif not self._stuck:
            self._enclose(seen, wanted, joined.chosen)

    def _by_values(self, seen: Products) -> None:
        """Bound it by Ritz values and better ones, and guess how closely."""
        slack = seen.slack
        values = seen.below()
        high = self._from_below(values[1], slack)
        ritz, better = (self._bits(spread_from(np.cumsum(v), self.n, 1.0)) for v in values)
        # Ritz values are off by three times as much, about; the rest is rounding.
        self.off = 0.5 * max(ritz - better, 0.0) + max(high - better, 0.0)
        self._slow = 2 * max(high - better, 0.0) > self.off

    def _enclose(self, seen: Products, wanted: Wanted, chosen: Chosen) -> None:
        """Bound it from both sides, with as many columns as that probably takes."""
        width = math.inf
        while True:
            low, high = self._between(seen.ends(guessed=True))
            if wanted.met(Estimate.within(low, high, high)):
                break
            exact = self._between(seen.ends(guessed=True, rounding=False))
            rounding = (high - low) - (exact[1] - exact[0])
            if 2 * rounding > high - low and not seen.double:
                chosen.floor, self._slow = max(chosen.floor, rounding), True
                return
            self._stuck = high - low > LIMITS.slower * width or not seen.grow()
            if self._stuck:
                return
            width = high - low
        excess = seen.prove()
        self._stuck = math.isinf(excess)
        if not self._stuck:
            if excess > 1:
                low, high = self._between(seen.ends(guessed=False))
            self._keep(low, 0.5 * (low + high), high, seen.failure)
            before, self._width = self._width, high - low
            self._stuck = self._width > LIMITS.slower * before

    def _between(self, ends: Any) -> tuple[float, float]:
        low, high = (self._bits(together(end, self.n, 1.0)) for end in ends)
        return min(low, high), high

    # ------------------------------------------------------------------ as a whole

    def _compute(self, joined: Joined) -> None:
        """Compute all eigenvalues, or the norm where that is all it takes."""
        self._proven, self._is_rough = 0.0, False
        if self.entropy.alpha == 2 and self.entropy.rank is None:
            norms = [float(np.sum(part.matrix(double=True) ** 2)) for part in joined.parts]
            value = -math.log2(sum(norms))
            slack = 4 * joined.parts[0].relative + 1e-13
            self._keep(value - slack, value, value + slack)
            return
        self._keep(*self._ends(joined.eigenvalues(), joined.parts[0].relative))

    def _ends(self, values: np.ndarray, relative: float) -> tuple[float, float, float]:
        """Return the entropy of all eigenvalues, between what their rounding leaves open."""
        spectrum = Spectrum(values, self.n, rounding=relative)
        value = self._bits(spectrum)
        if 1 <= self.entropy.alpha < 2:
            off = _rounded(spectrum.values, relative, self.entropy.alpha, value)
            return value - off, value, value + off
        # Null eigenvalues that are rounding have weight below order 1.
        low, high = map(self._bits, enclosure(spectrum) or (spectrum, spectrum))
        return low, value, high

    def _prove(self, A: Gram, wanted: Wanted, large: bool) -> None:
        """Leave it to a solver; of many rows a factor of a fixed size must do."""
        solver, self._proven = self.entropy.solver, wanted.tol
        if not isinstance(solver, Auto):
            value = float(self.entropy(A))
            self._keep(value, value, value)
            return
        tuned = replace(self.entropy, solver=replace(solver, tol=wanted.tol))
        if large:
            factor = PivotedCholesky(size=3 * (self.entropy.rank or 64), seed=solver.seed)
            tuned, self._proven = replace(self.entropy, solver=factor), 0.0
        low, found, high, failure = tuned.enclosed(A)
        self._keep(low, float(found), high, failure)


def _rounded(values: np.ndarray, relative: float, alpha: float, bits: float) -> float:
    r"""Bound the error of an entropy of order 1 to 2 from that of all its eigenvalues.

    These are off by e in all, |e| in the Euclidean norm (see `bounds.rounding`). Derivatives are
    at most :math:`\alpha |\log \lambda| / \sum \lambda^\alpha` where the trace is kept, and
    an eigenvalue below |e| moves by no more than that.
    """
    m, eps = len(values), float(np.finfo(np.float64).eps)
    error = (relative + m * eps) * float(np.linalg.norm(values))
    trace = 4 * eps / (alpha - 1) if alpha > 1 else 0.0  # what its rounding is multiplied by
    slope = -alpha * math.log2(error) * math.pow(2.0, (alpha - 1) * bits)
    return slope * math.sqrt(m) * error + trace


def _beyond(theta: np.ndarray, n: float, rank: int) -> float:
    r"""Return by how much the squares that count lie below the squared norm, at least.

    :math:`P = \sum_{i \le k} \lambda_i^2 + R^2 / (n - k)` with what is beyond the rank, R, spread
    evenly. Of all eigenvalues that are no less than p known bounds and have the same squared norm,
    those have the largest P whose last n - p are equal.
    """
    p = len(theta)
    if not rank < p < n:
        return 0.0
    middle, rest = float(np.sum(theta[rank:])), max(1.0 - float(np.sum(theta)), 0.0)
    t = min(rest, middle * (n - p) / (p - rank))
    spread = (middle + t) ** 2 / (n - rank) - t**2 / (n - p)
    return max(float(np.sum(theta[rank:] ** 2)) - spread, 0.0)
