"""Displays show the numbers they were given, and those of the selector they were made from."""

import builtins

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import pandas as pd  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.feature_selection import SelectKBest  # noqa: E402

from lorenyi import Renyi  # noqa: E402
from lorenyi.plots import RelevanceDisplay, SelectionPathDisplay  # noqa: E402
from lorenyi.selection import JMI, MRMR, InformationSelector  # noqa: E402

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 5))
X[:, 3] = X[:, 0] + 0.2 * RNG.normal(size=60)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=list("abcde"))


@pytest.fixture
def ax():
    return Figure().subplots()


def labels(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]


# ----------------------------------------------------------------------------------- the path


def test_the_path_is_that_of_the_selector(ax):
    selector = InformationSelector(3, criterion=MRMR()).fit(FRAME, Y)
    display = SelectionPathDisplay.from_estimator(selector).plot(ax)
    line, _, _ = display.errorbar_
    assert line.get_xdata().tolist() == [1, 2, 3]
    assert line.get_ydata().tolist() == selector.scores_.tolist()
    assert labels(ax.xaxis) == [FRAME.columns[j] for j in selector.indices_]
    assert ax.get_ylabel() == "MRMR (bits)"
    assert display.stop_ is None
    assert (display.ax_, display.figure_) == (ax, ax.figure)


def test_intervals_are_error_bars(ax):
    display = SelectionPathDisplay(["a", "b"], [1.0, 2.0], bounds=[[0.5, 1.5], [1.75, 2.25]])
    _, _, (bars,) = display.plot(ax).errorbar_
    drawn = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert drawn == [[0.5, 1.5], [1.75, 2.25]]


def test_where_an_automatic_search_stopped_is_marked(ax):
    selector = InformationSelector(criterion=JMI(bins=2), n_permutations=10).fit(X, Y)
    display = SelectionPathDisplay.from_estimator(selector).plot(ax)
    k = len(selector.indices_)
    assert display.stop == k
    assert display.stop_.get_xdata() == [k + 0.5, k + 0.5]
    assert display.stop_.get_label() == f"stop after {k}"


def test_with_the_data_the_path_goes_on_past_the_stop(ax):
    selector = InformationSelector(2).fit(X, Y)
    longer = InformationSelector(4).fit(X, Y)
    display = SelectionPathDisplay.from_estimator(selector, X, Y, beyond=2).plot(ax)
    assert display.names == [f"x{j}" for j in longer.indices_]
    assert display.scores == pytest.approx(longer.scores_, abs=1e-4)
    assert display.stop == 2
    every = SelectionPathDisplay.from_estimator(selector, X, Y, beyond=9)
    assert len(every.names) == 5
    assert selector.indices_.tolist() == longer.indices_[:2].tolist()  # left as it was


def test_columns_without_names_can_be_given_some():
    selector = InformationSelector(1, criterion=MRMR()).fit(X, Y)
    names = ["p", "q", "r", "s", "t"]
    path = SelectionPathDisplay.from_estimator(selector, feature_names=names)
    assert path.names == [names[selector.indices_[0]]]
    table = RelevanceDisplay.from_estimator(selector, X, Y, feature_names=names)
    assert sorted(table.names) == names
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        SelectionPathDisplay.from_estimator(selector, feature_names=["p", "q"])


def test_a_group_is_one_step(ax):
    selector = InformationSelector(2, groups=[[0, 2]], must_include=[0]).fit(FRAME, Y)
    display = SelectionPathDisplay.from_estimator(selector).plot(ax)
    assert display.names[0] == "a + 1"
    assert len(display.names) == len(display.scores) == 2


# ------------------------------------------------------------------------- relevance, redundancy


def test_the_map_shows_what_it_was_given_but_the_diagonal(ax):
    redundancy = np.array([[9.0, 0.5, 0.1], [0.5, 9.0, 0.2], [0.1, 0.2, 9.0]])
    display = RelevanceDisplay(list("abc"), [0.3, 0.2, 0.1], redundancy, chosen=2).plot(ax)
    assert display.relevance_im_.get_array().ravel().tolist() == [0.3, 0.2, 0.1]
    drawn = display.redundancy_im_.get_array()
    assert np.ma.getmaskarray(drawn).tolist() == np.eye(3, dtype=bool).tolist()
    off = ~np.eye(3, dtype=bool)
    assert np.asarray(drawn)[off].tolist() == redundancy[off].tolist()
    assert labels(ax.xaxis) == ["target", "a", "b", "c"]
    assert labels(ax.yaxis) == ["a", "b", "c"]
    assert len(ax.figure.axes) == 3  # the map and two scales


def entropy(*columns):
    _, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
    return float(-(counts / counts.sum()) @ np.log2(counts / counts.sum()))


def test_relevance_and_redundancy_are_mutual_informations():
    codes = np.digitize(X, [-0.5, 0.5])
    selector = InformationSelector(2, criterion=MRMR(), discrete_features=True).fit(codes, Y)
    display = RelevanceDisplay.from_estimator(selector, codes, Y)
    order = [int(name[1:]) for name in display.names]
    assert order[:2] == selector.indices_.tolist()
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert np.all(np.diff(display.relevance[2:]) <= 0)
    for i, a in enumerate(order):
        x = codes[:, a]
        assert display.relevance[i] == pytest.approx(entropy(x) + entropy(Y) - entropy(x, Y))
        for j, b in enumerate(order):
            z = codes[:, b]
            if i != j:
                expected = entropy(x) + entropy(z) - entropy(x, z)
                assert display.redundancy[i, j] == pytest.approx(expected)


def test_a_copy_with_noise_is_the_most_redundant_pair():
    selector = InformationSelector(1, criterion=JMI(entropy=Renyi(2, 20))).fit(FRAME, Y)
    display = RelevanceDisplay.from_estimator(selector, FRAME, Y)
    i, j = np.unravel_index(np.nanargmax(display.redundancy), display.redundancy.shape)
    assert {display.names[i], display.names[j]} == {"a", "d"}


def test_candidates_can_be_few(ax):
    selector = InformationSelector(3, criterion=MRMR()).fit(X, Y)
    display = RelevanceDisplay.from_estimator(selector, X, Y, n_candidates=2).plot(ax)
    assert display.names == [f"x{j}" for j in selector.indices_[:2]]
    one = RelevanceDisplay.from_estimator(selector, X, Y, n_candidates=1)
    one.plot(Figure().subplots())
    assert one.redundancy.shape == (1, 1)


# ------------------------------------------------------------------------------------- both


@pytest.mark.parametrize(
    "display",
    [
        SelectionPathDisplay(["a", "b"], [1.0, 2.0], stop=1),
        RelevanceDisplay(["a", "b"], [1.0, 2.0], np.ones((2, 2))),
    ],
)
def test_without_axes_a_figure_is_made(display):
    assert display.plot() is display
    assert pyplot.fignum_exists(display.figure_.number)
    display.figure_.canvas.draw()
    pyplot.close(display.figure_)


@pytest.mark.parametrize("display", [SelectionPathDisplay, RelevanceDisplay])
def test_what_is_no_fitted_selector_is_refused(display):
    with pytest.raises(NotFittedError):
        display.from_estimator(InformationSelector(2), X, Y)
    with pytest.raises(TypeError, match="SelectKBest"):
        display.from_estimator(SelectKBest(), X, Y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SelectionPathDisplay(["a"], [1.0, 2.0]), "scores has shape"),
        (lambda: SelectionPathDisplay(["a"], [1.0], bounds=[1.0, 2.0]), "bounds has shape"),
        (lambda: RelevanceDisplay(["a"], [1.0], [[1.0, 2.0]]), "redundancy"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_options_that_cannot_be_are_refused():
    selector = InformationSelector(1, criterion=MRMR()).fit(X, Y)
    with pytest.raises(ValueError, match="beyond=-1"):
        SelectionPathDisplay.from_estimator(selector, X, Y, beyond=-1)
    with pytest.raises(ValueError, match="n_candidates=0"):
        RelevanceDisplay.from_estimator(selector, X, Y, n_candidates=0)


def test_without_matplotlib_the_error_names_the_remedy(monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **options):
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r'pip install "lorenyi\[plots\]"'):
        SelectionPathDisplay(["a"], [1.0]).plot()
