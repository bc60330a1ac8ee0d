"""Shannon's entropies of discretized columns, from contingency tables."""

from __future__ import annotations

import numpy as np

from lorenyi import _arrays
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.sampled import Features, Look, Sampled, replicated
from lorenyi.selection.table import Table, Variable

FULL = 4  # cells a row above which a table is mostly empty: then only those that occur are counted


class Counts(Sampled):
    """Shannon's entropies of all rows, counted; numbers that are not discrete are put into bins."""

    def __init__(self, table: Table, bins: int, seed: int = 0) -> None:
        table = table.points()
        self.seed, self.size = seed, len(table)
        features = [binned(v, bins) for v in table.features]
        self.codes = [*features, np.zeros(self.size, dtype=np.int64)]  # the last is a constant
        self.target = binned(table.target, bins)
        self.classes = int(self.target.max()) + 1
        self._group = np.arange(self.size) % min(LIMITS.groups, self.size)
        self._sizes = np.bincount(self._group)
        self._known: dict[tuple[Features, int], np.ndarray] = {}

    def joint(self, candidates: np.ndarray, given: Features, look: Look) -> np.ndarray:
        """Return S(x, given) and S(x, given, y) for each candidate x: 2 x c x r."""
        both = self._both(given)
        if look.permutations:  # of everything but the candidates
            moved, codes = [both[order] for order in self.orders(look)], self.codes
            found = [[self._entropies(m, codes[i])[:, 0] for m in moved] for i in candidates]
            return np.array(found, dtype=np.float64).transpose(2, 0, 1)
        for i in candidates.tolist():
            if (given, i) not in self._known:
                self._known[given, i] = self._entropies(both, self.codes[i])
        return np.stack([self._known[given, i] for i in candidates.tolist()], axis=1)

    def alone(self, given: Features, look: Look) -> np.ndarray:
        """Return S(given) and S(given, y) of the rows as they are: 2 x (1 + groups)."""
        return np.asarray(self.joint(np.array([-1]), given, Look(1))[:, 0])

    def _both(self, given: Features) -> np.ndarray:
        """Number the distinct rows of some features and the target, which is the last digit."""
        code = np.zeros(self.size, dtype=np.int64)
        for x in [self.codes[i] for i in given]:
            code = _dense(code * (int(x.max()) + 1) + x)
        return np.asarray(code * self.classes + self.target)

    def _entropies(self, both: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the entropies of (x, given) and (x, given, target): 2 x (1 + groups)."""
        size = (int(both.max()) // self.classes + 1) * self.classes
        code = _dense(x * size + both, self.classes)
        return np.stack([self._shannon(code // self.classes), self._shannon(code)])

    def _shannon(self, code: np.ndarray) -> np.ndarray:
        """Return the mean of -log2 p over all rows, and with the same p without each group."""
        counts = np.bincount(code)
        bits = np.log2(self.size) - np.log2(np.maximum(counts, 1))
        return replicated(np.bincount(self._group, bits[code]), self._sizes)


def _dense(code: np.ndarray, classes: int = 1) -> np.ndarray:
    """Renumber the codes, all but their last digit, if most do not occur."""
    if int(code.max()) <= FULL * len(code):
        return code
    return np.asarray(np.unique(code // classes, return_inverse=True)[1] * classes + code % classes)


def binned(variable: Variable, bins: int) -> np.ndarray:
    """Number the distinct rows of a variable, numbers in bins and missing ones in one of theirs."""
    found = np.full(variable.numbers.shape, bins)
    for x, own in zip(variable.numbers.T, found.T, strict=True):
        there = ~np.isnan(x)
        if there.any():
            own[there] = equal_frequency(x[there], bins)
    return _arrays.numbered(*found.T, *variable.symbols.T)


def equal_frequency(x: np.ndarray, bins: int) -> np.ndarray:
    r"""Return the bin of each value: about as many points in one bin as in another.

    It is the number of edges below the value, so that equal ones share a bin. Edges are the sorted
    values at the positions (from 0) :math:`\lfloor n j / b \rfloor - 1`, j = 1, ..., b.

    >>> equal_frequency(np.array([5.0, 1.0, 2.0, 2.0, 9.0, 7.0]), 3)
    array([1, 0, 0, 0, 2, 2])
    """
    places = len(x) * np.arange(1, bins + 1) // bins - 1
    edges = np.sort(x)[np.maximum(places, 0)]
    return np.searchsorted(edges, x, side="left")
