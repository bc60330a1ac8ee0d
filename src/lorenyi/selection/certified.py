"""The best candidate of a step and whether it is significant, from certified intervals."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy import stats

from lorenyi.intervals import Intervals
from lorenyi.joints import Joints
from lorenyi.selection.criteria import BaseCriterion
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.path import Step
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Table
from lorenyi.selection.terms import CertifiedTerms

Scores: TypeAlias = Callable[[np.ndarray, float, float | None], Intervals]


class Certified:
    """Scores as intervals, narrowed until one candidate leads for sure.

    A candidate is eliminated only when its upper bound lies below another's lower bound. Cheap
    bounds of all come first; then, in ever finer rounds, both bounds of the most likely winner and
    the others' upper bounds, until one is left or all intervals are narrower than a tie.
    """

    def __init__(self, criterion: BaseCriterion, engine: Joints, table: Table, seed: int) -> None:
        self.criterion, self.engine, self.table, self.seed = criterion, engine, table, seed
        self._before: list[int] = []  # candidates of the step before, the best first

    def terms(self, candidates: Any, chosen: Sequence[int] = ()) -> CertifiedTerms:
        """Return what scores are made of."""
        return CertifiedTerms(self.engine, candidates, chosen, 0.1 * LIMITS.coarse)

    def scores(
        self, chosen: Features, x: np.ndarray, tol: float, above: float | None = None
    ) -> Intervals:
        """Return the criterion of each candidate x, with entropies to a width."""
        terms = CertifiedTerms(self.engine, x, chosen, tol, above)
        return Intervals.of(self.criterion.score(terms))

    def best(self, candidates: np.ndarray, chosen: Features) -> int:
        """Return the best candidate; of equal ones the first."""
        self._before = _race(candidates, partial(self.scores, chosen), self._before)
        return self._before[0]

    def step(self, candidates: np.ndarray, chosen: Features) -> Step:
        """Return the best candidate; of equal ones the first."""
        best = self.best(candidates, chosen)
        found = self._score((*chosen, best))
        value, nothing = float(found.value), np.full(len(candidates), math.nan)
        has_before = self.criterion.of_the_set and chosen
        return Step(
            feature=best,
            score=value,
            gain=value - (float(self._score(chosen).value) if has_before else 0.0),
            bounds=(float(found.low), float(found.high)),
            rows=len(self.table),
            candidates=candidates,
            scores=np.where(candidates == best, value, nothing),
            standard_errors=nothing,
            ties=candidates[:0],
        )

    def _score(self, features: Features) -> Intervals:
        """Return the score of features that were chosen in this order."""
        return self.scores(features[:-1], np.array(features[-1:]), LIMITS.fine)[0]

    def p_value(self, step: Step, chosen: Features, level: float, asked: int | None) -> float:
        r"""Compare the score with those of the same column permuted, by a curve fitted to them.

        For the best of m a tail of 1 in m matters, which few permutations do not show: p is read
        off Pearson's type III curve with their mean, variance and skewness, at least that of the
        gamma distribution that begins at a constant column; :math:`1 - (1 - p)^m` is returned.
        """
        for count in (asked,) if asked else (LIMITS.copies, 4 * LIMITS.copies):
            p = self._fitted(step, chosen, count)
            if not level / 10 < p < 10 * level:  # clear enough
                break
        return p

    def _fitted(self, step: Step, chosen: Features, count: int) -> float:
        null = self.table.permuted(step.feature, chosen, count, self.seed)
        engine = self.criterion.engine(null, self.seed, self.engine.workers)
        copies, given = np.arange(len(chosen), len(null.features)), tuple(range(len(chosen)))
        found = Certified(self.criterion, engine, null, self.seed).scores(given, copies, 1e-3)
        *values, before = found.value.tolist()
        if step.score - before <= LIMITS.tie:
            return 1.0
        mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
        if not deviation > 1e-9:
            return 1.0 if step.score <= max(values) + LIMITS.tie else 1.0 / (1 + count)
        gamma = 2 * deviation / (mean - before) if mean > before else 0.0
        skew = min(max(float(stats.skew(values, bias=False)), gamma, 0.0), 3.0)
        z = (step.score - mean) / (deviation * (1 + 1 / len(values)) ** 0.5)
        p = float(stats.pearson3.sf(z, skew))
        return float(-np.expm1(len(step.candidates) * np.log1p(-min(p, 1 - 1e-16))))

    def best_set(self, candidates: np.ndarray, size: int) -> Features:
        """Return the best pair, of equal ones the first; for triples with the best third."""
        one, other = (candidates[i] for i in np.triu_indices(len(candidates), 1))

        def look(x: np.ndarray, tol: float, above: float | None) -> Intervals:
            found = Intervals(*np.zeros((3, len(x))))
            for i in np.unique(one[x]):
                at = one[x] == i
                found.put(at, self.scores((int(i),), other[x[at]], tol, above))
            return found

        best = _race(np.arange(len(one)), look, [])[0]
        pair = int(one[best]), int(other[best])
        if size == 2:
            return pair
        return (*pair, self.best(candidates[~np.isin(candidates, pair)], pair))

    def without(self, chosen: Features) -> np.ndarray:
        """Return the score of the chosen set without each of its features."""
        rest = [tuple(i for i in chosen if i != j) for j in chosen]
        return np.array([float(self._score(features).value) for features in rest])

    @property
    def target_entropy(self) -> float:
        """S(y), in bits."""
        return float(self.engine.alone((), True, LIMITS.fine))


def _race(candidates: np.ndarray, look: Scores, before: list[int]) -> list[int]:
    """Return the candidates, the best first; the best of the step before is looked at first."""
    scores, tol = look(candidates, LIMITS.coarse, np.inf), LIMITS.fine
    leader = [i for i in before if i in candidates][:1]
    first = np.union1d(np.flatnonzero(np.isin(candidates, leader)), [np.argmax(scores.high)])

    def update(some: np.ndarray, above: float | None) -> None:
        if len(some):
            scores.put(some, look(candidates[some], tol, above))

    while True:
        active = scores.high >= float(scores.low.max()) - LIMITS.tie
        likely = _likely(scores, active)
        left = np.flatnonzero(active & (scores.width > LIMITS.tie))
        if active.sum() == 1 or not len(left) or tol < LIMITS.finest:
            break
        front = first if tol == LIMITS.fine else left[[np.argmax(likely[left])]]
        update(front, None)
        best = float(scores.low.max())
        update(np.setdiff1d(left[scores.high[left] >= best - LIMITS.tie], front), best)
        # What it seems to take for the first two to come apart.
        top, second = np.sort(_likely(scores, active))[:-3:-1]
        tol = float(np.clip(0.25 * (top - second), tol / LIMITS.finer, 0.5 * tol))
    winner = _winner(candidates[active], scores[active], likely[active])
    order = candidates[np.argsort(-likely, kind="stable")].tolist()
    return [winner, *(i for i in order if i != winner)]


def _likely(scores: Intervals, active: np.ndarray) -> np.ndarray:
    """Return the most likely scores of active candidates, and upper bounds of the others."""
    return np.where(active & np.isfinite(scores.value), scores.value, scores.high)


def _winner(active: np.ndarray, scores: Intervals, likely: np.ndarray) -> int:
    width = float(scores.width.max())
    if len(active) == 1 or width <= 100 * LIMITS.tie:  # less is rounding
        return int(active[0])
    warnings.warn(
        f"the intervals of features {', '.join(map(str, active))} still overlap at a width of "
        f"{width:.2g} bits: the one with the larger value was chosen; more memory or a solver "
        "such as Exact() may separate them",
        RuntimeWarning,
        stacklevel=2,
    )
    return int(active[np.argmax(likely)])
