"""What a test returns: as in SciPy a `statistic` and a `pvalue`, and what they were found by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from lorenyi import _html
from lorenyi.inference.permuting import STOP_ERROR, Permuted

if TYPE_CHECKING:
    from lorenyi.plots import PermutationDisplay


@dataclass(frozen=True, eq=False, repr=False)
class TestResult:
    """The result of a permutation test.

    Attributes
    ----------
    statistic : float
        The observed value. Of several bandwidths the largest standardized one: how many deviations
        it lies above the mean of observed and permuted values.
    pvalue : float
        (1 + b) / (1 + m), with b of m permutations at or above the statistic. It is never 0, and
        with m = 99 it cannot be below .01; its own standard error is about sqrt(p (1 - p) / m).
    null : array of m
        The statistic of each permutation.
    excess : float
        The information near independence that the statistic is of, in bits, less its mean over
        the permutations: what there is beyond chance.
    bandwidth : float or None
        The multiple of the variables' bandwidths that the statistic is of.
    permutations : int
        How many were asked for. There are fewer in `null` where the test ended early, because a
        p-value at or below `level` would lead to so many permutations above the statistic with a
        probability of at most 0.001 at each look, were the standardization known beforehand.
    level : float or None
        Of significance, for ending early.
    n : int
        Number of rows.
    """

    __test__: ClassVar[bool] = False  # its name begins like that of a test

    statistic: float
    pvalue: float
    null: np.ndarray
    excess: float
    bandwidth: float | None
    permutations: int
    level: float | None
    n: int

    @classmethod
    def of(
        cls,
        found: Permuted,
        multiples: tuple[float, ...] | None,
        permutations: int,
        level: float | None,
        n: int,
        **more: Any,
    ) -> Self:
        """Make a result of what permutations say."""
        bandwidth = None if multiples is None else multiples[found.largest]
        return cls(
            statistic=found.statistic,
            pvalue=found.pvalue,
            null=found.null,
            excess=found.excess,
            bandwidth=bandwidth,
            permutations=permutations,
            level=level,
            n=n,
            **more,
        )

    @property
    def ended_early(self) -> bool:
        """Whether not all permutations were needed."""
        return len(self.null) < self.permutations

    # ------------------------------------------------------------------ what it looks like

    _title: ClassVar[str] = "test"
    _unit: ClassVar[str] = " bits"

    def _facts(self) -> list[tuple[str, str]]:
        """Return names and values, the most important first."""
        several = self.bandwidth is not None
        number = f"{self.statistic:.4g}{' deviations' if several else self._unit}"
        at = f" at {self.bandwidth:g} x the bandwidth" if several else ""
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
        from lorenyi.plots import PermutationDisplay

        return PermutationDisplay.from_result(self).plot(ax)
