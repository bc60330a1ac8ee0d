"""Tables as text: one line per row, at any width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.bar import Bar
from rich.table import Table as Lines
from rich.text import Text

from lorenyi.cli import printable
from lorenyi.report import Table

MOST = 20  # rows of a table on a terminal
BAR = 26  # characters of a column of bars
SHORT, SHORTEST = 14, 8  # characters of a name: with distributions in the table, and at all
BITS = {"score", "adds", "bits", "std. error", "chance", "beyond chance", "low", "high"}
FRACTIONS = BITS | {"eigenvalue", "sum"}  # with four digits after the point


def ruled(table: Table, width: int) -> Lines:
    """Return the first rows of a table for a terminal.

    If it is too wide, headings are split into lines, then long names lose their middle, then
    distributions are left out.
    """
    table, heads, most = _arranged(table, width)
    lines = Lines(box=None, pad_edge=True, header_style="dim")
    for c, head in enumerate(heads):
        right = _has_numbers(table, c)
        lines.add_column(Text(head), justify="right" if right else "left", no_wrap=True)
    rows, bar = table.rows[:MOST], table.bar
    if bar is not None:
        lines.add_column("")
        barred = list(table.columns).index(bar)
        largest = max((abs(row[barred]) for row in rows), default=0.0)
    words = _words(table)
    for row, cells in zip(rows, _cells(table), strict=True):
        short = [_shortened(cell, most) if c in words else cell for c, cell in enumerate(cells)]
        bars = [] if bar is None else [_bar(float(row[barred]), largest)]
        lines.add_row(*short, *bars)
    return lines


def _arranged(table: Table, width: int) -> tuple[Table, Sequence[str], float]:
    """Return the table to show, its headings, and how many characters a name may have."""
    split = [name.replace(" ", "\n") for name in table.columns]
    if _room(table, table.columns, width) == math.inf:
        return table, table.columns, math.inf
    if (room := _room(table, split, width)) >= SHORT:
        return table, split, room
    kept = [c for c, name in enumerate(table.columns) if name != "distribution"]
    rows = [[row[c] for c in kept] for row in table.rows]
    table = Table([table.columns[c] for c in kept], rows, table.bar)
    split = [split[c] for c in kept]
    return table, split, max(_room(table, split, width), SHORTEST)


def _room(table: Table, heads: Sequence[str], width: int) -> float:
    """Return how long a name may be if each row takes one line; infinity if all fit."""
    cells, words = _cells(table), _words(table)
    sizes = [max(map(len, head.split("\n"))) for head in heads]
    for row in cells:
        sizes = [max(size, len(cell)) for size, cell in zip(sizes, row, strict=True)]
    others = sum(size for c, size in enumerate(sizes) if c not in words)
    room = width - 2 * len(heads) - others - (0 if table.bar is None else BAR)
    left = len(words)
    for size in sorted(sizes[c] for c in words):  # short columns leave room to the others
        if size > room // left:
            return room // left
        room, left = room - size, left - 1
    return math.inf


def _words(table: Table) -> set[int]:
    """Return the columns of names."""
    names = enumerate(table.columns)
    return {c for c, name in names if name != "distribution" and not _has_numbers(table, c)}


def _has_numbers(table: Table, c: int) -> bool:
    return all(not isinstance(row[c], str) for row in table.rows)


def _bar(value: float, most: float) -> Bar:
    return Bar(most or 1.0, 0, max(0.0, value), width=BAR - 2, color="cyan")


def _shortened(cell: Text, most: float) -> Text:
    """Replace the middle of a long name by an ellipsis."""
    if len(cell) <= most:
        return cell
    text, length = cell.plain, int(most)
    half = (length - 1) // 2
    return Text(f"{text[: length - 1 - half]}…{text[len(text) - half :]}")


def _cells(table: Table) -> list[list[Text]]:
    return [
        [_cell(name, value) for name, value in zip(table.columns, row, strict=True)]
        for row in table.rows[:MOST]
    ]


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
