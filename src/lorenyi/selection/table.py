"""What a search reads: features as units of columns, a target, and frequencies of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lorenyi import _arrays
from lorenyi.gram import Gram, gram, joint
from lorenyi.joints import Variables
from lorenyi.kernels import Delta, Gaussian, Kernel
from lorenyi.selection.limits import LIMITS


@dataclass(frozen=True, eq=False)
class Variable:
    """One feature, or the target: columns that come in or out together."""

    numbers: np.ndarray  # n x d; NaN stands for a missing value, which is a value of its own
    symbols: np.ndarray  # n x e: codes of categorical columns

    def take(self, index: np.ndarray) -> Variable:
        """Return the variable of the rows at these positions."""
        return Variable(self.numbers[index], self.symbols[index])

    @cached_property
    def values(self) -> np.ndarray:
        """Codes of the distinct values, all columns together."""
        return _arrays.numbered(*self.numbers.T, *self.symbols.T)

    @property
    def is_constant(self) -> bool:
        """Whether all rows have the same values; missing ones are equal."""
        X, S = self.numbers, self.symbols
        same = (X[:1] == X) | (np.isnan(X) & np.isnan(X[:1]))
        return bool(same.all() and (S[:1] == S).all())

    @property
    def nominal(self) -> np.ndarray:
        """What is compared by equality: symbols, and whether a number is missing."""
        missing = np.isnan(self.numbers)
        return np.hstack([self.symbols, missing[:, missing.any(axis=0)].astype(np.int64)])

    def standardized(self, weights: np.ndarray | None) -> np.ndarray:
        """Return the numeric columns with mean 0 and deviation 1 (a constant one as zeros)."""
        largest = np.nanmax(np.abs(self.numbers), axis=0, initial=0.0)
        X = np.ldexp(self.numbers, -np.frexp(largest)[1])  # squares neither overflow nor vanish
        w = np.where(np.isnan(X), 0.0, 1.0 if weights is None else weights[:, None])
        total = np.maximum(w.sum(axis=0), np.finfo(float).tiny)
        X = X - np.where(np.isnan(X[:1]), 0.0, X[:1])  # keeps digits where the mean is large
        mean = np.nansum(w * X, axis=0) / total
        deviation = np.sqrt(np.nansum(w * (X - mean) ** 2, axis=0) / total)
        zero = np.nanmax(np.abs(X), axis=0, initial=0.0) == 0
        flat = zero | ~(deviation > 1e-14 * np.abs(mean))
        scaled = (X - mean) / np.where(flat, 1, deviation)
        return np.where(flat & ~np.isnan(X), 0.0, scaled)

    @cached_property
    def ranked(self) -> Variable:
        """Return the variable with ranks for numbers, equal ones with their mean rank."""
        ranks = self.numbers.copy()
        for x in ranks.T:
            there = ~np.isnan(x)
            _, code, counts = np.unique(x[there], return_inverse=True, return_counts=True)
            x[there] = (np.cumsum(counts) - 0.5 * (counts - 1))[code]
        return replace(self, numbers=ranks)

    @property
    def key(self) -> np.ndarray:
        """64 bits a row that no shift, scale or sign of a number, nor names of labels change."""
        code = self.values
        if not self.numbers.shape[1]:
            code = np.bincount(code)[code]
        return _arrays.row_keys([np.minimum(code, code.max() - code)[:, None]])

    def signature(self, standardize: bool, weights: np.ndarray | None) -> bytes:
        """Return bytes that no shift, scale (if standardized) or names of symbols change."""
        X = np.nan_to_num(self.standardized(weights) if standardize else self.numbers)
        leading = np.argmax(np.abs(X) > 0.5 * np.abs(X).max(axis=0, initial=0.0), axis=0)
        negative = X[leading, np.arange(X.shape[1])] < 0
        parts = [np.round(np.where(negative, -X, X), 9) + 0.0]
        parts += [_arrays.group_rows([column[:, None]])[1] for column in self.nominal.T]
        return b"".join(hashlib.sha256(p.tobytes()).digest() for p in parts)

    def gram(self, kernel: Kernel, standardize: bool, weights: np.ndarray | None) -> Gram:
        """Return the Gram: the kernel on numbers, equality on symbols and on being missing."""
        numbers = self.standardized(weights) if standardize else self.numbers
        parts = [(np.nan_to_num(numbers), kernel), (self.nominal, Delta())]
        return joint(*[gram(x, k, weights=weights) for x, k in parts if x.shape[1]])


def by_weight(weights: np.ndarray, size: int) -> np.ndarray:
    """Return positions of rows, in order and so many, each as often as its weight has it."""
    reached = np.cumsum(weights)
    places = (np.arange(size) + 0.5) * (reached[-1] / size)
    return np.asarray(np.searchsorted(reached, places, side="right"))


@dataclass(frozen=True, eq=False)
class Table:
    """Features and target of the same rows."""

    features: Sequence[Variable]  # candidates of a search
    target: Variable
    weights: np.ndarray | None = None  # frequencies of the rows
    kernel: Kernel = Gaussian(1.0)  # of numeric columns
    standardize: bool = True  # whether these are standardized before

    def __len__(self) -> int:
        return len(self.target.symbols)

    @property
    def total(self) -> float:
        """Number of points: rows, or the sum of their frequencies."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    def gram(self, feature: int) -> Gram:
        """Return the Gram of a feature."""
        return self.features[feature].gram(self.kernel, self.standardize, self.weights)

    def target_gram(self) -> Gram:
        """Return the Gram of the target: numbers are standardized, with a Gaussian of 1."""
        return self.target.gram(Gaussian(1.0), True, self.weights)

    def variables(self) -> Variables:
        """Return features and target for certified entropies of their joints, class by class."""
        labels = self.target.numbers.shape[1] == 0
        classes = self.target.values if labels else np.zeros(len(self), dtype=np.int64)
        order, weights = np.argsort(classes, kind="stable"), self.weights
        if weights is not None:
            order = order[weights[order] > 0]
        rows = self.take(order, None if weights is None else weights[order])
        codes = [feature.values for feature in rows.features]
        target = rows.target_gram(), rows.target.values
        return Variables(rows.gram, codes.__getitem__, *target, labels, self.total)

    def take(self, index: np.ndarray, weights: np.ndarray | None) -> Table:
        """Return the table of the rows at these positions."""
        features = [feature.take(index) for feature in self.features]
        return replace(self, features=features, target=self.target.take(index), weights=weights)

    def folded(self) -> Table:
        """Return the table with equal rows as one, in an order that rows alone determine.

        Random draws are then the same for copies or weights, orders, scales and names of labels.
        """
        first, group = _arrays.group_rows(self._parts)
        weights = np.ones(len(self)) if self.weights is None else self.weights
        frequency = np.bincount(group, weights=weights)
        first, frequency = first[frequency > 0], frequency[frequency > 0]
        found = self.take(first, None)
        keys = [_arrays.row_keys(found._parts), found.target.key]
        order = np.lexsort([*keys, sum((v.key for v in found.features), start=0 * keys[1])])
        return found.take(order, None if (frequency == 1).all() else frequency[order])

    @property
    def _parts(self) -> list[np.ndarray]:
        variables = [*self.features, self.target]
        return [p for v in variables for p in (v.numbers, v.symbols) if p.shape[1]]

    def apart(self) -> tuple[Table, np.ndarray]:
        """Return the rows to compare, and the weight of each, 1 in the mean.

        They are all points; but of copies, as in a bootstrap sample, which would predict each
        other, there is one. Equal rows are copies where some number tells most of many rows apart.
        """
        if self.weights is None:
            return self, np.ones(len(self))
        numbers = [v for v in (*self.features, self.target) if v.numbers.shape[1]]
        told = max((int(v.values.max()) + 1 for v in numbers), default=0)
        halves = [self.features[k::2] for k in (0, 1)] if len(self.features) > 1 else []
        each = [int(_arrays.numbered(*(v.values for v in half)).max()) + 1 for half in halves]
        if max(told, min(each, default=0)) < max(LIMITS.told_apart, 0.5 * len(self)):
            size = min(round(self.total), LIMITS.points)
            found = self.take(by_weight(self.weights, size), None)
            return found, np.ones(size)
        return self, self.weights / self.weights.mean()

    def permuted(self, feature: int, chosen: Sequence[int], count: int, seed: int) -> Table:
        """Return a table of the chosen features, then permuted copies of one, then a constant."""
        whole, _ = self.apart()
        kept, last = [whole.features[i] for i in chosen], whole.features[feature]
        orders = [np.argsort(_arrays.hashed(seed, 2 + b, len(whole))[:, 0]) for b in range(count)]
        orders.append(np.zeros(len(whole), dtype=np.int64))  # of the constant
        features = [*kept, *(last.take(order) for order in orders)]
        return replace(whole, features=features)

    def repeated(self, ranks: bool) -> list[int]:
        """Return a number for each feature, equal where one repeats another, or its ranks."""
        seen: dict[bytes, int] = {}
        features = [feature.ranked if ranks else feature for feature in self.features]
        keys = [feature.signature(ranks or self.standardize, self.weights) for feature in features]
        return [seen.setdefault(key, u) for u, key in enumerate(keys)]
