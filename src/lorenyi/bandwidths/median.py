"""The median distance between two points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._threads import parallel
from lorenyi.bandwidths.deviation import deviation_influence, spread
from lorenyi.bandwidths.rule import Bandwidth, magnitude, require_integer
from lorenyi.data.sources import Source, hstack

PAIRS = 500_000  # distances whose median is taken; its own noise is about 0.1 %
MAX_ROWS = 2**18  # rows that pairs are drawn from
LEAST_SORTED_ROWS = 256  # of one column; for fewer, all distances are as fast
MAX_SORTED_ROWS = 50_000  # of one column, whose distances are counted after sorting: 0.1 s
STEPS = 32  # of pairs, of each row with another one, at a time
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@dataclass(frozen=True)
class Median(Bandwidth):
    """The median of the nonzero distances between two points.

    All distances count up to about 1,000 rows, and those of a single column up to 50,000. Of more
    rows half a million pairs are drawn, in an order that depends only on the rows' values, and the
    median is rounded to four digits: it does not depend on the order of the rows.

    Parameters
    ----------
    per_column : bool
        One bandwidth for each column instead of one for all.
    standardize : bool
        The columns have different units: divide each by its standard deviation first. Then each
        column has its own bandwidth, the same multiple of its standard deviation for all.
    pairs : int
        Number of pairs to draw; all are taken if there are no more.

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
        require_integer("Median(pairs", self.pairs, 1)
        if self.per_column and self.standardize:
            raise ValueError(
                "Median(per_column=True, standardize=True): one bandwidth for each column makes "
                "standardizing redundant; give one of the two"
            )

    def __call__(self, points: Source, weights: Source | None) -> float | tuple[float, ...]:
        """Return the median distance."""
        d = points.shape[1]
        if self.per_column:
            return tuple(self._median(points.each(partial(_column, j)), weights) for j in range(d))
        if self.standardize and d > 1:
            deviation, _ = spread(points, weights)
            standard = partial(_standard, _origin(points), deviation)
            median = self._median(points.each(standard), weights)
            return tuple(float(median * s) for s in deviation)
        return self._median(points, weights)

    def _median(self, points: Source, weights: Source | None) -> float:
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
        return _median_of_pairs(X, frequency, self.pairs)

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        r"""Return :math:`\frac{2}{g} (\frac12 T_i - G_i)` of distances in bandwidths.

        G_i is the share of distances from row i up to 1, g the density of all distances there, and
        T_i = 1; if some distances are zero, which do not count, T_i is the number of nonzero
        distances from row i over its mean.
        """
        if self.per_column:
            pairs = [(X[:, [j]], others[:, [j]]) for j in range(X.shape[1])]
            return np.stack([_median_influence(x, y, weights) for x, y in pairs], axis=1)
        median = _median_influence(X, others, weights)[:, None]
        if not self.standardize or X.shape[1] == 1:
            return median
        return np.asarray(median + deviation_influence(X, others, weights))


def _origin(points: Source) -> np.ndarray:
    """Return a row among the points, robust to outliers."""
    rows = _arrays.to_numpy(_arrays.detach(points.rows(slice(0, min(len(points), 101)))))
    return np.quantile(rows.astype(np.float64), 0.5, axis=0, method="lower")


def _standard(origin: np.ndarray, deviation: np.ndarray, rows: Array) -> np.ndarray:
    """Return (x - origin) / deviation: of differences, since a large mean would lose digits."""
    return np.asarray((_arrays.to_numpy(rows).astype(np.float64) - origin) / deviation)


def _column(j: int, rows: Array) -> Array:
    return rows[:, j : j + 1]


def _median_of_all(X: np.ndarray, frequency: np.ndarray) -> float:
    """Return the median of all distances that are not zero."""
    from scipy.spatial.distance import pdist

    scale = magnitude(X)
    distance = pdist(X / scale)
    i, j = np.triu_indices(len(X), 1)
    return scale * _weighted_median(distance, frequency[i] * frequency[j])


def _weighted_median(distance: np.ndarray, weight: np.ndarray) -> float:
    keep = (distance > 0) & (weight > 0)
    if not keep.any():
        return 1.0  # all points are equal: the kernel is 1 for any bandwidth
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
    frequency = frequency / np.min(frequency, initial=np.inf)  # equal ones count exactly
    values, place = np.unique(x, return_inverse=True)
    if len(values) < 2:
        return 1.0
    mass = np.bincount(place, weights=frequency)
    sums = np.concatenate([[0.0], np.cumsum(mass)])
    values = values - values[len(values) // 2]  # a large mean would lose digits of the sums below
    scale = magnitude(values)
    values = values / scale

    def below(distance: float) -> float:
        """Return the number of pairs that differ by at most so much."""
        reached = sums[np.searchsorted(values, values + distance, side="right")]
        return float(mass @ (reached - sums[1:]))

    most = float(values[-1] - values[0])
    half = 0.5 * below(2 * most)

    low, lower = 0.0, most  # the smallest distance that half of the pairs do not exceed
    while lower - low > 1e-13 * lower:  # relative to the result, so outliers do not matter
        middle = 0.5 * (low + lower)
        low, lower = (low, middle) if below(middle) >= half else (middle, lower)
    upper = lower
    if below(lower) <= half * (1 + 1e-12):  # it is the last of that half: the next is the other
        following = np.searchsorted(values, values + lower, side="right")
        inside = following < len(values)
        upper = float(np.min(values[following[inside]] - values[inside]))
    return scale * 0.5 * (lower + upper)


def _by_content(points: Source, weights: Source | None) -> tuple[np.ndarray, np.ndarray]:
    """Return (a sample of) distinct rows and frequencies, in an order set by the values alone."""
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


def _median_of_pairs(X: np.ndarray, frequency: np.ndarray, pairs: int) -> float:
    """Return the median distance of pairs: each position with others far away in the order."""
    ends = np.cumsum(frequency)
    # Not for each copy of a row: all copies would be paired with the same others.
    count = min(int(np.count_nonzero(frequency)), MAX_ROWS)
    places = (np.arange(count) + 0.5) * (ends[-1] / count)
    first = np.searchsorted(ends, places)
    scale = magnitude(X)
    X = X / scale
    one = X[first]

    def squares(step: int) -> np.ndarray:
        moved = (places + ends[-1] * ((step * GOLDEN) % 1.0)) % ends[-1]
        difference = one - X[np.minimum(np.searchsorted(ends, moved), len(X) - 1)]
        return np.asarray(np.einsum("ij,ij->i", difference, difference))

    steps = range(1, -(-pairs // count) + 1)
    cuts = [steps[at : at + STEPS] for at in range(0, len(steps), STEPS)]
    found = parallel(lambda cut: np.concatenate([squares(step) for step in cut]), cuts)
    square = np.concatenate(found)
    square = square[square > 0]
    return float(f"{scale * math.sqrt(np.median(square)):.4g}") if len(square) else 1.0


def _median_influence(X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    distance = cdist(X, others)
    positive = distance > 0
    apart = _weighed(positive, weights)
    near = _weighed(positive & (distance <= 1.0 + 1e-6), weights)  # the median is one of them
    # The derivative of the median in the share of distances below it.
    step = -(-len(others) // 512)  # evenly spaced: rows may be sorted
    few, mass = others[::step], weights[::step]
    among, pairs = cdist(few, few), np.outer(mass, mass)
    kept = among > 0
    if not kept.any():
        return np.zeros(len(X))
    low, high = _weighted_quantiles(among[kept], pairs[kept], (0.45, 0.55))
    mean = float(pairs[kept].sum() / mass.sum() ** 2 * weights.sum())
    return np.asarray(2.0 * (high - low) / 0.1 * (0.5 * apart - near) / mean)


def _weighed(mask: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sum of the weights where a mask is true, for each row."""
    if (weights == weights[0]).all():
        return np.asarray(np.count_nonzero(mask, axis=1) * weights[0])
    return np.asarray(mask @ weights)


def _weighted_quantiles(
    values: np.ndarray, weights: np.ndarray, shares: tuple[float, ...]
) -> np.ndarray:
    # Tolerance for rounded sums: a share that is reached exactly counts as reached.
    if (weights == weights[0]).all():
        ranks = np.ceil(np.array(shares) * len(values) * (1 - 1e-9)).astype(np.int64) - 1
        return np.asarray(np.partition(values, ranks)[ranks])
    order = np.argsort(values)
    mass = np.cumsum(weights[order])
    places = np.array(shares) * mass[-1] * (1 - 1e-9)
    return np.asarray(values[order[np.searchsorted(mass, places)]])
