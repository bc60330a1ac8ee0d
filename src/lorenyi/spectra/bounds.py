r"""What is proven about a spectrum: two spectra that enclose it in the order of majorization.

A spectrum majorizes another of the same trace when its partial sums (largest first) are nowhere
smaller. Entropies fall along that order, and so do those of L_k. So if `peaked` majorizes the
true spectrum and the true one majorizes `spread`,

.. math:: S_\alpha^k(\text{peaked}) \le S_\alpha^k(A) \le S_\alpha^k(\text{spread})

for every alpha and k. Partial sums of true eigenvalues are a concave function of their number;
therefore lower bounds on them may be replaced by their concave hull, and the smaller of two
concave upper bounds is one. Bounds of diagonal blocks combine by taking all values together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import isotonic_regression

from lorenyi import _arrays
from lorenyi.data.sources import common
from lorenyi.spectra.spectrum import Kind, Spectrum

# Up to this value the rounding of entries decides when a factor is complete. Above it the bound on
# rounding far exceeds the rounding itself (a point at 10^12 bandwidths), and only widens intervals.
MAX_ROUNDOFF = 1e-5


def rounding(values: np.ndarray, relative: float) -> np.ndarray:
    """Return how far rounding can have moved the sum of the t largest, t = 1, 2, ...

    The eigenvalues found are those of a matrix that differs from A by E, |E|_F <= relative |A|_F:
    m eps for a backward stable decomposition of order m, and the rounding of the entries. Then the
    errors' root sum of squares is at most |E|_F (Hoffman and Wielandt), and the sum of t of them
    at most sqrt(t) |E|_F.
    """
    error = relative * float(np.sqrt(np.sum(values * values)))
    return np.asarray(np.sqrt(np.arange(1, len(values) + 1)) * error)


def spread_from(lower: np.ndarray, n: float, trace: float) -> Spectrum:
    """Return the most even spectrum whose partial sums are at least `lower` (t = 1, 2, ...)."""
    t = np.concatenate([[0.0], np.arange(1.0, len(lower) + 1), [float(n)]])
    height = np.concatenate([[0.0], np.clip(lower, 0.0, trace), [trace]])
    if t[-2] >= n:  # all eigenvalues are given: the last sum is the trace
        t, height = np.append(t[:-2], n), np.append(height[:-2], trace)
    # The slopes of the concave hull are the closest decreasing ones to those of the points.
    hull = isotonic_regression(np.diff(height) / np.diff(t), weights=np.diff(t), increasing=False)
    return Spectrum(hull.x[hull.blocks[:-1]], n, trace, counts=hull.weights)


def peaked_from(upper: np.ndarray, n: float, trace: float, cap: float) -> Spectrum:
    """Return a spectrum whose partial sums are at least any with these upper bounds.

    Parameters
    ----------
    upper : array
        Upper bounds on the sums of the t largest, t = 1, 2, ...: the first values of a bound
        that is concave and holds for all t, so its steps only fall after the last one given.
    n, trace : float
        Number and sum of all eigenvalues.
    cap : float
        Upper bound on each eigenvalue after those.
    """
    values = np.diff(np.minimum(upper, trace), prepend=0.0)
    values = np.minimum.accumulate(np.maximum(values, 0.0))
    rest, places = trace - float(values.sum()), float(n) - len(values)
    cap = min(cap, float(values[-1])) if len(values) else cap
    copies = float(np.floor(rest / cap)) if cap > 0 else 0.0
    if rest > 0 and copies < places:
        tail, counts = np.array([cap, rest - copies * cap]), np.array([copies, 1.0])
    else:  # nothing left, or (by rounding) more than fits below the cap
        values[0] += max(rest - cap * max(places, 0.0), 0.0)
        tail, counts = np.array([cap]), np.array([max(places, 0.0) if rest > 0 else 0.0])
    keep = counts > 0
    return Spectrum(
        np.concatenate([values, tail[keep]]),
        n,
        trace,
        counts=np.concatenate([np.ones(len(values)), counts[keep]]),
    )


def enclosure(spectrum: Spectrum) -> tuple[Spectrum, Spectrum] | None:
    """Return the proven enclosure of a spectrum: (peaked, spread), or None if there is none."""
    if spectrum.proof is not None:
        return spectrum.proof()
    if spectrum.kind != "complete":
        return None
    values = _arrays.to_numpy(spectrum.values).astype(np.float64)
    if spectrum.counts is not None:
        return spectrum, spectrum
    sums = np.cumsum(values)
    own = len(values) * _arrays.epsilon(spectrum.values)
    slack = rounding(values, own + spectrum.rounding)
    return (
        peaked_from(sums + slack, spectrum.n, spectrum.trace, float(slack[-1])),
        spread_from(sums - slack, spectrum.n, spectrum.trace),
    )


def union(parts: Sequence[Spectrum], n: float, trace: float) -> Spectrum:
    """Return the spectrum of a block diagonal matrix from those of its blocks."""
    if any(part.counts is not None and part.proof is None for part in parts):
        return _estimated(parts, n, trace)
    if len(parts) == 1 and (parts[0].n, parts[0].trace) == (n, trace):
        return parts[0]
    reference = common([part.values for part in parts])
    values = _arrays.concat([_arrays.like(part.values, reference) for part in parts])
    xp = _arrays.namespace(values)
    kinds = {part.kind for part in parts}
    kind: Kind = "sketch" if "sketch" in kinds else "ritz" if "ritz" in kinds else "complete"

    def proof() -> tuple[Spectrum, Spectrum]:
        pairs = [pair for part in parts if (pair := enclosure(part))]
        peaked, spread = zip(*pairs, strict=True)
        return together(peaked, n, trace), together(spread, n, trace)

    proven = all(part.proof is not None or part.kind == "complete" for part in parts)
    # Then the rounding of one precision is the only error.
    plain = all(part.proof is None and part.values.dtype == values.dtype for part in parts)
    return Spectrum(
        xp.sort(values, descending=True),
        n,
        trace,
        kind,
        proof=proof if proven and not plain else None,
        failure=sum(part.failure for part in parts),
        rounding=max(part.rounding for part in parts),
    )


def _estimated(parts: Sequence[Spectrum], n: float, trace: float) -> Spectrum:
    """Return the union of complete spectra with counts, and that of their alternatives."""
    kinds = max(len(part.alternatives) for part in parts)
    each = [part.alternatives or (part,) for part in parts]
    others = [together([a[min(i, len(a) - 1)] for a in each], n, trace) for i in range(kinds)]
    return replace(together(parts, n, trace), alternatives=tuple(others))


def together(parts: Sequence[Spectrum], n: float, trace: float) -> Spectrum:
    """Return the union of the values of complete NumPy spectra; the others are zero."""
    values = np.concatenate([_arrays.to_numpy(part.values) for part in parts])
    counts = [np.ones(len(part)) if part.counts is None else part.counts for part in parts]
    order = np.argsort(-values, kind="stable")
    return Spectrum(values[order], n, trace, counts=np.concatenate(counts)[order])


def enclose_sum(
    values: np.ndarray,
    n: float,
    trace: float,
    *,
    largest: float,
    frobenius: float = np.inf,
    slack: np.ndarray | float = 0.0,
) -> tuple[Spectrum, Spectrum]:
    r"""Enclose the spectrum of a PSD sum or block matrix, one part of which is known.

    For A = F + E with both positive semi-definite, and for the diagonal blocks of a positive
    semi-definite matrix, :math:`\sum_{i \le t} \lambda_i(A) \le \sum_{i \le t} \lambda_i(F) +
    \sum_{i \le t} \lambda_i(E)`; and the t largest of E sum to at most
    min(trace E, sqrt(t) |E|_F, t |E|_2).

    Parameters
    ----------
    values : array
        Eigenvalues of the known part, descending: lower bounds on those of A.
    n, trace : float
        Of A.
    largest, frobenius : float
        Bounds on the spectral and Frobenius norm of the unknown part.
    slack : array or float
        Rounding of the partial sums.
    """
    t = np.arange(1, len(values) + 1)
    sums = np.cumsum(values)
    rest = max(trace - float(sums[-1]), 0.0)
    unknown = np.minimum(np.minimum(rest, np.sqrt(t) * frobenius), t * largest)
    return (
        peaked_from(sums + unknown + slack, n, trace, min(largest, rest)),
        spread_from(sums - slack, n, trace),
    )


def meet(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the smaller of two concave upper bounds on partial sums; concave too."""
    return np.asarray(np.minimum(first, second))
