"""The mean distance from a point to its neighbors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._threads import parallel
from lorenyi.bandwidths.rule import Bandwidth, magnitude, require_integer, sampled, sum_of_rows
from lorenyi.data.sources import Source, hstack, slices

MAX_DISTANCES = 2**27  # between sampled points and all: a second or two
LEAST_SAMPLE = 100  # points, for any number of distances: 3 % of noise


@dataclass(frozen=True)
class Nearest(Bandwidth):
    """The mean distance from a point to its k nearest others.

    Smaller than the median, so the kernel distinguishes neighbors; the usual rule for the layers
    of a network, and cheap enough for every batch.

    Parameters
    ----------
    k : int
        Number of neighbors; at most all others count.
    sample : int
        Above this many points, only the neighbors of a random sample are searched, among all
        points.
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
        require_integer("Nearest(k", self.k, 1)
        require_integer("Nearest(sample", self.sample, 2)

    def __call__(self, points: Source, weights: Source | None) -> float:
        """Return the mean distance of (a sample of) the points to their neighbors."""
        if weights is None and len(points) <= self.sample:
            X = _arrays.detach(points.all())
            scale = magnitude(X)
            mean = scale * _mean_nearest(X / scale, min(self.k, len(points) - 1))
        else:
            mean = self._mean_of_sample(points, weights)
        return mean if mean > 0 else 1.0  # all neighbors are equal: any bandwidth will do

    def _mean_of_sample(self, points: Source, weights: Source | None) -> float:
        """Return the mean of those that are drawn, whose neighbors are among all points."""
        total, least = float(len(points)), 1.0
        if weights is not None:
            total = float(weights.sum(sum_of_rows)[0])
            least = min(least, *weights.map(_least))
        size = min(self.sample, max(MAX_DISTANCES // len(points), LEAST_SAMPLE))
        index, counts = sampled(points, weights, size, self.seed)
        index, counts = index[counts > 0], counts[counts > 0]
        k = min(float(self.k), total - 1)
        X = _arrays.to_numpy(points.take(index).all()).astype(np.float64)
        scale = magnitude(X)
        search = _Search(X / scale, index, scale, math.ceil(k / least) + 1, weights is not None)
        both = points if weights is None else hstack([points, weights])

        def mean(search: _Search) -> float:
            found = list(both.map(search))
            distance, copies = (np.concatenate(parts, axis=1) for parts in zip(*found, strict=True))
            return scale * float(np.average(_nearest_means(distance, copies, k), weights=counts))

        near = mean(search)
        rounding = math.sqrt(_arrays.epsilon(X) * points.largest_square())
        return near if rounding <= 1e-2 * near else mean(replace(search, by_differences=True))

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the distance to the neighbors over its mean, less 1."""
        from scipy.spatial.distance import cdist

        # In a sample, neighbors are farther away by a common factor, which cancels.
        # Weights are rounded: where all neighbors are copies, none of the next distance counts.
        k = min(float(self.k), float(weights.sum()) - 1) * (1 - 1e-9)

        def near(rows: np.ndarray) -> np.ndarray:
            return _nearest_means(cdist(rows, others), weights, k + 1)

        mean = float(np.average(near(others), weights=weights))
        return (near(X) / mean - 1.0)[:, None] if mean > 0 else np.zeros((len(X), 1))


def _mean_nearest(X: Array, k: int) -> float:
    """Return the mean distance to the k nearest others, computed in the points' own library.

    A batch stays on its device, and the threads of two libraries do not compete. Where distances
    lose digits, as between points of clusters that are far apart, they are computed by differences.
    """
    exponents = _exponents(X)
    near = _arrays.largest(exponents, k + 1)  # of each point to itself: 0
    xp = _arrays.namespace(near)
    mean = float(xp.sum(xp.sqrt(-2 * near))) / (int(near.shape[0]) * k)
    if _arrays.is_numpy(X):
        return mean
    largest = -float(_arrays.namespace(exponents).min(exponents))  # half of a squared distance
    rounding = math.sqrt(16 * _arrays.epsilon(X) * largest)
    if rounding <= 1e-2 * mean:
        return mean
    return _mean_nearest(_arrays.to_numpy(_arrays.detach(X)).astype(np.float64), k)


def _exponents(X: Array) -> Array:
    """Return -|x - y|^2 / 2: by differences in NumPy; of tensors, zero where it may be rounding."""
    if _arrays.is_numpy(X):
        from scipy.spatial.distance import cdist

        return -0.5 * cdist(X, X, "sqeuclidean")
    xp = _arrays.namespace(X)
    some = xp.sort(X[: min(64, X.shape[0]), :], axis=0)
    X = X - some[some.shape[0] // 2, :]  # near most points despite outliers
    exponents = _arrays.exponents(X)[0]
    square = xp.sum(X * X, axis=1)
    rounding = 4 * _arrays.epsilon(X) * (square[:, None] + square[None, :])
    return xp.where(-exponents > rounding, exponents, 0.0)


def _least(rows: np.ndarray, block: slice) -> float:
    """Return the smallest positive frequency."""
    return float(np.min(rows, where=rows > 0, initial=np.inf))


@dataclass(frozen=True, eq=False)
class _Search:
    """Finds neighbors of some points in a block of all: their distances, and how often they occur.

    Parameters
    ----------
    X : array, q x d
        The points, divided by `scale`.
    index : array of q
        Their positions among all: no point is its own neighbor.
    scale : float
        Divisor of the rows of a block.
    count : int
        Number of neighbors.
    weighted : bool
        Whether the last column of a block holds the frequency of each row.
    by_differences : bool
        Whether to find neighbors by differences, because products of large numbers would cancel.
    """

    X: np.ndarray
    index: np.ndarray
    scale: float
    count: int
    weighted: bool
    by_differences: bool = False

    def __call__(self, rows: Array, block: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and frequencies, q x count or less."""
        rows = _arrays.to_numpy(rows).astype(np.float64)
        frequency = rows[:, -1] if self.weighted else np.ones(len(rows))
        rows = (rows[:, :-1] if self.weighted else rows) / self.scale
        there = np.flatnonzero(frequency > 0)
        look = partial(self._piece, rows[there], frequency[there], there + block.start)
        found = parallel(look, slices(len(there), max(2**22 // len(self.X), self.count)))
        if not found:
            return np.empty((len(self.X), 0)), np.empty((len(self.X), 0))
        return self._nearest(*(np.concatenate(p, axis=1) for p in zip(*found, strict=True)))

    def _piece(
        self, rows: np.ndarray, frequency: np.ndarray, numbers: np.ndarray, cut: slice
    ) -> tuple[np.ndarray, np.ndarray]:
        rows, frequency, numbers = rows[cut], frequency[cut], numbers[cut]
        place = _smallest(self._squares(rows), self.count)
        squares = np.zeros(place.shape)
        with np.errstate(over="ignore"):
            for x, y in zip(self.X.T, rows.T, strict=True):
                squares += (x[:, None] - y[place]) ** 2
        itself = numbers[place] == self.index[:, None]
        return np.sqrt(squares), np.maximum(frequency[place] - itself, 0.0)

    def _squares(self, rows: np.ndarray) -> np.ndarray:
        """Return squared distances up to a constant per point, to rank the rows."""
        from scipy.spatial.distance import cdist

        if self.by_differences:
            return np.asarray(cdist(self.X, rows, "sqeuclidean"))
        with np.errstate(over="ignore", invalid="ignore"):  # points too far away to be neighbors
            moved = rows - rows[0]
            square = np.einsum("ij,ij->i", moved, moved)
            return np.asarray(square - 2 * (self.X - rows[0]) @ moved.T)

    def _nearest(self, distance: np.ndarray, copies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        place = _smallest(distance, self.count)
        return np.take_along_axis(distance, place, 1), np.take_along_axis(copies, place, 1)


def _smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the positions of the smallest numbers of each row, in any order."""
    if values.shape[1] <= count:
        return np.broadcast_to(np.arange(values.shape[1]), values.shape)
    return np.argpartition(values, count - 1, axis=1)[:, :count]


def _nearest_means(distance: np.ndarray, frequency: np.ndarray, k: float) -> np.ndarray:
    """Return for each row the mean of its k smallest distances, with their frequencies."""
    order = np.argsort(distance, axis=1, kind="stable")
    copies = np.take_along_axis(np.broadcast_to(frequency, distance.shape), order, axis=1)
    taken = np.diff(np.minimum(np.cumsum(copies, axis=1), k), axis=1, prepend=0.0)
    ordered = np.take_along_axis(distance, order, axis=1)
    return np.asarray(np.sum(taken * np.where(taken > 0, ordered, 0.0), axis=1) / k)
