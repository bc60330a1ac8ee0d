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
LEAST = 1e-12  # a weight below is none
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
            missing = np.isnan(variable.numbers)
            own = [np.nan_to_num(x) / bandwidth for x in _scaled(variable, scale).T]
            kinds = [*missing[:, missing.any(axis=0)].T, *variable.symbols.T]
            places.append(
                (
                    list(range(len(numbers), len(numbers) + len(own))),
                    list(range(len(labels), len(labels) + len(kinds))),
                )
            )
            numbers += own
            labels += kinds
        n = len(variables[0].symbols)
        return cls(_stacked(numbers, n, np.float32), _stacked(labels, n, np.int32), places)

    def take(self, rows: np.ndarray) -> Columns:
        """Return the columns at some rows."""
        return Columns(self.numbers[rows], self.labels[rows], self.places)

    def kind(self, feature: int) -> tuple[int, int]:
        """Return how many columns of numbers and of labels a feature has."""
        numbers, labels = self.places[feature]
        return len(numbers), len(labels)

    def kernel(self, rows: slice, features: Sequence[int]) -> np.ndarray:
        """Return the kernel of some rows with all, for features of a kind: rows x n x features."""
        kind = self.kind(features[0])
        if kind == NUMBER:
            x = self.numbers[:, [self.places[f][0][0] for f in features]]
            difference = x[rows, None, :] - x[None, :, :]
            np.multiply(difference, difference, out=difference)
            return np.asarray(np.exp(np.negative(difference, out=difference), out=difference))
        if kind == LABEL:
            x = self.labels[:, [self.places[f][1][0] for f in features]]
            return np.asarray(x[rows, None, :] == x[None, :, :], dtype=np.float32)
        j = np.arange(len(self.numbers))
        return np.stack([weights(self.apart(f, j[rows, None], j), 1.0) for f in features], axis=2)

    def apart(self, feature: int, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return how far rows i and j are apart: squared distances, and how many labels differ."""
        numbers, labels = self.places[feature]
        found = np.zeros((2, *np.broadcast_shapes(i.shape, j.shape)), np.float32)
        for x in self.numbers[:, numbers].T:
            found[0] += (x[i] - x[j]) ** 2
        for x in self.labels[:, labels].T:
            found[1] += x[i] != x[j]
        return found


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


def bits(
    total: np.ndarray,
    same: np.ndarray,
    p: np.ndarray,
    smoothing: float,
    prior: np.ndarray | float = 1.0,
) -> np.ndarray:
    """Return log2 of the predicted over the mean probability of each row's own target.

    Where few rows are similar the prediction is near the `prior`, in units of that mean.
    """
    # A row that shares its target with nobody predicts nothing, whatever the columns.
    safe = np.where(p > 0, p, 1.0)
    ratio = (same / safe + smoothing * prior) / (total + smoothing)
    return np.where(p > 0, np.log2(ratio), 0.0)


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
    """Some rows, all pairs of them, and how far these are apart in the given features."""

    def __init__(self, columns: Columns, target: Columns) -> None:
        self.columns = columns
        n = len(columns.numbers)
        self.t = target.kernel(slice(0, n), range(len(target.places)))[:, :, 0].copy()
        np.fill_diagonal(self.t, 0.0)
        self.p = self.t.sum(axis=1, dtype=np.float64) / (n - 1)
        self._given: Features = ()
        self._apart = np.zeros((2, n, n), np.float32)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.t)

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
        rows = np.arange(len(self))
        return self.columns.apart(feature, rows[:, None], rows)

    def sums(self, w: np.ndarray) -> np.ndarray:
        """Return the sums over j of weights w and of w t for each row, without itself: rows x 2."""
        np.fill_diagonal(w, 0.0)
        same = np.einsum("ij,ij->i", w, self.t, dtype=np.float64)
        return np.stack([w.sum(axis=1, dtype=np.float64), same], axis=1)

    def bits(self, w: np.ndarray, smoothing: float, before: np.ndarray | float = 0.0) -> np.ndarray:
        """Return the neighbor information of each row by weights w, given that before: rows x 1."""
        sums = self.sums(w)
        return bits(sums[:, :1], sums[:, 1:], self.p[:, None], smoothing, np.exp2(before))

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
        w = weights(self.apart(given), power)
        np.fill_diagonal(w, 0.0)
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

    def pair_sums(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, int]:
        """Return sums of k_a k_b and of t k_a k_b over some pairs of rows, of t, and how many."""
        d, rows = len(features), np.arange(len(self))
        plain, same, target = np.zeros((d, d)), np.zeros((d, d)), 0.0
        for shift in range(1, PAIR_SHIFTS + 1):
            others = (rows + shift) % len(self)
            apart = [self.columns.apart(f, rows, others) for f in features.tolist()]
            kernel = weights(np.stack(apart, axis=2), 1.0)
            t = self.t[rows, others]
            plain += kernel.T @ kernel
            same += (kernel * t[:, None]).T @ kernel
            target += float(t.sum())
        return plain, same, target, PAIR_SHIFTS * len(self)

    def sampled(self, given: Features) -> np.ndarray:
        """Return how far some pairs of different rows are apart."""
        n = len(self)
        places = np.arange(0, n * n, max(n * n // SHARE_ROWS, 1))
        i, j = places // n, places % n
        return self.apart(given)[:, i[i != j], j[i != j]]
