"""All eigenvalues by a dense decomposition."""

from __future__ import annotations

from dataclasses import dataclass

from lorenyi import _arrays
from lorenyi.gram import Gram, symmetric
from lorenyi.spectra.solver import Solver, descending, rayleigh
from lorenyi.spectra.spectrum import Spectrum


@dataclass(frozen=True)
class Exact(Solver):
    """All eigenvalues by LAPACK, in O(m^3) for the m rows left after folding and splitting.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.Exact()(lr.gram(["a", "b", "b", "b"]))
    Spectrum(n=4, complete: 0.75, 0.25)
    """

    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Decompose one block."""
        dense = (symmetric(A) if A.tracks_gradient else A).dense()
        if _arrays.tracks_gradient(dense):
            _, V = _arrays.eigh(_arrays.detach(dense))
            values = rayleigh(dense, V)
        else:
            values = _arrays.eigvalsh(dense)
        return Spectrum(descending(values), len(A), A.mass, rounding=A.tolerance)
