"""Random draws keyed by seed, stream, row and column."""

import math

import numpy as np
import pytest
import scipy.stats

from lorenyi import _arrays

DRAWS = {"hashed": _arrays.hashed, "uniform": _arrays.uniform, "normal": _arrays.normal}
DRAWS["signs"] = _arrays.signs
every_draw = pytest.mark.parametrize("name", DRAWS)


@every_draw
def test_any_chunk_of_rows_can_be_drawn_alone(name):
    draw = DRAWS[name]
    whole = draw(5, 1, 100, 4)
    assert whole.shape == (100, 4)
    for chunk in (np.arange(30, 60), np.array([99, 0, 5, 5]), np.arange(0, 100, 7)):
        assert np.array_equal(draw(5, 1, chunk, 4), whole[chunk])


@every_draw
def test_draws_repeat_and_differ_by_seed_stream_row_and_column(name):
    draw = DRAWS[name]
    first = draw(5, 1, 200, 3)
    assert np.array_equal(first, draw(5, 1, 200, 3))
    for other in (draw(6, 1, 200, 3), draw(5, 2, 200, 3), draw(-5, 1, 200, 3), draw(1, 5, 200, 3)):
        assert np.mean(first == other) < 0.6
    assert np.mean(first[:-1] == first[1:]) < 0.6
    assert np.mean(first[:, :-1] == first[:, 1:]) < 0.6


def test_seeds_of_any_integer_type_and_size_are_seeds():
    plain = _arrays.uniform(7, 1, 10)
    for seed in (np.int32(7), np.int64(7), np.uint64(7), 7 + 2**64):
        assert np.array_equal(_arrays.uniform(seed, 1, np.int64(10)), plain)
    assert not np.array_equal(_arrays.uniform(2**63, 1, 10), _arrays.uniform(0, 1, 10))


@pytest.mark.parametrize("seed", range(5))
def test_uniforms_are_uniform_and_never_0_or_1(seed):
    u = _arrays.uniform(seed, 3, 10_000, 4)
    assert 0 < u.min() < 1e-3
    assert 1 - 1e-3 < u.max() < 1
    assert scipy.stats.kstest(u.ravel(), "uniform").pvalue > 1e-3
    for column in u.T:
        assert scipy.stats.kstest(column, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_normals_are_normal_and_uncorrelated(seed):
    z = _arrays.normal(seed, 3, 10_000, 4)
    assert scipy.stats.kstest(z.ravel(), "norm").pvalue > 1e-3
    assert np.abs(z.mean(axis=0)).max() < 5 / 100
    assert np.abs(z.var(axis=0) - 1).max() < 5 * math.sqrt(2) / 100
    assert np.abs(np.corrcoef(z.T) - np.eye(4)).max() < 5 / 100
    assert abs(np.corrcoef(z[:-1, 0], z[1:, 0])[0, 1]) < 5 / 100  # rows, too


def test_streams_and_seeds_are_independent_of_each_other():
    streams = [_arrays.normal(0, stream, 10_000)[:, 0] for stream in range(6)]
    seeds = [_arrays.normal(seed, 0, 10_000)[:, 0] for seed in range(1, 7)]
    correlation = np.corrcoef(np.array(streams + seeds))
    assert np.abs(correlation - np.eye(12)).max() < 5 / 100


def test_signs_are_fair():
    s = _arrays.signs(1, 2, 10_000, 3)
    assert set(np.unique(s)) == {-1.0, 1.0}
    assert np.abs(s.mean(axis=0)).max() < 5 / 100


def test_each_bit_of_a_draw_is_fair():
    bits = _arrays.hashed(3, 4, 20_000)[:, 0]
    shares = [np.mean((bits >> np.uint64(b)) & np.uint64(1)) for b in range(64)]
    assert np.abs(np.array(shares) - 0.5).max() < 5 * 0.5 / math.sqrt(20_000)


@pytest.mark.parametrize(("n", "size"), [(10, 3), (100, 99), (1000, 1)])
def test_a_choice_is_without_replacement_and_sorted(n, size):
    chosen = _arrays.choose(1, 2, n, size)
    assert len(chosen) == size
    assert (np.diff(chosen) > 0).all()
    assert 0 <= chosen.min() <= chosen.max() < n
    assert np.array_equal(chosen, _arrays.choose(1, 2, n, size))


def test_a_choice_of_all_is_all():
    for size in (5, 6, 100):
        assert _arrays.choose(1, 2, 5, size).tolist() == [0, 1, 2, 3, 4]


def test_every_row_is_chosen_equally_often():
    n, size, seeds = 12, 4, 3000
    counts = np.zeros(n)
    pairs = np.zeros((n, n))
    for seed in range(seeds):
        chosen = _arrays.choose(seed, 2, n, size)
        counts[chosen] += 1
        pairs[np.ix_(chosen, chosen)] += 1
    expected = seeds * size / n
    assert np.abs(counts - expected).max() < 5 * math.sqrt(expected * (1 - size / n))
    together = seeds * size * (size - 1) / (n * (n - 1))
    off = pairs[~np.eye(n, dtype=bool)]
    assert np.abs(off - together).max() < 5 * math.sqrt(together)
