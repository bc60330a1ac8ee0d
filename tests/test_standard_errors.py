"""Standard errors against those of the derivative, written out for all rows."""

import numpy as np
import pytest
from fuzz import oracle

import lorenyi as lr

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
LABELS = RNG.integers(0, 3, size=30)
RULES = (
    lr.Median(),
    lr.Median(per_column=True),
    lr.Median(standardize=True),
    lr.Nearest(3),
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
