"""What the pages for readers say is true: their code runs and their figures are measured."""

import ast
import contextlib
import importlib
import io
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import lorenyi

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/*.md")),
]
# What a page may do without: installed by an extra, or only for comparison.
OPTIONAL = ("dask", "distributed", "matplotlib", "pandas", "polars", "pyarrow", "rich", "torch")
OPTIONAL += ("typer", "vendi_score")
MODULES = (".selection", ".nn", ".representations", ".plots", ".report", ".cli", ".theory")
FIGURES = re.compile(r"#\s*(-?\d[\d.]*(?:, -?\d[\d.]*)*)(?::? [a-z ]+)?\s*$")
WORD = re.compile(r"#\s*(True|False)\s*$")
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+")


def blocks(page: str, language: str) -> list[tuple[int, str]]:
    """Return each block of a page in a language, with the number of lines before it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)), match.group(1)) for match in found]


def digits(figure: str) -> int:
    return len(figure.partition(".")[2])


def run(source: str, namespace: dict[str, object]) -> None:
    """Run a block; where a line ends in `# 0.575 bits`, its value must agree to these digits.

    So must the values of an array with `# 27, 20, 21`, and a truth with `# True`.
    """
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Expr):
            exec(compile(ast.Module([node], []), "page", "exec"), namespace)
            continue
        value = eval(compile(ast.Expression(node.value), "page", "eval"), namespace)
        last = lines[(node.end_lineno or node.lineno) - 1]
        if found := FIGURES.search(last):
            figures = found.group(1).split(", ")
            values = np.ravel(value).astype(float)
            rounded = [round(v, digits(f)) for v, f in zip(values, figures, strict=True)]
            assert rounded == [float(f) for f in figures], last
        if word := WORD.search(last):
            assert str(value) == word.group(1), f"{last}: {value!r}"


@contextlib.contextmanager
def reading(page: str, line: int):
    """Name the place of an error; a missing optional package skips the page, visibly."""
    try:
        yield
    except ImportError as missing:
        needed = [package for package in OPTIONAL if package in str(missing)]
        if not needed:
            raise
        pytest.skip(f"{page} from line {line} on: {missing}")
    except Exception as error:
        error.add_note(f"in the block of {page} that starts at line {line}")
        raise


@pytest.mark.filterwarnings("ignore:Please import `csr_matrix`:DeprecationWarning")  # vendi-score
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")])
def test_the_code_runs_and_its_figures_are_measured(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where pages write their files
    namespace: dict[str, object] = {"__name__": "page"}
    for line, source in blocks(page, "python"):
        with reading(page, line):
            run(source, namespace)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any("$ lorenyi" in s for _, s in blocks(page, "console"))]
)
def test_the_commands_run_and_print_the_numbers_shown(page, tmp_path, monkeypatch):
    for package in ("typer", "rich", "polars"):
        pytest.importorskip(package)
    from lorenyi.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for line, source in blocks(page, "console"):
        for command in source.split("$ ")[1:]:
            words, _, shown = command.partition("\n")
            if not words.startswith("lorenyi "):
                continue
            out = io.StringIO()
            with reading(page, line), contextlib.redirect_stdout(out):
                assert main(shlex.split(words, comments=True)[1:]) == 0, words
            printed = NUMBER.findall(out.getvalue())
            assert [n for n in NUMBER.findall(shown) if n not in printed] == [], words


def test_every_measure_in_the_readme_exists():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| `(\w+)\(", text, flags=re.MULTILINE)
    assert len(names) >= 10
    assert [name for name in names if not callable(getattr(lorenyi, name, None))] == []


@pytest.mark.parametrize(
    "module",
    ["", ".selection", ".nn", ".representations", ".plots", ".report", ".cli", ".theory"],
)
def test_the_reference_lists_every_public_name(module):
    if module == ".nn":
        pytest.importorskip("torch")
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    sections = re.split(r"^\.\. currentmodule:: (\S+)$", text, flags=re.MULTILINE)
    listed = dict(zip(sections[1::2], sections[2::2], strict=True))[f"lorenyi{module}"]
    names = re.findall(r"^   (\w+)$", listed, flags=re.MULTILINE)
    public = [n for n in importlib.import_module(f"lorenyi{module}").__all__ if n != "theory"]
    assert sorted(names) == sorted(public)


def test_every_page_can_be_reached():
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    pages = {page.stem for page in ROOT.glob("docs/*.md")} - {"index", "compare_selectors"}
    listed = re.search(r"```\{toctree\}\n(.*?)```", index, flags=re.DOTALL)
    assert listed is not None
    assert pages <= set(listed.group(1).split())
