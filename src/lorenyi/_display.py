"""What every display shares: `plot`, and where it draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import ArrayLike


class Display(ABC):
    """Numbers that can be drawn; a subclass says how in `_draw`.

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
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError as missing:
                remedy = 'pip install "lorenyi[plots]"'
                raise ImportError(f"pictures need matplotlib: {remedy}") from missing
            _, ax = pyplot.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        return self

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on axes, and keep what was drawn in attributes that end with an underscore."""


def slanted(ax: Axes, places: ArrayLike, names: Sequence[str]) -> None:
    """Write names below the horizontal axis, slanted so that long ones fit."""
    ax.set_xticks(np.asarray(places), names, rotation=40, ha="right", rotation_mode="anchor")
