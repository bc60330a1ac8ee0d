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

from rich.bar import Bar
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as Lines
from rich.text import Text

from lorenyi.cli import printable
from lorenyi.cli.prepare import size
from lorenyi.cli.tables import Read
from lorenyi.report import Finding, Table
from lorenyi.report.tables import plain

MOST = 20  # rows of a table on a terminal
COLUMNS = 15  # rows of the table of columns
PAUSE = 5.0  # seconds between lines of progress if standard error is not a terminal
GRID = 40  # columns of a grid of shades
BAR = 26  # characters of a column of bars
WIDE = 100  # characters of a terminal that shows distributions, and headings on one line
MIN_WORD = 8  # characters of a name that are always shown
SHADES = " ░▒▓█"
BITS = {"score", "adds", "bits", "std. error", "chance", "beyond chance", "low", "high"}
FRACTIONS = BITS | {"eigenvalue", "sum"}  # with four digits after the point
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
    told = [row for row in rows if row[1] != "number" or row[3]]
    shown = (rows if len(rows) <= COLUMNS else told)[:COLUMNS]
    if shown:
        console = Console(file=sys.stderr, width=_width())
        console.print(_ruled(Table(table.described().columns, shown), console.width))
    if len(rows) > len(shown):
        others = "other columns of numbers" if len(told) <= COLUMNS else "other columns"
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
        if share is None or not 0.0 < share <= 1.0:
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
        console.print(_ruled(finding.table, console.width))
    left = len(finding.table.rows) - MOST
    if left > 0:
        console.print(Text(f"  ... and {left:,} more rows (--csv, --json or --report)"))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def _width() -> int:
    console = Console()
    return console.width if console.is_terminal else 100


def _ruled(table: Table, width: int) -> Lines:
    lines = Lines(box=None, pad_edge=True, header_style="dim")
    table = table if width >= WIDE else _narrow(table)
    barred = None if table.bar is None else list(table.columns).index(table.bar)
    figures = [all(not isinstance(row[c], str) for row in table.rows) for c in _range(table)]
    for c, name in enumerate(table.columns):
        lines.add_column(
            Text(name.replace(" ", "\n") if width < WIDE else name),
            justify="right" if figures[c] else "left",
            overflow="fold",
            no_wrap=figures[c] or name == "distribution",
        )
    if barred is not None:
        lines.add_column("")
    shown = table.rows[:MOST]
    most = max((abs(row[barred]) for row in shown), default=0.0) if barred is not None else 0.0
    cells = [[_cell(name, v) for name, v in zip(table.columns, row, strict=True)] for row in shown]
    words = [c for c in _range(table) if not figures[c] and table.columns[c] != "distribution"]
    _shorten(cells, table.columns, words, width - BAR * (barred is not None))
    for row, line in zip(shown, cells, strict=True):
        bar = [] if barred is None else [_bar(float(row[barred]), most)]
        lines.add_row(*line, *bar)
    return lines


def _narrow(table: Table) -> Table:
    """Leave out distributions, which take the room of names."""
    kept = [c for c, name in enumerate(table.columns) if name != "distribution"]
    return Table(
        [table.columns[c] for c in kept], [[r[c] for c in kept] for r in table.rows], table.bar
    )


def _range(table: Table) -> range:
    return range(len(table.columns))


def _bar(value: float, most: float) -> Bar:
    return Bar(most or 1.0, 0, max(value, 0.0), width=BAR - 2, color="cyan")


def _shorten(
    cells: list[list[Text]], heads: Sequence[str], words: Sequence[int], width: int
) -> None:
    """Replace the middle of long words by an ellipsis, so that a row fits on one line."""
    longest = [max(map(len, head.split()), default=0) for head in heads]
    sizes = [max(longest[c], *(len(row[c]) for row in cells)) for c in range(len(heads))]
    others = sum(n for c, n in enumerate(sizes) if c not in words)
    room, left = width - 2 * len(heads) - others, len(words)
    for taken in sorted(sizes[c] for c in words):  # short columns leave room to the others
        if taken <= room // left:
            room, left = room - taken, left - 1
    if not left:
        return
    most = max(room // left, MIN_WORD)
    for row in cells:
        for c in words:
            if len(row[c]) > most:
                text, half = row[c].plain, (most - 1) // 2
                row[c] = Text(f"{text[: most - 1 - half]}…{text[len(text) - half :]}")


def _cell(name: str, value: Any) -> Text:
    if isinstance(value, str):
        return Text(printable(value))
    if value is None or value != value:
        return Text("")
    if isinstance(value, int):
        return Text(f"{value:,}")
    if name in ("p", "q"):
        return Text(f"{value:.2g}")
    if name == "share":
        return Text(f"{round(100 * value) + 0:d} %")
    sign = "+" if name == "adds" else ""
    if abs(value) >= 1000 or (name not in FRACTIONS and value):
        return Text(f"{value:.5g}")
    return Text(f"{round(float(value), 4) + 0.0:{sign}.4f}")


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
