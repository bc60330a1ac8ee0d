"""Summaries of single columns: type, values, and columns with the same values."""

from __future__ import annotations

from typing import Any

import numpy as np

from lorenyi.data.columns import Column
from lorenyi.report.pictures import ends, levels
from lorenyi.report.wording import percent

SPARKS = "▁▂▃▄▅▆▇█"
LISTED = 30  # characters of the main categories; where three take more, two are named
SPARKED = 12  # characters of a distribution in a terminal


def varies(column: Column) -> bool:
    """Return whether a column has two distinct values."""
    values = column.values[~column.gaps]
    return len(values) > 1 and bool(np.any(values != values[0]))


def kind_of(column: Column) -> str:
    """Return the type of a column in words."""
    if column.kind == "time":
        return "date"
    return "category" if column.categorical else "number"


def _is_category(words: str) -> bool:
    return words.startswith("category")


def distinct(column: Column) -> int:
    """Return the number of distinct values."""
    return len(np.unique(column.values[~column.gaps]))


def drawn(column: Column, kind: str) -> str:
    """Return a distribution in a dozen characters, with its range; or the main categories."""
    if not (~column.gaps).any():
        return ""
    if _is_category(kind):
        names, counts = levels(column)
        total = max(sum(counts), 1)
        shown = [f"{n[:12]} {percent(c / total)}" for n, c in zip(names, counts, strict=True)]
        most = 3 if len(", ".join(shown[:3])) <= LISTED else 2
        return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
    values = column.numbers()[~column.gaps]
    values = values[np.isfinite(values)]
    if not len(values):
        return ""
    heights, edges = np.histogram(values, bins=SPARKED)
    top = max(int(heights.max()), 1)
    bars = "".join(" " if not h else SPARKS[min(int(8 * h / top), 7)] for h in heights)
    low, high = ends(column, edges[0], edges[-1])
    return f"{low} {bars} {high}"


def statistics(column: Column, kind: str) -> dict[str, Any]:
    """Return summary statistics of a column."""
    found: dict[str, Any] = {
        "kind": kind,
        "missing": int(column.gaps.sum()),
        "distinct": distinct(column),
    }
    present = ~column.gaps
    if _is_category(kind):
        names, counts = levels(column)
        return found | {"levels": dict(zip(names, counts, strict=True))}
    values = column.numbers()[present]
    if not len(values):
        return found
    quantiles = np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0])
    names = ["min", "quartile1", "median", "quartile3", "max"]
    numbers = dict(zip(names, quantiles.tolist(), strict=True))
    numbers |= {"mean": float(values.mean()), "deviation": float(values.std())}
    if column.kind == "time":
        return found | dict(zip(("min", "max"), ends(column, *quantiles[[0, -1]]), strict=True))
    return found | numbers


def repeats(typed: dict[str, Column]) -> list[list[str]]:
    """Return groups of columns that are equal up to shift and scale, or up to names."""
    groups: dict[tuple[bytes, ...], list[str]] = {}
    for name, column in typed.items():
        if varies(column):
            groups.setdefault((column.gaps.tobytes(), _content(column)), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _content(column: Column) -> bytes:
    present = ~column.gaps
    if column.categorical:
        codes = column.codes()[present]
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[inverse].tobytes()
    values = column.numbers()[present]
    spread = float(values.std())
    values = (values - values.mean()) / spread if np.isfinite(spread) and spread else values
    sign = np.sign(values[np.argmax(np.abs(values) > 1e-6)])
    return bytes((np.round(sign * values, 6) + 0.0).tobytes())
