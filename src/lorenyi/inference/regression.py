r"""What a variable leaves of others: leave-one-out residuals of kernel ridge regression.

With a factor F of the kernel matrix, its singular vectors U and values s, and a ridge r, the fit is
:math:`U g U' y` with :math:`g = s^2 / (s^2 + r)`. Row i has the leverage :math:`h_i = \sum_j
U_{ij}^2 g_j`, and :math:`(y_i - \hat y_i) / (1 - h_i)` is the residual of a fit to all other rows.
Bandwidth and ridge are chosen for each column by the mean square of these.
"""

from __future__ import annotations

import numpy as np

from lorenyi.gram import Gram
from lorenyi.inference.features import BANDWIDTHS, has_bandwidth, scaled
from lorenyi.spectra import cholesky

RIDGES = np.logspace(-6.0, 0.0, 7)  # of a matrix of trace 1
MAX_COLUMNS = 300  # of the factor
LEFT_OF_TRACE = 1e-6  # below the smallest ridge nothing is resolved
LEAST_SQUARE = 1e-3  # of the mean: a residual of 0 has no logarithm


def residuals(Y: np.ndarray, C: Gram) -> np.ndarray:
    """Return what C does not explain of each column, each row predicted from all others."""
    Y = Y - Y.mean(axis=0)
    least, best = np.full(Y.shape[1], np.inf), np.empty_like(Y)
    for multiple in BANDWIDTHS if has_bandwidth(C) else (1.0,):
        U, s = _singular(scaled(C, multiple))
        P, leverage = U.T @ Y, U**2
        for ridge in RIDGES:
            g = s**2 / (s**2 + ridge)
            left = (Y - U @ (g[:, None] * P)) / (1.0 - leverage @ g)[:, None]
            square = np.mean(left**2, axis=0)
            better = square < least
            least[better], best[:, better] = square[better], left[:, better]
    return best


def standardized_residuals(Y: np.ndarray, C: Gram) -> np.ndarray:
    """Return residuals over their deviation given C, which is fitted to the logarithm of squares.

    Where the noise of two variables grows with a third, their residuals are large together.
    """
    left = residuals(Y, C)
    square = np.mean(left**2, axis=0)
    square = np.where(square > 0.0, square, 1.0)
    log = np.log(left**2 / square + LEAST_SQUARE)
    log -= log.mean(axis=0)
    left *= np.exp(-0.5 * (log - residuals(log, C)))
    deviation = left.std(axis=0)
    return np.asarray(left / np.where(deviation > 0.0, deviation, 1.0))


def _singular(C: Gram) -> tuple[np.ndarray, np.ndarray]:
    """Return singular vectors and values of a factor of C."""
    factor = cholesky.Factor(C)
    while factor.size < MAX_COLUMNS and factor.rest > LEFT_OF_TRACE * C.mass:
        if not factor.grow(32):
            break
    values, V = np.linalg.eigh(factor.F.T @ factor.F)
    kept = values > 1e-12 * values[-1]
    s = np.sqrt(values[kept])
    return factor.F @ (V[:, kept] / s), s
