"""The command gives the library's numbers, says what it guessed, and reads every format alike."""

import csv
import gzip
import io
import json
import shlex
import sys

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from sklearn.datasets import load_iris  # noqa: E402

import lorenyi as lr  # noqa: E402
from lorenyi.cli import main, show  # noqa: E402
from lorenyi.report import Finding, Table  # noqa: E402
from lorenyi.selection import JMI, InformationSelector  # noqa: E402

EXACT = lr.Renyi(solver=lr.Exact())
RNG = np.random.default_rng(3)
N = 60
FRAME = pl.DataFrame(
    {
        "a": RNG.normal(size=N).round(6),
        "b": RNG.normal(size=N).round(6),
        "c": RNG.normal(size=N).round(6),
        "kind": RNG.choice(["red", "green"], N),
        "age": RNG.integers(20, 80, N),
    }
).with_columns(y=pl.when(pl.col("a") + pl.col("b") > 0).then(pl.lit("yes")).otherwise(pl.lit("no")))


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    FRAME.write_csv(path)
    return str(path)


@pytest.fixture
def ask(capsys):
    """Run the command; return what it says on standard output."""

    def run(*arguments):
        assert main(list(arguments)) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


def asked(ask, *arguments):
    return json.loads(ask(*arguments, "--json"))


# ------------------------------------------------------------------------------------- numbers


def test_select_chooses_what_the_selector_chooses(ask):
    X, y = load_iris(return_X_y=True)
    expected = InformationSelector().fit(X, y)
    found = asked(ask, "select", "--example", "iris")
    names = load_iris().feature_names
    assert [row["column"] for row in found["table"]] == [names[j] for j in expected.indices_]
    assert [row["score"] for row in found["table"]] == pytest.approx(expected.scores_, abs=1e-4)
    assert found["target_entropy"] == pytest.approx(float(lr.entropy(y)), abs=1e-6)


def test_options_of_select_reach_the_selector(ask, data):
    options = ["--criterion", "jmi", "--alpha", "1.5", "--rank", "20", "--n-features", "3"]
    more = ["--groups", "a,c", "--given", "b", "--drop", "age", "--categorical", "kind"]
    found = asked(ask, "select", data, "--target", "y", *options, *more, "--seed", "4")
    X = FRAME.select("a", "b", "c", "kind")
    expected = InformationSelector(
        3,
        criterion=JMI(entropy=lr.Renyi(1.5, 20)),
        feature_groups=[["a", "c"]],
        must_include=["b"],
        random_state=4,
    ).fit(X, FRAME["y"])
    assert [row["column"] for row in found["table"]] == ["b", "a + 1", "kind"]
    assert expected.indices_.tolist()[0] == 1
    steps = expected.scores_[[0, 1, 3]]
    assert [row["score"] for row in found["table"]] == pytest.approx(steps, abs=1e-4)


def test_measure_is_the_librarys_measure(ask, data):
    found = asked(ask, "measure", data, "--x", "a,kind", "--y", "y", "--given", "b", "--alpha", "2")
    H = lr.Renyi(2.0)
    x, y, given = (FRAME["a"], FRAME["kind"]), FRAME["y"], FRAME["b"]
    expected = {
        "S(x)": lr.entropy(x, entropy=H),
        "S(y)": lr.entropy(y, entropy=H),
        "S(x, y)": lr.joint_entropy(x, y, entropy=H),
        "S(x | y)": lr.conditional_entropy(x, y, entropy=H),
        "I(x; y)": lr.mutual_information(x, y, entropy=H),
        "I(x; y | given)": lr.conditional_mutual_information(x, y, given=given, entropy=H),
    }
    assert [row["measure"] for row in found["table"]] == list(expected)
    for row, value in zip(found["table"], expected.values(), strict=True):
        assert row["bits"] == pytest.approx(float(value), abs=1e-9)
        assert row["std. error"] == pytest.approx(value.standard_error, rel=1e-6, abs=1e-9)
    test = lr.conditional_independence_test(x, y, given=given)
    assert found["table"][-1]["p"] == found["p_value"] == test.pvalue


def test_certified_bounds_contain_the_value(ask, data):
    found = asked(ask, "measure", data, "--x", "a,b", "--y", "y", "--certified", "1e-4")
    exact = float(lr.mutual_information((FRAME["a"], FRAME["b"]), FRAME["y"], entropy=EXACT))
    row = found["table"][-1]
    assert row["low"] <= exact <= row["high"]
    assert row["high"] - row["low"] < 1e-3


@pytest.mark.parametrize("independent", [True, False])
def test_shared_bits_stand_beside_chance_and_significance(ask, tmp_path, independent):
    x = np.random.default_rng(5).normal(size=(2, 300))
    y = x[1] if independent else x[0] ** 2
    path = str(tmp_path / "two.csv")
    pl.DataFrame({"x": x[0], "y": y}).write_csv(path)
    found = asked(ask, "measure", path, "--x", "x", "--y", "y")
    chance = lr.chance_level(x[0], y, permutations=20)
    assert found["chance"] == pytest.approx(chance.mean, abs=3 * chance.values.std())
    said = " ".join(found["answer"])
    assert ("Not significant at 5 %" in said) is independent
    beyond = found["table"][-1]["bits"] - found["chance"]
    assert (beyond > 5 * chance.values.std()) is not independent
    assert "-0 %" not in said


def test_measure_of_one_side_is_an_entropy_and_a_test_gives_a_p_value(ask, data):
    found = asked(ask, "measure", data, "--x", "a")
    assert found["table"][-1]["bits"] == pytest.approx(float(lr.entropy(FRAME["a"])), abs=1e-3)
    found = asked(ask, "measure", data, "--x", "a", "--y", "y", "--permutations", "19")
    expected = lr.independence_test(FRAME["a"], FRAME["y"], permutations=19).pvalue
    assert found["p_value"] == expected


def test_the_matrix_holds_mutual_informations_in_an_order_of_its_own(ask, data):
    found = asked(ask, "matrix", data, "--columns", "a,b,kind,y")
    assert sorted(found["columns"]) == ["a", "b", "kind", "y"]
    for i, p in enumerate(found["columns"]):
        for j, q in enumerate(found["columns"]):
            value = lr.entropy(FRAME[p]) if p == q else lr.mutual_information(FRAME[p], FRAME[q])
            assert found["matrix"][i][j] == pytest.approx(float(value), abs=2e-3)


def test_columns_that_repeat_one_another_stand_side_by_side(ask, tmp_path):
    path = str(tmp_path / "twins.csv")
    twins = FRAME.select("a", "b", "c").with_columns(
        a2=2 * pl.col("a"), b2=-pl.col("b"), c2=pl.col("c") + 1
    )
    twins.write_csv(path)
    found = asked(ask, "matrix", path)
    order = [name[0] for name in found["columns"]]
    assert order[0::2] == order[1::2]
    assert "6 of 6 columns are largely redundant, in 3 groups" in " ".join(found["answer"])


def test_the_spectrum_is_that_of_the_standardized_kernel_matrix(ask):
    X = load_iris().data
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    sigma = float(np.median(np.sqrt(squares[np.triu_indices(150, 1)])))
    values = np.linalg.eigvalsh(np.exp(-squares / (2 * sigma**2)) / 150)[::-1]
    found = asked(ask, "spectrum", "--example", "iris")
    assert found["median_distance"] == pytest.approx(sigma, rel=0.01)  # equal rows do not count
    sigma = found["median_distance"]
    values = np.linalg.eigvalsh(np.exp(-squares / (2 * sigma**2)) / 150)[::-1]
    shown = [row["eigenvalue"] for row in found["table"]]
    assert shown == pytest.approx(values[: len(shown)], abs=1e-9)
    positive = values[values > 1e-15]
    entropy = -np.sum(positive * np.log2(positive))
    assert found["effective_rank"] == pytest.approx(2**entropy, rel=1e-6)


def test_the_sensible_rank_is_the_least_within_one_percent(ask):
    found = asked(ask, "spectrum", "--example", "iris")
    k, exact = found["sensible_rank"], found["entropy"]["value"]
    X = load_iris().data
    A = lr.gram((X - X.mean(0)) / X.std(0), lr.Gaussian(found["median_distance"]))
    assert lr.Renyi(1.0, k)(A) <= 1.01 * exact < lr.Renyi(1.0, k - 1)(A)


# --------------------------------------------------------------------------- what goes in


def semicolons(frame, path):
    text = frame.write_csv(separator=";", decimal_comma=True)
    path.write_text(text, encoding="utf-8")


FORMATS = {
    "table.csv": lambda f, p: f.write_csv(p),
    "table.tsv": lambda f, p: f.write_csv(p, separator="\t"),
    "table.csv.gz": lambda f, p: p.write_bytes(gzip.compress(f.write_csv().encode())),
    "europe.csv": semicolons,
    "table.parquet": lambda f, p: f.write_parquet(p),
    "no_ending": lambda f, p: f.write_parquet(p),
    "table.arrow": lambda f, p: f.write_ipc(p),
    "stream.arrow": lambda f, p: f.write_ipc_stream(p),
    "table.npz": lambda f, p: np.savez(p, **{c: f[c].to_numpy() for c in f.columns}),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_numbers(ask, tmp_path, name):
    path = tmp_path / name
    FORMATS[name](FRAME.select("a", "b").with_columns(c=FRAME["age"]), path)
    found = asked(ask, "measure", str(path), "--x", "a", "--y", "b,c")
    expected = lr.mutual_information(FRAME["a"], (FRAME["b"], FRAME["age"].cast(float)))
    assert found["table"][-1]["bits"] == pytest.approx(float(expected), abs=1e-3)


def test_standard_input_is_read(ask, monkeypatch):
    text = io.TextIOWrapper(io.BytesIO(FRAME.write_csv().encode()))
    monkeypatch.setattr(sys, "stdin", text)
    found = asked(ask, "measure", "-", "--x", "kind")
    assert found["table"][0]["bits"] == pytest.approx(float(lr.entropy(FRAME["kind"])))


def test_arrays_x_and_y_become_columns(ask, tmp_path):
    X, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "iris.npz", X=X, y=y)
    found = asked(ask, "select", str(tmp_path / "iris.npz"), "--target", "y", "--n-features", "1")
    assert found["table"][0]["column"] == "x3"


def test_a_first_row_of_numbers_is_data(ask, tmp_path, capsys):
    (tmp_path / "bare.csv").write_text("1.5,2\n2.5,1\n3.5,4\n4.5,0\n")
    assert main(["spectrum", str(tmp_path / "bare.csv"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["rows"] == 4
    assert "the first row looks like data" in err


def test_guesses_are_told_on_standard_error_alone(data, capsys):
    assert main(["matrix", data, "--csv"]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[:2] for line in err.splitlines() if " age " in line] == [["age", "number"]]
    rows = list(csv.reader(io.StringIO(out)))
    assert [row[0] for row in rows[1:]] == rows[0][1:]
    assert main(["matrix", data, "--csv", "--quiet"]) == 0
    again, err = capsys.readouterr()
    assert (again, err) == (out, "")


def test_missing_words_are_missing_and_their_rows_can_go(ask, tmp_path, capsys):
    path = str(tmp_path / "gaps.csv")
    text = FRAME.with_columns(pl.col("a").cast(pl.String))
    gaps = text.with_columns(a=pl.when(pl.row_index() % 20 == 1).then(pl.lit("NA")).otherwise("a"))
    gaps.write_csv(path)
    assert main(["measure", path, "--x", "a"]) == 2
    line = "column 'a' has 3 missing values, first in row 2: --missing drop leaves such rows out"
    assert line in capsys.readouterr().err
    assert main(["measure", path, "--x", "a", "--missing", "drop"]) == 0
    assert "left out for missing values in a (3): 3 of 60 rows" in capsys.readouterr().err
    found = asked(ask, "measure", path, "--x", "a", "--missing", "drop")
    kept = FRAME["a"].filter(FRAME.select(pl.row_index() % 20 != 1).to_series())
    assert found["table"][0]["bits"] == pytest.approx(float(lr.entropy(kept)), abs=1e-3)
    found = asked(ask, "select", path, "--target", "y", "--missing", "value", "--n-features", "1")
    assert found["rows"] == N


def test_identifiers_are_left_out_unless_asked_for(ask, tmp_path, capsys):
    path = str(tmp_path / "named.csv")
    FRAME.with_columns(name=pl.Series([f"n{i}" for i in range(N)])).write_csv(path)
    options = ["select", path, "--target", "y", "--n-features", "1"]
    assert asked(ask, *options)["candidates"] == 5
    assert main(options) == 0
    line = "left out: name (identifier: different in every row) (--keep includes them)"
    assert line in capsys.readouterr().err
    kept = asked(ask, *options, "--keep", "name")
    assert kept["candidates"] == 6
    assert kept["table"][0]["column"] == "b"  # as many categories as rows are not informative


def test_names_with_commas_and_patterns_are_found(ask, tmp_path):
    path = str(tmp_path / "odd.csv")
    FRAME.select(pl.col("a").alias("p,q"), pl.col("b").alias("r one"), "c").write_csv(path)
    assert asked(ask, "measure", path, "--x", "p,q")["settings"]["x"] == ["p,q"]
    assert asked(ask, "measure", path, "--x", '"p,q",c')["settings"]["x"] == ["p,q", "c"]
    assert asked(ask, "measure", path, "--x", "r*,c")["settings"]["x"] == ["r one", "c"]


# --------------------------------------------------------------------------- what comes out


@pytest.mark.parametrize(
    "arguments",
    [
        ["select", "--target", "y", "--n-features", "2"],
        ["select", "--target", "y", "--criterion", "mrmr", "--n-features", "2", "--drop", "age"],
        ["measure", "--x", "a,age", "--y", "y", "--given", "b"],
        ["matrix", "--columns", "a,kind,y,age"],
        ["spectrum"],
    ],
)
def test_command_and_python_lines_measure_the_same_again(ask, data, arguments):
    command, *options = arguments
    found = asked(ask, command, data, *options)
    again = json.loads(ask(*shlex.split(found["command"])[1:]))
    assert again == found
    names: dict = {}
    if command in ("select", "matrix"):
        exec(found["python"], names)
    else:
        *lines, last = found["python"].splitlines()
        exec("\n".join(lines), names)
        value = eval(last, names)
        expected = found["table"][-1]["bits"] if command == "measure" else found["entropy"]["value"]
        assert float(value) == pytest.approx(expected, abs=1e-9)
    if command == "select":
        chosen = names["selector"].feature_names_in_[names["selector"].indices_].tolist()
        assert chosen == [row["column"] for row in found["table"]]
    if command == "matrix":
        order = {name: i for i, name in enumerate(found["columns"])}
        assert len(names["shared"]) == 6
        for (p, q), value in names["shared"].items():
            assert found["matrix"][order[p]][order[q]] == pytest.approx(float(value), abs=2e-3)


def test_the_table_is_for_people(ask, data):
    out = ask("select", data, "--target", "y", "--n-features", "2")
    assert out.startswith("The 2 most informative of 5 columns about y are ")
    assert "█" in out
    out = ask("matrix", data)
    assert "▓" in out
    assert "bits" in out


def test_names_cannot_steer_the_terminal(ask, tmp_path):
    path = str(tmp_path / "hostile.csv")
    names = ["[red]x[/red]", "\x1b[2J", "🦊"]
    FRAME.select("a", "b", "c").rename(dict(zip("abc", names, strict=True))).write_csv(path)
    out = ask("matrix", path)
    assert "\x1b" not in out
    assert "[red]x[/red]" in out
    assert "🦊" in out


@pytest.mark.parametrize("name", ["=HYPERLINK(0)", "+a", "-a", "@a", "\ta", "\ra"])
def test_names_are_no_formulas_for_a_spreadsheet(ask, tmp_path, name):
    path = str(tmp_path / "hostile.parquet")
    FRAME.select("a", "b", "c").rename({"a": name}).write_parquet(path)
    head, *rows = csv.reader(io.StringIO(ask("matrix", path, "--csv"), newline=""))
    assert sorted(head) == sorted(["column", f"'{name}", "b", "c"])
    assert sorted(row[0] for row in rows) == sorted([f"'{name}", "b", "c"])
    assert all(float(cell) < 10 for row in rows for cell in row[1:])


def test_categories_are_no_formulas_for_a_spreadsheet(ask, tmp_path):
    path = str(tmp_path / "hostile.csv")
    FRAME.select("a", kind=pl.lit("=HYPERLINK(0)")).with_columns(
        kind=pl.when(pl.col("a") > 0).then(pl.lit("@b")).otherwise("kind")
    ).write_csv(path)
    head, *rows = csv.reader(io.StringIO(ask("describe", path, "--csv"), newline=""))
    cells = dict(zip(head, rows[1], strict=True))
    assert cells["distribution"][:2] in ("'=", "'@")


def test_commands_agree_on_the_target_and_say_another_order(ask):
    whole = asked(ask, "select", "--example", "breast", "--n-features", "1")["target_entropy"]
    found = asked(ask, "measure", "--example", "breast", "--x", "target", "--permutations", "0")
    assert found["table"][0]["bits"] == pytest.approx(whole, abs=1e-6)
    options = ["--criterion", "joint", "--rank", "50", "--n-features", "1"]
    other = asked(ask, "select", "--example", "breast", *options)
    assert other["target_entropy"] == pytest.approx(0.909, abs=1e-3)
    assert "%, order 2)" in other["answer"][1]


def test_a_set_without_information_says_so(ask, tmp_path):
    path = str(tmp_path / "noise.csv")
    rng = np.random.default_rng(2)
    pl.DataFrame({"a": rng.normal(size=80), "y": rng.integers(0, 2, 80)}).write_csv(path)
    found = asked(ask, "select", path, "--target", "y", "--n-features", "1")
    assert found["table"][0]["score"] < 0
    assert "It holds nothing beyond chance" in found["answer"][1]
    assert "%" not in found["answer"][1]
    assert found["table"][0]["p"] > 0.05


def test_negative_numbers_stay_numbers():
    finding = Finding("", [], [], Table(["bits"], [[-0.5], [-np.inf]]), {}, "", list)
    assert show.as_csv(finding).splitlines() == ["bits", "-0.5", "-inf"]


@pytest.mark.parametrize("scale", [1e300, 1e-300])
@pytest.mark.parametrize(
    "command", ["matrix", "measure --x a --y b", "select --target b --n-features 2"]
)
def test_numbers_of_any_size_are_measured(ask, tmp_path, command, scale):
    tables = FRAME.select("a", "b", "c"), FRAME.select(pl.col("a") * scale, "b", "c")
    name, *options = command.split()
    found = []
    for table in tables:
        table.write_parquet(tmp_path / "table.parquet")
        lines = ask(name, str(tmp_path / "table.parquet"), *options, "--csv").splitlines()
        cells = [line.rsplit(",", 4)[1:] for line in lines[1:]]
        if name == "select":  # groups of rows, and so errors, follow their content
            cells = [row[:1] for row in cells]
        found.append([float(cell) for row in cells for cell in row if cell[-1:].isdigit()])
    assert found[0]
    assert found[1] == pytest.approx(found[0], abs=1e-6)


def test_the_version_is_told(ask):
    assert ask("--version") == f"lorenyi {lr.__version__}\n"


def test_without_arguments_help_is_shown(ask):
    out = ask()
    for command in ("describe", "select", "measure", "matrix", "spectrum"):
        assert command in out


def test_shells_can_complete_commands(monkeypatch, capsys):
    monkeypatch.setenv("_LORENYI_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "lorenyi sp")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit) as end:
        main([])
    assert end.value.code == 0
    assert capsys.readouterr().out.strip() == "spectrum"
