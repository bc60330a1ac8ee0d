r"""The paper's Algorithm 1: singular values of the matrix after a random projection.

:math:`\hat A = A P` with P of n x s and :math:`E[P P'] = I`; its k largest singular values stand
for the k largest eigenvalues. They are estimates without a guarantee: they can lie above the true
ones, and their sum above the trace.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.gram import Gram
from lorenyi.gram.tiles import row_blocks
from lorenyi.spectra.solver import Solver, descending, require_seed, require_size
from lorenyi.spectra.spectrum import Spectrum


@dataclass(frozen=True)
class Projection(Solver):
    """Algorithm 1 with a projection that a subclass gives.

    Parameters
    ----------
    size : int
        Columns s of P; at least the rank. On a block with fewer rows, as many as it has.
    seed : int
        Seed of P.
    """

    size: int
    seed: int = 0
    alike: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_size("size", self.size, 1, "columns of the projection")
        require_seed(self.seed)

    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Project one block and take singular values."""
        if rank is None:
            raise ValueError(
                f"{self!r} gives no bounds, so rank=None has no value here: give rank=k, or use "
                "Exact or Lanczos"
            )
        if min(self.size, len(A)) < rank:
            raise ValueError(f"size={self.size} must be at least rank={rank}: raise size=")
        projected = self.project(A)
        return Spectrum(leading_singular_values(projected, rank), len(A), A.mass, "sketch")

    @abstractmethod
    def project(self, A: Gram) -> Array:
        """Return A P."""

    @abstractmethod
    def matrix(self, n: int) -> np.ndarray:
        """Return P itself (n x s), for inspection: E[P P'] = I."""


def leading_singular_values(Y: Array, rank: int) -> Array:
    """Return the `rank` largest singular values of a tall matrix (dense or sparse)."""
    if _arrays.is_sparse(Y):
        moments = (Y.T @ Y).toarray()
    else:
        plain = _arrays.detach(Y)
        if _arrays.tracks_gradient(Y):
            U, _, Vh = _arrays.svd(plain)
            xp = _arrays.namespace(Y)
            return xp.sum(U[:, :rank] * (Y @ Vh[:rank, :].T), axis=0)
        moments = plain.T @ plain
    squares = descending(_arrays.eigvalsh(moments))[:rank]
    xp = _arrays.namespace(squares)
    # Squaring loses half the digits of small values: only these need a decomposition of Y.
    if float(squares[-1]) < 1e-6 * float(squares[0]):
        dense = Y.toarray() if _arrays.is_sparse(Y) else Y
        return _arrays.svd(dense)[1][:rank]
    return xp.sqrt(squares)


@dataclass(frozen=True)
class GaussianProjection(Projection):
    r"""GRP: :math:`P = \sqrt{n/s}\, G`, G Gaussian with its columns orthonormalized. O(n^2 s).

    Parameters
    ----------
    size : int
        Columns s of P.
    seed : int
        Seed of P.
    """

    def matrix(self, n: int) -> np.ndarray:
        """Return P."""
        s = min(self.size, n)
        G = np.linalg.qr(_arrays.normal(self.seed, 1, n, s))[0]
        return np.asarray(math.sqrt(n / s) * G)

    def project(self, A: Gram) -> Array:
        """Return A P by one product."""
        return A @ _arrays.like(self.matrix(len(A)), A.reference)


@dataclass(frozen=True)
class HadamardProjection(Projection):
    r"""SRHT: :math:`P = \sqrt{1/s}\, D H S`: random signs, Walsh-Hadamard, s sampled columns.

    By the fast transform, n padded with zeros to a power of two N: O(n^2 log n).

    Parameters
    ----------
    size : int
        Columns s of P.
    seed : int
        Seed of P.
    """

    def _parts(self, n: int) -> tuple[int, np.ndarray, np.ndarray, int]:
        order = 1 << max(n - 1, 1).bit_length()
        size = order if self.size >= n else self.size
        chosen = _arrays.choose(self.seed, 2, order, size)
        return order, _arrays.signs(self.seed, 1, n)[:, 0], chosen, size

    def matrix(self, n: int) -> np.ndarray:
        """Return P."""
        order, sign, chosen, size = self._parts(n)
        columns = np.zeros((size, order))
        columns[np.arange(size), chosen] = 1.0
        return np.asarray(sign[:, None] * walsh_hadamard(columns, order)[:, :n].T / math.sqrt(size))

    def project(self, A: Gram) -> Array:
        """Return A P, transforming a block of rows at a time."""
        n = len(A)
        order, sign, chosen, size = self._parts(n)
        everything = slice(0, n)
        parts = []
        A = A.collected()
        for rows in row_blocks(A):
            block = A.block(rows, everything)
            block = block.toarray() if _arrays.is_sparse(block) else block
            signed = block * _arrays.like(sign, A.reference)[None, :]
            transformed = walsh_hadamard(signed, order)
            parts.append(_arrays.take(transformed.T, chosen).T)
        return _arrays.concat(parts) / math.sqrt(size)


def walsh_hadamard(X: Array, order: int) -> Array:
    """Transform each row, padded with zeros to `order` (a power of two), by two matrix products.

    H of order a b is the Kronecker product of H_a and H_b, so a row seen as an a x b matrix
    becomes H_a row H_b; matrix products beat the butterfly loop.
    """
    xp = _arrays.namespace(X)
    m = int(X.shape[0])
    if X.shape[1] < order:
        pad = xp.zeros_like(X[:, :1]) * xp.ones_like(X[:1, :1])
        X = xp.concat([X, xp.broadcast_to(pad, (m, order - int(X.shape[1])))], axis=1)
    a = 1 << (order.bit_length() // 2)
    b = order // a
    Ha, Hb = (
        _arrays.like(scipy.linalg.hadamard(size, dtype=np.float64), _arrays.detach(X))
        for size in (a, b)
    )
    return xp.reshape(Ha @ (xp.reshape(X, (m, a, b)) @ Hb), (m, order))


@dataclass(frozen=True)
class InputSparsity(Projection):
    r"""IST: :math:`P = \sqrt{n/s}\, D S`: s sampled columns with random signs. O(n s^2).

    Only the sampled columns of the matrix are ever evaluated; a sparse one stays sparse.

    Parameters
    ----------
    size : int
        Columns s of P.
    seed : int
        Seed of P.
    """

    def matrix(self, n: int) -> np.ndarray:
        """Return P."""
        chosen = _arrays.choose(self.seed, 2, n, self.size)
        P = np.zeros((n, len(chosen)))
        P[chosen, np.arange(len(chosen))] = _arrays.signs(self.seed, 1, n)[chosen, 0]
        return P * math.sqrt(n / len(chosen))

    def project(self, A: Gram) -> Array:
        """Return the sampled columns (their signs do not change singular values)."""
        n = len(A)
        chosen = _arrays.choose(self.seed, 2, n, self.size)
        return A.columns(chosen) * math.sqrt(n / len(chosen))


@dataclass(frozen=True)
class SparseGraph(Projection):
    r"""SGS: each column of P has p random signs at random places, scaled :math:`\sqrt{n/(s p)}`.

    The paper's scale :math:`\sqrt{1/p}` gives E[P P'] = (s/n) I; this one gives I. At most s p
    columns of the matrix are evaluated; a sparse one stays sparse. Where s reaches n, P is I.

    Parameters
    ----------
    size : int
        Columns s of P.
    p : int
        Entries in each column.
    seed : int
        Seed of P.
    """

    seed: int = 0
    p: int = 2

    def __init__(self, size: int, p: int = 2, seed: int = 0) -> None:
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "seed", seed)
        self.__post_init__()
        require_size("p", p, 1, "entries in each column of the projection")

    def _entries(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return for each column of P its p distinct rows, and their signed values."""
        if self.size >= n:  # every column can be kept: P = I
            return np.arange(n)[:, None], np.ones((n, 1))
        s, p = self.size, min(self.p, n)
        draws = _arrays.uniform(self.seed, 1, s, p)
        rows = np.empty((s, p), dtype=np.int64)
        for t in range(p):  # the r-th of the rows not yet taken
            r = np.floor(draws[:, t] * (n - t)).astype(np.int64)
            for earlier in np.sort(rows[:, :t], axis=1).T:
                r += r >= earlier
            rows[:, t] = r
        return rows, _arrays.signs(self.seed, 2, s, p) * math.sqrt(n / (s * p))

    def matrix(self, n: int) -> np.ndarray:
        """Return P."""
        rows, entries = self._entries(n)
        P = np.zeros((n, len(rows)))
        np.put_along_axis(P, rows.T, entries.T, axis=0)
        return P

    def project(self, A: Gram) -> Array:
        """Return A P from the columns that P touches."""
        rows, entries = self._entries(len(A))
        touched, position = np.unique(rows, return_inverse=True)
        small = scipy.sparse.csr_array(
            (entries.ravel(), (position.ravel(), np.repeat(np.arange(len(rows)), rows.shape[1]))),
            shape=(len(touched), len(rows)),
        )
        columns = A.columns(touched)
        if _arrays.is_numpy(columns) or _arrays.is_sparse(columns):
            return (small.astype(columns.dtype).T @ columns.T).T
        return columns @ _arrays.like(small.toarray(), A.reference)
