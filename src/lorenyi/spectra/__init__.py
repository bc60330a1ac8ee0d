"""Solvers for the leading eigenvalues of a Gram, and the Spectrum they return."""

from lorenyi.spectra.exact import Exact
from lorenyi.spectra.lanczos import Lanczos
from lorenyi.spectra.projections import (
    GaussianProjection,
    HadamardProjection,
    InputSparsity,
    SparseGraph,
)
from lorenyi.spectra.solver import Solver
from lorenyi.spectra.spectrum import Spectrum, require_rank

__all__ = [
    "Exact",
    "GaussianProjection",
    "HadamardProjection",
    "InputSparsity",
    "Lanczos",
    "Solver",
    "SparseGraph",
    "Spectrum",
    "require_rank",
]
