"""The scripts that measure level and power of the tests run small, resume, and write tables."""

import csv

import conditional_tests
import dependence_tests
import numpy as np
import pytest
from relations import RELATIONS


def read(file):
    with file.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_every_relation_gets_a_share_for_each_method_and_a_second_run_reads_them(
    tmp_path, monkeypatch
):
    words = ["--quick", "--out", str(tmp_path), "--methods", "lorenyi", "KSG"]
    dependence_tests.main(words)
    rows = read(tmp_path / "power.csv")
    assert {(row["relation"], row["method"]) for row in rows} == {
        (relation, method) for relation in RELATIONS for method in ("lorenyi", "KSG")
    }
    assert "**mean of the dependent**" in (tmp_path / "power.md").read_text(encoding="utf-8")
    monkeypatch.setattr(dependence_tests, "pvalues", None)  # nothing is tested again
    dependence_tests.main(words)
    assert read(tmp_path / "power.csv") == rows


def test_every_case_given_others_gets_a_share(tmp_path):
    conditional_tests.main(["--quick", "--out", str(tmp_path)])
    rows = read(tmp_path / "conditional.csv")
    cases = {(row["case"], int(row["columns"])) for row in rows if row["method"] == "lorenyi"}
    assert cases == {(case, columns) for case in conditional_tests.CASES for columns in (1, 2, 3)}


def test_relations_have_as_many_rows_as_asked_for():
    for draw in RELATIONS.values():
        x, y = draw(np.random.default_rng(0), 17)
        assert len(x) == len(y) == 17


def test_neighbors_find_a_line_and_not_noise():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    assert dependence_tests.by_neighbors(x, x + 0.1 * rng.normal(size=60), 0) == pytest.approx(0.01)
    assert dependence_tests.by_neighbors(x, rng.normal(size=60), 0) > 0.01
