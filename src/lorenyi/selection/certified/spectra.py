"""Rényi entropies of products of kernel matrices, as certified intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lorenyi import _arrays
from lorenyi._memory import fits
from lorenyi._progress import counted
from lorenyi._threads import parallel
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.intervals import Intervals
from lorenyi.selection.certified.chosen import Chosen
from lorenyi.selection.certified.columns import Column, fold
from lorenyi.selection.certified.joints import Joint, Side, Wanted, Way
from lorenyi.selection.certified.limits import LIMITS
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Table, codes
from lorenyi.spectra import Auto


class Kernels:
    """Rényi entropies of the products of kernel matrices, as certified intervals.

    Equal rows of the variables in question become one, so that tables with few distinct values
    have small matrices. With another solver than `Auto` its values are taken as they are.
    """

    def __init__(self, table: Table, entropy: Renyi, workers: int | None = None) -> None:
        self.table = table
        if entropy.rank is not None and entropy.rank >= table.total - 1:
            entropy = replace(entropy, rank=None)  # S^(n-1) = S
        self.entropy, self.workers = entropy, workers
        self._spread = None
        if table.cluster is not None:
            self._spread = table.cluster(replace(table, cluster=None))
        self.labels = table.target.numbers.shape[1] == 0
        self.sorted, ends = _by_class(table, self.labels)
        self._ends = ends
        self._target = self.sorted.target_gram()
        self._columns: dict[int, Column] = {}
        self._chosen: dict[tuple[Features, bool], Chosen] = {}
        self._joints: dict[tuple[frozenset[int], bool], Joint] = {}
        self._open: list[Joint] = []  # of which more is kept than what was found

    # ------------------------------------------------------------------ what is asked for

    def joint(
        self,
        x: np.ndarray,
        given: Features,
        target: bool,
        tol: float,
        side: Side = "both",
        enough: Any = math.nan,
    ) -> Intervals:
        """Return S(x, given) or S(x, given, target) for each candidate, to a width of `tol` bits.

        On one `side`, a lower bound as high as `enough`, or an upper bound as low, need not be
        better; where any is (infinite), only cheap bounds are computed.
        """
        bounds = np.broadcast_to(enough, x.shape).tolist()
        wanted = {i: Wanted(tol, e, side) for i, e in zip(x.tolist(), bounds, strict=True)}
        joints = [self._joint((*given, i), target) for i in wanted]
        missing = [
            (joint, i, w)
            for joint, (i, w) in zip(joints, wanted.items(), strict=True)
            if not joint.met(w)
        ]
        if self._spread is not None and len(missing) > 1:
            asked = [(self.entropy, i, given, target, w) for _, i, w in missing]
            for (joint, _, w), there in zip(
                missing, self._spread(_on_a_worker, asked), strict=True
            ):
                joint.learned(there, w)
        elif missing:
            self._measure(missing, given, target)
        most = math.log2(self.table.total)
        found = [joint.found for joint in joints]
        return Intervals(
            [0.0 if e is None else e.low for e in found],
            [most if e is None else e.high for e in found],
            [math.nan if e is None else float(e) for e in found],
        )

    def alone(self, given: Features, target: bool, tol: float) -> Estimate:
        """Return the entropy of chosen features, with or without the target."""
        if not given and not target:
            return Estimate.within(0.0, 0.0, 0.0)
        known = self._joint(given, target)
        if given:
            self.joint(np.array(given[-1:]), given[:-1], target, tol)
        elif not known.met(Wanted(tol)):
            known.until(Wanted(tol), Way(partial(self._gram, (), True), None))
        assert known.found is not None
        return known.found

    # ------------------------------------------------------------------ how it is found

    def _joint(self, features: Features, target: bool) -> Joint:
        key = frozenset(features), target
        if key not in self._joints:
            self._joints[key] = Joint(self.entropy, self.table.total)
        return self._joints[key]

    def _measure(
        self, missing: list[tuple[Joint, int, Wanted]], given: Features, target: bool
    ) -> None:
        columns = parallel(self._column, [i for _, i, _ in missing], self.workers)
        chosen = self._made(given, target)
        labelled = target and self.labels
        if chosen is not None:
            self._prepare(chosen, columns, labelled)
        many = chosen is None and int(self._code(given, target).max()) >= LIMITS.pairs

        def measure(task: tuple[tuple[Joint, int, Wanted], Column]) -> None:
            (joint, i, wanted), column = task
            joined = None if chosen is None else chosen.join(column, labelled)
            large = many if joined is None else joined.most > LIMITS.pairs
            gram = partial(self._gram, (*given, i), target)
            joint.until(wanted, Way(gram, joined, len(given) < 2, large and bool(given)))

        tasks = list(zip(missing, columns, strict=True))
        parallel(counted(measure, len(tasks), "candidates"), tasks, self.workers)
        self._open += [joint for joint, _, _ in missing if joint.nbytes]
        room = LIMITS.memory
        for joint in reversed(self._open):  # the last ones are most likely to be asked again
            room -= joint.nbytes
            if room < 0:
                joint.forget()
        self._open = [joint for joint in dict.fromkeys(self._open) if joint.nbytes]

    def _prepare(self, chosen: Chosen, columns: list[Column], labelled: bool) -> None:
        """Compute what joints with several candidates need, before several threads ask for it."""
        ranked, quadratic = self.entropy.rank is not None, self.entropy.alpha == 2
        widest = max(columns, key=lambda column: len(column.folded))
        if ranked and (quadratic or not chosen.join(widest, labelled).is_small):
            chosen.values  # noqa: B018
        if quadratic and (ranked or len(self.sorted) > LIMITS.dense):
            new = [column for column in columns if column not in chosen.seen]
            some = [new[i : i + LIMITS.at_once] for i in range(0, len(new), LIMITS.at_once)]
            parallel(partial(chosen.see, lengths=ranked), some, self.workers)

    def _column(self, i: int) -> Column:
        if i not in self._columns:
            A = self.sorted.gram(i)
            squared = self.entropy.alpha == 2 and len(self.sorted) <= LIMITS.pairs
            self._columns[i] = Column.of(A, self.sorted.features[i].values, squared)
        return self._columns[i]

    def _code(self, features: Features, target: bool) -> np.ndarray:
        """Number the distinct rows of some features (and of the target)."""
        parts = [self.sorted.features[i].values for i in features]
        parts += [self.sorted.target.values] if target else []
        return codes(*parts) if parts else np.zeros(len(self.sorted), dtype=np.int64)

    def _gram(self, features: Features, target: bool) -> Gram:
        """Return the Gram of some features (and the target), equal rows as one."""
        grams = [self._column(i).gram for i in features] + ([self._target] if target else [])
        return fold(grams, self._code(features, target))

    def _made(self, given: Features, target: bool) -> Chosen | None:
        """Return what is kept of chosen features, if that is worth it and they are not too many."""
        joined = target and not self.labels
        key = given, joined
        if key in self._chosen:
            return self._chosen[key]
        code = self._code(given, joined)
        m, alpha, rank = int(code.max()) + 1, self.entropy.alpha, self.entropy.rank
        eigenvalues = rank is None and alpha != 2  # all of them
        most = LIMITS.dense if eigenvalues else LIMITS.pairs
        if not isinstance(self.entropy.solver, Auto) or alpha == 0 or m > most:
            return None
        if not fits(24 * m**2):
            return None
        grams = [self._column(i).gram for i in given] + ([self._target] if joined else [])
        made = Chosen(
            grams,
            code,
            _arrays.to_numpy(self._target.weights),
            self._ends,
            len(self.sorted) if eigenvalues else rank or 1,
        )
        self._chosen[key] = made
        while self._open:
            self._open.pop().forget()
        self._drop()
        return made

    def _drop(self) -> None:
        """Give up what was kept of features longest ago, where it takes much memory."""
        while len(self._chosen) > 3 and sum(c.kernel.nbytes for c in self._chosen.values()) > 2**29:
            self._chosen.pop(next(iter(self._chosen)))


def _by_class(table: Table, labels: bool) -> tuple[Table, np.ndarray]:
    """Return the rows in the order of their classes, and where these begin and end."""
    classes = table.target.values if labels else np.zeros(len(table), dtype=np.int64)
    order = np.argsort(classes, kind="stable")
    weights = table.weights
    if weights is not None:
        order = order[weights[order] > 0]
    counts = np.bincount(classes[order])
    ends = np.concatenate([[0], np.cumsum(counts[counts > 0])])
    return table.take(order, None if weights is None else weights[order]), ends


_THERE: WeakKeyDictionary[Table, dict[Renyi, Kernels]] = WeakKeyDictionary()


def _on_a_worker(table: Table, asked: tuple[Renyi, int, Features, bool, Wanted]) -> Estimate | None:
    """Measure a joint on a worker, which keeps what it knows of a table."""
    entropy, i, given, target, wanted = asked
    known = _THERE.setdefault(table, {})
    if entropy not in known:  # of a copy: what is kept must not keep the table itself
        known[entropy] = Kernels(replace(table), entropy, 1)
    here = known[entropy]
    here.joint(np.array([i]), given, target, wanted.tol, wanted.side, wanted.enough)
    return here._joint((*given, i), target).found
