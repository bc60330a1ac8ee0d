"""The best candidate of a step and whether it is significant, from sampled rows."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from lorenyi.data.sources import slices
from lorenyi.selection.criteria import BaseCriterion, NeighborInformation
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.pairs import Pairs
from lorenyi.selection.path import Step
from lorenyi.selection.sampled import Features, Look, Sampled, leads, standard_errors
from lorenyi.selection.terms import SampledTerms


class Estimated:
    """Scores with their sampling errors; more rows are taken while candidates are close."""

    def __init__(self, criterion: BaseCriterion, engine: Sampled) -> None:
        self.criterion, self.engine = criterion, engine

    def terms(self, candidates: Any, chosen: Sequence[int] = ()) -> SampledTerms:
        """Return what scores are made of, without replicates."""
        look = Look(self.engine.first(len(candidates)))
        return SampledTerms(self.engine, candidates, chosen, look, 1)

    def values(self, x: np.ndarray, chosen: Features, look: Look, score: Any = None) -> np.ndarray:
        """Return the scores: candidates x (1 + groups), or x permutations.

        What could not be measured is the worst there is.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = SampledTerms(self.engine, x, chosen, look)
            found = np.reshape((score or self.criterion.score)(terms), (len(x), -1))
        return np.where(np.isfinite(found), found, -np.inf)

    def reached(self, features: Features) -> np.ndarray:
        """Return the score of features chosen in this order on all rows, and its replicates."""
        look, last = Look(self.engine.count), np.array(features[-1:])
        return self.values(last, features[:-1], look, self.criterion.reached)

    def step(self, candidates: np.ndarray, chosen: Features) -> Step:
        """Return the best candidate, of equal ones the first.

        All are screened on few rows; those not clearly behind are scored on more until one is left.
        """
        first = self.engine.first(len(candidates))
        blocks = max(1, first // 2)
        scores, errors = np.full((2, len(candidates)), -np.inf)
        left = np.arange(len(candidates))
        while True:
            found = self.values(candidates[left], chosen, Look(blocks))
            scores[left], errors[left] = found[:, 0], standard_errors(found)
            best = int(np.argmax(found[:, 0] >= found[:, 0].max() - LIMITS.equal))
            lead, error = leads(found, best)
            close = lead <= (LIMITS.close if blocks >= first else LIMITS.screened) * error
            if blocks == self.engine.count or (close.sum() <= 1 and blocks >= first):
                break
            left, blocks = left[close], min(2 * blocks, self.engine.count)
        feature, look = int(candidates[left[best]]), Look(self.engine.count)
        before = self.values(candidates[:1], chosen, look, self.criterion.before)
        whole = self.reached((*chosen, feature))  # last: a path is only made longer
        score, whole_error = float(whole[0, 0]), float(standard_errors(whole)[0])
        # Of candidates only what a row's own term varies is known; what it does to others makes
        # that as much wider as for the best, at most twice, for a pair has two rows.
        same_rows = whole_error * math.sqrt(self.engine.count / blocks)
        wider = float(np.clip(same_rows / max(errors[left[best]], 1e-300), 1.0, 2.0))
        ties = left[(lead <= wider * error) & (np.arange(len(left)) != best)]
        return Step(
            feature=feature,
            score=score,
            standard_error=whole_error,
            gain=score - float(before[0, 0]),
            bounds=(score, score),
            rows=blocks * self.engine.size,
            candidates=candidates,
            scores=scores + (score - float(found[best, 0])),
            standard_errors=wider * errors,
            ties=candidates[ties],
        )

    def p_value(self, step: Step, chosen: Features, level: float, asked: int | None) -> float:
        """Compare the best score with the best of permuted candidates.

        First on few rows, which takes up most of the level; if that does not show it, on all.
        Permutations end as soon as too many do as well, or the score is far above all of them, and
        no p-value is below what they can show.
        """
        first, every = self.engine.first(len(step.candidates)), self.engine.count
        looks = [(first, LIMITS.spent, LIMITS.ranks), (every, 1 - LIMITS.spent, 1)]
        p = 1.0
        for blocks, share, ranks in looks if first < every else [(first, 1.0, LIMITS.ranks)]:
            part = share * level
            least, most = (max(asked or 0, math.ceil(k / part - 1e-9) - 1) for k in (1, ranks))
            allowed = math.floor(part * (most + 1) + 1e-9) - 1
            above, done = self._above(step.candidates, chosen, blocks, least, most, allowed)
            p = min(p, round((1 + above) / ((1 + done) * share), 12))
            if above <= allowed:
                break
        return p

    def _above(
        self, x: np.ndarray, chosen: Features, blocks: int, least: int, most: int, allowed: int
    ) -> tuple[int, int]:
        """Return how many permutations score as high as candidates x do, and of how many."""
        best = float(np.max(self.values(x, chosen, Look(blocks))[:, 0]))
        null, above = np.zeros(0), 0
        while len(null) < most and above <= allowed:
            if len(null) >= least:
                far = max(null.mean() + LIMITS.clear * null.std(), null.max())
                if best > far + LIMITS.equal:
                    break
            size = min(LIMITS.batch, (least if len(null) < least else most) - len(null))
            new = self._null(x, chosen, Look(blocks, size, len(null)))
            null = np.append(null, np.max(new, axis=0))
            above = int(np.sum(null >= best - LIMITS.equal))
        return above, len(null)

    def _null(self, candidates: np.ndarray, chosen: Features, look: Look) -> np.ndarray:
        """Return the scores of permuted candidates, some candidates and permutations at a time."""
        found, batches = list[np.ndarray](), slices(look.permutations, LIMITS.batch)
        for part in batches:
            some = Look(look.blocks, part.stop - part.start, look.skipped + part.start)
            size = 8 * some.blocks * self.engine.size * len(candidates) * some.permutations
            parts = np.array_split(candidates, min(-(-size // LIMITS.memory), len(candidates)))
            found.append(np.concatenate([self.values(each, chosen, some) for each in parts]))
        return np.concatenate(found, axis=1)

    def best_set(self, candidates: np.ndarray, size: int) -> Features:
        """Return the best of the sets of features that look best."""
        look = Look(self.engine.first(len(candidates)))
        sets = [features for _, features in self.engine.likely_sets(candidates, size)]
        scores = [float(self.values(np.array(s[-1:]), s[:-1], look)[0, 0]) for s in sets]
        return min(zip(sets, scores, strict=True), key=lambda item: (-item[1], item[0]))[0]

    def set_p_value(
        self, candidates: np.ndarray, size: int, level: float, deadline: float
    ) -> float:
        """Compare the set that looks best with the best ones of permuted targets; 1 if late."""
        most = math.ceil(1 / level - 1e-9) - 1
        best, above, done = self.engine.likely_sets(candidates, size)[0][0], 0, 0
        while done < most and not above:
            if time.monotonic() > deadline:
                return 1.0
            done += 1
            above += self.engine.likely_sets(candidates, size, done)[0][0] <= best
        return (1 + above) / (1 + done)

    def without(self, chosen: Features) -> np.ndarray:
        """Return the score of the chosen set without each of its features, on all rows."""
        look = Look(self.engine.count)
        if isinstance(self.criterion, NeighborInformation) and isinstance(self.engine, Pairs):
            return self.engine.without_each(chosen)
        rest = [tuple(i for i in chosen if i != j) for j in chosen]
        return np.array([self.values(np.array(r[-1:]), r[:-1], look)[0, 0] for r in rest])

    def smallest(self, features: Features) -> int:
        """Return how many features of a path come within a standard error of its best score."""
        found = np.vstack([self.reached(features[: k + 1]) for k in range(len(features))])
        lead, error = leads(found, int(np.argmax(found[:, 0])))
        return int(np.argmax(lead <= error)) + 1

    def relevance(self, candidates: np.ndarray, level: float) -> np.ndarray:
        """Return the p-value of each candidate by itself, against no information at all.

        Each is compared with its own permutations, and each of these with the others. Distances
        from their mean, in standard deviations, are pooled so that they show small probabilities.
        """
        count = max(LIMITS.nulls, math.ceil(1 / level))  # p-values below the level for each feature
        scores = self.values(candidates, (), Look(self.engine.count))[:, 0]
        null = self._null(candidates, (), Look(self.engine.count, count))
        p = np.ones(len(candidates))
        known = np.flatnonzero(np.isfinite(scores) & np.isfinite(null).all(axis=1))
        scores, null = scores[known], null[known]
        each = [_standard(null[:, b], np.delete(null, b, axis=1)) for b in range(count)]
        pooled = np.sort(np.concatenate(each))
        at_least = np.searchsorted(pooled, _standard(scores, null[:, 1:]) - 1e-12)
        p[known] = (1 + len(pooled) - at_least) / (1 + len(pooled))
        return p

    @property
    def target_entropy(self) -> float:
        """What there is to be known about the target, in bits."""
        return self.engine.target_entropy()


def _standard(values: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Return how many deviations of its permutations each value lies above their mean."""
    deviation = null.std(axis=1, ddof=1)
    return np.asarray((values - null.mean(axis=1)) / np.where(deviation > 0, deviation, np.inf))
