"""The scripts of the paper run on a small table, resume, and compute what they say."""

import csv
import json

import eight_tables
import feature_selection as script
import numpy as np
import pytest

ROWS = 90


def write_tables(folder):
    """A table of the paper's name with discrete columns, and one of one's own with numbers."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, size=(ROWS, 16)).astype(np.uint8)
    X[:, 14] = rng.integers(0, 3, size=ROWS)
    np.savez(folder / "krvskp.npz", X=X, y=(X[:, 1] | X[:, 4]) + (X[:, 14] == 2))
    X = rng.normal(size=(ROWS, 11))
    np.savez(folder / "small.npz", X=X, y=(X[:, 2] * X[:, 7] + X[:, 2] > 0).astype(int))


def read(file):
    with file.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    data, out = (tmp_path_factory.mktemp(name) for name in ("data", "out"))
    write_tables(data)
    words = ["--tables", "krvskp", "small", "--quick", "--jobs", "1"]
    script.main([*words, "--data", str(data), "--out", str(out)])
    return data, out, words


def test_every_method_gets_a_list_a_curve_a_rank_and_a_time(folders):
    _, out, _ = folders
    pairs = {(table, method) for table in ("krvskp", "small") for method in script.METHODS}
    for name, count in [("selections", 1), ("errors", 10), ("times", 1)]:
        rows = read(out / f"{name}.csv")
        assert {(row["table"], row["method"]) for row in rows} == pairs
        assert len(rows) == count * len(pairs)
    ranks = read(out / "ranks.csv")
    assert [row["source"] for row in ranks] == ["lorenyi", "paper"] * 8
    assert [row["small"] for row in ranks if row["source"] == "paper"] == [""] * 8
    assert len(read(out / "confidence.csv")) == 8 * 7


def test_the_numbers_of_the_paper_stand_beside(folders):
    _, out, _ = folders
    row = next(r for r in read(out / "selections.csv") if r["method"] == "LRMI")
    assert row["paper"] == "20 9 32 31 5 34 14 0 33 13"
    assert row["equal"] == "no"  # another table under its name
    assert (row["alpha"], row["rank"]) == ("1.01", "200")
    times = {(r["table"], r["method"]): r for r in read(out / "times.csv")}
    assert times["krvskp", "MRMI"]["paper's minutes"] == "71"
    assert times["krvskp", "JMI"]["ratio"] == ""


def test_pictures_are_written(folders):
    pytest.importorskip("matplotlib")
    _, out, _ = folders
    for name in ("errors", "ranks", "confidence", "times"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_second_run_reads_the_cache_and_writes_the_same(folders, monkeypatch, capsys):
    data, out, words = folders
    before = {file.name: file.read_bytes() for file in out.glob("*.csv")}

    def refuse(*_, **__):
        raise AssertionError("selected again")

    monkeypatch.setattr(script.Runner, "run", refuse)
    script.main([*words, "--data", str(data), "--out", str(out)])
    assert {file.name: file.read_bytes() for file in out.glob("*.csv")} == before
    assert capsys.readouterr().err.count("in the cache") == 16


def test_what_was_kept_of_other_data_is_not_used(folders, tmp_path):
    data, out, _ = folders
    file = out / "cache" / "small-JMI.json"
    kept = json.loads(file.read_text(encoding="utf-8"))
    table = eight_tables.load("small", data)
    run = script.Runner(table, tmp_path, 3, 1)
    assert run.key(script.SHANNON["JMI"]) == kept["key"]  # fewer rows than --quick leaves
    other = eight_tables.Table("small", table.X + 1, table.y, False, (), ())
    assert script.Runner(other, tmp_path, 3, 1).key(script.SHANNON["JMI"]) != kept["key"]


def test_orders_and_ranks_can_be_chosen_by_cross_validation(folders, tmp_path, monkeypatch):
    data, _, _ = folders
    monkeypatch.setattr(script, "ALPHAS", (1.01, 2))
    monkeypatch.setattr(script, "RANKS", (5, 20))
    words = ["--tables", "small", "--methods", "LRMI", "--choose", "cv", "--quick", "--jobs", "1"]
    script.main([*words, "--data", str(data), "--out", str(tmp_path)])
    kept = [json.loads(f.read_text())["result"] for f in (tmp_path / "cache").glob("*.json")]
    assert len(kept) == 4
    (row,) = read(tmp_path / "selections.csv")
    assert int(row["rank"]) in (5, 20)
    errors = {(str(k["alpha"]), str(k["rank"])): np.mean(k["errors"]) for k in kept}
    assert errors[row["alpha"], row["rank"]] == min(errors.values())


def test_equal_errors_share_the_best_rank():
    def result(method, errors):
        return script.Result("t", method, None, None, [], [], 1.0, errors, errors)

    results = {
        ("t", "JMI"): result("JMI", [0.1, 0.2]),
        ("t", "MRMR"): result("MRMR", [0.1, 0.3]),
        ("t", "LRMI"): result("LRMI", [0.2, 0.1]),
    }
    ranks = script.average_ranks(results, ["t"], ["JMI", "MRMR", "LRMI"])
    assert ranks[:, 0].tolist() == [1.5, 2.0, 2.0]


def test_the_confidence_is_that_of_the_papers_text():
    """LRMI outperforms every Shannon method at the level of 0.05, MRMI all but CMIM."""
    average = np.array([ranks[-1] for ranks in script.PAPER_RANKS.values()])
    p = script.confidence(average, 8)
    assert np.all(p[7, :6] > 0.95)
    assert [name for i, name in enumerate(script.METHODS[:6]) if p[6, i] <= 0.95] == ["CMIM"]
    assert p + p.T == pytest.approx(np.ones((8, 8)))


def test_the_papers_averages_are_those_of_its_tables():
    for ranks in script.PAPER_RANKS.values():
        assert np.mean(ranks[:-1]) == pytest.approx(ranks[-1], abs=0.011)


def test_letters_of_openml_get_the_codes_of_the_papers_file():
    assert eight_tables.as_numbers(["n", "b", "w"]).tolist() == [0, 1, 2]
    assert eight_tables.as_numbers(["t", "f"]).tolist() == [1, 0]
    assert eight_tables.as_numbers(["1", "2.5"]).tolist() == [1, 2.5]


def test_without_a_folder_tables_come_from_openml(monkeypatch):
    from sklearn import datasets

    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": pd.Categorical(["f", "t"]), "b": [1.5, 2.5]})
    asked = []

    def fetch(data_id, as_frame):
        asked.append(data_id)
        return type("Bunch", (), {"data": frame, "target": pd.Series(["won", "nowin"])})

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    table = eight_tables.load("krvskp", None)
    assert asked == [3]
    assert table.X.tolist() == [[0, 1.5], [1, 2.5]]
    assert table.y.tolist() == [1, 0]
    assert table.nominal == (14,)


def test_a_folder_or_a_table_that_is_not_there_is_said(tmp_path):
    with pytest.raises(SystemExit, match="no such folder"):
        eight_tables.folder(str(tmp_path / "nowhere"))
    with pytest.raises(SystemExit, match="nosuch"):
        eight_tables.load("nosuch", tmp_path)
