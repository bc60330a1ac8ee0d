"""Few distinct rows: joint kernels by indexing, and all their eigenvalues.

A column with l values has an l x l kernel matrix k, the chosen features with m distinct rows an
m x m matrix K. A candidate joins them by K[g, g'] k[v, v'] over the distinct pairs (g, v), with
their frequencies as weights; labels cut that into one block a class. No kernel is evaluated twice.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from lorenyi import _arrays
from lorenyi.entropy import Renyi, renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.gram import Gram
from lorenyi.spectra import Spectrum, enclosure

SMALL = 200  # rows up to which eigenvalues cost next to nothing
ROWS = 1200  # distinct rows of a joint, at most: up to there all eigenvalues are cheapest
SMOOTH = 64  # values of a candidate above which its kernel is of lower rank than its values
MEMORY = 2**29  # bytes for the kernels of all candidates, at most


def unit_kernel(A: Gram) -> np.ndarray:
    """Return the matrix of a Gram without its weights: ones on the diagonal."""
    root = np.sqrt(_arrays.to_numpy(A.weights))
    return np.asarray(_arrays.to_numpy(A.dense()) / root[:, None] / root[None, :])


class Levels:
    """The kernel of some chosen features on their distinct rows.

    Parameters
    ----------
    kernel : array, m x m
        Of the distinct rows, with ones on the diagonal.
    code : array of int
        Which of them each row is.
    """

    def __init__(self, kernel: np.ndarray, code: np.ndarray) -> None:
        self.kernel, self.code = kernel, code

    def joint(
        self,
        kernel: np.ndarray,
        values: np.ndarray,
        labels: np.ndarray | None,
        weights: np.ndarray | None,
    ) -> list[np.ndarray] | None:
        """Return the diagonal blocks of the joint with a candidate, or None where one is large.

        Parameters
        ----------
        kernel : array, l x l
            Of the candidate's values.
        values : array of int
            Which of them each row has.
        labels : array of int, optional
            Classes of the rows, where the target is among the variables.
        weights : array, optional
            Frequencies of the rows.
        """
        levels, pairs = len(kernel), len(self.kernel) * len(kernel)
        code = self.code * levels + values
        if labels is not None:
            code = labels * pairs + code
        classes = 1 if labels is None else int(labels.max()) + 1
        if classes * pairs <= 16 * len(code):
            counts = np.bincount(code, weights=weights, minlength=classes * pairs)
            found = np.flatnonzero(counts)
            counts = counts[found]
        else:
            found, inverse = np.unique(code, return_inverse=True)
            counts = np.bincount(inverse, weights=weights)
        label, pair = np.divmod(found, pairs)
        ends = np.searchsorted(label, np.arange(classes + 1))
        if int(np.max(np.diff(ends))) > ROWS:
            return None
        group, value = np.divmod(pair, levels)
        root = np.sqrt(counts / float(np.sum(counts)))
        parts = []
        for a, b in pairwise(ends):
            g, v, r = group[a:b], value[a:b], root[a:b]
            block = self.kernel.take(g, axis=0).take(g, axis=1)
            block *= kernel.take(v, axis=0).take(v, axis=1)
            block *= r[:, None]
            block *= r[None, :]
            parts.append(block)
        return parts


def entropy_of(blocks: list[np.ndarray], entropy: Renyi, n: float, tol: float) -> Estimate:
    """Return the entropy of a block-diagonal matrix, to a width or better."""
    if entropy.alpha == 2:
        squared_norm = sum(float(np.vdot(block, block)) for block in blocks)
        if entropy.rank is None:
            return _rounded(-math.log2(squared_norm))
        if sum(len(block) for block in blocks) > SMALL and tol >= 2e-4:
            low = _leading_squares(blocks, entropy.rank, squared_norm, tol)
            if squared_norm <= low * 2**tol:  # low <= P <= squared_norm, see `quadratic`
                ends = -math.log2(squared_norm * (1 + 1e-12)), -math.log2(low * (1 - 1e-12))
                return Estimate(ends[0], 0.5 * (ends[0] + ends[1]), ends[1])
    values = np.sort(np.concatenate([np.linalg.eigvalsh(block) for block in blocks]))
    spectrum = Spectrum(values[::-1], n)
    found = float(renyi_entropy(spectrum, entropy.alpha, entropy.rank))
    pair = enclosure(spectrum) if entropy.alpha < 1 else None
    if pair is None:
        return _rounded(found)
    # Below order 1 null eigenvalues at rounding level weigh: the interval must say so.
    low, high = (float(renyi_entropy(end, entropy.alpha, entropy.rank)) for end in pair)
    return Estimate(min(low, found), found, max(high, found))


def _leading_squares(blocks: list[np.ndarray], rank: int, squared_norm: float, tol: float) -> float:
    """Return a lower bound of P: from the squared norm, then from the span of k columns."""
    low = squared_norm - 1 / (4 * rank)
    size = sum(len(block) for block in blocks)
    if squared_norm <= low * 2**tol or size < 3 * rank:
        return low
    shares = [rank * len(block) // size for block in blocks]
    spans = [
        block[:, np.linspace(0, len(block) - 1, share).astype(np.int64)]
        for block, share in zip(blocks, shares, strict=True)
    ]
    for _ in range(2):  # columns, then once multiplied
        spans = [block @ np.linalg.qr(Y)[0] for block, Y in zip(blocks, spans, strict=True)]
        low = max(low, sum(float(np.vdot(Y, Y)) for Y in spans))
        if squared_norm <= low * 2**tol:
            break
    return low


def _rounded(found: float) -> Estimate:
    slack = 1e-13 * (1.0 + abs(found))
    return Estimate(found - slack, found, found + slack)
