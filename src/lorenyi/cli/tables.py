"""A table with typed columns, notes on inferred settings, and columns left out."""

from __future__ import annotations

import csv
import difflib
import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from lorenyi.cli import Refused
from lorenyi.data.columns import Column
from lorenyi.data.frames import frame_columns
from lorenyi.kernels import Gaussian, Kernel
from lorenyi.report import Table


@dataclass
class Read:
    """A table as it was read.

    Parameters
    ----------
    frame : polars DataFrame
        Numbers, dates, and text or booleans, which are categories.
    name : str
        Its source.
    python : str
        Code that reads it again, as `table`.
    notes : list of str
        Inferred settings.
    forms : mapping of str to str
        Unit or date format of a column's text: "%", "€", "%d.%m.%Y".
    numeric : set of str
        Columns declared as numbers, however few values they have.
    left_out : mapping of str to str
        Columns that are not measured, and why.
    suspects : mapping of str to str
        Columns that are identifiers or empty, and why.
    """

    frame: pl.DataFrame
    name: str
    python: str
    notes: list[str] = field(default_factory=list)
    forms: dict[str, str] = field(default_factory=dict)
    numeric: set[str] = field(default_factory=set)
    left_out: dict[str, str] = field(default_factory=dict)
    suspects: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.all = self.frame.columns

    def lines(self, names: Sequence[str]) -> str:
        """Return Python code that selects these columns of the whole table."""
        kept = set(names)
        others = [name for name in self.all if name not in kept]
        few = len(others) < len(names)
        return f"table.drop({others!r})" if few else f"table.select({list(names)!r})"

    def typed(self, names: Sequence[str] | None = None) -> dict[str, Column]:
        """Return columns as the library reads them."""
        frame = self.frame if names is None else self.frame.select(list(names))
        return dict(zip(frame.columns, frame_columns(frame, "table")[0], strict=True))

    def categorical(self, names: Sequence[str]) -> list[str]:
        """Return those of the columns that hold categories."""
        columns = self.typed(names)
        return [n for n, c in columns.items() if c.categorical and n not in self.numeric]

    def kernels(self, names: Sequence[str]) -> dict[str, Kernel]:
        """Return the kernels of columns declared as numbers that would be categories."""
        columns = self.typed(names)
        return {n: Gaussian() for n, c in columns.items() if c.categorical and n in self.numeric}

    def columns(self, text: str, option: str) -> list[str]:
        """Return the columns that an option names: a,b or pattern*, quoted where needed."""
        self._require_present(text, option)
        return matching(self.frame.columns, text, option, self.name)

    def column(self, text: str, option: str) -> str:
        """Return the one column that an option names."""
        self._require_present(text, option)
        if text not in self.frame.columns:
            near = _near(self.frame.columns, text)
            raise Refused(f"{option}: no column {text!r} in {self.name}; {near}")
        return text

    def _require_present(self, text: str, option: str) -> None:
        for name in (text, *text.split(",")):
            if name in self.left_out:
                raise Refused(
                    f"{option}: column {name!r} of {self.name} was left out: {self.left_out[name]}"
                )

    def take(self, names: Sequence[str]) -> None:
        """Keep these columns."""
        self.frame = self.frame.select(list(names))

    def described(self) -> Table:
        """Return the type of each column, those left out last."""
        rows = []
        for name, column in self.typed().items():
            gaps = int(column.gaps.sum())
            distinct = int(self.frame[name].drop_nulls().n_unique())
            rows.append([name, self.kind(name, column), distinct, gaps])
        rows += [[n, f"left out: {why}", None, None] for n, why in self.left_out.items()]
        return Table(["column", "read as", "distinct values", "missing"], rows)

    def kind(self, name: str, column: Column) -> str:
        """Return the type of a column in words."""
        form = self.forms.get(name, "")
        if column.kind == "time":
            return f"date ({form})" if form else "date"
        if column.kind == "label":
            return "category"
        if column.categorical and name not in self.numeric:
            return "category (int)"
        return f"number ({form})" if form else "number"

    def settle_missing(self, missing: str, used: Sequence[str]) -> None:
        """Refuse missing values, drop their rows, or keep them as a separate value."""
        counts = {name: self.frame[name].null_count() for name in used}
        gaps = {name: count for name, count in counts.items() if count}
        if not gaps or missing == "value":
            return
        name = next(iter(gaps))
        if missing == "error":
            row = int(self.frame[name].is_null().arg_max() or 0) + 1
            more = f" (and {len(gaps) - 1} more columns)" if len(gaps) > 1 else ""
            raise Refused(
                f"column {name!r} has {gaps[name]} missing values, first in row {row}{more}: "
                f"--missing drop leaves such rows out, --drop {name!r} the column"
            )
        before = self.frame.height
        self.frame = self.frame.drop_nulls(list(used))
        self.python += f"\ntable = table.drop_nulls({list(gaps)!r})"
        worst = sorted(gaps, key=lambda n: -gaps[n])
        texts = ", ".join(f"{n} ({gaps[n]})" for n in worst[:6])
        more = ", ..." if len(worst) > 6 else ""
        if self.frame.height < 2:
            raise Refused(
                f"{self.name}: {self.frame.height} of {before} rows have no missing values, which "
                f"are in {texts}{more}: --drop {worst[0]!r} leaves that column out"
            )
        self.notes.append(
            f"left out for missing values in {texts}{more}: {before - self.frame.height} "
            f"of {before} rows"
        )

    def leave_out(self, names: Mapping[str, str], remedy: str = "") -> None:
        """Leave columns out, with a note of the reason."""
        if not names:
            return
        self.left_out |= names
        self.frame = self.frame.drop(list(names))
        texts = [f"{name} ({why})" for name, why in names.items()]
        more = f" and {len(texts) - 6} more" if len(texts) > 6 else ""
        self.notes.append(f"left out: {', '.join(texts[:6])}{more}{remedy}")


# ------------------------------------------------------------------------------- names


def matching(columns: Sequence[str], text: str, option: str, table: str) -> list[str]:
    """Return the columns that an option names: a,b or pattern*."""
    if text in columns:
        return [text]
    found: list[str] = []
    for item in next(csv.reader([text], skipinitialspace=True), []):
        if item in columns:
            found.append(item)
        elif matches := fnmatch.filter(columns, item):
            found += matches
        else:
            raise Refused(f"{option}: no column {item!r} in {table}; {_near(columns, item)}")
    return list(dict.fromkeys(found))


def _near(columns: Sequence[str], name: str) -> str:
    near = difflib.get_close_matches(name, columns, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    shown = ", ".join(repr(c) for c in columns[:6])
    return f"it has {shown}{', ...' if len(columns) > 6 else ''}"
