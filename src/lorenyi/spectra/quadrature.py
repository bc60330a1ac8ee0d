r"""The whole spectrum of a block that no low-rank factor explains, from products with vectors.

Many columns or a narrow kernel make a spectrum flat: after a few large eigenvalues come thousands
of small ones, of which a factor captures one per column. Only their density is needed:

1. **Deflation.** One step of subspace iteration from the factor's columns, then Rayleigh-Ritz. The
   Ritz vectors V that have converged carry the large eigenvalues; outside them A is
   C = (I - VV') A (I - VV'), a stored matrix.
2. **Stochastic Lanczos quadrature.** For random signs z outside V, the nodes and weights of Gauss
   quadrature of z'f(C)z, from a few Lanczos steps, are eigenvalues with counts; their mean over
   several z estimates the density of C without bias.
3. **Calibration.** Number, sum and sum of squares of the eigenvalues of C are known. Counts are
   multiplied by the quadratic polynomial with which all three are right, which takes away most of
   the noise: what remains is that of -x log x less its best quadratic approximation.

The *alternatives* are three half-samples of the vectors, whose differences from the whole have its
standard deviation; fewer Lanczos steps; other strengths of the coupling of V to the rest; and nodes
moved by what the rounding of the entries to float32 may do, below which no eigenvalue is seen.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.linalg

from lorenyi import _arrays
from lorenyi._threads import parallel
from lorenyi.data.sources import slices
from lorenyi.gram import Gram
from lorenyi.spectra.lowrank import ROUNDED, STRENGTHS, Tail, assembled
from lorenyi.spectra.spectrum import Spectrum

STEPS = 32  # of Lanczos; 24 are an alternative. Eigenvalues that decay like a power need them
ROWS = 512  # of the matrix at a time


class Quadrature:
    """Converged Ritz values of one block, and the density of the rest from random vectors.

    Parameters
    ----------
    A : Gram
        One block, of NumPy arrays, whose float32 matrix fits in memory.
    F : array
        Columns that span most of the large eigenvectors.
    tol : float
        Bits by which the coupling of converged vectors may change the entropy of order 1.
    seed : int
        Seed of the vectors.
    """

    def __init__(self, A: Gram, F: np.ndarray, tol: float, seed: int) -> None:
        self.A, self.seed = A, seed
        self.C = np.asarray(_arrays.to_numpy(A.single().dense()), dtype=np.float32)
        Q = _orthonormal(self._times(_orthonormal(F)).astype(np.float64))
        AQ = self._times(Q)
        T = (Q.T @ AQ).astype(np.float64)
        theta, Y = _arrays.eigh(0.5 * (T + T.T))
        theta, Y = theta[::-1], Y[:, ::-1].astype(np.float32)
        V = Q @ Y
        R = AQ @ Y - V * theta.astype(np.float32)
        coupling = np.einsum("ij,ij->j", R, R, dtype=np.float64)
        count = _converged(theta, coupling, A.mass, len(A), tol)
        self.theta, self.coupling, self.V = theta[:count], coupling[:count], V[:, :count]
        self.square = self._deflate(R[:, :count])
        squares = float(self.theta @ self.theta + 2 * self.coupling.sum()) + self.square  # |A|_F^2
        # Entries are rounded by half of that each, at random: a semicircle of this radius.
        self.floor = ROUNDED * math.sqrt(squares / len(A))
        self.alphas, self.betas = np.empty((STEPS, 0)), np.empty((STEPS, 0))
        self.norms = np.empty(0)

    @property
    def size(self) -> int:
        """Vectors so far."""
        return len(self.norms)

    def _times(self, X: np.ndarray) -> np.ndarray:
        """Return the matrix times X, on all cores."""
        product = np.empty((len(self.C), X.shape[1]), dtype=np.float32)

        def multiply(rows: slice) -> None:
            np.matmul(self.C[rows], X, out=product[rows])

        parallel(multiply, slices(len(self.C), ROWS))
        return product

    def _deflate(self, R: np.ndarray) -> float:
        """Make the matrix C = A - VR' - RV' - V diag(theta) V', and return |C|_F^2."""
        V, P = self.V, R + self.V * (0.5 * self.theta).astype(np.float32)

        def part(rows: slice) -> float:
            C = self.C[rows]
            C -= V[rows] @ P.T
            C -= P[rows] @ V.T
            return float(np.einsum("ij,ij->", C, C, dtype=np.float64))

        return float(sum(parallel(part, slices(len(self.C), ROWS))))

    def grow(self, count: int) -> None:
        """Add so many random vectors: `STEPS` steps of Lanczos with each."""
        z = _arrays.signs(self.seed, 51 + self.size, len(self.C), count).astype(np.float32)
        z -= self.V @ (self.V.T @ z)
        norms = np.einsum("ij,ij->j", z, z, dtype=np.float64)
        alphas, betas = np.empty((STEPS, count)), np.empty((STEPS, count))
        v, before = z / np.sqrt(norms).astype(np.float32), np.zeros_like(z)
        for step in range(STEPS):
            w = self._times(v)
            if step:
                w -= betas[step - 1].astype(np.float32) * before
            alphas[step] = np.einsum("ij,ij->j", v, w, dtype=np.float64)
            w -= alphas[step].astype(np.float32) * v
            betas[step] = np.sqrt(np.einsum("ij,ij->j", w, w, dtype=np.float64))
            before = v
            v = w / np.maximum(betas[step], np.finfo(np.float32).tiny).astype(np.float32)
        self.alphas = np.concatenate([self.alphas, alphas], axis=1)
        self.betas = np.concatenate([self.betas, betas], axis=1)
        self.norms = np.concatenate([self.norms, norms])

    def spectrum(self) -> Spectrum:
        """Return the estimated spectrum, with its alternatives."""
        places = len(self.A) - len(self.theta)
        quarter = np.arange(self.size) % 4
        nodes, counts = self._nodes(STEPS)
        whole = partial(calibrated, nodes, counts)
        halves = [
            partial(calibrated, nodes[mine], counts[mine])
            for other in (1, 2, 3)
            for mine in [(quarter == 0) | (quarter == other)]
        ]
        fewer = partial(calibrated, *self._nodes(3 * STEPS // 4))

        def made(tail: Tail, strength: float = STRENGTHS[0], rounded: float = 0.0) -> Spectrum:
            theta, coupling = self.theta * (1 + rounded), strength * self.coupling
            values, counts = assembled(theta, coupling, self.square, places, self.A.mass, tail)
            return Spectrum(values, len(self.A), self.A.mass, counts=counts)

        raised = partial(calibrated, nodes + self.floor, counts)
        others = [made(tail) for tail in (*halves, fewer, raised)]
        others += [made(whole, strength) for strength in STRENGTHS[1:]]
        return replace(made(whole), alternatives=(*others, made(whole, rounded=ROUNDED)))

    def _nodes(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Return nodes and weights of Gauss quadrature, a row for each vector."""
        nodes, weights = np.empty((self.size, steps)), np.empty((self.size, steps))
        for j in range(self.size):
            x, W = scipy.linalg.eigh_tridiagonal(self.alphas[:steps, j], self.betas[: steps - 1, j])
            nodes[j], weights[j] = x, self.norms[j] * W[0] ** 2
        return np.maximum(nodes, 0.0), weights  # below zero is rounding


def _orthonormal(X: np.ndarray) -> np.ndarray:
    """Return a basis of the columns that is orthonormal to float32 precision.

    By the eigenvectors of X'X, in half the time of a QR decomposition.
    """
    values, W = _arrays.eigh(X.T @ X)
    there = values > 1e-12 * values[-1]
    return np.asarray(X @ (W[:, there] / np.sqrt(values[there])), dtype=np.float32)


def _converged(theta: np.ndarray, coupling: np.ndarray, trace: float, n: int, tol: float) -> int:
    """Return how many Ritz values, largest first, have a total error below `tol` bits.

    With eigenvalues near c outside, theta_j is too small by b_j^2 / (theta_j - c), which changes
    the entropy of order 1 by that times log2(theta_j / c). Values not above c, or not above
    rounding, do not count as converged.
    """
    c = (trace - float(theta.sum())) / (n - len(theta))
    c = max(c, ROUNDED * math.sqrt(float(theta @ theta) / n))
    theta = theta[theta > c]
    bits = coupling[: len(theta)] / (theta - c) * np.log2(theta / c) / trace
    return max(int(np.count_nonzero(np.cumsum(bits) <= tol)), 1)


def calibrated(
    nodes: np.ndarray, weights: np.ndarray, size: int, total: float, square: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes of all vectors, and counts with a given number, sum and sum of squares.

    The mean of the weights is multiplied by 1 + p(x), p a quadratic polynomial.
    """
    x, w = nodes.ravel(), weights.ravel() / len(nodes)
    powers = (x / x.max())[:, None] ** np.arange(3)
    wanted = np.array([size, total / x.max(), square / x.max() ** 2])
    p, *_ = np.linalg.lstsq((w[:, None] * powers).T @ powers, wanted - w @ powers, rcond=None)
    return x, w * (1 + powers @ p)
