"""Kernels with ones on their diagonal, which every factor of a Gram has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.sources import Source
from lorenyi.kernels import Kernel


@dataclass(frozen=True, repr=False)
class Unit(Kernel):
    """A kernel divided by the roots of its diagonal, which are the last column of the points.

    This avoids overflow in products of several kernels and in float32.
    """

    kernel: Kernel

    def __repr__(self) -> str:
        """Show the kernel: a Gram normalizes them all."""
        return repr(self.kernel)

    def block(self, X: Array, Y: Array) -> Array:
        """Return k(x, y) / sqrt(k(x, x) k(y, y))."""
        return self.kernel.block(_but_last(X), _but_last(Y)) / X[:, -1:] / Y[:, -1:].T

    def pairs(self, X: Array, Y: Array) -> Array:
        """Return k(x_i, y_i) / sqrt(k(x_i, x_i) k(y_i, y_i))."""
        return self.kernel.pairs(_but_last(X), _but_last(Y)) / X[:, -1] / Y[:, -1]

    def rounding(self, points: Source) -> float:
        """Return the rounding of the kernel and of two divisions."""
        return self.kernel.rounding(points.each(_but_last)) + 2 * _arrays.epsilon(points.like)

    def width(self, d: int) -> int | None:
        """Return the dimension of the kernel's feature map."""
        return self.kernel.width(d - 1)

    def features(self, X: Array) -> Array:
        """Return the kernel's feature map on the unit sphere."""
        return self.kernel.features(_but_last(X)) / X[:, -1:]


def _but_last(X: Array) -> Array:
    return X[:, : int(X.shape[1]) - 1]


def normalized(kernel: Kernel, points: Source, name: str) -> tuple[Kernel, Source]:
    """Return a kernel whose diagonal is one, and the points for it."""
    if type(kernel).diagonal is Kernel.diagonal:
        return kernel, points
    return Unit(kernel), points.each(partial(_with_root, kernel, f"{kernel!r} of {name}"))


def _with_root(kernel: Kernel, what: str, X: Array) -> Array:
    if not X.shape[0]:
        return _arrays.namespace(X).concat([X, X[:, :1]], axis=1)
    root = positive_root(kernel.diagonal(X), what)[:, None]
    return _arrays.namespace(X).concat([X, _arrays.like(root, X)], axis=1)


def positive_root(diagonal: Array, what: str) -> Array:
    """Return the root of a kernel's diagonal, which normalizes it."""
    values = _arrays.to_numpy(diagonal)
    bad = ~((values > 0) & (values < np.inf))
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{what} has diagonal {values[i]:g} at row {i}: k(x, x) must be positive and finite to "
            "normalize; drop or scale such rows, or use another kernel"
        )
    return _arrays.namespace(diagonal).sqrt(diagonal)
