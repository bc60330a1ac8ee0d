r"""Leave-one-out residuals of kernel ridge regression.

With a factor F of the kernel matrix, its singular vectors U and values s, and a ridge r, the fit is
:math:`U g U' y` with :math:`g = s^2 / (s^2 + r)`. Row i has the leverage :math:`h_i = \sum_j
U_{ij}^2 g_j`, and :math:`(y_i - \hat y_i) / (1 - h_i)` is the residual of a fit to all other rows.
Bandwidth and ridge are chosen for each column by the mean square of these.

A variable may depend on few directions of several given columns, and a kernel that treats all alike
needs too many rows. So the mean of :math:`\nabla f \nabla f'` over the rows of a first fit f
rotates and scales the columns for the next (Radhakrishnan et al., "Mechanism for feature
learning in neural networks and backpropagation-free machine learning models", Science 2024). The
metric is kept where the residuals are smaller with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi.bandwidths import Median
from lorenyi.gram import Gram, Points, gram
from lorenyi.inference.features import BANDWIDTHS, has_bandwidth, scaled
from lorenyi.kernels import Delta, Gaussian
from lorenyi.spectra import cholesky

WIDTHS = tuple(m for m in BANDWIDTHS if m < np.inf)
RIDGES = np.logspace(-6.0, 0.0, 7)  # of a matrix of trace 1
MAX_COLUMNS = 300  # of the factor
LEFT_OF_TRACE = 1e-6  # below the smallest ridge nothing is resolved
LEAST_SQUARE = 1e-3  # of the mean: a residual of 0 has no logarithm
TURNS = 3  # updates of the metric; at 200 rows and five columns a fourth changes little
MAX_TURN_ROWS = 1_000  # rows that the metric is estimated on
QUICK = Gaussian(Median(pairs=20_000))  # accurate enough: several bandwidths are tried

Factors: TypeAlias = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit to one column: mean squared residual, residuals, fitted values, factor and ridge."""

    square: float
    left: np.ndarray
    fitted: np.ndarray
    U: np.ndarray
    s: np.ndarray
    ridge: float

    def metric(self, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Return the root of the mean of the gradient's outer product, of largest value 1.

        With the dual coefficients a = (y - fit) / ridge, a Gaussian kernel's gradient at row i is
        sum_j A_ij a_j (z_j - z_i) over the squared bandwidth, and sum_j A_ij a_j is the fit.
        """
        dual = (y - self.fitted) / self.ridge
        moved = self.U @ ((self.s**2)[:, None] * (self.U.T @ (dual[:, None] * Z)))
        gradient = moved - Z * self.fitted[:, None]
        return _root(gradient.T @ gradient)


def residuals(Y: np.ndarray, C: Gram, Z: np.ndarray | None = None) -> np.ndarray:
    """Return the residuals of each column given C, each row predicted from all others.

    Parameters
    ----------
    Y : array, n x c
        The columns to predict.
    C : Gram
        The predictors.
    Z : array, n x d, optional
        The numbers of C on a common scale; several are rotated and scaled.
    """
    return _left(Y, C, singular(C), Z)


def _left(Y: np.ndarray, C: Gram, factors: Factors, Z: np.ndarray | None) -> np.ndarray:
    """Return the residuals from factors that are known."""
    Y = Y - Y.mean(axis=0)
    found = fits(Y, factors)
    if Z is not None and Z.shape[1] > 1:
        for j, y in enumerate(Y.T):
            turned = fits(y[:, None], singular(_given(Z @ _metric(y, Z, C), C)))[0]
            found[j] = min(found[j], turned, key=lambda fit: fit.square)
    return np.column_stack([fit.left for fit in found])


def singular(C: Gram) -> Factors:
    """Return singular vectors and values of a factor of C at each multiple of its bandwidth."""
    return [_singular(scaled(C, multiple)) for multiple in (WIDTHS if has_bandwidth(C) else (1.0,))]


def fits(Y: np.ndarray, factors: Factors) -> list[Fit]:
    """Return the fit to each column by the bandwidth and the ridge that predict it best."""
    best: list[Fit | None] = [None] * Y.shape[1]
    for U, s in factors:
        P, leverage = U.T @ Y, U**2
        for ridge in RIDGES:
            g = s**2 / (s**2 + ridge)
            fitted = U @ (g[:, None] * P)
            left = (Y - fitted) / (1.0 - leverage @ g)[:, None]
            for j, square in enumerate(np.mean(left**2, axis=0)):
                known = best[j]
                if known is None or square < known.square:
                    best[j] = Fit(float(square), left[:, j], fitted[:, j], U, s, float(ridge))
    return [fit for fit in best if fit is not None]


def standardized_residuals(Y: np.ndarray, C: Gram, Z: np.ndarray | None = None) -> np.ndarray:
    """Return residuals over their deviation given C, which is fitted to the logarithm of squares.

    Otherwise residuals are large together if the noise of both variables depends on C.
    """
    factors = singular(C)
    left = _left(Y, C, factors, Z)
    square = np.mean(left**2, axis=0)
    square = np.where(square > 0.0, square, 1.0)
    log = np.log(left**2 / square + LEAST_SQUARE)
    log -= log.mean(axis=0)
    left *= np.exp(-0.5 * (log - _left(log, C, factors, Z)))
    deviation = left.std(axis=0)
    return np.asarray(left / np.where(deviation > 0.0, deviation, 1.0))


# ------------------------------------------------------------------------------- the metric


def _metric(y: np.ndarray, Z: np.ndarray, C: Gram) -> np.ndarray:
    """Return the matrix that transforms columns for the best of several successive fits."""
    if len(Z) > MAX_TURN_ROWS:
        few = _arrays.choose(0, 19, len(Z), MAX_TURN_ROWS)
        y, Z, C = y[few], Z[few], C.take(few)
    root = best = np.eye(Z.shape[1])
    least = np.inf
    for turn in range(TURNS + 1):
        fit = fits(y[:, None], singular(_given(Z @ root, C)))[0]
        if fit.square < least:
            least, best = fit.square, root
        if turn < TURNS:
            root = root @ fit.metric(y, Z @ root)
    return best


def _given(Z: np.ndarray, C: Gram) -> Gram:
    """Return the Gram of other numbers, with the labels of C."""
    labels = [f for f in C.factors if isinstance(f, Points) and isinstance(f.kernel, Delta)]
    A = gram(Z, QUICK)
    return A.changed(factors=[*A.factors, *labels])


def _root(M: np.ndarray) -> np.ndarray:
    """Return the square root of a metric, of largest value 1; of zero, the identity."""
    values, V = _arrays.eigh(M)
    if values[-1] <= 0.0:
        return np.eye(len(M))
    return np.asarray((V * np.sqrt(np.maximum(values, 0.0) / values[-1])) @ V.T)


def _singular(C: Gram) -> tuple[np.ndarray, np.ndarray]:
    """Return singular vectors and values of a factor of C."""
    factor = cholesky.Factor(C)
    while factor.size < MAX_COLUMNS and factor.rest > LEFT_OF_TRACE * C.mass:
        if not factor.grow(32):
            break
    values, V = _arrays.eigh(factor.F.T @ factor.F)
    kept = values > 1e-12 * values[-1]
    s = np.sqrt(values[kept])
    return factor.F @ (V[:, kept] / s), s
