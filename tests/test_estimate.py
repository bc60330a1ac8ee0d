"""`Estimate`: a float with an interval, whose arithmetic never loses the truth."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lorenyi as lr
from lorenyi.estimate import Estimate, Influence

unhurried = settings(deadline=None)

# ------------------------------------------------------------------------------- arithmetic


@st.composite
def estimates(draw, least=-50.0, most=50.0):
    """An Estimate and a point in its interval that may be the truth."""
    numbers = st.floats(least, most, allow_subnormal=False)
    low, value, truth, high = sorted(draw(st.tuples(numbers, numbers, numbers, numbers)))
    if draw(st.booleans()):
        value, truth = truth, value
    return lr.Estimate.within(low, value, high, failure=draw(st.sampled_from([0.0, 1e-8]))), truth


away_from_zero = st.one_of(estimates(1e-3, 50.0), estimates(-50.0, -1e-3))

BINARY = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: a / b,
}
every_operation = pytest.mark.parametrize("operation", BINARY.values(), ids=BINARY)


@every_operation
@unhurried
@given(estimates(), away_from_zero)
def test_the_interval_contains_the_result_for_all_points_of_both(operation, first, second):
    (a, x), (b, y) = first, second
    result = operation(a, b)
    assert operation(x, y) in result
    assert float(result) == operation(float(a), float(b))
    assert result.failure == a.failure + b.failure


@unhurried
@given(estimates(), estimates())
def test_products_of_intervals_with_zero_in_them_contain_those_of_all_points(first, second):
    (a, x), (b, y) = first, second
    assert x * y in a * b


@every_operation
@unhurried
@given(away_from_zero, st.one_of(st.floats(1e-3, 9), st.floats(-9, -1e-3), st.integers(1, 9)))
def test_a_plain_number_may_stand_on_either_side(operation, pair, number):
    a, x = pair
    for result, truth, value in (
        (operation(a, number), operation(x, number), operation(float(a), number)),
        (operation(number, a), operation(number, x), operation(number, float(a))),
    ):
        assert isinstance(result, lr.Estimate)
        assert truth in result
        assert float(result) == value
        assert result.failure == a.failure


@unhurried
@given(estimates())
def test_the_negative_interval_is_turned_over(pair):
    a, x = pair
    assert (-a).low == -a.high
    assert (-a).high == -a.low
    assert -x in -a
    assert (-a).failure == a.failure


@unhurried
@given(estimates(0.0, 20.0), st.sampled_from([0.5, 2.0, 3, 1.0]))
def test_powers_of_an_interval_contain_those_of_its_points(pair, exponent):
    a, x = pair
    assert x**exponent in a**exponent
    assert float(a**exponent) == float(a) ** exponent


@unhurried
@given(estimates(0.1, 20.0), st.sampled_from([-1, -0.5, -2.0]))
def test_negative_powers_turn_the_interval_over(pair, exponent):
    a, x = pair
    assert x**exponent in a**exponent


@unhurried
@given(estimates(), st.sampled_from([2.0, 2, 0.5, 1.0]))
def test_a_number_to_the_power_of_an_interval_contains_that_to_its_points(pair, base):
    a, x = pair
    assert base**x in base**a
    assert float(base**a) == base ** float(a)


@unhurried
@given(estimates(), estimates())
def test_the_ends_of_a_sum_are_attained(first, second):
    """The interval is not wider than it must be."""
    (a, _), (b, _) = first, second
    ends = [x + y for x in (a.low, a.high) for y in (b.low, b.high)]
    assert (a + b).low == min(ends)
    assert (a + b).high == max(ends)


def test_a_sum_with_an_amount_that_was_not_certified_has_no_bounds():
    total = lr.Estimate(1.0, about=("x: Delta()",)) + lr.Estimate.within(
        0.5, 1.0, 1.5, about=("y: Delta()",)
    )
    assert float(total) == 2.0
    assert total.bounds is None
    assert set(total.about) == {"x: Delta()", "y: Delta()"}
    with pytest.raises(ValueError, match="not certified"):
        _ = total.width


@pytest.mark.parametrize("low", [-1.0, 0.0])
@pytest.mark.parametrize(
    "numerator", [1.0, lr.Estimate.within(1.0, 1.5, 2.0)], ids=["number", "interval"]
)
def test_division_by_an_interval_with_zero_in_it_is_an_error_that_shows_it(numerator, low):
    with pytest.raises(ZeroDivisionError, match=r"may be 0: 0\.5 bits"):
        numerator / lr.Estimate.within(low, 0.5, 1.0)


def test_division_by_zero_is_an_error():
    with pytest.raises(ZeroDivisionError):
        lr.Estimate.within(1.0, 1.5, 2.0) / 0


def test_a_power_of_an_interval_with_negative_numbers_is_refused():
    with pytest.raises(ValueError, match="negative"):
        lr.Estimate.within(-1e-9, 0.5, 1.0) ** 0.5


@pytest.mark.parametrize(
    "operation",
    [
        lambda a: a + "1",
        lambda a: "1" - a,
        lambda a: a * [1],
        lambda a: a / "1",
        lambda a: "1" / a,
        lambda a: a ** "1",
        lambda a: "1" ** a,
    ],
)
def test_what_is_no_number_does_not_combine(operation):
    with pytest.raises(TypeError):
        operation(lr.Estimate.within(1.0, 1.5, 2.0))


# ---------------------------------------------------------------------------- being a float


def test_it_is_a_float_in_its_interval():
    estimate = lr.Estimate.within(1.0, 1.5, 2.5, failure=1e-8)
    assert float(estimate) == estimate.value == 1.5
    assert type(float(estimate)) is float
    assert estimate.width == 1.5
    assert math.sqrt(estimate) == math.sqrt(1.5)
    assert np.asarray([estimate]).dtype == np.float64
    assert all(x in estimate for x in (1.0, 1.7, 2.5))
    assert not any(x in estimate for x in (0.99, 2.51, math.nan))


@unhurried
@given(estimates(), estimates())
def test_comparison_is_that_of_the_values(first, second):
    (a, _), (b, _) = first, second
    assert (a < b) == (float(a) < float(b))
    assert (a >= b) == (float(a) >= float(b))
    assert (a == b) == (float(a) == float(b))
    assert sorted([a, b])[0] == min(float(a), float(b))


@pytest.mark.parametrize(
    "bad", [(1.0, 0.5, 2.0), (0.0, 2.5, 2.0), (0.0, math.nan, 1.0), (math.nan, 0.0, 1.0)]
)
def test_an_interval_without_its_value_is_refused(bad):
    with pytest.raises(ValueError, match="do not contain the value"):
        lr.Estimate.within(*bad)


@pytest.mark.parametrize(
    "duplicate",
    [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy],
    ids=["pickle", "copy", "deepcopy"],
)
def test_copies_are_whole(duplicate):
    estimate = lr.Estimate.within(1.0, 1.5, 2.0, failure=3e-8, about=("x: Delta()",), unit="points")
    other = duplicate(estimate)
    assert type(other) is lr.Estimate
    assert (other.low, float(other), other.high, other.failure) == (1.0, 1.5, 2.0, 3e-8)
    assert (other.about, other.unit) == (("x: Delta()",), "points")


# ------------------------------------------------------------------------------ what it shows


def test_it_prints_as_a_value_with_its_standard_error_and_kernels():
    influence = Influence.of(np.tile([-1.0, 1.0], 50), (100, 100.0))
    value = lr.Estimate(2.93612, influence=influence, about=("Gaussian(sigma=4.3)",))
    assert str(value) == repr(value) == "2.94 ± 0.10 bits (Gaussian(sigma=4.3))"
    assert str(lr.Estimate(2.936, influence=0.01 * influence)) == "2.9360 ± 0.0010 bits"


def test_without_a_standard_error_it_prints_six_digits():
    assert str(lr.Estimate(2.93612345)) == "2.93612 bits"
    assert str(lr.Estimate(1.0)) == "1.0 bits"


def test_a_computing_error_is_shown_where_it_matters():
    influence = Influence.of(np.tile([-1.0, 1.0], 50), (100, 100.0))
    assert "computed" not in str(lr.Estimate(2.0, influence=influence, computing_error=0.01))
    shown = str(lr.Estimate(2.0, influence=influence, computing_error=0.05))
    assert shown == "2.00 ± 0.10 bits, computed to 0.05"


def test_certified_bounds_are_printed_in_as_many_digits_as_they_leave():
    assert str(lr.Estimate.within(4.829, 4.831, 4.832)) == (
        "4.831 bits, computed within [4.829, 4.832] (proven)"
    )
    assert "within [0.12345, 0.12348]" in str(lr.Estimate.within(0.12345, 0.12346, 0.12348))


@unhurried
@given(estimates())
def test_the_bounds_it_prints_contain_its_own(pair):
    estimate, _ = pair
    shown = str(estimate).partition("[")[2].partition("]")[0]
    low, high = map(float, shown.split(", "))
    # 12 digits are shown at most: of 50, a float has 14.
    assert low <= estimate.low + 1e-14
    assert high >= estimate.high - 1e-14


def test_the_repr_says_whether_it_is_proven_and_on_which_kernels():
    estimate = lr.Estimate.within(1.0, 1.5, 2.0, about=("x: Delta()", "y: Delta()"))
    assert repr(estimate) == "1.5 bits, computed within [1, 2] (proven; x: Delta(), y: Delta())"


@pytest.mark.parametrize(
    ("failure", "shown"),
    [
        (1e-7, "1e-07"),
        (1.4e-7, "2e-07"),
        (2.0000001e-9, "3e-09"),
        (9.6e-8, "1e-07"),
        (0.05, "0.05"),
    ],
)
def test_the_repr_gives_the_probability_of_failure_rounded_up(failure, shown):
    assert f"fails with p <= {shown})" in repr(lr.Estimate.within(1.0, 1.5, 2.0, failure=failure))


def test_errors_without_end_are_printed():
    """As in the message that refuses to divide by the root of what may be zero."""
    influence = Influence.of(np.tile([-1.0, 1.0], 50), (100, 100.0))
    root = lr.Estimate.within(0.0, 0.0, 1e-14, influence=influence) ** 0.5
    assert root.standard_error == math.inf
    assert "inf" in repr(root)
    assert "inf" in repr(lr.Estimate.within(0.0, 1.0, math.inf))


def test_what_a_notebook_shows_is_escaped():
    estimate = lr.Estimate.within(1.0, 1.5, 2.0, about=("x: Function(<lambda>) & <script>",))
    html = estimate._repr_html_()
    assert "<script>" not in html
    assert "&lt;lambda&gt;) &amp; &lt;script&gt;" in html
    assert "1.5 bits, computed within [1, 2]" in html


# ------------------------------------------------------------------------- without their unit


@pytest.fixture
def functional():
    """An entropy known to within 0.01 bits, as an Estimate."""

    def entropy(A):
        value = float(lr.Renyi(solver=lr.Exact())(A))
        return lr.Estimate.within(
            value - 0.01, value + 0.002, value + 0.01, failure=1e-8, about=A.names
        )

    return entropy


X, Y = np.linspace(-1, 1, 40), np.linspace(-1, 1, 40) > 0.2


def test_the_normalized_mutual_information_of_estimates_is_one_without_unit(functional):
    exact = float(lr.normalized_mutual_information(X, Y, entropy=lr.Renyi(solver=lr.Exact())))
    found = lr.normalized_mutual_information(X, Y, entropy=functional)
    assert isinstance(found, lr.Estimate)
    assert exact in found
    assert 0.01 < found.width < 0.1
    assert found.unit == ""
    assert "bits" not in repr(found)
    assert found.failure == pytest.approx(5e-8)  # S(A) and S(B) enter twice


def test_the_vendi_score_of_an_estimate_is_one_without_unit(functional):
    exact = float(lr.vendi_score(X, entropy=lr.Renyi(solver=lr.Exact())))
    found = lr.vendi_score(X, entropy=functional)
    assert isinstance(found, lr.Estimate)
    assert exact in found
    assert found.low == pytest.approx(exact * 2**-0.01)
    assert found.high == pytest.approx(exact * 2**0.01)
    assert "bits" not in repr(found)
    assert found.failure == 1e-8


def test_one_over_an_estimate_has_no_unit():
    inverse = 1 / lr.Estimate.within(1.0, 2.0, 4.0, failure=1e-9)
    assert (inverse.low, float(inverse), inverse.high) == (0.25, 0.5, 1.0)
    assert inverse.unit == ""
    assert inverse.failure == 1e-9


def test_a_multiple_of_an_estimate_keeps_its_unit():
    assert (0.5 * lr.Estimate.within(1.0, 2.0, 4.0)).unit == "bits"
    assert (lr.Estimate.within(1.0, 2.0, 4.0) / 2).unit == "bits"


# ------------------------------------------------------------------------------ NumPy's numbers


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int8, float, int])
def test_numbers_of_numpy_keep_the_interval_on_either_side(kind):
    estimate = lr.Estimate.within(1.0, 1.5, 2.0)
    two = kind(2)
    for found, low, high in [
        (two * estimate, 2.0, 4.0),
        (estimate * two, 2.0, 4.0),
        (two + estimate, 3.0, 4.0),
        (two - estimate, 0.0, 1.0),
        (estimate - two, -1.0, 0.0),
        (two / estimate, 1.0, 2.0),
        (estimate / two, 0.5, 1.0),
        (two**estimate, 2.0, 4.0),
        (estimate**two, 1.0, 4.0),
    ]:
        assert isinstance(found, lr.Estimate)
        assert (found.low, found.high) == (low, high)


def test_numbers_of_numpy_keep_what_bits_are_about():
    bits = lr.entropy(["a", "b"])
    for found in (np.float64(2) + bits, np.float64(2) - bits, 2 - bits, bits - np.float32(1)):
        assert found.about == bits.about
    assert float(np.float64(3) - bits) == 2.0


def test_arrays_take_bits_as_numbers():
    assert (np.array([1.0, 2.0]) * lr.Estimate.within(1.0, 1.5, 2.0)).tolist() == [1.5, 3.0]
    assert np.exp2(lr.entropy(["a", "b"])) == 2.0


def test_an_amount_without_standard_error_is_shown_without_its_rounding():
    for value in (-8.9e-12, 3e-13, -0.0):
        assert repr(Estimate(value)) == "0.0 bits"
        assert float(Estimate(value)) == value
    assert repr(Estimate(1.23e-7)) == "1.23e-07 bits"
    assert repr(Estimate(1e-12, unit="")) == "1e-12"
