"""What chance shows, and values without it, against their definitions."""

import re

import numpy as np
import pytest

import lorenyi as lr
from lorenyi._arrays import permutation

EXACT = lr.Renyi(solver=lr.Exact())


def pair(seed=0, n=60, d=1, own=0.0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n, d))
    return x, y + own * x


def test_the_chance_level_is_the_mean_over_permutations():
    x, y = pair(own=0.7)
    found = lr.chance_level(x, y, entropy=EXACT, permutations=5, seed=3)
    expected = [
        float(lr.mutual_information(x, y[permutation(3, i, np.zeros(60, int))], entropy=EXACT))
        for i in range(5)
    ]
    assert found.values == pytest.approx(np.array(expected), abs=1e-10)
    assert found.mean == pytest.approx(np.mean(expected))
    assert found.standard_error == pytest.approx(np.std(expected, ddof=1) / np.sqrt(5))


@pytest.mark.parametrize("d", [1, 10])
def test_independent_variables_have_nothing_left(d):
    found = [float(lr.corrected(*pair(s, d=d), permutations=10)) for s in range(15)]
    plain = [float(lr.mutual_information(*pair(s, d=d))) for s in range(3)]
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(15) + 1e-3
    assert min(plain) > 3 * abs(np.mean(found))


def test_any_measure_can_be_corrected():
    x, y = pair(own=1.0)
    value = lr.corrected(x, y, measure=lr.hsic)
    assert 0 < value < lr.hsic(x, y)
    normalized = lr.corrected(x, y, measure=lr.normalized_mutual_information, entropy=EXACT)
    assert float(normalized) < float(lr.normalized_mutual_information(x, y, entropy=EXACT))


def test_a_label_of_many_levels_tells_nothing_of_a_coin():
    rng = np.random.default_rng(0)
    levels, coin = rng.integers(0, 100, 400).astype(str), rng.integers(0, 2, 400).astype(str)
    assert float(lr.mutual_information(levels, coin)) > 0.1
    assert abs(lr.adjusted_mutual_information(levels, coin)) < 0.05


def test_the_adjusted_information_is_its_formula():
    x, y = pair(own=0.8)
    chance = lr.chance_level(x, y, entropy=EXACT, permutations=6).mean
    information = float(lr.mutual_information(x, y, entropy=EXACT))
    least = min(float(lr.entropy(v, entropy=EXACT)) for v in (x, y))
    found = lr.adjusted_mutual_information(x, y, entropy=EXACT, permutations=6)
    assert found == pytest.approx((information - chance) / (least - chance), abs=1e-10)


def test_a_constant_has_no_adjusted_information():
    assert lr.adjusted_mutual_information([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]) == 0.0


def test_the_split_half_value_is_its_formula():
    x, y = pair(own=0.5)
    grams = [lr.gram(v, lr.Gaussian(1.0)) for v in (x, y)]
    halves = []
    for split in range(4):
        order = permutation(0, split, np.zeros(60, int))
        for rows in (order[:30], order[30:]):
            parts = [lr.gram(v[rows], lr.Gaussian(1.0)) for v in (x, y)]
            halves.append(float(lr.mutual_information(*parts, entropy=EXACT)))
    whole = lr.mutual_information(*grams, entropy=EXACT)
    found = lr.split_half(*grams, entropy=EXACT)
    assert float(found) == pytest.approx(2 * float(whole) - np.mean(halves), abs=1e-10)
    assert found.standard_error == pytest.approx(whole.standard_error)


def test_halves_remove_most_of_the_bias():
    plain = [float(lr.mutual_information(*pair(s))) for s in range(8)]
    halved = [float(lr.split_half(*pair(s))) for s in range(8)]
    assert abs(np.mean(halved)) < 0.4 * np.mean(plain)


def test_the_information_of_rows_averages_to_that_of_all():
    x, y = pair(own=0.7)
    rows = lr.pointwise_information(x, y)
    exact = float(lr.mutual_information(x, y, entropy=EXACT))
    assert rows.mean() == pytest.approx(exact, abs=1e-10)


def test_for_labels_the_information_of_a_row_is_the_pointwise_one():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 80)
    y = np.where(rng.random(80) < 0.5, x, rng.integers(0, 2, 80))
    expected = [
        np.log2(np.mean((x == a) & (y == b)) / (np.mean(x == a) * np.mean(y == b)))
        for a, b in zip(x, y, strict=True)
    ]
    assert lr.pointwise_information(x, y) == pytest.approx(np.array(expected), abs=1e-10)


def test_weights_are_frequencies():
    x, y = pair(own=0.7, n=20)
    w = np.random.default_rng(0).integers(0, 3, 20)
    rows = np.repeat(np.arange(20), w)
    weighed = lr.pointwise_information(x, y, weights=w)
    assert weighed == pytest.approx(lr.pointwise_information(x[rows], y[rows]), abs=1e-9)


def test_bad_input_is_named():
    x, y = pair(n=3)
    with pytest.raises(ValueError, match="x has 3 rows"):
        lr.split_half(x, y)
    with pytest.raises(ValueError, match="permutations=0"):
        lr.chance_level(x, y, permutations=0)
    with pytest.raises(ValueError, match="same rows"):
        lr.corrected(x, y[:2])


def test_a_chance_level_is_shown_on_one_line():
    x = np.linspace(0.0, 1.0, 30)
    shown = repr(lr.chance_level(x, x[::-1], permutations=12))
    assert re.fullmatch(r"Chance\(mean=0\.\d+, standard_error=0\.\d+, 12 permutations\)", shown)
