"""Precision of what goes in: every floating type, every magnitude, entries rounded to float32."""

import math

import grams
import limits
import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse
import torch

import lorenyi as lr
from lorenyi import _arrays
from lorenyi.selection import InformationSelector

TYPES = [np.float16, np.float32, np.longdouble]


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


# ------------------------------------------------------- NumPy's numbers are points in float64


@pytest.mark.parametrize("n", [1000, 1200, 5000])
@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_of_any_type_are_measured_as_the_same_numbers_in_float64(dtype, n):
    x = drawn(n).astype(dtype)
    with limits.seconds(60):
        assert float(lr.entropy(x)) == float(lr.entropy(x.astype(np.float64)))


def test_a_column_of_float32_is_measured_as_in_float64():
    x = drawn(1000).astype(np.float32)
    with limits.seconds(60):
        assert float(lr.entropy(pd.Series(x))) == float(lr.entropy(x.astype(np.float64)))


def test_a_joint_of_float32_and_float64_is_measured():
    x, y = drawn(1000).astype(np.float32), drawn(1000, seed=1)
    with limits.seconds(60):
        found = lr.mutual_information(x, y)
    assert float(found) == float(lr.mutual_information(x.astype(np.float64), y))


def test_float32_is_tested_for_independence():
    x = drawn(400).astype(np.float32)
    with limits.seconds(60):
        assert lr.independence_test(x, x**2, permutations=9).pvalue == 0.1


def test_a_pivoted_factor_of_float32_ends():
    H = lr.Renyi(1, solver=lr.PivotedCholesky())
    with limits.seconds(60):
        found = H(lr.gram(drawn(1000).astype(np.float32), lr.Gaussian(1.0)))
    assert float(found) == pytest.approx(
        float(lr.entropy(lr.gram(drawn(1000).astype(np.float32), lr.Gaussian(1.0)))), abs=1e-4
    )


@pytest.mark.parametrize(("n", "d", "sigma"), [(40, 8, "median"), (700, 2, 0.3)])
def test_float32_with_labels_is_not_taken_for_an_indefinite_matrix(n, d, sigma):
    for seed in range(10 if n == 40 else 1):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n, d)).astype(np.float32), rng.integers(0, 2, n)
        with limits.seconds(60):
            found = lr.mutual_information(lr.gram(X, lr.Gaussian(sigma)), y)
        A = lr.gram(X.astype(np.float64), lr.Gaussian(sigma)).dense()
        exact = oracles.mutual_information(A, grams.equality(y) / n, 1)
        assert float(found) == pytest.approx(exact, abs=3e-4)


def two_clusters(seed):
    rng = np.random.default_rng(seed)
    return (np.repeat([[-18.0], [18.0]], 5, axis=0) + rng.normal(size=(10, 1))).astype(np.float32)


@pytest.mark.parametrize("alpha", [0.5, 1, 2, 3])
@pytest.mark.parametrize("convert", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_the_interval_of_far_clusters_in_float32_holds(alpha, convert):
    for seed in range(40):
        X = two_clusters(seed)
        estimate = lr.Renyi(alpha).certified(lr.gram(convert(X), lr.Gaussian(1.0)))
        exact = grams.gaussian(X.astype(np.float64), 1.0) / 10
        assert oracles.entropy(exact, alpha) in estimate


@pytest.mark.parametrize("alpha", [1, 3])
def test_the_interval_of_a_tensor_with_a_gradient_holds_too(alpha):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.repeat([[-2000.0], [2000.0]], 5, axis=0) + rng.normal(size=(10, 1))
        X = torch.tensor(X, dtype=torch.float32, requires_grad=True)
        estimate = lr.Renyi(alpha).certified(lr.gram(X, lr.Gaussian(1.0)))
        exact = grams.gaussian(X.detach().numpy().astype(np.float64), 1.0) / 10
        assert oracles.entropy(exact, alpha) in estimate


# ------------------------------------------------------------ entries that are rounded to float32


def rounded(X, Y):
    return np.exp(-0.5 * (X - Y.T) ** 2).astype(np.float32)


def test_a_function_of_float16_values_is_a_kernel():
    x = drawn(60, 1)
    kernel = lr.Function(lambda X, Y: rounded(X, Y).astype(np.float16), infinitely_divisible=True)
    estimate = lr.Renyi(1).certified(lr.gram(x, kernel))
    assert oracles.entropy(grams.gaussian(x, 1.0) / 60, 1) in estimate


@pytest.mark.parametrize("n", [40, 500, 1500])
def test_a_function_of_float32_values_is_a_kernel(n):
    x = drawn(n, 1)
    with limits.seconds(60):
        estimate = lr.entropy(
            lr.gram(x, lr.Function(rounded, infinitely_divisible=True)),
            entropy=lr.Renyi(1, solver=lr.Auto(tol=1e-3)).certified,
        )
    assert oracles.entropy(grams.gaussian(x, 1.0) / n, 1) in estimate
    assert estimate.width < 1e-3


@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n", [40, 500])
def test_a_ready_matrix_of_float32_is_a_kernel_matrix(n, convert):
    x = drawn(n, 1)
    K = convert(grams.gaussian(x, 1.0).astype(np.float32))
    with limits.seconds(60):
        estimate = lr.Renyi(1).certified(lr.gram(K, lr.Precomputed()))
    assert oracles.entropy(grams.gaussian(x, 1.0) / n, 1) in estimate
    assert estimate.width < 1e-3


def test_a_matrix_that_float32_does_not_explain_is_still_refused():
    K = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]], dtype=np.float32)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        lr.entropy(lr.gram(K, lr.Precomputed()))


def test_a_matrix_of_float16_must_be_symmetric():
    K = np.eye(20, dtype=np.float16)
    K[0, 1] = 0.5
    with pytest.raises(ValueError, match="not symmetric"):
        lr.gram(K, lr.Precomputed())


# ------------------------------------------------------------------------------- magnitudes

KERNELS = {
    "median": lr.Gaussian("median"),
    "per column": lr.Gaussian(lr.Median(per_column=True)),
    "scott": lr.Gaussian("scott"),
    "silverman": lr.Gaussian("silverman"),
    "nearest": lr.Gaussian(lr.Nearest(3)),
    "geometric": lr.Gaussian(lr.GeometricMean()),
    "laplacian": lr.Laplacian("median"),
    "linear": lr.Linear(),
    "cosine": lr.Cosine(),
}


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e155, 1e300])
@pytest.mark.parametrize("name", KERNELS)
def test_entropies_do_not_depend_on_the_unit_of_the_numbers(name, scale):
    X = drawn(50, 2)
    expected = float(lr.entropy(lr.gram(X, KERNELS[name])))
    assert float(lr.entropy(lr.gram(scale * X, KERNELS[name]))) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-160, 1e155, 1e300])
def test_selection_does_not_depend_on_the_unit_of_a_column(scale):
    X = drawn(80, 3)
    y = X[:, 1] > 0
    units = np.array([1.0, scale, 1.0])
    assert InformationSelector(1).fit(X * units, y).indices_.tolist() == [1]


def test_points_farther_apart_than_can_be_squared_have_kernel_zero():
    X = 1e200 * np.arange(10.0)[:, None] * np.ones((1, 2))
    assert float(lr.entropy(lr.gram(X, lr.Gaussian(1.0)))) == pytest.approx(math.log2(10))


@pytest.mark.parametrize(("size", "gamma"), [(1e-158, 1e300), (1e158, 1e-300)])
def test_a_polynomial_whose_gamma_makes_up_for_the_size_keeps_its_digits(size, gamma):
    X = drawn(9, 2)
    expected = lr.entropy(lr.gram(X, lr.Polynomial(2, 1.0, 0.0)))
    found = lr.entropy(lr.gram(size * X, lr.Polynomial(2, gamma, 0.0)))
    assert float(found) == pytest.approx(float(expected), abs=1e-12)


def test_a_polynomial_that_overflows_is_refused():
    with pytest.raises(ValueError, match=r"diagonal inf.*finite"):
        lr.gram(1e200 * drawn(9, 2), lr.Polynomial())


# ------------------------------------------------------------------- the caller's array may change

HELD = {
    "linear": lambda X: lr.gram(X, lr.Linear()),
    "polynomial": lambda X: lr.gram(X, lr.Polynomial()),
    "function": lambda X: lr.gram(X, lr.Function(lambda X, Y: X @ Y.T + 1.0, False)),
    "gaussian": lambda X: lr.gram(X, lr.Gaussian(1.0)),
    "labels": lambda X: lr.gram((X[:, 0] > 0).astype(int)),
    "tensor": lambda X: lr.gram(torch.from_numpy(X), lr.Polynomial()),
    "matrix": lambda X: lr.gram(X @ X.T, lr.Precomputed()),
}


@pytest.mark.parametrize("name", [*HELD, "the matrix itself"])
def test_a_gram_does_not_change_with_the_callers_array(name):
    X = drawn(12, 3)
    given = X @ X.T + np.eye(12) if name == "the matrix itself" else X
    A = lr.gram(given, lr.Precomputed()) if given is not X else HELD[name](X)
    before = _arrays.to_numpy(A.dense()).copy()
    given[...] = 2.0
    np.testing.assert_array_equal(_arrays.to_numpy(A.dense()), before)
