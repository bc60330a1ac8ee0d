"""Equality, a user's own function, and a precomputed matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.sources import Source, slices
from lorenyi.kernels.kernel import Kernel


@dataclass(frozen=True)
class Delta(Kernel):
    """The equality kernel: 1 where two points are equal, 0 elsewhere. For categorical data.

    With it, every measure is the ordinary discrete one of the relative frequencies.

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.entropy(["a", "b", "b", "a"]))
    1.0
    """

    infinitely_divisible: ClassVar[bool] = True  # type: ignore[misc]
    joins: ClassVar[bool] = True

    def rounding(self, points: Source) -> float:
        """Return 0: the values are exact."""
        return 0.0

    def block(self, X: Array, Y: Array) -> Array:
        """Return 1.0 where rows are equal."""
        xp = _arrays.namespace(X, Y)
        equal = X[:, :1] == Y[:, :1].T
        for j in range(1, X.shape[1]):
            equal = equal & (X[:, j : j + 1] == Y[:, j : j + 1].T)
        return xp.astype(equal, xp.float64)

    def pairs(self, X: Array, Y: Array) -> Array:
        """Return 1.0 where aligned rows are equal."""
        xp = _arrays.namespace(X, Y)
        return xp.astype(xp.all(X == Y, axis=1), xp.float64)


@dataclass(frozen=True)
class Function(Kernel):
    """A user's own kernel: a function of two sets of points that gives the block of values.

    Parameters
    ----------
    function : callable
        `function(X, Y)`, with rows as points, returns an array of len(X) x len(Y). It must be
        symmetric and positive semi-definite, with a positive diagonal.
    infinitely_divisible : bool or None
        True if it is known to be; None warns once for each `gram`.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> k = lr.Function(lambda X, Y: 1.0 / (1.0 + (X - Y.T) ** 2), infinitely_divisible=True)
    >>> round(float(lr.entropy(lr.gram([0.0, 1.0, 5.0], k))), 4)
    1.4572
    """

    function: Callable[[Array, Array], Array]
    infinitely_divisible: bool | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"Function({self.function!r}): give a function k(X, Y) of two arrays")

    def __repr__(self) -> str:
        """Show the function's name."""
        return f"Function({getattr(self.function, '__name__', 'function')})"

    def prepare(self, points: Source, weights: Source | None) -> tuple[Kernel, Source]:
        """Check the function on a few points: shape, symmetry, diagonal."""
        rows = points.rows(slice(0, min(len(points), 64)))
        block = _arrays.to_numpy(self.block(rows, rows))
        scale = max(1e-8, 1e3 * _arrays.epsilon(block)) * float(np.abs(block).max())
        if float(np.abs(block - block.T).max()) > scale:
            raise ValueError(
                f"{self!r} is not symmetric: k(X, Y) and k(Y, X)' differ by up to "
                f"{np.abs(block - block.T).max():.2g}; a kernel must not depend on the order"
            )
        return self, points

    def block(self, X: Array, Y: Array) -> Array:
        """Return the function's values, checked for shape."""
        block = self.function(X, Y)
        if tuple(getattr(block, "shape", ())) != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"{self!r} gave shape {getattr(block, 'shape', type(block))} for {X.shape[0]} and "
                f"{Y.shape[0]} points: it must return one value for each pair"
            )
        xp = _arrays.namespace(block)
        block = _arrays.as_floating(block)
        if not bool(xp.all(xp.isfinite(_arrays.detach(block)))):
            raise ValueError(f"{self!r} gave NaN or infinity: it must be finite for every pair")
        return block

    def rounding(self, points: Source) -> float:
        """Return the rounding of the type that the function returns."""
        row = points.rows(slice(0, 1))
        value = self.function(row, row)
        return 4 * _arrays.epsilon(value) if _arrays.is_floating(value) else 0.0

    def diagonal(self, X: Array) -> Array | None:
        """Return k(x, x), a few rows at a time."""
        xp = _arrays.namespace(X)
        parts = [X[cut, :] for cut in slices(int(X.shape[0]), 64)]
        return _arrays.concat([xp.linalg.diagonal(self.block(part, part)) for part in parts])


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Marks x as a precomputed kernel matrix: `gram(K, Precomputed())`."""

    def block(self, X: Array, Y: Array) -> Array:
        """Refuse: there are no points."""
        raise TypeError("Precomputed() has no points: use gram(K, Precomputed()) with a matrix K")
