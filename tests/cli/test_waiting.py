"""Help comes at once, long work tells how far it is, and ends when it is told to."""

import json
import subprocess
import sys

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from lorenyi.cli import main, show  # noqa: E402

HEAVY = ["joblib", "numpy", "polars", "scipy", "sklearn"]


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"x{i}": rng.normal(size=80) for i in range(6)})
    path = tmp_path / "data.csv"
    frame.with_columns(y=pl.col("x0") > 0).write_csv(path)
    return str(path)


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["select", "--help"]])
def test_help_and_version_import_nothing_that_computes(arguments):
    code = f"""
import sys
from lorenyi.cli import main
assert main({arguments!r}) == 0
print("\\n", *(m for m in {HEAVY!r} if m in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == []


def test_version_and_help_take_less_than_half_a_second():
    code = "import resource; from lorenyi.cli import main; main(['--help'])\n"
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_utime)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout]
    assert min(float(run.splitlines()[-1]) for run in runs) < 0.5


def test_progress_is_told_in_lines_where_nobody_watches(data, capsys, monkeypatch):
    monkeypatch.setattr(show, "PAUSE", 0.0)
    assert main(["matrix", data, "--json"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "comparing: " in line]
    assert len(said) == 21
    assert said[-1].startswith("lorenyi: comparing: 21 of 21 pairs, 100 %, at most 0 s left")
    assert main(["select", data, "--target", "y", "--n-features", "2"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "choosing: " in line]
    assert said[0].startswith("lorenyi: choosing: 1: x0 of 6 candidates, ")
    assert main(["matrix", data, "--json", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_pairs_end_with_the_time(data, capsys):
    assert main(["matrix", data, "--max-seconds", "0.001", "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pairs_left"] > 0
    measured = sum(v is not None for row in found["p_values"] for v in row) // 2
    assert measured + found["pairs_left"] == 21
    assert "Time ran out" in " ".join(found["answer"])
    assert main(["describe", data, "--max-seconds", "0.001", "--json", "-q"]) == 0
    assert "Time ran out" in " ".join(json.loads(capsys.readouterr().out)["answer"])


def test_a_selection_ends_with_the_time(data, capsys):
    options = ["--n-features", "6", "--max-seconds", "0.001", "--json", "-q"]
    assert main(["select", data, "--target", "y", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["table"]) < 6
    assert "ran out" in " ".join(found["answer"])
