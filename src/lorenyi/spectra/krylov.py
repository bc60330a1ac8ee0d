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
from lorenyi.data.sources import slices
from lorenyi.gram import Gram
from lorenyi.spectra.bounds import MAX_ROUNDOFF, meet, peaked_from, spread_from
from lorenyi.spectra.solver import rayleigh
from lorenyi.spectra.spectrum import Kind, Spectrum

COUPLED = 400  # maximum number of Ritz vectors whose residuals are treated individually
GUESSES = (1.16, 1.6, 3.0, 6.0)  # times the estimated largest eigenvalue outside


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
        self.complement = A.mass  # bounds the largest eigenvalue outside what `probe` kept
        self.failure = 0.0
        self._dropped = 0.0  # sum of squares of residuals that were not followed
        self._decomposed: tuple[int, np.ndarray, np.ndarray] | None = None
        self._enclosed: tuple[tuple[int, float], tuple[Spectrum, Spectrum]] | None = None
        self._draws = 0
        self._kept: tuple[np.ndarray, np.ndarray, float] | None = None  # see `_enclosure`
        self._probe = (0, 0, 0)  # its start, its columns, steps since
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
    def steps(self) -> int:
        """Steps taken since the last probe, or since the start."""
        return self._probe[2]

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
        start, columns, steps = self._probe
        self._probe = (start, columns, steps + 1)
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

    def compress(self, count: int) -> None:
        """Restart: keep the leading Ritz vectors as the basis, and the next block as it is."""
        values, S, _ = self.ritz(count)
        self.Q[:, : len(values)] = self.vectors(S)
        self.size = len(values)
        self._decomposed = None
        self.T[...] = 0.0
        self.T[np.arange(self.size), np.arange(self.size)] = values

    def start_afresh(self) -> None:
        """Continue from a fresh random block; the residuals are discarded."""
        self._dropped = np.inf
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

    def probe(self, kept: int, columns: int) -> None:
        """Keep the leading Ritz vectors and continue from random columns orthogonal to them.

        This is an iteration on A in the complement of the kept space, from a start independent of
        it. `settle` computes a bound on the largest eigenvalue of the complement from it.
        """
        values, S, residual = self.ritz(kept)
        self._kept = (np.maximum(values, 0.0), self._residuals(S), math.sqrt(self._dropped))
        self.compress(kept)
        self._dropped = (math.sqrt(self._dropped) + float(np.linalg.norm(residual))) ** 2
        self.complement = self.A.mass
        self._probe = (self.size, columns, 0)
        self.X = self.fresh(min(columns, len(self.A) - self.size))

    def settle(self, failure: float) -> float:
        """Bound the largest eigenvalue outside the space kept at `probe`, and return it."""
        start, columns, steps = self._probe
        if self._kept is None or steps < 1:
            return self.complement
        mu = float(_arrays.eigvalsh(self.T[start : self.size, start : self.size])[-1])
        slack = float(self._rounding(self._kept[0], np.ones(1))[0])
        bound = mu * overshoot(len(self.A) - start, columns, steps, failure) + slack
        if bound < self.complement:
            self.complement, self.failure = bound, self.failure + failure
        return self.complement

    def prove(self, kept: int) -> float:
        r"""Bound the largest eigenvalue outside the leading Ritz vectors Y, and return it.

        :math:`\tau I - A + Y \Theta Y'` has a Cholesky factor only if x'Ax < tau x'x for all x
        orthogonal to Y. It costs m^3 / 3 operations at the speed of matrix products, and holds
        with certainty. The matrix must be stored.
        """
        theta, S, residual = self.ritz()
        values, following = np.maximum(theta[:kept], 0.0), theta[min(kept, len(theta) - 1)]
        S, slope = S[:, :kept], residual[min(kept, len(theta) - 1)]
        self._kept = (values, self._residuals(S), math.sqrt(self._dropped))
        self.complement = self.A.mass
        M = self._without(self.vectors(S), values)
        diagonal, places = np.diagonal(M).copy(), np.arange(len(M))
        for tau in (following + 0.8 * slope) * np.array(GUESSES):
            M[places, places] = diagonal + tau
            if is_positive_definite(M):
                slack = 2 * float(self._rounding(values, np.ones(1))[0])
                slack += 4 * len(M) * self._eps * float(diagonal.max() + tau)
                self.complement = min(self.complement, float(tau) + slack)
                break
        return self.complement

    def _without(self, Y: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return Y diag(theta) Y' - A."""
        K, s = self.A.factors[0].array, _arrays.to_numpy(self.A.scale)
        M: np.ndarray = (Y * theta.astype(Y.dtype)) @ Y.T
        for rows in slices(len(M), 256):
            M[rows] -= s[rows, None] * K[rows] * s[None, :]
        return M

    def enclose(self) -> tuple[Spectrum, Spectrum]:
        r"""Enclose the spectrum of A (see `bounds`).

        With Ritz values Theta, residuals L and a bound tau on the largest eigenvalue outside the
        Ritz vectors, A lies below a matrix that is known, and so do its eigenvalues:

        .. math:: A \preceq \begin{bmatrix} \Theta & L' \\ L & \tau I \end{bmatrix}.
        """
        state = (self.products, self.complement)
        if self._enclosed is None or self._enclosed[0] != state:
            if self._kept is not None and self.complement < self.A.mass:
                pair = self._enclosure(*self._kept, self.complement)
            else:
                pair = self.enclosure(self.size, self.A.mass)
            self._enclosed = (state, pair)
        return self._enclosed[1]

    def enclosure(self, kept: int, outside: float) -> tuple[Spectrum, Spectrum]:
        """Enclose the spectrum of A if `outside` bounds it outside the leading Ritz vectors."""
        theta, S, _ = self.ritz(kept)
        leak, dropped = self._residuals(S), math.sqrt(self._dropped)
        return self._enclosure(np.maximum(theta, 0.0), leak, dropped, outside)

    def _enclosure(
        self, theta: np.ndarray, leak: np.ndarray, dropped: float, outside: float
    ) -> tuple[Spectrum, Spectrum]:
        """Enclose from Ritz values, their residuals, and the norm of the dropped residuals."""
        p, m, trace = len(theta), len(self.A), self.A.mass
        rest = max(trace - float(np.sum(theta)), 0.0)
        outside = min(rest, outside)
        bound = np.full(p, np.inf)
        closely = {max(1, int(share * min(p, COUPLED))) for share in (1.0, 0.6, 0.36, 0.2, 0.1)}
        for j in sorted(closely | set(np.linspace(1, p, min(p, 8)).astype(int).tolist())):
            # The first j against the others and the outside, whose largest eigenvalue is tau.
            following = theta[j] if j < p else 0.0
            beyond = _norm(leak[:, j:]) + dropped if j < p else 0.0
            tau = float(_largest(following, beyond, outside))
            within = _largest(theta[:j], _norm(leak[:, :j]) + dropped, tau)
            bound[:j] = np.minimum(bound[:j], within)
            if j in closely and math.isfinite(dropped):
                close = coupled(theta[:j], leak[:, :j], dropped, tau)
                bound[:j] = np.minimum(bound[:j], close)
        bound = np.minimum.accumulate(bound)
        t = np.arange(1, p + 1)
        sums = np.cumsum(theta)
        slack = self._rounding(theta, t)
        upper = meet(np.cumsum(bound), sums + np.minimum(rest, t * outside)) + slack
        return (
            peaked_from(upper, m, trace, outside + float(slack[0])),
            spread_from(sums - slack, m, trace),
        )

    def _rounding(self, theta: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Bound the rounding of the sum of the t largest eigenvalues.

        Entries of A are off by a relative `roundoff`, which moves sums by sqrt(t) times its share
        of |A|_F (Hoffman and Wielandt); sums of m products are off like a random walk of m steps
        of at most the largest entry each, and so is every entry of T.
        """
        frobenius = math.sqrt(float(np.sum(theta**2)) + self.A.mass * float(max(theta[-1], 0.0)))
        entry = math.sqrt(len(self.A)) * self._eps * float(np.max(_arrays.to_numpy(self.A.weights)))
        return np.asarray(np.sqrt(t) * (self.A.roundoff * frobenius + 4 * len(theta) * entry))

    def spectrum(self, A: Gram, rank: int | None) -> Spectrum:
        """Return the Spectrum of the Ritz values (with a gradient where A tracks one)."""
        count = None if rank is None or self.complete else rank
        values, S, _ = self.ritz(count)
        smallest = float(self.ritz()[0][-1])
        noise = float(self._rounding(values, np.ones(1))[0])
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


def is_positive_definite(M: np.ndarray) -> bool:
    """Return whether a symmetric matrix has a Cholesky factor."""
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True


def overshoot(m: int, columns: int, steps: int, failure: float) -> float:
    r"""Return the largest possible ratio of the largest eigenvalue to the largest Ritz value.

    After q steps from b random vectors on a positive semi-definite C of order m, the largest Ritz
    value is at least (1 - eps) |C|_2 unless all b starts fail, which has a probability of at most
    :math:`(1.648 \sqrt m\, e^{-\sqrt\epsilon (2q - 1)})^b` (Kuczynski and Wozniakowski 1992 for
    one start).
    """
    root = (math.log(1.648 * math.sqrt(m)) - math.log(failure) / columns) / (2 * steps - 1)
    return 1 / (1 - root * root) if root < 1 else math.inf


def _norm(X: np.ndarray) -> float:
    """Bound the spectral norm by (sum of the eighth powers of the singular values)^(1/8)."""
    G = X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X
    return math.sqrt(math.sqrt(float(np.linalg.norm(G @ G))))


def _largest(a: np.ndarray | float, b: float, c: np.ndarray | float) -> np.ndarray:
    """Return the larger eigenvalue of [[a, b], [b, c]]."""
    return np.asarray(0.5 * (a + c + np.sqrt((a - c) ** 2 + 4 * np.square(b))))


def coupled(theta: np.ndarray, leak: np.ndarray, dropped: float, tau: float) -> np.ndarray:
    r"""Bound the leading eigenvalues of [[Theta, L'], [L, C]] if C lies below tau I.

    They lie below those of the same matrix with tau I, in which only the columns of L matter. The
    part dropped from L, of norm d, is bounded by delta I in one diagonal block and d^2 / delta I
    in the other.
    """
    b, j = leak.shape
    if dropped > 0:
        raised = max(0.3 * (float(theta[-1]) - tau), 0.05 * tau, dropped)
        theta, tau = theta + dropped**2 / raised, tau + raised
    if b > j:  # L'L = R'R with R no taller
        leak = np.asarray(np.linalg.qr(leak, mode="r"))
    H = np.diag(np.concatenate([theta, np.full(len(leak), tau)]))
    H[j:, :j], H[:j, j:] = leak, leak.T
    return np.asarray(np.maximum(_arrays.eigvalsh(H)[::-1][:j], tau))


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
