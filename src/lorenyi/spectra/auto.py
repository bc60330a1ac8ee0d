"""The default solver: structure first, then whatever is cheapest, until the certificate is narrow.

Each block of a Gram becomes a `Search` that can be refined: all eigenvalues at once, a pivoted
Cholesky factor that grows, or a Krylov basis that grows. `Auto` refines those that leave the most
open until the certified width of the quantity asked for is below the tolerance.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from lorenyi import _arrays
from lorenyi.blocks import free_memory
from lorenyi.gram import Gram, Points
from lorenyi.spectra.bounds import enclosure, union
from lorenyi.spectra.cholesky import Factor, Nystroem, subsample
from lorenyi.spectra.exact import Exact
from lorenyi.spectra.krylov import Krylov
from lorenyi.spectra.lanczos import BlockLanczos
from lorenyi.spectra.solver import Solver, Width, known_spectrum, require_seed
from lorenyi.spectra.spectrum import Spectrum, require_rank

SMALL = 300  # rows up to which all eigenvalues cost next to nothing
MODERATE = 1200  # rows up to which they cost less than an iteration
SAMPLE = 20_000  # rows up to which a Cholesky factor is kept whole
FAILURE = 1e-7  # of all probes of one spectrum together
Progress = Callable[[str, float], None]
Goal = Callable[[Spectrum], float]


class Search(ABC):
    """A block's spectrum, known better after each `refine`."""

    method: str

    def __init__(self, A: Gram) -> None:
        self.A = A

    @abstractmethod
    def spectrum(self) -> Spectrum:
        """Return what is known now."""

    @abstractmethod
    def refine(self, excess: float, goal: Goal) -> bool:
        """Learn more, where that is possible.

        Parameters
        ----------
        excess : float
            The width now over the width wanted.
        goal : callable
            The same for another spectrum of this block, were it the whole.
        """


def _open(spectrum: Spectrum, mass: float) -> float:
    """Return how much mass is not settled: the largest gap between the partial sums."""
    pair = enclosure(spectrum)
    if pair is None:
        return mass
    peaked, spread = pair
    places = int(min(spectrum.n, 4096))
    return float(np.max(_sums(peaked, places) - _sums(spread, places), initial=0.0))


def _sums(spectrum: Spectrum, places: int) -> np.ndarray:
    """Partial sums of a complete spectrum at 1, 2, ..., places."""
    counts = np.ones(len(spectrum)) if spectrum.counts is None else spectrum.counts
    ends, heights = np.cumsum(counts), np.cumsum(spectrum.values * counts)
    t = np.arange(1, places + 1)
    return np.asarray(np.interp(t, np.append(0.0, ends), np.append(0.0, heights)))


def _as_if_whole(spectrum: Spectrum, n: int) -> Spectrum:
    """Return a sample's spectrum as that of n rows and trace one, to see how wide it would be."""
    pair = enclosure(replace(spectrum, n=n)) or (spectrum, spectrum)
    peaked, spread = (Spectrum(end.values / end.trace, n, 1.0, counts=end.counts) for end in pair)
    return replace(spread, kind="ritz", proof=lambda: (peaked, spread))


class WholeSearch(Search):
    """All eigenvalues at once."""

    method = "Exact"

    def __init__(self, A: Gram) -> None:
        super().__init__(A)
        self._spectrum = Exact().solve(A, None)

    def spectrum(self) -> Spectrum:
        """Return the eigenvalues."""
        return self._spectrum

    def refine(self, excess: float, goal: Goal) -> bool:
        """There is nothing more to learn."""
        return False


class FactorSearch(Search):
    """A pivoted Cholesky factor; for many rows, of a sample, through which all are streamed."""

    method = "PivotedCholesky"

    def __init__(self, A: Gram, seed: int, most: int) -> None:
        super().__init__(A)
        points = all(isinstance(factor, Points) for factor in A.factors)
        self.sampled = points and len(A) > SAMPLE
        self.factor = Factor(subsample(A, SAMPLE, seed) if self.sampled else A, seed)
        self.most, self.seed = min(most, len(A) // 2), seed
        self.failure, self.draws = FAILURE, 0
        self.history: list[tuple[int, float]] = []
        self.streamed: Factor | Nystroem | None = None
        self.tight: tuple[float, float] | None = None
        if self.sampled:
            self.method = "Nyström from PivotedCholesky"
        for _ in range(2):  # a pilot: how fast does the residual fall?
            self._grow(64)

    def _grow(self, count: int) -> bool:
        grown = self.factor.grow(count)
        self.history.append((self.factor.size, self.factor.rest))
        self.streamed, self.tight = None, None
        return grown

    def promising(self, target: float) -> bool:
        """Tell whether the residual's trace will fall to `target` before `most` columns.

        Along exp(-c r^a), log(trace) against log(r) has slope a; it is read off the last halving.
        """
        size, rest = self.history[-1]
        if rest <= target:
            return True
        half, before = min(self.history, key=lambda entry: abs(entry[0] - size / 2))
        if not (0 < half < size and rest < before < self.A.mass):
            return False
        mass = self.A.mass
        slope = np.log(np.log(rest / mass) / np.log(before / mass)) / np.log(size / half)
        predicted = mass * np.exp(np.log(rest / mass) * (self.most / size) ** max(slope, 0.0))
        return bool(predicted <= target)

    def rehearse(self, goal: Goal) -> None:
        """Grow the factor of the sample until the sample itself is well within the goal."""
        while True:
            excess = goal(self.factor.spectrum(self.factor.frobenius(self.seed, 1e-3))) / 0.6
            if excess <= 1 or not self._grow_to(self.factor.rest / max(excess**0.7, 1.2)):
                return

    def spectrum(self) -> Spectrum:
        """Return the eigenvalues of the factor."""
        if self.streamed is None:
            self.streamed = Nystroem(self.A, self.factor) if self.sampled else self.factor
        return self.streamed.spectrum(*(self.tight or ()))

    def refine(self, excess: float, goal: Goal) -> bool:
        """Bound the residual's Frobenius norm; then grow until its trace has fallen enough."""
        if self.tight is None and self.streamed is not None and excess < 100:
            self.draws += 1
            failure = self.failure * 0.5**self.draws
            self.tight = (self.streamed.frobenius(self.seed, failure), self.failure)
            return True
        return self._grow_to(self.factor.rest / max(excess**0.8, 1.3))

    def _grow_to(self, target: float) -> bool:
        """Grow until the residual's trace is below `target`, if that seems possible."""
        if self.factor.size >= self.most or not self.promising(target):
            return False
        grown = False
        while self.factor.rest > target and self.factor.size < self.most:
            if not self._grow(min(128, self.most - self.factor.size)):
                break
            grown = True
        return grown


class KrylovSearch(Search):
    """A Krylov basis that grows, and random probes that bound what is outside it."""

    method = "BlockLanczos"

    def __init__(
        self, A: Gram, rank: int | None, seed: int, failure: float, *, hold: bool, single: bool
    ) -> None:
        super().__init__(A)
        self.rank = rank or 64
        self.failure, self.probing, self.probes = failure, False, 0
        matrix = A.single() if single else A
        block = 64 if not hold else 32 if len(A) > 3000 else 16
        size = 7 * self.rank // 4 + block
        self.krylov = Krylov(
            matrix.held() if hold else matrix, block, -(-size // block) * block, seed
        )
        self.krylov.fill()

    def spectrum(self) -> Spectrum:
        """Return the Ritz values."""
        return self.krylov.spectrum(self.A, None)

    def refine(self, excess: float, goal: Goal) -> bool:
        """Grow the basis; probe when that is expected to be enough; settle the probe."""
        krylov = self.krylov
        if krylov.complete or krylov.size > len(self.A) // 3:
            return False
        if self.probing:
            self._steps(1)
        elif kept := self._enough(goal):
            self.probing, self.probes = True, self.probes + 1
            krylov.probe(kept, krylov.block)
            self._steps(5)
        else:
            self._steps(max(2, krylov.size // (8 * krylov.block)))
        if self.probing:
            krylov.settle(self.failure * 0.5 ** (self.probes + krylov.steps))
            self.probing = krylov.steps < 14
        return True

    def _enough(self, goal: Goal) -> int:
        """Return how many Ritz vectors to keep if a bound on the rest would reach the goal, or 0.

        What is outside those that have settled is about as large as the next value, and the
        iteration that bounds it overshoots by about a quarter.
        """
        values, _, residual = self.krylov.ritz()
        unsettled = np.flatnonzero(residual > 0.05 * values)
        settled = int(unsettled[0]) if len(unsettled) else len(values) - 1
        if settled < 1:
            return 0
        expected = self.krylov.enclosure(settled, 1.25 * float(values[settled]))
        reached = goal(replace(expected[1], kind="ritz", proof=lambda: expected)) < 0.7
        return settled if reached else 0

    def _steps(self, count: int) -> None:
        krylov = self.krylov
        krylov.grow(krylov.size + count * int(krylov.X.shape[1]))
        for _ in range(count):
            if krylov.full:
                break
            krylov.step()


@dataclass(frozen=True)
class Plan:
    """What `Auto` would do with a Gram, block by block, and why."""

    lines: tuple[str, ...]
    memory: int

    def __str__(self) -> str:
        """One line a block."""
        return "\n".join([*self.lines, f"peak memory: about {self.memory / 2**20:.0f} MiB"])

    __repr__ = __str__


@dataclass(frozen=True)
class Auto(Solver):
    """The default: go on, by the cheapest way, until the certified width is below `tol`.

    Equal rows, equality kernels and finite feature maps are used first. Then, for each block:
    all eigenvalues when it is small; a pivoted Cholesky factor while its residual falls fast
    (smooth kernels); a block Krylov basis otherwise, on the matrix held in memory or, where that
    does not fit, matrix-free.

    Parameters
    ----------
    tol : float
        Width in bits of the certified interval to reach.
    memory : int, optional
        Bytes that may be used; half of what is free by default.
    seed : int
        Seed of everything random.
    progress : callable, optional
        Called with a message and the certified width (bits) after each refinement.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.linspace(0.0, 9.0, 2000), lr.Gaussian(1.0))
    >>> lr.Auto().plan(A)
    2000 rows: PivotedCholesky (residual 8.2e-06 after 16 columns)
    peak memory: about 4 MiB
    """

    tol: float = 1e-4
    memory: int | None = None
    seed: int = 0
    progress: Progress | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.tol > 0:
            raise ValueError(f"tol={self.tol!r}: the width in bits to reach must be positive")
        if self.memory is not None and not self.memory > 0:
            raise ValueError(f"memory={self.memory!r}: give a number of bytes, or None")
        require_seed(self.seed)

    def __call__(self, A: Gram, rank: int | None = None, width: Width | None = None) -> Spectrum:
        """Return the leading eigenvalues, refined until `width` of them is at most `tol`."""
        if rank is not None:
            require_rank(rank, A.n)
        singles, blocks = A.reduced
        if A.tracks_gradient:
            return self._differentiable(A, rank)
        fixed = known_spectrum(singles, A.mass if not blocks else None)
        failure = FAILURE / max(len(blocks), 1)
        width = width or (lambda spectrum: _open(spectrum, A.mass))
        searches = [self._start(block, rank, failure, width) for block in blocks]
        while True:
            spectrum = union([*fixed, *(s.spectrum() for s in searches)], A.n, A.mass)
            gap = width(spectrum)
            if self.progress is not None:
                self.progress(f"{A!r}: {gap:.3g} bits wide", gap)
            if gap <= self.tol or not self._refine(searches, gap / self.tol, rank, failure, width):
                break
        if gap > self.tol and spectrum.kind != "complete":  # then only rounding is left
            warnings.warn(
                f"{A!r}: the certified width is {gap:.3g} bits, tol asks for {self.tol:.3g}; raise "
                "tol=, give more memory=, a rank=, or use Exact()",
                RuntimeWarning,
                stacklevel=4,
            )
        return spectrum

    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Solve one block as a whole."""
        return self(A, rank)

    def plan(self, A: Gram, rank: int | None = None) -> Plan:
        """Say what would be done with each block, and why, after a pilot of a few columns."""
        singles, blocks = A.reduced
        lines = [f"{len(singles)} eigenvalues known from equal rows and labels"] * bool(
            len(singles)
        )
        peak = 0
        for block in blocks:
            method, reason, memory, _ = self._choose(block, rank)
            lines.append(f"{len(block)} rows: {method} ({reason})")
            peak = max(peak, memory)
        if len(lines) > 12:
            lines = [*lines[:10], f"... and {len(lines) - 10} blocks more"]
        return Plan(tuple(lines), peak)

    def _allowed(self) -> int:
        return self.memory if self.memory is not None else free_memory() // 2

    def _choose(self, A: Gram, rank: int | None) -> tuple[str, str, int, FactorSearch | None]:
        """Choose the method for one block: its name, why, bytes needed, and the pilot if any."""
        m = len(A)
        if m <= SMALL:
            return "Exact", "small", 24 * m * m, None
        reason = "not a NumPy array"
        if _arrays.is_numpy(A.reference) and not A.is_sparse:
            most = 1500 if m > SAMPLE else 800 if rank is not None else max(m // 3, 800)
            pilot = FactorSearch(A, self.seed, most)
            size, rest = pilot.history[-1]
            reason = f"residual {rest / A.mass:.2g} after {size} columns"
            if pilot.promising((1e-2 if m > SAMPLE else 1e-3) * A.mass):
                return pilot.method, reason, 16 * min(m, SAMPLE) * min(most, 8 * size), pilot
            reason += ": not smooth"
        return (*self._general(A, rank, reason), None)

    def _general(self, A: Gram, rank: int | None, reason: str) -> tuple[str, str, int]:
        """Choose between all eigenvalues and a Krylov basis, for a block that is not smooth."""
        m = len(A)
        fits = 24 * m * m <= self._allowed()
        if fits and (m <= MODERATE or (rank is not None and 6 * rank >= m)):
            return "Exact", f"{reason}, moderate size", 24 * m * m
        single = self._rounding(A, rank) < self.tol / 3
        item = 4 if single else 8
        precision = "float32" if single else "float64"
        basis = item * m * 6 * (rank or 64)
        matrix = item * m * m
        if matrix + basis <= self._allowed():
            return f"BlockLanczos, {precision} matrix held", reason, matrix + basis
        return (
            f"BlockLanczos, {precision} matrix-free",
            f"{reason}, too large to hold",
            basis + 2**27,
        )

    def _rounding(self, A: Gram, rank: int | None) -> float:
        """Estimate in bits what products in float32 would add to the certified width."""
        eps = float(np.finfo(np.float32).eps)
        if _arrays.epsilon(A.reference) > 0.1 * eps:
            return 0.0
        kept = 1.5 * (rank or 256)
        part = subsample(A, 256, self.seed) if len(A) > 256 else A
        frobenius = float(part.squared_norm()) ** 0.5
        entry = len(A) ** 0.5 * eps * float(np.max(_arrays.to_numpy(A.weights)))
        relative = A.roundoff / _arrays.epsilon(A.reference) * eps
        mass = kept**0.5 * (relative * frobenius + 6 * kept * entry)
        return float(mass * np.log2(A.n / (rank or 1)))

    def _start(self, A: Gram, rank: int | None, failure: float, width: Width) -> Search:
        method, _, _, pilot = self._choose(A, rank)
        if pilot is None:
            return self._make(method, A, rank, failure)
        pilot.failure = failure
        if pilot.sampled:
            pilot.rehearse(self._goal(A, width))
        return pilot

    def _goal(self, A: Gram, width: Width) -> Goal:
        """Return how far a spectrum of the block, were it the whole, is from the tolerance."""
        return lambda spectrum: width(_as_if_whole(spectrum, len(A))) / self.tol

    def _make(self, method: str, A: Gram, rank: int | None, failure: float) -> Search:
        if method == "Exact":
            return WholeSearch(A)
        wanted = None if rank is None else min(rank, len(A))
        hold = "held" in method
        return KrylovSearch(A, wanted, self.seed, failure, hold=hold, single="float32" in method)

    def _refine(
        self, searches: list[Search], excess: float, rank: int | None, failure: float, width: Width
    ) -> bool:
        """Refine the blocks that leave the most open; False when none can be."""
        gaps = [_open(search.spectrum(), search.A.mass) for search in searches]
        progress = False
        for i, search in enumerate(searches):
            if gaps[i] < 0.1 * max(gaps):
                continue
            if search.refine(excess, self._goal(search.A, width)):
                progress = True
            elif (other := self._instead(search, rank, failure)) is not None:
                searches[i], progress = other, True
        return progress

    def _instead(self, search: Search, rank: int | None, failure: float) -> Search | None:
        """Return what to do when a search can learn no more: Krylov after Cholesky, then all."""
        A = search.A
        if isinstance(search, FactorSearch):
            return self._make(self._general(A, rank, "")[0], A, rank, failure)
        if isinstance(search, KrylovSearch) and 24 * len(A) ** 2 <= self._allowed():
            return WholeSearch(A)
        return None

    def _differentiable(self, A: Gram, rank: int | None) -> Spectrum:
        """Choose by size alone where a gradient is asked for."""
        singles, blocks = A.reduced
        parts = known_spectrum(singles, A.mass if not blocks else None)
        for block in blocks:
            few = rank is not None and 4 * rank < len(block) and len(block) > SMALL
            solver: Solver = BlockLanczos(single=False, seed=self.seed) if few else Exact()
            parts.append(solver.solve(block, None if rank is None else min(rank, len(block))))
        return union(parts, A.n, A.mass)
