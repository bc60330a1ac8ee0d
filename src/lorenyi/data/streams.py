"""Rows that are not in memory: blocks that stay in place, and the engine that reads them.

A `Stream` is a source whose rows come in blocks: slabs of a memory-mapped file, row groups of
Parquet files, chunks of a Dask array. Computations are sent to the blocks, and only sums and single
rows are returned. An `Engine` maps a function over the blocks and sums the results as a tree.
`Here` does so with the threads of this process.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._threads import cores, parallel
from lorenyi.data.sources import ArraySource, Source, passing, slices, tree_sum

Task: TypeAlias = tuple[Any, ...]


class Engine(ABC):
    """Executes functions on blocks.

    A task is a tuple of handles, which represent values: for the engine that made them they say
    where a block is; all other objects are values themselves. A function gets the values of one
    task as its arguments. Another engine is another class like this one, and a function `read`
    that makes its handles (see `reading.READERS`).
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
        An empty array with the columns and type that the recipe makes.
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
        """Return sources in the blocks of this one; those in memory are cut, others must match."""
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
                f"variables in {self.engine.holds} and in {theirs} cannot mix: bring both into one "
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
        """Return the rows at which the running sum of the first column passes these values."""
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
        while len(rows) < size:  # once in practice: a margin of 10 standard deviations
            most = min(int(likely / len(self) * 2.0**64), 2**64 - 1)
            found = self.engine.map(partial(_below, seed, stream, most), cuts)
            bits, rows = (np.concatenate(parts) for parts in zip(*found, strict=True))
            likely *= 2
        return np.sort(rows[np.argsort(bits)[:size]])

    def only(self, mask: Stream, counts: Sequence[int]) -> Stream:
        """Return the stream of the rows where `mask` is not zero; `counts` has their numbers."""
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


# Functions that run on the workers (plain, so that they can be pickled).


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
    """Return the random bits of the rows whose bits are below a limit, and these rows."""
    rows = np.arange(start, stop)
    bits = _arrays.hashed(seed, stream, rows)[:, 0]
    few = bits <= np.uint64(most)
    return bits[few], rows[few]


def _lengths(starts: np.ndarray) -> str:
    lengths = np.diff(starts)
    shown = ", ".join(map(str, lengths[:3]))
    return f"({shown}, ... {len(lengths)} blocks)" if len(lengths) > 3 else f"({shown})"
