"""Threads: one for BLAS while the library works, and tasks on all cores."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any

import joblib
import numpy as np

# ------------------------------------------------------------------------------- BLAS


@cache
def _blas_libraries() -> tuple[list[Any], list[Any]]:
    """Return controllers of BLAS: libraries with one setting for all, and with one per thread."""
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    own = [library for library in found if getattr(library, "threading_layer", "") == "openmp"]
    return [library for library in found if library not in own], own


def _set_threads(libraries: list[Any], counts: list[int]) -> None:
    for library, count in zip(libraries, counts, strict=True):
        # threadpoolctl 3.8 lets only one thread of the process change a setting that is common to
        # all, and ignores the others. Here they are counted instead.
        set_threads = getattr(library, "_real_set_num_threads", library.set_num_threads)
        if library.get_num_threads() != count:
            set_threads(count)


class _Inside:
    """How many calls are inside `one_thread`, and the thread counts before the first."""

    count = 0
    before: tuple[int, ...] = ()

    def enter(self, libraries: list[Any]) -> None:
        if not self.count:
            self.before = tuple(library.get_num_threads() for library in libraries)
            _set_threads(libraries, [1] * len(libraries))
        self.count += 1

    def leave(self, libraries: list[Any]) -> None:
        if not self.count:  # entered before a fork
            return
        self.count -= 1
        if not self.count:
            _set_threads(libraries, list(self.before))


class _OfThisThread(_Inside, threading.local):
    pass


_lock, _of_all, _of_this_thread = threading.Lock(), _Inside(), _OfThisThread()


@contextmanager
def one_thread(reference: Any = None) -> Iterator[None]:
    """Limit BLAS to one thread while any thread is inside.

    The threads of BLAS wait for each other by spinning. If another process needs a core, a
    decomposition takes ten to a hundred times as long on two threads as on one. Large tasks are
    split over cores instead (`parallel`). For arrays of other libraries than NumPy, whose threads
    belong to the user, nothing is done.
    """
    if reference is not None and not isinstance(reference, np.ndarray):
        yield
        return
    common, own = _blas_libraries()
    with _lock:
        _of_all.enter(common)
    _of_this_thread.enter(own)
    try:
        yield
    finally:
        _of_this_thread.leave(own)
        with _lock:
            _of_all.leave(common)


# ------------------------------------------------------------------------------- tasks


def cores() -> int:
    """Return how many cores this process may use: by its affinity and its container's quota."""
    return int(joblib.cpu_count())


def parallel(
    function: Callable[[Any], Any], items: Sequence[Any], workers: int | None = None
) -> list[Any]:
    """Apply a function to each item on all cores, with one BLAS thread per worker, in order.

    Elementwise functions such as exp use one core and matrix products all: on small tiles it is
    better to give each core a tile. After an error or an interruption no further item is started.
    Inside another parallel task the items run one after another.
    """
    serial = len(items) < 2 or workers == 1 or getattr(_this_thread, "is_worker", False)
    workers = 1 if serial else min(workers or len(items), cores(), len(items))
    if workers < 2:
        with one_thread():
            return [function(item) for item in items]
    left = deque(enumerate(items))
    found: list[Any] = [None] * len(items)

    def work() -> None:
        _this_thread.is_worker = True
        with one_thread():
            while True:
                try:
                    at, item = left.popleft()
                except IndexError:
                    return
                try:
                    found[at] = function(item)
                except BaseException:
                    left.clear()
                    raise

    with one_thread():
        futures: list[Future[None]] = []
        try:
            for _ in range(workers):
                futures.append(_pool().submit(work))
            for future in futures:
                future.result()
        except BaseException:
            left.clear()
            wait(futures)
            raise
    return found


_this_thread = threading.local()


@cache
def _pool() -> ThreadPoolExecutor:
    """Return a persistent thread pool: starting one takes as long as a small task.

    joblib.Parallel polls for results every 10 ms. On two cores, 2 tasks of 0.1 ms take 11.1 ms
    there and 0.3 ms here, 8 take 11.2 and 0.9 ms, 2 tasks of 6 ms take 11.3 and 6.0 ms (joblib
    1.6 with prefer="threads" or require="sharedmem"; a reused Parallel saves 1 ms).
    """
    return ThreadPoolExecutor(cores(), thread_name_prefix="lorenyi")


# ------------------------------------------------------------------------------- forks


def _after_fork() -> None:
    """Drop the thread pool, which a forked process does not have. BLAS is not changed."""
    global _lock, _of_all
    _lock, _of_all = threading.Lock(), _Inside()
    _pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
