"""Joints of many rows from products of columns' factors, against exact values of few rows."""

import warnings

import numpy as np
import pytest

import lorenyi as lr
from lorenyi import Exact, Gaussian, Renyi
from lorenyi.selection import InformationSelector, JointInformation
from lorenyi.selection.chosen import column
from lorenyi.selection.products import Pairs, Products


@pytest.fixture(autouse=True)
def _few_pairs(monkeypatch):
    monkeypatch.setattr("lorenyi.selection.products.PAIRS", 200_000)
    monkeypatch.setattr("lorenyi.selection.products.CHUNK", 128)


def variables(weighted=False, nominal=False, n=500):
    """Three columns, a candidate and labels of three classes, one of them of one row."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 3))
    X[:, 1] += X[:, 0]
    z = rng.integers(0, 4, n) if nominal else 0.7 * X[:, 0] + 0.7 * rng.normal(size=n)
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [-0.6, 0.9])
    y[7] = 3
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    grams = [lr.gram(x, Gaussian(1.0), weights=weights) for x in X.T]
    candidate = lr.gram(z, None if nominal else Gaussian(1.0), weights=weights)
    return grams, candidate, lr.gram(y, weights=weights), y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("alpha", [0.6, 1, 2, 3])
def test_the_exact_values_lie_between(alpha, nominal, weighted):
    grams, candidate, labels, y = variables(weighted, nominal)
    entropy = Renyi(alpha, 30, Exact())
    products = Products(column(grams[0]), y, entropy, 0)
    for A in grams[1:]:
        products.join(column(A))
    J = grams[0] * grams[1] * grams[2] * candidate
    for closely in (False, True):
        found = products.measure(column(candidate), closely)
        for joint, ends in ((J, found.without), (J * labels, found.labelled)):
            exact = float(entropy(joint))
            assert ends.low <= exact <= ends.high
            assert ends.high - exact < (0.02 if closely else 0.2)
            assert ends.failure > 0
            if alpha == 2:
                assert exact - ends.low < 0.35


def test_a_closer_look_is_closer():
    grams, candidate, _, y = variables()
    products = Products(column(grams[0]), y, Renyi(2, 30), 0)
    for A in grams[1:]:
        products.join(column(A))
    first, second = (products.measure(column(candidate), closely) for closely in (False, True))
    for name in ("without", "labelled"):
        assert getattr(second, name).high < getattr(first, name).high - 1e-4


@pytest.mark.parametrize("weighted", [False, True])
def test_norms_are_bounded_from_above_and_not_by_much(weighted):
    grams, candidate, labels, y = variables(weighted)
    weights = np.asarray(grams[0].weights)
    J = grams[0] * grams[1] * candidate
    for seed in range(5):
        pairs = Pairs(weights, y, seed)
        for A in grams[:2]:
            pairs.join(A)
        for found, joint in zip(pairs.norms(candidate), (J, J * labels), strict=True):
            exact = float(joint.squared_norm())
            assert exact <= found <= 1.15 * exact


def test_many_rows_are_selected_by_products(monkeypatch):
    """As if 500 rows were many: what decides is found, and the value lies within its bounds."""
    monkeypatch.setattr("lorenyi.selection.information.LARGE", 100)
    monkeypatch.setattr("lorenyi.selection.information.ROWS", 1)
    asked = []
    measure = Products.measure

    def watched(self, candidate, closely):
        asked.append(closely)
        return measure(self, candidate, closely)

    monkeypatch.setattr(Products, "measure", watched)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 8))
    y = (X[:, :5] @ [1.0, 0.9, 0.8, 0.7, 0.6] > 0).astype(int)
    entropy = Renyi(2, 20)
    selector = InformationSelector(5, criterion=JointInformation(entropy=entropy))
    with pytest.warns(RuntimeWarning, match="still overlap"):
        selector.fit(X, y)
    assert set(selector.indices_) == {0, 1, 2, 3, 4}
    assert asked.count(True) <= 2 * 5 + 2 < asked.count(False) + 4
    low, high = selector.score_bounds_.T
    assert np.all((low <= selector.scores_) & (selector.scores_ <= high))
    Z = (X - X.mean(0)) / X.std(0)
    A, B = lr.gram(Z[:, selector.indices_], Gaussian(1.0)), lr.gram(y)
    H = Renyi(2, 20, Exact())
    exact = float(H(A)) + float(H(B)) - float(H(A * B))
    assert low[-1] <= exact <= high[-1]
    assert abs(exact - selector.scores_[-1]) < 0.05


@pytest.mark.parametrize("alpha", [0.6, 2, 50])
def test_a_factor_that_misses_the_largest_eigenvalue_is_no_proof(alpha):
    """The residual holds 0.5 and 0.3: its norm must be counted whole."""
    grams, _, _, y = variables()
    products = Products(column(grams[0]), y, Renyi(alpha, 1), 0)
    true = np.array([0.5, 0.3, 0.2])
    products.n = 3
    found = products._ends(np.array([0.1]), float(np.sum(true**2)))
    assert found.low <= lr.renyi_entropy(lr.Spectrum(true), alpha, 1) <= found.high


@pytest.mark.parametrize("room", [False, True])
def test_where_memory_is_short_pivots_serve(room, monkeypatch):
    monkeypatch.setattr("lorenyi.selection.information.LARGE", 100)
    monkeypatch.setattr("lorenyi.selection.information.ROWS", 1)
    monkeypatch.setattr("lorenyi.selection.products.fits", lambda needed: room)
    asked = []
    monkeypatch.setattr(Products, "__init__", lambda *_: asked.append(1) or 1 / 0)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5))
    selector = InformationSelector(3, criterion=JointInformation(entropy=Renyi(2, 20)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        if room:
            with pytest.raises(ZeroDivisionError):
                selector.fit(X, (X[:, 0] > 0).astype(int))
        else:
            selector.fit(X, (X[:, 0] > 0).astype(int))
    assert bool(asked) is room
