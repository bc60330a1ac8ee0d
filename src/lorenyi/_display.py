"""The base class of displays: `plot`, and the size of a new figure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

MAIN, SECOND = "#0b5fa5", "#b04a00"  # blue and orange, distinct for color-blind readers too
INCHES = (6.4, 4.8)  # of a figure with few names: matplotlib's own
INCHES_A_NAME = 0.24  # per further name, so that names stay readable
MAX_INCHES = 20.0


class Display(ABC):
    """Base class of displays; a subclass draws in `_draw`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
            The display, as in scikit-learn. A notebook shows the figure and one line of text.
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError as missing:
                remedy = 'pip install "lorenyi[plots]"'
                raise ImportError(f"plots need matplotlib: {remedy}") from missing
            _, ax = pyplot.subplots(figsize=self._inches(), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        return self

    def __repr__(self) -> str:
        """Return one line: the class, and the names that are drawn."""
        names = list(getattr(self, "names", []))
        listed = ", ".join(names[:3]) + (f", ... {len(names)} in all" if len(names) > 3 else "")
        return f"{type(self).__name__}({listed})"

    def _inches(self) -> tuple[float, float]:
        """Return the size of a new figure; a display with many names needs more."""
        return INCHES

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on axes, and keep what was drawn in attributes that end with an underscore."""


def square(names: int) -> tuple[float, float]:
    """Return the size of a figure with names along both axes of a map."""
    side = INCHES_A_NAME * names + 2.4  # and the names themselves, and a scale
    return min(max(INCHES[0], side + 1.0), MAX_INCHES), min(max(INCHES[1], side), MAX_INCHES)


def wide(names: int) -> tuple[float, float]:
    """Return the size of a figure with names along the horizontal axis."""
    return min(max(INCHES[0], INCHES_A_NAME * names + 1.6), MAX_INCHES), INCHES[1]
