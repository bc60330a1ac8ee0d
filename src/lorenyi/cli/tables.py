"""A table in a file with typed columns: from a file, standard input, or scikit-learn's examples.

Files do not say what a column means. What is guessed is kept, to be told and to be overruled.
"""

from __future__ import annotations

import csv
import difflib
import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from lorenyi.cli import Refused
from lorenyi.cli.files import Raw, load, named
from lorenyi.data.columns import Column
from lorenyi.data.frames import frame_columns
from lorenyi.data.texts import GAPS, Parsed, parse
from lorenyi.kernels import Gaussian, Kernel
from lorenyi.report import Table

EXAMPLES = {
    "breast": "load_breast_cancer",
    "iris": "load_iris",
    "wine": "load_wine",
    "digits": "load_digits",
    "diabetes": "load_diabetes",
}
REPEATED = 2.0  # rows a category, in the mean, below which text names rows more than it groups them
RARE = 5.0  # rows a category below which it is warned that there are few
EMPTY = "no values"
ID_NAME = re.compile(r"(^|[\W_])(id|idx|index|key|uuid|guid|rowid|row|no|nr)$", re.IGNORECASE)


@dataclass
class Read:
    """A table as it was read.

    Parameters
    ----------
    frame : polars DataFrame
        Numbers, dates, and text or booleans, which are categories.
    name : str
        Where it comes from.
    python : str
        Lines that read it again, as `table`.
    notes : list of str
        What was guessed.
    forms : mapping of str to str
        What the text of a column was: "%", "€", a form of dates.
    numeric : set of str
        Columns that are said to be numbers, however few values they have.
    left_out : mapping of str to str
        Columns that are not measured, and why.
    suspects : mapping of str to str
        Columns that name rows rather than describe them, or are empty, and why.
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
        """Return Python for these columns of the whole table: those named, or all but others."""
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
        """Return the kernel of each column that is said to be numbers and would not be."""
        columns = self.typed(names)
        return {n: Gaussian() for n, c in columns.items() if c.categorical and n in self.numeric}

    def columns(self, text: str, option: str) -> list[str]:
        """Return the columns that an option names: a,b or pattern*, quoted where needed."""
        self._require_present(text, option)
        return _matching(self.frame.columns, text, option, self.name)

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
        """Return what each column was read as, those left out last."""
        rows = []
        for name, column in self.typed().items():
            gaps = int(column.gaps.sum())
            distinct = int(self.frame[name].drop_nulls().n_unique())
            rows.append([name, self.kind(name, column), distinct, gaps])
        rows += [[n, f"left out: {why}", None, None] for n, why in self.left_out.items()]
        return Table(["column", "read as", "distinct values", "missing"], rows)

    def kind(self, name: str, column: Column) -> str:
        """Say what a column was read as."""
        form = self.forms.get(name, "")
        if column.kind == "time":
            return f"date ({form})" if form else "date"
        if column.kind == "label":
            return "category"
        if column.categorical and name not in self.numeric:
            return "category (int)"
        return f"number ({form})" if form else "number"

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
                f"--missing drop leaves such rows out, --drop {name!r} the column"
            )
        before = self.frame.height
        self.frame = self.frame.drop_nulls(list(used))
        self.python += f"\ntable = table.drop_nulls({list(gaps)!r})"
        worst = sorted(gaps, key=lambda n: -gaps[n])
        told = ", ".join(f"{n} ({gaps[n]})" for n in worst[:6])
        more = ", ..." if len(worst) > 6 else ""
        if self.frame.height < 2:
            raise Refused(
                f"{self.name}: {self.frame.height} of {before} rows have no missing values, which "
                f"are in {told}{more}: --drop {worst[0]!r} leaves that column out"
            )
        self.notes.append(
            f"{before - self.frame.height} of {before} rows were left out for missing values in "
            f"{told}{more}"
        )

    def leave_out(self, names: Mapping[str, str], remedy: str = "") -> None:
        """Leave columns out, each for a reason, and say so."""
        if not names:
            return
        self.left_out |= names
        self.frame = self.frame.drop(list(names))
        told = [f"{name} ({why})" for name, why in names.items()]
        more = f" and {len(told) - 6} more" if len(told) > 6 else ""
        self.notes.append(f"left out: {', '.join(told[:6])}{more}{remedy}")


# ------------------------------------------------------------------------------- names


def _matching(columns: Sequence[str], text: str, option: str, table: str) -> list[str]:
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


# ------------------------------------------------------------------------------- reading


def read_table(
    path: str | None = None,
    *,
    example: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    date: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    lenient: bool = False,
) -> Read:
    """Return the table in a file, with typed columns.

    Parameters
    ----------
    path : str
        The file; "-" is standard input.
    example : str, optional
        One of scikit-learn's tables instead, its target in the column `target`.
    header, encoding, sheet
        As in `lorenyi.cli.files.load`.
    numeric, categorical, date : sequences of str
        Names or patterns of columns, several separated by commas. A date may be followed by its
        form: "day=%d/%m/%Y".
    sample : int, optional
        Rows to draw at random, where there are more.
    seed : int
        Of the draw.
    lenient : bool
        Whether text among numbers is missing, and not an error.
    """
    options = {
        "example": example,
        "header": header,
        "encoding": encoding,
        "sheet": sheet,
        "numeric": list(numeric) or None,
        "categorical": list(categorical) or None,
        "date": list(date) or None,
        "sample": sample,
        "seed": seed if sample is not None else None,
        "lenient": lenient or None,
    }
    told = [f"{k}={v!r}" for k, v in options.items() if v is not None]
    if example is not None:
        name, raw = f"example {example}", _example(example)
    elif path is not None:
        name, raw = named(path), load(path, header, encoding, sheet)
        told.insert(0, repr(path))
    else:
        raise Refused("give a file or an example")
    call = f"read_table({', '.join(told)})"
    python = f"from lorenyi.cli.tables import read_table\n\ntable = {call}.frame"
    table = Read(raw.frame, name, python, raw.notes)
    _require_rows(table)
    _type_columns(table, numeric, categorical, date, lenient)
    table.suspects = _suspects(table)
    if sample is not None and sample < table.frame.height:
        rows = np.random.default_rng(seed).choice(table.frame.height, sample, replace=False)
        table.notes.append(f"{sample:,} of {table.frame.height:,} rows were drawn at random")
        table.frame = table.frame[np.sort(rows)]
    _require_rows(table)
    return table


def _require_rows(table: Read) -> None:
    if table.frame.width == 0 or table.frame.height == 0:
        raise Refused(f"{table.name}: has no rows")
    if table.frame.height < 2:
        raise Refused(f"{table.name}: has one row; at least two are needed")


def _example(name: str) -> Raw:
    from sklearn import datasets

    if name not in EXAMPLES:
        raise Refused(f"--example {name}: choose one of {', '.join(EXAMPLES)}")
    bunch = getattr(datasets, EXAMPLES[name])()
    frame = pl.DataFrame(bunch.data, schema=[str(column) for column in bunch.feature_names])
    return Raw(frame.with_columns(pl.Series("target", bunch.target)))


# ------------------------------------------------------------------------------- types


def _type_columns(
    table: Read,
    numeric: Sequence[str],
    categorical: Sequence[str],
    date: Sequence[str],
    lenient: bool,
) -> None:
    """Give every column its type; what options say comes first."""
    names = table.frame.columns

    def matching(texts: Sequence[str], option: str) -> set[str]:
        return {n for text in texts for n in _matching(names, text, option, table.name)}

    symbols = matching(categorical, "--categorical")
    table.numeric = matching(numeric, "--numeric")
    forms: dict[str, str | None] = {}
    for text in date:
        columns, _, form = text.partition("=%")
        found = _matching(names, columns, "--date", table.name)
        forms |= dict.fromkeys(found, f"%{form}" if form else None)
    if twice := symbols & table.numeric or symbols & set(forms) or table.numeric & set(forms):
        raise Refused(f"column {min(twice)!r} is named by two of --numeric, --categorical, --date")
    changed, refused = [], {}
    for series in table.frame.iter_columns():
        name = series.name
        if series.dtype.is_nested() or series.dtype in (pl.Object, pl.Binary):
            refused[name] = f"holds {series.dtype}"
        elif name in symbols:
            changed.append(series if series.dtype == pl.String else series.cast(pl.String))
        elif series.dtype == pl.String:
            changed.append(_text_column(series, table, forms, lenient))
        elif series.dtype.is_float():
            changed.append(series.fill_nan(None))
        elif series.dtype.is_decimal():
            changed.append(series.cast(pl.Float64))
    table.frame = table.frame.with_columns(changed)
    table.frame = table.frame.with_columns(
        _finite(series, table, lenient) for series in table.frame.iter_columns()
    )
    table.leave_out(refused)


def _finite(series: pl.Series, table: Read, lenient: bool) -> pl.Series:
    """Refuse infinities, or count them as missing."""
    infinite = series.is_infinite() if series.dtype.is_float() else None
    if infinite is None or not infinite.any():
        return series
    row = int(infinite.arg_max() or 0) + 1
    said = f"column {series.name!r} of {table.name} has an infinite value in row {row}"
    if not lenient:
        raise Refused(f"{said}: correct it, or --drop {series.name!r} leaves the column out")
    table.notes.append(f"{said}, which counts as missing")
    return series.set(infinite.fill_null(False), None)


def _text_column(
    series: pl.Series, table: Read, forms: Mapping[str, str | None], lenient: bool
) -> pl.Series:
    """Return text as numbers, as dates, or as words without gaps."""
    name = series.name
    words = series.str.strip_chars()
    words = words.set(words.str.to_lowercase().is_in(list(GAPS)).fill_null(True), None)
    if name not in forms:
        plain = _plain_numbers(words)
        if plain is not None:
            return plain
    found = parse(words.fill_null("").to_list(), forms.get(name), times=name not in table.numeric)
    asked = "number" if name in table.numeric else "time" if name in forms else None
    if asked and (found is None or found.kind != asked):
        option = "--numeric" if asked == "number" else "--date"
        raise Refused(f"{option}: column {name!r} of {table.name} holds {_some(words)}")
    if found is None:
        return words
    if found.wrong.any():
        _settle_wrong(series, found, table, lenient or asked is not None)
    table.forms[name] = found.form
    if found.kind == "number" and found.form:
        table.numeric.add(name)  # what has a unit is measured, however few values there are
    if found.doubt:
        table.notes.append(f"{name}: {found.doubt}")
    if found.kind == "number":
        return pl.Series(name, found.values).fill_nan(None)
    micros = pl.Series(name, found.values * 86_400e6).fill_nan(None).round(0)
    return micros.cast(pl.Int64).cast(pl.Datetime("us"))


def _plain_numbers(words: pl.Series) -> pl.Series | None:
    """Return words as numbers, if all are in the form that every language writes."""
    if words.null_count() == len(words) or words.str.contains(r"^0\d+$").any():
        return None
    for kind in (pl.Int64, pl.Float64):
        numbers = words.cast(kind, strict=False)
        if numbers.null_count() == words.null_count():
            return numbers
    return None


def _some(words: pl.Series) -> str:
    found = words.drop_nulls().unique(maintain_order=True).head(3).to_list()
    return ", ".join(repr(word)[:40] for word in found) or "nothing"


def _settle_wrong(series: pl.Series, found: Parsed, table: Read, missing: bool) -> None:
    row = int(np.argmax(found.wrong))
    what = "numbers" if found.kind == "number" else "dates"
    option = "--numeric" if found.kind == "number" else "--date"
    if not missing:
        raise Refused(
            f"column {series.name!r} of {table.name} has {series[row]!r:.40} in row {row + 1} "
            f"among {what}: {option} {series.name!r} takes such cells as missing, "
            "--categorical takes the column as categories"
        )
    count = int(found.wrong.sum())
    table.notes.append(
        f"{series.name}: {count} {'cell is' if count == 1 else 'cells are'} not {what} and missing "
        f"here, first {series[row]!r:.40} in row {row + 1}"
    )


# ------------------------------------------------------------------------------- what names rows


def _suspects(table: Read) -> dict[str, str]:
    found = {}
    n = table.frame.height
    for name, column in table.typed().items():
        series = table.frame[name].drop_nulls()
        distinct = series.n_unique()
        if not len(series):
            found[name] = EMPTY
        elif column.kind == "label" and distinct == len(series) > 2:
            found[name] = "identifier: different in every row"
        elif column.kind == "label" and distinct > len(series) / REPEATED and len(series) > 4:
            found[name] = f"nearly an identifier: {distinct} values in {len(series)} rows"
        elif _numbers_rows(series, distinct, n):
            found[name] = "identifier: numbers the rows"
    return found


def _numbers_rows(series: pl.Series, distinct: int, n: int) -> bool:
    """Tell whether whole numbers count the rows, or are different in each and named like a key."""
    if not series.dtype.is_integer() or distinct < n or n < 10:
        return False
    low, high = int(series.min()), int(series.max())  # type: ignore[arg-type]
    return (low in (0, 1) and high - low == n - 1) or ID_NAME.search(series.name) is not None


def rare_levels(table: Read, names: Sequence[str]) -> list[str]:
    """Return warnings about categories with few rows each."""
    n = table.frame.height
    return [
        f"{name}: {table.frame[name].n_unique()} categories in {n} rows, "
        f"{n / table.frame[name].n_unique():.1f} rows each: much of its information is chance"
        for name in table.categorical(names)
        if n / table.frame[name].n_unique() < RARE and table.frame[name].n_unique() > 2
    ]
