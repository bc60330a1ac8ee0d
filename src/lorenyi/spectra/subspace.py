"""Subspace iteration: the leading eigenvalues in a dozen array operations, for small matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.gram import Gram, symmetric
from lorenyi.spectra.exact import Exact
from lorenyi.spectra.solver import Solver, rayleigh, require_seed, require_size
from lorenyi.spectra.spectrum import Spectrum


@dataclass(frozen=True)
class SubspaceIteration(Solver):
    r"""Multiply a random block a few times: :math:`Q_{t+1} R = A Q_t`, then Ritz values of Q'AQ.

    Nothing is certified and nothing is restarted, so it costs little more than its products. It
    suits a loss that is evaluated on every batch. After a few steps the value is about as accurate
    as with Lanczos of twice the rank.

    Parameters
    ----------
    steps : int
        Products with the block before the last one.
    extra : int
        Columns of the block beyond the rank.
    seed : int
        Seed of the random block.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.linspace(0.0, 4.0, 50), lr.Gaussian(1.0))
    >>> lr.Renyi(alpha=2, rank=3, solver=lr.SubspaceIteration())(A)
    1.425 ± 0.071 bits (Gaussian(sigma=1))
    """

    steps: int = 2
    extra: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        require_size("steps", self.steps, 1, "products with the matrix")
        require_size("extra", self.extra, 0, "columns beyond the rank")
        require_seed(self.seed)

    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Iterate on one block."""
        if rank is None:
            raise ValueError(
                f"{self!r} finds leading eigenvalues, rank=None asks for all: give rank=k, or use "
                "Exact or Lanczos"
            )
        if rank + self.extra >= len(A):  # the block would be all of the space
            return Exact().solve(A, rank)
        A = symmetric(A)
        values, V = self._iterate(A.detached().__matmul__, A, rank)
        values = rayleigh(A, V) if A.tracks_gradient else values
        return Spectrum(values, len(A), A.mass, "ritz", rounding=A.tolerance)

    def _iterate(
        self, product: Callable[[Array], Array], A: Gram, rank: int
    ) -> tuple[Array, Array]:
        """Return Ritz values, descending, and their vectors, from products with A."""
        start = (self.seed, 1, len(A), rank + self.extra)
        Q = _arrays.constant(_arrays.normal, *start, reference=_arrays.detach(A.reference))
        for _ in range(self.steps):
            Q = _arrays.qr(product(Q))
        values, S = _arrays.eigh(-(Q.mT @ product(Q)))
        return -values[..., :rank], Q @ S[..., :rank]
