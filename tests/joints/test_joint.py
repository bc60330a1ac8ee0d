"""The one object for a joint: its bounds hold on every kind of table, and narrow when asked."""

import numpy as np
import pytest

import lorenyi as lr
from lorenyi import Auto, Exact, Renyi
from lorenyi.gram import squared_norm
from lorenyi.joints import Joints
from lorenyi.joints.limits import LIMITS
from lorenyi.selection.table import Table, Variable


def variable(numbers=None, symbols=None):
    n = len(numbers if numbers is not None else symbols)
    numbers = np.zeros((n, 0)) if numbers is None else np.asarray(numbers).reshape(n, -1)
    symbols = np.zeros((n, 0), dtype=np.int64) if symbols is None else symbols.reshape(n, -1)
    return Variable(numbers, symbols)


def continuous(n, rng):
    """Columns that depend on each other, one of them with far points, and three classes."""
    X = rng.normal(size=(n, 4))
    X[:, 3] = 0.7 * X[:, 0] + 0.7 * rng.standard_t(2, n)
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [-0.6, 0.9])
    return [variable(x) for x in X.T], variable(symbols=y), None


def few_values(n, rng):
    X = rng.integers(0, 4, size=(n, 4)).astype(float)
    y = (X[:, 0] + X[:, 3] > 3).astype(int)
    return [variable(x) for x in X.T], variable(symbols=y), None


def weighted(n, rng):
    features, target, _ = continuous(n, rng)
    return features, target, rng.integers(0, 4, n).astype(float)


def repeated_rows(n, rng):
    features, target, _ = continuous(n, rng)
    index = rng.integers(0, n // 3, n)
    return [feature.take(index) for feature in features], target.take(index), None


def float32(n, rng):
    features, target, _ = continuous(n, rng)
    return [variable(f.numbers.astype(np.float32)) for f in features], target, None


def mixed(n, rng):
    """Labels, a group of two columns, one with labels, and a column with missing values."""
    X = rng.normal(size=(n, 4))
    X[:20, 3] = np.nan
    labels = rng.integers(0, 5, n)
    features = [
        variable(symbols=labels),
        variable(X[:, :2]),
        variable(X[:, 2], rng.integers(0, 2, n)),
        variable(X[:, 3]),
    ]
    return features, variable(symbols=(X[:, 0] + labels > 2).astype(int)), None


def regression(n, rng):
    features, _, _ = continuous(n, rng)
    return features, variable(features[0].numbers[:, 0] + 0.3 * rng.normal(size=n)), None


def rare_class(n, rng):
    features, target, _ = continuous(n, rng)
    y = target.symbols[:, 0].copy()
    y[:3], y[3] = 7, 8
    return features, variable(symbols=y), None


KINDS = [
    continuous,
    few_values,
    weighted,
    repeated_rows,
    float32,
    mixed,
    regression,
    rare_class,
]


def made(kind, n, seed=0):
    features, target, weights = kind(n, np.random.default_rng(seed))
    return Table(features, target, weights)


def exact(table, entropy, features, target):
    A = table.gram(features[0])
    for i in features[1:]:
        A = A * table.gram(i)
    A = A * table.target_gram() if target else A
    if entropy.alpha == 2 and entropy.rank is None:
        return -np.log2(float(squared_norm(A)))
    return float(lr.renyi_entropy(Exact()(A), entropy.alpha, entropy.rank))


ROOM = 1e-6  # bits that rounding moves below order 1, where null eigenvalues weigh, or in float32


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("alpha", "rank"),
    [(0.5, 30), (0.5, None), (1, 30), (1.01, None), (2, 30), (2, None), (np.inf, None)],
)
def test_bounds_contain_the_exact_entropy_and_narrow_when_asked(kind, alpha, rank):
    table, entropy = made(kind, 500), Renyi(alpha, rank)
    information, x = Joints(table.variables(), entropy), np.array([3])
    for given in [(), (1,), (0, 1, 2)]:
        for target in (False, True):
            value = exact(table, entropy, (*given, 3), target)
            before = None
            for side, enough, tol in [
                ("low", -np.inf, 0.1),
                ("high", np.inf, 0.1),
                ("high", -np.inf, 0.1),
                ("low", np.inf, 0.01),
                ("both", np.nan, 1e-3),
                ("both", np.nan, 1e-7),
            ]:
                found = information.joint(x, given, target, tol, side, enough)
                room = ROOM if alpha < 1 or kind is float32 else 1e-11
                assert found.low[0] - room <= value <= found.high[0] + room
                if before is not None:
                    assert before.low[0] <= found.low[0]
                    assert found.high[0] <= before.high[0]
                before = found
            assert found.width[0] <= (1e-3 if alpha < 1 or kind is float32 else 1e-7)


@pytest.mark.parametrize("kind", [continuous, weighted, repeated_rows, mixed, regression])
@pytest.mark.parametrize(("alpha", "rank"), [(0.6, 30), (1.01, 30), (2, 30), (2, None)])
def test_what_is_too_large_for_all_eigenvalues_is_bounded_without_them(kind, alpha, rank):
    table, entropy = made(kind, LIMITS.dense + 300), Renyi(alpha, rank)
    information, x = Joints(table.variables(), entropy), np.array([3])
    for target in (False, True):
        value = exact(table, entropy, (0, 1, 2, 3), target)
        for side, enough, tol in [
            ("high", np.inf, 0.1),
            ("high", -np.inf, 0.01),
            ("low", np.inf, 0.01),
            ("both", np.nan, 1e-3),
            ("both", np.nan, 1e-5),
        ]:
            found = information.joint(x, (0, 1, 2), target, tol, side, enough)
            assert found.low[0] <= value <= found.high[0]
            if side == "high" and np.isfinite(enough):
                assert found.high[0] - value <= tol
        assert found.width[0] <= 1e-5


def test_features_that_are_chosen_one_after_another_are_the_same_as_those_at_once():
    table, x = made(continuous, LIMITS.dense + 300), np.array([3])
    for target in (False, True):
        steps, once = (Joints(table.variables(), Renyi(1.01, 30)) for _ in range(2))
        for given in [(0,), (0, 1), (0, 1, 2)]:
            found = steps.joint(x, given, target, 0.1, "high", np.inf)
        other = once.joint(x, (0, 1, 2), target, 0.1, "high", np.inf)
        value = exact(table, Renyi(1.01, 30), (0, 1, 2, 3), target)
        assert value <= found.high[0] <= value + 0.1
        assert value <= other.high[0] <= value + 0.1


def binary_table(n=700, count=9):
    rng = np.random.default_rng(0)
    X = (rng.random(size=(n, count)) < rng.uniform(0.2, 0.8, count)).astype(int)
    y = variable(symbols=(X.sum(axis=1) + rng.integers(0, 3, n)) % 4)
    return Table([variable(x.astype(float)) for x in X.T], y, None)


def test_small_blocks_have_the_same_eigenvalues_one_by_one_and_together():
    table = binary_table()
    engine = Joints(table.variables(), Renyi(1, None))
    joined = engine._made((0, 1, 2), False).join(engine._column(3), labelled=True)
    each = [np.linalg.eigvalsh(part.matrix(double=True)) for part in joined.parts]
    assert len(each) == 4
    assert np.allclose(joined.eigenvalues(), np.sort(np.concatenate(each))[::-1], atol=1e-15)


def test_a_cheap_bound_that_is_good_enough_costs_no_proof():
    table, x = made(continuous, LIMITS.dense + 300), np.array([3])
    information = Joints(table.variables(), Renyi(1.01, 30))
    cheap = information.joint(x, (0, 1), False, 1e-6, "high", np.inf)
    again = information.joint(x, (0, 1), False, 1e-6, "high", float(cheap.high[0]))
    assert cheap.high[0] == again.high[0] < np.log2(len(table))


def test_what_comes_at_once_is_nothing_where_all_eigenvalues_are_cheap():
    information, x = Joints(made(few_values, 60).variables(), Renyi(1.01, 10)), np.array([1, 2])
    for side, enough in (("low", -np.inf), ("high", np.inf)):
        found = information.joint(x, (0,), True, 1e-3, side, enough)
        assert np.allclose(found.high, np.log2(60))
    assert information.joint(x, (0,), True, 1e-3).width.max() <= 1e-3
    # What was found before comes at once.
    assert information.joint(x, (0,), True, 1e-3, "high", np.inf).width.max() <= 1e-3


def test_the_value_is_what_was_measured_and_nothing_before():
    table = made(continuous, 80)
    engine = Joints(table.variables(), Renyi(1.01, 10))
    assert np.isnan(engine.joint(np.array([1]), (), False, 1e-6, "high", np.inf).value).all()
    known = engine.joint(np.array([1]), (), False, 1e-6)
    exactly = exact(table, Renyi(1.01, 10), (1,), False)
    assert known.value[0] == pytest.approx(exactly, abs=1e-9)


def test_the_entropy_of_labels_is_that_of_their_frequencies():
    table = made(continuous, 300)
    p = np.bincount(table.target.symbols[:, 0]) / 300
    found = Joints(table.variables(), Renyi(1)).alone((), True, 1e-9)
    assert found == pytest.approx(-np.sum(p * np.log2(p)))
    assert Joints(table.variables(), Renyi(1)).alone((), False, 1e-9) == 0


def test_another_solver_is_taken_at_its_word():
    table, entropy = made(continuous, 200), Renyi(1.01, 20, lr.Lanczos(steps=40))
    found = Joints(table.variables(), entropy).joint(np.array([1]), (0,), True, 1e-9)
    A = table.gram(0) * table.gram(1) * table.target_gram()
    assert found.width[0] < 1e-12
    assert found.value[0] == pytest.approx(float(entropy(A)), abs=1e-6)


def test_a_tie_of_two_orders_of_the_same_rows_is_one():
    """Candidates whose joints are the same up to the order of rows have the same entropy."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    Z = np.concatenate([x, x]), np.concatenate([x, -x]), np.repeat([0.0, 1.0], 200)
    table = Table([variable(z) for z in Z], variable(symbols=np.tile([0, 1], 200)), None)
    found = Joints(table.variables(), Renyi(2, 20)).joint(np.array([0, 1]), (2,), False, 1e-10)
    assert np.all(found.width <= 1e-10)


def test_of_many_rows_a_factor_says_what_it_can():
    """The interval is wide, and holds; a finer tolerance changes nothing."""
    n = LIMITS.pairs + 300
    X = np.random.default_rng(0).normal(size=(n, 2))
    y = (X[:, 0] > 0).astype(int)
    table = Table([variable(x) for x in X.T], variable(symbols=y), None)
    information, x = Joints(table.variables(), Renyi(2, 20)), np.array([1])
    close = Renyi(2, 20, Auto(tol=1e-2))
    for target in (False, True):
        A = table.gram(0) * table.gram(1)
        value = close.certified(A * table.target_gram() if target else A)
        found = information.joint(x, (0,), target, 0.1)
        assert found.low[0] <= value.high
        assert value.low <= found.high[0]
        assert information.joint(x, (0,), target, 1e-3).width[0] == found.width[0]


def test_far_points_leave_no_numbers_that_make_products_slow():
    """Kernels of distant points underflow to denormal float32 numbers, which must not be kept."""
    X = np.linspace(0, 30, LIMITS.dense + 100)[:, None] * np.ones(2)
    labels = variable(symbols=np.arange(len(X)) % 2)
    table = Table([variable(x) for x in X.T], labels, None, standardize=False)
    information = Joints(table.variables(), Renyi(2, 20))
    information.joint(np.array([1]), (0,), False, 0.1)
    kernel = information._made((0,), False).kernel
    assert np.abs(kernel[kernel != 0]).min() >= 1e-18
