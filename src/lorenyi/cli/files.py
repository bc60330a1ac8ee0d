"""Formats of files, recognized by their content, else by the ending of their name.

Compressed files are expanded first. Text is read in `lorenyi.cli.delimited`.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lorenyi.cli import Refused
from lorenyi.cli.delimited import Raw, delimited, headed
from lorenyi.report.wording import counted

FORMATS = "CSV, TSV, Excel, JSON, Parquet, Arrow/Feather, .npz or .npy, plain or compressed"


def load(
    path: str, header: bool | None = None, encoding: str | None = None, sheet: str | None = None
) -> Raw:
    """Return the table in a file, or on standard input for "-".

    Parameters
    ----------
    path : str
        The file.
    header : bool, optional
        Whether the first row holds names; inferred from the rows by default.
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
    except Exception as error:  # each format has its own errors
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise Refused(f"{name}: cannot be read ({why[:160]}); it may be {FORMATS}") from None


def named(path: str) -> str:
    """Return the name of a file in messages."""
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
    return delimited(data, name, header, encoding, tabs=ending in ("tsv", "tab"))


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
    return headed(text, header, notes)


def _cell(value: Any) -> str | None:
    """Return a cell as text, which is typed like that of a CSV file."""
    if value is None or isinstance(value, str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else repr(value)


def _arrays(data: bytes, name: str) -> Raw:
    """Read NumPy arrays: X and y, or any arrays with one row per point."""
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
