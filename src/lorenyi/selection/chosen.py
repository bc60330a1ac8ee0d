r"""What is kept of the chosen features while candidates join them.

The joint of chosen features S and a candidate c has the matrix :math:`A_S \circ k_c`. If c told
nothing of S, its eigenvectors would be the products :math:`u_i \circ \varphi_m` of theirs, with
eigenvalues :math:`\lambda_i \mu_m`. Three things follow.

* At a glance: with :math:`F F' \preceq A_S` (from m products with :math:`A_S`, see `Block`) and
  :math:`\Phi \Phi' \preceq k_c`, the products of their columns are a factor G with :math:`G G'
  \preceq A_S \circ k_c` (Schur), of which the largest hold the most. The eigenvalues of G'G lie
  below those of the joint, whose matrix was never made: :math:`O(n q^2)` for q columns. At order 2
  :math:`\|A_S \circ k_c\|_F^2 = \sum_m \psi_m' (A_S \circ A_S) \psi_m` with a factor of
  :math:`k_c^2`.
* A start: the leading eigenvectors U of G G' are near those of the joint J. One product J U gives
  :math:`J U (U' J U)^{-1} U' J \preceq J`, whose eigenvalues are nearly those of J.
* An enclosure: two products and a few random columns bound both ends (see `proven`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce

import numpy as np

from lorenyi import _arrays
from lorenyi._memory import fits
from lorenyi._threads import parallel
from lorenyi.data.sources import slices
from lorenyi.entropy import renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.selection.ends import Limits, Side, Wanted
from lorenyi.selection.proven import FAILURE, Basis, Proof
from lorenyi.spectra.auto import Auto
from lorenyi.spectra.bounds import together
from lorenyi.spectra.cholesky import Factor
from lorenyi.spectra.krylov import Krylov
from lorenyi.spectra.prover import share
from lorenyi.spectra.solver import known_spectrum

SMOOTH, SQUARE = 1e-6, 1e-7  # of a column's kernel and of its square: what factors may leave out
MOST = 64  # columns of these factors
RESOLVED = 1e-4  # of the largest: eigenvalues of the chosen features that float32 resolves
START = 5  # vectors to start from, in quarters of the rank
SEEN = 10  # columns of the factor whose eigenvectors they are
WIDEST = 768  # of them, at most
NOTHING = 1e-18  # in sums of numbers up to one
RESOLVABLE = 1e-4  # bits: a width that float32 may reach
SLOWER = 0.6  # times the width before: products that bring little, in float32
STUCK = 0.9  # and in float64, after which there is only to begin anew
STRIPE = 256  # rows of a joint that are made at a time
TOGETHER = 64  # candidates whose norms are found together
TINY = 1e-5  # of the largest: products that tell nothing
GLANCES = {"high": 10, "low": 5}  # and columns of the factor at a glance
AGAIN = 24  # and at a second one
WIDE = 2  # vectors that are kept of the chosen features, in ranks


@dataclass(frozen=True, eq=False)
class Column:
    """A candidate: factors of its kernel (without weights) and of that kernel's square.

    Parameters
    ----------
    gram : Gram
        Of all rows.
    factor : array, n x r
        Orthogonal columns Phi (with respect to the weights), largest first.
    values : array, r
        Their squared norms.
    rest : float
        The (weighted) trace that the factor leaves out.
    square : array, n x s
        The factor of the squared kernel.
    missing : float
        The trace that this one leaves out.
    """

    gram: Gram
    factor: np.ndarray
    values: np.ndarray
    rest: float
    square: np.ndarray
    missing: float


def column(
    A: Gram,
    folded: Gram | None = None,
    codes: np.ndarray | None = None,
    squared: bool = True,
    seed: int = 0,
) -> Column:
    """Return what is needed of a candidate, from its Gram.

    Parameters
    ----------
    A : Gram
        Of all rows.
    folded : Gram, optional
        Of the distinct ones, if that is known.
    codes : array of int, optional
        For each row its number among those.
    squared : bool
        Whether the factor of the squared kernel is needed.
    seed : int
        Of the pivots.
    """
    folded, codes = (A, np.arange(len(A))) if folded is None or codes is None else (folded, codes)
    root = np.sqrt(_arrays.to_numpy(folded.weights))[:, None]
    first = _grown(folded, SMOOTH, seed)
    second = _grown(folded * folded, SQUARE, seed) if squared else Factor(folded, seed)
    values, Z = _arrays.eigh(first.F.T @ first.F)
    keep = values > 0.1 * SMOOTH * values[-1]
    factor, square = first.F @ Z[:, keep][:, ::-1] / root, second.F / root
    factor, square = (flushed(part.astype(np.float32))[codes] for part in (factor, square))
    rest = max(first.rest, 0.0) + float(np.sum(values[~keep]))
    return Column(A, factor, values[keep][::-1], rest, square, second.rest)


def flushed(array: np.ndarray) -> np.ndarray:
    """Set to zero, in place, what is far below rounding: products of tiny numbers are slow.

    Below 1e-38 float32 has numbers with fewer digits, for which processors take a hundred times
    as long.
    """
    for rows in slices(len(array), 256):
        part = array[rows]
        part[np.abs(part) < NOTHING] = 0.0
    return array


def _grown(A: Gram, rest: float, seed: int) -> Factor:
    factor = Factor(A, seed)
    while factor.rest > rest and factor.size < MOST and factor.grow(8):
        pass
    return factor


@dataclass(eq=False)
class Block:
    r"""One diagonal block of the chosen features' matrix.

    Parameters
    ----------
    index : array of int
        Its rows.
    gram, held : Gram
        Itself, and in float32 with its entries stored.
    factor : array
        :math:`F = A U (U' A U)^{-1/2}` for Ritz vectors U: F F' lies below A, and its columns are
        nearly eigenvectors.
    values : array
        Squared norms of its columns, nearly eigenvalues.
    """

    index: np.ndarray
    gram: Gram
    held: Gram
    factor: np.ndarray
    values: np.ndarray

    def products(self, candidate: Column, count: int) -> np.ndarray:
        """Return the largest products of a column of the factor and one of the candidate's."""
        sizes = np.outer(self.values, candidate.values).ravel()
        order = np.argsort(-sizes, kind="stable")[:count]
        order = order[sizes[order] > TINY * sizes[order[0]]]
        i, j = np.divmod(order, len(candidate.values))
        products: np.ndarray = self.factor[:, i] * candidate.factor[self.index][:, j]
        return products

    def eigenvalues(self, candidate: Column, count: int) -> np.ndarray:
        """Return lower bounds on the leading eigenvalues of the joint."""
        G = self.products(candidate, count)
        values: np.ndarray = np.maximum(_arrays.eigvalsh((G.T @ G).astype(np.float64)), 0.0)
        return values

    def basis(self, candidate: Column, rank: int) -> Basis:
        """Return a space near the joint's leading eigenvectors, multiplied once."""
        return Basis(partial(self._times, candidate), self.start(candidate, rank))

    def proof(self, candidate: Column, rank: int, seed: int, like: Proof | None = None) -> Proof:
        """Return what encloses the spectrum of the joint; in float64 if there is one like it."""
        if like is not None and like.basis.found:
            A = self.gram * candidate.gram.take(self.index)
            J: np.ndarray = _arrays.to_numpy(A.dense())
            return Proof(J, like.basis.Q, rank, self.gram.mass, A.roundoff, 0.0, seed)
        scale = _arrays.to_numpy(self.held.scale)[:, None]
        phi = scale * candidate.factor[self.index]
        J = phi @ phi.T
        J *= self.held.factors[0].array
        count = -(-3 * rank // 32) * 16  # a block may hold more than its share of the leading ones
        near = J @ self.near(candidate, count, 3 * count // 2)
        # A factor's entries are sums of as many products as it has columns.
        roundoff = self.held.roundoff + phi.shape[1] * float(np.finfo(phi.dtype).eps)
        return Proof(J, near, rank, self.gram.mass, roundoff, candidate.rest, seed)

    def _times(self, candidate: Column, U: np.ndarray) -> np.ndarray:
        """Return a matrix just below the joint's, made as it is needed, times U."""
        scale, K = _arrays.to_numpy(self.held.scale)[:, None], self.held.factors[0].array
        phi, product = candidate.factor[self.index], np.empty_like(U)
        U = scale * U
        for rows in slices(len(U), STRIPE):
            part = phi[rows] @ phi.T
            part *= K[rows]
            np.matmul(part, U, out=product[rows])
        product *= scale
        return product

    def squared_norms(self, candidates: Sequence[Column]) -> np.ndarray:
        """Return the sums of squares of the joints' entries, but for what the factors lack."""
        scale = _arrays.to_numpy(self.held.scale)[:, None] ** 2
        psi = scale * np.hstack([candidate.square[self.index] for candidate in candidates])
        each = np.einsum("ij,ij->j", psi, self.squares @ psi, dtype=np.float64)
        ends = np.cumsum([candidate.square.shape[1] for candidate in candidates])
        sums: np.ndarray = np.diff(np.cumsum(each)[ends - 1], prepend=0.0)
        return sums

    @cached_property
    def squares(self) -> np.ndarray:
        """Squares of the entries of the kernel matrix."""
        return flushed(np.square(self.held.factors[0].array))

    def joint(self, candidate: Column, rank: int) -> Gram:
        """Return the block of the joint with a candidate, and what is known about it."""
        other = candidate.gram.take(self.index)
        A = self.gram * other
        quick = (self.held * other.single(points=False)).stored_from(A.single(points=False))
        A.mass = quick.mass = self.gram.mass
        A.quick, A.near = quick, self.start(candidate, rank)
        return A

    def start(self, candidate: Column, rank: int) -> np.ndarray:
        """Return columns near the leading eigenvectors of the joint, more than the rank."""
        return self.near(candidate, _columns(rank, START), min(_columns(rank, SEEN), WIDEST))

    def near(self, candidate: Column, count: int, seen: int) -> np.ndarray:
        """Return columns near the leading eigenvectors of the joint, from more columns of G."""
        G = self.products(candidate, seen)
        values, Z = _arrays.eigh(G.T @ G)  # float32 is enough for a start, in half the time
        count = min(count, int(np.sum(values > TINY * values[-1])))
        Z = Z[:, -count:] / np.sqrt(values[-count:])
        near: np.ndarray = G @ np.ascontiguousarray(Z, dtype=G.dtype)
        return near


def _columns(rank: int, quarters: int) -> int:
    """Return a number of quarters of the rank, rounded up to a multiple of 32."""
    return -(-quarters * rank // 128) * 32


class Enclosing:
    """Both ends of the entropy of a joint, ever narrower.

    Parameters
    ----------
    proofs : sequence of Proof
        Of its diagonal blocks.
    singles : array
        Eigenvalues known at sight.
    entropy : Renyi
        The functional, with a rank.
    n : float
        Number of points.
    """

    def __init__(
        self, proofs: Sequence[Proof], singles: np.ndarray, entropy: Renyi, n: float
    ) -> None:
        self.proofs, self.entropy, self.n = proofs, entropy, n
        self.known = known_spectrum(singles, None)
        self.failure = 0.0
        self.found = self._look()
        self.stuck = False

    @property
    def single(self) -> bool:
        """Whether it is in float32."""
        return all(proof.J.dtype == np.float32 for proof in self.proofs)

    def until(self, wanted: Wanted) -> Estimate | None:
        """Make products until the interval is good enough, or they bring little."""
        if self.single and self.found is not None and wanted.tol < RESOLVABLE:
            self.stuck = not wanted.met(self.found)
        while self.found is not None and not self.stuck and not wanted.met(self.found):
            before = self.found.width
            grown = [proof.grow() for proof in self.proofs]
            self.stuck = not any(grown)
            if not self.stuck:
                self.found = self._look()
                slower = SLOWER if self.single else STUCK
                self.stuck = self.found is None or self.found.width > slower * before
        return self.found

    def _look(self) -> Estimate | None:
        pairs = [pair for proof in self.proofs if (pair := proof.ends()) is not None]
        self.failure += FAILURE * len(self.proofs)
        if len(pairs) < len(self.proofs):
            return None
        low, high = (
            float(
                renyi_entropy(
                    together([*self.known, *end], self.n, 1.0),
                    self.entropy.alpha,
                    self.entropy.rank,
                )
            )
            for end in zip(*pairs, strict=True)
        )
        return Estimate.within(low, 0.5 * (low + high), high, failure=self.failure)


class Chosen:
    """The chosen features, with or without the target.

    Parameters
    ----------
    features : sequence of Column
        Each chosen feature.
    target : Gram, optional
        The target, if it is among the variables.
    groups : sequence of array of int
        Rows of each diagonal block: all, or those of each class where the target is labels.
    entropy : Renyi
        The functional: with a rank, or of order 2.
    solver : Auto
        What settles a joint where a glance does not.
    before : Chosen, optional
        The same without the last feature.
    """

    def __init__(
        self,
        features: Sequence[Column],
        target: Gram | None,
        groups: Sequence[np.ndarray],
        entropy: Renyi,
        solver: Auto,
        before: Chosen | None,
    ) -> None:
        self.entropy, self.solver, self.rank = entropy, solver, int(entropy.rank or 1)
        self.norms: dict[int, float] = {}  # squared, of joints with candidates
        self.gain: float | None = None  # bits by which a second glance is better than the first
        A = reduce(lambda a, b: a * b, [feature.gram for feature in features])
        self.whole = A if target is None else A * target
        if len(groups) == 1:
            A = self.whole
        weights = _arrays.to_numpy(A.weights)
        alone = [index for index in groups if len(index) == 1]
        self.singles = weights[np.concatenate([*alone, np.zeros(0, dtype=np.int64)])]
        self.blocks: list[Block] = []
        earlier = iter(before.blocks if before is not None else ())
        for index in groups:
            if len(index) > 1:
                old, part = next(earlier, None), A.take(index)
                part.mass = float(np.sum(weights[index]))
                count = min(WIDE * self._share(part) + 64, len(part) // 4)
                if entropy.rank is None:
                    count = 0
                near = None
                if old is not None and count:
                    near = old.near(features[-1], count, 3 * count // 2)
                self.blocks.append(_block(index, part, near, count, solver.seed))

    def _share(self, block: Gram) -> int:
        return share(self.rank, block, self.whole) or 1

    @cached_property
    def slack(self) -> float:
        """Relative size of the rounding in sums of eigenvalues.

        It moves an eigenvalue of a factor by about that of the largest, whatever its size.
        """
        eps, most = float(np.finfo(np.float32).eps), max(b.factor.shape[1] for b in self.blocks)
        return float(max(2 * b.held.roundoff for b in self.blocks) + (64 + most) * eps)

    def squared_norms(self, candidates: Sequence[Column], workers: int | None = None) -> np.ndarray:
        """Return upper bounds on the squared Frobenius norms of joints, many by one product.

        What factors of the squared kernels lack adds no more than its trace, all blocks together.
        """
        parts = parallel(
            lambda some: sum(block.squared_norms(candidates[some]) for block in self.blocks),
            slices(len(candidates), TOGETHER),
            workers,
        )
        missing = np.array([candidate.missing for candidate in candidates])
        norms: np.ndarray = np.concatenate(parts) + missing + float(np.sum(self.singles**2))
        return norms

    def glance(
        self, candidate: Column, side: Side, norm: float = math.nan, again: bool = False
    ) -> Estimate:
        """Bound one end of the entropy of the joint without making its matrix.

        At order 2 its lower end needs the squared Frobenius norm, and without a rank that is all.
        A second glance takes more columns of the factor.
        """
        slack, missing = self.slack, candidate.missing
        if self.entropy.rank is None:
            ends = max(norm - missing, 1 / self.whole.n) * (1 - slack), min(norm * (1 + slack), 1.0)
            high, low = (-math.log2(end) for end in ends)
            return Estimate.within(low, 0.5 * (low + high), high)
        quarters = AGAIN if again else GLANCES[side]
        counts = [_columns(self._share(block.gram), quarters) for block in self.blocks]
        found = [b.eigenvalues(candidate, c) for b, c in zip(self.blocks, counts, strict=True)]
        theta = np.sort(np.concatenate([self.singles, *found]))[::-1]
        low, high = Limits(self.whole.n, self.entropy, slack).ends(theta, theta**2, norm, missing)
        return Estimate.within(low, high if side == "high" else low, high)

    def closer(self, candidate: Column, wanted: Wanted) -> tuple[Estimate, float] | None:
        """Bound the entropy of the joint from above by a few products, and guess how closely."""
        ranks = [self._share(block.gram) for block in self.blocks]
        parts = [b.basis(candidate, r) for b, r in zip(self.blocks, ranks, strict=True)]
        if not all(part.found for part in parts):
            return None
        best, gap = math.inf, math.inf
        while True:
            # Ritz values are off by three times as much, about.
            ritz, high = map(self._above, zip(*(part.values() for part in parts), strict=True))
            best, before, gap = min(high, best), gap, 0.5 * max(ritz - high, 0.0)
            found = Estimate.within(0.0, best, best)
            if wanted.met(found) or gap <= 0.5 * wanted.tol or gap > SLOWER * before:
                return found, gap
            grown = [part.grow() for part in parts]
            if not any(grown):
                return found, gap

    def _above(self, found: Sequence[np.ndarray]) -> float:
        """Return an upper end from lower bounds on the eigenvalues of each block."""
        theta = np.sort(np.concatenate([self.singles, *found]))[::-1]
        return Limits(self.whole.n, self.entropy, self.slack).ends(theta, theta**2)[1]

    def enclosing(self, candidate: Column, like: Enclosing | None = None) -> Enclosing:
        """Return what bounds the entropy of the joint on both sides.

        In float32 at first; then from what that found, in float64.
        """
        before = [None for _ in self.blocks] if like is None else like.proofs
        proofs = [
            block.proof(candidate, self._share(block.gram), self.solver.seed, proof)
            for block, proof in zip(self.blocks, before, strict=True)
        ]
        return Enclosing(proofs, self.singles, self.entropy, self.whole.n)

    def joint(self, candidate: Column) -> Gram:
        """Return the joint with a candidate, split into blocks of which much is known."""
        blocks = [block.joint(candidate, self._share(block.gram)) for block in self.blocks]
        return (self.whole * candidate.gram).reducing_to(self.singles, blocks)


def _block(index: np.ndarray, A: Gram, near: np.ndarray | None, count: int, seed: int) -> Block:
    held = A.single(points=False).held()
    held.mass = A.mass
    flushed(held.factors[0].array)
    if not count:
        return Block(index, A, held, np.zeros((len(A), 0), dtype=np.float32), np.zeros(0))
    if near is None:
        krylov = Krylov(held, 32, count + 64, seed)
        krylov.fill()
        near = krylov.vectors(krylov.ritz(count)[1])
    W = held @ near
    M = (near.T @ W).astype(np.float64)
    values, Z = _arrays.eigh(0.5 * (M + M.T))
    keep = values > RESOLVED * values[-1]
    root = (Z[:, keep] / np.sqrt(values[keep]))[:, ::-1]
    factor = W @ np.ascontiguousarray(root, dtype=W.dtype)
    return Block(index, A, held, factor, np.einsum("ij,ij->j", factor, factor, dtype=np.float64))


def affordable(n: int, features: int) -> bool:
    """Tell whether matrices of all rows can be held: of the chosen, and of those in front."""
    return fits(56 * n**2 + 4 * MOST * n * features)
