"""The eight tables of the paper's feature selection, from a folder of .npz files or from OpenML."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import ROOT

# kr-vs-kp: column 14 has n, b, w; the others f and t, l and g, or n and t.
SYMBOLS = {"f": 0, "l": 0, "n": 0, "t": 1, "g": 1, "b": 1, "w": 2}


@dataclass(frozen=True)
class Source:
    """Where a table comes from and what its columns are.

    `discrete` is the paper's own division: it decides which classifier judges a selection, and
    that no column is binned. `own_values` are columns of a continuous table that are not binned
    either; `nominal` ones are compared by equality.
    """

    openml: int
    discrete: bool
    own_values: tuple[int, ...] = ()
    nominal: tuple[int, ...] = ()


SOURCES = {
    "breast": Source(openml=1510, discrete=False),
    "semeion": Source(openml=1501, discrete=True),
    "madelon": Source(openml=1485, discrete=True),
    "krvskp": Source(openml=3, discrete=True, nominal=(14,)),
    "spambase": Source(openml=44, discrete=False, own_values=(56,)),
    "waveform": Source(openml=60, discrete=False),
    "optdigits": Source(openml=28, discrete=True),
    "statlog": Source(openml=182, discrete=True),  # 6430 rows there, 6435 in the paper
}


@dataclass(frozen=True)
class Table:
    """Columns, labels, and which columns are not binned or nominal."""

    name: str
    X: np.ndarray
    y: np.ndarray
    discrete: bool
    own_values: tuple[int, ...]
    nominal: tuple[int, ...]


def folder(given: str | None) -> Path | None:
    """Return the folder of .npz files: the one given, $LORENYI_DATA, or one beside the checkout."""
    said = given or os.environ.get("LORENYI_DATA")
    if said:
        if not Path(said).is_dir():
            raise SystemExit(
                f"{said}: no such folder; leave it out to fetch the tables from OpenML"
            )
        return Path(said)
    beside = ROOT.parent / "shared" / "data"
    return beside if beside.is_dir() else None


def load(name: str, data: Path | None) -> Table:
    """Return a table, from the folder if it is there, else from OpenML."""
    file = None if data is None else data / f"{name}.npz"
    if file is not None and file.exists():
        with np.load(file) as arrays:
            X, y = arrays["X"].astype(np.float64), arrays["y"]
    elif name in SOURCES:
        X, y = fetched(SOURCES[name].openml)
    else:
        raise SystemExit(f"{name}: there is no {file} and the paper has no such table")
    whole = bool((np.floor(X) == X).all())
    source = SOURCES.get(name, Source(openml=0, discrete=whole))
    return Table(name, X, y, source.discrete, source.own_values, source.nominal)


def fetched(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return columns and labels of an OpenML table; scikit-learn keeps a copy on disk."""
    from sklearn.datasets import fetch_openml

    found = fetch_openml(data_id=number, as_frame=True)
    X = np.stack([as_numbers(found.data[column]) for column in found.data.columns], axis=1)
    return X, np.unique(np.asarray(found.target).astype(str), return_inverse=True)[1]


def as_numbers(column: Any) -> np.ndarray:
    """Return a column as float64; the letters of kr-vs-kp get the codes of the paper's file."""
    values = np.asarray(column)
    try:
        return values.astype(np.float64)
    except ValueError:
        return np.array([SYMBOLS[str(v)] for v in values], dtype=np.float64)
