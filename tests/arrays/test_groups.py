"""Groups of equal rows."""

import numpy as np
import pytest

from lorenyi import _arrays
from lorenyi._arrays import groups


def check_groups(columns):
    """Groups are those of np.unique, numbered in order of appearance."""
    first, group = _arrays.group_rows(columns)
    table = np.concatenate([column.astype(float) for column in columns], axis=1) + 0.0
    _, index, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    assert np.array_equal(first, np.sort(index))
    same = inverse.reshape(-1)
    assert np.array_equal(group[:, None] == group[None, :], same[:, None] == same[None, :])
    assert np.array_equal(table[first][group], table)
    assert np.array_equal(group[first], np.arange(len(first)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [1, 2, 4])
def test_groups_are_those_of_unique_rows(seed, d):
    rng = np.random.default_rng(seed)
    check_groups([rng.integers(0, 3, size=(60, d))])
    check_groups([rng.integers(-3, 3, size=(60, d)).astype(float)])
    check_groups([rng.normal(size=(60, d))])
    check_groups([rng.normal(size=(5, d))[rng.integers(0, 5, size=60)]])
    check_groups([rng.integers(0, 2, size=(60, d)) / 3, rng.integers(0, 2, size=(60, 1))])
    check_groups([(rng.integers(0, 2, size=(60, d)) / 3).astype(np.float32)])


def test_minus_zero_is_zero():
    check_groups([np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, -1.0]])])
    assert _arrays.group_rows([np.array([[0.0], [-0.0]])])[1].tolist() == [0, 0]


def test_columns_that_only_swap_are_other_rows():
    check_groups([np.array([[1, 2], [2, 1], [1, 2], [0, 0]])])
    check_groups([np.array([[0], [1]]), np.array([[1], [0]])])


def test_large_integers_are_told_apart():
    big = np.array([[2**53], [2**53 + 1], [2**53]])  # equal as floating point numbers
    assert _arrays.group_rows([big])[1].tolist() == [0, 1, 0]
    unsigned = np.array([[2**64 - 1], [0], [2**64 - 1]], dtype=np.uint64)
    assert _arrays.group_rows([unsigned])[1].tolist() == [0, 1, 0]


def test_rows_whose_keys_collide_are_still_told_apart(monkeypatch):
    """The keys are 64-bit hashes: here all are equal, and the rows themselves are compared."""
    monkeypatch.setattr(groups, "mix", np.zeros_like)
    rng = np.random.default_rng(0)
    check_groups([rng.integers(0, 3, size=(40, 2))])
    check_groups([np.array([[0.5], [-0.0], [0.0], [0.5], [7.0]])])


def test_neighboring_floats_are_other_points():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)], [1.0]])
    assert _arrays.group_rows([X])[1].tolist() == [0, 1, 0]
