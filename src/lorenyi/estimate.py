"""Amounts of information: `Bits`, a float that names its kernels, and `Estimate`, with bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

from lorenyi import _html


class Bits(float):
    """An amount of information: a float that remembers what it was measured on.

    Sums and differences of two keep both memories, so the result of a measure can name the
    kernels it used.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"])
    1.0 bits (x: Delta(), y: Delta())
    """

    about: tuple[str, ...]
    __array_priority__ = -1.0  # above NumPy's scalars, which leave arithmetic to us, below arrays

    def __new__(cls, value: float, about: tuple[str, ...] = ()) -> Bits:
        """Make a value with what it is about."""
        self = super().__new__(cls, value)
        self.about = about
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Tell pickle how to make it again."""
        return float(self), self.about

    def __repr__(self) -> str:
        """Show the value in bits and the kernels."""
        return self._short() + (f" ({', '.join(self.about)})" if self.about else "")

    def _repr_html_(self) -> str:
        """Show the value in notebooks, the kernels below it."""
        return _html.shown(self._short(), [("kernel", kernel) for kernel in self.about])

    def _short(self) -> str:
        return f"{float(self):.6g} bits" if float(self) % 1 else f"{float(self)} bits"

    def __str__(self) -> str:
        """Show the number alone."""
        return float.__repr__(self)

    def __add__(self, other: Any) -> Any:
        """Add; two amounts remember both."""
        if not isinstance(other, Real):
            return NotImplemented
        return Bits(float(self) + float(other), _both(self, other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """Subtract; two amounts remember both."""
        if not isinstance(other, Real):
            return NotImplemented
        return Bits(float(self) - float(other), _both(self, other))

    def __rsub__(self, other: Any) -> Any:
        """Subtract from a number."""
        return -self + other

    def __neg__(self) -> Bits:
        """Return the negative amount."""
        return Bits(-float(self), self.about)


def _both(a: Any, b: Any) -> tuple[str, ...]:
    """Join what two amounts are about, each name once."""
    names = (*getattr(a, "about", ()), *getattr(b, "about", ()))
    return tuple(dict.fromkeys(names))


def _at_least(failure: float) -> str:
    """Show a probability with one digit, rounded up."""
    shown = float(f"{failure:.1g}")
    return f"{shown if shown >= failure else shown + 10.0 ** math.floor(math.log10(failure)):.1g}"


class Estimate(Bits):
    """An amount of information with a certified interval around it.

    The interval bounds the computation, not the sampling: it contains the value that an exact
    decomposition would give for these data. Arithmetic follows the rules of intervals, so a
    measure's formula carries it through.

    Parameters
    ----------
    low, value, high : float
        The interval and a value in it.
    failure : float
        Probability, over the solver's own random draws, that the interval misses; 0 if it is
        proven. Adds up over the terms of a measure.
    about : tuple of str
        The kernels.
    unit : str
        What it counts.

    Examples
    --------
    >>> import lorenyi as lr
    >>> a, b = lr.Estimate(1.0, 1.5, 2.0), lr.Estimate(0.25, 0.5, 0.75)
    >>> a - b
    1.00 bits [0.25, 1.75] (proven)
    >>> float(a - b)
    1.0
    """

    low: float
    high: float
    failure: float
    unit: str

    def __new__(
        cls,
        low: float,
        value: float,
        high: float,
        *,
        failure: float = 0.0,
        about: tuple[str, ...] = (),
        unit: str = "bits",
    ) -> Estimate:
        """Make a value with its interval."""
        if not low <= value <= high:
            raise ValueError(f"low <= value <= high does not hold: {low}, {value}, {high}")
        self = float.__new__(cls, value)
        self.low, self.high, self.failure = float(low), float(high), float(failure)
        self.about, self.unit = about, unit
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Tell pickle how to make it again."""
        extra = {"failure": self.failure, "about": self.about, "unit": self.unit}
        return (self.low, float(self), self.high), extra

    @property
    def value(self) -> float:
        """The value, as `float()` gives it."""
        return float(self)

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low

    def __contains__(self, x: float) -> bool:
        """Tell whether x lies in the interval."""
        return self.low <= float(x) <= self.high

    def __repr__(self) -> str:
        """Show the interval, of which kind it is, and the kernels."""
        return f"{self!s} ({'; '.join([self._kind(), *self.about])})"

    def __str__(self) -> str:
        """Show the value and its interval, with as many digits as that justifies."""
        digits = min(max(-math.floor(math.log10(self.width)), 2), 12) if self.width > 0 else 12
        scale = 10.0**digits
        low = math.floor(self.low * scale) / scale
        high = math.ceil(self.high * scale) / scale
        unit = f" {self.unit}" if self.unit else ""
        return f"{float(self):.{digits}f}{unit} [{low:.{digits}f}, {high:.{digits}f}]"

    def _repr_html_(self) -> str:
        """Show the interval in notebooks, with the value between its ends."""
        rows = [("interval", self._kind()), *(("kernel", kernel) for kernel in self.about)]
        return _html.shown(str(self), rows, _html.interval(self.low, float(self), self.high))

    def _kind(self) -> str:
        return f"fails with p <= {_at_least(self.failure)}" if self.failure else "proven"

    def _combine(
        self, other: Any, operation: Callable[[float, float], float], unit: str | None = None
    ) -> Any:
        """Apply an operation, monotone in each argument, to both ends."""
        if not isinstance(other, Real):
            return NotImplemented
        ends = (other.low, other.high) if isinstance(other, Estimate) else (float(other),) * 2
        corners = [operation(a, b) for a in (self.low, self.high) for b in ends]
        value = operation(float(self), float(other))
        return Estimate(
            min(*corners, value),
            value,
            max(*corners, value),
            failure=self.failure + getattr(other, "failure", 0.0),
            about=_both(self, other),
            unit=self.unit if unit is None else unit,
        )

    def __add__(self, other: Any) -> Any:
        """Add intervals."""
        return self._combine(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """Subtract intervals."""
        return self._combine(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        """Subtract from a number."""
        return self._combine(other, lambda a, b: b - a)

    def __neg__(self) -> Estimate:
        """Return the negative interval."""
        return -1.0 * self  # type: ignore[no-any-return]

    def __mul__(self, other: Any) -> Any:
        """Multiply intervals."""
        return self._combine(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        """Divide by an interval that does not contain zero."""
        low, high = (other.low, other.high) if isinstance(other, Estimate) else (other, other)
        if isinstance(other, Real) and low <= 0 <= high:
            raise ZeroDivisionError(f"division by an interval that contains 0: {other!r}")
        unit = "" if isinstance(other, Estimate) else None
        return self._combine(other, lambda a, b: a / b, unit)

    def __rtruediv__(self, other: Any) -> Any:
        """Divide a number by an interval that does not contain zero."""
        if self.low <= 0 <= self.high:
            raise ZeroDivisionError(f"division by an interval that contains 0: {self!r}")
        return self._combine(other, lambda a, b: b / a, "")

    def __pow__(self, exponent: Any, modulo: None = None) -> Any:
        """Raise a positive interval to a power."""
        if self.low < 0:
            raise ValueError(f"a power of an interval with negative numbers: {self!r}")
        return self._combine(exponent, lambda a, b: float(a**b), "")

    def __rpow__(self, base: Any, modulo: None = None) -> Any:
        """Raise a number to this power, as for 2^S."""
        return self._combine(base, lambda a, b: float(b**a), "")
