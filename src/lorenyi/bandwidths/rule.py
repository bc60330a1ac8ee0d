"""The base class of all bandwidth rules."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.sources import Source

MAX_POSITIONS = 2**20  # repeated rows that are listed one by one, in about 0.1 s


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


def require_integer(argument: str, found: object, least: int) -> None:
    """Refuse an argument, named with its rule, that is not an integer of at least `least`."""
    if not isinstance(found, (int, np.integer)) or isinstance(found, bool) or found < least:
        name = argument.partition("(")[2]
        raise ValueError(f"{argument}={found!r}): {name} must be an integer of at least {least}")


def magnitude(X: Array) -> float:
    """Return a power of two near the largest number: divided by it, squares are in range."""
    xp = _arrays.namespace(X)
    largest = float(xp.max(xp.abs(X)))
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0


def sampled(
    points: Source, weights: Source | None, sample: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of (a sample of) the points, and how often each counts."""
    rows = len(points)
    total = float(rows if weights is None else weights.sum(sum_of_rows)[0])
    few = total <= sample or (weights is not None and rows <= sample and total > MAX_POSITIONS)
    if few:  # all of them
        return np.arange(rows), np.ones(rows) if weights is None else weights.all()[:, 0]
    if weights is None:
        index = points.choose(seed, 0, sample)
    elif total <= MAX_POSITIONS:  # among repeated rows, so that weight 2 equals a repeated row
        index = weights.locate(_arrays.choose(seed, 0, int(total), sample) + 0.5)
    else:  # with replacement: among so many the difference is negligible
        index = weights.locate(_arrays.uniform(seed, 0, sample)[:, 0] * total)
    index, counts = np.unique(index, return_counts=True)
    return index, counts.astype(np.float64)


def sum_of_rows(rows: np.ndarray, block: slice) -> np.ndarray:
    """Return the sum of a block of rows."""
    return np.asarray(rows.sum(axis=0))
