"""Tables as text: encoding, separator, header, and lines before the table.

Cells stay text; `lorenyi.cli.kinds` types them.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from lorenyi.cli import Refused
from lorenyi.data.texts import parse
from lorenyi.report.wording import counted

SNIFFED = 100  # lines from which separator and header are inferred
MARKS = ("\t", ";", "|", ",")  # a comma may also be in numbers, so the others come first
EVEN = 0.95  # share of lines with equally many cells that makes a mark the separator


@dataclass
class Raw:
    """A table of text, as in its file."""

    frame: pl.DataFrame
    notes: list[str] = field(default_factory=list)


def delimited(data: bytes, name: str, header: bool | None, encoding: str | None, tabs: bool) -> Raw:
    """Read cells between separators."""
    text, notes = _decoded(data, name, encoding)
    if "\0" in text[:10_000]:
        raise ValueError("neither text nor a known format")
    lines = [line for line in text[:200_000].splitlines() if line.strip()][:SNIFFED]
    skipped = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    mark = "\t" if tabs else _separator(lines[skipped:])
    if mark == " ":
        text = "\n".join("\t".join(line.split()) for line in text.splitlines() if line.strip())
        lines, mark = text.splitlines()[:SNIFFED], "\t"
        notes.append("columns are separated by spaces")
    elif mark not in (",", "\t"):
        notes.append(f"columns are separated by {mark!r}")
    rows = list(csv.reader(lines, delimiter=mark))
    width = Counter(map(len, rows[skipped:])).most_common(1)[0][0]
    if skipped and len(rows[skipped - 1]) == width > 1:  # names behind a #
        skipped -= 1
        text = text.replace("\n#", "\n", 1) if skipped else text.removeprefix("#")
    skipped += next((i for i, row in enumerate(rows[skipped:]) if len(row) >= width), 0)
    if skipped:
        notes.append(f"{counted(skipped, 'line')} before the table left out")
        text = _without_first(text, skipped)
    try:
        frame = pl.read_csv(
            io.StringIO(text.lstrip("\r\n")), has_header=False, infer_schema=False, separator=mark
        )
    except pl.exceptions.ComputeError:
        _refuse_ragged(text, mark, skipped, name)
        raise
    return headed(frame, header, notes)


def _refuse_ragged(text: str, mark: str, skipped: int, name: str) -> None:
    """Name the first line that has more cells than the first."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    width = 0
    for row in filter(None, reader):
        width = width or len(row)
        if len(row) > width:
            raise Refused(
                f"{name}: line {reader.line_num + skipped} has {len(row)} cells and the first "
                f"{width}: quote cells that contain {mark!r}, or correct the line"
            )


def _decoded(data: bytes, name: str, encoding: str | None) -> tuple[str, list[str]]:
    if encoding is not None:
        try:
            return data.decode(encoding), []
        except LookupError:
            raise Refused(f"--encoding {encoding}: no such encoding; try utf-8 or cp1252") from None
        except UnicodeDecodeError as error:
            raise Refused(
                f"--encoding {encoding}: {name} has other bytes, first at {error.start}"
            ) from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16"), []
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
        return text, ["the text is not UTF-8 and is read as Windows-1252 (--encoding)"]


def _separator(lines: Sequence[str]) -> str:
    """Return the separator that gives most lines the same number of cells, more than one."""
    best, found = 0.0, ","
    for mark in MARKS:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=mark) if row)
        width, count = widths.most_common(1)[0]
        same = count / sum(widths.values())
        if width > 1 and same > best < EVEN:
            best, found = same, mark
    widths = Counter(len(line.split()) for line in lines)
    width, count = widths.most_common(1)[0]
    numbers = all(_is_number(cell) for line in lines[1:] for cell in line.split())
    spaced = width > 1 and count == len(lines) > 1 and numbers
    return " " if not best and spaced else found


def _without_first(text: str, count: int) -> str:
    """Leave out the first lines that are not blank."""
    lines = text.splitlines(keepends=True)
    for i, line in enumerate(lines):
        if count == 0:
            return "".join(lines[i:]).lstrip("\r\n")
        count -= bool(line.strip())
    return ""


def headed(frame: pl.DataFrame, header: bool | None, notes: list[str]) -> Raw:
    """Take names from the first row, if it holds any."""
    blank = pl.all_horizontal(pl.all().is_null())
    frame = frame.filter(~blank) if frame.width > 1 else frame.drop_nulls()
    if frame.height == 0:
        return Raw(frame, notes)
    first = ["" if cell is None else str(cell).strip() for cell in frame.row(0)]
    if header is None and not _is_heading(first, frame[1 : SNIFFED + 1]):
        header = False
        notes.append("the first row looks like data: columns are named x0, x1, ... (--header)")
    if header is False:
        return Raw(frame.rename(dict(zip(frame.columns, _numbered(frame), strict=True))), notes)
    names = unique_names(first)
    if changed := [name for name, given in zip(names, first, strict=True) if name != given]:
        notes.append(f"missing or repeated column names, replaced by: {', '.join(changed[:6])}")
    return Raw(frame[1:].rename(dict(zip(frame.columns, names, strict=True))), notes)


def _numbered(frame: pl.DataFrame) -> list[str]:
    return [f"x{i}" for i in range(frame.width)]


def unique_names(given: Sequence[str]) -> list[str]:
    """Return names without duplicates and blanks."""
    names: list[str] = []
    for i, name in enumerate(given):
        name = name or f"column {i + 1}"
        others = (f"{name} ({k})" for k in range(2, len(given) + 2))
        names.append(name if name not in names else next(o for o in others if o not in names))
    return names


def _is_heading(first: Sequence[str], body: pl.DataFrame) -> bool:
    """Return whether a row holds names: words above numbers, or words not found below."""
    if body.height == 0:
        return True
    data = False
    for cell, column in zip(first, body.iter_columns(), strict=True):
        words = [str(word) for word in column.drop_nulls()]
        found = parse(words)
        if found is None or found.wrong.any():
            data = data or (cell != "" and cell in words)
        elif parse([cell]) is None and cell:
            return True
        else:
            data = data or cell != ""
    return not data


def _is_number(cell: str) -> bool:
    found = parse([cell], times=False)
    return found is not None and not found.wrong.any()
