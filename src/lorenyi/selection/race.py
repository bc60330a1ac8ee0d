"""The race of candidates: who has the largest score, from intervals that narrow as needed."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from lorenyi.estimate import Estimate
from lorenyi.selection.certified.information import Information
from lorenyi.selection.certified.intervals import Intervals
from lorenyi.selection.criteria import BaseCriterion
from lorenyi.selection.sampled import Features
from lorenyi.selection.terms import CertifiedTerms

TIE = 1e-9  # bits: narrower intervals that still overlap are equal
COARSE = 0.1  # bits: width of entropies at the first look, which drops most candidates
FINE, FINEST = 2e-3, 1e-11  # and at the next ones, ever finer by a factor of FINER
FINER = 32.0
AHEAD = 2  # candidates whose lower end matters, too
REPORTED = 2e-3  # bits: the width to which the score of a chosen feature is told

Scores = Callable[[np.ndarray, float, float | None], Intervals]
Guess = Callable[[np.ndarray], np.ndarray]


def score(
    criterion: BaseCriterion,
    information: Information,
    x: np.ndarray,
    chosen: Features,
    tol: float,
    above: float | None = None,
) -> Intervals:
    """Return the criterion of each candidate, with entropies to a width."""
    return Intervals.of(criterion.score(CertifiedTerms(information, x, chosen, tol, above)))


class Race:
    """Finds the candidate with the largest score, step after step.

    Scores are intervals. A candidate is dropped only when the upper end of its score lies below
    the lower end of another's. What comes at once of all is looked at first; then, round after
    round, both ends of the most likely candidates, and of the others the upper end, as far as it
    takes to lie below the best lower end. Each round is finer than the one before, until one
    candidate is left or all are narrower than `TIE`.

    Parameters
    ----------
    criterion : BaseCriterion
        Gives the scores.
    information : Information
        Gives the entropies.
    """

    def __init__(self, criterion: BaseCriterion, information: Information) -> None:
        self.criterion, self.information = criterion, information
        self._behind: dict[int, float] = {}  # bits, in the step before

    def best(self, candidates: np.ndarray, chosen: Features) -> int:
        """Return the best candidate; of equal ones the first."""

        def scores(x: np.ndarray, tol: float, above: float | None) -> Intervals:
            return score(self.criterion, self.information, x, chosen, tol, above)

        def guess(x: np.ndarray) -> np.ndarray:
            return score(self.criterion, self.information.guesses(), x, chosen, FINE).value

        return self._run(candidates, scores, guess)

    def best_pair(self, candidates: np.ndarray) -> tuple[int, int]:
        """Return the two candidates with the best score together; of equal pairs the first."""
        one, other = (candidates[i] for i in np.triu_indices(len(candidates), 1))

        def scores(x: np.ndarray, tol: float, above: float | None) -> Intervals:
            found = Intervals(np.zeros(len(x)), np.zeros(len(x)))
            for i in np.unique(one[x]):
                at, given = one[x] == i, (int(i),)
                part = score(self.criterion, self.information, other[x[at]], given, tol, above)
                found.low[at], found.high[at] = part.low, part.high
            return found

        pair = Race(self.criterion, self.information)._run(np.arange(len(one)), scores, None)
        return int(one[pair]), int(other[pair])

    def _run(self, candidates: np.ndarray, look: Scores, guess: Guess | None) -> int:
        scores = look(candidates, COARSE, np.inf)
        first, tol = self._first(candidates, scores), FINE

        def update(some: np.ndarray, above: float | None) -> None:
            if len(some):
                found = look(candidates[some], tol, above)
                scores.low[some], scores.high[some] = found.low, found.high

        while True:
            active = scores.high >= float(scores.low.max()) - TIE
            left = np.flatnonzero(active & (scores.width > TIE))
            if active.sum() == 1 or not len(left) or tol < FINEST:
                break
            likely = self._likely(candidates, scores, active, guess)
            front = np.sort(left[np.argsort(-likely[left], kind="stable")][:AHEAD])
            front = first if tol == FINE else front
            update(front, None)
            best = float(scores.low.max())
            update(np.setdiff1d(left[scores.high[left] >= best - TIE], front), best)
            likely = self._likely(candidates, scores, active, guess)
            tol = self._finer(tol, likely)
        likely = self._likely(candidates, scores, active, guess)
        gaps = float(likely.max()) - likely
        self._behind.update(zip(candidates.tolist(), gaps.tolist(), strict=True))
        return self._winner(candidates[active], scores[active], likely[active])

    def _first(self, candidates: np.ndarray, scores: Intervals) -> np.ndarray:
        """Return who is looked at first: who was in front before, and who seems to be at once."""
        gaps = np.array([self._behind.get(i, np.inf) for i in candidates.tolist()])
        before = np.argsort(gaps, kind="stable")[: AHEAD if np.isfinite(gaps).any() else 0]
        now = np.argsort(-scores.high, kind="stable")[:1]
        return np.union1d(before, now)

    @staticmethod
    def _finer(tol: float, likely: np.ndarray) -> float:
        """Return the next tolerance: what it seems to take for the first two to come apart."""
        first, second = np.sort(likely)[:-3:-1]
        return float(np.clip(0.25 * (first - second), tol / FINER, 0.5 * tol))

    @staticmethod
    def _likely(
        candidates: np.ndarray, scores: Intervals, active: np.ndarray, guess: Guess | None
    ) -> np.ndarray:
        """Return the most likely scores of active candidates, and upper ends of the others."""
        likely = scores.high.copy()
        guessed = scores.value[active] if guess is None else guess(candidates[active])
        likely[active] = np.where(np.isfinite(guessed), guessed, likely[active])
        return likely

    @staticmethod
    def _winner(active: np.ndarray, scores: Intervals, likely: np.ndarray) -> int:
        width = float(scores.width.max())
        if len(active) == 1 or width <= 100 * TIE:  # less is rounding
            return int(active[0])
        warnings.warn(
            f"the intervals of features {', '.join(map(str, active))} still overlap at a width of "
            f"{width:.2g} bits: the one with the larger value was chosen; more memory or a solver "
            "such as Exact() may separate them",
            RuntimeWarning,
            stacklevel=2,
        )
        return int(active[np.argmax(likely)])


def reported(
    criterion: BaseCriterion, information: Information, i: int, chosen: Features
) -> Estimate:
    """Return the score of a chosen feature: its ends, and what it most likely is."""
    x = np.array([i])
    ends = score(criterion, information, x, chosen, REPORTED)
    low, high = float(ends.low[0]), float(ends.high[0])
    value = float(score(criterion, information.guesses(), x, chosen, REPORTED).value[0])
    return Estimate.within(low, min(max(value, low), high), high)
