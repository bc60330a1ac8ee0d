r"""Features of one variable at several bandwidths, over a basis that all of them share.

A Gram has eigenvalues :math:`\lambda_j` and, for each row i, the coordinates :math:`c_{ij}` of its
feature map in the eigenvectors' basis, with :math:`\frac1n \sum_i c_{ij} c_{il} = \lambda_j
\delta_{jl}`. A test of independence asks whether the products :math:`c_{ij} c_{il}` of one variable
covary with those of another. These are smooth functions of the row, so few columns U span them at
all bandwidths: the products are U R, with a small matrix R for each bandwidth.

At an infinite bandwidth a Gaussian kernel compares rows by their columns alone, linearly: that part
of a variable is its columns, with indicators for categories. The normal scores of the columns, also
linearly, are a part that outliers do not dominate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
from scipy.special import ndtri
from scipy.stats import rankdata

from lorenyi import _arrays
from lorenyi.data.sources import slices
from lorenyi.gram import Gram, Points
from lorenyi.gram.factors import Factor
from lorenyi.kernels import Delta, Gaussian, Laplacian
from lorenyi.spectra import cholesky

BANDWIDTHS = (np.inf, 2.0, 1.0, 0.5, 0.25)  # multiples of the median that a test uses
WIDE = 2.0  # multiple at which integers that count as labels are numbers
MAX_RANK = 20  # leading eigenvectors of a bandwidth; 40 had no more power at 100 rows
MAX_LEVELS = 200  # categories that are distinguished; rarer ones are merged
MAX_BASIS = 128  # columns that products are reduced to
LEFT_OF_TRACE = 1e-3  # share that the leading eigenvectors may omit
LEFT_OF_PRODUCTS = 3e-3  # share that the basis may omit: the null correlates by .9997 with 1e-4's
MAX_BASIS_ROWS = 20_000  # rows that the basis is chosen on


@dataclass(frozen=True, eq=False)
class Scale:
    """A variable at one bandwidth.

    Attributes
    ----------
    values : array of r
        Leading eigenvalues.
    first, second : arrays of p
        Which two eigenvectors each product is of.
    products : array, q x p
        The products over the columns of the basis.
    """

    values: np.ndarray
    first: np.ndarray
    second: np.ndarray
    products: np.ndarray


@dataclass(frozen=True, eq=False)
class Linear:
    """The columns of a variable over those of the basis: their covariance has norm 1."""

    products: np.ndarray


Part: TypeAlias = Scale | Linear


@dataclass(frozen=True, eq=False)
class Basis:
    """A variable at several bandwidths.

    Attributes
    ----------
    columns : array, n x q
        Centered: the basis of all parts.
    parts : dict
        By multiples of the bandwidth; that of a variable without bandwidth by 1.
    is_scaled : bool
        Whether it has a bandwidth.
    numbers : Scale or None
        Of integers that count as labels: as numbers, at the multiple `WIDE`.
    scores : Linear or None
        The normal scores of the columns, if asked for.
    """

    columns: np.ndarray
    parts: dict[float, Part]
    is_scaled: bool
    numbers: Scale | None = None
    scores: Linear | None = None

    def at(self, multiple: float) -> Part:
        """Return the part at a multiple; without bandwidth, the only one."""
        return self.parts[multiple if self.is_scaled or multiple == np.inf else 1.0]


def basis(
    A: Gram, multiples: Sequence[float], numbers: Gram | None = None, with_scores: bool = False
) -> Basis:
    """Return the features of a variable.

    Parameters
    ----------
    A : Gram
        Of NumPy arrays, with equal weights.
    multiples : sequence of float
        Of the bandwidth of A.
    numbers : Gram, optional
        The integers that count as labels in A, as numbers.
    with_scores : bool
        Add the normal scores of the columns, if A has a bandwidth and infinity is a multiple.
    """
    is_scaled = has_bandwidth(A)
    at = [m for m in multiples if m < np.inf] if is_scaled else [1.0]
    found = [_eigenfeatures(scaled(A, m)) for m in at]
    if numbers is not None:
        found.append(_eigenfeatures(scaled(numbers, WIDE)))
    is_linear = np.inf in multiples and (is_scaled or A.is_nominal)
    none = np.empty((len(A), 0))
    lines = _lines(A) if is_linear else none
    scores = _lines(A, normal_scores) if is_linear and is_scaled and with_scores else none
    columns, products = _reduced(found, np.hstack([lines, scores]))
    scales = [Scale(v, *pairs, R) for (v, _, pairs), R in zip(found, products, strict=False)]
    parts: dict[float, Part] = dict(zip(at, scales, strict=False))
    linear, ranked = np.split(products[-1], [lines.shape[1]], axis=1)
    if lines.shape[1]:
        parts[np.inf] = Linear(linear)
    return Basis(
        columns,
        parts,
        is_scaled,
        None if numbers is None else scales[-1],
        Linear(ranked) if scores.shape[1] else None,
    )


def normal_scores(X: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of the ranks of each column; ties are equal."""
    return normal_quantiles(rankdata(X, axis=0))


def normal_quantiles(ranks: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of ranks in each column; NaN stays and does not count."""
    return np.asarray(ndtri((ranks - 0.5) / np.sum(~np.isnan(ranks), axis=0)))


def has_bandwidth(A: Gram) -> bool:
    """Return whether any kernel of A has a bandwidth that was chosen from the data."""
    return any(_is_scaled(factor) for factor in A.factors)


def scaled(A: Gram, multiple: float) -> Gram:
    """Return the Gram with a multiple of its bandwidths."""
    if multiple == 1.0:
        return A
    return A.changed(
        factors=[_scaled_factor(f, multiple) if _is_scaled(f) else f for f in A.factors]
    )


def _is_scaled(factor: Factor) -> bool:
    own = isinstance(factor, Points) and factor.has_rules
    return own and isinstance(factor.kernel, (Gaussian, Laplacian))


def _scaled_factor(factor: Factor, multiple: float) -> Factor:
    """Divide prepared points, which are in bandwidths, by the multiple."""
    moved: Any = factor.map(lambda X: X / multiple)
    sigma = moved.kernel.sigma
    if isinstance(sigma, tuple):
        sigma = tuple(multiple * s for s in sigma)
    else:
        sigma = multiple * sigma
    return replace(moved, kernel=replace(moved.kernel, sigma=sigma))  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------- one bandwidth

_Found = tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]


def _eigenfeatures(A: Gram) -> _Found:
    """Return leading eigenvalues, the coordinates c of each row, and which products matter."""
    if A.is_nominal:
        return _of_categories(A)
    factor = cholesky.Factor(A)
    while factor.size < 4 * MAX_RANK and factor.rest > 0.1 * LEFT_OF_TRACE * A.mass:
        if not factor.grow(16):
            break
    values, V = _arrays.eigh(factor.F.T @ factor.F)
    values, V = values[::-1], V[:, ::-1]
    enough = int(np.searchsorted(np.cumsum(values), 1.0 - LEFT_OF_TRACE)) + 1
    resolved = int(np.count_nonzero(values > 1e-10 * values[0]))
    rank = min(enough, MAX_RANK, resolved)
    c = np.sqrt(len(A)) * factor.F @ V[:, :rank]
    i, j = np.triu_indices(rank)
    return values[:rank], c, (i, j)


def _of_categories(A: Gram) -> _Found:
    """Return the shares of categories and their indicators; products of different ones are 0."""
    codes = [_arrays.to_numpy(f.source.all()) for f in A.factors if isinstance(f, Points)]
    _, level = _arrays.group_rows(codes)
    place = np.empty(level.max() + 1, dtype=np.int64)
    place[np.argsort(-np.bincount(level), kind="stable")] = np.arange(len(place))
    level = np.minimum(place[level], MAX_LEVELS - 1)
    share = np.bincount(level) / len(A)
    each = np.arange(len(share))
    return share, (level[:, None] == each).astype(np.float64), (each, each)


def _lines(A: Gram, of_numbers: Callable[[np.ndarray], np.ndarray] = np.asarray) -> np.ndarray:
    """Return the columns of a variable, centered, of a covariance of norm 1; none of a matrix."""
    columns = []
    for f in A.factors:
        if not isinstance(f, Points) or not isinstance(f.kernel, (Delta, Gaussian, Laplacian)):
            return np.empty((len(A), 0))
        if isinstance(f.kernel, Delta):
            share, indicators, _ = _of_categories(A.changed(factors=[f]))
            columns.append(indicators / np.sqrt(share))
        else:
            columns.append(of_numbers(_arrays.to_numpy(f.source.all()).reshape(len(A), -1)))
    X = np.hstack(columns)
    X = X - X.mean(axis=0)
    size = float(np.linalg.norm(_moments(X) / len(X)))
    return np.asarray(X / np.sqrt(size)) if size > 0.0 else np.empty((len(A), 0))


# ------------------------------------------------------------------------------- all of them


def _products(found: Sequence[_Found], lines: np.ndarray, rows: slice | np.ndarray) -> np.ndarray:
    """Return c_ij c_il of all bandwidths, scaled by their weight in the information."""
    parts = []
    for values, c, (i, j) in found:
        few = c[rows]
        twice = np.where(i == j, 1.0, np.sqrt(2.0))  # (j, l) counts for (l, j) too
        parts.append(few[:, i] * few[:, j] * (twice / np.sqrt(np.maximum(values[i], values[j]))))
    return np.hstack([*parts, lines[rows]])


def _reduced(found: Sequence[_Found], lines: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return columns U that span centered products and lines, and R of each of them."""
    n = len(lines)
    some = np.arange(0, n, -(-n // MAX_BASIS_ROWS))
    P = _products(found, lines, some)
    P -= P.mean(axis=0)
    E = _principal(P)
    if len(P) == n:
        columns = P @ E
    else:
        columns = np.concatenate([_products(found, lines, cut) @ E for cut in slices(n, 8192)])
        columns -= columns.mean(axis=0)
    parts, start = [], 0
    for values, _, (i, j) in found:
        mine = slice(start, start := start + len(i))
        parts.append(E[mine].T * np.sqrt(np.maximum(values[i], values[j])))
    return columns, [*parts, E[start:].T]


def _principal(P: np.ndarray) -> np.ndarray:
    """Return the leading eigenvectors of P'P, by a Cholesky factor that leaves a tenth as much."""
    moments = _moments(P)
    total = float(np.trace(moments))
    lower, order, rank, _ = scipy.linalg.lapack.dpstrf(
        moments, tol=0.1 * LEFT_OF_PRODUCTS * total / len(moments), lower=1
    )
    F = np.tril(lower)[np.argsort(order), :rank]
    energy, V = _arrays.eigh(F.T @ F)
    energy, V = energy[::-1], V[:, ::-1]
    enough = int(np.searchsorted(np.cumsum(energy), (1.0 - LEFT_OF_PRODUCTS) * total)) + 1
    size = min(enough, MAX_BASIS, int(np.count_nonzero(energy > 1e-12 * total)))
    singular = np.sqrt(energy[:size])
    U = F @ (V[:, :size] / singular)
    return np.asarray(P.T @ (U / singular) if len(P) < P.shape[1] else U)


def _moments(P: np.ndarray) -> np.ndarray:
    """Return P'P, or PP' if that is smaller, which has the same eigenvalues except zeros."""
    return np.asarray(P @ P.T if len(P) < P.shape[1] else P.T @ P)
