"""The result of a test: as in SciPy a `statistic` and a `pvalue`, with their details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from lorenyi import _html
from lorenyi.inference.permuting import STOP_ERROR, Permuted
from lorenyi.inference.picture import PermutationDisplay


@dataclass(frozen=True, eq=False, repr=False)
class TestResult:
    """The result of a permutation test.

    Attributes
    ----------
    statistic : float
        The observed value. Several views of the data are combined into one number of deviations:
        by the soft maximum of how many deviations they lie above the mean of observed and permuted
        values or, in `independence_test`, by the harmonic mean of their p-values.
    pvalue : float
        (1 + b) / (1 + m), with b of m permutations at or above the statistic. It is never 0, and
        with m = 99 it cannot be below .01; its own standard error is about sqrt(p (1 - p) / m).
    null : array of m
        The statistic of each permutation.
    excess : float
        The information near independence behind the statistic, in bits, minus its mean over the
        permutations: the information beyond chance.
    bandwidth : pair of float or None
        The multiples of the bandwidths of x and y at which the largest statistic is; infinity: that
        of the columns themselves, linearly. None where there is no bandwidth.
    permutations : int
        The requested number. There are fewer in `null` if the test ended early, because a p-value
        at or below `level` would lead to so many permutations above the statistic with a
        probability of at most 0.001 at each check, if the standardization were known beforehand.
    level : float or None
        Of significance, for ending early.
    is_standardized : bool
        Whether the statistic is of several, in deviations, or of one, in bits.
    n : int
        Number of rows.
    """

    __test__: ClassVar[bool] = False  # pytest would collect it by its name

    statistic: float
    pvalue: float
    null: np.ndarray
    excess: float
    bandwidth: tuple[float, float] | None
    permutations: int
    level: float | None
    is_standardized: bool
    n: int

    @classmethod
    def of(
        cls,
        found: Permuted,
        names: Sequence[tuple[float, float] | None],
        permutations: int,
        level: float | None,
        n: int,
        **more: Any,
    ) -> Self:
        """Make a result from the outcome of permutations."""
        return cls(
            statistic=found.statistic,
            pvalue=found.pvalue,
            null=found.null,
            excess=found.excess,
            bandwidth=names[found.largest],
            permutations=permutations,
            level=level,
            is_standardized=len(names) > 1,
            n=n,
            **more,
        )

    @property
    def ended_early(self) -> bool:
        """Whether not all permutations were needed."""
        return len(self.null) < self.permutations

    # ------------------------------------------------------------------ display

    _title: ClassVar[str] = "test"
    _unit: ClassVar[str] = " bits"

    def _facts(self) -> list[tuple[str, str]]:
        """Return names and values, the most important first."""
        number = f"{self.statistic:.4g}{' deviations' if self.is_standardized else self._unit}"
        at = ""
        if self.bandwidth is not None:
            at = " at {:g} and {:g} x the bandwidths".format(*self.bandwidth)
        count = f"{len(self.null)}"
        if self.ended_early:
            count += f" of {self.permutations}: p <= {self.level:g} is out of reach "
            count += f"(error <= {STOP_ERROR:g})"
        return [
            ("p-value", f"{self.pvalue:.3g}"),
            ("statistic", number + at),
            ("permutations", count),
            ("rows", f"{self.n:,}"),
        ]

    def __repr__(self) -> str:
        """Show the numbers that matter."""
        facts = ", ".join(f"{name}: {value}" for name, value in self._facts())
        return f"{type(self).__name__}({facts})"

    def _repr_html_(self) -> str:
        """Show it in notebooks: the numbers, and the null as bars with the statistic's place."""
        top = max(float(np.max(self.null, initial=self.statistic)), self.statistic)
        low = min(float(np.min(self.null, initial=self.statistic)), self.statistic)
        counts, _ = np.histogram(self.null, bins=24, range=(low, max(top, low + 1e-12)))
        return _html.shown(self._title, self._facts(), _html.bars(counts.tolist()))

    def plot(self, ax: Any = None) -> PermutationDisplay:
        """Draw the null with the statistic (needs matplotlib).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        return PermutationDisplay.from_result(self).plot(ax)
