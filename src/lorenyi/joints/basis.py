r"""Products of the blocks of a joint with some columns, and what follows about their spectra.

For a block J: orthonormal columns Q near its leading eigenvectors, V = JQ, T = Q'V and R = V - QT.
`spectra.enclosure` has the bounds that follow. One of what is outside Q costs as much as all else,
so Q grows until a guess of it would do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lorenyi import _arrays
from lorenyi.joints.chosen import Part
from lorenyi.joints.limits import LIMITS
from lorenyi.spectra import Spectrum, enclosure
from lorenyi.spectra.enclosure import FAILURE, Block, Pair, enclosed, outside
from lorenyi.spectra.krylov import orthonormalised

OUTSIDE = 2.0  # times the least Ritz value: a guess of what is outside, at which columns stop


class Basis:
    """Orthonormal columns Q that grow, and V = J Q for a matrix J, which is not kept.

    It starts from columns near the leading eigenvectors of J, about orthogonal.
    """

    def __init__(self, J: np.ndarray, near: np.ndarray, block: Block) -> None:
        Q = _orthonormal(near.astype(J.dtype, copy=False))
        self.Q, self.V, self.block = Q, J @ Q, block
        self.tau, self.ratio = math.inf, OUTSIDE  # of what is outside; to the least Ritz value
        self._project()

    def _project(self) -> None:
        T = (self.Q.T @ self.V).astype(np.float64)
        self.T = 0.5 * (T + T.T)
        self.R = self.V - self.Q @ self.T.astype(self.Q.dtype)
        self.theta = np.maximum(_arrays.eigvalsh(self.T)[::-1], 0.0)
        # R'R; in float32, too: its rounding is far below the values that it is set against.
        self.leak = np.asarray((self.R.T @ self.R).astype(np.float64))

    def below(self) -> np.ndarray:
        r"""Return better bounds from below than Ritz values: of :math:`J Q T^{-1} Q' J`."""
        theta, S = _arrays.eigh(self.T)
        keep = theta > LIMITS.resolved * theta[-1]
        W = self.V @ (S[:, keep] / np.sqrt(theta[keep])).astype(self.V.dtype)
        return np.asarray(np.maximum(_arrays.eigvalsh((W.T @ W).astype(np.float64))[::-1], 0.0))

    def grow(self, J: np.ndarray) -> bool:
        """Multiply the main directions of the residuals, too, if they are any."""
        sizes, Z = _arrays.eigh(self.leak)
        count = int(np.sum(sizes > LIMITS.residual * sizes[-1]))
        count = min(count, len(self.Q) - len(sizes))
        if count < 1:
            return False
        X = self.R @ (Z[:, -count:] / np.sqrt(sizes[-count:])).astype(self.R.dtype)
        for _ in range(2):
            X = _orthonormal(X - self.Q @ (self.Q.T @ X))
        self.Q, self.V = np.hstack([self.Q, X]), np.hstack([self.V, J @ X])
        self._project()
        return True

    @property
    def guess(self) -> float:
        """What is probably the largest eigenvalue outside Q."""
        return min(self.tau, self.ratio * float(self.theta[-1]))

    def prove(self, J: np.ndarray, seed: int) -> float:
        """Bound what is outside Q, if Q has grown since; return the bound in guesses of before."""
        guess = self.guess
        if self.tau > OUTSIDE * guess:
            self.tau = min(self.tau, outside(J, self.Q, seed, guess))
            self.ratio = self.tau / max(float(self.theta[-1]), 1e-300)
        return self.tau / max(guess, 1e-300)

    def enclosed(self, tau: float, rounding: bool = True) -> Pair:
        """Enclose the spectrum if tau bounds what is outside Q; or as if products were exact."""
        eps = _arrays.epsilon(self.Q) if rounding else 0.0
        return enclosed(self.theta, self.T, self.leak, tau, self.block, len(self.Q), eps)


class Products:
    """The diagonal blocks of a joint: a basis for each; of small ones, all eigenvalues.

    With `twice` the start is multiplied as well, which a bound from below does not need.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        seed: int,
        *,
        twice: bool = True,
        double: bool = False,
    ) -> None:
        self.parts, self.seed, self.double, self.held = parts, seed, double, dict[int, np.ndarray]()
        self.small = [_whole(part) for part in parts if part.is_small]
        self.bases: dict[int, Basis] = {}
        for i, part in enumerate(parts):
            if not part.is_small:
                J = self.matrix(i)
                near = part.near(math.ceil(LIMITS.start * part.share)).astype(J.dtype)
                near = J @ near if twice else near
                self.bases[i] = Basis(J, near, part.block(double))

    def matrix(self, i: int) -> np.ndarray:
        """Return the matrix of a block, made anew if it was given up."""
        if i not in self.held:
            self.held[i] = self.parts[i].matrix(self.double)
        return self.held[i]

    @property
    def nbytes(self) -> int:
        """Memory that the bases take."""
        return sum(3 * basis.Q.nbytes for basis in self.bases.values())

    @property
    def failure(self) -> float:
        """Probability that what is outside some basis is larger than its bound."""
        return FAILURE * len(self.bases)

    @property
    def slack(self) -> float:
        """Relative size of the rounding in sums of lower bounds on eigenvalues."""
        each = [
            (2 * b.block.relative, (64 + b.Q.shape[1]) * _arrays.epsilon(b.Q))
            for b in self.bases.values()
        ]
        return float(np.sum(np.max(each, axis=0)))

    def grow(self) -> bool:
        """Multiply the main directions of the residuals, too; tell whether there are any."""
        return max([basis.grow(self.matrix(i)) for i, basis in self.bases.items()])

    def prove(self) -> float:
        """Bound what is outside each basis; return the largest bound, in guesses of before."""
        return max(basis.prove(self.matrix(i), self.seed) for i, basis in self.bases.items())

    def below(self) -> tuple[np.ndarray, np.ndarray]:
        """Return Ritz values of all blocks, descending, and better lower bounds."""
        known = [pair[1].values for pair in self.small]
        ritz = [*known, *(basis.theta for basis in self.bases.values())]
        better = [*known, *(basis.below() for basis in self.bases.values())]
        return np.sort(np.concatenate(ritz))[::-1], np.sort(np.concatenate(better))[::-1]

    def ends(self, guessed: bool, rounding: bool = True) -> tuple[list[Spectrum], list[Spectrum]]:
        """Return what encloses each block from both sides, or would if a guess holds."""
        pairs = list(self.small)
        for basis in self.bases.values():
            pairs.append(basis.enclosed(basis.guess if guessed else basis.tau, rounding))
        return [peaked for peaked, _ in pairs], [spread for _, spread in pairs]


def _whole(part: Part) -> Pair:
    """Return all eigenvalues of a block, between what their rounding leaves open."""
    values = np.maximum(_arrays.eigvalsh(part.matrix(double=True))[::-1], 0.0)
    pair = enclosure(Spectrum(values, len(part), part.mass, rounding=part.relative))
    assert pair is not None
    return pair


def _orthonormal(W: np.ndarray) -> np.ndarray:
    """Orthonormalize columns of any lengths."""
    sizes = np.maximum(np.linalg.norm(W, axis=0), np.finfo(W.dtype).tiny)
    return np.asarray(orthonormalised(W / sizes)[0])
