"""HSIC, CKA, distance correlation, transfer entropy, O- and S-information against definitions."""

from collections import Counter

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import lorenyi as lr

EXACT = lr.Renyi(solver=lr.Exact())


def pair(n=30):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 2))
    return x, np.sin(x[:, :1]) + 0.3 * rng.normal(size=(n, 1))


def kernel(x, sigma=1.0):
    return np.exp(-cdist(x, x, "sqeuclidean") / (2 * sigma**2))


def test_hsic_and_cka_are_their_definitions():
    x, y = pair()
    H = np.eye(30) - 1 / 30
    K, L = kernel(x), kernel(y)
    grams = [lr.gram(v, lr.Gaussian(1.0)) for v in (x, y)]
    expected = np.trace(K @ H @ L @ H) / 30**2
    assert lr.hsic(*grams) == pytest.approx(expected, abs=1e-12)
    norms = [np.sqrt(np.trace(M @ H @ M @ H)) / 30 for M in (K, L)]
    assert lr.cka(*grams) == pytest.approx(expected / np.prod(norms), abs=1e-12)


def test_the_distance_correlation_is_its_definition():
    """By doubly centered distances."""
    x, y = pair()
    A, B = (cdist(v, v) for v in (x, y))
    A, B = (D - D.mean(0) - D.mean(1)[:, None] + D.mean() for D in (A, B))
    expected = np.mean(A * B) / np.sqrt(np.mean(A * A) * np.mean(B * B))
    assert lr.distance_correlation(x, y) == pytest.approx(expected, abs=1e-12)


def test_the_distance_correlation_is_that_of_dcor():
    dcor = pytest.importorskip("dcor")
    x, y = pair()
    expected = dcor.distance_correlation(x, y) ** 2
    assert lr.distance_correlation(x, y) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("measure", [lr.hsic, lr.cka, lr.distance_correlation])
def test_weights_are_frequencies(measure):
    x, y = pair()
    w = np.random.default_rng(1).integers(0, 3, 30)
    rows = np.repeat(np.arange(30), w)
    assert measure(x, y, weights=w) == pytest.approx(measure(x[rows], y[rows]), abs=1e-9)


@pytest.mark.parametrize("measure", [lr.hsic, lr.cka, lr.distance_correlation])
def test_a_constant_depends_on_nothing(measure):
    x, _ = pair()
    assert measure(x, np.ones(30)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("measure", [lr.hsic, lr.cka, lr.distance_correlation])
def test_other_rows_are_refused(measure):
    with pytest.raises(ValueError, match="same rows"):
        measure(np.arange(5.0), np.arange(4.0))


# ------------------------------------------------------------------------------- several variables


def shannon(*columns):
    counts = np.array(list(Counter(zip(*columns, strict=True)).values()))
    p = counts / counts.sum()
    return -np.sum(p * np.log2(p))


def coins(seed=0, n=200):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, (2, n))
    return a, b, a ^ b ^ (rng.random(n) < 0.1), np.where(rng.random(n) < 0.7, a, b)


def test_o_and_s_information_are_shannons_for_labels():
    v = coins()
    alone, all_ = sum(shannon(c) for c in v), shannon(*v)
    others = [shannon(*(v[:i] + v[i + 1 :])) for i in range(4)]
    total, dual = alone - all_, all_ - sum(all_ - o for o in others)
    assert float(lr.o_information(*v)) == pytest.approx(total - dual, abs=1e-10)
    assert float(lr.s_information(*v)) == pytest.approx(total + dual, abs=1e-10)


def test_o_and_s_information_are_sums_of_the_correlations():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 40))
    x[2] += x[0] * x[1]
    total = float(lr.total_correlation(*x, entropy=EXACT))
    dual = float(lr.dual_total_correlation(*x, entropy=EXACT))
    assert float(lr.o_information(*x, entropy=EXACT)) == pytest.approx(total - dual, abs=1e-10)
    assert float(lr.s_information(*x, entropy=EXACT)) == pytest.approx(total + dual, abs=1e-10)
    with pytest.raises(ValueError, match="at least 3"):
        lr.o_information(x[0], x[1])


# ------------------------------------------------------------------------------- series


def test_the_transfer_entropy_is_shannons_for_labels():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 300)
    y = np.zeros(300, dtype=int)
    for t in range(2, 300):
        y[t] = (x[t - 2] ^ y[t - 1]) if rng.random() < 0.8 else rng.integers(0, 2)
    now, own, past = y[2:], y[1:-1], (x[1:-1], x[:-2])
    expected = shannon(now, own) + shannon(*past, own) - shannon(now, *past, own) - shannon(own)
    found = float(lr.transfer_entropy(x, y, lags=2))
    assert found == pytest.approx(expected, abs=1e-10)
    assert found > 0.2


def test_blocks_keep_the_values_and_what_is_within_them():
    x = np.arange(50)
    moved = lr.shuffled_blocks(x, 10, seed=1)
    assert sorted(moved) == list(x)
    assert np.sum(np.diff(moved) == 1) >= 45
    assert not np.array_equal(moved, x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lr.transfer_entropy(np.arange(9.0), np.arange(9.0), lags=0), "lags=0"),
        (lambda: lr.transfer_entropy(np.arange(9.0), np.arange(8.0)), "source has 9"),
        (lambda: lr.transfer_entropy(np.arange(3.0), np.arange(3.0), lags=2), "too few"),
        (lambda: lr.shuffled_blocks(np.arange(3.0), 4), "length=4"),
    ],
)
def test_bad_series_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
