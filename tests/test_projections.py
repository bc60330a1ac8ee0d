"""The four projections as matrices: E[P P'] = I, and what their fast products must equal."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch
from grams import KINDS

import lorenyi as lr
from lorenyi import _arrays
from lorenyi.spectra.projections import leading_singular_values, walsh_hadamard

PROJECTIONS = {
    "GaussianProjection": lr.GaussianProjection,
    "HadamardProjection": lr.HadamardProjection,
    "InputSparsity": lr.InputSparsity,
    "SparseGraph": lr.SparseGraph,
    "SparseGraph, p=1": lambda size, seed=0: lr.SparseGraph(size, p=1, seed=seed),
    "SparseGraph, p=5": lambda size, seed=0: lr.SparseGraph(size, p=5, seed=seed),
}

every_projection = pytest.mark.parametrize("name", PROJECTIONS)


@every_projection
@pytest.mark.parametrize(("n", "size"), [(11, 4), (16, 15)])
def test_the_mean_of_p_times_its_transpose_is_the_identity(name, n, size):
    """Over 2000 seeds, each entry within five standard errors of I's."""
    seeds = 2000
    products = np.empty((seeds, n, n))
    for seed in range(seeds):
        P = PROJECTIONS[name](size, seed=seed).matrix(n)
        assert P.shape == (n, size)
        products[seed] = P @ P.T
    error = np.std(products, axis=0) / math.sqrt(seeds)
    assert error.max() < 0.1  # or the test could not tell I from (s/n) I
    assert (np.abs(products.mean(axis=0) - np.eye(n)) <= 5 * error + 1e-12).all()


@every_projection
@pytest.mark.parametrize("n", [2, 3, 5, 8, 13])
def test_at_full_size_p_times_its_transpose_is_exactly_the_identity(name, n):
    for size in (n, n + 1, 10 * n):
        P = PROJECTIONS[name](size, seed=3).matrix(n)
        assert pytest.approx(np.eye(n), abs=1e-14) == P @ P.T


@pytest.mark.parametrize("kind", KINDS)
@every_projection
@pytest.mark.parametrize("size", [7, 64])
def test_the_fast_product_has_the_singular_values_of_a_times_p(kind, name, size):
    """`project` never makes P: its singular values are those of the plain matrix times P."""
    A, matrix, _, tolerance = KINDS[kind]()
    solver = PROJECTIONS[name](size, seed=2)
    exact = np.linalg.svd(matrix @ solver.matrix(len(matrix)), compute_uv=False)
    found = solver.project(A)
    found = found.toarray() if _arrays.is_sparse(found) else _arrays.to_numpy(found)
    values = np.linalg.svd(found, compute_uv=False)
    rank = min(len(matrix), size)  # beyond are the zeros of columns that only pad
    assert values[:rank] == pytest.approx(exact[:rank], abs=tolerance)


@pytest.mark.parametrize("name", ["GaussianProjection", "HadamardProjection", "SparseGraph"])
def test_the_fast_product_is_a_times_p(name):
    A, matrix, *_ = KINDS["dense_gaussian"]()
    solver = PROJECTIONS[name](7, seed=2)
    assert solver.project(A) == pytest.approx(matrix @ solver.matrix(45), abs=1e-14)


def test_input_sparsity_takes_columns_up_to_their_signs():
    A, matrix, *_ = KINDS["dense_gaussian"]()
    solver = lr.InputSparsity(7, seed=2)
    expected = matrix @ solver.matrix(45)
    assert np.abs(solver.project(A)) == pytest.approx(np.abs(expected), abs=1e-15)
    assert 0 < (solver.matrix(45) < 0).sum() < 7


@pytest.mark.parametrize(("n", "size"), [(20, 1), (20, 7), (20, 20), (33, 32)])
def test_the_gaussian_projections_columns_are_orthonormal_but_for_their_scale(n, size):
    P = lr.GaussianProjection(size, seed=1).matrix(n)
    assert pytest.approx(n / size * np.eye(size), abs=1e-12) == P.T @ P


def test_the_gaussian_projections_range_is_rotationally_uniform():
    """Its first column is uniform on the sphere: coordinates with variance 1/n each."""
    n, seeds = 8, 4000
    columns = [lr.GaussianProjection(3, seed=seed).matrix(n)[:, 0] for seed in range(seeds)]
    columns = np.array(columns) / math.sqrt(n / 3)
    error = np.std(columns**2, axis=0) / math.sqrt(seeds)
    assert (np.abs(np.mean(columns**2, axis=0) - 1 / n) < 5 * error).all()


@pytest.mark.parametrize("n", [8, 11])
def test_the_hadamard_projection_samples_signed_columns_of_hadamards_matrix(n):
    P = lr.HadamardProjection(5, seed=4).matrix(n)
    order = 1 << (n - 1).bit_length()
    assert np.abs(P) == pytest.approx(np.full((n, 5), 1 / math.sqrt(5)))
    sign = np.sign(P[:, :1])  # D times the first sampled column; dividing leaves H alone
    H = scipy.linalg.hadamard(order)[:n]
    rest = {tuple(column) for column in (np.sign(P) * sign).T}
    assert len(rest) == 5  # distinct columns
    assert rest <= {tuple(column) for column in H.T}  # H's columns form a group


def test_input_sparsity_samples_each_column_at_most_once():
    P = lr.InputSparsity(6, seed=4).matrix(10)
    assert (np.count_nonzero(P, axis=0) == 1).all()
    assert (np.count_nonzero(P, axis=1) <= 1).all()
    assert np.abs(P[P != 0]) == pytest.approx(np.full(6, math.sqrt(10 / 6)))


@pytest.mark.parametrize("p", [1, 2, 3, 10, 25])
def test_each_column_of_a_sparse_graph_has_p_distinct_entries(p):
    n, size = 10, 6
    for seed in range(20):
        P = lr.SparseGraph(size, p=p, seed=seed).matrix(n)
        entries = min(p, n)
        assert (np.count_nonzero(P, axis=0) == entries).all()
        values = np.abs(P[P != 0])
        assert values == pytest.approx(np.full(size * entries, math.sqrt(n / (size * entries))))


# ------------------------------------------------------------------------------- transforms


@pytest.mark.parametrize("order", [2, 4, 8, 16, 32, 64, 128])
@pytest.mark.parametrize("given", [1, 0.5, 0.9])
def test_walsh_hadamard_is_multiplication_by_scipys_matrix(order, given):
    columns = max(1, int(given * order))  # the rest is padding
    X = np.random.default_rng(0).normal(size=(3, columns))
    exact = X @ scipy.linalg.hadamard(order)[:columns]
    assert walsh_hadamard(X, order) == pytest.approx(exact, abs=1e-12)
    tensor = walsh_hadamard(torch.tensor(X), order)
    assert tensor.numpy() == pytest.approx(exact, abs=1e-12)
    single = walsh_hadamard(X.astype(np.float32), order)
    assert single.dtype == np.float32
    assert single == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize("smallest", [1e-2, 1e-4, 1e-9, 1e-13, 0.0])
@pytest.mark.parametrize("library", ["numpy", "torch", "sparse"])
def test_small_singular_values_keep_their_digits(smallest, library):
    """Squares of values below 1e-8 would be lost in rounding: then Y itself is decomposed."""
    rng = np.random.default_rng(1)
    U = np.linalg.qr(rng.normal(size=(30, 4)))[0]
    V = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    values = np.array([1.0, 0.5, 0.2, smallest])
    Y = U @ np.diag(values) @ V
    given = {
        "numpy": lambda: Y,
        "torch": lambda: torch.tensor(Y),
        "sparse": lambda: scipy.sparse.csr_array(Y),
    }[library]()
    found = _arrays.to_numpy(leading_singular_values(given, 4))
    assert found == pytest.approx(values, rel=1e-10, abs=1e-15)


@every_projection
def test_a_spectrum_above_the_trace_is_scaled_down_with_a_warning(name):
    weights = np.tile([1.0, 1.0, 1.0, 20.0], 10)
    X = np.random.default_rng(0).normal(size=(40, 2))
    A = lr.gram(X, lr.Gaussian(1.0), weights=weights)
    make = PROJECTIONS[name]
    sums = {seed: float(np.sum(make(4, seed=seed)(A, 4).values)) for seed in range(60)}
    above = [seed for seed, total in sums.items() if total > 1.001]
    assert above
    with pytest.warns(RuntimeWarning, match=r"sum to 1\.\d+ times the trace: scaled down"):
        low = make(4, seed=above[0])(A, 4).low_rank(4)
    assert float(np.sum(low.values * low.counts)) == pytest.approx(1, abs=1e-14)
    assert float(low.values[-1]) == 0


@pytest.mark.parametrize("name", ["InputSparsity", "SparseGraph, p=1"])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 10.0])
def test_sampled_columns_of_equal_weights_never_exceed_the_trace(name, sigma):
    """|A P|_* <= |A^(1/2)|_F |A^(1/2) P|_F = sqrt(tr A tr P'AP) = 1 where all A_jj are 1/n."""
    A = lr.gram(np.random.default_rng(0).normal(size=(40, 2)), lr.Gaussian(sigma))
    for seed in range(30):
        values = PROJECTIONS[name](12, seed=seed)(A, 12).values
        assert float(np.sum(values)) <= 1 + 1e-14
