"""The theorems as functions: formulas by hand, guarantees by trial, and where the paper errs."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from lorenyi import theory
from lorenyi.theory import (
    absolute_entropy_error,
    entropy_error,
    lanczos_steps,
    potential_variance,
    random_start_tangent,
    sketch_sizes,
)

ROUNDING = 1e-12

near_one = st.floats(-9, -1).map(lambda e: 1 - 10**e) | st.floats(-9, -1).map(lambda e: 1 + 10**e)
orders = st.floats(0, 20) | near_one | st.sampled_from([0, 0.5, 1, 2, math.inf])
fractions = st.floats(-4, -0.05).map(lambda e: 10**e)


@st.composite
def spectra(draw, min_size=2, max_size=12):
    """Positive values, up to a million times apart, that sum to one and descend."""
    exponents = draw(st.lists(st.floats(-6, 0), min_size=min_size, max_size=max_size))
    values = 10 ** np.sort(exponents)[::-1]
    return values / values.sum()


@st.composite
def vectors(draw, size, low=-1.0):
    return np.array(draw(st.lists(st.floats(low, 1), min_size=size, max_size=size)))


def entropy(lam, alpha):
    """Rényi's entropy in bits; near alpha = 1 for a unit sum only, and without cancelation."""
    lam = lam[lam > 0]
    if alpha == math.inf:
        return -math.log2(lam.max())
    if alpha == 1:
        return -float(np.sum(lam * np.log2(lam)))
    if abs(alpha - 1) > 0.1:
        return math.log2(np.sum(lam**alpha)) / (1 - alpha)
    excess = np.sum(lam * np.expm1((alpha - 1) * np.log(lam)))
    return math.log1p(excess) / math.log(2) / (1 - alpha)


def potential(lam, alpha, k=None):
    """The information potential of the last axis, the tail beyond k replaced by its mean."""
    if k is None:
        return np.sum(lam**alpha, axis=-1)
    n, head = lam.shape[-1], lam[..., :k]
    tail = (1 - head.sum(axis=-1)) / (n - k)
    return np.sum(head**alpha, axis=-1) + (n - k) * tail**alpha


# ------------------------------------------------------------------------- sketch sizes


def test_sketch_sizes_are_the_formulas_of_the_theorem():
    # eps_0 = 0.5 * 0.1 * 0.02 = 1e-3, log(k / (delta eps_0)) = log(40000)
    sizes = sketch_sizes(n=20, k=4, eps=0.5, delta=0.1, lambda_k=0.1, lambda_r=0.02)
    assert sizes.gaussian == pytest.approx((4 + 2.302585093) * 1e6)
    assert sizes.hadamard == pytest.approx((4 + 2.995732274) * 1.386294361 * 1e6)
    assert sizes.input_sparsity == pytest.approx(16e6)
    assert sizes.sparse_graph == pytest.approx(4 * 10.59663473 * 1e6)
    assert sizes.p == pytest.approx(10.59663473 * 1e3, abs=1)


def test_the_hidden_constant_scales_every_sketch_size():
    arguments = {"n": 20, "k": 4, "eps": 0.5, "delta": 0.1, "lambda_k": 0.1, "lambda_r": 0.02}
    once, thrice = sketch_sizes(**arguments), sketch_sizes(**arguments, constant=3)
    for name, size in vars(once).items():
        assert getattr(thrice, name) == pytest.approx(3 * size, abs=3)


def test_delta_enters_only_where_a_lemma_holds_for_every_delta():
    loose, strict = (sketch_sizes(20, 4, 0.5, delta, 0.1, 0.02) for delta in (0.1, 0.001))
    assert strict.gaussian > loose.gaussian
    assert strict.sparse_graph > loose.sparse_graph
    assert strict.p > loose.p
    assert (strict.hadamard, strict.input_sparsity) == (loose.hadamard, loose.input_sparsity)


@given(lam=spectra(), eps=fractions, delta=fractions, data=st.data())
@example(lam=np.array([0.5, 0.5]), eps=0.9, delta=0.9, data=None)
def test_sketch_sizes_exceed_n_for_every_spectrum(lam, eps, delta, data):
    k = data.draw(st.integers(1, lam.size // 2)) if data else 1
    sizes = sketch_sizes(lam.size, k, eps, delta, lam[k - 1], lam[k:].mean())
    assert min(vars(sizes).values()) > lam.size


def test_a_tail_mean_that_is_rounded_above_its_equal_eigenvalues_is_one():
    lam = 8.388462705411385e-05
    assert sketch_sizes(5, 2, 0.1, 0.1, lam, np.nextafter(lam, 1)).gaussian > 5
    with pytest.raises(ValueError, match="tail mean"):
        sketch_sizes(5, 2, 0.1, 0.1, lam, 1.001 * lam)


def gaussian_projection(n, size, seed):
    g = np.random.default_rng(seed).standard_normal((n, size))
    return math.sqrt(n / size) * np.linalg.qr(g)[0]


def test_a_gaussian_embedding_needs_k_over_eps_squared_columns_too():
    """The printed k + log(1/delta)/eps^2 loses ten dimensions; nine times ours keeps them."""
    n, k, eps, delta = 1000, 10, 0.5, 0.1

    def distortion(size):
        rows = gaussian_projection(n, math.ceil(size), seed=0)[:k]
        return np.linalg.norm(rows @ rows.T - np.eye(k), 2)

    assert distortion(k + math.log(1 / delta) / eps**2) > 2 * eps
    assert distortion(9 * (k + math.log(1 / delta)) / eps**2) < eps
    sizes = sketch_sizes(n, k, eps, delta, lambda_k=0.01, lambda_r=5e-4)
    assert sizes.gaussian > k / (eps * 0.01 * 5e-4) ** 2


def test_a_gaussian_sketch_of_the_identity_is_too_large_by_the_root_of_n_over_s():
    n, size = 64, 16
    projected = np.eye(n) / n @ gaussian_projection(n, size, seed=0)
    assert np.linalg.norm(projected, 2) == pytest.approx(math.sqrt(n / size) / n)


# ------------------------------------------------------------------------ Lanczos steps


def ritz_values(lam, start, steps):
    """Ritz values of diag(lam), by Lanczos with every vector orthogonalized three times."""
    basis = np.zeros((lam.size, steps))
    basis[:, 0] = start / np.linalg.norm(start)
    for j in range(1, steps):
        v = lam * basis[:, j - 1]
        for _ in range(3):
            v = v - basis[:, :j] @ (basis[:, :j].T @ v)
        basis[:, j] = v / np.linalg.norm(v)
    return np.linalg.eigvalsh(basis.T @ (lam[:, None] * basis))[::-1]


def tangent(start, k):
    cosines = np.abs(start[:k]) / np.linalg.norm(start)
    return float(np.max(np.sqrt(1 - cosines**2) / cosines))


def test_lanczos_steps_are_the_formula_of_the_theorem():
    lam = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    gamma = 1 + 2 * min(0.15 / 0.21, 0.1 / 0.11)
    big_r = gamma + math.sqrt(gamma**2 - 1)
    big_k = 0.36 / 0.15
    error = 4 * 1000**2 * big_k**2 * 0.4 / (0.01 * 0.0875)
    expected = math.ceil(2 + math.log(error) / (2 * math.log(big_r)))
    assert lanczos_steps(lam, k=2, eps=0.01, tangent=1000) == expected


def test_lanczos_steps_take_the_largest_product_because_it_need_not_grow_with_i():
    lam = np.array([0.4, 0.39, 0.06, 0.05, 0.05, 0.05])
    products = 1, 0.35 / 0.01, 0.35 / 0.34 * 0.34 / 0.33
    gamma = 1 + 2 * 0.01 / 0.34
    log_r = math.log(gamma + math.sqrt(gamma**2 - 1))

    def steps(product):
        return math.ceil(3 + math.log(4 * product**2 * 0.4 / (0.1 * 0.05)) / (2 * log_r))

    assert steps(products[2]) < steps(products[1])
    assert lanczos_steps(lam, k=3, eps=0.1, tangent=1) == steps(products[1])


@settings(deadline=None)
@given(
    ratio=st.floats(0.3, 0.7),
    k=st.integers(1, 4),
    eps=st.floats(0.01, 0.9),
    seed=st.integers(0, 2**32 - 1),
)
def test_lanczos_finds_the_leading_eigenvalues_in_the_promised_number_of_steps(ratio, k, eps, seed):
    """0 <= lambda_i - ritz_i <= eps lambda_i, and the entropy within its bound."""
    n = 40
    lam = ratio ** np.arange(n) + 0.01  # a floor, so that lambda_r is not lost in rounding
    lam /= lam.sum()
    start = np.random.default_rng(seed).standard_normal(n)
    theta = tangent(start, k)
    steps = lanczos_steps(lam, k, eps, theta)
    assume(steps < n)
    ritz = ritz_values(lam, start, int(steps))
    assume(lanczos_steps(lam, k, eps, theta, ritz=ritz) <= steps)  # what the theorem asks for
    error = lam[:k] - ritz[:k]
    assert np.all(error >= -ROUNDING)
    assert np.all(error <= eps * lam[:k])

    def completed(head):
        return np.append(head, np.full(n - k, (1 - head.sum()) / (n - k)))

    for alpha in (0.5, 1, 2):
        found, true = entropy(completed(ritz[:k]), alpha), entropy(completed(lam[:k]), alpha)
        assert abs(found - true) <= entropy_error(eps, alpha, n) + ROUNDING


def test_lower_ritz_values_ask_for_more_lanczos_steps():
    lam = np.array([0.4, 0.3, 0.2, 0.06, 0.02, 0.02])
    assert lanczos_steps(lam, 3, 0.1, 10, ritz=[0.31, 0.21]) > lanczos_steps(lam, 3, 0.1, 10)


def test_repeated_leading_eigenvalues_need_infinitely_many_lanczos_steps():
    assert lanczos_steps([0.3, 0.3, 0.2, 0.2], k=1, eps=0.1, tangent=1) == math.inf
    assert lanczos_steps(np.full(8, 1 / 8), k=3, eps=0.1, tangent=1) == math.inf


def test_a_tail_of_zeros_needs_infinitely_many_lanczos_steps():
    assert lanczos_steps([0.7, 0.3, 0, 0], k=2, eps=0.1, tangent=1) == math.inf


def test_a_flat_tail_needs_one_lanczos_step_more_than_the_rank():
    lam = np.array([0.4, 0.3, 0.1, 0.1, 0.1])
    assert lanczos_steps(lam, k=2, eps=1e-6, tangent=100) > 3  # the gap to 0.3 is small
    lam = np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    assert lanczos_steps(lam, k=1, eps=1e-6, tangent=100) == 2
    assert ritz_values(lam, np.ones(5), 2)[0] == pytest.approx(0.6, abs=ROUNDING)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 1), (50, 1), (50, 4)])
def test_a_random_start_rarely_exceeds_its_tangent_bound_and_the_bound_is_no_larger_than_needed(
    n, k
):
    delta, trials = 0.1, 20_000
    starts = np.random.default_rng(0).standard_normal((trials, n))
    bound = random_start_tangent(n, k, delta)
    exceeded = np.mean([tangent(start, k) > bound for start in starts])
    assert 0.6 * delta < exceeded <= delta + 4 * math.sqrt(delta / trials)


# ------------------------------------------------------------ entropy error, relative


@given(lam=spectra(), eps=fractions, alpha=orders, share=st.floats(0, 1), data=st.data())
def test_relative_errors_move_the_entropy_by_no_more_than_the_bound(lam, eps, alpha, share, data):
    """|S(lambda (1+d)) - S(lambda)| <= bound for |d| <= eps and two unit sums, at every order."""
    d = data.draw(vectors(lam.size))
    d = d - lam @ d
    size = np.abs(d).max()
    assume(size > 1e-3)
    other = lam * (1 + d * (eps * (1 - share**4) / size))
    moved = abs(entropy(other, alpha) - entropy(lam, alpha))
    assert moved <= entropy_error(eps, alpha, lam.size) + ROUNDING


@given(lam=spectra(), eps=fractions, alpha=st.floats(0, 20), data=st.data())
def test_the_printed_bound_holds_above_and_below_order_one_even_without_unit_sums(
    lam, eps, alpha, data
):
    """|S(lambda (1+d)) - S(lambda)| <= |alpha/(1-alpha) log2(1-eps)| for |d| <= eps."""
    assume(abs(alpha - 1) > 1e-3)
    other = lam * (1 + eps * data.draw(vectors(lam.size)))
    moved = math.log2(np.sum(other**alpha) / np.sum(lam**alpha)) / (1 - alpha)
    assert abs(moved) <= abs(alpha / (1 - alpha) * math.log2(1 - eps)) + 1e-11


def heavy_head(n):
    """Half of the mass on one eigenvalue, half spread over the others."""
    return np.append(0.5, np.full(n - 1, 0.5 / (n - 1)))


@pytest.mark.parametrize(
    ("alpha", "n", "slack"),
    [(0.25, 10**6, 1.01), (1, 1000, 1.16), (1, 10**6, 1.08), (3, 1000, 1.01)],
)
def test_some_spectrum_nearly_attains_the_relative_bound(alpha, n, slack):
    eps, lam = 0.1, heavy_head(n)
    sign = np.where(np.arange(n) == 0, -1, 1)
    moved = max(
        abs(entropy(lam * (1 + d * eps), alpha) - entropy(lam, alpha)) for d in (sign, -sign)
    )
    assert moved <= entropy_error(eps, alpha, n) <= slack * moved


@pytest.mark.parametrize("alpha", [1 - 1e-9, 1 + 1e-9])
def test_the_relative_bound_is_continuous_at_order_one(alpha):
    assert entropy_error(0.01, alpha, 1000) == pytest.approx(entropy_error(0.01, 1, 1000), rel=1e-8)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 2, 10])
def test_far_from_order_one_the_relative_bound_is_the_papers(alpha):
    printed = abs(alpha / (1 - alpha) * math.log2(1 - 0.01))
    assert entropy_error(0.01, alpha, 10**6) == pytest.approx(printed)


def test_the_relative_bound_at_orders_zero_and_infinity():
    assert entropy_error(0.5, 0, 100) == 0  # a relative error keeps the rank
    assert entropy_error(0.5, math.inf, 100) == pytest.approx(1)


def test_no_entropy_error_exceeds_the_range_of_the_entropy():
    assert entropy_error(0.999, 1, 8) == 3
    assert entropy_error(0.999, 1.1, 8) == 3
    assert absolute_entropy_error(np.full(8, 1 / 8), 1.1, 0.999) == 3
    assert absolute_entropy_error(np.full(8, 1 / 8), 0.5, 0.999) == 3
    assert absolute_entropy_error(np.full(8, 1 / 8), 1, 0.999) == pytest.approx(3)


# ------------------------------------------------------------ entropy error, absolute


@given(lam=spectra(), alpha=orders, data=st.data())
def test_absolute_errors_move_the_entropy_by_no_more_than_the_bound(lam, alpha, data):
    """|S(lambda + d) - S(lambda)| <= bound for |d| <= eps and two unit sums, at every order."""
    d = data.draw(vectors(lam.size))
    d = d - d.mean()
    falling = d < 0
    assume(np.abs(d).max() > 1e-3)
    largest = np.min(lam[falling] / -d[falling])
    other = np.maximum(lam + d * largest * data.draw(st.floats(1e-3, 1)), 0)
    eps = float(np.abs(other - lam).max()) * (1 + ROUNDING)
    moved = abs(entropy(other, alpha) - entropy(lam, alpha))
    if alpha == 0:
        moved = abs(math.log2(np.count_nonzero(other) / np.count_nonzero(lam)))
    assert moved <= absolute_entropy_error(lam, alpha, eps) + 1e-11


@given(lam=spectra(), alpha=st.floats(0.01, 20), eps=fractions, data=st.data())
def test_absolute_errors_that_change_the_trace_stay_within_the_bound_without_unit_trace(
    lam, alpha, eps, data
):
    assume(abs(alpha - 1) > 1e-3)
    other = np.maximum(lam + eps * data.draw(vectors(lam.size)), 0)
    assume(other.sum() > 0)
    moved = math.log2(np.sum(other**alpha) / np.sum(lam**alpha)) / (1 - alpha)
    bound = absolute_entropy_error(lam, alpha, eps, unit_trace=False)
    assert abs(moved) <= bound + 1e-11


def test_the_printed_improvement_fails_if_the_second_trace_is_not_one():
    """(.5, .5) to (.4, .4) at order 2: .644 bits, where the paper's bound is .585."""
    moved = entropy(np.array([0.4, 0.4]), 2) - 1
    printed = -math.log2(1 - 2 * 2 * 0.1 / (1 + 2 * 0.1))
    assert moved == pytest.approx(0.644, abs=5e-4)
    assert printed == pytest.approx(0.585, abs=5e-4)
    assert absolute_entropy_error([0.5, 0.5], 2, 0.1) == pytest.approx(printed)
    corrected = absolute_entropy_error([0.5, 0.5], 2, 0.1, unit_trace=False)
    assert moved <= corrected == pytest.approx(-math.log2(1 - 2 * 2 * 0.1))


def test_the_logarithm_of_the_improvement_is_binary():
    """(.5, .5) to (.51, .51) at order 2: .057 bits; with a natural logarithm the bound is .041."""
    moved = 1 - entropy(np.array([0.51, 0.51]), 2)
    assert moved > -math.log(1 - 2 * 2 * 0.01)
    assert moved < absolute_entropy_error([0.5, 0.5], 2, 0.01, unit_trace=False) < 1.05 * moved


def test_the_improvement_below_order_one_is_the_printed_formula():
    lam, eps, alpha = np.array([0.6, 0.3, 0.1]), 0.01, 0.5
    expected = -2 * math.log2(1 - 3 * 0.1 / np.sqrt(lam).sum())
    assert absolute_entropy_error(lam, alpha, eps) == pytest.approx(expected)
    assert absolute_entropy_error(lam, alpha, eps, unit_trace=False) == pytest.approx(expected)


def test_the_absolute_bound_is_attained_at_order_one_by_a_pure_state_losing_mass():
    eps, n = 0.01, 16
    lam = np.append(1.0, np.zeros(n - 1))
    other = np.append(1 - eps * (n - 1), np.full(n - 1, eps))
    other_bound = absolute_entropy_error(lam, 1, 2 * eps * (n - 1) / n)  # T = eps (n - 1)
    assert entropy(other, 1) == pytest.approx(other_bound)


def test_the_absolute_bound_is_attained_at_order_infinity():
    assert absolute_entropy_error([0.5, 0.5], math.inf, 0.1) == pytest.approx(math.log2(0.6 / 0.5))
    loose = absolute_entropy_error([0.5, 0.5], math.inf, 0.1, unit_trace=False)
    assert loose == pytest.approx(math.log2(0.5 / 0.4))


def test_without_unit_trace_nothing_is_known_at_order_one_or_for_large_errors():
    assert absolute_entropy_error([0.5, 0.5], 1, 0.01, unit_trace=False) == math.inf
    assert absolute_entropy_error([0.5, 0.5], 2, 0.25, unit_trace=False) == math.inf
    assert absolute_entropy_error([0.5, 0.5], 0.5, 0.9, unit_trace=False) == math.inf


# --------------------------------------------------------- variance of the potential


@pytest.mark.parametrize("alpha", [0.5, 1.01, 2, 3])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_the_variance_of_the_potential_is_what_small_noise_produces(alpha, k):
    lam = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    sigma = 1e-4 * np.array([3, 1, 2, 2, 1])
    trials = 200_000
    noise = sigma * np.random.default_rng(0).standard_normal((trials, lam.size))
    observed = np.var(potential(lam + noise, alpha, k))
    relative_error = 5 * math.sqrt(2 / trials)  # five standard errors of a variance
    assert potential_variance(lam, sigma, alpha, k) == pytest.approx(observed, rel=relative_error)


@given(lam=spectra(), alpha=st.floats(1, 20), data=st.data())
def test_low_rank_is_more_robust_for_every_order_from_one(lam, alpha, data):
    """Var[IP^k] <= Var[IP] for alpha >= 1, whatever the noise."""
    k = data.draw(st.integers(1, lam.size - 1))
    sigma = data.draw(vectors(lam.size, low=0))
    full, low_rank = (potential_variance(lam, sigma, alpha, rank) for rank in (None, k))
    assert low_rank <= full * (1 + ROUNDING)


@given(lam=spectra(), alpha=st.floats(0.01, 0.99), data=st.data())
def test_low_rank_is_more_robust_below_order_one_if_the_tails_noise_sits_on_small_eigenvalues(
    lam, alpha, data
):
    """Var[IP^k] <= Var[IP] if the head has no more noise than the tail and the tail's is low."""
    k = data.draw(st.integers(1, lam.size - 1))
    sigma = data.draw(vectors(lam.size, low=0.01))
    tail_noise, lambda_r = np.sum(sigma[k:] ** 2), lam[k:].mean()
    sigma[:k] *= math.sqrt(tail_noise / np.sum(sigma[:k] ** 2))  # as noisy as is allowed
    sigma[k:] = np.sort(sigma[k:])  # the smaller the eigenvalue, the more noise
    assert np.sum(sigma[k:] ** 2 * (lam[k:] - lambda_r)) <= ROUNDING
    full, low_rank = (potential_variance(lam, sigma, alpha, rank) for rank in (None, k))
    assert low_rank <= full * (1 + ROUNDING)


def test_the_papers_condition_below_order_one_is_not_enough():
    """Noise in .6 and .39 only, alike: the condition holds, low rank is 49 times as variable."""
    lam = np.array([0.6, 0.39] + [0.01 / 98] * 98)
    sigma = np.array([1e-3, 1e-3] + [0] * 98)
    assert np.sum(sigma[:1] ** 2) <= np.sum(sigma[1:] ** 2)  # the paper's condition
    assert np.sum(sigma[1:] ** 2 * (lam[1:] - lam[1:].mean())) > 0  # ours fails
    full, low_rank = (potential_variance(lam, sigma, 0.5, k) for k in (None, 1))
    assert low_rank / full == pytest.approx(49.3, abs=0.05)
    noise = sigma * np.random.default_rng(0).standard_normal((20_000, lam.size))
    observed = np.var(potential(lam + noise, 0.5, 1)) / np.var(potential(lam + noise, 0.5))
    assert observed == pytest.approx(49.3, rel=0.1)


def test_noise_in_a_zero_eigenvalue_has_infinite_effect_below_order_one_only():
    lam, everywhere, head = [0.5, 0.5, 0, 0], [0.1] * 4, [0.1, 0, 0, 0]
    assert potential_variance(lam, everywhere, 0.5) == math.inf
    assert potential_variance(lam, head, 0.5) == pytest.approx(0.25 * 0.01 / 0.5)
    assert potential_variance(lam, head, 0.5, k=2) == math.inf
    assert potential_variance(lam, [0, 0, 0.1, 0.1], 0.5, k=2) == 0
    assert potential_variance(lam, everywhere, 2) == pytest.approx(4 * 0.01 * 0.5)


def test_at_order_one_the_low_rank_potential_is_constant():
    assert potential_variance([0.5, 0.5, 0], [0.1] * 3, 1, k=2) == 0
    assert potential_variance([0.5, 0.5, 0], [0.1] * 3, 1) == pytest.approx(0.03)


# ------------------------------------------------------------------------- bad input

SIZES = {"n": 20, "k": 4, "eps": 0.5, "delta": 0.1, "lambda_k": 0.1, "lambda_r": 0.02}
STEPS = {"eigenvalues": [0.4, 0.3, 0.2, 0.1], "k": 2, "eps": 0.1, "tangent": 10}
ABSOLUTE = {"eigenvalues": [0.6, 0.4], "alpha": 2, "eps": 0.1}
VARIANCE = {"eigenvalues": [0.6, 0.4], "sigma": [0.1, 0.1], "alpha": 2}


@pytest.mark.parametrize(
    ("function", "good", "bad", "message"),
    [
        (sketch_sizes, SIZES, {"n": 1}, "n must be a whole number, got 1: choose at least 2"),
        (sketch_sizes, SIZES, {"n": math.inf}, "n must be a whole number, got inf"),
        (sketch_sizes, SIZES, {"k": 0}, "k must be a whole number, got 0: choose from 1 to 10"),
        (sketch_sizes, SIZES, {"k": 11}, "k must be a whole number, got 11: choose from 1 to 10"),
        (sketch_sizes, SIZES, {"k": 2.5}, "k must be a whole number, got 2.5"),
        (sketch_sizes, SIZES, {"eps": 0}, "eps must lie strictly between 0 and 1, got 0: try"),
        (sketch_sizes, SIZES, {"eps": 1}, "eps must lie strictly between 0 and 1, got 1: try"),
        (sketch_sizes, SIZES, {"delta": math.nan}, "delta must lie strictly .* got nan: try"),
        (sketch_sizes, SIZES, {"lambda_r": 0}, "lambda_k = 0.1 and lambda_r = 0 are no .*: give"),
        (sketch_sizes, SIZES, {"lambda_r": 0.2}, "lambda_k = 0.1 and lambda_r = 0.2 are no"),
        (sketch_sizes, SIZES, {"lambda_k": 0.3}, "lambda_k = 0.3 and lambda_r = 0.02 are no"),
        (sketch_sizes, SIZES, {"lambda_r": 1e-120}, "lambda_r = 1e-120 is numerically.* a lower k"),
        (sketch_sizes, SIZES, {"constant": -1}, "constant must be positive .* got -1: 1 is usual"),
        (lanczos_steps, STEPS, {"k": 3}, "k must be a whole number, got 3: choose from 1 to 2"),
        (lanczos_steps, STEPS, {"eps": -0.1}, "eps must lie strictly between 0 and 1, got -0.1"),
        (lanczos_steps, STEPS, {"tangent": 0}, "tangent must be positive .* got 0: start from"),
        (lanczos_steps, STEPS, {"tangent": math.inf}, "tangent must be positive .* got inf"),
        (lanczos_steps, STEPS, {"ritz": []}, "ritz must hold .* got .*: take more Lanczos steps"),
        (lanczos_steps, STEPS, {"ritz": [0.25]}, r"ritz must hold .* got \[0.25\]: take more"),
        (lanczos_steps, STEPS, {"ritz": [math.nan]}, r"ritz must hold .* got \[nan\]"),
        (random_start_tangent, {"n": 9, "k": 1, "delta": 0.1}, {"k": 10}, "k must .* from 1 to 9"),
        (random_start_tangent, {"n": 9, "k": 1, "delta": 0.1}, {"delta": 2}, "delta must .* got 2"),
        (entropy_error, {"eps": 0.1, "alpha": 2, "n": 9}, {"alpha": -1}, "alpha .* got -1: try 1"),
        (entropy_error, {"eps": 0.1, "alpha": 2, "n": 9}, {"eps": 1.5}, "eps must .* got 1.5"),
        (entropy_error, {"eps": 0.1, "alpha": 2, "n": 9}, {"n": 0}, "n must be a whole .* got 0"),
        (absolute_entropy_error, ABSOLUTE, {"alpha": math.nan}, "alpha must lie .* got nan: try"),
        (absolute_entropy_error, ABSOLUTE, {"eps": 1}, "eps must lie strictly .* got 1: try"),
        (absolute_entropy_error, ABSOLUTE, {"eigenvalues": 1.0}, r"eigenvalues .* got shape \(\)"),
        (absolute_entropy_error, ABSOLUTE, {"eigenvalues": [1]}, r"eigenvalues .* shape \(1,\)"),
        (absolute_entropy_error, ABSOLUTE, {"eigenvalues": [1.1, -0.1]}, "eigenvalues .* got -0.1"),
        (absolute_entropy_error, ABSOLUTE, {"eigenvalues": [1, math.nan]}, "eigenvalues .* nan"),
        (absolute_entropy_error, ABSOLUTE, {"eigenvalues": [0.4, 0.6]}, "eigenvalues .* np.sort"),
        (absolute_entropy_error, ABSOLUTE, {"eigenvalues": [1, 1]}, "eigenvalues .* 2.0: divide"),
        (potential_variance, VARIANCE, {"alpha": 0}, "alpha must be positive .* got 0: try 2"),
        (potential_variance, VARIANCE, {"alpha": math.inf}, "alpha must be .* got inf: try 2"),
        (potential_variance, VARIANCE, {"k": 2}, "k must be a whole number, got 2: .* from 1 to 1"),
        (potential_variance, VARIANCE, {"sigma": [0.1]}, r"sigma must .* got \[0.1\]: give"),
        (potential_variance, VARIANCE, {"sigma": [0.1, -1]}, "sigma must hold one finite standard"),
        (potential_variance, VARIANCE, {"sigma": [math.nan, 1]}, "sigma must hold one finite"),
        (potential_variance, VARIANCE, {"sigma": [math.inf, 1]}, "sigma must hold one finite"),
    ],
)
def test_bad_input_is_named_with_what_was_found_and_what_to_do(function, good, bad, message):
    function(**good)
    with pytest.raises(ValueError, match=message):
        function(**(good | bad))


def test_a_negative_eigenvalue_within_rounding_counts_as_zero():
    rounded, exact = [1.0, -1e-17], [1.0, 0.0]
    assert absolute_entropy_error(rounded, 0.5, 0.01) == absolute_entropy_error(exact, 0.5, 0.01)
    assert potential_variance(rounded, [0.1, 0.1], 0.5) == math.inf


def test_every_public_name_exists():
    assert all(callable(getattr(theory, name)) for name in theory.__all__)
