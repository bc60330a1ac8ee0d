"""Displays show the numbers they were given, and those of the selector they were made from."""

import builtins
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import pandas as pd  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.feature_selection import SelectKBest  # noqa: E402

import lorenyi as lr  # noqa: E402
from lorenyi import Renyi  # noqa: E402
from lorenyi.plots import (  # noqa: E402
    EntropyProfileDisplay,
    InformationMatrixDisplay,
    RelevanceDisplay,
    RowInformationDisplay,
    SelectionPathDisplay,
    SpectrumDisplay,
    style,
)
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
    selector = InformationSelector(criterion=JMI(bins=2), level=0.5).fit(X, Y)
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


def test_the_path_of_a_whole_set_begins_at_zero_below_the_ceiling(ax):
    selector = InformationSelector(3).fit(FRAME, Y)
    display = SelectionPathDisplay.from_estimator(selector).plot(ax)
    assert display.ceiling == selector.target_entropy_
    assert display.ceiling_.get_ydata() == [display.ceiling] * 2
    assert labels(ax.xaxis)[0] == "(none)"
    assert any([*line.get_xdata()[:1], *line.get_ydata()[:1]] == [0, 0.0] for line in ax.lines)
    assert ax.get_ylim()[0] <= 0.0
    _, _, (bars,) = display.errorbar_
    lengths = [float(np.ptp(s[:, 1])) for s in bars.get_segments()]
    assert lengths == pytest.approx(2 * selector.standard_errors_)
    other = InformationSelector(2, criterion=MRMR()).fit(FRAME, Y)
    assert SelectionPathDisplay.from_estimator(other).plot(ax).ceiling_ is None


def test_a_group_is_one_step(ax):
    selector = InformationSelector(2, feature_groups=[[0, 2]], must_include=[0]).fit(FRAME, Y)
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
    selector = InformationSelector(
        2, criterion=MRMR(), categorical_features=range(codes.shape[1])
    ).fit(codes, Y)
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


# ----------------------------------------------------------------------------------- spectra

VALUES = np.array([0.4, 0.3, 0.15, 0.1, 0.05, 0.0])
A = lr.gram(X[:, 0], lr.Gaussian(0.5))


def test_the_rank_keeps_some_values_and_spreads_the_rest(ax):
    display = SpectrumDisplay.from_spectrum(lr.Spectrum(VALUES), rank=2).plot(ax)
    assert display.kept_.get_xdata().tolist() == [1, 2]
    assert display.kept_.get_ydata().tolist() == [0.4, 0.3]
    assert display.rest_.get_xdata().tolist() == [3, 4, 5]  # zero has no logarithm
    assert display.rest_.get_ydata().tolist() == [0.15, 0.1, 0.05]
    assert display.tail_.get_xdata().tolist() == [3, 6]
    assert display.tail_.get_ydata() == pytest.approx([0.3 / 4, 0.3 / 4])
    assert display.kept_.get_label() == "k = 2 kept: 70 % of the trace"
    assert ax.get_yscale() == "log"


def test_without_a_rank_all_values_are_alike(ax):
    display = SpectrumDisplay.from_spectrum(lr.Spectrum(VALUES)).plot(ax)
    assert display.kept_.get_ydata().tolist() == VALUES[:5].tolist()
    assert display.rest_ is None
    assert display.tail_ is None


def test_the_spectrum_of_a_gram_is_that_of_its_matrix(ax):
    found = np.linalg.eigvalsh(A.dense())[::-1]
    display = SpectrumDisplay.from_gram(A, rank=4, solver=lr.Exact()).plot(ax)
    assert display.values[:20] == pytest.approx(found[:20], abs=1e-14)
    assert display.tail_.get_ydata()[0] == pytest.approx((1 - found[:4].sum()) / 56)
    few = SpectrumDisplay.from_gram(A, rank=4, solver=lr.Lanczos(steps=20)).plot(ax)
    assert few.kept_.get_ydata() == pytest.approx(found[:4], abs=1e-10)
    smooth = SpectrumDisplay.from_gram(lr.gram(X[:, 0], lr.Gaussian(9.0)), solver=lr.Exact())
    drawn = smooth.plot(ax).kept_.get_ydata()
    assert 5 < len(drawn) < 20  # what the decomposition cannot tell from zero is left out
    assert drawn.min() > 60 * 2.0**-52 * drawn.max()


def test_repeated_values_are_drawn_one_by_one(ax):
    counted = lr.Spectrum(np.array([0.5, 0.25]), counts=np.array([1.0, 2.0]))
    display = SpectrumDisplay.from_spectrum(counted).plot(ax)
    assert display.kept_.get_ydata().tolist() == [0.5, 0.25, 0.25]


def test_a_rank_beyond_the_values_of_few_distinct_rows_keeps_zeros(ax):
    display = SpectrumDisplay.from_gram(list("aabbb"), rank=3).plot(ax)
    assert display.values.tolist() == pytest.approx([0.6, 0.4, 0.0])
    assert display.tail_ is None


# ----------------------------------------------------------------------------------- profiles


def bracket(values, n, k, alpha):
    """The two ends from k eigenvalues, written out: copies of the k-th, or spread evenly."""
    kept, rest = list(values[:k]), 1 - sum(values[:k])
    copies = int(rest / kept[-1])
    full = kept + [kept[-1]] * copies + [rest - copies * kept[-1]]
    even = kept + [rest / (n - k)] * (n - k)
    return [np.log2(np.sum(np.array(p) ** alpha)) / (1 - alpha) for p in (full, even)]


def test_the_profile_brackets_the_entropy(ax):
    values = np.linalg.eigvalsh(A.dense())[::-1]
    display = EntropyProfileDisplay.from_gram(A, alphas=[0.5, 2, 3], ranks=[2, 5]).plot(ax)
    for i, k in enumerate([2, 5]):
        for j, alpha in enumerate([0.5, 2, 3]):
            low, high = bracket(values, 60, k, alpha)
            assert display.low[i, j] == pytest.approx(low)
            assert display.high[i, j] == pytest.approx(high)
            assert low < display.exact[j] < high
    exact = [float(lr.Renyi(alpha)(A)) for alpha in (0.5, 2, 3)]
    assert display.exact == pytest.approx(exact, abs=1e-6)


def test_lines_are_the_low_rank_entropy_and_bands_the_bracket(ax):
    display = EntropyProfileDisplay.from_gram(A, ranks=[2, 5]).plot(ax)
    for i, k in enumerate([2, 5]):
        low_rank = [float(lr.renyi_entropy(lr.Exact()(A), a, k)) for a in display.alphas]
        assert display.lines_[i].get_ydata() == pytest.approx(low_rank)
        corners = display.bands_[i].get_paths()[0].vertices
        assert corners[:, 1].min() == pytest.approx(display.low[i].min())
        assert corners[:, 1].max() == pytest.approx(display.high[i].max())
    assert display.exact_[0].get_ydata().tolist() == display.exact.tolist()
    assert [line.get_label() for line in display.lines_] == ["k = 2", "k = 5"]


def test_the_profile_can_go_over_the_rank(ax):
    display = EntropyProfileDisplay.from_gram(A, alphas=[1, 2], ranks=[2, 5, 9], over="rank")
    display.plot(ax)
    assert display.lines_[1].get_xdata().tolist() == [2, 5, 9]
    assert display.lines_[1].get_ydata().tolist() == display.high[:, 1].tolist()
    assert display.exact_[1].get_ydata()[0] == display.exact[1]
    assert ax.get_xlabel() == "rank k"


def test_leading_eigenvalues_alone_give_a_profile_without_the_exact_line(ax):
    display = EntropyProfileDisplay.from_gram(A, ranks=[2, 5], solver=lr.Lanczos(20)).plot(ax)
    assert display.exact is None
    assert display.exact_ == []
    every = EntropyProfileDisplay.from_gram(A, ranks=[2, 5])
    assert display.high == pytest.approx(every.high, abs=1e-6)


def test_without_ranks_some_are_chosen():
    display = EntropyProfileDisplay.from_spectrum(lr.Spectrum(np.full(100, 0.01)))
    assert display.ranks.tolist() == [3, 6, 12, 24, 49]


# ------------------------------------------------------------------------- pairs of columns


def test_the_matrix_holds_each_pairs_information():
    display = InformationMatrixDisplay.from_data(FRAME, entropy=Renyi(2), n_jobs=1)
    for i, a in enumerate("abcde"):
        assert display.information[i, i] == pytest.approx(lr.entropy(X[:, i], entropy=Renyi(2)))
        for j in range(i):
            expected = lr.mutual_information(X[:, i], X[:, j], entropy=Renyi(2))
            assert display.information[i, j] == pytest.approx(expected)
            assert display.information[j, i] == display.information[i, j]
        assert display.names[i] == a


def test_columns_that_share_most_are_drawn_side_by_side(ax):
    order = [0, 4, 1, 2, 3]
    shares = InformationMatrixDisplay.from_data(FRAME[[FRAME.columns[i] for i in order]])
    drawn = labels(shares.plot(ax).ax_.xaxis)
    assert sorted(drawn) == list("abcde")
    assert abs(drawn.index("a") - drawn.index("d")) == 1
    plain = InformationMatrixDisplay(shares.names, shares.information, clustered=False)
    assert plain.order.tolist() == [0, 1, 2, 3, 4]


def test_what_is_drawn_is_normalized_and_has_no_diagonal(ax):
    information = np.array([[4.0, 1.0, 0.5], [1.0, 1.0, 0.2], [0.5, 0.2, 0.0]])
    display = InformationMatrixDisplay(list("abc"), information, clustered=False).plot(ax)
    drawn = display.im_.get_array()
    assert np.ma.getmaskarray(drawn).tolist() == np.eye(3, dtype=bool).tolist()
    assert drawn[0, 1] == 0.5
    assert drawn[0, 2] == 0.0  # a column without entropy shares nothing
    bits = InformationMatrixDisplay(list("abc"), information, normalized=False, clustered=False)
    assert bits.plot(ax).im_.get_array()[0, 1] == 1.0
    assert bits.colorbar_.ax.get_ylabel() == "I(x; z), bits"


def test_symbols_arrays_and_grams_can_be_columns():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"u": list("aabb"), "v": [0, 0, 1, 1], "w": [True, False, True, False]})
    expected = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    told = []
    found = InformationMatrixDisplay.from_data(frame, n_jobs=1, progress=told.append)
    assert found.names == ["u", "v", "w"]
    assert found.information == pytest.approx(np.array(expected), abs=1e-12)
    assert told == pytest.approx(np.arange(1, 7) / 6)
    array = InformationMatrixDisplay.from_data(np.array([[0, 1], [0, 1], [1, 0]]))
    assert array.names == ["x0", "x1"]
    grams = [lr.gram(frame[name]) for name in "uvw"]
    again = InformationMatrixDisplay.from_data(grams, feature_names=list("uvw"))
    assert again.information.tolist() == found.information.tolist()


def test_negative_information_is_drawn_as_it_is(ax):
    x = [0] * 9 + [1, 2, 3, 4, 5, 6, 7, 8, 9]
    columns = [x, x[::-1], x]
    display = InformationMatrixDisplay.from_data(columns, entropy=Renyi(2), normalized=False)
    drawn = display.plot(ax).im_
    assert float(drawn.get_array().min()) == pytest.approx(-0.474, abs=1e-3)
    assert drawn.get_clim()[0] == pytest.approx(-0.474, abs=1e-3)
    zero = drawn.cmap(drawn.norm(0.0))
    assert zero[:3] == pytest.approx(to_rgb(style.PALE), abs=0.02)


# -------------------------------------------------------------------------------------- all

NAMES = [f"a rather long name of column {i}" for i in range(30)]
AMOUNTS = np.abs(np.random.default_rng(0).normal(size=(30, 30)))
MANY = [
    SelectionPathDisplay(NAMES, np.linspace(0.1, 0.9, 30), stop=20, ceiling=1.0),
    RelevanceDisplay(NAMES, AMOUNTS[0], AMOUNTS, chosen=3),
    InformationMatrixDisplay(NAMES, AMOUNTS + AMOUNTS.T),
]


@pytest.mark.parametrize("own_figure", [True, False])
@pytest.mark.parametrize("display", MANY)
def test_thirty_names_neither_overlap_nor_leave_the_figure(display, own_figure):
    axes = None if own_figure else Figure(figsize=(8, 8), layout="constrained").subplots()
    display.plot(axes)
    display.figure_.draw_without_rendering()
    for ticks, side in ((display.ax_.get_xticklabels(), "x"), (display.ax_.get_yticklabels(), "y")):
        boxes = [t.get_window_extent() for t in ticks if t.get_text().startswith("a rather")]
        ends = sorted((getattr(b, f"{side}0"), getattr(b, f"{side}1")) for b in boxes)
        rotated = side == "x" and ticks[0].get_rotation() == 40  # slanted boxes overlap, not text
        if not rotated:
            assert all(a[1] <= b[0] + 1 for a, b in pairwise(ends))
        assert all(b.x0 >= -1 and b.y0 >= -1 for b in boxes)
    if own_figure:
        assert min(t.get_fontsize() for t in display.ax_.get_xticklabels()) >= 8
        pyplot.close(display.figure_)


def test_a_display_says_in_one_line_what_it_shows():
    assert repr(MANY[2]).endswith(f"{NAMES[2]}, ... 30 in all)")
    assert repr(SelectionPathDisplay(["a"], [1.0])) == "SelectionPathDisplay(a)"


def test_all_pictures_share_one_palette():
    sources = (Path(lr.__file__).parent / "plots").glob("*.py")
    own = {p.name: re.findall(r"cmap=\"|\"C\d\"|color=\"(?!white)", p.read_text()) for p in sources}
    assert [name for name, found in own.items() if found and name != "style.py"] == []


def test_the_palette_is_that_of_the_report():
    page = (Path(lr.__file__).parent / "report" / "page.css").read_text()
    assert [c for c in (style.MAIN, style.SECOND, style.ACCENT, style.INK) if c not in page] == []


@pytest.mark.parametrize(
    "display",
    [
        SelectionPathDisplay(["a", "b"], [1.0, 2.0], stop=1),
        RelevanceDisplay(["a", "b"], [1.0, 2.0], np.ones((2, 2))),
        SpectrumDisplay([0.5, 0.3, 0.2], rank=1),
        EntropyProfileDisplay([1, 2], [3], [[1.0, 0.5]], [[2.0, 1.0]]),
        InformationMatrixDisplay(["a", "b"], np.ones((2, 2))),
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
        (lambda: SpectrumDisplay([0.2, 0.8]), "descending"),
        (lambda: SpectrumDisplay([0.8, 0.2], rank=2), "rank=2"),
        (lambda: SpectrumDisplay([0.5], 9, rank=3), "rank=3 needs as many values"),
        (lambda: EntropyProfileDisplay([1], [1, 2], [[1.0]], [[1.0]]), "low has shape"),
        (lambda: EntropyProfileDisplay([1], [1], [[1]], [[1]], exact=[1, 2]), "exact has shape"),
        (lambda: EntropyProfileDisplay([1], [1], [[1]], [[1]], over="k"), "over='k'"),
        (lambda: InformationMatrixDisplay(["a"], np.ones((2, 2))), "information has shape"),
        (lambda: InformationMatrixDisplay.from_data(X, feature_names=["a"]), "feature_names"),
        (lambda: InformationMatrixDisplay.from_data(X[:, 0]), "two dimensions"),
        (lambda: EntropyProfileDisplay.from_gram(A, ranks=[60]), "rank=60"),
        (lambda: EntropyProfileDisplay.from_gram(list("aaab"), ranks=[3]), "ranks has 3"),
        (
            lambda: EntropyProfileDisplay.from_gram(A, ranks=[2], solver=lr.InputSparsity(9)),
            "no bracket",
        ),
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


def test_layers_are_drawn_by_their_means_and_alignment(ax):
    from lorenyi.plots import LayerProfileDisplay, LayerSimilarityDisplay

    rng = np.random.default_rng(0)
    profile = LayerProfileDisplay.from_layers({"a": rng.normal(size=30), "b": 2.0}).plot(ax)
    assert profile.line_.get_ydata()[1] == 2.0
    assert profile.line_.get_ydata()[0] == pytest.approx(profile.values[0].mean())
    layers = {"a": rng.normal(size=(20, 3)), "b": rng.normal(size=(20, 5))}
    display = LayerSimilarityDisplay.from_layers(layers)
    assert display.matrix[0, 0] == pytest.approx(1.0)
    assert display.matrix[0, 1] == pytest.approx(display.matrix[1, 0])
    assert 0 < display.matrix[0, 1] < 0.9
    from matplotlib.figure import Figure

    drawn = display.plot(ax=Figure().subplots())
    assert drawn.image_.get_array().shape == (2, 2)
    with pytest.raises(ValueError, match="2 names and 1 values"):
        LayerProfileDisplay(["a", "b"], [1.0])
    with pytest.raises(ValueError, match="there are 1 names"):
        LayerSimilarityDisplay(np.eye(2), ["a"])


def test_rows_are_colored_by_what_they_tell(ax):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    y = x + 0.2 * rng.normal(size=40)
    shown = RowInformationDisplay.from_variables(x, y).plot(ax)
    colors = np.asarray(shown.points_.get_array())
    assert colors == pytest.approx(lr.pointwise_information(x, y))
    assert np.asarray(shown.points_.get_offsets()) == pytest.approx(np.column_stack([x, y]))
    assert shown.line_ is None


@pytest.mark.parametrize("many", [np.eye(12), list("abcabcabcabc"), [np.arange(12.0)] * 2])
def test_rows_without_a_place_are_sorted(ax, many):
    y = np.arange(12.0)
    shown = RowInformationDisplay.from_variables(many, y).plot(ax)
    expected = np.sort(lr.pointwise_information(many, y))[::-1]
    assert shown.line_.get_ydata() == pytest.approx(expected)
    assert shown.points_ is None
