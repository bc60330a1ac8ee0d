"""Entropies from log-determinants of a band: against eigenvalues, on every kind of Gram."""

import importlib
import math

import grams
import numpy as np
import oracles
import pytest

import lorenyi as lr
from lorenyi import _arrays, _lapack
from lorenyi.estimate import Estimate
from lorenyi.spectra import determinants
from lorenyi.spectra.determinants import Sums, power_like

ALPHAS = [0.3, 0.6, 0.99, 1.0, 1.01, 1.5, 1.9]
NUMPY = [name for name, case in grams.KINDS.items() if _arrays.is_numpy(case().gram.reference)]


@pytest.fixture
def small(monkeypatch):
    """Let small matrices take the way of large ones."""
    monkeypatch.setattr(determinants, "SMALL", 4)
    monkeypatch.setattr(determinants, "WIDTH", 4)


def gaussian(n, d, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return lr.gram(X, lr.Gaussian(1.0))


def whole_entropy(A, alpha, single):
    ends = determinants.whole_entropy(A, alpha, single)
    return None if ends is None else Estimate(*ends)


def exact(A, alpha):
    return float(lr.renyi_entropy(lr.Exact()(A), alpha))


def dense_band(diagonals):
    """The matrix that `band` describes, written out."""
    m, width = len(diagonals), diagonals.shape[1] - 1
    T = np.zeros((m, m))
    for i in range(m):
        right = diagonals[i, : min(width + 1, m - i)]
        T[i, i : i + width + 1] = right
        T[i : i + width + 1, i] = right
    return T


@pytest.mark.parametrize(
    ("m", "width"), [(2, 3), (3, 4), (4, 4), (5, 4), (61, 4), (64, 16), (90, 32)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_band_has_the_eigenvalues_of_the_matrix(m, width, dtype):
    A = np.asarray(gaussian(m, 3).dense()).astype(dtype)
    values = np.linalg.eigvalsh(A.astype(np.float64))
    T = dense_band(_lapack.band(A.copy(), width))
    error = np.linalg.norm(np.linalg.eigvalsh(T) - values)
    assert error <= determinants.STABLE * np.finfo(dtype).eps * np.linalg.norm(values)


@pytest.mark.parametrize("d", [1, 4, 7])
def test_float32_rounds_what_leading_eigenvectors_leave(d):
    A = np.asarray(gaussian(400, d).dense())
    values = np.linalg.eigvalsh(A)
    found = _lapack.mixed_band(A.copy(), 32)
    error = np.linalg.norm(np.linalg.eigvalsh(dense_band(found)) - values)
    rest = np.linalg.norm(dense_band(found)[32:, 32:])
    eps = np.finfo(np.float32).eps, np.finfo(np.float64).eps
    assert error <= determinants.STABLE * (eps[0] * rest + eps[1] * np.linalg.norm(values))
    assert rest < 0.9 * np.linalg.norm(values)


@pytest.mark.parametrize("shift", [1e-3, 1.0])
def test_log_determinants(shift):
    A = np.asarray(gaussian(50, 2).dense())
    expected = np.linalg.slogdet(A + shift * np.eye(50))[1]
    assert _lapack.log_determinant(_lapack.band(A, 8), shift) == pytest.approx(expected, abs=1e-10)


def test_an_indefinite_matrix_has_no_logarithm():
    assert _lapack.log_determinant(np.array([[1.0], [-2.0]]), 1.5) is None


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("alpha", "single"), [*((a, False) for a in ALPHAS), *((a, True) for a in (0.3, 1.0, 1.9))]
)
@pytest.mark.parametrize("kind", NUMPY)
def test_every_kind_of_gram(kind, alpha, single):
    case = grams.KINDS[kind]()
    found = whole_entropy(case.gram, alpha, single)
    if found is None:  # nothing that could be trusted
        assert single
        return
    # What the Gram's own precision leaves open, where small eigenvalues count.
    values = np.maximum(grams.eigenvalues(case.matrix), 0.0)
    expected = oracles.renyi(values / values.sum(), alpha)
    slack = 1e-9 + 200 * case.tolerance ** min(alpha, 1.0)
    assert found.low - slack <= expected <= found.high + slack
    assert found.low <= float(found) <= found.high


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("d", [3, 6, 12, 40])
def test_intervals_hold_the_entropy_and_are_narrow(d, alpha):
    A = gaussian(700, d)
    expected = exact(A, alpha)
    double, single = (whole_entropy(A, alpha, single) for single in (False, True))
    for found in (double, single):
        assert found.low <= expected <= found.high
    # Where small eigenvalues count and are many, float64 itself leaves much open.
    fine = d >= 6 or alpha >= 0.6
    assert abs(float(double) - expected) <= (1e-6 if fine else 1e-4)
    assert double.width < (1e-4 if fine and alpha < 1.8 else 2e-3)
    if d >= 6 and alpha >= 0.6:
        assert single.width < 4e-3
        assert abs(float(single) - expected) <= 1e-5


def test_labels_and_equal_rows_are_used():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(1500, 5))] * 2)
    A = lr.gram(X, lr.Gaussian(1.0)) * lr.gram(list("ab" * 1500))
    assert sorted(map(len, A.reduced[1]))[-1] < 1500
    found = whole_entropy(A, 0.6, False)
    assert found.low <= exact(A, 0.6) <= found.high
    assert found.width < 1e-4


@pytest.mark.parametrize("alpha", [0.6, 1.01])
@pytest.mark.parametrize("where", ["small", "large", "all"])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_an_error_as_large_as_is_allowed_for_is_covered(monkeypatch, d, where, alpha):
    """Eigenvalues moved on purpose, by all that rounding may do, up or down."""
    A, eps = gaussian(700, d), float(np.finfo(np.float32).eps)
    values = np.linalg.eigvalsh(np.asarray(A.dense()))
    at = {"small": slice(0, 150), "large": slice(-20, None), "all": slice(None)}[where]
    size = determinants.STABLE * eps * np.linalg.norm(values)
    expected = exact(A, alpha)
    for sign in (-1, 1):
        moved = values.copy()
        moved[at] += sign * size / math.sqrt(len(values[at]))
        monkeypatch.setattr(_lapack, "band", lambda *_, moved=moved: moved[:, None])
        monkeypatch.setattr(determinants, "EVEN", np.inf)
        found = whole_entropy(A, alpha, True)
        assert found.low <= expected <= found.high


def test_the_fit_of_a_function_is_bounded_where_eigenvalues_are():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.exponential(1.0, 300), 10.0 ** rng.uniform(-9, -3, 50), [80.0]])
    t = np.exp(np.arange(math.log(1e-6), math.log(200), 1.0))
    logs = np.log1p(x / t[:, None]).sum(axis=1)
    sums = Sums(len(x), float(x.sum()), float(np.sum(x**2)), t, logs)
    for alpha in ALPHAS:
        value, off = sums.of(lambda x, alpha=alpha: power_like(x, alpha))
        assert abs(value - power_like(x, alpha).sum()) <= off < 2.0
    counts = np.histogram(x, np.concatenate([[0.0], t, [np.inf]]))[0]
    assert np.all(counts <= sums._at_most + 1e-9)


@pytest.mark.parametrize("alpha", [0.6, 1.01])
@pytest.mark.parametrize("least", [1e-3, 0.05])
def test_rounding_counts_for_little_more_than_it_can_do(alpha, least):
    """Small errors do the most along the gradient of the sum: e |phi'|."""
    x = np.concatenate([np.geomspace(least, 5, 400), [60.0, 200.0]])
    t = np.exp(np.arange(math.log(1e-6), math.log(400), 0.75))
    logs = np.log1p(x / t[:, None]).sum(axis=1)
    sums = Sums(len(x), float(x.sum()), float(np.sum(x**2)), t, logs)
    h, error = 1e-7, 1e-5
    slopes = (power_like(x + h, alpha) - power_like(x - h, alpha)) / (2 * h)
    worst = error * float(np.linalg.norm(slopes))
    assert 0.999 * worst <= determinants._moved(sums, error, alpha) <= 4 * worst


def test_phi_has_its_limits():
    x = np.array([0.0, 1e-8, 0.3, 1.0, 7.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        shannon = np.where(x > 0, -x * np.log(x), 0.0)
    assert np.allclose(power_like(x, 1.0), shannon, atol=1e-15)
    assert np.allclose(power_like(x, 1 + 1e-9), shannon, atol=1e-7)
    assert np.allclose(power_like(x, 0.5), (np.sqrt(x) - x) / 0.5, atol=1e-15)
    assert np.allclose(power_like(x, 2.0), x - x * x, atol=1e-13)


@pytest.mark.parametrize("alpha", [0.0, 2.0, 3.0, math.inf])
def test_other_orders_are_left_to_eigenvalues(alpha):
    assert whole_entropy(gaussian(50, 2), alpha, False) is None


def test_a_part_of_a_matrix_is_left_to_eigenvalues():
    A = gaussian(50, 2)
    half = A.rows(slice(0, 25))
    half.mass = 0.5
    assert whole_entropy(half, 0.6, False) is None


def test_what_does_not_fit_is_not_tried(monkeypatch):
    monkeypatch.setattr(determinants, "fits", lambda size: size < 1000)
    assert whole_entropy(gaussian(50, 2), 0.6, False) is None


# --------------------------------------------------------------------------- the functional


@pytest.fixture(scope="module")
def rough():
    return gaussian(1400, 8)


@pytest.mark.parametrize("alpha", [0.6, 1.0, 1.01])
def test_the_functional_takes_this_way_where_a_spectrum_would_be_long(monkeypatch, rough, alpha):
    expected = exact(rough, alpha)
    monkeypatch.setattr(lr.Renyi, "_spectrum", None)  # not callable: no spectrum is asked for
    H = lr.Renyi(alpha)
    estimate = H.certified(rough)
    assert estimate.low <= expected <= estimate.high
    assert estimate.width <= 1e-4
    assert float(H(rough)) == float(estimate) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("H", "d"),
    [
        (lr.Renyi(0.6, rank=20), 8),
        (lr.Renyi(3.0), 8),
        (lr.Renyi(0.6), 1),  # smooth
        (lr.Renyi(1.01, solver=lr.Lanczos(40)), 8),
    ],
)
def test_others_keep_to_a_spectrum(monkeypatch, H, d):
    def fail(*_):
        raise AssertionError

    # The package has a function of that name, too.
    monkeypatch.setattr(importlib.import_module("lorenyi.entropy"), "whole_entropy", fail)
    H(gaussian(1400, d))


def test_a_tolerance_that_is_not_reached_is_left_to_a_spectrum(rough):
    H = lr.Renyi(0.6, solver=lr.Auto(tol=1e-12))
    assert float(H(rough)) == pytest.approx(exact(rough, 0.6), abs=1e-9)


def test_points_in_float32_are_not_measured_twice(monkeypatch):
    asked = []

    def counted(A, alpha, single):
        asked.append(single)
        return determinants.whole_entropy(A, alpha, single)

    monkeypatch.setattr(importlib.import_module("lorenyi.entropy"), "whole_entropy", counted)
    X = np.random.default_rng(0).normal(size=(1300, 8))
    A = lr.gram(X.astype(np.float32), lr.Gaussian(1.0))
    estimate = lr.Renyi(1.01, solver=lr.Auto(tol=1e-2)).certified(A)
    assert asked == [True]
    assert exact(lr.gram(X, lr.Gaussian(1.0)), 1.01) in estimate


def test_equal_calls_give_equal_answers(rough):
    H = lr.Renyi(0.6)
    assert float(H(rough)) == float(H(rough))
