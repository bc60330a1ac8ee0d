"""The paper's Algorithm 2, Lanczos iteration with full reorthogonalization, and its block form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from lorenyi.gram import Gram, held
from lorenyi.spectra.krylov import Krylov
from lorenyi.spectra.solver import Solver, require_seed, require_size
from lorenyi.spectra.spectrum import Spectrum


@dataclass(frozen=True)
class Lanczos(Solver):
    """Lanczos iteration from a random Gaussian vector, with full reorthogonalization.

    Parameters
    ----------
    steps : int
        Size s of the basis; at least the rank. O(n^2 s), or O(nnz s) for a sparse matrix.
    tol : float, optional
        Without it: `steps` steps, as in the paper. With it: restart, keeping the leading Ritz
        vectors, until the residual norms of the wanted ones are below `tol` times the largest
        eigenvalue. Then one more run from a fresh random vector finds copies that were missed.
    restarts : int
        Maximum number of restarts; a warning says if they were not enough.
    seed : int
        Seed of the random vectors.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.eye(50), lr.Precomputed())     # one eigenvalue, 50 times
    >>> lr.Lanczos(steps=3)(A, rank=3)
    Spectrum(n=50, ritz: 0.02, 0.02, 0.02; rest 0.94)
    """

    steps: int
    tol: float | None = None
    restarts: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        require_size("steps", self.steps, 1, "size of the Krylov basis")
        require_size("restarts", self.restarts, 0, "number of restarts")
        if self.tol is not None and not self.tol > 0:
            raise ValueError(f"tol={self.tol!r}: it must be positive, or None for no restarts")
        require_seed(self.seed)

    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Iterate on one block."""
        if rank is not None and min(self.steps, len(A)) < rank:
            raise ValueError(f"steps={self.steps} must be at least rank={rank}: raise steps=")
        krylov = Krylov(held(A.detached()), 1, self.steps, self.seed)
        if self.tol is None:
            krylov.fill()
        else:
            converge(krylov, rank or max(krylov.capacity // 2, 1), self.tol, self.restarts)
        return krylov.spectrum(A, rank)


@dataclass(frozen=True)
class BlockLanczos(Solver):
    """Block Krylov iteration: products of matrices, which are faster than those with vectors.

    Parameters
    ----------
    steps : int, optional
        Block steps; by default as many as make the basis three times the rank.
    block : int
        Columns in a block.
    single : bool
        Take the products in float32 over a projected problem in float64: relative errors of
        about 1e-6 at half the time and memory. False: in the precision of the data.
    seed : int
        Seed of the random start.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.linspace(0.0, 9.0, 300), lr.Gaussian(0.05))
    >>> lr.Renyi(alpha=2, rank=20, solver=lr.BlockLanczos())(A)
    7.552 ± 0.012 bits (Gaussian(sigma=0.05))
    """

    steps: int | None = None
    block: int = 16
    single: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        require_size("block", self.block, 1, "columns in a block")
        require_seed(self.seed)
        if self.steps is not None:
            require_size("steps", self.steps, 1, "block steps")

    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Iterate on one block."""
        wanted = rank or min(len(A), 100)
        steps = self.steps or -(-3 * wanted // self.block) + 1
        if rank is not None and min(steps * self.block, len(A)) < rank:
            raise ValueError(
                f"steps={self.steps} of block={self.block} must reach rank={rank}: raise steps="
            )
        plain = A.detached()
        plain = held(plain.single() if self.single else plain)
        krylov = Krylov(plain, self.block, steps * self.block, self.seed)
        krylov.fill()
        return krylov.spectrum(A, rank)


def converge(krylov: Krylov, rank: int, tol: float, restarts: int) -> None:
    """Restart until `rank` Ritz values have converged, and a fresh start finds no others."""
    most = max(krylov.capacity - 1, 1)
    keep = min(rank + max(1, (krylov.capacity - rank) // 2), most)
    settled: np.ndarray | None = None
    for left in reversed(range(restarts + 1)):
        krylov.fill()
        values, _, residual = krylov.ritz(rank)
        if krylov.complete:
            return
        close = tol * float(values[0])
        done = float(residual.max()) <= close
        if done and settled is not None and np.abs(values - settled).max() <= close:
            return
        if not left:
            break
        if done:
            # Only what has converged is kept: with X, the residuals of the basis are dropped.
            settled = values
            krylov.compress(min(rank, most), fresh=True)
        else:
            krylov.compress(keep)
    warnings.warn(
        f"Lanczos: residual norm {float(residual.max()):.2g} after {restarts} restarts, tol needs "
        f"{close:.2g}; raise steps= or restarts=",
        RuntimeWarning,
        stacklevel=2,
    )
