r"""A first look at S_2^k: bounds from the Frobenius norm and a few Ritz vectors.

At order 2 the low-rank entropy is :math:`-\log_2 P`, with

.. math:: P = \sum_{i \le k} \lambda_i^2 + \frac{R^2}{n - k}, \quad R = \sum_{i > k} \lambda_i.

:math:`F = \|A\|_F^2 = \sum_i \lambda_i^2` costs one pass over the matrix, and orthonormal vectors
y with Ritz values :math:`\theta = y'Ay` say how much of it the leading eigenvalues hold:

* :math:`P \le F`, because the squares of n - k values with sum R add up to at least R^2 / (n - k);
* :math:`P \le F - \sum_{i > k} \theta_i^2 + R^2 / (n - k)`, because :math:`\theta_i \le \lambda_i`;
* :math:`P \ge \sum_{i \le k} |A y_i|^2`, for any k of the vectors;
* :math:`P \ge F - 1 / (4k)`: with :math:`h = \lambda_k` the other squares sum to at most h R, and
  :math:`R \le 1 - k h`.

Most of F sits in a few eigenvalues, so far fewer vectors than k separate most candidates.
"""

from __future__ import annotations

import math

import numpy as np

from lorenyi import _arrays
from lorenyi.blocks import fits, slices
from lorenyi.estimate import Estimate
from lorenyi.gram import Gram, Points
from lorenyi.spectra.krylov import Krylov


class Part:
    """One block of the matrix: its squared norm, and Ritz vectors as they are asked for."""

    def __init__(self, A: Gram, seed: int) -> None:
        self.A = A.single().held()
        # Of entries, of sums of squares, and of vectors that are orthonormal up to rounding.
        self.rounding = 2 * self.A.roundoff + 16 * float(np.finfo(np.float32).eps)
        self.squared_norm = _squared_norm(self.A)
        self.block = 32 if len(A) > 3000 else 16
        self.seed = seed
        self.krylov: Krylov | None = None

    @property
    def size(self) -> int:
        """Number of Ritz vectors."""
        return 0 if self.krylov is None else self.krylov.size

    def ritz(self) -> tuple[np.ndarray, np.ndarray]:
        """Return Ritz values, and the squares |Ay|^2 of their vectors."""
        if self.krylov is None:
            return np.zeros(0), np.zeros(0)
        values, _, residual = self.krylov.ritz()
        values = np.maximum(values, 0.0)
        return values, values**2 + residual**2

    def grow(self, size: int) -> None:
        """Have at least so many Ritz vectors, or all there are."""
        if self.krylov is None:
            self.krylov = Krylov(self.A, self.block, size, self.seed)
        self.krylov.grow(-(-size // self.block) * self.block)
        self.krylov.fill()


def _squared_norm(A: Gram) -> float:
    """Return |A|_F^2 of a matrix held in memory."""
    K, s = A.factors[0].array, _arrays.to_numpy(A.scale) ** 2
    parts = [s[r].astype(np.float64) @ (np.square(K[r]) @ s) for r in slices(len(A), 128)]
    return float(np.sum(parts))


def first_look(A: Gram, rank: int, tol: float, seed: int = 0) -> Estimate | None:
    """Return S_2^k of A as an interval of width `tol`, or None where others are better at it.

    Parameters
    ----------
    A : Gram
        A joint; equal rows and labels are used.
    rank : int
        k.
    tol : float
        Width in bits that is narrow enough; nothing is tried below 2e-4.
    seed : int
        Of the random start.
    """
    singles, blocks = A.reduced
    rows = max((len(block) for block in blocks), default=0)
    points = all(isinstance(f, Points) for block in blocks for f in block.factors)
    if tol < 2e-4 or rows <= 200 or not points or not fits(12 * rows**2):
        return None
    known = _arrays.to_numpy(singles)
    parts = [Part(block, seed) for block in blocks]
    slack = max(part.rounding for part in parts)
    F = float(np.sum(known**2)) + sum(part.squared_norm for part in parts)
    size = 0
    while True:
        found = [part.ritz() for part in parts]
        theta = np.sort(np.concatenate([known, *(values for values, _ in found)]))[::-1]
        squares = np.sort(np.concatenate([known**2, *(s for _, s in found)]))[::-1]
        rest = max(1.0 - float(np.sum(theta[:rank])), 0.0)
        beyond = float(np.sum(theta[rank:] ** 2)) - rest**2 / (A.n - rank)
        high = (F - max(beyond, 0.0)) * (1 + slack)
        low = max(float(np.sum(squares[:rank])), F - 1 / (4 * rank)) * (1 - slack)
        low, high = max(min(low, high), 1 / A.n), min(max(low, high, 1 / A.n), 1.0)
        if math.log2(high / low) <= tol:
            value = -0.5 * (math.log2(high) + math.log2(low))
            return Estimate(-math.log2(high), value, -math.log2(low), about=A.names)
        size = max(32, 2 * size if size < 128 else size + 64)
        if size > min(2 * rank + 64, rows // 4):  # all eigenvalues, or a proof, cost no more
            return None
        for part in parts:
            part.grow(min(size, len(part.A)))
