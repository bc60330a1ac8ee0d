"""Blocks of rows, all pairs of which are compared, and sums over these for many candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from lorenyi.data.sources import slices
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Variable

CHUNK = 2**18  # numbers of a piece of a kernel: they stay in the cache
WIDE = 64  # candidates of such a piece
LEAST = 1e-12  # a weight below is none
PAIR_SHIFTS = 32  # pairs a row from which pairs of features are ranked


class Feature(NamedTuple):
    """One feature, or the target, as kernels read it."""

    numbers: np.ndarray  # d x n, over the bandwidth, float32
    labels: np.ndarray  # e x n, codes

    @classmethod
    def of(cls, variable: Variable, bandwidth: float, ranks: bool, standardize: bool) -> Feature:
        """Give numbers a common scale, by ranks or by standard deviations."""
        X = variable.standardized(None) if standardize and not ranks else variable.numbers
        numbers = np.nan_to_num([_normal_scores(x) if ranks else x for x in X.T]) / bandwidth
        return cls(
            numbers.reshape(X.T.shape).astype(np.float32), variable.nominal.T.astype(np.int32)
        )

    @property
    def kind(self) -> tuple[int, int]:
        """How many columns of numbers and of labels it has."""
        return len(self.numbers), len(self.labels)

    def take(self, rows: np.ndarray) -> Feature:
        """Return the feature at some rows."""
        return Feature(self.numbers[:, rows], self.labels[:, rows])

    def apart(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return how far rows i and j are apart: squared distances, and how many labels differ."""
        found = np.zeros((2, *np.broadcast_shapes(i.shape, j.shape)), np.float32)
        for x in self.numbers:
            found[0] += (x[i] - x[j]) ** 2
        for x in self.labels:
            found[1] += x[i] != x[j]
        return found


def _normal_scores(x: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of the ranks of a column, with standard deviation 1.

    Ranks make a kernel indifferent to the scale and the tails of a column.
    """
    out, there = np.full(x.shape, np.nan), ~np.isnan(x)
    if there.any():
        scores = ndtri((rankdata(x[there]) - 0.5) / there.sum())
        out[there] = scores / (float(scores.std()) or 1.0)
    return out


def kernel(features: Sequence[Feature], rows: slice) -> np.ndarray:
    """Return the kernel of some rows with all, for features of a kind: rows x n x features."""
    kind = features[0].kind
    if kind == (1, 0):
        x = np.array([f.numbers[0] for f in features]).T
        difference = x[rows, None, :] - x[None, :, :]
        np.multiply(difference, difference, out=difference)
        return np.asarray(np.exp(np.negative(difference, out=difference), out=difference))
    if kind == (0, 1):
        x = np.array([f.labels[0] for f in features]).T
        return np.asarray(x[rows, None, :] == x[None, :, :], dtype=np.float32)
    j = np.arange(features[0].numbers.shape[1])
    return np.stack([weights(f.apart(j[rows, None], j), 1.0) for f in features], axis=2)


def weights(apart: np.ndarray, power: float) -> np.ndarray:
    """Return the product of kernels to a power, which widens all bandwidths by a common factor."""
    return np.asarray(np.exp(log_weights(apart, power)))


def log_weights(apart: np.ndarray, power: float) -> np.ndarray:
    """Return the logarithms of such weights.

    Labels that differ count (1 - power)^3: a label of two levels then gains as much of its
    effective share of pairs as a number does.
    """
    squares, differing = apart
    label = np.log(max((1.0 - power) ** 3, LEAST))
    return np.asarray(np.float32(-power) * squares + np.float32(label) * differing)


class Block:
    """Some rows, all pairs of them, and how far these are apart in the given features."""

    def __init__(self, features: Sequence[Feature], target: Feature, smoothing: float) -> None:
        self.features, self.smoothing = features, smoothing
        self.n = n = target.numbers.shape[1]
        self.t = kernel([target], slice(0, n))[:, :, 0].copy()
        np.fill_diagonal(self.t, 0.0)
        self.p = self.t.sum(axis=1, dtype=np.float64) / (n - 1)
        self._given: Features = ()
        self._apart = np.zeros((2, n, n), np.float32)

    def apart(self, given: Features) -> np.ndarray:
        """Return how far all rows are apart in some features together."""
        if given[: len(self._given)] != self._given:
            self._given, self._apart = (), np.zeros_like(self._apart)
        for feature in given[len(self._given) :]:
            self._apart = self._apart + self.apart_in(feature)
        self._given = given
        return self._apart

    def apart_in(self, feature: int) -> np.ndarray:
        """Return how far all rows are apart in one feature."""
        rows = np.arange(self.n)
        return self.features[feature].apart(rows[:, None], rows)

    def sums(self, w: np.ndarray) -> np.ndarray:
        """Return the sums over j of weights w and of w t for each row, without itself: rows x 2."""
        np.fill_diagonal(w, 0.0)
        same = np.einsum("ij,ij->i", w, self.t, dtype=np.float64)
        return np.stack([w.sum(axis=1, dtype=np.float64), same], axis=1)

    def bits(self, w: np.ndarray, before: np.ndarray | float = 0.0) -> np.ndarray:
        """Return the neighbor information of each row by weights w, given that before: rows x 1."""
        sums = self.sums(w)
        return self.predicted(sums[:, :1], sums[:, 1:], self.p[:, None], np.exp2(before))

    def predicted(
        self, total: np.ndarray, same: np.ndarray, p: np.ndarray, prior: np.ndarray | float
    ) -> np.ndarray:
        """Return log2 of the predicted over the mean probability of each row's own target.

        Where few rows are similar the prediction is near the `prior`, in units of that mean.
        """
        # A row that shares its target with nobody predicts nothing, whatever the columns.
        safe = np.where(p > 0, p, 1.0)
        ratio = (same / safe + self.smoothing * prior) / (total + self.smoothing)
        return np.where(p > 0, np.log2(ratio), 0.0)

    def sums_with(self, w: np.ndarray, features: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Return the sums over j of w k and of w t k: rows x 2 orders x candidates.

        In each order, the kernels k of candidates stay and all else is permuted.
        """
        n = self.n
        np.fill_diagonal(w, 0.0)
        both = np.empty((n, 2 * len(orders), n), np.float32)
        for b, order in enumerate(orders):
            for k, part in enumerate((w, w * self.t)):
                both[:, 2 * b + k] = part[order].take(order, axis=1)
        kinds = defaultdict(list)
        for k, f in enumerate(features.tolist()):
            kinds[self.features[f].kind].append(k)
        found = np.empty((n, 2 * len(orders), len(features)), np.float32)
        for some in [same[part] for same in kinds.values() for part in slices(len(same), WIDE)]:
            alike = [self.features[f] for f in features[some]]
            for rows in slices(n, max(1, CHUNK // (n * len(some)))):
                found[rows, :, some] = np.matmul(both[rows], kernel(alike, rows))
        return found

    def pair_sums(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return sums of k_a k_b and of t k_a k_b over some pairs of rows, and the sum of t."""
        (plain, same), target = np.zeros((2, len(features), len(features))), 0.0
        rows = np.arange(self.n)
        for shift in range(1, PAIR_SHIFTS + 1):
            others = (rows + shift) % self.n
            apart = [self.features[f].apart(rows, others) for f in features.tolist()]
            w = weights(np.stack(apart, axis=2), 1.0)
            t = self.t[rows, others]
            plain += w.T @ w
            same += (w * t[:, None]).T @ w
            target += float(t.sum())
        return plain, same, target
