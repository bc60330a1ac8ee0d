"""Writes the help of the command `lorenyi`, as its parser prints it, for the page on it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src"
PLAIN = {"COLUMNS": "88", "NO_COLOR": "1", "TERM": "dumb", "TYPER_USE_RICH": "False"}


def help_of(*words: str) -> str:
    """Return what `lorenyi WORDS --help` prints, without colors and boxes."""
    command = [sys.executable, "-m", "lorenyi", *words, "--help"]
    environment = {**os.environ, **PLAIN, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.rstrip()


def names(text: str) -> list[str]:
    """Return the commands that the help lists."""
    found = re.findall(r"^  (\w+)  +\S", text.partition("Commands:")[2], flags=re.MULTILINE)
    if not found:
        raise ValueError(f"no commands in the help of lorenyi:\n{text}")
    return found


def page() -> str:
    """Return a section for each command."""
    parts = []
    for name in names(help_of()):
        parts += [f"## lorenyi {name}", "", "```text", help_of(name), "```", ""]
    return "\n".join(parts)


def write(app: Any) -> None:
    """Write the part of the page, if it has changed."""
    target = Path(app.srcdir) / "generated" / "commands.md"
    target.parent.mkdir(exist_ok=True)
    text = page()
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write before pages are read."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
