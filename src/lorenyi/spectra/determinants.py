r"""Sums over all eigenvalues without the eigenvalues: a band matrix and its log-determinants.

The entropy of an order between 0 and 2, without a rank, is a sum over all eigenvalues. With
:math:`x_i = n \lambda_i`,

.. math:: \sum_i \lambda_i^\alpha = n^{-\alpha} (n + (1 - \alpha) \Phi), \quad
          \Phi = \sum_i \varphi(x_i), \quad
          \varphi(x) = \frac{x^\alpha - x}{1 - \alpha} \;\to\; -x \ln x,

and :math:`\varphi` is a sum of logarithms,

.. math:: \varphi(x) \approx c_0 + c_1 x + c_2 x^2 + \sum_j w_j \ln(x + t_j),

to eight digits with about twenty :math:`t_j`: so :math:`\Phi` is one of log-determinants of
:math:`A + t_j I`. Reduced to a band (`lorenyi._lapack.band`, products of matrices only), A has
each of them for next to nothing, where eigenvalues need slow reductions to three diagonals.

**What is proven.** The fit's error is measured on a grid, between one shift and the next, and how
many eigenvalues can lie there follows from the difference of their log-determinants. Rounding moves
eigenvalues by a few units of their last digit, and by :math:`\delta_i` with
:math:`\sum \delta_i^2 \le e^2` (Hoffman and Wielandt), thus by duality :math:`\Phi` by at most

.. math:: m e^2 + \sum_i \max_d \, (\psi(x_i, d) - m d^2) \quad \text{for any } m > 0,

:math:`\psi(x, d)` being the change of :math:`\varphi` within d of x: again a sum of one function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from lorenyi import _arrays, _lapack
from lorenyi.blocks import fits
from lorenyi.gram import Gram

WIDTH = 128  # diagonals of the band
# Reflections are orthogonal up to rounding, which moves eigenvalues by a part of themselves, and
# sums are rounded, which moves them by a part of the norm; both in eps. Seen: 55, and 5.
RELATIVE, STABLE = 128, 16
EVEN = 8.0  # |A|_F in its least value: up to there no eigenvalue stands out so far
STEPS = {True: 0.75, False: 0.6}  # between the logarithms of shifts, in float32 and float64
SLOPES = np.geomspace(0.3, 300, 7)  # of phi, halved, that may be typical
SMALL = 600  # rows of blocks that are decomposed
FIRST, FACTOR, TRIES = 0.5, 8.0, 6  # the least shift in the mean error; how often it is raised


class Sums(NamedTuple):
    """Log-determinants of a few blocks, from which sums over their eigenvalues follow.

    Parameters
    ----------
    size : int
        Number of eigenvalues x.
    first, second : float
        Sums of x and of its squares.
    shifts : array
        t, ascending.
    logs : array
        The sum of ln(1 + x / t) for each.
    """

    size: int
    first: float
    second: float
    shifts: np.ndarray
    logs: np.ndarray

    def of(self, function: Callable[[np.ndarray], np.ndarray]) -> tuple[float, float]:
        """Return the sum of f(max(x, 0)), and how far off it may be.

        The function is a smooth one of ln x, away from zero.
        """
        t, least = self.shifts, float(self.shifts[0])
        most = max(math.sqrt(self.second), 8 * least)
        near = np.linspace(-0.5, 1.0, 31)[:-1] * least  # x > -t/2: see `_least`
        x = np.concatenate([near, np.geomspace(least, most, 1500)])
        f = function(np.maximum(x, 0.0))
        basis = np.stack([np.ones_like(x), x, x * x, *np.log1p(x / t[:, None])], axis=1)
        large = np.abs(f) + np.abs(x)
        allowed = float(large[len(near)]) * least / (np.abs(x) + least) + 1e-6 * large
        scale = np.max(np.abs(basis) / allowed[:, None], axis=0)
        fit = np.linalg.lstsq(basis / allowed[:, None] / scale, f / allowed, rcond=1e-15)[0] / scale
        gap = np.abs(basis @ fit - f)
        # Twice what is seen: a grid does not see all of the error between its points.
        place = np.searchsorted(t, x, side="right")
        worst = np.array([np.max(gap[place == j], initial=0.0) for j in range(len(t) + 1)])
        parts = np.concatenate([[self.size, self.first, self.second], self.logs])
        value = float(fit @ parts)
        # The worst places are taken first, each by as many as there can be.
        order = np.argsort(-worst)
        taken = np.minimum(np.cumsum(self._at_most[order]), self.size)
        off = float(np.diff(taken, prepend=0.0) @ worst[order])
        rounding = 1e-14 * float(np.sum(np.abs(fit * parts)))
        return value, 2 * off + rounding

    @property
    def _at_most(self) -> np.ndarray:
        """Upper bounds on how many x lie below the first shift, between two, and above the last.

        From the sum of ln((x + t_1) / (x + t_0)), which falls, over its value at the upper end,
        and from the sums of x and x^2, over their values at the lower one.
        """
        t = self.shifts
        steps = np.maximum(self.size * np.diff(np.log(t)) + np.diff(self.logs), 0.0)
        steps += 1e-14 * (self.size + self.logs[:-1])  # rounding
        ends = np.log(2 * t[1:] / (t[1:] + t[:-1]))
        first = steps[:1] / np.log((t[1] + t[0]) / (2 * t[0]))
        falling = np.concatenate([first, steps / ends, [self.size]])
        beyond = np.minimum(self.first / t, self.second / t**2)
        return np.asarray(np.minimum(falling, np.concatenate([[self.size], beyond])))


def power_like(x: np.ndarray, alpha: float) -> np.ndarray:
    """Return (x^alpha - x) / (1 - alpha), or -x ln x at 1."""
    log = np.log(np.where(x > 0, x, 1.0))
    return np.asarray(-x * (log if alpha == 1 else np.expm1((alpha - 1) * log) / (alpha - 1)))


def whole_entropy(A: Gram, alpha: float, single: bool) -> tuple[float, float, float] | None:
    """Return S_alpha of a Gram: lower end, value, upper end. Or None, where others are to try.

    Parameters
    ----------
    A : Gram
        Of NumPy arrays, with trace 1.
    alpha : float
        Order, above 0 and below 2.
    single : bool
        Whether to compute in float32, in half the time and with an interval of about 1e-3 bits.
    """
    rows = max(map(len, A.reduced[1]), default=0)
    possible = 0 < alpha < 2 and abs(A.mass - 1.0) < 1e-9 and _lapack.can_band()
    if not possible or not fits(20 * rows**2):
        return None
    return _whole_entropy(A, alpha, single)


def _whole_entropy(A: Gram, alpha: float, single: bool) -> tuple[float, float, float] | None:
    n, eps = float(A.n), float(np.finfo(np.float64).eps)
    singles, blocks = A.reduced
    bands, error = [], 0.0
    for block in blocks:
        dense = np.ascontiguousarray(_arrays.to_numpy(block.dense()), dtype=np.float64)
        size, norm = len(block), n * float(np.linalg.norm(dense))
        if size <= SMALL:
            bands.append(n * _lapack.eigvalsh(dense)[:, None])
            error += (size * eps * norm) ** 2
        elif not single:
            bands.append(n * _lapack.band(dense, WIDTH))
            error += (STABLE * eps * norm) ** 2
        else:
            mixed = norm > EVEN * math.sqrt(size)
            band = _lapack.mixed_band(dense, WIDTH) if mixed else _single_band(dense)
            bands.append(n * band)
            rounded = _norm(bands[-1][WIDTH if mixed else 0 :])
            error += (STABLE * float(np.finfo(np.float32).eps) * rounded) ** 2
        error += (block.roundoff * norm) ** 2
    total, off = float(np.sum(power_like(n * _arrays.to_numpy(singles), alpha))), 0.0
    if bands:
        error = math.sqrt(error)
        sums = _sums(bands, error, STEPS[single])
        if sums is None:
            return None
        value, fit = sums.of(lambda x: power_like(x, alpha))
        total, off = total + value, fit + _moved(sums, error, alpha)
        # x phi'(x) = alpha phi(x) - x: what a relative change of x adds.
        change, loose = sums.of(lambda x: np.abs(alpha * power_like(x, alpha) - x))
        relative = RELATIVE * float(np.finfo(np.float32 if single else np.float64).eps)
        off += relative * (change + loose)
    off += 64 * eps * (n + abs(total))
    low, value, high = (_bits(phi / n, alpha, n) for phi in (total - off, total, total + off))
    return low, value, high


def _bits(mean: float, alpha: float, n: float) -> float:
    """Return the entropy of n eigenvalues with trace 1 whose mean of phi is given."""
    if alpha == 1:
        return math.log2(n) + mean / math.log(2)
    # Between that of one eigenvalue alone and that of n equal ones.
    least, most = sorted((0.0, math.expm1((alpha - 1) * math.log(n))))
    potential = min(max((1 - alpha) * mean, least), most)
    return math.log2(n) + math.log1p(potential) / ((1 - alpha) * math.log(2))


def _single_band(dense: np.ndarray) -> np.ndarray:
    return np.asarray(_lapack.band(dense.astype(np.float32), WIDTH))


def _norm(band: np.ndarray) -> float:
    """Return the Frobenius norm."""
    return math.sqrt(float(2 * np.sum(band[:, 1:] ** 2) + np.sum(band[:, 0] ** 2)))


def _moved(sums: Sums, error: float, alpha: float) -> float:
    """Return by how much Phi can change if the squared changes of x sum to that of the error."""
    mean = error / math.sqrt(sums.size)
    d = np.geomspace(1e-2 * mean, error, 128)
    below = np.concatenate([[0.0], d[:-1]])

    def most(x: np.ndarray) -> np.ndarray:
        """Return how far phi moves with x, for each distance."""
        here, x = power_like(x, alpha)[:, None], x[:, None]
        up, down = power_like(x + d, alpha), power_like(np.maximum(x - d, 0.0), alpha)
        return np.asarray(np.maximum(np.abs(up - here), np.abs(here - down)))

    # By duality, for any m > 0: m e^2 + the sum of max_d (psi(d) - m d^2). The best m is half the
    # slope, in the root mean square, over the mean error.
    moves: list[np.ndarray] = []  # at the points where sums look, always the same

    def bound(m: float) -> float:
        def above(x: np.ndarray) -> np.ndarray:
            if not moves:
                moves.append(most(x))
            return np.asarray(np.max(moves[0] - m * below**2, axis=1))

        rest, loose = sums.of(above)
        return m * error**2 + max(rest, 0.0) + loose

    return min(bound(float(m)) for m in SLOPES / mean)


def _sums(bands: Sequence[np.ndarray], error: float, step: float) -> Sums | None:
    """Return the log-determinants, for shifts that rounding lets us trust."""
    count = sum(map(len, bands))
    first = sum(float(np.sum(band[:, 0])) for band in bands)
    second = sum(_norm(band) ** 2 for band in bands)
    least = _least(bands, FIRST * error / math.sqrt(count))
    if least is None:
        return None
    shifts = np.exp(np.arange(math.log(least), 0.5 * math.log(second) + step, step))
    logs = np.zeros(len(shifts))
    for band in bands:
        for j, t in enumerate(shifts):
            found = _lapack.log_determinant(band, float(t))
            if found is None:
                return None
            logs[j] += found - len(band) * math.log(t)
    return Sums(count, first, second, shifts, logs)


def _least(bands: Sequence[np.ndarray], shift: float) -> float | None:
    """Return the first of some shifts t for which no eigenvalue is below -t/2."""
    for _ in range(TRIES):
        if all(_lapack.log_determinant(band, 0.5 * shift) is not None for band in bands):
            return shift
        shift *= FACTOR
    return None
