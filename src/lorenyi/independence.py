"""A permutation test of (conditional) independence with the mutual information as its statistic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from lorenyi import _arrays
from lorenyi._threads import parallel
from lorenyi.functionals import Renyi, plain
from lorenyi.gram import Gram, Points
from lorenyi.kernels import Delta
from lorenyi.measures import Functional, Variable, variable
from lorenyi.spectra.solver import require_seed

_TIE = 1e-9  # bits: permutations that only rename equal rows must count as equal


@dataclass(frozen=True)
class IndependenceTest:
    """The result of `independence_test`.

    Attributes
    ----------
    statistic : float
        The (conditional) mutual information, in bits.
    pvalue : float
        (1 + b) / (1 + m), with b of m permutations at or above the statistic.
    null : array
        The statistic of each permutation.
    """

    statistic: float
    pvalue: float
    null: np.ndarray

    def __repr__(self) -> str:
        """Show the three numbers that matter."""
        return (
            f"IndependenceTest(statistic={float(self.statistic):.4g} bits, "
            f"pvalue={self.pvalue:.3g}, permutations={len(self.null)})"
        )


def independence_test(
    x: Variable,
    y: Variable,
    given: Variable | None = None,
    *,
    entropy: Functional = Renyi(),
    permutations: int = 199,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> IndependenceTest:
    """Test whether x and y are independent, or independent given labels.

    The rows of y are permuted (within the groups of `given`), which changes only the joint
    entropy: the others are computed once. Permutations run on all cores.

    Parameters
    ----------
    x, y : variable
        One variable or several, each.
    given : labels, optional
        A nominal variable; permutations stay within its groups.
    entropy : callable
        The functional.
    permutations : int
        Number m of permutations; the smallest possible p-value is 1 / (1 + m).
    seed : int
        Seed of the permutations.
    progress : callable, optional
        Called with a message and the share done.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> x = np.linspace(0.0, 1.0, 60)
    >>> lr.independence_test(x, np.cos(9.0 * x), permutations=99).pvalue
    0.01
    """
    require_seed(seed)
    integer = isinstance(permutations, Integral) and not isinstance(permutations, bool)
    if not integer or permutations < 1:
        raise ValueError(f"permutations={permutations!r}: it must be an integer of at least 1")
    entropy = plain(entropy)
    A, B = variable(x, name="x"), variable(y, name="y")
    groups = np.zeros(len(B), dtype=np.int64)
    C = None
    if given is not None:
        C = variable(given, name="given")
        groups = _labels(C)
        A = A * C
    for G in (A, B):
        if not np.allclose(_arrays.to_numpy(G.weights), 1.0 / len(G), rtol=1e-5):
            raise ValueError("independence_test permutes rows: repeat them instead of weights=")
    fixed = float(entropy(A)) + float(entropy(B if C is None else B * C))
    fixed -= 0.0 if C is None else float(entropy(C))
    statistic = fixed - float(entropy(A * B))
    done: list[int] = []

    def permuted(number: int) -> float:
        value = fixed - float(entropy(A * B.take(_arrays.permutation(seed, number, groups))))
        done.append(number)
        if progress is not None:
            progress(f"permutation {len(done)} of {permutations}", len(done) / permutations)
        return value

    null = np.array(parallel(permuted, range(permutations)))
    above = int(np.sum(null >= statistic - _TIE))
    return IndependenceTest(statistic, (1 + above) / (1 + permutations), null)


def _labels(C: Gram) -> np.ndarray:
    """Return the group of each row of a nominal Gram."""
    factors: list[Any] = list(C.factors)
    if not all(isinstance(f, Points) and isinstance(f.kernel, Delta) for f in factors):
        raise ValueError(
            f"given={C!r} must be nominal, because permutations stay within its groups: bin it, "
            "or pass it through gram(..., Delta())"
        )
    return _arrays.group_rows([_arrays.to_numpy(f.source.all()) for f in factors])[1]
