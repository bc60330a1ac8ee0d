r"""The information of order 1 near independence, as a sum of squares.

With the eigenvalues :math:`\lambda` of A and :math:`\mu` of B, and :math:`\Delta` the difference
between the joint state and the product of the two, in their eigenvectors' basis,

.. math:: I(A; B) \approx \frac{1}{2 \ln 2} \sum_{jl, km} L(\lambda_j \mu_k, \lambda_l \mu_m)\,
          \Delta_{jk, lm}^2, \qquad L(a, b) = \frac{\ln a - \ln b}{a - b},

and :math:`\Delta_{jk, lm}` is the covariance over the rows of the products :math:`c_{ij} c_{il}` of
x and :math:`d_{ik} d_{im}` of y. For two labels this is Pearson's chi-square over 2 n ln 2. A
permutation of the rows of y costs one product of matrices.

Pairs of eigenvectors with :math:`n \lambda_j \mu_k` well below 1 are not resolved by n rows, and
in the information they are bounded by :math:`\lambda_j \mu_k`. In the expansion they would each
count as much as the leading ones, so a share of 1 / n is added to a and b. Without it the power at
100 rows is .52 where the information has .63 (a linear relation, 60 tables), with it .62.

Of the columns themselves, at an infinite bandwidth, the sum is that of their squared covariances:
the RV coefficient over 2 ln 2, for two columns the information of a normal pair near independence.

With weights of 1 in place of L(a, b) the sum is HSIC with squared kernels, of order 2. It counts
the leading eigenvectors more, which are smooth: at a wide bandwidth it lies between the information
and the linear view.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lorenyi.inference.features import WIDE, Basis, Part, Scale

UNRESOLVED = 0.3  # of 1 / n; 0, 0.3, 1, 3 and 10 were tried
FINE = 0.1  # share of the narrowest bandwidth for both: 1 costs lines and curves .01 of power
CROSSED = 0.5  # share of each of both directions


def log_mean_weight(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return (ln a - ln b) / (a - b), and 1 / a where both are equal."""
    ratio = np.log(a / b)
    flat = np.abs(ratio) < 1e-6  # there its series, 1 / sqrt(ab), is right to 1e-13
    safe = np.where(flat, 1.0, a - b)
    return np.asarray(np.where(flat, 1.0 / np.sqrt(a * b), ratio / safe))


def weights(x: Scale, y: Scale, shift: float) -> np.ndarray:
    """Return the weight of each product of x (rows) with each of y (columns)."""
    a, b = x.values[x.first], x.values[x.second]
    c, d = y.values[y.first], y.values[y.second]

    def weight(p: np.ndarray, q: np.ndarray, r: np.ndarray, s: np.ndarray) -> np.ndarray:
        return log_mean_weight(np.outer(p, q) + shift, np.outer(r, s) + shift)

    # (j, l) with (k, m), and with (m, k), which has the same covariance.
    return np.asarray((weight(a, c, b, d) + weight(a, d, b, c)) / (4.0 * math.log(2)))


@dataclass(frozen=True, eq=False)
class View:
    """Two variables at one bandwidth each, identified by its multiples, if there is one.

    The columns of x begin at `start`, if several bases stand side by side. `share` is that of the
    view in a harmonic mean; with `is_flat` all products have the same weight.
    """

    name: tuple[float, float] | None
    x: Part
    y: Part
    start: int = 0
    share: float = 1.0
    is_flat: bool = False


def views(x: Basis, y: Basis, multiples: Sequence[float]) -> list[View]:
    """Return the views of two variables that a test uses.

    At each multiple for both; at the widest for one and the narrowest for the other, which detects
    an oscillating function; at infinity; and integers that count as labels also as numbers.
    """
    finite = [m for m in multiples if m < np.inf]
    if not (x.is_scaled or y.is_scaled):
        found = [View(None, x.at(1.0), y.at(1.0))]
    else:
        found = [View((m, m), x.at(m), y.at(m)) for m in finite]
        if np.inf in x.parts and np.inf in y.parts:
            found.append(View((np.inf, np.inf), x.at(np.inf), y.at(np.inf)))
    if x.is_scaled and y.is_scaled and len(finite) > 1:
        for a, b in ((max(finite), min(finite)), (min(finite), max(finite))):
            found.append(View((a, b), x.at(a), y.at(b)))
    if finite and (x.numbers or y.numbers):
        left, right = (v.numbers or v.at(max(finite)) for v in (x, y))
        found.append(View((WIDE, WIDE), left, right))
    return found


def shared_views(x: Basis, y: Basis, multiples: Sequence[float]) -> list[View]:
    """Return the views of a test of independence, each with its share; of one multiple, that one.

    To `views` are added order 2 at the widest bandwidth and, of two variables with bandwidths, the
    normal scores of their columns, linearly. Of such two variables the crossed views have the share
    of one view together. The narrowest for both, which detects fine patterns if there are many
    rows, has a small one: each view costs the others power, and the noisy ones with few rows.
    """
    found = views(x, y, multiples)
    finite = [m for m in multiples if m < np.inf]
    if len(multiples) == 1 or not finite or not (x.is_scaled or y.is_scaled):
        return found
    wide, narrow = max(finite), min(finite)
    if x.is_scaled and y.is_scaled and wide > narrow:
        crossed = {(wide, narrow): CROSSED, (narrow, wide): CROSSED}
        share: dict[Any, float] = crossed | {(narrow, narrow): FINE}
        found = [replace(v, share=share.get(v.name, 1.0)) for v in found]
    found.append(View((wide, wide), x.at(wide), y.at(wide), is_flat=True))
    if x.scores and y.scores:
        found.append(View((np.inf, np.inf), x.scores, y.scores))
    return found


def side_by_side(
    bases: Sequence[Basis], seen: Sequence[list[View]]
) -> tuple[np.ndarray, list[View]]:
    """Return the columns of several bases of x, and the views of each that refer to them."""
    starts = np.cumsum([0, *(each.columns.shape[1] for each in bases)])
    moved = [replace(v, start=int(at)) for at, own in zip(starts, seen, strict=False) for v in own]
    return np.hstack([each.columns for each in bases]), moved


class Quadratic:
    """The sum of squares of two variables, in each view, for any order of the second's rows.

    Given labels it is the mean over their groups, weighted by their sizes.

    Parameters
    ----------
    x, y : array, n x q and n x r
        Columns of their bases.
    views : list of View
        Which parts of these are compared.
    groups : array of n
        Group of each row; an order keeps rows within their groups.
    """

    def __init__(
        self, x: np.ndarray, y: np.ndarray, views: Sequence[View], groups: np.ndarray
    ) -> None:
        rows = np.argsort(groups, kind="stable")
        sizes = np.bincount(groups)
        self.groups: list[Any] = np.split(rows, np.cumsum(sizes)[:-1])
        if len(sizes) == 1:
            self.groups = [slice(None)]  # without copies
        self.y, self.n, self.views = y, len(groups), views
        self.columns = [x[group] for group in self.groups]
        self.columns = [part - part.mean(axis=0) for part in self.columns]
        shift = UNRESOLVED * len(sizes) / self.n
        self.weights = [_weights(view, shift) for view in views]

    @property
    def names(self) -> list[tuple[float, float] | None]:
        """The bandwidths of each view."""
        return [view.name for view in self.views]

    def __call__(self, orders: np.ndarray | None) -> np.ndarray:
        """Return the statistic in bits in each view (columns), for orders of y's rows (rows)."""
        y = self.y[None] if orders is None else self.y[orders]
        total = np.zeros((len(y), len(self.weights)))
        for x, group in zip(self.columns, self.groups, strict=True):
            total += len(x) / self.n * self._bits(x.T @ y[:, group] / len(x))
        return total

    def _bits(self, covariance: np.ndarray) -> np.ndarray:
        found = []
        for view, w in zip(self.views, self.weights, strict=True):
            x, y = view.x.products.T, view.y.products
            few = covariance[:, view.start : view.start + x.shape[1]]
            moved = x @ few @ y if len(x) < y.shape[1] else x @ (few @ y)
            moved *= moved
            found.append(np.vecdot(moved.reshape(len(moved), -1), w.ravel()))
        return np.stack(found, axis=1)


def _weights(view: View, shift: float) -> np.ndarray:
    if isinstance(view.x, Scale) and isinstance(view.y, Scale) and not view.is_flat:
        return weights(view.x, view.y, shift)
    return np.full((view.x.products.shape[1], view.y.products.shape[1]), 0.5 / math.log(2))
