"""Diversity: the effective number of distinct points, 2 to the power of an entropy."""

from __future__ import annotations

from typing import Any

from lorenyi.functionals import Renyi, evaluate
from lorenyi.measures import Functional, Variable, variable


def vendi_score(x: Variable, *, entropy: Functional = Renyi(), weights: Any = None) -> Any:
    """Return 2^S(A), the effective number of distinct points (the Vendi score).

    ``entropy=Renyi(2)`` gives the Renyi kernel entropy score, RKE, of order 2: one over the mean of
    the squared kernel over all pairs of rows.

    Parameters
    ----------
    x : variable
        One variable or several.
    entropy : callable
        The functional.
    weights : array, optional
        Frequencies of the rows, where x is not a Gram.

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.vendi_score(["a", "b", "c", "d"]))
    4.0
    """
    A = variable(x, weights)
    return evaluate(lambda H: 2.0 ** H(A), entropy, A)


def conditional_vendi_score(
    x: Variable, given: Variable, *, entropy: Functional = Renyi(), weights: Any = None
) -> Any:
    """Return 2^(S(A, B) - S(B)), the effective number of distinct x given another variable.

    For example the diversity of answers that their prompts do not explain.

    Parameters
    ----------
    x, given : variable
        One variable or several, each.
    entropy, weights
        As in `vendi_score`.

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.conditional_vendi_score(["a", "b", "c", "d"], given=["u", "u", "v", "v"]))
    2.0
    """
    A, B = variable(x, weights), variable(given, weights, "given")
    J = A * B
    return evaluate(lambda H: 2.0 ** (H(J) - H(B)), entropy, A, B)


def information_vendi_score(
    x: Variable, y: Variable, *, entropy: Functional = Renyi(), weights: Any = None
) -> Any:
    """Return 2^I(x; y), the diversity of x that y explains.

    It is the Vendi score of x over its conditional Vendi score given y.

    Parameters
    ----------
    x, y : variable
        One variable or several, each.
    entropy, weights
        As in `vendi_score`.

    Examples
    --------
    >>> import lorenyi as lr
    >>> float(lr.information_vendi_score(["a", "b", "c", "d"], ["u", "u", "v", "v"]))
    2.0
    """
    A, B = variable(x, weights), variable(y, weights, "y")
    J = A * B
    return evaluate(lambda H: 2.0 ** (H(A) + H(B) - H(J)), entropy, A, B)
