"""Columns with few values: joint kernels by indexing, and all their eigenvalues.

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
from lorenyi.spectra import Spectrum

LEVELS = 64  # values of a candidate, at most
ROWS = 1200  # distinct rows of a joint, at most: up to there all eigenvalues are cheapest


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
            block = self.kernel[g[:, None], g[None, :]]
            block *= kernel[v[:, None], v[None, :]]
            block *= r[:, None]
            block *= r[None, :]
            parts.append(block)
        return parts


def entropy_of(blocks: list[np.ndarray], entropy: Renyi, n: float) -> Estimate:
    """Return the entropy of a block-diagonal matrix, known up to rounding."""
    if entropy.alpha == 2 and entropy.rank is None:
        found = -math.log2(sum(float(np.vdot(block, block)) for block in blocks))
    else:
        values = np.sort(np.concatenate([np.linalg.eigvalsh(block) for block in blocks]))
        found = float(renyi_entropy(Spectrum(values[::-1], n), entropy.alpha, entropy.rank))
    slack = 1e-13 * (1.0 + abs(found))
    return Estimate(found - slack, found, found + slack)
