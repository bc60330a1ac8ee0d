r"""Low-rank factors by randomly pivoted Cholesky: A = F F' + E with E positive semi-definite.

The trace of E is known exactly. So the eigenvalues of F'F, which lie below those of A, come with
a bound on their error. Smooth kernels in few dimensions need few columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.linalg

from lorenyi import _arrays
from lorenyi._threads import parallel
from lorenyi.data.sources import ArraySource, Source, slices
from lorenyi.gram import Gram, InMemory, Points
from lorenyi.spectra.bounds import MAX_ROUNDOFF, enclose_sum, rounding
from lorenyi.spectra.solver import Solver, require_seed, require_size
from lorenyi.spectra.spectrum import Kind, Spectrum

ROWS = 2048  # of a factor that a core multiplies at a time


class Factor:
    """A partial Cholesky factor of a Gram, grown a block of random pivots at a time.

    Parameters
    ----------
    A : Gram
        One block, of NumPy arrays.
    seed : int
        Seed of the pivots.
    """

    def __init__(self, A: Gram, seed: int = 0) -> None:
        self.A, self.seed = A, seed
        self._columns = np.empty(
            (min(len(A), 1024), len(A))
        )  # each column of F is a row here: unused memory is not touched
        self.size = 0
        self.pivots = np.empty(0, dtype=np.int64)
        self.diagonal = np.array(A.weights, dtype=np.float64)  # of the residual E
        self.rounds = 0
        self._roundoff = max(float(np.finfo(np.float64).eps), min(A.roundoff, MAX_ROUNDOFF))
        self._values: np.ndarray | None = None

    @property
    def F(self) -> np.ndarray:
        """The factor so far."""
        return self._columns[: self.size].T

    def _append(self, columns: np.ndarray) -> None:
        total = self.size + columns.shape[1]
        if total > len(self._columns):
            longer = np.empty((2 * total, len(self.A)))
            longer[: self.size] = self._columns[: self.size]
            self._columns = longer
        self._columns[self.size : total] = columns.T
        self.size = total

    @property
    def rest(self) -> float:
        """The trace of the residual E, rounding included."""
        return float(self.diagonal.sum()) + self.rounding

    @property
    def rounding(self) -> float:
        """Bound on the rounding, including that of the entries, of the residual's trace."""
        return 4 * (self.size + 1) * self._roundoff * self.A.mass

    def grow(self, count: int) -> bool:
        """Add up to `count` pivots, drawn with probability proportional to E's diagonal.

        Returns
        -------
        bool
            Whether any was added.
        """
        possible = int(np.count_nonzero(self.diagonal > 0))
        count = min(count, possible, len(self.A) - self.size)
        if count <= 0 or self.rest <= 2 * self.rounding:
            return False
        self.rounds += 1
        chosen = self._draw(count)
        columns = self.A.columns(chosen)
        columns = columns.toarray() if _arrays.is_sparse(columns) else columns
        columns = columns.astype(np.float64)  # a copy: the caller's matrix is not changed
        right = self.F[chosen].T

        def subtract(rows: slice) -> None:
            columns[rows] -= self.F[rows] @ right

        parallel(subtract, slices(len(columns), ROWS))
        core = columns[chosen]
        core = 0.5 * (core + core.T)
        # Pivots of one draw can be redundant: those that add little to the others are dropped.
        lower, order, rank, _ = scipy.linalg.lapack.dpstrf(
            core, tol=0.02 * float(np.diag(core).max()), lower=1
        )
        if not rank:  # the residual is rounding
            return False
        kept = order[:rank] - 1
        triangle = np.tril(lower[:rank, :rank])
        inverse = scipy.linalg.solve_triangular(triangle, np.eye(rank), lower=True)
        new = columns[:, kept] @ inverse.T
        self._append(new)
        self.pivots = np.concatenate([self.pivots, chosen[kept]])
        left = self.diagonal - np.sum(new * new, axis=1)
        rounded = self._roundoff**0.5 * float(np.max(self.A.weights))
        if float(left.min()) < -rounded:
            raise ValueError(
                "the matrix is not positive semi-definite, so it is not a kernel matrix: a pivot "
                f"leaves {left.min():.2g} on the diagonal; check the kernel"
            )
        self.diagonal = np.maximum(left, 0.0)
        self.diagonal[chosen[kept]] = 0.0
        return True

    def _draw(self, count: int) -> np.ndarray:
        """Draw rows without replacement in proportion to the diagonal (exponential clocks)."""
        u = _arrays.uniform(self.seed, self.rounds, len(self.A))[:, 0]
        with np.errstate(divide="ignore"):
            arrival = -np.log(u) / self.diagonal
        return np.argpartition(arrival, count - 1)[:count]

    def spectrum(self, frobenius: float = np.inf, failure: float = 0.0) -> Spectrum:
        """Return the eigenvalues of F'F, with bounds from the residual."""
        kind: Kind = "complete" if self.rest <= 2 * self.rounding else "ritz"
        if self._values is None or len(self._values) != self.size:
            parts = parallel(lambda rows: self.F[rows].T @ self.F[rows], slices(len(self.A), ROWS))
            self._values = eigenvalues(sum(parts[1:], parts[0]))
        roundoff = max(self._roundoff, self.A.roundoff)
        return bounded(self._values, self.A, self.rest, roundoff, frobenius, failure, kind)

    def frobenius(self, seed: int, failure: float) -> float:
        """Bound the residual's Frobenius norm, but for a probability of `failure`."""
        diagonal = ArraySource(self.diagonal[:, None])
        return residual_norm(self.A, lambda _, rows: self.F[rows], diagonal, seed, failure)


def eigenvalues(moments: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of F'F, descending and not negative."""
    return np.asarray(np.maximum(_arrays.eigvalsh(moments)[::-1], 0.0))


def bounded(
    values: np.ndarray,
    A: Gram,
    rest: float,
    roundoff: float,
    frobenius: float = np.inf,
    failure: float = 0.0,
    kind: Kind = "ritz",
) -> Spectrum:
    """Return the Spectrum of A = F F' + E from that of F F', the trace of E and |E|_F's bound."""
    n, trace = len(A), A.mass
    eps = float(np.finfo(np.float64).eps)  # of the sums

    def proof() -> tuple[Spectrum, Spectrum]:
        slack = rounding(values, 4 * len(values) * eps + roundoff)
        largest = min(rest, frobenius)
        return enclose_sum(values, n, trace, largest=largest, frobenius=frobenius, slack=slack)

    values_there = _arrays.like(values, A.reference)
    return Spectrum(values_there, n, trace, kind, proof=proof, failure=failure, rounding=roundoff)


def residual_norm(
    A: Gram,
    features: Callable[[Gram, np.ndarray], np.ndarray],
    diagonal: Source,
    seed: int,
    failure: float,
    pairs: int = 20_000,
) -> float:
    r"""Bound the Frobenius norm of E = A - F F' by entries drawn at random.

    With i and j drawn in proportion to the diagonal d of E, of sum rho,
    :math:`Z = \rho^2 E_{ij}^2 / (d_i d_j)` has mean :math:`\|E\|_F^2` and lies in
    :math:`[0, \rho^2]`, because E is positive semi-definite; an empirical Bernstein bound
    (Maurer and Pontil 2009) over independent draws follows.

    Parameters
    ----------
    A : Gram
    features : callable
        Rows of F, for some rows of A given as (a Gram, positions in it).
    diagonal : Source
        Of E, as a column.
    seed, failure, pairs
        Seed of the draws, probability that the bound does not hold, number of draws.
    """
    rho = float(diagonal.sum(_sum_of_rows))
    if rho <= 0:  # the factor is complete, up to the rounding of the entries
        return 0.0
    index = diagonal.locate(_arrays.uniform(seed, 31, pairs, 2).ravel() * rho)
    weight = diagonal.take(index).all().reshape(-1, 2).prod(axis=1)
    drawn, places = A.at(index)
    total, squares = 0.0, 0.0
    for cut in slices(pairs, 4096):
        i, j = places.reshape(-1, 2)[cut].T
        entry = drawn.entries(i, j) - np.sum(features(drawn, i) * features(drawn, j), axis=1)
        z = rho**2 * entry**2 / weight[cut]
        total, squares = total + float(z.sum()), squares + float((z * z).sum())
    mean = total / pairs
    variance = max(squares / pairs - mean**2, 0.0) * pairs / (pairs - 1)
    log = float(np.log(2 / failure))
    bound = mean + np.sqrt(2 * variance * log / pairs) + 7 * rho**2 * log / (3 * (pairs - 1))
    return float(np.sqrt(bound))


def _sum_of_rows(rows: np.ndarray, block: slice) -> float:
    return float(rows.sum())


@dataclass(frozen=True)
class PivotedCholesky(Solver):
    """Randomly pivoted Cholesky until the trace of the residual is below a tolerance.

    O(n r^2) time and O(n r) memory for r columns; above `sample` rows the pivots are chosen on a
    random sample of the rows, and all rows are streamed once through them (Nyström's form), which
    keeps only r x r sums (not for a ready matrix, which is in memory anyway).

    Parameters
    ----------
    tol : float
        Stop when the residual's trace is below this share of the total.
    size : int, optional
        Maximum number of columns; by default a quarter of the rows, at most 2000.
    block : int
        Pivots drawn at a time.
    sample : int
        Rows up to which the factor itself is kept.
    seed : int
        Seed of the pivots.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.linspace(0.0, 9.0, 300), lr.Gaussian(1.0))
    >>> lr.Renyi(alpha=1, solver=lr.PivotedCholesky())(A)
    2.685 ± 0.016 bits (Gaussian(sigma=1))
    """

    tol: float = 1e-8
    size: int | None = None
    block: int = 64
    sample: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        require_size("block", self.block, 1, "pivots drawn at a time")
        require_size("sample", self.sample, 2, "rows that the factor is kept for")
        if self.size is not None:
            require_size("size", self.size, 1, "columns of the factor")
        if not self.tol > 0:
            raise ValueError(f"tol={self.tol!r}: it must be positive")
        require_seed(self.seed)

    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Factorize one block."""
        if A.tracks_gradient or not _arrays.is_numpy(A.reference):
            raise TypeError(
                "PivotedCholesky works on NumPy arrays without gradients: use BlockLanczos for "
                "tensors"
            )
        most = self.size or min(max(len(A) // 4, 64), 2000, len(A))
        if rank is not None and most < rank and most < len(A):
            raise ValueError(f"size={most} must be at least rank={rank}: raise size=")
        streams = all(isinstance(factor, Points) for factor in A.factors)
        sampled = streams and len(A) > self.sample
        factor = Factor(subsample(A, self.sample, self.seed) if sampled else A, self.seed)
        while factor.rest > self.tol * factor.A.mass and factor.size < most:
            if not factor.grow(min(self.block, most - factor.size)):
                break
        while rank is not None and factor.size < rank and factor.grow(rank - factor.size):
            pass
        return (Nystroem(A, factor) if sampled else factor).spectrum()


def subsample(A: Gram, size: int, seed: int) -> InMemory:
    """Return the Gram of a random sample of the rows, scaled to the same mass."""
    part = A.sample(size, seed)
    share = float(np.sum(_arrays.to_numpy(part.weights))) / A.mass
    return part.weighted(part.weights / share)


class Nystroem:
    """All rows streamed once through the pivots of a factor of a sample; r x r sums are kept.

    Parameters
    ----------
    A : Gram
        All rows, as points with kernels.
    factor : Factor
        Of a sample of them: its pivots are used.
    """

    def __init__(self, A: Gram, factor: Factor) -> None:
        self.A = A
        self.pivots = factor.A.take(factor.pivots)
        everything = slice(0, len(self.pivots))
        core = np.asarray(self.pivots.kernel_block(everything, everything), dtype=np.float64)
        core = 0.5 * (core + core.T)
        # Of the sample: rows farther away than all of it are too few to matter.
        self.roundoff = max(float(np.finfo(np.float64).eps), factor.A.roundoff)
        # A shift only lowers the approximation, so it stays below A.
        shift = len(core) * min(self.roundoff, MAX_ROUNDOFF) * np.trace(core)
        core[np.diag_indices_from(core)] += shift
        lower = scipy.linalg.cholesky(core, lower=True, check_finite=False)
        self.inverse = scipy.linalg.solve_triangular(lower, np.eye(len(core)), lower=True).T
        self.moments, self.diagonal = A.sum_and_keep(partial(_stream, self.pivots, self.inverse))
        self.values = eigenvalues(self.moments)
        rounded = 4 * len(core) * self.roundoff * A.mass
        self.rest = float(self.diagonal.sum(_sum_of_rows)) + rounded

    def spectrum(self, frobenius: float = np.inf, failure: float = 0.0) -> Spectrum:
        """Return the eigenvalues of F'F, with bounds from the residual."""
        return bounded(self.values, self.A, self.rest, self.roundoff, frobenius, failure)

    def frobenius(self, seed: int, failure: float) -> float:
        """Bound the residual's Frobenius norm, but for a probability of `failure`."""
        return residual_norm(self.A, self.features, self.diagonal, seed, failure)

    def features(self, A: Gram, rows: np.ndarray) -> np.ndarray:
        """Return rows of the factor, for some rows of A or of what was taken from it."""
        return _features(A.take(rows), self.pivots, self.inverse)


def _features(rows: InMemory, pivots: InMemory, inverse: np.ndarray) -> np.ndarray:
    """Return rows of the factor F = diag(s) K(rows, pivots) L^-T."""
    kernel = rows.cross(pivots)
    return np.asarray((kernel @ inverse) * rows.scale[:, None])


def _stream(
    pivots: InMemory, inverse: np.ndarray, rows: InMemory, start: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return F'F of some rows, and the residual's diagonal there; few rows at a time."""
    moments = np.zeros_like(inverse)
    rest = []
    for cut in slices(len(rows), max(16, 2**19 // len(inverse))):
        part = rows.rows(cut)
        features = _features(part, pivots, inverse)
        moments += features.T @ features
        rest.append(np.maximum(part.weights - np.einsum("ij,ij->i", features, features), 0.0))
    return moments, np.concatenate(rest)
