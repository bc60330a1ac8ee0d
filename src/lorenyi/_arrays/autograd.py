"""Gradients: which arrays track one, and matrices whose gradient is taken on one side only."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import array_api_compat
import numpy as np

from lorenyi._arrays.libraries import (
    Array,
    at_most,
    exp,
    is_array,
    is_numpy,
    is_torch,
    namespace,
    scaled,
    to_numpy,
)


def tracks_gradient(x: Array) -> bool:
    """Return whether a gradient with respect to x is tracked."""
    return is_torch(x) and bool(x.requires_grad) and sys.modules["torch"].is_grad_enabled()


def on_host(x: Any) -> Any:
    """Return an array in host memory as a NumPy array, unless it tracks a gradient."""
    elsewhere = array_api_compat.is_dask_array(x)
    if is_numpy(x) or elsewhere or not is_array(x) or tracks_gradient(x):
        return x
    return to_numpy(x) if "cpu" in str(array_api_compat.device(x)).lower() else x


def detach(x: Array) -> Array:
    """Return x with its gradient history cut off (the same memory)."""
    return x.detach() if is_torch(x) else x


def doubled(x: Array) -> Array:
    """Return x with twice its gradient; a second derivative is an error."""
    return _doubled().apply(x) if tracks_gradient(x) else x


@cache
def _doubled() -> Any:
    torch = sys.modules["torch"]

    class Doubled(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Array) -> Array:
            return x.view_as(x)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Array) -> Array:
            return 2 * gradient

    return Doubled


def exponents(x: Array) -> tuple[Array, float]:
    """Return -|x_i - x_j|^2 / 2 for all rows, 0 for i = j, and the largest cancelling number."""
    xp = namespace(x)
    with np.errstate(over="ignore", invalid="ignore"):  # visible in the second result
        product = x @ x.T
        squares = 0.5 * xp.linalg.diagonal(product)
        product -= squares[:, None]
        product -= squares[None, :]
        return at_most(product, 0.0), 2 * float(xp.max(squares))


def gaussian(x: Array, settle: Callable[[Array, float], float | None]) -> tuple[Array | None, Any]:
    """Return exp(-c |x_i - x_j|^2 / 2) for all rows, and c = settle(*exponents(x)).

    If c is None (too much cancellation), there is no matrix. A gradient is taken on one side and
    counted twice, so it is correct for functions of the matrix that treat rows and columns alike;
    c has none, and a second derivative is an error.
    """
    if tracks_gradient(x):
        matrix, c = _gaussian().apply(x, settle)
        return matrix, c
    half, most = exponents(x)
    c = settle(half, most)
    return (None if c is None else exp(scaled(half, c))), c


@cache
def _gaussian() -> Any:
    torch = sys.modules["torch"]

    class Gaussian(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Array, settle: Any) -> tuple[Array | None, float | None]:
            matrix, ctx.c = gaussian(x, settle)  # no gradient is tracked here
            ctx.save_for_backward(x, matrix)
            return matrix, ctx.c

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Array, _: None) -> tuple[Array, None]:
            x, matrix = ctx.saved_tensors
            pull = gradient * matrix
            rows = pull.sum(dim=1, keepdim=True)
            return torch.addmm(rows * x, pull, x, beta=-2 * ctx.c, alpha=2 * ctx.c), None

    return Gaussian
