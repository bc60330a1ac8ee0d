"""The default solver: exact structure first, then the cheapest method within the tolerance.

Where no certified bounds are requested, a small block gets all its eigenvalues. A large block gets
a low-rank factor and an estimate of the residual's eigenvalues (`lorenyi.spectra.lowrank`); where
the residual is large, their density comes from random vectors (`lorenyi.spectra.quadrature`). Order
2 is a mean over pairs of rows (`lorenyi.pairs`). Certified bounds come from
`lorenyi.spectra.prover`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from numbers import Real

from lorenyi import _arrays
from lorenyi._memory import fits
from lorenyi._progress import Progress, note, reporting
from lorenyi._threads import one_thread, parallel
from lorenyi.gram import Gram, squared_norm
from lorenyi.gram.host import on_host
from lorenyi.pairs import MAX_ALL_ROWS, PairMean, pair_mean
from lorenyi.spectra.bounds import union
from lorenyi.spectra.exact import Exact
from lorenyi.spectra.lanczos import BlockLanczos
from lorenyi.spectra.lowrank import COMPLETE, LowRank
from lorenyi.spectra.prover import Prover, share
from lorenyi.spectra.quadrature import Quadrature
from lorenyi.spectra.solver import Goal, Solver, Width, known_spectrum, require_seed
from lorenyi.spectra.spectrum import Spectrum, require_rank

CERTIFIED_TOL = 1e-2  # bits: default width of certified bounds
COARSEST_TOL = 1e-2  # bits: a default result with a larger computing error warns
SMALL_ROWS = 300  # above which a gradient at a small rank does not need all eigenvalues


@dataclass(frozen=True)
class Limits:
    """Sizes that choose between methods, with times measured on one core of two.

    Attributes
    ----------
    dense : int
        Rows of a block up to which all eigenvalues are computed at once: 0.05 s.
    instead : int
        Rows up to which they are computed if a factor does not reach the tolerance: 2 s.
    at_last : int
        The same if even the coarsest tolerance is not reached: 20 s.
    least : int
        Minimum columns of a factor: with fewer the error is not well estimated.
    columns : int
        Maximum columns of a factor: 10,000 rows take 4 s.
    columns_asked : int
        The same where a tolerance was requested.
    deflated : int
        Columns of a factor for quadrature: more take longer than the vectors that they save.
    stored : int
        Rows up to which the residual of a factor is a stored matrix: 0.6 GB in float32.
    stored_at_last : int
        The same if even the coarsest tolerance is not reached otherwise: 2.3 GB.
    vectors : int
        Maximum number of vectors it is multiplied with: 10,000 rows take 15 s.
    factor_bytes : int
        Maximum size of a factor of all rows, used if that of a sample misses rare rows.
    """

    dense: int = 1_000
    instead: int = 4_000
    at_last: int = 8_000
    least: int = 256
    columns: int = 1_024
    columns_asked: int = 3_000
    deflated: int = 128
    stored: int = 12_000
    stored_at_last: int = 24_000
    vectors: int = 256
    factor_bytes: int = 2**29


LIMITS = Limits()


@dataclass(frozen=True)
class Plan:
    """What `Auto` would do with a Gram, block by block, and why."""

    lines: tuple[str, ...]

    def __str__(self) -> str:
        """One line a block."""
        return "\n".join(self.lines)

    __repr__ = __str__


@dataclass(frozen=True)
class Auto(Solver):
    """The default solver: the cheapest method within the tolerance.

    Equal rows, equality kernels and finite feature maps are used first. Order 2 without a rank is a
    mean over pairs of rows. Otherwise each remaining block gets all its eigenvalues if it is small,
    or a pivoted Cholesky factor and an estimate of the residual's eigenvalues: stochastic Lanczos
    quadrature if the residual is large and the matrix can be stored, otherwise an estimate that is
    linear in the number of rows.

    Parameters
    ----------
    tol : float, optional
        Computing error in bits: as estimated, or, for `Renyi.certified`, the width of the bounds.
        By default 15 % of the standard error, at most 0.01 bits; certified bounds are 0.01 bits
        wide.
    memory : int, optional
        Bytes that certified bounds may use; by default half of the free memory.
    seed : int
        Seed of everything random.
    progress : bool or callable, optional
        By default a bar appears in terminals and notebooks when a call takes some seconds; False:
        never. A function is called with a message and the computing error (bits) after each
        refinement.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.linspace(0.0, 9.0, 2000), lr.Gaussian(1.0))
    >>> lr.Auto().plan(A)
    2000 rows: low-rank factor (0.17 % of the trace left by 11 columns), else quadrature
    """

    tol: float | None = None
    memory: int | None = None
    seed: int = 0
    progress: Progress = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.tol is not None and not (isinstance(self.tol, Real) and self.tol > 0):
            raise ValueError(
                f"tol={self.tol!r}: the computing error in bits must be a positive number, or None"
            )
        if self.memory is not None and not (isinstance(self.memory, Real) and self.memory > 0):
            raise ValueError(f"memory={self.memory!r}: give a number of bytes, or None")
        require_seed(self.seed)

    def __call__(self, A: Gram, rank: int | None = None, width: Width | None = None) -> Spectrum:
        """Return the leading eigenvalues, with bounds whose `width` is at most `tol`."""
        if rank is not None:
            require_rank(rank, A.n)
        with one_thread(A.reference):
            if A.tracks_gradient:
                return self._in_its_library(A, rank)
            tol = CERTIFIED_TOL if self.tol is None else float(self.tol)
            with reporting(self.progress, 1, "spectra"):
                return Prover(tol, self.memory, self.seed).search(A, rank, width)

    @property
    def wanted_error(self) -> float | None:
        """Requested computing error in bits."""
        return self.tol

    @property
    def largest_error(self) -> float:
        """Computing error in bits beyond which a result warns."""
        return COARSEST_TOL if self.tol is None else self.tol

    def proven(self, A: Gram, alpha: float, rank: int | None, width: Width) -> Spectrum:
        """Return a spectrum with bounds; order 0 counts eigenvalues, so it needs all."""
        return Exact()(A, rank) if alpha == 0 else self(A, rank, width)

    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Solve one block as a whole."""
        return self(A, rank)

    # ------------------------------------------------------------------ estimates

    def estimate(self, A: Gram, goal: Goal) -> Spectrum | PairMean:
        """Return a spectrum or pair mean for a goal, computed to its tolerance."""
        with one_thread(A.reference):
            if goal.alpha == 2 and goal.rank is None:
                return self._pairs(A, goal)
            if goal.alpha == 0:
                return Exact()(A, goal.rank)
            small = not _arrays.is_numpy(A.reference) and len(A) <= LIMITS.dense
            if A.tracks_gradient or small:
                return self._in_its_library(A, goal.rank)
            return self._blocks(on_host(A), goal)

    def _pairs(self, A: Gram, goal: Goal) -> PairMean:
        """All pairs of rows, or enough that their noise is below a requested tolerance."""
        found = pair_mean(A, self.seed)
        while self.tol is not None and (noise := found.noise(False)) is not None:
            if noise.standard_error <= goal.tol:
                break
            if 8 * found.pairs >= float(len(A)) ** 2:
                return PairMean(squared_norm(A), A.n)
            found = pair_mean(A, self.seed, pairs=4 * found.pairs)
        return found

    def _blocks(self, A: Gram, goal: Goal) -> Spectrum:
        singles, blocks = A.reduced
        known = known_spectrum(singles, A.mass if not blocks else None)

        def estimated(block: Gram) -> Spectrum:
            rank = goal.rank and share(goal.rank, block.mass / A.mass)
            rank = None if rank is None else min(rank, len(block) - 1)
            return self._block(block, replace(goal, rank=rank))

        return union([*known, *parallel(estimated, blocks)], A.n, A.mass)

    def _block(self, A: Gram, goal: Goal) -> Spectrum:
        """Estimate the spectrum of one block, to the tolerance in bits of its own entropy."""
        if len(A) <= LIMITS.dense or A.is_sparse:
            return Exact().solve(A, None)
        found = LowRank(A, self.seed)
        level = _level(goal)
        flat = found.sampled and _storable(A, LIMITS.stored_at_last) and _is_flat(found, level)
        if flat:
            found = LowRank(A, self.seed, may_sample=False)
        stored = flat or _storable(A, LIMITS.stored)
        way = self._by_quadrature if stored else self._by_factor
        spectrum, error = way(found, goal, level)
        if found.sampled and error > COARSEST_TOL and _storable(A, LIMITS.stored_at_last):
            found = LowRank(A, self.seed, may_sample=False)
            spectrum, error = self._by_quadrature(found, goal, level)
        elif _misses_rare_rows(found) and error > self._enough(goal):
            found = LowRank(A, self.seed, may_sample=False)
            spectrum, error = self._by_factor(found, goal, level)
        coarse = error > COARSEST_TOL or goal.alpha < 1
        affordable = LIMITS.at_last if coarse else LIMITS.instead
        good = error <= self._enough(goal) or len(A) > affordable
        return spectrum if good else Exact().solve(A, None)

    def _by_factor(self, found: LowRank, goal: Goal, level: float) -> tuple[Spectrum, float]:
        """Return a spectrum from as many columns as needed, and its error in bits."""
        most = LIMITS.columns if self.tol is None else LIMITS.columns_asked
        most = min(most, len(found.A) // 2)
        while True:
            growing = _grown(found, most, level)
            spectrum = found.spectrum()
            error = self._error(spectrum, goal, f"{found.size} columns")
            if error <= self._enough(goal) or not growing:
                return spectrum, error
            level = found.rest * min(max(goal.tol / error, 0.1), 0.7)

    def _by_quadrature(self, found: LowRank, goal: Goal, level: float) -> tuple[Spectrum, float]:
        """The same from few columns; if the residual is large, from as many vectors as needed."""
        _grown(found, LIMITS.deflated, level)
        if found.rest <= level:
            _grown(found, LIMITS.least, level)
            spectrum = found.spectrum()
            error = self._error(spectrum, goal, f"{found.size} columns")
            if error <= self._enough(goal) or found.rest <= COMPLETE:
                return spectrum, error
        outside = Quadrature(found.A, found.factor.F, 0.5 * goal.tol, self.seed)
        more = LIMITS.vectors // 16
        while True:
            outside.grow(more)
            spectrum = outside.spectrum()
            error = self._error(spectrum, goal, f"{outside.size} vectors")
            wanted = math.ceil(outside.size * (error / goal.tol) ** 2)  # noise: 1 / root of size
            hopeless = wanted > LIMITS.vectors and len(found.A) <= LIMITS.instead
            if error <= self._enough(goal) or outside.size >= LIMITS.vectors or hopeless:
                return spectrum, error
            more = min(wanted, LIMITS.vectors) - outside.size

    def _enough(self, goal: Goal) -> float:
        """Return the accepted error in bits: a default tolerance need only nearly be met."""
        return (1.5 if self.tol is None else 1.0) * goal.tol

    def _error(self, spectrum: Spectrum, goal: Goal, effort: str) -> float:
        error = goal.error(_of_trace_one(spectrum), goal.rank)
        note(f"{spectrum.n:g} rows, {effort}, error {error:.1g} bits", error)
        return error

    def _in_its_library(self, A: Gram, rank: int | None) -> Spectrum:
        """Solve in the arrays' own library; with a gradient and many rows, only up to the rank."""
        singles, blocks = A.reduced
        parts = known_spectrum(singles, A.mass if not blocks else None)
        for block in blocks:
            few = rank is not None and 4 * rank < len(block) and len(block) > SMALL_ROWS
            few = few and A.tracks_gradient
            steps = 4 + 5 * (rank or 0) // 16  # gradients need vectors: they converge after values
            solver: Solver = (
                BlockLanczos(steps=steps, single=False, seed=self.seed) if few else Exact()
            )
            parts.append(solver.solve(block, None if rank is None else min(rank, len(block))))
        return union(parts, A.n, A.mass)

    # ------------------------------------------------------------------ plans

    def plan(self, A: Gram, rank: int | None = None, alpha: float = 1.0) -> Plan:
        """Say what would be done with each block for an entropy, and why."""
        if alpha == 2 and rank is None:
            pairs = "all pairs" if len(A) <= MAX_ALL_ROWS else "a balanced sample of pairs"
            return Plan((f"{len(A)} rows: mean over {pairs} of rows (order 2)",))
        with one_thread(A.reference):
            singles, blocks = A.reduced
            lines = [f"{len(singles)} eigenvalues known from equal rows and labels"]
            lines = lines * bool(len(singles)) + [self._line(block, alpha) for block in blocks]
        if len(lines) > 12:
            lines = [*lines[:10], f"... and {len(lines) - 10} blocks more"]
        return Plan(tuple(lines))

    def _line(self, A: Gram, alpha: float) -> str:
        rows = f"{len(A)} rows: "
        if len(A) <= LIMITS.dense or A.is_sparse or alpha == 0:
            return rows + "all eigenvalues (small)" if alpha else rows + "all eigenvalues (order 0)"
        if A.tracks_gradient:
            return rows + "all eigenvalues, or BlockLanczos with a rank (gradient)"
        pilot = LowRank(A, self.seed)
        pilot.grow(64)
        kind = "low-rank factor of sampled rows" if pilot.sampled else "low-rank factor"
        left = f"{kind} ({100 * pilot.rest:.2g} % of the trace left by {pilot.size} columns)"
        return rows + left + ", else quadrature" * (len(A) <= LIMITS.stored)


def _storable(A: Gram, most: int) -> bool:
    """Return whether a matrix in float32, and as much again, fits in memory."""
    return len(A) <= most and A.in_memory and fits(8 * len(A) ** 2)


def _level(goal: Goal) -> float:
    """Return the share of the trace that may remain in the residual.

    Measured: the error of order 1 is about a tenth of it, and far less above order 1. Below order
    1 the smallest eigenvalues weigh most, which sums and squares do not determine.
    """
    if goal.alpha >= 1.2 or goal.rank is not None:
        return 0.2
    return 10 * goal.tol if goal.alpha >= 1 else COMPLETE


def _grown(found: LowRank, most: int, level: float) -> bool:
    """Add columns until the residual is below `level`; return whether more can be added."""
    while found.size < most and (found.size < LIMITS.least or found.rest > level):
        if not found.grow(min(max(64, found.size // 4), most - found.size)):
            return False
    return found.size < most


def _is_flat(found: LowRank, level: float) -> bool:
    """Return whether four times the minimum columns are expected to leave a large residual.

    Measured: four times the columns leave a quarter of it at best, and the error in bits is a tenth
    of that.
    """
    _grown(found, LIMITS.least, level)
    return found.rest > max(40 * COARSEST_TOL, 4 * level)


def _misses_rare_rows(found: LowRank) -> bool:
    """Return whether the factor of a sample is complete, so that only rows outside it are missed.

    Then few columns suffice for all rows, if their factor is small enough to keep.
    """
    kept = 8 * found.size * len(found.A)
    affordable = found.A.in_memory and kept <= LIMITS.factor_bytes
    return found.sampled and found.rest <= COMPLETE and affordable


def _of_trace_one(spectrum: Spectrum) -> Spectrum:
    """Return the spectrum of a block as if it were the whole, with its alternatives."""

    def scaled(part: Spectrum) -> Spectrum:
        return replace(part, values=part.values / part.trace, trace=1.0, alternatives=())

    return replace(scaled(spectrum), alternatives=tuple(map(scaled, spectrum.alternatives)))
