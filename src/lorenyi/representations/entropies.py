"""Entropies of representations, and what is made of them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.entropy import require_alpha
from lorenyi.kernels import Gaussian, Kernel, Linear
from lorenyi.representations.stacks import (
    Kernels,
    kernel_matrix,
    moments,
    normalized,
    number,
    of_values,
    over_stack,
    pair,
    present,
    renyi,
    representation,
    two,
)

Alike = Literal["T", "D"] | None


def entropy(
    x: Any,
    kernel: Kernel = Linear(),
    *,
    alpha: float = 1.0,
    mask: Any = None,
    normalize: Alike = None,
) -> Array:
    r"""Return the matrix-based entropy of each representation, in bits ("prompt entropy").

    .. math:: S_\alpha(K / \operatorname{tr} K), \quad K = X X' \text{ by default}

    The smaller of the T x T and the D x D matrix is decomposed; order 2 needs no decomposition.

    Parameters
    ----------
    x : array or tensor, [..., T, D]
        T points of D columns, as many as there are in the axes before.
    kernel : Linear, Cosine or Gaussian
        `Linear()` is normalized by its trace, so long points weigh more; in `Cosine()` all weigh
        alike. A Gaussian has a number, "median" or `GeometricMean()` as its bandwidth.
    alpha : float
        Order, from 0 to infinity.
    mask : array, [..., T], optional
        Which points are there: padding is not.
    normalize : {"T", "D"}, optional
        Divide by log2 of the number of points, or of columns.

    Returns
    -------
    array or tensor, [...]

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi.representations import entropy
    >>> tokens = np.stack([np.eye(4), np.ones((4, 4))])     # all different, all the same
    >>> entropy(tokens)
    array([2., 0.])
    >>> entropy(tokens, normalize="T").shape
    (2,)
    """
    require_alpha(alpha)
    x = representation(x)
    mask = present(mask, x)
    value = over_stack(lambda x, m: renyi(moments(x, kernel, m), alpha), x, mask)
    if normalize is None:
        return value
    if normalize not in ("T", "D"):
        raise ValueError(f"normalize={normalize!r}: it is 'T', 'D' or None")
    most = number(mask, x) if normalize == "T" else float(x.shape[-1])
    xp = _arrays.namespace(x)
    return value / xp.log2(xp.asarray(most, dtype=x.dtype))


def effective_rank(
    x: Any, kernel: Kernel = Linear(), *, alpha: float = 1.0, mask: Any = None
) -> Array:
    """Return 2^S: how many directions a representation uses, from 1 to min(T, D).

    Parameters
    ----------
    x, kernel, alpha, mask
        As for `entropy`.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi.representations import effective_rank
    >>> effective_rank(np.eye(4)).round(6)
    np.float64(4.0)
    """
    return 2 ** entropy(x, kernel, alpha=alpha, mask=mask)


def rankme(x: Any, *, mask: Any = None) -> Array:
    r"""Return RankMe, the effective rank of the singular values :math:`\sigma_i / \sum_j \sigma_j`.

    They are the roots of eigenvalues, so those below a root of the rounding are not resolved.

    Parameters
    ----------
    x, mask
        As for `entropy`.
    """
    x = representation(x)

    def value(x: Array, m: Array | None) -> Array:
        xp = _arrays.namespace(x)
        squares = _arrays.eigvalsh(moments(x, Linear(), m))
        there = squares > 0
        values = xp.where(there, xp.sqrt(xp.where(there, squares, 1.0)), 0.0)
        return of_values(values / xp.sum(values, axis=-1, keepdims=True), 1.0)

    return 2 ** over_stack(value, x, present(mask, x))


# ------------------------------------------------------------------------------- of two


MEDIAN = Gaussian("median")


def mutual_information(
    x: Any, y: Any, kernel: Kernels = MEDIAN, *, alpha: float = 1.0, mask: Any = None
) -> Array:
    """Return I(X; Y) = S(A) + S(B) - S(A * B) of each pair of representations, in bits.

    Parameters
    ----------
    x, y : arrays or tensors, [..., T, D] and [..., T, E]
        Two representations of the same points.
    kernel : Cosine or Gaussian, or a pair of them
        With ones on the diagonal; a pair is that of x and that of y.
    alpha, mask
        As for `entropy`.
    """
    a, b, joint = _entropies(x, y, kernel, alpha, mask)
    return a + b - joint


def conditional_vendi_score(
    x: Any, given: Any, kernel: Kernels = MEDIAN, *, alpha: float = 1.0, mask: Any = None
) -> Array:
    """Return 2^(S(A * B) - S(B)): how many kinds of x there are beside those of what is given.

    Parameters
    ----------
    x, given, kernel, alpha, mask
        As for `mutual_information`: diversity that prompts do not explain, say.
    """
    _, b, joint = _entropies(x, given, kernel, alpha, mask)
    return 2 ** (joint - b)


def information_vendi_score(
    x: Any, y: Any, kernel: Kernels = MEDIAN, *, alpha: float = 1.0, mask: Any = None
) -> Array:
    """Return 2^I(X; Y): how many kinds of x are explained by y.

    Parameters
    ----------
    x, y, kernel, alpha, mask
        As for `mutual_information`.
    """
    return 2 ** mutual_information(x, y, kernel, alpha=alpha, mask=mask)


def dime(
    x: Any,
    y: Any,
    kernel: Kernels = MEDIAN,
    *,
    alpha: float = 1.0,
    permutations: int = 10,
    seed: int = 0,
) -> Array:
    """Return DiME: how far below chance the joint entropy of two representations is, in bits.

    The mean of S(A * PB) over permutations P of the points of y, less S(A * B): a difference of
    mutual informations, in which what the marginals have by themselves cancels.

    Parameters
    ----------
    x, y, kernel, alpha
        As for `mutual_information`.
    permutations : int
        How many are drawn.
    seed : int
        Seed of the draws.
    """
    x, y = pair(x, y)
    kernel, kernel_y = _unit(kernel)
    n = int(x.shape[-2])
    one = np.zeros(n, dtype=np.int64)  # group, of which all are permuted
    orders = [_arrays.permutation(seed, 20 + i, one) for i in range(permutations)]

    def value(x: Array, y: Array) -> Array:
        A, B = kernel_matrix(x, kernel), kernel_matrix(y, kernel_y)
        by_chance = [renyi(A * B[..., order, :][..., :, order] / n, alpha) for order in orders]
        return sum(by_chance) / len(orders) - renyi(A * B / n, alpha)

    return over_stack(value, x, y)


def _entropies(
    x: Any, y: Any, kernel: Kernels, alpha: float, mask: Any
) -> tuple[Array, Array, Array]:
    """Return S(A), S(B) and S(A * B)."""
    require_alpha(alpha)
    x, y = pair(x, y)
    kernel, kernel_y = _unit(kernel)

    def value(x: Array, y: Array, m: Array | None) -> Array:
        A, B = kernel_matrix(x, kernel, m), kernel_matrix(y, kernel_y, m)
        three = [renyi(normalized(K, m), alpha) for K in (A, B, A * B)]
        return _arrays.namespace(A).stack(three, axis=-1)

    found = over_stack(value, x, y, present(mask, x))
    return found[..., 0], found[..., 1], found[..., 2]


def _unit(kernel: Kernels) -> tuple[Kernel, Kernel]:
    """Return the kernels of x and y, which must have ones on the diagonal."""
    both = two(kernel)
    if any(type(kernel) is Linear for kernel in both):
        raise ValueError("kernel=Linear(): a joint needs ones on the diagonal, take Cosine()")
    return both


# ------------------------------------------------------------------------------- of two samples


def jensen_shannon_divergence(
    x: Any, y: Any, kernel: Kernel = MEDIAN, *, alpha: float = 1.0
) -> Array:
    r"""Return the representation Jensen-Shannon divergence of two samples, from 0 to 1 bit.

    .. math:: S(\tfrac12 C_X + \tfrac12 C_Y) - \tfrac12 S(C_X) - \tfrac12 S(C_Y)

    with the covariance operators C of the two samples in the kernel's feature space.

    Parameters
    ----------
    x, y : arrays or tensors, [..., n, D] and [..., m, D]
        Two samples of the same columns.
    kernel : Cosine or Gaussian
        A bandwidth by a rule is that of both samples together.
    alpha : float
        Order, from 0 to infinity.
    """
    require_alpha(alpha)
    _unit(kernel)
    x, y = representation(x), representation(y, "y")
    if x.shape[:-2] != y.shape[:-2] or x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"x has shape {tuple(x.shape)} and y {tuple(y.shape)}: they must have the same columns"
        )
    n, m = int(x.shape[-2]), int(y.shape[-2])

    def value(x: Array, y: Array) -> Array:
        xp = _arrays.namespace(x)
        K = kernel_matrix(xp.concat([x, y], axis=-2), kernel)
        ones = xp.ones_like(K[..., 0, :])
        scale = xp.concat([ones[..., :n] / (2 * n) ** 0.5, ones[..., n:] / (2 * m) ** 0.5], axis=-1)
        both = renyi(K * scale[..., :, None] * scale[..., None, :], alpha)
        one, other = renyi(K[..., :n, :n] / n, alpha), renyi(K[..., n:, n:] / m, alpha)
        return both - 0.5 * (one + other)

    return over_stack(value, x, y)
