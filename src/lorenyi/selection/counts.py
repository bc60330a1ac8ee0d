"""Shannon's entropies of discretized columns, from contingency tables."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from lorenyi import _arrays
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.sampled import Features, Look, Sampled
from lorenyi.selection.table import Table, Variable

FULL = 4  # cells a row above which a table is mostly empty: then only those that occur are counted


class Counts(Sampled):
    """Shannon's entropies of all rows, counted; numbers that are not discrete are put into bins."""

    def __init__(self, table: Table, bins: int, seed: int = 0) -> None:
        table, self._v = table.apart()
        self.seed, self.size = seed, len(table)
        features = [binned(v, bins, table.weights) for v in table.features]
        self.codes = [*features, np.zeros(self.size, dtype=np.int64)]  # the last is a constant
        self.target = binned(table.target, bins, table.weights)
        self.classes = int(self.target.max()) + 1
        # Rows come in an order of their content: groups are drawn, or they would be too much alike.
        order = np.argsort(_arrays.hashed(seed, 42, self.size)[:, 0])
        self._group = order % min(LIMITS.groups, self.size)
        self._sizes = self._kept(self._v)
        self._known: dict[tuple[Features, int], np.ndarray] = {}

    def joint(self, candidates: np.ndarray, given: Features, look: Look) -> np.ndarray:
        """Return S(x, given) and S(x, given, y) for each candidate x: 2 x c x r."""
        both = self._both(given)
        if look.permutations:  # of everything but the candidates
            moved = [(both[order], self._v[order]) for order in self.orders(look)]
            found = [[self._values(self.codes[i], *m) for m in moved] for i in candidates]
            return np.array(found, dtype=np.float64).transpose(2, 0, 1)
        for i in candidates.tolist():
            if (given, i) not in self._known:
                self._known[given, i] = self._entropies(self.codes[i], both, self._v)
        return np.stack([self._known[given, i] for i in candidates.tolist()], axis=1)

    def _both(self, given: Features) -> np.ndarray:
        """Number the distinct rows of some features and the target, which is the last digit."""
        code = np.zeros(self.size, dtype=np.int64)
        for x in [self.codes[i] for i in given]:
            code = _dense(code * (int(x.max()) + 1) + x)
        return np.asarray(code * self.classes + self.target)

    def _entropies(self, x: np.ndarray, both: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the entropies of (x, given) and (x, given, target): 2 x (1 + groups)."""
        code = self._joined(x, both)
        return np.stack([self._shannon(code // self.classes, v), self._shannon(code, v)])

    def _values(self, x: np.ndarray, both: np.ndarray, v: np.ndarray) -> list[float]:
        """Return these entropies alone, from one table of counts."""
        code = self._joined(x, both)
        counts = np.bincount(code, v, (int(code.max()) // self.classes + 1) * self.classes)
        tables = counts.reshape(-1, self.classes).sum(axis=1), counts
        return [float(np.log2(v.sum()) - xlogy(c, c).sum() / np.log(2) / v.sum()) for c in tables]

    def _joined(self, x: np.ndarray, both: np.ndarray) -> np.ndarray:
        size = (int(both.max()) // self.classes + 1) * self.classes
        return _dense(x * size + both, self.classes)

    def _shannon(self, code: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the mean of -log2 p over all rows, and with the same p without each group."""
        counts = np.bincount(code, v)
        bits = np.log2(v.sum()) - np.log2(np.where(counts > 0, counts, 1.0))
        return np.asarray(self._kept(v * bits[code]) / self._sizes)

    def _kept(self, x: np.ndarray) -> np.ndarray:
        """Return the sum over all rows, and without each group."""
        return np.asarray(x.sum() - np.append(0.0, np.bincount(self._group, x)))


def _dense(code: np.ndarray, classes: int = 1) -> np.ndarray:
    """Renumber the codes, all but their last digit, if most do not occur."""
    if int(code.max()) <= FULL * len(code):
        return code
    return np.asarray(np.unique(code // classes, return_inverse=True)[1] * classes + code % classes)


def binned(variable: Variable, bins: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Number the distinct rows of a variable, numbers in bins and missing ones in one of theirs."""
    found = np.full(variable.numbers.shape, bins)
    for x, own in zip(variable.numbers.T, found.T, strict=True):
        there = ~np.isnan(x)
        if there.any():
            v = None if weights is None else weights[there]
            own[there] = equal_frequency(x[there], bins, v)
    return _arrays.numbered(*found.T, *variable.symbols.T)


def equal_frequency(x: np.ndarray, bins: int, weights: np.ndarray | None = None) -> np.ndarray:
    r"""Return the bin of each value: about as many points in one bin as in another.

    It is the number of edges below the value, so that equal ones share a bin. Edges are the sorted
    values at the positions (from 0) :math:`\lfloor n j / b \rfloor - 1`, j = 1, ..., b, with the
    sum n of the weights.

    >>> equal_frequency(np.array([5.0, 1.0, 2.0, 2.0, 9.0, 7.0]), 3)
    array([1, 0, 0, 0, 2, 2])
    """
    order = np.argsort(x, kind="stable")
    reached = np.cumsum(np.ones(len(x)) if weights is None else weights[order])
    places = np.floor(reached[-1] * np.arange(1, bins + 1) / bins + 1e-9) - 1
    at = np.searchsorted(reached, np.maximum(places, 0), side="right")
    edges = x[order][np.minimum(at, len(x) - 1)]
    return np.searchsorted(edges, x, side="left")
