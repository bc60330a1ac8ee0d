r"""Order 2 as a mean over pairs of rows, for any number of them.

.. math:: S_2 = -\log_2 \sum_{ij} w_i w_j\, k(x_i, x_j)^2

is minus the logarithm of a mean over pairs of rows. Joints multiply kernels, so every measure of
order 2 is a formula in means over the same pairs. Up to `MAX_ALL_ROWS` rows all pairs are taken.
With more rows, a balanced sample of pairs: the rows are put in a random order, which the seed and
their numbers determine, and each is paired with the S rows that follow it. The noise of the sample
is part of the standard error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._threads import parallel
from lorenyi.data.sources import slices
from lorenyi.estimate import Influence
from lorenyi.gram import Gram, Points, squared_norm
from lorenyi.kernels import Kernel

MAX_ALL_ROWS = 20_000  # 2 x 10^8 pairs: about a second
MAX_SAMPLED_ROWS = 2**20  # rows that pairs are sampled from
SAMPLED_PAIRS = 2**22  # their noise is a fraction of that of 10^6 rows
KEPT_PAIRS = 2**14  # pairs whose values are kept, for their variance


@dataclass(frozen=True, eq=False)
class PairMean:
    """The sum of the squared entries of a Gram, |A|_F^2, over all pairs of rows or a sample.

    Attributes
    ----------
    square : 0-d array or float
        |A|_F^2.
    n : float
        Number of points.
    pairs : int
        How many pairs were drawn; 0 if all were taken.
    values : array
        k^2 for some of the pairs drawn.
    """

    square: Array
    n: float
    pairs: int = 0
    values: np.ndarray | None = None

    def entropy(self, unbiased: bool) -> Array:
        """Return S_2 in bits: of all pairs, or (unbiased) of those of different points."""
        xp = _arrays.namespace(self.square)
        return -xp.log2(self._different if unbiased else self.square)

    @property
    def _different(self) -> Array:
        """The mean of k^2 over pairs of different points."""
        mean = (self.n * self.square - 1.0) / (self.n - 1.0)
        if float(_arrays.detach(mean)) <= 1e-12:
            raise ValueError(
                "no two points are alike, so the collision entropy is not finite: use a wider "
                "kernel, fewer columns or categories with fewer levels, or Renyi(2)"
            )
        return mean

    def noise(self, unbiased: bool) -> Influence | None:
        """Return the influence of each pair drawn on the entropy."""
        if self.values is None:
            return None
        mean = float(self._different if unbiased else self.square)
        moved = -(self.values - self.values.mean()) / (mean * math.log(2))
        return Influence.of(moved, ("pairs", float(self.pairs)))


def pair_mean(A: Gram, seed: int = 0, pairs: int | None = None) -> PairMean:
    """Return the mean of k^2 over all pairs of rows, or over a balanced sample.

    Parameters
    ----------
    A : Gram
    seed : int
        Seed of the order of rows.
    pairs : int, optional
        Minimum number of pairs to draw; by default all of up to `MAX_ALL_ROWS` rows, else
        `SAMPLED_PAIRS`.
    """
    distinct = sum(len(block) for block in A.reduced[1]) if A.in_memory else len(A)
    points = all(isinstance(factor, Points) for factor in A.factors)
    # All pairs, if these are no more than requested; also of a ready matrix or a tensor.
    affordable = float(distinct) ** 2 <= (MAX_ALL_ROWS**2 if pairs is None else pairs)
    if affordable or not points or not _arrays.is_numpy(A.reference):
        return PairMean(squared_norm(A), A.n)
    return _sampled_mean(A, seed, pairs or SAMPLED_PAIRS)


def _sampled_mean(A: Gram, seed: int, pairs: int) -> PairMean:
    part = shuffled(A, seed)
    shifts = min(max(-(-pairs // len(part)), 4), len(part) - 1)
    found = parallel(lambda cut: _squares(part, cut, shifts), slices(len(part), 2**15))
    total = sum(block_sum for block_sum, _ in found)
    count = shifts * len(part)
    mean = total / count
    kept = np.concatenate([values for _, values in found])[:KEPT_PAIRS]
    return PairMean(np.asarray(1 / A.n + (1 - 1 / A.n) * mean), A.n, count, kept)


def shuffled(A: Gram, seed: int) -> Gram:
    """Return the Gram of (a sample of) the rows in a random order; weight w gives w rows."""
    size = min(len(A), MAX_SAMPLED_ROWS)
    if A.is_weighted or A.n > len(A):  # equal weights too: a row pairs with its copies
        size = int(min(A.n, MAX_SAMPLED_ROWS))
        ends = np.cumsum(_arrays.to_numpy(A.weights).astype(np.float64))
        places = (np.arange(size) + 0.5) / size * ends[-1]
        index = np.minimum(np.searchsorted(ends, places), len(A) - 1)
    else:
        index = A.choose(seed, 13, size)
    order = np.argsort(_arrays.hashed(seed, 14, len(index))[:, 0])
    return A.take(index[order])


def _squares(A: Gram, rows: slice, shifts: int) -> tuple[float, np.ndarray]:
    """Return the sum of k^2 over pairs of rows with those that follow, and some of the values."""
    index, total = np.arange(rows.start, rows.stop), 0.0
    first = _factors(A, index)
    kept = np.empty(0)
    for shift in range(1, shifts + 1):
        second = _factors(A, (index + shift) % len(A))
        blocks = [k.pairs(x, y) for (k, x), (_, y) in zip(first, second, strict=True)]
        values = np.asarray(reduce(mul, blocks), dtype=np.float64) ** 2
        total += float(values.sum())
        kept = values[:1024] if shift == 1 else kept
    return total, kept


def _factors(A: Gram, index: np.ndarray) -> list[tuple[Kernel, Array]]:
    return [(f.kernel, f._rows(index)) for f in A.factors]  # type: ignore[union-attr]
