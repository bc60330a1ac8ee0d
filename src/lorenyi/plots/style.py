"""Common style of all plots: one palette, and names that stay readable when there are many.

The colors are those of the report pages. Blue and orange differ for color-blind readers too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lorenyi._display import MAIN, SECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from numpy.typing import ArrayLike

ACCENT = "#d98a00"
INK, SOFT, PALE = "#1d2430", "#5a6473", "#f3f6fa"
SERIES = (MAIN, SECOND, "#2f7d55", "#7a4b9e", ACCENT, SOFT)  # of lines, in this order

MAX_NAME = 28  # characters of a label; longer names lose their middle
LARGEST, SMALLEST = 10.0, 5.0  # points of a label
MAP_PART = 0.6  # share of the axes that a map covers, beside names and scales
SLANTED_FROM = 15.0  # points between two names; below it they are vertical


def series(i: int) -> str:
    """Return the color of the i-th line; colors repeat after the last."""
    return SERIES[i % len(SERIES)]


def shades() -> Colormap:
    """Return the color map of nonnegative amounts: from nearly white to dark blue."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("lorenyi", [PALE, "#8fb8dc", MAIN, "#072f55"])


def signed_shades(low: float, high: float) -> Colormap:
    """Return the colors of amounts from low < 0 to high: orange below 0, pale at 0, blue above."""
    from matplotlib.colors import LinearSegmentedColormap

    both = LinearSegmentedColormap.from_list("lorenyi_signed", [SECOND, PALE, MAIN], N=1024)
    most = max(-low, high)
    part = 0.5 + 0.5 * np.linspace(low, high, 256) / most
    return LinearSegmentedColormap.from_list("lorenyi_signed", both(part))


def amounts(values: ArrayLike, most: float | None = None) -> dict[str, Any]:
    """Return colors and limits of an image: from 0, or from the least where some are negative.

    `most` is the largest possible value, where there is one: the largest found by default.
    Negative values within rounding of zero count as zero.
    """
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    low = float(finite.min(initial=0.0))
    high = float(finite.max(initial=0.0)) if most is None else most
    if low < -1e-9 * max(high, 1.0):
        return {"cmap": signed_shades(low, high), "vmin": low, "vmax": high}
    return {"cmap": shades(), "vmin": 0.0, "vmax": high or 1.0}


def write_names(
    ax: Axes, side: Literal["x", "y"], places: ArrayLike, names: Sequence[str], span: float
) -> None:
    """Write names along an axis, small and vertical if there are many.

    `span` is the length of the axis in its own units; the size of the figure determines how many
    points one unit has.
    """
    room = _points(ax, side) / max(span, 1.0)
    size = float(np.clip(0.8 * room, SMALLEST, LARGEST))
    short = [shortened(name) for name in names]
    if side == "y":
        ax.set_yticks(np.asarray(places), short, fontsize=size)
    elif room < SLANTED_FROM:
        ax.set_xticks(np.asarray(places), short, fontsize=size, rotation=90)
    else:
        slant: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        ax.set_xticks(np.asarray(places), short, fontsize=size, **slant)


def write_names_of_map(
    ax: Axes, x: ArrayLike, x_names: Sequence[str], y_names: Sequence[str]
) -> None:
    """Write names along both axes of a square map, whose rows are numbered from 0."""
    span = len(x_names) / MAP_PART
    write_names(ax, "x", x, x_names, span)
    write_names(ax, "y", np.arange(len(y_names)), y_names, span)


def shortened(name: str) -> str:
    """Return a name that fits: an ellipsis replaces the middle of a long one."""
    if len(name) <= MAX_NAME:
        return name
    half = (MAX_NAME - 1) // 2
    return f"{name[: MAX_NAME - 1 - half]}…{name[-half:]}"


def _points(ax: Axes, side: Literal["x", "y"]) -> float:
    """Return the length of an axis in points (1/72 inch), before labels are subtracted."""
    box = ax.get_window_extent()
    pixels = box.width if side == "x" else box.height
    figure = ax.figure.get_figure(root=True)
    return float(72 * pixels / (figure.dpi if figure is not None else 100.0))
