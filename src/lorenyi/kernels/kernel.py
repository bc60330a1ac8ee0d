"""The base class of all kernels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.sources import ArraySource, Source, slices


class Kernel(ABC):
    """A positive semi-definite kernel, as a frozen value.

    Attributes
    ----------
    infinitely_divisible : bool or None
        Whether every entrywise power k^r, r > 0, is a kernel too, which the paper requires.
        None: not known.
    joins : bool
        Whether k(x, y) k(x', y') = k((x, x'), (y, y')) for prepared points, so that a joint
        needs no Hadamard product.
    """

    infinitely_divisible: bool | None = None
    joins: ClassVar[bool] = False

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the block k(x_i, y_j) for the rows of X and of Y (or numbers, if 1-D)."""
        same = X is Y
        X, Y = (points[:, None] if points.ndim == 1 else points for points in (X, Y))
        if same:
            kernel, x = self.prepare(ArraySource(X), None)
            y = x
        else:
            kernel, both = self.prepare(ArraySource(_arrays.concat([X, Y])), None)
            x = ArraySource(both.rows(slice(0, len(X))))
            y = ArraySource(both.rows(slice(len(X), len(both))))
        return kernel.block(x.all(), y.all())

    def prepare(self, points: Source, weights: Source | None) -> tuple[Kernel, Source]:
        """Return the kernel with its bandwidth chosen from the data, and the points it reads."""
        return self, points

    @abstractmethod
    def block(self, X: Array, Y: Array) -> Array:
        """Return the kernel's values between prepared points."""

    def matrix(self, points: Source) -> Array:
        """Return the kernel of prepared points with themselves, with the gradient of `_sides`."""
        return self.block(*_sides(points.all()))

    def diagonal(self, X: Array) -> Array | None:
        """Return k(x, x) of prepared points; None stands for all ones."""
        return None

    def rounding(self, points: Source) -> float:
        """Return the relative rounding of the values at prepared points: of sums over columns."""
        return math.sqrt(points.shape[1]) * _arrays.epsilon(points.like)

    def pairs(self, X: Array, Y: Array) -> Array:
        """Return k(x_i, y_i) of aligned prepared points, a few rows at a time."""
        diagonal = _arrays.namespace(X).linalg.diagonal
        cuts = slices(int(X.shape[0]), 16)
        return _arrays.concat([diagonal(self.block(X[c, :], Y[c, :])) for c in cuts])

    def width(self, d: int) -> int | None:
        """Return the dimension of the kernel's feature map on d columns, None if infinite."""
        return None

    def features(self, X: Array) -> Array:
        """Return the feature map of prepared points: k(x, y) is the inner product of two."""
        raise TypeError(f"{self!r} has no finite feature map")


def _sides(X: Array) -> tuple[Array, Array]:
    """Return the two arguments of a symmetric kernel of X with itself.

    The gradient is taken with respect to one and counted twice, so it is correct for functions of
    the matrix that treat rows and columns alike.
    """
    return (_arrays.doubled(X), _arrays.detach(X)) if _arrays.tracks_gradient(X) else (X, X)
