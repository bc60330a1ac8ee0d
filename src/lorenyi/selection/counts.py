"""Shannon's entropies of discretized columns, from contingency tables."""

from __future__ import annotations

import numpy as np

from lorenyi import _arrays
from lorenyi.selection.sampled import GROUPS, Features, Look, Sampled
from lorenyi.selection.table import Table

FULL = 4  # cells a row above which a table is mostly empty: then only those that occur are counted


class Counts(Sampled):
    """Entropies of all rows, counted; numbers that are not discrete are put into bins."""

    count = 1

    def __init__(self, table: Table, bins: int, seed: int = 0) -> None:
        super().__init__(seed)
        self.table, self.bins = table, bins
        self.codes = [v.binned(bins, table.weights) for v in table.features]
        self.levels = [int(c.max()) + 1 for c in self.codes]
        self.target = table.target.binned(bins, table.weights)
        self.classes = int(self.target.max()) + 1
        self.weights = np.ones(len(table)) if table.weights is None else table.weights
        groups = min(GROUPS, len(table))
        self._group = np.arange(len(table)) % groups
        self._sizes = np.bincount(self._group, weights=self.weights)
        self._known: dict[tuple[Features, int], np.ndarray] = {}
        self._expanded: Counts | None = None

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
            return self._points().permuted(candidates, given, target, look)
        both = self._code(given) * self.classes + self.target
        for i in candidates.tolist():
            if (given, i) not in self._known:
                self._known[given, i] = self._entropies(both, self.codes[i])
        return np.stack([self._known[given, i][int(target)] for i in candidates.tolist()])

    def alone(self, given: Features, target: bool, look: Look) -> np.ndarray:
        """Return Shannon's entropy of some features, with or without the target."""
        if look.permutations:
            points = self._points().alone(given, target, Look(1))
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

    def _points(self) -> Counts:
        """Return the same with a row for each point: weighted rows are not exchangeable."""
        if self.table.weights is None:
            return self
        if self._expanded is None:
            self._expanded = Counts(self.table.expanded(self.seed), self.bins, self.seed)
        return self._expanded

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
