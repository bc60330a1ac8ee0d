"""Greedy search: one feature at a time, forward with steps back, or backward."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from lorenyi._progress import Reporter
from lorenyi.selection import options
from lorenyi.selection.certified import Certified
from lorenyi.selection.estimated import Estimated
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.path import SelectionPath
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Table

Judge: TypeAlias = Estimated | Certified


class Search:
    """A greedy search with the options of a selector; features that must be in come `first`.

    A feature that repeats a chosen one waits until no others are left, and so do constant ones.
    """

    def __init__(
        self, selector: Any, table: Table, names: Sequence[str], first: Features, judge: Judge
    ) -> None:
        self.selector, self.names, self.first, self.judge = selector, names, first, judge
        self.last = [i for i, feature in enumerate(table.features) if not feature.values.any()]
        self.same = table.repeated(selector.criterion.by_ranks)
        self.ends = options.ends(selector)
        self.count = options.count(selector, len(names), max(len(first), 1))
        self.deadline = time.monotonic() + (selector.max_seconds or np.inf)

    def forward(self, report: Reporter) -> SelectionPath:
        """Add the best companion of those chosen before, one at a time."""
        asked, record = self.selector, dict[int, float]()  # the best score of each size
        path = SelectionPath(self.names, self.judge.target_entropy)
        required = self.first or self._best_start()
        while len(path) < self.count:
            chosen = path.features
            wanted = [i for i in required if i not in chosen][:1]
            if not wanted and self._late(f"after {len(path)} features"):
                break
            candidates, fresh = self._candidates(chosen)
            if self.ends and not fresh and not wanted:
                break
            step = self.judge.step(np.array(wanted) if wanted else candidates, chosen)
            if (self.ends or asked.n_permutations) and not wanted:
                p = self.judge.p_value(step, chosen, asked.level, asked.n_permutations)
                step = replace(step, p_value=p)
                if self.ends and not (p <= asked.level + 1e-12 and step.gain > asked.tol):
                    path.refused = step
                    break
            path.steps.append(step)
            many = len(step.candidates) > 1
            done = f"of {len(step.candidates):,} candidates" if many else "given"
            report.step(f"{len(path)}: feature {step.feature} {done}, {step.score:.4f} bits")
            if asked.floating and not wanted:
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
            scores = self.judge.without(tuple(chosen))
            scores[: len(self.first)] = -np.inf
            worst = chosen.pop(int(np.argmax(scores)))
            path.dropped.insert(0, worst)
            report.step(f"without feature {worst}: {scores.max():.4f} bits")
        while len(path) < len(chosen):  # in order of their information
            done = path.features
            rest = [i for i in self.first if i not in done][:1]
            rest = rest or [i for i in chosen if i not in done]
            path.steps.append(self.judge.step(np.array(rest), done))
        return path

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

    def _best_start(self) -> Features:
        candidates, _ = self._candidates(())
        size = {"single": 1, "pair": 2, "triple": 3}[self.selector.start]
        size = min(size, self.count, len(candidates))
        if size < 2:
            return ()
        found = self.judge.best_sets(candidates, size)
        alone = self.judge.step(np.array(found), ()).feature
        return (alone, *(i for i in found if i != alone))

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
            path.dropped.append(path.steps.pop(worst).feature)
            for k, step in enumerate(path.steps[worst:], start=worst):
                again = self.judge.step(np.array([step.feature]), path.features[:k])
                kept = {name: getattr(again, name) for name in ("score", "gain", "bounds", "rows")}
                path.steps[k] = replace(step, **kept, standard_error=again.standard_error)
