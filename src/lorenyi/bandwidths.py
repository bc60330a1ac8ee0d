"""Rules that choose a kernel's bandwidth from the points."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.sources import Source, hstack

PAIRS = 500_000  # distances whose median is taken; its own noise is about 0.1 %
MAX_ROWS = 2**18  # that pairs are drawn from
LEAST_SORTED_ROWS = 256  # of one column; of fewer, all distances are as quick
MAX_SORTED_ROWS = 50_000  # of one column, whose distances are counted instead: 0.1 s
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


class Bandwidth(ABC):
    """A rule that chooses a bandwidth from the points: a number, or one for each column."""

    @abstractmethod
    def __call__(self, points: Source, weights: Source | None) -> float | tuple[float, ...]:
        """Return the bandwidth for these points; `weights` is a column of frequencies, if any."""

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the influence of each row on the logarithm of the bandwidth (n x 1, or n x d).

        Parameters
        ----------
        X : array, n x d
            Rows, divided by the bandwidth.
        others : array, m x d
            A sample of all rows, likewise.
        weights : array of m
            Their frequencies.
        """
        return np.zeros((len(X), 1))


@dataclass(frozen=True)
class Median(Bandwidth):
    """The median distance between two points, of the distances that are not zero.

    All distances count up to about 1,000 rows, and those of a single column up to 50,000. Of more
    rows half a million pairs are drawn, in an order that the rows' values alone decide, and the
    median is rounded to four digits: it does not depend on the order of the rows.

    Parameters
    ----------
    per_column : bool
        One bandwidth for each column instead of one for all.
    standardize : bool
        The columns have different units: divide each by its standard deviation first. There is one
        bandwidth for each column then, all the same multiple of its standard deviation.
    pairs : int
        Number of pairs; where there are no more, all are taken.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.gram([[0.0], [1.0], [3.0]], lr.Gaussian(lr.Median()))
    Gram(n=3, Gaussian(sigma=2))
    """

    per_column: bool = False
    standardize: bool = False
    pairs: int = PAIRS

    def __post_init__(self) -> None:
        _require_integer("Median(pairs", self.pairs, 1)
        if self.per_column and self.standardize:
            raise ValueError(
                "Median(per_column=True, standardize=True): one bandwidth for each column makes "
                "standardizing idle; give one of the two"
            )

    def __call__(self, points: Source, weights: Source | None) -> float | tuple[float, ...]:
        """Return the median distance."""
        d = points.shape[1]
        if self.per_column:
            return tuple(self._median(points.each(partial(_column, j)), weights) for j in range(d))
        if self.standardize and d > 1:
            deviation, _ = _spread(points, weights)
            standard = partial(_standard, _origin(points), deviation)
            median = self._median(points.each(standard), weights)
            return tuple(float(median * s) for s in deviation)
        return self._median(points, weights)

    def _median(self, points: Source, weights: Source | None) -> float:
        total = float(len(points) if weights is None else weights.sum(_sum_of_rows)[0])
        rows = len(points)
        counted = points.shape[1] == 1 and LEAST_SORTED_ROWS <= rows <= MAX_SORTED_ROWS
        if rows * (rows - 1) <= 2 * self.pairs and not counted:
            X = _arrays.to_numpy(points.all()).astype(np.float64)
            return _median_of_all(X, np.ones(rows) if weights is None else weights.all()[:, 0])
        if counted:
            x = _arrays.to_numpy(points.all()).astype(np.float64)[:, 0]
            return _median_gap(x, np.ones(rows) if weights is None else weights.all()[:, 0])
        X, frequency = _by_content(points, weights)
        if len(X) * (len(X) - 1) <= 2 * self.pairs:
            return _median_of_all(X, frequency)
        return _median_of_pairs(X, frequency, total, self.pairs)

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        r"""Return :math:`\frac{2}{g} (\frac12 T_i - G_i)` of distances in bandwidths.

        G_i is the share of distances from row i up to 1, g the density of all distances there, and
        T_i = 1; where some distances are zero, which do not count, T_i is how many do from row i
        over their mean.
        """
        if self.per_column:
            pairs = [(X[:, [j]], others[:, [j]]) for j in range(X.shape[1])]
            return np.stack([_median_influence(x, y, weights) for x, y in pairs], axis=1)
        median = _median_influence(X, others, weights)[:, None]
        if not self.standardize or X.shape[1] == 1:
            return median
        return np.asarray(median + _deviation_influence(X, others, weights))


def _require_integer(argument: str, found: object, least: int) -> None:
    if not isinstance(found, (int, np.integer)) or isinstance(found, bool) or found < least:
        name = argument.partition("(")[2]
        raise ValueError(f"{argument}={found!r}): {name} must be an integer of at least {least}")


def _origin(points: Source) -> np.ndarray:
    """Return a row among the points, which one that is far away does not move."""
    rows = _arrays.to_numpy(_arrays.detach(points.rows(slice(0, min(len(points), 101)))))
    return np.quantile(rows.astype(np.float64), 0.5, axis=0, method="lower")


def _standard(origin: np.ndarray, deviation: np.ndarray, rows: Array) -> np.ndarray:
    """Return (x - origin) / deviation: of differences, since a large mean would cost digits."""
    return np.asarray((_arrays.to_numpy(rows).astype(np.float64) - origin) / deviation)


def _column(j: int, rows: Array) -> Array:
    return rows[:, j : j + 1]


def _median_of_all(X: np.ndarray, frequency: np.ndarray) -> float:
    """Return the median of all distances that are not zero."""
    from scipy.spatial.distance import pdist

    scale = _magnitude(X)
    distance = pdist(X / scale)
    i, j = np.triu_indices(len(X), 1)
    return scale * _weighted_median(distance, frequency[i] * frequency[j])


def _weighted_median(distance: np.ndarray, weight: np.ndarray) -> float:
    keep = (distance > 0) & (weight > 0)
    if not keep.any():
        return 1.0  # all points are equal: the kernel is 1 whatever its bandwidth
    distance, weight = distance[keep], weight[keep]
    if (weight == weight[0]).all():
        return float(np.median(distance))
    order = np.argsort(distance)
    mass = np.cumsum(weight[order])
    low = int(np.searchsorted(mass, 0.5 * mass[-1]))
    high = low + 1 if mass[low] == 0.5 * mass[-1] else low
    return float(0.5 * (distance[order[low]] + distance[order[high]]))


def _median_gap(x: np.ndarray, frequency: np.ndarray) -> float:
    """Return the median distance of numbers that differ, by counting pairs of sorted numbers."""
    x, frequency = x[frequency > 0], frequency[frequency > 0]
    frequency = frequency / np.min(frequency, initial=np.inf)  # equal ones are counted exactly
    values, place = np.unique(x, return_inverse=True)
    if len(values) < 2:
        return 1.0
    mass = np.bincount(place, weights=frequency)
    sums = np.concatenate([[0.0], np.cumsum(mass)])
    values = values - values[len(values) // 2]  # a large mean would cost digits of sums below
    scale = _magnitude(values)
    values = values / scale

    def below(distance: float) -> float:
        """Return the number of pairs that differ by at most so much."""
        reached = sums[np.searchsorted(values, values + distance, side="right")]
        return float(mass @ (reached - sums[1:]))

    most = float(values[-1] - values[0])
    half = 0.5 * below(2 * most)

    def first(wanted: float, low: float) -> float:
        """Return the least distance that so many pairs do not exceed."""
        high = most
        while high - low > 1e-13 * high:  # few far away do not make it coarser
            middle = 0.5 * (low + high)
            low, high = (low, middle) if below(middle) >= wanted else (middle, high)
        return high

    lower = first(half, 0.0)
    upper = lower if below(lower) > half * (1 + 1e-12) else first(half * (1 + 1e-12), lower)
    return scale * 0.5 * (lower + upper)


def _by_content(points: Source, weights: Source | None) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct rows and their frequencies, in an order that values alone decide; or some."""
    both = points if weights is None else hstack([points, weights])
    limit = min(MAX_ROWS / len(points), 1.0) * 2.0**64
    found = list(both.map(partial(_below, points.shape[1], limit)))
    rows, keys = (np.concatenate(parts) for parts in zip(*found, strict=True))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    d = points.shape[1]
    count = None if weights is None else rows[:, d]
    return rows[first, :d], np.bincount(group, weights=count).astype(np.float64)


def _below(d: int, limit: float, rows: Array, block: slice) -> tuple[np.ndarray, np.ndarray]:
    rows = _arrays.to_numpy(rows).astype(np.float64)
    keys = _arrays.row_keys([rows[:, :d]])
    few = keys.astype(np.float64) <= limit
    return rows[few], keys[few]


def _median_of_pairs(X: np.ndarray, frequency: np.ndarray, total: float, pairs: int) -> float:
    """Return the median distance of pairs: each place with others far away in the order."""
    ends = np.cumsum(frequency)
    count = int(min(max(round(total), len(X)), MAX_ROWS))
    places = (np.arange(count) + 0.5) * (ends[-1] / count)
    first = np.searchsorted(ends, places)
    scale = _magnitude(X)
    X = X / scale
    found = []
    for step in range(1, -(-pairs // count) + 1):
        moved = (places + ends[-1] * ((step * GOLDEN) % 1.0)) % ends[-1]
        difference = X[first] - X[np.minimum(np.searchsorted(ends, moved), len(X) - 1)]
        found.append(np.sqrt(np.einsum("ij,ij->i", difference, difference)))
    distance = np.concatenate(found)
    return float(f"{scale * _weighted_median(distance, np.ones(len(distance))):.4g}")


def _median_influence(X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    distance = cdist(X, others)
    apart = (distance > 0) @ weights
    near = ((distance > 0) & (distance <= 1.0 + 1e-6)) @ weights  # the median is one of them
    # How much the median moves with the share of distances below it.
    step = -(-len(others) // 512)  # from everywhere: rows may be sorted
    few, mass = others[::step], weights[::step]
    among, pairs = cdist(few, few), np.outer(mass, mass)
    kept = among > 0
    if not kept.any():
        return np.zeros(len(X))
    low, high = _weighted_quantiles(among[kept], pairs[kept], (0.45, 0.55))
    mean = float(pairs[kept].sum() / mass.sum() ** 2 * weights.sum())
    return np.asarray(2.0 * (high - low) / 0.1 * (0.5 * apart - near) / mean)


def _weighted_quantiles(
    values: np.ndarray, weights: np.ndarray, shares: tuple[float, ...]
) -> np.ndarray:
    order = np.argsort(values)
    mass = np.cumsum(weights[order])
    # A share that is reached exactly is reached, however the sums were rounded.
    places = np.array(shares) * mass[-1] * (1 - 1e-9)
    return np.asarray(values[order[np.searchsorted(mass, places)]])


def _deviation_influence(X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the influence of rows on the logarithm of each column's standard deviation."""
    mean = np.average(others, axis=0, weights=weights)
    variance = np.average((others - mean) ** 2, axis=0, weights=weights)
    safe = np.where(variance > 0, variance, 1.0)
    moved = 0.5 * ((X - mean) ** 2 / safe - 1.0)
    return np.where(variance > 0, moved, 0.0)


def _magnitude(X: Array) -> float:
    """Return a power of two near the largest number: divided by it, squares are in range."""
    xp = _arrays.namespace(X)
    largest = float(xp.max(xp.abs(X)))
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0


MAX_POSITIONS = 2**20  # repeated rows that are numbered one by one, in some 0.1 s


def _sampled(
    points: Source, weights: Source | None, sample: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (a sample of) the points and how often each counts."""
    total = float(len(points) if weights is None else weights.sum(_sum_of_rows)[0])
    if total <= sample:
        frequency = np.ones(len(points)) if weights is None else weights.all()[:, 0]
        return _arrays.to_numpy(points.all()), frequency
    if weights is None:
        index = points.choose(seed, 0, sample)
    elif total <= MAX_POSITIONS:  # among repeated rows, so that weight 2 is a row given twice
        index = weights.locate(_arrays.choose(seed, 0, int(total), sample) + 0.5)
    elif len(points) <= sample:  # as they are
        return _arrays.to_numpy(points.all()), weights.all()[:, 0]
    else:  # with replacement, which among so many is the same
        index = weights.locate(_arrays.uniform(seed, 0, sample)[:, 0] * total)
    index, counts = np.unique(index, return_counts=True)
    return _arrays.to_numpy(points.take(index).all()), counts.astype(np.float64)


@dataclass(frozen=True)
class Nearest(Bandwidth):
    """The mean distance from a point to its k nearest others.

    Smaller than the median, so the kernel tells neighbours apart; the usual rule for the layers
    of a network, and cheap enough for every batch.

    Parameters
    ----------
    k : int
        Number of neighbours; at most all others count.
    sample : int
        Above this many points, a random sample of them is used.
    seed : int
        Seed of the sample.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.gram([[0.0], [1.0], [3.0]], lr.Gaussian(lr.Nearest(1)))
    Gram(n=3, Gaussian(sigma=1.333))
    """

    k: int = 10
    sample: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        _require_integer("Nearest(k", self.k, 1)
        _require_integer("Nearest(sample", self.sample, 2)

    def __call__(self, points: Source, weights: Source | None) -> float:
        """Return the mean distance of (a sample of) the points to their neighbours."""
        if weights is None and len(points) <= self.sample:
            X = _arrays.detach(points.all())
            scale = _magnitude(X)
            return _or_one(scale * _mean_nearest(X / scale, min(self.k, len(points) - 1)))
        X, frequency = _sampled(points, weights, self.sample, self.seed)
        scale = _magnitude(X)
        X = X / scale
        X = X[frequency > 0]
        frequency = frequency[frequency > 0]
        k = min(float(self.k), float(frequency.sum()) - 1)
        if (frequency == 1).all():
            return _or_one(scale * _mean_nearest(X, int(k)))
        return _or_one(scale * _weighted_nearest(-2 * _exponents(X), frequency, k))

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the distance to the neighbors over its mean, less 1."""
        from scipy.spatial.distance import cdist

        # A sample's neighbors are farther away by one factor for all rows, which cancels.
        k = min(float(self.k), float(weights.sum()) - 1) * (1 - 1e-9)  # weights are rounded

        def near(rows: np.ndarray) -> np.ndarray:
            return _nearest_means(cdist(rows, others), weights, k + 1)

        mean = float(np.average(near(others), weights=weights))
        return (near(X) / mean - 1.0)[:, None] if mean > 0 else np.zeros((len(X), 1))


def _exponents(X: Array) -> Array:
    """Return -|x - y|^2 / 2: by differences in NumPy; of tensors, zero where it may be rounding."""
    if _arrays.is_numpy(X):
        from scipy.spatial.distance import cdist

        return -0.5 * cdist(X, X, "sqeuclidean")
    xp = _arrays.namespace(X)
    X = X - xp.mean(X, axis=0)
    exponents = _arrays.exponents(X)[0]
    square = xp.sum(X * X, axis=1)
    rounding = 4 * _arrays.epsilon(X) * (square[:, None] + square[None, :])
    return xp.where(-exponents > rounding, exponents, 0.0)


def _mean_nearest(X: Array, k: int) -> float:
    """Return the mean distance to the k nearest others, computed where the points are.

    A batch on another device stays there, and two libraries do not wait for each other's threads.
    """
    return _mean_distance(_exponents(X), k)


def _mean_distance(exponents: Array, k: int) -> float:
    near = _arrays.largest(exponents, k + 1)  # of each point to itself: 0
    xp = _arrays.namespace(near)
    return float(xp.sum(xp.sqrt(-2 * near))) / (int(near.shape[0]) * k)


def _or_one(mean: float) -> float:
    """Return a mean distance, or 1 where all neighbors are equal: any bandwidth will do."""
    return mean if mean > 0 else 1.0


def _weighted_nearest(squares: np.ndarray, frequency: np.ndarray, k: float) -> float:
    """Return the mean distance to the k nearest, where a row of weight w is w points."""
    copies = np.maximum(frequency - np.eye(len(squares)), 0.0)  # not to itself
    return float(frequency @ _nearest_means(np.sqrt(squares), copies, k) / frequency.sum())


def _nearest_means(distance: np.ndarray, frequency: np.ndarray, k: float) -> np.ndarray:
    """Return for each row the mean of its k least distances, which occur so often."""
    order = np.argsort(distance, axis=1, kind="stable")
    copies = np.take_along_axis(np.broadcast_to(frequency, distance.shape), order, axis=1)
    taken = np.diff(np.minimum(np.cumsum(copies, axis=1), k), axis=1, prepend=0.0)
    ordered = np.take_along_axis(distance, order, axis=1)
    return np.asarray(np.sum(taken * np.where(taken > 0, ordered, 0.0), axis=1) / k)


def _sum_of_rows(rows: np.ndarray, block: slice) -> np.ndarray:
    return np.asarray(rows.sum(axis=0))


def _spread(points: Source, weights: Source | None) -> tuple[np.ndarray, float]:
    """Return the columns' standard deviations (1 for a constant one) and the number of points."""
    weighted = points if weights is None else hstack([points, weights])
    d = points.shape[1]

    origin = _arrays.to_numpy(points.rows(slice(0, 1)))[0].astype(np.float64)

    def total(power: int, center: np.ndarray | float, scale: np.ndarray | float) -> np.ndarray:
        def of_block(rows: np.ndarray, block: slice) -> np.ndarray:
            rows = _arrays.to_numpy(rows).astype(np.float64)
            w = np.ones(len(rows)) if weights is None else rows[:, d]
            x = rows[:, :d] - origin  # exact where they are close: a large mean costs no digits
            return np.append(w @ ((x - center) / scale) ** power, w.sum())

        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return np.asarray(weighted.sum(of_block))

    *first, n = total(1, 0.0, 1.0)
    offset = np.array(first) / n
    mean = origin + offset
    scale = np.ones(d)
    deviation = np.sqrt(total(2, offset, scale)[:-1] / n)
    if not ((deviation > 1e-140) & (deviation < 1e140)).all():  # squares out of range, or constant
        farthest = np.max(list(points.map(partial(_farthest, mean))), axis=0)
        scale = np.where(farthest > 0, farthest, 1.0)
        deviation = np.sqrt(total(2, offset, scale)[:-1] / n)
    constant = deviation * scale <= 1e-14 * np.abs(mean)
    return np.where(constant, 1.0, deviation * scale), float(n)


def _farthest(center: np.ndarray, rows: np.ndarray, block: slice) -> np.ndarray:
    distance = np.abs(_arrays.to_numpy(rows).astype(np.float64) - center)
    return np.asarray(np.max(distance, axis=0))


@dataclass(frozen=True)
class GeometricMean(Bandwidth):
    r"""A share of the geometric mean distance, exp(mean log \|x - y\|), of points that differ.

    All pairs count, few points far away move it little, and it depends smoothly on all: the rule
    for a loss whose gradient goes through the bandwidth.

    Parameters
    ----------
    share : float
        Of the geometric mean.
    sample : int
        Above this many points, a random sample of them is used.
    seed : int
        Seed of the sample.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.gram([[0.0], [1.0], [5.0]], lr.Gaussian(lr.GeometricMean(1.0)))
    Gram(n=3, Gaussian(sigma=2.714))
    """

    share: float = 0.5
    sample: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if not (isinstance(self.share, (int, float, np.number)) and 0 < self.share < np.inf):
            raise ValueError(f"GeometricMean(share={self.share!r}): it must be a positive number")
        _require_integer("GeometricMean(sample", self.sample, 2)

    def __call__(self, points: Source, weights: Source | None) -> float:
        """Return the share of the geometric mean distance of (a sample of) the points."""
        from scipy.spatial.distance import pdist

        X, frequency = _sampled(points, weights, self.sample, self.seed)
        X = X.astype(np.float64)
        scale = _magnitude(X)
        distance = pdist(X / scale)
        i, j = np.triu_indices(len(X), 1)
        weight = frequency[i] * frequency[j] * (distance > 0)
        if not weight.any():
            return 1.0  # all points are equal: the kernel is 1 whatever its bandwidth
        logarithm = np.log(np.where(distance > 0, distance, 1.0))
        return float(self.share * scale * np.exp(np.average(logarithm, weights=weight)))

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return twice the mean logarithm of the distance from a row, less that of all pairs."""
        from scipy.spatial.distance import cdist

        def totals(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            distance = cdist(rows, others)
            apart = distance > 0
            return np.log(np.where(apart, distance, 1.0)) @ weights, apart @ weights

        sums, counts = totals(others)
        if not (weights @ counts):
            return np.zeros((len(X), 1))
        mean, pairs = (weights @ sums) / (weights @ counts), (weights @ counts) / weights.sum()
        sums, counts = totals(X)
        return np.asarray(2.0 * (sums - mean * counts) / pairs)[:, None]


@dataclass(frozen=True)
class Scott(Bandwidth):
    """Scott's rule, per column: standard deviation times n^(-1 / (d + 4))."""

    def __call__(self, points: Source, weights: Source | None) -> tuple[float, ...]:
        """Return one bandwidth for each column."""
        deviation, n = _spread(points, weights)
        factor = n ** (-1.0 / (len(deviation) + 4))
        return tuple(float(s * factor) for s in deviation)

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return that of the standard deviations."""
        return _deviation_influence(X, others, weights)


@dataclass(frozen=True)
class Silverman(Bandwidth):
    """Silverman's rule, per column: standard deviation times (n (d + 2) / 4)^(-1 / (d + 4))."""

    def __call__(self, points: Source, weights: Source | None) -> tuple[float, ...]:
        """Return one bandwidth for each column."""
        deviation, n = _spread(points, weights)
        d = len(deviation)
        factor = (n * (d + 2) / 4.0) ** (-1.0 / (d + 4))
        return tuple(float(s * factor) for s in deviation)

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return that of the standard deviations."""
        return _deviation_influence(X, others, weights)


_RULES: dict[str, Bandwidth] = {"median": Median(), "scott": Scott(), "silverman": Silverman()}

Sigma: TypeAlias = float | Sequence[float] | Bandwidth | Literal["median", "scott", "silverman"]


def checked_sigma(sigma: Sigma, kernel: str) -> float | tuple[float, ...] | Bandwidth:
    """Return a bandwidth as a number, one for each column, or a rule; refuse anything else."""
    if isinstance(sigma, Bandwidth) or (type(sigma) is float and 0 < sigma < np.inf):
        return sigma
    if isinstance(sigma, str):
        if sigma not in _RULES:
            raise ValueError(
                f"{kernel}(sigma={sigma!r}): the rules are {', '.join(map(repr, _RULES))}; or "
                "give a positive number"
            )
        return _RULES[sigma]
    try:
        values = np.asarray(sigma, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.asarray(np.nan)
    if values.ndim > 1 or values.size == 0 or not np.all((values > 0) & np.isfinite(values)):
        raise ValueError(
            f"{kernel}(sigma={sigma!r}): sigma must be positive and finite (a number, or one "
            "for each column), or a bandwidth rule such as 'median'"
        )
    return float(values) if values.ndim == 0 else tuple(float(v) for v in values)
