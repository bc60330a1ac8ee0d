"""Kernels of the inner product of two points, which have finite feature maps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.sources import Source
from lorenyi.kernels.kernel import Kernel


@dataclass(frozen=True)
class Cosine(Kernel):
    """The cosine of the angle between two points: the linear kernel, normalized.

    Its matrix has rank at most d.
    """

    infinitely_divisible: ClassVar[bool] = False  # type: ignore[misc]

    def prepare(self, points: Source, weights: Source | None) -> tuple[Kernel, Source]:
        """Put the points on the unit sphere."""
        return self, points.each(partial(_unit_rows, repr(self)))

    def block(self, X: Array, Y: Array) -> Array:
        """Return x'y of points on the unit sphere."""
        return X @ Y.T

    def pairs(self, X: Array, Y: Array) -> Array:
        """Return x_i'y_i."""
        return _arrays.namespace(X, Y).sum(X * Y, axis=1)

    def width(self, d: int) -> int | None:
        """Return d."""
        return d

    def features(self, X: Array) -> Array:
        """Return the points themselves."""
        return X


@dataclass(frozen=True)
class Linear(Cosine):
    """The linear kernel x'y. A Gram normalizes it, so there it is the cosine."""

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the block x'y for the rows of X and of Y (or numbers, if 1-D)."""
        X, Y = (points[:, None] if points.ndim == 1 else points for points in (X, Y))
        return X @ Y.T


def _unit_rows(kernel: str, X: Array) -> Array:
    """Return rows of length one; scaled first, where squares overflow or underflow."""
    xp = _arrays.namespace(X)
    with np.errstate(over="ignore"):
        square = xp.sum(X * X, axis=1)
    resolved = xp.finfo(X.dtype).smallest_normal / xp.finfo(X.dtype).eps
    if bool(xp.all((square > resolved) & (square < math.inf))):
        return X / xp.sqrt(square)[:, None]
    largest = xp.max(xp.abs(_arrays.detach(X)), axis=1)[:, None]
    if X.shape[0] and not bool(xp.all(largest > 0)):
        raise ValueError(
            f"{kernel}: a row of zeros has no direction; drop such rows or use another kernel"
        )
    X = X / largest
    return X / xp.sqrt(xp.sum(X * X, axis=1))[:, None]


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel (gamma x'y + shift)^degree.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float
        Positive.
    shift : float
        Not negative.
    """

    degree: int = 2
    gamma: float = 1.0
    shift: float = 1.0
    infinitely_divisible: ClassVar[bool] = False  # type: ignore[misc]

    def __post_init__(self) -> None:
        if not isinstance(self.degree, (int, np.integer)) or self.degree < 1:
            raise ValueError(f"Polynomial(degree={self.degree!r}): degree must be an integer >= 1")
        if not (self.gamma > 0 and math.isfinite(self.gamma)):
            raise ValueError(f"Polynomial(gamma={self.gamma!r}): gamma must be positive")
        if not (self.shift >= 0 and math.isfinite(self.shift)):
            raise ValueError(f"Polynomial(shift={self.shift!r}): shift must not be negative")

    def block(self, X: Array, Y: Array) -> Array:
        """Return (gamma x'y + shift)^degree."""
        root = math.sqrt(self.gamma)  # on each side, so that x'y does not overflow
        return ((root * X) @ (root * Y).T + self.shift) ** self.degree

    def pairs(self, X: Array, Y: Array) -> Array:
        """Return (gamma x_i'y_i + shift)^degree."""
        root = math.sqrt(self.gamma)
        inner = _arrays.namespace(X, Y).sum((root * X) * (root * Y), axis=1)
        return (inner + self.shift) ** self.degree

    def diagonal(self, X: Array) -> Array | None:
        """Return (gamma |x|^2 + shift)^degree."""
        xp = _arrays.namespace(X)
        with np.errstate(over="ignore"):  # an error is raised where it is used
            return (xp.sum((math.sqrt(self.gamma) * X) ** 2, axis=1) + self.shift) ** self.degree

    def rounding(self, points: Source) -> float:
        """Return the relative rounding: of sums over columns, and of a power."""
        return self.degree * super().rounding(points)

    def width(self, d: int) -> int | None:
        """Return (d + 1)^degree, or d^degree without a shift."""
        return int((d + (self.shift > 0)) ** self.degree)

    def features(self, X: Array) -> Array:
        """Return all products of `degree` entries of (sqrt(gamma) x, sqrt(shift))."""
        xp = _arrays.namespace(X)
        base = math.sqrt(self.gamma) * X
        if self.shift > 0:
            base = xp.concat([base, math.sqrt(self.shift) * xp.ones_like(X[:, :1])], axis=1)
        power = base
        for _ in range(self.degree - 1):
            power = row_products(power, base)
        return power


def row_products(X: Array, Y: Array) -> Array:
    """Return for each row all products x_i y_j: the features of a product of kernels."""
    xp = _arrays.namespace(X, Y)
    return xp.reshape(X[:, :, None] * Y[:, None, :], (X.shape[0], X.shape[1] * Y.shape[1]))
