"""The result of a report: an answer in words, its numbers, and code to reproduce them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from lorenyi import _html
from lorenyi.report.page import page, versions, write
from lorenyi.report.tables import Section, Table, plain

KERNEL_BITS = (
    "Bits are those of the matrix-based entropy, computed from the eigenvalues of kernel matrices. "
    "They depend on the kernel: compare them with one another, not with bits from elsewhere. "
    "A standard error is that of sampling: how far the value is from that of many more rows."
)
IN_NOTEBOOK = 12  # rows of the table


@dataclass(repr=False)
class Finding:
    """The answer to one question about a table; `html` returns a page, `save` writes it.

    Parameters
    ----------
    question : str
        The question.
    answer : list of str
        Sentences; the first is the main result.
    facts : list of (str, str)
        Key numbers: the number, and its meaning.
    table : Table
        The numbers behind the answer.
    settings : dict
        Settings of the measurement.
    python : str
        Code that reproduces the numbers.
    sections : callable
        Returns the sections of the page below the answer, computed when a page is made.
    extra : dict
        Further content of the JSON output.
    grid : Table, optional
        A square table, shown as shades.
    columns : Table, optional
        The types of the table's columns.
    command : str
        The command line, if there was one.
    notes : list of str
        Remarks on the data: inferred types, columns left out.
    caution : str
        Remarks on the interpretation of the numbers.
    """

    question: str
    answer: list[str]
    facts: list[tuple[str, str]]
    table: Table
    settings: dict[str, Any]
    python: str = ""
    sections: Callable[[], list[Section]] = list
    extra: dict[str, Any] = field(default_factory=dict)
    grid: Table | None = None
    columns: Table | None = None
    command: str = ""
    notes: list[str] = field(default_factory=list)
    caution: str = KERNEL_BITS

    def json(self) -> dict[str, Any]:
        """Return the result as plain dictionaries, lists, text and numbers."""
        found = {
            "question": self.question,
            "answer": self.answer,
            "table": self.table.records(),
            **self.extra,
            "settings": {name: plain(value) for name, value in self.settings.items()},
            "notes": self.notes,
            "python": self.python,
            "versions": versions(),
        }
        return found | ({"command": self.command} if self.command else {})

    def __repr__(self) -> str:
        """Show the answer."""
        return "\n".join(self.answer)

    def _repr_html_(self) -> str:
        """Show the answer, the facts and the first rows of the table in a notebook."""
        sentences = "".join(f"<div>{escape(sentence)}</div>" for sentence in self.answer[1:])
        rows = [[_short(value) for value in row] for row in self.table.rows[:IN_NOTEBOOK]]
        table = _html.table(self.table.columns, rows)
        left = len(self.table.rows) - IN_NOTEBOOK
        more = f"<div>{left:,} more rows in <code>.table</code></div>" if left > 0 else ""
        hint = "<div><code>.save(&quot;report.html&quot;)</code> writes the report.</div>"
        title = escape(self.answer[0])
        return f"<div><b>{title}</b>{sentences}{table}{more}{hint}</div>"

    def html(self) -> str:
        """Return the report as one self-contained HTML page."""
        return page(self)

    def save(self, path: str | Path) -> None:
        """Write the report atomically."""
        write(self.html(), Path(path))


def _short(value: Any) -> str:
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    return "" if np.isnan(value) else f"{value:.4g}"
