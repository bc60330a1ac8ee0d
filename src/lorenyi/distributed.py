"""Dask arrays and data-frames: the same calls, the same results, on a cluster.

Nothing here needs to be called: `gram` and all measures take Dask collections. Work runs on the
workers of your `Client` if there is one, otherwise on threads of this process.

>>> import dask.array as da, lorenyi as lr
>>> x = da.arange(40_000, chunks=10_000) / 4_000.0
>>> lr.entropy(x.reshape(-1, 1), entropy=lr.Renyi(alpha=2, rank=20))
1.20637 ± 0.00035 bits (x: Gaussian(sigma=2.929))
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from operator import getitem
from typing import Any

import dask.array
import dask.config
import numpy as np
from dask.base import compute, persist
from dask.dataframe.dispatch import concat
from dask.delayed import Delayed, delayed
from distributed import KilledWorker
from distributed.comm.core import CommClosedError

from lorenyi._memory import require_memory
from lorenyi._threads import one_thread
from lorenyi.data.blocks import read_blocks, read_frames
from lorenyi.data.reading import Data
from lorenyi.data.sources import tree_sum
from lorenyi.data.streams import Engine, Task

FAN_IN = 8  # results that are summed at a time


class Cluster(Engine):
    """Blocks are chunks of Dask collections; a function is sent once to each worker."""

    holds = "Dask collections"
    remedy = (
        "make both alike, y = y.rechunk({0: x.chunks[0]}) for arrays, and for data-frames take "
        "both from one frame or give ddf.to_dask_array(lengths=True)"
    )

    def map(self, function: Callable[..., Any], tasks: Sequence[Task]) -> list[Any]:
        """Return the function's value for each task, in order."""
        return list(_compute(_calls(function, tasks)))

    def sum(self, function: Callable[..., Any], tasks: Sequence[Task]) -> Any:
        """Return the sum of the function's values over the tasks, added up as a tree."""
        return _compute([_tree(_calls(function, tasks))])[0]

    def sum_and_keep(
        self, function: Callable[..., tuple[Any, Any]], tasks: Sequence[Task]
    ) -> tuple[Any, list[Any]]:
        """Return the sum of the first values, and handles of the second, which stay there."""
        calls = _calls(function, tasks)
        item = delayed(getitem, pure=False, traverse=False)
        total = _tree([item(call, 0) for call in calls])
        total, *kept = _guarded(persist, total, *(item(call, 1) for call in calls), traverse=False)
        return _compute([total])[0], kept


def _calls(function: Callable[..., Any], tasks: Sequence[Task]) -> list[Delayed]:
    """Return a task of Dask for each of ours; the function is one node of the graph."""
    label = f"lorenyi-{uuid.uuid4().hex}"
    shared = delayed(_Shared(function), name=f"{label}-function", pure=False, traverse=False)
    call = delayed(_call, pure=False, traverse=False)
    return [call(shared, *task, dask_key_name=f"{label}-{i}") for i, task in enumerate(tasks)]


class _Shared:
    """Wraps an object, such as a function, that Dask must treat as a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _call(shared: _Shared, *values: Any) -> Any:
    return shared.value(*values)


def _add(*terms: Any) -> Any:
    return tree_sum(list(terms))


def _tree(terms: list[Delayed]) -> Delayed:
    add = delayed(_add, pure=False, traverse=False)
    while len(terms) > 1:
        terms = [add(*terms[i : i + FAN_IN]) for i in range(0, len(terms), FAN_IN)]
    return terms[0]


def _compute(parts: Sequence[Delayed]) -> tuple[Any, ...]:
    found: tuple[Any, ...] = _guarded(compute, *parts, traverse=False)
    return found


def _guarded(function: Callable[..., Any], *parts: Any, **options: Any) -> Any:
    """Run Dask's function, with clear errors if the cluster is lost."""
    try:
        # Pivots and their factor are one node of the graph, which may be large. One thread for
        # BLAS: if workers are threads of this process, each has a core.
        settings = {"distributed.admin.large-graph-warning-threshold": "1GB"}
        with dask.config.set(settings), one_thread():
            return function(*parts, **options)
    except KilledWorker as error:
        raise MemoryError(
            f"a block was lost with {error.allowed_failures + 1} workers, one after the other, "
            "most often for lack of memory: give them more, or cut the rows into smaller chunks, "
            "such as x.rechunk({0: 65536})"
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise ConnectionError(
            "the Dask scheduler was lost, or cancelled the work: connect a new Client, make the "
            "collection again (what was persisted is gone) and repeat the call"
        ) from error


# ------------------------------------------------------------------------------- reading


def read(x: Any, name: str) -> Data:
    """Read a Dask array, a data-frame, or one of its columns."""
    if isinstance(x, dask.array.Array):
        return _read_array(x, name)
    if _is_frame(x):
        return read_frames(Cluster(), *_parts(x), name)
    raise TypeError(
        f"{name} is a {type(x).__module__}.{type(x).__name__}: of Dask's collections, arrays, "
        "data-frames and their columns hold points; convert it, for example by .to_dataframe()"
    )


def _is_frame(x: Any) -> bool:
    return not isinstance(x, Delayed) and hasattr(x, "_meta_nonempty")


def _bytes(frame: Any) -> int:
    return int(np.sum(frame.memory_usage(deep=True)))


def collect(x: Any, name: str) -> Any:
    """Return a Dask array or data-frame in memory, if it fits there."""
    if _is_frame(x):
        size = sum(Cluster().map(_bytes, [(handle,) for handle in x.to_delayed()]))
    else:
        size = 0 if math.isnan(x.nbytes) else x.nbytes
    require_memory(
        2 * size,
        f"{name}, all of it in one place,",
        "select among fewer columns or rows, or measure with gram() and Auto, which work on blocks",
    )
    return _guarded(compute, x, traverse=False)[0]


def length(x: Any) -> int:
    """Return the number of rows of a collection."""
    return sum(_parts(x)[1])


def take(x: Any, rows: np.ndarray, name: str) -> Any:
    """Return some rows of a collection, in memory; only these are transferred."""
    handles, lengths = _parts(x)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = np.searchsorted(starts, rows, side="right") - 1
    at = sorted(set(places.tolist()))
    tasks = [(handles[i], rows[places == i] - starts[i]) for i in at]
    found = Cluster().map(_rows, tasks)
    frames: Any = concat
    return frames(found) if _is_frame(x) else np.concatenate(found)


def columns(x: Any, places: np.ndarray) -> Any:
    """Return some columns of a collection, as a collection."""
    return x.iloc[:, places.tolist()] if _is_frame(x) else x[:, places]


def _rows(block: Any, rows: np.ndarray) -> Any:
    return block.iloc[rows] if hasattr(block, "iloc") else np.asarray(block)[rows]


def _parts(x: Any) -> tuple[list[Any], list[int]]:
    """Return the blocks of rows of a collection, and how many rows each has."""
    if _is_frame(x):
        handles = list(x.to_delayed())
        known: Sequence[float] = [math.nan]
    else:
        whole = x.rechunk(dict.fromkeys(range(1, x.ndim), -1)) if x.ndim > 1 else x
        handles, known = list(whole.to_delayed().ravel()), whole.chunks[0]
    if any(math.isnan(count) for count in known):
        known = Cluster().map(len, [(handle,) for handle in handles])
    return handles, [int(count) for count in known]


def _read_array(x: Any, name: str) -> Data:
    if x.ndim == 0:
        raise ValueError(f"{name} must have at least two rows (one per point), found a scalar")
    if any(math.isnan(size) for size in x.shape[1:]):
        raise ValueError(f"{name} has columns of unknown number: x.compute_chunk_sizes() finds it")
    handles, lengths = _parts(x)
    like = np.zeros((0, *x.shape[1:]), dtype=x.dtype)
    return read_blocks(Cluster(), handles, lengths, like, name)
