"""A histogram of a permutation test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lorenyi._display import MAIN, SECOND, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PermutationDisplay(Display):
    """Histogram of a test's permutations, with the observed statistic.

    Parameters
    ----------
    statistic : float
        The observed value.
    null : array
        Those of the permutations.
    pvalue : float
        For the legend.
    label : str
        Label of the horizontal axis.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The histogram of the permutations.
    line_ : matplotlib Line2D
        The statistic.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> from matplotlib.figure import Figure
    >>> x = np.linspace(0.0, 1.0, 40)
    >>> display = lr.independence_test(x, x**2).plot(ax=Figure().subplots())
    >>> display.pvalue
    0.005
    """

    def __init__(
        self, statistic: float, null: Any, pvalue: float, *, label: str = "statistic"
    ) -> None:
        self.statistic, self.pvalue, self.label = float(statistic), float(pvalue), label
        self.null = np.asarray(null, dtype=np.float64)

    @classmethod
    def from_result(cls, result: Any) -> PermutationDisplay:
        """Return the display of a `TestResult`; nothing is drawn until `plot`."""
        label = "deviations of all views combined" if result.is_standardized else "statistic (bits)"
        return cls(result.statistic, result.null, result.pvalue, label=label)

    def _draw(self, ax: Axes) -> None:
        _, _, self.bars_ = ax.hist(self.null, bins="auto", color=MAIN, alpha=0.5, label="permuted")
        self.line_ = ax.axvline(
            self.statistic, color=SECOND, lw=2, label=f"observed, p = {self.pvalue:.3g}"
        )
        ax.set(xlabel=self.label, ylabel="permutations")
        ax.legend()
