"""Layers of a network: a measure over depth, and how similar each two are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lorenyi import _arrays
from lorenyi._display import MAIN, Display, square, wide
from lorenyi.plots.style import amounts, write_names, write_names_of_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LayerProfileDisplay(Display):
    """A measure of each layer over depth: the mean over sequences or samples, and its spread.

    Parameters
    ----------
    names : sequence of str
        Layers, in order.
    values : arrays, one for each layer
        One number, or one for each sequence.
    label : str
        Of the vertical axis.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The means.
    band_ : matplotlib PolyCollection
        From the 10 % to the 90 % quantile.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from lorenyi.plots import LayerProfileDisplay
    >>> display = LayerProfileDisplay(["first", "last"], [[3.0, 5.0], [2.0, 3.0]])
    >>> display.plot(ax=Figure().subplots()).line_.get_ydata()
    array([4. , 2.5])
    """

    def __init__(
        self, names: Sequence[str], values: Sequence[Any], label: str = "entropy, bits"
    ) -> None:
        self.names = list(names)
        self.values = [np.atleast_1d(_arrays.to_numpy(_as_array(v))).ravel() for v in values]
        self.label = label
        if len(self.names) != len(self.values) or not self.names:
            raise ValueError(f"{len(self.names)} names and {len(self.values)} values: give as many")

    @classmethod
    def from_layers(
        cls, layers: Mapping[str, Any], label: str = "entropy, bits"
    ) -> LayerProfileDisplay:
        """Return the display of values by layer, as `lorenyi.nn.watch` collects them."""
        return cls(list(layers), list(layers.values()), label)

    def _draw(self, ax: Axes) -> None:
        places = np.arange(len(self.names))
        low, high = np.array([np.quantile(v, [0.1, 0.9]) for v in self.values]).T
        means = [v.mean() for v in self.values]
        (self.line_,) = ax.plot(places, means, "o-", ms=4, color=MAIN)
        self.band_ = ax.fill_between(places, low, high, alpha=0.2, lw=0, color=MAIN)
        write_names(ax, "x", places, self.names, len(self.names))
        ax.set_ylabel(self.label)

    def _inches(self) -> tuple[float, float]:
        return wide(len(self.names))


class LayerSimilarityDisplay(Display):
    """How similar each two layers are, as an image.

    Parameters
    ----------
    matrix : array, L x L
        Such as `lorenyi.representations.cka_matrix` gives.
    names : sequence of str
        Layers, in order.
    label : str
        Of the colors.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The image.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from lorenyi.plots import LayerSimilarityDisplay
    >>> display = LayerSimilarityDisplay([[1.0, 0.3], [0.3, 1.0]], ["first", "last"])
    >>> display.plot(ax=Figure().subplots()).image_.get_array().max()
    np.float64(1.0)
    """

    def __init__(self, matrix: Any, names: Sequence[str], label: str = "CKA") -> None:
        self.matrix = np.asarray(_arrays.to_numpy(_as_array(matrix)), dtype=np.float64)
        self.names = list(names)
        self.label = label
        if self.matrix.shape != (len(self.names), len(self.names)):
            raise ValueError(
                f"the matrix has shape {self.matrix.shape} and there are {len(self.names)} names"
            )

    @classmethod
    def from_layers(
        cls, layers: Mapping[str, Any], *, unbiased: bool = False
    ) -> LayerSimilarityDisplay:
        """Return the display of the alignment (CKA) of layers [n, D], as `watch` collects them."""
        from lorenyi.representations import cka_matrix

        return cls(cka_matrix(list(layers.values()), unbiased=unbiased), list(layers))

    def _draw(self, ax: Axes) -> None:
        self.image_ = ax.imshow(self.matrix, **amounts(self.matrix, most=1.0))
        write_names_of_map(ax, np.arange(len(self.names)), self.names, self.names)
        self.figure_.colorbar(self.image_, ax=ax, label=self.label)

    def _inches(self) -> tuple[float, float]:
        return square(len(self.names))


def _as_array(values: Any) -> Any:
    return values if _arrays.is_array(values) else np.asarray(values, dtype=np.float64)
