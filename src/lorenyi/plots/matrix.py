"""A heat map of the mutual information of each pair of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from lorenyi._display import Display, square
from lorenyi._threads import parallel
from lorenyi.data.reading import variables
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.measures import Functional, variable
from lorenyi.plots.style import amounts, write_names_of_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class InformationMatrixDisplay(Display):
    r"""A heat map of the mutual information of each pair of columns, similar ones side by side.

    Parameters
    ----------
    names : sequence of str
        Columns.
    information : array, c x c
        :math:`I(x; z) = S(x) + S(z) - S(x, z)` in bits; on the diagonal, which is not drawn, S(x).
    normalized : bool
        Draw :math:`I(x; z) / \sqrt{S(x) S(z)}`, a share between 0 and 1 at alpha = 1.
    clustered : bool
        Draw columns in the order of a hierarchical clustering (average linkage of 1 minus the
        normalized information), not in that of the table.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        The map.
    colorbar_ : matplotlib Colorbar
        Its scale.
    order : array of c
        Columns in the order in which they are drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from lorenyi.plots import InformationMatrixDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = InformationMatrixDisplay.from_data(X)
    >>> float(display.information[2, 3].round(2))           # petals: length and width
    0.82
    >>> display.plot(ax=Figure().subplots()).im_.get_array().shape
    (4, 4)
    """

    def __init__(
        self,
        names: Sequence[str],
        information: Any,
        *,
        normalized: bool = True,
        clustered: bool = True,
    ) -> None:
        self.names = list(names)
        self.information = np.asarray(information, dtype=np.float64)
        self.normalized = normalized
        c = len(self.names)
        if self.information.shape != (c, c):
            raise ValueError(
                f"information has shape {self.information.shape}: with {c} names it must be "
                f"({c}, {c})"
            )
        self.order = similar(self.information) if clustered else np.arange(c)

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        entropy: Functional = Renyi(),
        feature_names: Sequence[str] | None = None,
        normalized: bool = True,
        clustered: bool = True,
        n_jobs: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> InformationMatrixDisplay:
        """Measure each pair of columns of a table; nothing is drawn until `plot`.

        Parameters
        ----------
        X : array of two dimensions, data frame, or sequence of variables
            A variable is an array, a column or a `Gram`; each gets the kernel that `gram` gives it.
        entropy : callable
            The functional, such as `Renyi(alpha=2, rank=50)`.
        feature_names : sequence of str, optional
            Those of the data frame, or x0, x1, ... by default.
        normalized, clustered : bool
            As for the class.
        n_jobs : int, optional
            Threads; all cores by default.
        progress : callable, optional
            Called with the share of the pairs that is done.

        Returns
        -------
        InformationMatrixDisplay
        """
        columns, names = variables(X)
        names = names if feature_names is None else list(feature_names)
        if len(names) != len(columns):
            raise ValueError(
                f"feature_names has {len(names)} names: give one for each of the {len(columns)} "
                "columns"
            )
        grams = [variable(x, name=name) for x, name in zip(columns, names, strict=True)]
        information = pairwise(grams, entropy, n_jobs, progress)
        return cls(names, information, normalized=normalized, clustered=clustered)

    def _draw(self, ax: Axes) -> None:
        c = len(self.names)
        shown = normal(self.information) if self.normalized else self.information
        shown = np.where(np.eye(c, dtype=bool), np.nan, shown)[np.ix_(self.order, self.order)]
        self.im_ = ax.imshow(shown, **amounts(shown))
        names = [self.names[i] for i in self.order]
        write_names_of_map(ax, np.arange(c), names, names)
        label = "I(x; z) / sqrt(S(x) S(z))" if self.normalized else "I(x; z), bits"
        self.colorbar_ = self.figure_.colorbar(self.im_, ax=ax, label=label)

    def _inches(self) -> tuple[float, float]:
        return square(len(self.names))


def pairwise(
    grams: Sequence[Gram],
    entropy: Functional,
    n_jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> np.ndarray:
    """Return I(A; B) = S(A) + S(B) - S(A, B) of each pair, and S(A) on the diagonal."""
    pairs = [(i, i) for i in range(len(grams))] + list(combinations(range(len(grams)), 2))
    done: list[None] = []

    def joint(pair: tuple[int, int]) -> float:
        i, j = pair
        value = float(entropy(grams[i] if i == j else grams[i] * grams[j]))
        done.append(None)
        if progress is not None:
            progress(len(done) / len(pairs))
        return value

    i, j = np.array(pairs).T
    S = np.zeros((len(grams), len(grams)))
    S[i, j] = S[j, i] = parallel(joint, pairs, n_jobs)
    own = S.diagonal().copy()
    return np.where(np.eye(len(grams), dtype=bool), S, own[:, None] + own[None, :] - S)


def normal(information: np.ndarray) -> np.ndarray:
    """Return I(x; z) / sqrt(S(x) S(z)); 0 where a column has no entropy."""
    own = information.diagonal()
    some = np.minimum.outer(own, own) > 1e-12  # else zero up to rounding
    scale = np.sqrt(np.where(some, np.multiply.outer(own, own), 1.0))
    return np.where(some, information / scale, 0.0)


def similar(information: np.ndarray) -> np.ndarray:
    """Return an order of the columns with similar ones side by side."""
    if len(information) < 3:
        return np.arange(len(information))
    distance = 1.0 - normal(information)
    distance -= min(0.0, float(distance.min()))  # shares above 1, if alpha is not 1
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree))
