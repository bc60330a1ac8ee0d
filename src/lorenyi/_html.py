"""Small pieces of HTML for notebooks: every text is escaped, colors are those of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

HEIGHT = 36  # pixels of a row of bars
STEP = 7  # pixels from one bar to the next


def shown(title: str, rows: Sequence[tuple[str, str]] = (), picture: str = "") -> str:
    """Return a title with a picture below it, and a list of names and values.

    Examples
    --------
    >>> from lorenyi._html import shown
    >>> shown("a < b")
    '<div><b>a &lt; b</b></div>'
    """
    lines = "".join(
        f'<div><span style="opacity:.65">{escape(name)}</span> {escape(value)}</div>'
        for name, value in rows
    )
    return f"<div><b>{escape(title)}</b>{picture}{lines}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a head."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><tr>{names}</tr>{lines}</table>"


def bars(values: Sequence[float]) -> str:
    """Return values that are not negative as a row of bars."""
    top = max([*values, 1e-300])
    sizes = [max(HEIGHT * v / top, 0.5) for v in values]
    drawn = "".join(
        f'<rect x="{STEP * i}" y="{HEIGHT - size:.1f}" width="{STEP - 1}" height="{size:.1f}"/>'
        for i, size in enumerate(sizes)
    )
    return _svg(STEP * len(values), HEIGHT, drawn)


def interval(low: float, value: float, high: float) -> str:
    """Return an interval as a line between two ends, with the value on it."""
    at = 4 + 112 * (value - low) / (high - low) if high > low else 60
    drawn = (
        '<path d="M4 2V14M4 8H116M116 2V14" fill="none" stroke="currentColor" opacity=".6"/>'
        f'<circle cx="{at:.1f}" cy="8" r="4"/>'
    )
    return _svg(120, 16, drawn)


def _svg(width: int, height: int, drawn: str) -> str:
    style = "display:block;margin:4px 0"
    return (
        f'<svg width="{width}" height="{height}" style="{style}" fill="currentColor" '
        f'role="presentation">{drawn}</svg>'
    )
