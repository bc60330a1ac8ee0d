"""Searches: bounds on a block's spectrum that can be refined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lorenyi.gram import Gram, Points, held
from lorenyi.spectra.bounds import enclosure
from lorenyi.spectra.cholesky import Factor, Nystroem, subsample
from lorenyi.spectra.enclosure import CLOSE
from lorenyi.spectra.exact import Exact
from lorenyi.spectra.krylov import Krylov
from lorenyi.spectra.spectrum import Spectrum

SAMPLE = 20_000  # rows up to which a Cholesky factor is kept whole
SETTLED = 0.3  # residual norm, relative to the Ritz value, of a vector that has converged
FAILURE = 1e-7  # probability that any bound of one spectrum fails
MAX_PRODUCTS = 3  # per row: beyond, all eigenvalues would have been cheaper
Goal = Callable[[Spectrum], float]


class Search(ABC):
    """Bounds on a block's spectrum that each `refine` makes narrower."""

    method: str

    def __init__(self, A: Gram) -> None:
        self.A = A

    @property
    @abstractmethod
    def effort(self) -> int:
        """Work done so far: columns, products, bounds. It only grows, up to a limit."""

    @abstractmethod
    def spectrum(self) -> Spectrum:
        """Return the spectrum as known so far, with its bounds."""

    def refine(self, excess: float, goal: Goal) -> bool:
        """Refine the bounds; return whether anything was done, so that every loop ends.

        Parameters
        ----------
        excess : float
            The current width over the wanted width.
        goal : callable
            The same ratio for another spectrum of this block, taken as the whole.
        """
        before = self.effort
        self._learn(excess, goal)
        return self.effort > before

    @abstractmethod
    def _learn(self, excess: float, goal: Goal) -> None:
        """Refine the bounds, where that is possible."""


def unsettled_mass(spectrum: Spectrum, mass: float) -> float:
    """Return how much of the trace is undetermined: the largest gap between partial sums."""
    pair = enclosure(spectrum)
    if pair is None:
        return mass
    peaked, spread = pair
    places = int(min(spectrum.n, 4096))
    return float(np.max(_sums(peaked, places) - _sums(spread, places), initial=0.0))


def _sums(spectrum: Spectrum, places: int) -> np.ndarray:
    """Partial sums of a complete spectrum at 1, 2, ..., places."""
    counts = np.ones(len(spectrum)) if spectrum.counts is None else spectrum.counts
    ends, heights = np.cumsum(counts), np.cumsum(spectrum.values * counts)
    t = np.arange(1, places + 1)
    return np.asarray(np.interp(t, np.append(0.0, ends), np.append(0.0, heights)))


def as_if_whole(spectrum: Spectrum, n: int) -> Spectrum:
    """Return a sample's spectrum as that of n rows and trace one, to compute its width."""
    pair = enclosure(replace(spectrum, n=n)) or (spectrum, spectrum)
    peaked, spread = (Spectrum(end.values / end.trace, n, 1.0, counts=end.counts) for end in pair)
    proof = (peaked, spread)
    return replace(spread, kind="ritz", proof=lambda: proof, rounding=spectrum.rounding)


def as_if_certain(spectrum: Spectrum) -> Spectrum:
    """Return a spectrum without its uncertainty, to compute how much another block adds."""
    pair = enclosure(spectrum)
    if pair is None:
        return spectrum
    proof = (pair[1], pair[1])
    return replace(pair[1], kind="ritz", proof=lambda: proof, rounding=spectrum.rounding)


class WholeSearch(Search):
    """All eigenvalues at once."""

    method = "Exact"

    def __init__(self, A: Gram) -> None:
        super().__init__(A)
        self._spectrum = Exact().solve(A, None)

    @property
    def effort(self) -> int:
        """One decomposition, at the start."""
        return 1

    def spectrum(self) -> Spectrum:
        """Return the eigenvalues."""
        return self._spectrum

    def _learn(self, excess: float, goal: Goal) -> None:
        """Do nothing: all eigenvalues are known."""


class FactorSearch(Search):
    """A pivoted Cholesky factor; for many rows, of a sample, through which all are streamed."""

    method = "PivotedCholesky"

    def __init__(self, A: Gram, seed: int, most: int, classical: bool) -> None:
        super().__init__(A)
        points = all(isinstance(factor, Points) for factor in A.factors)
        self.sampled = points and len(A) > SAMPLE
        self.factor = Factor(subsample(A, SAMPLE, seed) if self.sampled else A, seed)
        self.most, self.seed = min(most, len(A) // 2), seed
        self.failure, self.draws = FAILURE, 0
        self.history: list[tuple[int, float]] = []
        self.streamed: Factor | Nystroem | None = None
        self.tight: tuple[float, float] | None = None
        # By what factor the last bound of the Frobenius norm made the width smaller. That bound
        # matters less where all eigenvalues count.
        self.gain = 0.0 if classical else np.inf
        if self.sampled:
            self.method = "Nyström from PivotedCholesky"
        for _ in range(2):  # a pilot: how fast does the residual decay?
            self._grow(64)

    @property
    def effort(self) -> int:
        """Columns of the factor, at most `most`, and bounds of the residual, one for each size."""
        return self.factor.size + self.draws

    def _grow(self, count: int) -> bool:
        grown = self.factor.grow(count)
        self.history.append((self.factor.size, self.factor.rest))
        self.streamed, self.tight = None, None
        return grown

    def within(self, failure: float) -> FactorSearch:
        """Return the search, with the probability that its random bounds may fail."""
        self.failure = failure
        return self

    def promising(self, target: float) -> bool:
        """Return whether the residual's trace will fall to `target` before `most` columns.

        For exp(-c r^a), log(-log(trace)) against log(r) has slope a, estimated from the last
        halving.
        """
        size, rest = self.history[-1]
        if rest <= target:
            return True
        half, before = min(self.history, key=lambda entry: abs(entry[0] - size / 2))
        if not (0 < half < size and rest < before < self.A.mass):
            return False
        mass = self.A.mass
        slope = np.log(np.log(rest / mass) / np.log(before / mass)) / np.log(size / half)
        predicted = mass * np.exp(np.log(rest / mass) * (self.most / size) ** max(slope, 0.0))
        return bool(predicted <= target)

    def rehearse(self, goal: Goal) -> None:
        """Grow the factor of the sample until the sample's own width is well within the goal."""
        while True:
            bound = self.factor.frobenius(self._new_seed(), 1e-3)
            excess = goal(self.factor.spectrum(bound)) / 0.6
            if excess <= 1 or not self._grow_to(self.factor.rest / max(excess**0.7, 1.2)):
                return

    def _new_seed(self) -> int:
        """Return an unused seed: a bound's draws must be independent of the factor's."""
        self.draws += 1
        return self.seed + 2**32 * self.draws

    def spectrum(self) -> Spectrum:
        """Return the eigenvalues of the factor."""
        if self.streamed is None:
            self.streamed = Nystroem(self.A, self.factor) if self.sampled else self.factor
        return self.streamed.spectrum(*(self.tight or ()))

    def _learn(self, excess: float, goal: Goal) -> None:
        """Bound the residual's Frobenius norm; then grow until its trace has fallen enough."""
        if self.tight is None and self.streamed is not None and excess < 100 and self.gain > 1.5:
            seed = self._new_seed()
            bound = self.streamed.frobenius(seed, self.failure * 0.5**self.draws)
            self.tight = (bound, self.failure)
            self.gain = excess / max(goal(self.spectrum()), 1e-9)
        else:
            self._grow_to(self.factor.rest / max(excess**0.8, 1.3))

    def _grow_to(self, target: float) -> bool:
        """Grow until the residual's trace is below `target`, if that is expected to succeed."""
        if self.factor.size >= self.most or not self.promising(target):
            return False
        grown = False
        while self.factor.rest > target and self.factor.size < self.most:
            if not self._grow(min(128, self.most - self.factor.size)):
                break
            grown = True
        return grown


class KrylovSearch(Search):
    """A Krylov basis that grows, and random columns that bound what is outside it."""

    method = "BlockLanczos"

    def __init__(
        self, A: Gram, rank: int | None, seed: int, *, hold: bool, single: bool, room: int
    ) -> None:
        super().__init__(A)
        self.rank, self.classical = rank or 64, rank is None
        self.room = min(room, len(A) // 3)
        self.checked = (0, np.inf)  # size and excess when progress was last checked
        self.single, self.seen = single, [np.inf]  # excesses so far
        matrix = A.single() if single else A
        block = 64 if not hold else 32 if len(A) > 3000 else 16
        size = 7 * self.rank // 4 + block
        self.krylov = Krylov(
            held(matrix) if hold else matrix, block, -(-size // block) * block, seed
        )
        self.krylov.fill()
        self.proofs, self.proven = 0, 0  # bounds of what is outside, and products before the last
        self.ratio = CLOSE  # of such a bound to its guess

    def spectrum(self) -> Spectrum:
        """Return the Ritz values."""
        return self.krylov.spectrum(self.A, None)

    @property
    def effort(self) -> int:
        """Products with the matrix, and proofs, of which there is at most one per product."""
        return self.krylov.products + self.proofs

    def _learn(self, excess: float, goal: Goal) -> None:
        """Grow the basis; bound what is outside it when that is expected to suffice."""
        krylov = self.krylov
        if krylov.complete or krylov.size > self.room or self._stuck(excess):
            return
        if krylov.products > MAX_PRODUCTS * len(self.A):
            return
        if self.single and self._rounded(excess):
            return
        guess = self._guess()
        if self.proven < krylov.products and self._enough(self.ratio * guess, goal):
            self.ratio = max(krylov.prove() / guess, 1.0)
            self.proofs, self.proven = self.proofs + 1, krylov.products
            return
        columns = max(2 * krylov.block, krylov.size // 8)
        krylov.grow(krylov.size + columns)
        krylov.fill()

    def _stuck(self, excess: float) -> bool:
        """Return whether doubling the columns has hardly reduced the width.

        This happens for the classical entropy of a flat spectrum, where all eigenvalues count.
        """
        size, before = self.checked
        if not self.classical or self.krylov.size < 2 * size:
            return False
        self.checked = (self.krylov.size, excess)
        return size > 0 and excess > 0.8 * before and excess > 1e3

    def _rounded(self, excess: float) -> bool:
        """Return whether only rounding is left: two refinements in a row had no effect."""
        self.seen.append(excess)
        return len(self.seen) > 3 and min(self.seen[-2:]) > 0.99 * self.seen[-3]

    def _guess(self) -> float:
        """Guess the largest eigenvalue outside the basis: of vectors that have not converged."""
        values, _, residual = self.krylov.ritz()
        unsettled = np.append(residual[:-1] > SETTLED * values[:-1], True)
        first = int(np.argmax(unsettled))
        return float(values[first] + 0.8 * residual[first])

    def _enough(self, outside: float, goal: Goal) -> bool:
        """Return whether such a bound on what is outside would reach the goal."""
        pair = self.krylov.enclosure(min(outside, self.krylov.outside))
        known = replace(pair[1], kind="ritz", proof=lambda: pair)
        return goal(replace(known, rounding=self.spectrum().rounding)) < 0.7
