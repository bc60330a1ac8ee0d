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
from typing import NamedTuple

import numpy as np

from lorenyi import _arrays
from lorenyi.data.sources import slices
from lorenyi.gram import Gram
from lorenyi.joints.columns import (
    Column,
    flushed,
    fold,
    in_one_piece,
    taken,
    unit_kernel,
)
from lorenyi.joints.limits import LIMITS
from lorenyi.spectra.enclosure import Block
from lorenyi.spectra.krylov import orthonormalised
from lorenyi.spectra.prover import share

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
        self.seen: dict[Column, Seen] = {}  # by candidate, for order 2
        self.floor = LIMITS.single  # bits: the width that products in float32 reach, as far as seen
        self.kernel = np.ones((1, 1))  # with ones on the diagonal; float32 where rows are many
        if grams:
            self.gram = fold(grams, self.code)
            double = len(self.gram) <= LIMITS.dense
            self.kernel = unit_kernel(self.gram, not double)
            self.roundoff = (self.gram if double else self.gram.single(points=False)).roundoff
            if not double:
                flushed(self.kernel)

    @cached_property
    def is_smooth(self) -> bool:
        """Whether so few eigenvectors hold its trace that a solver is faster than products."""
        return 1.0 - float(np.sum(self.values)) < LIMITS.smooth

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
        return Joined(self, column, labelled, g, v, weights, cuts)

    def see(self, columns: Sequence[Column], lengths: bool) -> None:
        """Find what squares show of the joints with some candidates, by one pass over the kernel.

        Within classes alone, and between them as well.
        """
        cuts = np.cumsum([0, *(column.square.shape[1] for column in columns)])
        psis, sums = np.zeros((2, len(self.kernel), cuts[-1]), np.float32)
        within, sizes = np.zeros(cuts[-1]), [list[np.ndarray]() for _ in columns]
        parts = [self.join(column, True).parts for column in columns]
        for block in zip(*parts, strict=True):  # of a class
            folded = [part.squared() for part in block]
            rows, psi = folded[0][0], np.hstack([psi for _, psi in folded])
            piece = in_one_piece(rows)
            found = self.squares[piece].T @ psi
            within += np.einsum("ij,ij->j", psi, found[piece], dtype=np.float64)
            psis[piece] += psi
            sums += found
            for part, own in zip(block, sizes, strict=True):
                own.append(part.lengths() if lengths else np.zeros((0, 0)))
        whole = np.einsum("ij,ij->j", psis, sums, dtype=np.float64)
        norms = np.add.reduceat([whole, within], cuts[:-1], axis=1).T.tolist()
        for column, own, norm in zip(columns, sizes, norms, strict=True):
            longest = [np.sort(np.ravel(x))[::-1] for x in (sum(own), own)]
            self.seen[column] = Seen((norm[0], norm[1]), (longest[0], longest[1]))

    @cached_property
    def squares(self) -> np.ndarray:
        """Squares of the entries of the kernel, in float32."""
        return flushed(np.square(self.kernel, dtype=np.float32))

    @cached_property
    def factor(self) -> np.ndarray:
        r"""A factor below the kernel, :math:`F F' \preceq K`, transposed; largest columns first.

        :math:`A U (U' A U)^{-1/2}` for vectors U near the leading eigenvectors of the matrix with
        its weights, without these.
        """
        weights = np.bincount(self.code, weights=self.weights)
        size = min(2 * self.rank + 64, len(weights))
        root = np.sqrt(weights)[:, None].astype(np.float32)
        K = self.kernel.astype(np.float32, copy=False)
        U = _arrays.normal(0, 1, len(K), min(size + 16, len(K))).astype(np.float32)
        U = root * (K @ (root * U))
        U = orthonormalised(U)[0]
        W = K @ (root * U)
        values, Z = _arrays.eigh(((root * U).T @ W).astype(np.float64))
        keep = values > 10 * LIMITS.resolved * values[-1]
        Z = (Z[:, keep] / np.sqrt(values[keep]))[:, ::-1][:, :size]
        return np.ascontiguousarray((W @ Z.astype(np.float32)).T)

    @cached_property
    def values(self) -> np.ndarray:
        """Squared norms of the factor's columns, with the weights: nearly eigenvalues."""
        weights = np.bincount(self.code, weights=self.weights)
        return np.asarray(np.einsum("j,ij,ij->i", weights, self.factor, self.factor))


class Seen(NamedTuple):
    """What squares show of the joints with a candidate, without labels and with them."""

    norms: tuple[float, float]  # squared, less what the factor of the squared kernel lacks
    lengths: tuple[np.ndarray, np.ndarray]  # squared, of products of columns of both factors


@dataclass(eq=False)
class Joined:
    """The joint of chosen features and a candidate, on the distinct pairs of rows and values."""

    chosen: Chosen
    column: Column  # the candidate
    labelled: bool  # whether classes cut it into blocks
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
            rank = share(self.chosen.rank, float(weights.sum()))
            made.append(Part(self.chosen, self.column, self.g[a:b], self.v[a:b], weights, rank))
        return made

    @cached_property
    def is_small(self) -> bool:
        """Whether all eigenvalues cost no more than bounds on them."""
        return all(part.is_small for part in self.parts)

    def is_whole(self, last: bool, side: str) -> bool:
        """Tell whether all eigenvalues come next, or as the last resort."""
        whole = last or (self.chosen.kernel.dtype == np.float64 and side == "both")
        return self.is_small or (whole and self.most <= LIMITS.dense)

    def eigenvalues(self) -> np.ndarray:
        """Return all eigenvalues, descending."""
        each = [_arrays.eigvalsh(part.matrix(double=True)) for part in self.parts]
        return np.sort(np.concatenate(each))[::-1]


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
        root = np.sqrt(self.weights).astype(np.float32)
        phi = np.ascontiguousarray((root[:, None] * self.column.factor[self.v]).T)
        G = self.chosen.factor[:, in_one_piece(self.g)][i]
        G *= phi[j]
        return np.asarray(G.T)

    def squared(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of the chosen features, and the squared kernel's factor summed in each."""
        psi = self.weights[:, None].astype(np.float32) * self.column.square[self.v]
        first = np.flatnonzero(np.diff(self.g, prepend=-1))
        return self.g[first], np.add.reduceat(psi, first, axis=0)

    def lengths(self) -> np.ndarray:
        """Return the squared norms of all products of a column of each factor."""
        squares = self.chosen.factor[:, in_one_piece(self.g)] ** 2 * self.weights.astype(np.float32)
        return np.asarray(squares @ self.column.factor[self.v] ** 2, dtype=np.float64)

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

    def matrix(self, double: bool) -> np.ndarray:
        """Return the matrix: in float64, or in float32 and less what the factor leaves out."""
        root, K, gram = np.sqrt(self.weights)[:, None], self.chosen.kernel, self.chosen.gram
        if not double:
            phi = (root * self.column.factor[self.v]).astype(np.float32)
            J = np.empty((len(self), len(self)), np.float32)
            columns = in_one_piece(self.g)
            for rows in slices(len(self), 128):  # each is in the cache when it is multiplied
                strip = np.matmul(phi[rows], phi.T, out=J[rows])
                strip *= K[in_one_piece(self.g[rows])][:, columns]
            return J
        J = self.column.kernel(self.v)
        J *= root
        J *= root.T
        J *= unit_kernel(gram.take(self.g)) if self._is_single and gram else taken(K, self.g)
        return J

    @property
    def _is_single(self) -> bool:
        return self.chosen.kernel.dtype != np.float64

    @property
    def relative(self) -> float:
        """Relative rounding of the entries in float64."""
        of_chosen = 0.0 if self.chosen.gram is None else self.chosen.gram.roundoff
        return float(self.column.folded.roundoff + of_chosen + 4 * np.finfo(np.float64).eps)

    def block(self, double: bool) -> Block:
        """Return what is known of the matrix in float64, or in float32."""
        largest = float(np.max(self.weights))
        if double:
            return Block(self.share, self.mass, self.relative, largest)
        # A factor's entries are sums of as many products as it has columns.
        relative = self.chosen.roundoff + (4 + self.column.factor.shape[1]) * EPS
        return Block(self.share, self.mass, relative, largest, self.column.rest)


def _counted(code: np.ndarray, size: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that occur, of so many, and the weight of each."""
    if size <= 16 * len(code):
        sums = np.bincount(code, weights=weights, minlength=size)
        found = np.flatnonzero(sums)
        return found, sums[found]
    found, inverse = np.unique(code, return_inverse=True)
    return found, np.bincount(inverse, weights=weights)
