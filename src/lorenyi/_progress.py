"""Progress of long calls: a bar in terminals and notebooks after some seconds, or a callback."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from tqdm.auto import tqdm

SECONDS = 3.0  # that a call may take before a bar appears
PAUSE = 1.0  # seconds between what is said within a part

# None: a bar in terminals and notebooks; True: a bar; False: nothing; or a function of a message
# and a number (the share done, or the computing error in bits).
Progress: TypeAlias = bool | Callable[[str, float], None] | None


class Reporter:
    """Shows the progress of one call."""

    def __init__(self, progress: Progress, total: int, unit: str) -> None:
        self._call = progress if callable(progress) else None
        shown = progress is True or (progress is None and is_watched())
        self._bar: Any = None
        if shown:
            self._bar = tqdm(
                total=total, unit=f" {unit}", delay=SECONDS, leave=False, dynamic_ncols=True
            )
        self.total, self.done = total, 0
        self._said = time.monotonic()
        self._lock = threading.Lock()

    def note(self, message: str, number: float) -> None:
        """Show a message."""
        if self._call is not None:
            self._call(message, number)
        if self._bar is not None:
            with self._lock:
                self._bar.set_postfix_str(message, refresh=False)
                self._bar.update(0)

    def within(self, message: str) -> None:
        """Say how far the next part is, at most once a second."""
        now = time.monotonic()
        if now - self._said >= PAUSE:
            self._said = now
            self.note(message, self.done / max(self.total, 1))

    def step(self, message: str = "") -> None:
        """Count one more part as done."""
        with self._lock:
            self.done += 1
            if self._bar is not None:
                self._bar.update(1)
        if self._call is not None and message:
            self._call(message, self.done / max(self.total, 1))

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


_open: list[Reporter] = []  # the outermost running call, if any


@contextmanager
def reporting(progress: Progress, total: int, unit: str) -> Iterator[Reporter]:
    """Report on a call of so many parts; inside another such call, report nothing."""
    if _open and not callable(progress):
        yield Reporter(False, total, unit)
        return
    reporter = Reporter(progress, total, unit)
    _open.append(reporter)
    try:
        yield reporter
    finally:
        _open.remove(reporter)
        reporter.close()


def note(message: str, number: float) -> None:
    """Pass a message to the running call's report."""
    for reporter in _open[:1]:
        reporter.note(message, number)


def counted(function: Callable[[Any], Any], total: int, items: str) -> Callable[[Any], Any]:
    """Return a function that says, in a long call, how many of its items are done."""
    done, telling = itertools.count(1), threading.Lock()

    def call(item: Any) -> Any:
        found = function(item)
        with telling:  # in order
            number = next(done)
            for reporter in _open[:1]:
                reporter.within(f"{number:,} of {total:,} {items}")
        return found

    return call


def is_watched() -> bool:
    """Return whether messages are visible: in a terminal or a notebook."""
    kernel = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(sys.stderr, "isatty", bool)() or hasattr(kernel, "kernel")
