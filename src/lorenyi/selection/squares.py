r"""Few rows at order 2 and some rank: the norm tells nearly all, and what it misses is bounded.

With eigenvalues :math:`\lambda_i` and :math:`F = \|A\|_F^2`, the entropy is
:math:`-\log_2(F - D)`, where

.. math:: D = \sum_{i > k} \lambda_i^2 - \frac{R^2}{n - k}, \quad R = \sum_{i > k} \lambda_i,

is how far the eigenvalues beyond the rank are from even. A joint is looked at in stages, each of
which costs more and leaves less open:

1. its norm: D is not negative, which is a lower end of the entropy;
2. the singular values of A Q, for an orthonormal basis Q of products of a few eigenvectors of the
   chosen features and of the candidate: they lie below the eigenvalues, which is an upper end;
3. the same for a basis of A times more products;
4. all eigenvalues in float32, for D alone: its root is a length, which moves by no more than the
   eigenvalues do, so that what float32 leaves open of it is little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lorenyi import _arrays
from lorenyi.entropy import Renyi
from lorenyi.estimate import Estimate
from lorenyi.selection.chosen import flushed
from lorenyi.selection.ends import Limits, Side, Wanted

MORE = 8  # times as much is open of joints with a candidate as of the chosen features
SURE = 2e-3  # bits: first sight settles what is open by less
OFF = 0.25  # of an interval after a closer look is more than its upper end is off
FEATURE = 16  # eigenvectors of a single feature's kernel
SUMMED = 24  # roundings, at most, of a number in a sum of a row, pairwise
NORM, SIGHT, CLOSER, ALL = range(4)


class Factor(NamedTuple):
    """About the leading eigenvectors of a matrix, as long as the roots of their eigenvalues.

    Parameters
    ----------
    rows : array, p x n
        The vectors, longest first.
    values : array, p
        Their squared lengths.
    """

    rows: np.ndarray
    values: np.ndarray

    def products(self, other: Factor, count: int) -> np.ndarray:
        """Return the longest products of vectors of both, about, as columns."""
        sizes = np.outer(self.values, other.values).ravel()
        if count < len(sizes):
            some = np.argpartition(-sizes, count)[:count]
        else:
            some = np.arange(len(sizes))
        i, j = np.divmod(some[np.argsort(-sizes[some])], len(other.values))
        products: np.ndarray = self.rows[i]
        products *= other.rows[j]
        return products.T


def leading(A: np.ndarray, start: np.ndarray) -> Factor:
    """Return the Ritz vectors of a matrix in the space of A times some columns."""
    Q = _arrays.qr(A @ start)
    theta, Z = _arrays.eigh((Q.T @ (A @ Q)).astype(np.float64))
    theta, Z = np.maximum(theta[::-1], 0.0), Z[:, ::-1]
    return Factor((Z * np.sqrt(theta)).astype(A.dtype).T @ Q.T, theta)


class Feature(NamedTuple):
    """The kernel matrix of a feature in float32, and its factor."""

    kernel: np.ndarray
    factor: Factor

    @classmethod
    def of(cls, kernel: np.ndarray) -> Feature:
        """Take a kernel matrix with ones on its diagonal."""
        kernel = flushed(kernel.astype(np.float32))
        shape = (len(kernel), min(FEATURE, len(kernel)))
        start = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
        return cls(kernel, leading(kernel, start))


class Squares:
    """Joints of chosen features with candidates.

    Parameters
    ----------
    weights : array
        Relative weights of the rows, which are in the order of their classes.
    classes : list of slice
        Where these are.
    entropy : Renyi
        Of order 2, with a rank.
    n : float
        Number of points.
    """

    def __init__(
        self, weights: np.ndarray, classes: list[slice], entropy: Renyi, n: float
    ) -> None:
        root = np.sqrt(weights)
        self.kernel = np.outer(root, root).astype(np.float32)
        self.factor = Factor(root[None, :].astype(np.float32), np.ones(1))
        self.classes, self.entropy, self.n = classes, entropy, n
        self.rank = int(entropy.rank or 1)
        self.joined = 0
        self._stage: dict[tuple[int, bool], int] = {}
        self.norms: dict[tuple[int, bool], float] = {}

    def join(self, feature: Feature) -> Squares:
        """Return the same with one more chosen feature."""
        made = object.__new__(Squares)
        made.__dict__.update(self.__dict__, _stage={}, norms={}, joined=self.joined + 1)
        made.__dict__.pop("open", None)
        made.kernel = flushed(self.kernel * feature.kernel)
        with _arrays.one_thread():
            made.factor = leading(made.kernel, self.factor.products(feature.factor, self.many))
        return made

    @property
    def few(self) -> int:
        """Number of products at first sight."""
        return max(self.rank // 3, 1)

    @property
    def many(self) -> int:
        """Number of products at a closer look."""
        return min(5 * self.rank // 4, len(self.kernel))

    @cached_property
    def open(self) -> float:
        """What first sight leaves open of the chosen features alone, in bits, see `Limits`."""
        theta = self.factor.values
        rest = 1 - float(np.sum(theta[: self.rank // 2]))
        return rest**2 / (2 * self.rank * float(np.sum(theta**2)) * math.log(2))

    def _doubtful(self, i: int) -> bool:
        """Tell whether first sight of a candidate will hardly drop it, or settle anything.

        By norms, it is behind by so much.
        """
        best = max(map(self._told, (j for j, target in self.norms if target)))
        return MORE * self.open > max(best - self._told(i), SURE)

    def _told(self, i: int) -> float:
        return math.log2(self.norms[i, True] / self.norms[i, False])

    def measure(
        self, i: int, feature: Feature, target: bool, wanted: Wanted, known: Estimate | None
    ) -> tuple[Estimate, bool]:
        """Bound the entropy of a joint; tell whether that is as well as it was wanted.

        Parameters
        ----------
        i : int
            Number of the candidate.
        feature : Feature
            Its kernel.
        target : bool
            Whether the classes are among the variables.
        wanted : Wanted
            How well it is to be known.
        known : Estimate, optional
            What is known of it.
        """
        key, F = (i, target), self.norms[i, target]
        found = self._norm(F) if known is None else known
        cuts = self.classes if target else [slice(0, len(self.kernel))]
        blocks: list[np.ndarray] = []
        while True:
            stage = self._stage.get(key, NORM)
            if wanted.met(found) and (stage > NORM or wanted.side == "low"):  # it has that end
                break
            if stage == CLOSER and wanted.side == "high" and OFF * found.width <= wanted.tol:
                break
            following = [later for later in self._stages(i, wanted.side) if later > stage]
            if not following:
                return found, False
            self._stage[key] = stage = following[0]
            blocks = blocks or [self.kernel[cut, cut] * feature.kernel[cut, cut] for cut in cuts]
            if stage == ALL:
                new = self._all(blocks, F)
            else:
                G = self.factor.products(feature.factor, self.few if stage == SIGHT else self.many)
                spaces = [G[cut, : len(A)] for A, cut in zip(blocks, cuts, strict=True)]
                if stage == CLOSER:
                    spaces = [A @ X for A, X in zip(blocks, spaces, strict=True)]
                new = self._within(blocks, spaces, F)
            low, high = max(new.low, found.low), min(new.high, found.high)
            value = high if stage == CLOSER else float(new)
            found = Estimate(low, min(max(value, low), high), high)
        return found, True

    def prepare(self, i: int, feature: Feature) -> None:
        """Find the squared norms of the joint with a candidate, and of its blocks of classes."""
        A = self.kernel * feature.kernel
        np.square(A, out=A)
        inside = np.concatenate([A[cut, cut].sum(axis=1) for cut in self.classes])
        self.norms[i, True] = float(np.sum(inside, dtype=np.float64))
        self.norms[i, False] = float(np.sum(A.sum(axis=1), dtype=np.float64))

    def _stages(self, i: int, side: Side) -> Sequence[int]:
        """Return how to find one end or both: all that is likely to help."""
        first = () if self._doubtful(i) else (SIGHT,)
        closer = side == "high" and 4 * self.many <= len(self.kernel)
        return (*first, CLOSER, ALL) if closer else (*first, ALL)

    @property
    def _slack(self) -> float:
        """Rounding of a squared entry, and of sums of squares, relative to them."""
        return (self.joined + 3 + SUMMED) * float(np.finfo(np.float32).eps)

    def _norm(self, F: float) -> Estimate:
        low = -math.log2(F * (1 + self._slack))
        return Estimate(low, low, math.log2(self.n))

    def _within(self, blocks: list[np.ndarray], spaces: list[np.ndarray], F: float) -> Estimate:
        """Bound the entropy by singular values of A Q, for bases Q of a space for each block."""
        theta = []
        for A, X in zip(blocks, spaces, strict=True):
            Q = _arrays.qr(X)
            theta.append(_arrays.eigvalsh(Q.T @ (A @ Q)))
        values = np.maximum(np.sort(np.concatenate(theta).astype(np.float64))[::-1], 0.0)
        # And of vectors that are orthonormal up to rounding.
        slack = self._slack + len(values) * float(np.finfo(np.float32).eps)
        low, high = Limits(self.n, self.entropy, slack).ends(values, values**2, F)
        return Estimate(low, low, high)

    def _all(self, blocks: list[np.ndarray], F: float) -> Estimate:
        """Bound the entropy by the norm and all eigenvalues."""
        eps = float(np.finfo(np.float32).eps)
        values = np.concatenate([_arrays.eigvalsh(A) for A in blocks]).astype(np.float64)
        beyond = np.sort(values)[::-1][self.rank :]
        D = float(beyond @ beyond) - float(np.sum(beyond)) ** 2 / (self.n - self.rank)
        root = math.sqrt(max(D, 0.0))
        # A decomposition is exact for a matrix that differs by so much, see `bounds.rounding`.
        off = (len(values) + self.joined + 3) * eps * math.sqrt(F)
        low = F * (1 + self._slack) - max(root - off, 0.0) ** 2
        high = F * (1 - self._slack) - (root + off) ** 2
        return Estimate(*(-math.log2(max(P, 1 / self.n)) for P in (low, F - D, high)))
