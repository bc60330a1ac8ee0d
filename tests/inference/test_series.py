"""Rows in order of time: blocks, transfer entropy, drift."""

import numpy as np
import pytest
import scipy.stats

import lorenyi as lr
from lorenyi import _arrays


def remembering(seed, n=200, share=0.9):
    """A series that is mostly its own past."""
    e = np.random.default_rng(seed).normal(size=n)
    x = e.copy()
    for t in range(1, n):
        x[t] += share * x[t - 1]
    return x


def below(found, level):
    """Return how likely so many p-values at or below the level are."""
    count = int(np.sum(np.array(found) <= level + 1e-12))
    return scipy.stats.binom.sf(count - 1, len(found), level)


def test_a_block_stays_together_and_every_row_stays():
    order = _arrays.block_permutation(0, 3, 23, 5)
    assert sorted(order) == list(range(23))
    starts = [i for i in order if i % 5 == 0]
    assert starts != sorted(starts)
    for start in starts:
        place = int(np.flatnonzero(order == start)[0])
        block = np.arange(start, min(start + 5, 23))
        assert np.array_equal(order[place : place + len(block)], block)


def test_series_that_remember_seem_dependent_without_blocks():
    plain, blocks = [], []
    for s in range(40):
        x, y = remembering(2 * s), remembering(2 * s + 1)
        plain.append(lr.independence_test(x, y, permutations=39, seed=s).pvalue)
        blocks.append(lr.independence_test(x, y, permutations=39, block=25, seed=s).pvalue)
    assert below(plain, 0.05) < 1e-6
    assert below(blocks, 0.05) > 1e-3


def test_transfer_is_found_in_its_direction_alone():
    there, back = [], []
    for s in range(25):
        rng = np.random.default_rng(s)
        x, y = remembering(100 + s, share=0.6), rng.normal(size=200)
        for t in range(1, 200):
            y[t] += 0.5 * y[t - 1] + 0.8 * np.abs(x[t - 1])
        found = lr.transfer_entropy_test(x, y, permutations=39, seed=s)
        there.append(found.pvalue)
        back.append(lr.transfer_entropy_test(y, x, permutations=39, seed=s).pvalue)
    assert np.sum(np.array(there) <= 0.05) >= 23
    assert below(back, 0.05) > 1e-3
    assert found.information == lr.transfer_entropy(x, y)


def test_transfer_between_labels_is_tested_within_those_of_the_past():
    rng = np.random.default_rng(0)
    x = rng.choice(["a", "b"], 150)
    y = np.where(rng.random(150) < 0.8, np.roll(x, 1), rng.choice(["a", "b"], 150))
    assert lr.transfer_entropy_test(x, y).pvalue == 0.005
    assert lr.transfer_entropy_test(y, x).pvalue > 0.05


@pytest.mark.parametrize("block", [0, 1.5, True, 20])
def test_a_block_that_cannot_be_is_refused(block):
    x, y, z = np.random.default_rng(0).normal(size=(3, 60))
    for call in (
        lambda: lr.independence_test(x, y, block=block),
        lambda: lr.conditional_independence_test(x, y, z, block=block),
    ):
        with pytest.raises(ValueError, match=f"block={block}.*from 1 to 10"):
            call()


def test_blocks_and_groups_are_not_kept_at_once():
    x, y = np.random.default_rng(0).normal(size=(2, 60))
    with pytest.raises(ValueError, match="block= and given="):
        lr.independence_test(x, y, given=["a", "b"] * 30, block=5)


# ------------------------------------------------------------------------------- drift


def batches(changes, n=80, columns=3):
    """Batches whose second column is scaled."""
    rng = np.random.default_rng(1)
    for change in changes:
        batch = rng.normal(size=(n, columns))
        batch[:, 1] *= change
        yield batch


def test_drift_names_the_batch_and_the_column():
    reference = np.random.default_rng(0).normal(size=(200, 3))
    found = lr.Drift(reference, level=0.01).watch(batches([1.0, 1.0, 2.5, 2.5]))
    assert found.alarms == [2, 3]
    assert found.changed == {2: ["x1"], 3: ["x1"]}
    assert found.pvalues == [each.pvalue for each in found.tests]
    assert repr(found) == "Drift(4 batches, alarms: [2, 3])"


def test_one_batch_is_the_test_of_two_samples():
    reference, (batch,) = np.random.default_rng(0).normal(size=60), batches([1.5], 60, 2)
    found = lr.Drift(reference, seed=3).update(batch[:, 1])
    assert found.pvalue == lr.two_sample_test(reference, batch[:, 1], seed=3).pvalue


def test_slow_drift_is_seen_in_a_window():
    reference = np.random.default_rng(0).normal(size=(200, 3))
    slow = list(batches([1.4] * 8, n=25))
    alone, together = lr.Drift(reference).watch(slow), lr.Drift(reference, window=8).watch(slow)
    assert together.tests[-1].n == 200 + 200
    assert together.pvalues[-1] < min(alone.pvalues)


def test_drift_of_frames():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)

    def frame(share):
        kind = np.where(rng.random(150) < share, "a", "b")
        return pd.DataFrame({"size": rng.normal(size=150), "kind": kind})

    found = lr.Drift(frame(0.5), window=2).watch([frame(0.5), frame(0.9)])
    assert found.changed[1] == ["kind"]


@pytest.mark.parametrize("options", [{"window": 0}, {"window": 1.5}, {"level": None}])
def test_options_that_cannot_be_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        lr.Drift(np.arange(9.0), **options)
