"""`Estimate`: an amount of information, with the errors of sampling and of computing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np

from lorenyi import _html

MAX_DIGITS = 10  # after the point of an amount without standard error: smaller ones are rounding

# The table that was sampled: its number of rows (tables of equal length are taken to be the same)
# or a name, and its number of points.
Rows: TypeAlias = tuple[int | str, float]


@dataclass(frozen=True, eq=False)
class Influence:
    """The influence of each row on a value: its first derivative in the weight of that row.

    The mean over the rows is zero, and the standard error of the value is the root mean square
    divided by the root of the number of points. Influences of values on the same rows are added
    with the signs of a formula, so covariances are included. Values on other rows are taken as
    independent.

    Parameters
    ----------
    parts : mapping
        From (number of rows, number of points) to the influences of these rows, or of some of them.
    weights : mapping
        From the same to frequencies of these rows, where they are not equal.
    """

    parts: Mapping[Rows, np.ndarray]
    weights: Mapping[Rows, np.ndarray]

    @classmethod
    def of(cls, values: np.ndarray, rows: Rows, weights: np.ndarray | None = None) -> Influence:
        """Return the influences of the rows of one table, centered."""
        mean = float(np.average(values, weights=weights))
        return cls({rows: values - mean}, {} if weights is None else {rows: weights})

    def __mul__(self, factor: float) -> Influence:
        """Scale."""
        return Influence({rows: factor * v for rows, v in self.parts.items()}, self.weights)

    __rmul__ = __mul__

    def __add__(self, other: Influence) -> Influence:
        """Add, row by row where the rows are the same."""
        parts = dict(self.parts)
        for rows, values in other.parts.items():
            parts[rows] = parts[rows] + values if rows in parts else values
        return Influence(parts, {**self.weights, **other.weights})

    @property
    def standard_error(self) -> float:
        """Root of the summed variances of the tables' means."""
        total = 0.0
        for rows, values in self.parts.items():
            mean_square = float(np.average(values**2, weights=self.weights.get(rows)))
            total += mean_square / max(rows[1] - 1.0, 1.0)
        return math.sqrt(total)


class Estimate(float):
    """An amount of information: a float with its errors and its kernels.

    Two errors are kept apart. The *standard error* measures sampling: how far the value is from
    that of the population, to first order and without bias. The *computing error* is how far the
    value is from the exact one of these rows: an estimate, or, where it was certified, bounds that
    contain the exact value. Sums, differences, products, quotients and powers propagate both, with
    the covariance of values measured on the same rows.

    Parameters
    ----------
    value : float
    influence : Influence, optional
        Of each row; the standard error follows from it.
    computing_error : float, optional
        Estimated distance to the exact value; None where it is not known.
    bounds : pair of float, optional
        Certified lower and upper bound of the exact value.
    failure : float
        Probability, over the solver's random draws, that the bounds do not hold; 0 if proven.
    about : tuple of str
        The kernels.
    unit : str
        "bits", or empty for a number without unit.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> x = np.linspace(-1.0, 1.0, 400)
    >>> square, sign = lr.mutual_information(x, x**2), lr.mutual_information(x, x > 0)
    >>> sign - square
    0.125 ± 0.031 bits (x: Gaussian(sigma=0.5915), y: Delta(), y: Gaussian(sigma=0.2813))
    """

    influence: Influence | None
    computing_error: float | None
    bounds: tuple[float, float] | None
    failure: float
    about: tuple[str, ...]
    unit: str
    __array_priority__ = -1.0  # above NumPy's scalars, which then defer to us, below arrays

    def __new__(
        cls,
        value: float,
        *,
        influence: Influence | None = None,
        computing_error: float | None = None,
        bounds: tuple[float, float] | None = None,
        failure: float = 0.0,
        about: tuple[str, ...] = (),
        unit: str = "bits",
    ) -> Estimate:
        """Make a value with its errors."""
        if bounds is not None and not bounds[0] <= value <= bounds[1]:
            raise ValueError(f"bounds={bounds!r} do not contain the value {value!r}")
        self = super().__new__(cls, value)
        self.influence, self.computing_error = influence, computing_error
        self.bounds = None if bounds is None else (float(bounds[0]), float(bounds[1]))
        self.failure, self.about, self.unit = float(failure), about, unit
        return self

    @classmethod
    def within(cls, low: float, value: float, high: float, **fields: Any) -> Estimate:
        """Make a value with certified bounds."""
        error = max(high - value, value - low)
        return cls(value, bounds=(low, high), computing_error=error, **fields)

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, Any]]:
        """Return how to unpickle it."""
        return (float(self),), dict(vars(self))

    # ------------------------------------------------------------------ the two errors

    @property
    def value(self) -> float:
        """The value, as `float()` gives it."""
        return float(self)

    @property
    def standard_error(self) -> float:
        """The standard error of sampling; NaN where it is not known."""
        return math.nan if self.influence is None else self.influence.standard_error

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of sampling: value +- quantile x standard error.

        It does not correct the bias of the value, which for mutual information is upward.

        Parameters
        ----------
        level : float
            Nominal coverage, between 0 and 1.
        """
        if not 0 < level < 1:
            raise ValueError(f"level={level!r}: the coverage must lie between 0 and 1")
        reach = NormalDist().inv_cdf(0.5 + level / 2) * self.standard_error
        return float(self) - reach, float(self) + reach

    @property
    def low(self) -> float:
        """Certified lower bound of the exact value."""
        return self._certified()[0]

    @property
    def high(self) -> float:
        """Certified upper bound of the exact value."""
        return self._certified()[1]

    @property
    def width(self) -> float:
        """Upper minus lower certified bound."""
        low, high = self._certified()
        return high - low

    def __contains__(self, x: float) -> bool:
        """Return whether x lies within the certified bounds."""
        low, high = self._certified()
        return low <= float(x) <= high

    def _certified(self) -> tuple[float, float]:
        if self.bounds is None:
            raise ValueError(
                "this value was not certified, so it has no bounds: measure with "
                "entropy=Renyi(...).certified"
            )
        return self.bounds

    def item(self) -> float:
        """Return the value, as arrays of one number do."""
        return float(self)

    # ------------------------------------------------------------------ display

    def _short(self) -> str:
        """Return the value with its errors, rounded to the digits that they determine."""
        unit = f" {self.unit}" if self.unit else ""
        error = self.standard_error
        if not error > 1e-12 * max(abs(float(self)), 1e-12):  # NaN, or none
            value = round(float(self), MAX_DIGITS) + 0.0 if self.unit else float(self)
            shown = f"{value:.6g}" if value % 1 else f"{value}"
            return shown + unit + self._computed()
        digits = _digits(error, 2)
        return f"{float(self):.{digits}f} ± {error:.{digits}f}{unit}{self._computed()}"

    def _computed(self) -> str:
        """Return the certified bounds, or a computing error that is not negligible, as text."""
        if self.bounds is not None:
            low, high = self.bounds
            digits = _digits(high - low, 1)
            scale = 10.0**digits
            low, high = np.floor(low * scale) / scale, np.ceil(high * scale) / scale  # or infinity
            return f", computed within [{low:.{digits}f}, {high:.{digits}f}]"
        error = self.computing_error or 0.0
        matters = error > 0.2 * self.standard_error
        return f", computed to {error:.1g}" if matters else ""

    def __repr__(self) -> str:
        """Show the value with its errors, and the kernels."""
        notes = "; ".join(filter(None, [self._proof(), ", ".join(self.about)]))
        return f"{self._short()} ({notes})" if notes else self._short()

    __str__ = __repr__

    def _proof(self) -> str:
        if self.bounds is None:
            return ""
        return f"fails with p <= {_at_least(self.failure)}" if self.failure else "proven"

    def _repr_html_(self) -> str:
        """Show the value in notebooks: its interval as a line, the kernels below it."""
        rows, picture = [("kernel", kernel) for kernel in self.about], ""
        if self.standard_error > 0:
            low, high = self.interval()
            rows.insert(0, ("95 % interval", f"{low:.4g} to {high:.4g}"))
            picture = _html.interval(low, float(self), high)
        if self.bounds is not None:
            rows.append(("bounds", f"{self._computed().lstrip(', ')} ({self._proof()})"))
        return _html.shown(self._short(), rows, picture)

    # ------------------------------------------------------------------ arithmetic

    def _combine(
        self,
        other: Any,
        operation: Callable[[float, float], float],
        slopes: Callable[[float, float], tuple[float, float]],
        unit: str | None = None,
    ) -> Any:
        """Apply an operation, monotone in each argument within the bounds, and its derivatives."""
        if not isinstance(other, Real):
            return NotImplemented
        a, b = float(self), float(other)
        value, (da, db) = operation(a, b), slopes(a, b)
        other = other if isinstance(other, Estimate) else Estimate(b, computing_error=0.0, unit="")
        constant = not other.unit and other.influence is None and other.bounds is None
        bounds = None
        if self.bounds is not None and (constant or other.bounds is not None):
            ends = other.bounds or (b, b)
            corners = [value, *(operation(x, y) for x in self.bounds for y in ends)]
            bounds = (min(corners), max(corners))
        return Estimate(
            value,
            influence=_linear(self.influence, da, other.influence, db, constant),
            computing_error=_summed(self.computing_error, da, other.computing_error, db),
            bounds=bounds,
            failure=self.failure + other.failure,
            about=tuple(dict.fromkeys((*self.about, *other.about))),
            unit=self.unit if unit is None else unit,
        )

    def __add__(self, other: Any) -> Any:
        """Add."""
        return self._combine(other, lambda a, b: a + b, lambda a, b: (1.0, 1.0))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """Subtract."""
        return self._combine(other, lambda a, b: a - b, lambda a, b: (1.0, -1.0))

    def __rsub__(self, other: Any) -> Any:
        """Subtract from a number."""
        return self._combine(other, lambda a, b: b - a, lambda a, b: (-1.0, 1.0))

    def __neg__(self) -> Any:
        """Return the negative amount."""
        return self._combine(-1.0, lambda a, b: a * b, lambda a, b: (b, a))

    def __mul__(self, other: Any) -> Any:
        """Multiply; a product of two amounts has no unit."""
        unit = "" if isinstance(other, Estimate) else None
        return self._combine(other, lambda a, b: a * b, lambda a, b: (b, a), unit)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        """Divide; a quotient of two amounts has no unit."""
        if isinstance(other, Estimate):
            _refuse_zero(other)
        unit = "" if isinstance(other, Estimate) else None
        return self._combine(other, lambda a, b: a / b, lambda a, b: (1 / b, -a / b**2), unit)

    def __rtruediv__(self, other: Any) -> Any:
        """Divide a number."""
        _refuse_zero(self)
        return self._combine(other, lambda a, b: b / a, lambda a, b: (-b / a**2, 1 / a), "")

    def __pow__(self, exponent: Any, modulo: None = None) -> Any:
        """Raise to a power: of amounts that are not negative."""
        if min(self.bounds or (float(self),)) < 0:
            raise ValueError(f"a power of an amount that may be negative: {self!r}")
        return self._combine(
            exponent, lambda a, b: float(a**b), lambda a, b: (_slope(a, b), math.nan), ""
        )

    def __rpow__(self, base: Any, modulo: None = None) -> Any:
        """Raise a positive number to this power, as for 2^S."""
        return self._combine(
            base, lambda a, b: float(b**a), lambda a, b: (math.log(b) * b**a, math.nan), ""
        )


def _slope(a: float, b: float) -> float:
    """Return the derivative of a^b in a."""
    return float(b * a ** (b - 1)) if a > 0 or b >= 1 else math.inf


def _refuse_zero(x: Estimate) -> None:
    if x.bounds is not None and x.bounds[0] <= 0 <= x.bounds[1]:
        raise ZeroDivisionError(f"division by an amount that may be 0: {x!r}")


def _linear(
    a: Influence | None, da: float, b: Influence | None, db: float, constant: bool
) -> Influence | None:
    """Return da a + db b; None where one of them is not known."""
    if a is None or (b is None and not constant):
        return None
    return a * da if b is None else a * da + b * db


def _summed(a: float | None, da: float, b: float | None, db: float) -> float | None:
    """Combine computing errors, which are independent estimates."""
    if a is None or b is None:
        return None
    return math.hypot(da * a, db * b if b else 0.0)


def _digits(error: float, significant: int) -> int:
    """Return how many decimals show an error with so many significant digits."""
    if not 0 < error < math.inf:
        return 12
    return min(max(significant - 1 - math.floor(math.log10(error)), 0), 12)


def _at_least(failure: float) -> str:
    """Show a probability with one digit, rounded up."""
    shown = float(f"{failure:.1g}")
    return f"{shown if shown >= failure else shown + 10.0 ** math.floor(math.log10(failure)):.1g}"
