"""What goes wrong is said in one line, with the right exit code, and leaves nothing behind."""

import os
import subprocess
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("polars")
pytest.importorskip("typer")

from lorenyi import report
from lorenyi.cli import main

openpyxl = pytest.importorskip("openpyxl")
RNG = np.random.default_rng(0)
ROWS = [f"{a:.4f},{b:.4f},{'v' if a > 0 else 'u'}" for a, b in RNG.normal(size=(40, 2))]
HEAD = "alpha,beta,target"
GOOD = "\n".join([HEAD, *ROWS, ""])


def workbook(path):
    book = openpyxl.Workbook()
    for row in [["a", "b"], [1, 2], [3, 4]]:
        book.active.append(row)
    book.save(path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with good and bad tables; the command runs in it."""
    files = {
        "good.csv": GOOD,
        "empty.csv": "",
        "blank.csv": "\n\n",
        "heading.csv": f"{HEAD}\n",
        "single.csv": f"{HEAD}\n1,2,u\n",
        "constant.csv": "\n".join([HEAD, *["1,2,u", "1,2,v"] * 10]),
        "text.csv": "\n".join([HEAD, *ROWS, "oops,1,u"]),
        "one_class.csv": GOOD.replace(",v", ",u"),
        "bad.parquet": "PAR1 but not really" * 9,
        "binary.csv": "\0\1\2\0\n\0",
        "infinite.csv": "\n".join([HEAD, *ROWS, "inf,1,u"]),
        "ragged.csv": "\n".join([HEAD, *ROWS, "1,2,u,more"]),
        "gap.csv": "\n".join([HEAD, *(f"{row[:-1]}" for row in ROWS)]),
        "names.csv": "\n".join(["a,who", *(f"{i % 7},n{i}" for i in range(30))]),
        "words.csv": "\n".join(["a,b", *(f"{w},{i}" for i, w in enumerate("uvuwvu"))]),
        "holes.csv": "\n".join(["a,b,c", "1,,0", "2,,1", *(f",{i},{i % 2}" for i in range(7))]),
        "list.json": '[{"a": 1}, {"a": ',
        "latin.csv": "a,b\n1,2\n3,4\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0 old")
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        for name in ("a.csv", "b.csv"):
            archive.writestr(name, GOOD)
    workbook(tmp_path / "book.xlsx")
    np.savez(tmp_path / "uneven.npz", X=np.zeros((5, 2)), y=np.zeros(4))
    monkeypatch.chdir(tmp_path)
    return tmp_path


SELECT = ["--target", "target", "--report", "out.html"]
WRONG = {
    "missing file": (["select", "nowhere.csv", *SELECT], "nowhere.csv: no such file"),
    "a folder": (["select", ".", *SELECT], ".: is a folder, not a file"),
    "wrong column": (
        ["select", "good.csv", "--target", "tarte"],
        "--target: no column 'tarte' in good.csv; did you mean 'target'?",
    ),
    "wrong columns": (
        ["measure", "good.csv", "--x", "alpha,zzz"],
        "--x: no column 'zzz' in good.csv; it has 'alpha', 'beta', 'target'",
    ),
    "no target": (["select", "good.csv"], "select needs --target"),
    "no x": (["measure", "good.csv"], "measure needs --x"),
    "no data": (["select", "--target", "y"], "give either a file (- for standard input) or"),
    "empty": (["select", "empty.csv", *SELECT], "empty.csv: is empty"),
    "blank": (["select", "blank.csv", *SELECT], "blank.csv: is empty"),
    "only a heading": (["matrix", "heading.csv"], "heading.csv: has no rows"),
    "one row": (["matrix", "single.csv"], "single.csv: has one row"),
    "all constant": (["select", "constant.csv", *SELECT], "all 2 columns are constant"),
    "all alike": (["spectrum", "constant.csv", "--columns", "alpha,beta"], "all rows are alike"),
    "text among numbers": (
        ["select", "text.csv", *SELECT],
        "column 'alpha' of text.csv has 'oops' in row 41 among numbers",
    ),
    "one class": (
        ["select", "one_class.csv", *SELECT],
        "target 'target' has only one value ('u'): choose another",
    ),
    "rank too large": (
        ["select", "good.csv", *SELECT, "--rank", "400"],
        "--rank 400: the table has 40 rows, so it must be at most 39",
    ),
    "too many features": (
        ["select", "good.csv", *SELECT, "--n-features", "3"],
        "--n-features 3: give a number from 1 to the 2 columns",
    ),
    "unreadable Parquet": (["select", "bad.parquet", *SELECT], "bad.parquet: cannot be read ("),
    "binary": (
        ["matrix", "binary.csv"],
        "binary.csv: cannot be read (neither text nor",
    ),
    "arrays that do not fit": (["matrix", "uneven.npz"], "arrays of different length"),
    "infinity": (
        ["select", "infinite.csv", *SELECT],
        "column 'alpha' of infinite.csv has an infinite value in row 41",
    ),
    "no such folder": (
        ["select", "good.csv", "--target", "target", "--report", "nowhere/out.html"],
        "--report nowhere/out.html: the folder",
    ),
    "report is a folder": (
        ["select", "good.csv", "--target", "target", "--report", "."],
        "is a folder; give a file name",
    ),
    "two forms": (["matrix", "good.csv", "--json", "--csv"], "--json and --csv: choose one"),
    "no number": (["matrix", "good.csv", "--alpha", "much"], "--alpha"),
    "negative order": (["matrix", "good.csv", "--alpha", "-1"], "--alpha"),
    "unknown option": (["matrix", "good.csv", "--fast"], "--fast"),
    "unknown command": (["selekt", "good.csv"], "selekt"),
    "unknown criterion": (["select", "good.csv", "--criterion", "best"], "best"),
    "unknown example": (["select", "--example", "titanic"], "titanic"),
    "more cells than names": (
        ["describe", "ragged.csv"],
        "ragged.csv: line 42 has 4 cells and the first 3: quote cells that contain ','",
    ),
    "old workbook": (["describe", "old.xls"], "old.xls: is an old workbook; save it as .xlsx"),
    "unknown sheet": (
        ["describe", "book.xlsx", "--sheet", "Sales"],
        "--sheet Sales: book.xlsx has 'Sheet'",
    ),
    "two files in one": (["describe", "two.zip"], "two.zip: holds 2 files; extract the one"),
    "broken JSON": (["describe", "list.json"], "list.json: cannot be read ("),
    "unknown encoding": (
        ["describe", "latin.csv", "--encoding", "klingon"],
        "--encoding klingon: no such encoding; try utf-8 or cp1252",
    ),
    "said twice": (
        ["describe", "good.csv", "--numeric", "alpha", "--categorical", "a*"],
        "column 'alpha' is named by two of --numeric, --categorical, --date",
    ),
    "words as numbers": (
        ["describe", "words.csv", "--numeric", "a"],
        "--numeric: column 'a' of words.csv holds 'u', 'v', 'w'",
    ),
    "words as dates": (["describe", "words.csv", "--date", "a"], "--date: column 'a' of words.csv"),
    "keep what is not there": (["describe", "good.csv", "--keep", "id"], "--keep: no column 'id'"),
    "a sample of one": (["describe", "good.csv", "--sample", "1"], "--sample"),
    "no time at all": (["select", "good.csv", *SELECT, "--max-seconds", "0"], "--max-seconds"),
    "a target of names": (
        ["select", "names.csv", "--target", "who"],
        "target 'who' has 30 classes in 30 rows: it names rows",
    ),
    "empty target": (
        ["select", "gap.csv", "--target", "target"],
        "--target: column 'target' of gap.csv was left out: no values",
    ),
    "no full row": (
        ["select", "holes.csv", "--target", "c", "--missing", "drop"],
        "0 of 9 rows have no missing values, which are in a (7), b (2): --drop 'a'",
    ),
    "nothing left": (
        ["describe", "names.csv", "--drop", "a"],
        "names.csv: no column is left to measure",
    ),
    "numbers needed": (
        ["select", "good.csv", *SELECT, "--task", "regression"],
        "task='regression' needs a target of numbers",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_one_line_and_nothing_is_written(folder, capsys, case):
    arguments, expected = WRONG[case]
    before = sorted(folder.iterdir())
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    *guesses, last = err.splitlines()
    assert last.startswith("lorenyi: ")
    assert expected in last
    assert all(line.startswith("lorenyi: ") for line in guesses)
    assert "Traceback" not in err
    assert sorted(folder.iterdir()) == before


@pytest.fixture
def shared(monkeypatch):
    """A folder that every user can enter; those of pytest are closed."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        Path(name, "good.csv").write_text(GOOD)
        Path(name, "closed").mkdir(mode=0o555)
        monkeypatch.chdir(name)
        yield Path(name)


@contextmanager
def nobody():
    """Be a user who may not do everything, which root may."""
    if os.getuid() == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(os.getuid())


def test_without_permission_nothing_is_read(shared, capsys):
    os.chmod("good.csv", 0)
    with nobody():
        assert main(["select", "good.csv", "--target", "target"]) == 2
    assert capsys.readouterr().err == "lorenyi: good.csv: no permission to read it\n"


def test_without_permission_nothing_is_written(shared, capsys):
    target = "closed/out.html"
    with nobody():
        assert main(["measure", "good.csv", "--x", "alpha", "--report", target]) == 2
    assert f"--report {target}: no permission to write in" in capsys.readouterr().err
    assert not list((shared / "closed").iterdir())


def test_a_closed_pipe_is_quiet(folder):
    command = [sys.executable, "-m", "lorenyi.cli", "measure", "good.csv", "--x", "alpha", "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_an_interruption_has_its_own_code(folder, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "measure", interrupted)
    assert main(["measure", "good.csv", "--x", "alpha", "--report", "out.html", "-q"]) == 130
    assert capsys.readouterr().err == "lorenyi: interrupted\n"
    assert not (folder / "out.html").exists()


def test_a_fault_of_the_program_is_one_line_too(folder, capsys, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("eigenvalues went\nastray")

    monkeypatch.setattr(report, "measure", broken)
    assert main(["measure", "good.csv", "--x", "alpha", "-q"]) == 1
    line = "lorenyi: RuntimeError: eigenvalues went (LORENYI_DEBUG=1 shows where)\n"
    assert capsys.readouterr().err == line
    monkeypatch.setenv("LORENYI_DEBUG", "1")
    with pytest.raises(RuntimeError):
        main(["measure", "good.csv", "--x", "alpha", "-q"])


@pytest.mark.parametrize("name", ["typer", "polars", "rich"])
def test_a_missing_dependency_is_named_with_its_remedy(folder, capsys, monkeypatch, name):
    for module in [m for m in sys.modules if m.startswith("lorenyi.cli.")]:
        monkeypatch.delitem(sys.modules, module)
        monkeypatch.delattr(module)
    for module in [m for m in sys.modules if m.split(".")[0] == name]:
        monkeypatch.setitem(sys.modules, module, None)
    assert main(["describe", "good.csv"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("lorenyi: the command needs ")
    assert err.endswith('pip install "lorenyi[cli]"\n')


def test_without_openpyxl_a_workbook_names_the_extra(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert main(["describe", "book.xlsx"]) == 2
    said = 'book.xlsx: is an Excel workbook, which openpyxl reads: pip install "lorenyi[excel]"'
    assert said in capsys.readouterr().err


def test_a_report_appears_whole_or_not_at_all(folder, capsys, monkeypatch):
    (folder / "out.html").write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert main(["measure", "good.csv", "--x", "alpha", "--report", "out.html", "-q"]) == 2
    out, err = capsys.readouterr()
    assert err == "lorenyi: --report out.html: No space left on device\n"
    assert out == ""
    assert (folder / "out.html").read_text() == "old"
    assert not list(folder.glob(".out*"))
