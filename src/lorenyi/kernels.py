"""Kernels as small frozen values, and the rules that choose their bandwidth.

A kernel is called on two sets of points, `k(X, Y)`, and gives the block of its values. Bandwidths
follow one convention everywhere: `Gaussian(sigma)` is exp(-|x - y|^2 / (2 sigma^2)).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.bandwidths import Bandwidth, Sigma, checked_sigma
from lorenyi.data.sources import ArraySource, Source, slices


class Kernel(ABC):
    """A positive semi-definite kernel, as a frozen value.

    Attributes
    ----------
    infinitely_divisible : bool or None
        Whether every entrywise power k^r, r > 0, is a kernel too: what the paper asks for.
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
        """Settle what depends on the data: return the settled kernel and the points it reads."""
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


@dataclass(frozen=True, repr=False)
class _Scaled(Kernel):
    """A kernel of the scaled difference of two points."""

    sigma: Sigma = "median"
    infinitely_divisible: ClassVar[bool] = True  # type: ignore[misc]
    joins: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checked_sigma(self.sigma, type(self).__name__))

    def __repr__(self) -> str:
        """Show the bandwidth, shortly."""
        if isinstance(self.sigma, tuple):
            shown = "(" + ", ".join(f"{s:.4g}" for s in self.sigma[:4])
            shown += ", ...)" if len(self.sigma) > 4 else ")"
        else:
            shown = f"{self.sigma:.4g}" if isinstance(self.sigma, float) else repr(self.sigma)
        return f"{type(self).__name__}(sigma={shown})"

    def prepare(self, points: Source, weights: Source | None) -> tuple[Kernel, Source]:
        """Settle the bandwidth; the points become (x - center) / sigma."""
        sigma = self.sigma(points, weights) if isinstance(self.sigma, Bandwidth) else self.sigma
        d = points.shape[1]
        if isinstance(sigma, tuple) and len(sigma) != d:
            raise ValueError(
                f"{self!r} has {len(sigma)} bandwidths and the points have {d} columns: give one "
                "number, or one for each column"
            )
        # Distances do not feel the shift; products of large coordinates would lose digits. The
        # median of some rows is near most points, wherever a few are; their mean would not be.
        first = slice(0, min(len(points), 1024))
        rows = _arrays.detach(points.rows(first))
        if weights is not None and (there := _arrays.to_numpy(weights.rows(first))[:, 0] > 0).any():
            rows = _arrays.take(rows, np.flatnonzero(there))
        rows = rows[:: 1 + int(rows.shape[0]) // 64, :]
        shift = _arrays.namespace(rows).sort(rows, axis=0)[rows.shape[0] // 2, :]
        scale = _arrays.like(np.asarray(sigma), shift) if isinstance(sigma, tuple) else sigma
        settled = self if sigma is self.sigma else replace(self, sigma=sigma)
        return settled, points.affine(shift, scale)

    def rounding(self, points: Source) -> float:
        """Return the relative rounding of the values at prepared points.

        For points x, y that the kernel tells apart, rounding of the coordinates moves |x - y|^2 by
        about |x|; |x|^2 + |y|^2 - 2 x'y loses |x|^2, and is not used where that is large.
        """
        square = points.largest_square()
        lost = min(square, 1e4)
        if square > 1e4 and isinstance(points, ArraySource):  # but for points that are alone there
            square = _largest_with_neighbors(points.array)
        return (lost + 4 * math.sqrt(square)) * _arrays.epsilon(points.like)


def _largest_with_neighbors(X: Array) -> float:
    """Return the largest squared norm, less coordinates for which no other is near but not equal.

    Those of a column that are equal have no difference, and those more than 40 apart a kernel
    below rounding, whatever is lost.
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
    with np.errstate(over="ignore"):  # points farther apart than can be squared have kernel 0
        if X.shape[1] == 1:
            return _arrays.scaled(_arrays.squared(X - Y.T), -0.5)
        xp = _arrays.namespace(X, Y)
        x2 = -0.5 * xp.sum(X * X, axis=1)[:, None]
        y2 = x2 if Y is X else -0.5 * xp.sum(Y * Y, axis=1)[:, None]
        cancels = -float(xp.min(_arrays.detach(x2))) - float(xp.min(_arrays.detach(y2)))
        if cancels <= _limit(X):
            # (x, -|x|^2/2, 1) . (y, 1, -|y|^2/2): the norms ride along in the product.
            left = xp.concat([X, x2, xp.ones_like(x2)], axis=1)
            right = xp.concat([Y, xp.ones_like(y2), y2], axis=1)
            return _arrays.at_most(left @ right.T, 0.0)
        total = -0.5 * (X[:, :1] - Y[:, :1].T) ** 2
        for j in range(1, X.shape[1]):
            total = total - 0.5 * (X[:, j : j + 1] - Y[:, j : j + 1].T) ** 2
        return total


def _limit(X: Array) -> float:
    """Return what may cancel in products of scaled points."""
    return 1e4 if _arrays.namespace(X).finfo(X.dtype).bits == 64 else 1e3


def _sides(X: Array) -> tuple[Array, Array]:
    """Return the two arguments of a symmetric kernel of X with itself.

    The gradient is taken with respect to one and counted twice, so it is right for functions of
    the matrix that treat rows and columns alike.
    """
    return (_arrays.doubled(X), _arrays.detach(X)) if _arrays.tracks_gradient(X) else (X, X)


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


@dataclass(frozen=True)
class Cosine(Kernel):
    """The cosine of the angle between two points: the linear kernel, normalised.

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
    """The linear kernel x'y. A Gram normalises it, so there it is the cosine."""

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the block x'y for the rows of X and of Y (or numbers, if 1-D)."""
        X, Y = (points[:, None] if points.ndim == 1 else points for points in (X, Y))
        return X @ Y.T


def _unit_rows(kernel: str, X: Array) -> Array:
    """Return rows of length one; they are scaled first, lest their squares over- or underflow."""
    xp = _arrays.namespace(X)
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
        root = math.sqrt(self.gamma)  # of each side: what it makes up for has no room in x'y
        return ((root * X) @ (root * Y).T + self.shift) ** self.degree

    def pairs(self, X: Array, Y: Array) -> Array:
        """Return (gamma x_i'y_i + shift)^degree."""
        root = math.sqrt(self.gamma)
        inner = _arrays.namespace(X, Y).sum((root * X) * (root * Y), axis=1)
        return (inner + self.shift) ** self.degree

    def diagonal(self, X: Array) -> Array | None:
        """Return (gamma |x|^2 + shift)^degree."""
        xp = _arrays.namespace(X)
        with np.errstate(over="ignore"):  # refused where it is used
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


@dataclass(frozen=True)
class Delta(Kernel):
    """The equality kernel: 1 where two points are equal, 0 elsewhere. For labels and symbols.

    With it, every measure is the plain discrete one of the relative frequencies.

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
        Say True where you know it; None warns once for each `gram`.

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
            raise ValueError(f"{self!r} gave NaN or infinity: a kernel is finite for every pair")
        return block

    def rounding(self, points: Source) -> float:
        """Return that of the type which the function returns."""
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
    """Stands for a kernel matrix given ready-made: `gram(K, Precomputed())`."""

    def block(self, X: Array, Y: Array) -> Array:
        """Refuse: there are no points."""
        raise TypeError("Precomputed() has no points: use gram(K, Precomputed()) with a matrix K")
