"""Free memory, on the machine and in the container, and whether something fits."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import psutil

A_LITTLE = 2**19  # bytes up to which the system is not queried


def free_memory() -> int:
    """Return the bytes that are free to use: on this machine, or in its container if fewer."""
    free = [int(psutil.virtual_memory().available)]
    free += [_left(*group) for group in _control_groups()]
    return max(min(free), 0)


def fits(needed: int) -> bool:
    """Return whether so many bytes are free; small amounts always are."""
    return needed <= A_LITTLE or needed <= free_memory()


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse, before trying, what does not fit in memory."""
    if not fits(needed):
        free = free_memory()
        raise MemoryError(
            f"{what} needs {needed / 2**30:.1f} GiB and {free / 2**30:.1f} GiB are free; {remedy}"
        )


# ------------------------------------------------------------------------------- containers


class _Files(NamedTuple):
    """Linux's file names of a control group's figures, by which a container limits memory."""

    limit: str
    used: str
    cached: str  # cached pages of files, included in the used memory, which the system can reclaim


_FIRST = _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_SECOND = _Files("memory.max", "memory.current", "inactive_file")
_NO_LIMIT = 2**60  # bytes: the first version writes a large number for it, the second a word


@cache
def _control_groups(system: Path = Path("/")) -> list[tuple[Path, _Files]]:
    """Return the folders of the control groups that this process is in; all limits apply."""
    try:
        lines = (system / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # not Linux
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        root, files = system / "sys/fs/cgroup", _SECOND
        if controllers:
            root, files = root / "memory", _FIRST
        if controllers and "memory" not in controllers.split(","):
            continue
        inner = PurePosixPath(path.lstrip("/"))
        # A container may list the path as its host sees it, with its own group at the root.
        folders = [root / relative for relative in (inner, *inner.parents)]
        found += [(folder, files) for folder in folders if (folder / files.limit).exists()]
    return found


def _left(folder: Path, files: _Files) -> int:
    """Return how many bytes a control group may still use."""
    try:
        limit = (folder / files.limit).read_text().strip()
        if limit == "max" or int(limit) >= _NO_LIMIT:
            return sys.maxsize
        lines = (folder / "memory.stat").read_text().splitlines()
        cached = next((line.split()[1] for line in lines if line.startswith(files.cached)), 0)
        return int(limit) - int((folder / files.used).read_text()) + int(cached)
    except OSError:  # not readable
        return sys.maxsize
