"""A plot of the information of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lorenyi import _arrays
from lorenyi._display import MAIN, SECOND, Display
from lorenyi.inference import pointwise_information
from lorenyi.plots.style import signed_shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class RowInformationDisplay(Display):
    """The information of each row, in color where x and y are one column of numbers each.

    Otherwise the rows are sorted by their information: a few large values mean that few rows carry
    the dependence, negative ones contradict it.

    Parameters
    ----------
    information : array of n
        Bits of each row.
    x, y : array of n, optional
        Position of each row.

    Attributes
    ----------
    points_ : matplotlib PathCollection or None
        The rows, if they have a position.
    line_ : matplotlib Line2D or None
        The sorted values otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from lorenyi.plots import RowInformationDisplay
    >>> x = np.linspace(-1.0, 1.0, 40)
    >>> display = RowInformationDisplay.from_variables(x, x**2).plot(ax=Figure().subplots())
    >>> display.information.shape, display.ax_.get_ylabel()
    ((40,), 'y')
    """

    def __init__(self, information: Any, x: Any = None, y: Any = None) -> None:
        self.information = np.asarray(information, dtype=np.float64)
        self.x, self.y = x, y

    @classmethod
    def from_variables(cls, x: Any, y: Any, *, weights: Any = None) -> RowInformationDisplay:
        """Measure rows by `pointwise_information`; nothing is drawn until `plot`.

        Parameters
        ----------
        x, y, weights
            As in `pointwise_information`; with weights, rows have no position.
        """
        found = pointwise_information(x, y, weights=weights)
        places = [None if weights is not None else _one_column(v) for v in (x, y)]
        if places[0] is None or places[1] is None:
            return cls(found)
        return cls(found, *places)

    def _draw(self, ax: Axes) -> None:
        self.points_ = self.line_ = None
        if self.x is None:
            order = np.sort(self.information)[::-1]
            (self.line_,) = ax.plot(np.arange(1, len(order) + 1), order, color=MAIN)
            ax.axhline(float(order.mean()), color=SECOND, label=f"mean: {order.mean():.3g} bits")
            ax.set(xlabel="rows, the most informative first", ylabel="information (bits)")
            ax.legend()
            return
        most = float(np.max(np.abs(self.information)))
        self.points_ = ax.scatter(
            self.x,
            self.y,
            c=self.information,
            cmap=signed_shades(-most, most),
            vmin=-most,
            vmax=most,
            s=14,
        )
        ax.set(xlabel="x", ylabel="y")
        ax.figure.colorbar(self.points_, ax=ax, label="information (bits)")


def _one_column(v: Any) -> np.ndarray | None:
    """Return a variable if it is one column of numbers; otherwise None."""
    if isinstance(v, (list, tuple)) and any(np.ndim(part) for part in v):
        return None
    values = _arrays.to_numpy(_arrays.detach(v)) if _arrays.is_array(v) else np.asarray(v)
    if values.dtype.kind not in "iufb" or values.size != len(values):
        return None
    return np.asarray(values.reshape(-1), dtype=np.float64)
