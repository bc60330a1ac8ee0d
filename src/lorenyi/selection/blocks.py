"""Blocks of rows, all pairs of which are compared, and sums over these for many candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from lorenyi.data.sources import slices
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Variable

Scale: TypeAlias = Literal["ranks", "standard", "none"]

NUMBER, LABEL = (1, 0), (0, 1)  # kinds of features: so many columns of numbers, and of labels
CHUNK = 2**18  # numbers of a piece of a kernel: they stay in the cache
WIDE = 64  # candidates of such a piece
LEAST = np.float32(1e-12)  # a kernel value below is none
PAIR_SHIFTS = 32  # pairs a row from which pairs of features are ranked
SHARE_ROWS = 20_000  # pairs of a block from which the effective share is estimated


@dataclass(frozen=True)
class Columns:
    """The columns of some variables, as kernels read them."""

    numbers: np.ndarray  # n x d, over the bandwidth, float32
    labels: np.ndarray  # n x e, codes
    places: list[tuple[list[int], list[int]]]  # of each variable's columns in both

    @classmethod
    def of(cls, variables: Sequence[Variable], bandwidth: float, scale: Scale) -> Columns:
        """Prepare variables: numbers get a common scale, a missing value is a label of its own."""
        numbers: list[np.ndarray] = []
        labels: list[np.ndarray] = []
        places = []
        for variable in variables:
            own: tuple[list[int], list[int]] = ([], [])
            scaled = _scaled(variable, scale)
            for column in scaled.T:
                own[0].append(len(numbers))
                numbers.append(np.nan_to_num(column) / bandwidth)
            missing = np.isnan(variable.numbers)
            for column in (*missing[:, missing.any(axis=0)].T, *variable.symbols.T):
                own[1].append(len(labels))
                labels.append(column)
            places.append(own)
        n = len(variables[0].symbols)
        return cls(_stacked(numbers, n, np.float32), _stacked(labels, n, np.int32), places)

    def take(self, rows: np.ndarray) -> Columns:
        """Return the columns at some rows."""
        return Columns(self.numbers[rows], self.labels[rows], self.places)

    def kernel(self, rows: slice, features: Sequence[int]) -> np.ndarray:
        """Return the kernel of some rows with all, for features of a kind: rows x n x features."""
        kind = self.kind(features[0])
        if kind == NUMBER:
            return self._gaussian(rows, [self.places[f][0][0] for f in features])
        if kind == LABEL:
            return self._equality(rows, [self.places[f][1][0] for f in features])
        return np.stack([self._product(rows, f) for f in features], axis=2)

    def kind(self, feature: int) -> tuple[int, int]:
        """Return how many columns of numbers and of labels a feature has."""
        numbers, labels = self.places[feature]
        return len(numbers), len(labels)

    def between(self, i: np.ndarray, j: np.ndarray, features: Sequence[int]) -> np.ndarray:
        """Return the kernel between rows i and rows j, one with one, for each feature."""
        out = np.ones((len(i), len(features)), np.float32)
        for k, f in enumerate(features):
            numbers, labels = self.places[f]
            for x in self.numbers[:, numbers].T:
                out[:, k] *= np.exp(-((x[i] - x[j]) ** 2))
            for x in self.labels[:, labels].T:
                out[:, k] *= x[i] == x[j]
        return out

    def _gaussian(self, rows: slice, columns: list[int]) -> np.ndarray:
        x = self.numbers[:, columns]
        difference = x[rows, None, :] - x[None, :, :]
        np.multiply(difference, difference, out=difference)
        return np.asarray(np.exp(np.negative(difference, out=difference), out=difference))

    def _equality(self, rows: slice, columns: list[int]) -> np.ndarray:
        x = self.labels[:, columns]
        return np.asarray(x[rows, None, :] == x[None, :, :], dtype=np.float32)

    def _product(self, rows: slice, feature: int) -> np.ndarray:
        numbers, labels = self.places[feature]
        found = np.ones((rows.stop - rows.start, len(self.numbers)), np.float32)
        for column in numbers:
            found *= self._gaussian(rows, [column])[:, :, 0]
        for column in labels:
            found *= self._equality(rows, [column])[:, :, 0]
        return found


def _stacked(columns: list[np.ndarray], n: int, dtype: type) -> np.ndarray:
    return np.stack(columns, axis=1).astype(dtype) if columns else np.zeros((n, 0), dtype)


def _scaled(variable: Variable, scale: Scale) -> np.ndarray:
    if scale == "ranks":
        return _normal_scores(variable.numbers)
    return variable.standardized(None) if scale == "standard" else variable.numbers


def _normal_scores(X: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of the ranks of each column, with standard deviation 1.

    Ranks make a kernel indifferent to the scale and the tails of a column.
    """
    out = np.full(X.shape, np.nan)
    for x, scores in zip(X.T, out.T, strict=True):
        there = ~np.isnan(x)
        if there.any():
            scores[there] = ndtri((rankdata(x[there]) - 0.5) / there.sum())
            deviation = float(scores[there].std())
            scores[there] /= deviation if deviation > 0 else 1.0
    return out


class Block:
    """Some rows, all pairs of them, and the weights of the given features between them."""

    def __init__(self, columns: Columns, target: Columns) -> None:
        self.columns = columns
        n = len(columns.numbers)
        self.t = target.kernel(slice(0, n), range(len(target.places)))[:, :, 0].copy()
        np.fill_diagonal(self.t, 0.0)
        self.p = self.t.sum(axis=1, dtype=np.float64) / (n - 1)
        self._given: Features = ()
        self._logs = np.zeros((n, n), np.float32)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.t)

    def log_weights(self, given: Features) -> np.ndarray:
        """Return the logarithm of the product of the kernels of some features."""
        if given[: len(self._given)] != self._given:
            self._given, self._logs = (), np.zeros_like(self._logs)
        for feature in given[len(self._given) :]:
            self._logs = self._logs + self._log_kernel(feature)
        self._given = given
        return self._logs

    def _log_kernel(self, feature: int) -> np.ndarray:
        kernel = self.columns.kernel(slice(0, len(self)), [feature])[:, :, 0]
        return np.asarray(np.log(np.maximum(kernel, LEAST)))

    def sums(self, given: Features, power: float) -> np.ndarray:
        """Return the sums over j of w and of w t for each row: rows x 2."""
        return self._row_sums(self.log_weights(given), power)

    def sums_without(self, given: Features, power: float) -> np.ndarray:
        """Return these sums without each of the given features: rows x 2 x features."""
        logs = self.log_weights(given)
        each = [self._row_sums(logs - self._log_kernel(f), power) for f in given]
        return np.stack(each, axis=2)

    def sums_with(
        self,
        given: Features,
        power: float,
        features: np.ndarray,
        orders: Sequence[np.ndarray | None],
    ) -> np.ndarray:
        """Return the sums over j of w k and of w t k: rows x 2 orders x candidates.

        In each order, the candidates' columns stay and all else is permuted; None: nothing is.
        """
        n = len(self)
        w = _powered(self.log_weights(given), power)
        both = np.empty((n, 2 * len(orders), n), np.float32)
        for b, order in enumerate(orders):
            for k, part in enumerate((w, w * self.t)):
                both[:, 2 * b + k] = part if order is None else part[order].take(order, axis=1)
        found = np.empty((n, 2 * len(orders), len(features)), np.float32)
        for some in self._alike(features):
            part = features[some].tolist()
            for rows in slices(n, max(1, CHUNK // (n * len(part)))):
                found[rows, :, some] = np.matmul(both[rows], self.columns.kernel(rows, part))
        return found

    def _alike(self, features: np.ndarray) -> list[list[int]]:
        """Return places of features of one kind, some at a time."""
        places: dict[tuple[int, int], list[int]] = {}
        for k, f in enumerate(features.tolist()):
            places.setdefault(self.columns.kind(f), []).append(k)
        return [same[some] for same in places.values() for some in slices(len(same), WIDE)]

    def _row_sums(self, logs: np.ndarray, power: float) -> np.ndarray:
        w = _powered(logs, power)
        same = np.einsum("ij,ij->i", w, self.t, dtype=np.float64)
        return np.stack([w.sum(axis=1, dtype=np.float64), same], axis=1)

    def pair_sums(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, int]:
        """Return sums of k_a k_b and of t k_a k_b over some pairs of rows, of t, and how many."""
        d, rows = len(features), np.arange(len(self))
        plain, same, target = np.zeros((d, d)), np.zeros((d, d)), 0.0
        for shift in range(1, PAIR_SHIFTS + 1):
            others = (rows + shift) % len(self)
            kernel = self.columns.between(rows, others, features.tolist())
            t = self.t[rows, others]
            plain += kernel.T @ kernel
            same += (kernel * t[:, None]).T @ kernel
            target += float(t.sum())
        return plain, same, target, PAIR_SHIFTS * len(self)

    def sampled_logs(self, given: Features) -> np.ndarray:
        """Return the logarithms of the weights of some pairs of different rows."""
        logs, n = self.log_weights(given), len(self)
        places = np.arange(0, n * n, max(n * n // SHARE_ROWS, 1))
        i, j = places // n, places % n
        return np.asarray(logs[i[i != j], j[i != j]], dtype=np.float64)


def _powered(logs: np.ndarray, power: float) -> np.ndarray:
    w = np.exp(np.float32(power) * logs)
    np.fill_diagonal(w, 0.0)
    return np.asarray(w)
