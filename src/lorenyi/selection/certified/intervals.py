"""Arrays of intervals, so that a criterion written once is certified by its own formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from lorenyi.estimate import Estimate


class Intervals:
    """An array of numbers known to lie between `low` and `high`.

    It has the arithmetic and the reductions that criteria are written with; each result contains
    every number that the exact operands could give.

    Parameters
    ----------
    low, high : array
        Ends, of one shape.

    Examples
    --------
    >>> from lorenyi.selection.certified.intervals import Intervals
    >>> x = Intervals([0.0, 1.0], [0.5, 1.0])
    >>> (1 - 2 * x).sum()
    Intervals([-1.], [0.])
    """

    __array_ufunc__ = None  # NumPy leaves `array - intervals` to __rsub__

    def __init__(self, low: Any, high: Any) -> None:
        self.low = np.asarray(low, dtype=np.float64)
        self.high = np.asarray(high, dtype=np.float64)

    @classmethod
    def of(cls, x: Any) -> Intervals:
        """Return x as intervals: a number or an array has no width."""
        if isinstance(x, cls):
            return x
        if isinstance(x, Estimate):
            return cls(x.low, x.high)
        return cls(x, x)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of both ends."""
        return self.low.shape

    @property
    def value(self) -> np.ndarray:
        """The middle."""
        return np.asarray(0.5 * (self.low + self.high))

    @property
    def width(self) -> np.ndarray:
        """Length of each interval."""
        return np.asarray(self.high - self.low)

    def __len__(self) -> int:
        """Length of the first axis."""
        return len(self.low)

    def __repr__(self) -> str:
        """Show both ends."""
        return f"Intervals({np.atleast_1d(self.low)}, {np.atleast_1d(self.high)})"

    def __getitem__(self, index: Any) -> Intervals:
        """Return part of the array."""
        return Intervals(self.low[index], self.high[index])

    def __neg__(self) -> Intervals:
        """Mirror at zero."""
        return Intervals(-self.high, -self.low)

    def __add__(self, other: Any) -> Intervals:
        """Add."""
        other = Intervals.of(other)
        return Intervals(self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Intervals:
        """Subtract."""
        return self + (-Intervals.of(other))

    def __rsub__(self, other: Any) -> Intervals:
        """Subtract from a number or an array."""
        return Intervals.of(other) + (-self)

    def __mul__(self, other: Any) -> Intervals:
        """Multiply."""
        other = Intervals.of(other)
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Intervals(np.minimum.reduce(corners), np.maximum.reduce(corners))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Intervals:
        """Divide; by an interval around zero anything can come out, and 0/0 is 0."""
        other = Intervals.of(other)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = 1.0 / other.low, 1.0 / other.high
            quotient = self * Intervals(np.minimum(low, high), np.maximum(low, high))
        open_ = (other.low <= 0) & (other.high >= 0)
        zero = (self.low == 0) & (self.high == 0)
        return Intervals(
            np.where(zero, 0.0, np.where(open_, -np.inf, quotient.low)),
            np.where(zero, 0.0, np.where(open_, np.inf, quotient.high)),
        )

    def __rtruediv__(self, other: Any) -> Intervals:
        """Divide a number or an array."""
        return Intervals.of(other) / self

    def sum(self, axis: int | None = None) -> Intervals:
        """Sum along an axis."""
        return Intervals(self.low.sum(axis=axis), self.high.sum(axis=axis))

    def mean(self, axis: int | None = None) -> Intervals:
        """Average along an axis."""
        return Intervals(self.low.mean(axis=axis), self.high.mean(axis=axis))

    def min(self, axis: int | None = None) -> Intervals:
        """Smallest along an axis."""
        return Intervals(self.low.min(axis=axis), self.high.min(axis=axis))

    def max(self, axis: int | None = None) -> Intervals:
        """Largest along an axis."""
        return Intervals(self.low.max(axis=axis), self.high.max(axis=axis))


def stack(columns: list[Any]) -> Any:
    """Put one-dimensional arrays, or intervals, side by side as columns."""
    if any(isinstance(column, Intervals) for column in columns):
        parts = [Intervals.of(column) for column in columns]
        return Intervals(
            np.stack([p.low for p in parts], axis=1), np.stack([p.high for p in parts], axis=1)
        )
    return np.stack(columns, axis=1)


def positive(x: Any) -> Any:
    """Return max(x, 0), number by number."""
    if isinstance(x, Intervals):
        return Intervals(np.maximum(x.low, 0.0), np.maximum(x.high, 0.0))
    return np.maximum(x, 0.0)


def ratio(a: Any, b: Any) -> Any:
    """Return a / b, with 0 where both are zero."""
    if isinstance(a, Intervals) or isinstance(b, Intervals):
        return Intervals.of(a) / Intervals.of(b)
    return np.divide(a, b, out=np.zeros_like(b), where=b > 0)
