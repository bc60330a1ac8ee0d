"""Entropies of joints of variables, each kept and known the better the more is asked of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._memory import fits
from lorenyi._progress import counted
from lorenyi._threads import parallel
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.intervals import Intervals
from lorenyi.joints.chosen import Chosen
from lorenyi.joints.columns import Column, fold
from lorenyi.joints.joint import Joint, Side, Wanted, Way
from lorenyi.joints.limits import LIMITS
from lorenyi.spectra import Auto

Features: TypeAlias = tuple[int, ...]


class Variables(NamedTuple):
    """Variables of the same rows, which are in the order of their classes."""

    gram: Callable[[int], Gram]  # of a feature
    codes: Callable[[int], np.ndarray]  # which of its distinct values each row has
    target: Gram
    target_codes: np.ndarray
    labels: bool  # whether the target is compared by equality alone, so that joints have blocks
    total: float  # number of points


class Joints:
    """Rényi entropies of the products of kernel matrices, as certified intervals.

    Equal rows of the variables in question become one, so that tables with few distinct values
    have small matrices. With another solver than `Auto` its values are taken as they are.
    """

    def __init__(self, variables: Variables, entropy: Renyi, workers: int | None = None) -> None:
        if entropy.rank is not None and entropy.rank >= variables.total - 1:
            entropy = replace(entropy, rank=None)  # S^(n-1) = S
        self.variables, self.entropy, self.workers = variables, entropy, workers
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
        asked = [
            (self.known((*given, i), target), i, Wanted(tol, e, side))
            for i, e in zip(x.tolist(), bounds, strict=True)
        ]
        if missing := [item for item in asked if not item[0].met(item[2])]:
            self.measure(missing, given, target)
        most = math.log2(self.variables.total)
        found = [joint.found for joint, _, _ in asked]
        return Intervals(
            [0.0 if e is None else e.low for e in found],
            [most if e is None else e.high for e in found],
            [math.nan if e is None else float(e) for e in found],
        )

    def alone(self, given: Features, target: bool, tol: float) -> Estimate:
        """Return the entropy of chosen features, with or without the target."""
        if not given and not target:
            return Estimate.within(0.0, 0.0, 0.0)
        joint = self.known(given, target)
        if given:
            self.joint(np.array(given[-1:]), given[:-1], target, tol)
        elif not joint.met(Wanted(tol)):
            joint.until(Wanted(tol), Way(partial(self._gram, (), True), None))
        assert joint.found is not None
        return joint.found

    # ------------------------------------------------------------------ how it is found

    def known(self, features: Features, target: bool) -> Joint:
        """Return what is known of a joint."""
        key = frozenset(features), target
        if key not in self._joints:
            self._joints[key] = Joint(self.entropy, self.variables.total)
        return self._joints[key]

    def measure(
        self, missing: list[tuple[Joint, int, Wanted]], given: Features, target: bool
    ) -> None:
        """Learn more of the joints of some candidates with the same given features."""
        columns = parallel(self._column, [i for _, i, _ in missing], self.workers)
        chosen = self._made(given, target)
        labelled = target and self.variables.labels
        if chosen is not None:
            self._prepare(chosen, columns, labelled)
        many = chosen is None and int(self._code(given, target).max()) >= LIMITS.pairs

        def learn(task: tuple[tuple[Joint, int, Wanted], Column]) -> None:
            (joint, i, wanted), column = task
            joined = None if chosen is None else chosen.join(column, labelled)
            large = many if joined is None else joined.most > LIMITS.pairs
            gram = partial(self._gram, (*given, i), target)
            joint.until(wanted, Way(gram, joined, large and bool(given)))

        tasks = list(zip(missing, columns, strict=True))
        parallel(counted(learn, len(tasks), "candidates"), tasks, self.workers)
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
        if quadratic and (ranked or len(self.variables.target_codes) > LIMITS.dense):
            new = [column for column in columns if column not in chosen.seen]
            some = [new[i : i + LIMITS.at_once] for i in range(0, len(new), LIMITS.at_once)]
            parallel(partial(chosen.see, lengths=ranked), some, self.workers)

    def _column(self, i: int) -> Column:
        if i not in self._columns:
            codes = self.variables.codes(i)
            squared = self.entropy.alpha == 2 and len(codes) <= LIMITS.pairs
            self._columns[i] = Column.of(self.variables.gram(i), codes, squared)
        return self._columns[i]

    def _code(self, features: Features, target: bool) -> np.ndarray:
        """Number the distinct rows of some features (and of the target)."""
        parts = [self.variables.codes(i) for i in features]
        parts += [self.variables.target_codes] if target else []
        nothing = np.zeros(len(self.variables.target_codes), dtype=np.int64)
        return _arrays.numbered(*parts) if parts else nothing

    def _grams(self, features: Features, target: bool) -> list[Gram]:
        return [self._column(i).gram for i in features] + [self.variables.target] * target

    def _gram(self, features: Features, target: bool) -> Gram:
        """Return the Gram of some features (and the target), equal rows as one."""
        return fold(self._grams(features, target), self._code(features, target))

    def _made(self, given: Features, target: bool) -> Chosen | None:
        """Return what is kept of chosen features, if that is worth it and they are not too many."""
        joined = target and not self.variables.labels
        key = given, joined
        if key in self._chosen:
            return self._chosen[key]
        code = self._code(given, joined)
        m, alpha, rank = int(code.max()) + 1, self.entropy.alpha, self.entropy.rank
        eigenvalues = rank is None and alpha != 2  # all of them
        most = LIMITS.dense if eigenvalues else LIMITS.pairs
        exact = not isinstance(self.entropy.solver, Auto) or alpha == 0
        if exact or m > most or not fits(24 * m**2):
            return None
        target_codes = self.variables.target_codes * self.variables.labels
        ends = np.unique(np.concatenate([[0], np.cumsum(np.bincount(target_codes))]))
        self._chosen[key] = Chosen(
            self._grams(given, joined),
            code,
            _arrays.to_numpy(self.variables.target.weights),
            ends,
            len(code) if eigenvalues else rank or 1,
        )
        while self._open:
            self._open.pop().forget()
        while len(self._chosen) > 3 and sum(c.kernel.nbytes for c in self._chosen.values()) > 2**29:
            self._chosen.pop(next(iter(self._chosen)))  # what was kept longest ago
        return self._chosen[key]
