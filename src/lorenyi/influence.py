r"""The influence of each row on an entropy, from which its standard error follows.

An entropy is a smooth functional of the empirical distribution. With :math:`g(\lambda) = \partial S
/ \partial \lambda`, the influence of row i of weight w_i is

.. math:: \frac{1}{w_i} \sum_j \lambda_j\, g(\lambda_j)\, v_{ij}^2

minus the mean over rows, v_j being the eigenvectors of A. A bandwidth chosen from the data depends
on the rows too: its influence, times the derivative of the entropy in it, is added. The sum over
the terms of a measure, with their signs, is the influence on the measure.

It is computed on at most `MAX_ROWS` rows. Then the standard error is accurate to about 2 %, and
costs little compared with the value itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lorenyi import _arrays
from lorenyi._threads import parallel
from lorenyi.estimate import Influence
from lorenyi.gram import Gram, Points
from lorenyi.gram.factors import Factor
from lorenyi.gram.host import on_host
from lorenyi.kernels import Delta, Laplacian
from lorenyi.spectra import cholesky
from lorenyi.spectra.cholesky import subsample
from lorenyi.spectra.spectrum import Spectrum

MAX_ROWS = 1024  # relative error of the standard error: 1 / sqrt(2 x 1024), 2.2 %
MAX_DENSE_ROWS = 512  # of a block that is decomposed, in 20 ms
MAX_COLUMNS = 256  # of the factor of a larger block
NEAR_ONE = 0.1  # distance of the order from 1 within which a constant is subtracted
BANDWIDTH_ROWS = 256  # sampled against all rows: error of the bandwidth's derivative 1 %


@dataclass(frozen=True, eq=False)
class Pilot:
    """Eigenvalues and influences of some rows.

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

    With a rank, an eigenvalue beyond it counts through the mean of the rest. Below order 1, where
    the smallest weigh most, eigenvalues that a decomposition does not resolve are ignored.
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
        rest = float(counts[rank:] @ values[rank:])  # summed directly, which avoids cancellation
        p = np.where(leading, values, rest / (spectrum.n - rank))
        counts = np.where(leading, counts, (spectrum.n - rank) / (len(values) - rank))
    resolved = p > 0
    p, counts = np.where(resolved, p, 1.0), np.where(resolved, counts, 0.0)
    if alpha == 1:
        return np.where(resolved, -np.log2(p), 0.0)
    top = float(np.max(p, where=resolved, initial=0.0))
    log = np.log(p / top)
    if abs(alpha - 1) < NEAR_ONE:
        # Minus a constant: avoids cancellation as alpha goes to 1.
        rising = np.expm1((alpha - 1) * log) / (1 - alpha)
    else:
        rising = np.exp((alpha - 1) * log) / (1 - alpha)
    total = float(counts @ np.exp(alpha * np.where(resolved, log, 0.0)))
    return np.where(resolved, alpha / math.log(2) * rising / (top * total), 0.0)


class Block(NamedTuple):
    """Rows of one label: their Gram without labels, its eigenvalues and vectors, and the rest.

    `left` is the diagonal that these eigenvalues do not account for.
    """

    rows: np.ndarray
    gram: Gram
    values: np.ndarray
    vectors: np.ndarray
    left: np.ndarray


def pilot(A: Gram, alpha: float, rank: int | None) -> Pilot:
    """Return the eigenvalues and influences of A, or of a sample of its rows."""
    part = _sampled(A)
    groups = _groups(part)
    grams = [block for _, block in groups]
    found = parallel(_decomposed, grams) if len(grams) > 1 else [_decomposed(grams[0])]
    blocks = [Block(*group, *each) for group, each in zip(groups, found, strict=True)]
    values = np.concatenate([block.values for block in blocks])
    rest = sum(float(block.left.sum()) for block in blocks)
    order = np.argsort(-values, kind="stable")
    spectrum = _with_tail(values[order], rest, len(part), A.n)
    if alpha == 0:
        return Pilot(spectrum, None)
    g = slopes(spectrum, alpha, rank)
    ordered = np.empty(len(values))
    ordered[order] = g[: len(values)]
    each = np.split(ordered, np.cumsum([len(block.values) for block in blocks])[:-1])
    last = float(g[-1])
    influence = np.zeros(len(part))
    weights = _arrays.to_numpy(part.weights)
    for block, slope in zip(blocks, each, strict=True):
        moved = block.vectors**2 @ (block.values * slope) + block.left * last
        influence[block.rows] = moved / weights[block.rows]
    present = np.count_nonzero(_arrays.to_numpy(A.weights)) if A.is_weighted else len(A)
    frequency = weights * len(part) * (A.n / present)
    beyond = [slope - last for slope in each]  # outside all vectors the last one applies
    influence += _of_bandwidths(part, blocks, beyond, frequency)
    return Pilot(spectrum, influence)


def as_influence(values: np.ndarray, A: Gram) -> Influence:
    """Return the influences of `pilot` as those of the rows of A."""
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
        part = A.collected() if len(A) <= MAX_ROWS and A.in_memory else subsample(A, MAX_ROWS, 0)
    return on_host(part)


def _groups(A: Gram) -> list[tuple[np.ndarray, Gram]]:
    """Split along equality kernels: the rows of each block, and its other factors."""
    labels = [f for f in A.factors if isinstance(f, Points) and isinstance(f.kernel, Delta)]
    if not labels:
        return [(np.arange(len(A)), A)]
    codes = [_arrays.to_numpy(f.source.all()) for f in labels]
    _, group = _arrays.group_rows(codes)
    rest = A.changed(factors=_without_labels(A))
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group))[:-1])
    return [(rows, rest.take(rows)) for rows in members]


def _without_labels(A: Gram) -> list[Factor]:
    return [f for f in A.factors if not (isinstance(f, Points) and isinstance(f.kernel, Delta))]


def _decomposed(A: Gram) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return eigenvalues, eigenvectors, and the diagonal that they do not account for."""
    weights = _arrays.to_numpy(A.weights).astype(np.float64)
    if not A.factors:  # all rows are equal
        total = float(weights.sum())
        return np.array([total]), np.sqrt(weights[:, None] / total), np.zeros(len(A))
    if len(A) <= MAX_DENSE_ROWS or A.is_sparse:
        dense = np.asarray(_arrays.to_numpy(A.dense()), dtype=np.float64)
        values, vectors = _arrays.eigh(dense)
        return np.maximum(values, 0.0), vectors, np.zeros(len(A))
    factor = cholesky.Factor(A)
    while factor.size < MAX_COLUMNS and factor.rest > 1e-4 * factor.A.mass:
        if not factor.grow(64):
            break
    values, W = _arrays.eigh(factor.F.T @ factor.F)
    kept = values > 1e-12 * values[-1]
    values, W = values[kept], W[:, kept]
    return values, factor.F @ (W / np.sqrt(values)), factor.diagonal


def _with_tail(values: np.ndarray, rest: float, size: int, n: float) -> Spectrum:
    """Return eigenvalues of trace one, with the rest spread over some of the other rows."""
    total = float(values.sum()) + rest
    values, rest = values / total, rest / total
    if rest <= 1e-12 or len(values) >= size:
        return Spectrum(values, n)
    least, last = rest / (size - len(values)), float(values[-1])
    count = max(rest / math.sqrt(least * max(last, least)), 1.0)  # as if decaying between the two
    counts = np.append(np.ones(len(values)), count)
    return Spectrum(np.append(values, rest / count), max(n, counts.sum()), counts=counts)


# ------------------------------------------------------------------------------- bandwidths


def _of_bandwidths(
    A: Gram, blocks: list[Block], slopes: list[np.ndarray], frequency: np.ndarray
) -> np.ndarray:
    """Return the part of each row's influence that is due to bandwidths chosen from the data.

    `frequency` is how often each of these rows occurs, not how many rows of the data it represents.
    """
    total = np.zeros(len(A))
    ruled = [(i, f) for i, f in enumerate(_without_labels(A)) if isinstance(f, Points)]
    ruled = [(i, f) for i, f in ruled if f.has_rules]
    if not ruled:
        return total
    share = BANDWIDTH_ROWS / len(A) if len(A) > MAX_DENSE_ROWS else 1.0
    pairs = zip(blocks, slopes, strict=True)
    responses = [_response(block, slope, share) for block, slope in pairs if len(block.rows) > 1]
    for place, factor in ruled:
        X = np.asarray(_arrays.to_numpy(factor.source.all()), dtype=np.float64)
        start = 0
        for rule in factor.rules:
            columns = slice(start, start := start + rule.columns)
            if rule.chosen is None:
                continue
            moved = rule.chosen.influence(X[:, columns], X[:, columns], frequency)
            for response in responses:
                total += moved @ response.slopes(place, columns, moved.shape[1])
    return total


class Response(NamedTuple):
    """The derivative of an entropy in the logarithm of each entry between some rows and all."""

    some: np.ndarray
    gram: Gram
    matrix: np.ndarray

    def slopes(self, place: int, columns: slice, separate: int) -> np.ndarray:
        """Return dS / d log sigma of columns of scaled points: of all together, or of each.

        The kernel exp(-sum |x - y|^p / p) changes by itself times sum |x - y|^p.
        """
        factor = self.gram.factors[place]
        assert isinstance(factor, Points)
        power = 1 if isinstance(factor.kernel, Laplacian) else 2
        X = np.asarray(_arrays.to_numpy(factor.source.all()), dtype=np.float64)
        if separate == 1 and columns == slice(0, X.shape[1]):
            kernel = np.asarray(_arrays.to_numpy(factor.block(self.some, slice(0, len(X)))))
            log = np.log(kernel, out=np.zeros(kernel.shape), where=kernel > 0)
            return np.array([-power * float(np.sum(self.matrix * log))])
        with np.errstate(over="ignore", invalid="ignore"):  # far apart the kernel is zero
            terms = [self.matrix * np.abs(x[self.some, None] - x) ** power for x in X[:, columns].T]
        found = [float(np.sum(term, where=self.matrix != 0)) for term in terms]
        return np.array(found) if separate > 1 else np.array([sum(found)])


def _response(block: Block, slope: np.ndarray, share: float) -> Response:
    """Return (V g V') o A between a sample of the rows, scaled to all, and all."""
    n = len(block.rows)
    some = block.gram.choose(0, 12, max(math.ceil(share * n), 1))
    V = block.vectors
    entries = block.gram.block(some, slice(0, n))
    entries = entries.toarray() if _arrays.is_sparse(entries) else _arrays.to_numpy(entries)
    matrix = (V[some] * slope) @ V.T * entries * (n / len(some))
    matrix[np.arange(len(some)), some] = 0.0  # no distance
    return Response(some, block.gram, matrix)
