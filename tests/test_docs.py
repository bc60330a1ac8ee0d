"""What the pages for readers say is true: their code runs and their figures are measured."""

import ast
import contextlib
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks, commands, missing_numbers, run

import lorenyi

PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/*.md")),
]
# What a page may do without: installed by an extra, or only for comparison.
OPTIONAL = ("dask", "distributed", "matplotlib", "pandas", "polars", "pyarrow", "rich", "torch")
OPTIONAL += ("dit", "typer", "vendi_score")
MODULES = (".selection", ".nn", ".representations", ".plots", ".report", ".cli", ".theory")


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


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page, "lorenyi")])
def test_the_commands_run_and_print_the_numbers_shown(page, tmp_path, monkeypatch):
    for package in ("typer", "rich", "polars"):
        pytest.importorskip(package)
    from lorenyi.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for line, words, shown in commands(page, "lorenyi"):
        out = io.StringIO()
        with reading(page, line), contextlib.redirect_stdout(out):
            assert main(shlex.split(words, comments=True)[1:]) == 0, words
        assert missing_numbers(shown, out.getvalue()) == [], words


def test_the_first_page_needs_no_more_than_its_install_line_brings():
    """Followed in a process that can import only that; `make package` does it for real."""
    command = [sys.executable, ROOT / "tests" / "follow_page.py", "docs/start.md"]
    package = str(Path(lorenyi.__file__).parents[1])
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": package}
    )
    assert done.returncode == 0, done.stderr


def test_what_an_install_line_does_not_bring_cannot_be_imported(tmp_path):
    code = (
        "import follow_page as f, sys; sys.meta_path.insert(0, f.Undeclared(f.declared([])));"
        "import numpy, sklearn; import pandas"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT / "tests"
    )
    assert "No module named 'pandas' (hidden)" in done.stderr


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


BRITISH = re.compile(
    r"\b\w*(?:normalis|standardis|majoris|optimis|randomis|maximis|colour|neighbour|flavour|behaviour)"
)
SHARED = re.compile(r"certified interval|proven interval|confidence bounds", flags=re.IGNORECASE)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "docs/related.md"])
def test_pages_have_one_spelling_and_keep_the_two_errors_apart(page):
    """American, as in the interface; intervals are of sampling, bounds of computing."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert BRITISH.findall(text) + SHARED.findall(text) == []


def test_every_page_can_be_reached():
    found = set()
    for page in ROOT.glob("docs/*.md"):
        trees = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        lines = [line for tree in trees for line in tree.split("\n")]
        found |= {line for line in lines if line and not line.startswith(":")}
    pages = {page.stem for page in ROOT.glob("docs/*.md")} - {"index", "compare_selectors"}
    assert pages - found == set()
    assert {
        word for word in found if word.isidentifier()
    } - pages == set()  # and no page is missing


def test_the_gallery_is_varied_and_each_script_says_what_it_shows():
    scripts = sorted(ROOT.glob("examples/gallery/*/plot_*.py"))
    assert len(scripts) >= 15
    for script in scripts:
        source = script.read_text(encoding="utf-8")
        title, rule = ast.get_docstring(ast.parse(source)).splitlines()[:2]
        assert set(rule) == {"="}, script.name
        assert len(rule) == len(title), script.name
        assert "plt.show()" in source or ".plot(" in source, script.name
        assert (script.parent / "GALLERY_HEADER.rst").exists()


def test_links_of_the_readme_are_absolute():
    """A package index shows the README without the files beside it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    assert [link for link in links if not link.startswith("https://")] == []
    base = "https://github.com/lorenyi/lorenyi/blob/main/"
    local = [link.removeprefix(base) for link in links if link.startswith(base)]
    assert [name for name in local if not (ROOT / name).exists()] == []


def test_the_readme_fits_on_a_page_and_begins_with_what_one_gets():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    top = "\n".join(lines[:40])
    assert top.index("](") < top.index("pip install") < top.index("# 0.575 bits")
