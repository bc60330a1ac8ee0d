"""Reading a table: from a file, from standard input, or one that comes with scikit-learn.

Files do not say what a column means. What is guessed is kept in `Read.notes`, to be told.
"""

from __future__ import annotations

import csv
import difflib
import fnmatch
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lorenyi.report import Table

EXAMPLES = {
    "breast": "load_breast_cancer",
    "iris": "load_iris",
    "wine": "load_wine",
    "digits": "load_digits",
    "diabetes": "load_diabetes",
}
KINDS = "CSV, TSV, Parquet, Arrow/Feather, .npz or .npy"
NOTHING = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-"}
MOSTLY = 0.8  # share of numbers above which text among them is taken for a mistake
LABELS = 20  # different whole numbers up to which they are labels


class Refused(Exception):
    """Bad input: the message is the one line that is shown."""


@dataclass
class Read:
    """A table as it was read.

    Parameters
    ----------
    frame : polars DataFrame
        Numbers, and text or booleans, which are nominal.
    name : str
        Where it comes from.
    python : str
        Lines that read it again, as `table`.
    notes : list of str
        What was guessed.
    """

    frame: pl.DataFrame
    name: str
    python: str
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.all = self.frame.columns

    def lines(self, names: Sequence[str]) -> str:
        """Return Python for these columns of the whole table: those named, or all but others."""
        kept = set(names)
        others = [name for name in self.all if name not in kept]
        few = len(others) < len(names)
        return f"table.drop({others!r})" if few else f"table.select({list(names)!r})"

    def nominal(self, name: str) -> bool:
        """Tell whether a column holds symbols."""
        return not self.frame[name].dtype.is_numeric()

    def columns(self, text: str, option: str) -> list[str]:
        """Return the columns that an option names: a,b or pattern*, quoted where needed."""
        if text in self.frame.columns:
            return [text]
        found: list[str] = []
        for item in next(csv.reader([text], skipinitialspace=True), []):
            if item in self.frame.columns:
                found.append(item)
            elif matches := fnmatch.filter(self.frame.columns, item):
                found += matches
            else:
                raise Refused(f"{option}: no column {item!r} in {self.name}; {self._near(item)}")
        return list(dict.fromkeys(found))

    def column(self, text: str, option: str) -> str:
        """Return the one column that an option names."""
        if text not in self.frame.columns:
            raise Refused(f"{option}: no column {text!r} in {self.name}; {self._near(text)}")
        return text

    def _near(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.frame.columns, 1)
        if near:
            return f"did you mean {near[0]!r}?"
        shown = ", ".join(repr(c) for c in self.frame.columns[:6])
        return f"it has {shown}{', ...' if self.frame.width > 6 else ''}"

    def take(self, names: Sequence[str]) -> None:
        """Keep these columns."""
        self.frame = self.frame.select(list(names))

    def described(self) -> Table:
        """Return what each column was read as."""
        rows = []
        for series in self.frame.iter_columns():
            kind = "numbers" if series.dtype.is_numeric() else "symbols"
            whole = kind == "numbers" and series.dtype.is_integer()
            rows.append([series.name, "whole numbers" if whole else kind, series.n_unique()])
        return Table(["column", "read as", "different values"], rows)

    def settle_missing(self, missing: str, used: Sequence[str]) -> None:
        """Refuse missing values, leave out their rows, or keep them as a value of its own."""
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
                "--missing drop leaves such rows out"
            )
        before = self.frame.height
        self.frame = self.frame.drop_nulls(list(used))
        self.python += f"\ntable = table.drop_nulls({list(gaps)!r})"
        self.notes.append(
            f"{before - self.frame.height} of {before} rows have missing values and were left out"
        )
        if self.frame.height < 2:
            raise Refused(f"{self.name}: fewer than two rows have no missing values")


def example(name: str) -> Read:
    """Return one of scikit-learn's own tables, its target in the column `target`."""
    from sklearn import datasets

    if name not in EXAMPLES:
        raise Refused(f"--example {name}: choose one of {', '.join(EXAMPLES)}")
    loader = EXAMPLES[name]
    bunch = getattr(datasets, loader)()
    frame = pl.DataFrame(bunch.data, schema=[str(column) for column in bunch.feature_names])
    frame = frame.with_columns(pl.Series("target", bunch.target))
    python = (
        f"import polars as pl\nfrom sklearn.datasets import {loader}\n\nbunch = {loader}()\n"
        "table = pl.DataFrame(bunch.data, schema=[str(c) for c in bunch.feature_names])\n"
        'table = table.with_columns(pl.Series("target", bunch.target))'
    )
    return _checked(Read(frame, f"example {name}", python))


def read(path: str, symbols: Sequence[str] = ()) -> Read:
    """Return the table in a file, or on standard input for "-".

    Parameters
    ----------
    path : str
        The file.
    symbols : sequence of str
        Columns whose text among numbers is no mistake.
    """
    name = "standard input" if path == "-" else Path(path).name
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except FileNotFoundError:
        raise Refused(f"{path}: no such file") from None
    except IsADirectoryError:
        raise Refused(f"{path}: is a folder, not a file") from None
    except PermissionError:
        raise Refused(f"{path}: no permission to read it") from None
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    if not data.strip():
        raise Refused(f"{name}: is empty")
    return _checked(_tidied(_parsed(data, path, name), set(symbols)))


def _parsed(data: bytes, path: str, name: str) -> Read:
    """Read by content where that tells, else by the ending of the name."""
    source = "sys.stdin.buffer" if path == "-" else repr(path)
    begin = "import polars as pl\n\n" if path != "-" else "import sys\n\nimport polars as pl\n\n"
    ending = re.sub(r"\.(gz|zst|zlib)$", "", path.lower()).rpartition(".")[2]
    try:
        if data.startswith(b"PAR1") or ending in ("parquet", "pq"):
            frame = pl.read_parquet(io.BytesIO(data))
            return Read(frame, name, f"{begin}table = pl.read_parquet({source})")
        if data.startswith((b"ARROW1", b"FEA1")) or ending in ("arrow", "feather", "ipc"):
            return Read(_arrow(data), name, f"{begin}table = pl.read_ipc({source})")
        if data.startswith((b"PK", b"\x93NUMPY")) or ending in ("npz", "npy"):
            return _arrays(data, path, name)
        return _text(data, source, name, begin, tabs=ending in ("tsv", "tab"))
    except Refused:
        raise
    except Exception as error:  # each format has errors of its own
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise Refused(f"{name}: cannot be read ({why[:160]}); it may be {KINDS}") from None


def _arrow(data: bytes) -> pl.DataFrame:
    if data.startswith(b"ARROW1"):
        return pl.read_ipc(io.BytesIO(data))
    return pl.read_ipc_stream(io.BytesIO(data))


def _text(data: bytes, source: str, name: str, begin: str, tabs: bool) -> Read:
    from gzip import decompress

    content = decompress(data) if data.startswith(b"\x1f\x8b") else data
    first = content.lstrip(b"\xef\xbb\xbf\r\n").split(b"\n", 1)[0].decode("utf-8", "replace")
    if "\0" in first:
        raise Refused(f"{name}: is neither text nor a format known here; it may be {KINDS}")
    counts = {mark: first.count(mark) for mark in ("\t", ";", ",", "|")}
    mark = "\t" if tabs else max(counts, key=lambda m: counts[m]) if any(counts.values()) else ","
    cells = next(csv.reader([first.rstrip("\r")], delimiter=mark))
    header = not all(_is_number(cell) for cell in cells)
    options: dict[str, Any] = {"infer_schema_length": None}
    if mark != ",":
        options["separator"] = mark
    if not header:
        options |= {"has_header": False, "new_columns": [f"x{i}" for i in range(len(cells))]}
    # Numbers such as 1,5 can only stand where a comma does not separate.
    if mark == ";" and re.search(rb";-?\d+,\d+(;|\r?\n|$)", content) is not None:
        options["decimal_comma"] = True
    frame = pl.read_csv(io.BytesIO(content), **options)
    notes = []
    if mark not in (",", "\t"):
        notes.append(f"columns are separated by {mark!r}")
    if not header:
        notes.append("the first row holds numbers, so it is no heading: columns are x0, x1, ...")
    told = "".join(f", {key}={value!r}" for key, value in options.items())
    return Read(frame, name, f"{begin}table = pl.read_csv({source}{told})", notes)


def _arrays(data: bytes, path: str, name: str) -> Read:
    """Read NumPy arrays: X and y, or any arrays with one row each a point."""
    loaded = np.load(io.BytesIO(data), allow_pickle=False)
    arrays = {"x": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    given = arrays.pop("feature_names", None)
    frame: dict[str, Any] = {}
    lines = ["import numpy as np", "import polars as pl", "", f"loaded = np.load({path!r})"]
    lines.append("columns = {}")
    for key, array in arrays.items():
        held = "loaded" if isinstance(loaded, np.ndarray) else f"loaded[{key!r}]"
        if array.ndim == 1:
            frame[key] = array
            lines.append(f"columns[{key!r}] = {held}")
        elif array.ndim == 2:
            matching = given is not None and len(given) == array.shape[1]
            names = [str(n) for n in given] if matching else None
            names = names or [f"{key.lower()}{j}" for j in range(array.shape[1])]
            frame |= dict(zip(names, array.T, strict=True))
            lines.append(f"columns |= dict(zip({names!r}, {held}.T))")
        else:
            raise Refused(f"{name}: {key!r} has {array.ndim} dimensions; a table has one or two")
    if len({len(column) for column in frame.values()}) > 1:
        sizes = ", ".join(f"{key} {value.shape}" for key, value in arrays.items())
        raise Refused(f"{name}: arrays of different length ({sizes}) are not one table")
    return Read(pl.DataFrame(frame), name, "\n".join([*lines, "table = pl.DataFrame(columns)"]))


# --------------------------------------------------------------------------------------- types


def _tidied(table: Read, symbols: set[str]) -> Read:
    """Read text that is numbers as numbers; missing words and NaN as missing."""
    changed = []
    for series in table.frame.iter_columns():
        if series.dtype == pl.String and series.name not in symbols:
            numbers = _numbers(series, table)
            if numbers is not None:
                changed.append(numbers)
                table.python += _again(series.name)
        elif series.dtype.is_float() and series.is_nan().any():
            changed.append(series.fill_nan(None))
            table.python += f"\ntable = table.with_columns(pl.col({series.name!r}).fill_nan(None))"
        elif series.dtype.is_decimal():
            changed.append(series.cast(pl.Float64))
        elif series.dtype.is_nested() or series.dtype == pl.Object:
            raise Refused(
                f"column {series.name!r} of {table.name} holds {series.dtype}: a cell holds one "
                "number or word"
            )
    table.frame = table.frame.with_columns(changed)
    return table


def _numbers(series: pl.Series, table: Read) -> pl.Series | None:
    """Return a column of text as numbers if all are, but for words that say "missing"."""
    words = series.str.strip_chars()
    filled = words.is_in(list(NOTHING)).not_() & words.is_not_null()
    numbers = words.cast(pl.Float64, strict=False)
    wrong = filled & numbers.is_null()
    if not filled.any() or int(wrong.sum()) > (1 - MOSTLY) * int(filled.sum()):
        return None
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise Refused(
            f"column {series.name!r} of {table.name} has {series[row]!r:.40} in row {row + 1} "
            "among numbers: mend it, or --categorical takes the column as symbols"
        )
    missing = len(series) - int(filled.sum())
    if missing:
        table.notes.append(f"{series.name}: numbers, of which {missing} are missing")
    return numbers.set(~filled, None)


def _again(name: str) -> str:
    words = f"pl.col({name!r}).str.strip_chars()"
    return f"\ntable = table.with_columns({words}.cast(pl.Float64, strict=False).fill_nan(None))"


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().replace(",", "."))
    except ValueError:
        return False
    return True


def _checked(table: Read) -> Read:
    if table.frame.width == 0 or table.frame.height == 0:
        raise Refused(f"{table.name}: has no rows")
    if table.frame.height < 2:
        raise Refused(f"{table.name}: has one row; at least two are needed")
    return table
