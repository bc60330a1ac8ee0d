"""What the script on robustness computes."""

import csv

import eight_tables
import numpy as np
import pytest
import selection_robustness as robustness


def table(discrete):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, size=(4000, 2)) if discrete else rng.normal(size=(4000, 2)) * [1, 50]
    return eight_tables.Table("t", X.astype(float), np.arange(4000) % 2, discrete, (), ())


@pytest.fixture
def data(tmp_path):
    X = np.random.default_rng(4).normal(size=(80, 12))
    np.savez(tmp_path / "breast.npz", X=X, y=(X[:, 3] + X[:, 7] > 0).astype(int))
    return tmp_path


def read(file):
    with file.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_noise_is_a_share_of_the_deviation_of_a_continuous_column():
    given = table(False)
    added = robustness.with_noise(given, 0.2, seed=0) - given.X
    assert added.std(axis=0) / given.X.std(axis=0) == pytest.approx([0.2, 0.2], rel=0.05)


def test_a_replaced_value_is_another_of_its_column():
    given = table(True)
    found = robustness.with_noise(given, 0.1, seed=0)
    assert np.isin(found, [0, 1, 2]).all()
    assert np.mean(found != given.X) == pytest.approx(0.1, abs=0.015)
    constant = eight_tables.Table("t", np.ones((9, 1)), np.zeros(9), True, (), ())
    assert (robustness.with_noise(constant, 0.5, seed=0) == 1).all()


def test_agreement_of_lists_counts_common_features_and_the_first_ones_most():
    assert robustness.jaccard([1, 2, 3], [3, 4, 5]) == pytest.approx(1 / 5)
    assert robustness.average_overlap([1, 2], [2, 1]) == pytest.approx(1 / 2)
    assert robustness.average_overlap([1, 2, 3], [1, 2, 4]) == pytest.approx((1 + 1 + 2 / 3) / 3)


def test_lists_with_noise_are_compared_with_the_one_without(data, monkeypatch):
    monkeypatch.setattr(robustness, "ADDED", (0.0, 3.0))
    robustness.main(
        ["--tables", "breast", "--quick", "--jobs", "1", "--data", str(data), "--out", str(data)]
    )
    rows = read(data / "selection_robustness-quick.csv")
    assert {(r["method"], r["level"]) for r in rows} == {
        (method, level) for method in ("MRMI", "LRMI") for level in ("0.0", "3.0")
    }
    assert {r["jaccard"] for r in rows if r["level"] == "0.0"} == {"1.0"}
    assert any(float(r["overlap"]) < 1 for r in rows if r["level"] == "3.0")
    assert "changes less in" in (data / "selection_robustness-quick.md").read_text()
