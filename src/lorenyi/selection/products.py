r"""Many rows: factors of joints made of their columns' factors, and norms from pairs of rows.

No matrix of all rows is made. With :math:`\Phi_c \Phi_c' \preceq k_c` for each column, products of
columns are a factor below the joint (Schur), of which the largest are kept: :math:`G G' \preceq J`
for J of the chosen features and a candidate. So the eigenvalues :math:`\theta` of G'G lie below
those of J, and those of the rows of a class below those of its block. What is missing,
:math:`E = J - G G'`, is positive semi-definite too, hence

.. math:: \|E\|_F^2 \le \|J\|_F^2 - \sum_i \theta_i^2,

and :math:`\|J\|_F^2` is the mean of :math:`\prod_c k_c(x_i, x_j)^2` over pairs of rows, which is
bounded from some million of them (Maurer and Pontil 2009).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lorenyi import _arrays
from lorenyi._memory import fits
from lorenyi._threads import parallel
from lorenyi.data.sources import slices
from lorenyi.entropy import renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.selection.chosen import Column
from lorenyi.selection.ends import Limits
from lorenyi.spectra.bounds import enclose_sum

PAIRS = 4_000_000
FAILURE = 1e-9  # of one bound from pairs
KEPT, MADE = 4, 8  # columns that are kept of the chosen features, and made to choose from, in ranks
SEEN = (3, 8)  # columns of the factor of a joint, at first and at a closer look, in ranks
CHUNK = 2048  # rows at a time


def affordable(n: int, features: int, rank: int) -> bool:
    """Tell whether factors of all columns and of the chosen features, old and new, can be held."""
    making = 16 * 128 * n  # two columns at a time, in float64
    return fits(4 * n * (2 * KEPT * rank + 20 * features) + making + 32 * PAIRS)


class Pairs:
    """Pairs of rows drawn by their weights, and the squared kernel of the chosen features there.

    Parameters
    ----------
    weights : array
        Relative weights of the rows.
    labels : array of int
        Classes of the rows.
    seed : int
        Of the draws.
    """

    def __init__(self, weights: np.ndarray, labels: np.ndarray, seed: int) -> None:
        ends = np.cumsum(weights)
        draws = _arrays.uniform(seed, 41, PAIRS, 2) * ends[-1]
        self.rows = np.searchsorted(ends, draws).astype(np.int32)
        i, j = self.rows.T
        self.same = labels[i] == labels[j]
        self.weight = (weights[i] * weights[j]).astype(np.float64)
        self.squares = np.ones(PAIRS, dtype=np.float32)

    def square(self, A: Gram) -> np.ndarray:
        """Return the square of a column's kernel at all pairs."""
        squares = np.empty(PAIRS, dtype=np.float32)
        for cut in slices(PAIRS, 2**15):
            i, j = self.rows[cut].T
            squares[cut] = np.square(A.entries(i, j)) / self.weight[cut]
        return squares

    def join(self, A: Gram) -> None:
        """Take a column among the chosen features."""
        self.squares *= self.square(A)

    def norms(self, candidate: Gram) -> tuple[float, float]:
        """Bound |J|_F^2 from above, of the joint without and with the labels."""
        z = self.squares * self.square(candidate)
        return _upper_mean(z), _upper_mean(np.where(self.same, z, np.float32(0.0)))


def _upper_mean(z: np.ndarray) -> float:
    """Bound the mean of what these numbers between 0 and 1 are drawn from."""
    count, log = len(z), math.log(2 / FAILURE)
    mean = float(np.mean(z, dtype=np.float64))
    variance = max(float(np.mean(np.square(z), dtype=np.float64)) - mean**2, 0.0)
    variance *= count / (count - 1)
    rounding = 16 * float(np.finfo(z.dtype).eps) * mean
    return mean + math.sqrt(2 * variance * log / count) + 7 * log / (3 * (count - 1)) + rounding


@dataclass(frozen=True, eq=False)
class Ends:
    """What is known of a joint without and with the labels."""

    without: Estimate
    labelled: Estimate


class Products:
    """A factor below the joint of the chosen features, rows in the order of their classes.

    Parameters
    ----------
    first : Column
        The first chosen feature.
    labels : array of int
        Classes of the rows.
    entropy : Renyi
        The functional, with a rank.
    seed : int
        Of the pairs.
    """

    def __init__(self, first: Column, labels: np.ndarray, entropy: Renyi, seed: int) -> None:
        self.entropy, self.rank, self.n = entropy, int(entropy.rank or 1), first.gram.n
        weights = _arrays.to_numpy(first.gram.weights)
        self.order = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels))
        self.classes = [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True) if a < b]
        root = np.sqrt(weights[self.order, None]).astype(np.float32)
        self.factor = root * first.factor[self.order]
        self.values = first.values
        self.pairs = Pairs(weights, labels, seed)
        self.pairs.join(first.gram)

    def join(self, feature: Column) -> None:
        """Take a feature among the chosen ones: its products with the factor are the new one."""
        i, j, phi = self._largest(feature, MADE * self.rank)
        moments = np.sum(self._moments(i, j, phi), axis=0)
        values, Z = _arrays.eigh(moments)
        Z = np.ascontiguousarray(Z[:, ::-1][:, : KEPT * self.rank], dtype=np.float32)
        new = np.empty((len(phi), Z.shape[1]), dtype=np.float32)

        def make(rows: slice) -> None:
            new[rows] = (self.factor[rows][:, i] * phi[rows][:, j]) @ Z

        parallel(make, slices(len(phi), CHUNK))
        self.factor, self.values = new, np.maximum(values[::-1][: Z.shape[1]], 0.0)
        self.pairs.join(feature.gram)

    def measure(self, candidate: Column, closely: bool) -> Ends:
        """Bound the entropies of the joint with a candidate, without and with the labels."""
        i, j, phi = self._largest(candidate, SEEN[closely] * self.rank)
        moments = self._moments(i, j, phi)
        whole = _eigenvalues(np.sum(moments, axis=0), len(phi))
        sizes = [rows.stop - rows.start for rows in self.classes]
        parts = [_eigenvalues(part, size) for part, size in zip(moments, sizes, strict=True)]
        labelled = np.sort(np.concatenate(parts))[::-1]
        norms = self.pairs.norms(candidate.gram)
        return Ends(self._ends(whole, norms[0]), self._ends(labelled, norms[1]))

    def _largest(self, column: Column, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which columns make the largest products, and the factor of the one."""
        sizes = np.outer(self.values, column.values).ravel()
        order = np.argsort(-sizes, kind="stable")[:count]
        i, j = np.divmod(order, len(column.values))
        return i, j, column.factor[self.order]

    def _moments(self, i: np.ndarray, j: np.ndarray, phi: np.ndarray) -> list[np.ndarray]:
        """Return G'G of the rows of each class."""

        def moments(rows: slice) -> np.ndarray:
            total = np.zeros((len(i), len(i)))
            for part in slices(rows.stop - rows.start, CHUNK):
                at = slice(rows.start + part.start, rows.start + part.stop)
                G = self.factor[at][:, i] * phi[at][:, j]
                total += G.T @ G
            return total

        return parallel(moments, self.classes)

    def _ends(self, theta: np.ndarray, norm: float) -> Estimate:
        """Bound an entropy from lower bounds on eigenvalues and the norm of all of them."""
        slack = (64 + len(theta)) * float(np.finfo(np.float32).eps)
        limits = Limits(self.n, self.entropy, slack)
        high = limits.ends(theta, theta**2)[1]
        outside = math.sqrt(max(norm - float(np.sum(theta**2)) * (1 - slack), 0.0))
        error = slack * np.cumsum(theta)
        peaked, _ = enclose_sum(theta, self.n, 1.0, largest=outside, frobenius=outside, slack=error)
        low = float(renyi_entropy(peaked, self.entropy.alpha, self.entropy.rank))
        if self.entropy.alpha == 2:
            low = max(low, limits.ends(theta, theta**2, norm)[0])
        return Estimate.within(min(low, high), high, high, failure=FAILURE)


def _eigenvalues(moments: np.ndarray, most: int) -> np.ndarray:
    """Return the eigenvalues of G'G, descending; no more than there are rows."""
    return np.asarray(np.maximum(_arrays.eigvalsh(moments)[::-1], 0.0))[:most]
