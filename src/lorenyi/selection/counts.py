"""Shannon's entropies of discretized columns, from contingency tables."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lorenyi import _arrays
from lorenyi.selection.sampled import GROUPS, Features, Look, Sampled
from lorenyi.selection.table import Table, Variable, codes

FULL = 4  # cells a row above which a table is mostly empty: then only those that occur are counted


class Counts(Sampled):
    """Entropies of all rows, counted; numbers that are not discrete are put into bins."""

    count = 1

    def __init__(self, table: Table, bins: int, seed: int = 0) -> None:
        super().__init__(seed)
        self.table, self.bins = table, bins
        self.codes = [binned(v, bins, table.weights) for v in table.features]
        self.levels = [int(c.max()) + 1 for c in self.codes]
        self.target = binned(table.target, bins, table.weights)
        self.classes = int(self.target.max()) + 1
        self.weights = np.ones(len(table)) if table.weights is None else table.weights
        groups = min(GROUPS, len(table))
        self._group = np.arange(len(table)) % groups
        self._sizes = np.bincount(self._group, weights=self.weights)
        self._known: dict[tuple[Features, int], np.ndarray] = {}

    def first(self, candidates: int) -> int:
        """Return one: there is one block, of all rows."""
        return 1

    def rows(self, blocks: int) -> int:
        """Return the number of rows."""
        return len(self.table)

    def joint(
        self, candidates: np.ndarray, given: Features, target: bool, look: Look
    ) -> np.ndarray:
        """Return Shannon's joint entropy for each candidate."""
        if look.permutations:
            return self._points.permuted(candidates, given, target, look)
        both = self._code(given) * self.classes + self.target
        for i in candidates.tolist():
            if (given, i) not in self._known:
                self._known[given, i] = self._entropies(both, self.codes[i])
        return np.stack([self._known[given, i][int(target)] for i in candidates.tolist()])

    def alone(self, given: Features, target: bool, look: Look) -> np.ndarray:
        """Return Shannon's entropy of some features, with or without the target."""
        if look.permutations:
            points = self._points.alone(given, target, Look(1))
            return np.repeat(points[:1], look.permutations)
        if (given, -1) not in self._known:
            both = self._code(given) * self.classes + self.target
            self._known[given, -1] = self._entropies(both, np.zeros_like(both))
        return np.asarray(self._known[given, -1][int(target)])

    def likely_pairs(self, candidates: np.ndarray, count: int) -> list[tuple[int, int]]:
        """Return all pairs: to count is cheap."""
        return [(i, j) for i in candidates.tolist() for j in candidates.tolist() if i < j]

    def target_entropy(self, look: Look) -> float:
        """Return the entropy of the target."""
        return float(self.alone((), True, Look(1))[0])

    def permuted(
        self, candidates: np.ndarray, given: Features, target: bool, look: Look
    ) -> np.ndarray:
        """Return the entropies with everything but the candidates permuted: c x permutations."""
        code = self._code(given) * self.classes + self.target
        out = np.empty((len(candidates), look.permutations))
        zeros = np.zeros(len(code), dtype=np.int64)
        for b in range(look.permutations):
            order = _arrays.permutation(self.seed, 10**6 * (1 + look.skipped + b), zeros)
            both = code[order]
            for k, i in enumerate(candidates.tolist()):
                out[k, b] = self._entropies(both, self.codes[i])[int(target), 0]
        return out

    @cached_property
    def _points(self) -> Counts:
        """The same with a row for each point: weighted rows are not exchangeable."""
        if self.table.weights is None:
            return self
        return Counts(self.table.expanded(self.seed), self.bins, self.seed)

    def _code(self, given: Features) -> np.ndarray:
        code = np.zeros(len(self.table), dtype=np.int64)
        for i in given:
            code = _dense(code * self.levels[i] + self.codes[i])
        return code

    def _entropies(self, both: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the entropies of (x, given) and (x, given, target): 2 x (1 + groups)."""
        size = (int(both.max()) // self.classes + 1) * self.classes
        code = _dense(x * size + both, self.classes)
        return np.stack([self._shannon(code // self.classes), self._shannon(code)])

    def _shannon(self, code: np.ndarray) -> np.ndarray:
        """Return the mean of -log2 p over all rows, and with the same p without each group."""
        counts = np.bincount(code, self.weights)
        bits = np.log2(self._sizes.sum()) - np.log2(np.where(counts > 0, counts, 1.0))
        surprise = np.bincount(self._group, self.weights * bits[code])
        total, points = surprise.sum(), self._sizes.sum()
        return np.concatenate([[total / points], (total - surprise) / (points - self._sizes)])


def _dense(code: np.ndarray, classes: int = 1) -> np.ndarray:
    """Renumber the codes, all but their last digit, if most do not occur."""
    if int(code.max()) <= FULL * len(code):
        return code
    return np.asarray(np.unique(code // classes, return_inverse=True)[1] * classes + code % classes)


def binned(variable: Variable, bins: int, weights: np.ndarray | None) -> np.ndarray:
    """Number the distinct rows of a variable, numbers in bins and missing ones in one of theirs."""
    found = np.full(variable.numbers.shape, bins)
    for x, own in zip(variable.numbers.T, found.T, strict=True):
        there = ~np.isnan(x)
        if there.any():
            part = None if weights is None else weights[there]
            own[there] = equal_frequency(x[there], bins, part)
    return codes(*found.T, *variable.symbols.T)


def equal_frequency(x: np.ndarray, bins: int, weights: np.ndarray | None = None) -> np.ndarray:
    r"""Return the bin of each value: about as many points in one bin as in another.

    With the points sorted, the edges are the values at the positions (from 0)
    :math:`\lfloor n j / b \rfloor - 1`, j = 1, ..., b, and the code of a value is the number of
    edges below it, so that equal values share a bin.

    Parameters
    ----------
    x : array of n
        Values, finite.
    bins : int
        b, at least 2.
    weights : array of n, optional
        Frequencies: weight 2 is a value given twice.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi.selection.counts import equal_frequency
    >>> equal_frequency(np.array([5.0, 1.0, 2.0, 2.0, 9.0, 7.0]), 3)
    array([1, 0, 0, 0, 2, 2])
    """
    order = np.argsort(x, kind="stable")
    ordered = x[order]
    count = np.arange(1.0, len(x) + 1) if weights is None else np.cumsum(weights[order])
    places = np.floor(count[-1] * np.arange(1, bins + 1) / bins + 1e-9) - 1
    index = np.searchsorted(count, np.maximum(places, 0), side="right")
    edges = ordered[np.minimum(index, len(x) - 1)]
    return np.searchsorted(edges, x, side="left")
