"""Greedy search: one feature at a time, forward with steps back, or backward."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lorenyi._progress import Reporter
from lorenyi.selection.judges import Judge, Step
from lorenyi.selection.sampled import Features

TIE = 1e-9  # bits: less is rounding


@dataclass(frozen=True)
class Stop:
    """When a search ends by itself, and what each step is compared with."""

    level: float = 0.05  # probability of choosing a feature although none is informative
    tol: float = 0.0  # bits: what a feature must add to the score, more than that
    permutations: int | None = None  # to compare with; as many as the level needs by default
    ends: bool = True  # whether it ends; else steps have p-values all the same


@dataclass
class Path:
    """What a search found."""

    steps: list[Step] = field(default_factory=list)  # in order of selection
    refused: Step | None = None  # the best candidate that was not good enough
    dropped: list[int] = field(default_factory=list)  # features taken out again, the last one first
    target_entropy: float = np.nan  # bits that there are to be known about the target

    @property
    def features(self) -> list[int]:
        """Chosen, in order."""
        return [step.feature for step in self.steps]


@dataclass(frozen=True)
class Search:
    """A greedy search, as a value.

    A feature that repeats a chosen one waits until no others are left, and so do constant ones.
    """

    count: int  # features, at most with a `stop`
    first: Sequence[int]  # features that must be in, chosen before all others
    last: Sequence[int]  # constant features
    same: Sequence[int]  # a number for each feature, equal where one repeats the other
    stop: Stop | None = None
    start: int = 1  # features that are chosen together at first: 1, 2 or 3
    floating: bool = False  # after each step, take out features without which the rest score better
    deadline: float = np.inf  # of `time.monotonic`: no step is begun after it

    def forward(self, judge: Judge, report: Reporter) -> Path:
        """Add the best companion of those chosen before, one at a time."""
        path, record = Path(target_entropy=judge.target_entropy), dict[int, float]()
        required = list(self.first) or self._best_start(judge)
        while len(path.steps) < self.count:
            if time.monotonic() > self.deadline:
                warnings.warn(_late(len(path.steps)), RuntimeWarning, stacklevel=5)
                break
            chosen = tuple(path.features)
            wanted = [i for i in required if i not in chosen][:1]
            candidates, fresh = self._candidates(chosen)
            if self.stop is not None and self.stop.ends and not fresh and not wanted:
                break
            step = judge.step(np.array(wanted) if wanted else candidates, chosen)
            if self.stop is not None and not wanted:
                step = self._tested(judge, step, chosen, self.stop)
                if self.stop.ends and not self._passes(step, self.stop):
                    path.refused = step
                    break
            path.steps.append(step)
            done = (
                f"of {len(step.candidates):,} candidates" if len(step.candidates) > 1 else "given"
            )
            score = f"{step.score:.4f} bits"
            report.step(f"{len(path.steps)}: feature {step.feature} {done}, {score}")
            if self.floating and not wanted:
                self._step_back(judge, path, record)
        return path

    def backward(self, judge: Judge, report: Reporter) -> Path:
        """Take out the feature without which the rest score best, until `count` are left."""
        path = Path(target_entropy=judge.target_entropy)
        chosen = [i for i in range(len(self.same)) if i not in self.last]
        chosen = [*self.first, *(i for i in chosen if i not in self.first)]
        while len(chosen) > self.count:
            scores = judge.without(tuple(chosen))
            scores[[chosen.index(i) for i in self.first]] = -np.inf
            worst = chosen[int(np.argmax(scores))]
            chosen.remove(worst)
            path.dropped.insert(0, worst)
            report.step(f"without feature {worst}: {scores.max():.4f} bits")
        while len(path.steps) < len(chosen):  # in order of their information
            done = tuple(path.features)
            left = [i for i in self.first if i not in done][:1]
            rest = left or [i for i in chosen if i not in done]
            path.steps.append(judge.step(np.array(rest), done))
        return path

    def _tested(self, judge: Judge, step: Step, chosen: Features, stop: Stop) -> Step:
        return replace(step, p_value=judge.p_value(step, chosen, stop.level, stop.permutations))

    def _passes(self, step: Step, stop: Stop) -> bool:
        return step.p_value <= stop.level + 1e-12 and step.gain > stop.tol

    def _best_start(self, judge: Judge) -> list[int]:
        candidates, _ = self._candidates(())
        size = min(self.start, self.count, len(candidates))
        if size < 2:
            return []
        found = judge.best_sets(candidates, size)
        alone = judge.step(np.array(found), ())
        return [alone.feature, *(i for i in found if i != alone.feature)]

    def _candidates(self, chosen: Features) -> tuple[np.ndarray, bool]:
        """Return the features to choose from, and whether they may be informative."""
        free = [i for i in range(len(self.same)) if i not in chosen]
        seen = {self.same[i] for i in chosen}
        fresh = [i for i in free if self.same[i] not in seen and i not in self.last]
        return np.array(fresh or [i for i in free if i not in self.last] or free), bool(fresh)

    def _step_back(self, judge: Judge, path: Path, record: dict[int, float]) -> None:
        """Take out features as long as the rest are better than any set of that size before."""
        while (size := len(path.steps) - 1) > 1:
            # The last is the one that just came in: leaving it out leads back to where we were.
            *scores, before = judge.without(tuple(path.features)).tolist()
            record[size] = max(record.get(size, -np.inf), before)
            free = [k for k, i in enumerate(path.features[:-1]) if i not in self.first]
            worst = max(free, key=lambda k: scores[k], default=None)
            if worst is None or not scores[worst] > record[size] + TIE:
                return
            record[size] = scores[worst]
            path.dropped.append(path.steps.pop(worst).feature)
            for k, step in enumerate(path.steps[worst:], start=worst):
                again = judge.step(np.array([step.feature]), tuple(path.features[:k]))
                kept = {name: getattr(again, name) for name in ("score", "gain", "bounds", "rows")}
                path.steps[k] = replace(step, **kept, standard_error=again.standard_error)


def _late(chosen: int) -> str:
    return (
        f"max_seconds was over after {chosen} features: the search ended there; give more time, or "
        "fewer features"
    )
