r"""Entropies as values, `H(A)`: Rényi's of any order and rank, and the collision entropy.

The computing error is matched to the sampling error. A *pilot* on some of the rows gives the
influence of each row, hence the standard error of the requested formula. Then every term is
computed until its estimated computing error is a small share of that standard error.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._progress import Progress, reporting
from lorenyi._threads import one_thread
from lorenyi.entropy import log2_ranks, renyi_entropy, require_alpha
from lorenyi.estimate import Estimate, Influence
from lorenyi.gram import Gram, gram, squared_norm
from lorenyi.influence import Pilot, as_influence, pilot
from lorenyi.pairs import PairMean, pair_mean
from lorenyi.spectra import Auto, Solver, Spectrum, enclosure, require_rank
from lorenyi.spectra.auto import COARSEST_TOL
from lorenyi.spectra.solver import Goal, require_seed, require_size

SHARE = 0.15  # computing error over standard error, where no tolerance is requested
FINEST_TOL = 1e-5  # bits: smallest default tolerance

Formula: TypeAlias = Callable[[Callable[[Gram], Any]], Any]


class Functional(ABC):
    """An entropy as a frozen value: `H(A)` is an `Estimate` in bits, or a tensor with gradient."""

    @property
    def progress(self) -> Progress:
        """How to report on long calls."""
        return None

    def __call__(self, A: Gram) -> Any:
        """Return the entropy of A."""
        A = gram(A)
        return evaluate(lambda H: H(A), self, A)

    def bits(self, A: Gram) -> float:
        """Return only the value, computed to a fine tolerance, for loops over many Grams."""
        return float(self.solved(A, self.tolerance(0.0), None))

    @abstractmethod
    def tensor(self, A: Gram) -> Array:
        """Return the value as an array of the library of A, with its gradient."""

    @abstractmethod
    def pilot(self, A: Gram) -> Pilot:
        """Return the eigenvalues and influences of a pilot."""

    @abstractmethod
    def rough(self, A: Gram, found: Pilot) -> float:
        """Return the value at the rows of a pilot."""

    @abstractmethod
    def solved(self, A: Gram, tol: float, found: Pilot | None) -> Estimate:
        """Return the value, computed to a tolerance in bits, with the influences of a pilot."""

    @property
    def largest_error(self) -> float:
        """Computing error in bits beyond which a result warns."""
        return COARSEST_TOL

    def tolerance(self, standard_error: float, slope: float = 1.0) -> float:
        """Return the tolerance in bits of each term of a formula with this standard error.

        An error of one bit in each term changes the formula by `slope`.
        """
        share = COARSEST_TOL if math.isnan(standard_error) else SHARE * standard_error
        return min(max(share, FINEST_TOL), COARSEST_TOL) / slope


def evaluate(formula: Formula, entropy: Callable[[Gram], Any], *grams: Gram) -> Any:
    """Return the value of a formula in entropies, each computed to the tolerance of the whole.

    Parameters
    ----------
    formula : callable
        A function of H, the entropy of a Gram: H(A) + H(B) - H(J), for example. It is called
        twice.
    entropy : callable
        A `Functional`, or any other function of a Gram, which is called directly.
    *grams : Gram
        The variables of the formula.
    """
    _require_functional(entropy)
    if not isinstance(entropy, Functional):
        return formula(_in_one_library(entropy, grams))
    if any(A.tracks_gradient for A in grams):
        return formula(_in_one_library(entropy.tensor, grams))
    pilots: dict[int, Pilot] = {}
    found: dict[int, Estimate] = {}

    def rough(A: Gram) -> Estimate:
        if id(A) not in pilots:
            pilots[id(A)] = entropy.pilot(A)
        seen = pilots[id(A)]
        influence = None if seen.influence is None else as_influence(seen.influence, A)
        return Estimate(entropy.rough(A, seen), influence=influence, computing_error=1.0)

    def fine(A: Gram) -> Estimate:
        if id(A) not in found:
            seen = pilots.get(id(A))  # none if the formula branched differently on a pilot's value
            found[id(A)] = entropy.solved(A, tol, entropy.pilot(A) if seen is None else seen)
            report.step()
        return found[id(A)]

    known = formula(rough)
    tol = entropy.tolerance(known.standard_error, known.computing_error or 1.0)
    with reporting(entropy.progress, len(pilots), "entropies") as report:
        value = formula(fine)
    _warn_of_error(value.computing_error, entropy.largest_error)
    return value


def _warn_of_error(error: float | None, largest: float) -> None:
    """Warn where the requested tolerance, or the coarsest, is not reached."""
    if error is not None and error > largest:
        warnings.warn(
            f"the computing error is estimated to be {error:.2g} bits; a larger order or a rank= "
            "makes it smaller, above order 1 a wider kernel or Exact() too",
            RuntimeWarning,
            stacklevel=4,
        )


def plain(entropy: Callable[[Gram], Any]) -> Callable[[Gram], Any]:
    """Return a functional that gives only values, for loops over many Grams."""
    _require_functional(entropy)
    return entropy.bits if isinstance(entropy, Functional) else entropy


def _require_functional(entropy: object) -> None:
    if isinstance(entropy, type) or not callable(entropy):
        raise TypeError(f"entropy={entropy!r}: give a functional such as Renyi(alpha=2, rank=50)")


def _in_one_library(entropy: Callable[[Gram], Any], grams: tuple[Gram, ...]) -> Any:
    """Return a functional that converts plain numbers to arrays of the Grams' library."""
    others = [A.reference for A in grams if not _arrays.is_numpy(A.reference)]

    def value(A: Gram) -> Any:
        found = entropy(A)
        if isinstance(found, Estimate) or not isinstance(found, (float, np.ndarray)):
            return found
        return _arrays.like(np.asarray(found), others[0])

    return value if others else entropy


@dataclass(frozen=True)
class Renyi(Functional):
    r"""The entropy functional :math:`S_\alpha` (`rank=None`) or :math:`S_\alpha^k` (`rank=k`).

    .. math:: S_\alpha^k(A) = \frac{1}{1-\alpha} \log_2 \Big(\sum_{i \le k} \lambda_i^\alpha
              + (n - k) \lambda_r^\alpha\Big), \quad
              \lambda_r = \frac{1}{n-k} \Big(1 - \sum_{i \le k} \lambda_i\Big)

    Only the k largest eigenvalues count, the rest is spread evenly: S^k is never below S and
    decreases to it as k grows; at fixed k it increases with n.

    Parameters
    ----------
    alpha : float
        Order, from 0 to infinity.
    rank : int, optional
        k, from 1 to n - 1; None for the classical entropy.
    solver : Solver
        How to find the eigenvalues; `Auto()` by default.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> A = lr.gram(np.linspace(0.0, 4.0, 50), lr.Gaussian(1.0))
    >>> lr.Renyi(alpha=2)(A)
    1.418 ± 0.070 bits (Gaussian(sigma=1))
    >>> lr.Renyi(alpha=2, rank=3, solver=lr.Lanczos(steps=20))(A)
    1.425 ± 0.071 bits (Gaussian(sigma=1))
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

    # ------------------------------------------------------------------ estimates

    def pilot(self, A: Gram) -> Pilot:
        """Return the eigenvalues and influences of a pilot."""
        self._require(A)
        with one_thread(A.reference):
            return pilot(A, self.alpha, self._order)

    def rough(self, A: Gram, found: Pilot) -> float:
        """Return the value at the rows of a pilot."""
        return self._bits(found.spectrum, self._order)

    def solved(self, A: Gram, tol: float, found: Pilot | None) -> Estimate:
        """Return the value, computed to a tolerance in bits, with the influences of a pilot."""
        self._require(A)
        influence = None
        if found is not None and found.influence is not None:
            influence = as_influence(found.influence, A)
        goal = Goal(self.alpha, self._order, float(tol), self._bits)
        with one_thread(A.reference):
            known = self.solver.estimate(A, goal)
            value, error = self._value_of(known), self._error(known, goal)
        if isinstance(known, PairMean) and (noise := known.noise(False)) is not None:
            influence = noise if influence is None else influence + noise
        number = float(_arrays.detach(value)) + 0.0  # never -0.0
        return Estimate(number, influence=influence, computing_error=error, about=A.names)

    def tensor(self, A: Gram) -> Array:
        """Return the value as an array of the library of A, with its gradient."""
        self._require(A)
        goal = Goal(self.alpha, self._order, FINEST_TOL, self._bits)
        with one_thread(A.reference):
            return self._value_of(self.solver.estimate(A, goal))

    @property
    def largest_error(self) -> float:
        """Requested computing error, or the coarsest; infinite where the effort is fixed."""
        return self.solver.largest_error

    def tolerance(self, standard_error: float, slope: float = 1.0) -> float:
        """Return the tolerance of each term; a tolerance given to the solver is that of the sum."""
        if self.solver.wanted_error is not None:
            return self.solver.wanted_error / slope
        return super().tolerance(standard_error, slope)

    @property
    def progress(self) -> Progress:
        """How to report on long calls: the solver's setting."""
        return self.solver.progress

    def _require(self, A: Gram) -> None:
        if self.rank is not None:
            require_rank(self.rank, A.n)

    @property
    def _order(self) -> int | None:
        """The rank that counts: the largest eigenvalue alone determines S_inf."""
        return 1 if self.alpha == math.inf else self.rank

    def _bits(self, spectrum: Spectrum, rank: int | None) -> float:
        return float(_arrays.detach(renyi_entropy(spectrum, self.alpha, rank)))

    def _value_of(self, known: Spectrum | PairMean) -> Array:
        """Return the entropy; that of Ritz values is clipped to their certified bounds."""
        if isinstance(known, PairMean):
            return known.entropy(unbiased=False)
        value = renyi_entropy(known, self.alpha, self._order)
        if known.kind != "ritz" or known.proof is None or _arrays.tracks_gradient(value):
            return value
        low, high = self._interval(known)
        return _arrays.namespace(value).clip(value, min=low, max=high)

    def _error(self, known: Spectrum | PairMean, goal: Goal) -> float | None:
        """Return the estimated computing error; None where the solver gives none."""
        if isinstance(known, PairMean):
            return 0.0
        return goal.error(known, self._order) if known.kind == "complete" else None

    # ------------------------------------------------------------------ certified bounds

    def certified(self, A: Gram) -> Estimate:
        """Return the entropy of A with bounds that contain the exact value.

        For `rank=k` they enclose S^k, for `rank=None` S. They bound the computation (its
        truncation, its randomness, its rounding), not the sampling of the data.

        Examples
        --------
        >>> import numpy as np, lorenyi as lr
        >>> A = lr.gram(np.linspace(0.0, 4.0, 500), lr.Gaussian(1.0))
        >>> H = lr.Renyi(alpha=1, solver=lr.Auto(tol=1e-3))
        >>> estimate = H.certified(A)
        >>> estimate.low <= estimate <= estimate.high, estimate.width < 1e-3
        (True, True)
        """
        A = gram(A).detached()
        self._require(A)
        found = self.pilot(A)
        influence = None if found.influence is None else as_influence(found.influence, A)
        with one_thread(A.reference):
            low, value, high, failure = self.enclosed(A)
        number = float(_arrays.detach(value)) + 0.0
        low, high = min(low, number), max(high, number)
        return Estimate(
            number,
            influence=influence,
            computing_error=max(high - number, number - low),
            bounds=(low, high),
            failure=failure,
            about=A.names,
        )

    def enclosed(self, A: Gram) -> tuple[float, Array, float, float]:
        """Return lower bound, value, upper bound, and the probability that they do not hold."""
        if self.alpha == 2 and self.rank is None:
            value = -_arrays.namespace(A.reference).log2(squared_norm(A))
            # Squared entries are off by twice their rounding, sums like a random walk.
            entries = max((block.roundoff for block in A.reduced[1]), default=0.0)
            relative = 2 * entries + 4 * len(A) ** 0.5 * _arrays.epsilon(A.reference)
            number = float(_arrays.detach(value))
            slack = relative / math.log(2) + 4 * abs(number) * _arrays.epsilon(A.reference)
            return number - slack, value, number + slack, 0.0
        spectrum = self.solver.proven(A, self.alpha, self._order, self._width)
        low, high = self._interval(spectrum)
        return low, self._value_of(spectrum), high, spectrum.failure

    def _width(self, spectrum: Spectrum) -> float:
        if self.alpha == 0:  # a count of eigenvalues: no search makes it narrower
            return 0.0
        low, high = self._interval(spectrum)
        return high - low

    def _interval(self, spectrum: Spectrum) -> tuple[float, float]:
        pair = enclosure(spectrum)
        if pair is None:
            raise ValueError(
                f"{self.solver!r} gives estimates without bounds: for certified bounds use "
                "Auto, Exact, Lanczos, BlockLanczos or PivotedCholesky"
            )
        if self.alpha == 0:
            return log2_ranks(spectrum, self.rank)
        low, high = (float(renyi_entropy(end, self.alpha, self._order)) for end in pair)
        rounded = 8 * float(np.finfo(np.float64).eps)  # of the formula itself
        low, high = low - rounded * (1 + abs(low)), high + rounded * (1 + abs(high))
        return (max(low, 0.0) if spectrum.trace == 1 else low), high


@dataclass(frozen=True)
class CollisionEntropy(Functional):
    r"""The entropy of order 2 without pairs of a row with itself.

    .. math:: -\log_2 \frac{1}{n (n - 1)} \sum_{i \ne j} k(x_i, x_j)^2

    The mean is an unbiased estimate of the population's (before the logarithm), so the value does
    not change with n as that of `Renyi(2)`, whose pairs (i, i) contribute 1/n. It is infinite if
    the kernel is zero for all pairs of different rows.

    Parameters
    ----------
    pairs : int, optional
        Minimum number of pairs to draw; by default all of up to 20,000 rows, else four million.
    seed : int
        Seed of the draws.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> x = np.linspace(0.0, 4.0, 50)
    >>> lr.entropy(x, entropy=lr.CollisionEntropy())
    1.216 ± 0.023 bits (x: Gaussian(sigma=1.224))
    """

    pairs: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        require_seed(self.seed)
        if self.pairs is not None:
            require_size("pairs", self.pairs, 1, "pairs of rows to draw")

    def pilot(self, A: Gram) -> Pilot:
        """Return the eigenvalues and influences of a pilot."""
        with one_thread(A.reference):
            return pilot(A, 2.0, None)

    def rough(self, A: Gram, found: Pilot) -> float:
        """Return the value at the rows of a pilot."""
        return float(renyi_entropy(found.spectrum, 2.0))

    def solved(self, A: Gram, tol: float, found: Pilot | None) -> Estimate:
        """Return the value; the noise of drawn pairs is part of the standard error."""
        with one_thread(A.reference):
            known = pair_mean(A, self.seed, self.pairs)
            number = float(_arrays.detach(known.entropy(unbiased=True)))
        influence: Influence | None = known.noise(unbiased=True)
        if found is not None and found.influence is not None:
            # The pilot's influence is that of the mean over all pairs. It is rescaled to the mean
            # over different rows, which lacks the n constant pairs of a row with itself.
            alike = 2.0 ** (number + math.log2(float(_arrays.detach(known.square))))
            alike *= A.n / (A.n - 1)
            rows = as_influence(found.influence, A) * alike
            influence = rows if influence is None else rows + influence
        return Estimate(number, influence=influence, computing_error=0.0, about=A.names)

    def tensor(self, A: Gram) -> Array:
        """Return the value as an array of the library of A, with its gradient."""
        return pair_mean(A, self.seed, self.pairs).entropy(unbiased=True)
