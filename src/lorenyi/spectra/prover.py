"""Certified bounds: refine a Gram's spectrum until the bounds are close.

Each block of a Gram becomes a `Search` that can be refined: all eigenvalues at once, a pivoted
Cholesky factor that grows, or a Krylov basis that grows. Those that contribute most to the width
are refined until the certified width of the wanted quantity is below the tolerance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lorenyi import _arrays
from lorenyi._memory import free_memory
from lorenyi._progress import note
from lorenyi.gram import Gram
from lorenyi.spectra.bounds import peaked_from, spread_from, union
from lorenyi.spectra.cholesky import subsample
from lorenyi.spectra.search import (
    FAILURE,
    SAMPLE,
    FactorSearch,
    Goal,
    KrylovSearch,
    Search,
    WholeSearch,
    as_if_certain,
    as_if_whole,
    unsettled_mass,
)
from lorenyi.spectra.solver import Width, known_spectrum
from lorenyi.spectra.spectrum import Spectrum

SMALL = 300  # rows up to which all eigenvalues cost almost nothing
FEW_BLOCKS = 64  # up to which the width that each block contributes is computed
MODERATE = 1200  # rows up to which all eigenvalues cost less than an iteration
MAX_COLUMNS = 4000  # of a factor of a sample; 30,000 x 10 normal rows to 0.01 bits need 1,930


def share(rank: int, mass: float) -> int:
    """Return about how many of the leading eigenvalues a block with a part of the mass holds."""
    return rank if mass >= 1 else min(rank, 8 + round(1.25 * rank * mass))


@dataclass(frozen=True)
class Choice:
    """A method for one block: its name, the reason, bytes it needs, and how to start it."""

    method: str
    reason: str
    memory: int
    start: Callable[[float], Search]


@dataclass(frozen=True)
class Prover:
    """Searches for certified bounds.

    Parameters
    ----------
    tol : float
        Width in bits of the certified interval to reach.
    memory : int or None
        Bytes that may be used; by default half of the free memory.
    seed : int
        Seed of everything random.
    """

    tol: float
    memory: int | None
    seed: int

    def search(self, A: Gram, rank: int | None, width: Width | None) -> Spectrum:
        """Refine the blocks until the width is reached, or nothing more can be refined."""
        singles, blocks = A.reduced
        fixed = known_spectrum(singles, A.mass if not blocks else None)
        failure = FAILURE / max(len(blocks), 1)
        width = width or (lambda spectrum: unsettled_mass(spectrum, A.mass))
        searches = [
            self._start(block, rank and share(rank, block.mass / A.mass), failure, width)
            for block in blocks
        ]
        while True:
            spectrum = union([*fixed, *(s.spectrum() for s in searches)], A.n, A.mass)
            gap = width(spectrum)
            note(f"{A!r}: {gap:.3g} bits wide", gap)
            if gap <= self.tol or not self._refine(A, searches, gap / self.tol, rank, width, fixed):
                break
        if gap > self.tol and spectrum.kind != "complete":  # then only rounding is left
            warnings.warn(
                f"{A!r}: the certified width is {gap:.3g} bits, above tol={self.tol:.3g}; raise "
                "tol=, give more memory=, a rank=, or use Exact()",
                RuntimeWarning,
                stacklevel=5,
            )
        return spectrum

    def _allowed(self) -> int:
        return self.memory if self.memory is not None else free_memory() // 2

    def choose(self, A: Gram, rank: int | None, width: Width | None = None) -> Choice:
        """Choose the method for one block."""
        m = len(A)
        if m <= SMALL:
            return self._whole(A, "small")
        reason = "not a NumPy array"
        if _arrays.is_numpy(A.reference) and not A.is_sparse:
            most = 800 if rank is not None else max(m // 3, 800)
            if m > SAMPLE:  # where an iteration on all rows takes far longer
                most = min(MAX_COLUMNS, max(self._allowed() // (32 * SAMPLE), 500))
            pilot = FactorSearch(A, self.seed, most, classical=rank is None)
            size, rest = pilot.history[-1]
            reason = f"residual {rest / A.mass:.2g} after {size} columns"
            if pilot.promising((1e-2 if m > SAMPLE else 1e-3) * A.mass):
                memory = 16 * min(m, SAMPLE) * min(most, 8 * size)
                return Choice(pilot.method, reason, memory, pilot.within)
            reason += ": not smooth"
        return self._general(A, rank, reason, width)

    def _whole(self, A: Gram, reason: str) -> Choice:
        return Choice("Exact", reason, 24 * len(A) ** 2, lambda failure: WholeSearch(A))

    def _general(
        self, A: Gram, rank: int | None, reason: str, width: Width | None, single: bool = True
    ) -> Choice:
        """Choose between all eigenvalues and a Krylov basis, for a block that is not smooth."""
        m, allowed = len(A), self._allowed()
        small = m <= MODERATE or (rank is not None and 6 * rank >= m)
        if small and 24 * m * m <= allowed:
            return self._whole(A, f"{reason}, moderate size")
        single = single and self._rounding(A, rank, width) < self.tol / 3
        item, precision = (4, "float32") if single else (8, "float64")
        basis = item * m * 6 * (rank or 64)
        hold = item * m * m + basis <= allowed
        memory = basis + (item * m * m if hold else 2**27)
        if not hold:
            reason += ", too large to hold"

        def start(failure: float) -> Search:
            wanted = None if rank is None else min(rank, m)
            room = max((allowed - memory + basis) // (2 * item * m), 12 * (rank or 64), 512)
            return KrylovSearch(A, wanted, self.seed, hold=hold, single=single, room=int(room))

        kept = "held" if hold else "free"
        joint = " " if hold else "-"
        return Choice(f"BlockLanczos, {precision} matrix{joint}{kept}", reason, memory, start)

    def _rounding(self, A: Gram, rank: int | None, width: Width | None) -> float:
        """Estimate in bits how much products in float32 would add to the certified width.

        Their rounding is compared with the eigenvalues of a sample of the rows.
        """
        eps = float(np.finfo(np.float32).eps)
        if _arrays.epsilon(A.reference) > 0.1 * eps:
            return 0.0
        kept = 1.5 * (rank or 256)
        part = subsample(A, 256, self.seed) if len(A) > 256 else A
        values = np.maximum(_arrays.eigvalsh(_arrays.to_numpy(part.dense()))[::-1], 0.0)
        entry = len(A) ** 0.5 * eps * float(np.max(_arrays.to_numpy(A.weights)))
        relative = A.roundoff / _arrays.epsilon(A.reference) * eps
        one = relative * float(np.sum(values**2)) ** 0.5 + 4 * kept * entry
        slack = one * np.sqrt(np.minimum(np.arange(1, len(values) + 1), kept))  # as in `Krylov`
        sums, n, trace = np.cumsum(values), len(A), float(np.sum(values))
        pair = (peaked_from(sums + slack, n, trace, one), spread_from(sums - slack, n, trace))
        if width is None:
            return float(slack[-1] * np.log2(A.n / (rank or 1)))
        return width(as_if_whole(replace(pair[1], kind="ritz", proof=lambda: pair), n))

    def _start(self, A: Gram, rank: int | None, failure: float, width: Width) -> Search:
        search = self.choose(A, rank, width).start(failure)
        if isinstance(search, FactorSearch) and search.sampled:
            search.rehearse(self._goal(A, width))
        return search

    def _goal(self, A: Gram, width: Width) -> Goal:
        """Return the width of a spectrum of the block, taken as the whole, over the tolerance."""
        return lambda spectrum: width(as_if_whole(spectrum, len(A))) / self.tol

    def _refine(
        self,
        A: Gram,
        searches: list[Search],
        excess: float,
        rank: int | None,
        width: Width,
        fixed: list[Spectrum],
    ) -> bool:
        """Refine the blocks that contribute most to the width; False when none can be."""
        spectra = [search.spectrum() for search in searches]
        certain = [as_if_certain(spectrum) for spectrum in spectra]

        def left_by(i: int, spectrum: Spectrum) -> float:
            """Return the width of the whole if only this block is uncertain."""
            together = [*fixed, *certain[:i], spectrum, *certain[i + 1 :]]
            return width(union(together, A.n, A.mass))

        if len(searches) <= FEW_BLOCKS:
            gaps = [left_by(i, spectrum) for i, spectrum in enumerate(spectra)]
        else:
            masses = [search.A.mass for search in searches]
            gaps = [unsettled_mass(s, mass) for s, mass in zip(spectra, masses, strict=True)]
        chosen = [i for i, gap in enumerate(gaps) if gap >= 0.1 * max(gaps)]
        failure = FAILURE / max(len(searches), 1)
        progress = False
        for i in chosen:

            def goal(spectrum: Spectrum, i: int = i) -> float:
                return left_by(i, spectrum) * len(chosen) / self.tol

            if searches[i].refine(excess, goal):
                progress = True
            elif (other := self._instead(searches[i], rank, failure, width)) is not None:
                searches[i], progress = other, True
        return progress

    def _instead(
        self, search: Search, rank: int | None, failure: float, width: Width
    ) -> Search | None:
        """Return the next method for a block: Krylov, then in float64, then all eigenvalues."""
        A = search.A
        if isinstance(search, FactorSearch):
            return self._general(A, rank, "", width).start(failure)
        if isinstance(search, KrylovSearch) and search.single:
            return self._general(A, rank, "", width, single=False).start(failure)
        if isinstance(search, KrylovSearch) and 24 * len(A) ** 2 <= self._allowed():
            return WholeSearch(A)
        return None
