"""Rényi's entropy of a spectrum and the functional: every order, every corner that is defined."""

import copy
import math
import pickle
from dataclasses import dataclass, field
from decimal import Decimal, localcontext

import numpy as np
import oracles
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import lorenyi as lr
from lorenyi import (
    Delta,
    Estimate,
    Exact,
    Gaussian,
    GaussianProjection,
    HadamardProjection,
    InputSparsity,
    Lanczos,
    Linear,
    Precomputed,
    Renyi,
    Solver,
    SparseGraph,
    Spectrum,
    gram,
    information_potential,
    renyi_entropy,
)

ORDERS = [0, 0.5, 1, 1.01, 2, 5, math.inf]
PROJECTIONS = [GaussianProjection, HadamardProjection, InputSparsity, SparseGraph]


def precise(values, alpha):
    """Rényi's entropy in 60 decimal digits, of the values divided by their sum.

    That sum is 1 up to 5e-16 only; further than 0.1 from alpha = 1 this is visible, magnified by
    alpha / (1 - alpha) to 1e-14 bits.
    """
    with localcontext() as context:
        context.prec = 60
        exact = [Decimal(float(v)) for v in values if v > 0]
        p = [v / sum(exact) for v in exact]
        order, two = Decimal(alpha), Decimal(2).ln()
        if order == 1:
            return float(-sum(v * v.ln() for v in p) / two)
        return float(sum((order * v.ln()).exp() for v in p).ln() / (1 - order) / two)


def normalized(values):
    values = np.sort(np.asarray(values, dtype=float))[::-1]
    return values / values.sum()


SPECTRA = {
    "geometric": normalized(0.8 ** np.arange(40)),
    "flat": normalized(np.ones(1000)),
    "peaked": normalized([1.0, *[1e-9] * 20]),
    "steep": normalized(10.0 ** -np.arange(13)),
    "with zeros": normalized([3, 2, 1, 0, 0]),
}
EACH = pytest.mark.parametrize("values", SPECTRA.values(), ids=SPECTRA)


# ---------------------------------------------------------------------------------------- orders


@EACH
@pytest.mark.parametrize("distance", [10.0**-e for e in range(3, 13)] + [0.05, 0.0999])
def test_nothing_cancels_as_the_order_goes_through_one(values, distance):
    for alpha in (1 - distance, 1 + distance):
        found = renyi_entropy(Spectrum(values), alpha)
        assert float(found) == pytest.approx(precise(values, alpha), rel=2e-13, abs=1e-15)


@EACH
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.89, 0.9, 1, 1.1, 1.11, 2, 7.5, 50, 1000])
def test_every_order_agrees_with_many_digits(values, alpha):
    found = renyi_entropy(Spectrum(values), alpha)
    assert float(found) == pytest.approx(precise(values, alpha), rel=1e-13, abs=2e-14)


@EACH
@pytest.mark.parametrize("rank", [None, 2])
def test_order_one_is_the_limit_from_both_sides(values, rank):
    one = float(renyi_entropy(Spectrum(values), 1, rank))
    for alpha in (1 - 1e-9, 1 + 1e-9, np.nextafter(1, 0), np.nextafter(1, 2)):
        # The slope of S at 1 is -Var(log p) ln(2) / 2, below 1000 for 1000 values of one spectrum.
        found = float(renyi_entropy(Spectrum(values), alpha, rank))
        assert found == pytest.approx(one, abs=1e3 * abs(alpha - 1) + 1e-14)


@EACH
@pytest.mark.parametrize("alpha", [1e3, 1e6, 1e12, 1e300])
def test_order_infinity_is_the_limit_of_large_orders(values, alpha):
    """S_inf <= S_alpha <= alpha / (alpha - 1) S_inf."""
    least = float(renyi_entropy(Spectrum(values), math.inf))
    assert least == pytest.approx(-math.log2(values[0]), abs=1e-15)
    found = float(renyi_entropy(Spectrum(values), alpha))
    assert least * (1 - 1e-12) - 1e-15 <= found <= alpha / (alpha - 1) * least * (1 + 1e-12) + 1e-15


@pytest.mark.parametrize("infinity", [math.inf, np.inf, float("inf"), np.float32("inf")])
def test_infinity_may_be_spelled_in_any_way(infinity):
    x = np.linspace(0, 3, 20)
    A = gram(x, Gaussian(1.0))
    expected = -math.log2(np.linalg.eigvalsh(A.dense())[-1])
    assert Renyi(infinity, None, Exact())(A) == pytest.approx(expected, abs=1e-12)
    assert Renyi(infinity, 3, Exact())(A) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("alpha", [2, 2.0, np.float64(2), np.int64(2), np.float32(2)])
def test_the_order_may_be_any_kind_of_number(alpha):
    assert Renyi(alpha, 1, Exact())(gram([0, 0, 1, 1])) == pytest.approx(
        -math.log2(0.25 + 3 * (1 / 6) ** 2)
    )


@EACH
def test_order_zero_is_the_limit_of_small_orders(values):
    zero = float(renyi_entropy(Spectrum(values), 0))
    assert zero == math.log2(np.count_nonzero(values))
    assert float(renyi_entropy(Spectrum(values), 1e-13)) == pytest.approx(zero, abs=1e-10)


def test_order_zero_counts_the_values_above_rounding():
    """The numerical rank: values above n eps lambda_1, here 4 * 2.2e-16 * 0.5 = 4.4e-16."""
    for small, count in ((4e-16, 2), (5e-16, 4)):
        assert renyi_entropy(Spectrum(np.array([0.5, 0.5, small, small])), 0) == math.log2(count)


def test_order_zero_of_a_matrix_is_its_numerical_rank():
    X = np.random.default_rng(0).normal(size=(30, 4))
    assert Renyi(0, None, Exact())(gram(X @ X.T, Precomputed())) == pytest.approx(2)
    assert Renyi(0, None, Exact())(gram(X, Linear())) == pytest.approx(2)
    assert Renyi(0, None, Exact())(gram(X, Gaussian(1.0))) == pytest.approx(math.log2(30))


@pytest.mark.parametrize(("rank", "count"), [(1, 10), (2, 10), (3, 3), (4, 3), (9, 3)])
def test_order_zero_with_a_rank_counts_all_places_once_a_tail_is_left(rank, count):
    x = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2]
    assert Renyi(0, rank, Exact())(gram(x)) == math.log2(count)


@pytest.mark.parametrize("rank", [None, 2])
def test_order_zero_needs_all_eigenvalues(rank):
    A = gram(np.linspace(0, 3, 20), Gaussian(0.2))
    truncated = Spectrum(np.array([0.4, 0.3]), 5, kind="ritz")
    with pytest.raises(ValueError, match=r"alpha=0.*Exact\(\)"):
        renyi_entropy(truncated, 0, rank)
    with pytest.raises(ValueError, match=r"alpha=0.*Exact\(\)"):
        Renyi(0, rank, Lanczos(4))(A)
    with pytest.raises(ValueError, match=r"Exact"):
        Renyi(0, rank, GaussianProjection(4))(A)


# -------------------------------------------------------------------------- spectra, whole and not


def test_eigenvalues_may_come_in_any_order():
    values = np.array([0.1, 0.2, 0.7])
    assert Spectrum(values).values.tolist() == [0.7, 0.2, 0.1]
    assert renyi_entropy(Spectrum(values), 1, 1) == renyi_entropy(Spectrum(values[::-1]), 1, 1)


def test_the_low_rank_spectrum_keeps_k_values_and_spreads_the_rest():
    spread = Spectrum(np.array([0.5, 0.3, 0.1, 0.1])).low_rank(2)
    assert spread.values == pytest.approx([0.5, 0.3, 0.1])
    assert spread.counts.tolist() == [1, 1, 2]
    assert spread.n == 4
    assert spread.low_rank(1).values == pytest.approx([0.5, 0.5 / 3])
    assert spread.low_rank(3).values == pytest.approx([0.5, 0.3, 0.1, 0.1])


def test_the_tail_is_that_of_the_trace():
    spread = Spectrum(np.array([0.25, 0.15, 0.05, 0.05]), trace=0.5).low_rank(1)
    assert spread.values == pytest.approx([0.25, 0.25 / 3])


@pytest.mark.parametrize("alpha", [0.5, 1, 1.01, 2, 5, math.inf])
@pytest.mark.parametrize("name", ["geometric", "steep", "with zeros"])
def test_without_a_rank_a_truncated_spectrum_gives_the_middle_of_its_bracket(name, alpha):
    """Copies of the last known value are the most peaked tail, equal shares the most spread."""
    values, k = SPECTRA[name], 2
    rest, last = 1 - values[:k].sum(), values[k - 1]
    copies = int(rest / last)
    filled = [*values[:k], *[last] * copies, rest - copies * last]
    low, high = oracles.renyi(filled, alpha), float(renyi_entropy(Spectrum(values), alpha, k))
    true = float(renyi_entropy(Spectrum(values), alpha))
    assert low - 1e-12 <= true <= high + 1e-12
    found = float(renyi_entropy(Spectrum(values[:k], len(values), kind="ritz"), alpha))
    assert found == pytest.approx((low + high) / 2, abs=1e-10)


@pytest.mark.parametrize("k", range(2, 15))
@pytest.mark.parametrize("n", [15, 50, 1000])
def test_the_bracket_of_equal_eigenvalues_is_closed(n, k):
    """(1/2, then n - 1 equal ones): with two of them known, their mean leaves no choice."""
    values = normalized([n - 1.0, *[1.0] * (n - 1)])
    found = renyi_entropy(Spectrum(values[:k], n, kind="ritz"), 1)
    assert found == pytest.approx(float(renyi_entropy(Spectrum(values), 1)), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(1e-6, 1), min_size=3, max_size=12).map(normalized),
    st.floats(0.1, 10) | st.just(1.0),
    st.data(),
)
def test_the_bracket_of_a_truncated_spectrum_contains_the_true_entropy(values, alpha, data):
    k = data.draw(st.integers(1, len(values) - 1))
    peaked, spread = Spectrum(values[:k], len(values), kind="ritz").bracket()
    low, high = float(renyi_entropy(peaked, alpha)), float(renyi_entropy(spread, alpha))
    true = float(renyi_entropy(Spectrum(values), alpha))
    assert low - 1e-9 <= true <= high + 1e-9
    assert high == pytest.approx(float(renyi_entropy(Spectrum(values), alpha, k)), abs=1e-9)


def test_a_bracket_closes_as_more_steps_are_taken():
    A = gram(np.random.default_rng(0).normal(size=(120, 2)), Gaussian(0.7))
    true = float(Renyi(1, None, Exact())(A))
    width = []
    for steps in (10, 25, 50, 119):
        peaked, spread = Lanczos(steps)(A).bracket()
        low, high = float(renyi_entropy(peaked, 1)), float(renyi_entropy(spread, 1))
        assert high >= true - 1e-10
        assert Renyi(1, None, Lanczos(steps))(A) == pytest.approx((low + high) / 2, abs=1e-12)
        width.append(high - low)
    assert width == sorted(width, reverse=True)
    assert abs(Renyi(1, None, Lanczos(119))(A) - true) < 1e-10


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_projections_refuse_to_guess_the_classical_entropy(projection):
    A = gram(np.linspace(0, 3, 20), Gaussian(0.2))
    with pytest.raises(ValueError, match=r"rank=k.*Exact|rank=None.*Exact"):
        Renyi(1, None, projection(10))(A)
    with pytest.raises(ValueError, match=r"rank=None.*Exact"):
        renyi_entropy(Spectrum(np.array([0.5, 0.3]), 5, kind="sketch"), 1)


SOLVERS = [Exact(), Lanczos(8), *(projection(8) for projection in PROJECTIONS)]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("alpha", [1, 2, math.inf])
@pytest.mark.parametrize("rank", [8, 9, 100])
def test_a_rank_of_n_or_more_is_an_error(rank, alpha, solver):
    with pytest.raises(ValueError, match=rf"rank={rank}.*n - 1 = 7.*rank=None"):
        Renyi(alpha, rank, solver)(gram(np.arange(8.0)))


def test_the_rank_may_reach_the_sum_of_the_weights():
    """Weights are frequencies: three rows that stand for six points."""
    H = Renyi(1, 5, Exact())
    weighted = gram([0.0, 1.0, 3.0], Gaussian(1.0), weights=[1, 2, 3])
    repeated = gram([0.0, 1.0, 1.0, 3.0, 3.0, 3.0], Gaussian(1.0))
    assert H(weighted) == pytest.approx(H(repeated), abs=1e-12)
    with pytest.raises(ValueError, match="n - 1 = 5"):
        Renyi(1, 6, Exact())(weighted)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("alpha", [0.5, 1, 2, math.inf])
def test_fewer_distinct_rows_than_the_rank_leave_nothing_to_spread(alpha, solver):
    """Two distinct rows among ten, k = 5: three eigenvalues of zero, and a tail of zero."""
    for x in ([0, 1] * 5, [0.0, 1.0] * 5):
        A = gram(x)
        assert Renyi(alpha, 5, solver)(A) == pytest.approx(Renyi(alpha, None, Exact())(A), abs=1e-7)


def test_projected_sums_above_the_trace_are_scaled_down_with_a_warning():
    values = np.array([0.709, 0.2, 0.1])
    sketch = Spectrum(values, 10, kind="sketch")
    with pytest.warns(RuntimeWarning, match=r"sum to 1\.009 times the trace.*larger size="):
        spread = sketch.low_rank(3)
    assert spread.values == pytest.approx([*(values / 1.009), 0], abs=1e-12)
    assert sketch.low_rank(2).values == pytest.approx([0.709, 0.2, 0.091 / 8])


def test_a_projection_that_overshoots_warns_and_stays_within_its_range():
    A = gram(np.linspace(0, 1, 64), Gaussian(1.0))
    overshooting = [
        seed for seed in range(20) if GaussianProjection(8, seed)(A, 4).values.sum() > 1
    ]
    assert overshooting
    H = Renyi(1, 4, GaussianProjection(8, overshooting[0]))
    with pytest.warns(RuntimeWarning, match="times the trace"):
        found = H(A)
    values = GaussianProjection(8, overshooting[0])(A, 4).values
    assert found == pytest.approx(oracles.renyi(values / values.sum(), 1), abs=1e-10)


# --------------------------------------------------------------------------------------- shortcuts


class Never(Solver):
    """A solver that must not be asked."""

    def solve(self, A, rank):
        raise AssertionError("no eigenvalue is needed")


@dataclass(frozen=True)
class Asked(Solver):
    """The exact solver, noting how many eigenvalues it is asked for."""

    ranks: list = field(default_factory=list)

    def solve(self, A, rank):
        self.ranks.append(rank)
        return Exact().solve(A, rank)


RNG = np.random.default_rng(3)
NORMAL = RNG.normal(size=(30, 2))
BAND = scipy.sparse.diags_array([0.4, 1.0, 0.4], offsets=[-1, 0, 1], shape=(30, 30)).tocsr()
GRAMS = {
    "points": gram(NORMAL, Gaussian(1.0)),
    "equal rows": gram(np.round(NORMAL), Gaussian(1.0)),
    "labels": gram(np.arange(30) % 4),
    "labels and points": gram(np.arange(30) % 4) * gram(NORMAL, Gaussian(1.0)),
    "features": gram(NORMAL, Linear()),
    "weights": gram(NORMAL, Gaussian(1.0), weights=np.arange(30)),
    "matrix": gram(np.cov(RNG.normal(size=(30, 40))), Precomputed()),
    "sparse": gram(BAND, Precomputed()),
    "sparse and labels": gram(BAND, Precomputed()) * gram(np.arange(30) % 4),
}
EVERY = pytest.mark.parametrize("A", GRAMS.values(), ids=GRAMS)


@EVERY
def test_order_two_without_a_rank_needs_no_eigenvalues(A):
    expected = -math.log2(np.sum(np.linalg.eigvalsh(A.dense()) ** 2))
    assert Renyi(2, None, Never())(A) == pytest.approx(expected, abs=1e-12)


@EVERY
def test_order_two_with_a_rank_does_need_them(A):
    expected = oracles.entropy(A.dense(), 2, 3) if A.n == 30 else None
    found = Renyi(2, 3, Exact())(A)
    if expected is not None:
        assert found == pytest.approx(expected, abs=1e-12)
    assert found >= Renyi(2, None, Exact())(A) - 1e-12


@pytest.mark.parametrize("rank", [None, 5])
@EVERY
def test_order_infinity_asks_for_one_eigenvalue(A, rank):
    solver = Asked()
    expected = -math.log2(np.linalg.eigvalsh(A.dense())[-1])
    assert Renyi(math.inf, rank, solver)(A) == pytest.approx(expected, abs=1e-12)
    assert set(solver.ranks) <= {1}


# -------------------------------------------------------------------------- potential, vendi score


@pytest.mark.parametrize("rank", [None, 1, 2])
@pytest.mark.parametrize("alpha", [0.3, 0.5, 1, 1.01, 2, 5])
@EACH
def test_the_information_potential_is_a_power_of_the_entropy(values, alpha, rank):
    spectrum = Spectrum(values)
    entropy = renyi_entropy(spectrum, alpha, rank)
    found = information_potential(spectrum, alpha, rank)
    assert found == pytest.approx(2 ** ((1 - alpha) * entropy), rel=1e-12)


def test_the_information_potential_is_the_sum_of_powers():
    spectrum = Spectrum(np.array([0.5, 0.3, 0.1, 0.1, 0.0]))
    assert information_potential(spectrum, 3) == pytest.approx(0.125 + 0.027 + 0.002)
    assert information_potential(spectrum, 3, rank=1) == pytest.approx(0.125 + 4 * 0.125**3)


@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize("rank", [None, 2])
def test_the_vendi_score_is_two_to_the_entropy(alpha, rank):
    x, H = [0.0, 0.1, 1.0, 4.0, 4.0], Renyi(alpha, rank, Exact())
    assert lr.vendi_score(x, entropy=H) == pytest.approx(2 ** float(lr.entropy(x, entropy=H)))
    assert 1 <= lr.vendi_score(x, entropy=H) <= 5 + 1e-12


# ------------------------------------------------------------------------------------ known values

KERNELS = [Gaussian(1.0), lr.Laplacian(1.0), Linear(), lr.Cosine(), lr.Polynomial(2), Delta()]


@pytest.mark.parametrize("rank", [None, 1, 4])
@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_constant_column_has_no_entropy(kernel, alpha, rank):
    A = gram(np.full(6, 2.5), kernel)
    assert Renyi(alpha, rank, Exact())(A) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("rank", [None, 1, 5, 11])
@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize(
    "x",
    [[f"{i}" for i in range(12)], [chr(i) for i in range(65, 77)], np.arange(12) * 1e3],
    ids=["words", "letters", "far points"],
)
def test_all_different_points_have_the_logarithm_of_their_number(x, alpha, rank):
    A = gram(x, Gaussian(1.0)) if isinstance(x, np.ndarray) else gram(x)
    assert Renyi(alpha, rank, Exact())(A) == pytest.approx(math.log2(12), abs=1e-12)
    identity = gram(np.eye(12), Precomputed())
    assert Renyi(alpha, rank, Exact())(identity) == pytest.approx(math.log2(12), abs=1e-12)


# ------------------------------------------------------------------------------- what comes back


def test_amounts_show_their_error_and_what_they_were_measured_on():
    A, B = gram([0.0, 1.0, 3.0], Gaussian(2.0)), gram(["u", "u", "v"])
    H = Renyi(1, None, Exact())
    assert repr(H(B)) == "0.92 ± 0.33 bits (Delta())"
    assert repr(H(A) + H(B)).endswith("bits (Gaussian(sigma=2), Delta())")


def test_amounts_are_numbers():
    a, b = Estimate(1.5, about=("a",)), Estimate(0.25, about=("b",))
    assert isinstance(a, float)
    assert a == 1.5
    assert a > b
    assert hash(a) == hash(1.5)
    assert (a + b, a - b, -a, a * 2, a / 2, a**2) == (1.75, 1.25, -1.5, 3.0, 0.75, 2.25)
    assert (1 + a, 2 - a, a + 1, a - 2) == (2.5, 0.5, 2.5, -0.5)
    assert np.add(a, b) == 1.75
    assert f"{a:.2f}" == "1.50"
    with pytest.raises(TypeError):
        a + "b"


def test_sums_and_differences_remember_both_kernels_once():
    a, b = Estimate(1.5, about=("a", "c")), Estimate(0.25, about=("b", "c"))
    assert (a + b).about == ("a", "c", "b")
    assert (a - b).about == ("a", "c", "b")
    assert (-a).about == ("a", "c")
    assert (a + 1).about == ("a", "c")


def test_amounts_survive_copies():
    found = Renyi()(gram([0.0, 1.0, 3.0], Gaussian(2.0)))
    for twin in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert repr(twin) == repr(found)
        assert twin.standard_error == found.standard_error


def test_the_functional_is_a_value():
    assert Renyi(2, 3, Exact()) == Renyi(2, 3, Exact())
    assert hash(Renyi(2, 3, Exact())) == hash(Renyi(2, 3, Exact()))
    assert Renyi(2, 3, Exact()) != Renyi(2, 4, Exact())
    with pytest.raises(AttributeError):
        Renyi(2).alpha = 3
