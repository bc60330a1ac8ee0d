"""The race of candidates: who has the largest score, from intervals that narrow as needed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lorenyi.estimate import Estimate
from lorenyi.selection.criteria import Criterion, Terms
from lorenyi.selection.information import Features, Information
from lorenyi.selection.intervals import Intervals

TIE = 1e-9  # bits: narrower intervals that still overlap are equal
COARSE, FINE, FINEST = 0.1, 4e-3, 1e-11  # bits: widths of entropies at first, for those in front
AHEAD = 2  # candidates in front
LOWEST = -1e3  # bits: less than any score
TELLING = 1.0  # bits: what is seen at once tells something if it is not farther from the truth
GENTLE = 2e-3  # bits: a width of both ends that float32 is enough for, mostly
FINER = 256  # times as fine as their level, at most, are those in front
REPORTED = 2e-3  # bits: the width to which the score of a chosen feature is told

Scores = Callable[[np.ndarray, np.ndarray, float | None], Intervals]
Guess = Callable[[np.ndarray], np.ndarray]


def score(
    criterion: Criterion,
    information: Information,
    x: np.ndarray,
    chosen: Features,
    tol: float | np.ndarray,
    above: float | None = None,
) -> Intervals:
    """Return the criterion of each candidate, with entropies to a width (or one for each)."""
    return Intervals.of(criterion.score(Terms(information, x, chosen, tol, above)))


def tolerance(level: Any) -> Any:
    """Return the width in bits of entropies at a level of the search, or at several."""
    return np.maximum(FINE / 8.0 ** np.maximum(level - 2, 0), FINEST)


class Race:
    """Finds the candidate with the largest score, step after step.

    Scores are intervals. A candidate is dropped only when the upper end of its score lies below
    the lower end of another's. Those that did best in the step before start, with those that look
    best at once, and their most likely scores set a bar: of the others the upper end is found as
    far as it takes to lie below that, or with a tolerance that would have been enough in the step
    before. The bar is a guess, for which nobody is dropped. Then both ends of the most likely
    candidates are found, two at a time, and whoever is left is computed ever finer, until one is
    left or all are narrower than `TIE`.

    Parameters
    ----------
    criterion : Criterion
        Gives the scores.
    information : Information
        Gives the entropies.
    """

    def __init__(self, criterion: Criterion, information: Information) -> None:
        self.criterion, self.information = criterion, information
        self._behind: dict[int, float] = {}  # bits

    def best(self, candidates: np.ndarray, chosen: Features) -> int:
        """Return the best candidate; of equal ones the first."""

        def scores(x: np.ndarray, tol: np.ndarray, above: float | None) -> Intervals:
            return score(self.criterion, self.information, x, chosen, tol, above)

        def guess(x: np.ndarray) -> np.ndarray:
            guesses = self.information.guesses()
            return score(self.criterion, guesses, x, chosen, FINE).value

        # With features chosen, what is known of them makes a close look as cheap as a coarse one.
        return self._run(candidates, scores, COARSE if len(chosen) < 2 else 2 * FINE, guess)

    def best_pair(self, candidates: np.ndarray) -> tuple[int, int]:
        """Return the two candidates with the best score together; of equal pairs the first."""
        one, other = (candidates[i] for i in np.triu_indices(len(candidates), 1))

        def scores(x: np.ndarray, tol: np.ndarray, above: float | None) -> Intervals:
            found = Intervals(np.zeros(len(x)), np.zeros(len(x)))
            for i in np.unique(one[x]):
                at = one[x] == i
                part = score(
                    self.criterion, self.information, other[x[at]], (int(i),), tol[at], above
                )
                found.low[at], found.high[at] = part.low, part.high
            return found

        pair = Race(self.criterion, self.information)._run(np.arange(len(one)), scores)
        return int(one[pair]), int(other[pair])

    def _run(
        self,
        candidates: np.ndarray,
        score_of: Scores,
        coarsest: float = COARSE,
        guess: Guess | None = None,
    ) -> int:
        count = len(candidates)
        scores = Intervals(np.full(count, -np.inf), np.full(count, np.inf))
        level = np.zeros(count, dtype=np.int64)  # how often each was looked at
        whole = np.zeros(count, dtype=bool)  # whether the lower end was wanted, too
        ahead, coarse = self._start(candidates, coarsest)

        def look(batch: np.ndarray, to: int, above: bool, bar: float = -np.inf) -> None:
            batch = np.sort(batch)
            tol = coarse[batch] if to == 1 else np.full(len(batch), tolerance(to))
            if to == 2 and not above:
                tol = np.full(len(batch), GENTLE)
            elif not above:  # as fine as it seems to be needed now
                first, second = np.sort(np.where(whole, scores.value, scores.high))[:-3:-1]
                most = np.where(whole[batch], 0.25 * scores.width[batch], GENTLE)
                tol = np.clip(0.25 * (first - second), np.minimum(tol / FINER, most), most)
            best = max(float(scores.low.max()), bar) if above else None
            found = score_of(candidates[batch], tol, best)
            scores.low[batch], scores.high[batch] = found.low, found.high
            level[batch] = to
            whole[batch] |= not above

        bar = -np.inf
        if guess is not None:
            at_once = score_of(candidates, coarse, np.inf)
            scores.low[:], scores.high[:] = at_once.low, at_once.high
            whole[:] = at_once.width <= TIE
            level[whole] = 1
            best = np.argsort(-at_once.high, kind="stable")[:AHEAD]
            bar = self._bar(ahead[level[ahead] == 0], candidates, guess, look)
            tells = at_once.high[best] < (bar + TELLING if len(ahead) else at_once.high.max())
            best = best[(level[best] == 0) & tells]
            bar = max(bar, self._bar(best, candidates, guess, look))
        if not level.all():
            look(np.flatnonzero(level == 0), 1, True, bar)
        patience = self.information.patience if guess is not None else None
        worth = np.ones(count, dtype=bool)  # a closer look
        while True:
            active = scores.high >= float(scores.low.max()) - TIE
            if patience is not None and active.sum() > patience and guess is not None:
                worth[active] = _largest(guess(candidates[active]), patience)
                patience = None
            left = active & worth & (scores.width > TIE) & (tolerance(level) > FINEST)
            left = np.flatnonzero(left)
            if active.sum() == 1 or not len(left):
                break
            likely = scores.high.copy()
            if guess is not None:
                guessed = guess(candidates[active])
                likely[active] = np.where(np.isfinite(guessed), guessed, likely[active])
            best_first = left[np.argsort(-likely[left], kind="stable")]
            if not whole[active].any():
                look(best_first[:AHEAD], 2, above=False)
            else:
                look(*_next(best_first, level, whole, scores, likely))
        known = np.where(whole, scores.value, scores.high)
        gaps = float(known.max()) - known
        for i, gap, seen in zip(candidates.tolist(), gaps.tolist(), level.tolist(), strict=True):
            # A coarse upper end that was low enough says little of how far behind one is.
            self._behind[i] = max(gap, self._behind.get(i, 0.0)) if seen == 1 else gap
        return self._winner(candidates[active], scores[active], guess)

    @staticmethod
    def _bar(batch: np.ndarray, candidates: np.ndarray, guess: Guess, look: Any) -> float:
        """Look at the upper ends of some candidates; return what the best of them reaches."""
        if not len(batch):
            return -np.inf
        look(batch, 1, True, LOWEST)
        return float(guess(candidates[batch]).max()) - GENTLE

    def _start(self, candidates: np.ndarray, coarsest: float) -> tuple[np.ndarray, np.ndarray]:
        """Return who starts, and the tolerance that is enough for each to begin with."""
        gaps = np.array([self._behind.get(i, np.nan) for i in candidates.tolist()])
        if np.isnan(gaps).any() or len(gaps) <= AHEAD:
            return np.zeros(0, dtype=np.int64), np.full(len(gaps), coarsest)
        ahead = np.argsort(gaps, kind="stable")[:AHEAD]
        return ahead, np.clip(0.5 * gaps, FINE, coarsest)

    def _winner(self, active: np.ndarray, scores: Intervals, guess: Guess | None) -> int:
        width = float(scores.width.max())
        if len(active) > 1 and width > 100 * TIE:  # less is rounding
            warn_overlap(f"features {', '.join(map(str, active))}", width)
            return int(active[np.argmax(scores.value if guess is None else guess(active))])
        return int(active[0])


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """Mark the largest values."""
    marks = np.zeros(len(values), dtype=bool)
    marks[np.argsort(-values, kind="stable")[:count]] = True
    return marks


def _next(
    best_first: np.ndarray,
    level: np.ndarray,
    whole: np.ndarray,
    scores: Intervals,
    likely: np.ndarray,
) -> tuple[np.ndarray, int, bool]:
    """Return whom to look at next, to which level, and whether for the upper end alone.

    Both ends matter for those that may lead; of the others, whether the upper one lies below.

    Parameters
    ----------
    best_first : array of int
        Who is left to be looked at, the most likely first.
    level, whole, scores, likely
        How often each was looked at, whether for both ends, what was seen and what is guessed.
    """
    to = int(level[best_first].min()) + 1
    if to == 2:
        return best_first[level[best_first] < to], to, True
    front = best_first[:AHEAD]
    if not whole[front[0]]:
        front = front[~whole[front]]
        return front, max(to, int(level[front].max())), False
    lead = int(np.argmax(scores.low))
    others = best_first[best_first != lead]
    # Once the leader is known well enough, it takes upper ends of the others, side by side.
    if len(others) and scores.width[lead] < 0.5 * (likely[lead] - likely[others[0]]):
        to = int(level[others].min()) + 1
        return others[level[others] < to], to, True
    front = front[2 * scores.width[front] >= np.max(scores.width[front])]  # they tell more
    return front, int(level[front].max()) + 1, False


def reported(criterion: Criterion, information: Information, i: int, chosen: Features) -> Estimate:
    """Return the score of a chosen feature: its ends, and what it most likely is."""
    x = np.array([i])
    ends = score(criterion, information, x, chosen, REPORTED)
    low, high = float(ends.low[0]), float(ends.high[0])
    value = float(score(criterion, information.guesses(), x, chosen, REPORTED).value[0])
    return Estimate.within(low, min(max(value, low), high), high)


def warn_overlap(names: str, width: float) -> None:
    """Say where intervals did not separate."""
    warnings.warn(
        f"the intervals of {names} still overlap at a width of {width:.2g} bits: the one with the "
        "larger value was chosen; more memory or a solver such as Exact() may separate them",
        RuntimeWarning,
        stacklevel=2,
    )
