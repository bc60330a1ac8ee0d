"""Numbers and names in the sentences of reports."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def listed(names: Sequence[str], most: int = 8) -> str:
    """Join names: a, b and c; or a, b, ... and 7 more.

    Examples
    --------
    >>> from lorenyi.report.wording import listed
    >>> listed(["a", "b", "c"]), listed("abcdef", 3)
    ('a, b and c', 'a, b, c and 3 more')
    >>> print(listed(["town, state", "price"]))
    'town, state' and price
    """
    names = [f"'{name}'" if ", " in name else name for name in names]
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def counted(number: int, what: str) -> str:
    """Return a number with its noun: 1 row, 2 rows."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Format a share; one that is not 0 or 1 is not rounded to it."""
    if 0 < share < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def bits(value: float) -> str:
    """Format bits with three digits after the point, without a sign for a rounded zero."""
    return f"{round(float(value), 3) + 0.0:.3f}"


def at_order(alpha: float) -> str:
    """Name the order of an entropy if it is not 1, the default."""
    return "" if alpha == 1 else f" (order {alpha:g})"


def with_error(value: float, error: float) -> str:
    """Format bits with their standard error, if it is known."""
    return bits(value) if not np.isfinite(error) else f"{bits(value)} ± {bits(error)}"
