"""Rényi entropies of products of kernel matrices, as certified intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lorenyi import _arrays
from lorenyi._memory import fits
from lorenyi._threads import parallel
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.selection.certified.chosen import Chosen
from lorenyi.selection.certified.columns import Column, fold
from lorenyi.selection.certified.information import Information, Side, Wanted
from lorenyi.selection.certified.intervals import Intervals
from lorenyi.selection.certified.joints import Joint, Source
from lorenyi.selection.certified.limits import LIMITS
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Table
from lorenyi.spectra import Auto


class Kernels(Information):
    """Rényi entropies of the products of kernel matrices, as certified intervals.

    Equal rows of the variables in question become one, so that tables with few distinct values
    have small matrices. With another solver than `Auto` its values are taken as they are.

    Parameters
    ----------
    table : Table
        Features, target, weights.
    entropy : Renyi
        The functional; a rank of n - 1 or more is none.
    workers : int, optional
        Threads at most; all cores by default.
    """

    def __init__(self, table: Table, entropy: Renyi, workers: int | None = None) -> None:
        super().__init__(table)
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
        self._columns: dict[int, tuple[Gram, Column]] = {}
        self._chosen: dict[tuple[Features, bool], Chosen] = {}
        self._joints: dict[tuple[frozenset[int], bool], Joint] = {}
        self._front: list[Joint] = []  # of which more is kept than what was found

    # ------------------------------------------------------------------ what is asked for

    def joint(
        self,
        x: np.ndarray,
        given: Features,
        target: bool,
        tol: Any,
        side: Side = "both",
        enough: Any = math.nan,
    ) -> Intervals:
        """Return an interval of the joint entropy for each candidate."""
        tols, bounds = (np.broadcast_to(a, x.shape).tolist() for a in (tol, enough))
        wanted = {i: Wanted(t, e, side) for i, t, e in zip(x.tolist(), tols, bounds, strict=True)}
        joints = {i: self._joint((*given, i), target) for i in x.tolist()}
        missing = [i for i, w in wanted.items() if not joints[i].met(w)]
        if self._spread is not None and len(missing) > 1:
            self._elsewhere(missing, given, target, wanted, joints)
        elif missing:
            self._measure(missing, given, target, wanted, joints)
        nothing = Estimate.within(0.0, 0.0, math.log2(self.table.total))
        found = [joints[i].found or nothing for i in x.tolist()]
        return Intervals([e.low for e in found], [e.high for e in found])

    def guesses(self) -> Information:
        """Return the same as numbers: what solvers took for the value, which is not the middle."""
        return Guesses(self)

    def guess(self, features: Features, target: bool) -> float:
        """Return the most likely value of a joint entropy that was measured, or NaN."""
        known = self._joints.get((frozenset(features), target))
        return math.nan if known is None or known.found is None else float(known.found)

    def alone(self, given: Features, target: bool, tol: float) -> Estimate:
        """Return the entropy of chosen features, with or without the target."""
        if not given and not target:
            return Estimate.within(0.0, 0.0, 0.0)
        known = self._joint(given, target)
        if given:
            self.joint(np.array(given[-1:]), given[:-1], target, tol)
        elif not known.met(Wanted(tol)):
            codes = self.sorted.target.values
            known.until(Wanted(tol), Source(lambda: fold([self._target], codes), None, True, False))
        found = known.found
        assert found is not None
        return found

    # ------------------------------------------------------------------ how it is found

    def _joint(self, features: Features, target: bool) -> Joint:
        key = frozenset(features), target
        if key not in self._joints:
            self._joints[key] = Joint(self.entropy, self.table.total)
        return self._joints[key]

    def _measure(
        self,
        x: list[int],
        given: Features,
        target: bool,
        wanted: dict[int, Wanted],
        joints: dict[int, Joint],
    ) -> None:
        columns = dict(zip(x, parallel(self._column, x, self.workers), strict=True))
        chosen = self._made(given, target)
        labelled = target and self.labels
        if chosen is not None and self.entropy.rank is not None:
            widest = max((columns[i][1] for i in x), key=lambda column: len(column.folded))
            if not all(part.is_small for part in chosen.parts(widest, labelled)):
                chosen.prepare(labelled)

        many = chosen is None and int(self._code(given, target).max()) >= LIMITS.large

        def measure(i: int) -> None:
            def gram() -> Gram:
                return self._gram((*given, i), target)

            parts = None if chosen is None else chosen.parts(columns[i][1], labelled)
            large = many if parts is None else max(map(len, parts)) > LIMITS.large
            joints[i].until(wanted[i], Source(gram, parts, len(given) < 2, bool(given) and large))

        parallel(measure, x, self.workers)
        self._front += [joints[i] for i in x]
        kept = 4 if wanted[x[0]].side == "both" else 0
        for joint in self._front[: len(self._front) - kept]:
            joint.forget()
        self._front = self._front[len(self._front) - kept :]

    def _elsewhere(
        self,
        x: list[int],
        given: Features,
        target: bool,
        wanted: dict[int, Wanted],
        joints: dict[int, Joint],
    ) -> None:
        """Measure joints on the workers of a cluster."""
        assert self._spread is not None
        asked = [(self.entropy, i, given, target, wanted[i]) for i in x]
        there = self._spread(_on_a_worker, asked)
        for i, (low, value, high, failure) in zip(x, there, strict=True):
            joints[i].learned(low, value, high, failure, wanted[i])

    def _column(self, i: int) -> tuple[Gram, Column]:
        """Return the Gram of a feature, and its factors."""
        if i not in self._columns:
            A = self.sorted.gram(i)
            squared = self.entropy.alpha == 2 and len(self.sorted) <= LIMITS.large
            self._columns[i] = A, Column.of(A, self.sorted.features[i].values, squared)
        return self._columns[i]

    def _code(self, features: Features, target: bool) -> np.ndarray:
        """Number the distinct rows of some features (and of the target)."""
        parts = [self.sorted.features[i].values for i in features]
        parts += [self.sorted.target.values] if target else []
        code = np.zeros(len(self.sorted), dtype=np.int64)
        for part in parts:
            code = np.unique(code * (int(part.max()) + 1) + part, return_inverse=True)[1]
        return code

    def _gram(self, features: Features, target: bool) -> Gram:
        """Return the Gram of some features (and the target), equal rows as one."""
        grams = [self._column(i)[0] for i in features] + ([self._target] if target else [])
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
        most = LIMITS.double if eigenvalues else LIMITS.large
        if not isinstance(self.entropy.solver, Auto) or alpha == 0 or m > most:
            return None
        if not fits(24 * m**2):
            return None
        grams = [self._column(i)[0] for i in given] + ([self._target] if joined else [])
        before = self._chosen.get((given[:-1], joined)) if given else None
        made = Chosen(
            grams,
            code,
            _arrays.to_numpy(self._target.weights),
            self._ends,
            len(self.sorted) if eigenvalues else rank or 1,
            None if before is None else (before, self._column(given[-1])[1]),
        )
        for joint in self._front:
            joint.forget()
        self._front = []
        self._chosen[key] = made
        self._drop()
        return made

    def _drop(self) -> None:
        """Give up what was kept of features longest ago, where it takes much memory."""
        while len(self._chosen) > 3 and sum(c.kernel.nbytes for c in self._chosen.values()) > 2**29:
            self._chosen.pop(next(iter(self._chosen)))


def _by_class(table: Table, labels: bool) -> tuple[Table, np.ndarray]:
    """Return the rows in the order of their classes, and where these begin and end."""
    codes = table.target.values if labels else np.zeros(len(table), dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    weights = table.weights
    if weights is not None:
        order = order[weights[order] > 0]
    counts = np.bincount(codes[order])
    ends = np.concatenate([[0], np.cumsum(counts[counts > 0])])
    return table.take(order, None if weights is None else weights[order]), ends


class Guesses(Information):
    """What `Kernels` has measured so far, as numbers.

    Parameters
    ----------
    known : Kernels
        Where they come from.
    """

    def __init__(self, known: Kernels) -> None:
        super().__init__(known.table)
        self.known = known

    def joint(
        self,
        x: np.ndarray,
        given: Features,
        target: bool,
        tol: Any = 0.0,
        side: Side = "both",
        enough: Any = math.nan,
    ) -> np.ndarray:
        """Return the most likely joint entropy for each candidate."""
        return np.array([self.known.guess((*given, i), target) for i in x.tolist()])

    def alone(self, given: Features, target: bool, tol: float = 1e-3) -> float:
        """Return the most likely entropy of chosen features, with or without the target."""
        return float(self.known.alone(given, target, tol))


_THERE: WeakKeyDictionary[Table, dict[Renyi, Kernels]] = WeakKeyDictionary()


def _on_a_worker(
    table: Table, asked: tuple[Renyi, int, Features, bool, Wanted]
) -> tuple[float, float, float, float]:
    """Measure a joint on a worker, which keeps what it knows of a table."""
    entropy, i, given, target, wanted = asked
    known = _THERE.setdefault(table, {})
    if entropy not in known:  # of a copy: what is kept must not keep the table itself
        known[entropy] = Kernels(replace(table), entropy, 1)
    here = known[entropy]
    here.joint(np.array([i]), given, target, wanted.tol, wanted.side, wanted.enough)
    found = here._joint((*given, i), target).found
    if found is None:  # nothing comes at once
        return 0.0, math.nan, math.log2(table.total), 0.0
    return found.low, float(found), found.high, found.failure
