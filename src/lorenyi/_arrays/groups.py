"""Equal rows as groups, 64-bit keys, or codes."""

from __future__ import annotations

import numpy as np

from lorenyi._arrays.draws import GOLDEN, hashed, mix

PIECE = 2**15  # numbers that are hashed at a time: they fit in the cache


def group_rows(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Group equal rows of several aligned 2-D arrays.

    Returns
    -------
    first : ndarray
        Row number of each group's first member, in order of appearance.
    group : ndarray
        Group number of each row.
    """
    words = [codes(column).view(np.uint64) for column in columns]
    _, first, group = np.unique(_sums(words), return_index=True, return_inverse=True)
    if not all(_agree(word, first[group]) for word in words):  # a collision: two rows, one key
        rows = np.concatenate(words, axis=1)
        _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group.reshape(-1)]


def _sums(words: list[np.ndarray]) -> np.ndarray:
    """Return 64 bits for each row: its scrambled words, each times a different odd number."""
    n, width = len(words[0]), sum(word.shape[1] for word in words)
    odd = hashed(0, 0, width)[:, 0] | np.uint64(1)
    key = np.zeros(n, dtype=np.uint64)
    start = 0
    for word in words:
        mine = odd[start : (start := start + word.shape[1])]
        for piece in _pieces(word):
            key[piece] += mix(word[piece]) @ mine
    return key


def _agree(word: np.ndarray, other: np.ndarray) -> bool:
    """Return whether each row equals another."""
    return all(np.array_equal(word[other[piece]], word[piece]) for piece in _pieces(word))


def _pieces(word: np.ndarray) -> list[slice]:
    size = max(PIECE // word.shape[1], 1)
    return [slice(start, start + size) for start in range(0, len(word), size)]


def row_keys(columns: list[np.ndarray]) -> np.ndarray:
    """Return 64 bits for each row of aligned 2-D arrays, a function of the row's values alone."""
    key = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        for word in np.ascontiguousarray(codes(column).view(np.uint64).T):
            key = mix(key * GOLDEN + word)
    return key


def codes(array: np.ndarray) -> np.ndarray:
    """Return 64-bit integers that are equal where the values of an array are."""
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False) + 0.0  # -0.0 and 0.0 are equal
        return np.ascontiguousarray(array).view(np.int64)
    return array.astype(np.int64)


def numbered(*columns: np.ndarray) -> np.ndarray:
    """Number the distinct rows of aligned columns from 0, in the order of their values."""
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, part = np.unique(column, return_inverse=True)
        _, joint = np.unique(joint * (int(part.max()) + 1) + part, return_inverse=True)
    return np.asarray(joint, dtype=np.int64)
