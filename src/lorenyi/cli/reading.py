"""Reading a table with typed columns: from a file, standard input, or scikit-learn's examples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from lorenyi.cli import Refused
from lorenyi.cli.delimited import Raw
from lorenyi.cli.files import load, named
from lorenyi.cli.kinds import suspects, type_columns
from lorenyi.cli.tables import Read

EXAMPLES = {
    "breast": "load_breast_cancer",
    "iris": "load_iris",
    "wine": "load_wine",
    "digits": "load_digits",
    "diabetes": "load_diabetes",
}


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
        format: "day=%d/%m/%Y".
    sample : int, optional
        Rows to draw at random, if there are more.
    seed : int
        Of the draw.
    lenient : bool
        Whether text among numbers counts as missing, instead of an error.
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
    texts = [f"{k}={v!r}" for k, v in options.items() if v is not None]
    if example is not None:
        name, raw = f"example {example}", _example(example)
    elif path is not None:
        name, raw = named(path), load(path, header, encoding, sheet)
        texts.insert(0, repr(path))
    else:
        raise Refused("give a file or an example")
    call = f"read_table({', '.join(texts)})"
    python = f"from lorenyi.cli.reading import read_table\n\ntable = {call}.frame"
    table = Read(raw.frame, name, python, raw.notes)
    _require_rows(table)
    type_columns(table, numeric, categorical, date, lenient)
    table.suspects = suspects(table)
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
