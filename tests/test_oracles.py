"""Agreement with others to 1e-10: vendi-score, SciPy, dit, and the naive definitions."""

import math

import dit
import numpy as np
import oracles
import pytest
import scipy.stats
from vendi_score import vendi

import lorenyi as lr
from lorenyi import Delta, Exact, Gaussian, Laplacian, Precomputed, Renyi, gram

N = 24
ORDERS = [0.5, 1, 1.01, 2, 5, math.inf]
RANKS = [None, 1, 3, N - 1]

close = pytest.approx


def agrees(found, expected):
    return float(found) == close(expected, abs=1e-10, rel=0)


def numbers(columns=2, seed=0, n=N):
    """Points on a jittered grid: with a bandwidth of half its step no eigenvalue is near zero.

    That matters for alpha < 1, where lambda^alpha turns a rounding error of 1e-17 in a null
    eigenvalue into one of 1e-9 in the sum. (Labels have null eigenvalues: their oracle there is
    the histogram, and the naive definition, which leaves them out.)
    """
    rng = np.random.default_rng(seed)
    grid = np.stack([rng.permutation(n) for _ in range(columns)], axis=1)
    return grid + rng.uniform(-0.2, 0.2, grid.shape)


def labels(classes=3, seed=0, n=N):
    return np.random.default_rng(seed).integers(0, classes, n)


# The library's Gram of each variable, and its matrix made pair by pair.
POINTS, LINE, CLASSES, WORDS = numbers(2, 1), numbers(1, 2), labels(3, 3), labels(4, 4)
READY = np.random.default_rng(5).normal(size=(N, N))
READY = READY @ READY.T + np.diag(np.arange(1.0, N + 1))  # its diagonal is not 1

VARIABLES = {
    "Gaussian": (gram(POINTS, Gaussian(1.5)), oracles.matrix(oracles.gaussian(1.5), POINTS)),
    "Laplacian": (gram(LINE, Laplacian(2.0)), oracles.matrix(oracles.laplacian(2.0), LINE)),
    "labels": (gram(CLASSES, Delta()), oracles.matrix(oracles.equality, CLASSES)),
    "words": (gram([f"w{c}" for c in WORDS]), oracles.matrix(oracles.equality, WORDS)),
    "ready": (gram(READY, Precomputed()), READY),
}
VARIABLES = {name: (A, oracles.normalized(K)) for name, (A, K) in VARIABLES.items()}
SINGLE = pytest.mark.parametrize("name", VARIABLES)
REGULAR = ("Gaussian", "Laplacian", "ready")
ORDER = pytest.mark.parametrize("alpha", ORDERS)
RANK = pytest.mark.parametrize("rank", RANKS)


def test_the_matrices_compared_below_are_well_conditioned():
    for name in REGULAR:
        assert np.linalg.eigvalsh(VARIABLES[name][1])[0] > 1e-3


# ------------------------------------------------------------------------------------ others' code


@pytest.mark.filterwarnings("ignore:Please import `csr_matrix`:DeprecationWarning")  # theirs
@ORDER
@pytest.mark.parametrize("name", REGULAR)
def test_the_entropy_is_the_logarithm_of_the_vendi_score(name, alpha):
    A, dense = VARIABLES[name]
    q = "inf" if alpha == math.inf else alpha
    theirs = vendi.score_K(dense * N, q=q)
    assert agrees(Renyi(alpha, None, Exact())(A), math.log2(theirs))
    ours = lr.vendi_score(A, entropy=Renyi(alpha, None, Exact()))
    assert ours == close(theirs, abs=1e-10 * N, rel=0)


@pytest.mark.filterwarnings("ignore:Please import `csr_matrix`:DeprecationWarning")
@ORDER
def test_conditional_and_information_scores_are_quotients_of_vendi_scores(alpha):
    (A, K), (B, L) = VARIABLES[REGULAR[0]], VARIABLES[REGULAR[1]]
    H, q = Renyi(alpha, None, Exact()), "inf" if alpha == math.inf else alpha
    one, other, both = (vendi.score_K(matrix * N, q=q) for matrix in (K, L, K * L * N))
    found = lr.conditional_vendi_score(A, given=B, entropy=H)
    assert found == close(both / other, abs=1e-10 * N, rel=0)
    found = lr.information_vendi_score(A, B, entropy=H)
    assert found == close(one * other / both, abs=1e-10 * N, rel=0)


def test_the_score_of_order_two_is_the_renyi_kernel_entropy():
    """RKE counts modes by one over the mean of the squared kernel."""
    A, K = VARIABLES[REGULAR[0]]
    assert lr.vendi_score(A, entropy=Renyi(2)) == close(1 / np.mean((K * N) ** 2), rel=1e-10)


@pytest.mark.filterwarnings("ignore:Please import `csr_matrix`:DeprecationWarning")
@ORDER
def test_weights_are_the_probabilities_of_the_vendi_score(alpha):
    weights = np.arange(1.0, N + 1)
    K = oracles.matrix(oracles.gaussian(1.5), POINTS)
    q = "inf" if alpha == math.inf else alpha
    theirs = vendi.score_K(K, q=q, p=weights / weights.sum())
    A = gram(POINTS, Gaussian(1.5), weights=weights)
    assert agrees(Renyi(alpha, None, Exact())(A), math.log2(theirs))


@SINGLE
def test_the_entropy_of_order_one_is_scipys_of_the_eigenvalues(name):
    A, dense = VARIABLES[name]
    values = np.clip(np.linalg.eigvalsh(dense), 0, None)
    assert agrees(Renyi(1, None, Exact())(A), scipy.stats.entropy(values, base=2))


def test_the_entropy_of_labels_is_scipys_of_their_histogram():
    counts = np.unique_counts(CLASSES).counts
    assert agrees(Renyi(1, None, Exact())(gram(CLASSES)), scipy.stats.entropy(counts, base=2))


# --------------------------------------------------------------------------------- discrete tables

X, Y, Z = labels(3, 7, 60), labels(4, 8, 60), labels(2, 9, 60)
Y = np.where(Z == 1, X, Y)  # so that the three depend on each other


@RANK
@pytest.mark.parametrize("alpha", [0, *ORDERS])
@pytest.mark.parametrize("columns", [(X,), (X, Y), (X, Y, Z)], ids=["one", "two", "three"])
def test_labels_have_the_discrete_entropy_of_their_joint_histogram(columns, alpha, rank):
    found = lr.joint_entropy(*columns, entropy=Renyi(alpha, rank, Exact()))
    assert agrees(found, oracles.discrete(*columns, alpha=alpha, k=rank))


@pytest.mark.parametrize("alpha", [0.5, 2, 5])
def test_labels_have_the_renyi_entropy_that_dit_gives(alpha):
    d = table(X, Y)
    found = lr.joint_entropy(X, Y, entropy=Renyi(alpha, None, Exact()))
    assert agrees(found, dit.other.renyi_entropy(d, alpha))


def table(*columns):
    """The joint histogram of aligned columns as a distribution of dit's."""
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    outcomes = sorted(set(rows))
    return dit.Distribution(outcomes, [rows.count(outcome) / len(rows) for outcome in outcomes])


H = Renyi(1, None, Exact())
SHANNON = {
    "joint entropy": (
        lambda: lr.joint_entropy(X, Y, Z, entropy=H),
        lambda d: dit.multivariate.entropy(d),
    ),
    "conditional entropy": (
        lambda: lr.conditional_entropy(X, given=[Y, Z], entropy=H),
        lambda d: dit.multivariate.entropy(d, [0], [1, 2]),
    ),
    "mutual information": (
        lambda: lr.mutual_information(X, Y, entropy=H),
        lambda d: dit.multivariate.coinformation(d, [[0], [1]]),
    ),
    "mutual information of two with one": (
        lambda: lr.mutual_information([X, Y], Z, entropy=H),
        lambda d: dit.multivariate.coinformation(d, [[0, 1], [2]]),
    ),
    "conditional mutual information": (
        lambda: lr.conditional_mutual_information(X, Y, given=Z, entropy=H),
        lambda d: dit.multivariate.coinformation(d, [[0], [1]], [2]),
    ),
    "total correlation": (
        lambda: lr.total_correlation(X, Y, Z, entropy=H),
        lambda d: dit.multivariate.total_correlation(d),
    ),
    "dual total correlation": (
        lambda: lr.dual_total_correlation(X, Y, Z, entropy=H),
        lambda d: dit.multivariate.dual_total_correlation(d),
    ),
    "interaction information of three": (
        lambda: lr.interaction_information(X, Y, Z, entropy=H),
        lambda d: dit.multivariate.interaction_information(d),
    ),
    "interaction information of two": (
        lambda: lr.interaction_information(X, Z, entropy=H),
        lambda d: dit.multivariate.interaction_information(d, [[0], [2]]),
    ),
    "co-information, up to sign": (
        lambda: -lr.interaction_information(X, Y, Z, entropy=H),
        lambda d: dit.multivariate.coinformation(d),
    ),
}


@pytest.mark.parametrize("measure", SHANNON)
def test_measures_of_labels_are_those_that_dit_gives(measure):
    ours, theirs = SHANNON[measure]
    expected = float(theirs(table(X, Y, Z)))
    assert abs(expected) > 1e-3  # else agreement would say nothing
    assert agrees(ours(), expected)


# ---------------------------------------------------------------------------- the naive definition


@RANK
@pytest.mark.parametrize("alpha", [0, *ORDERS])
@SINGLE
def test_the_entropy_is_that_of_the_naive_definition(name, alpha, rank):
    A, dense = VARIABLES[name]
    assert agrees(Renyi(alpha, rank, Exact())(A), oracles.entropy(dense, alpha, rank))


PAIRS = [
    ("Gaussian", "labels"),
    ("Gaussian", "Gaussian"),
    ("Laplacian", "ready"),
    ("labels", "words"),
    ("ready", "words"),
]
PAIR = pytest.mark.parametrize("names", PAIRS, ids=" and ".join)


@RANK
@ORDER
@PAIR
def test_the_joint_entropy_is_that_of_the_hadamard_product(names, alpha, rank):
    (A, a), (B, b) = (VARIABLES[name] for name in names)
    expected = oracles.entropy(oracles.joint(a, b), alpha, rank)
    assert agrees(Renyi(alpha, rank, Exact())(A * B), expected)


@RANK
@ORDER
@PAIR
def test_conditional_entropy_and_mutual_information_are_the_naive_ones(names, alpha, rank):
    (A, a), (B, b) = (VARIABLES[name] for name in names)
    H = Renyi(alpha, rank, Exact())
    conditional = oracles.entropy(oracles.joint(a, b), alpha, rank) - oracles.entropy(
        b, alpha, rank
    )
    assert agrees(lr.conditional_entropy(A, given=B, entropy=H), conditional)
    expected = oracles.mutual_information(a, b, alpha, rank)
    assert agrees(lr.mutual_information(A, B, entropy=H), expected)


@RANK
@ORDER
def test_measures_of_three_are_the_naive_ones(alpha, rank):
    grams, matrices = zip(*(VARIABLES[n] for n in ("Gaussian", "labels", "ready")), strict=True)
    A, B, C = grams
    H = Renyi(alpha, rank, Exact())

    def h(*index):
        return oracles.entropy(oracles.joint(*(matrices[i] for i in index)), alpha, rank)

    a, b, c, ab, ac, bc, abc = h(0), h(1), h(2), h(0, 1), h(0, 2), h(1, 2), h(0, 1, 2)
    assert agrees(lr.joint_entropy(A, B, C, entropy=H), abc)
    assert agrees(lr.mutual_information([A, B], C, entropy=H), ab + c - abc)
    assert agrees(lr.conditional_mutual_information(A, B, given=C, entropy=H), ac + bc - abc - c)
    assert agrees(lr.total_correlation(A, B, C, entropy=H), a + b + c - abc)
    assert agrees(lr.dual_total_correlation(A, B, C, entropy=H), ab + ac + bc - 2 * abc)
    assert agrees(lr.interaction_information(A, B, C, entropy=H), ab + ac + bc - a - b - c - abc)
    assert agrees(
        lr.normalized_mutual_information(A, B, entropy=H), (a + b - ab) / math.sqrt(a * b)
    )
