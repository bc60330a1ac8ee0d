"""Small groups of rows that are near each other, cut at random, for local permutations."""

from __future__ import annotations

import numpy as np

from lorenyi import _arrays

MAX_GROUP = 5  # rows; with 8 a regression's error inflates the level, 3 lose power
PARTITIONS = 10  # different partitions, used in turn


def local_groups(Z: np.ndarray, groups: np.ndarray, seed: int) -> np.ndarray:
    """Cut groups of rows into ones of at most `MAX_GROUP` rows that are near each other.

    A partition rotates Z at random. Every group is split by its order along each of the new axes in
    turn, at a place drawn near the middle, until it is small.

    Parameters
    ----------
    Z : array, n x d
        Positions of the rows.
    groups : array of n
        Rows of different groups stay apart.
    seed : int
        Of rotations and places.

    Returns
    -------
    array, `PARTITIONS` x n
        The group of each row, a number that no other partition has.
    """
    n, d = Z.shape
    total = PARTITIONS * n
    small = np.min_scalar_type(total)  # integers of 16 bits are sorted in linear time
    rotations = _arrays.qr(_arrays.normal(seed, 0, PARTITIONS * d, d).reshape(PARTITIONS, d, d))
    own = np.arange(PARTITIONS)[:, None]
    along = [np.argsort(q @ Z.T, axis=1, kind="stable") + n * own for q in rotations.swapaxes(0, 1)]
    groups = (groups + (groups.max() + 1) * own).ravel().astype(small)
    depth = 0
    while (sizes := np.bincount(groups)).max() > MAX_GROUP:
        order = along[depth % d].ravel()
        order = order[np.argsort(groups[order], kind="stable")]
        start = np.cumsum(sizes) - sizes
        share = 0.4 + 0.2 * _arrays.uniform(seed, depth + 1, len(sizes))[:, 0]
        cut = start + np.ceil(share * sizes).astype(np.int64)
        first = np.zeros(total, dtype=np.int64)
        first[start[1:]] = first[cut[sizes > MAX_GROUP]] = 1
        groups = np.empty(total, dtype=small)
        groups[order] = np.cumsum(first)
        depth += 1
    return groups.reshape(PARTITIONS, n)
