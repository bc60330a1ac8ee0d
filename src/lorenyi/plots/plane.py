"""Layers of a network in the information plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lorenyi._display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class InformationPlaneDisplay(Display):
    """Layers in the plane of I(X; T) and I(T; Y), each a path through the steps of training.

    Parameters
    ----------
    epochs : array of e
        Steps or epochs.
    x, y : arrays, e x l
        I(X; T) and I(T; Y), in bits, of l layers.
    names : sequence of str
        Layers.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        A path for each layer.
    points_ : list of matplotlib PathCollection
        Its points, coloured by the step.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from lorenyi.plots import InformationPlaneDisplay
    >>> display = InformationPlaneDisplay([0, 1], [[3.0], [2.0]], [[0.5], [1.0]], ["hidden"])
    >>> display.plot(ax=Figure().subplots()).ax_.get_xlabel()
    'I(X; T), bits'
    """

    def __init__(self, epochs: Any, x: Any, y: Any, names: Sequence[str]) -> None:
        self.epochs = np.asarray(epochs, dtype=np.float64)
        self.x = np.asarray(x, dtype=np.float64)
        self.y = np.asarray(y, dtype=np.float64)
        self.names = list(names)
        wanted = (len(self.epochs), len(self.names))
        if self.x.shape != wanted or self.y.shape != wanted:
            raise ValueError(
                f"x has shape {self.x.shape} and y {self.y.shape}: with {wanted[0]} epochs and "
                f"{wanted[1]} names they must be {wanted}"
            )

    @classmethod
    def from_plane(cls, plane: Any) -> InformationPlaneDisplay:
        """Return the display of what a `lorenyi.nn.InformationPlane` recorded."""
        if not plane.records:
            raise ValueError("the plane has no records: call plane.record(step, x, y) in the loop")
        epochs = list(dict.fromkeys(row.step for row in plane.records))
        found = {(row.step, row.layer): (row.i_xt, row.i_ty) for row in plane.records}
        table = np.array([[found[step, name] for name in plane.layers] for step in epochs])
        return cls(epochs, table[:, :, 0], table[:, :, 1], plane.layers)

    def _draw(self, ax: Axes) -> None:
        self.lines_, self.points_ = [], []
        for name, x, y in zip(self.names, self.x.T, self.y.T, strict=True):
            self.lines_ += ax.plot(x, y, lw=1, label=name)
            points = ax.scatter(x, y, c=self.epochs, cmap="viridis", s=18, zorder=3)
            self.points_.append(points)
        self.figure_.colorbar(self.points_[0], ax=ax, label="step")
        ax.set_xlabel("I(X; T), bits")
        ax.set_ylabel("I(T; Y), bits")
        ax.legend()
