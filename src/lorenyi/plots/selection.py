"""Plots of a selection: its path, and a heat map of relevance and redundancy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lorenyi._display import MAIN, Display, square, wide
from lorenyi.plots.style import ACCENT, INK, SOFT, amounts, write_names, write_names_of_map
from lorenyi.selection import InformationSelector

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SelectionPathDisplay(Display):
    """The score after each chosen feature, its error, and where the search stopped.

    If the score is the information of all chosen features together, the path begins at 0 (no
    feature) and a line shows the upper bound H(y), the entropy of the target.

    Parameters
    ----------
    names : sequence of str
        Features in order of selection.
    scores : array of k
        The criterion when each was chosen, in bits.
    bounds : array, k x 2, optional
        Ends of the error bars: a standard error on either side, or certified bounds.
    stop : int, optional
        How many of the features are chosen; those after it show what was left out.
    ceiling : float, optional
        The entropy H(y) of the target, for scores that are shares of it. The path then begins at 0.
    ylabel : str
        Label of the scores.

    Attributes
    ----------
    errorbar_ : matplotlib ErrorbarContainer
        Scores and their intervals.
    stop_ : matplotlib Line2D or None
        The line where the search stopped.
    ceiling_ : matplotlib Line2D or None
        The line at H(y).

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
    ['petal width (cm)', 'sepal width (cm)', 'petal length (cm)']
    >>> display.plot(ax=Figure().subplots()).ax_.get_ylabel()
    'NeighborInformation (bits)'
    """

    def __init__(
        self,
        names: Sequence[str],
        scores: Any,
        *,
        bounds: Any = None,
        stop: int | None = None,
        ceiling: float | None = None,
        ylabel: str = "score (bits)",
    ) -> None:
        self.names = list(names)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.bounds = None if bounds is None else np.asarray(bounds, dtype=np.float64)
        self.stop, self.ceiling, self.ylabel = stop, ceiling, ylabel
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
            The data of `fit`. If given, the search continues past the chosen features, to show
            what was left out.
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
        stop = len(selector.path_) if isinstance(selector.n_features_to_select, str) else None
        shown = selector
        if X is not None:
            if beyond < 0:
                raise ValueError(f"beyond={beyond!r}: it must be 0 or more")
            units, chosen = len(selector.feature_groups_), _chosen(selector)[: len(selector.path_)]
            shown = clone(selector).set_params(
                n_features_to_select=min(len(chosen) + beyond, units),
                must_include=[j for unit in chosen for j in unit],
                direction="forward",
                floating=False,
                start="single",
            )
            shown.fit(X, y, sample_weight)
            stop = len(chosen)
        path = _chosen(shown)
        first = [shown.indices_.tolist().index(unit[0]) for unit in path]
        return cls(
            _labels(shown, path, feature_names),
            shown.scores_[first],
            bounds=_ends(shown)[first],
            stop=stop,
            ceiling=selector.target_entropy_ if selector.criterion.of_the_set else None,
            ylabel=f"{type(selector.criterion).__name__} (bits)",
        )

    def _draw(self, ax: Axes) -> None:
        shown = np.isfinite(self.scores)  # features that were chosen by themselves have no scores
        scores, names = self.scores[shown], [self.names[i] for i in np.flatnonzero(shown)]
        x = np.arange(1, len(names) + 1)
        chosen = len(x) if self.stop is None else self.stop
        ends = None if self.bounds is None else np.abs(self.bounds[shown].T - scores)
        bars: dict[str, Any] = {"color": MAIN, "ecolor": SOFT, "capsize": 3, "zorder": 2}
        self.errorbar_ = ax.errorbar(x, scores, yerr=ends, fmt="o-", **bars)
        ax.plot(x[chosen:], scores[chosen:], "o", color="white", ms=4, zorder=3)
        self.stop_ = self.ceiling_ = None
        if self.stop is not None:
            self.stop_ = ax.axvline(self.stop + 0.5, color=ACCENT, ls="--", lw=1.2)
            self.stop_.set_label(f"stop after {self.stop}")
        places = x
        if self.ceiling is not None:
            ax.plot([0, *x[:1]], [0.0, *scores[:1]], "o-", color=MAIN, zorder=2)
            label = f"H(y) = {self.ceiling:.3f} bits"
            self.ceiling_ = ax.axhline(self.ceiling, color=INK, ls=":", lw=1.2, label=label)
            places, names = np.arange(len(x) + 1), ["(none)", *names]
        lines = [line for line in (self.ceiling_, self.stop_) if line is not None]
        if lines:
            ax.legend(handles=lines, loc="lower right")
        write_names(ax, "x", places, names, len(places))
        ax.set_xlabel("feature, in order of selection")
        ax.set_ylabel(self.ylabel)
        ax.set_ylim(bottom=min(0.0, *scores, 0.0))

    def _inches(self) -> tuple[float, float]:
        return wide(len(self.names))


class RelevanceDisplay(Display):
    """A heat map of relevance (features and target) and redundancy (pairs of features).

    The first column is the relevance I(x; y) of each feature, the square beside it the redundancy
    I(x; z) of each pair, in bits. Each has its own color scale.

    Parameters
    ----------
    names : sequence of str
        Features.
    relevance : array of c
        I(x; y).
    redundancy : array, c x c
        I(x; z); its diagonal is not shown.
    chosen : int
        How many of the features, from the first, were chosen; a line separates the others.

    Attributes
    ----------
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
    ('sepal length (cm)', 1)
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
            Fitted; its criterion defines how information is measured.
        X, y : arrays or data frames
            The data of `fit`.
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
        units = selector.feature_groups_
        terms = selector.terms(X, y, sample_weight)
        relevance = _middle(terms(range(len(units))).relevance)
        chosen = [units.index(unit) for unit in _chosen(selector)]
        others = [u for u in np.argsort(-relevance, kind="stable").tolist() if u not in chosen]
        shown = np.array([*chosen, *others][:n_candidates])
        redundancy = np.full((len(shown), len(shown)), np.nan)
        for i, z in enumerate(shown[:-1].tolist()):
            part = _middle(terms(shown[i + 1 :], (z,)).redundancy)[:, 0]
            redundancy[i, i + 1 :] = redundancy[i + 1 :, i] = part
        names = _labels(selector, [units[u] for u in shown], feature_names)
        kept = min(len(chosen), n_candidates)
        return cls(names, relevance[shown], redundancy, chosen=kept)

    def _draw(self, ax: Axes) -> None:
        c = len(self.names)
        pairs = np.where(np.eye(c, dtype=bool), np.nan, self.redundancy)
        first, others = (-2, -1, c - 0.5, -0.5), (-0.5, c - 0.5, c - 0.5, -0.5)
        column = self.relevance[:, None]
        self.relevance_im_ = ax.imshow(column, extent=first, **amounts(column))
        self.redundancy_im_ = ax.imshow(pairs, extent=others, **amounts(pairs))
        ax.set_xlim(-2, c - 0.5)
        ax.set_ylim(c - 0.5, -0.5)
        write_names_of_map(ax, [-1.5, *range(c)], ["target", *self.names], self.names)
        if 0 < self.chosen < c:
            ax.axhline(self.chosen - 0.5, color=INK, lw=1)
        bars = [(self.redundancy_im_, "redundancy I(x; z), bits")] if c > 1 else []
        for image, label in [*bars, (self.relevance_im_, "relevance I(x; y), bits")]:
            self.figure_.colorbar(image, ax=ax, label=label, shrink=0.8)

    def _inches(self) -> tuple[float, float]:
        width, height = square(len(self.names))
        return width + 1.0, height  # a second scale


def _require_selector(selector: Any) -> None:
    if not isinstance(selector, InformationSelector):
        raise TypeError(
            f"selector is a {type(selector).__name__}: give a fitted InformationSelector, such as "
            "pipeline['select']"
        )
    check_is_fitted(selector)


def _ends(selector: InformationSelector) -> np.ndarray:
    """Return the ends of the error bars: one standard error, or certified bounds."""
    error = selector.standard_errors_[:, None] * np.array([-1.0, 1.0])
    around = selector.scores_[:, None] + error
    return np.where(np.isnan(error), selector.score_bounds_, around)


def _chosen(selector: InformationSelector) -> list[list[int]]:
    """Return the chosen features in order of selection, each as its columns."""
    unit_of = {j: unit for unit in selector.feature_groups_ for j in unit}
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
    """Return the names of features; a group has that of its first column and its size."""
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


def _middle(values: Any) -> np.ndarray:
    """Return numbers; for bounds their middle values."""
    return np.asarray(getattr(values, "value", values), dtype=np.float64)
