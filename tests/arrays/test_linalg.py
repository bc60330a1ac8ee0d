"""Decompositions: what they promise, and that other threads go on meanwhile."""

import threading

import numpy as np
import pytest

from lorenyi import _arrays

DTYPES = [np.float64, np.float32]


def symmetric(n, dtype=np.float64, seed=0):
    M = np.random.default_rng(seed).normal(size=(n, n)).astype(dtype)
    return M + M.T


@pytest.mark.parametrize("n", [1, 2, 130])
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvectors_belong_to_their_values_and_the_matrix_stays(n, dtype):
    M = symmetric(n, dtype)
    M.flags.writeable = False
    values, V = _arrays.eigh(M)
    assert values.dtype == V.dtype == dtype
    close = 8 * np.finfo(dtype).eps * np.abs(M).max() * n
    assert np.abs(M @ V - V * values).max() <= close
    assert np.abs(V.T @ V - np.eye(n)).max() <= close
    assert np.all(np.diff(values) >= 0)
    assert np.abs(_arrays.eigvalsh(M) - values).max() <= close


@pytest.mark.parametrize("shape", [(1, 1), (30, 4), (300, 130), (130, 130), (10, 0), (3, 80, 30)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_orthonormal_columns_span_those_of_the_matrix(shape, dtype):
    matrix = np.random.default_rng(0).normal(size=shape).astype(dtype)
    Q = _arrays.qr(matrix)
    assert Q.shape == shape
    assert Q.dtype == dtype
    eps = np.finfo(dtype).eps
    assert np.all(np.abs(Q.mT @ Q - np.eye(shape[-1])) < 8 * eps * np.sqrt(shape[-2]))
    assert np.all(np.abs(Q @ (Q.mT @ matrix) - matrix) < 64 * eps * np.sqrt(shape[-2]))


def test_columns_that_depend_on_each_other_still_give_orthonormal_ones():
    M = np.random.default_rng(0).normal(size=(80, 30))
    M[:, 20:] = M[:, :10]
    Q = _arrays.qr(M)
    assert np.allclose(Q.T @ Q, np.eye(30), atol=1e-12)


@pytest.mark.parametrize(
    "decompose", [_arrays.eigvalsh, _arrays.eigh, _arrays.qr, np.linalg.cholesky]
)
def test_another_thread_goes_on_meanwhile(decompose):
    """A counter in this thread moves while a decomposition of a second is under way."""
    done, M = threading.Event(), symmetric(1000) + 100 * np.eye(1000)

    def work():
        decompose(M)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    count = 0
    while not done.is_set():
        count += 1
    worker.join()
    assert count > 1000
