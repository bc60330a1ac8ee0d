"""What was found out: an answer in words, the numbers behind it, and how to get them again."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

KERNEL_BITS = (
    "Bits are those of the matrix-based entropy, computed from the eigenvalues of kernel matrices. "
    "They depend on the kernel: compare them with one another, not with bits from elsewhere. "
    "A standard error is that of sampling: how far the value is from that of many more rows."
)
IN_NOTEBOOK = 12  # rows of the table
Section = dict[str, Any]  # a part of the page: its kind, title, text, and the data that it draws


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers under headings.

    Parameters
    ----------
    columns : sequence of str
        Headings.
    rows : sequence of sequences
        Text, numbers, or None where there is nothing to say.
    bar : str, optional
        Which column is also shown as bars.

    Examples
    --------
    >>> from lorenyi.report import Table
    >>> Table(["column", "bits"], [["a", 0.5]]).records()
    [{'column': 'a', 'bits': 0.5}]
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    bar: str | None = None

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries, ready for JSON."""
        return [dict(zip(self.columns, map(plain, row), strict=True)) for row in self.rows]


@dataclass(repr=False)
class Finding:
    """The answer to one question about a table; `html` is a page of it, `save` writes that.

    Parameters
    ----------
    question : str
        What was asked.
    answer : list of str
        Sentences; the first says it all.
    facts : list of (str, str)
        A few numbers worth a tile of their own: the number, and what it is.
    table : Table
        The numbers behind the answer.
    settings : dict
        With what it was measured.
    python : str
        Lines that measure it again.
    sections : callable
        Gives what the page shows below the answer, measured when a page is made.
    extra : dict
        What else belongs in JSON.
    grid : Table, optional
        A square table, shown as shades.
    columns : Table, optional
        The table's columns as they were read.
    command : str
        The command line, where there was one.
    notes : list of str
        What a reader should know about the data: guesses, things left out.
    caution : str
        What a reader should know about the numbers.
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
        """Return what was found as plain dictionaries, lists, text and numbers."""
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
        head = "".join(f"<th>{escape(name)}</th>" for name in self.table.columns)
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(_short(v))}</td>' for v in row)}</tr>"
            for row in self.table.rows[:IN_NOTEBOOK]
        )
        left = len(self.table.rows) - IN_NOTEBOOK
        more = f"<div>{left:,} more rows in <code>.table</code></div>" if left > 0 else ""
        page = "<div><code>.save(&quot;report.html&quot;)</code> writes the report.</div>"
        title = escape(self.answer[0])
        table = f"<table><tr>{head}</tr>{rows}</table>"
        return f"<div><b>{title}</b>{sentences}{table}{more}{page}</div>"

    def html(self) -> str:
        """Return the report: one page that needs nothing from outside."""
        from lorenyi.report.page import page

        return page(self)

    def save(self, path: str | Path) -> None:
        """Write the report; the file appears whole or not at all."""
        from lorenyi.report.page import write

        write(self.html(), Path(path))


def _short(value: Any) -> str:
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    return "" if np.isnan(value) else f"{value:.4g}"


def plain(value: Any) -> Any:
    """Return a value that JSON can hold: NaN and infinities have no number there."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None if np.isnan(value) else str(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return repr(value)


def versions() -> dict[str, str]:
    """Return the versions of what the numbers depend on."""
    found = {"lorenyi": "", "numpy": "", "scipy": "", "scikit-learn": "", "polars": ""}
    for name in found:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            from lorenyi import __version__

            found[name] = __version__ if name == "lorenyi" else "not installed"
    return {**found, "python": platform.python_version(), "system": platform.platform()}


def listed(names: Sequence[str], most: int = 8) -> str:
    """Put names in a row: a, b and c; or a, b, ... and 7 more.

    Examples
    --------
    >>> from lorenyi.report.finding import listed
    >>> listed(["a", "b", "c"]), listed("abcdef", 3)
    ('a, b and c', 'a, b, c and 3 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def counted(number: int, what: str) -> str:
    """Return a number with its noun: 1 row, 2 rows."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def bits(value: float) -> str:
    """Show bits with three digits after the point; nothing for a rounded zero's sign."""
    return f"{round(float(value), 3) + 0.0:.3f}"


def at_order(alpha: float) -> str:
    """Say the order of an entropy where it is not Shannon's, as in all defaults."""
    return "" if alpha == 1 else f" (order {alpha:g})"


def with_error(value: float, error: float) -> str:
    """Show bits with their standard error, where it is known."""
    return bits(value) if not np.isfinite(error) else f"{bits(value)} ± {bits(error)}"
