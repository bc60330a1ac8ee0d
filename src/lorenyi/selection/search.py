"""Greedy search: one feature at a time, forward with steps back, or backward."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lorenyi._progress import Reporter
from lorenyi.selection.judges import Judge
from lorenyi.selection.path import SelectionPath
from lorenyi.selection.sampled import Features

TIE = 1e-9  # bits: less is rounding


@dataclass(frozen=True)
class Search:
    """A greedy search, as a value.

    A feature that repeats a chosen one waits until no others are left, and so do constant ones.
    """

    names: Sequence[str]  # of all features
    count: int  # features to choose, at most
    first: Sequence[int] = ()  # features that must be in, chosen before all others
    last: Sequence[int] = ()  # constant features
    same: Sequence[int] = ()  # a number for each feature, equal where one repeats the other
    start: int = 1  # features that are chosen together at first: 1, 2 or 3
    floating: bool = False  # after each step, take out features without which the rest score better
    tested: bool = False  # whether steps have p-values
    ends: bool = False  # whether it ends with a step that is not significant, or adds nothing
    level: float = 0.05  # probability of choosing a feature although none is informative
    tol: float = 0.0  # bits: what a feature must add to the score, more than that
    permutations: int | None = None  # to compare with; as many as the level needs by default
    deadline: float = np.inf  # of `time.monotonic`: no step is begun after it

    def forward(self, judge: Judge, report: Reporter) -> SelectionPath:
        """Add the best companion of those chosen before, one at a time."""
        path, record = SelectionPath(self.names, judge.target_entropy), dict[int, float]()
        required = self.first or self._best_start(judge)
        while len(path) < self.count:
            if time.monotonic() > self.deadline:
                warnings.warn(
                    f"max_seconds was over after {len(path)} features: the search ended there; "
                    "give more time, or fewer features",
                    RuntimeWarning,
                    stacklevel=3,
                )
                break
            chosen = path.features
            wanted = [i for i in required if i not in chosen][:1]
            candidates, fresh = self._candidates(chosen)
            if self.ends and not fresh and not wanted:
                break
            step = judge.step(np.array(wanted) if wanted else candidates, chosen)
            if self.tested and not wanted:
                p = judge.p_value(step, chosen, self.level, self.permutations)
                step = replace(step, p_value=p)
                if self.ends and not (p <= self.level + 1e-12 and step.gain > self.tol):
                    path.refused = step
                    break
            path.steps.append(step)
            many = len(step.candidates) > 1
            done = f"of {len(step.candidates):,} candidates" if many else "given"
            report.step(f"{len(path)}: feature {step.feature} {done}, {step.score:.4f} bits")
            if self.floating and not wanted:
                self._step_back(judge, path, record)
        return path

    def backward(self, judge: Judge, report: Reporter) -> SelectionPath:
        """Take out the feature without which the rest score best, until `count` are left."""
        path = SelectionPath(self.names, judge.target_entropy)
        others = [i for i in range(len(self.names)) if i not in (*self.first, *self.last)]
        chosen = [*self.first, *others]
        while len(chosen) > self.count:
            scores = judge.without(tuple(chosen))
            scores[: len(self.first)] = -np.inf
            worst = chosen.pop(int(np.argmax(scores)))
            path.dropped.insert(0, worst)
            report.step(f"without feature {worst}: {scores.max():.4f} bits")
        while len(path) < len(chosen):  # in order of their information
            done = path.features
            rest = [i for i in self.first if i not in done][:1]
            rest = rest or [i for i in chosen if i not in done]
            path.steps.append(judge.step(np.array(rest), done))
        return path

    def _best_start(self, judge: Judge) -> Features:
        candidates, _ = self._candidates(())
        size = min(self.start, self.count, len(candidates))
        if size < 2:
            return ()
        found = judge.best_sets(candidates, size)
        alone = judge.step(np.array(found), ()).feature
        return (alone, *(i for i in found if i != alone))

    def _candidates(self, chosen: Features) -> tuple[np.ndarray, bool]:
        """Return the features to choose from, and whether they may be informative."""
        free = [i for i in range(len(self.names)) if i not in chosen]
        varied = [i for i in free if i not in self.last]
        seen = {self.same[i] for i in chosen}
        fresh = [i for i in varied if self.same[i] not in seen]
        return np.array(fresh or varied or free), bool(fresh)

    def _step_back(self, judge: Judge, path: SelectionPath, record: dict[int, float]) -> None:
        """Take out features as long as the rest are better than any set of that size before."""
        while (size := len(path) - 1) > 1:
            # The last is the one that just came in: leaving it out leads back to where we were.
            *scores, before = judge.without(path.features).tolist()
            record[size] = max(record.get(size, -np.inf), before)
            free = [k for k, i in enumerate(path.features[:-1]) if i not in self.first]
            worst = max(free, key=lambda k: scores[k], default=None)
            if worst is None or not scores[worst] > record[size] + TIE:
                return
            record[size] = scores[worst]
            path.dropped.append(path.steps.pop(worst).feature)
            for k, step in enumerate(path.steps[worst:], start=worst):
                again = judge.step(np.array([step.feature]), path.features[:k])
                kept = {name: getattr(again, name) for name in ("score", "gain", "bounds", "rows")}
                path.steps[k] = replace(step, **kept, standard_error=again.standard_error)
