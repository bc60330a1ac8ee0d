"""Information measures: the body of each is its formula, in bits.

Every function takes arrays, data-frame columns or `Gram`s. Where "one variable or several" is
accepted, a list or tuple means their joint. `entropy=` is the functional, `Renyi()` by default.
These are measures of kernel matrices, not estimates of Shannon's quantities. Away from alpha = 1
differences such as the mutual information can be negative; nothing is clipped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.kinds import MAX_LEVELS
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi, evaluate, plain
from lorenyi.gram import Gram, gram, is_constant, joint

Functional: TypeAlias = Callable[[Gram], Any]
Variable: TypeAlias = Any


def variable(x: Variable, weights: Any = None, name: str = "x") -> Gram:
    """Return the Gram of one variable, or the joint of a list or tuple of several."""
    if isinstance(x, Gram):
        return gram(x, weights=weights, name=name)
    # Arrays and columns have a shape; a NumPy number in a list has an empty one.
    if isinstance(x, (list, tuple)) and any(
        isinstance(v, Gram) or getattr(v, "shape", ()) != () for v in x
    ):
        parts = [variable(v, weights, f"{name}[{i}]") for i, v in enumerate(x)]
        return joint(*parts)
    return gram(_arrays.on_host(x), weights=weights, name=name).named(name)


def _variables(many: tuple[Variable, ...], weights: Any, least: int, what: str) -> list[Gram]:
    if len(many) < least:
        raise ValueError(f"{what} needs at least {least} variables, found {len(many)}")
    return [variable(x, weights, f"variable {i}") for i, x in enumerate(many)]


def entropy(x: Variable, *, entropy: Functional = Renyi(), weights: Any = None) -> Any:
    """Return the entropy S(A) of one variable or several.

    Parameters
    ----------
    x : variable
        One variable or several.
    entropy : callable
        The functional, such as `Renyi(alpha=2, rank=50)`.
    weights : array, optional
        Frequencies of the rows, where x is not a Gram.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.entropy(["heads", "tails", "heads", "tails"])
    1.0 bits (x: Delta())
    """
    A = variable(x, weights)
    return evaluate(lambda H: H(A), entropy, A)


def joint_entropy(*variables: Variable, entropy: Functional = Renyi(), weights: Any = None) -> Any:
    """Return S(A_1, ..., A_L), the entropy of the product of all kernels.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.joint_entropy([0, 0, 1, 1], [0, 1, 0, 1])
    2.0 bits (variable 0: Delta(), variable 1: Delta())
    """
    A = joint(*_variables(variables, weights, 1, "joint_entropy"))
    return evaluate(lambda H: H(A), entropy, A)


def conditional_entropy(
    x: Variable, given: Variable, *, entropy: Functional = Renyi(), weights: Any = None
) -> Any:
    """Return S(A | B) = S(A, B) - S(B); never negative.

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.conditional_entropy([0, 1, 2, 3], given=[0, 0, 1, 1]))
    1.0
    """
    A, B = variable(x, weights), variable(given, weights, "given")
    J = A * B
    return evaluate(lambda H: H(J) - H(B), entropy, A, B)


def _warn_of_levels(entropy: Functional, A: Gram, B: Gram, x: Variable, y: Variable) -> None:
    """Warn if categories distinguish most rows, and so share bits with any variable."""
    for name, given, own in (("x", x, A), ("y", y, B)):
        if isinstance(given, Gram) or not own.in_memory or not own.is_nominal:
            continue
        levels = int(own.reduced[0].shape[0])
        if levels <= MAX_LEVELS or 2 * levels <= len(own):
            continue
        H, other = plain(entropy), _permuted(B)
        chance = float(H(A)) + float(H(other)) - float(H(A * other))
        warnings.warn(
            f"{name} has {levels} categories in {len(own)} rows, which distinguish most rows: by "
            f"chance alone it would share {chance:.3g} bits. Leave such a column out, group its "
            "levels, or give a kernel for numbers",
            UserWarning,
            stacklevel=3,
        )


def _permuted(A: Gram) -> Gram:
    """Return a Gram whose points are permuted; the weights stay with the rows."""
    order = _arrays.permutation(0, 1, np.zeros(len(A), dtype=np.int64))
    return A.take(order).changed(scale=A.scale, weights=A.weights)


def mutual_information(
    x: Variable, y: Variable, *, entropy: Functional = Renyi(), weights: Any = None
) -> Any:
    """Return I(A; B) = S(A) + S(B) - S(A, B), either side one variable or several.

    Not negative at alpha = 1 without a rank; otherwise it can be. If the rank is smaller than that
    of the joint but not than those of A and B, there is no lower bound: two independent fair coins
    among n points have (1 - log2(n - 2)) / 2 bits at rank 2.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> x = np.linspace(-1.0, 1.0, 40)
    >>> lr.mutual_information(x, x > 0)
    0.693 ± 0.050 bits (x: Gaussian(sigma=0.6154), y: Delta())
    """
    A, B = variable(x, weights), variable(y, weights, "y")
    J = A * B
    _warn_of_levels(entropy, A, B, x, y)
    return evaluate(lambda H: H(A) + H(B) - H(J), entropy, A, B)


def normalized_mutual_information(
    x: Variable, y: Variable, *, entropy: Functional = Renyi(), weights: Any = None
) -> Any:
    """Return I(A; B) / sqrt(S(A) S(B)), a number without unit.

    At most 1 for every order and rank, because S(A, B) >= max(S(A), S(B)); not below 0 at
    alpha = 1 without a rank. If x or y is constant, the value is 0. A certified interval needs
    entropies whose own intervals do not contain zero.

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.normalized_mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"]))
    1.0
    """
    A, B = variable(x, weights), variable(y, weights, "y")
    J = A * B
    _warn_of_levels(entropy, A, B, x, y)

    def formula(H: Callable[[Gram], Any]) -> Any:
        a, b = H(A), H(B)
        least = min(float(_arrays.detach(a)), float(_arrays.detach(b)))
        certified = isinstance(a, Estimate) and a.bounds is not None
        if is_constant(A) or is_constant(B) or (least <= 1e-12 and not certified):  # or rounding
            return 0.0 * (a * b)
        return (a + b - H(J)) / (a * b) ** 0.5

    return evaluate(formula, entropy, A, B)


def conditional_mutual_information(
    x: Variable,
    y: Variable,
    given: Variable,
    *,
    entropy: Functional = Renyi(),
    weights: Any = None,
) -> Any:
    """Return I(A; B | C) = S(A, C) + S(B, C) - S(A, B, C) - S(C).

    Not negative at alpha = 1 without a rank (strong subadditivity).

    Examples
    --------
    >>> import lorenyi as lr
    >>> x, y = [0, 0, 1, 1], [0, 1, 0, 1]
    >>> float(lr.conditional_mutual_information(x, y, given=[0, 1, 1, 0]))     # exclusive or
    1.0
    """
    A, B = variable(x, weights), variable(y, weights, "y")
    C = variable(given, weights, "given")
    AC, BC, ABC = A * C, B * C, A * B * C
    return evaluate(lambda H: H(AC) + H(BC) - H(ABC) - H(C), entropy, A, B, C)


def total_correlation(
    *variables: Variable, entropy: Functional = Renyi(), weights: Any = None
) -> Any:
    """Return sum_i S(A_i) - S(A_1, ..., A_L).

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.total_correlation([0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1]))
    2.0
    """
    grams = _variables(variables, weights, 2, "total_correlation")
    J = joint(*grams)
    return evaluate(lambda H: _total(H, J, grams), entropy, *grams)


def dual_total_correlation(
    *variables: Variable, entropy: Functional = Renyi(), weights: Any = None
) -> Any:
    """Return S(A_1, ..., A_L) - sum_i S(A_i | all others).

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.dual_total_correlation([0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1]))
    1.0
    """
    grams = _variables(variables, weights, 2, "dual_total_correlation")
    J, others = _joints(grams)
    return evaluate(lambda H: _dual_total(H, J, others), entropy, *grams)


def o_information(*variables: Variable, entropy: Functional = Renyi(), weights: Any = None) -> Any:
    """Return the total minus the dual total correlation, of three variables or more.

    Positive where redundancy dominates, negative where synergy does.

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.o_information([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]))     # exclusive or
    -1.0
    """
    grams = _variables(variables, weights, 3, "o_information")
    J, others = _joints(grams)
    return evaluate(lambda H: _total(H, J, grams) - _dual_total(H, J, others), entropy, *grams)


def s_information(*variables: Variable, entropy: Functional = Renyi(), weights: Any = None) -> Any:
    """Return the total plus the dual total correlation: the sum of I(A_i; all others).

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.s_information([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]))     # exclusive or
    3.0
    """
    grams = _variables(variables, weights, 2, "s_information")
    J, others = _joints(grams)
    return evaluate(lambda H: _total(H, J, grams) + _dual_total(H, J, others), entropy, *grams)


def interaction_information(
    *variables: Variable, entropy: Functional = Renyi(), weights: Any = None
) -> Any:
    """Return -sum_T (-1)^(L - |T|) S(A_T) over all nonempty subsets T of the L variables.

    For two variables the mutual information; for three I(A; B | C) - I(A; B): positive for
    synergy (exclusive or: 1 bit), negative for redundancy.

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.interaction_information([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]))
    1.0
    """
    grams = _variables(variables, weights, 2, "interaction_information")
    L = len(grams)
    subsets = [T for size in range(1, L + 1) for T in combinations(grams, size)]
    signed = [(joint(*T), (len(T) - L) % 2) for T in subsets]  # 1 where S counts positive
    return evaluate(
        lambda H: _sum([H(J) if plus else -H(J) for J, plus in signed]), entropy, *grams
    )


def _sum(terms: list[Array]) -> Array:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _joints(grams: list[Gram]) -> tuple[Gram, list[Gram]]:
    """Return the joint of all, and for each the joint of all others."""
    return joint(*grams), [joint(*grams[:i], *grams[i + 1 :]) for i in range(len(grams))]


def _total(H: Callable[[Gram], Any], J: Gram, grams: list[Gram]) -> Any:
    """Return the total correlation, sum_i S(A_i) - S(J)."""
    return _sum([H(A) for A in grams]) - H(J)


def _dual_total(H: Callable[[Gram], Any], J: Gram, others: list[Gram]) -> Any:
    """Return the dual total correlation, S(J) - sum_i (S(J) - S(others of i))."""
    return H(J) - _sum([H(J) - H(rest) for rest in others])
