"""Small groups of rows that are near each other, cut at random, for local permutations."""

from __future__ import annotations

import numpy as np

from lorenyi import _arrays

MAX_GROUP = 5  # rows; with 8 a regression's error inflates the level, 3 lose power
PARTITIONS = 10  # different partitions, used in turn


def local_groups(Z: np.ndarray, groups: np.ndarray, seed: int, number: int) -> np.ndarray:
    """Cut groups of rows into ones of at most `MAX_GROUP` rows that are near each other.

    Every group is split by its order along a random direction, at a place drawn near the middle,
    until it is small.

    Parameters
    ----------
    Z : array, n x d
        Positions of the rows.
    groups : array of n
        Rows of different groups stay apart.
    seed, number : int
        Equal numbers give equal groups.
    """
    n, d = Z.shape
    for depth in range(64):
        sizes = np.bincount(groups)
        if int(sizes.max()) <= MAX_GROUP or d == 0:
            break
        stream = 128 * number + 2 * depth
        direction = _arrays.normal(seed, stream, d)[:, 0]
        share = 0.4 + 0.2 * _arrays.uniform(seed, stream + 1, len(sizes))[:, 0]
        order = np.lexsort((Z @ direction, groups))
        ordered = groups[order]
        place = np.arange(n) - (np.cumsum(sizes) - sizes)[ordered]
        cut = np.where(sizes > MAX_GROUP, np.ceil(share * sizes), n)[ordered]
        groups = np.empty(n, dtype=np.int64)
        groups[order] = np.cumsum((place == 0) | (place == cut)) - 1
    return groups
