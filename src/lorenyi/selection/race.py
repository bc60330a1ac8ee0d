"""The candidate with the largest score, from intervals that are refined as needed."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from lorenyi.intervals import Intervals
from lorenyi.joints import Joints
from lorenyi.selection.criteria import BaseCriterion
from lorenyi.selection.sampled import Features
from lorenyi.selection.terms import CertifiedTerms

TIE = 1e-9  # bits: narrower intervals that still overlap are equal
COARSE = 0.1  # bits: width of entropies at the first look, which drops most candidates
FINE, FINEST = 2e-3, 1e-11  # and at the next ones, ever finer by a factor of FINER at most
FINER = 32.0

Look = Callable[[np.ndarray, float, float | None], Intervals]


def score(
    criterion: BaseCriterion,
    engine: Joints,
    x: np.ndarray,
    chosen: Features,
    tol: float,
    above: float | None = None,
) -> Intervals:
    """Return the criterion of each candidate, with entropies to a width."""
    return Intervals.of(criterion.score(CertifiedTerms(engine, x, chosen, tol, above)))


class Race:
    """Finds the candidate with the largest score, step after step.

    Scores are intervals. A candidate is eliminated only when its upper bound lies below the lower
    bound of another. Cheap bounds of all come first; then, round after round, both bounds of the
    most likely winner, and of the others the upper bound, as far as it takes to lie below the best
    lower bound. Each round is finer than the one before, until one candidate is left or all
    intervals are narrower than `TIE`.
    """

    def __init__(self, criterion: BaseCriterion, engine: Joints) -> None:
        self.criterion, self.engine = criterion, engine
        self._before: list[int] = []  # candidates of the step before, the best first

    def best(self, candidates: np.ndarray, chosen: Features) -> int:
        """Return the best candidate; of equal ones the first."""

        def look(x: np.ndarray, tol: float, above: float | None) -> Intervals:
            return score(self.criterion, self.engine, x, chosen, tol, above)

        return self._run(candidates, look)

    def best_pair(self, candidates: np.ndarray) -> tuple[int, int]:
        """Return the two candidates with the best score together; of equal pairs the first."""
        one, other = (candidates[i] for i in np.triu_indices(len(candidates), 1))

        def look(x: np.ndarray, tol: float, above: float | None) -> Intervals:
            found = Intervals(*np.zeros((3, len(x))))
            for i in np.unique(one[x]):
                at, given = one[x] == i, (int(i),)
                found.put(at, score(self.criterion, self.engine, other[x[at]], given, tol, above))
            return found

        pair = Race(self.criterion, self.engine)._run(np.arange(len(one)), look)
        return int(one[pair]), int(other[pair])

    def _run(self, candidates: np.ndarray, look: Look) -> int:
        scores = look(candidates, COARSE, np.inf)
        first, tol = self._first(candidates, scores), FINE

        def update(some: np.ndarray, above: float | None) -> None:
            if len(some):
                scores.put(some, look(candidates[some], tol, above))

        while True:
            active = scores.high >= float(scores.low.max()) - TIE
            likely = _likely(scores, active)
            left = np.flatnonzero(active & (scores.width > TIE))
            if active.sum() == 1 or not len(left) or tol < FINEST:
                break
            front = first if tol == FINE else left[[np.argmax(likely[left])]]
            update(front, None)
            best = float(scores.low.max())
            update(np.setdiff1d(left[scores.high[left] >= best - TIE], front), best)
            # What it seems to take for the first two to come apart.
            top, second = np.sort(_likely(scores, active))[:-3:-1]
            tol = float(np.clip(0.25 * (top - second), tol / FINER, 0.5 * tol))
        self._before = candidates[np.argsort(-likely, kind="stable")].tolist()
        return _winner(candidates[active], scores[active], likely[active])

    def _first(self, candidates: np.ndarray, scores: Intervals) -> np.ndarray:
        """Return whom to measure first: the leader of the step before, and of cheap bounds."""
        left = [i for i in self._before if i in candidates][:1]
        return np.union1d(np.flatnonzero(np.isin(candidates, left)), [np.argmax(scores.high)])


def _likely(scores: Intervals, active: np.ndarray) -> np.ndarray:
    """Return the most likely scores of active candidates, and upper bounds of the others."""
    return np.where(active & np.isfinite(scores.value), scores.value, scores.high)


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
