"""Shannon's entropies of features and target, exact, from contingency tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lorenyi.selection.information import Features, Information, Side
from lorenyi.selection.table import Table


class Counts(Information):
    """Shannon's entropies of discretised columns, from contingency tables.

    Parameters
    ----------
    table : Table
        Features, target, weights.
    bins : int
        Of equal frequency, for numeric columns that are not discrete.
    """

    def __init__(self, table: Table, bins: int) -> None:
        super().__init__(table)
        self.codes = [v.binned(bins, table.weights) for v in table.features]
        self.levels = [int(c.max()) + 1 for c in self.codes]
        self.target = table.target.binned(bins, table.weights)
        self._known: dict[tuple[Features, int], tuple[float, float]] = {}
        self._alone: dict[tuple[Features, bool], float] = {}

    def joint(
        self,
        x: np.ndarray,
        given: Features,
        target: bool,
        tol: Any = 0.0,
        side: Side = "both",
        enough: Any = math.nan,
    ) -> np.ndarray:
        """Return Shannon's joint entropy for each candidate."""
        missing = [i for i in x.tolist() if (given, i) not in self._known]
        if missing:
            classes = int(self.target.max()) + 1
            base = self._code(given)
            both, size = base * classes + self.target, (int(base.max()) + 1) * classes
            for i in missing:
                self._known[given, i] = self._pair(both, size, i, classes)
        return np.array([self._known[given, i][target] for i in x.tolist()])

    def alone(self, given: Features, target: bool, tol: float = 0.0) -> float:
        """Return Shannon's entropy of chosen features, with or without the target."""
        if (given, target) not in self._alone:
            code = self._code(given)
            if target:
                code = code * (int(self.target.max()) + 1) + self.target
            counts = np.bincount(code, weights=self.table.weights)
            self._alone[given, target] = _shannon(counts, self.table.total)
        return self._alone[given, target]

    def _code(self, given: Features) -> np.ndarray:
        code = np.zeros(len(self.table), dtype=np.int64)
        for i in given:
            code = code * self.levels[i] + self.codes[i]
            if int(code.max()) > 4 * len(code):  # keep the codes dense
                code = np.unique(code, return_inverse=True)[1]
        return code

    def _pair(self, both: np.ndarray, size: int, i: int, classes: int) -> tuple[float, float]:
        """Return the entropies of (x, given) and (x, given, target) from one table of counts."""
        total, weights = self.table.total, self.table.weights
        code = self.codes[i] * size
        code += both
        cells = self.levels[i] * size
        if cells <= 4 * len(code):
            counts = np.bincount(code, weights=weights, minlength=cells)
            margin = counts.reshape(-1, classes).sum(axis=1)
            return _shannon(margin, total), _shannon(counts, total)
        found = []
        for part in (code // classes, code):  # most cells are empty: count those that are not
            _, index, count = np.unique(part, return_inverse=True, return_counts=True)
            counts = count if weights is None else np.bincount(index, weights=weights)
            found.append(_shannon(counts, total))
        return found[0], found[1]


def _shannon(counts: np.ndarray, total: float) -> float:
    """Return log2 N - sum c log2 c / N."""
    c = counts[counts > 0].astype(np.float64)
    return float(np.log2(total) - (c @ np.log2(c)) / total)
