"""Pictures of a selection, after scikit-learn's displays: `from_estimator(...)`, then `plot()`.

Needs matplotlib, which ``pip install "lorenyi[plots]"`` brings; it is imported when something is
drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lorenyi.selection import Criterion, InformationSelector, JointInformation, Terms, reading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["InformationPlaneDisplay", "RelevanceDisplay", "SelectionPathDisplay"]

TOLERANCE = 1e-2  # bits: finer than a colour tells


class SelectionPathDisplay:
    """The score after each chosen feature, and where the search stopped.

    Parameters
    ----------
    names : sequence of str
        Features in order of selection.
    scores : array of k
        The criterion when each was chosen, in bits.
    bounds : array, k x 2, optional
        Ends of the scores, drawn as error bars.
    stop : int, optional
        How many of the features are chosen; those after it show what was left out.
    ylabel : str
        What the scores are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    errorbar_ : matplotlib ErrorbarContainer
        Scores and their intervals.
    stop_ : matplotlib Line2D or None
        The line where the search stopped.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from lorenyi.plots import SelectionPathDisplay
    >>> from lorenyi.selection import InformationSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = InformationSelector(2).fit(X, y)
    >>> display = SelectionPathDisplay.from_estimator(selector, X, y, beyond=1)
    >>> display.names
    ['petal width (cm)', 'petal length (cm)', 'sepal length (cm)']
    >>> display.plot(ax=Figure().subplots()).ax_.get_ylabel()
    'JointInformation (bits)'
    """

    def __init__(
        self,
        names: Sequence[str],
        scores: Any,
        *,
        bounds: Any = None,
        stop: int | None = None,
        ylabel: str = "score (bits)",
    ) -> None:
        self.names = list(names)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.bounds = None if bounds is None else np.asarray(bounds, dtype=np.float64)
        self.stop = stop
        self.ylabel = ylabel
        if self.scores.shape != (len(self.names),):
            raise ValueError(
                f"scores has shape {self.scores.shape} and there are {len(self.names)} names: "
                "give a score for each"
            )
        if self.bounds is not None and self.bounds.shape != (len(self.names), 2):
            raise ValueError(
                f"bounds has shape {self.bounds.shape}: give two ends for each of the "
                f"{len(self.names)} scores"
            )

    @classmethod
    def from_estimator(
        cls,
        selector: InformationSelector,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        beyond: int = 3,
        feature_names: Sequence[str] | None = None,
    ) -> SelectionPathDisplay:
        """Return the path of a fitted selector; nothing is drawn until `plot`.

        Parameters
        ----------
        selector : InformationSelector
            Fitted.
        X, y : arrays or data frames, optional
            What it was fitted to. With them the search goes on past the features it chose, to
            show what was left out.
        sample_weight : array of n, optional
            As in `fit`.
        beyond : int
            How many features to show past the chosen ones, where X and y are given.
        feature_names : sequence of str, optional
            Of all columns; those of the data frame, or x0, x1, ... by default.

        Returns
        -------
        SelectionPathDisplay
        """
        _require_selector(selector)
        chosen = _chosen(selector)
        stop = len(chosen) if selector.n_features_to_select == "auto" else None
        shown = selector
        if X is not None:
            if beyond < 0:
                raise ValueError(f"beyond={beyond!r}: it must be 0 or more")
            units = len(selector._units(selector.n_features_in_))
            shown = clone(selector).set_params(
                n_features_to_select=min(len(chosen) + beyond, units),
                must_include=selector.indices_.tolist(),
                floating=False,
            )
            shown.fit(X, y, sample_weight)
            stop = len(chosen)
        path = _chosen(shown)
        first = [shown.indices_.tolist().index(unit[0]) for unit in path]
        return cls(
            _labels(shown, path, feature_names),
            shown.scores_[first],
            bounds=shown.score_bounds_[first],
            stop=stop,
            ylabel=f"{type(_criterion(selector)).__name__} (bits)",
        )

    def plot(self, ax: Axes | None = None) -> SelectionPathDisplay:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        self.ax_, self.figure_ = _axes(ax)
        x = np.arange(1, len(self.names) + 1)
        chosen = len(x) if self.stop is None else self.stop
        ends = None
        if self.bounds is not None:
            ends = np.abs(self.bounds.T - self.scores)
        self.errorbar_ = self.ax_.errorbar(x, self.scores, yerr=ends, fmt="o-", capsize=3)
        self.ax_.plot(x[chosen:], self.scores[chosen:], "o", color="white", ms=4, zorder=3)
        self.stop_ = None
        if self.stop is not None:
            self.stop_ = self.ax_.axvline(self.stop + 0.5, color="0.4", ls="--", lw=1)
            self.stop_.set_label(f"stop after {self.stop}")
            self.ax_.legend(handles=[self.stop_], loc="lower right")
        self.ax_.set_xticks(x, self.names, rotation=40, ha="right", rotation_mode="anchor")
        self.ax_.set_xlabel("feature, in order of selection")
        self.ax_.set_ylabel(self.ylabel)
        return self


class RelevanceDisplay:
    """What candidates tell about the target, and how much they repeat one another.

    A heat map: the first column is the relevance I(x; y) of each candidate, the square beside it
    the redundancy I(x; z) of each pair, in bits, each with a scale of its own.

    Parameters
    ----------
    names : sequence of str
        Candidates.
    relevance : array of c
        I(x; y).
    redundancy : array, c x c
        I(x; z); its diagonal is not shown.
    chosen : int
        How many of the candidates, from the first, were chosen; the others are below a line.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    relevance_im_, redundancy_im_ : matplotlib AxesImage
        The two parts of the map.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from lorenyi.plots import RelevanceDisplay
    >>> from lorenyi.selection import InformationSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = InformationSelector(2).fit(X, y)
    >>> display = RelevanceDisplay.from_estimator(selector, X, y)
    >>> display.names[-1], int(display.relevance.argmin())
    ('sepal width (cm)', 3)
    >>> display.plot(ax=Figure().subplots()).redundancy_im_.get_array().shape
    (4, 4)
    """

    def __init__(
        self, names: Sequence[str], relevance: Any, redundancy: Any, *, chosen: int = 0
    ) -> None:
        self.names = list(names)
        self.relevance = np.asarray(relevance, dtype=np.float64)
        self.redundancy = np.asarray(redundancy, dtype=np.float64)
        self.chosen = chosen
        c = len(self.names)
        if self.relevance.shape != (c,) or self.redundancy.shape != (c, c):
            raise ValueError(
                f"relevance has shape {self.relevance.shape} and redundancy "
                f"{self.redundancy.shape}: with {c} names they must be ({c},) and ({c}, {c})"
            )

    @classmethod
    def from_estimator(
        cls,
        selector: InformationSelector,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        n_candidates: int = 20,
        feature_names: Sequence[str] | None = None,
    ) -> RelevanceDisplay:
        """Measure the chosen features and the most relevant others; nothing is drawn until `plot`.

        Parameters
        ----------
        selector : InformationSelector
            Fitted; its criterion says how information is measured.
        X, y : arrays or data frames
            What it was fitted to.
        sample_weight : array of n, optional
            As in `fit`.
        n_candidates : int
            How many features to show: the chosen ones in order of selection, then others by
            relevance.
        feature_names : sequence of str, optional
            Of all columns; those of the data frame, or x0, x1, ... by default.

        Returns
        -------
        RelevanceDisplay
        """
        _require_selector(selector)
        if n_candidates < 1:
            raise ValueError(f"n_candidates={n_candidates!r}: it must be 1 or more")
        units = selector._units(selector.n_features_in_)
        information = _information(clone(selector), X, y, sample_weight, units)
        every = Terms(information, np.arange(len(units)), (), TOLERANCE)
        relevance = _middle(every.relevance)
        chosen = [units.index(unit) for unit in _chosen(selector)]
        others = [u for u in np.argsort(-relevance, kind="stable").tolist() if u not in chosen]
        shown = np.array([*chosen, *others][:n_candidates])
        redundancy = np.full((len(shown), len(shown)), np.nan)
        for i, z in enumerate(shown[:-1].tolist()):
            part = Terms(information, shown[i + 1 :], (z,), TOLERANCE)
            redundancy[i, i + 1 :] = redundancy[i + 1 :, i] = _middle(part.redundancy)[:, 0]
        names = _labels(selector, [units[u] for u in shown], feature_names)
        kept = min(len(chosen), n_candidates)
        return cls(names, relevance[shown], redundancy, chosen=kept)

    def plot(self, ax: Axes | None = None) -> RelevanceDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        self.ax_, self.figure_ = _axes(ax)
        c = len(self.names)
        square = np.where(np.eye(c, dtype=bool), np.nan, self.redundancy)
        self.relevance_im_ = self.ax_.imshow(
            self.relevance[:, None], cmap="Greens", extent=(-2, -1, c - 0.5, -0.5)
        )
        self.redundancy_im_ = self.ax_.imshow(
            square, cmap="Oranges", extent=(-0.5, c - 0.5, c - 0.5, -0.5)
        )
        self.ax_.set_xlim(-2, c - 0.5)
        self.ax_.set_ylim(c - 0.5, -0.5)
        ticks = [-1.5, *range(c)]
        labels = ["target", *self.names]
        self.ax_.set_xticks(ticks, labels, rotation=40, ha="right", rotation_mode="anchor")
        self.ax_.set_yticks(range(c), self.names)
        if 0 < self.chosen < c:
            self.ax_.axhline(self.chosen - 0.5, color="0.2", lw=1)
        bars = [(self.redundancy_im_, "redundancy I(x; z), bits")] if c > 1 else []
        for image, label in [*bars, (self.relevance_im_, "relevance I(x; y), bits")]:
            self.figure_.colorbar(image, ax=self.ax_, label=label, shrink=0.8)
        return self


def _axes(ax: Axes | None) -> tuple[Axes, Figure | SubFigure]:
    """Return where to draw, with its figure."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError as missing:
            raise ImportError('pictures need matplotlib: pip install "lorenyi[plots]"') from missing
        _, ax = pyplot.subplots(layout="constrained")
    return ax, ax.figure


def _require_selector(selector: Any) -> None:
    if not isinstance(selector, InformationSelector):
        raise TypeError(
            f"selector is a {type(selector).__name__}: give a fitted InformationSelector, such as "
            "pipeline['select']"
        )
    check_is_fitted(selector)


def _criterion(selector: InformationSelector) -> Criterion:
    return JointInformation() if selector.criterion is None else selector.criterion


def _chosen(selector: InformationSelector) -> list[list[int]]:
    """Return the chosen features in order of selection, each as its columns."""
    unit_of = {j: unit for unit in selector._units(selector.n_features_in_) for j in unit}
    found: list[list[int]] = []
    for j in selector.indices_.tolist():
        if unit_of[j] not in found:
            found.append(unit_of[j])
    return found


def _labels(
    selector: InformationSelector,
    units: Sequence[Sequence[int]],
    feature_names: Sequence[str] | None,
) -> list[str]:
    """Return the names of features; of a group that of its first column and how many follow."""
    names = feature_names
    if names is None:
        default = [f"x{j}" for j in range(selector.n_features_in_)]
        names = getattr(selector, "feature_names_in_", default)
    if len(names) != selector.n_features_in_:
        raise ValueError(
            f"feature_names has {len(names)} names: give one for each of the "
            f"{selector.n_features_in_} columns"
        )
    return [str(names[u[0]]) + (f" + {len(u) - 1}" if len(u) > 1 else "") for u in units]


def _information(
    selector: InformationSelector, X: Any, y: Any, sample_weight: Any, units: list[list[int]]
) -> Any:
    """Return the entropies of an unfitted selector's table."""
    columns, symbol, y = selector._read(X, y)
    target = reading.read_target(y, selector.task)
    weights = selector._weights(sample_weight, len(columns[0]))
    table = selector._table(columns, symbol, units, target, weights)
    return _criterion(selector).information(table)


def _middle(values: Any) -> np.ndarray:
    """Return numbers, of intervals their middles."""
    return np.asarray(getattr(values, "value", values), dtype=np.float64)


class InformationPlaneDisplay:
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
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
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

    def plot(self, ax: Axes | None = None) -> InformationPlaneDisplay:
        """Draw the plane.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        self.ax_, self.figure_ = _axes(ax)
        self.lines_, self.points_ = [], []
        for name, x, y in zip(self.names, self.x.T, self.y.T, strict=True):
            self.lines_ += self.ax_.plot(x, y, lw=1, label=name)
            points = self.ax_.scatter(x, y, c=self.epochs, cmap="viridis", s=18, zorder=3)
            self.points_.append(points)
        self.figure_.colorbar(self.points_[0], ax=self.ax_, label="step")
        self.ax_.set_xlabel("I(X; T), bits")
        self.ax_.set_ylabel("I(T; Y), bits")
        self.ax_.legend()
        return self
