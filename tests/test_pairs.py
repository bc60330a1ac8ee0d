"""Order 2 as a mean over pairs of rows."""

import math

import numpy as np
import pytest

import lorenyi as lr
from lorenyi import pairs
from lorenyi.gram import squared_norm
from lorenyi.pairs import pair_mean

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) + 2.0
KERNELS = [
    lr.Gaussian(1.0),
    lr.Laplacian(2.0),
    lr.Cosine(),
    lr.Polynomial(2),
    lr.Delta(),
    lr.Function(lambda A, B: 1.0 / (1.0 + (A[:, :1] - B[:, :1].T) ** 2), infinitely_divisible=True),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_pairs_of_rows_have_the_entries_of_the_matrix(kernel):
    A = lr.gram(np.round(X), kernel)
    i, j = RNG.integers(0, 60, (2, 200))
    assert A.entries(i, j) == pytest.approx(np.asarray(A.dense())[i, j], abs=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_all_pairs_are_the_squared_norm(kernel):
    A = lr.gram(X, kernel)
    exact = float(np.sum(np.asarray(A.dense()) ** 2))
    assert float(pair_mean(A).square) == pytest.approx(exact, rel=1e-12)
    assert float(lr.Renyi(2)(A)) == pytest.approx(-math.log2(exact), abs=1e-12)


@pytest.mark.parametrize("weights", [None, np.arange(60) % 4 + 0.5])
def test_the_collision_entropy_leaves_out_pairs_of_a_point_with_itself(weights):
    A = lr.gram(X, lr.Gaussian(1.0), weights=weights)
    w = np.ones(60) if weights is None else weights
    K = np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    n = w.sum()
    mean = (w @ K**2 @ w - n) / (n * (n - 1))
    assert float(lr.CollisionEntropy()(A)) == pytest.approx(-math.log2(mean), rel=1e-12)


def test_a_sample_of_pairs_is_within_its_error_of_all():
    x = RNG.normal(size=(21_000, 3))
    y = x[:, 0] > 0
    for H, exact in ((lr.Renyi(2), lr.Renyi(2, solver=lr.Exact())), (lr.CollisionEntropy(), None)):
        found = lr.mutual_information(x, y, entropy=H)
        noise = math.sqrt(
            sum(np.mean(v**2) / n for (k, n), v in found.influence.parts.items() if k == "pairs")
        )
        assert 0 < noise < found.standard_error
        if exact is not None:
            truth = lr.mutual_information(x, y, entropy=exact)
            assert abs(found - truth) < 4 * noise


def test_a_tolerance_asks_for_more_pairs(monkeypatch):
    monkeypatch.setattr(pairs, "MAX_ALL_ROWS", 500)
    A = lr.gram(RNG.normal(size=(2000, 2)))
    exact = -math.log2(float(squared_norm(A)))
    found = lr.Renyi(2, solver=lr.Auto(tol=1e-3))(A)
    assert abs(found - exact) < 4e-3


def test_weighted_rows_are_drawn_as_often_as_they_count(monkeypatch):
    monkeypatch.setattr(pairs, "MAX_ALL_ROWS", 100)
    x, w = RNG.normal(size=(2000, 2)), RNG.integers(0, 4, 2000)
    A = lr.gram(x, lr.Gaussian(1.0), weights=w)
    exact = float(squared_norm(A))
    found = pair_mean(A)
    assert found.pairs > 0
    error = found.values.std() / math.sqrt(found.pairs)
    assert abs(float(found.square) - exact) < 5 * error


def test_the_collision_probability_is_unbiased():
    """The mean over samples is the probability that two draws agree."""
    p = np.array([0.5, 0.3, 0.2])
    rng = np.random.default_rng(1)
    found = [
        2.0
        ** -float(lr.entropy(rng.choice(["a", "b", "c"], 12, p=p), entropy=lr.CollisionEntropy()))
        for _ in range(400)
    ]
    assert abs(np.mean(found) - p @ p) < 4 * np.std(found) / math.sqrt(400)


def test_the_collision_entropy_does_not_drift_with_the_number_of_rows():
    rng = np.random.default_rng(2)
    kernel = lr.Gaussian(0.3)
    drift = []
    for H in (lr.CollisionEntropy(), lr.Renyi(2)):
        few = np.mean([H(lr.gram(rng.normal(size=(50, 2)), kernel)) for _ in range(60)])
        drift.append(abs(few - H(lr.gram(rng.normal(size=(2000, 2)), kernel))))
    assert drift[0] < 0.1 < 0.3 < drift[1]


def test_where_no_two_points_are_alike_the_collision_entropy_is_refused():
    with pytest.raises(ValueError, match=r"no two points are alike.*Renyi\(2\)"):
        lr.entropy([f"{i}" for i in range(30)], entropy=lr.CollisionEntropy())


@pytest.mark.parametrize("bad", [0, -5, 2.5, "all"])
def test_a_number_of_pairs_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match=r"pairs=.*integer of at least 1"):
        lr.CollisionEntropy(pairs=bad)


def test_a_gradient_goes_through_the_mean_over_pairs():
    torch = pytest.importorskip("torch")
    x = torch.tensor(X[:12], requires_grad=True)
    for H in (lr.Renyi(2), lr.CollisionEntropy()):
        assert torch.autograd.gradcheck(lambda z, H=H: H(lr.gram(z, lr.Gaussian(1.0))), (x,))


@pytest.mark.parametrize("pairs", [1, 10**6])
def test_where_none_can_be_drawn_or_all_are_fewer_all_pairs_are_taken(pairs):
    X = np.random.default_rng(0).normal(size=(50, 2))
    expected = lr.CollisionEntropy()(lr.gram(X, lr.Gaussian(1.0)))
    ready = lr.gram(lr.Gaussian(1.0)(X, X), lr.Precomputed())
    assert float(lr.CollisionEntropy(pairs=pairs)(ready)) == pytest.approx(float(expected))
    many = lr.CollisionEntropy(pairs=10**6)(lr.gram(X, lr.Gaussian(1.0)))
    assert float(many) == pytest.approx(float(expected))
