"""Greedy search: one feature at a time, forward with steps back, or backward."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._progress import Reporter
from lorenyi.selection import options
from lorenyi.selection.certified import Certified
from lorenyi.selection.estimated import Estimated
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.path import SelectionPath, Step
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Table

Judge: TypeAlias = Estimated | Certified


class Search:
    """A greedy search with the options of a selector; features that must be in come `first`.

    A feature that repeats a chosen one waits until no others are left, and so do constant ones, and
    for criteria that are biased, labels of few rows each.
    """

    def __init__(
        self, selector: Any, table: Table, names: Sequence[str], first: Features, judge: Judge
    ) -> None:
        self.selector, self.names, self.first, self.judge = selector, names, first, judge
        self.last = [i for i, feature in enumerate(table.features) if feature.is_constant]
        said = selector.categorical_features
        if not selector.criterion.by_pairs and (said is None or isinstance(said, str)):
            # Labels of a few rows each seem to be informative about anything.
            most = max(LIMITS.labels, table.total / LIMITS.cell)
            labels = ((i, v.symbols.T) for i, v in enumerate(table.features) if v.symbols.shape[1])
            self.last += [i for i, s in labels if _arrays.numbered(*s).max() + 1 > most]
        self.same = table.repeated(selector.criterion.by_ranks)
        self.ends = options.ends(selector)
        self.count = options.count(selector, len(names), max(len(first), 1))
        self.deadline = time.monotonic() + (selector.max_seconds or np.inf)

    def forward(self, report: Reporter) -> SelectionPath:
        """Add the best companion of those chosen before, one at a time."""
        asked, record = self.selector, dict[int, float]()  # the best score of each size
        path = SelectionPath(self.names, self.judge.target_entropy)
        for feature in self.first:
            path.steps.append(self.judge.step(np.array([feature]), path.features))
        halved = not self.first and self._start(path)
        for k, step in enumerate(path, start=1):
            report.step(f"{k}: feature {step.feature} given, {step.score:.4f} bits")
        while len(path) < self.count:
            if self._late(f"after {len(path)} features"):
                break
            chosen = path.features
            candidates, fresh = self._candidates(chosen)
            if self.ends and not fresh:
                break
            step = self.judge.step(candidates, chosen)
            if self.ends or asked.n_permutations:
                step = self._tested(step, chosen, 0.5 if halved and not chosen else 1.0)
                if self.ends and not self._is_good(step):
                    path.refused = step
                    break
            path.steps.append(step)
            path.dropped = [i for i in path.dropped if i != step.feature]
            done = f"feature {step.feature} of {len(candidates):,} candidates"
            report.step(f"{len(path)}: {done}, {step.score:.4f} bits")
            if asked.floating:
                self._step_back(path, record)
        return path

    def backward(self, report: Reporter) -> SelectionPath:
        """Take out the feature without which the rest score best, until `count` are left."""
        path = SelectionPath(self.names, self.judge.target_entropy)
        chosen, fresh = list(self.first), True
        while fresh or len(chosen) < self.count:  # what waits comes in if it is needed
            candidates, fresh = self._candidates(tuple(chosen))
            chosen += candidates[:1].tolist() if fresh or len(chosen) < self.count else []
        while len(chosen) > self.count and not self._late(f"with {len(chosen)} features left"):
            scores = np.nan_to_num(self.judge.without(tuple(chosen)), nan=-np.inf)
            scores[: len(self.first)] = -np.inf
            worst = chosen.pop(int(np.argmax(scores)))
            path.dropped.insert(0, worst)
            report.step(f"without feature {worst}: {scores.max():.4f} bits")
        path.steps = self._in_order(chosen)
        return path

    def _in_order(self, chosen: Sequence[int]) -> list[Step]:
        """Return steps of these features in order of their information, the required ones first."""
        steps = list[Step]()
        while len(steps) < len(chosen):
            done = tuple(step.feature for step in steps)
            rest = [i for i in self.first if i not in done][:1]
            rest = rest or [i for i in chosen if i not in done]
            steps.append(self.judge.step(np.array(rest), done))
        return steps

    def _tested(self, step: Step, chosen: Features, share: float = 1.0) -> Step:
        """Return a step with its p-value, for a test at a share of the level."""
        asked = self.selector
        p = self.judge.p_value(step, chosen, share * asked.level, asked.n_permutations)
        return replace(step, p_value=min(p / share, 1.0), fitted=isinstance(self.judge, Certified))

    def _is_good(self, step: Step) -> bool:
        return bool(step.p_value <= self.selector.level + 1e-12 and step.gain > self.selector.tol)

    def _late(self, where: str) -> bool:
        if time.monotonic() <= self.deadline:
            return False
        warnings.warn(
            f"max_seconds was over {where}: the search ended there; give more time, or fewer "
            "features",
            RuntimeWarning,
            stacklevel=4,
        )
        return True

    def _start(self, path: SelectionPath) -> bool:
        """Begin with the best pair or triple; tell whether half the level was spent on its test.

        With "auto" it is tested as a whole, and then the least needed of its features beside the
        others is tested as at every step, until one is significant.
        """
        candidates, _ = self._candidates(())
        once = {self.same[i]: i for i in candidates[::-1].tolist()}  # no copies of each other
        candidates = np.sort(list(once.values()))
        size = {"single": 1, "pair": 2, "triple": 3}[self.selector.start]
        size = min(size, self.count, len(candidates))
        if size < 2:
            return False
        steps = self._in_order(self.judge.best_set(candidates, size))
        if self.ends and isinstance(self.judge, Estimated):
            level = 0.5 * self.selector.level
            p = min(2 * self.judge.set_p_value(candidates, size, level, self.deadline), 1.0)
            steps = self._needed(steps, p) if p <= self.selector.level else []
        if steps:
            *before, last = (step.feature for step in steps)
            every = self.judge.step(self._candidates(tuple(before))[0], tuple(before))
            if every.feature == last:  # others are ranked by it
                steps[-1] = replace(every, p_value=steps[-1].p_value)
        path.steps = steps
        return self.ends

    def _needed(self, steps: list[Step], p: float) -> list[Step]:
        """Return the features of a significant set without those that are not beside the others."""
        features = [step.feature for step in steps]
        while len(features) > 1:
            worst = features[int(np.argmax(self.judge.without(tuple(features))))]
            features.remove(worst)
            steps = self._in_order(features)
            chosen = tuple(step.feature for step in steps)
            last = self.judge.step(np.array([worst]), chosen)
            every = replace(last, candidates=self._candidates(chosen)[0])
            last = replace(last, p_value=self._tested(every, chosen).p_value)
            if self._is_good(last):
                return [replace(steps[0], p_value=p), *steps[1:], last]
        only = replace(self._in_order(features)[0], p_value=p)
        return [only] if self._is_good(only) else []

    def _candidates(self, chosen: Features) -> tuple[np.ndarray, bool]:
        """Return the features to choose from, and whether they may be informative."""
        free = [i for i in range(len(self.names)) if i not in chosen]
        varied = [i for i in free if i not in self.last]
        seen = {self.same[i] for i in chosen}
        fresh = [i for i in varied if self.same[i] not in seen]
        return np.array(fresh or varied or free), bool(fresh)

    def _step_back(self, path: SelectionPath, record: dict[int, float]) -> None:
        """Take out features as long as the rest are better than any set of that size before."""
        while (size := len(path) - 1) > 1:
            # The last is the one that just came in: leaving it out leads back to where we were.
            *scores, before = self.judge.without(path.features).tolist()
            record[size] = max(record.get(size, -np.inf), before)
            free = [k for k, i in enumerate(path.features[:-1]) if i not in self.first]
            worst = max(free, key=lambda k: scores[k], default=None)
            if worst is None or not scores[worst] > record[size] + LIMITS.tie:
                return
            record[size] = scores[worst]
            old = {step.feature: step for step in path.steps}
            path.dropped.insert(0, path.steps[worst].feature)
            steps = self._in_order([i for i in path.features if i != path.dropped[0]])
            new = ("score", "standard_error", "gain", "bounds", "rows")
            path.steps = [
                replace(old[step.feature], **{name: getattr(step, name) for name in new})
                for step in steps
            ]
            while self.ends and (last := path.steps[-1]).feature not in self.first:
                if last.gain > self.selector.tol:
                    break
                path.dropped.insert(0, path.steps.pop().feature)
