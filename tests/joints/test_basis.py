"""Enclosures by a few products and random columns, against all eigenvalues."""

from types import SimpleNamespace

import numpy as np
import pytest

import lorenyi as lr
from lorenyi.entropy import renyi_entropy
from lorenyi.joints.basis import Basis
from lorenyi.joints.joint import Joint, Wanted
from lorenyi.spectra import Spectrum
from lorenyi.spectra.enclosure import Block, coupled, outside

RANK = 20


def matrix(seed: int, m: int = 320, d: int = 4, mass: float = 0.4) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(m, d))
    return mass * np.asarray(lr.gram(x, lr.Gaussian(1.0)).dense())


def start(A: np.ndarray, count: int, error: float, seed: int = 1) -> np.ndarray:
    """Leading eigenvectors, off by about so much."""
    V = np.linalg.eigh(A)[1][:, ::-1][:, :count]
    noise = np.random.default_rng(seed).normal(size=V.shape) / np.sqrt(len(V))
    return (V + error * noise).astype(np.float32)


def partial_sums(spectrum, count: int) -> np.ndarray:
    """Sums of the t largest, t = 1, 2, ..., of a spectrum of values and how often each comes."""
    counts = np.ones(len(spectrum.values)) if spectrum.counts is None else spectrum.counts
    places = np.concatenate([[0.0], np.cumsum(counts)])
    heights = np.concatenate([[0.0], np.cumsum(spectrum.values * counts)])
    return np.interp(np.arange(1, count + 1), places, heights)


def found(A: np.ndarray, near: np.ndarray, missing: float = 0.0, J: np.ndarray | None = None):
    J = (A if J is None else J).astype(np.float32)
    basis = Basis(J, J @ near, block(A, missing))
    return basis.enclosed(basis.tau) if basis.prove(J, 0) else None


def block(A: np.ndarray, missing: float = 0.0, relative: float = 1e-6) -> Block:
    return Block(RANK, float(np.trace(A)), relative, float(np.max(np.diag(A))), missing)


def assert_encloses(pair, A: np.ndarray) -> None:
    peaked, spread = pair
    true = np.cumsum(np.linalg.eigvalsh(A)[::-1])
    assert np.all(partial_sums(spread, len(A)) <= true + 1e-12)
    assert np.all(true <= partial_sums(peaked, len(A)) + 1e-12)


@pytest.mark.parametrize("d", [2, 4, 8])
@pytest.mark.parametrize("error", [0.0, 0.1, 0.5])
def test_the_spectrum_lies_between(d, error):
    A = matrix(d, d=d)
    assert_encloses(found(A, start(A, 28, error)), A)


def test_it_is_narrow_from_a_good_start():
    A = matrix(0)
    J = A.astype(np.float32)
    basis = Basis(J, J @ start(A, 28, 0.1), block(A))
    peaked, spread = basis.enclosed(outside(J, basis.Q, 0))
    assert np.max(partial_sums(peaked, RANK) - partial_sums(spread, RANK)) < 5e-4  # of 0.27


@pytest.mark.parametrize("lost", [0, 3, 10])
def test_it_holds_where_the_start_lacks_a_leading_direction(lost):
    """The start knows nothing of one eigenvector, and products do not bring it back."""
    values, V = np.linalg.eigh(matrix(5))
    values, V = values[::-1].copy(), V[:, ::-1]
    values[lost] *= 3
    A = (V * values) @ V.T
    A *= 0.4 / np.trace(A)
    pair = found(A, np.delete(V[:, :29], lost, axis=1).astype(np.float32))
    if pair is not None:
        assert_encloses(pair, A)


def test_what_a_factor_lacks_is_added():
    A = matrix(7)
    v = np.linalg.eigh(A)[1][:, -1:]
    J = A - 1e-3 * v @ v.T  # the worst place for it
    assert_encloses(found(A, start(A, 28, 0.1), 1e-3, J), A)
    without = found(A, start(A, 28, 0.1), 0.0, J)
    assert partial_sums(without[0], 1)[0] < np.linalg.eigvalsh(A)[-1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_that_repeat_each_other_do_no_harm(dtype):
    A = matrix(9)
    J, near = A.astype(dtype), start(A, 28, 0.1)
    near[:, 5] = near[:, 4]
    near[:, 7] = 0.0
    basis = Basis(J, near, block(A))
    for _ in range(2):
        apart = basis.Q.T @ basis.Q - np.eye(basis.Q.shape[1])
        assert np.max(np.abs(apart)) < 20 * np.finfo(dtype).eps
        assert basis.prove(J, 0)
        assert_encloses(basis.enclosed(basis.tau), A)
        basis.grow(J)


def test_a_basis_does_not_grow_beyond_the_space():
    A = matrix(3, m=30, d=8)
    basis = Basis(A, np.random.default_rng(0).normal(size=(30, 20)), block(A, relative=1e-15))
    assert basis.grow(A)
    assert basis.Q.shape[1] == 30
    assert not basis.grow(A)
    np.testing.assert_allclose(basis.theta, np.linalg.eigvalsh(A)[::-1], atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_more_products_are_narrower(dtype):
    A = matrix(13)
    J, relative = A.astype(dtype), 1e-6 if dtype == np.float32 else 1e-15
    basis, widths = Basis(J, start(A, 28, 0.5), block(A, relative=relative)), []
    for _ in range(3):
        assert basis.prove(J, 0)
        pair = basis.enclosed(basis.tau)
        assert_encloses(pair, A)
        widths.append(np.max(partial_sums(pair[0], RANK) - partial_sums(pair[1], RANK)))
        assert basis.grow(J)
    assert widths[2] < 0.5 * widths[1] < 0.25 * widths[0]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("spike", [1.0, 1.3, 4.0])
def test_random_columns_bound_what_is_outside(seed, spike):
    """One eigenvalue stands out of many: a few products do not show its size, but bound it."""
    m, rng = 900, np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(m, m)))[0]
    values = np.concatenate([np.full(5, 20.0), [spike], np.linspace(1, 0, m - 6)])
    bound = outside((V * values) @ V.T, V[:, :5], seed)
    assert spike <= bound <= 1.7 * spike


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("coupling", [0.0, 0.01, 0.1])
def test_coupled_eigenvalues_stay_below(seed, coupling):
    rng = np.random.default_rng(seed)
    theta, tau = np.sort(rng.random(30) + 0.1)[::-1], 0.3
    L = coupling * rng.normal(size=(50, 30))
    # The most that is allowed outside, and less.
    for beside in (tau * np.eye(50), np.diag(tau * rng.random(50))):
        whole = np.block([[np.diag(theta), L.T], [L, beside]])
        true = np.linalg.eigvalsh(whole)[::-1][:30]
        bound = coupled(np.diag(theta), L.T @ L, tau, float(theta[10]))
        assert np.all(true <= bound + 1e-12)
    if coupling == 0.01:  # and not far: theta alone would not do
        assert np.any(true[:10] > theta[:10])
        assert np.max(bound[:10] - true[:10]) < 0.05


def test_what_was_bound_before_need_not_be_bound_again():
    """What is outside more columns is no larger."""
    A = matrix(11)
    basis = Basis(A, start(A, 28, 0.5), block(A, relative=1e-15))
    assert basis.prove(A, 0)
    before = basis.tau
    assert basis.grow(A)
    assert basis.guess <= before
    assert_encloses(basis.enclosed(before), A)
    assert basis.prove(A, 0)
    assert basis.tau <= before


def test_a_bound_above_its_guess_takes_its_place():
    A = matrix(5, mass=1.0)
    values, V = np.linalg.eigh(A)
    basis = Basis(A, V[:, ::-1][:, 1:28], block(A, relative=1e-15))  # without the largest

    def ends(guessed, rounding=True):
        return tuple(
            [end] for end in basis.enclosed(basis.guess if guessed else basis.tau, rounding)
        )

    seen = SimpleNamespace(ends=ends, prove=lambda: basis.prove(A, 0), double=True, failure=0.0)
    joint = Joint(lr.Renyi(1.01, rank=RANK), len(A))
    exact = float(renyi_entropy(Spectrum(values[::-1].clip(0.0), len(A)), 1.01, RANK))
    low, high = joint._between(ends(guessed=True))
    assert not low <= exact <= high
    joint._enclose(seen, Wanted(np.inf), None)
    assert joint.found.low <= exact <= joint.found.high
