"""Joint entropies of features and target, for many candidates at once.

All criteria are formulas in S(x, Z) and S(x, Z, y): a candidate x, chosen features Z, the target y.
`Counts` reads them off contingency tables (Shannon's entropy, exact), `Kernels` off the spectra of
kernel matrices (any `Renyi` functional, as intervals that a finer tolerance narrows).
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from lorenyi import _arrays
from lorenyi._threads import parallel
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.selection.chosen import Chosen, Column, Enclosing, affordable, column
from lorenyi.selection.ends import Side, Wanted, look
from lorenyi.selection.intervals import Intervals
from lorenyi.selection.large import LARGE, Streamed
from lorenyi.selection.levels import (
    MEMORY,
    ROWS,
    SHORT,
    SMOOTH,
    Levels,
    cut_along,
    entropy_of,
    unit_kernel,
)
from lorenyi.selection.products import Products
from lorenyi.selection.products import affordable as room_for_products
from lorenyi.selection.squares import FewRows, Squares
from lorenyi.selection.table import Table
from lorenyi.spectra import Auto

Features: TypeAlias = tuple[int, ...]
RARE = 16  # rows of a class up to which nothing of its matrix is worth keeping
FEW_ROWS = 600  # of a table whose matrices are small enough to be measured one by one
SINGLE = 2e-3  # bits: the tolerance for which eigenvalues of few rows are found in float32
PATIENCE = 4  # candidates of many rows that are worth a closer look
GLAD = 1.02  # times what a second glance tells: more than that it does not
KEPT = 4  # joints of which what encloses them is kept
LONG = 1.5e-3  # seconds that a candidate takes where threads are worth it
SEVERAL = 4  # candidates that are measured side by side in any case
FEW = 2  # features whose joint kernel is so smooth that a Cholesky factor is cheaper than a pass


class Information(ABC):
    """Entropies of a table's features and target, in bits.

    Parameters
    ----------
    table : Table
        Features, target, weights.
    """

    #: How many candidates of a step are worth a closer look than the first; None: all.
    patience: int | None = None

    def __init__(self, table: Table) -> None:
        self.table = table

    def guesses(self) -> Information:
        """Return the same as numbers: the most likely values of what is known so far."""
        return self

    @abstractmethod
    def joint(
        self,
        x: np.ndarray,
        given: Features,
        target: bool,
        tol: Any,
        side: Side = "both",
        enough: Any = math.nan,
    ) -> Any:
        """Return S(x, given) or S(x, given, target) for each candidate of an array.

        Parameters
        ----------
        x : array of int
            Candidates.
        given : tuple of int
            Other features.
        target : bool
            Whether the target is among the variables.
        tol : float or array
            Width in bits that is narrow enough (for each).
        side : {"low", "high", "both"}
            Ends of the intervals that are wanted.
        enough : float or array
            A lower end that is as high, or an upper end that is as low, need not be better; where
            any is good enough (for all, infinite), what comes at once is returned.

        Returns
        -------
        array, or Intervals
        """

    @abstractmethod
    def alone(self, given: Features, target: bool, tol: float) -> Any:
        """Return S(given) or S(given, target): a number, or an Estimate."""


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
        send = table.cluster
        self._spread = None if send is None else send(replace(table, cluster=None))
        self._grams: dict[int, Gram] = {}
        self._target = table.target_gram()
        self._codes: dict[tuple[Features, bool], np.ndarray] = {}
        self._counts: dict[Features, int] = {}
        self._factor: tuple[Features, Products] | None = None
        self._room: bool | None = None
        self._known: dict[tuple[frozenset[int], bool], Estimate] = {}
        self._settled: dict[tuple[frozenset[int], bool, Side], float] = {}  # tolerance of one end
        self._kernels: dict[int, np.ndarray] = {}
        self._kept: dict[Features, Levels | None] = {}
        self._columns: dict[int, Column] = {}
        self._proofs: dict[tuple[frozenset[int], bool], Enclosing] = {}  # of those in front
        self._last: dict[bool, tuple[Features, Chosen]] = {}
        # Values that a candidate may have for its kernel to be kept: all kernels fit, and smooth
        # ones, of many values, have few eigenvalues that count (at order 2 none are needed).
        most = math.isqrt(MEMORY // 8 // max(len(table.features), 1))
        self._most = min(ROWS if entropy.alpha == 2 else SMOOTH, most)
        self.patience = PATIENCE if len(table) > LARGE else None
        self._rows: FewRows | None = None
        self._few_single = entropy.alpha >= 1 and (entropy.rank is not None or entropy.alpha != 2)

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
        for i in x.tolist():
            self._gram(i)
        tols, bounds = (np.broadcast_to(a, x.shape).tolist() for a in (tol, enough))
        wanted = {i: Wanted(t, e, side) for i, t, e in zip(x.tolist(), tols, bounds, strict=True)}
        missing = [i for i, w in wanted.items() if not self._narrow((*given, i), target, w)]
        any_end = {"low": -math.inf, "high": math.inf}.get(side)
        at_once = all(bound == any_end for bound in bounds)

        if at_once and not self._seen_at_once(given, target, side):
            missing = []
        if self._spread is not None and len(missing) > 1:
            asked = [(self.entropy, i, given, target, wanted[i]) for i in missing]
            there = self._spread(_on_a_worker, asked)
            for i, ends in zip(missing, there, strict=True):
                self._keep(
                    (*given, i), target, Estimate.within(*ends[:3], failure=ends[3]), wanted[i]
                )
            missing = []
        small = self._small(given, target) if missing else None
        levels = self._levels(given) if missing and not small and self._direct(target) else None
        base = self._code(given, target) if missing else np.zeros(0)
        chosen = self._chosen(given, target) if missing else None
        products = self._products(given) if missing else None
        if small is not None:
            rows, squares = small
            rows.prepare(squares, missing, self.workers)
        if chosen is not None:
            self._prepare(chosen, missing, side)
            gain = self._gain(chosen, missing, given, target, wanted)

        def measure(i: int) -> Estimate:
            features, asked = (*given, i), wanted[i]
            found = None
            if products is not None:
                return self._by_products(products, features, target, asked)
            few = levels
            if small is not None:
                known = self._known.get((frozenset(features), target))
                seen, enough = squares.measure(i, rows.feature(i), target, asked, known)
                if enough:
                    return seen
                few = self._levels(given) if self._direct(target) else None  # in float64
            if chosen is not None:
                found = self._glance(chosen, features, target, asked, gain)
            if found is None and few is not None:
                found = self._few(few, features, target, asked)
            if found is not None:
                return found
            if chosen is not None and len(given) >= FEW and self.entropy.rank is not None:
                return self._closely(chosen, features, target, asked)
            last = self.table.features[i].values
            return self._measure(features, target, asked, base, last)

        found = (_each if levels is not None else parallel)(measure, missing, self.workers)
        for i, estimate in zip(missing, found, strict=True):
            if products is None:
                self._keep((*given, i), target, estimate, wanted[i])
        nothing = Estimate.within(0.0, 0.0, math.log2(self.table.total))
        known = [self._known.get((frozenset((*given, i)), target), nothing) for i in x.tolist()]
        return Intervals([e.low for e in known], [e.high for e in known])

    def guesses(self) -> Information:
        """Return the same as numbers: what solvers took for the value, which is not the middle."""
        return Guesses(self)

    def guess(self, features: Features, target: bool) -> float:
        """Return the most likely value of a joint entropy that was measured, or NaN."""
        return float(self._known.get((frozenset(features), target), math.nan))

    def alone(self, given: Features, target: bool, tol: float) -> Estimate:
        """Return the entropy of chosen features, with or without the target."""
        if not given and not target:
            return Estimate.within(0.0, 0.0, 0.0)
        for i in given:
            self._gram(i)
        wanted = Wanted(tol)
        if not self._narrow(given, target, wanted):
            code = self._code(given, target)
            found = self._measure(given, target, wanted, code, code)
            self._keep(given, target, found, wanted)
        return self._known[frozenset(given), target]

    def _gram(self, i: int) -> Gram:
        if i not in self._grams:
            self._grams[i] = self.table.gram(i)
        return self._grams[i]

    def _code(self, given: Features, target: bool) -> np.ndarray:
        """Number the distinct rows of chosen features (and target)."""
        if (given, target) not in self._codes:
            parts = [self.table.features[i].values for i in given]
            parts += [self.table.target.values] if target else []
            code = np.zeros(len(self.table), dtype=np.int64)
            for part in parts:
                code = code * (int(part.max()) + 1) + part
                code = np.unique(code, return_inverse=True)[1]
            self._codes[given, target] = code
        return self._codes[given, target]

    def _direct(self, target: bool) -> bool:
        """Tell whether all eigenvalues are wanted, and the target is labels where it is in."""
        labels = self.table.target.numbers.shape[1] == 0
        return isinstance(self.entropy.solver, Auto) and (labels or not target)

    def _levels(self, given: Features) -> Levels | None:
        """Return the kernel of chosen features on their distinct rows, if these are few."""
        code = self._code(given, False)
        if given not in self._kept:
            few = int(code.max()) < ROWS
            grams = [self._gram(i) for i in given]
            kernel = unit_kernel(_product(grams, code, True)) if few and given else np.ones((1, 1))
            parts = self._parts(given, code) if few else None
            self._kept[given] = Levels(kernel, code, parts) if few else None
        return self._kept[given]

    def _parts(self, given: Features, code: np.ndarray) -> np.ndarray | None:
        """Return the parts into which chosen features cut the rows, if eigenvalues are wanted."""
        if self.entropy.alpha == 2 and self.entropy.rank is None:
            return None
        values = {i: self.table.features[i].values for i in given}
        loose = [(self._kernel(i), v) for i, v in values.items() if int(v.max()) < SMOOTH]
        return cut_along(loose, code)

    def _kernel(self, i: int) -> np.ndarray:
        """Return the kernel of a feature on its distinct values."""
        if i not in self._kernels:
            values = self.table.features[i].values
            self._kernels[i] = unit_kernel(_product([self._gram(i)], values, True))
        return self._kernels[i]

    def _few(
        self, levels: Levels, features: Features, target: bool, wanted: Wanted
    ) -> Estimate | None:
        """Measure the joint with a candidate of few values by indexing."""
        i = features[-1]
        values = self.table.features[i].values
        if int(values.max()) >= self._most:
            return None
        # One end, to a few thousandths of a bit: float32 is enough and takes half the time.
        single = wanted.side != "both" and wanted.tol >= SINGLE and self._few_single

        def entropy(labels: np.ndarray | None) -> Estimate | None:
            found = levels.joint(self._kernel(i), values, labels, self.table.weights, single)
            if found is None:
                return None
            return entropy_of(found, self.entropy, self.table.total, *wanted)

        fresh = (frozenset(features), target) not in self._known
        if levels.parts is not None and fresh and not target and wanted.side == "high":
            cut = entropy(levels.parts)
            if cut is not None and cut.high <= wanted.enough:
                return Estimate.within(0.0, cut.high, cut.high)
        return entropy(self.table.target.values if target else None)

    def _small(self, given: Features, target: bool) -> tuple[FewRows, Squares] | None:
        """Return a table of few, mostly distinct rows at order 2, and its chosen features."""
        n, rank, labels = len(self.table), self.entropy.rank, self._direct(True)
        plain = self.entropy.alpha == 2 and self._direct(False) and self._spread is None
        if not plain or rank is None or not SHORT <= n <= min(max(4 * rank, FEW_ROWS), ROWS):
            return None
        if self.table.total < n or 2 * self._distinct(given) < n:
            return None
        if self._rows is None:
            classes = self.table.target.values if labels else None
            self._rows = FewRows(self.table.gram, self._target, classes, self.entropy)
        return self._rows, self._rows.joined(given, target)

    def _narrow(self, features: Features, target: bool, wanted: Wanted) -> bool:
        key = frozenset(features), target
        known = self._known.get(key)
        if known is None:
            return False
        if wanted.met(known):
            return True
        return self._settled.get((*key, wanted.side), math.inf) <= wanted.tol

    def _keep(self, features: Features, target: bool, found: Estimate, wanted: Wanted) -> None:
        """Keep the intersection of what was known and what was found."""
        key = frozenset(features), target
        if not wanted.met(found):  # an end has settled, or there is no more to be had
            tol = wanted.tol if wanted.side != "both" else 0.0
            self._settled[*key, wanted.side] = min(tol, self._settled.get((*key, wanted.side), tol))
        known = self._known.get(key)
        if known is not None:
            low, high = max(known.low, found.low), min(known.high, found.high)
            if low <= high:
                value = min(max(float(found), low), high)
                found = Estimate.within(low, value, high, failure=known.failure + found.failure)
        self._known[key] = found

    def _measure(
        self,
        features: Features,
        target: bool,
        wanted: Wanted,
        base: np.ndarray,
        last: np.ndarray,
    ) -> Estimate:
        factors = [self._gram(i) for i in features] + ([self._target] if target else [])
        A = _product(factors, base * (int(last.max()) + 1) + last)
        solver = self.entropy.solver
        if not isinstance(solver, Auto):
            value = float(self.entropy(A))
            return Estimate.within(value, value, value)
        if max(map(len, A.reduced[1]), default=0) > LARGE:
            key = frozenset(features), target
            again = key in self._known
            found = self._large(A, wanted, solver.seed, again)
            if again:  # then that is all there is to be had
                self._settled[*key, wanted.side] = 0.0
            return found
        if len(features) > FEW:
            return self._settle(A, wanted, solver)
        return replace(self.entropy, solver=replace(solver, tol=wanted.tol)).certified(A)

    def _closely(
        self, chosen: Chosen, features: Features, target: bool, wanted: Wanted
    ) -> Estimate:
        """Measure a joint from what is known of the chosen features."""
        column, key = self._columns[features[-1]], (frozenset(features), target)
        if wanted.side == "high" and (*key, "high") not in self._settled:
            found, off = chosen.closer(column, wanted) or (None, math.inf)
            if found is not None and (wanted.met(found) or off <= 0.5 * wanted.tol):
                self._settled[*key, "high"] = 2 * off  # so much finer it is already
                return found
        proof = self._proofs.pop(key, None) or chosen.enclosing(column)
        both = proof.until(wanted)
        if proof.stuck and proof.single:
            proof = chosen.enclosing(column, proof)
            both = proof.until(wanted)
        if wanted.side == "both":  # those in front are looked at again
            self._proofs[key] = proof
            for old in list(self._proofs)[:-KEPT]:  # a copy: other threads add to it meanwhile
                self._proofs.pop(old, None)
        if both is not None and wanted.met(both):
            return both
        return self._settle(chosen.joint(column), wanted, chosen.solver)

    def _settle(self, A: Gram, wanted: Wanted, solver: Auto) -> Estimate:
        """Measure a joint by the ends that are wanted, or as a whole where those do not do."""
        singles, blocks = A.reduced
        known = _arrays.to_numpy(singles)
        found = look(known, blocks, A.n, self.entropy, *wanted, solver.seed)
        if found is not None:
            return found
        return replace(self.entropy, solver=replace(solver, tol=wanted.tol)).certified(A)

    def _prepare(self, chosen: Chosen, x: list[int], side: Side) -> None:
        """Find the factors of candidates, and the squared norms that glances at them need."""
        columns = dict(zip(x, parallel(self._column, x, self.workers), strict=True))
        # Those in front are measured exactly, which without a rank is one pass.
        needed = side == "low" or (side == "high" and self.entropy.rank is None)
        fresh = [i for i in x if i not in chosen.norms]
        if needed and self.entropy.alpha == 2 and fresh:
            norms = chosen.squared_norms([columns[i] for i in fresh], self.workers)
            chosen.norms.update(zip(fresh, norms.tolist(), strict=True))

    def _gain(
        self,
        chosen: Chosen,
        x: list[int],
        given: Features,
        target: bool,
        wanted: dict[int, Wanted],
    ) -> float:
        """Return how much a second glance at a lower end tells, which is alike for all."""
        if chosen.gain is None:
            keys = {i: (frozenset((*given, i)), target) for i in x if wanted[i].side == "low"}
            seen = {i: self._known[key].low for i, key in keys.items() if key in self._known}
            if not seen or self.entropy.rank is None or not chosen.norms:
                return 0.0
            i = sorted(seen, key=lambda i: wanted[i].enough - seen[i])[len(seen) // 2]
            again = chosen.glance(self._columns[i], "low", chosen.norms[i], again=True)
            chosen.gain = again.low - seen[i]
        return chosen.gain

    def _products(self, given: Features) -> Products | None:
        """Return a factor of chosen features of many rows, where they are too many for pivots."""
        labels = self.table.target.numbers.shape[1] == 0
        large = len(self.table) > LARGE and 2 * int(self._code(given, False).max()) >= LARGE
        plain = self.entropy.rank is not None and isinstance(self.entropy.solver, Auto) and labels
        if len(given) < FEW or not large or not plain or self._spread is not None:
            return None
        if self._room is None:
            rank = int(self.entropy.rank or 1)
            self._room = room_for_products(len(self.table), len(self.table.features), rank)
        if not self._room:
            return None
        features, found = self._factor or ((), None)
        if found is None or features != given[: len(features)]:
            solver = self.entropy.solver
            seed = solver.seed if isinstance(solver, Auto) else 0
            codes = self.table.target.values
            found = Products(self._column(given[0]), codes, self.entropy, seed)
            features = given[:1]
        for i in given[len(features) :]:
            found.join(self._column(i))
        self._factor = given, found
        return found

    def _by_products(
        self, products: Products, features: Features, target: bool, wanted: Wanted
    ) -> Estimate:
        """Measure a joint of many rows; what is found of the other one is kept, too."""
        key = frozenset(features), target
        again = key in self._known
        found = products.measure(self._column(features[-1]), again)
        for with_labels, ends in ((False, found.without), (True, found.labelled)):
            self._keep(features, with_labels, ends, Wanted(math.inf))
            for side in ("low", "high", "both"):  # a closer look is the last
                self._settled[key[0], with_labels, side] = 0.0 if again else wanted.tol
        return found.labelled if target else found.without

    def _seen_at_once(self, given: Features, target: bool, side: Side) -> bool:
        """Tell whether something is seen of joints at first sight."""
        if self._products(given) is not None or self._few_at_once(given, target):
            return True
        useful = side == "high" or self.entropy.alpha == 2
        return useful and self._spread is None and self._chosen(given, target) is not None

    def _few_at_once(self, given: Features, target: bool) -> bool:
        """Tell whether that is so by squared norms, or by cutting few rows into parts."""
        if self._small(given, target) is not None:
            return True
        levels = self._levels(given) if self._direct(target) and self._spread is None else None
        if levels is None or min(len(self.table), 2 * len(levels.kernel)) > ROWS:
            return False
        return levels.parts is not None

    def _glance(
        self, chosen: Chosen, features: Features, target: bool, wanted: Wanted, gain: float
    ) -> Estimate | None:
        """Return what is seen of a joint at first sight, or at second, if that is enough."""
        ranked, side = self.entropy.rank is not None, wanted.side
        norm = chosen.norms.get(features[-1], math.nan)
        if side == "both" or (math.isnan(norm) and not (ranked and side == "high")):
            return None
        known = self._known.get((frozenset(features), target))
        column = self._columns[features[-1]]
        if known is None:
            found = chosen.glance(column, side, norm if side == "low" or not ranked else math.nan)
        elif ranked and side == "low" and wanted.enough - known.low < GLAD * gain:
            found = chosen.glance(column, side, norm, again=True)
        else:
            return None
        return found if wanted.met(found) else None

    def _column(self, i: int) -> Column:
        if i not in self._columns:
            A, codes = self._gram(i), self.table.features[i].values
            squared = len(self.table) <= LARGE
            self._columns[i] = column(A, _product([A], codes, True), codes, squared)
        return self._columns[i]

    def _chosen(self, given: Features, target: bool) -> Chosen | None:
        """Return what is kept of chosen features, if that helps: their rows are mostly distinct."""
        n, rank, solver = len(self.table), self.entropy.rank, self.entropy.solver
        features, before = self._last.get(target, ((), None))
        if given and features == given:
            return before
        if (rank is None and self.entropy.alpha != 2) or not given or not isinstance(solver, Auto):
            return None
        if not max(4 * (rank or 1), FEW_ROWS) < n <= LARGE or not affordable(
            n, len(self.table.features)
        ):
            return None
        if 2 * self._distinct(given) < n:
            return None
        groups = [np.arange(n)]
        if target and self.table.target.numbers.shape[1] == 0:
            codes = self.table.target.values
            groups = [np.flatnonzero(codes == c) for c in range(int(codes.max()) + 1)]
        if min((len(index) for index in groups if len(index) > 1), default=0) < RARE:
            return None
        columns = [self._column(i) for i in given]
        earlier = before if features == given[:-1] else None
        y = self._target if target else None
        made = Chosen(columns, y, groups, self.entropy, solver, earlier)
        self._last[target] = (given, made)
        return made

    def _distinct(self, given: Features) -> int:
        """Return how many distinct rows joints of chosen features with a candidate have, about."""
        if given not in self._counts:
            others = [v.values for i, v in enumerate(self.table.features) if i not in given]
            others.sort(key=lambda values: int(values.max()))
            typical = others[len(others) // 2] if others else np.zeros(len(self.table), dtype=int)
            both = self._code(given, False) * (int(typical.max()) + 1) + typical
            self._counts[given] = len(np.unique(both))
        return self._counts[given]

    def _large(self, A: Gram, wanted: Wanted, seed: int, again: bool) -> Estimate:
        """Measure a joint of many rows: coarsely, and as finely as time allows if asked again.

        The effort is four times as much with twice the pivots.
        """
        size = (4 if again else 2) * (self.entropy.rank or 100)
        solver = Streamed(size, seed, both=wanted.side != "high")
        return replace(self.entropy, solver=solver).certified(A)


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
    found = here._known[frozenset((*given, i)), target]
    return found.low, float(found), found.high, found.failure


def _each(function: Callable[[int], Any], items: list[int], workers: int | None) -> list[Any]:
    """Apply a function to each item: one after another where that is soon done, or in parallel.

    Threads that take turns every few hundred microseconds wait for each other most of the time.
    """
    found: list[Any] = []
    while len(items) - len(found) > SEVERAL:
        start = time.perf_counter()
        found.append(function(items[len(found)]))
        if time.perf_counter() - start > LONG:
            break
    return found + parallel(function, items[len(found) :], workers)


def _product(factors: Sequence[Gram], code: np.ndarray, ordered: bool = False) -> Gram:
    """Return the joint of Grams whose rows are equal where the codes are, one row for each code.

    In the order of the codes if asked for; else in that of the rows where all are distinct.
    """
    n = len(code)
    size = int(code.max()) + 1
    if size > 8 * n:
        code = np.unique(code, return_inverse=True)[1]
        size = int(code.max()) + 1
    row = np.full(size, -1)
    row[code] = np.arange(n)
    seen = row >= 0
    index = row[seen]
    if len(index) < n or ordered:
        old = _arrays.to_numpy(factors[0].weights)
        weights = np.bincount(code, weights=old, minlength=size)[seen]
        root = np.sqrt(weights / old[index])
        taken = [A.take(index) for A in factors]
        factors = [A.with_factors(A.factors, A.scale * root, weights) for A in taken]
    return reduce(lambda A, B: A * B, factors)
