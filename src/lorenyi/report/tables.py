"""Tables of numbers and text, for answers and for the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ROOM = 700_000  # characters of a table's rows: the whole page stays below 1.5 MB
LONGEST = 200  # characters of a name that are shown
Section = dict[str, Any]  # a part of the page: its kind, title, text, and the data to draw


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers under headings.

    Parameters
    ----------
    columns : sequence of str
        Headings.
    rows : sequence of sequences
        Text, numbers, or None for an empty cell.
    bar : str, optional
        The column that is also drawn as bars.

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


def plain(value: Any) -> Any:
    """Return a value for JSON, which has no NaN and no infinities."""
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


def table_section(
    title: str, text: str, table: Table, *, closed: bool = False, name: str = "column"
) -> Section:
    """Return a sortable table for the page, truncated if the page would be too large."""
    rows: list[list[Any]] = []
    room = ROOM
    for row in table.rows:
        cells = [v if not isinstance(v, str) else shortened(v) for v in map(plain, row)]
        room -= len(json.dumps(cells)) + 1
        if room < 0:
            text += f" The first {len(rows):,} of {len(table.rows):,} are shown."
            break
        rows.append(cells)
    return {
        "kind": "table",
        "title": title,
        "text": text,
        "columns": list(table.columns),
        "rows": rows,
        "name": name,
        "closed": closed,
    }


def shortened(text: str) -> str:
    """Truncate a long name."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
