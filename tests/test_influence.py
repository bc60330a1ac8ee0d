"""Standard errors: influences against derivatives, formulas and the spread over many samples."""

import math

import numpy as np
import pytest

import lorenyi as lr
from lorenyi import influence
from lorenyi.bandwidths.median import _weighted_quantiles
from lorenyi.estimate import Influence

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
LABELS = np.arange(40) % 3
ORDERS = [
    (0.5, None),
    (1, None),
    (1.01, None),
    (2, None),
    (3, None),
    (math.inf, None),
    (0.7, 5),
    (1, 5),
    (1.01, 5),
    (2, 5),
]


def grams(weights):
    """A Gram of numbers, of labels, and of both."""
    A = lr.gram(X, lr.Gaussian(1.0), weights=weights)
    B = lr.gram(LABELS, weights=weights)
    return {"numbers": A, "labels": B, "joint": A * B}


CASES = [(k, *order) for k in ("numbers", "labels", "joint") for order in ORDERS]


@pytest.mark.parametrize(
    ("kind", "alpha", "rank"),
    [case for case in CASES if case[0] != "labels" or case[2] is None],  # of labels there are three
)
def test_the_influence_is_the_derivative_in_the_weight_of_a_row(kind, alpha, rank):
    """S of (1 - t) P + t delta_i, differentiated at t = 0; points are counted a thousandfold."""
    H, total, step = lr.Renyi(alpha, rank, lr.Exact()), 40_000.0, 1e-5
    base = np.full(40, total / 40)
    found = H.pilot(grams(base)[kind]).influence
    found = found - found.mean()
    for i in (0, 7, 39):
        ends = []
        for t in (step, -step):
            weights = (1 - t) * base
            weights[i] += t * total
            ends.append(H.bits(grams(weights)[kind]))
        assert found[i] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-4, abs=2e-4)


def test_at_order_one_the_influences_average_to_the_entropy():
    A = grams(None)["joint"]
    values = lr.Renyi().pilot(A).influence
    assert values.mean() == pytest.approx(float(lr.Renyi(solver=lr.Exact())(A)), rel=1e-12)


def test_the_standard_error_of_labels_is_that_of_their_surprise():
    p = np.bincount(LABELS) / 40
    surprise = -np.log2(p)[LABELS]
    found = lr.entropy(LABELS)
    assert found.standard_error == pytest.approx(surprise.std() / math.sqrt(39), rel=1e-9)


@pytest.mark.parametrize(
    "kernel", [lr.Gaussian(1.0), lr.Gaussian(), lr.Gaussian("scott")], ids=repr
)
@pytest.mark.parametrize(("alpha", "rank"), [(1, None), (2, None), (1.5, 6)])
def test_weight_two_has_the_standard_error_of_a_repeated_row(kernel, alpha, rank):
    H, weights = lr.Renyi(alpha, rank), np.arange(40) % 3
    weighted = H(lr.gram(X, kernel, weights=weights))
    repeated = H(lr.gram(np.repeat(X, weights, axis=0), kernel))
    assert weighted.standard_error == pytest.approx(repeated.standard_error, rel=1e-3)


def test_the_difference_of_a_value_and_itself_has_no_error():
    found = lr.mutual_information(X, LABELS) - lr.mutual_information(X, LABELS)
    assert found == 0
    assert found.standard_error == 0


def test_values_on_the_same_rows_are_paired_and_on_others_independent():
    x = RNG.normal(size=500)
    one, other = lr.entropy(x), lr.entropy(x[:300])
    nearly = lr.entropy(x + 0.01 * RNG.normal(size=500))
    assert (one - nearly).standard_error < 0.3 * one.standard_error
    both = math.hypot(one.standard_error, other.standard_error)
    assert (one - other).standard_error == pytest.approx(both)


@pytest.mark.parametrize(
    "formula", [lambda a, b: 3 * a - b, lambda a, b: a * b, lambda a, b: a / b]
)
def test_errors_go_through_formulas_to_first_order(formula):
    x = RNG.normal(size=(300, 2))
    a, b = lr.entropy(x), lr.entropy(x[:, 0])
    found, step = formula(a, b), 1e-6
    da = (formula(float(a) + step, float(b)) - formula(float(a) - step, float(b))) / (2 * step)
    db = (formula(float(a), float(b) + step) - formula(float(a), float(b) - step)) / (2 * step)
    expected = (a.influence * da + b.influence * db).standard_error
    assert found.standard_error == pytest.approx(expected, rel=1e-6)


def test_a_sample_of_the_rows_has_nearly_the_standard_error_of_all(monkeypatch):
    x = np.random.default_rng(1).normal(size=(3000, 3))
    y = x[:, 0] + x[:, 1] ** 2 > 1
    some = lr.mutual_information(x, y)
    monkeypatch.setattr(influence, "MAX_ROWS", 3000)
    every = lr.mutual_information(x, y)
    assert some.standard_error == pytest.approx(every.standard_error, rel=0.12)


def test_a_factor_has_nearly_the_influences_of_a_decomposition(monkeypatch):
    A = lr.gram(np.random.default_rng(2).normal(size=(700, 8)))
    factor = lr.Renyi().pilot(A).influence
    monkeypatch.setattr(influence, "MAX_DENSE_ROWS", 700)
    exact = lr.Renyi().pilot(A).influence
    assert np.corrcoef(factor, exact)[0, 1] > 0.99
    assert factor.std() == pytest.approx(exact.std(), rel=0.02)


LAWS = {
    "normal pair": lambda rng, n: _pair(rng, n, lambda x, e: 0.7 * x + 0.7 * e),
    "parabola": lambda rng, n: _pair(rng, n, lambda x, e: x**2 + e),
    "label": lambda rng, n: _pair(rng, n, lambda x, e: x + 0.5 * e > 0),
}


def _pair(rng, n, law):
    x = rng.normal(size=n)
    return x, law(x, rng.normal(size=n))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("alpha", [1, 2])
def test_the_standard_error_is_the_spread_over_samples_with_the_bandwidth_chosen_anew(law, alpha):
    rng, H = np.random.default_rng(3), lr.Renyi(alpha)
    found = [lr.mutual_information(*LAWS[law](rng, 150), entropy=H) for _ in range(120)]
    spread = np.std(found)
    assert np.mean([value.standard_error for value in found]) == pytest.approx(spread, rel=0.25)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_interval_is_normal_around_the_value(level):
    found = lr.entropy(X)
    low, high = found.interval(level)
    assert 0.5 * (low + high) == pytest.approx(float(found))
    reach = {0.5: 0.6745, 0.95: 1.96}[level]
    assert high - found == pytest.approx(reach * found.standard_error, rel=1e-3)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_that_is_no_coverage_is_refused(level):
    with pytest.raises(ValueError, match="between 0 and 1"):
        lr.entropy(X).interval(level)


def test_order_zero_has_no_standard_error():
    assert math.isnan(lr.entropy(X, entropy=lr.Renyi(0)).standard_error)


def test_certified_values_have_a_standard_error_too():
    plain, certified = lr.entropy(X), lr.entropy(X, entropy=lr.Renyi().certified)
    assert certified.standard_error == plain.standard_error
    assert certified.bounds is not None


def test_influences_are_centered_and_weighted():
    found = Influence.of(np.array([0.0, 1.0]), (2, 4.0), np.array([3.0, 1.0]))
    assert found.standard_error == pytest.approx(math.sqrt((3 * 0.25**2 + 0.75**2) / 4 / 3))


@pytest.mark.parametrize("count", [7, 20, 100])
def test_quantiles_of_equal_weights_are_those_of_weights(count):
    values, weights = RNG.normal(size=count), np.full(count, 0.3)
    shares = (0.05, 0.45, 0.5, 0.55, 1.0)
    nearly = weights * (1 + 1e-12 * RNG.random(count))  # not equal: the other way
    expected = np.sort(values)[[int(np.ceil(s * count - 1e-6)) - 1 for s in shares]]
    assert (_weighted_quantiles(values, weights, shares) == expected).all()
    assert (_weighted_quantiles(values, nearly, shares) == expected).all()
