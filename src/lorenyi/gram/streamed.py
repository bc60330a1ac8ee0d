"""A Gram whose rows are not in memory: work goes to its blocks, only small results come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._memory import require_memory
from lorenyi.data.sources import Source, slices
from lorenyi.data.streams import Stream, bundle, gather, joined
from lorenyi.gram import groups, tasks
from lorenyi.gram.factors import Factor, Points, as_single, is_wide, merged
from lorenyi.gram.memory import InMemory
from lorenyi.gram.protocol import (
    Gram,
    are_close,
    require_same_rows,
    require_same_weights,
)
from lorenyi.gram.tiles import bytes_of

UNDER_WAY = 2**28  # maximum bytes of results that wait to be summed here


@dataclass(frozen=True, eq=False, repr=False)
class Streamed(Gram):
    """The normalized kernel matrix of rows in blocks, here or on a cluster.

    Each block is a small Gram in the memory of its worker; `map` and `sum` apply a function to
    these. `collected` fetches all rows to one place.

    Parameters
    ----------
    factors : tuple of Points
        Aligned streams with their kernels.
    frequency : Stream or None
        Weights before normalization, as one column; None stands for ones.
    unit : float
        Weight of one point: the diagonal of A is `unit` times the frequency.
    n, names, mass
        As for `Gram`.
    precision : dtype, optional
        Of the entries; by default that of the points.
    """

    factors: tuple[Factor, ...]
    frequency: Stream | None
    unit: float
    n: float
    names: tuple[str, ...] = ()
    mass: float = 1.0
    precision: np.dtype[Any] | None = None
    _samples: dict[tuple[int, int], InMemory] = field(default_factory=dict, init=False)
    in_memory: ClassVar[bool] = False

    def __len__(self) -> int:
        """Number of rows of the matrix."""
        return len(self.factors[0])

    # Weights and scale of all rows are fetched only when needed.

    @property
    def weights(self) -> Array:
        """The diagonal of A: relative weights that sum to one (fetched, where they differ)."""
        return self._vectors[0]

    @property
    def scale(self) -> Array:
        """Scale of rows and columns (fetched, where it differs)."""
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

    @cached_property
    def reference(self) -> Array:
        """An array of the precision of the matrix."""
        likes = [stream.like.dtype for stream in _streams(self.factors)]
        floats = [dtype for dtype in likes if dtype.kind == "f"] or [np.dtype(np.float64)]
        return np.zeros(0, dtype=self.precision or np.result_type(*floats))

    @property
    def is_weighted(self) -> bool:
        """Whether rows were given weights."""
        return self.frequency is not None

    # ------------------------------------------------------------------ blocks

    @property
    def sources(self) -> list[Stream]:
        """All streams that a block's Gram is made of."""
        return _streams(self.factors) + ([] if self.frequency is None else [self.frequency])

    @property
    def _make(self) -> tasks.Block:
        kinds = [(f.kernel, f.rules) for f in self.factors if isinstance(f, Points)]
        dtype = self.reference.dtype.str
        return tasks.Block(bundle(self.sources), kinds, self.unit, self.n, dtype)

    @cached_property
    def _tasks(self) -> list[tuple[Any, ...]]:
        streams = self.sources
        return [(int(s), *t) for s, t in zip(streams[0].starts, joined(streams), strict=False)]

    def map(self, function: Callable[[InMemory, int], Any]) -> list[Any]:
        """Apply `function(Gram of a block, number of its first row)` where the blocks are."""
        return self.sources[0].engine.map(
            partial(tasks.on_block, function, self._make), self._tasks
        )

    def sum(self, function: Callable[[InMemory, int], Any]) -> Any:
        """Sum `function(Gram of a block, number of its first row)`, as a tree."""
        return self.sources[0].engine.sum(
            partial(tasks.on_block, function, self._make), self._tasks
        )

    def sum_and_keep(self, function: Callable[[InMemory, int], Any]) -> tuple[Any, Source]:
        """Sum the first values of a function; its second, one number per row, stay in place."""
        first = self.sources[0]
        run = partial(tasks.on_block, function, self._make)
        total, kept = first.engine.sum_and_keep(run, self._tasks)
        like = np.zeros((0, 1))
        return total, Stream(
            first.engine, [(h,) for h in kept], first.starts, tasks.as_column, like
        )

    def take(self, index: np.ndarray) -> InMemory:
        """Fetch the Gram of the rows at these positions (n and mass stay)."""
        part = self._make.gram(gather(self.sources, np.asarray(index)))
        return part.changed(names=self.names, mass=self.mass)

    def sample(self, size: int, seed: int) -> InMemory:
        """Fetch the Gram of some rows drawn at random; cached, as several callers need it."""
        if (size, seed) not in self._samples:
            self._samples[size, seed] = super().sample(size, seed)
        return self._samples[size, seed]

    def choose(self, seed: int, stream: int, size: int) -> np.ndarray:
        """Draw rows without replacement."""
        return self.sources[0].choose(seed, stream, size)

    def collected(self) -> InMemory:
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
        mask: Callable[[InMemory], np.ndarray],
        counts: Sequence[int] | np.ndarray,
        mass: float,
    ) -> Streamed:
        """Return the Gram of the rows that a function of another Gram's blocks selects.

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
        recipe = partial(tasks.mask, mask, other._make)
        lead = other.sources[0]
        where = Stream(lead.engine, joined(other.sources), lead.starts, recipe, like)
        streams = [stream.only(where, list(counts)) for stream in self.sources]
        factors = [_moved(f, s) for f, s in zip(self.factors, streams, strict=False)]
        frequency = None if self.frequency is None else streams[-1]
        return self.changed(factors=factors, frequency=frequency, mass=mass)

    @cached_property
    def reduced(self) -> tuple[Array, list[Gram]]:
        """Return eigenvalues known from structure, and smaller Grams that hold the others."""
        return groups.reduced(self)

    def reduced_to(self, factors: Sequence[Factor], scale: Array, weights: Array) -> InMemory:
        """Return a smaller Gram in memory in place of this one: n, names and mass stay."""
        return InMemory(tuple(factors), scale, weights, self.n, self.names, self.mass)

    # ------------------------------------------------------------------ the matrix

    def dense(self) -> Array:
        """Return A as a dense array, if it fits in memory."""
        require_memory(
            bytes_of(self),
            f"a dense {len(self)} x {len(self)} kernel matrix",
            "use a solver that reads it in blocks, such as Auto or PivotedCholesky",
        )
        return super().dense()

    def columns(self, index: np.ndarray) -> Array:
        """Return A[:, index]: the rows at these positions go to all blocks."""
        return np.concatenate(self.map(partial(tasks.columns, self.take(index))))

    def _pair(self, i: int, j: int) -> tuple[Any, ...]:
        """Return the handles of two blocks, and how many belong to the first."""
        return (len(self._tasks[i]), *self._tasks[i], *self._tasks[j])

    def sum_of_squares(self) -> Array:
        """Return the sum of the squared entries, each evaluated."""
        count = len(self._tasks)
        pairs = [self._pair(i, j) for i in range(count) for j in range(i, count)]
        return np.asarray(self.sources[0].engine.sum(partial(tasks.squares, self._make), pairs))

    def __matmul__(self, V: Array) -> Array:
        """Return A @ V: each pair of blocks gets the two blocks of V that it multiplies."""
        vector = V.ndim == 1
        V = V[:, None] if vector else V
        engine, starts = self.sources[0].engine, self.sources[0].starts
        cuts = [slice(a, b) for a, b in pairwise(starts)]
        pairs = [(i, j) for i in range(len(cuts)) for j in range(i, len(cuts))]
        product = np.zeros_like(V)
        size = 2 * int(np.diff(starts).max()) * V.shape[1] * V.itemsize
        for group in slices(len(pairs), max(UNDER_WAY // size, 4)):
            work = [(V[cuts[i]], V[cuts[j]], *self._pair(i, j)) for i, j in pairs[group]]
            found = engine.map(partial(tasks.times, self._make), work)
            for (i, j), (here, there) in zip(pairs[group], found, strict=True):
                product[cuts[i]] += here
                if j > i:
                    product[cuts[j]] += there
        return product[:, 0] if vector else product

    def single(self, points: bool = True) -> Streamed:
        """Return the same Gram in float32; its entries alone, or its points too if they may be."""
        if self.reference.dtype.itemsize <= 4:
            return self
        factors = [f if not points or is_wide(f) else f.map(as_single) for f in self.factors]
        return self.changed(factors=factors, precision=np.dtype(np.float32))

    # ------------------------------------------------------------------ joints

    def __mul__(self, other: object) -> Gram:
        """Return the joint: kernels multiply, the common weights apply once."""
        if not isinstance(other, Gram):
            return NotImplemented
        require_same_rows(self, other)
        if isinstance(other, Streamed):
            require_same_weights(self, other, self._same_frequency(other))
        else:
            other = self._beside(other.collected())
        theirs = zip(other.factors, self.sources[0].aligned(_streams(other.factors)), strict=True)
        factors = merged([*self.factors, *(_moved(f, s) for f, s in theirs)], self.reference)
        return self.changed(factors=factors, names=self.names + other.names, precision=None)

    def __rmul__(self, other: object) -> Gram:
        """Return the joint of a Gram in memory with this one."""
        return self._beside(other) * self if isinstance(other, InMemory) else NotImplemented

    def _beside(self, other: InMemory) -> Streamed:
        """Cut a Gram in memory into the blocks of this one."""
        points = [factor for factor in other.factors if isinstance(factor, Points)]
        if len(points) < len(other.factors):
            raise TypeError("a ready matrix cannot join rows that are not in memory")
        if not _arrays.is_numpy(other.reference):
            raise TypeError("tensors cannot join rows that are not in memory: give NumPy arrays")
        require_same_weights(self, other, are_close(self.weights, other.weights))
        streams = self.sources[0].aligned([factor.source for factor in points])
        factors = [_moved(f, s) for f, s in zip(points, streams, strict=True)]
        return self.changed(factors=factors, names=other.names, mass=other.mass, precision=None)

    def _same_frequency(self, other: Streamed) -> bool:
        if self.frequency is None or other.frequency is None:
            return self.frequency is other.frequency and self.unit == other.unit
        both = self.frequency.stack([self.frequency, other.frequency])
        return bool(max(both.map(_gap)) <= 1e-6)


def _gap(rows: np.ndarray, block: slice) -> float:
    return float(np.max(np.abs(rows[:, 0] - rows[:, 1]) - 1e-6 * np.abs(rows[:, 0]), initial=0.0))


def _moved(factor: Factor, source: Source) -> Points:
    """Return a factor with its points from another source."""
    return Points(factor.kernel, source, rules=factor.rules if isinstance(factor, Points) else ())


def _streams(factors: Sequence[Factor]) -> list[Stream]:
    return [f.source for f in factors if isinstance(f, Points) and isinstance(f.source, Stream)]
