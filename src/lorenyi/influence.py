r"""The influence of each row on an entropy, from which its standard error follows.

An entropy is a smooth functional of the empirical distribution. With :math:`g(\lambda) = \partial S
/ \partial \lambda`, row i of weight w_i moves it by

.. math:: \frac{1}{w_i} \sum_j \lambda_j\, g(\lambda_j)\, v_{ij}^2

less the mean over rows, v_j being the eigenvectors of A. A bandwidth that was chosen from the data
moves too: its influence, times the derivative of the entropy in it, is added. The sum over the
terms of a measure, with their signs, is the measure's.

All is computed on at most `MAX_ROWS` rows. The standard error then is right to about 2 %, and costs
little beside the value itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.estimate import Influence
from lorenyi.gram import Gram, Points
from lorenyi.gram.factors import Factor, Matrix
from lorenyi.kernels import Delta, Function, Laplacian
from lorenyi.spectra import cholesky
from lorenyi.spectra.cholesky import subsample
from lorenyi.spectra.spectrum import Spectrum

MAX_ROWS = 1024  # the root of twice this many is 45: 2.2 % of the standard error
MAX_DENSE_ROWS = 512  # of a block that is decomposed, in 20 ms
MAX_COLUMNS = 256  # of the factor of a larger one
NEAR_ONE = 0.1  # order at which a constant is taken out, of which there is little elsewhere
BANDWIDTH_ROWS = 256  # for the derivative in a bandwidth, which counts for less


@dataclass(frozen=True, eq=False)
class Pilot:
    """What some rows tell of an entropy.

    Attributes
    ----------
    spectrum : Spectrum
        Eigenvalues of these rows.
    influence : array or None
        Of each row, not centered; None at order 0, which has none.
    """

    spectrum: Spectrum
    influence: np.ndarray | None


def slopes(spectrum: Spectrum, alpha: float, rank: int | None) -> np.ndarray:
    r"""Return :math:`\partial S / \partial \lambda_j`, up to one constant for all.

    With a rank, an eigenvalue beyond it counts by the mean that the rest is spread to. Below order
    1, where the smallest weigh most, those that a decomposition does not resolve count for nothing.
    """
    values = _arrays.to_numpy(spectrum.values).astype(np.float64)
    counts = np.ones(len(values)) if spectrum.counts is None else spectrum.counts
    if alpha == math.inf:
        return np.where(np.arange(len(values)) == 0, -1.0 / (values[0] * math.log(2)), 0.0)
    if alpha < 1:
        noise = max(8, len(values)) * _arrays.epsilon(values) * values[0]
        values = np.where(values > noise, values, 0.0)
    p = values
    if rank is not None and rank < len(values):
        leading = np.arange(len(values)) < rank
        rest = float(counts[rank:] @ values[rank:])  # its own sum: that of the others cancels
        p = np.where(leading, values, rest / (spectrum.n - rank))
        counts = np.where(leading, counts, (spectrum.n - rank) / (len(values) - rank))
    resolved = p > 0
    p, counts = np.where(resolved, p, 1.0), np.where(resolved, counts, 0.0)
    if alpha == 1:
        return np.where(resolved, -np.log2(p), 0.0)
    top = float(np.max(p, where=resolved, initial=0.0))
    log = np.log(p / top)
    if abs(alpha - 1) < NEAR_ONE:
        # Less a constant: nothing cancels as alpha goes to 1.
        rising = np.expm1((alpha - 1) * log) / (1 - alpha)
    else:
        rising = np.exp((alpha - 1) * log) / (1 - alpha)
    total = float(counts @ np.exp(alpha * np.where(resolved, log, 0.0)))
    return np.where(resolved, alpha / math.log(2) * rising / (top * total), 0.0)


def pilot(A: Gram, alpha: float, rank: int | None) -> Pilot:
    """Return the eigenvalues and influences of A, or of a sample of its rows."""
    part = _sampled(A)
    groups = _groups(part)
    found = [_leverage(block) for _, block in groups]
    values = np.concatenate([values for values, *_ in found])
    rest = sum(float(left.sum()) for *_, left in found)
    order = np.argsort(-values, kind="stable")
    spectrum = _with_tail(values[order], rest, len(part), A.n)
    if alpha == 0:
        return Pilot(spectrum, None)
    g = slopes(spectrum, alpha, rank)
    slope = np.empty(len(values))
    slope[order] = g[: len(values)]
    last = float(g[-1])
    influence, start = np.zeros(len(part)), 0
    weights = _arrays.to_numpy(part.weights)
    for (rows, _), (lam, leverage, left) in zip(groups, found, strict=True):
        mine = slice(start, start := start + len(lam))
        influence[rows] = (leverage @ (lam * slope[mine]) + left * last) / weights[rows]
    present = np.count_nonzero(_arrays.to_numpy(A.weights)) if A.is_weighted else len(A)
    influence += _of_bandwidths(part, alpha, rank, weights * len(part) * (A.n / present))
    return Pilot(spectrum, influence)


def as_influence(values: np.ndarray, A: Gram) -> Influence:
    """Return influences that `pilot` gives as those of the rows of A."""
    part = _sampled(A)
    weights = _arrays.to_numpy(part.weights).astype(np.float64) if part.is_weighted else None
    return Influence.of(values, (len(A), float(A.n)), weights)


def _sampled(A: Gram) -> Gram:
    """Return (a sample of) the rows that have a weight, in memory."""
    if A.is_weighted:
        there = np.flatnonzero(_arrays.to_numpy(A.weights) > 0)
        A = A.take(there[_arrays.choose(0, 11, len(there), MAX_ROWS)])
        part = subsample(A, MAX_ROWS, 0)  # scaled to the mass of all
    else:
        part = A if len(A) <= MAX_ROWS and A.in_memory else subsample(A, MAX_ROWS, 0)
    return part if _arrays.is_numpy(part.reference) else on_host(part)


def on_host(A: Gram) -> Gram:
    """Return the same Gram of NumPy arrays, with ones on its diagonal in their precision too."""
    factors = [_host_factor(factor) for factor in A.factors]
    weights = _host_array(A.weights)
    diagonal = reduce(mul, [_diagonal(factor) for factor in factors])
    return A.with_factors(factors, np.sqrt(weights / diagonal), weights)


def _host_factor(factor: Factor) -> Factor:
    """Return a factor of NumPy arrays; of a user's function, which may not know these, a matrix."""
    own = getattr(factor.kernel, "kernel", None)
    if isinstance(factor, Points) and isinstance(own, Function):
        everything = slice(0, len(factor))
        return Matrix(_host_array(factor.block(everything, everything)))
    return factor.map(_host_array)


def _host_array(x: Array) -> Array:
    if _arrays.is_sparse(x):
        return x
    x = _arrays.to_numpy(x)
    return _arrays.as_points(x) if x.dtype.kind == "f" else x


def _diagonal(factor: Factor) -> np.ndarray:
    """Return the kernel of each row with itself: one, up to the rounding of another precision."""
    if isinstance(factor, Matrix):
        return np.asarray(factor.array.diagonal())
    X = factor.source.all()
    return np.asarray(factor.kernel.pairs(X, X))


def _groups(A: Gram) -> list[tuple[np.ndarray, Gram]]:
    """Split along equality kernels: the rows of each block, and its other factors."""
    labels = [f for f in A.factors if isinstance(f, Points) and isinstance(f.kernel, Delta)]
    if not labels:
        return [(np.arange(len(A)), A)]
    codes = [_arrays.to_numpy(f.source.all()) for f in labels]
    _, group = _arrays.group_rows(codes)
    others = [f for f in A.factors if not (isinstance(f, Points) and isinstance(f.kernel, Delta))]
    rest = A.with_factors(others)
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group))[:-1])
    return [(rows, rest.take(rows)) for rows in members]


def _leverage(A: Gram) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return eigenvalues, squared eigenvectors, and what these leave of the diagonal."""
    weights = _arrays.to_numpy(A.weights).astype(np.float64)
    if not A.factors:  # all rows are equal
        total = float(weights.sum())
        return np.array([total]), weights[:, None] / total, np.zeros(len(A))
    if len(A) <= MAX_DENSE_ROWS or A.is_sparse:
        dense = np.asarray(_arrays.to_numpy(A.dense()), dtype=np.float64)
        values, vectors = np.linalg.eigh(dense)
        return np.maximum(values, 0.0), vectors**2, np.zeros(len(A))
    factor = cholesky.Factor(A)
    while factor.size < MAX_COLUMNS and factor.rest > 1e-4 * factor.A.mass:
        if not factor.grow(64):
            break
    values, W = np.linalg.eigh(factor.F.T @ factor.F)
    kept = values > 1e-12 * values[-1]
    values, W = values[kept], W[:, kept]
    vectors = factor.F @ (W / np.sqrt(values))
    return values, vectors**2, factor.diagonal


def _with_tail(values: np.ndarray, rest: float, size: int, n: float) -> Spectrum:
    """Return eigenvalues of trace one, what they leave being spread over some of the other rows."""
    total = float(values.sum()) + rest
    values, rest = values / total, rest / total
    if rest <= 1e-12 or len(values) >= size:
        return Spectrum(values, n)
    least, last = rest / (size - len(values)), float(values[-1])
    count = max(rest / math.sqrt(least * max(last, least)), 1.0)  # it falls from one to the other
    counts = np.append(np.ones(len(values)), count)
    return Spectrum(np.append(values, rest / count), max(n, counts.sum()), counts=counts)


# ------------------------------------------------------------------------------- bandwidths


def _of_bandwidths(A: Gram, alpha: float, rank: int | None, frequency: np.ndarray) -> np.ndarray:
    """Return what bandwidths chosen from the data add to the influence of each row.

    `frequency` is how often each of these rows occurs, not how many of all it stands for.
    """
    ruled = [f for f in A.factors if isinstance(f, Points) and f.has_rules]
    total = np.zeros(len(A))
    if not ruled:
        return total
    few = A.take(A.choose(0, 12, BANDWIDTH_ROWS))
    matrix = np.asarray(_arrays.to_numpy(few.dense()), dtype=np.float64)
    matrix /= float(np.trace(matrix))
    values, V = np.linalg.eigh(matrix)
    order = np.argsort(-values)
    V = V[:, order]
    spectrum = Spectrum(np.maximum(values[order], 0.0), max(A.n, len(few)), 1.0)
    response = (V * slopes(spectrum, alpha, rank)) @ V.T * matrix  # dS / dA o A
    for factor in ruled:
        X = np.asarray(_arrays.to_numpy(factor.source.all()), dtype=np.float64)
        some = np.asarray(_arrays.to_numpy(_points(few, factor, A)), dtype=np.float64)
        power = 1 if isinstance(factor.kernel, Laplacian) else 2
        start = 0
        for rule in factor.rules:
            columns = slice(start, start := start + rule.columns)
            if rule.chosen is None:
                continue
            moved = rule.chosen.influence(X[:, columns], X[:, columns], frequency)
            slope = _sensitivity(response, some[:, columns], power, moved.shape[1])
            total += moved @ slope
    return total


def _points(few: Gram, factor: Points, A: Gram) -> np.ndarray:
    """Return the few rows of a factor of A."""
    return few.factors[A.factors.index(factor)].source.all()  # type: ignore[union-attr, no-any-return]


def _sensitivity(response: np.ndarray, X: np.ndarray, power: int, separate: int) -> np.ndarray:
    """Return dS / d log sigma of the columns of scaled points: of all together, or of each.

    The kernel exp(-sum |x - y|^p / p) changes by itself times sum |x - y|^p.
    """
    found = []
    for x in X.T:
        found.append(float(np.sum(response * np.abs(x[:, None] - x[None, :]) ** power)))
    return np.array(found) if separate > 1 or len(found) == 1 else np.array([sum(found)])
