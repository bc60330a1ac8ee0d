"""Shortcuts of the search against exact eigenvalues, and the race against plain comparison."""

import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

import lorenyi as lr
from lorenyi import Exact, Gaussian, Renyi
from lorenyi.selection import Criterion, InformationSelector, JointInformation, search
from lorenyi.selection.ends import look
from lorenyi.selection.information import FEW_ROWS, Kernels, _each
from lorenyi.selection.intervals import Intervals
from lorenyi.selection.levels import PART, Block, cut_along, entropy_of
from lorenyi.selection.table import Table, Variable


@pytest.fixture
def rng():
    """Give each test its own numbers, whichever ran before it."""
    return np.random.default_rng(0)


def table(X, y, weights=None):
    """A table of numeric columns and labels."""
    n = len(X)
    none = np.zeros((n, 0), dtype=np.int64)
    features = [Variable(x[:, None].astype(float), none, np.zeros(1, dtype=bool)) for x in X.T]
    target = Variable(np.zeros((n, 0)), np.asarray(y)[:, None], np.zeros(0, dtype=bool))
    return Table(features, target, weights)


def looked(A, alpha, rank, tol, side):
    singles, blocks = A.reduced
    return look(np.asarray(singles), blocks, A.n, Renyi(alpha, rank), tol, side=side)


@pytest.mark.parametrize("columns", [1, 3, 8])
@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("rank", [5, 40, 80])
@pytest.mark.parametrize("tol", [0.1, 0.01, 1e-3])
@pytest.mark.parametrize(
    ("alpha", "side"),
    [(2, "both"), (2, "low"), (2, "high"), (0.6, "high"), (1, "high"), (1.01, "high")],
)
def test_a_look_contains_the_exact_value(columns, labels, rank, tol, alpha, side, rng):
    X = rng.normal(size=(500, columns))
    A = lr.gram(X, Gaussian(1.0))
    A = A * lr.gram((X[:, 0] > 0.3).astype(int)) if labels else A
    found = looked(A, alpha, rank, tol, side)
    if side == "high" or (side == "both" and columns == 1):
        assert found is not None
    if found is not None:
        value = float(Renyi(alpha, rank, Exact())(A))
        assert value in found
        assert side != "both" or found.width <= tol
        if side == "high" and tol >= 0.01:  # finer ones need more than half of the rows
            assert found.high - value <= 4 * tol


def test_a_lower_end_uses_what_ritz_values_hold_beyond_the_rank():
    """Of what the Frobenius norm leaves open, they take more than half."""
    A = lr.gram(np.random.default_rng(0).normal(size=(600, 4)), Gaussian(1.0))
    value = float(Renyi(2, 20, Exact())(A))
    norm = -np.log2(float(A.squared_norm()))
    found = looked(A, 2, 20, 0.02, "low")
    assert norm < found.low <= value
    assert value - found.low < 0.5 * (value - norm)


@pytest.mark.parametrize("columns", [10, 14])
def test_few_ritz_values_of_a_flat_spectrum_leave_the_upper_end_above(columns):
    """Fewer than the rank: what they leave may lie among the leading eigenvalues."""
    A = lr.gram(np.random.default_rng(columns).normal(size=(600, columns)), Gaussian(1.0))
    found = looked(A, 2, 100, 0.1, "high")
    assert found.low <= float(Renyi(2, 100, Exact())(A)) <= found.high


def test_looks_leave_small_matrices_and_fine_tolerances_to_others(rng):
    X = rng.normal(size=(400, 2))
    assert looked(lr.gram(X, Gaussian(1.0)), 2, 50, 1e-5, "both") is None
    assert looked(lr.gram(X[:150], Gaussian(1.0)), 2, 50, 0.1, "both") is None
    assert looked(lr.gram(X, Gaussian(1.0)), 1, 50, 0.1, "low") is None
    assert looked(lr.gram(X, Gaussian(1.0)), 2, None, 0.1, "high") is None


@pytest.mark.parametrize("alpha", [0.6, 1, 1.01, 2])
@pytest.mark.parametrize("rank", [None, 30])
@pytest.mark.parametrize("levels", [2, 5, 500])
def test_entropies_of_the_search_are_those_of_the_measures(alpha, rank, levels, rng):
    """Few values join by indexing, many by products of kernels; weights count as repetitions."""
    X = np.floor(levels * rng.uniform(size=(250, 4)))
    y = rng.integers(0, 3, 250)
    w = rng.integers(1, 4, 250).astype(float)
    information = Kernels(table(X, y, w), Renyi(alpha, rank))
    exact = Renyi(alpha, rank, Exact())
    Z = np.repeat(X, w.astype(int), axis=0)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    label = lr.gram(np.repeat(y, w.astype(int)))
    for given in [(), (2,), (3, 0)]:
        for target in (False, True):
            found = information.joint(np.array([1]), given, target, 1e-9)
            A = lr.gram(Z[:, [*given, 1]], Gaussian(1.0))
            value = float(exact(A * label if target else A))
            # 500 eigenvalues that are zero up to eps weigh 500 eps^0.6 = 2e-7 at order 0.6.
            assert found.value[0] == pytest.approx(value, abs=1e-6 if alpha < 1 else 1e-9)


@pytest.mark.parametrize("alpha", [1.01, 2])
@pytest.mark.parametrize("rank", [None, 20])
def test_the_race_ends_where_all_scores_in_full_do(alpha, rank, rng):
    X = rng.normal(size=(350, 9))
    y = (X[:, 2] * X[:, 6] + X[:, 4] > 0).astype(int)
    found = InformationSelector(5, criterion=JointInformation(entropy=Renyi(alpha, rank)))
    exact = clone_with(found, JointInformation(entropy=Renyi(alpha, rank, Exact())))
    assert found.fit(X, y).indices_.tolist() == exact.fit(X, y).indices_.tolist()
    ends = found.score_bounds_
    assert np.all((ends[:, 0] <= exact.scores_ + 1e-12) & (exact.scores_ <= ends[:, 1] + 1e-12))
    assert np.all(ends[:, 1] - ends[:, 0] <= 2.1 * search.REPORTED)


def clone_with(selector, criterion):
    return clone(selector).set_params(criterion=criterion)


@dataclass(frozen=True)
class Vague(Criterion):
    """Scores that no tolerance makes narrow."""

    def score(self, t):
        return Intervals(-1.0 * (t.candidates == 1), np.where(t.candidates == 2, -0.5, 1.0))


@pytest.mark.parametrize(("alpha", "rank"), [(2, 20), (0.6, 20), (1.01, None)])
def test_a_wrong_guess_of_the_best_score_costs_time_only(alpha, rank, monkeypatch):
    """Those that start say how much others must reach; nobody is dropped for that."""
    n, rng = FEW_ROWS + 20, np.random.default_rng(3)
    X = rng.normal(size=(n, 7))
    y = (X[:, 1] + X[:, 3] * X[:, 5] + 0.3 * rng.normal(size=n) > 0).astype(int)
    criterion = JointInformation(entropy=Renyi(alpha, rank))
    right = search.forward(criterion, table(X, y), 5).features
    guess = Kernels.guess
    for off in (-1.0, 0.01, 1.0):
        monkeypatch.setattr(
            Kernels,
            "guess",
            lambda self, f, target, off=off: guess(self, f, target) - off * target,
        )
        assert search.forward(criterion, table(X, y), 5).features == right


SCORED: list[int] = []


@dataclass(frozen=True)
class Numbers(Criterion):
    """Scores that are exact from the first look on."""

    def score(self, t):
        SCORED.append(len(t.candidates))
        return t.candidates.astype(float)


def test_scores_that_are_exact_are_asked_for_once(rng):
    X, y = rng.normal(size=(20, 6)), [0, 1] * 10
    SCORED.clear()
    found = InformationSelector(4, criterion=Numbers()).fit(X, y)
    assert found.indices_.tolist() == [5, 4, 3, 2]
    assert [count for count in SCORED if count > 1] == [6, 5, 4, 3]  # others tell what was chosen


LOOKS: list[tuple[bool, int]] = []


@dataclass(frozen=True)
class Narrowing(Criterion):
    """Scores as narrow as is asked for: six rivals 1e-3 behind the best, others far behind."""

    def score(self, t):
        value = np.where(t.candidates == 3, 0.0, np.where(t.candidates < 7, -1e-3, -1.0))
        if np.ndim(t.tol):  # else it is a guess
            LOOKS.append((t.above is None, len(t.candidates)))
        half = 0.5 * np.broadcast_to(t.tol, value.shape)
        return Intervals(value - half, value + half)


def test_once_the_leader_is_known_its_rivals_are_looked_at_side_by_side(rng):
    LOOKS.clear()
    found = search.forward(Narrowing(), table(rng.normal(size=(20, 9)), [0, 1] * 10), 1)
    assert found.features == [3]
    # Both ends of the leader and one more, as fine as their gap; then the upper ends of all others.
    assert LOOKS[-2:] == [(True, 2), (False, 5)]


def binary(n=700, columns=12, seed=0):
    """Columns of two values that are far apart, and labels that some of them tell."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, columns)) < rng.uniform(0.3, 0.6, columns)).astype(float)
    return 4.0 * X, (X[:, :4].sum(axis=1) + rng.integers(0, 2, n)).astype(int)


@pytest.mark.parametrize("alpha", [0.6, 1, 1.01, 2])
@pytest.mark.parametrize("rank", [None, 20, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_cut_joint_has_no_less_entropy_and_hardly_more(alpha, rank, weighted):
    X, y = binary()
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else None
    given, x = tuple(range(8)), np.arange(8, 12)
    first, exact = (Kernels(table(X, y, weights), Renyi(alpha, rank)) for _ in range(2))
    at_once = first.joint(x, given, False, 0.1, "high", np.inf)
    ends = exact.joint(x, given, False, 1e-11)
    value = ends.value
    assert np.all(at_once.high >= ends.low)
    if alpha != 2 or rank is not None:
        assert np.all(at_once.high <= value + 0.05)
        assert np.all(at_once.low == 0)  # the other end is not known
    assert np.all(first.joint(x, given, False, 1e-9, "high", value).high <= ends.high + 1e-9)


def test_what_hardly_couples_is_cut_and_what_is_smooth_is_not(rng):
    X, _ = binary()
    smooth = rng.normal(size=(700, 1)).round(1)

    def parts(columns):
        values = [np.unique(x, return_inverse=True) for x in columns.T]
        kernels = [(np.exp(-0.5 * (v[:, None] - v) ** 2), codes) for v, codes in values]
        code = np.unique(columns, axis=0, return_inverse=True)[1]
        return code, cut_along(kernels, code)

    code, found = parts(X[:, :8])
    rows = np.unique(np.stack([found, code]), axis=1)[0]  # of each part, the distinct ones
    assert 1 < np.bincount(rows).max() <= PART
    mixed = parts(np.hstack([X[:, :8], smooth]))[1]  # in parts that the binary columns tell
    assert len(np.unique(np.stack([mixed, code]), axis=1).T) == code.max() + 1
    assert not parts(smooth)[1].any()


@pytest.mark.parametrize("rank", [None, 60])
def test_cut_joints_leave_the_list_as_it_is(rank):
    X, y = binary(300, 14, seed=3)
    shown = InformationSelector(9, criterion=JointInformation(Renyi(1.01, rank))).fit(X, y)
    exact = JointInformation(Renyi(1.01, rank, Exact()))
    plain = InformationSelector(9, criterion=exact).fit(X, y)
    assert shown.indices_.tolist() == plain.indices_.tolist()
    assert np.allclose(shown.scores_, plain.scores_, atol=1e-3)


def test_where_intervals_do_not_separate_a_warning_names_the_features(rng):
    with pytest.warns(RuntimeWarning, match="features 0, 1, 3 still overlap at a width of 2 bits"):
        found = InformationSelector(1, criterion=Vague()).fit(rng.normal(size=(20, 4)), [0, 1] * 10)
    assert found.indices_.tolist() == [0]


def ready(matrix):
    """A block of unit diagonal that becomes this matrix when it is weighted."""
    weights = np.diag(matrix)
    return Block(matrix / np.sqrt(np.outer(weights, weights)), weights)


def test_below_order_one_the_interval_of_all_eigenvalues_holds_what_rounding_moves():
    """Eigenvalues of 1e-14 are known to a few per cent, and at order 0.3 they weigh."""
    values = np.array([0.7, 0.3 - 38e-14, *[1e-14] * 38])
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 40)))[0]
    block = (Q * values) @ Q.T
    found = entropy_of([ready(0.5 * (block + block.T))], Renyi(0.3), 40, 1e-9)
    exact = np.log2(np.sum(values**0.3)) / 0.7
    assert exact in found
    assert found.width > 1e-9


def test_many_rows_get_more_pivots_where_a_finer_end_is_asked_for(monkeypatch):
    """As if 600 rows were many: coarse first, then twice the pivots, and no third time."""
    monkeypatch.setattr("lorenyi.selection.information.LARGE", 100)
    monkeypatch.setattr("lorenyi.selection.information.FEW_ROWS", 100)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), rng.integers(0, 2, 600)
    X = (X - X.mean(0)) / X.std(0)  # as a table does
    information = Kernels(table(X, y, None), Renyi(2, 20))
    information._most = 0  # no kernels of few values
    value = float(Renyi(2, 20, Exact())(lr.gram(X, Gaussian(1.0))))
    widths = []
    for tol in (0.1, 0.01, 1e-6, 1e-9):
        found = information.joint(np.array([1]), (0,), False, tol, "low")
        assert found.low[0] <= value <= found.high[0]
        widths.append(float(found.width[0]))
    assert widths[1] < 0.7 * widths[0]
    assert widths[1] == widths[2] == widths[3]


@pytest.mark.parametrize("alpha", [1.01, 2])
def test_what_comes_at_once_is_no_work_where_nothing_is_known(alpha, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    information = Kernels(table(X, y, None), Renyi(alpha, 10))
    x = np.array([1, 2])
    for side, enough in (("low", -np.inf), ("high", np.inf)):
        found = information.joint(x, (0,), True, 1e-3, side, enough)
        assert np.array_equal(found.low, [0, 0])
        assert np.allclose(found.high, np.log2(60))
    for side, enough in (("low", np.inf), ("high", -np.inf)):  # never enough: as well as asked for
        assert information.joint(x, (0,), True, 1e-3, side, enough).width.max() <= 1e-3
    for side, enough in (("low", -np.inf), ("high", np.inf)):  # what was found before comes at once
        assert information.joint(x, (0,), True, 1e-3, side, enough).width.max() <= 1e-3


def test_of_many_rows_only_the_most_likely_get_a_closer_look(monkeypatch):
    """As if 300 rows were many: the guesses tell which four, and the warning names who is left."""
    monkeypatch.setattr("lorenyi.selection.information.LARGE", 100)
    monkeypatch.setattr("lorenyi.selection.information.ROWS", 1)  # nor few values
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 12))
    y = (X[:, 3] + 0.7 * X[:, 5] + 0.5 * rng.normal(size=300) > 0).astype(int)
    asked = []

    class Watched(Kernels):
        def _large(self, A, wanted, seed, again):
            asked.append((wanted.tol, again))
            return super()._large(A, wanted, seed, again)

    monkeypatch.setattr("lorenyi.selection.criteria.Kernels", Watched)
    selector = InformationSelector(3, criterion=JointInformation(entropy=Renyi(2, 10)))
    with pytest.warns(RuntimeWarning, match="still overlap"):
        selector.fit(X, y)
    assert set(selector.indices_[:2]) == {3, 5}
    assert any(again for _, again in asked)


def test_guesses_are_the_values_that_were_measured():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    information = Kernels(table(X, y, None), Renyi(2, 10))
    guesses = information.guesses()
    assert np.isnan(guesses.joint(np.array([1]), (0,), False)).all()
    known = information.joint(np.array([1]), (0,), False, 1e-6)
    guess = guesses.joint(np.array([1]), (0,), False)
    assert isinstance(guess, np.ndarray)
    assert known.low[0] <= guess[0] <= known.high[0]
    assert guesses.alone((0,), True) == pytest.approx(float(information.alone((0,), True, 1e-6)))


@pytest.mark.parametrize("alpha", [0.6, 1.01])
def test_joints_of_which_all_eigenvalues_count_give_the_exact_list(monkeypatch, alpha):
    """Small matrices take the way of large ones."""
    monkeypatch.setattr("lorenyi.spectra.prover.MODERATE", 60)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 7))
    y = (X[:, 1] + X[:, 4] * X[:, 5] + 0.3 * rng.normal(size=400) > 0).astype(int)
    found = InformationSelector(6, criterion=JointInformation(Renyi(alpha))).fit(X, y)
    exact = JointInformation(Renyi(alpha, solver=Exact()))
    expected = InformationSelector(6, criterion=exact).fit(X, y)
    assert found.indices_.tolist() == expected.indices_.tolist()
    assert found.scores_ == pytest.approx(expected.scores_, abs=1e-3)


@pytest.mark.parametrize(("seconds", "here"), [(0.0, 36), (0.003, 1)])
def test_tasks_that_are_soon_done_take_turns_and_others_run_side_by_side(
    seconds, here, monkeypatch
):
    """But for the last four; the first long one shows that they are."""
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def task(i):
        clock[0] += seconds
        return i, threading.current_thread() is threading.main_thread()

    found = _each(task, list(range(40)), 2)
    assert [i for i, _ in found] == list(range(40))
    assert [main for _, main in found] == [True] * here + [False] * (40 - here)
    assert _each(task, [], 2) == []
    assert _each(task, [7], 2) == [(7, True)]
