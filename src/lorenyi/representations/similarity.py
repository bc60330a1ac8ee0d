"""Similarity of representations: HSIC and CKA, biased and unbiased."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._threads import one_thread
from lorenyi.kernels import Kernel, Linear
from lorenyi.representations.stacks import (
    Kernels,
    kernel_matrix,
    over_stack,
    pair,
    representation,
    two,
)


def hsic(x: Any, y: Any, kernel: Kernels = Linear(), *, unbiased: bool = False) -> Array:
    r"""Return the Hilbert-Schmidt independence criterion of each pair of representations.

    .. math:: \frac{1}{n^2} \operatorname{tr} K H L H, \quad H = I - \frac1n 1 1'

    or its unbiased form (Song and others, 2012), which may be negative and needs four points.

    Parameters
    ----------
    x, y : arrays or tensors, [..., n, D] and [..., n, E]
        Two representations of the same points.
    kernel : Linear, Cosine or Gaussian, or a pair of them
        A pair is that of x and that of y.
    unbiased : bool
        Leave out pairs of a point with itself.
    """
    x, y = pair(x, y)
    kernel, kernel_y = two(kernel)
    _require_points(x, unbiased)
    n = int(x.shape[-2])

    def value(x: Array, y: Array) -> Array:
        K = centered(kernel_matrix(x, kernel), unbiased)
        L = centered(kernel_matrix(y, kernel_y), unbiased)
        return _arrays.namespace(K).sum(K * L, axis=(-2, -1))

    return over_stack(value, x, y) / (n * (n - 3) if unbiased else n * n)


def cka(x: Any, y: Any, kernel: Kernels = Linear(), *, unbiased: bool = False) -> Array:
    """Return the centered kernel alignment HSIC(x, y) / sqrt(HSIC(x, x) HSIC(y, y)).

    Parameters
    ----------
    x, y, kernel, unbiased
        As for `hsic`. The biased form tends to 1 where there are more columns than points.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi.representations import cka
    >>> x = np.random.default_rng(0).normal(size=(50, 8))
    >>> turned = x @ np.linalg.qr(np.random.default_rng(1).normal(size=(8, 8)))[0]
    >>> cka(x, 3 * turned).round(10)
    np.float64(1.0)
    """
    x, y = pair(x, y)
    kernel, kernel_y = two(kernel)
    _require_points(x, unbiased)

    def value(x: Array, y: Array) -> Array:
        xp = _arrays.namespace(x)
        K = centered(kernel_matrix(x, kernel), unbiased)
        L = centered(kernel_matrix(y, kernel_y), unbiased)
        both = xp.sum(K * L, axis=(-2, -1))
        return both / xp.sqrt(xp.sum(K * K, axis=(-2, -1)) * xp.sum(L * L, axis=(-2, -1)))

    return over_stack(value, x, y)


def cka_matrix(
    representations: Sequence[Any], kernel: Kernel = Linear(), *, unbiased: bool = False
) -> Array:
    """Return the centered kernel alignment of each two of several representations (L x L).

    Each kernel matrix is made once; the layers of a model may have different widths.

    Parameters
    ----------
    representations : sequence of L arrays or tensors, [n, D]
        Of the same points: the values of `lorenyi.nn.watch`, say.
    kernel, unbiased
        As for `cka`.
    """
    layers = [representation(x, f"representation {i}") for i, x in enumerate(representations)]
    if len({tuple(x.shape[:-1]) for x in layers}) != 1 or layers[0].ndim != 2:
        found = [tuple(x.shape) for x in layers]
        raise ValueError(f"representations have shapes {found}: they must be [n, D] of one n")
    _require_points(layers[0], unbiased)
    xp = _arrays.namespace(layers[0])
    with one_thread(layers[0]):
        rows = [xp.reshape(centered(kernel_matrix(x, kernel), unbiased), (-1,)) for x in layers]
        K = xp.stack(rows)
        inner = K @ K.mT
        scale = xp.sqrt(xp.linalg.diagonal(inner))
        return inner / scale[:, None] / scale[None, :]


def centered(K: Array, unbiased: bool) -> Array:
    """Return H K H, or the matrix of zero diagonal whose inner products are unbiased."""
    xp = _arrays.namespace(K)
    if not unbiased:
        rows = xp.mean(K, axis=-1, keepdims=True)
        columns = xp.mean(K, axis=-2, keepdims=True)
        return K - rows - columns + xp.mean(rows, axis=-2, keepdims=True)
    n = int(K.shape[-1])
    device = None if _arrays.is_numpy(K) else K.device
    off = 1 - xp.eye(n, dtype=K.dtype, device=device)
    K = K * off
    rows = xp.sum(K, axis=-1, keepdims=True) / (n - 2)
    columns = xp.sum(K, axis=-2, keepdims=True) / (n - 2)
    whole = xp.sum(K, axis=(-2, -1), keepdims=True) / ((n - 1) * (n - 2))
    return (K - rows - columns + whole) * off


def _require_points(x: Array, unbiased: bool) -> None:
    if unbiased and x.shape[-2] < 4:
        raise ValueError(f"unbiased=True needs four points or more, found {x.shape[-2]}")
