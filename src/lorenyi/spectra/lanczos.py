"""The paper's Algorithm 2: Lanczos iteration with full reorthogonalisation.

One Krylov engine serves all forms. It keeps an orthonormal basis Q and the projected matrix
T = Q'AQ, whose eigenvalues (Ritz values) lie below those of A. Two traps are handled where they
arise: a residual that has become rounding noise is not a direction (it is replaced by a fresh
random one, orthogonal to the basis), and an invariant subspace is not the end (it holds one copy
of each repeated eigenvalue) unless the trace is used up.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.gram import Gram
from lorenyi.spectra.solver import Solver, rayleigh, require_seed, require_size
from lorenyi.spectra.spectrum import Spectrum


@dataclass
class Krylov:
    """An orthonormal basis of a (block) Krylov space of A, and A projected onto it."""

    A: Gram
    block: int
    capacity: int
    seed: int = 0
    size: int = 0
    products: int = 0
    _draws: int = 0
    Q: Array = field(init=False)
    T: Array = field(init=False)
    B: Array = field(init=False)
    X: Array = field(init=False)

    def __post_init__(self) -> None:
        m = len(self.A)
        self.block = min(self.block, m)
        self.capacity = min(self.capacity, m)
        reference = self.A.reference
        xp = _arrays.namespace(reference)
        zero = xp.zeros_like(reference[:1])
        self.Q = xp.reshape(zero, (1, 1)) + _arrays.like(np.zeros((m, self.capacity)), reference)
        self.T = np.zeros((self.capacity, self.capacity))
        self.B = np.zeros((self.block, self.block))
        self.X = self.fresh(self.block)

    @property
    def basis(self) -> Array:
        """The orthonormal basis so far, as columns."""
        return self.Q[:, : self.size]

    @property
    def projected(self) -> np.ndarray:
        """The matrix Q'AQ."""
        return np.asarray(self.T[: self.size, : self.size])

    @property
    def complete(self) -> bool:
        """Whether the basis holds all of A: the trace is used up to rounding."""
        m, mass = len(self.A), self.A.mass
        rest = mass - float(np.trace(self.projected))
        return self.size >= m or rest <= 4 * m * _arrays.epsilon(self.A.reference) * mass

    def fresh(self, columns: int) -> Array:
        """Return random orthonormal columns that are orthogonal to the basis."""
        self._draws += 1
        draws = _arrays.normal(self.seed, self._draws, len(self.A), columns)
        return self._orthonormal(_arrays.like(draws, self.A.reference))

    def _orthonormal(self, X: Array) -> Array:
        """Orthonormalise columns against the basis and each other, twice."""
        xp = _arrays.namespace(X)
        for _ in range(2):
            if self.size:
                X = X - self.basis @ (self.basis.T @ X)
            X = xp.linalg.qr(X)[0]
        return X

    def step(self) -> None:
        """Take the next block into the basis; find the one after it."""
        xp = _arrays.namespace(self.X)
        room = min(self.capacity - self.size, int(self.X.shape[1]))
        X = self.X[:, :room]
        old, self.size = self.size, self.size + int(X.shape[1])
        self.Q[:, old : self.size] = X
        W = self.A @ X
        self.products += int(X.shape[1])
        H = self.basis.T @ W
        self._extend(old, _arrays.to_numpy(H).astype(np.float64))
        R = W - self.basis @ H
        R = R - self.basis @ (self.basis.T @ R)
        Y, B = xp.linalg.qr(R)
        self.B = _arrays.to_numpy(B).astype(np.float64)
        self._replace_noise(Y)

    def _extend(self, old: int, H: np.ndarray) -> None:
        self.T[: self.size, old : self.size] = H
        self.T[old : self.size, : self.size] = H.T
        corner = self.T[old : self.size, old : self.size]
        corner[...] = 0.5 * (corner + corner.T)

    def _replace_noise(self, Y: Array) -> None:
        """Make the next block: residual directions, or fresh ones where the residual is noise."""
        size = np.abs(np.diag(self.B))
        scale = float(np.max(np.diag(self.projected)))
        noise = size <= 10 * len(self.A) * _arrays.epsilon(self.A.reference) * scale
        free = len(self.A) - self.size
        if free <= 0:
            return
        if noise.any():
            self._draws += 1
            draws = _arrays.normal(self.seed, self._draws, len(self.A), int(noise.sum()))
            columns = _arrays.to_numpy(Y).copy()
            columns[:, noise] = draws
            Y = _arrays.like(columns, self.A.reference)
        if size.min() < 1e-4 * scale:
            Y = self._orthonormal(Y)
        self.X = Y[:, : min(free, int(Y.shape[1]))]

    def ritz(self, count: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Ritz values (descending), their vectors in the basis, and residual norms."""
        values, S = np.linalg.eigh(self.projected)
        values, S = values[::-1][:count], S[:, ::-1][:, :count]
        last = S[-self.B.shape[1] :, :]
        return values, S, np.linalg.norm(self.B[:, -last.shape[0] :] @ last, axis=0)

    def vectors(self, S: np.ndarray) -> Array:
        """Return Ritz vectors from their coordinates in the basis."""
        return self.basis @ _arrays.like(np.ascontiguousarray(S), self.A.reference)

    def compress(self, count: int) -> None:
        """Restart: keep the leading Ritz vectors as the basis, and the next block as it is."""
        values, S, _ = self.ritz(count)
        self.Q[:, : len(values)] = self.vectors(S)
        self.size = len(values)
        self.T[...] = 0.0
        self.T[np.arange(self.size), np.arange(self.size)] = values


def spectrum_of(krylov: Krylov, A: Gram, rank: int | None) -> Spectrum:
    """Read the Spectrum off a Krylov basis (with a gradient where A asks for one)."""
    count = None if rank is None or krylov.complete else rank
    values, S, _ = krylov.ritz(count)
    if A.tracks_gradient:
        kept = rayleigh(A, krylov.vectors(S))
    else:
        kept = _arrays.like(np.ascontiguousarray(values), A.reference)
    return Spectrum(kept, len(A), A.mass, "complete" if krylov.complete else "ritz")


@dataclass(frozen=True)
class Lanczos(Solver):
    """Lanczos iteration from a random Gaussian vector, with full reorthogonalisation.

    Parameters
    ----------
    steps : int
        Size s of the basis; at least the rank. O(n^2 s), or O(nnz s) for a sparse matrix.
    tol : float, optional
        Without it: `steps` steps, as the paper has it. With it: restart, keeping the leading
        Ritz vectors, until the residuals of the wanted ones are below `tol` times the largest
        eigenvalue, then look once more from a fresh random vector for copies that were missed.
    restarts : int
        At most so many restarts; a warning says if they were not enough.
    seed : int
        Seed of the random vectors.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.eye(50), lr.Precomputed())     # one eigenvalue, 50 times
    >>> lr.Lanczos(steps=3)(A, rank=3)
    Spectrum(n=50, ritz: 0.02, 0.02, 0.02; rest 0.94)
    """

    steps: int
    tol: float | None = None
    restarts: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        require_size("steps", self.steps, 1, "size of the Krylov basis")
        require_size("restarts", self.restarts, 0, "number of restarts")
        if self.tol is not None and not self.tol > 0:
            raise ValueError(f"tol={self.tol!r}: it must be positive, or None for no restarts")
        require_seed(self.seed)

    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Iterate on one block."""
        if rank is not None and min(self.steps, len(A)) < rank:
            raise ValueError(f"steps={self.steps} must be at least rank={rank}: raise steps=")
        krylov = Krylov(A.detached().held(), 1, self.steps, self.seed)
        if self.tol is None:
            fill(krylov)
        else:
            converge(krylov, rank or max(krylov.capacity // 2, 1), self.tol, self.restarts)
        return spectrum_of(krylov, A, rank)


def fill(krylov: Krylov) -> None:
    """Step until the basis is full or holds all of A."""
    while krylov.size < krylov.capacity and not krylov.complete:
        krylov.step()


def converge(krylov: Krylov, rank: int, tol: float, restarts: int) -> None:
    """Restart until `rank` Ritz values have settled, and a fresh start finds no others."""
    most = max(krylov.capacity - 1, 1)
    keep = min(rank + max(1, (krylov.capacity - rank) // 2), most)
    settled: np.ndarray | None = None
    for left in reversed(range(restarts + 1)):
        fill(krylov)
        values, _, residual = krylov.ritz(rank)
        if krylov.complete:
            return
        close = tol * float(values[0])
        done = float(residual.max()) <= close
        if done and settled is not None and np.abs(values - settled).max() <= close:
            return
        if not left:
            break
        if done:
            # Only what has settled stays: with X, the residuals of the basis are forgotten.
            settled = values
            krylov.compress(min(rank, most))
            krylov.X = krylov.fresh(krylov.block)
        else:
            krylov.compress(keep)
    warnings.warn(
        f"Lanczos: residual {float(residual.max()):.2g} after {restarts} restarts, tol asks for "
        f"{close:.2g}; raise steps= or restarts=",
        RuntimeWarning,
        stacklevel=2,
    )
