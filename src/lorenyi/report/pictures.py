"""Small pictures of columns: their distributions, alone or against a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from lorenyi.data.columns import Column

BINS = 24  # of a histogram
LEVELS = 6  # categories that are shown; the others count as one
CLASSES = 5  # classes with their own color
DOTS = 300  # rows of a scatter plot
WINDOWS = 12  # along a smoothed line

Picture = dict[str, Any]


def distribution(column: Column) -> Picture:
    """Return the histogram of numbers, or the shares of categories."""
    present = ~column.gaps
    if column.categorical:
        names, counts = levels(column)
        total = max(int(present.sum()), 1)
        return {"levels": [[n, c / total] for n, c in zip(names, counts, strict=True)]}
    values = column.numbers()[present]
    values = values[np.isfinite(values)]
    if not len(values):
        return {"bars": []}
    heights, edges = np.histogram(values, bins=BINS)
    return {"bars": heights.tolist(), "ends": ends(column, edges[0], edges[-1])}


def ends(column: Column, low: float, high: float) -> list[str]:
    """Return the ends of a column's range as text: dates as dates."""
    if column.kind == "time":
        return [str(np.datetime64(int(np.floor(day)), "D")) for day in (low, high)]
    return [short_number(low), short_number(high)]


def short_number(value: float) -> str:
    """Return a number in a few characters."""
    if 10_000 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    return f"{value:.0f}" if 1000 <= abs(value) < 10_000 else f"{value:.4g}"  # as in years


def levels(column: Column) -> tuple[list[str], list[int]]:
    """Return the most frequent categories and how often they occur, the others as one."""
    values = column.values[~column.gaps]
    found, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    names = [level_name(found[i]) for i in order]
    sizes = [int(counts[i]) for i in order]
    if len(names) > LEVELS:
        left = len(names) - LEVELS + 1
        names = [*names[: LEVELS - 1], f"{left} others"]
        sizes = [*sizes[: LEVELS - 1], sum(sizes[LEVELS - 1 :])]
    return names, sizes


def level_name(value: Any) -> str:
    """Return a category as text; whole numbers without a point."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def against(column: Column, target: Column, labels: bool, seed: int = 0) -> Picture:
    """Return a column's distribution in each class, or a target's mean along the column.

    Parameters
    ----------
    column, target : Column
        On the same rows.
    labels : bool
        Whether the target holds classes.
    seed : int
        Of the rows of a scatter plot.
    """
    rows = ~(column.gaps | target.gaps)
    if labels:
        return _by_class(column, target, rows)
    y = target.numbers()[rows]
    if column.categorical:
        return _means(column, y, rows)
    return _smoothed(column, rows, y, seed)


def _classes(target: Column, rows: np.ndarray) -> tuple[list[str], list[np.ndarray]]:
    """Return the most frequent classes, and the rows of each; the others are one."""
    values = target.values[rows]
    found, counts = np.unique(values, return_counts=True)
    order = sorted(np.argsort(-counts, kind="stable")[:CLASSES].tolist())
    if len(found) > CLASSES:
        order = order[: CLASSES - 1]
    masks = [values == found[i] for i in order]
    names = [level_name(found[i]) for i in order]
    if len(found) > len(order):
        masks.append(~np.any(masks, axis=0))
        names.append(f"{len(found) - len(order)} others")
    return names, masks


def _by_class(column: Column, target: Column, rows: np.ndarray) -> Picture:
    names, masks = _classes(target, rows)
    if column.categorical:
        shown, _ = levels(column)
        words = np.array([level_name(v) for v in column.values[rows]])
        known = [words == name for name in shown]
        if len(np.unique(words)) > LEVELS:
            known[-1] = ~np.any(known[:-1], axis=0)
        shares = [[float(np.mean(m[k])) if k.any() else 0.0 for m in masks] for k in known]
        return {"classes": names, "levels": [[n, s] for n, s in zip(shown, shares, strict=True)]}
    values = column.numbers()[rows]
    low, high = np.quantile(values, [0.005, 0.995])
    if not high > low:
        low, high = float(values.min()), float(values.max()) or 1.0
    series = []
    for mask in masks:
        counts, _ = np.histogram(np.clip(values[mask], low, high), bins=BINS, range=(low, high))
        series.append([float(v) for v in _softened(counts / max(int(mask.sum()), 1))])
    return {"classes": names, "densities": series, "ends": ends(column, low, high)}


def _softened(shares: np.ndarray) -> np.ndarray:
    """Average neighboring bins, so that lines are smooth."""
    padded = np.pad(shares, 2)
    kernel = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0
    return np.convolve(padded, kernel, mode="valid")


def _means(column: Column, y: np.ndarray, rows: np.ndarray) -> Picture:
    shown, _ = levels(column)
    words = np.array([level_name(v) for v in column.values[rows]])
    means = [[n, float(y[words == n].mean())] for n in shown if np.any(words == n)]
    return {"means": means, "range": [float(y.min()), float(y.max())]}


def _smoothed(column: Column, chosen: np.ndarray, y: np.ndarray, seed: int) -> Picture:
    """Return some rows, and the mean of y in windows of equally many rows along the column."""
    x = column.numbers()[chosen]
    order = np.argsort(x, kind="stable")
    parts = [p for p in np.array_split(order, min(WINDOWS, max(len(x) // 8, 2))) if len(p)]
    line = [[float(np.median(x[p])), float(y[p].mean())] for p in parts]
    rows = np.random.default_rng(seed).permutation(len(x))[:DOTS]
    dots = [[float(x[i]), float(y[i])] for i in rows]
    return {"dots": dots, "line": line, "ends": ends(column, float(x.min()), float(x.max()))}
