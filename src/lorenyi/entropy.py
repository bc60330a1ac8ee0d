r"""From eigenvalues to bits: Rényi's entropy of a spectrum, and the functional `Renyi`.

.. math:: S_\alpha = \frac{1}{1 - \alpha} \log_2 \sum_i \lambda_i^\alpha
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._threads import one_thread
from lorenyi.estimate import Bits, Estimate
from lorenyi.gram import Gram, gram
from lorenyi.spectra import Auto, Solver, Spectrum, enclosure, require_rank

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
        Order, from 0 to infinity; 0, 1 and infinity are exact, and nothing cancels near 1.
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
    log = _unless(zero, xp.log(p))  # so zeros add nothing to either sum below
    if alpha == 1:
        return -xp.sum(counts * p * log, axis=-1) / math.log(2)
    if abs(alpha - 1) < _NEAR_ONE:
        # sum p^alpha = 1 + sum p (p^(alpha-1) - 1): nothing cancels as alpha goes to 1.
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

    For alpha < 1 small values weigh most, and the derivative at 0 is infinite: what a
    decomposition cannot resolve is zero, and below the numerical rank values are constants.
    """
    values = spectrum.values
    xp = _arrays.namespace(values)
    if alpha < 1 and _arrays.tracks_gradient(values):
        small = values <= _rounding(spectrum)
        values = xp.where(small, _arrays.detach(values), values)
    unresolved = 0.0
    if alpha < 1 and spectrum.counts is None and len(spectrum):
        unresolved = 8 * _arrays.epsilon(values) * float(_arrays.detach(values[0]))
    counts = 1.0 if spectrum.counts is None else spectrum.counts
    if _arrays.to_numpy(values).min() > unresolved:
        return values, counts, None
    zero = values <= unresolved
    return xp.where(zero, 1.0, values), counts, zero


def _rounding(spectrum: Spectrum) -> float:
    """Size below which an eigenvalue counts as zero: n eps lambda_1, and rounding of entries."""
    largest = float(_arrays.detach(spectrum.values[0])) if len(spectrum) else 0.0
    size = len(spectrum) if spectrum.counts is None else spectrum.n
    return (float(size) * _arrays.epsilon(spectrum.values) + spectrum.rounding) * largest


def _log2_rank(spectrum: Spectrum, rank: int | None) -> Array:
    number = _log2_count(spectrum, rank, _rounding(spectrum))
    return _arrays.like(np.asarray(number), spectrum.values)


def _log2_ranks(spectrum: Spectrum, rank: int | None) -> tuple[float, float]:
    """Return the least and the largest S_0: of what rounding leaves no doubt of, and of all.

    What was found until the trace was used up may be all but some that are tiny.
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


@dataclass(frozen=True)
class Renyi:
    r"""The entropy functional :math:`S_\alpha` (`rank=None`) or :math:`S_\alpha^k` (`rank=k`).

    .. math:: S_\alpha^k(A) = \frac{1}{1-\alpha} \log_2 \Big(\sum_{i \le k} \lambda_i^\alpha
              + (n - k) \lambda_r^\alpha\Big), \quad
              \lambda_r = \frac{1}{n-k} \Big(1 - \sum_{i \le k} \lambda_i\Big)

    Only the k largest eigenvalues count, the rest is spread evenly: S^k is never below S and
    falls to it as k grows; at fixed k it drifts upward with n.

    Parameters
    ----------
    alpha : float
        Order, from 0 to infinity.
    rank : int, optional
        k, from 1 to n - 1; None for the classical entropy.
    solver : Solver
        How to find the eigenvalues; `Auto()` by default. At alpha = 2 without a rank none is needed
        (:math:`S_2 = -\log_2 \|A\|_F^2`); at infinity one eigenvalue is needed.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.linspace(0.0, 4.0, 50), lr.Gaussian(1.0))
    >>> lr.Renyi(alpha=2)(A)
    1.41776 bits (Gaussian(sigma=1))
    >>> lr.Renyi(alpha=2, rank=3, solver=lr.Lanczos(steps=20))(A)
    1.42451 bits (Gaussian(sigma=1))
    """

    alpha: float = 1.0
    rank: int | None = None
    solver: Solver = Auto()

    def __post_init__(self) -> None:
        require_alpha(self.alpha)
        integer = isinstance(self.rank, (int, np.integer)) and not isinstance(self.rank, bool)
        if self.rank is not None and (not integer or self.rank < 1):
            raise ValueError(f"rank={self.rank!r}: it must be an integer of at least 1, or None")
        if not isinstance(self.solver, Solver):
            raise TypeError(f"solver={self.solver!r}: it must be a solver such as Exact()")

    def __call__(self, A: Gram) -> Any:
        """Return the entropy of A in bits: `Bits` for NumPy, else a 0-d array of A's library."""
        A = gram(A)
        with one_thread(A.reference):
            value = self._shortcut(A)
            if value is None:
                value = self._value(self._spectrum(A))
        if _arrays.is_numpy(A.reference):
            return Bits(float(value) + 0.0, A.names)  # never -0.0
        return value

    def each(self, *grams: Gram) -> list[Any]:
        """Return the entropies of several Grams, small ones decomposed together where it pays.

        Examples
        --------
        >>> import numpy as np, lorenyi as lr
        >>> A = lr.gram(np.linspace(0.0, 4.0, 50), lr.Gaussian(1.0))
        >>> lr.Renyi(alpha=2).each(A, A * A)
        [1.41776 bits (Gaussian(sigma=1)), 1.85144 bits (Gaussian(sigma=1), Gaussian(sigma=1))]
        """
        spectrum = None
        if self.rank is not None and 1 <= self.alpha < math.inf:
            for A in grams:
                require_rank(self.rank, A.n)
            spectrum = self.solver.together(grams, self.rank)
        if spectrum is None:
            return [self(A) for A in grams]
        values = renyi_entropy(spectrum, self.alpha, self.rank)
        values = list(_arrays.namespace(values).unstack(values))
        if _arrays.is_numpy(grams[0].reference):
            return [Bits(float(v) + 0.0, A.names) for v, A in zip(values, grams, strict=True)]
        return values

    def certified(self, A: Gram) -> Estimate:
        """Return the entropy of A with an interval that contains the exact value.

        For `rank=k` it encloses S^k, for `rank=None` S. The interval bounds the computation (its
        truncation, its randomness, its rounding), not the sampling of the data.

        Examples
        --------
        >>> import numpy as np, lorenyi as lr
        >>> A = lr.gram(np.linspace(0.0, 4.0, 500), lr.Gaussian(1.0))
        >>> H = lr.Renyi(alpha=1, solver=lr.Auto(tol=1e-3))
        >>> estimate = H.certified(A)
        >>> float(estimate) == H(A), estimate.width < 1e-3
        (True, True)
        """
        A = gram(A).detached()
        with one_thread(A.reference):
            low, value, high, failure = self._enclosed(A)
        number = float(_arrays.detach(value))
        low, high = min(low, number), max(high, number)
        return Estimate(low, number, high, failure=failure, about=A.names)

    def _enclosed(self, A: Gram) -> tuple[float, Array, float, float]:
        """Return lower end, value, upper end, and the probability that they do not hold."""
        value = self._shortcut(A)
        if value is not None:
            # Squared entries are off by twice their rounding, sums like a random walk.
            entries = max((block.roundoff for block in A.reduced[1]), default=0.0)
            relative = 2 * entries + 4 * len(A) ** 0.5 * _arrays.epsilon(A.reference)
            number = float(_arrays.detach(value))
            slack = relative / math.log(2) + 4 * abs(number) * _arrays.epsilon(A.reference)
            return number - slack, value, number + slack, 0.0
        spectrum = self._spectrum(A)
        low, high = self._interval(spectrum)
        return low, self._value(spectrum), high, spectrum.failure

    def _shortcut(self, A: Gram) -> Array | None:
        """S_2 without a rank needs no eigenvalues: -log2 |A|_F^2."""
        if self.alpha == 2 and self.rank is None:
            return -_arrays.namespace(A.reference).log2(A.squared_norm())
        return None

    def _order(self) -> int | None:
        """The rank that counts: the largest eigenvalue alone determines S_inf."""
        return 1 if self.alpha == math.inf else self.rank

    def _spectrum(self, A: Gram) -> Spectrum:
        if self.rank is not None:
            require_rank(self.rank, A.n)
        return self.solver(A, self._order(), self._width)

    def _width(self, spectrum: Spectrum) -> float:
        if self.alpha == 0:  # counts what is there: no search makes it narrower
            return 0.0
        low, high = self._interval(spectrum)
        return high - low

    def _value(self, spectrum: Spectrum) -> Array:
        """The value: from the leading eigenvalues, kept within what is proven."""
        value = renyi_entropy(spectrum, self.alpha, self._order())
        if spectrum.kind != "ritz" or spectrum.proof is None or _arrays.tracks_gradient(value):
            return value
        low, high = self._interval(spectrum)
        return _arrays.namespace(value).clip(value, min=low, max=high)

    def _interval(self, spectrum: Spectrum) -> tuple[float, float]:
        pair = enclosure(spectrum)
        if pair is None:
            raise ValueError(
                f"{self.solver!r} gives estimates without bounds: for a certified interval use "
                "Auto, Exact, Lanczos, BlockLanczos or PivotedCholesky"
            )
        if self.alpha == 0:
            return _log2_ranks(spectrum, self.rank)
        low, high = (float(renyi_entropy(end, self.alpha, self._order())) for end in pair)
        rounded = 8 * float(np.finfo(np.float64).eps)  # of the formula itself
        low, high = low - rounded * (1 + abs(low)), high + rounded * (1 + abs(high))
        return (max(low, 0.0) if spectrum.trace == 1 else low), high
