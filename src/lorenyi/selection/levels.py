"""Few distinct rows: joint kernels by indexing, and all their eigenvalues.

A column with l values has an l x l kernel matrix k, the chosen features with m distinct rows an
m x m matrix K. A candidate joins them by K[g, g'] k[v, v'] over the distinct pairs (g, v), with
their frequencies as weights; labels cut that into one block a class. No kernel is evaluated twice.

A matrix majorises its diagonal blocks, whatever the cut. So where chosen features hardly couple
their values (two that are far apart), to cut along these gives an upper end from small blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lorenyi import _arrays
from lorenyi.entropy import renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram, Matrix
from lorenyi.selection.ends import Side, look, squared_norm
from lorenyi.spectra import Spectrum, enclosure

ROWS = 1200  # distinct rows of a joint, at most: up to there all eigenvalues are cheapest
TINY = 48  # rows of blocks of which a call costs more than the work
SHORT = 200  # and from there float32 takes less time
CHEAP = 600  # and up to there they are cheaper than one end by iteration
LOOSE = 0.05  # of a feature's squared norm lies between its values, at most, to cut along them
PART = 48  # distinct rows of a part that is cut no further
SMOOTH = 64  # values of a candidate above which its kernel is of lower rank than its values
MEMORY = 2**29  # bytes for the kernels of all candidates, at most


def unit_kernel(A: Gram) -> np.ndarray:
    """Return the matrix of a Gram without its weights: ones on the diagonal."""
    everything = slice(0, len(A))
    kernel: np.ndarray = _arrays.to_numpy(A.kernel_block(everything, everything))
    scale = _arrays.to_numpy(A.scale) / np.sqrt(_arrays.to_numpy(A.weights))
    if np.max(np.abs(scale - 1.0)) > 4 * _arrays.epsilon(kernel):
        kernel = kernel * scale[:, None] * scale[None, :]
    return kernel


def cut_along(features: Sequence[tuple[np.ndarray, np.ndarray]], code: np.ndarray) -> np.ndarray:
    r"""Number the parts of the rows between which some features hardly couple.

    Those cut first of which least lies between values, with frequencies p of these
    :math:`1 - \sum_v p_v^2 / \sum_{v, v'} p_v p_{v'} k(v, v')^2`, until the parts are small.

    Parameters
    ----------
    features : sequence of (array, array of int)
        Kernels of their values, and which of these each row has.
    code : array of int
        Number of each row among the distinct ones of all features.
    """
    counts = [np.bincount(values) for _, values in features]
    between = [
        1 - (p @ p) / (p @ np.square(kernel) @ p)
        for (kernel, _), p in zip(features, counts, strict=True)
    ]
    _, first = np.unique(code, return_index=True)
    parts = np.zeros(len(code), dtype=np.int64)
    for i in np.argsort(between, kind="stable"):
        if between[i] > LOOSE or np.bincount(parts[first]).max() <= PART:
            break
        parts = parts * len(counts[i]) + features[i][1]
        parts = np.unique(parts, return_inverse=True)[1]
    return parts


class Block(NamedTuple):
    """A diagonal block: the kernel between some distinct rows, and their relative frequencies."""

    kernel: np.ndarray
    weights: np.ndarray

    def dense(self) -> np.ndarray:
        """Return the block of the normalised matrix."""
        root = np.sqrt(self.weights).astype(self.kernel.dtype)
        matrix: np.ndarray = self.kernel * root[:, None]
        matrix *= root[None, :]
        return matrix

    def gram(self, n: float) -> Gram:
        """Return the same as a Gram of n points."""
        w = self.weights
        return Gram([Matrix(self.kernel)], np.sqrt(w), w, n, mass=float(np.sum(w)))


class Levels:
    """The kernel of some chosen features on their distinct rows.

    Parameters
    ----------
    kernel : array, m x m
        Of the distinct rows, with ones on the diagonal.
    code : array of int
        Which of them each row is.
    parts : array of int, optional
        Numbers of the parts of the rows to cut along, see `cut_along`.
    """

    def __init__(
        self, kernel: np.ndarray, code: np.ndarray, parts: np.ndarray | None = None
    ) -> None:
        self.kernel, self.code = kernel, code
        self.parts = parts if parts is not None and parts.any() else None

    @cached_property
    def single(self) -> np.ndarray:
        """The kernel in float32."""
        return self.kernel.astype(np.float32)

    def joint(
        self,
        kernel: np.ndarray,
        values: np.ndarray,
        labels: np.ndarray | None,
        weights: np.ndarray | None,
        single: bool = False,
    ) -> list[Block] | None:
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
        single : bool
            Whether float32 will do.
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
        largest = int(np.max(np.diff(ends)))
        if largest > ROWS:
            return None
        group, value = np.divmod(pair, levels)
        weight = counts / float(np.sum(counts))
        single = single and SHORT <= largest <= CHEAP
        parts, K = [], self.single if single else self.kernel
        kernel = kernel.astype(K.dtype, copy=False)
        for a, b in pairwise(ends):
            g, v = group[a:b], value[a:b]
            block = kernel.take(v, axis=0).take(v, axis=1)
            all_once = len(g) == len(K) and np.array_equal(g, np.arange(len(K)))
            block *= K if all_once else K.take(g, axis=0).take(g, axis=1)
            parts.append(Block(block, weight[a:b]))
        return parts


def entropy_of(
    blocks: list[Block],
    entropy: Renyi,
    n: float,
    tol: float,
    enough: float = math.nan,
    side: Side = "both",
) -> Estimate:
    """Return the entropy of a block-diagonal matrix, to a width or better."""
    if entropy.alpha == 2 and entropy.rank is None and blocks[0].kernel.dtype == np.float64:
        return _rounded(-math.log2(sum(squared_norm(block.gram(n)) for block in blocks)))
    if entropy.rank is not None and max(len(block.weights) for block in blocks) > CHEAP:
        found = look(
            np.zeros(0), [block.gram(n) for block in blocks], n, entropy, tol, enough, side
        )
        if found is not None:
            return found
    spectrum = Spectrum(np.sort(_eigenvalues(blocks))[::-1], n)
    value = float(renyi_entropy(spectrum, entropy.alpha, entropy.rank))
    single = spectrum.values.dtype == np.float32
    pair = enclosure(spectrum) if entropy.alpha < 1 or single else None
    if pair is None:
        return _rounded(value)
    # Below order 1 null eigenvalues at rounding level weigh: the interval must say so.
    low, high = (float(renyi_entropy(end, entropy.alpha, entropy.rank)) for end in pair)
    return Estimate.within(min(low, value), value, max(high, value))


def _eigenvalues(blocks: list[Block]) -> np.ndarray:
    """Return the eigenvalues of all blocks; small ones by one call, with zeros around them."""
    sizes = [len(block.weights) for block in blocks]
    most = max(sizes)
    if len(blocks) == 1 or most > TINY:
        return np.concatenate([_arrays.eigvalsh(block.dense()) for block in blocks])
    stack = np.zeros((len(blocks), most, most), dtype=blocks[0].kernel.dtype)
    for matrix, block, m in zip(stack, blocks, sizes, strict=True):
        matrix[:m, :m] = block.dense()
    values = np.linalg.eigvalsh(stack)  # ascending: zeros come first
    return np.concatenate([row[most - m :] for row, m in zip(values, sizes, strict=True)])


def _rounded(found: float) -> Estimate:
    slack = 1e-13 * (1.0 + abs(found))
    return Estimate.within(found - slack, found, found + slack)
