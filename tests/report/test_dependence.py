"""Pairs of columns stand beside their standard errors, what chance gives, and significance."""

import numpy as np
import pandas as pd
import pytest

import lorenyi as lr
from lorenyi import report
from lorenyi.report.dependence import MAX_ROWS, dependences


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "x": x,
            "square": x**2 + 0.3 * rng.normal(size=n),
            "noise": rng.normal(size=n),
            "group": rng.choice(["a", "b", "c"], n),
            "sign": x > 0,
        }
    )


def test_values_and_errors_are_those_of_the_library():
    frame = table(80)
    found = dependences(frame, list(frame.columns))
    for i, p in enumerate(frame.columns):
        for j, q in enumerate(frame.columns):
            if i != j:
                expected = lr.mutual_information(frame[p], frame[q])
                assert found.bits[i, j] == pytest.approx(float(expected), abs=2e-3)
                error = expected.standard_error
                assert found.errors[i, j] == pytest.approx(error, rel=0.05, abs=1e-4)
                chance = lr.chance_level(frame[p], frame[q], permutations=20)
                spread = max(float(chance.values.std()), 1e-3)
                assert found.chance[i, j] == pytest.approx(chance.mean, abs=5 * spread)


def test_dependent_pairs_are_significant_and_others_seldom():
    frame = table(200)
    names = list(frame.columns)
    found = dependences(frame, names)
    pairs = {(names[i], names[j]) for i, j in np.argwhere(np.triu(found.significant, 1))}
    assert {("x", "square"), ("x", "sign")} <= pairs
    rng = np.random.default_rng(1)
    false = []
    for seed in range(6):
        noise = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
        noise["g"] = rng.integers(0, 3, 60)
        tested = dependences(noise, list(noise.columns), seed=seed)
        false.append(tested.p_values[np.triu_indices(6, 1)])
    p = np.concatenate(false)
    assert np.mean(p <= 0.1) < 0.2  # 90 pairs
    assert 0.35 < np.mean(p) < 0.65


def test_pairs_are_measured_on_the_rows_that_have_both_values():
    frame = table(90)
    gaps = frame.copy()
    gaps.loc[:29, "x"] = np.nan
    gaps.loc[20:39, "group"] = None
    found = dependences(gaps, ["x", "group", "sign"])
    rest = frame.loc[40:]
    expected = lr.mutual_information(rest["x"], rest["group"])
    assert found.bits[0, 1] == pytest.approx(float(expected), abs=2e-3)
    rest = frame.loc[30:]
    assert found.bits[0, 2] == pytest.approx(
        float(lr.mutual_information(rest["x"], rest["sign"])), abs=2e-3
    )
    empty = gaps.assign(group=[None] * 85 + ["a"] * 5)
    assert np.isnan(dependences(empty, ["x", "group"]).bits[0, 1])


def test_of_many_rows_some_are_drawn_unless_all_are_asked_for():
    frame = table(MAX_ROWS + 500)[["x", "sign"]]
    found = dependences(frame, ["x", "sign"])
    assert (found.rows, found.total) == (MAX_ROWS, MAX_ROWS + 500)
    whole = dependences(frame, ["x", "sign"], whole=True)
    assert whole.rows == MAX_ROWS + 500
    assert abs(found.bits[0, 1] - whole.bits[0, 1]) < 4 * found.errors[0, 1]


def test_a_description_says_what_repeats_and_what_is_missing():
    frame = table(60).assign(copy=lambda t: 3.0 - 2.0 * t["x"], constant=1.5)
    frame["other"] = frame["group"].map({"a": "z", "b": "y", "c": "x"})
    frame.loc[:5, "noise"] = np.nan
    found = report.describe(frame, target="sign")
    said = " ".join(found.answer)
    assert found.answer[0] == "60 rows and 8 columns: 5 numbers, 3 categories."
    assert "Missing values: noise (10 %)." in said
    assert "Constant: constant." in said
    assert "x = copy; group = other" in said
    assert "sign depends most on " in found.answer[1]
    rows = {row[0]: row for row in found.table.rows}
    assert rows["group"][5] == "other"
    assert rows["noise"][5] == ""
    assert found.json()["columns"]["noise"]["missing"] == 6


def test_a_finding_shows_itself_in_a_notebook():
    frame = table(40)[["x", "sign"]].rename(columns={"x": "<b>x</b>"})
    found = report.measure(frame, ["<b>x</b>"], ["sign"])
    assert repr(found) == "\n".join(found.answer)
    shown = found._repr_html_()
    assert "&lt;b&gt;x&lt;/b&gt; shares" in shown
    assert "<b>x</b>" not in shown
    assert shown.count("<tr>") == 1 + len(found.table.rows)
