"""Exact structure: equal rows, equality kernels and finite feature maps make a Gram smaller."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.sources import slices
from lorenyi.gram.factors import Matrix, Points
from lorenyi.kernels import Delta, row_products

if TYPE_CHECKING:
    from lorenyi.gram.memory import InMemory
    from lorenyi.gram.protocol import Gram


WHOLE = 20_000  # rows up to which equal rows are always merged
DISTINCT = 2**22  # maximum numbers in the distinct rows of more, which must be at most half of all


def reduced(A: InMemory) -> tuple[Array, list[Gram]]:
    """Return eigenvalues known from structure, and smaller Grams that hold the others."""
    if not any(isinstance(factor, Points) for factor in A.factors):
        return A.weights[:0], [support(A)]
    singles, blocks = split(folded(support(A)))
    return singles, [dual(block) for block in blocks]


def support(A: InMemory) -> InMemory:
    """Drop the rows of zero weight."""
    positive = _arrays.to_numpy(A.weights) > 0
    return A if positive.all() else A.take(np.flatnonzero(positive))


def folded(A: InMemory) -> InMemory:
    """Merge equal rows of all factors into one (not where a gradient is tracked).

    Many rows are merged only if few distinct ones remain: rows in blocks must give the same
    result, and they cannot find every equal pair.
    """
    if A.tracks_gradient or not all(isinstance(f, Points) for f in A.factors):
        return A
    first, group = _arrays.group_rows(columns_of(A))
    if not pays(len(first), A):
        return A
    weights = np.bincount(group, weights=_arrays.to_numpy(A.weights))
    return A.take(first).weighted(_arrays.like(weights, A.weights))


def pays(distinct: int, A: Gram) -> bool:
    """Return whether to merge the equal rows of A, given the number of distinct ones."""
    if len(A) <= WHOLE:
        return distinct < len(A)
    return 2 * distinct <= len(A) and distinct * width_of(A) <= DISTINCT


def columns_of(A: Gram) -> list[np.ndarray]:
    """Return the points of all factors."""
    return [_arrays.to_numpy(f.source.all()) for f in A.factors if isinstance(f, Points)]


def width_of(A: Gram) -> int:
    """Return how many columns the points have; labels count as one."""
    points = [f for f in A.factors if isinstance(f, Points)]
    numbers = sum(f.source.shape[1] for f in points if not isinstance(f.kernel, Delta))
    return numbers + any(isinstance(f.kernel, Delta) for f in points)


def split(A: InMemory) -> tuple[Array, list[Gram]]:
    """Split along the equality kernel into diagonal blocks; blocks of one row are values."""
    labels = [f for f in A.factors if isinstance(f, Points) and isinstance(f.kernel, Delta)]
    others = [f for f in A.factors if not isinstance(f.kernel, Delta)]
    if not labels:
        return A.weights[:0], [A]
    codes = [_arrays.to_numpy(label.source.all()) for label in labels]
    _, group = _arrays.group_rows(codes)
    rest = A.changed(factors=others)
    if not others:  # all rows of a group are equal: one eigenvalue, their weight
        total = np.bincount(group, weights=_arrays.to_numpy(A.weights))
        return _arrays.like(total, A.weights), []
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group)
    starts = np.cumsum(counts) - counts
    alone = order[starts[counts == 1]]
    members = [order[a : a + c] for a, c in zip(starts, counts, strict=True) if c > 1]
    blocks: list[Gram] = [rest.take(index) for index in members]
    if len(counts) > 1:
        blocks = [block.changed(mass=_total(block.weights)) for block in blocks]
    return _arrays.take(A.weights, alone), blocks


def _total(weights: Array) -> float:
    return float(np.sum(_arrays.to_numpy(weights), dtype=np.float64))


def dual(A: Gram) -> Gram:
    """Replace Z Z' by the smaller Z'Z where the kernels have finite feature maps."""
    points = [f for f in A.factors if isinstance(f, Points)]
    widths = [f.kernel.width(f.source.shape[1]) for f in points]
    finite = [w for w in widths if w is not None]
    if len(finite) < len(A.factors) or math.prod(finite) >= len(A):
        return A
    moments = A.sum(_moments)
    xp = _arrays.namespace(moments)
    one = xp.ones_like(moments[0, :])
    # Sums over the rows, whose rounding adds up like a random walk.
    rounding = math.sqrt(len(A)) * _arrays.epsilon(moments) + A.roundoff
    factor = Matrix(moments, given_rounding=rounding)
    return A.reduced_to((factor,), one, xp.linalg.diagonal(moments))


def _moments(A: InMemory, start: int) -> Array:
    """Return Z'Z, a few rows at a time."""
    points = [f for f in A.factors if isinstance(f, Points)]
    width = math.prod([int(f.kernel.width(f.source.shape[1]) or 1) for f in points])
    total: Array = 0.0
    for rows in slices(len(A), max(2**22 // width, 1)):
        part = A.rows(rows)
        maps = [f.kernel.features(f.source.all()) for f in part.factors]  # type: ignore[union-attr]
        maps = [_arrays.like(features, A.reference) for features in maps]
        Z = part.scale[:, None] * reduce(row_products, maps)
        total = total + Z.T @ Z
    return total
