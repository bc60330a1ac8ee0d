r"""From eigenvalues to bits: Rényi's entropy of a spectrum.

.. math:: S_\alpha = \frac{1}{1 - \alpha} \log_2 \sum_i \lambda_i^\alpha
"""

from __future__ import annotations

import math

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.spectra import Spectrum, require_rank

_NEAR_ONE = 0.1


def require_alpha(alpha: float) -> None:
    """Refuse an order that is not a number from 0 to infinity."""
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float, np.number)) or not alpha >= 0:
        raise ValueError(f"alpha={alpha!r}: the order must be a number from 0 to infinity")


def information_potential(spectrum: Spectrum, alpha: float, rank: int | None = None) -> Array:
    r"""Return the information potential :math:`\sum_i \lambda_i^\alpha = 2^{(1-\alpha) S_\alpha}`.

    Parameters
    ----------
    spectrum : Spectrum
        Of any trace; complete, or with a rank.
    alpha : float
        Order, positive and finite.
    rank : int, optional
        Of L_k of the spectrum instead.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> float(lr.information_potential(lr.Spectrum(np.array([0.5, 0.25, 0.25])), alpha=2))
    0.375
    """
    require_alpha(alpha)
    if not 0 < alpha < math.inf:
        raise ValueError(f"alpha={alpha!r}: the information potential needs 0 < alpha < inf")
    spectrum = spectrum if rank is None else spectrum.low_rank(rank)
    if spectrum.kind != "complete":
        raise ValueError("the information potential of a truncated spectrum needs rank=k")
    values, counts, zero = _masked(spectrum, alpha)
    return _arrays.namespace(values).sum(_unless(zero, counts * values**alpha))


def renyi_entropy(spectrum: Spectrum, alpha: float = 1.0, rank: int | None = None) -> Array:
    r"""Return Rényi's entropy of a spectrum, in bits.

    .. math:: S_\alpha = \frac{1}{1-\alpha} \log_2 \sum_i \lambda_i^\alpha, \quad
              S_1 = -\sum_i \lambda_i \log_2 \lambda_i, \quad
              S_0 = \log_2 \mathrm{rank}, \quad S_\infty = -\log_2 \lambda_1

    and :math:`S_\alpha^k = S_\alpha(L_k)` with a rank. For a trace p other than 1,
    :math:`S_\alpha(pA) = S_\alpha(A) + \frac{\alpha}{1-\alpha} \log_2 p`, which has no value at 1.

    Parameters
    ----------
    spectrum : Spectrum
        Eigenvalues; if truncated, and without a rank, the value is the middle of its bracket.
    alpha : float
        Order, from 0 to infinity; 0, 1 and infinity are exact, and there is no cancellation near 1.
    rank : int, optional
        The k of the low-rank entropy.

    Returns
    -------
    0-d array of the spectrum's library

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> float(lr.renyi_entropy(lr.Spectrum(np.array([0.5, 0.25, 0.25])), alpha=1))
    1.5
    """
    require_alpha(alpha)
    if spectrum.kind == "sketch" and rank is None:
        raise ValueError("projected eigenvalues give no bounds: rank=None needs Exact or Lanczos")
    if alpha == 0:
        return _log2_rank(spectrum, rank)
    if rank is not None:
        return _entropy(spectrum.low_rank(rank), alpha)
    peaked, spread = spectrum.bracket()
    if peaked is spread:
        return _entropy(spread, alpha)
    return 0.5 * (_entropy(peaked, alpha) + _entropy(spread, alpha))


def _entropy(spectrum: Spectrum, alpha: float) -> Array:
    """Entropy of a complete spectrum (or of each row of a stack), alpha > 0."""
    values, counts, zero = _masked(spectrum, alpha)
    xp = _arrays.namespace(values)
    if alpha == math.inf:
        return -xp.log2(xp.max(spectrum.values, axis=-1))  # `values` has 1 for 0
    p, shift = values, 0.0
    if spectrum.trace != 1.0:
        p = values / spectrum.trace
        if alpha == 1:
            raise ValueError(
                f"alpha=1 with trace {spectrum.trace:g}: S(pA) diverges at 1; scale it to trace 1"
            )
        shift = alpha / (1 - alpha) * math.log2(spectrum.trace)
    log = _unless(zero, xp.log(p))  # so that zeros add nothing to either sum below
    if alpha == 1:
        return -xp.sum(counts * p * log, axis=-1) / math.log(2)
    if abs(alpha - 1) < _NEAR_ONE:
        # sum p^alpha = 1 + sum p (p^(alpha-1) - 1): no cancellation as alpha goes to 1.
        excess = xp.sum(counts * p * xp.expm1((alpha - 1) * log), axis=-1)
        bits = xp.log1p(excess) / ((1 - alpha) * math.log(2))
        return bits + shift if shift else bits
    top = xp.max(_unless(zero, _arrays.detach(log), -math.inf), axis=-1, keepdims=True)
    below = _unless(zero, log - top)  # at zeros log is 0, and exp(-alpha top) may overflow
    total = xp.sum(_unless(zero, counts * xp.exp(alpha * below)), axis=-1)
    return (alpha * top[..., 0] + xp.log(total)) / ((1 - alpha) * math.log(2)) + shift


def _unless(zero: Array | None, values: Array, instead: float = 0.0) -> Array:
    """Return values, and another number where the zeros were (None: nowhere)."""
    return values if zero is None else _arrays.namespace(values).where(zero, instead, values)


def _masked(spectrum: Spectrum, alpha: float) -> tuple[Array, Array, Array | None]:
    """Return values with zeros replaced by 1, counts, and where the zeros were (None: nowhere).

    For alpha < 1 small values weigh most, and the derivative at 0 is infinite. So values that a
    decomposition cannot resolve are zero, and values beyond the numerical rank are constants.
    """
    values = spectrum.values
    xp = _arrays.namespace(values)
    if alpha < 1 and _arrays.tracks_gradient(values):
        small = values <= spectrum.unresolved
        values = xp.where(small, _arrays.detach(values), values)
    floor = spectrum.floor if alpha < 1 and spectrum.counts is None else 0.0
    counts = 1.0 if spectrum.counts is None else spectrum.counts
    least = _arrays.to_numpy(values).min()
    if least > 0.0 and least >= floor:
        return values, counts, None
    zero = values < floor if floor else values <= 0.0
    return xp.where(zero, 1.0, values), counts, zero


def _log2_rank(spectrum: Spectrum, rank: int | None) -> Array:
    number = _log2_count(spectrum, rank, spectrum.unresolved)
    return _arrays.like(np.asarray(number), spectrum.values)


def log2_ranks(spectrum: Spectrum, rank: int | None) -> tuple[float, float]:
    """Return the smallest and the largest S_0: eigenvalues above rounding, and all of them.

    Where the trace is reached, tiny eigenvalues may still be missing.
    """
    values = _arrays.to_numpy(spectrum.values).astype(np.float64)
    relative = len(values) * _arrays.epsilon(spectrum.values) + spectrum.rounding
    doubt = relative * float(np.linalg.norm(values))
    most = math.log2(spectrum.n) if spectrum.proof else _log2_count(spectrum, rank, -1.0)
    return _log2_count(spectrum, rank, doubt), most


def _log2_count(spectrum: Spectrum, rank: int | None, above: float) -> float:
    """Return log2 of how many eigenvalues are larger than a number; with a rank, of L_k."""
    if spectrum.kind != "complete":
        raise ValueError("alpha=0 counts the nonzero eigenvalues and needs all: use solver=Exact()")
    values = _arrays.to_numpy(spectrum.values)
    counts = 1.0 if spectrum.counts is None else _arrays.to_numpy(spectrum.counts)
    number = float(np.sum(counts * (values > above)))
    if rank is not None:
        require_rank(rank, spectrum.n)
        number = float(spectrum.n) if number > rank else number
    return math.log2(max(number, 1.0))
