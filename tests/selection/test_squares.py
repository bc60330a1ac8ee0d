"""Few rows at order 2: each stage against all eigenvalues in float64."""

import gc
import math
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import lorenyi as lr
from lorenyi import Exact, Renyi
from lorenyi.selection import JMI, InformationSelector, JointInformation, information, squares
from lorenyi.selection.ends import Wanted
from lorenyi.selection.information import Kernels
from lorenyi.selection.squares import ALL, CLOSER, NORM, SIGHT, Feature, Squares, leading
from lorenyi.selection.table import Table, Variable


def kernels(n, columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)) * rng.uniform(0.3, 4, size=columns)
    return [np.exp(-0.5 * np.subtract.outer(x, x) ** 2) for x in X.T]


def chosen(parts, weights, classes, rank, n):
    squares = Squares(weights, classes, Renyi(2, rank), n)
    for K in parts:
        squares = squares.join(Feature.of(K))
    return squares


def exact(A, rank, n):
    values = np.linalg.eigvalsh(A)[::-1]
    rest = np.sum(values[rank:]) if rank < len(values) else 0.0
    return -math.log2(np.sum(values[:rank] ** 2) + rest**2 / (n - rank))


CUTS = [slice(0, 90), slice(90, 97), slice(97, 98), slice(98, 250)]  # one class is a single row


@pytest.mark.parametrize("joined", [0, 1, 4, 12])
@pytest.mark.parametrize("rank", [1, 7, 40, 120, 260])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", [False, True])
def test_each_stage_encloses_the_exact_value(joined, rank, weighted, target):
    n = 250
    *parts, last = kernels(n, joined + 1, seed=joined)
    weights = np.random.default_rng(1).uniform(0.01, 3, size=n) if weighted else np.ones(n)
    weights /= weights.sum()
    total = 400.5 if weighted else float(n)
    rank = min(rank, int(total) - 2)  # a larger one is none
    if joined == 4:
        parts[2] = np.ones((n, n))  # a constant column
    A = np.sqrt(np.outer(weights, weights)) * np.prod([*parts, last], axis=0)
    if target:
        same = np.repeat(range(4), [cut.stop - cut.start for cut in CUTS])
        A = A * (same[:, None] == same)
    value = exact(A, rank, total)
    squares, feature = chosen(parts, weights, CUTS, rank, total), Feature.of(last)
    squares.prepare(0, feature)
    assert np.isclose(squares.norms[0, target], np.sum(A**2), rtol=1e-6)
    for side, enough in (("low", -np.inf), ("both", np.inf), ("high", np.inf), ("low", np.inf)):
        found, _ = squares.measure(0, feature, target, Wanted(1e-12, enough, side), None)
        assert found.low <= value <= found.high
        squares._stage.clear()
    F, cuts = squares.norms[0, target], CUTS if target else [slice(None)]
    stages = [squares._norm(F), squares._sight(feature, cuts, F)]
    blocks = [squares.kernel[cut, cut] * feature.kernel[cut, cut] for cut in cuts]
    stages += [squares._closer(blocks, feature, cuts, F), squares._all(blocks, F)]
    for found in stages:
        assert found.low <= value <= found.high
    assert stages[-1].width < (1e-3 if rank == 1 else 5e-4)
    if joined < 2 and rank > 20:  # smooth kernels: lengths of products hold nearly all
        assert stages[1].high - value < (0.06 if target else 0.01)
    if joined == 4 and rank == 40:  # a fraction of what first sight leaves open
        assert stages[2].high - value < 0.3 * (stages[1].high - value)


@pytest.mark.parametrize("sign", [-1, 1])
def test_eigenvalues_may_be_as_wrong_as_a_stable_decomposition_can_be(sign, monkeypatch):
    n, rank = 300, 20
    *parts, last = kernels(n, 3)
    squares = chosen(parts, np.full(n, 1 / n), [slice(0, n)], rank, n)
    feature = Feature.of(last)
    value = exact(np.prod([*parts, last], axis=0) / n, rank, n)

    def worst(matrix):
        values = np.linalg.eigvalsh(matrix.astype(np.float64))
        beyond = values[:-rank] - values[:-rank].mean()
        size = n * np.finfo(np.float32).eps * np.linalg.norm(values)
        values[:-rank] += sign * size * beyond / np.linalg.norm(beyond)
        return values

    squares.prepare(0, feature)
    monkeypatch.setattr("lorenyi._arrays.eigvalsh", worst)
    found = squares._all([squares.kernel * feature.kernel], squares.norms[0, False])
    assert found.low <= value <= found.high
    assert abs(float(found) - value) > 2 * squares._slack  # more than the norm's rounding


@pytest.mark.parametrize("columns", [1, 3, 8])
@pytest.mark.parametrize("count", [3, 40])
def test_a_factor_lies_below_its_matrix(columns, count):
    A = np.prod(kernels(200, columns), axis=0) / 200
    start = np.random.default_rng(0).normal(size=(200, count))
    for dtype, below in ((np.float64, 1e-12), (np.float32, 1e-5)):
        factor = leading(A.astype(dtype), start.astype(dtype))
        rows = factor.rows.astype(np.float64)
        least = np.linalg.eigvalsh(A - rows.T @ rows)[0]
        assert least > -below * np.linalg.eigvalsh(A)[-1]
        assert np.sum(rows**2) > 0.5 * np.sum(np.linalg.eigvalsh(A)[-count:])
        assert np.array_equal(factor.squares, factor.rows**2)


def test_products_are_the_longest_ones():
    one, other = (leading(K, np.eye(60)[:, :9]) for K in kernels(60, 2))
    G = one.products(other, 12)
    sizes = np.sort(one.sizes(other).ravel())[::-1]
    assert np.allclose(np.sum(G**2, axis=0), sizes[:12])
    assert one.products(other, 500).shape == (60, sizes.size)


def test_it_goes_only_as_far_as_it_takes():
    n, rank = 400, 60
    *parts, last = kernels(n, 7)
    squares = chosen(parts, np.full(n, 1 / n), [slice(0, 100), slice(100, n)], rank, n)
    feature, known = Feature.of(last), {}

    def stage(target, side, tol=1e-9, enough=math.nan):
        wanted = Wanted(tol, enough, side)
        known[target], done = squares.measure(3, feature, target, wanted, known.get(target))
        return squares._stage.get((3, target), NORM), done

    squares.prepare(3, feature)
    squares.best = squares.told[3]
    assert stage(True, "low", enough=-np.inf) == (NORM, True)
    assert stage(False, "high", enough=np.inf) == (CLOSER, True)  # much is open of the best one
    width = known[False].width
    assert stage(False, "high", tol=0.26 * width) == (CLOSER, True)  # so far off it is not
    assert stage(False, "high", tol=1e-4) == (ALL, True)
    assert known[False].width < 1e-4 < width
    assert stage(True, "low", tol=1e-4, enough=0.0) == (NORM, True)
    assert stage(True, "low", tol=1e-4) == (ALL, True)
    assert stage(True, "both") == (ALL, False)
    assert known[True].width < 1e-4
    known.clear()
    squares._stage.clear()
    squares.best += 10  # far behind: first sight will do
    assert stage(False, "high", enough=np.inf) == (SIGHT, True)
    smooth = np.exp(-0.5 * np.subtract.outer(x := np.linspace(0, 2, n), x) ** 2)
    squares, feature = (
        chosen([smooth], np.full(n, 1 / n), [slice(0, n)], rank, n),
        Feature.of(smooth),
    )
    squares.prepare(3, feature)
    squares.best = squares.told[3]
    known.clear()
    assert stage(False, "high", enough=np.inf) == (SIGHT, True)
    assert stage(True, "both", tol=1e-2) == (SIGHT, True)


def test_where_a_closer_look_costs_too_much_first_sight_is_what_comes_at_once():
    n, rank = 200, 100
    *parts, last = kernels(n, 5)
    squares, feature = chosen(parts, np.full(n, 1 / n), [slice(0, n)], rank, n), Feature.of(last)
    squares.prepare(0, feature)
    squares.best = squares.told[0]
    found, done = squares.measure(0, feature, False, Wanted(1e-3, np.inf, "high"), None)
    assert (squares._stage[0, False], done) == (SIGHT, True)
    assert found.high < math.log2(n)


def test_what_contradicts_by_rounding_is_left_to_others():
    *parts, last = kernels(220, 3)
    squares = chosen(parts, np.full(220, 1 / 220), [slice(0, 220)], 10, 220)
    feature = Feature.of(last)
    squares.prepare(0, feature)
    wrong = lr.Estimate.within(7.6, 7.6, 7.6 + 1e-7)
    assert squares.measure(0, feature, False, Wanted(1e-9), wrong) == (wrong, False)


def none(n):
    """No nominal columns."""
    return np.zeros((n, 0), dtype=np.int64)


def numeric(X, y, weights=None):
    """A table of numeric columns and a numeric target."""
    binned = np.zeros(1, dtype=bool)
    variables = [Variable(x[:, None].astype(float), none(len(X)), binned) for x in (*X.T, y)]
    return Table(variables[:-1], variables[-1], weights)


@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("side", ["low", "high", "both"])
def test_a_continuous_target_is_joined(target, side):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 5))
    known = Kernels(numeric(X, X[:, 0] + X[:, 1] ** 2), Renyi(2, 50))
    assert known._small((0, 1), target) is not None
    found = known.joint(np.array([2, 3, 4]), (0, 1), target, 1e-3, side)
    joined = known._small((0, 1), target)[1]
    assert joined.best == max(joined.told.values()) == 0.0  # there are no classes
    variables = [known._gram(i) for i in range(5)]
    for i, low, high in zip((2, 3, 4), found.low, found.high, strict=True):
        A = lr.joint(variables[0], variables[1], variables[i], *([known._target] * target))
        assert low <= float(Renyi(2, 50, Exact())(A)) <= high
    assert np.all(found.width < 1e-3) or side != "both"


@pytest.mark.parametrize("criterion", [JointInformation, JMI])
@pytest.mark.parametrize("continuous", [False, True])
def test_the_list_is_that_of_exact_eigenvalues(criterion, continuous):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 12))
    y = X[:, 3] * X[:, 7] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=240)
    y = y if continuous else (y > 0.2).astype(int) + (y > 1)
    shown, plain = (
        InformationSelector(6, criterion=criterion(entropy=Renyi(2, 30, solver))).fit(X, y)
        for solver in (lr.Auto(), Exact())
    )
    assert shown.indices_.tolist() == plain.indices_.tolist()
    assert np.all(np.abs(np.subtract(shown.scores_, plain.scores_)) < 2e-3)


def test_candidates_are_told_apart_by_norms_first():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(230, 3))
    features = [Variable(x[:, None], none(230), np.zeros(1, dtype=bool)) for x in X.T]
    labels = Variable(np.zeros((230, 0)), (X[:, 1:2] > 0).astype(int), np.zeros(0, dtype=bool))
    known = Kernels(Table(features, labels, None), Renyi(2, 20))
    known.joint(np.arange(3), (), True, 1.0, "low", -np.inf)
    _, squares = known._small((), True)
    assert squares.told[1] == squares.best > max(squares.told[0], squares.told[2]) + 0.2


def test_kernels_that_do_not_fit_are_made_anew(monkeypatch):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(220, 8)), rng.integers(0, 2, size=220)
    X[:, 2] += y
    selector = InformationSelector(5, criterion=JointInformation(Renyi(2, 20)))
    whole = selector.fit(X, y).indices_.tolist()
    monkeypatch.setattr(squares, "MEMORY", 3 * 4 * 220**2)
    assert selector.fit(X, y).indices_.tolist() == whole
    some = Kernels(numeric(X, y.astype(float)), Renyi(2, 20), workers=1)
    some.joint(np.arange(8), (), False, 0.1, "high", np.inf)
    assert len(some._rows._features) == 3


def test_sets_of_chosen_features_are_made_anew_when_they_are_no_longer_kept(monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(210, 6))
    known = Kernels(numeric(X, X[:, 0]), Renyi(2, 20))
    rows, first = known._small((0, 1, 2), False)
    assert rows.joined((0, 1, 2), False) is first
    monkeypatch.setattr(squares, "KEPT", 2)
    for given in ((3,), (3, 4), (5,)):
        rows.joined(given, True)
    assert len(rows._joined) == 2
    again = rows.joined((0, 1, 2), False)
    assert again is not first
    assert np.array_equal(again.kernel, first.kernel)
    assert again.joined == 3


def test_nothing_keeps_the_kernels_of_a_table_alive():
    """But who asked for them: a search over many tables would fill the memory."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(210, 4))
    known = Kernels(numeric(X, X[:, 0]), Renyi(2, 20))
    known.joint(np.array([1, 2]), (0,), True, 1e-2)
    assert known._rows is not None
    gone = weakref.ref(known)
    gc.disable()
    try:
        del known
        assert gone() is None
    finally:
        gc.enable()


def test_threads_of_a_worker_share_a_table():
    """As on a cluster, where each asks for one candidate at a time."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 40))
    table = numeric(X, X[:, 0] + X[:, 1])
    wanted = Wanted(1e-2, math.inf, "high")
    asked = [(Renyi(2, 20), i, (0,), False, wanted) for i in range(1, 40)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(partial(information._on_a_worker, table), asked))
    value = Kernels(table, Renyi(2, 20)).joint(np.arange(1, 40), (0,), False, 1e-9).value
    assert all(low <= v <= high for (low, _, high, _), v in zip(found, value, strict=True))


def test_a_worker_makes_kernels_once_and_lets_go_of_them_with_their_table(monkeypatch):
    made = []

    class Counted(Kernels):
        def __init__(self, *arguments):
            made.append(weakref.ref(self))
            super().__init__(*arguments)

    monkeypatch.setattr(information, "Kernels", Counted)
    X = np.random.default_rng(8).normal(size=(200, 4))
    table = numeric(X, X[:, 0] + X[:, 1])
    for i in (1, 2, 3):
        information._on_a_worker(table, (Renyi(2, 20), i, (0,), False, Wanted(1e-2)))
    assert [kept() is None for kept in made] == [False]
    del table
    gc.collect()
    assert [kept() is None for kept in made] == [True]
