r"""Few rows at order 2 and some rank: the norm tells nearly all, and what it misses is bounded.

With eigenvalues :math:`\lambda_i` and :math:`F = \|A\|_F^2`, the entropy is
:math:`-\log_2(F - D)`, where

.. math:: D = \sum_{i > k} \lambda_i^2 - \frac{R^2}{n - k}, \quad R = \sum_{i > k} \lambda_i,

is how far the eigenvalues beyond the rank are from even. A joint is looked at in stages, each of
which costs more and leaves less open:

1. its norm: D is not negative, which is a lower end of the entropy;
2. the lengths of products: with :math:`\sum u u' \preceq J` for the chosen features and
   :math:`\sum w w' \preceq K` for a candidate, the products :math:`u \circ w` are a factor below
   the joint (Schur), so that the q largest eigenvalues hold at least the q largest
   :math:`|u \circ w|^2`. That bounds D, see `ends`, and costs no product with the matrix;
3. Ritz values in the space of A times the longest products: lower bounds on the eigenvalues;
4. all eigenvalues in float32, for D alone: its root is a length, which moves by no more than the
   eigenvalues do, so that what float32 leaves open of it is little.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lorenyi import _arrays
from lorenyi._threads import one_thread, parallel
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.selection.chosen import flushed
from lorenyi.selection.ends import Limits, Side, Wanted
from lorenyi.selection.levels import MEMORY, unit_kernel

EPS = float(np.finfo(np.float32).eps)
ALL_ROWS = slice(None)
SURE = 2e-3  # bits: what is open by less is as good as settled
TINY = 1e-4  # of the largest: Ritz values that float32 hardly resolves
OFF = 0.25  # after a closer look the upper end is off by less than this share of the width
KEPT = 16  # sets of chosen features
FEATURE = 16  # eigenvectors of a single feature's kernel
SUMMED = 24  # roundings, at most, of a number in a sum of a row, pairwise
NORM, SIGHT, CLOSER, ALL = range(4)


class Factor(NamedTuple):
    r"""Vectors u with :math:`\sum u u' \preceq A`, near its leading eigenvectors.

    Parameters
    ----------
    rows : array, p x n
        The vectors.
    squares : array, p x n
        The squares of their entries.
    """

    rows: np.ndarray
    squares: np.ndarray

    def sizes(self, other: Factor, cut: slice = ALL_ROWS) -> np.ndarray:
        """Return the squared lengths of all products of vectors of both, on some rows."""
        return np.asarray(self.squares[:, cut] @ other.squares[:, cut].T)

    def products(self, other: Factor, count: int) -> np.ndarray:
        """Return the longest products of vectors of both, as columns."""
        sizes = -self.sizes(other).ravel()
        some = np.argpartition(sizes, count)[:count] if count < len(sizes) else np.argsort(sizes)
        i, j = np.divmod(some[np.argsort(sizes[some])], len(other.rows))
        products: np.ndarray = self.rows[i]
        products *= other.rows[j]
        return products.T


def leading(A: np.ndarray, start: np.ndarray) -> Factor:
    r"""Return a factor of a matrix from some columns X: with Q those of AX, A Q (Q'AQ)^-1 Q'A."""
    Q = _arrays.qr(A @ start)
    V = A @ Q
    theta, Z = _arrays.eigh((Q.T @ V).astype(np.float64))
    keep = theta > TINY * theta[-1]
    rows = (Z[:, keep] / np.sqrt(theta[keep])).astype(A.dtype).T @ V.T
    return Factor(rows, np.square(rows))


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

    def __init__(self, weights: np.ndarray, classes: list[slice], entropy: Renyi, n: float) -> None:
        root = np.sqrt(weights)
        self.kernel = np.outer(root, root).astype(np.float32)
        row = root[None, :].astype(np.float32)
        self.factor = Factor(row, np.square(row))
        self.classes, self.entropy, self.n = classes, entropy, n
        self.rank = int(entropy.rank or 1)
        self.joined = 0
        self._forget()

    def _forget(self) -> None:
        self.norms: dict[tuple[int, bool], float] = {}
        self.told: dict[int, float] = {}  # by norms, in bits
        self.best = -math.inf
        self._stage: dict[tuple[int, bool], int] = {}

    def join(self, feature: Feature) -> Squares:
        """Return the same with one more chosen feature."""
        made = copy.copy(self)
        made._forget()
        made.joined += 1
        made.kernel = flushed(self.kernel * feature.kernel)
        with one_thread():
            made.factor = leading(made.kernel, self.factor.products(feature.factor, self.many))
        return made

    @property
    def many(self) -> int:
        """Number of products at a closer look."""
        return min(5 * self.rank // 4, len(self.kernel))

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
        cuts = self.classes if target else [ALL_ROWS]
        found = self._norm(F) if known is None else known
        blocks: list[np.ndarray] = []
        stage = self._stage.get(key, NORM)
        while not self._enough(i, stage, found, wanted):
            stage = self._following(stage, wanted.side)
            if stage > ALL:
                return found, False
            if stage == SIGHT:
                new = self._sight(feature, cuts, F)
            else:
                blocks = blocks or [self.kernel[at, at] * feature.kernel[at, at] for at in cuts]
                if stage == CLOSER:
                    new = self._closer(blocks, feature, cuts, F)
                else:
                    new = self._all(blocks, F)
            self._stage[key] = stage
            low, high = max(new.low, found.low), min(new.high, found.high)
            if low > high:  # by rounding, which others may tell
                return found, False
            found = Estimate.within(low, min(max(float(new), low), high), high)
        return found, True

    def _enough(self, i: int, stage: int, found: Estimate, wanted: Wanted) -> bool:
        """Tell whether what is known after a stage will do."""
        if wanted.side != "high":
            return wanted.met(found)
        if stage == CLOSER and OFF * found.width <= wanted.tol:
            return True
        if wanted.enough == math.inf and stage < CLOSER:
            # What is asked for at once is best looked at closely, where first sight tells little.
            doubtful = found.width > max(self.best - self.told[i], SURE)
            return stage == SIGHT and not (doubtful and self._can_be_closer)
        return wanted.met(found)

    @property
    def _can_be_closer(self) -> bool:
        """Whether a closer look is cheaper than all eigenvalues."""
        return 4 * self.many <= len(self.kernel)

    def _following(self, stage: int, side: Side) -> int:
        """Return the next stage that is likely to help."""
        if stage == SIGHT and not (side == "high" and self._can_be_closer):
            return ALL
        return stage + 1

    def prepare(self, i: int, feature: Feature) -> None:
        """Find the squared norms of the joint with a candidate, and of its blocks of classes."""
        A = self.kernel * feature.kernel
        np.square(A, out=A)
        whole = inside = float(np.sum(A.sum(axis=1), dtype=np.float64))
        if len(self.classes) > 1:
            parts = [A[cut, cut].sum(axis=1) for cut in self.classes]
            inside = float(np.sum(np.concatenate(parts), dtype=np.float64))
        self.norms[i, False], self.norms[i, True] = whole, inside
        self.told[i] = math.log2(inside / whole)

    @property
    def _slack(self) -> float:
        """Rounding of a squared entry, and of sums of squares, relative to them."""
        return (2 * self.joined + 4 + SUMMED) * EPS

    def _norm(self, F: float) -> Estimate:
        low = -math.log2(F * (1 + self._slack))
        return Estimate.within(low, low, math.log2(self.n))

    def _sight(self, feature: Feature, cuts: list[slice], F: float) -> Estimate:
        """Bound the entropy by the norm and the lengths of products of vectors."""
        sizes = np.concatenate([self.factor.sizes(feature.factor, cut).ravel() for cut in cuts])
        sizes = np.sort(sizes.astype(np.float64))[::-1][: self.rank - 1]
        rest = np.maximum(1 - np.concatenate([[0.0], np.cumsum(sizes)]), 0.0)
        rest += 4 * len(self.kernel) * EPS
        beside = float(np.min(rest**2 / (4 * (self.rank - np.arange(len(rest))))))
        low = -math.log2(F * (1 + self._slack))
        high = -math.log2(max(F * (1 - self._slack) - beside, 1 / self.n))
        return Estimate.within(low, low, high)

    def _closer(
        self, blocks: list[np.ndarray], feature: Feature, cuts: list[slice], F: float
    ) -> Estimate:
        """Bound the entropy by Ritz values, of blocks times products of vectors."""
        G = self.factor.products(feature.factor, self.many)
        theta = []
        for A, cut in zip(blocks, cuts, strict=True):
            Q = _arrays.qr(A @ G[cut, : len(A)])
            theta.append(_arrays.eigvalsh(Q.T @ (A @ Q)))
        values = np.maximum(np.sort(np.concatenate(theta).astype(np.float64))[::-1], 0.0)
        # And of vectors that are orthonormal up to rounding.
        limits = Limits(self.n, self.entropy, self._slack + len(values) * EPS)
        low, high = limits.ends(values, values**2, F)
        return Estimate.within(low, high, high)

    def _all(self, blocks: list[np.ndarray], F: float) -> Estimate:
        """Bound the entropy by the norm and all eigenvalues."""
        values = np.concatenate([_arrays.eigvalsh(A) for A in blocks]).astype(np.float64)
        beyond = np.sort(values)[::-1][self.rank :]
        D = float(beyond @ beyond) - float(np.sum(beyond)) ** 2 / (self.n - self.rank)
        root = math.sqrt(max(D, 0.0))
        # A decomposition is exact for a matrix that differs by so much, see `bounds.rounding`.
        off = (len(values) + self.joined + 3) * EPS * math.sqrt(F)
        low = F * (1 + self._slack) - max(root - off, 0.0) ** 2
        high = F * (1 - self._slack) - (root + off) ** 2
        return Estimate.within(*(-math.log2(max(P, 1 / self.n)) for P in (low, F - D, high)))


class FewRows:
    """Kernels of all features of a table of few rows, and its chosen features.

    Classes cut matrices into blocks, other targets are joined to them.

    Parameters
    ----------
    gram : callable
        Returns the Gram of a feature.
    target : Gram
        Of the target.
    labels : array of int, optional
        The classes, if the target is that.
    entropy : Renyi
        Of order 2, with a rank.
    """

    def __init__(
        self,
        gram: Callable[[int], Gram],
        target: Gram,
        labels: np.ndarray | None,
        entropy: Renyi,
    ) -> None:
        self.gram, self.labels = gram, labels
        codes = np.zeros(len(target), dtype=np.int64) if labels is None else labels
        self.order = np.argsort(codes, kind="stable")
        self.target = target.take(self.order)
        ends = np.cumsum(np.bincount(codes)).tolist()
        classes = [slice(a, b) for a, b in pairwise([0, *ends])]
        weights = _arrays.to_numpy(self.target.weights)
        self.nothing = Squares(weights, classes, entropy, target.n)
        self._features: dict[int, Feature] = {}
        self._joined: dict[tuple[tuple[int, ...], bool], Squares] = {}

    def feature(self, i: int) -> Feature:
        """Return the kernel of a feature, which is kept if there is room."""
        if i in self._features:
            return self._features[i]
        made = Feature.of(unit_kernel(self.gram(i).take(self.order)))
        if (len(self._features) + 1) * made.kernel.nbytes <= MEMORY:
            self._features[i] = made
        return made

    def joined(self, given: tuple[int, ...], target: bool) -> Squares:
        """Return chosen features, for joints with or without the target."""
        joined = target and self.labels is None
        size = len(given)
        while size and (given[:size], joined) not in self._joined:
            size -= 1
        made = self._joined.get((given[:size], joined))
        if made is None:
            made = self.nothing
            made = made.join(Feature.of(unit_kernel(self.target))) if joined else made
        for i in given[size:]:
            made = made.join(self.feature(i))
        self._joined[given, joined] = made
        for old in list(self._joined)[:-KEPT]:
            self._joined.pop(old, None)
        return made

    def prepare(self, squares: Squares, x: list[int], workers: int | None) -> None:
        """Find the kernels of candidates, and the norms of their joints."""
        fresh = [i for i in x if i not in squares.told]
        with one_thread():
            parallel(lambda i: squares.prepare(i, self.feature(i)), fresh, workers)
        squares.best = max(list(squares.told.values()))
