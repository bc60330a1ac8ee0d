"""Solvers for the leading eigenvalues of a Gram, and the Spectrum they return."""

from lorenyi.spectra.auto import Auto
from lorenyi.spectra.bounds import enclosure
from lorenyi.spectra.cholesky import PivotedCholesky
from lorenyi.spectra.exact import Exact
from lorenyi.spectra.lanczos import BlockLanczos, Lanczos
from lorenyi.spectra.projections import (
    GaussianProjection,
    HadamardProjection,
    InputSparsity,
    SparseGraph,
)
from lorenyi.spectra.solver import Solver
from lorenyi.spectra.spectrum import Spectrum, require_rank
from lorenyi.spectra.subspace import SubspaceIteration

__all__ = [
    "Auto",
    "BlockLanczos",
    "Exact",
    "GaussianProjection",
    "HadamardProjection",
    "InputSparsity",
    "Lanczos",
    "PivotedCholesky",
    "Solver",
    "SparseGraph",
    "Spectrum",
    "SubspaceIteration",
    "enclosure",
    "require_rank",
]
