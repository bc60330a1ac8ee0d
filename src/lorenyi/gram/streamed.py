"""A Gram whose rows are not in memory: work goes to its blocks, only small things come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._memory import fits, require_memory
from lorenyi.data.sources import ArraySource, Source, slices
from lorenyi.data.streams import Stream, bundle, gather, joined
from lorenyi.gram import groups
from lorenyi.gram.factors import TILE, Factor, Points, is_wide, merged, rules_of
from lorenyi.gram.matrix import Gram, led_by
from lorenyi.gram.ready import number_of_points
from lorenyi.gram.unit import normalized
from lorenyi.kernels import Delta, Kernel

UNDER_WAY = 2**28  # bytes of results that may wait to be added up here


class Streamed(Gram):
    """The normalised kernel matrix of rows in blocks, here or on a cluster.

    Each block is a small `Gram` where it is; `map` and `sum` apply a function to these. Whoever
    needs all rows in one place calls `collected`.

    Parameters
    ----------
    factors : sequence of Points
        Aligned streams with their kernels.
    frequency : Stream, optional
        Weights before normalisation, as one column; None stands for ones.
    unit : float
        What one of these weighs: the diagonal of A is `unit` times the frequency.
    n, names, mass
        As for `Gram`.
    """

    def __init__(
        self,
        factors: Sequence[Factor],
        frequency: Stream | None,
        unit: float,
        n: float,
        names: Sequence[str] | None = None,
        mass: float = 1.0,
    ) -> None:
        self.factors = tuple(factors)
        self.frequency, self.unit = frequency, unit
        self.n = int(n) if n == int(n) else n
        self.names = tuple(names if names is not None else (repr(f.kernel) for f in factors))
        self.mass = mass
        self.precision = np.zeros(0, dtype=_common([s.like for s in _streams(factors)]))
        self._known: tuple[Array, list[Gram]] | None = None
        self._samples: dict[tuple[int, int], Gram] = {}

    in_memory: ClassVar[bool] = False

    # Weights and scale of all rows are fetched only by those few who ask for them.

    @property
    def weights(self) -> Array:
        """The diagonal of A: relative weights that sum to one (fetched, where they differ)."""
        return self._vectors[0]

    @property
    def scale(self) -> Array:
        """What normalises rows and columns (fetched, where it differs)."""
        return self._vectors[1]

    @cached_property
    def _vectors(self) -> tuple[Array, Array]:
        if self.frequency is None:
            weight = np.asarray(self.unit, dtype=self.reference.dtype)
            pair = (np.broadcast_to(v, (len(self),)) for v in (weight, np.sqrt(weight)))
            return tuple(pair)  # type: ignore[return-value]
        require_memory(16 * len(self), f"the weights of {len(self)} rows", "use fewer rows")
        found = self.map(lambda part, start: (part.weights, part.scale))
        weights, scale = zip(*found, strict=True)
        return np.concatenate(weights), np.concatenate(scale)

    @property
    def reference(self) -> Array:
        """An array that tells the precision of the matrix."""
        return self.precision

    @property
    def tracks_gradient(self) -> bool:
        """Whether a gradient is asked for: never."""
        return False

    @property
    def is_weighted(self) -> bool:
        """Whether rows were given weights."""
        return self.frequency is not None

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix has a sparse factor: never."""
        return False

    def __len__(self) -> int:
        """Number of rows of the matrix."""
        return len(self.factors[0])

    def changed(self, **changes: Any) -> Streamed:
        """Return the same Gram with some of its parts replaced."""
        kept = ("factors", "frequency", "unit", "n", "names", "mass")
        return Streamed(**{name: getattr(self, name) for name in kept} | changes)

    def named(self, name: str) -> Gram:
        """Return the same Gram with its kernels' names led by the variable's."""
        return self.changed(names=led_by(name, self.names))

    # ------------------------------------------------------------------ blocks

    @property
    def sources(self) -> list[Stream]:
        """All streams that a block's Gram is made of."""
        return _streams(self.factors) + ([] if self.frequency is None else [self.frequency])

    @property
    def _make(self) -> _Block:
        kernels = [factor.kernel for factor in self.factors]
        return _Block(bundle(self.sources), kernels, self.unit, self.n, self.reference.dtype.str)

    def _tasks(self) -> list[tuple[Any, ...]]:
        streams = self.sources
        return [(int(s), *t) for s, t in zip(streams[0].starts, joined(streams), strict=False)]

    def map(self, function: Callable[[Gram, int], Any]) -> list[Any]:
        """Apply `function(Gram of a block, number of its first row)` where the blocks are."""
        return self.sources[0].engine.map(partial(_on_block, function, self._make), self._tasks())

    def sum(self, function: Callable[[Gram, int], Any]) -> Any:
        """Sum `function(Gram of a block, number of its first row)`, as a tree."""
        return self.sources[0].engine.sum(partial(_on_block, function, self._make), self._tasks())

    def sum_and_keep(self, function: Callable[[Gram, int], Any]) -> tuple[Any, Source]:
        """Sum the first values of a function; its second, a number a row, stay where they are."""
        first = self.sources[0]
        run = partial(_on_block, function, self._make)
        total, kept = first.engine.sum_and_keep(run, self._tasks())
        like = np.zeros((0, 1))
        return total, Stream(first.engine, [(h,) for h in kept], first.starts, _as_column, like)

    def take(self, index: np.ndarray) -> Gram:
        """Fetch the Gram of the rows at these positions (n and mass stay)."""
        make = self._make
        part = make.gram(gather(self.sources, np.asarray(index)))
        fetched = zip(self.factors, _sources(part.factors), strict=True)
        factors = [_moved(factor, source) for factor, source in fetched]
        return Gram(factors, part.scale, part.weights, self.n, self.names, self.mass)

    def at(self, index: np.ndarray) -> tuple[Gram, np.ndarray]:
        """Fetch the rows at these positions; tell where they are in what was fetched."""
        return self.take(index), np.arange(len(index))

    def sample(self, size: int, seed: int) -> Gram:
        """Fetch the Gram of some rows drawn at random; once, as many ask for the same."""
        if (size, seed) not in self._samples:
            self._samples[size, seed] = super().sample(size, seed)
        return self._samples[size, seed]

    def choose(self, seed: int, stream: int, size: int) -> np.ndarray:
        """Draw rows without replacement."""
        return self.sources[0].choose(seed, stream, size)

    def collected(self) -> Gram:
        """Return the same Gram in memory, if its rows fit there."""
        width = sum(s.like.shape[1] * s.like.dtype.itemsize for s in self.sources)
        require_memory(
            2 * width * len(self),
            f"{len(self)} rows in one place",
            "use Auto or PivotedCholesky, which work on blocks",
        )
        return self.take(np.arange(len(self)))

    def only(
        self,
        other: Streamed,
        mask: Callable[[Gram], np.ndarray],
        counts: Sequence[int] | np.ndarray,
        mass: float,
    ) -> Streamed:
        """Return the Gram of the rows where a function of another's blocks says so.

        Parameters
        ----------
        other : Streamed
            Of the same rows.
        mask : callable
            From the Gram of a block of `other` to a truth value for each row.
        counts : sequence of int
            How many are true in each block.
        mass : float
            Trace of the result.
        """
        like = np.zeros((0, 1), dtype=bool)
        recipe = partial(_mask, mask, other._make)
        lead = other.sources[0]
        where = Stream(lead.engine, joined(other.sources), lead.starts, recipe, like)
        streams = [stream.only(where, list(counts)) for stream in self.sources]
        factors = [_moved(f, s) for f, s in zip(self.factors, streams, strict=False)]
        frequency = None if self.frequency is None else streams[-1]
        return self.changed(factors=factors, frequency=frequency, mass=mass)

    @property
    def reduced(self) -> tuple[Array, list[Gram]]:
        """Return eigenvalues known at sight, and smaller Grams that hold the others."""
        if self._known is None:
            self._known = groups.reduced(self)
        return self._known

    def with_factors(
        self, factors: Sequence[Factor], scale: Array | None = None, weights: Array | None = None
    ) -> Gram:
        """Return the Gram of other factors; with scale and weights, of rows in memory."""
        if scale is None or weights is None:
            return self.changed(factors=factors)
        return Gram(factors, scale, weights, self.n, self.names, self.mass)

    # ------------------------------------------------------------------ the matrix

    def held(self) -> Gram:
        """Return the same Gram with its entries stored, where they fit in memory."""
        return self.collected().held() if fits(self._bytes()) else self

    def dense(self) -> Array:
        """Return A as a dense array, if it fits in memory."""
        require_memory(
            self._bytes(),
            f"a dense {len(self)} x {len(self)} kernel matrix",
            "use a solver that reads it in blocks, such as Auto or PivotedCholesky",
        )
        return self.collected().dense()

    def columns(self, index: np.ndarray) -> Array:
        """Return A[:, index]: the rows at these positions go to all blocks."""
        return np.concatenate(self.map(partial(_columns, self.take(index))))

    @staticmethod
    def _pair(tasks: list[Any], i: int, j: int) -> tuple[Any, ...]:
        """Return the handles of two blocks, and how many are the first one's."""
        return (len(tasks[i]), *tasks[i], *tasks[j])

    def _squared_norm(self) -> Array:
        tasks = self._tasks()
        pairs = [self._pair(tasks, i, j) for i in range(len(tasks)) for j in range(i, len(tasks))]
        return np.asarray(self.sources[0].engine.sum(partial(_squares, self._make), pairs))

    def __matmul__(self, V: Array) -> Array:
        """Return A @ V: each pair of blocks gets the two blocks of V that it multiplies."""
        vector = V.ndim == 1
        V = V[:, None] if vector else V
        engine, starts, tasks = self.sources[0].engine, self.sources[0].starts, self._tasks()
        cuts = [slice(a, b) for a, b in pairwise(starts)]
        pairs = [(i, j) for i in range(len(cuts)) for j in range(i, len(cuts))]
        product = np.zeros_like(V)
        size = 2 * int(np.diff(starts).max()) * V.shape[1] * V.itemsize
        for group in slices(len(pairs), max(UNDER_WAY // size, 4)):
            work = [(V[cuts[i]], V[cuts[j]], *self._pair(tasks, i, j)) for i, j in pairs[group]]
            found = engine.map(partial(_times, self._make), work)
            for (i, j), (here, there) in zip(pairs[group], found, strict=True):
                product[cuts[i]] += here
                if j > i:
                    product[cuts[j]] += there
        return product[:, 0] if vector else product

    def single(self, points: bool = True) -> Gram:
        """Return the same Gram in float32."""
        if self.reference.dtype.itemsize <= 4:
            return self
        factors = [f if is_wide(f) else f.map(_as_single) for f in self.factors]
        found = self.changed(factors=factors)
        found.precision = np.zeros(0, dtype=np.float32)
        return found

    # ------------------------------------------------------------------ joints

    def __mul__(self, other: object) -> Gram:
        """Return the joint: kernels multiply, the common weights apply once."""
        if not isinstance(other, Gram):
            return NotImplemented
        self._require_same_rows(other)
        if not isinstance(other, Streamed):
            other = self._beside(other)
        elif not self._same_frequency(other):
            raise self._different_weights(other)
        lead = self.sources[0]
        theirs = zip(other.factors, lead.aligned(_streams(other.factors)), strict=True)
        factors = [*self.factors, *(_moved(f, stream) for f, stream in theirs)]
        return self.changed(factors=merged(factors, self.reference), names=self.names + other.names)

    def __rmul__(self, other: object) -> Gram:
        """Return the joint of a Gram in memory with this one."""
        if not isinstance(other, Gram):
            return NotImplemented
        return self._beside(other) * self

    def _beside(self, other: Gram) -> Streamed:
        """Cut a Gram in memory into the blocks of this one."""
        self._require_same_rows(other)
        points = [factor for factor in other.factors if isinstance(factor, Points)]
        if len(points) < len(other.factors):
            raise TypeError("a ready matrix does not join rows that are not in memory")
        if not _arrays.is_numpy(other.reference):
            raise TypeError("tensors do not join rows that are not in memory: give NumPy arrays")
        if not self._same_in_memory(other):
            raise self._different_weights(other)
        streams = self.sources[0].aligned([factor.source for factor in points])
        factors = [_moved(f, s) for f, s in zip(points, streams, strict=True)]
        return self.changed(factors=factors, names=other.names, mass=other.mass)

    def _same_in_memory(self, other: Gram) -> bool:
        if self.n != other.n:
            return False
        if self.frequency is None:
            return bool(np.allclose(other.weights, self.unit, rtol=1e-6, atol=0))
        return self._same_weights(other)

    def _same_frequency(self, other: Streamed) -> bool:
        if self.n != other.n or len(self) != len(other):
            return False
        if self.frequency is None and other.frequency is None:
            return self.unit == other.unit
        if self.frequency is None or other.frequency is None:
            return False
        both = self.frequency.stack([self.frequency, other.frequency])
        return bool(max(both.map(_gap)) <= 1e-6)


def streamed(kernel: Kernel, points: Stream, frequency: Source | None, name: str) -> Streamed:
    """Make the Gram of one stream."""
    column = None if frequency is None else points.aligned([frequency])[0]
    if column is not None:
        column = column.each(partial(_checked_frequency, f"{name}'s weights"))
        total, rows = column.sum(_total)
        n = number_of_points(float(total), int(rows), f"{name}'s weights")
    else:
        total = n = float(len(points))
    if isinstance(kernel, Delta):  # beside others, integers and floats would not keep apart
        points = points.each(_arrays.codes)
    elif column is None:
        points = points.each(_arrays.as_points)
    else:
        there = column.locate(np.array([0.5 * float(total)]))  # a row that has a weight
        row = points.take(there).all()
        points = points.stack([points, column]).each(partial(_present, row))
    rules = rules_of(kernel, points.shape[1])
    settled, prepared = normalized(*kernel.prepare(points, column), name)
    return Streamed([Points(settled, prepared, rules=rules)], column, 1.0 / float(total), n)


# What runs where the blocks are: plain functions, so that they can be sent there.


@dataclass(frozen=True)
class _Block:
    """Makes the Gram of a block of rows from the values of its task."""

    bundle: Callable[..., list[np.ndarray]]
    kernels: list[Kernel]
    unit: float
    n: float
    dtype: str

    def __call__(self, *values: Any) -> Gram:
        return self.gram(self.bundle(*values))

    def gram(self, columns: list[np.ndarray]) -> Gram:
        """Return the Gram."""
        arrays = columns[: len(self.kernels)]
        count = columns[-1][:, 0] if len(columns) > len(self.kernels) else np.ones(len(arrays[0]))
        weights = (self.unit * count).astype(self.dtype)
        points = [Points(k, ArraySource(a)) for k, a in zip(self.kernels, arrays, strict=True)]
        return Gram(points, np.sqrt(weights), weights, self.n, [])


def _on_block(function: Callable[[Gram, int], Any], make: _Block, start: int, *values: Any) -> Any:
    return function(make(*values), start)


def _mask(function: Callable[[Gram], np.ndarray], make: _Block, *values: Any) -> np.ndarray:
    return function(make(*values))[:, None]


def _columns(others: Gram, part: Gram, start: int) -> np.ndarray:
    block = part.cross(slice(0, len(part)), others)
    return np.asarray(block * part.scale[:, None] * others.scale[None, :])


def _two(make: _Block, size: int, *values: Any) -> tuple[Gram, Gram, bool]:
    """Make the Grams of a pair of blocks; tell whether they are one block."""
    first, second = values[:size], values[size:]
    left = make(*first[1:])
    same = bool(first[0] == second[0])
    return left, left if same else make(*second[1:]), same


def _tiles(left: Gram, right: Gram) -> list[tuple[slice, slice]]:
    return [(r, c) for r in slices(len(left), TILE) for c in slices(len(right), 2 * TILE)]


def _squares(make: _Block, size: int, *values: Any) -> float:
    left, right, same = _two(make, size, *values)
    total = 0.0
    for rows, columns in _tiles(left, right):
        block = np.square(left.rows(rows).cross(slice(0, None), right.rows(columns)))
        total += float((left.scale[rows] ** 2) @ (block @ (right.scale[columns] ** 2)))
    return total if same else 2 * total


def _times(
    make: _Block, V: np.ndarray, W: np.ndarray, size: int, *values: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return A_ij W and A_ij' V for a pair of blocks."""
    left, right, same = _two(make, size, *values)
    here, there = np.zeros_like(V), np.zeros_like(W)
    X, Y = left.scale[:, None] * V, right.scale[:, None] * W
    for rows, columns in _tiles(left, right):
        block = left.rows(rows).cross(slice(0, None), right.rows(columns))
        here[rows] += block @ Y[columns]
        if not same:
            there[columns] += block.T @ X[rows]
    return left.scale[:, None] * here, right.scale[:, None] * there


def _present(row: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return points beside their weights, with one row for those of weight 0, which are absent."""
    return np.where(rows[:, -1:] > 0, rows[:, :-1], row)


def _as_column(values: np.ndarray) -> np.ndarray:
    return np.asarray(values)[:, None]


def _as_single(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype.kind == "f" else array


def _checked_frequency(name: str, rows: np.ndarray) -> np.ndarray:
    values = rows.astype(np.float64)
    if rows.shape[1] != 1:
        raise ValueError(f"{name} must be one number for each row, found {rows.shape[1]}")
    if not (values >= 0).all():
        raise ValueError(f"{name} must not be negative, found {values.min():g}")
    return values


def _total(rows: np.ndarray, block: slice) -> np.ndarray:
    return np.array([rows.sum(), np.count_nonzero(rows)])


def _gap(rows: np.ndarray, block: slice) -> float:
    return float(np.max(np.abs(rows[:, 0] - rows[:, 1]) - 1e-6 * np.abs(rows[:, 0]), initial=0.0))


def _moved(factor: Factor, source: Source) -> Points:
    """Return a factor with its points from elsewhere."""
    return Points(factor.kernel, source, rules=factor.rules if isinstance(factor, Points) else ())


def _sources(factors: Sequence[Factor]) -> list[Source]:
    return [f.source for f in factors if isinstance(f, Points)]


def _streams(factors: Sequence[Factor]) -> list[Stream]:
    return [f.source for f in factors if isinstance(f, Points) and isinstance(f.source, Stream)]


def _common(likes: list[np.ndarray]) -> np.dtype[Any]:
    """Return the widest of the floating types: float64 if there is none."""
    floats = [like.dtype for like in likes if like.dtype.kind == "f"]
    return np.result_type(*floats) if floats else np.dtype(np.float64)
