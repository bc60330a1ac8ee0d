"""Rows that are not in memory: blocks that stay where they are, and the engine that reads them.

A `Stream` is a source whose rows come in blocks: slabs of a memory-mapped file, row groups of
Parquet files, chunks of a Dask array. What is to be computed goes to the blocks, and only sums and
single rows come back. An `Engine` knows how: it maps a function over the blocks and adds up the
results as a tree. `Here` does so with the threads of this process.
"""

from __future__ import annotations

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from lorenyi import _arrays, blocks
from lorenyi._arrays import Array
from lorenyi._threads import cores, parallel
from lorenyi.blocks import ArraySource, Data, Source, passing, slices, tree_sum
from lorenyi.columns import Column, array_columns, frame_columns, unmasked

VALUES = 2**20  # distinct symbols of a column that are numbered at most
Task: TypeAlias = tuple[Any, ...]


class Engine(ABC):
    """Where blocks are worked on.

    A task is a tuple of handles, which stand for values: to the engine that made them they tell
    where a block is; all other objects are values themselves. A function gets the values of one
    task as its arguments. A second engine is a second class like this one, and a function `read`
    that makes its handles (see `blocks.READERS`).
    """

    holds = "blocks"
    remedy = "cut both into the same blocks of rows"

    @abstractmethod
    def map(self, function: Callable[..., Any], tasks: Sequence[Task]) -> list[Any]:
        """Return the function's value for each task, in order."""

    @abstractmethod
    def sum(self, function: Callable[..., Any], tasks: Sequence[Task]) -> Any:
        """Return the sum of the function's values over the tasks, added up as a tree."""

    @abstractmethod
    def sum_and_keep(
        self, function: Callable[..., tuple[Any, Any]], tasks: Sequence[Task]
    ) -> tuple[Any, list[Any]]:
        """Return the sum of the first values, and handles of the second, which stay there."""


class Slab(ABC):
    """A block of a file, read when its values are needed."""

    @abstractmethod
    def read(self) -> Any:
        """Return the block."""


class Here(Engine):
    """The threads of this process; handles are slabs of files."""

    holds = "files"

    def map(self, function: Callable[..., Any], tasks: Sequence[Task]) -> list[Any]:
        """Return the function's value for each task, in order."""
        return parallel(lambda task: function(*map(_read, task)), tasks)

    def sum(self, function: Callable[..., Any], tasks: Sequence[Task]) -> Any:
        """Return the sum of the function's values over the tasks."""
        return self.sum_and_keep(lambda *values: (function(*values), None), tasks)[0]

    def sum_and_keep(
        self, function: Callable[..., tuple[Any, Any]], tasks: Sequence[Task]
    ) -> tuple[Any, list[Any]]:
        """Return the sum of the first values, and the second."""

        def run(group: slice) -> tuple[Any, list[Any]]:
            total, kept = None, []
            for task in tasks[group]:
                term, rest = function(*map(_read, task))
                total = term if total is None else total + term
                kept.append(rest)
            return total, kept

        # Few sums at a time: each may be as large as a block.
        groups = slices(len(tasks), -(-len(tasks) // (4 * cores())))
        parts = parallel(run, groups)
        return tree_sum([total for total, _ in parts]), [rest for _, kept in parts for rest in kept]


def _read(handle: Any) -> Any:
    return handle.read() if isinstance(handle, Slab) else handle


# ------------------------------------------------------------------------------- streams

Recipe: TypeAlias = Callable[..., np.ndarray]  # from a task's values to rows


@dataclass(frozen=True, eq=False)
class Stream(Source):
    """Rows in blocks that an engine reads.

    Parameters
    ----------
    engine : Engine
        Where the blocks are.
    tasks : sequence of tuples
        Handles of each block.
    starts : array
        Number of the first row of each block; at the end, of all rows.
    recipe : callable
        Makes a block's rows (an array of two axes) from its values.
    like : array
        No rows, but as many columns and of the type that the recipe makes.
    """

    engine: Engine
    tasks: Sequence[Task]
    starts: np.ndarray
    recipe: Recipe
    like: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return int(self.starts[-1]), int(self.like.shape[1])

    def rows(self, block: slice) -> Array:
        """Fetch consecutive rows."""
        return gather([self], np.arange(*block.indices(len(self))))[0]

    def take(self, index: np.ndarray) -> ArraySource:
        """Fetch the rows at these positions."""
        return ArraySource(gather([self], index)[0])

    def each(self, function: Callable[[Array], Array]) -> Stream:
        """Return the stream of function(rows), computed where and when they are read."""
        return replace(self, recipe=partial(_then, function, self.recipe), like=function(self.like))

    def stack(self, sources: Sequence[Source]) -> Stream:
        """Put columns side by side, block by block."""
        streams = self.aligned(sources)
        like = np.concatenate([stream.like for stream in streams], axis=1)
        recipe = partial(_beside, bundle(streams))
        return replace(self, tasks=joined(streams), recipe=recipe, like=like)

    def aligned(self, sources: Sequence[Source]) -> list[Stream]:
        """Return sources in the blocks of this one: cut if in memory, else refused if not so."""
        return [self._align(source) for source in sources]

    def _align(self, source: Source) -> Stream:
        if isinstance(source, ArraySource):
            array = _arrays.to_numpy(source.array)
            cuts = pairwise(self.starts)
            tasks = [(array[start:stop],) for start, stop in cuts]
            return replace(self, tasks=tasks, recipe=np.asarray, like=array[:0])
        if not isinstance(source, Stream) or type(source.engine) is not type(self.engine):
            theirs = getattr(getattr(source, "engine", source), "holds", type(source).__name__)
            raise TypeError(
                f"variables in {self.engine.holds} and in {theirs} do not mix: bring both into one "
                "form, for example a file by da.from_array(file)"
            )
        if not np.array_equal(source.starts, self.starts):
            ours, theirs = (_lengths(s.starts) for s in (self, source))
            raise ValueError(
                f"variables are cut into different blocks of rows, {ours} and {theirs}: "
                f"{self.engine.remedy}"
            )
        return source

    def map(self, function: Callable[[Array, slice], Any]) -> Iterator[Any]:
        """Apply `function(rows, block)` to each block of rows, in order."""
        return iter(self.engine.map(partial(_on_rows, function, self.recipe), self._numbered()))

    def sum(self, function: Callable[[Array, slice], Any]) -> Any:
        """Sum `function(rows, block)` over the blocks, as a tree."""
        return self.engine.sum(partial(_on_rows, function, self.recipe), self._numbered())

    def _numbered(self) -> list[Task]:
        return [(int(s), *task) for s, task in zip(self.starts, self.tasks, strict=False)]

    def locate(self, places: np.ndarray) -> np.ndarray:
        """Return the rows at which the running sum of the first column passes these places."""
        totals = np.array(list(self.map(_column_sum)))
        block = passing(totals, places)
        ends = np.cumsum(totals)
        local = places - (ends - totals)[block]
        find = partial(_passed, self.recipe)
        found, back = _at_blocks(self.engine, self.tasks, block, local, find)
        return np.asarray(np.concatenate(found)[back] + self.starts[block])

    def choose(self, seed: int, stream: int, size: int) -> np.ndarray:
        """Draw rows without replacement, as `_arrays.choose` does, block by block."""
        if size >= len(self):
            return np.arange(len(self))
        cuts = [(int(a), int(b)) for a, b in pairwise(self.starts)]
        bits, rows, likely = np.empty(0), np.empty(0), size + 10 * math.sqrt(size)
        while len(rows) < size:  # once: with 10 standard deviations to spare
            most = min(int(likely / len(self) * 2.0**64), 2**64 - 1)
            found = self.engine.map(partial(_below, seed, stream, most), cuts)
            bits, rows = (np.concatenate(parts) for parts in zip(*found, strict=True))
            likely *= 2
        return np.sort(rows[np.argsort(bits)[:size]])

    def only(self, mask: Stream, counts: Sequence[int]) -> Stream:
        """Return the stream of the rows where `mask` is not zero, so many in each block."""
        streams = [self, mask]
        tasks = [task for task, count in zip(joined(streams), counts, strict=True) if count]
        starts = np.concatenate([[0], np.cumsum([count for count in counts if count])])
        return replace(self, tasks=tasks, starts=starts, recipe=partial(_where, bundle(streams)))


def bundle(streams: Sequence[Stream]) -> Callable[..., list[np.ndarray]]:
    """Return what makes the rows of all streams from the values of a task of `joined`."""
    widths = [len(stream.tasks[0]) for stream in streams]
    ends = np.cumsum(widths)
    cuts = [slice(int(end - width), int(end)) for end, width in zip(ends, widths, strict=True)]
    return partial(_bundled, [(s.recipe, cut) for s, cut in zip(streams, cuts, strict=True)])


def joined(streams: Sequence[Stream]) -> list[Task]:
    """Return for each block the handles of all aligned streams."""
    return [sum(tasks, ()) for tasks in zip(*(s.tasks for s in streams), strict=True)]


def gather(streams: Sequence[Stream], index: np.ndarray) -> list[np.ndarray]:
    """Fetch the rows of aligned streams at these positions, in this order."""
    first, index = streams[0], np.asarray(index)
    if not len(index):
        return [stream.like for stream in streams]
    block = np.searchsorted(first.starts, index, side="right") - 1
    local = index - first.starts[block]
    pick = partial(_picked, bundle(streams))
    found, back = _at_blocks(first.engine, joined(streams), block, local, pick)
    return [np.concatenate(parts)[back] for parts in zip(*found, strict=True)]


def _at_blocks(
    engine: Engine,
    tasks: Sequence[Task],
    block: np.ndarray,
    values: np.ndarray,
    function: Callable[..., Any],
) -> tuple[list[Any], np.ndarray]:
    """Apply `function(the block's part of values, *values of its task)` where there is any.

    Returns the results, and the positions in them of the given values, in order.
    """
    order = np.argsort(block, kind="stable")
    touched, counts = np.unique(block, return_counts=True)
    parts = np.split(values[order], np.cumsum(counts)[:-1])
    wanted = [(part, *tasks[b]) for b, part in zip(touched, parts, strict=True)]
    return engine.map(function, wanted), np.argsort(order)


# What runs where the blocks are: plain functions, so that they can be sent there.


def _then(function: Callable[[Array], Array], recipe: Recipe, *values: Any) -> np.ndarray:
    return np.asarray(function(recipe(*values)))


def _bundled(parts: list[tuple[Recipe, slice]], *values: Any) -> list[np.ndarray]:
    return [recipe(*values[cut]) for recipe, cut in parts]


def _beside(make: Callable[..., list[np.ndarray]], *values: Any) -> np.ndarray:
    return np.concatenate(make(*values), axis=1)


def _where(make: Callable[..., list[np.ndarray]], *values: Any) -> np.ndarray:
    rows, mask = make(*values)
    return np.asarray(rows[mask[:, 0] != 0])


def _picked(
    make: Callable[..., list[np.ndarray]], local: np.ndarray, *values: Any
) -> list[np.ndarray]:
    return [rows[local] for rows in make(*values)]


def _on_rows(
    function: Callable[[Array, slice], Any], recipe: Recipe, start: int, *values: Any
) -> Any:
    rows = recipe(*values)
    return function(rows, slice(start, start + len(rows)))


def _column_sum(rows: np.ndarray, block: slice) -> float:
    return float(np.cumsum(rows[:, 0])[-1])


def _passed(recipe: Recipe, places: np.ndarray, *values: Any) -> np.ndarray:
    return passing(recipe(*values)[:, 0], places)


def _below(
    seed: int, stream: int, most: int, start: int, stop: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the random bits of those rows that have no more than so many, and the rows."""
    rows = np.arange(start, stop)
    bits = _arrays.hashed(seed, stream, rows)[:, 0]
    few = bits <= np.uint64(most)
    return bits[few], rows[few]


def _lengths(starts: np.ndarray) -> str:
    lengths = np.diff(starts)
    shown = ", ".join(map(str, lengths[:3]))
    return f"({shown}, ... {len(lengths)} blocks)" if len(lengths) > 3 else f"({shown})"


# ------------------------------------------------------------------------------- reading


def read(x: Any, name: str) -> Data:
    """Read a memory-mapped file, a Parquet data set, or a source of rows."""
    if isinstance(x, np.memmap):
        if x.ndim == 0 or len(x) < 2:
            return blocks.read(np.array(x), name)  # which says what is wrong
        cuts = slices(len(x), blocks.BLOCK_ROWS)
        handles = [_FileRows(x, cut) for cut in cuts]
        return read_blocks(Here(), handles, [c.stop - c.start for c in cuts], x[:0], name)
    if isinstance(x, Stream):
        return Data(x, None, x.like.dtype.kind not in "f", np.empty(0))
    if isinstance(x, Source):
        return blocks.read(x.all(), name)
    return parquet(x, name=name)


def collect(x: Any, name: str) -> Any:
    """Return a file as an array or table (a memory-mapped array is one already)."""
    return x.to_table() if hasattr(x, "get_fragments") else x


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
    """Read an array that comes in blocks of rows; `like` has no rows, but type and axes."""
    tasks, starts = _numbered(handles, lengths, name)
    flat = _flat(like)
    if not flat.shape[1]:
        raise ValueError(f"{name} has {starts[-1]} rows and no columns: at least one is needed")
    kind = flat.dtype.kind
    if kind in "biuf":
        recipe = partial(_array_rows, name)
        stream = Stream(engine, tasks, starts, recipe, _array_rows(name, 0, flat))
        return Data(stream, None, kind == "b" or (kind in "iu" and like.ndim == 1), np.empty(0))
    array_columns(flat, name)  # refuses complex numbers
    return _typed(engine, tasks, starts, partial(_array_columns, name, like.ndim == 1), name)


def read_frames(engine: Engine, handles: Sequence[Any], lengths: Sequence[int], name: str) -> Data:
    """Read a data-frame (or a column) that comes in blocks of rows."""
    tasks, starts = _numbered(handles, lengths, name)
    return _typed(engine, tasks, starts, partial(_frame_columns, name), name)


def _typed(
    engine: Engine, tasks: list[Task], starts: np.ndarray, columns: Reading, name: str
) -> Data:
    """Read typed columns; the first block tells what all others hold."""
    symbol, like, one = engine.map(partial(_kinds, columns), tasks[:1])[0]
    if not symbol:
        raise ValueError(f"{name} has no columns: at least one is needed")
    table = codes = None
    if like is not None:
        recipe = partial(_number_rows, columns, symbol, like.dtype)
        table = Stream(engine, tasks, starts, recipe, like)
    if any(symbol):
        words = partial(_words, columns, symbol)
        codes = _coded(engine, tasks, starts, words, sum(symbol), name)
    return Data(table, codes, blocks.is_nominal(like, one), np.empty(0))


def _numbered(
    handles: Sequence[Any], lengths: Sequence[int], name: str
) -> tuple[list[Task], np.ndarray]:
    """Return first row and handle of blocks that are not empty, and all first rows and the last."""
    kept = [(handle, n) for handle, n in zip(handles, lengths, strict=True) if n]
    starts = np.concatenate([[0], np.cumsum([n for _, n in kept])]).astype(np.int64)
    if starts[-1] < 2:
        raise ValueError(
            f"{name} must have at least two rows (one a point), found {int(starts[-1])}"
        )
    return [(int(s), handle) for s, (handle, _) in zip(starts, kept, strict=False)], starts


def _array_rows(name: str, start: int, array: np.ndarray) -> np.ndarray:
    rows = _flat(unmasked(array, name, start))
    if rows.dtype.kind == "f":
        rows = np.asarray(_arrays.as_points(rows))
        blocks.require_finite(rows, name, start)
        return rows
    return rows.astype(np.int64) if rows.dtype.kind == "b" else rows


def _flat(array: np.ndarray) -> np.ndarray:
    array = np.asanyarray(array)  # a masked one stays masked
    return array.reshape(len(array), int(np.prod(array.shape[1:])))


# Of a block, given its first row: its columns, and whether they are one and no table.
Reading: TypeAlias = Callable[[int, Any], tuple[list[Column], bool]]


def _array_columns(name: str, one: bool, start: int, array: Any) -> tuple[list[Column], bool]:
    return array_columns(_flat(array), name, start), one


def _frame_columns(name: str, start: int, frame: Any) -> tuple[list[Column], bool]:
    return frame_columns(frame, name, start)


def _kinds(columns: Reading, start: int, block: Any) -> tuple[list[bool], np.ndarray | None, bool]:
    """Return which columns hold symbols, no rows of the others, and whether it is one column."""
    found, one = columns(start, block)
    numbers, _ = blocks.present(found, start)
    return [c.symbol for c in found], np.stack(numbers, axis=1)[:0] if numbers else None, one


def _present(
    columns: Reading, symbol: list[bool], start: int, block: Any
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    found, _ = columns(start, block)
    for column, before in zip(found, symbol, strict=True):
        if column.symbol is not before:
            kinds = ("symbols", "numbers") if before else ("numbers", "symbols")
            raise TypeError(
                f"{column.label} holds {kinds[0]} in the first block of rows and {kinds[1]} in "
                f"that from row {start}: give the whole column one type"
            )
    return blocks.present(found, start)


def _number_rows(
    columns: Reading, symbol: list[bool], dtype: np.dtype[Any], start: int, block: Any
) -> np.ndarray:
    rows = np.stack(_present(columns, symbol, start, block)[0], axis=1)
    if not np.can_cast(rows.dtype, dtype, "safe"):
        label = columns(start, block)[0][symbol.index(False)].label
        raise TypeError(
            f"{label}, or a column beside it, holds {dtype} in the first block of rows and "
            f"{rows.dtype} in that from row {start}: give the whole column one type"
        )
    return rows.astype(dtype, copy=False)


def _words(columns: Reading, symbol: list[bool], start: int, block: Any) -> list[np.ndarray]:
    return _present(columns, symbol, start, block)[1]


def _coded(
    engine: Engine,
    tasks: list[Task],
    starts: np.ndarray,
    words: Callable[..., list[np.ndarray]],
    width: int,
    name: str,
) -> Stream:
    """Return symbols as numbers; one pass finds all distinct ones."""
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
        if most > VALUES:
            raise ValueError(
                f"{self.name} has a column with more than {VALUES} distinct symbols: give it as "
                "integers (its hash, say), which need no table of values"
            )
        return _Vocabulary(columns, self.name)


def _vocabulary(words: Callable[..., list[np.ndarray]], name: str, *values: Any) -> _Vocabulary:
    return _Vocabulary([np.unique(column) for column in words(*values)], name)


def _codes(
    words: Callable[..., list[np.ndarray]], known: list[np.ndarray], *values: Any
) -> np.ndarray:
    columns = zip(known, words(*values), strict=True)
    return np.stack([np.searchsorted(k, column) for k, column in columns], axis=1)


# ------------------------------------------------------------------------------- Parquet


def parquet(path: Any, columns: str | Sequence[str] | None = None, name: str = "x") -> Data:
    """Open a Parquet file, or a folder of them, as a variable whose row groups are read as needed.

    Parameters
    ----------
    path : path, list of paths, or pyarrow.dataset.Dataset
        File or files.
    columns : str or list of str, optional
        One column, or those that make up the variable; all by default.
    name : str
        What errors call it.

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
