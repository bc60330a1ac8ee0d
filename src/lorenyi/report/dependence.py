"""Mutual information of each pair of columns, with standard errors, chance and significance."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

from lorenyi import _arrays
from lorenyi._threads import parallel
from lorenyi.data.reading import read_columns, take_rows
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram, gram
from lorenyi.inference.features import BANDWIDTHS, Basis, basis
from lorenyi.inference.permuting import Orders, permute
from lorenyi.inference.quadratic import Quadratic, views
from lorenyi.inference.rows import tested_rows
from lorenyi.kernels import Delta, Gaussian, Kernel

Progress = Callable[[str, float | None], None]
LEVEL = 0.05  # false discovery rate of significant pairs
MAX_ROWS = 2000  # rows on which pairs are measured: standard errors are below .02 bits
MIN_ROWS = 10  # rows that two columns with missing values must have in common
PERMUTATIONS = 39  # per pair; they are pooled over pairs of the same kind
MOST_PERMUTATIONS = 1999


@dataclass(frozen=True, eq=False)
class Dependence:
    """Mutual information of each pair of c columns.

    Attributes
    ----------
    names : list of str
        The columns.
    bits, errors, chance : arrays, c x c
        Mutual information, its standard error, and its value with the rows of one column
        permuted; on the diagonal of `bits` a column's own entropy. NaN where nothing was measured.
    p_values : array, c x c
        Of the test of independence; permutations are pooled over pairs of the same kind.
    significant : array of bool, c x c
        Pairs with a false discovery rate of at most 5 %.
    rows : int
        Rows measured.
    total : int
        Rows of the table.
    left : int
        Pairs not measured for lack of time.
    """

    names: list[str]
    bits: np.ndarray
    errors: np.ndarray
    chance: np.ndarray
    p_values: np.ndarray
    significant: np.ndarray
    rows: int
    total: int
    left: int = 0

    @property
    def beyond(self) -> np.ndarray:
        """Mutual information minus chance; on the diagonal the entropy."""
        return np.asarray(
            np.where(np.eye(len(self.names), dtype=bool), self.bits, self.bits - self.chance)
        )

    def ordered(self, order: Sequence[int]) -> Dependence:
        """Return the same with the columns in another order."""
        grid = np.ix_(order, order)
        return Dependence(
            [self.names[i] for i in order],
            self.bits[grid],
            self.errors[grid],
            self.chance[grid],
            self.p_values[grid],
            self.significant[grid],
            self.rows,
            self.total,
            self.left,
        )

    @property
    def count(self) -> int:
        """How many pairs are significant."""
        return int(self.significant.sum()) // 2

    def partners(self, i: int) -> list[int]:
        """Return the columns on which one depends significantly, the most informative first."""
        found = np.flatnonzero(self.significant[i])
        return [int(j) for j in found[np.argsort(-self.beyond[i, found], kind="stable")]]

    def pairs(self) -> list[tuple[int, int]]:
        """Return the measured pairs, sorted by their information beyond chance."""
        found = [p for p in combinations(range(len(self.names)), 2) if not np.isnan(self.bits[p])]
        return sorted(found, key=lambda p: -self.beyond[p])


def dependences(
    table: Any,
    names: Sequence[str],
    *,
    entropy: Renyi = Renyi(),
    kernels: Mapping[str, Kernel] | None = None,
    whole: bool = False,
    n_jobs: int | None = None,
    max_seconds: float | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> Dependence:
    """Measure each pair of columns on the rows that have both values; see `matrix`."""
    deadline = time.monotonic() + (np.inf if max_seconds is None else max_seconds)
    sides, total = _sides(table, names, kernels or {}, entropy, whole, seed)
    pairs = list(combinations(range(len(names)), 2))
    kinds = [sides[i].nominal + sides[j].nominal for i, j in pairs]
    counts = [_permutations(len(pairs), kinds.count(kind)) for kind in (0, 1, 2)]
    done, telling = [0], threading.Lock()  # counts are told in order

    def measured(number: int) -> tuple[float, float, float, np.ndarray] | None:
        i, j = pairs[number]
        if time.monotonic() > deadline:
            return None
        found = _measured(sides[i], sides[j], entropy, counts[kinds[number]], seed + number)
        with telling:
            done[0] += 1
            if progress is not None:
                progress(f"{done[0]} of {len(pairs)} pairs", done[0] / len(pairs))
        return found

    found = parallel(measured, range(len(pairs)), n_jobs)
    own = [side.bits(entropy) for side in sides]
    return _collected(list(names), pairs, kinds, found, own, len(sides[0].present), total)


@dataclass(frozen=True, eq=False)
class _Variable:
    """A column on some rows: its Gram, its entropy, and its features for the test."""

    gram: Gram
    entropy: Estimate
    basis: Basis

    @classmethod
    def of(cls, A: Gram, entropy: Renyi) -> _Variable:
        return cls(A, entropy(A), basis(tested_rows([A], 0)[0], BANDWIDTHS))


@dataclass(frozen=True, eq=False)
class _Side:
    """A column, which of its values are present, and its variable if all are."""

    name: str
    values: Any
    present: np.ndarray
    kernel: Kernel
    nominal: bool
    full: _Variable | None

    def on(self, rows: np.ndarray, entropy: Renyi) -> _Variable:
        if self.full is not None and len(rows) == len(self.present):
            return self.full
        A = gram(take_rows(self.values, rows, self.name), self.kernel, name=self.name)
        return _Variable.of(A, entropy)

    def bits(self, entropy: Renyi) -> float:
        rows = np.flatnonzero(self.present)
        return float(self.on(rows, entropy).entropy) if len(rows) > 1 else 0.0


def _sides(
    table: Any,
    names: Sequence[str],
    kernels: Mapping[str, Kernel],
    entropy: Renyi,
    whole: bool,
    seed: int,
) -> tuple[list[_Side], int]:
    columns = [read_columns(table[name], name)[0] for name in names]
    total = len(columns[0].values)
    rows = np.arange(total)
    if total > MAX_ROWS and not whole:
        rows = np.sort(_arrays.choose(seed, 41, total, MAX_ROWS))
    sides = []
    for name, column in zip(names, columns, strict=True):
        nominal = column.categorical and name not in kernels
        kernel = kernels.get(name, Delta() if nominal else Gaussian())
        values = take_rows(table[name], rows, name) if len(rows) < total else table[name]
        present = ~column.gaps[rows]
        full = None
        if present.all():
            full = _Variable.of(gram(values, kernel, name=name), entropy)
        sides.append(_Side(name, values, present, kernel, nominal, full))
    return sides, total


def _permutations(pairs: int, alike: int) -> int:
    """Return how many permutations per pair resolve the p-values that many pairs need."""
    wanted = int(np.ceil(pairs / LEVEL / max(alike, 1)))
    return min(max(PERMUTATIONS, wanted), MOST_PERMUTATIONS)


def _measured(
    x: _Side, y: _Side, entropy: Renyi, permutations: int, seed: int
) -> tuple[float, float, float, np.ndarray]:
    """Return bits, their error, chance, and the test's statistics, the observed one first."""
    rows = np.flatnonzero(x.present & y.present)
    if len(rows) < MIN_ROWS:
        return np.nan, np.nan, np.nan, np.zeros(0)
    a, b = x.on(rows, entropy), y.on(rows, entropy)
    groups = np.zeros(len(a.gram), dtype=np.int64)
    orders = Orders(seed, groups[None])

    found = a.entropy + b.entropy - entropy(a.gram * b.gram)
    permuted = entropy.bits(a.gram * b.gram.take(orders([0])[0]))
    chance = float(a.entropy) + float(b.entropy) - permuted
    seen = views(a.basis, b.basis, BANDWIDTHS)
    quadratic = Quadratic(a.basis.columns, b.basis.columns, seen, groups)
    test = permute(quadratic, orders, permutations, None, False)
    error = float(found.standard_error)
    return float(found), error, chance, np.array([test.statistic, *test.null])


def _collected(
    names: list[str],
    pairs: list[tuple[int, int]],
    kinds: list[int],
    found: list[Any],
    own: list[float],
    rows: int,
    total: int,
) -> Dependence:
    c = len(names)
    grids = [np.full((c, c), np.nan) for _ in range(4)]
    done = [k for k, value in enumerate(found) if value is not None and len(value[3])]
    for kind in set(kinds):
        alike = [k for k in done if kinds[k] == kind]
        for k, p in zip(alike, _pooled([found[k][3] for k in alike]), strict=True):
            for grid, value in zip(grids, (*found[k][:3], p), strict=True):
                grid[pairs[k]] = grid[pairs[k][::-1]] = value
    bits, errors, chance, p_values = grids
    np.fill_diagonal(bits, own)
    significant = np.zeros((c, c), dtype=bool)
    if done:
        at = tuple(np.array([pairs[k] for k in done]).T)
        significant[at] = false_discovery_control(p_values[at]) <= LEVEL
    significant |= significant.T
    left = sum(value is None for value in found)
    return Dependence(names, bits, errors, chance, p_values, significant, rows, total, left)


def _pooled(tests: list[np.ndarray]) -> np.ndarray:
    """Return p-values of standardized statistics among the pooled permutations."""
    if not tests:
        return np.zeros(0)
    values = np.stack(tests)
    others = [np.delete(values[:, 1:], b, axis=1) for b in range(values.shape[1] - 1)]
    null = np.concatenate([_standard(values[:, b + 1], o) for b, o in enumerate(others)])
    null, z = np.sort(null), _standard(values[:, 0], values[:, 2:])
    above = len(null) - np.searchsorted(null, z - 1e-12)
    return np.asarray((1 + above) / (1 + len(null)))


def _standard(values: np.ndarray, null: np.ndarray) -> np.ndarray:
    deviation = null.std(axis=1, ddof=1)
    safe = np.where(deviation > 1e-12, deviation, np.inf)
    return np.asarray((values - null.mean(axis=1)) / safe)
