"""Many rows: what a factor of a fixed size says, where matrices do not fit and time is short."""

from __future__ import annotations

from dataclasses import dataclass

from lorenyi.gram import Gram
from lorenyi.spectra import Spectrum
from lorenyi.spectra.cholesky import Factor, Nystroem, subsample
from lorenyi.spectra.solver import Solver

PIVOTS = 8_000  # rows among which pivots are chosen
FAILURE = 1e-7


@dataclass(frozen=True)
class Streamed(Solver):
    """All rows streamed through random pivots, with the Frobenius norm of what they miss bounded.

    O(n r) kernel values and O(n r^2) operations: the effort is fixed, the interval is what comes
    out of it. Blocks share the pivots by their mass.

    Parameters
    ----------
    size : int
        Pivots in all.
    seed : int
        Of the pivots.
    """

    size: int
    seed: int = 0

    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Approximate one block."""
        count = max(32, round(self.size * A.mass))
        sampled = len(A) > PIVOTS
        factor = Factor(subsample(A, PIVOTS, self.seed) if sampled else A, self.seed)
        while factor.size < min(count, len(A)) and factor.grow(min(64, count - factor.size)):
            pass
        whole = Nystroem(A, factor) if sampled else factor
        bound = whole.frobenius(self.seed + 2**32, FAILURE)
        return whole.spectrum(bound, FAILURE)
