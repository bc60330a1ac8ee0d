"""A permutation test of independence, with the information at several bandwidths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from lorenyi import _arrays
from lorenyi._progress import Progress
from lorenyi._threads import one_thread
from lorenyi.estimate import Estimate
from lorenyi.functionals import plain
from lorenyi.gram import Gram, Points, gram
from lorenyi.inference.features import BANDWIDTHS, basis
from lorenyi.inference.permuting import (
    Orders,
    permute,
    require_block,
    require_level,
    require_permutations,
)
from lorenyi.inference.quadratic import Quadratic, shared_views
from lorenyi.inference.result import TestResult
from lorenyi.inference.rows import tested_rows
from lorenyi.kernels import Delta, Gaussian
from lorenyi.measures import (
    Functional,
    Variable,
    conditional_mutual_information,
    mutual_information,
    variable,
)
from lorenyi.spectra.solver import require_seed


@dataclass(frozen=True, eq=False, repr=False)
class IndependenceTest(TestResult):
    """The result of `independence_test`: see `TestResult` for statistic, p-value and the rest.

    Attributes
    ----------
    variables : tuple of Gram
        x and y, and the labels given, if any.
    """

    variables: tuple[Gram, ...]
    _title: ClassVar[str] = "test of independence"

    @cached_property
    def information(self) -> Estimate:
        """The (conditional) mutual information in bits, at the variables' own bandwidths.

        It is computed on access: all eigenvalues take longer than the test.
        """
        if len(self.variables) == 2:
            return mutual_information(*self.variables)  # type: ignore[no-any-return]
        return conditional_mutual_information(*self.variables)  # type: ignore[no-any-return]


def independence_test(
    x: Variable,
    y: Variable,
    given: Variable | None = None,
    *,
    weights: Any = None,
    bandwidths: Sequence[float] = BANDWIDTHS,
    entropy: Functional | None = None,
    permutations: int = 199,
    level: float | None = 0.05,
    block: int | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> IndependenceTest:
    """Test whether x and y are independent, or independent given labels.

    The statistic is the information of order 1 near independence (`inference.quadratic`), in
    several views: at multiples of the bandwidths, the same for x and y; at the widest for one and
    the narrowest for the other; and of the columns themselves and of their normal scores, linearly.
    At the widest bandwidth order 2 is added. Each value becomes a p-value, by a gamma distribution
    with the mean and variance of observed and permuted values together, and the statistic is the
    harmonic mean of these, as deviations of a normal variable. Integers of few values, which count
    as labels, are tested as numbers too. The level is exact: at independence P(p <= level) <=
    level, for any number of rows, ties, discrete and mixed variables. The rows of y are permuted,
    within the groups of `given`. The time is proportional to the number of rows; of more than
    200,000, a random sample is tested.

    Parameters
    ----------
    x, y : variable
        One variable or several, each.
    given : labels, optional
        A categorical variable; permutations stay within its groups. For numbers, see
        `conditional_independence_test`.
    weights : array, optional
        Frequencies of the rows: whole numbers.
    bandwidths : sequence of float
        Multiples of the bandwidths that were chosen from the data, infinity being linear. Of
        several the narrowest has a small share for both; a single one is used alone. A kernel
        with a bandwidth given as a number, such as ``gram(x, Gaussian(1.0))``, is not changed.
    entropy : callable, optional
        A functional such as `Renyi(2)`. Then the statistic is the (conditional) mutual information
        by it, in bits, at the variables' own bandwidths, computed anew for each permutation.
    permutations : int
        Number m of permutations; the smallest possible p-value is 1 / (1 + m).
    level : float, optional
        The test ends early if p <= level is out of reach, which is wrong with a probability of
        about 0.001 at most, at each of the checks after 39, 79, 159, ... permutations. A p-value at
        or below the level is always that of all permutations. For a larger level, give it here, or
        give None, which runs all permutations.
    block : int, optional
        For rows in order of time, which depend on those before: permutations move blocks of so many
        rows, longer than the memory of y. The level is then asymptotic in the length, not exact.
    seed : int
        Seed of the permutations.
    progress : bool or callable, optional
        Called with a message and the share done; by default a bar after some seconds in terminals
        and notebooks.

    Returns
    -------
    IndependenceTest

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> x = np.linspace(0.0, 1.0, 60)
    >>> found = lr.independence_test(x, np.cos(9.0 * x))
    >>> found.pvalue, found.bandwidth
    (0.005, (0.25, 0.25))
    >>> found.information
    0.288 ± 0.043 bits (x: Gaussian(sigma=0.3051), y: Gaussian(sigma=0.7269))
    """
    multiples = require_options(bandwidths, permutations, level, seed)
    named = {"x": x, "y": y} | ({} if given is None else {"given": given})
    grams = [variable(v, of_data(v, weights), name) for name, v in named.items()]
    numbers = [as_numbers(v, G, weights) for v, G in zip((x, y), grams, strict=False)]
    A, B, *C = tested_rows(grams, seed)
    groups = labels(C[0]) if C else np.zeros(len(A), dtype=np.int64)

    if block is not None and C:
        raise ValueError("block= and given=: permutations keep blocks or groups, give one of them")
    require_block(block, len(A))
    names: Sequence[tuple[float, float] | None] = [None]
    shares: Sequence[float] = [1.0]
    with one_thread():
        if entropy is not None:
            statistic = _exact(A, B, C, plain(entropy))
        else:
            integers = [None if N is None else tested_rows([N], seed)[0] for N in numbers]
            first, second = (
                basis(V, multiples, N, with_scores=len(multiples) > 1)
                for V, N in zip((A, B), integers, strict=True)
            )
            seen = shared_views(first, second, multiples)
            statistic = Quadratic(first.columns, second.columns, seen, groups)
            names, shares = statistic.names, [view.share for view in seen]
        orders = Orders(seed, groups[None], block)
        found = permute(statistic, orders, permutations, level, progress, shares)
    return IndependenceTest.of(found, names, permutations, level, len(A), variables=tuple(grams))


def _exact(
    A: Gram, B: Gram, C: list[Gram], H: Callable[[Gram], Any]
) -> Callable[[np.ndarray | None], np.ndarray]:
    """Return the mutual information of a permutation; only the joint is computed again."""
    A, BC = (A * C[0], B * C[0]) if C else (A, B)
    fixed = float(H(A)) + float(H(BC)) - (float(H(C[0])) if C else 0.0)

    def statistic(orders: np.ndarray | None) -> np.ndarray:
        permuted = [B] if orders is None else [B.take(order) for order in orders]
        return np.array([[fixed - float(H(A * each))] for each in permuted])

    return statistic


def of_data(x: Variable, weights: Any) -> Any:
    """Return the weights, where x is not a Gram that has its own."""
    return None if isinstance(x, Gram) else weights


def as_numbers(x: Variable, A: Gram, weights: Any) -> Gram | None:
    """Return integers as numbers, if their few values count as labels; otherwise None."""
    if isinstance(x, (list, tuple)) and len(x) == 1:  # one variable, as a list of them
        x = x[0]
    if isinstance(x, Gram) or not A.is_nominal or len(A.factors) > 1:
        return None
    values = _arrays.to_numpy(x) if _arrays.is_array(x) else np.asarray(x)
    if values.dtype.kind not in "iu" or values.ndim > 1 or len(np.unique(values)) < 3:
        return None
    return gram(values.astype(np.float64), Gaussian(), weights=weights)


def require_options(
    bandwidths: Sequence[float], permutations: int, level: float | None, seed: int
) -> tuple[float, ...]:
    """Return multiples of bandwidths as numbers; refuse invalid options of a test."""
    require_seed(seed)
    require_permutations(permutations)
    require_level(level)
    try:
        found = tuple(float(m) for m in bandwidths)
    except (TypeError, ValueError):
        found = ()
    if not found or not all(m > 0.0 for m in found):
        raise ValueError(
            f"bandwidths={bandwidths!r}: give positive multiples of the bandwidths, such as "
            f"{BANDWIDTHS}, inf being linear"
        )
    return found


def labels(C: Gram) -> np.ndarray:
    """Return the group of each row of a categorical Gram."""
    factors: list[Any] = list(C.factors)
    if not all(isinstance(f, Points) and isinstance(f.kernel, Delta) for f in factors):
        raise ValueError(
            f"given={C!r} must be categorical, because permutations stay within its groups: use "
            "conditional_independence_test for numbers, bin it, or pass it through "
            "gram(..., Delta())"
        )
    return _arrays.group_rows([_arrays.to_numpy(f.source.all()) for f in factors])[1]
