r"""The whole spectrum of a large block from a low-rank factor, estimated in linear time.

A pivoted Cholesky factor A = F F' + E holds most of the trace. With U the eigenvectors of the
factor, three corrections account for the residual E:

1. **Rayleigh-Ritz.** Theta are the eigenvalues of U'AU, which include the part of E within U.
2. **Coupling.** The coupling of a Ritz vector to the complement, b_j = |(I - UU') A u_j|, raises
   theta_j as in the matrix [[theta_j, b_j], [b_j, c]] of order two, c the mean eigenvalue there.
3. **Tail.** On the complement, C = (I - UU') A (I - UU') has a known trace and Frobenius norm. Its
   eigenvalues are assumed to decay like :math:`\exp(-b\, (i/N)^p)`, scaled to match both.

Up to `MAX_FACTOR_ROWS` rows the products with E are complete. Above, rows are sampled. The spectrum
comes with *alternatives*, equally consistent with what was computed: other shapes p of the tail,
other strengths of the coupling. How far an entropy differs between them is the estimate of its
computing error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy.linalg

from lorenyi import _arrays
from lorenyi.data.sources import slices
from lorenyi.gram import Gram, InMemory, Points
from lorenyi.spectra.bounds import MAX_ROUNDOFF
from lorenyi.spectra.cholesky import Factor, subsample
from lorenyi.spectra.spectrum import Spectrum

MAX_FACTOR_ROWS = 16_000  # whose factor is kept; more rows are streamed through its pivots
SAMPLED_ROWS = 8_000  # of these, used for products with the residual
TAIL_ROWS = 600  # rows whose entries give the tail's Frobenius norm
COMPLETE = 1e-8  # share of the trace: a residual below it is negligible
ROUNDED = float(np.finfo(np.float32).eps)  # error of products in float32; measured: half of it
# Shapes p of the tail and strengths of the coupling: first those of the value, then those of the
# alternatives. On eleven tables the third moment of the tail gave p between 0.5 and 1, and the
# exact entropies gave strengths between 0.3 and 1.
SHAPES = (0.7, 0.5, 1.0)
STRENGTHS = (0.7, 0.4, 1.0)

Tail: TypeAlias = Callable[[int, float, float], tuple[np.ndarray, np.ndarray]]


class LowRank:
    """A growing low-rank factor of one block, and the whole spectrum estimated from it.

    Parameters
    ----------
    A : Gram
        One block, of NumPy arrays.
    seed : int
        Seed of the pivots and of sampled rows.
    may_sample : bool
        Whether the factor of many rows may be that of a sample of them.
    """

    def __init__(self, A: Gram, seed: int, may_sample: bool = True) -> None:
        self.A, self.seed = A, seed
        streams = all(isinstance(factor, Points) for factor in A.factors)
        self.sampled = may_sample and streams and len(A) > MAX_FACTOR_ROWS
        self.factor = Factor(subsample(A, MAX_FACTOR_ROWS, seed) if self.sampled else A, seed)

    @property
    def size(self) -> int:
        """Columns of the factor."""
        return self.factor.size

    @property
    def rest(self) -> float:
        """The residual's share of the trace."""
        return self.factor.rest / self.A.mass

    def grow(self, count: int) -> bool:
        """Add up to `count` columns; return whether any was added."""
        return self.factor.grow(count)

    def spectrum(self) -> Spectrum:
        """Return the estimated spectrum, with its alternatives."""
        A, factor = self.A, self.factor
        if self.sampled:
            pivots = Pivots(factor)
            moments = pivots.moments(A)
            A = subsample(A, SAMPLED_ROWS, self.seed)
            F = pivots.features(A)
        else:
            moments, F = factor.F.T @ factor.F, factor.F
        if self.rest <= COMPLETE:
            return _completed(self.A, moments)
        return _Estimation(self.A, A, moments, F).spectrum()


def _completed(A: Gram, moments: np.ndarray) -> Spectrum:
    """Return the spectrum of a complete factor; the alternative spreads the residual evenly."""
    values = np.maximum(_arrays.eigvalsh(moments)[::-1], 0.0)
    total, places = float(values.sum()), len(A) - len(values)
    ones = np.ones(len(values))
    found = Spectrum(values * (A.mass / total), len(A), A.mass, counts=ones)
    if total >= A.mass or not places:
        return found
    values = np.append(values, (A.mass - total) / places)
    spread = Spectrum(values, len(A), A.mass, counts=np.append(ones, places))
    return replace(found, alternatives=(spread,))


class Pivots:
    """Pivot rows, and the map from a row's kernel with them to its row of the factor."""

    def __init__(self, factor: Factor) -> None:
        self.rows = factor.A.take(factor.pivots)
        everything = slice(0, len(self.rows))
        core = np.asarray(self.rows.kernel_block(everything, everything), dtype=np.float64)
        core = 0.5 * (core + core.T)
        # A shift only lowers the approximation, so it stays below A.
        eps = max(float(np.finfo(np.float64).eps), min(factor.A.roundoff, MAX_ROUNDOFF))
        core[np.diag_indices_from(core)] += len(core) * eps * np.trace(core)
        self.lower = scipy.linalg.cholesky(core, lower=True, check_finite=False)

    def features(self, A: InMemory) -> np.ndarray:
        """Return the rows of the factor F = diag(s) K(A, pivots) L^-T."""
        kernel = A.cross(self.rows) * A.scale[:, None]
        return np.asarray(self._solved(kernel.T).T)

    def moments(self, A: Gram) -> np.ndarray:
        """Return F'F over all rows of A, block by block."""
        sums = A.sum(partial(_kernel_moments, self.rows))
        return np.asarray(self._solved(self._solved(sums).T))

    def _solved(self, right: np.ndarray) -> np.ndarray:
        return np.asarray(
            scipy.linalg.solve_triangular(self.lower, right, lower=True, check_finite=False)
        )


def _kernel_moments(pivots: InMemory, rows: InMemory, start: int) -> np.ndarray:
    """Return K'WK of some rows with the pivots, few rows at a time."""
    total = np.zeros((len(pivots), len(pivots)))
    for cut in slices(len(rows), 2048):
        part = rows.rows(cut)
        kernel = part.cross(pivots) * part.scale[:, None]
        total += kernel.T @ kernel
    return total


class _Estimation:
    """The spectrum estimated from a factor F of A and some rows of the residual E = A - F F'.

    Q is an orthonormal basis of the factor's columns. Products with E are taken among all rows of
    A, or among m sampled rows, weighted to the same trace. Then sums over two or more different
    rows are those of A up to noise; where rows coincide, they are too large by n/m and are scaled.
    """

    def __init__(self, A: Gram, part: Gram, moments: np.ndarray, F: np.ndarray) -> None:
        self.A, self.part = A, part
        self.share = len(part) / len(A)
        self.lower = scipy.linalg.cholesky(moments, lower=True, check_finite=False)
        Q = scipy.linalg.solve_triangular(self.lower, F.T, lower=True, check_finite=False).T
        self.diagonal = _arrays.to_numpy(self.part.weights) - np.einsum("ij,ij->i", F, F)
        # Products in float32, whose rounding is among the alternatives.
        self.F, self.Q = F.astype(np.float32), Q.astype(np.float32)

    def spectrum(self) -> Spectrum:
        """Return the spectrum and its alternatives."""
        n, trace, size = len(self.A), self.A.mass, len(self.A) - len(self.lower)
        EQ = self.part.single() @ self.Q - self.F @ (self.F.T @ self.Q)
        if self.share < 1:
            EQ -= (1 - self.share) * self.diagonal[:, None] * self.Q
        D = _symmetric(self.Q.T @ EQ)
        columns, square = self._squares(EQ, D)
        G = EQ.T @ EQ - D @ D
        if self.share < 1:  # pairs of equal rows are too frequent in a sample
            same = (1 - self.share) * (self.Q * columns[:, None]).T @ self.Q
            G, square = G - same, square + 2 * float(np.trace(same))
        theta, Y = _arrays.eigh(self.lower.T @ self.lower + D)
        # In a sample a small square may come out negative: it is set to zero.
        coupling = np.maximum(np.einsum("ij,ij->j", Y, G @ Y), 0.0)
        theta = np.maximum(theta, 0.0)

        def made(
            shape: float = SHAPES[0], strength: float = STRENGTHS[0], rounded: float = 0.0
        ) -> Spectrum:
            tail = partial(tail_curve, shape=shape)
            found = theta * (1 + rounded), strength * coupling
            values, counts = assembled(*found, square, size, trace, tail)
            return Spectrum(values, n, trace, counts=counts)

        others = [made(shape) for shape in SHAPES[1:]]
        others += [made(strength=strength) for strength in STRENGTHS[1:]]
        return replace(made(), alternatives=(*others, made(rounded=ROUNDED)))

    def _squares(self, EQ: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the squared norms of E's columns off the diagonal, and |C|_F^2, from some rows.

        C = E - EQ Q' - Q (EQ)' + Q D Q'.
        """
        m = len(self.Q)
        count = min(m, TAIL_ROWS)
        some = np.linspace(0, m - 1, count).astype(np.int64)
        E, here = self.part.single().columns(some).T, (np.arange(count), some)
        E = (E.toarray() if _arrays.is_sparse(E) else E) - self.F[some] @ self.F.T
        E[here] = 0.0
        columns = np.einsum("ij,ij->j", E, E, dtype=np.float64) * (m / count)
        E[here] = self.share * self.diagonal[some]
        P = EQ - 0.5 * self.Q @ D.astype(np.float32)
        E -= P[some] @ self.Q.T
        E -= self.Q[some] @ P.T
        return columns, float(np.einsum("ij,ij->", E, E, dtype=np.float64)) * (m / count)


def _symmetric(M: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (M + M.T))


def assembled(
    theta: np.ndarray, coupling: np.ndarray, square: float, size: int, trace: float, tail: Tail
) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and counts: Ritz values, coupled to a tail of `size` places.

    The tail is given its places, sum and sum of squares.
    """
    rest = max(trace - float(theta.sum()), 1e-12 * trace)
    square = min(max(square, rest**2 / size), rest**2)
    mean = square / rest
    gap = theta - mean
    moved = 0.5 * (np.sign(gap) * np.sqrt(gap**2 + 4 * coupling) - gap)
    moved = np.clip(moved, -theta, None)
    shift = float(moved.sum())
    if not 0 <= shift < 0.9 * rest:  # coupling too strong to estimate: it would use up the tail
        moved, shift = np.zeros_like(theta), 0.0
    rest -= shift
    square = min(max(square + float(np.sum(moved**2 - 2 * mean * moved)), rest**2 / size), rest**2)
    small, counts = tail(size, rest, square)
    values = np.concatenate([theta + moved, small])
    counts = np.concatenate([np.ones(len(theta)), counts])
    order = np.argsort(-values, kind="stable")
    return values[order], counts[order]


def tail_curve(
    size: int, total: float, square: float, shape: float, nodes: int = 200
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return values c exp(-b (i/N)^p), i = 1..N, with a given sum and sum of squares.

    Parameters
    ----------
    size : int
        N.
    total, square : float
        Sum and sum of squares, between total^2 / N (all equal) and total^2 (a single one).
    shape : float
        p.
    nodes : int
        Maximum number of distinct values; neighbors share one.

    Returns
    -------
    values, counts : array
        Each value with how often it occurs.
    """
    edges = np.unique(np.append(np.round(np.geomspace(1, size + 1, nodes)), 1.0)) - 1.0
    counts = np.diff(np.unique(np.append(edges, size)))
    ends = np.cumsum(counts)
    place = ((ends - 0.5 * counts) / size) ** shape
    if square <= total**2 / size * (1 + 1e-9):
        return np.array([total / size]), np.array([float(size)])

    def relative(log_b: float) -> np.ndarray:
        falling = np.exp(-math.exp(log_b) * (place - place[0]))
        return np.asarray(falling / float(counts @ falling))

    low, high = -15.0, 30.0
    for _ in range(60):  # bisection
        middle = 0.5 * (low + high)
        p = relative(middle)
        low, high = (middle, high) if total**2 * float(counts @ p**2) < square else (low, middle)
    return total * relative(low), counts
