"""What the pages for readers say is true: their code runs and their figures are measured."""

import ast
import re
from pathlib import Path

import pytest

import lorenyi

ROOT = Path(__file__).parents[1]
FIGURE = re.compile(r"#\s*(-?\d+(?:\.(\d+))?) bits\s*$")


def python_blocks(page: str) -> list[tuple[int, str]]:
    """Return each ```python block of a page with the number of lines before it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)), match.group(1)) for match in found]


def run(source: str, namespace: dict[str, object]) -> None:
    """Run a block; where a line ends in `# 0.575 bits`, its value must agree to these digits."""
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Expr):
            exec(compile(ast.Module([node], []), "page", "exec"), namespace)
            continue
        value = eval(compile(ast.Expression(node.value), "page", "eval"), namespace)
        figure = FIGURE.search(lines[(node.end_lineno or node.lineno) - 1])
        if figure:
            digits = len(figure.group(2) or "")
            assert round(float(value), digits) == float(figure.group(1)), lines[node.lineno - 1]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_code_runs_and_its_figures_are_measured(page):
    blocks = python_blocks(page)
    assert blocks
    namespace: dict[str, object] = {"__name__": "page"}
    for line, source in blocks:
        try:
            run(source, namespace)
        except Exception as error:
            error.add_note(f"in the block of {page} that starts at line {line}")
            raise


def test_every_measure_in_the_readme_exists():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| `(\w+)\(", text, flags=re.MULTILINE)
    assert len(names) >= 10
    assert [name for name in names if not callable(getattr(lorenyi, name, None))] == []
