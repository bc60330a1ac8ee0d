"""A two-sample test, which also names the columns that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from lorenyi._progress import Progress
from lorenyi._threads import one_thread, parallel
from lorenyi.data.frames import is_table
from lorenyi.data.reading import variables
from lorenyi.divergences import divergence, stacked
from lorenyi.estimate import Estimate
from lorenyi.gram import gram
from lorenyi.inference.features import BANDWIDTHS, basis
from lorenyi.inference.independence import require_options
from lorenyi.inference.permuting import (
    TIE,
    Orders,
    permute,
    soft_maximum,
    standardized,
)
from lorenyi.inference.quadratic import Quadratic, side_by_side, views
from lorenyi.inference.result import TestResult
from lorenyi.inference.rows import tested_rows
from lorenyi.kernels import Delta


@dataclass(frozen=True)
class ColumnChange:
    """How one column differs between two samples.

    Attributes
    ----------
    name : str
        The column.
    statistic : float
        The soft maximum of its standardized statistics.
    pvalue : float
        The share of permutations in which any column has one as large: corrected for testing all
        columns.
    excess : float
        Information of the column about the sample beyond chance, in bits.
    """

    name: str
    statistic: float
    pvalue: float
    excess: float


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleTest(TestResult):
    """The result of `two_sample_test`: see `TestResult` for statistic, p-value and the rest.

    Attributes
    ----------
    columns : tuple of ColumnChange
        One for each column where there are several, the most changed first.
    samples : pair
        The two samples.
    """

    columns: tuple[ColumnChange, ...]
    samples: tuple[Any, Any]
    _title: ClassVar[str] = "test of two samples"

    @cached_property
    def divergence(self) -> Estimate:
        """The representation Jensen-Shannon divergence in bits, computed on access."""
        return divergence(*self.samples)  # type: ignore[no-any-return]

    @property
    def changed(self) -> list[str]:
        """The columns whose p-value is at or below the level (0.05 where there is none)."""
        level = 0.05 if self.level is None else self.level
        return [column.name for column in self.columns if column.pvalue <= level + 1e-12]

    def _facts(self) -> list[tuple[str, str]]:
        facts = super()._facts()
        if self.columns:
            facts.append(("changed columns", ", ".join(self.changed) or "none"))
        return facts


def two_sample_test(
    x: Any,
    y: Any,
    *,
    bandwidths: Sequence[float] = BANDWIDTHS,
    permutations: int = 199,
    level: float | None = 0.05,
    seed: int = 0,
    progress: Progress = None,
) -> TwoSampleTest:
    """Test whether two samples have the same distribution, and name the columns that differ.

    It is the test of independence between the points and their sample. The statistics of all
    columns together and of each column alone are pooled, at several bandwidths. So it detects a
    change of one column among many as well as a change that only shows in the columns together.
    Level and early stopping are those of `independence_test`.

    Parameters
    ----------
    x, y : array, data-frame, column or sequence
        Rows of the two samples, with the same columns: the reference first.
    bandwidths, permutations, level, seed, progress
        As in `independence_test`.

    Returns
    -------
    TwoSampleTest

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 3)), rng.normal(size=(150, 3))
    >>> y[:, 1] *= 2.0
    >>> found = lr.two_sample_test(x, y)
    >>> found.pvalue, found.changed
    (0.005, ['x1'])
    """
    multiples = require_options(bandwidths, permutations, level, seed)
    points, label = stacked(x, y)
    columns, names = _columns(points)
    grams = [gram(points, name="x"), *(gram(column, name="x") for column in columns)]
    *sides, B = tested_rows([*grams, gram(label, Delta())], seed)
    groups = np.zeros(len(B), dtype=np.int64)
    with one_thread():
        sample = basis(B, multiples)
        bases = parallel(lambda A: basis(A, multiples), sides)
        own = [views(each, sample, multiples) for each in bases]
        joined, seen = side_by_side(bases, own)
        statistic = Quadratic(joined, sample.columns, seen, groups)
        found = permute(statistic, Orders(seed, groups[None]), permutations, level, progress)
    return TwoSampleTest.of(
        found,
        statistic.names,
        permutations,
        level,
        len(B),
        columns=_changes(found.values, [len(each) for each in own], names),
        samples=(x, y),
    )


def _columns(points: Any) -> tuple[list[Any], list[str]]:
    """Return the columns of several, and their names."""
    if is_table(points) or (getattr(points, "ndim", 1) == 2 and points.shape[1] > 1):
        found, names = variables(points, "x")
        return (found, names) if len(found) > 1 else ([], [])
    return [], []


def _changes(
    values: np.ndarray, counts: Sequence[int], names: Sequence[str]
) -> tuple[ColumnChange, ...]:
    """Return the change of each column, with p-values corrected for all columns."""
    if not names:
        return ()
    ends = np.cumsum(counts)
    scores, pool = standardized(values), len(values)
    own = [slice(end - count, end) for count, end in zip(counts[1:], ends[1:], strict=True)]
    largest = np.column_stack([soft_maximum(scores[:, mine]) for mine in own])
    any_column = largest[1:].max(axis=1)
    found = []
    for j, (name, mine) in enumerate(zip(names, own, strict=True)):
        above = int(np.count_nonzero(any_column >= largest[0, j] - 1e3 * TIE))
        bits = values[:, mine][:, scores[0, mine].argmax()]
        excess = float(bits[0] - bits[1:].mean())
        found.append(ColumnChange(name, float(largest[0, j]), (1 + above) / pool, excess))
    return tuple(sorted(found, key=lambda column: (column.pvalue, -column.statistic)))
