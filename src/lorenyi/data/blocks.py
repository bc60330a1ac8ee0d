"""Reading arrays and data-frames that come in blocks of rows, such as memory-mapped files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi.data import reading
from lorenyi.data.columns import (
    Column,
    Kind,
    array_columns,
    as_table,
    present,
    require_finite,
    unmasked,
)
from lorenyi.data.frames import frame_columns
from lorenyi.data.kinds import NEVER, least_repeats
from lorenyi.data.reading import Data
from lorenyi.data.sources import row_slices
from lorenyi.data.streams import Engine, Here, Slab, Stream, Task

MAX_LABELS = 2**20  # maximum number of distinct labels of a column

# From a block and the number of its first row to its columns.
Reading: TypeAlias = Callable[[int, Any], list[Column]]


def read(x: Any, name: str) -> Data:
    """Read a memory-mapped file, or a source of rows."""
    if isinstance(x, np.memmap):
        if x.ndim == 0 or len(x) < 2:
            return reading.read(np.array(x), name)  # which raises the error
        cuts = row_slices(len(x))
        handles = [_FileRows(x, cut) for cut in cuts]
        return read_blocks(Here(), handles, [c.stop - c.start for c in cuts], x[:0], name)
    if isinstance(x, Stream):
        return Data(x, None, (least_repeats(x.like.dtype),) * x.shape[1], np.empty(0))
    return reading.read(x.all(), name)


def collect(x: Any, name: str) -> Any:
    """Return a memory-mapped file as an array, which it is already, or the rows of a source."""
    return x


def take(x: Any, rows: np.ndarray, name: str) -> Any:
    """Return some rows in memory."""
    return np.array(x[rows]) if isinstance(x, np.memmap) else x.take(rows).all()


@dataclass(frozen=True, eq=False)
class _FileRows(Slab):
    """Rows of a memory-mapped array."""

    array: np.ndarray
    rows: slice

    def read(self) -> np.ndarray:
        """Return the rows in memory."""
        return np.array(self.array[self.rows])


def read_blocks(
    engine: Engine, handles: Sequence[Any], lengths: Sequence[int], like: np.ndarray, name: str
) -> Data:
    """Read an array that comes in blocks of rows; `like` is empty, with its type and axes."""
    tasks, starts = _numbered(handles, lengths, name)
    flat = as_table(like, name, int(starts[-1]))
    if not flat.shape[1]:
        raise ValueError(f"{name} has {starts[-1]} rows and no columns: at least one is needed")
    kind = flat.dtype.kind
    if kind in "biuf":
        recipe = partial(_array_rows, name)
        stream = Stream(engine, tasks, starts, recipe, _array_rows(name, 0, flat))
        d = flat.shape[1]  # several columns of one type are one vector per row
        least = least_repeats(flat.dtype) if d == 1 else NEVER
        return Data(stream, None, (least,) * d, np.empty(0))
    array_columns(flat, name)  # refuses complex numbers
    return _typed(engine, tasks, starts, partial(_array_columns, name), name)


def read_frames(engine: Engine, handles: Sequence[Any], lengths: Sequence[int], name: str) -> Data:
    """Read a data-frame (or a column) that comes in blocks of rows."""
    tasks, starts = _numbered(handles, lengths, name)
    return _typed(engine, tasks, starts, partial(_frame_columns, name), name)


def _typed(
    engine: Engine, tasks: list[Task], starts: np.ndarray, columns: Reading, name: str
) -> Data:
    """Read typed columns; the first block determines the types of all others."""
    kinds, least, like = engine.map(partial(_kinds, columns), tasks[:1])[0]
    labels = [kind == "label" for kind in kinds]
    if not kinds:
        raise ValueError(f"{name} has no columns: at least one is needed")
    table = codes = None
    if like is not None:
        recipe = partial(_number_rows, columns, labels, like.dtype)
        table = Stream(engine, tasks, starts, recipe, like)
    if any(labels):
        words = partial(_words, columns, labels)
        codes = _coded(engine, tasks, starts, words, sum(labels), name)
    return Data(table, codes, tuple(least), np.empty(0), units=len(labels) > 1)


def _numbered(
    handles: Sequence[Any], lengths: Sequence[int], name: str
) -> tuple[list[Task], np.ndarray]:
    """Return first row and handle of blocks that are not empty, and all first rows and the last."""
    kept = [(handle, n) for handle, n in zip(handles, lengths, strict=True) if n]
    starts = np.concatenate([[0], np.cumsum([n for _, n in kept])]).astype(np.int64)
    if starts[-1] < 2:
        raise ValueError(
            f"{name} must have at least two rows (one per point), found {int(starts[-1])}"
        )
    return [(int(s), handle) for s, (handle, _) in zip(starts, kept, strict=False)], starts


def _array_rows(name: str, start: int, array: np.ndarray) -> np.ndarray:
    rows: np.ndarray = as_table(unmasked(array, name, start), name)
    if rows.dtype.kind == "f":
        rows = np.asarray(_arrays.as_points(rows))
        require_finite(rows, name, start)
        return rows
    return rows.astype(np.int64) if rows.dtype.kind == "b" else rows


def _array_columns(name: str, start: int, array: Any) -> list[Column]:
    return array_columns(as_table(np.asanyarray(array), name), name, start)  # a mask is kept


def _frame_columns(name: str, start: int, frame: Any) -> list[Column]:
    return frame_columns(frame, name, start)[0]


def _kinds(
    columns: Reading, start: int, block: Any
) -> tuple[list[Kind], list[float], np.ndarray | None]:
    """Return the kinds of columns by their type, and empty arrays of those that are numbers."""
    found = columns(start, block)
    numbers, _ = present(found, start)
    least = [column.least_repeats for column in found if column.kind != "label"]
    return [c.kind for c in found], least, np.stack(numbers, axis=1)[:0] if numbers else None


def _present(
    columns: Reading, labels: list[bool], start: int, block: Any
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    found = columns(start, block)
    for column, before in zip(found, labels, strict=True):
        if (column.kind == "label") is not before:
            kinds = ("labels", "numbers") if before else ("numbers", "labels")
            raise TypeError(
                f"{column.label} holds {kinds[0]} in the first block of rows and {kinds[1]} in "
                f"that from row {start}: give the whole column one type"
            )
    return present(found, start)


def _number_rows(
    columns: Reading, labels: list[bool], dtype: np.dtype[Any], start: int, block: Any
) -> np.ndarray:
    rows = np.stack(_present(columns, labels, start, block)[0], axis=1)
    if not np.can_cast(rows.dtype, dtype, "safe"):
        label = columns(start, block)[labels.index(False)].label
        raise TypeError(
            f"{label}, or a column beside it, holds {dtype} in the first block of rows and "
            f"{rows.dtype} in that from row {start}: give the whole column one type"
        )
    return rows.astype(dtype, copy=False)


def _words(columns: Reading, labels: list[bool], start: int, block: Any) -> list[np.ndarray]:
    return _present(columns, labels, start, block)[1]


def _coded(
    engine: Engine,
    tasks: list[Task],
    starts: np.ndarray,
    words: Callable[..., list[np.ndarray]],
    width: int,
    name: str,
) -> Stream:
    """Return labels as numbers; one pass finds all distinct ones."""
    found = engine.sum(partial(_vocabulary, words, name), tasks)
    recipe = partial(_codes, words, found.columns)
    return Stream(engine, tasks, starts, recipe, np.zeros((0, width), dtype=np.int64))


@dataclass(frozen=True)
class _Vocabulary:
    """The distinct values of some columns; the sum of two holds those of both."""

    columns: list[np.ndarray]
    name: str

    def __add__(self, other: _Vocabulary) -> _Vocabulary:
        pairs = zip(self.columns, other.columns, strict=True)
        columns = [np.union1d(a, b) for a, b in pairs]
        most = max(len(column) for column in columns)
        if most > MAX_LABELS:
            raise ValueError(
                f"{self.name} has a column with more than {MAX_LABELS} distinct labels: give it "
                "as integers (a hash, for example), which need no table of values"
            )
        return _Vocabulary(columns, self.name)


def _vocabulary(words: Callable[..., list[np.ndarray]], name: str, *values: Any) -> _Vocabulary:
    return _Vocabulary([np.unique(column) for column in words(*values)], name)


def _codes(
    words: Callable[..., list[np.ndarray]], known: list[np.ndarray], *values: Any
) -> np.ndarray:
    columns = zip(known, words(*values), strict=True)
    return np.stack([np.searchsorted(k, column) for k, column in columns], axis=1)
