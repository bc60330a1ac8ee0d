"""LAPACK called without the interpreter's lock: the same numbers as NumPy's."""

import threading

import numpy as np
import pytest

from lorenyi import _lapack

SIZES = [1, 2, _lapack.WORTH - 1, _lapack.WORTH, 130]
DTYPES = [np.float64, np.float32]


def symmetric(n, dtype, seed=0):
    M = np.random.default_rng(seed).normal(size=(n, n)).astype(dtype)
    return M + M.T


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues_are_numpys_and_the_matrix_stays(n, dtype):
    M = symmetric(n, dtype)
    M.flags.writeable = False
    found = _lapack.eigvalsh(M)
    assert found.dtype == dtype
    size = np.abs(M).max() * n
    assert np.abs(found - np.linalg.eigvalsh(M)).max() <= 4 * np.finfo(dtype).eps * size
    assert np.array_equal(M, symmetric(n, dtype))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvectors_belong_to_their_values(n, dtype):
    M = symmetric(n, dtype)
    values, V = _lapack.eigh(M)
    assert values.dtype == V.dtype == dtype
    close = 8 * np.finfo(dtype).eps * np.abs(M).max() * n
    assert np.abs(M @ V - V * values).max() <= close
    assert np.abs(V.T @ V - np.eye(n)).max() <= close
    assert np.all(np.diff(values) >= 0)


@pytest.mark.parametrize("layout", ["columns first", "part of a larger one", "stack", "integers"])
def test_eigenvalues_of_other_layouts(layout):
    M = symmetric(150, np.float64)
    matrix = {
        "columns first": np.asfortranarray(M),
        "part of a larger one": M[:100, :100],
        "stack": np.stack([M, 2 * M]),
        "integers": np.round(M).astype(np.int64),
    }[layout]
    assert np.allclose(_lapack.eigvalsh(matrix), np.linalg.eigvalsh(matrix), atol=1e-11)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_definite_is_what_has_positive_eigenvalues(n, dtype):
    M = symmetric(n, dtype)
    smallest = float(np.linalg.eigvalsh(M)[0])
    for above, definite in ((0.1, True), (-0.1, False)):
        shifted = M + (above - smallest) * np.eye(n, dtype=dtype)
        below = np.tril(shifted, -1)
        assert _lapack.is_positive_definite(shifted) is definite
        assert np.array_equal(np.tril(shifted, -1), below)


def test_a_matrix_that_cannot_be_overwritten_is_refused():
    M = np.eye(200)
    with pytest.raises(ValueError, match="one piece of memory"):
        _lapack.is_positive_definite(M[:100, :100])
    M.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        _lapack.is_positive_definite(M)


def test_nan_does_not_pass_for_eigenvalues():
    M = symmetric(60, np.float64)
    M[0, 1] = M[1, 0] = np.nan
    try:
        found = _lapack.eigvalsh(M)
    except np.linalg.LinAlgError:
        return
    assert np.isnan(found).any()


def test_another_thread_goes_on_meanwhile():
    """A counter in this thread moves while a decomposition of a second is under way."""
    done, M = threading.Event(), symmetric(1200, np.float64)

    def work():
        _lapack.eigvalsh(M)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    count = 0
    while not done.is_set():
        count += 1
    worker.join()
    assert count > 1000


@pytest.mark.parametrize("shape", [(1, 1), (30, 4), (300, 130), (130, 130), (10, 0)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_orthonormal_columns_span_those_of_the_matrix(shape, dtype):
    M = np.random.default_rng(0).normal(size=shape).astype(dtype)
    for matrix in (M, np.asfortranarray(M), np.repeat(M, 2, axis=0)[::2]):
        Q = _lapack.orthonormal(matrix)
        assert Q.shape == shape
        assert Q.dtype == dtype
        eps = np.finfo(dtype).eps
        assert np.all(np.abs(Q.T @ Q - np.eye(shape[1])) < 8 * eps * np.sqrt(shape[0]))
        assert np.all(np.abs(Q @ (Q.T @ matrix) - matrix) < 64 * eps * np.sqrt(shape[0]))


def test_columns_that_depend_on_each_other_still_give_orthonormal_ones():
    M = np.random.default_rng(0).normal(size=(80, 30))
    M[:, 20:] = M[:, :10]
    Q = _lapack.orthonormal(M)
    assert np.allclose(Q.T @ Q, np.eye(30), atol=1e-12)
