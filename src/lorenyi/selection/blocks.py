"""Blocks of rows, all pairs of which are compared, and sums over these for many candidates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np

from lorenyi.data.sources import slices
from lorenyi.inference.features import normal_quantiles
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Variable

LEAST = 1e-12  # a sum of weights below is none
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
        difference = x[i] - x[j]
        difference *= difference
        found[0] += difference
    for x in variable.symbols.T:
        found[1] += x[i] != x[j]
    return found


def kind(variable: Variable) -> tuple[int, int]:
    """Return how many numbers and symbols a variable has."""
    return variable.numbers.shape[1], variable.symbols.shape[1]


def kernel(
    variables: Sequence[Variable], rows: Sequence[slice], last: bool = False
) -> Iterator[np.ndarray]:
    """Give the kernels of some rows with these and all below, for variables of a kind.

    They are variables x rows x rows, in memory that the next ones take: that of a pair of rows is
    in one piece for each variable, or for all variables if these come `last`.
    """
    one, n, c = kind(variables[0]), len(variables[0].numbers), len(variables)
    if one in ((1, 0), (0, 1)):
        x = np.array([(v.numbers if one[0] else v.symbols)[:, 0] for v in variables])
        x = np.asfortranarray(x) if last else x
    memory = np.empty(max(some.stop - some.start for some in rows) * n * c, np.float32)
    for some in rows:
        size, below = some.stop - some.start, slice(some.start, n)
        part = memory[: size * (n - some.start) * c]
        shaped = part.reshape(size, -1, c).transpose(2, 0, 1) if last else part.reshape(c, size, -1)
        if one == (1, 0):
            np.subtract(x[:, some, None], x[:, None, below], out=shaped)
            np.multiply(shaped, shaped, out=shaped)
            np.exp(np.negative(shaped, out=shaped), out=shaped)
        elif one == (0, 1):
            np.equal(x[:, some, None], x[:, None, below], out=shaped)
        else:
            j = np.arange(n)
            for own, v in zip(shaped, variables, strict=True):
                own[:] = np.exp(log_weights(apart(v, j[some, None], j[below])))
        yield shaped


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
        same = 1.0 - (power if of_labels is None else of_labels)
        if same > 0:
            log += np.float32(2 * math.log(same)) * differing
        else:
            log[differing > 0] = -np.inf
    return np.asarray(log)


class Shown(NamedTuple):
    """What the features of a path show in a block of rows."""

    log: np.ndarray  # logarithms of the weights: rows x rows
    # Of the weights, and of these for the same target: 2 x rows x 1, or 1 + groups: without each.
    sums: np.ndarray
    bits: np.ndarray  # neighbor information of each row: rows x 1, or 1 + groups
    mean: float  # of these


class Block:
    """Some rows with weights, all pairs of them, and how far these are apart in given features."""

    def __init__(
        self, features: Sequence[Variable], target: Variable, v: np.ndarray, smoothing: float
    ) -> None:
        self.features, self.smoothing = features, [smoothing * a for a in LIMITS.smoothing]
        self.v = v.astype(np.float32)  # how much each row counts
        self.others = v.sum() - v  # how much all others do
        self.n = n = len(target.numbers)
        self.t = next(kernel([target], [slice(0, n)]))[0].copy()
        np.fill_diagonal(self.t, 0.0)
        groups = np.arange(n) % min(LIMITS.groups, n)
        # Of all rows, and of those that stay as each group is left out in turn.
        self.kept = np.vstack([v, v * (groups != np.unique(groups)[:, None])])
        # The frequency of a label varies; normal scores of a number are always the same ones.
        kept = self.kept[:1] if target.numbers.shape[1] else self.kept
        self.p = (self.t @ kept.T) / np.maximum(kept.sum(axis=1) - v[:, None], LEAST)
        self._given: Features = ()
        self._apart = self._last = np.zeros((2, n, n), np.float32)

    def apart(self, given: Features) -> np.ndarray:
        """Return how far all rows are apart in some features together."""
        if given[: len(self._given)] != self._given:
            self._given, self._apart = (), np.zeros_like(self._apart)
        for feature in given[len(self._given) :]:
            self._last = self.apart_in(feature)
            self._apart = self._apart + self._last
        self._given = given
        return self._apart

    def last_apart(self, given: Features) -> np.ndarray:
        """Return how far all rows are apart in the last of some features."""
        self.apart(given)
        return self._last

    def apart_in(self, feature: int) -> np.ndarray:
        """Return how far all rows are apart in one feature."""
        rows = np.arange(self.n)
        return apart(self.features[feature], rows[:, None], rows)

    def weights(self, given: Features, powers: Powers = (1.0, 1.0)) -> np.ndarray:
        """Return the product of the kernels of some features, to powers: rows x rows."""
        return np.asarray(np.exp(log_weights(self.apart(given), *powers)))

    def sums(self, w: np.ndarray, every: bool = False) -> np.ndarray:
        """Return the sums over j of v w and of v w t for each row: 2 x rows x 1.

        Without itself; those without each group as well, if `every` one is wanted.
        """
        np.fill_diagonal(w, 0.0)
        v = self.kept.astype(np.float32).T if every else self.v[:, None]
        return np.array([w @ v, (w * self.t) @ v], dtype=np.float64)

    def shown(self, log: np.ndarray, before: Shown | None = None, every: bool = False) -> Shown:
        """Return what weights of these logarithms show, given what was shown before."""
        return self.smoothed(log, self.sums(np.exp(log), every), before)

    def smoothed(self, log: np.ndarray, sums: np.ndarray, before: Shown | None) -> Shown:
        """Return what sums of weights show, with the smoothing that predicts best."""
        prior = np.ones((self.n, 1)) if before is None else np.exp2(before.bits)
        prior = prior[:, : sums.shape[2]]
        total, same, p = *sums, self.p[:, : sums.shape[2]]
        first = total[:, :1], same[:, :1], p[:, :1], prior[:, :1]
        means = self.v @ self.predicted(*first, np.array(self.smoothing)) / self.n
        best = int(np.argmax(means))
        bits = self.predicted(total, same, p, prior, self.smoothing[best])
        return Shown(log, sums, bits, float(means[best]))

    def bits(self, w: np.ndarray) -> np.ndarray:
        """Return the neighbor information of each row by weights w: rows x 1."""
        total, same = self.sums(w)
        return self.predicted(total, same, self.p[:, :1], 1.0, self.smoothing[0])

    def predicted(
        self,
        total: np.ndarray,
        same: np.ndarray,
        p: np.ndarray,
        prior: np.ndarray | float,
        smoothing: float | np.ndarray,
    ) -> np.ndarray:
        """Return log2 of the predicted over the mean probability of each row's own target.

        Where few rows are similar the prediction is near the `prior`, in units of that mean.
        """
        # A row that shares its target with nobody predicts nothing, whatever the columns.
        safe = np.where(p > 0, p, np.ones_like(p))
        ratio = (same / safe + smoothing * prior) / (total + smoothing)
        return np.where(p > 0, np.log2(ratio), 0.0)

    def sums_with(self, w: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return the sums over j of v w k and of v w t k: 2 x rows x 1 x candidates."""
        np.fill_diagonal(w, 0.0)
        found = np.zeros((2, len(features), self.n), np.float32)
        for some, at, k in self._kernels(features, *LIMITS.plain):
            rest = slice(at.stop, self.n)
            for sums, by in zip(found, (w, self.t), strict=True):
                k *= by[at, at.start :]
                sums[some, at] += k @ self.v[at.start :]
                sums[some, rest] += self.v[at] @ k[:, :, at.stop - at.start :]
        return found.transpose(0, 2, 1)[:, :, None]

    def permuted_sums(self, w: np.ndarray, features: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Return the same with all but the candidates permuted: 2 x rows x orders x candidates."""
        np.fill_diagonal(w, 0.0)
        both = np.empty((self.n, 2, len(orders), self.n), np.float32)
        for a, part in enumerate((w * self.v, w * self.v * self.t)):
            for b, order in enumerate(orders):
                both[:, a, b] = part[order].take(order, axis=1)
        weights = both.reshape(self.n, -1, self.n)
        found = np.zeros((*weights.shape[:2], len(features)), np.float32)
        for some, at, k in self._kernels(features, *LIMITS.permuted, True):
            rest, below = slice(at.stop, self.n), k[:, :, at.stop - at.start :]
            found[at, :, some] += weights[at, :, at.start :] @ k.transpose(1, 2, 0)
            found[rest, :, some] += weights[rest, :, at] @ below.transpose(2, 1, 0)
        return found.reshape(*both.shape[:3], -1).swapaxes(0, 1)

    def _kernels(
        self, features: np.ndarray, most: int, rows: int, last: bool = False
    ) -> Iterator[tuple[slice, slice, np.ndarray]]:
        """Give some candidates in a row that are of a kind, some rows, and their `kernel`."""
        strips, first = list(slices(self.n, rows)), 0
        for _, same in groupby((self.features[f] for f in features), kind):
            alike = list(same)
            for part in slices(len(alike), most):
                some = slice(first + part.start, first + part.stop)
                for at, found in zip(strips, kernel(alike[part], strips, last), strict=True):
                    yield some, at, found
            first += len(alike)

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
