"""Every kind of Gram, each beside the plain matrix it stands for, written without the package.

`KINDS[name]()` returns a `Case`: the Gram, the dense matrix (float64, trace 1), n, and how close
the two can be (rounding of the Gram's own precision).
"""

from collections.abc import Callable
from typing import NamedTuple
from unittest import mock

import numpy as np
import scipy.sparse
import torch

import lorenyi as lr
from lorenyi.data.blocks import read_blocks
from lorenyi.data.streams import Here
from lorenyi.gram import structure


class Case(NamedTuple):
    gram: lr.Gram
    matrix: np.ndarray
    n: float
    tolerance: float = 1e-10


# ---------------------------------------------------------------- plain definitions, all pairs


def gaussian(X, sigma):
    difference = X[:, None, :] - X[None, :, :]
    return np.exp(-np.sum(difference**2, axis=2) / (2 * sigma**2))


def laplacian(X, sigma):
    return np.exp(-np.abs(X[:, None, :] - X[None, :, :]).sum(axis=2) / sigma)


def equality(labels):
    labels = np.asarray(labels)
    return (labels[:, None] == labels[None, :]).astype(float)


def normalized(K, weights=None):
    """sqrt(w_i w_j) K_ij / sqrt(K_ii K_jj), with weights that sum to one."""
    root = np.sqrt(np.diag(K))
    w = np.ones(len(K)) if weights is None else np.asarray(weights, dtype=float)
    w = np.sqrt(w / w.sum())
    return K / np.outer(root, root) * np.outer(w, w)


def eigenvalues(matrix):
    """All eigenvalues, descending."""
    return np.linalg.eigvalsh(matrix)[::-1]


# ----------------------------------------------------------------------------------- the data


def points(n=45, d=3, seed=1):
    return np.random.default_rng(seed).normal(size=(n, d))


def repeated_points(n=45, seed=2):
    """Rows on a small grid, so that many are equal."""
    return np.random.default_rng(seed).integers(0, 3, size=(n, 2)).astype(float)


def labels(n=45, classes=4, seed=3):
    return np.random.default_rng(seed).integers(0, classes, size=n)


def frequencies(n=45, seed=4):
    return np.random.default_rng(seed).integers(1, 5, size=n).astype(float)


def ready_matrix(n=45, seed=5):
    """A positive definite matrix with a diagonal that is not constant."""
    F = np.random.default_rng(seed).normal(size=(n, 12))
    return F @ F.T + np.diag(np.linspace(0.5, 2.0, n))


def sparse_matrix(n=45, seed=6):
    """Positive definite, about a tenth of the entries not zero: diagonally dominant."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.1), 1)
    symmetric = upper + upper.T
    K = symmetric + np.diag(np.abs(symmetric).sum(axis=1) + rng.random(n))
    return scipy.sparse.csr_array(K)


def copies(n=9, times=5, seed=7):
    """kron(I, K0): every eigenvalue five times, and rows shuffled so that no block is seen."""
    K = np.kron(np.eye(times), ready_matrix(n, seed))
    order = np.random.default_rng(seed).permutation(n * times)
    return K[np.ix_(order, order)]


def cauchy(X, Y):
    """A user's kernel, infinitely divisible: a product of 1 / (1 + t^2)."""
    value = 1.0
    for j in range(X.shape[1]):
        value = value / (1.0 + (X[:, j : j + 1] - Y[:, j : j + 1].T) ** 2)
    return value


# ---------------------------------------------------------------------------------- the kinds


def dense_gaussian():
    X = points()
    return Case(lr.gram(X, lr.Gaussian(1.3)), normalized(gaussian(X, 1.3)), 45)


def dense_laplacian():
    X = points()
    return Case(lr.gram(X, lr.Laplacian(2.0)), normalized(laplacian(X, 2.0)), 45)


def user_function():
    X = points()
    kernel = lr.Function(cauchy, infinitely_divisible=True)
    return Case(lr.gram(X, kernel), normalized(cauchy(X, X)), 45)


def weighted():
    X, w = points(), frequencies()
    A = lr.gram(X, lr.Gaussian(1.3), weights=w)
    return Case(A, normalized(gaussian(X, 1.3), w), w.sum())


def zero_weights():
    X, w = points(), frequencies()
    w[::4] = 0.0
    A = lr.gram(X, lr.Gaussian(1.3), weights=w)
    return Case(A, normalized(gaussian(X, 1.3), w), w.sum())


def folded():
    X = repeated_points()
    return Case(lr.gram(X, lr.Gaussian(1.0)), normalized(gaussian(X, 1.0)), 45)


def weighted_and_folded():
    X, w = repeated_points(), frequencies()
    A = lr.gram(X, lr.Gaussian(1.0), weights=w)
    return Case(A, normalized(gaussian(X, 1.0), w), w.sum())


def weighted_x_folded():
    """A joint of a variable without equal rows and one with many, under common weights."""
    X, Y, w = points(), repeated_points(), frequencies()
    A = lr.gram(X, lr.Gaussian(1.3), weights=w) * lr.gram(Y, lr.Laplacian(1.0), weights=w)
    return Case(A, normalized(gaussian(X, 1.3) * laplacian(Y, 1.0), w), w.sum())


def blocks():
    X, y = points(), labels()
    A = lr.gram(X, lr.Gaussian(1.3)) * lr.gram(y, lr.Delta())
    return Case(A, normalized(gaussian(X, 1.3) * equality(y)), 45)


def many_small_blocks():
    """Classes of a few rows each, some of one."""
    X, y = points(), labels(classes=25)
    A = lr.gram(X, lr.Gaussian(1.3)) * lr.gram(y, lr.Delta())
    return Case(A, normalized(gaussian(X, 1.3) * equality(y)), 45)


def folded_blocks():
    X, y, w = repeated_points(), labels(), frequencies()
    A = lr.gram(X, lr.Gaussian(1.0), weights=w) * lr.gram(y, lr.Delta(), weights=w)
    return Case(A, normalized(gaussian(X, 1.0) * equality(y), w), w.sum())


def ready_made():
    K = ready_matrix()
    return Case(lr.gram(K, lr.Precomputed()), normalized(K), 45)


def sparse():
    K = sparse_matrix()
    return Case(lr.gram(K, lr.Precomputed()), normalized(K.toarray()), 45)


def identity():
    return Case(lr.gram(np.eye(40), lr.Precomputed()), np.eye(40) / 40, 40)


def balanced_labels():
    y = np.arange(40) % 5
    return Case(lr.gram(y, lr.Delta()), normalized(equality(y)), 40)


def balanced_labels_ready_made():
    """The same matrix without visible structure: 8/40 five times, and 35 zeros."""
    K = equality(np.arange(40) % 5)
    return Case(lr.gram(K, lr.Precomputed()), normalized(K), 40)


def copies_ready_made():
    K = copies()
    return Case(lr.gram(K, lr.Precomputed()), normalized(K), 45)


def linear():
    X = points(d=4)
    return Case(lr.gram(X, lr.Linear()), normalized(X @ X.T), 45)


def cosine():
    X = points(d=4)
    return Case(lr.gram(X, lr.Cosine()), normalized(X @ X.T), 45)


def polynomial():
    X = points()
    A = lr.gram(X, lr.Polynomial(degree=2, gamma=0.5, shift=1.5))
    return Case(A, normalized((0.5 * X @ X.T + 1.5) ** 2), 45)


def wide_polynomial():
    """More features than rows: no dual form."""
    X = points()
    A = lr.gram(X, lr.Polynomial(degree=4, gamma=0.1, shift=1.0))
    return Case(A, normalized((0.1 * X @ X.T + 1.0) ** 4), 45)


def linear_x_polynomial():
    X, Y = points(d=2), points(d=1, seed=8)
    A = lr.gram(X, lr.Linear()) * lr.gram(Y, lr.Polynomial())
    return Case(A, normalized(X @ X.T * (Y @ Y.T + 1.0) ** 2), 45)


def ready_made_x_gaussian_x_delta():
    K, X, y = ready_matrix(), points(), labels()
    A = lr.gram(K, lr.Precomputed()) * lr.gram(X, lr.Gaussian(1.3)) * lr.gram(y, lr.Delta())
    return Case(A, normalized(K * gaussian(X, 1.3) * equality(y)), 45)


def sparse_x_delta():
    K, y = sparse_matrix(), labels()
    A = lr.gram(K, lr.Precomputed()) * lr.gram(y, lr.Delta())
    return Case(A, normalized(K.toarray() * equality(y)), 45)


def sparse_x_gaussian_x_delta():
    K, X, y = sparse_matrix(), points(), labels(classes=2)
    A = lr.gram(K, lr.Precomputed()) * lr.gram(X, lr.Gaussian(1.3)) * lr.gram(y, lr.Delta())
    return Case(A, normalized(K.toarray() * gaussian(X, 1.3) * equality(y)), 45)


def sparse_x_gaussian():
    K, X = sparse_matrix(), points()
    A = lr.gram(K, lr.Precomputed()) * lr.gram(X, lr.Gaussian(1.3))
    return Case(A, normalized(K.toarray() * gaussian(X, 1.3)), 45)


def sparse_x_sparse_x_dense():
    K, L, M = sparse_matrix(), sparse_matrix(seed=9), ready_matrix()
    A = lr.gram(K, lr.Precomputed()) * lr.gram(L, lr.Precomputed()) * lr.gram(M, lr.Precomputed())
    return Case(A, normalized(K.toarray() * L.toarray() * M), 45)


# The Frobenius norm of A is at most 1, so eigenvalues move by at most the relative rounding of an
# entry (a few units). An iteration ends when all but n such roundings of the trace is found.
FLOAT32 = 4 * 45 * float(np.finfo(np.float32).eps)


def float32():
    X = points().astype(np.float32)
    exact = normalized(gaussian(X.astype(float), 1.3))
    return Case(lr.gram(X, lr.Gaussian(1.3)), exact, 45, FLOAT32)


def float32_sparse():
    K = sparse_matrix().astype(np.float32)
    exact = normalized(K.toarray().astype(float))
    return Case(lr.gram(K, lr.Precomputed()), exact, 45, FLOAT32)


def torch_tensor():
    X = points()
    A = lr.gram(torch.tensor(X), lr.Gaussian(1.3))
    return Case(A, normalized(gaussian(X, 1.3)), 45)


def torch_x_labels_x_ready_made():
    """One tensor among NumPy's and SciPy's: the joint is the tensor's."""
    X, y, K = points(), labels(classes=2), sparse_matrix()
    A = lr.gram(torch.tensor(X), lr.Gaussian(1.3)) * lr.gram(y, lr.Delta())
    A = lr.gram(K, lr.Precomputed()) * A
    return Case(A, normalized(gaussian(X, 1.3) * equality(y) * K.toarray()), 45)


def stream(array):
    """Rows in three blocks, as in files."""
    cuts = [array[:20], array[20:25], array[25:]]
    return read_blocks(Here(), cuts, [len(cut) for cut in cuts], array[:0], "x")


def away(A, matrix, n):
    """A Gram of rows in blocks, of which more than ten are never collected to find structure."""
    with mock.patch.object(structure, "WHOLE", 10):
        _ = A.reduced
    return Case(A, matrix, n)


def streamed():
    X = points()
    return away(lr.gram(stream(X), lr.Gaussian(1.3)), normalized(gaussian(X, 1.3)), 45)


def streamed_weighted_blocks():
    X, y, w = points(), labels(classes=2), frequencies()
    A = lr.gram(stream(X), lr.Gaussian(1.3), weights=w) * lr.gram(y, lr.Delta(), weights=w)
    return away(A, normalized(gaussian(X, 1.3) * equality(y), w), w.sum())


def streamed_folded():
    X = repeated_points()
    A = lr.gram(stream(X), lr.Laplacian(1.0))
    return away(A, normalized(laplacian(X, 1.0)), 45)


_ALL = [
    streamed,
    streamed_weighted_blocks,
    streamed_folded,
    dense_gaussian,
    dense_laplacian,
    user_function,
    weighted,
    zero_weights,
    folded,
    weighted_and_folded,
    weighted_x_folded,
    blocks,
    many_small_blocks,
    folded_blocks,
    ready_made,
    sparse,
    identity,
    balanced_labels,
    balanced_labels_ready_made,
    copies_ready_made,
    linear,
    cosine,
    polynomial,
    wide_polynomial,
    linear_x_polynomial,
    ready_made_x_gaussian_x_delta,
    sparse_x_delta,
    sparse_x_gaussian_x_delta,
    sparse_x_gaussian,
    sparse_x_sparse_x_dense,
    float32,
    float32_sparse,
    torch_tensor,
    torch_x_labels_x_ready_made,
]

KINDS: dict[str, Callable[[], Case]] = {kind.__name__: kind for kind in _ALL}
