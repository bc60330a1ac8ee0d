"""The geometric mean distance between two points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lorenyi import _arrays
from lorenyi.bandwidths.rule import Bandwidth, magnitude, require_integer, sampled
from lorenyi.data.sources import Source


@dataclass(frozen=True)
class GeometricMean(Bandwidth):
    r"""A share of the geometric mean distance, exp(mean log \|x - y\|), of points that differ.

    All pairs count, outliers have little influence, and it is a smooth function of the points: it
    suits a loss whose gradient goes through the bandwidth.

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
        require_integer("GeometricMean(sample", self.sample, 2)

    def __call__(self, points: Source, weights: Source | None) -> float:
        """Return the share of the geometric mean distance of (a sample of) the points."""
        from scipy.spatial.distance import pdist

        index, frequency = sampled(points, weights, self.sample, self.seed)
        X = _arrays.to_numpy(points.take(index).all()).astype(np.float64)
        scale = magnitude(X)
        distance = pdist(X / scale)
        i, j = np.triu_indices(len(X), 1)
        weight = frequency[i] * frequency[j] * (distance > 0)
        if not weight.any():
            return 1.0  # all points are equal: the kernel is 1 for any bandwidth
        logarithm = np.log(np.where(distance > 0, distance, 1.0))
        return float(self.share * scale * np.exp(np.average(logarithm, weights=weight)))

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return twice the mean logarithm of the distance from a row, minus that of all pairs."""
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
