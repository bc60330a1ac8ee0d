"""Columns as factors: what joins the chosen features is known by its distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lorenyi import _arrays
from lorenyi.data.sources import slices
from lorenyi.gram import Gram, held, joint
from lorenyi.joints.limits import LIMITS
from lorenyi.spectra.cholesky import Factor


@dataclass(frozen=True, eq=False)
class Column:
    r"""A feature: its kernel k between its distinct values, and factors below that.

    :math:`\Phi \Phi' \preceq k`, with columns that are orthogonal with respect to the weights,
    largest first; and a factor of the squared kernel.
    """

    codes: np.ndarray  # which value each row has
    gram: Gram  # of all rows
    folded: Gram  # of the values, in the order of their codes
    factor: np.ndarray  # l x r
    values: np.ndarray  # r: squared norms of its columns
    rest: float  # the (weighted) trace that it leaves out
    square: np.ndarray  # l x s
    missing: float  # the trace that this one leaves out

    @classmethod
    def of(cls, A: Gram, codes: np.ndarray, squared: bool) -> Column:
        """Take a feature's Gram and the codes of its values; its square only if that is needed."""
        folded = fold([A], codes)
        root = np.sqrt(_arrays.to_numpy(folded.weights))[:, None]
        first = _grown(folded, LIMITS.left_out)
        second = _grown(folded * folded, 0.1 * LIMITS.left_out if squared else 2.0)
        values, Z = _arrays.eigh(first.F.T @ first.F)
        keep = values > 0.1 * LIMITS.left_out * values[-1]
        factor = flushed((first.F @ Z[:, keep][:, ::-1] / root).astype(np.float32))
        square = flushed((second.F / root).astype(np.float32))
        rest = max(first.rest, 0.0) + float(np.sum(values[~keep]))
        return cls(codes, A, folded, factor, values[keep][::-1], rest, square, second.rest)

    @cached_property
    def few(self) -> np.ndarray | None:
        """The kernel between all values, if they are few."""
        return unit_kernel(self.folded) if len(self.folded) <= LIMITS.columns else None

    def kernel(self, v: np.ndarray) -> np.ndarray:
        """Return the kernel between some of the values, in float64."""
        if self.few is not None:
            return np.asarray(self.few[np.ix_(v, v)])
        return unit_kernel(self.folded.take(v))


def _grown(A: Gram, rest: float) -> Factor:
    factor = Factor(A)
    while factor.rest > rest and factor.size < LIMITS.columns and factor.grow(8):
        pass
    return factor


def fold(grams: Sequence[Gram], codes: np.ndarray) -> Gram:
    """Return the joint of Grams whose rows are equal where the codes are, one row for each."""
    first = first_of(codes)
    old = _arrays.to_numpy(grams[0].weights)
    weights = np.bincount(codes, weights=old)
    return joint(*[A.take(first).weighted(weights) for A in grams])


def first_of(codes: np.ndarray) -> np.ndarray:
    """Return a row for each code; codes are 0, 1, ... without gaps."""
    row = np.empty(int(codes.max()) + 1, dtype=np.int64)
    row[codes[::-1]] = np.arange(len(codes))[::-1]
    return row


def unit_kernel(A: Gram, single: bool = False) -> np.ndarray:
    """Return the matrix of a Gram without its weights: ones on the diagonal."""
    stored = held(A.single(points=False) if single else A)
    kernel: np.ndarray = _arrays.to_numpy(stored.factors[0].array)
    scale = _arrays.to_numpy(stored.scale) / np.sqrt(_arrays.to_numpy(stored.weights))
    if np.max(np.abs(scale - 1.0)) > 4 * _arrays.epsilon(kernel):
        kernel = kernel * scale[:, None] * scale[None, :]
    return kernel


def in_one_piece(index: np.ndarray) -> Any:
    """Return an ascending index, as a slice where it has no gaps and repeats nothing."""
    first, last = int(index[0]), int(index[-1]) + 1
    whole = len(index) == last - first and bool((np.diff(index) == 1).all())
    return slice(first, last) if whole else index


def taken(K: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return some rows of a matrix and the same columns; a view where they are in one piece."""
    piece = in_one_piece(index)
    return K[piece, piece] if isinstance(piece, slice) else K.take(piece, 0).take(piece, 1)


def flushed(array: np.ndarray) -> np.ndarray:
    """Set to zero, in place, what is far below rounding: products of tiny numbers are slow.

    Below 1e-38 float32 has numbers with fewer digits, for which processors take a hundred times
    as long.
    """
    for rows in slices(len(array), 256):
        part = array[rows]
        part[np.abs(part) < 1e-18] = 0.0
    return array
