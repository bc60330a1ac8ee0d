"""Exact structure: equal rows, equality kernels and finite feature maps make a Gram smaller."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.gram.factors import Matrix, Points
from lorenyi.kernels import Delta, row_products

if TYPE_CHECKING:
    from lorenyi.gram.matrix import Gram


def reduced(A: Gram) -> tuple[Array, list[Gram]]:
    """Return eigenvalues known at sight, and smaller Grams that hold the others."""
    if not any(isinstance(factor, Points) for factor in A.factors):
        return A.weights[:0], [support(A)]
    singles, blocks = split(folded(support(A)))
    return singles, [dual(block) for block in blocks]


def support(A: Gram) -> Gram:
    """Drop the rows of zero weight."""
    positive = _arrays.to_numpy(A.weights) > 0
    return A if positive.all() else A.take(np.flatnonzero(positive))


def folded(A: Gram) -> Gram:
    """Fold equal rows of all factors into one (not where a gradient is asked for)."""
    if A.tracks_gradient or not all(isinstance(f, Points) for f in A.factors):
        return A
    columns = [_arrays.to_numpy(f.source.all()) for f in A.factors if isinstance(f, Points)]
    first, group = _arrays.group_rows(columns)
    if len(first) == len(A):
        return A
    weights = np.bincount(group, weights=_arrays.to_numpy(A.weights))
    folded = A.take(first)
    total = _arrays.like(weights, folded.weights)
    root = _arrays.namespace(total).sqrt(total / folded.weights)
    return A.with_factors(folded.factors, folded.scale * root, total)


def split(A: Gram) -> tuple[Array, list[Gram]]:
    """Split along the equality kernel into diagonal blocks; blocks of one row are values."""
    labels = [f for f in A.factors if isinstance(f, Points) and isinstance(f.kernel, Delta)]
    others = [f for f in A.factors if not isinstance(f.kernel, Delta)]
    if not labels:
        return A.weights[:0], [A]
    codes = [_arrays.to_numpy(label.source.all()) for label in labels]
    _, group = _arrays.group_rows(codes)
    rest = A.with_factors(others)
    if not others:  # all rows of a group are equal: one eigenvalue, their weight
        total = np.bincount(group, weights=_arrays.to_numpy(A.weights))
        return _arrays.like(total, A.weights), []
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group)
    starts = np.cumsum(counts) - counts
    alone = order[starts[counts == 1]]
    members = [order[a : a + c] for a, c in zip(starts, counts, strict=True) if c > 1]
    blocks = [rest.take(index) for index in members]
    if len(counts) > 1:
        for block in blocks:
            block.mass = float(np.sum(_arrays.to_numpy(block.weights), dtype=np.float64))
    return _arrays.take(A.weights, alone), blocks


def dual(A: Gram) -> Gram:
    """Replace Z Z' by the smaller Z'Z where the kernels have finite feature maps."""
    points = [f for f in A.factors if isinstance(f, Points)]
    widths = [f.kernel.width(f.source.shape[1]) for f in points]
    finite = [w for w in widths if w is not None]
    if len(finite) < len(A.factors) or math.prod(finite) >= len(A):
        return A
    maps = [_arrays.like(f.kernel.features(f.source.all()), A.reference) for f in points]
    Z = A.scale[:, None] * reduce(row_products, maps)
    moments = Z.T @ Z
    xp = _arrays.namespace(moments)
    one = xp.ones_like(moments[0, :])
    return A.with_factors([Matrix(moments)], one, xp.linalg.diagonal(moments))
