"""Exact structure of rows in blocks: equal rows and labels are found by a distributed group-by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.sources import ArraySource
from lorenyi.gram import structure
from lorenyi.gram.factors import Points
from lorenyi.gram.structure import columns_of, dual, width_of
from lorenyi.kernels import Delta

if TYPE_CHECKING:
    from lorenyi.gram.memory import InMemory
    from lorenyi.gram.protocol import Gram
    from lorenyi.gram.streamed import Streamed


def reduced(A: Streamed) -> tuple[Array, list[Gram]]:
    """Return eigenvalues known from structure, and smaller Grams that hold the others."""
    A = support(A)
    few = A.collected() if len(A) <= structure.WHOLE else folded(A)
    if few is not None:
        return structure.reduced(few)
    singles, blocks = split(A)
    return singles, [dual(block) for block in blocks]


def support(A: Streamed) -> Streamed:
    """Drop the rows of zero weight."""
    if A.frequency is None:
        return A
    counts = A.map(partial(_count, _positive))
    return A if sum(counts) == len(A) else A.only(A, _positive, counts, A.mass)


def _positive(part: InMemory) -> np.ndarray:
    return np.asarray(part.weights > 0)


def _count(mask: Callable[[InMemory], np.ndarray], part: InMemory, start: int) -> int:
    return int(np.count_nonzero(mask(part)))


def folded(A: Streamed) -> InMemory | None:
    """Merge equal rows into one in memory, if few distinct rows remain; otherwise None."""
    # If it is worthwhile, there are m <= 2^22 distinct rows and at least 2 m in all. Then 20,000
    # rows drawn at random hold at least 24 equal pairs on average: if they hold none, it is not.
    sample = A.sample(structure.WHOLE, 0)
    if len(_arrays.group_rows(columns_of(sample))[0]) == len(sample):
        return None
    found = A.sum(Distinct.of)
    pays = found.columns is not None and structure.pays(len(found.weights), A)
    return found.gram(A) if pays else None


@dataclass(frozen=True)
class Distinct:
    """The distinct rows of some blocks, in order of appearance; the sum of two is that of both.

    Once there are too many, `columns` is None.
    """

    columns: list[np.ndarray] | None
    weights: np.ndarray
    scale: np.ndarray
    width: int

    @classmethod
    def of(cls, part: InMemory, start: int) -> Distinct:
        """Return those of one block."""
        return cls._grouped(columns_of(part), part.weights, part.scale, width_of(part))

    def __add__(self, other: Distinct) -> Distinct:
        if self.columns is None or other.columns is None:
            return Distinct(None, self.weights[:0], self.scale[:0], self.width)
        return self._grouped(
            [np.concatenate(pair) for pair in zip(self.columns, other.columns, strict=True)],
            np.concatenate([self.weights, other.weights]),
            np.concatenate([self.scale, other.scale]),
            self.width,
        )

    @classmethod
    def _grouped(
        cls, columns: list[np.ndarray], weights: np.ndarray, scale: np.ndarray, width: int
    ) -> Distinct:
        first, group = _arrays.group_rows(columns)
        if len(first) * width > structure.DISTINCT:
            return cls(None, weights[:0], scale[:0], width)
        total = np.bincount(group, weights=weights)
        root = np.sqrt(total / weights[first])
        return cls([column[first] for column in columns], total, scale[first] * root, width)

    def gram(self, A: Streamed) -> InMemory:
        """Return the Gram in memory that has the nonzero eigenvalues of A."""
        pairs = zip(A.factors, self.columns or [], strict=True)
        points = [Points(factor.kernel, ArraySource(column)) for factor, column in pairs]
        weights, scale = (v.astype(A.reference.dtype) for v in (self.weights, self.scale))
        return A.reduced_to(points, scale, weights)


def split(A: Streamed) -> tuple[Array, list[Gram]]:
    """Split along the equality kernel into diagonal blocks: one a label, small ones in memory."""
    labels = [f for f in A.factors if isinstance(f.kernel, Delta)]
    others = [f for f in A.factors if not isinstance(f.kernel, Delta)]
    if not labels:
        return A.reference, [A]
    named = A.changed(factors=labels)
    known = named.sum(Distinct.of)
    if known.columns is None:
        raise ValueError(
            f"{A!r}: more than {structure.DISTINCT} distinct labels in rows that are not in "
            "memory; give labels that repeat, or a kernel for numbers"
        )
    counts = np.array(named.map(partial(_counts, known.columns)))
    small = np.flatnonzero(counts.sum(axis=0) <= structure.WHOLE)
    rest = A.changed(factors=others)
    blocks: list[Gram] = []
    for g in np.flatnonzero(counts.sum(axis=0) > structure.WHOLE):
        mask = partial(_among, known.columns, np.array([g]))
        blocks.append(rest.only(named, mask, counts[:, g], float(known.weights[g])))
    if not len(small):
        return A.reference, blocks
    mask = partial(_among, known.columns, small)
    together = A.only(named, mask, counts[:, small].sum(axis=1), float(known.weights[small].sum()))
    singles, collected = structure.split(together.collected())
    return singles, blocks + collected


def _labels(known: list[np.ndarray], part: InMemory) -> np.ndarray:
    """Return the number of each row's label in the list of all."""
    pairs = zip(known, columns_of(part), strict=True)
    _, group = _arrays.group_rows([np.concatenate(pair) for pair in pairs])
    return group[len(known[0]) :]


def _counts(known: list[np.ndarray], part: InMemory, start: int) -> np.ndarray:
    return np.bincount(_labels(known, part), minlength=len(known[0]))


def _among(known: list[np.ndarray], wanted: np.ndarray, part: InMemory) -> np.ndarray:
    return np.isin(_labels(known, part), wanted)
