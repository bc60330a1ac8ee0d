"""Fewer rows, as long as the case fails in the same way."""

import numpy as np

from fuzz.check import judge


def shrunk(case, outcome, most=200):
    """Return the case with rows left out, failing for the same cause; try at most so often."""
    tries, size = 0, len(case) // 2
    while size >= 1 and tries < most:
        start, progress = 0, False
        while start < len(case) and tries < most and len(case) - size >= 2:
            index = np.r_[0:start, min(start + size, len(case)) : len(case)]
            tries += 1
            if len(index) >= 2 and _fails(case.take(index), outcome):
                case, progress = case.take(index), True
            else:
                start += size
        size = size if progress and size == 1 else size // 2
    return case


def _fails(case, outcome):
    try:
        found = judge(case, 5.0)
    except Exception:
        return False
    return found.status == "failed" and found.cause == outcome.cause
