"""The rows of a test: NumPy arrays in memory, each row of weight one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lorenyi import _arrays
from lorenyi.gram import Gram
from lorenyi.gram.host import on_host

MAX_ROWS = 200_000  # rows that are tested: of more, a random sample


def tested_rows(grams: Sequence[Gram], seed: int) -> list[Gram]:
    """Return variables on the rows of a test.

    Weights are frequencies, so a row of weight 2 is repeated. Of more than `MAX_ROWS` rows a
    random sample is taken, the same for all variables.
    """
    A = grams[0]
    for other in grams[1:]:
        A * other  # raises an error for different rows or weights
    index = _repeated(A)
    total = len(A) if index is None else len(index)
    if total > MAX_ROWS:
        chosen = _arrays.choose(seed, 17, total, MAX_ROWS)
        index = chosen if index is None else index[chosen]
    elif index is None and not all(B.in_memory for B in grams):
        index = np.arange(total)
    return [_taken(B, index) for B in grams]


def _repeated(A: Gram) -> np.ndarray | None:
    """Return the number of each row, repeated by its weight; None if all weights are one."""
    if not A.is_weighted and A.n == len(A):
        return None
    counts = _arrays.to_numpy(A.weights).astype(np.float64) * A.n
    whole = np.rint(counts)
    if np.max(np.abs(counts - whole)) > 1e-6 * max(float(counts.max()), 1.0):
        raise ValueError(
            "a permutation test repeats each row by its weight, so the weights must be whole "
            "numbers: round them, or draw rows with these weights"
        )
    return np.repeat(np.arange(len(A)), whole.astype(np.int64))


def _taken(A: Gram, index: np.ndarray | None) -> Gram:
    """Return rows of a Gram, each of weight 1 / n."""
    B = A.detached()
    B = B.collected() if index is None else B.take(index)
    B = on_host(B).collected()
    return B.weighted(np.full(len(B), 1.0 / len(B)), len(B))
