r"""Features of one variable at several bandwidths, over a basis that all of them share.

A Gram has eigenvalues :math:`\lambda_j` and, for each row i, the coordinates :math:`c_{ij}` of its
feature map in the eigenvectors' basis, with :math:`\frac1n \sum_i c_{ij} c_{il} = \lambda_j
\delta_{jl}`. A test of independence asks whether the products :math:`c_{ij} c_{il}` of one variable
go with those of another. These are smooth functions of the row, so few columns U span them at all
bandwidths: the products are U R, with a small matrix R for each bandwidth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lorenyi import _arrays
from lorenyi.data.sources import slices
from lorenyi.gram import Gram, Points
from lorenyi.gram.factors import Factor
from lorenyi.kernels import Gaussian, Laplacian
from lorenyi.spectra import cholesky

BANDWIDTHS = (2.0, 1.0, 0.5, 0.25)  # multiples of the median that a test looks at
MAX_RANK = 20  # leading eigenvectors of a bandwidth; 40 had no more power at 100 rows
MAX_LEVELS = 200  # categories that are told apart; rarer ones count as one
MAX_BASIS = 128  # columns that products are reduced to
LEFT_OF_TRACE = 1e-3  # that the leading eigenvectors may leave
LEFT_OF_PRODUCTS = 1e-4  # that the basis may leave
MAX_BASIS_ROWS = 20_000  # that the basis is chosen on


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
class Basis:
    """A variable at several bandwidths: n x q centered columns, and a `Scale` for each."""

    columns: np.ndarray
    scales: tuple[Scale, ...]


def basis(A: Gram, multiples: Sequence[float]) -> Basis:
    """Return the features of a variable.

    Parameters
    ----------
    A : Gram
        Of NumPy arrays, with equal weights.
    multiples : sequence of float
        Of the bandwidth of A. One without bandwidth has the same features at each.
    """
    at = list(multiples) if has_bandwidth(A) else [1.0]
    found = [_eigenfeatures(scaled(A, m)) for m in at]
    columns, parts = _reduced(found)
    scales = [
        Scale(values, *pairs, products)
        for (values, _, pairs), products in zip(found, parts, strict=True)
    ]
    return Basis(columns, tuple(scales if len(at) > 1 else scales * len(multiples)))


def has_bandwidth(A: Gram) -> bool:
    """Tell whether any kernel of A has a bandwidth that was chosen from the data."""
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
    values, V = np.linalg.eigh(factor.F.T @ factor.F)
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


# ------------------------------------------------------------------------------- all of them


def _products(found: Sequence[_Found], rows: slice | np.ndarray) -> np.ndarray:
    """Return c_ij c_il of all bandwidths, scaled to what they weigh in the information."""
    parts = []
    for values, c, (i, j) in found:
        few = c[rows]
        twice = np.where(i == j, 1.0, np.sqrt(2.0))  # (j, l) stands for (l, j) too
        parts.append(few[:, i] * few[:, j] * (twice / np.sqrt(np.maximum(values[i], values[j]))))
    return np.hstack(parts)


def _reduced(found: Sequence[_Found]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return columns U that span the centered products, and each bandwidth's R."""
    n = len(found[0][1])
    some = np.arange(0, n, -(-n // MAX_BASIS_ROWS))
    P = _products(found, some)
    P -= P.mean(axis=0)
    energy, E = _principal(P)
    total = float(energy[energy > 0].sum())
    enough = int(np.searchsorted(np.cumsum(energy), (1.0 - LEFT_OF_PRODUCTS) * total)) + 1
    size = min(enough, MAX_BASIS, int(np.count_nonzero(energy > 1e-12 * total)))
    E = E[:, :size]
    columns = np.concatenate([_products(found, cut) @ E for cut in slices(n, 8192)])
    columns -= columns.mean(axis=0)
    parts, start = [], 0
    for values, _, (i, j) in found:
        mine = slice(start, start := start + len(i))
        parts.append(E[mine].T * np.sqrt(np.maximum(values[i], values[j])))
    return columns, parts


def _principal(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of P'P, the largest first, and the eigenvectors."""
    if len(P) < P.shape[1]:
        _, singular, Vt = np.linalg.svd(P, full_matrices=False)
        return singular**2, Vt.T
    values, V = np.linalg.eigh(P.T @ P)
    return values[::-1], V[:, ::-1]
