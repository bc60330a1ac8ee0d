"""Types of the columns of a file: numbers, dates, categories, or identifiers.

The rule for numbers and categories is that of the library (`lorenyi.data.kinds`). Here text is
parsed first, since files have no types, and options override.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from lorenyi.cli import Refused
from lorenyi.cli.tables import Read, matching
from lorenyi.data.texts import GAPS, Parsed, parse
from lorenyi.report.wording import counted

REPEATED = 2.0  # mean number of rows per category, below which text is nearly an identifier
RARE = 5.0  # the same, below which a note warns of chance
EMPTY = "no values"
ID_NAME = re.compile(r"(^|[\W_])(id|idx|index|key|uuid|guid|rowid|row|no|nr)$", re.IGNORECASE)


def type_columns(
    table: Read,
    numeric: Sequence[str],
    categorical: Sequence[str],
    date: Sequence[str],
    lenient: bool,
) -> None:
    """Give every column its type; options take precedence."""
    names = table.frame.columns

    def said(texts: Sequence[str], option: str) -> set[str]:
        return {n for text in texts for n in matching(names, text, option, table.name)}

    symbols = said(categorical, "--categorical")
    table.numeric = said(numeric, "--numeric")
    forms: dict[str, str | None] = {}
    for text in date:
        columns, _, form = text.partition("=%")
        found = matching(names, columns, "--date", table.name)
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
        elif series.dtype in (pl.Duration, pl.Time):
            changed.append(series.cast(pl.Duration("us")).dt.total_microseconds() / 3600e6)
            table.forms[name] = "hours"
            table.numeric.add(name)
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
    """Return text as numbers, as dates, or as words, with missing values marked."""
    name = series.name
    words = series.str.strip_chars()
    words = words.set(words.str.to_lowercase().is_in(list(GAPS)).fill_null(True), None)
    if name not in forms:
        plain = _plain_numbers(words)
        if plain is not None:
            return plain
    found = parse(words.fill_null("").to_list(), forms.get(name), times=name not in table.numeric)
    asked = "number" if name in table.numeric else "time" if name in forms else None
    if asked and (found is None or (found.kind != asked and found.form != "hours")):
        option = "--numeric" if asked == "number" else "--date"
        raise Refused(f"{option}: column {name!r} of {table.name} holds {_some(words)}")
    if found is None:
        return words
    if found.wrong.any():
        _settle_wrong(series, found, table, lenient or asked is not None)
    table.forms[name] = found.form
    if found.kind == "number" and found.form:
        table.numeric.add(name)  # a column with a unit holds numbers, however few values it has
    if found.doubt:
        table.notes.append(f"{name}: {found.doubt}")
    if found.kind == "number":
        return pl.Series(name, found.values).fill_nan(None)
    micros = pl.Series(name, found.values * 86_400e6).fill_nan(None).round(0)
    return micros.cast(pl.Int64).cast(pl.Datetime("us"))


def _plain_numbers(words: pl.Series) -> pl.Series | None:
    """Return words as numbers, if all are in plain decimal notation."""
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
            f"among {what}: {option} {series.name!r} treats such cells as missing, "
            f"--categorical {series.name!r} the column as categories"
        )
    count = int(found.wrong.sum())
    table.notes.append(
        f"{series.name}: {counted(count, 'cell')} among {what} treated as missing, first "
        f"{series[row]!r:.40} in row {row + 1}"
    )


# ------------------------------------------------------------------------------- identifiers


def suspects(table: Read) -> dict[str, str]:
    """Return the columns that are identifiers or empty, with the reason."""
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
    """Return whether integers count the rows, or are unique and named like a key."""
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
