"""The entropy of a joint, known the better the more is asked of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from lorenyi.entropy import renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.selection.certified.chosen import EPS, Joined, Part
from lorenyi.selection.certified.enclosure import Enclosure
from lorenyi.selection.certified.limits import LIMITS
from lorenyi.spectra import Auto, PivotedCholesky, Spectrum, enclosure
from lorenyi.spectra.bounds import enclose_sum, spread_from, together

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
        self._bounded = self._slow = self._stuck = False
        self._seen: Enclosure | None = None
        self._width = math.inf  # by the products so far
        self._proven = math.inf  # the tolerance of the last proof

    def forget(self) -> None:
        """Give up what takes memory; what was found stays."""
        self._seen = None

    def met(self, wanted: Wanted) -> bool:
        """Tell whether it is known well enough, or nothing more can be learned."""
        if wanted.cheap and self._bounded:
            return True
        if self.found is None or (self._is_rough and wanted.side == "both"):
            return False
        settled = wanted.side == "high" and self.off <= 0.5 * wanted.tol
        return wanted.met(self.found) or settled or self._proven <= wanted.tol

    def learned(self, found: Estimate | None, wanted: Wanted) -> None:
        """Take the result of a worker that was asked for the same."""
        if found is not None:
            self._keep(found.low, float(found), found.high, found.failure)
        self._is_rough = wanted.side != "both"  # so that the worker is asked if it is
        if not wanted.cheap:
            self._proven = min(self._proven, wanted.tol)

    def until(
        self,
        wanted: Wanted,
        gram: Callable[[], Gram],
        joined: Joined | None,
        smooth: bool,
        large: bool,
    ) -> None:
        """Learn more until that is good enough.

        `gram` returns the Gram of all variables, `joined` is made of what is kept of the chosen
        features. It is smooth if a Cholesky factor is cheaper than a product with it, and large
        if there are too many rows for either.
        """
        if joined is not None and not self.met(wanted) and not self._bounded:
            self._bound(joined, wanted)
        fine = wanted.side == "both" and wanted.tol < LIMITS.single
        solve = smooth or large or fine or joined is None or self.entropy.rank is None
        while not self.met(wanted) and not wanted.cheap:
            last = solve or self._stuck
            if joined is not None and joined.is_whole(last, wanted.side):
                self._compute(joined)
            elif joined is None or last:
                self._prove(gram(), wanted, large)
            else:
                self._multiply(joined.parts, wanted)
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

    def _bound(self, joined: Joined, wanted: Wanted) -> None:
        """Bound it without making its matrix, if that is worth it."""
        self._bounded, self._is_rough = True, joined.is_whole(False, "both")
        rank, quadratic = self.entropy.rank, self.entropy.alpha == 2
        if quadratic and rank is not None:
            self._by_squares(joined, wanted.side)
        elif quadratic and joined.most <= LIMITS.dense:
            self._compute(joined)
        elif quadratic:
            self._keep(*self._norm(joined))
        elif joined.is_small and wanted.side == "high":
            pinched = joined.pinched()
            if pinched is not None:
                high = self._ends(pinched, joined.relative)[2]
                self._keep(0.0, high, high)
        elif rank is not None and not joined.is_small:
            theta, slack = self._factored(joined)
            rest = max(1.0 - float(np.sum(theta)) * (1 - slack), 0.0)
            pair = enclose_sum(theta, self.n, 1.0, largest=rest, slack=slack * np.cumsum(theta))
            low, high = map(self._bits, pair)
            self._keep(min(low, high), high if wanted.side == "high" else low, high)

    def _factored(self, joined: Joined) -> tuple[np.ndarray, float]:
        """Return lower bounds on eigenvalues, descending, and the relative rounding of sums."""
        counts = [math.ceil(LIMITS.ranks * part.share) for part in joined.parts]
        each = [part.below(count) for part, count in zip(joined.parts, counts, strict=True)]
        slack = 2 * joined.chosen.roundoff + (64 + max(counts)) * EPS
        return np.sort(np.concatenate(each))[::-1], slack

    def _by_squares(self, joined: Joined, side: Side) -> None:
        r"""Bound the entropy of order 2 by the norm, and sums of leading eigenvalues from below.

        :math:`S = -\log_2(F - D)` with the squared norm F and how far the eigenvalues beyond the
        rank k are from even, :math:`0 \le D \le \lambda_{k+1} R`, where R is their sum. For every
        q < k the trace leaves :math:`(k - q) \lambda_{k+1} + R` no more than what the q largest
        leave, r: thus :math:`D \le r^2 / 4 (k - q)`.
        """
        rank, few = self.entropy.rank or 1, joined.most <= LIMITS.dense
        if few:
            lengths = np.concatenate([part.lengths() for part in joined.parts])
            theta, slack = np.sort(lengths)[::-1][: len(joined.g)], 512 * EPS
        else:
            theta, slack = self._factored(joined)
        sums = np.cumsum(theta) * (1 - slack)
        least = 2.0 ** -self._bits(spread_from(sums, self.n, 1.0))
        low = 0.0
        if few or side != "high":
            low, _, high = self._norm(joined)
            rest = 1 - np.concatenate([[0.0], sums[: rank - 1]])
            uneven = float(np.min(rest**2 / (4 * (rank - np.arange(len(rest))))))
            least = max(least, 2.0**-high - uneven)
            low = -math.log2(2.0**-low - (0.0 if few else _beyond(theta, self.n, rank)))
        self._keep(low, -math.log2(least) if side == "high" else low, -math.log2(least))

    def _norm(self, joined: Joined) -> tuple[float, float, float]:
        """Return -log2 of the squared Frobenius norm: bounds, and what is between."""
        slack = 4 * joined.chosen.roundoff + 128 * EPS
        norm = sum(part.squared_norm() for part in joined.parts)
        most, least = norm + joined.column.missing, max(norm * (1 - slack), 1 / self.n)
        low, value, high = (-math.log2(min(x, 1.0)) for x in (most * (1 + slack), norm, least))
        return low, value, high

    # ------------------------------------------------------------------ by products

    def _multiply(self, parts: Sequence[Part], wanted: Wanted) -> None:
        """Multiply more columns with the joint than before; its matrix is made for that."""
        seen, upper = self._seen, wanted.side == "high" and not self._slow
        solver = self.entropy.solver
        try:
            if seen is None:
                seed = solver.seed if isinstance(solver, Auto) else 0
                self._seen = seen = Enclosure(parts, seed, twice=not upper)
            elif upper or seen.proven:
                self._stuck = not seen.grow()
        except np.linalg.LinAlgError:  # columns that depend on each other
            self._stuck = True
        if self._stuck or seen is None:
            return
        if upper:
            self._from_below(seen)
        else:
            self._enclose(seen)

    def _from_below(self, seen: Enclosure) -> None:
        """Bound it from above, and guess how closely."""
        slack = seen.slack
        sums = [np.cumsum(values) * (1 - slack) for values in seen.below()]
        ritz, high = (self._bits(spread_from(s, self.n, 1.0)) for s in sums)
        # Ritz values are off by three times as much, about.
        before, self.off = self.off, 0.5 * max(ritz - high, 0.0)
        self._slow = self.off > LIMITS.slower * before
        self._keep(0.0, high, high)

    def _enclose(self, seen: Enclosure) -> None:
        """Bound it from both sides."""
        found = seen.ends()
        if found is None:
            self._stuck = True
            return
        low, high = (self._bits(together(end, self.n, 1.0)) for end in found[:2])
        self._keep(low, 0.5 * (low + high), high, found[2])
        before, self._width = self._width, high - low
        self._stuck = self._width > LIMITS.slower * before

    # ------------------------------------------------------------------ as a whole

    def _compute(self, joined: Joined) -> None:
        """Compute all eigenvalues, or the norm where that is all it takes."""
        self._proven, self._is_rough = 0.0, False
        if self.entropy.alpha == 2 and self.entropy.rank is None:
            norms = [float(np.sum(part.matrix(double=True) ** 2)) for part in joined.parts]
            value = -math.log2(sum(norms))
            slack = 4 * joined.relative + 1e-13
            self._keep(value - slack, value, value + slack)
            return
        self._keep(*self._ends(joined.eigenvalues(), joined.relative))

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
