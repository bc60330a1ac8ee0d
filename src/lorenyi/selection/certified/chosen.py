r"""What is kept of the chosen features while candidates join them.

The joint of chosen features Z and a candidate c has the matrix :math:`A_Z \circ k_c`, on the
distinct pairs of their rows and values; labels cut it into one block a class. With
:math:`F F' \preceq A_Z` and :math:`\Phi \Phi' \preceq k_c`, products of their columns are a factor
G with :math:`G G' \preceq A_Z \circ k_c` (Schur), of which the largest hold the most: eigenvalues
of G'G lie below those of the joint, and its leading vectors are near the joint's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np

from lorenyi import _arrays
from lorenyi.gram import Gram
from lorenyi.selection.certified.columns import Column, first_of, flushed, fold, taken, unit_kernel
from lorenyi.selection.certified.limits import LIMITS
from lorenyi.spectra.krylov import orthonormalised

EPS = float(np.finfo(np.float32).eps)


@dataclass(eq=False)
class Block:
    """Some rows of the chosen features.

    Parameters
    ----------
    kernel : array, m x m
        Of these, with ones on the diagonal.
    gram : Gram, optional
        The same in float64, as it is made; none where nothing is chosen.
    roundoff : float
        Relative size of the rounding in the kernel.
    weights : array, m
        Their relative weights.
    size : int
        Columns of the factor to keep.
    near : callable, optional
        Returns columns near the leading eigenvectors of their matrix.
    """

    kernel: np.ndarray
    gram: Gram | None
    roundoff: float
    weights: np.ndarray
    size: int
    near: Callable[[], np.ndarray] | None

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
        root = np.sqrt(self.weights)[:, None].astype(np.float32)
        K = self.kernel.astype(np.float32, copy=False)
        if self.near is not None:
            U = self.near()
        else:
            U = _arrays.normal(0, 1, len(K), min(self.size + 16, len(K))).astype(np.float32)
            U = root * (K @ (root * orthonormalised(root * (K @ (root * U)))[0]))
        U = orthonormalised(U)[0]
        W = K @ (root * U)
        values, Z = _arrays.eigh(((root * U).T @ W).astype(np.float64))
        keep = values > 10 * LIMITS.resolved * values[-1]
        Z = (Z[:, keep] / np.sqrt(values[keep]))[:, ::-1][:, : self.size]
        return np.asarray(W @ np.ascontiguousarray(Z, dtype=np.float32))

    @cached_property
    def values(self) -> np.ndarray:
        """Squared norms of the factor's columns, with the weights: nearly eigenvalues."""
        squares = np.einsum("i,ij,ij->j", self.weights, self.factor, self.factor)
        return np.asarray(squares, dtype=np.float64)


@dataclass(eq=False)
class Part:
    """One diagonal block of the joint of chosen features and a candidate.

    Parameters
    ----------
    block : Block
        Of the chosen features.
    column : Column
        The candidate.
    g, v : array of int
        Row of the block (None: they are all rows, in order), and value of the candidate.
    weights : array
        Relative weights of these pairs.
    share : int
        About how many of the leading eigenvalues of the whole it holds.
    """

    block: Block
    column: Column
    g: np.ndarray | None
    v: np.ndarray
    weights: np.ndarray
    share: int

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.v)

    @property
    def mass(self) -> float:
        """Its trace."""
        return float(np.sum(self.weights))

    @property
    def is_small(self) -> bool:
        """Whether all eigenvalues cost no more than bounds on them."""
        return len(self) <= max(LIMITS.bounded, 4 * self.share)

    def _rows(self, array: np.ndarray) -> np.ndarray:
        return array if self.g is None else array[self.g]

    def products(self, count: int) -> np.ndarray:
        """Return a factor below the matrix: the largest products of a column of each factor."""
        sizes = np.outer(self.block.values, self.column.values).ravel()
        order = np.argsort(-sizes, kind="stable")[: max(count, 1)]
        order = order[sizes[order] > LIMITS.resolved * sizes[order[0]]]
        i, j = np.divmod(order, len(self.column.values))
        G = self._rows(self.block.factor)[:, i] * self.column.factor[self.v][:, j]
        G *= np.sqrt(self.weights)[:, None].astype(np.float32)
        return np.asarray(G)

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
        if self.g is not None:  # pairs of the same row of the block share its kernel
            pairs, psi = psi, np.zeros((len(self.block.kernel), psi.shape[1]), dtype=np.float32)
            np.add.at(psi, self.g, pairs)
        return float(np.einsum("ij,ij->", psi, self.block.squares @ psi, dtype=np.float64))

    def matrix(self) -> np.ndarray:
        """Return the matrix, in float64."""
        block, root = self.block, np.sqrt(self.weights)[:, None]
        J = self.column.kernel(self.v)
        J *= root
        J *= root.T
        K = block.kernel
        if K.dtype != np.float64 and block.gram is not None:
            K = unit_kernel(block.gram if self.g is None else block.gram.take(self.g))
        elif self.g is not None:
            K = taken(K, self.g)
        J *= K
        return np.asarray(J)

    @property
    def roundoff(self) -> float:
        """Relative size of the rounding in its entries."""
        of_chosen = 0.0 if self.block.gram is None else self.block.gram.roundoff
        return self.column.folded.roundoff + of_chosen + 4 * float(np.finfo(np.float64).eps)


class Chosen:
    """The chosen features of a table whose rows are in the order of their classes.

    Few distinct rows are folded, and all classes share what is kept of them; else each class is a
    block of its own.

    Parameters
    ----------
    grams : sequence of Gram
        Of the chosen features, and of the target where it is a number and among the variables.
    code : array of int
        Which of their distinct rows each row is.
    weights : array
        Relative weights of the rows.
    ends : array of int
        Where classes begin, and where the last ends.
    rank : int
        How many eigenvalues count, about.
    before : tuple of Chosen and Column, optional
        The same without the last feature, and that feature.
    """

    def __init__(
        self,
        grams: Sequence[Gram],
        code: np.ndarray,
        weights: np.ndarray,
        ends: np.ndarray,
        rank: int,
        before: tuple[Chosen, Column] | None = None,
    ) -> None:
        n = len(code)
        self.folded = 2 * int(code.max()) < n
        self.code = code if self.folded else np.arange(n)
        self.weights, self.ends, self.rank = weights, ends, rank
        self.rows = first_of(self.code)
        double = len(self.rows) <= LIMITS.dense
        A = fold(grams, self.code) if grams else None
        self.gram, self.roundoff = A, 0.0
        self.kernel = np.ones((1, 1))
        if A is not None:
            self.kernel = unit_kernel(A, not double)
            self.roundoff = (A if double else A.single(points=False)).roundoff
        if not double:
            flushed(self.kernel)
        self._blocks: dict[bool, list[Block]] = {}
        self._before = before

    def share(self, mass: float) -> int:
        """Return about how many of the leading eigenvalues a block of such a mass holds."""
        return self.rank if mass >= 1 else min(self.rank, 8 + round(1.25 * self.rank * mass))

    def _cuts(self, labelled: bool) -> list[slice]:
        """Return where the classes are, or all rows."""
        ends = self.ends.tolist() if labelled else [0, len(self.code)]
        return [slice(a, b) for a, b in pairwise(ends)]

    def blocks(self, labelled: bool) -> list[Block]:
        """Return one block for each class, or one for all rows; that alone if rows are folded."""
        labelled = labelled and not self.folded
        if labelled not in self._blocks:
            cuts = [slice(None)] if self.folded else self._cuts(labelled)
            self._blocks[labelled] = [self._block(i, cut, labelled) for i, cut in enumerate(cuts)]
        return self._blocks[labelled]

    def _block(self, number: int, cut: slice, labelled: bool) -> Block:
        weights, rows = np.bincount(self.code, weights=self.weights)[cut], self.rows[cut]
        size = 2 * self.share(float(np.sum(weights))) + 64
        near: Callable[[], np.ndarray] | None = None
        if self._before is not None:
            old, column = self._before
            block = old.blocks(labelled)[0 if old.folded else number]
            g = old.code[rows] if old.folded else None
            near = partial(Part(block, column, g, column.codes[rows], weights, size).near, size)
        gram = None if self.gram is None else self.gram.take(np.arange(len(self.rows))[cut])
        return Block(self.kernel[cut, cut], gram, self.roundoff, weights, size, near)

    def prepare(self, labelled: bool) -> None:
        """Make what the bounds need; then the features before are not needed."""
        for block in self.blocks(labelled):
            block.values  # noqa: B018
            block.near = None

    def parts(self, column: Column, labelled: bool) -> list[Part]:
        """Return the diagonal blocks of the joint with a candidate."""
        blocks, cuts, values = self.blocks(labelled), self._cuts(labelled), column.codes
        if not self.folded:
            each = zip(blocks, cuts, strict=True)
            return [self._part(b, column, None, values[c], self.weights[c]) for b, c in each]
        levels, pairs = len(column.folded), len(self.rows) * len(column.folded)
        code = self.code * levels + values
        if labelled:
            code += np.repeat(np.arange(len(cuts)), np.diff(self.ends)) * pairs
        found, weights = _counted(code, pairs * len(cuts), self.weights)
        ends = np.searchsorted(found, pairs * np.arange(len(cuts) + 1)).tolist()
        g, v = np.divmod(found % pairs, levels)
        return [
            self._part(blocks[0], column, g[a:b], v[a:b], weights[a:b]) for a, b in pairwise(ends)
        ]

    def _part(
        self,
        block: Block,
        column: Column,
        g: np.ndarray | None,
        v: np.ndarray,
        weights: np.ndarray,
    ) -> Part:
        return Part(block, column, g, v, weights, self.share(float(np.sum(weights))))


def _counted(code: np.ndarray, size: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that occur, of so many, and the weight of each."""
    if size <= 16 * len(code):
        sums = np.bincount(code, weights=weights, minlength=size)
        found = np.flatnonzero(sums)
        return found, sums[found]
    found, inverse = np.unique(code, return_inverse=True)
    return found, np.bincount(inverse, weights=weights)
