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

MAX_POSITIONS = 2**20  # repeated rows that are numbered one by one, in some 0.1 s


class Bandwidth(ABC):
    """A rule that chooses a bandwidth from the points: a number, or one for each column."""

    @abstractmethod
    def __call__(self, points: Source, weights: Source | None) -> float | tuple[float, ...]:
        """Return the bandwidth for these points; `weights` is a column of frequencies, if any."""


@dataclass(frozen=True)
class Median(Bandwidth):
    """The median distance between two points, of the distances that are not zero.

    Parameters
    ----------
    sample : int
        Above this many points, a random sample of them is used.
    per_column : bool
        One bandwidth for each column instead of one for all.
    seed : int
        Seed of the sample.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.gram([[0.0], [1.0], [3.0]], lr.Gaussian(lr.Median()))
    Gram(n=3, Gaussian(sigma=2))
    """

    sample: int = 1000
    per_column: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        _require_integer("Median(sample", self.sample, 2)

    def __call__(self, points: Source, weights: Source | None) -> float | tuple[float, ...]:
        """Return the median distance of (a sample of) the points."""
        X, frequency = _sampled(points, weights, self.sample, self.seed)
        if self.per_column:
            return tuple(_median_distance(column[:, None], frequency) for column in X.T)
        return _median_distance(X, frequency)


def _require_integer(argument: str, found: object, least: int) -> None:
    if not isinstance(found, (int, np.integer)) or isinstance(found, bool) or found < least:
        name = argument.partition("(")[2]
        raise ValueError(f"{argument}={found!r}): {name} must be an integer of at least {least}")


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


def _median_distance(X: np.ndarray, frequency: np.ndarray) -> float:
    from scipy.spatial.distance import pdist

    scale = _magnitude(X)
    distance = pdist(X.astype(np.float64) / scale)
    i, j = np.triu_indices(len(X), 1)
    pairs = frequency[i] * frequency[j]
    keep = (distance > 0) & (pairs > 0)
    if not keep.any():
        return 1.0  # all points are equal: the kernel is 1 whatever its bandwidth
    distance, pairs = distance[keep], pairs[keep]
    if (pairs == pairs[0]).all():
        return scale * float(np.median(distance))
    order = np.argsort(distance)
    mass = np.cumsum(pairs[order])
    low = int(np.searchsorted(mass, 0.5 * mass[-1]))
    high = low + 1 if mass[low] == 0.5 * mass[-1] else low
    return scale * float(0.5 * (distance[order[low]] + distance[order[high]]))


def _magnitude(X: Array) -> float:
    """Return a power of two near the largest number: divided by it, squares are in range."""
    xp = _arrays.namespace(X)
    largest = float(xp.max(xp.abs(X)))
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0


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

    def of_exponents(self, exponents: Array) -> float:
        """Return the bandwidth from -|x - y|^2 / 2 of all points."""
        return _or_one(_mean_distance(exponents, min(self.k, int(exponents.shape[0]) - 1)))


def _exponents(X: Array) -> Array:
    """Return -|x - y|^2 / 2: by differences in NumPy, so that equal points are at distance zero."""
    if _arrays.is_numpy(X):
        from scipy.spatial.distance import cdist

        return -0.5 * cdist(X, X, "sqeuclidean")
    return _arrays.exponents(X - _arrays.namespace(X).mean(X, axis=0))[0]


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
    order = np.argsort(squares, axis=1, kind="stable")
    copies = np.maximum(frequency - np.eye(len(squares)), 0.0)  # not to itself
    reached = np.minimum(np.cumsum(np.take_along_axis(copies, order, axis=1), axis=1), k)
    taken = np.diff(reached, axis=1, prepend=0.0)
    distance = np.sqrt(np.take_along_axis(squares, order, axis=1))
    return float(frequency @ np.sum(taken * distance, axis=1) / (k * frequency.sum()))


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

        with np.errstate(over="ignore", under="ignore"):
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
class Scott(Bandwidth):
    """Scott's rule, per column: standard deviation times n^(-1 / (d + 4))."""

    def __call__(self, points: Source, weights: Source | None) -> tuple[float, ...]:
        """Return one bandwidth for each column."""
        deviation, n = _spread(points, weights)
        factor = n ** (-1.0 / (len(deviation) + 4))
        return tuple(float(s * factor) for s in deviation)


@dataclass(frozen=True)
class Silverman(Bandwidth):
    """Silverman's rule, per column: standard deviation times (n (d + 2) / 4)^(-1 / (d + 4))."""

    def __call__(self, points: Source, weights: Source | None) -> tuple[float, ...]:
        """Return one bandwidth for each column."""
        deviation, n = _spread(points, weights)
        d = len(deviation)
        factor = (n * (d + 2) / 4.0) ** (-1.0 / (d + 4))
        return tuple(float(s * factor) for s in deviation)


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
