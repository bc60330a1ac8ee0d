"""Each measure against its textbook identities, and every way to name its variables."""

import math
import re

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lorenyi as lr
from lorenyi import Delta, Exact, Gaussian, Precomputed, Renyi, gram

RNG = np.random.default_rng(0)
N = 30
U, V, W = (gram(RNG.normal(size=(N, 2)), Gaussian(1.0)) for _ in range(3))
CLASSES = gram(np.arange(N) % 3)
ORDERS = [0.5, 1, 1.01, 2, math.inf]
RANKS = [None, 4]

EVERY = [
    pytest.param(Renyi(alpha, rank, Exact()), id=f"order {alpha}, rank {rank}")
    for alpha in ORDERS
    for rank in RANKS
]
EACH = pytest.mark.parametrize("H", EVERY)
H1 = Renyi(1, None, Exact())


def approx(value):
    return pytest.approx(float(value), abs=1e-11)


# -------------------------------------------------------------------------------------- identities


@EACH
def test_joint_entropy_is_the_entropy_of_the_product(H):
    assert lr.entropy(U, entropy=H) == H(U)
    assert lr.joint_entropy(U, entropy=H) == H(U)
    assert lr.joint_entropy(U, V, CLASSES, entropy=H) == approx(H(U * V * CLASSES))


@EACH
def test_joint_entropy_does_not_depend_on_the_order_of_the_variables(H):
    assert lr.joint_entropy(U, CLASSES, V, entropy=H) == approx(
        lr.joint_entropy(V, U, CLASSES, entropy=H)
    )


@EACH
def test_conditional_entropy_obeys_the_chain_rule(H):
    """S(A, B) = S(B) + S(A | B)."""
    found = lr.conditional_entropy(U, given=V, entropy=H)
    assert lr.joint_entropy(U, V, entropy=H) == approx(H(V) + found)
    assert found >= 0


@EACH
def test_mutual_information_is_what_conditioning_removes(H):
    """I(A; B) = S(A) - S(A | B) = S(B) - S(B | A)."""
    found = lr.mutual_information(U, CLASSES, entropy=H)
    assert found == approx(H(U) - lr.conditional_entropy(U, given=CLASSES, entropy=H))
    assert found == approx(H(CLASSES) - lr.conditional_entropy(CLASSES, given=U, entropy=H))


@EACH
def test_mutual_information_is_symmetric(H):
    one, other = (lr.mutual_information(*pair, entropy=H) for pair in ((U, V), (V, U)))
    assert one == approx(other)


@EACH
def test_mutual_information_obeys_the_chain_rule(H):
    """I(A, B; C) = I(A; C) + I(B; C | A)."""
    whole = lr.mutual_information([U, V], CLASSES, entropy=H)
    first = lr.mutual_information(U, CLASSES, entropy=H)
    rest = lr.conditional_mutual_information(V, CLASSES, given=U, entropy=H)
    assert whole == approx(first + rest)


@EACH
def test_conditional_mutual_information_is_a_difference_of_conditional_entropies(H):
    """I(A; B | C) = S(A | C) - S(A | B, C)."""
    found = lr.conditional_mutual_information(U, V, given=W, entropy=H)
    assert found == approx(
        lr.conditional_entropy(U, given=W, entropy=H)
        - lr.conditional_entropy(U, given=[V, W], entropy=H)
    )


@EACH
def test_total_correlation_is_a_chain_of_mutual_informations(H):
    """C(A, B, C) = I(A; B) + I(A, B; C)."""
    found = lr.total_correlation(U, V, W, entropy=H)
    expected = lr.mutual_information(U, V, entropy=H) + lr.mutual_information([U, V], W, entropy=H)
    assert found == approx(expected)


@EACH
def test_dual_total_correlation_is_the_joint_entropy_without_the_residuals(H):
    """D(A, B, C) = S(A, B, C) - S(A | B, C) - S(B | A, C) - S(C | A, B)."""
    residuals = [
        lr.conditional_entropy(one, given=others, entropy=H)
        for one, others in ((U, [V, W]), (V, [U, W]), (W, [U, V]))
    ]
    found = lr.dual_total_correlation(U, V, W, entropy=H)
    assert found == approx(lr.joint_entropy(U, V, W, entropy=H) - sum(residuals))


@EACH
@pytest.mark.parametrize(
    "measure",
    [lr.total_correlation, lr.dual_total_correlation, lr.interaction_information],
    ids=lambda measure: measure.__name__,
)
def test_measures_of_two_variables_are_their_mutual_information(measure, H):
    assert measure(U, CLASSES, entropy=H) == approx(lr.mutual_information(U, CLASSES, entropy=H))


@EACH
def test_interaction_information_of_three_is_what_conditioning_adds(H):
    """Q(A; B; C) = I(A; B | C) - I(A; B)."""
    found = lr.interaction_information(U, V, W, entropy=H)
    conditional = lr.conditional_mutual_information(U, V, given=W, entropy=H)
    assert found == approx(conditional - lr.mutual_information(U, V, entropy=H))


@EACH
def test_interaction_information_of_four_is_what_conditioning_adds_to_that_of_three(H):
    """Q(A; B; C; D) = Q(A; B; C | D) - Q(A; B; C), with D labels, so that D, D is D."""
    beside = ([A, CLASSES] for A in (U, V, W))
    conditional = lr.interaction_information(*beside, entropy=H) + H(CLASSES)
    found = lr.interaction_information(U, V, W, CLASSES, entropy=H)
    assert found == approx(conditional - lr.interaction_information(U, V, W, entropy=H))


X, Y = [0, 0, 1, 1], [0, 1, 0, 1]
XOR = [0, 1, 1, 0]


def test_variables_that_work_together_interact_positively_and_copies_negatively():
    assert lr.interaction_information(X, Y, XOR, entropy=H1) == approx(1)
    assert lr.interaction_information(X, X, X, entropy=H1) == approx(-1)
    assert lr.interaction_information(X, Y, Y, entropy=H1) == approx(0)


def test_the_parity_of_three_bits_interacts_in_all_four():
    bits = (np.arange(8)[:, None] >> np.arange(3)) & 1
    parity = bits.sum(axis=1) % 2
    assert lr.interaction_information(*bits.T, parity, entropy=H1) == approx(1)


def test_copies_and_exclusive_or_tell_total_from_dual_total_correlation():
    """Three copies of a bit: 2 and 1; exclusive or: 1 and 2."""
    assert lr.total_correlation(X, X, X, entropy=H1) == approx(2)
    assert lr.dual_total_correlation(X, X, X, entropy=H1) == approx(1)
    assert lr.total_correlation(X, Y, XOR, entropy=H1) == approx(1)
    assert lr.dual_total_correlation(X, Y, XOR, entropy=H1) == approx(2)


@EACH
def test_labels_determine_themselves(H):
    assert lr.conditional_entropy(CLASSES, given=CLASSES, entropy=H) == approx(0)
    assert lr.mutual_information(CLASSES, CLASSES, entropy=H) == approx(H(CLASSES))
    assert lr.normalized_mutual_information(CLASSES, CLASSES, entropy=H) == approx(1)


# -------------------------------------------------------------------- normalized mutual information


@st.composite
def pairs(draw):
    """An order, a rank and two Grams without rounding in null eigenvalues."""
    n = draw(st.integers(2, 8))
    alpha = draw(st.floats(0.1, 20) | st.sampled_from([1, 2, math.inf]))
    rank = draw(st.none() | st.integers(1, n - 1))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)

    def one():
        if draw(st.booleans()):
            return gram(rng.integers(0, 3, n), Delta())
        spread = draw(st.sampled_from([0.3, 1.0, 3.0]))
        K = oracles.matrix(oracles.gaussian(1.0), spread * rng.normal(size=n))
        return gram(0.95 * K + 0.05 * np.eye(n), Precomputed())

    return Renyi(alpha, rank, Exact()), one(), one()


@settings(max_examples=200, deadline=None)
@given(pairs())
def test_normalized_mutual_information_is_at_most_one(case):
    """I(A; B) <= min(S(A), S(B)) <= sqrt(S(A) S(B)), for every order and rank."""
    H, A, B = case
    assert lr.normalized_mutual_information(A, B, entropy=H) <= 1 + 1e-9


@settings(max_examples=50, deadline=None)
@given(pairs())
def test_normalized_mutual_information_is_not_negative_at_order_one(case):
    _, A, B = case
    assert lr.normalized_mutual_information(A, B, entropy=H1) >= -1e-9


@EACH
def test_normalized_mutual_information_is_divided_by_the_geometric_mean(H):
    found = lr.normalized_mutual_information(U, CLASSES, entropy=H)
    expected = lr.mutual_information(U, CLASSES, entropy=H) / math.sqrt(H(U) * H(CLASSES))
    assert found == approx(expected)


@EACH
def test_normalized_mutual_information_with_a_constant_is_zero(H):
    constant = gram(np.zeros(N))
    assert lr.normalized_mutual_information(constant, U, entropy=H) == 0
    assert lr.normalized_mutual_information(U, constant, entropy=H) == 0


# ------------------------------------------------------------------------ naming the variables

x, y = RNG.normal(size=N), RNG.normal(size=(N, 2))
labels = np.array(["a", "b", "c"])[np.arange(N) % 3]
z = RNG.normal(size=N)
Gx, Gy, Gz, Gl = gram(x), gram(y), gram(z), gram(labels)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(x, labels, id="arrays"),
        pytest.param(Gx, Gl, id="Grams"),
        pytest.param(x, Gl, id="an array and a Gram"),
        pytest.param(Gx, labels.tolist(), id="a Gram and a list"),
        pytest.param([x], (labels,), id="a list and a tuple of one"),
        pytest.param(x[:, None], [Gl], id="a column and a list of one Gram"),
        pytest.param(list(x), list(labels), id="lists of NumPy scalars"),
        pytest.param(x.tolist(), tuple(labels.tolist()), id="lists of Python numbers"),
    ],
)
def test_a_variable_may_be_an_array_a_gram_or_a_list(one, other):
    expected = H1(Gx) + H1(Gl) - H1(Gx * Gl)
    assert lr.mutual_information(one, other, entropy=H1) == approx(expected)


@pytest.mark.parametrize(
    "several",
    [
        pytest.param([x, y], id="list of arrays"),
        pytest.param((x, y), id="tuple of arrays"),
        pytest.param([Gx, Gy], id="Grams"),
        pytest.param([x, Gy], id="mixed"),
        pytest.param([x.tolist(), y], id="a list beside an array"),
    ],
)
def test_several_variables_on_a_side_are_their_joint(several):
    joint, H = Gx * Gy, Renyi(2, 5, Exact())
    assert lr.entropy(several, entropy=H) == approx(H(joint))
    assert lr.mutual_information(several, labels, entropy=H) == approx(
        H(joint) + H(Gl) - H(joint * Gl)
    )
    assert lr.mutual_information(labels, several, entropy=H) == approx(
        H(joint) + H(Gl) - H(joint * Gl)
    )
    assert lr.conditional_entropy(labels, given=several, entropy=H) == approx(
        H(Gl * joint) - H(joint)
    )
    found = lr.conditional_mutual_information(several, labels, given=[z, Gz], entropy=H)
    given = gram(z) * Gz
    assert found == approx(H(joint * given) + H(Gl * given) - H(joint * Gl * given) - H(given))


def test_a_list_of_numbers_is_one_variable_and_a_list_of_lists_is_its_rows():
    assert lr.entropy([0, 0, 1, 1], entropy=H1) == 1
    rows = [[0.0, 0.0], [0.0, 1.0], [5.0, 5.0]]
    assert lr.entropy(rows, entropy=H1) == approx(H1(gram(np.array(rows))))
    columns = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    assert lr.entropy(columns, entropy=H1) == 2


def test_columns_of_one_array_are_not_the_joint_of_its_columns():
    """A matrix is one variable with one bandwidth, a list of its columns has one for each."""
    scaled = y * [1.0, 10.0]
    whole = lr.entropy(scaled, entropy=H1)
    each = lr.entropy(list(scaled.T), entropy=H1)
    assert abs(whole - each) > 0.1
    assert each == approx(H1(gram(scaled[:, 0]) * gram(scaled[:, 1])))


def test_the_result_names_every_kernel_once():
    found = repr(lr.mutual_information(x, labels, entropy=H1))
    assert re.fullmatch(
        r"-?\d\.\d+ ± \d\.\d+ bits \(x: Gaussian\(sigma=[\d.]+\), y: Delta\(\)\)", found
    )
    found = repr(lr.conditional_mutual_information([x, y], labels, given=labels, entropy=H1))
    for name in ("x[0]: Gaussian", "x[1]: Gaussian", "y: Delta()", "given: Delta()"):
        assert found.count(name) == 1
    found = repr(lr.total_correlation(x, labels, y, entropy=H1))
    for name in ("variable 0: Gaussian", "variable 1: Delta()", "variable 2: Gaussian"):
        assert found.count(name) == 1


@pytest.mark.parametrize(
    "measure",
    [lr.total_correlation, lr.dual_total_correlation, lr.interaction_information],
    ids=lambda measure: measure.__name__,
)
def test_measures_of_dependence_need_two_variables(measure):
    with pytest.raises(ValueError, match=f"{measure.__name__} needs at least 2 variables, found 1"):
        measure(x)
    with pytest.raises(ValueError, match=r"joint_entropy needs at least 1 variables, found 0"):
        lr.joint_entropy()


# ----------------------------------------------------------------------------------------- weights

WEIGHTS = np.arange(N) % 4
REPEATED = np.repeat(np.arange(N), WEIGHTS)
MEASURES = {
    "entropy": lambda *v, **k: lr.entropy(list(v), **k),
    "joint_entropy": lr.joint_entropy,
    "conditional_entropy": lambda a, b, c, **k: lr.conditional_entropy(a, given=[b, c], **k),
    "mutual_information": lambda a, b, c, **k: lr.mutual_information([a, b], c, **k),
    "normalized": lambda a, b, c, **k: lr.normalized_mutual_information([a, b], c, **k),
    "conditional": lambda a, b, c, **k: lr.conditional_mutual_information(a, b, given=c, **k),
    "total_correlation": lr.total_correlation,
    "dual_total_correlation": lr.dual_total_correlation,
    "interaction_information": lr.interaction_information,
    "vendi_score": lambda *v, **k: lr.vendi_score(list(v), **k),
    "conditional_vendi_score": lambda a, b, c, **k: lr.conditional_vendi_score([a, b], c, **k),
    "information_vendi_score": lambda a, b, c, **k: lr.information_vendi_score([a, b], c, **k),
}


@pytest.mark.parametrize("H", [H1, Renyi(2, None, Exact()), Renyi(0.5, 7, Exact())], ids=str)
@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_weights_are_frequencies_of_rows_in_every_measure(measure, H):
    """Weight 2 is a repeated row, 0 an absent one; bandwidths are weighted too."""
    weighted = measure(x, y, labels, entropy=H, weights=WEIGHTS)
    repeated = measure(x[REPEATED], y[REPEATED], labels[REPEATED], entropy=H)
    assert float(weighted) == approx(repeated)
    assert abs(weighted - measure(x, y, labels, entropy=H)) > 1e-3


def test_weights_of_a_gram_are_given_where_it_is_made():
    A = gram(x, weights=WEIGHTS)
    assert lr.entropy(A, entropy=H1) == approx(lr.entropy(x, entropy=H1, weights=WEIGHTS))
    with pytest.raises(ValueError, match=r"Gram already.*where it is made"):
        lr.entropy(A, weights=WEIGHTS)
    with pytest.raises(ValueError, match="same weights"):
        lr.mutual_information(A, labels, entropy=H1)
    B = gram(labels, weights=WEIGHTS)
    assert lr.mutual_information(A, B, entropy=H1) == approx(
        lr.mutual_information(x, labels, entropy=H1, weights=WEIGHTS)
    )


# ------------------------------------------------------------------------------------- functionals


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_any_function_of_a_gram_may_stand_for_the_entropy(measure):
    """A measure is its formula: with log2 of the rank for entropy it counts."""

    def log_rank(A):
        return math.log2(np.linalg.matrix_rank(A.dense()))

    three = (gram(CLASSES.dense(), Precomputed()), gram(X * 7 + [0, 1]), gram(np.arange(N) % 2))
    found = measure(*three, entropy=log_rank)
    assert found == approx(measure(*three, entropy=Renyi(0, None, Exact())))
