"""Arrays of intervals, so that a criterion written once is certified by its own formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lorenyi.estimate import Estimate


class Intervals:
    """An array of numbers between `low` and `high`, most likely `value`.

    It has the arithmetic and the reductions that criteria are written with. The ends of a result
    contain whatever exact operands could give; its value is the formula of their values.

    Parameters
    ----------
    low, high : array
        Lower and upper bounds, of one shape.
    value : array, optional
        The most likely value, NaN where there is none; the middle by default.

    Examples
    --------
    >>> from lorenyi.intervals import Intervals
    >>> x = Intervals([0.0, 1.0], [0.5, 1.0])
    >>> (1 - 2 * x).sum()
    Intervals([-1.], [0.])
    """

    __array_ufunc__ = None  # NumPy leaves `array - intervals` to __rsub__

    def __init__(self, low: Any, high: Any, value: Any = None) -> None:
        self.low = np.asarray(low, dtype=np.float64)
        self.high = np.asarray(high, dtype=np.float64)
        middle = 0.5 * (self.low + self.high) if value is None else value
        self.value = np.asarray(middle, dtype=np.float64)

    @classmethod
    def of(cls, x: Any) -> Intervals:
        """Return x as intervals: a number or an array has no width."""
        if isinstance(x, cls):
            return x
        if isinstance(x, Estimate):
            return cls(x.low, x.high, float(x))
        return cls(x, x, x)

    @property
    def width(self) -> np.ndarray:
        """Length of each interval."""
        return np.asarray(self.high - self.low)

    def __len__(self) -> int:
        return len(self.low)

    def __repr__(self) -> str:
        return f"Intervals({np.atleast_1d(self.low)}, {np.atleast_1d(self.high)})"

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> Intervals:
        """Apply an increasing function to both ends and to the value."""
        return Intervals(function(self.low), function(self.high), function(self.value))

    def __getitem__(self, index: Any) -> Intervals:
        return self.map(lambda x: x[index])

    def put(self, index: np.ndarray, other: Intervals) -> None:
        """Replace part of the array."""
        self.low[index], self.high[index], self.value[index] = other.low, other.high, other.value

    def __neg__(self) -> Intervals:
        return Intervals(-self.high, -self.low, -self.value)

    def __add__(self, other: Any) -> Intervals:
        other = Intervals.of(other)
        return Intervals(self.low + other.low, self.high + other.high, self.value + other.value)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Intervals:
        return self + (-Intervals.of(other))

    def __rsub__(self, other: Any) -> Intervals:
        return Intervals.of(other) + (-self)

    def __mul__(self, other: Any) -> Intervals:
        other = Intervals.of(other)
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        ends = np.minimum.reduce(corners), np.maximum.reduce(corners)
        return Intervals(*ends, self.value * other.value)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Intervals:
        """Divide; by an interval around zero anything can come out, and 0/0 is 0."""
        other = Intervals.of(other)
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = self * Intervals(1.0 / other.high, 1.0 / other.low, 1.0 / other.value)
        open_ = (other.low <= 0) & (other.high >= 0)
        zero = (self.low == 0) & (self.high == 0)
        return Intervals(
            np.where(zero, 0.0, np.where(open_, -np.inf, quotient.low)),
            np.where(zero, 0.0, np.where(open_, np.inf, quotient.high)),
            np.where(zero, 0.0, quotient.value),
        )

    def __rtruediv__(self, other: Any) -> Intervals:
        return Intervals.of(other) / self

    def sum(self, axis: int | None = None) -> Intervals:
        """Sum along an axis."""
        return self.map(lambda x: x.sum(axis=axis))

    def mean(self, axis: int | None = None) -> Intervals:
        """Average along an axis."""
        return self.map(lambda x: x.mean(axis=axis))

    def min(self, axis: int | None = None) -> Intervals:
        """Smallest along an axis."""
        return self.map(lambda x: x.min(axis=axis))

    def max(self, axis: int | None = None) -> Intervals:
        """Largest along an axis."""
        return self.map(lambda x: x.max(axis=axis))


def stack(columns: list[Any]) -> Any:
    """Put one-dimensional arrays, or intervals, side by side as columns."""
    if not any(isinstance(column, Intervals) for column in columns):
        return np.stack(columns, axis=1)
    parts = [Intervals.of(column) for column in columns]
    ends = [[p.low for p in parts], [p.high for p in parts], [p.value for p in parts]]
    return Intervals(*(np.stack(end, axis=1) for end in ends))


def positive(x: Any) -> Any:
    """Return max(x, 0), number by number."""
    return x.map(positive) if isinstance(x, Intervals) else np.maximum(x, 0.0)


def ratio(a: Any, b: Any) -> Any:
    """Return a / b, with 0 where both are zero."""
    if isinstance(a, Intervals) or isinstance(b, Intervals):
        return Intervals.of(a) / Intervals.of(b)
    return np.divide(a, b, out=np.zeros_like(b), where=b > 0)
