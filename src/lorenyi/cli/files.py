"""What a file holds: by its content where that tells, else by the ending of its name.

Text is decoded, its separator and heading are found, and its cells stay text: `lorenyi.cli.tables`
types them.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lorenyi.cli import Refused
from lorenyi.data.texts import parse
from lorenyi.report.finding import counted

FORMATS = "CSV, TSV, Excel, JSON, Parquet, Arrow/Feather, .npz or .npy, plain or compressed"
SNIFFED = 100  # lines that tell separator and heading
MARKS = ("\t", ";", ",", "|")


@dataclass
class Raw:
    """A table as its file has it."""

    frame: pl.DataFrame
    notes: list[str] = field(default_factory=list)


def load(
    path: str, header: bool | None = None, encoding: str | None = None, sheet: str | None = None
) -> Raw:
    """Return the table in a file, or on standard input for "-".

    Parameters
    ----------
    path : str
        The file.
    header : bool, optional
        Whether the first row holds names; found by the rows by default.
    encoding : str, optional
        Of text; UTF-8, UTF-16 with a mark, or else Windows-1252 by default.
    sheet : str, optional
        Of a workbook; the first by default.
    """
    name = named(path)
    data = _bytes(path)
    if not data.strip():
        raise Refused(f"{name}: is empty")
    try:
        data, ending = _decompressed(data, path.lower())
        return _parsed(data, ending, name, header, encoding, sheet)
    except Refused:
        raise
    except Exception as error:  # each format has errors of its own
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise Refused(f"{name}: cannot be read ({why[:160]}); it may be {FORMATS}") from None


def named(path: str) -> str:
    """Return what messages call a file."""
    return "standard input" if path == "-" else Path(path).name


def _bytes(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except FileNotFoundError:
        raise Refused(f"{path}: no such file") from None
    except IsADirectoryError:
        raise Refused(f"{path}: is a folder, not a file") from None
    except PermissionError:
        raise Refused(f"{path}: no permission to read it") from None
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None


def _decompressed(data: bytes, path: str) -> tuple[bytes, str]:
    """Return the content of a compressed file, and the ending of its name."""
    ending = re.sub(r"\.(gz|zst|bz2|xz|zip)$", "", path).rpartition(".")[2]
    if data.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.decompress(data), ending
    if data.startswith(b"BZh"):
        import bz2

        return bz2.decompress(data), ending
    if data.startswith(b"\xfd7zXZ"):
        import lzma

        return lzma.decompress(data), ending
    if data.startswith(b"\x28\xb5\x2f\xfd"):  # polars reads it, here as one column of lines
        lines = pl.read_csv(
            io.BytesIO(data),
            has_header=False,
            infer_schema=False,
            separator="\x01",
            quote_char=None,
        )
        return "\n".join(lines.to_series().fill_null("").to_list()).encode(), ending
    if data.startswith(b"PK") and path.endswith(".zip"):
        return _zipped(data, path)
    return data, ending


def _zipped(data: bytes, path: str) -> tuple[bytes, str]:
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise Refused(f"{Path(path).name}: holds {len(names)} files; extract the one you mean")
        return archive.read(names[0]), names[0].lower().rpartition(".")[2]


def _parsed(
    data: bytes,
    ending: str,
    name: str,
    header: bool | None,
    encoding: str | None,
    sheet: str | None,
) -> Raw:
    if data.startswith(b"PAR1") or ending in ("parquet", "pq"):
        return Raw(pl.read_parquet(io.BytesIO(data)))
    if data.startswith(b"ARROW1"):
        return Raw(pl.read_ipc(io.BytesIO(data)))
    if data.startswith(b"FEA1") or ending in ("arrow", "feather", "ipc"):
        return Raw(pl.read_ipc_stream(io.BytesIO(data)))
    if data.startswith(b"PK") and b"xl/" in data:
        return _workbook(data, name, header, sheet)
    if data.startswith((b"PK", b"\x93NUMPY")) or ending in ("npz", "npy"):
        return _arrays(data, name)
    if data.startswith(b"\xd0\xcf\x11\xe0") or ending in ("xls", "ods"):
        raise Refused(f"{name}: is an old workbook; save it as .xlsx or CSV")
    if ending in ("json", "jsonl", "ndjson") or data.lstrip()[:2] in (b'{"', b"[{"):
        return _json(data)
    return _text(data, name, header, encoding, tabs=ending in ("tsv", "tab"))


# ------------------------------------------------------------------------------- text


def _text(data: bytes, name: str, header: bool | None, encoding: str | None, tabs: bool) -> Raw:
    text, notes = _decoded(data, name, encoding)
    if "\0" in text[:10_000]:
        raise Refused(f"{name}: is neither text nor a format known here; it may be {FORMATS}")
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
    return _headed(frame, header, notes)


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
    """Return the mark that gives most lines the same number of cells, and more than one."""
    best, found = (0.0, 0), ","
    for mark in MARKS:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=mark) if row)
        width, count = widths.most_common(1)[0]
        same = count / sum(widths.values())
        if width > 1 and (same, width) > best:
            best, found = (same, width), mark
    widths = Counter(len(line.split()) for line in lines)
    width, count = widths.most_common(1)[0]
    numbers = all(_is_number(cell) for line in lines[1:] for cell in line.split())
    spaced = width > 1 and count == len(lines) > 1 and numbers
    return " " if not best[1] and spaced else found


def _without_first(text: str, count: int) -> str:
    """Leave out the first lines that are not blank."""
    lines = text.splitlines(keepends=True)
    for i, line in enumerate(lines):
        if count == 0:
            return "".join(lines[i:]).lstrip("\r\n")
        count -= bool(line.strip())
    return ""


def _headed(frame: pl.DataFrame, header: bool | None, notes: list[str]) -> Raw:
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
        notes.append(f"columns without a name of their own: {', '.join(changed[:6])}")
    return Raw(frame[1:].rename(dict(zip(frame.columns, names, strict=True))), notes)


def _numbered(frame: pl.DataFrame) -> list[str]:
    return [f"x{i}" for i in range(frame.width)]


def unique_names(given: Sequence[str]) -> list[str]:
    """Return names without doubles and blanks."""
    seen: Counter[str] = Counter()
    names: list[str] = []
    for i, name in enumerate(given):
        name = name or f"column {i + 1}"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def _is_heading(first: Sequence[str], body: pl.DataFrame) -> bool:
    """Tell whether a row holds names: words above numbers, or words that do not come again."""
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


# ------------------------------------------------------------------------------- other formats


def _json(data: bytes) -> Raw:
    text = data.lstrip()
    frame = (
        pl.read_json(io.BytesIO(text), infer_schema_length=None)
        if text.startswith(b"[")
        else pl.read_ndjson(io.BytesIO(text), infer_schema_length=None)
    )
    while structs := [c.name for c in frame.iter_columns() if c.dtype == pl.Struct]:
        frame = frame.with_columns(pl.col(name).name.prefix_fields(f"{name}.") for name in structs)
        frame = frame.unnest(structs)
    return Raw(frame)


def _workbook(data: bytes, name: str, header: bool | None, sheet: str | None) -> Raw:
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError:
        raise Refused(
            f'{name}: is an Excel workbook, which openpyxl reads: pip install "lorenyi[excel]"'
        ) from None
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    if sheet is not None and sheet not in book.sheetnames:
        raise Refused(f"--sheet {sheet}: {name} has {', '.join(map(repr, book.sheetnames))}")
    rows = [list(row) for row in book[sheet or book.sheetnames[0]].iter_rows(values_only=True)]
    rows = [row for row in rows if any(cell is not None for cell in row)]
    width = max((max(i + 1 for i, c in enumerate(row) if c is not None) for row in rows), default=0)
    rows = [[*row, *[None] * width][:width] for row in rows]
    notes = []
    if sheet is None and len(book.sheetnames) > 1:
        notes.append(
            f"the sheet {book.sheetnames[0]!r} is read, of {len(book.sheetnames)} (--sheet)"
        )
    full = next((i for i, row in enumerate(rows) if sum(c is not None for c in row) > width / 2), 0)
    if full:
        notes.append(f"{counted(full, 'row')} before the table left out")
    text = pl.DataFrame(
        {f"{j}": [_cell(row[j]) for row in rows[full:]] for j in range(width)},
        schema={f"{j}": pl.String for j in range(width)},
    )
    return _headed(text, header, notes)


def _cell(value: Any) -> str | None:
    """Return a cell as text, which is typed like that of a CSV file."""
    if value is None or isinstance(value, str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else repr(value)


def _arrays(data: bytes, name: str) -> Raw:
    """Read NumPy arrays: X and y, or any arrays with one row each a point."""
    loaded = np.load(io.BytesIO(data), allow_pickle=False)
    arrays = {"x": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    given = arrays.pop("feature_names", None)
    frame: dict[str, Any] = {}
    for key, array in arrays.items():
        if array.ndim == 1:
            frame[key] = array
        elif array.ndim == 2:
            matching = given is not None and len(given) == array.shape[1]
            names = [str(n) for n in given] if matching else None
            names = names or [f"{key.lower()}{j}" for j in range(array.shape[1])]
            frame |= dict(zip(names, array.T, strict=True))
        else:
            raise Refused(f"{name}: {key!r} has {array.ndim} dimensions; a table has one or two")
    if len({len(column) for column in frame.values()}) > 1:
        sizes = ", ".join(f"{key} {value.shape}" for key, value in arrays.items())
        raise Refused(f"{name}: arrays of different length ({sizes}) are not one table")
    return Raw(pl.DataFrame(frame))
