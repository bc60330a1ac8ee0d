"""What each method costs: kernel entries evaluated and products taken, counted, not timed."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse
from grams import sparse_matrix

import lorenyi as lr
from lorenyi import _arrays
from lorenyi.gram import held
from lorenyi.spectra.krylov import Krylov

RANK = 3


@dataclass(frozen=True)
class Counted(lr.Kernel):
    """A Gaussian kernel that counts the entries it is asked for."""

    counts: list = field(default_factory=list, compare=False)
    infinitely_divisible = True

    def block(self, X, Y):
        self.counts.append(len(X) * len(Y))
        return np.exp(-0.5 * ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2))

    @property
    def entries(self):
        return sum(self.counts)


def entries(solver, X, *joint, weights=None):
    """Kernel entries that a solver evaluates on the points."""
    kernel = Counted()
    A = lr.gram(X, kernel, weights=weights)
    for B in joint:
        A = A * B
    assert kernel.entries == 0  # making a Gram evaluates nothing
    solver(A, RANK)
    return kernel.entries


def normal(n, d=2):
    return np.random.default_rng(0).normal(size=(n, d))


DENSE = [lr.Exact(), lr.GaussianProjection(8), lr.HadamardProjection(8), lr.Lanczos(8)]


@pytest.mark.parametrize("solver", DENSE, ids=repr)
@pytest.mark.parametrize("n", [50, 100])
def test_methods_that_read_all_evaluate_every_entry_once(solver, n):
    assert entries(solver, normal(n)) == n * n


def test_restarts_evaluate_no_entry_twice():
    assert entries(lr.Lanczos(8, tol=1e-9), normal(60)) == 60 * 60


@pytest.mark.parametrize("n", [50, 100, 1000])
@pytest.mark.parametrize("size", [5, 20])
def test_input_sparsity_evaluates_only_its_columns(n, size):
    assert entries(lr.InputSparsity(size), normal(n)) == n * size


@pytest.mark.parametrize("n", [50, 100, 1000])
@pytest.mark.parametrize("p", [1, 2, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_sparse_graph_evaluates_only_the_columns_it_touches(n, p, seed):
    solver = lr.SparseGraph(10, p=p, seed=seed)
    touched = np.count_nonzero(np.any(solver.matrix(n) != 0, axis=1))
    found = entries(solver, normal(n))
    assert found == n * touched
    assert found <= n * 10 * p


@pytest.mark.parametrize(
    ("solver", "growth"),
    [(lr.Exact(), 4), (lr.Lanczos(8), 4), (lr.GaussianProjection(8), 4), (lr.InputSparsity(8), 2)],
    ids=repr,
)
def test_twice_the_points_cost_four_times_or_twice_as_much(solver, growth):
    assert entries(solver, normal(160)) == growth * entries(solver, normal(80))


@pytest.mark.parametrize("solver", [lr.Exact(), lr.Lanczos(8), lr.GaussianProjection(8)], ids=repr)
def test_equal_rows_are_evaluated_once(solver):
    """12 distinct points among 120: 144 entries, not 14400."""
    X = np.repeat(normal(12), 10, axis=0)
    assert entries(solver, X) == 12 * 12


def test_rows_without_weight_are_not_evaluated():
    weights = np.tile([1.0, 0.0, 2.0], 20)
    assert entries(lr.Exact(), normal(60), weights=weights) == 40 * 40


@pytest.mark.parametrize("solver", [lr.Exact(), lr.Lanczos(8), lr.GaussianProjection(8)], ids=repr)
@pytest.mark.parametrize("classes", [2, 5, 10])
def test_c_balanced_classes_cost_a_cth_of_the_entries(solver, classes):
    n = 100
    labels = lr.gram(np.arange(n) % classes, lr.Delta())
    assert entries(solver, normal(n), labels) == n * n // classes
    assert entries(solver, normal(n)) == n * n


def test_input_sparsity_samples_within_each_class():
    n, classes, size = 100, 5, 6
    labels = lr.gram(np.arange(n) % classes, lr.Delta())
    assert entries(lr.InputSparsity(size), normal(n), labels) == n * size


def test_a_sparse_factor_spares_the_others_the_columns_where_it_is_zero():
    """A band of width 3 times a Gaussian: a block of rows needs its own columns only."""
    n = 3000
    band = scipy.sparse.diags_array([0.3, 1.0, 0.3], offsets=[-1, 0, 1], shape=(n, n))
    kernel = Counted()
    A = lr.gram(band, lr.Precomputed()) * lr.gram(normal(n), kernel)
    lr.Lanczos(5)(A, RANK)
    assert kernel.entries < 0.1 * n * n


def test_the_squared_norm_and_one_eigenvalue_are_cheap_orders():
    """Order 2 needs every entry once and no eigenvalue; every measure on it is n^2."""
    kernel = Counted()
    A = lr.gram(normal(70), kernel)
    lr.Renyi(alpha=2, solver=lr.Lanczos(1)).bits(A)
    assert kernel.entries == 70 * 70


# ----------------------------------------------------------------------- products, and sparsity


@pytest.fixture
def multiplications(monkeypatch):
    """Scalar multiplications in products of sparse matrices with dense ones."""
    counts = []
    plain = scipy.sparse.csr_array.__matmul__

    def counted(self, other):
        if isinstance(other, np.ndarray):
            counts.append(self.nnz * (1 if other.ndim == 1 else other.shape[1]))
        return plain(self, other)

    monkeypatch.setattr(scipy.sparse.csr_array, "__matmul__", counted)
    return counts


@pytest.mark.parametrize("steps", [5, 10, 20])
@pytest.mark.parametrize("n", [100, 200])
def test_lanczos_on_a_sparse_matrix_multiplies_nnz_times_steps(multiplications, steps, n):
    K = sparse_matrix(n)
    lr.Lanczos(steps)(lr.gram(K, lr.Precomputed()), RANK)
    assert sum(multiplications) == K.nnz * steps


def test_lanczos_on_a_sparse_joint_multiplies_what_is_left_of_it(multiplications):
    """Sparse times labels: entries between classes are gone before the iteration."""
    n, steps = 120, 10
    K, y = sparse_matrix(n), np.arange(n) % 3
    left = (K.toarray() != 0) & (y[:, None] == y[None, :])
    lr.Lanczos(steps)(lr.gram(K, lr.Precomputed()) * lr.gram(y, lr.Delta()), RANK)
    assert sum(multiplications) == left.sum() * steps


@pytest.mark.parametrize("block", [1, 8])
def test_an_iteration_ends_when_the_trace_is_used_up(block):
    """A smooth kernel of two columns: some forty eigenvalues hold all of 400 rows' trace."""
    X = np.random.default_rng(0).random((400, 2))
    krylov = Krylov(held(lr.gram(X, lr.Gaussian(1.0))), block, 400)
    krylov.fill()
    assert krylov.complete
    assert krylov.products < 80


@pytest.fixture
def sparse_stays_sparse(monkeypatch):
    """Forbid dense copies of sparse matrices, but for small ones of order `size`."""
    size = 10

    def forbid(kind, method):
        plain = getattr(kind, method)

        def guarded(self, *args, **kwargs):
            assert max(self.shape) <= size, f"{method} of a sparse {self.shape}"
            return plain(self, *args, **kwargs)

        monkeypatch.setattr(kind, method, guarded)

    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array):
        for method in ("toarray", "todense"):
            forbid(kind, method)
    return size


SPARSE_METHODS = [lr.InputSparsity, lr.SparseGraph, lr.Lanczos]


@pytest.mark.parametrize("make", SPARSE_METHODS)
def test_a_sparse_matrix_stays_sparse(make, sparse_stays_sparse):
    A = lr.gram(sparse_matrix(80), lr.Precomputed())
    assert make(sparse_stays_sparse)(A, RANK).n == 80
    with pytest.raises(AssertionError, match="toarray"):
        lr.Exact()(A)  # the guard does guard


@pytest.mark.parametrize("make", SPARSE_METHODS)
def test_a_joint_with_a_sparse_matrix_stays_sparse(make, sparse_stays_sparse):
    A = lr.gram(sparse_matrix(80), lr.Precomputed())
    B = A * lr.gram(normal(80), lr.Gaussian(1.0)) * lr.gram(np.arange(80) % 2, lr.Delta())
    assert make(sparse_stays_sparse)(B, RANK).n == 80


def test_columns_and_blocks_of_a_sparse_matrix_are_sparse(sparse_stays_sparse):
    A = lr.gram(sparse_matrix(80), lr.Precomputed()) * lr.gram(normal(80), lr.Gaussian(1.0))
    assert A.is_sparse
    assert _arrays.is_sparse(A.columns(np.array([3, 5])))
    assert _arrays.is_sparse(A.block(slice(0, 30), slice(10, 80)))


def test_a_product_makes_the_matrix_a_few_rows_at_a_time():
    """A @ V makes the upper triangle a tile at a time, uses each twice and keeps none of it."""
    n = 3000
    kernel = Counted()
    A = lr.gram(normal(n, 1), kernel)
    A @ np.ones(n)
    assert n * n / 2 < kernel.entries < 0.6 * n * n
    assert max(kernel.counts) <= 2**20
    assert len(kernel.counts) > 10
