"""Random draws as functions of (seed, stream, row, column), without a generator's state.

Any chunk of rows can be drawn alone, and all array libraries get the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(z: np.ndarray) -> np.ndarray:
    """Scramble 64-bit counters (the finalizer of splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return cast(np.ndarray, z ^ (z >> np.uint64(31)))


def _start(seed: int, stream: int) -> np.ndarray:
    key = mix(np.array([int(seed) % 2**64, stream % 2**64], dtype=np.uint64) + GOLDEN)
    return mix(key[:1] + (key[1:] << np.uint64(1)))


def hashed(seed: int, stream: int, rows: np.ndarray | int, columns: int = 1) -> np.ndarray:
    """Return 64 random bits for each (row, column), as a function of seed and stream alone."""
    rows = rows if isinstance(rows, np.ndarray) else np.arange(rows)
    z = mix(rows.astype(np.uint64) * GOLDEN + _start(seed, stream))
    steps = (np.arange(columns, dtype=np.uint64) + np.uint64(1)) * GOLDEN
    return mix(z[:, None] + steps[None, :])


def uniform(seed: int, stream: int, rows: np.ndarray | int, columns: int = 1) -> np.ndarray:
    """Draw uniforms in (0, 1), one for each (row, column)."""
    bits = hashed(seed, stream, rows, columns) >> np.uint64(11)
    return cast(np.ndarray, (bits.astype(np.float64) + 0.5) * 2.0**-53)


def normal(seed: int, stream: int, rows: np.ndarray | int, columns: int = 1) -> np.ndarray:
    """Draw standard normals, one for each (row, column), by Box and Muller's transform."""
    u = uniform(seed, stream, rows, 2 * columns)
    radius = np.sqrt(-2 * np.log(u[:, :columns]))
    return cast(np.ndarray, radius * np.cos(2 * np.pi * u[:, columns:]))


def signs(seed: int, stream: int, rows: np.ndarray | int, columns: int = 1) -> np.ndarray:
    """Draw random signs, one for each (row, column)."""
    bits = hashed(seed, stream, rows, columns) >> np.uint64(63)
    return cast(np.ndarray, 1.0 - 2.0 * bits.astype(np.float64))


def choose(seed: int, stream: int, n: int, size: int) -> np.ndarray:
    """Draw `size` of n rows without replacement: those with the smallest random bits."""
    if size >= n:
        return np.arange(n)
    bits = hashed(seed, stream, n)[:, 0]
    return np.sort(np.argpartition(bits, size)[:size])


def permutation(seed: int, stream: int, groups: np.ndarray) -> np.ndarray:
    """Return a random permutation of the rows that keeps each within its group."""
    return cast(np.ndarray, permutations(seed, [stream], groups[None, :])[0])


def permutations(seed: int, streams: Sequence[int], groups: np.ndarray) -> np.ndarray:
    """Return the permutations of several streams, each within the groups of its row."""
    start = np.stack([_start(seed, stream) for stream in streams])
    z = mix(np.arange(groups.shape[1], dtype=np.uint64) * GOLDEN + start)
    keys = (mix(z + GOLDEN) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    moved = np.empty(groups.shape, dtype=np.int64)
    np.put_along_axis(
        moved, np.argsort(groups, axis=1, kind="stable"), np.argsort(groups + keys, axis=1), axis=1
    )
    return moved


def block_permutation(seed: int, stream: int, n: int, length: int) -> np.ndarray:
    """Return rows cut into blocks of a length (the last may be shorter), in random order."""
    starts = np.arange(0, n, length)
    keys = uniform(seed, stream, len(starts))[:, 0]
    return np.concatenate(
        [np.arange(start, min(start + length, n)) for start in starts[np.argsort(keys)]]
    )
