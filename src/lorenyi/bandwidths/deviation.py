"""Rules from the standard deviation of each column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from lorenyi import _arrays
from lorenyi.bandwidths.rule import Bandwidth
from lorenyi.data.sources import Source, hstack


@dataclass(frozen=True)
class Scott(Bandwidth):
    """Scott's rule, per column: standard deviation times n^(-1 / (d + 4))."""

    def __call__(self, points: Source, weights: Source | None) -> tuple[float, ...]:
        """Return one bandwidth for each column."""
        deviation, n = spread(points, weights)
        factor = n ** (-1.0 / (len(deviation) + 4))
        return tuple(float(s * factor) for s in deviation)

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return that of the standard deviations."""
        return deviation_influence(X, others, weights)


@dataclass(frozen=True)
class Silverman(Bandwidth):
    """Silverman's rule, per column: standard deviation times (n (d + 2) / 4)^(-1 / (d + 4))."""

    def __call__(self, points: Source, weights: Source | None) -> tuple[float, ...]:
        """Return one bandwidth for each column."""
        deviation, n = spread(points, weights)
        d = len(deviation)
        factor = (n * (d + 2) / 4.0) ** (-1.0 / (d + 4))
        return tuple(float(s * factor) for s in deviation)

    def influence(self, X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return that of the standard deviations."""
        return deviation_influence(X, others, weights)


def spread(points: Source, weights: Source | None) -> tuple[np.ndarray, float]:
    """Return the columns' standard deviations (1 for a constant one) and the number of points."""
    weighted = points if weights is None else hstack([points, weights])
    d = points.shape[1]

    origin = _arrays.to_numpy(points.rows(slice(0, 1)))[0].astype(np.float64)

    def total(power: int, center: np.ndarray | float, scale: np.ndarray | float) -> np.ndarray:
        def of_block(rows: np.ndarray, block: slice) -> np.ndarray:
            rows = _arrays.to_numpy(rows).astype(np.float64)
            w = np.ones(len(rows)) if weights is None else rows[:, d]
            x = rows[:, :d] - origin  # exact where they are close: a large mean loses no digits
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


def deviation_influence(X: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the influence of rows on the logarithm of each column's standard deviation."""
    mean = np.average(others, axis=0, weights=weights)
    variance = np.average((others - mean) ** 2, axis=0, weights=weights)
    safe = np.where(variance > 0, variance, 1.0)
    moved = 0.5 * ((X - mean) ** 2 / safe - 1.0)
    return np.where(variance > 0, moved, 0.0)
