"""The pages for readers: their blocks of code, and what it means that a block's figures are right.

Imports NumPy alone, so that pages can be followed where nothing else is installed.
"""

import ast
import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
FIGURES = re.compile(r"#\s*(-?\d[\d.]*(?:, -?\d[\d.]*)*)(?::? [a-z ]+)?\s*$")
WORD = re.compile(r"#\s*(True|False)\s*$")
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+")


def blocks(page: str, language: str) -> list[tuple[int, str]]:
    """Return each block of a page in a language, with the number of lines before it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)), match.group(1)) for match in found]


def commands(page: str, program: str) -> list[tuple[int, str, str]]:
    """Return each command of a program in the page's console blocks: line, words, what it shows."""
    found = []
    for line, source in blocks(page, "console"):
        for command in source.split("$ ")[1:]:
            words, _, shown = command.partition("\n")
            if words.startswith(f"{program} "):
                found.append((line, words, shown))
    return found


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
            assert rounded == [float(f) for f in figures], f"{last}: {value!r}"
        if word := WORD.search(last):
            assert str(value) == word.group(1), f"{last}: {value!r}"


def missing_numbers(shown: str, printed: str) -> list[str]:
    """Return the numbers that a page shows and a command did not print."""
    return [n for n in NUMBER.findall(shown) if n not in NUMBER.findall(printed)]
