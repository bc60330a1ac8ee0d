r"""What is kept of the chosen features while candidates join them.

The joint of chosen features Z and a candidate c has the matrix :math:`A_Z \circ k_c`, on the
distinct pairs of their rows and values; labels cut it into one block a class. With
:math:`F F' \preceq A_Z` and :math:`\Phi \Phi' \preceq k_c`, products of their columns are a factor
G with :math:`G G' \preceq A_Z \circ k_c` (Schur), of which the largest hold the most: eigenvalues
of G'G lie below those of the joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse.csgraph import connected_components

from lorenyi import _arrays
from lorenyi.gram import Gram
from lorenyi.selection.certified.columns import Column, flushed, fold, taken, unit_kernel
from lorenyi.selection.certified.limits import LIMITS
from lorenyi.selection.certified.proof import Rounding
from lorenyi.spectra.krylov import orthonormalised

EPS = float(np.finfo(np.float32).eps)


class Chosen:
    """The chosen features of a table whose rows are in the order of their classes.

    Parameters
    ----------
    grams : sequence of Gram
        Of the chosen features, and of the target where it is a number and among the variables.
    code : array of int
        Which of their distinct rows each row is; many distinct rows are not worth folding.
    weights : array
        Relative weights of the rows.
    ends : array of int
        Where classes begin, and where the last ends.
    rank : int
        How many eigenvalues count, about.
    """

    def __init__(
        self,
        grams: Sequence[Gram],
        code: np.ndarray,
        weights: np.ndarray,
        ends: np.ndarray,
        rank: int,
    ) -> None:
        self.code = code if 2 * int(code.max()) < len(code) else np.arange(len(code))
        self.weights, self.ends, self.rank = weights, ends, rank
        self.gram: Gram | None = None  # of the distinct rows; none where nothing is chosen
        self.roundoff = 0.0  # relative size of the rounding in the kernel
        self.kernel = np.ones((1, 1))  # with ones on the diagonal; float32 where rows are many
        if grams:
            self.gram = fold(grams, self.code)
            double = len(self.gram) <= LIMITS.dense
            self.kernel = unit_kernel(self.gram, not double)
            self.roundoff = (self.gram if double else self.gram.single(points=False)).roundoff
            if not double:
                flushed(self.kernel)

    def share(self, mass: float) -> int:
        """Return about how many of the leading eigenvalues a block of such a mass holds."""
        return self.rank if mass >= 1 else min(self.rank, 8 + round(1.25 * self.rank * mass))

    def join(self, column: Column, labelled: bool) -> Joined:
        """Return the joint with a candidate: one diagonal block a class, or one."""
        levels, n = len(column.folded), len(self.code)
        pairs = len(self.kernel) * levels
        ends = self.ends if labelled else np.array([0, n])
        classes = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        code = (classes * len(self.kernel) + self.code) * levels + column.codes
        found, weights = _counted(code, pairs * (len(ends) - 1), self.weights)
        cuts = np.searchsorted(found, pairs * np.arange(len(ends))).tolist()
        g, v = np.divmod(found % pairs, levels)
        return Joined(self, column, g, v, weights, cuts)

    @cached_property
    def pieces(self) -> np.ndarray | None:
        """Numbers of small pieces into which rows fall where kernels are near zero, if they do."""
        found, low, high = None, 0.0, LIMITS.coupled
        for _ in range(8):  # for the least kernel to be cut
            cut = high if found is None else 0.5 * (low + high)
            pieces = connected_components(self.kernel > cut)[1]
            if np.bincount(pieces).max() <= LIMITS.tiny // 2:
                found, high = np.asarray(pieces), cut
            elif found is None:
                return None
            else:
                low = cut
        return found

    @cached_property
    def squares(self) -> np.ndarray:
        """Squares of the entries of the kernel, in float32."""
        return flushed(np.square(self.kernel, dtype=np.float32))

    @cached_property
    def factor(self) -> np.ndarray:
        r"""A factor below the kernel, :math:`F F' \preceq K`; the largest columns come first.

        :math:`A U (U' A U)^{-1/2}` for vectors U near the leading eigenvectors of the matrix with
        its weights, without these.
        """
        weights = np.bincount(self.code, weights=self.weights)
        size = min(2 * self.rank + 64, len(weights))
        root = np.sqrt(weights)[:, None].astype(np.float32)
        K = self.kernel.astype(np.float32, copy=False)
        U = _arrays.normal(0, 1, len(K), min(size + 16, len(K))).astype(np.float32)
        U = root * (K @ (root * orthonormalised(root * (K @ (root * U)))[0]))
        U = orthonormalised(U)[0]
        W = K @ (root * U)
        values, Z = _arrays.eigh(((root * U).T @ W).astype(np.float64))
        keep = values > 10 * LIMITS.resolved * values[-1]
        Z = (Z[:, keep] / np.sqrt(values[keep]))[:, ::-1][:, :size]
        return np.asarray(W @ np.ascontiguousarray(Z, dtype=np.float32))

    @cached_property
    def values(self) -> np.ndarray:
        """Squared norms of the factor's columns, with the weights: nearly eigenvalues."""
        weights = np.bincount(self.code, weights=self.weights)
        squares = np.einsum("i,ij,ij->j", weights, self.factor, self.factor)
        return np.asarray(squares, dtype=np.float64)


@dataclass(eq=False)
class Joined:
    """The joint of chosen features and a candidate, on the distinct pairs of rows and values."""

    chosen: Chosen
    column: Column  # the candidate
    g: np.ndarray  # rows of the chosen features, ascending within a block
    v: np.ndarray  # values of the candidate
    weights: np.ndarray  # relative weights of these pairs
    ends: list[int]  # where diagonal blocks begin, and where the last ends

    @property
    def most(self) -> int:
        """Rows of the largest diagonal block."""
        return max(b - a for a, b in pairwise(self.ends))

    @cached_property
    def parts(self) -> list[Part]:
        """The diagonal blocks."""
        made = []
        for a, b in pairwise(self.ends):
            weights = self.weights[a:b]
            share = self.chosen.share(float(weights.sum()))
            made.append(Part(self.chosen, self.column, self.g[a:b], self.v[a:b], weights, share))
        return made

    @cached_property
    def is_small(self) -> bool:
        """Whether all eigenvalues cost no more than bounds on them."""
        if self.most <= LIMITS.bounded:
            return True
        return all(part.is_small for part in self.parts)

    def is_whole(self, last: bool, side: str) -> bool:
        """Tell whether all eigenvalues come next, or as the last resort."""
        double = self.chosen.kernel.dtype == np.float64
        if self.most > LIMITS.dense or not (last or (double and side == "both")):
            return self.is_small
        return True

    def eigenvalues(self) -> np.ndarray:
        """Return all eigenvalues, descending."""
        if self.most > LIMITS.tiny or not self._is_kept:
            each = [_arrays.eigvalsh(part.matrix(double=True)) for part in self.parts]
            return np.sort(np.concatenate(each))[::-1]
        return self._stacked(np.arange(len(self.g)), np.diff(self.ends))

    def pinched(self) -> np.ndarray | None:
        """Return the eigenvalues of smaller diagonal blocks, whose spectrum is more spread."""
        pieces = self.chosen.pieces if self._is_kept and len(self.g) > LIMITS.tiny else None
        if pieces is None:
            return None
        pieces = pieces[self.g]
        sizes = np.bincount(pieces)
        if sizes.max() > LIMITS.tiny:
            return None
        return self._stacked(np.argsort(pieces, kind="stable"), sizes)

    @property
    def relative(self) -> float:
        """Relative rounding of its entries in float64."""
        return self.parts[0].rounding(double=True).relative

    @property
    def _is_kept(self) -> bool:
        return self.chosen.kernel.dtype == np.float64 and self.column.few is not None

    def _stacked(self, order: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return the eigenvalues of small blocks, with zeros around them, by one call."""
        assert self.column.few is not None
        inside = np.arange(sizes.max()) < sizes[:, None]
        at = np.zeros(inside.shape, dtype=np.int64)
        at[inside] = order
        root = np.where(inside, np.sqrt(self.weights)[at], 0.0)
        g, v = self.g[at], self.v[at]
        J = self.chosen.kernel[g[:, :, None], g[:, None, :]]
        J *= self.column.few[v[:, :, None], v[:, None, :]]
        J *= root[:, :, None]
        J *= root[:, None, :]
        return np.sort(np.linalg.eigvalsh(J).ravel())[::-1][: len(order)]


@dataclass(eq=False)
class Part:
    """One diagonal block of the joint of chosen features and a candidate."""

    chosen: Chosen
    column: Column  # the candidate
    g: np.ndarray  # rows of the chosen features, ascending
    v: np.ndarray  # values of the candidate
    weights: np.ndarray  # relative weights of these pairs
    share: int  # about how many of the leading eigenvalues of the whole it holds

    def __len__(self) -> int:
        return len(self.v)

    @property
    def mass(self) -> float:
        """Its trace."""
        return float(np.sum(self.weights))

    @property
    def is_small(self) -> bool:
        """Whether all eigenvalues cost no more than bounds on them."""
        return len(self) <= max(LIMITS.bounded, 5 * self.share)

    def products(self, count: int) -> np.ndarray:
        """Return a factor below the matrix: the largest products of a column of each factor."""
        sizes = np.outer(self.chosen.values, self.column.values).ravel()
        order = np.argsort(-sizes, kind="stable")[: max(count, 1)]
        order = order[sizes[order] > LIMITS.resolved * sizes[order[0]]]
        i, j = np.divmod(order, len(self.column.values))
        G = self.chosen.factor[self.g][:, i] * self.column.factor[self.v][:, j]
        G *= np.sqrt(self.weights)[:, None].astype(np.float32)
        return np.asarray(G)

    def lengths(self) -> np.ndarray:
        """Return the squared norms of all products of a column of each factor."""
        squares = self.weights[:, None] * np.square(self.chosen.factor[self.g], dtype=np.float64)
        return np.asarray(squares.T @ np.square(self.column.factor[self.v])).ravel()

    def below(self, count: int) -> np.ndarray:
        """Return lower bounds on the leading eigenvalues, descending."""
        G = self.products(count)
        values = _arrays.eigvalsh((G.T @ G).astype(np.float64))[::-1]
        return np.asarray(np.maximum(values, 0.0))[: len(self)]

    def near(self, count: int) -> np.ndarray:
        """Return columns near the leading eigenvectors."""
        G = self.products(3 * count // 2)
        values, Z = _arrays.eigh(G.T @ G)  # float32 is enough for a start
        count = min(count, int(np.sum(values > LIMITS.resolved * values[-1])))
        Z = Z[:, -count:] / np.sqrt(values[-count:])
        return np.asarray(G @ np.ascontiguousarray(Z, dtype=G.dtype))

    def squared_norm(self) -> float:
        """Return the sum of the squared entries, less what the squared kernel's factor lacks."""
        psi = self.weights[:, None].astype(np.float32) * self.column.square[self.v]
        first = np.flatnonzero(np.diff(self.g, prepend=-1))  # pairs of a row share its kernel
        psi = np.add.reduceat(psi, first, axis=0)
        squares = taken(self.chosen.squares, self.g[first])
        return float(np.einsum("ij,ij->", psi, squares @ psi, dtype=np.float64))

    def matrix(self, double: bool) -> np.ndarray:
        """Return the matrix: in float64, or in float32 and less what the factor leaves out."""
        root, K, gram = np.sqrt(self.weights)[:, None], self.chosen.kernel, self.chosen.gram
        if double:
            J = self.column.kernel(self.v)
            J *= root
            J *= root.T
        else:
            phi = (root * self.column.factor[self.v]).astype(np.float32)
            J = phi @ phi.T
        if double and K.dtype != np.float64 and gram is not None:
            J *= unit_kernel(gram.take(self.g))
        else:
            J *= taken(K, self.g)
        return np.asarray(J)

    def rounding(self, double: bool) -> Rounding:
        """Return what that matrix differs by."""
        relative, eps = self.column.folded.roundoff, float(np.finfo(np.float64).eps)
        if double:
            of_chosen = 0.0 if self.chosen.gram is None else self.chosen.gram.roundoff
            return Rounding(relative + of_chosen + 4 * eps, 0.0)
        # A factor's entries are sums of as many products as it has columns.
        own = (4 + self.column.factor.shape[1]) * EPS
        return Rounding(self.chosen.roundoff + own, self.column.rest)


def _counted(code: np.ndarray, size: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that occur, of so many, and the weight of each."""
    if size <= 16 * len(code):
        sums = np.bincount(code, weights=weights, minlength=size)
        found = np.flatnonzero(sums)
        return found, sums[found]
    found, inverse = np.unique(code, return_inverse=True)
    return found, np.bincount(inverse, weights=weights)
