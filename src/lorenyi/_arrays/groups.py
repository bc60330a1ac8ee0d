"""Equal rows: which are, as groups, keys of 64 bits, or codes."""

from __future__ import annotations

import numpy as np

from lorenyi._arrays.draws import GOLDEN, mix


def group_rows(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Group equal rows of several aligned 2-D arrays.

    Returns
    -------
    first : ndarray
        Row number of each group's first member, in order of appearance.
    group : ndarray
        Group number of each row.
    """
    words = [word for column in columns for word in _words(column)]
    key = _keys(words)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    if any(not np.array_equal(word[first][group], word) for word in words):  # two rows, one key
        _, first, group = np.unique(
            np.stack(words, axis=1), axis=0, return_index=True, return_inverse=True
        )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group.reshape(-1)]


def row_keys(columns: list[np.ndarray]) -> np.ndarray:
    """Return 64 bits for each row of aligned 2-D arrays, a function of the row's values alone."""
    return _keys([word for column in columns for word in _words(column)])


def _keys(words: list[np.ndarray]) -> np.ndarray:
    key = np.zeros(len(words[0]), dtype=np.uint64)
    for word in words:
        key = mix(key * GOLDEN + word)
    return key


def _words(column: np.ndarray) -> list[np.ndarray]:
    """View each column of a 2-D array as 64-bit words that are equal where the values are."""
    return [np.ascontiguousarray(c).view(np.uint64) for c in codes(column).T]


def codes(array: np.ndarray) -> np.ndarray:
    """Return 64-bit integers that are equal where the values of an array are."""
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False) + 0.0  # -0.0 and 0.0 are one value
        return np.ascontiguousarray(array).view(np.int64)
    return array.astype(np.int64)
