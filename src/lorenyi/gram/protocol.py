"""The interface of a Gram: the few operations that each kind implements.

A_ij = sqrt(w_i w_j) k(x_i, x_j) / sqrt(k(x_i, x_i) k(x_j, x_j)), with weights w that sum to one
(1/n by default). It is held as factors (points with a kernel, or a ready matrix) and a vector s:

    A = diag(s) (K_1 o K_2 o ...) diag(s),

so normalization and weights cost n numbers, a joint is a longer list of factors, and equal rows,
equality kernels and finite feature maps are exploited in one place (`Gram.reduced`).

There are two kinds: rows in memory (`lorenyi.gram.memory`) and rows in blocks elsewhere
(`lorenyi.gram.streamed`). Operations that follow from these (norms, stored entries, samples) are
functions of a Gram, written once for both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from lorenyi import _arrays, _html
from lorenyi._arrays import Array
from lorenyi.data.sources import Source
from lorenyi.gram.factors import Factor, Index, Matrix
from lorenyi.kernels import Delta

if TYPE_CHECKING:
    from lorenyi.gram.memory import InMemory


class Gram(ABC):
    """The normalized kernel matrix A of n points; made by `gram`, combined by `A * B`.

    Attributes
    ----------
    n : int or float
        Number of points: rows, or the sum of the weights where given.
    mass : float
        The trace: 1, or the share of a diagonal block.
    weights : array
        The diagonal of A: relative weights that sum to one.
    factors : tuple of factors
        Points with their kernels, or ready matrices, whose product A is made of.
    names : tuple of str
        The kernels, as results name them.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.array([0.0, 1.0, 2.0]), lr.Gaussian(1.0))
    >>> B = lr.gram(["u", "u", "v"])
    >>> (A * B).dense().round(3)
    array([[0.333, 0.202, 0.   ],
           [0.202, 0.333, 0.   ],
           [0.   , 0.   , 0.333]])
    """

    factors: tuple[Factor, ...]
    scale: Array
    weights: Array
    n: float
    names: tuple[str, ...]
    mass: float
    in_memory: ClassVar[bool]

    def __post_init__(self) -> None:
        """Declare types: each kind is a frozen dataclass."""
        object.__setattr__(self, "factors", tuple(self.factors))
        names = tuple(self.names) or tuple(repr(factor.kernel) for factor in self.factors)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "n", int(self.n) if self.n == int(self.n) else self.n)

    def changed(self, **changes: Any) -> Self:
        """Return the same Gram with some of its attributes replaced."""
        return replace(self, **changes)  # type: ignore[type-var]

    # ------------------------------------------------------------------ implemented by each kind

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows of the matrix."""

    @abstractmethod
    def take(self, index: np.ndarray) -> InMemory:
        """Return the Gram, in memory, of the rows at these positions (n and mass stay)."""

    @abstractmethod
    def columns(self, index: np.ndarray) -> Array:
        """Return A[:, index], evaluating only these columns."""

    @abstractmethod
    def __matmul__(self, V: Array) -> Array:
        """Return A @ V, a block of rows at a time."""

    @abstractmethod
    def __mul__(self, other: object) -> Gram:
        """Return the joint: kernels multiply, the common weights apply once."""

    @abstractmethod
    def sum(self, function: Callable[[InMemory, int], Any]) -> Any:
        """Sum `function(Gram of some rows, number of the first)` over blocks of rows, as a tree."""

    @abstractmethod
    def sum_and_keep(self, function: Callable[[InMemory, int], Any]) -> tuple[Any, Source]:
        """Sum the first values of a function; its second, one number per row, become a column."""

    @abstractmethod
    def sum_of_squares(self) -> Array:
        """Return the sum of the squared entries, each evaluated."""

    @property
    @abstractmethod
    def reduced(self) -> tuple[Array, list[Gram]]:
        """Return eigenvalues known from structure, and smaller Grams that hold the others.

        Rows of zero weight are dropped, equal rows are merged and their weights added, an equality
        kernel splits the matrix into diagonal blocks, and a block with fewer features than rows
        is replaced by its features' second moments. All of this is exact: the nonzero eigenvalues
        of A are those returned and those of the smaller Grams together.
        """

    @abstractmethod
    def reduced_to(self, factors: Sequence[Factor], scale: Array, weights: Array) -> InMemory:
        """Return a smaller Gram in memory in place of this one: n, names and mass stay."""

    @abstractmethod
    def collected(self) -> InMemory:
        """Return the same Gram in memory, if its rows fit there."""

    @abstractmethod
    def single(self, points: bool = True) -> Gram:
        """Return the same Gram in float32; its entries alone, or its points too if they may be."""

    @property
    @abstractmethod
    def reference(self) -> Array:
        """An array of the library and precision of the matrix."""

    # ------------------------------------------------------------------ common to both kinds

    def __repr__(self) -> str:
        """Name the number of points and the kernels."""
        return f"Gram(n={self.n:g}, {', '.join(self.names)})"

    def _repr_html_(self) -> str:
        """Name the points and the kernels in notebooks, one per line."""
        return _html.shown(f"Gram of {self.n:g} points", [("kernel", name) for name in self.names])

    def named(self, name: str) -> Gram:
        """Return the same Gram with its kernels' names prefixed by the variable's."""
        return self.changed(names=led_by(name, self.names))

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the entries of A at two sets of rows."""
        numbers = np.arange(len(self))
        here, there = self.take(numbers[rows]), self.take(numbers[columns])
        return here.cross(there) * here.scale[:, None] * there.scale[None, :]

    def dense(self) -> Array:
        """Return A as a dense array, if it fits in memory."""
        return self.collected().dense()

    def choose(self, seed: int, stream: int, size: int) -> np.ndarray:
        """Draw rows without replacement."""
        return _arrays.choose(seed, stream, len(self), size)

    def sample(self, size: int, seed: int) -> InMemory:
        """Return the Gram of some rows drawn at random (all, if there are no more)."""
        return self.take(self.choose(seed, 11, size))

    def at(self, index: np.ndarray) -> tuple[InMemory, np.ndarray]:
        """Return a Gram in memory that holds these rows, and their positions in it."""
        if self.in_memory:
            return self.collected(), index
        return self.take(index), np.arange(len(index))

    def detached(self) -> Gram:
        """Return the same Gram without gradient history."""
        return self

    @property
    def tracks_gradient(self) -> bool:
        """Whether a gradient is tracked for any part of it."""
        return False

    @cached_property
    def roundoff(self) -> float:
        """Relative size of the rounding in the entries."""
        own = 4.0 * len(self.factors) * self.coarsest
        return own + sum(factor.rounding for factor in self.factors)

    @property
    def tolerance(self) -> float:
        """Expected relative rounding of eigenvalues; a rough value where a gradient is tracked.

        There bounds are not needed, and reading the points would take longer than a step.
        """
        return 64 * self.coarsest if self.tracks_gradient else self.roundoff

    @property
    def coarsest(self) -> float:
        """The rounding unit of the factor in the lowest precision."""
        dense = [f.like for f in self.factors if not _arrays.is_sparse(f.like)]
        return max(map(_arrays.epsilon, [self.reference, *filter(_arrays.is_floating, dense)]))

    @property
    def is_weighted(self) -> bool:
        """Whether rows have different weights."""
        weights = _arrays.to_numpy(self.weights)
        return bool(np.ptp(weights) > 1e-6 * float(weights.max()))

    @property
    def is_ready(self) -> bool:
        """Whether the matrix is one ready matrix, so that its entries are stored already."""
        return len(self.factors) == 1 and isinstance(self.factors[0], Matrix)

    @property
    def is_nominal(self) -> bool:
        """Whether all its factors are equality kernels, whose entries are exact."""
        return all(isinstance(factor.kernel, Delta) for factor in self.factors)

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix has a sparse factor, and so few entries."""
        return any(isinstance(f, Matrix) and _arrays.is_sparse(f.array) for f in self.factors)


def led_by(name: str, kernels: Sequence[str]) -> tuple[str, ...]:
    """Return the names of kernels after the variable's: "x: k", and "x[a, b]: k" for columns."""
    return tuple(f"{name}{k}" if k.startswith("[") else f"{name}: {k}" for k in kernels)


def require_same_rows(A: Gram, B: Gram) -> None:
    """Refuse a joint of Grams of different rows."""
    if len(A) != len(B):
        raise ValueError(
            f"a joint needs the same rows: {A!r} has {len(A)} and {B!r} has {len(B)}; give "
            "variables of the same points, in the same order"
        )


def require_same_weights(A: Gram, B: Gram, same: bool) -> None:
    """Refuse a joint of Grams of different weights."""
    if A.n != B.n or not same:
        raise ValueError(
            f"a joint needs the same weights: those of {A!r} and {B!r} differ; build both with the "
            "same weights="
        )


def are_close(a: Array, b: Array) -> bool:
    """Return whether weights are the same, up to float32 rounding."""
    if a is b:
        return True
    a, b = _arrays.to_numpy(a), _arrays.to_numpy(b)
    return bool(np.all(np.abs(a - b) <= 1e-6 * np.abs(a) + 1e-30))
