"""Blocks of rows, all pairs of which are compared, and sums over these for many candidates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from lorenyi.data.sources import slices
from lorenyi.inference.features import normal_quantiles
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Variable

LEAST = 1e-12  # a weight below is none
Powers: TypeAlias = tuple[float, float]  # of weights: of numbers, of labels


def prepared(variable: Variable, bandwidth: float, ranks: bool, standardize: bool) -> Variable:
    """Return a variable as kernels read it: numbers in bandwidths, and being missing as a label."""
    if ranks:  # normal scores, with deviation 1: scale and tails of a column do not matter
        scores = normal_quantiles(variable.ranked.numbers)
        deviation = np.ma.masked_invalid(scores).std(axis=0).filled(0.0)
        numbers = scores / np.where(deviation > 0, deviation, 1.0)
    else:
        numbers = variable.standardized(None) if standardize else variable.numbers
    numbers = (np.nan_to_num(numbers) / bandwidth).astype(np.float32)
    return Variable(numbers, variable.nominal.astype(np.int32))


def apart(variable: Variable, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return how far rows i and j are apart: squared distances, and how many labels differ."""
    found = np.zeros((2, *np.broadcast_shapes(i.shape, j.shape)), np.float32)
    for x in variable.numbers.T:
        found[0] += (x[i] - x[j]) ** 2
    for x in variable.symbols.T:
        found[1] += x[i] != x[j]
    return found


def _kind(variable: Variable) -> tuple[int, int]:
    return variable.numbers.shape[1], variable.symbols.shape[1]


def kernel(variables: Sequence[Variable], rows: Sequence[slice]) -> Iterator[np.ndarray]:
    """Give the kernels of some rows with all, for variables of a kind: rows x n x variables."""
    kind = _kind(variables[0])
    if kind in ((1, 0), (0, 1)):
        x = np.array([(v.numbers if kind[0] else v.symbols)[:, 0] for v in variables]).T
    for some in rows:
        if kind == (1, 0):
            difference = x[some, None, :] - x[None, :, :]
            np.multiply(difference, difference, out=difference)
            yield np.exp(np.negative(difference, out=difference), out=difference)
        elif kind == (0, 1):
            yield np.asarray(x[some, None, :] == x[None, :, :], dtype=np.float32)
        else:
            j = np.arange(len(variables[0].numbers))
            each = [np.exp(log_weights(apart(v, j[some, None], j))) for v in variables]
            yield np.stack(each, axis=2)


def log_weights(
    distance: np.ndarray, power: float = 1.0, of_labels: float | None = None
) -> np.ndarray:
    """Return logarithms of products of kernels to a power, which widens all bandwidths alike.

    Labels that differ count (1 - power)^2: a label of two levels then gains as much of its
    effective share of pairs as a number does.
    """
    squares, differing = distance
    log = np.float32(-power) * squares
    if differing.any():
        same = max(1.0 - (power if of_labels is None else of_labels), 0.0)
        log += np.float32(math.log(same**2 + LEAST)) * differing
    return np.asarray(log)


class Shown(NamedTuple):
    """What the features of a path show in a block of rows."""

    log: np.ndarray  # logarithms of the weights: rows x rows
    sums: np.ndarray  # of the weights, and of these for the same target: rows x 2
    smoothing: float
    bits: np.ndarray  # neighbor information of each row: rows x 1
    mean: float  # of these
    moves: np.ndarray  # its derivatives in how often each other row occurs: rows x rows


class Block:
    """Some rows with weights, all pairs of them, and how far these are apart in given features."""

    def __init__(
        self, features: Sequence[Variable], target: Variable, v: np.ndarray, smoothing: float
    ) -> None:
        self.features, self.smoothing = features, [smoothing * a for a in LIMITS.smoothing]
        self.v = v.astype(np.float32)  # how much each row counts
        self.others = v.sum() - v  # how much all others do
        self.n = n = len(target.numbers)
        self.t = next(kernel([target], [slice(0, n)]))[:, :, 0].copy()
        self.is_number = target.numbers.shape[1] > 0
        np.fill_diagonal(self.t, 0.0)
        self.p = (self.t @ v) / self.others
        self.tv = self.t * self.v
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
        return apart(self.features[feature], rows[:, None], rows)

    def weights(self, given: Features, powers: Powers = (1.0, 1.0)) -> np.ndarray:
        """Return the product of the kernels of some features, to powers: rows x rows."""
        return np.asarray(np.exp(log_weights(self.apart(given), *powers)))

    def sums(self, w: np.ndarray) -> np.ndarray:
        """Return the sums over j of v w and of v w t for each row, without itself: rows x 2."""
        np.fill_diagonal(w, 0.0)
        return np.stack([w @ self.v, np.vecdot(w, self.tv)], axis=1).astype(np.float64)

    def shown(self, log: np.ndarray, before: Shown | None = None) -> Shown:
        """Return what weights of these logarithms show, given what was shown before."""
        return self.smoothed(log, self.sums(np.exp(log)), before)

    def smoothed(self, log: np.ndarray, sums: np.ndarray, before: Shown | None) -> Shown:
        """Return what sums of weights show, with the smoothing that predicts best."""
        prior = 1.0 if before is None else np.exp2(before.bits)
        total, same, p = sums[:, :1], sums[:, 1:], self.p[:, None]
        bits = np.hstack([self.predicted(total, same, p, prior, a) for a in self.smoothing])
        means = self.v @ bits / self.n
        best = int(np.argmax(means))
        moves = np.zeros_like(self.t) if before is None else before.moves
        found = bits[:, best : best + 1], float(means[best]), moves
        return Shown(log, sums, self.smoothing[best], *found)

    def bits(self, w: np.ndarray) -> np.ndarray:
        """Return the neighbor information of each row by weights w: rows x 1."""
        sums = self.sums(w)
        return self.predicted(sums[:, :1], sums[:, 1:], self.p[:, None], 1.0, self.smoothing[0])

    def predicted(
        self,
        total: np.ndarray,
        same: np.ndarray,
        p: np.ndarray,
        prior: np.ndarray | float,
        smoothing: float,
    ) -> np.ndarray:
        """Return log2 of the predicted over the mean probability of each row's own target.

        Where few rows are similar the prediction is near the `prior`, in units of that mean.
        """
        # A row that shares its target with nobody predicts nothing, whatever the columns.
        safe = np.where(p > 0, p, np.ones_like(p))
        ratio = (same / safe + smoothing * prior) / (total + smoothing)
        return np.where(p > 0, np.log2(ratio), 0.0)

    def moving(self, shown: Shown, before: Shown) -> Shown:
        """Return what is shown with its derivatives, given what was shown before."""
        total, same = shown.sums.T
        p, a = np.where(self.p > 0, self.p, 1.0), shown.smoothing
        prior = a * np.exp2(before.bits[:, 0])
        predicted = same + p * prior
        # The frequency of a label varies; normal scores of a number are always the same ones.
        of_p = 0.0 * same if self.is_number else same / (predicted * self.others)
        columns = [1 / predicted, of_p / p, 1 / (total + a), math.log(2) * prior * p / predicted]
        own, each, all_, old = (np.asarray(x, np.float32)[:, None] for x in columns)
        w = np.exp(shown.log)
        moved = (w * own - each) * self.t - w * all_ + of_p.astype(np.float32)[:, None]
        moved += old * before.moves
        np.fill_diagonal(moved, 0.0)
        moved[self.p == 0] = 0.0
        return shown._replace(moves=np.float32(1 / math.log(2)) * moved)

    def sums_with(self, w: np.ndarray, features: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Return the sums over j of v w k and of v w t k: rows x 2 orders x (1 + candidates).

        The first candidate is a constant.
        """
        n = self.n
        np.fill_diagonal(w, 0.0)
        both, parts = (
            np.empty((n, 2 * len(orders), n), np.float32),
            (w * self.v, w * self.tv),
        )
        as_they_are = np.arange(n)
        for b, order in enumerate(orders):  # the kernels k stay, all else is permuted
            for k, part in enumerate(parts):
                plain = np.array_equal(order, as_they_are)
                both[:, 2 * b + k] = part if plain else part[order].take(order, axis=1)
        kinds = defaultdict(list)
        for k, f in enumerate(features.tolist()):
            kinds[_kind(self.features[f])].append(k)
        found = np.empty((n, 2 * len(orders), 1 + len(features)), np.float32)
        both.sum(axis=2, out=found[:, :, 0])
        pieces = [same[part] for same in kinds.values() for part in slices(len(same), LIMITS.wide)]
        for some in map(np.array, pieces):
            alike = [self.features[f] for f in features[some]]
            rows = list(slices(n, max(1, LIMITS.chunk // (n * len(some)))))
            for at, own in zip(rows, kernel(alike, rows), strict=True):
                found[at, :, 1 + some] = np.matmul(both[at], own)
        return found

    def pair_sums(
        self, features: np.ndarray, third: Features, order: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Return sums of k_a k_b k_c and of t k_a k_b k_c over some pairs of rows, of t, and of 1.

        The target t is that of the rows in an order; c is a third feature, if there is one.
        """
        (plain, same), target, count = np.zeros((2, len(features), len(features))), 0.0, 0.0
        rows = np.arange(self.n)
        for shift in range(1, min(LIMITS.shifts + 1, self.n)):
            others = (rows + shift) % self.n
            each = [apart(self.features[f], rows, others) for f in (*features.tolist(), *third)]
            k, v = np.exp(log_weights(np.stack(each, axis=2))), self.v * self.v[others]
            t, w = self.t[order, order[others]], v * k[:, len(features) :].prod(axis=1)
            k = k[:, : len(features)]
            weighted = k * w[:, None]
            plain += k.T @ weighted
            same += k.T @ (weighted * t[:, None])
            target, count = target + float(v @ t), count + float(v.sum())
        return plain, same, target, count
