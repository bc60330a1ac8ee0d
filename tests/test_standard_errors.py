"""Standard errors against those of the derivative, written out for all rows."""

import numpy as np
import pytest
import torch
from fuzz import oracle

import lorenyi as lr
from lorenyi.data.sources import ArraySource

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
LABELS = RNG.integers(0, 3, size=30)
RULES = (
    lr.Median(),
    lr.Median(per_column=True),
    lr.Median(standardize=True),
    lr.Nearest(3),
    lr.GeometricMean(),
    lr.Scott(),
    lr.Silverman(),
)


def exact(K, w, alpha, rank=None):
    A = oracle.weighted(K, w)
    return oracle.moving_entropy(A, float(w.sum()), alpha, rank).errors(w)[0]


@pytest.mark.parametrize("alpha", [0.5, 0.999, 1, 1.01, 1.5, 2, 10, 50, np.inf])
def test_it_follows_from_the_derivative_at_every_order(alpha):
    """At order 50 a constant that cancels was 10^50 times what is left."""
    found = lr.Renyi(alpha)(lr.gram(X, lr.Laplacian(1.0)))
    expected = exact(oracle.laplacian(X, 1.0), np.ones(30), alpha)
    assert found.standard_error == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.5, 1, 2, 10])
@pytest.mark.parametrize("rank", [1, 5, 29])
def test_it_follows_from_the_derivative_at_every_rank(alpha, rank):
    found = lr.Renyi(alpha, rank)(lr.gram(X, lr.Laplacian(1.0)))
    expected = exact(oracle.laplacian(X, 1.0), np.ones(30), alpha, rank)
    assert found.standard_error == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.01, 0.3])
@pytest.mark.parametrize("rank", [None, 4, 10])
def test_eigenvalues_that_are_nothing_but_rounding_do_not_move_it(alpha, rank):
    A = lr.gram(np.tile(X[:5], (6, 1)), lr.Gaussian(3.0))
    assert lr.Renyi(alpha, rank)(A).standard_error < 1.0


def test_that_of_collisions_is_of_pairs_of_different_points():
    K = oracle.laplacian(X, 1.0)
    A = oracle.weighted(K, np.ones(30))
    expected = oracle.moving_collision(A, 30).errors(np.ones(30))[0]
    found = lr.CollisionEntropy()(lr.gram(X, lr.Laplacian(1.0)))
    assert found.standard_error == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_weights_are_repeated_rows_where_a_bandwidth_is_chosen(rule):
    w = RNG.integers(0, 5, size=30)
    many = lr.gram(np.repeat(X, w, axis=0), lr.Gaussian(rule))
    few = lr.gram(X, lr.Gaussian(rule), weights=w)
    assert lr.Renyi()(few).standard_error == pytest.approx(
        lr.Renyi()(many).standard_error, rel=1e-6
    )


def test_a_constant_has_a_normalized_information_of_zero_without_error():
    found = lr.normalized_mutual_information(np.ones(30), LABELS)
    assert (float(found), found.standard_error, found.unit) == (0.0, 0.0, "")
    assert len(found.about) == 2


def test_rows_that_are_absent_are_not_drawn():
    x, w = np.random.default_rng(0).normal(size=3000), np.zeros(3000)
    w[[7, 1500, 2900]] = 2.0, 3.0, 1.0
    found = lr.entropy(x, weights=w)
    expected = lr.entropy(np.repeat(x, w.astype(int)))
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-6)


@pytest.mark.parametrize("kernel", [lr.Polynomial(4, 7.0, 1.0), lr.Cosine(), lr.Gaussian(0.5)])
def test_that_of_a_tensor_in_float32_is_that_of_its_numbers(kernel):
    """The diagonal of its kernel is one in float32 only."""
    X32 = torch.tensor(np.random.default_rng(0).normal(size=(700, 2)), dtype=torch.float32)
    found = lr.Renyi(1.5)(lr.gram(X32, kernel))
    expected = lr.Renyi(1.5)(lr.gram(X32.numpy(), kernel))
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-3)


def test_a_function_of_tensors_need_not_know_arrays():
    kernel = lr.Function(lambda X, Y: torch.exp(-torch.cdist(X, Y)), infinitely_divisible=True)
    found = lr.Renyi()(lr.gram(torch.tensor(X[:, :1]), kernel))
    expected = lr.Renyi()(lr.gram(X[:, :1], lr.Laplacian(1.0)))
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-6)


def test_neighbors_in_a_sample_are_those_of_the_sample():
    """Each row stands for many others, which are not its neighbors."""
    x = np.random.default_rng(0).normal(size=6000)
    found = lr.Renyi(2)(lr.gram(x, lr.Gaussian(lr.Nearest(10)))).standard_error
    fixed = lr.Renyi(2)(lr.gram(x, lr.Gaussian(lr.Nearest(10)(ArraySource(x[:, None]), None))))
    assert found != pytest.approx(fixed.standard_error, rel=1e-3)
