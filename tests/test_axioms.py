"""The proposition of the paper, (a) to (g): what holds as a property, what does not as a number.

S^k is the entropy of L_k(A), all matrices are normalized kernel matrices unless said otherwise.
"""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import lorenyi as lr
from lorenyi import (
    Delta,
    Exact,
    Gaussian,
    Linear,
    Precomputed,
    Renyi,
    Spectrum,
    gram,
    information_potential,
    renyi_entropy,
)

ROUNDING = 1e-10

axiom = settings(max_examples=100, deadline=None)


# ------------------------------------------------------------------------------------- strategies

# They are cached, for Hypothesis checks each new one, which takes longer than its examples.
# lambda^alpha magnifies the rounding of null eigenvalues for alpha < 1 (1e-17 becomes 0.02 at
# alpha = 0.1), so orders below one meet matrices without them, or labels, whose are exact.
above_one = st.floats(1, 20) | st.sampled_from([1, 1.01, 2, math.inf])
orders = st.floats(0.1, 1) | above_one
integers = st.integers(-3, 3)


@cache
def points(n, columns=2):
    return arrays(np.float64, (n, columns), elements=integers.map(float))


@cache
def labels(n, classes=4):
    return arrays(np.int64, n, elements=st.integers(0, classes - 1))


def correlation(X):
    """The cosines between rows (a row of zeros is replaced by one of ones)."""
    X = np.where(np.any(X != 0, axis=1)[:, None], X, 1.0)
    X = X / np.linalg.norm(X, axis=1)[:, None]
    K = X @ X.T
    np.fill_diagonal(K, 1.0)
    return K


@cache
def singular(n):
    """Grams of every kind, most of them with null eigenvalues, some with negative entries."""
    return st.one_of(
        st.builds(gram, points(n), st.sampled_from([Gaussian(0.5), Gaussian(2.0)])),
        st.builds(gram, points(n, 1), st.just(Gaussian(1.0))),
        st.builds(gram, labels(n), st.just(Delta())),
        points(n).map(lambda X: gram(np.where(np.any(X, axis=1)[:, None], X, 1.0), Linear())),
        points(n).map(lambda X: gram(correlation(X), Precomputed())),
    )


@cache
def regular(n):
    """Grams whose eigenvalues are at least 0.1 / n."""
    return points(n).map(lambda X: gram(0.9 * correlation(X) + 0.1 * np.eye(n), Precomputed()))


@st.composite
def cases(draw, count=1, largest=8, dense=False):
    """An order, a rank and `count` Grams of the same rows that suit the order.

    With `dense`, Grams whose matrix can be decomposed anew: no labels below order one.
    """
    n = draw(st.integers(2, largest))
    rank = draw(st.integers(1, n - 1))
    alpha = draw(orders)
    if alpha < 1:
        kind = regular(n) if dense else regular(n) | st.builds(gram, labels(n), st.just(Delta()))
    else:
        kind = singular(n)
    return alpha, rank, *(draw(kind) for _ in range(count))


@st.composite
def spectra(draw, least=2, most=8):
    """Eigenvalues in descending order that sum to one."""
    values = draw(arrays(np.float64, st.integers(least, most), elements=st.floats(1e-6, 1)))
    return np.sort(values / values.sum())[::-1]


@st.composite
def rotations(draw, n):
    seed = draw(st.integers(0, 2**32 - 1))
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


def S(A, alpha, rank=None):
    """The entropy of a Gram, or of any symmetric matrix through its eigenvalues."""
    if isinstance(A, np.ndarray):
        return float(renyi_entropy(Spectrum(np.linalg.eigvalsh(A)[::-1]), alpha, rank))
    return float(Renyi(alpha, rank, Exact())(A))


def L(A, k):
    """L_k(A): the n - k smallest eigenvalues replaced by their mean."""
    values, vectors = np.linalg.eigh(A)
    values[:-k] = values[:-k].mean()
    return vectors * values @ vectors.T


def mutual_information(A, B, alpha, rank=None):
    return float(lr.mutual_information(A, B, entropy=Renyi(alpha, rank, Exact())))


# --------------------------------------------------------------------------------- the proposition


@axiom
@given(cases(dense=True), st.data())
def test_a_the_entropy_is_invariant_under_orthogonal_transformations(case, data):
    """S^k(P A P') = S^k(A)."""
    alpha, rank, A = case
    P = data.draw(rotations(len(A)))
    assert S(P @ A.dense() @ P.T, alpha, rank) == pytest.approx(S(A, alpha, rank), abs=1e-8)


@axiom
@given(cases(dense=True), st.data())
def test_a_the_order_of_the_rows_does_not_matter(case, data):
    """S^k(P A P') = S^k(A) for a permutation P, on the whole way from the matrix to bits."""
    alpha, rank, A = case
    order = data.draw(st.permutations(range(len(A))))
    moved = gram(A.dense()[np.ix_(order, order)], Precomputed())
    assert S(moved, alpha, rank) == pytest.approx(S(A, alpha, rank), abs=1e-8)


@axiom
@given(spectra(), orders, st.floats(1e-6, 1), st.floats(0.99, 1), st.data())
def test_b_the_entropy_is_continuous_in_the_scale_of_the_matrix(lam, alpha, p, step, data):
    """S^k(pA) = S^k(A) + alpha / (1 - alpha) log2 p, where tail and trace are those of pA."""
    assume(abs(alpha - 1) > 1e-3)
    rank = data.draw(st.integers(1, len(lam) - 1))
    slope = -1 if alpha == math.inf else alpha / (1 - alpha)
    whole = renyi_entropy(Spectrum(lam), alpha, rank)
    scaled = renyi_entropy(Spectrum(p * lam, trace=p), alpha, rank)
    nearby = renyi_entropy(Spectrum(p * step * lam, trace=p * step), alpha, rank)
    assert scaled == pytest.approx(whole + slope * math.log2(p), rel=1e-9, abs=1e-9)
    assert nearby - scaled == pytest.approx(slope * math.log2(step), abs=1e-7 * (1 + abs(slope)))


def test_b_has_no_value_at_order_one():
    """Near alpha = 1, S(pA) = S(A) + alpha / (1 - alpha) log2 p grows without bound."""
    half = Spectrum(np.array([0.25, 0.25]), trace=0.5)
    assert renyi_entropy(half, 1 - 1e-6) == pytest.approx(1 - (1e6 - 1), rel=1e-9)
    assert renyi_entropy(half, 1 + 1e-6) == pytest.approx(1 + (1e6 + 1), rel=1e-9)
    with pytest.raises(ValueError, match="trace 1"):
        renyi_entropy(half, 1)


@axiom
@given(cases())
def test_c_the_entropy_lies_between_zero_and_that_of_the_identity(case):
    """0 <= S^k(A) <= S^k(I/n) = log2 n."""
    alpha, rank, A = case
    identity = gram(np.eye(len(A)), Precomputed())
    top = S(identity, alpha, rank)
    assert top == pytest.approx(math.log2(len(A)), abs=ROUNDING)
    for k in (rank, None):
        assert -ROUNDING <= S(A, alpha, k) <= top + ROUNDING


@axiom
@given(cases(count=2, largest=5, dense=True))
def test_d_the_entropy_of_a_tensor_product_is_the_sum(case):
    """S^(2nk - k^2)(L_k(A) x L_k(B)) = S^k(A) + S^k(B)."""
    alpha, k, A, B = case
    n = len(A)
    product = np.kron(L(A.dense(), k), L(B.dense(), k))
    found = S(product, alpha, 2 * n * k - k**2)
    assert found == pytest.approx(S(A, alpha, k) + S(B, alpha, k), abs=1e-8)


HADAMARD = np.array([[1.0]])
for _ in range(3):
    HADAMARD = np.block([[HADAMARD, HADAMARD], [HADAMARD, -HADAMARD]])


@axiom
@given(spectra(1, 3), spectra(1, 3), st.floats(0.01, 0.99), above_one)
@example(np.array([1.0]), np.array([1.0]), 0.5, 2)
@example(np.array([1.0]), np.array([1.0]), 0.5, 1)
@example(np.array([1.0]), np.array([1.0]), 0.5, math.inf)
def test_e_the_entropy_of_a_mixture_of_orthogonal_matrices(a, b, t, alpha):
    """2^((1-alpha) S^2k(tA + (1-t)B)) = t^alpha 2^((1-alpha) S^k(A)) + (1-t)^alpha 2^(...S^k(B)).

    The columns of a Hadamard matrix give kernel matrices A, B with AB = 0 and k eigenvalues each.
    """
    k = max(len(a), len(b))
    K_a = HADAMARD[:, : len(a)] * a @ HADAMARD[:, : len(a)].T
    K_b = HADAMARD[:, 4 : 4 + len(b)] * b @ HADAMARD[:, 4 : 4 + len(b)].T
    assert np.abs(K_a @ K_b).max() < ROUNDING
    A, B, mixture = (gram(K, Precomputed()) for K in (K_a, K_b, t * K_a + (1 - t) * K_b))
    found, s_a, s_b = S(mixture, alpha, 2 * k), S(A, alpha, k), S(B, alpha, k)
    if alpha == 1:
        expected = t * (s_a - math.log2(t)) + (1 - t) * (s_b - math.log2(1 - t))
    elif alpha == math.inf:
        expected = min(s_a - math.log2(t), s_b - math.log2(1 - t))
    else:
        terms = [alpha * math.log2(t) + (1 - alpha) * s_a]
        terms += [alpha * math.log2(1 - t) + (1 - alpha) * s_b]
        expected = np.logaddexp2(*terms) / (1 - alpha)
    assume(alpha == 1 or abs(alpha - 1) > 1e-3)  # this reference cancels closer to 1
    assert found == pytest.approx(float(expected), abs=1e-9)


@axiom
@given(spectra(1, 3), spectra(1, 3), st.floats(0.01, 0.99), st.floats(0.1, 0.99))
def test_e_below_order_one_on_the_spectrum_of_the_mixture(a, b, t, alpha):
    """The same identity without rounding in the null eigenvalues."""
    k, n = max(len(a), len(b)), 8
    mixture = np.sort(np.concatenate([t * a, (1 - t) * b]))[::-1]
    found = information_potential(Spectrum(mixture, n), alpha, 2 * k)
    parts = [information_potential(Spectrum(v, n), alpha, k) for v in (a, b)]
    expected = t**alpha * parts[0] + (1 - t) ** alpha * parts[1]
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 2])
def test_e_fails_as_printed_for_two_orthogonal_pure_states(alpha):
    """g^-1(t g(S(A)) + (1-t) g(S(B))) is 0 for t = 1/2, the mixture I/2 has 1 bit."""
    A, B = (gram(np.array([[1.0, s], [s, 1.0]]), Precomputed()) for s in (1.0, -1.0))
    mixture = gram(np.eye(2), Precomputed())
    assert S(A, 2) == pytest.approx(0, abs=ROUNDING) == S(B, 2)
    g_a, g_b = (information_potential(Exact()(M), 2) for M in (A, B))
    printed = -math.log2(0.5 * g_a + 0.5 * g_b)
    assert printed == pytest.approx(0, abs=ROUNDING)
    assert S(mixture, alpha) == pytest.approx(1, abs=ROUNDING)


@axiom
@given(cases(count=2))
def test_f_the_joint_entropy_is_at_least_each_entropy(case):
    """S^k(A o B / tr(A o B)) >= max(S^k(A), S^k(B))."""
    alpha, rank, A, B = case
    for k in (rank, None):
        assert S(A * B, alpha, k) >= max(S(A, alpha, k), S(B, alpha, k)) - 1e-9


@axiom
@given(st.integers(2, 8).flatmap(lambda n: st.tuples(singular(n), singular(n))))
def test_g_mutual_information_is_not_negative_at_order_one(pair):
    """S_1(A o B / tr(A o B)) <= S_1(A) + S_1(B): subadditivity of von Neumann's entropy."""
    assert mutual_information(*pair, alpha=1) >= -ROUNDING


@axiom
@given(st.integers(2, 7).flatmap(lambda n: st.tuples(singular(n), singular(n), singular(n))))
def test_g_conditional_mutual_information_is_not_negative_at_order_one(triple):
    """S_1(A, C) + S_1(B, C) >= S_1(A, B, C) + S_1(C): strong subadditivity."""
    A, B, C = triple
    found = lr.conditional_mutual_information(A, B, given=C, entropy=Renyi(1, None, Exact()))
    assert found >= -ROUNDING


@axiom
@given(st.integers(2, 8).flatmap(lambda n: st.tuples(labels(n), points(n), points(n, 1))))
def test_g_mutual_information_is_not_negative_at_order_zero(data):
    """rank(A o B) <= rank(A) rank(B)."""
    classes, X, Y = data
    nonzero = np.where(np.any(X, axis=1)[:, None], X, 1.0)
    A, B, C = gram(classes, Delta()), gram(nonzero, Linear()), gram(Y, Gaussian(1.0))
    for pair in ((A, B), (A, C), (B, gram(nonzero[::-1], Linear()))):
        assert mutual_information(*pair, alpha=0) >= -ROUNDING


# Counterexamples to (g). Those with labels are counterexamples for discrete variables as well.


def from_counts(table):
    """Two label columns with these counts."""
    rows, columns = np.indices(np.shape(table))
    counts = np.ravel(table)
    return np.repeat(rows.ravel(), counts), np.repeat(columns.ravel(), counts)


ZEROS, DISTINCT = [0] * 9, list(range(1, 10))


@pytest.mark.parametrize(
    ("x", "y", "alpha", "rank", "bits"),
    [
        pytest.param(ZEROS + DISTINCT, DISTINCT + ZEROS, 2, None, -0.47393, id="order 2"),
        pytest.param(*from_counts([[121, 9], [11, 2]]), 0.6, None, -0.017812, id="order 0.6"),
        pytest.param(
            *from_counts([[1325, 196], [137, 19]]), 1.01, None, -1.0384e-5, id="order 1.01"
        ),
        pytest.param(*from_counts([[4, 4, 4], [4, 2, 4]]), 1, 3, -1.2228, id="rank 3 of 22"),
        pytest.param(*from_counts([[4, 4], [4, 4]]), 1, 2, -1.4037, id="fair coins, rank 2 of 16"),
    ],
)
def test_g_fails_elsewhere_and_mutual_information_is_negative(x, y, alpha, rank, bits):
    """S(A, B) <= S(A) + S(B) is false away from order one, and at every order with a rank."""
    A, B = gram(x, Delta()), gram(y, Delta())
    assert mutual_information(A, B, alpha, rank) == pytest.approx(bits, rel=1e-4)


def test_g_with_a_rank_fails_without_bound_as_points_are_added():
    """Fair independent coins, k = 2: I = (1 - log2(n - 2)) / 2, while S^2(A) = S^2(B) = 1."""
    for n in (4, 64, 1024):
        A, B = gram(np.arange(n) % 2), gram(np.arange(n) // 2 % 2)
        expected = 0.5 - 0.5 * math.log2(n - 2)
        assert mutual_information(A, B, alpha=1, rank=2) == pytest.approx(expected, abs=ROUNDING)


# ------------------------------------------------------------------------------------ the low rank


@axiom
@given(cases())
def test_the_low_rank_entropy_is_at_least_the_full_one(case):
    """S^k(A) >= S(A)."""
    alpha, rank, A = case
    assert S(A, alpha, rank) >= S(A, alpha) - ROUNDING


@axiom
@given(cases(), orders)
def test_the_entropy_decreases_in_the_order(case, other):
    """alpha <= beta implies S_alpha^k(A) >= S_beta^k(A)."""
    alpha, rank, A = case
    beta = max(alpha, other)
    for k in (rank, None):
        assert S(A, alpha, k) >= S(A, beta, k) - ROUNDING


@axiom
@given(st.integers(1, 10).flatmap(lambda n: labels(n + 1, 6)), st.floats(0, 3))
def test_the_entropy_of_labels_decreases_from_order_zero_on(x, alpha):
    """S_0 >= S_alpha, where null eigenvalues are exact."""
    A = gram(x, Delta())
    for k in (None, 1):
        assert S(A, 0, k) >= S(A, alpha, k) - ROUNDING


@axiom
@given(cases())
def test_the_low_rank_entropy_converges_to_the_full_one_in_the_rank(case):
    """S^1(A) >= S^2(A) >= ... >= S^(n-1)(A) = S(A)."""
    alpha, _, A = case
    path = [S(A, alpha, k) for k in range(1, len(A))]
    assert all(a >= b - ROUNDING for a, b in itertools.pairwise(path))
    assert path[-1] == pytest.approx(S(A, alpha), abs=ROUNDING)


@axiom
@given(cases(dense=True))
def test_the_low_rank_entropy_depends_on_the_leading_eigenvalues_alone(case):
    """S^k(A) = S^k(A_k) = S^k(L_k(A)) = S(L_k(A)), with A_k the best approximation of rank k."""
    alpha, k, A = case
    values, vectors = np.linalg.eigh(A.dense())
    best = vectors[:, -k:] * values[-k:] @ vectors[:, -k:].T
    leading = np.linalg.eigvalsh(best)[::-1][:k]
    spread = L(A.dense(), k)
    expected = S(A, alpha, k)
    from_best = renyi_entropy(Spectrum(leading, len(A), kind="ritz"), alpha, k)
    assert from_best == pytest.approx(expected, abs=1e-9)
    assert S(spread, alpha, k) == pytest.approx(expected, abs=1e-9)
    assert S(spread, alpha) == pytest.approx(expected, abs=1e-9)


# -------------------------------------------------------------------------------------- uniqueness


def rescaled(values, alpha, k):
    """First alternative of the supplement: the k largest eigenvalues, scaled to sum to one."""
    return float(renyi_entropy(Spectrum(values[:k] / values[:k].sum()), alpha))


def incomplete(values, alpha, k):
    """Second alternative: log2(sum_i<=k lambda_i^alpha / sum_i<=k lambda_i) / (1 - alpha)."""
    return math.log2(np.sum(values[:k] ** alpha) / np.sum(values[:k])) / (1 - alpha)


def as_printed(values, alpha, k):
    """Both as printed, where the sum in the denominator runs to n and is 1."""
    return math.log2(np.sum(values[:k] ** alpha)) / (1 - alpha)


@pytest.mark.parametrize(
    ("alternative", "alpha", "one", "both"),
    [
        (rescaled, 0.5, 0.9581, 0.8480),
        (rescaled, 1, 0.9183, 0.7219),
        (rescaled, 2, 0.8480, 0.5564),
        (incomplete, 2, 0.8480, 0.8194),
        (incomplete, 5, 0.7201, 0.6651),
        (as_printed, 0.5, 0.9581, 0.5850),
    ],
)
def test_rescaling_instead_of_spreading_violates_f(alternative, alpha, one, both):
    """x with frequencies (4, 2) / 6, of which y splits the second: S(x, y) < S(x) for k = 2."""
    x, y = [0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 1]
    A, B = gram(x, Delta()), gram(y, Delta())
    s_a, s_ab = (alternative(Exact()(M).values, alpha, 2) for M in (A, A * B))
    assert s_a == pytest.approx(one, abs=5e-5)
    assert s_ab == pytest.approx(both, abs=5e-5)
    assert s_ab < s_a
    assert S(A * B, alpha, 2) > S(A, alpha, 2)
