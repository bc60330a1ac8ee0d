"""The entropy of k eigenvalues whose remainder counts as copies of the k-th."""

import numpy as np
import pytest

import lorenyi as lr


def table(n, d=5):
    return np.random.default_rng(0).normal(size=(n, d))


@pytest.mark.parametrize("rank", [1, 4, 20])
def test_it_is_its_formula(rank):
    A = lr.gram(table(60))
    values = np.sort(np.linalg.eigvalsh(A.dense()))[::-1][:rank]
    expected = -np.sum(values * np.log2(values)) - (1 - values.sum()) * np.log2(values[-1])
    assert lr.Peaked(rank)(A) == pytest.approx(expected, abs=1e-10)
    assert lr.Peaked(rank)(A) <= float(lr.entropy(A)) + 1e-10


def test_it_is_the_entropy_where_nothing_is_left():
    x = ["a", "b", "b", "c"]
    assert lr.entropy(x, entropy=lr.Peaked(3)) == pytest.approx(1.5, abs=1e-12)


def test_it_drifts_less_with_the_number_of_rows_than_the_even_tail():
    grams = [lr.gram(table(n, 10), lr.Gaussian(4.0)) for n in (100, 400)]
    peaked = [lr.Peaked(20)(A) for A in grams]
    spread = [float(lr.Renyi(rank=20)(A)) for A in grams]
    assert abs(peaked[1] - peaked[0]) < 0.6 * abs(spread[1] - spread[0])


def test_measures_take_it():
    x = table(50)
    H = lr.Peaked(10)
    A, B = lr.gram(x[:, 0]), lr.gram(x[:, 0] ** 2)
    found = lr.mutual_information(A, B, entropy=H)
    assert float(found) == pytest.approx(H(A) + H(B) - H(A * B), abs=1e-12)


def test_a_rank_that_is_none_is_refused():
    with pytest.raises(ValueError, match="rank"):
        lr.Peaked(0)
    with pytest.raises(ValueError, match="rank"):
        lr.Peaked(5)(lr.gram([1.0, 2.0]))
