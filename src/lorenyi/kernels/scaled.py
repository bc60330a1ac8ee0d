"""Kernels of the difference of two points, in bandwidths."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.bandwidths import Bandwidth, Sigma, checked_sigma
from lorenyi.data.sources import ArraySource, Source
from lorenyi.kernels.kernel import Kernel


@dataclass(frozen=True, repr=False)
class _Scaled(Kernel):
    """A kernel of the scaled difference of two points."""

    sigma: Sigma = "median"
    infinitely_divisible: ClassVar[bool] = True  # type: ignore[misc]
    joins: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checked_sigma(self.sigma, type(self).__name__))

    def __repr__(self) -> str:
        """Show the bandwidth in short form."""
        if isinstance(self.sigma, tuple):
            shown = "(" + ", ".join(f"{s:.4g}" for s in self.sigma[:4])
            shown += ", ...)" if len(self.sigma) > 4 else ")"
        else:
            shown = f"{self.sigma:.4g}" if isinstance(self.sigma, float) else repr(self.sigma)
        return f"{type(self).__name__}(sigma={shown})"

    def prepare(self, points: Source, weights: Source | None) -> tuple[Kernel, Source]:
        """Choose the bandwidth; the points become (x - center) / sigma."""
        sigma = self.sigma(points, weights) if isinstance(self.sigma, Bandwidth) else self.sigma
        d = points.shape[1]
        if isinstance(sigma, tuple) and len(sigma) != d:
            raise ValueError(
                f"{self!r} has {len(sigma)} bandwidths and the points have {d} columns: give one "
                "number, or one for each column"
            )
        # The shift does not change distances, but products of large coordinates would lose
        # digits. The median is near most points despite outliers, the mean is not. It is that of
        # distinct values, despite many copies of one that is far away.
        first = slice(0, min(len(points), 1024))
        rows = _arrays.detach(points.rows(first))
        if weights is not None and (there := _arrays.to_numpy(weights.rows(first))[:, 0] > 0).any():
            rows = _arrays.take(rows, np.flatnonzero(there))
        rows = rows[:: 1 + int(rows.shape[0]) // 64, :]
        shift = _middle(rows)
        scale = _arrays.like(np.asarray(sigma), shift) if isinstance(sigma, tuple) else sigma
        settled = self if sigma is self.sigma else replace(self, sigma=sigma)
        return settled, points.affine(shift, scale)

    def rounding(self, points: Source) -> float:
        """Return the relative rounding of the values at prepared points.

        For points x, y that the kernel distinguishes, rounding of the coordinates changes
        |x - y|^2 by about |x|; |x|^2 + |y|^2 - 2 x'y loses |x|^2, and is not used if that is large.
        """
        square = points.largest_square()
        lost = min(square, 1e4)
        if square > 1e4 and isinstance(points, ArraySource):  # except for isolated points
            square = _largest_with_neighbors(points.array)
        return (lost + 4 * math.sqrt(square)) * _arrays.epsilon(points.like)


def _middle(rows: Array) -> Array:
    """Return the median of the distinct values of each column."""
    xp = _arrays.namespace(rows)
    ordered = xp.sort(rows, axis=0)
    new = xp.astype(ordered != xp.concat([ordered[:1, :], ordered[:-1, :]], axis=0), xp.int64)
    rank = xp.cumulative_sum(new, axis=0)  # from 0
    return xp.max(xp.where(rank <= (rank[-1, :] + 1) // 2, ordered, -xp.inf), axis=0)


def _largest_with_neighbors(X: Array) -> float:
    """Return the largest squared norm, without coordinates that have no near but unequal other.

    Equal coordinates have no difference, and for those more than 40 apart the kernel is below
    rounding.
    """
    X = _arrays.to_numpy(X).astype(np.float64)
    largest = np.max(np.abs(X), axis=0)
    for j in np.flatnonzero(largest > 100 / math.sqrt(len(largest))):
        x = np.sort(X[:, j])
        with np.errstate(over="ignore"):
            gap = np.diff(x)
        near = (gap > 0) & (gap <= 40)
        together = np.append(near, False) | np.append(False, near)
        largest[j] = np.max(np.abs(x[together]), initial=0.0)
    with np.errstate(over="ignore"):
        return float(np.sum(largest**2))


@dataclass(frozen=True, repr=False)
class Gaussian(_Scaled):
    """The Gaussian kernel exp(-|x - y|^2 / (2 sigma^2)).

    Parameters
    ----------
    sigma : float, sequence of float, or bandwidth rule
        A number, one number for each column, or a rule (`Median()`, `Scott()`, `Silverman()`, or
        their names in small letters).

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> lr.Gaussian(1.0)(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.1353]])
    """

    def block(self, X: Array, Y: Array) -> Array:
        """Return exp(-|x - y|^2 / 2) of scaled points."""
        return _arrays.exp(_minus_half_squares(X, Y))

    def matrix(self, points: Source) -> Array:
        """Return exp(-|x - y|^2 / 2) of scaled points with themselves."""
        X = points.all()
        if X.shape[1] == 1:
            return super().matrix(points)
        limit = _limit(X)
        matrix, c = _arrays.gaussian(X, lambda _, largest: 1.0 if largest <= limit else None)
        return super().matrix(points) if c is None else matrix

    def pairs(self, X: Array, Y: Array) -> Array:
        """Return exp(-|x_i - y_i|^2 / 2)."""
        with np.errstate(over="ignore"):
            if _arrays.is_numpy(X) and _arrays.is_numpy(Y):
                difference = X - Y
                return np.exp(-0.5 * np.einsum("ij,ij->i", difference, difference))
            xp = _arrays.namespace(X, Y)
            return xp.exp(-0.5 * xp.sum((X - Y) ** 2, axis=1))


def _minus_half_squares(X: Array, Y: Array) -> Array:
    """Return -|x - y|^2 / 2 by one matrix product, or by differences where that loses digits."""
    with np.errstate(over="ignore"):  # at distances whose square overflows the kernel is 0
        if X.shape[1] == 1:
            return _arrays.scaled(_arrays.squared(X - Y.T), -0.5)
        xp = _arrays.namespace(X, Y)
        x2 = -0.5 * xp.sum(X * X, axis=1)[:, None]
        y2 = x2 if Y is X else -0.5 * xp.sum(Y * Y, axis=1)[:, None]
        cancels = -float(xp.min(_arrays.detach(x2))) - float(xp.min(_arrays.detach(y2)))
        if cancels <= _limit(X):
            # (x, -|x|^2/2, 1) . (y, 1, -|y|^2/2): the norms are part of the product.
            left = xp.concat([X, x2, xp.ones_like(x2)], axis=1)
            right = xp.concat([Y, xp.ones_like(y2), y2], axis=1)
            return _arrays.at_most(left @ right.T, 0.0)
        total = -0.5 * (X[:, :1] - Y[:, :1].T) ** 2
        for j in range(1, X.shape[1]):
            total = total - 0.5 * (X[:, j : j + 1] - Y[:, j : j + 1].T) ** 2
        return total


def _limit(X: Array) -> float:
    """Return the largest number that may cancel in products of scaled points."""
    return 1e4 if _arrays.namespace(X).finfo(X.dtype).bits == 64 else 1e3


@dataclass(frozen=True, repr=False)
class Laplacian(_Scaled):
    """The Laplacian kernel exp(-|x - y|_1 / sigma), with the sum of absolute differences.

    Parameters
    ----------
    sigma : float, sequence of float, or bandwidth rule
        As for `Gaussian`.
    """

    def block(self, X: Array, Y: Array) -> Array:
        """Return exp(-|x - y|_1) of scaled points."""
        xp = _arrays.namespace(X, Y)
        total = -xp.abs(X[:, :1] - Y[:, :1].T)
        for j in range(1, X.shape[1]):
            total = total - xp.abs(X[:, j : j + 1] - Y[:, j : j + 1].T)
        return _arrays.exp(total)

    def pairs(self, X: Array, Y: Array) -> Array:
        """Return exp(-|x_i - y_i|_1)."""
        xp = _arrays.namespace(X, Y)
        return xp.exp(-xp.sum(xp.abs(X - Y), axis=1))
