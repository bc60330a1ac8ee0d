"""Block Krylov iteration: an orthonormal basis Q, the projected matrix T = Q'AQ, and bounds.

The eigenvalues of T (Ritz values) lie below those of A. Two cases need care. A residual that is
only rounding noise is replaced by a fresh random direction, orthogonal to the basis. An invariant
subspace holds one copy of each repeated eigenvalue, so the iteration goes on unless its trace is
that of A.
"""

from __future__ import annotations

import math

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.gram import Gram
from lorenyi.spectra.bounds import MAX_ROUNDOFF
from lorenyi.spectra.enclosure import FAILURE, Block, Pair, enclosed, outside
from lorenyi.spectra.solver import rayleigh
from lorenyi.spectra.spectrum import Kind, Spectrum


class Krylov:
    """An orthonormal basis of a block Krylov space of A, and A projected onto it.

    Parameters
    ----------
    A : Gram
        One block; its products are taken in its own precision, T is kept in float64.
    block : int
        Columns of the random start.
    capacity : int
        Maximum number of columns of the basis.
    seed : int
        Seed of the random columns.
    """

    def __init__(self, A: Gram, block: int, capacity: int, seed: int = 0) -> None:
        m = len(A)
        self.A, self.seed = A, seed
        self.block = min(block, m)
        self.capacity = min(capacity, m)
        self.size = 0
        self.products = 0
        self.outside = A.mass  # bounds the largest eigenvalue outside the basis
        self.failure = 0.0
        self._dropped = 0.0  # sum of squares of residuals that were not followed
        self._decomposed: tuple[int, np.ndarray, np.ndarray] | None = None
        self._enclosed: tuple[tuple[int, float], Pair] | None = None
        self._draws = 0
        self._eps = _arrays.epsilon(A.reference)
        self.Q: Array = self._columns(self.capacity)
        self.T = np.zeros((self.capacity, self.capacity))
        self.B = np.zeros((self.block, self.block))
        self.X = self.fresh(self.block)

    # ------------------------------------------------------------------ the basis

    @property
    def basis(self) -> Array:
        """The orthonormal basis so far, as columns."""
        return self.Q[:, : self.size]

    @property
    def projected(self) -> np.ndarray:
        """The matrix Q'AQ."""
        return np.asarray(self.T[: self.size, : self.size])

    @property
    def rest(self) -> float:
        """The trace outside the basis."""
        return max(self.A.mass - float(np.trace(self.projected)), 0.0)

    @property
    def complete(self) -> bool:
        """Whether the basis holds all of A: its trace is that of A up to rounding.

        Each entry of T is a sum of m products, whose rounding adds up like a random walk, and so
        do the m eigenvalues that rounded entries of A move.
        """
        m, mass = len(self.A), self.A.mass
        own, entries = 4 * self._eps * mass, min(self.A.roundoff, MAX_ROUNDOFF)
        if self.size >= m or self.rest > math.sqrt(m) * (own + entries * mass):
            return self.size >= m
        norm = float(np.linalg.norm(self.projected))
        return self.rest <= math.sqrt(m) * (own + entries * norm)

    @property
    def full(self) -> bool:
        """Whether no further step is possible (only whole blocks enter the basis)."""
        whole = self.size + int(self.X.shape[1]) <= self.capacity
        return self.complete or not (whole or self.capacity == len(self.A))

    def _columns(self, count: int) -> Array:
        """Return zeros for the basis, each vector contiguous in memory."""
        return _arrays.like(np.zeros((count, len(self.A))), self.A.reference).T

    def fresh(self, columns: int) -> Array:
        """Return random orthonormal columns that are orthogonal to the basis."""
        self._draws += 1
        draws = _arrays.normal(self.seed, self._draws, len(self.A), columns)
        return self._orthonormal(_arrays.like(draws, self.A.reference))

    def _orthonormal(self, X: Array) -> Array:
        """Orthonormalize columns against the basis and each other, twice."""
        for _ in range(2):
            if self.size:
                X = X - self.basis @ (self.basis.T @ X)
            X = orthonormalised(X)[0]
        return X

    def step(self) -> None:
        """Add the next block to the basis and compute the one after it."""
        room = min(self.capacity - self.size, int(self.X.shape[1]))
        X = self.X[:, :room]
        old, self.size = self.size, self.size + room
        self.Q[:, old : self.size] = X
        W = self.A @ X
        self.products += room
        H = self.basis.T @ W
        self._extend(old, _arrays.to_numpy(H).astype(np.float64))
        R = W - self.basis @ H
        R = R - self.basis @ (self.basis.T @ R)
        Y, self.B = orthonormalised(R)
        self._next(Y)

    def _extend(self, old: int, H: np.ndarray) -> None:
        self.T[: self.size, old : self.size] = H
        self.T[old : self.size, : self.size] = H.T
        corner = self.T[old : self.size, old : self.size]
        corner[...] = 0.5 * (corner + corner.T)

    def _next(self, Y: Array) -> None:
        """Make the next block: residual directions, or fresh ones where the residual is noise."""
        free = len(self.A) - self.size
        if free <= 0:
            return
        size = np.abs(np.diag(self.B))
        scale = float(np.max(np.diag(self.projected)))
        noise = size <= (10 + math.sqrt(len(self.A))) * self._eps * scale
        if noise.any():
            self._draws += 1
            self._dropped += float(np.sum(self.B[noise] ** 2))
            columns = _arrays.to_numpy(Y).copy()
            columns[:, noise] = _arrays.normal(
                self.seed, self._draws, len(self.A), int(noise.sum())
            )
            Y = _arrays.like(columns, self.A.reference)
        if noise.any() or size.min() < 1e-4 * scale:
            Y = self._orthonormal(Y)
        self.X = Y[:, : min(free, int(Y.shape[1]))]

    def fill(self) -> None:
        """Step until the basis is full or holds all of A."""
        while not self.full:
            self.step()

    def grow(self, capacity: int) -> None:
        """Make room for a larger basis."""
        capacity = min(capacity, len(self.A))
        if capacity <= self.capacity:
            return
        wider = self._columns(capacity)
        wider[:, : self.size] = self.basis
        self.Q = wider
        self.T = np.pad(self.T, (0, capacity - self.capacity))
        self.capacity = capacity

    def compress(self, count: int, fresh: bool = False) -> None:
        """Restart: keep the leading Ritz vectors as the basis, and the next block or a fresh one.

        A fresh one is random; the residuals are not followed.
        """
        values, S, residual = self.ritz(count)
        self.Q[:, : len(values)] = self.vectors(S)
        self.size = len(values)
        self._decomposed = None
        self.T[...] = 0.0
        self.T[np.arange(self.size), np.arange(self.size)] = values
        if fresh:
            self._dropped = (math.sqrt(self._dropped) + float(np.linalg.norm(residual))) ** 2
            self.X = self.fresh(self.block)

    def ritz(self, count: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Ritz values (descending), their vectors in the basis, and residual norms."""
        if self._decomposed is None or self._decomposed[0] != self.products:
            self._decomposed = (self.products, *_arrays.eigh(self.projected))
        _, values, S = self._decomposed
        values, S = values[::-1][:count], S[:, ::-1][:, :count]
        return values, S, np.linalg.norm(self._residuals(S), axis=0)

    def _residuals(self, S: np.ndarray) -> np.ndarray:
        """Return the residuals (A - theta) y in the next block's coordinates."""
        last = S[-self.B.shape[1] :, :]
        return np.asarray(self.B[:, -last.shape[0] :] @ last)

    def vectors(self, S: np.ndarray) -> Array:
        """Return Ritz vectors from their coordinates in the basis."""
        return self.basis @ _arrays.like(np.ascontiguousarray(S), self.A.reference)

    # ------------------------------------------------------------------ bounds

    def prove(self) -> float:
        """Bound the largest eigenvalue outside the basis by random columns, and return it."""
        self.failure += FAILURE
        self.outside = min(self.outside, outside(self.A, self.basis, self.seed))
        return self.outside

    def enclose(self) -> Pair:
        """Enclose the spectrum of A with what is known of the outside."""
        state = (self.products, self.outside)
        if self._enclosed is None or self._enclosed[0] != state:
            self._enclosed = (state, self.enclosure(self.outside))
        return self._enclosed[1]

    def enclosure(self, outside: float) -> Pair:
        """Enclose the spectrum of A if the largest eigenvalue outside the basis is no larger."""
        theta, S, _ = self.ritz()
        leak = self._residuals(S)
        leak = leak.T @ leak
        if self._dropped:  # (L + D)'(L + D) where D is what was not followed
            size, d = math.sqrt(float(np.trace(leak))), math.sqrt(self._dropped)
            leak = (1 + d / size) * leak if size else leak
            leak[np.diag_indices(len(leak))] += d * (d + size)
        return enclosed(theta, np.diag(theta), leak, outside, self.known, len(self.A), self._eps)

    @property
    def known(self) -> Block:
        """What is known of A without its eigenvalues."""
        largest = float(np.max(_arrays.to_numpy(self.A.weights)))
        return Block(self.size // 2, self.A.mass, self.A.roundoff, largest)

    def spectrum(self, A: Gram, rank: int | None) -> Spectrum:
        """Return the Spectrum of the Ritz values (with a gradient where A tracks one)."""
        count = None if rank is None or self.complete else rank
        values, S, _ = self.ritz(count)
        smallest = float(self.ritz()[0][-1])
        noise = self.known.rounding(values, len(A), self._eps)
        if smallest < -noise - 4 * len(self.A) * self._eps * float(values[0]):
            raise ValueError(
                f"an eigenvalue is at most {smallest:.3g}: the matrix is not positive "
                "semi-definite, so it is not a kernel matrix; check the kernel, or add its size "
                "to the diagonal"
            )
        if A.tracks_gradient:
            kept = rayleigh(A, self.vectors(S))
        else:
            values = np.maximum(values, 0.0)
            total = float(values.sum())
            if self.complete or total > A.mass:  # the trace is known: scale to it
                values = values * (A.mass / total)
            kept = _arrays.like(values, A.reference)
        kind: Kind = "complete" if self.complete else "ritz"
        relative = noise / float(np.linalg.norm(values))
        return Spectrum(
            kept, len(A), A.mass, kind, proof=self.enclose, failure=self.failure, rounding=relative
        )


def orthonormalised(X: Array) -> tuple[Array, np.ndarray]:
    """Return Q and R of X = QR; by Cholesky factors twice where X is well conditioned."""
    if _arrays.is_numpy(X):
        try:
            Q, R = _cholesky_qr(X)
            Q, again = _cholesky_qr(Q)
            return Q, again @ R
        except np.linalg.LinAlgError:
            pass
    Q, R = _arrays.namespace(X).linalg.qr(X)
    return Q, _arrays.to_numpy(R).astype(np.float64)


def _cholesky_qr(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    G = (X.T @ X).astype(np.float64)
    d = np.diag(G)
    R = np.linalg.cholesky(G).T
    if np.diag(R).min() ** 2 < 1e-4 * d.max() * math.sqrt(np.finfo(X.dtype).eps):
        raise np.linalg.LinAlgError("too ill-conditioned for Cholesky QR")
    inverse = np.linalg.inv(R)
    return X @ inverse.astype(X.dtype), R
