r"""Permutation tests: several statistics combined, exact, with early stopping.

Each statistic is compared with the pool of the observed and all permuted values. Either it is
standardized by mean and deviation, and the soft maximum of the scores is taken,
:math:`\frac1c \ln \frac1s \sum \exp(c z)`. Or, of sums of squares, it becomes the upper tail of the
gamma distribution with the pool's mean and variance, and the harmonic mean of these p-values is
taken. This allows for skewness: a linear view of two columns has one degree of freedom, a narrow
one many, and so many deviations are less rare in the linear one. All values of the pool are treated
alike, so under the null each is equally likely to be the largest, and P(p <= level) <= level holds
exactly at any number of rows.

The test is checked for early stopping after 39, 79, 159, ... permutations. It ends at a check if b
of k permuted values reach the observed one and, at a p-value of `level`, so many would occur with a
probability of at most `STOP_ERROR`. It ends early only above the level, so a p-value at or below it
is always that of all permutations: the level stays exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy.special import bdtrc, gammaincc, logsumexp, ndtri

from lorenyi import _arrays
from lorenyi._progress import Progress, reporting
from lorenyi._threads import parallel

FIRST_LOOK = 39  # permutations; four of five tests without dependence end there
STOP_ERROR = 1e-3  # probability that a test ends that would have been significant at the level
BATCH_ROWS = 10_000  # of permutations at a time: threads wait for each other at every step
MAX_BATCH = 10  # permutations at a time, whose statistics fit into the cache of a core
MIN_BLOCKS = 6  # which have 720 orders
SHARPNESS = 2.0  # c; over 25 relations 1 to 3 had as much power, the plain maximum .01 less
TIE = 1e-9  # relative: permutations that only rename equal rows count as equal
SMALLEST_TAIL = 1e-290  # of a gamma distribution: its inverse is a number


@dataclass(frozen=True, eq=False)
class Permuted:
    """The outcome of a permutation test.

    Attributes
    ----------
    statistic : float
        The observed value: several combined, in deviations, or the only one unchanged.
    null : array
        Those of the permutations.
    pvalue : float
        (1 + b) / (1 + m), with b of m permutations at or above the observed value.
    largest : int
        Which of several statistics is the largest, or has the largest part in the harmonic mean.
    values : array, (m + 1) x s
        All statistics, not standardized; the observed ones first.
    """

    statistic: float
    null: np.ndarray
    pvalue: float
    largest: int
    values: np.ndarray

    @property
    def excess(self) -> float:
        """The largest statistic, not standardized, minus its mean over permutations."""
        column = self.values[:, self.largest]
        return float(column[0] - column[1:].mean())


def permute(
    statistic: Callable[[np.ndarray | None], np.ndarray],
    orders: Orders,
    permutations: int,
    level: float | None,
    progress: Progress = None,
    shares: Sequence[float] | None = None,
) -> Permuted:
    """Run a permutation test.

    Parameters
    ----------
    statistic : callable
        Gives a row of one value or several for each order of the rows; None: as observed.
    orders : Orders
        The orders of the rows.
    permutations : int
        Maximum number.
    level : float, optional
        End early if the p-value is clearly above; None: never.
    progress
        As in `Reporter`.
    shares : sequence of float, optional
        Of each statistic in the harmonic mean; None: the soft maximum.
    """
    with reporting(progress, permutations, "permutations") as report:

        def permuted(numbers: range) -> np.ndarray:
            found = statistic(orders(numbers))
            for _ in numbers:
                report.step(f"permutation {report.done + 1} of {permutations}")
            return found

        values, done = statistic(None), 0
        for look in looks(permutations) if level is not None else [permutations]:
            new = parallel(permuted, orders.batches(done, look))
            values, done = np.vstack([values, *new]), look
            found = pooled(values, shares)
            if level is not None and is_clear(found, level):
                break
    return found


def pooled(values: np.ndarray, shares: Sequence[float] | None = None) -> Permuted:
    """Return the test of observed (first) and permuted statistics, one per column."""
    scores, tie = values, TIE * float(np.max(np.abs(values), initial=1e-300))
    best = values[:, 0]
    if values.shape[1] > 1:
        tie = 1e3 * TIE
        if shares is None:
            scores = standardized(values)
            best = soft_maximum(scores)
        else:
            p = tails(values)
            scores, best = np.array(shares) / p, harmonic(p, shares)
    null = best[1:]
    above = int(np.count_nonzero(null >= best[0] - tie))
    largest = int(np.argmax(scores[0]))
    return Permuted(float(best[0]), null, (1 + above) / len(best), largest, values)


def soft_maximum(scores: np.ndarray) -> np.ndarray:
    """Return ln of the mean of exp(c z) over c, for each row."""
    count = math.log(scores.shape[1])
    return np.asarray((logsumexp(SHARPNESS * scores, axis=1) - count) / SHARPNESS)


def standardized(values: np.ndarray) -> np.ndarray:
    """Return columns minus their mean, over their deviation; zero where they do not vary."""
    deviation = values.std(axis=0)
    varies = deviation > TIE * np.max(np.abs(values), axis=0)
    safe = np.where(varies, deviation, 1.0)
    return np.where(varies, (values - values.mean(axis=0)) / safe, 0.0)


def harmonic(p: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """Return the harmonic mean of p-values for each row, as deviations of a normal variable."""
    return np.asarray(-ndtri(sum(shares) / (1.0 / p @ np.array(shares))))


def tails(values: np.ndarray) -> np.ndarray:
    """Return upper tails of the gamma distributions with each column's mean and variance.

    They are below 1, and a half where a column does not vary.
    """
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    varies = deviation > TIE * np.max(np.abs(values), axis=0)
    shape = np.where(varies, mean / np.where(varies, deviation, 1.0), 1.0) ** 2
    found = gammaincc(shape, values * shape / np.where(varies, mean, 1.0))
    return np.where(varies, np.clip(found, SMALLEST_TAIL, 1.0 - 1e-12), 0.5)


def looks(permutations: int) -> list[int]:
    """Return after how many permutations to check: 39, 79, 159, ... and at the end."""
    ends, at = [], FIRST_LOOK
    while at < permutations:
        ends.append(at)
        at = 2 * at + 1
    return [*ends, permutations]


def is_clear(found: Permuted, level: float) -> bool:
    """Return whether so many permutations above would be rare at a p-value of `level`."""
    done = len(found.null)
    above = round(found.pvalue * (done + 1)) - 1
    rare = above > 0 and float(bdtrc(above - 1, done, level)) <= STOP_ERROR
    return found.pvalue > level and rare


# ------------------------------------------------------------------------------- orders


@dataclass(frozen=True, eq=False)
class Orders:
    """Random orders of n rows, by their numbers.

    Parameters
    ----------
    seed : int
        Of all permutations.
    groups : array, p x n
        Rows stay within their group, by p partitions in turn.
    block : int, optional
        For rows in order of time: so many consecutive rows stay together, whatever their group.
    """

    seed: int
    groups: np.ndarray
    block: int | None = None

    def __call__(self, numbers: Sequence[int]) -> np.ndarray:
        """Return the orders of some numbers, one per row."""
        count, n = self.groups.shape
        if self.block is not None:
            cut = [_arrays.block_permutation(self.seed, b, n, self.block) for b in numbers]
            return np.stack(cut)
        return _arrays.permutations(self.seed, numbers, self.groups[np.array(numbers) % count])

    def batches(self, start: int, stop: int) -> list[range]:
        """Return numbers to take at once: so few rows that two cores share them evenly."""
        size = max(min(BATCH_ROWS // self.groups.shape[1], MAX_BATCH), 1)
        return [range(at, min(at + size, stop)) for at in range(start, stop, size)]


# ------------------------------------------------------------------------------- arguments


def require_block(block: object, n: int) -> None:
    """Refuse an invalid length of a block of n rows."""
    if block is None:
        return
    integer = isinstance(block, Integral) and not isinstance(block, bool)
    if not integer or not 1 <= block <= n // MIN_BLOCKS:  # type: ignore[operator]
        raise ValueError(
            f"block={block!r}: it must be an integer from 1 to {n // MIN_BLOCKS}, so that {n} rows "
            f"have at least {MIN_BLOCKS} blocks to permute"
        )


def require_permutations(permutations: object) -> None:
    """Refuse an invalid number of permutations."""
    integer = isinstance(permutations, Integral) and not isinstance(permutations, bool)
    if not integer or permutations < 1:  # type: ignore[operator]
        raise ValueError(f"permutations={permutations!r}: it must be an integer of at least 1")


def require_level(level: object) -> None:
    """Refuse an invalid level of significance."""
    if level is None:
        return
    number = isinstance(level, (int, float, np.floating)) and not isinstance(level, bool)
    if not number or not 0.0 < level < 1.0 or math.isnan(level):  # type: ignore[operator, arg-type]
        raise ValueError(
            f"level={level!r}: it must lie between 0 and 1, or be None to run all permutations"
        )
