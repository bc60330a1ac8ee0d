"""Results on a terminal, as JSON or as CSV; notes and progress on standard error."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from lorenyi.cli import printable
from lorenyi.cli.prepare import size
from lorenyi.cli.ruled import MOST, ruled
from lorenyi.cli.tables import Read
from lorenyi.report import Finding, Table
from lorenyi.report.tables import plain

COLUMNS = 15  # rows of the table of columns
PAUSE = 5.0  # seconds between lines of progress if standard error is not a terminal
LEAST_SHARE = 0.05  # done before the time left is estimated
GRID = 40  # columns of a grid of shades
PIPED = 120  # characters of a line if standard output is not a terminal
SHADES = " ░▒▓█"
Step = Callable[[str, float | None], None]


def notes(lines: Sequence[str], quiet: bool) -> None:
    """Print a line on standard error."""
    for line in [] if quiet else lines:
        sys.stderr.write(f"lorenyi: {printable(line)}\n")


def reading(table: Read, quiet: bool, columns: bool = True) -> None:
    """Print on standard error how a table was read: size, columns, and inferred settings."""
    if quiet:
        return
    notes([f"{table.name}: {size(table)}"], quiet)
    if columns:
        _columns(table)
    notes(table.notes, quiet)


def _columns(table: Read) -> None:
    rows = [row for row in table.described().rows if row[0] not in table.left_out]
    texts = [row for row in rows if row[1] != "number" or row[3]]
    shown = (rows if len(rows) <= COLUMNS else texts)[:COLUMNS]
    if shown:
        console = Console(file=sys.stderr, width=_width())
        console.print(ruled(Table(table.described().columns, shown), console.width))
    if len(rows) > len(shown):
        others = "other columns of numbers" if len(texts) <= COLUMNS else "other columns"
        sys.stderr.write(f"  ... and {len(rows) - len(shown):,} {others}\n")


@contextmanager
def progress(what: str, quiet: bool) -> Iterator[Step]:
    """Show progress on standard error: one changing line, or occasional lines if piped."""
    console = Console(file=sys.stderr)  # bound now: standard error may be replaced meanwhile
    if quiet:
        yield lambda message, share: None
        return
    if not console.is_terminal:
        yield _Lines(what)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, redirect_stderr=False) as shown:
        task = shown.add_task(what, total=None)
        clock = _Clock()

        def step(message: str, share: float | None) -> None:
            shown.update(task, description=printable(f"{what}: {message}{clock.left(share)}"))

        yield step


class _Clock:
    """Estimates the time left, if the share done is known."""

    def __init__(self) -> None:
        self.start = time.monotonic()

    def left(self, share: float | None) -> str:
        if share is None or not LEAST_SHARE <= share <= 1.0:
            return ""
        seconds = (time.monotonic() - self.start) * (1.0 - share) / share
        left = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
        return f", {100 * share:.0f} %, at most {left} left"


class _Lines:
    """Writes a line every few seconds."""

    def __init__(self, what: str) -> None:
        self.what, self.clock, self.last = what, _Clock(), time.monotonic()

    def __call__(self, message: str, share: float | None) -> None:
        now = time.monotonic()
        if now - self.last >= PAUSE:
            self.last = now
            notes([f"{self.what}: {message}{self.clock.left(share)}"], False)


def as_json(finding: Finding) -> str:
    """Return the result as JSON."""
    return json.dumps(finding.json(), indent=2, allow_nan=False) + "\n"


def as_csv(finding: Finding) -> str:
    """Return the table behind the answer as CSV; of a matrix, the whole matrix."""
    table = finding.grid or finding.table
    return "".join(map(_line, (table.columns, *table.rows)))


def _line(row: Sequence[Any]) -> str:
    text = StringIO()
    cells = [_inert(value) if isinstance(value, str) else plain(value) for value in row]
    csv.writer(text).writerow(["" if cell is None else cell for cell in cells])
    return text.getvalue().removesuffix("\r\n") + "\n"  # cells with line ends are quoted


def _inert(text: str) -> str:
    """Return text that a spreadsheet does not interpret as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def as_text(finding: Finding) -> str:
    """Return the answer and its table as text."""
    console = Console(file=StringIO(), force_terminal=Console().is_terminal, width=_width())
    for i, sentence in enumerate(finding.answer):
        console.print(Text(printable(sentence), style="bold" if i == 0 else ""))
    console.print()
    if finding.grid is not None and len(finding.grid.rows) <= GRID:
        console.print(_shaded(finding.grid))
        console.print()
    if finding.table.rows:
        console.print(ruled(finding.table, console.width))
    left = len(finding.table.rows) - MOST
    if left > 0:
        console.print(Text(f"  ... and {left:,} more rows (--csv, --json or --report)"))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def _width() -> int:
    console = Console()
    return console.width if console.is_terminal else PIPED


def _shaded(grid: Table) -> Text:
    """Draw a square table as shades, with a number for each column."""
    n = len(grid.rows)
    off = [row[1 + j] for i, row in enumerate(grid.rows) for j in range(n) if j != i]
    most = max([*off, 1e-12])
    names = [printable(row[0])[:28] for row in grid.rows]
    width = max(map(len, names))
    text = Text(" " * (width + 5) + "".join(f"{i + 1:>2}" for i in range(n)) + "\n", style="dim")
    for i, (name, row) in enumerate(zip(names, grid.rows, strict=True)):
        text.append(f"{name:>{width}} {i + 1:>3} ", style="not dim")
        for j in range(n):
            share = max(row[1 + j], 0.0) / most
            shade = "· " if i == j else 2 * SHADES[min(round(4 * share**0.5), 4)]
            text.append(shade, style="cyan not dim")
        text.append("\n")
    text.append(f"{'':>{width}}     blank 0 to {SHADES[-1]} {most:.3f} bits", style="dim")
    return text
