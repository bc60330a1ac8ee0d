"""Functions that run on the workers that hold a streamed Gram's blocks (plain, to be pickled)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lorenyi.data.sources import ArraySource, slices
from lorenyi.gram.factors import TILE, Points, Rule
from lorenyi.gram.memory import InMemory
from lorenyi.kernels import Kernel


@dataclass(frozen=True)
class Block:
    """Makes the Gram of a block of rows from the values of its task."""

    bundle: Callable[..., list[np.ndarray]]
    kinds: list[tuple[Kernel, tuple[Rule, ...]]]
    unit: float
    n: float
    dtype: str

    def __call__(self, *values: Any) -> InMemory:
        """Return the Gram of the block that a task's values belong to."""
        return self.gram(self.bundle(*values))

    def gram(self, columns: list[np.ndarray]) -> InMemory:
        """Return the Gram."""
        weighted = len(columns) > len(self.kinds)
        count = columns[-1][:, 0] if weighted else np.ones(len(columns[0]))
        weights = (self.unit * count).astype(self.dtype)
        pairs = zip(self.kinds, columns, strict=False)
        points = [Points(kernel, ArraySource(a), rules=rules) for (kernel, rules), a in pairs]
        return InMemory(tuple(points), np.sqrt(weights), weights, self.n)


def on_block(
    function: Callable[[InMemory, int], Any], make: Block, start: int, *values: Any
) -> Any:
    """Apply a function to the Gram of a block."""
    return function(make(*values), start)


def mask(function: Callable[[InMemory], np.ndarray], make: Block, *values: Any) -> np.ndarray:
    """Return a truth value for each row of a block, as a column."""
    return function(make(*values))[:, None]


def columns(others: InMemory, part: InMemory, start: int) -> np.ndarray:
    """Return A[:, others] at the rows of a block."""
    return np.asarray(part.cross(others) * part.scale[:, None] * others.scale[None, :])


def _two(make: Block, size: int, *values: Any) -> tuple[InMemory, InMemory, bool]:
    """Make the Grams of a pair of blocks; return whether they are the same block."""
    first, second = values[:size], values[size:]
    left = make(*first[1:])
    same = bool(first[0] == second[0])
    return left, left if same else make(*second[1:]), same


def _tiles(left: InMemory, right: InMemory) -> list[tuple[slice, slice]]:
    return [(r, c) for r in slices(len(left), TILE) for c in slices(len(right), 2 * TILE)]


def squares(make: Block, size: int, *values: Any) -> float:
    """Return the sum of the squared entries of a pair of blocks."""
    left, right, same = _two(make, size, *values)
    total = 0.0
    for rows, columns in _tiles(left, right):
        block = np.square(left.rows(rows).cross(right.rows(columns)))
        total += float((left.scale[rows] ** 2) @ (block @ (right.scale[columns] ** 2)))
    return total if same else 2 * total


def times(
    make: Block, V: np.ndarray, W: np.ndarray, size: int, *values: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return A_ij W and A_ij' V for a pair of blocks."""
    left, right, same = _two(make, size, *values)
    here, there = np.zeros_like(V), np.zeros_like(W)
    X, Y = left.scale[:, None] * V, right.scale[:, None] * W
    for rows, columns in _tiles(left, right):
        block = left.rows(rows).cross(right.rows(columns))
        here[rows] += block @ Y[columns]
        if not same:
            there[columns] += block.T @ X[rows]
    return left.scale[:, None] * here, right.scale[:, None] * there


def as_column(values: np.ndarray) -> np.ndarray:
    """Return one number per row as a column."""
    return np.asarray(values)[:, None]
