"""Certified intervals contain the exact value: every solver, every kind of Gram, real tables."""

import math
import os
import warnings
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import oracles
import pytest
import sklearn.datasets
from grams import KINDS, eigenvalues, gaussian, labels, normalized, points

import lorenyi as lr

ORDERS = [0.3, 0.5, 1, 1.01, 2, 5, math.inf]

SOLVERS = {
    "Exact": lr.Exact(),
    "Lanczos of few steps": lr.Lanczos(steps=8),
    "Lanczos of all steps": lr.Lanczos(steps=60),
    "Lanczos to a tolerance": lr.Lanczos(steps=14, tol=1e-4),
    "BlockLanczos in float32": lr.BlockLanczos(steps=3, block=4),
    "BlockLanczos in float32, all steps": lr.BlockLanczos(steps=15, block=4),
    "BlockLanczos in float64": lr.BlockLanczos(steps=3, block=4, single=False),
    "PivotedCholesky of small size": lr.PivotedCholesky(tol=1e-15, size=10, block=4),
    "PivotedCholesky": lr.PivotedCholesky(tol=1e-15, size=60, block=4),
    "PivotedCholesky from a sample": lr.PivotedCholesky(tol=1e-15, size=10, block=4, sample=20),
    "Auto": lr.Auto(),
}
every_solver = pytest.mark.parametrize("name", SOLVERS)


class Once(lr.Solver):
    """A solver that remembers its answers, so that all orders are read off one spectrum."""

    def __init__(self, solver):
        self.inner, self.answers = solver, {}

    def __call__(self, A, rank=None, width=None):
        if isinstance(self.inner, lr.Auto):  # its effort depends on the width
            return self.inner(A, rank, width)
        if (A, rank) not in self.answers:
            self.answers[A, rank] = self.inner(A, rank, width)
        return self.answers[A, rank]

    def solve(self, A, rank):
        raise NotImplementedError


case = cache(lambda kind: KINDS[kind]())


def low_rank(values, k, n):
    """Eigenvalues of L_k: n places, of which `values` (descending) fill the first."""
    if k is None:
        return values, np.ones(len(values))
    head = np.pad(values, (0, max(k - len(values), 0)))[:k]
    tail = max(float(values[k:].sum()), 0.0) / (n - k)
    return np.r_[head, tail], np.r_[np.ones(k), float(n - k)]


def exact_entropy(values, alpha, k, n):
    """S_alpha^k by its definition; eigenvalues at rounding level are zeros."""
    p, counts = low_rank(np.where(values > 1e-14, values, 0.0), k, n)
    p, counts = p[p > 0], counts[p > 0]
    if alpha == math.inf:
        return -math.log2(p.max())
    if alpha == 1:
        return -float(np.sum(counts * p * np.log2(p)))
    if abs(alpha - 1) < 0.1:  # sum p^alpha - 1 without the rounding of sum p - 1
        excess = float(np.sum(counts * p * np.expm1((alpha - 1) * np.log(p))))
        return math.log1p(excess) / (1 - alpha) / math.log(2)
    return math.log2(float(np.sum(counts * p**alpha))) / (1 - alpha)


def doubt(values, alpha, k, n, tolerance=0.0):
    """How far the oracle itself may be off: a decomposition errs by n eps times the largest.

    For alpha >= 1 that moves S by next to nothing; for alpha < 1, each of m values within `error`
    of zero moves sum lambda^alpha by up to error^alpha.
    """
    error = max(4 * len(values) * 2.2e-16 * values[0], tolerance * 1e-4)
    if alpha >= 1:
        return 100 * error
    p, counts = low_rank(np.maximum(values, 0.0), k, n)
    moved = np.sum(counts * ((p + error) ** alpha - np.maximum(p - error, 0.0) ** alpha))
    return float(moved / np.sum(counts * p**alpha) / (1 - alpha)) * 1.45


def assert_contains(estimate, exact, slack):
    assert estimate.low - slack <= exact <= estimate.high + slack, (
        f"{exact} is not in [{estimate.low}, {estimate.high}]"
    )


# -------------------------------------------------------------------- every kind, every solver


@every_solver
@pytest.mark.parametrize("kind", KINDS)
def test_the_exact_value_lies_in_the_interval(kind, name):
    A, matrix, n, _ = case(kind)
    if kind.startswith("torch") and name.startswith("PivotedCholesky"):
        pytest.skip("it reads no tensors")
    values, solver = eigenvalues(matrix), Once(SOLVERS[name])
    for alpha in ORDERS:
        for k in (None, 1, 4, 7):
            estimate = lr.Renyi(alpha, k, solver).certified(A)
            exact = exact_entropy(values, alpha, k, n)
            assert_contains(estimate, exact, doubt(values, alpha, k, n))
            assert estimate.failure <= 1e-6
            assert ("proven" if estimate.failure == 0 else "fails with p <=") in repr(estimate)


@every_solver
@pytest.mark.parametrize("kind", ["dense_gaussian", "blocks", "identity", "float32", "weighted"])
def test_the_value_is_that_of_the_plain_call(kind, name):
    A, certified, plain = case(kind).gram, Once(SOLVERS[name]), Once(SOLVERS[name])
    for alpha in ORDERS:
        for k in (None, 4):
            estimate = lr.Renyi(alpha, k, certified).certified(A)
            found = lr.Renyi(alpha, k, plain)(A)
            assert abs(float(estimate) - found) <= (found.computing_error or 0.0) + estimate.width


@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize(
    "solver",
    [lr.Lanczos(9), lr.BlockLanczos(3, 4), lr.BlockLanczos(3, 4, single=False)],
    ids=repr,
)
def test_tensors_have_the_intervals_of_arrays(alpha, solver):
    plain, tensor = case("dense_gaussian").gram, case("torch_tensor").gram
    H = lr.Renyi(alpha, 5, solver)
    a, b = H.certified(plain), H.certified(tensor)
    precise = 1e-10 if not getattr(solver, "single", False) else 1e-4
    assert (b.low, float(b), b.high) == pytest.approx((a.low, float(a), a.high), abs=precise)


@pytest.mark.parametrize("alpha", ORDERS)
def test_more_effort_gives_a_narrower_interval(alpha):
    A = case("dense_gaussian").gram
    for make in (
        lambda size: lr.Lanczos(size),
        lambda size: lr.BlockLanczos(size // 4, 4, single=False),
        lambda size: lr.PivotedCholesky(tol=1e-15, size=size, block=4),
    ):
        widths = [lr.Renyi(alpha, 4, make(size)).certified(A).width for size in (8, 16, 28)]
        for wide, narrow in pairwise(widths):
            assert wide > 2 * narrow or wide < 1e-12  # where rounding is all there is
        assert widths[0] > 1e-4 or alpha == math.inf


@every_solver
def test_an_interval_of_all_eigenvalues_is_as_narrow_as_rounding(name):
    """With as many steps as rows, nothing but rounding is open."""
    if "all steps" not in name and name not in ("Exact", "PivotedCholesky", "Auto"):
        pytest.skip("it stops early")
    estimate = lr.Renyi(1.01, None, SOLVERS[name]).certified(case("dense_gaussian").gram)
    assert estimate.width < (1e-3 if "float32" in name else 1e-10)


@pytest.mark.parametrize(
    "solver",
    [
        lr.GaussianProjection(12),
        lr.HadamardProjection(12),
        lr.InputSparsity(12),
        lr.SparseGraph(12),
    ],
    ids=repr,
)
def test_a_projection_has_no_certificate_and_says_what_has(solver):
    H = lr.Renyi(2, 4, solver)
    A = case("dense_gaussian").gram
    assert H(A) > 0
    with pytest.raises(ValueError, match=r"without bounds: .* use Auto, Exact, Lanczos"):
        H.certified(A)


# --------------------------------------------------------- null eigenvalues and small orders


def low_rank_matrix(n=60):
    """A circulant matrix of constant diagonal with five nonzero eigenvalues, and these."""
    values = np.array([0.4, 0.2, 0.2, 0.1, 0.1])
    angles = 2 * np.pi * np.outer(np.arange(n), [1, 2]) / n
    waves = np.c_[np.ones(n), np.sqrt(2) * np.c_[np.cos(angles[:, 0]), np.sin(angles[:, 0])]]
    waves = np.c_[waves, np.sqrt(2) * np.c_[np.cos(angles[:, 1]), np.sin(angles[:, 1])]]
    return (waves * values) @ waves.T / n, values


@every_solver
@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.5, 0.9])
def test_null_eigenvalues_are_honest_at_small_orders(name, alpha):
    """55 of 60 are exactly zero; rounding makes them 1e-17, whose 0.1th power is 0.02."""
    K, values = low_rank_matrix()
    A = lr.gram(K, lr.Precomputed())
    for k in (None, 2, 5, 8):
        estimate = lr.Renyi(alpha, k, SOLVERS[name]).certified(A)
        assert_contains(estimate, exact_entropy(values, alpha, k, 60), 1e-12)


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("k", [None, 3, 7, 20])
def test_groups_known_at_sight_are_honest_at_small_orders(alpha, k):
    y = np.repeat(np.arange(7), [3, 5, 7, 11, 2, 6, 9])
    estimate = lr.Renyi(alpha, k).certified(lr.gram(y, lr.Delta()))
    assert_contains(estimate, oracles.discrete(y, alpha=alpha, k=k), 1e-12)


# ------------------------------------------------------------------------------ real tables


def standardized(X):
    X = np.asarray(X, dtype=float)
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def waveform_file():
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("LORENYI_DATA", root.parent / "shared" / "data"))
    return folder / "waveform.npz"


def waveform():
    if not waveform_file().exists():
        pytest.skip("no waveform.npz: set LORENYI_DATA to a folder that has it")
    with np.load(waveform_file()) as data:
        return data["X"][:500, :21], data["y"][:500]


def some_of(load):
    def read():
        X, y = load(return_X_y=True)
        return X[:400], y[:400]

    return read


TABLES = {
    "iris": some_of(sklearn.datasets.load_iris),
    "wine": some_of(sklearn.datasets.load_wine),
    "breast cancer": some_of(sklearn.datasets.load_breast_cancer),
    "digits": some_of(sklearn.datasets.load_digits),
    "waveform": waveform,
}


@cache
def table(name, columns, sigma, classes):
    """The Gram of a table (with its classes or without), and all eigenvalues of the plain one."""
    X, y = TABLES[name]()
    X = standardized(X)[:, :columns]
    A, K = lr.gram(X, lr.Gaussian(sigma)), gaussian(X, sigma)
    if classes:
        A, K = A * lr.gram(y, lr.Delta()), K * (y[:, None] == y[None, :])
    return A, eigenvalues(normalized(K))


CERTIFIED = {
    "Exact": lr.Exact(),
    "Lanczos": lr.Lanczos(steps=30),
    "BlockLanczos": lr.BlockLanczos(steps=5, block=8),
    "BlockLanczos in float64": lr.BlockLanczos(steps=5, block=8, single=False),
    "PivotedCholesky": lr.PivotedCholesky(size=40, block=8),
    "PivotedCholesky from a sample": lr.PivotedCholesky(size=40, block=8, sample=100),
    "Auto": lr.Auto(tol=1e-3),
}


@pytest.mark.parametrize("solver", CERTIFIED)
@pytest.mark.parametrize("classes", [False, True], ids=["alone", "with classes"])
@pytest.mark.parametrize(("columns", "sigma"), [(2, 1.0), (4, 0.4)], ids=["smooth", "flat"])
@pytest.mark.parametrize("name", TABLES)
def test_on_real_tables_the_exact_value_lies_in_the_interval(name, columns, sigma, classes, solver):
    A, values = table(name, columns, sigma, classes)
    n, remembered = len(values), Once(CERTIFIED[solver])
    for alpha in ORDERS:
        for k in (None, 10):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "(?s).*the certified width is", RuntimeWarning)
                estimate = lr.Renyi(alpha, k, remembered).certified(A)
            exact = exact_entropy(values, alpha, k, n)
            assert_contains(estimate, exact, doubt(values, alpha, k, n))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("solver", CERTIFIED)
def test_single_precision_tables_have_intervals_around_the_double_precision_value(name, solver):
    """Rounding of the data's own precision belongs inside."""
    X, _ = TABLES[name]()
    X = standardized(X)[:, :3].astype(np.float32)
    values = eigenvalues(normalized(gaussian(X.astype(float), 1.0)))
    A, remembered = lr.gram(X, lr.Gaussian(1.0)), Once(CERTIFIED[solver])
    for alpha in ORDERS[1:]:
        for k in (None, 10):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "(?s).*the certified width is", RuntimeWarning)
                estimate = lr.Renyi(alpha, k, remembered).certified(A)
            exact = exact_entropy(values, alpha, k, len(values))
            assert_contains(estimate, exact, doubt(values, alpha, k, len(values)))


@pytest.mark.parametrize("solver", [lr.PivotedCholesky(), lr.Auto(tol=1e-3)], ids=repr)
def test_a_smooth_kernel_of_many_single_precision_points_is_honest(solver):
    x = np.linspace(0, 9, 1500).astype(np.float32)
    values = eigenvalues(normalized(gaussian(x[:, None].astype(float), 1.0)))
    for alpha in (1, 2.5):
        estimate = lr.Renyi(alpha, None, solver).certified(lr.gram(x, lr.Gaussian(1.0)))
        assert exact_entropy(values, alpha, None, 1500) in estimate
        assert estimate.width < 2e-3


def test_order_zero_says_what_rounding_leaves_open():
    """A Gaussian kernel of distinct points has full rank, most of it below rounding."""
    x = np.linspace(0, 3, 30)
    estimate = lr.Renyi(0, solver=lr.Exact()).certified(lr.gram(x, lr.Gaussian(1.0)))
    assert math.log2(30) in estimate
    assert 2 < estimate.low <= estimate.value < estimate.high == math.log2(30)
    with_rank = lr.Renyi(0, rank=10, solver=lr.Exact()).certified(lr.gram(x, lr.Gaussian(1.0)))
    assert with_rank.low <= with_rank.value <= with_rank.high == math.log2(30)
    labels = lr.Renyi(0).certified(lr.gram(["a", "b", "b", "c"]))
    assert (labels.low, labels.high) == (math.log2(3), math.log2(3))
    rare = lr.gram(["a", "b", "c"], weights=[1e9, 1, 1])
    assert float(lr.Renyi(0)(rare)) == math.log2(3)


def test_the_interval_of_a_normalized_measure_of_a_constant_is_zero_and_has_no_unit():
    y = np.arange(10) % 3
    found = lr.normalized_mutual_information(np.zeros(10), y, entropy=lr.Renyi().certified)
    assert (found.low, found.value, found.high, found.unit) == (0, 0, 0, "")
    assert "bits" not in repr(found)


def test_a_normalized_measure_of_what_may_be_zero_has_no_interval():
    """Points closer than rounding lets a kernel tell: their entropy may be zero, or 1e-16."""
    x = np.random.default_rng(0).normal(size=50)
    close, H = lr.gram(1e-9 * x, lr.Gaussian(1.0)), lr.Renyi(1).certified
    assert H(close).low <= 0 < H(close).high < 1e-9
    with pytest.raises(ZeroDivisionError, match="may be 0"):
        lr.normalized_mutual_information(close, x, entropy=H)


# ---------------------------------------------------------------------------------- measures

FORMULAS = {
    "mutual information": lambda x, y, z, H: lr.mutual_information(x, y, entropy=H),
    "conditional entropy": lambda x, y, z, H: lr.conditional_entropy(x, given=y, entropy=H),
    "conditional mutual information": lambda x, y, z, H: lr.conditional_mutual_information(
        x, y, given=z, entropy=H
    ),
    "total correlation": lambda x, y, z, H: lr.total_correlation(x, y, z, entropy=H),
    "dual total correlation": lambda x, y, z, H: lr.dual_total_correlation(x, y, z, entropy=H),
    "interaction information": lambda x, y, z, H: lr.interaction_information(x, y, z, entropy=H),
    "normalized": lambda x, y, z, H: lr.normalized_mutual_information(x, y, entropy=H),
    "vendi score": lambda x, y, z, H: lr.vendi_score(x, entropy=H),
}


@pytest.mark.parametrize("measure", FORMULAS)
@pytest.mark.parametrize("alpha", [0.5, 1, 2, 5])
@pytest.mark.parametrize(
    "solver",
    [lr.Lanczos(20), lr.BlockLanczos(6, 4), lr.PivotedCholesky(size=25, block=4)],
    ids=repr,
)
def test_a_measure_of_certified_entropies_contains_the_exact_one(measure, alpha, solver):
    x = lr.gram(points(60, 2, seed=1), lr.Gaussian(1.0))
    y = lr.gram(points(60, 1, seed=2), lr.Laplacian(2.0))
    z = lr.gram(labels(60, 3), lr.Delta())
    formula = FORMULAS[measure]
    exact = float(formula(x, y, z, lr.Renyi(alpha, 6, lr.Exact())))
    found = formula(x, y, z, lr.Renyi(alpha, 6, solver).certified)
    assert isinstance(found, lr.Estimate)
    assert exact in found
    assert found.width > 0
    assert {name.split(": ")[-1] for name in found.about} <= {
        "Gaussian(sigma=1)",
        "Laplacian(sigma=2)",
        "Delta()",
    }


def test_failures_of_a_measures_terms_add_up():
    """Three terms, each of which may fail."""
    parts = iter([1e-7, 2e-7, 4e-7])

    def entropy(A):
        return lr.Estimate.within(1.0, 1.5, 2.0, failure=next(parts), about=A.names)

    found = lr.mutual_information([0.0, 1.0, 2.0], [1.0, 5.0, 2.0], entropy=entropy)
    assert found.failure == pytest.approx(7e-7)
    assert "fails with p <= 7e-07" in repr(found)


def test_a_probabilistic_certificate_says_so_and_contains_the_exact_value():
    """A flat spectrum: only random columns bound what is outside the basis."""
    x = lr.gram(points(1500, 10, seed=1), lr.Gaussian(1.5))
    estimate = lr.Renyi(2, 20, lr.Auto(tol=5e-3)).certified(x)
    assert 0 < estimate.failure <= 1e-10
    assert "fails with p <=" in repr(estimate)
    assert estimate.width <= 5e-3
    values = eigenvalues(np.asarray(x.dense()))
    assert exact_entropy(values, 2, 20, 1500) in estimate
