"""The permutation test by a functional: its p-value, its null, and what it computes."""

import math
import threading

import numpy as np
import pytest
import scipy.stats

import lorenyi as lr
from lorenyi._arrays import permutation

FAST = lr.Renyi(solver=lr.Exact())


def coins(n=60, seed=0, sides=3):
    return np.random.default_rng(seed).integers(0, sides, n)


def test_the_statistic_is_the_mutual_information():
    x, y = coins(seed=1), np.linspace(0, 1, 60)
    result = lr.independence_test(x, y, permutations=3, entropy=lr.Renyi())
    assert result.statistic == pytest.approx(float(lr.mutual_information(x, y)), abs=1e-12)
    assert result.information == lr.mutual_information(x, y)


def test_the_conditional_statistic_is_the_conditional_mutual_information():
    x, y, z = coins(seed=1), np.linspace(0, 1, 60), coins(seed=2)
    result = lr.independence_test(x, y, given=z, permutations=3, entropy=lr.Renyi())
    exact = float(lr.conditional_mutual_information(x, y, given=z))
    assert result.statistic == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("permutations", [1, 7, 19])
def test_the_p_value_is_one_plus_those_above_over_one_plus_all(permutations):
    result = lr.independence_test(coins(seed=1), coins(seed=2), permutations=permutations)
    assert len(result.null) == permutations
    above = np.sum(result.null >= result.statistic - 1e-9)
    assert result.pvalue == (1 + above) / (1 + permutations)


def test_the_p_value_is_never_zero():
    """x = y: no permutation reaches the statistic."""
    x = np.linspace(0, 1, 40)
    result = lr.independence_test(x, x, permutations=19, entropy=FAST)
    assert (result.null < result.statistic).all()
    assert result.pvalue == 1 / 20


def test_a_constant_has_a_p_value_of_one():
    """Every permutation ties, and ties count."""
    x = coins()
    result = lr.independence_test(x, np.zeros(60, dtype=int), permutations=19)
    assert result.pvalue == 1.0


def test_permutations_that_only_rename_equal_rows_tie_in_spite_of_rounding():
    """Two groups of two: a third of the permutations give the same table, the rest another."""
    x = np.array([0.0, 0.0, 1.0, 1.0])
    entropy = lr.Renyi(alpha=1.3, solver=lr.Lanczos(steps=2))
    result = lr.independence_test(x, x, permutations=99, entropy=entropy, level=None)
    same = np.isclose(result.null, result.statistic, atol=1e-6).sum()
    assert 15 < same < 55
    assert result.pvalue == (1 + same) / 100


def test_p_values_of_independent_data_are_uniform():
    found = [
        lr.independence_test(
            coins(50, 2 * seed), coins(50, 2 * seed + 1), permutations=19, seed=seed
        ).pvalue
        for seed in range(100)
    ]
    levels = np.arange(1, 20) / 20  # the p-values are multiples of 1/20
    share = np.array([np.mean(np.array(found) <= level) for level in levels])
    assert np.max(np.abs(share - levels)) < scipy.stats.kstwo.ppf(0.999, 100)


def test_p_values_of_conditionally_independent_data_are_uniform():
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        z = rng.integers(0, 2, 60)
        x, y = ((z + (rng.random(60) < 0.3)) % 2 for _ in range(2))
        found.append(lr.independence_test(x, y, given=z, permutations=19, seed=seed).pvalue)
    levels = np.arange(1, 20) / 20
    share = np.array([np.mean(np.array(found) <= level) for level in levels])
    # Ties count, so that small tables give larger p-values: never too many small ones.
    assert np.max(share - levels) < scipy.stats.kstwo.ppf(0.999, 60)
    assert np.mean(found) < 0.75


def test_dependent_data_are_found():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=60)
        y = x**2 + 0.3 * rng.normal(size=60)  # not correlated
        result = lr.independence_test(x, y, permutations=19, entropy=lr.Renyi(2), seed=seed)
        assert result.pvalue == 0.05


def through_a_third(seed=0, n=90):
    """x and y depend on each other only through z."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    x, y = (z + 0.4 * rng.normal(size=n) for _ in range(2))
    return x, y, z


def test_what_depends_only_through_a_third_is_dependent_without_it_and_not_given_it():
    entropy = lr.Renyi(2)
    with_it = []
    for seed in range(6):
        x, y, z = through_a_third(seed)
        alone = lr.independence_test(x, y, permutations=39, entropy=entropy)
        assert alone.pvalue == 1 / 40
        given = lr.independence_test(x, y, given=z, permutations=39, entropy=entropy)
        with_it.append(given.pvalue)
    assert np.median(with_it) > 0.2


def test_dependence_that_a_third_does_not_explain_is_found_given_it():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 80)
    x = rng.normal(size=80)
    y = np.where(z == 1, x, -x)  # with opposite signs in the two groups
    result = lr.independence_test(x, y, given=z, permutations=39, entropy=lr.Renyi(2))
    assert result.pvalue == 1 / 40


# ---------------------------------------------------------------------------- the permutations


@pytest.mark.parametrize("seed", [0, 1, -3])
def test_permutations_stay_within_their_groups(seed):
    groups = np.random.default_rng(5).integers(0, 4, 50)
    for number in range(20):
        moved = permutation(seed, number, groups)
        assert np.array_equal(np.sort(moved), np.arange(50))
        assert np.array_equal(groups[moved], groups)


def test_permutations_are_uniform():
    """Each of the 24 orders of four rows about equally often; and within groups of two, 4."""
    orders = [tuple(permutation(0, number, np.zeros(4, int))) for number in range(2400)]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert scipy.stats.chisquare(counts).pvalue > 1e-3
    orders = [tuple(permutation(0, number, np.array([1, 0, 0, 1]))) for number in range(400)]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 4
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


def test_the_same_seed_gives_the_same_answer_and_another_another():
    x, y = coins(seed=1), coins(seed=2)
    first, again, other = (
        lr.independence_test(x, y, permutations=9, seed=seed).null for seed in (4, 4, 5)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_more_permutations_go_on_where_fewer_stop():
    x, y = (coins(seed=seed).astype(str) for seed in (1, 2))
    few = lr.independence_test(x, y, permutations=5).null
    many = lr.independence_test(x, y, permutations=9).null
    assert np.array_equal(few, many[:5])


# --------------------------------------------------------------------------------- what it costs


class Counting:
    """An entropy functional that notes the Grams it was asked for."""

    def __init__(self):
        self.seen, self.lock = [], threading.Lock()

    def __call__(self, A):
        with self.lock:
            self.seen.append(A.names)
        return FAST(A)


def test_the_marginal_entropies_are_computed_once():
    """S(A), S(B), S(A, B), and one joint for each permutation."""
    entropy = Counting()
    lr.independence_test(coins(seed=1), coins(seed=2), entropy=entropy, permutations=8)
    assert len(entropy.seen) == 2 + 1 + 8
    assert [len(names) for names in entropy.seen].count(1) == 2


def test_given_a_third_the_fixed_entropies_are_computed_once():
    """S(A, C), S(B, C), S(C), S(A, B, C), and one joint for each permutation."""
    entropy = Counting()
    x, y, z = (coins(seed=seed) for seed in (1, 2, 3))
    lr.independence_test(x, y, given=z, entropy=entropy, permutations=8)
    assert len(entropy.seen) == 3 + 1 + 8


@pytest.mark.parametrize("permutations", [1, 12])
def test_progress_is_told_after_each_permutation(permutations):
    told, lock = [], threading.Lock()

    def progress(message, share):
        with lock:
            told.append((message, share))

    lr.independence_test(coins(seed=1), coins(seed=2), permutations=permutations, progress=progress)
    assert len(told) == permutations
    assert sorted(share for _, share in told)[-1] == 1.0
    assert all("permutation" in message for message, _ in told)


def threads():
    """Those of other work than ours: ours stay, to be used again."""
    return [thread for thread in threading.enumerate() if not thread.name.startswith("lorenyi")]


def test_an_interruption_from_the_progress_callback_comes_through_and_ends_all_work():
    asked = Counting()

    def progress(message, share):
        raise KeyboardInterrupt

    before = threads()
    with pytest.raises(KeyboardInterrupt):
        lr.independence_test(
            coins(seed=1), coins(seed=2), entropy=asked, permutations=20_000, progress=progress
        )
    assert threads() == before
    assert len(asked.seen) < 10_000


def test_certified_entropies_serve_too():
    x, y = coins(seed=1), coins(seed=1)
    result = lr.independence_test(x, y, entropy=FAST.certified, permutations=9)
    assert result.pvalue == 0.1
    assert result.statistic == pytest.approx(float(lr.mutual_information(x, y)))


def test_several_variables_on_either_side_are_taken_together():
    """Exclusive or: neither coin alone tells about the third, both together do."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 80))
    c = a ^ b
    assert lr.independence_test(a, c, permutations=19).pvalue > 0.05
    assert lr.independence_test([a, b], c, permutations=19).pvalue == 0.05


def test_the_repr_shows_p_value_statistic_and_number():
    shown = repr(lr.independence_test(coins(), coins(), permutations=19, entropy=FAST))
    assert shown.startswith("IndependenceTest(p-value: 0.05, statistic: 1.5")
    assert "bits, permutations: 19, rows: 60)" in shown


# ------------------------------------------------------------------------------- what it refuses


def test_weights_that_are_no_whole_numbers_are_refused_with_a_remedy():
    weights = 1.5 + coins(seed=3)
    A, B = (lr.gram(coins(seed=seed), weights=weights) for seed in (0, 1))
    with pytest.raises(ValueError, match="whole numbers: round them"):
        lr.independence_test(A, B)


def test_a_continuous_given_is_refused_with_a_remedy():
    x, y = coins(seed=1), coins(seed=2)
    with pytest.raises(
        ValueError, match=r"given=.* must be categorical.*conditional_independence_test.*Delta\(\)"
    ):
        lr.independence_test(x, y, given=np.linspace(0, 1, 60))


def test_a_mixed_given_is_refused():
    x, y = coins(seed=1), coins(seed=2)
    with pytest.raises(ValueError, match="must be categorical"):
        lr.independence_test(x, y, given=[coins(seed=3), np.linspace(0, 1, 60)])


def test_numbers_passed_through_an_equality_kernel_are_labels():
    x, y, z = through_a_third(n=60)
    first = lr.independence_test(x, y, given=lr.gram(z.astype(float), lr.Delta()), permutations=5)
    second = lr.independence_test(x, y, given=z, permutations=5)
    assert first.null == pytest.approx(second.null)


def test_several_labels_given_are_the_groups_of_their_joint():
    x, y = coins(seed=1), coins(seed=2)
    a, b = coins(seed=3, sides=2), coins(seed=4, sides=2)
    first = lr.independence_test(x, y, given=[a, b], permutations=9)
    second = lr.independence_test(x, y, given=2 * a + b, permutations=9)
    assert first.statistic == pytest.approx(second.statistic)
    assert first.null == pytest.approx(second.null)


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, "9"])
def test_a_number_of_permutations_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="permutations="):
        lr.independence_test(coins(), coins(), permutations=bad)


def test_rows_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match="same rows"):
        lr.independence_test(coins(60), coins(59))


def test_a_p_value_is_a_plain_float():
    result = lr.independence_test(coins(), coins(seed=1), permutations=3)
    assert type(result.pvalue) is float
    assert math.isfinite(result.statistic)
