"""The entropy of a joint, known the better the more is asked of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi.entropy import renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.selection.certified.chosen import EPS, Part
from lorenyi.selection.certified.limits import LIMITS
from lorenyi.spectra import Auto, PivotedCholesky, Spectrum, enclosure
from lorenyi.spectra.bounds import enclose_sum, union

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
    matrix. Then come all eigenvalues of a small one, and for others the proof of a solver.
    """

    def __init__(self, entropy: Renyi, n: float) -> None:
        self.entropy, self.n = entropy, n
        self.found: Estimate | None = None  # what is known
        self._bounded = False
        self._proven = math.inf  # the tolerance of the last proof

    def met(self, wanted: Wanted) -> bool:
        """Tell whether it is known well enough, or nothing more can be learned."""
        if self.found is None:
            return False
        return wanted.met(self.found) or self._proven <= wanted.tol

    def learned(self, found: Estimate | None, wanted: Wanted) -> None:
        """Take the result of a worker that was asked for the same."""
        if found is not None:
            self._keep(found.low, float(found), found.high, found.failure)
        if not wanted.cheap:
            self._proven = min(self._proven, wanted.tol)

    def until(
        self, wanted: Wanted, gram: Callable[[], Gram], parts: Sequence[Part] | None, large: bool
    ) -> None:
        """Learn more until that is good enough.

        Parameters
        ----------
        wanted : Wanted
            How much.
        gram : callable
            Returns the Gram of all variables, equal rows as one.
        parts : sequence of Part, optional
            Its diagonal blocks, made of what is kept of the chosen features.
        large : bool
            Whether there are too many rows for a matrix of all pairs.
        """
        if not self.met(wanted) and parts is not None and not self._bounded:
            self._bounded = True
            self._bound(parts, wanted.side)
        if self.met(wanted) or wanted.cheap:
            return
        if parts is not None and all(len(part) <= LIMITS.dense for part in parts):
            self._compute(parts)
        else:
            self._prove(gram(), wanted, large)

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

    def _bound(self, parts: Sequence[Part], side: Side) -> None:
        """Bound it without making its matrix, if that is worth it."""
        rank, quadratic = self.entropy.rank, self.entropy.alpha == 2
        if rank is None and quadratic:
            if all(len(part) <= LIMITS.dense for part in parts):
                self._compute(parts)
            else:
                self._keep(*self._norm(parts))
            return
        if rank is None or all(part.is_small for part in parts):
            return
        counts = [math.ceil(LIMITS.ranks * part.share) for part in parts]
        each = [part.below(count) for part, count in zip(parts, counts, strict=True)]
        theta = np.sort(np.concatenate(each))[::-1]
        slack = max(2 * part.chosen.roundoff for part in parts) + (64 + max(counts)) * EPS
        rest = max(1.0 - float(np.sum(theta)) * (1 - slack), 0.0)
        pair = enclose_sum(theta, self.n, 1.0, largest=rest, slack=slack * np.cumsum(theta))
        low, high = map(self._bits, pair)
        if quadratic and side != "high":
            squares = 2.0 ** -self._norm(parts)[0] - _beyond(theta, self.n, rank)
            low = max(low, -math.log2(min(squares * (1 + slack), 1.0)))
        self._keep(min(low, high), high if side == "high" else low, high)

    def _norm(self, parts: Sequence[Part]) -> tuple[float, float, float]:
        """Return -log2 of the squared Frobenius norm: bounds, and what is between."""
        slack = max(4 * part.chosen.roundoff for part in parts) + 128 * EPS
        missing = parts[0].column.missing
        norm = sum(part.squared_norm() for part in parts)
        ends = (norm + missing) * (1 + slack), norm, max(norm * (1 - slack), 1 / self.n)
        low, value, high = (-math.log2(min(end, 1.0)) for end in ends)
        return low, value, high

    # ------------------------------------------------------------------ with it

    def _compute(self, parts: Sequence[Part]) -> None:
        """Compute all eigenvalues, or the norm where that is all it takes."""
        self._proven = 0.0
        if self.entropy.alpha == 2 and self.entropy.rank is None:
            value = -math.log2(sum(float(np.sum(part.matrix() ** 2)) for part in parts))
            slack = 4 * max(part.roundoff for part in parts) + 1e-13
            self._keep(value - slack, value, value + slack)
            return
        spectrum = union([_complete(part) for part in parts], self.n, 1.0)
        low, high = map(self._bits, enclosure(spectrum) or (spectrum, spectrum))
        self._keep(low, self._bits(spectrum), high)

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


def _complete(part: Part) -> Spectrum:
    values = np.maximum(_arrays.eigvalsh(part.matrix())[::-1], 0.0)
    return Spectrum(values, len(part), part.mass, rounding=part.roundoff)


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
