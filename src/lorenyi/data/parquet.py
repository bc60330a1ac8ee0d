"""Parquet files as variables: their row groups are the blocks."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lorenyi.data.blocks import read_frames
from lorenyi.data.reading import Data
from lorenyi.data.streams import Here, Slab


def parquet(path: Any, columns: str | Sequence[str] | None = None, name: str = "x") -> Data:
    """Open a Parquet file, or a folder of them, as a variable whose row groups are read as needed.

    Parameters
    ----------
    path : path, list of paths, or pyarrow.dataset.Dataset
        File or files.
    columns : str or list of str, optional
        One column, or those that make up the variable; all by default.
    name : str
        Name used in errors.

    Returns
    -------
    Data
        For `gram` and all measures, in the place of an array.
    """
    try:
        dataset = importlib.import_module("pyarrow.dataset")
    except ImportError as error:
        raise ImportError("Parquet files are read by pyarrow: pip install pyarrow") from error
    data = path if hasattr(path, "get_fragments") else dataset.dataset(path, format="parquet")
    chosen = [columns] if isinstance(columns, str) else columns
    known = data.schema.names
    missing = [column for column in chosen or [] if column not in known]
    if missing:
        raise ValueError(f"{name}: no column {missing[0]!r}; there are {', '.join(known):.200}")
    one = columns if isinstance(columns, str) else None
    slabs, lengths = [], []
    for fragment in data.get_fragments():
        for part in fragment.split_by_row_group():
            slabs.append(_RowGroup(part, chosen, one))
            lengths.append(sum(group.num_rows for group in part.row_groups))
    if not slabs:
        raise ValueError(f"{name} must have at least two rows, found none in {path}")
    return read_frames(Here(), slabs, lengths, name)


def read(x: Any, name: str) -> Data:
    """Read a data set of pyarrow."""
    return parquet(x, name=name)


def collect(x: Any, name: str) -> Any:
    """Return a data set as a table in memory."""
    return x.to_table()


def length(x: Any) -> int:
    """Return the number of rows of a data set."""
    return int(x.count_rows())


def take(x: Any, rows: np.ndarray, name: str) -> Any:
    """Return some rows of a data set as a table: row groups are read one after another."""
    parts, start = [], 0
    for fragment in x.get_fragments():
        for part in fragment.split_by_row_group():
            count = sum(group.num_rows for group in part.row_groups)
            mine = rows[(rows >= start) & (rows < start + count)] - start
            if len(mine):
                parts.append(part.to_table().take(mine))
            start += count
    return importlib.import_module("pyarrow").concat_tables(parts)


def columns(x: Any, places: np.ndarray) -> Any:
    """Return some columns of a data set as a table; the others are not read."""
    return x.to_table(columns=[x.schema.names[j] for j in places.tolist()])


@dataclass(frozen=True, eq=False)
class _RowGroup(Slab):
    """A row group of a Parquet file: some columns as a table, or one as a column."""

    part: Any
    columns: Sequence[str] | None
    one: str | None

    def read(self) -> Any:
        """Read it."""
        table = self.part.to_table(columns=self.columns)
        return table if self.one is None else table[self.one]
