"""Entropies of a batch in plain tensor operations, for a loss that is asked for at every step.

Nothing is read back from the device but what a decomposition reads itself, nothing is refused for
its values (a number that is not finite becomes a loss that is not, as a gradient scaler expects),
and nothing is computed in less than float32 or needs more. Vectors are found without gradient and
held; eigenvalues are their Rayleigh quotients.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from lorenyi import _arrays
from lorenyi.spectra import SubspaceIteration

NEAR_ONE = 0.1  # of alpha: there powers are taken less their argument
STACKED = 512  # rows up to which the matrices of a term are decomposed as one stack


class SquaredDistances(torch.autograd.Function):
    """|x_i - x_j|^2 of all rows: one product each way, and no second derivative."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        """Return the distances, 0 for i = j."""
        product = x @ x.mT
        squares = product.diagonal(dim1=-2, dim2=-1)
        distance = torch.add(squares[..., :, None] + squares[..., None, :], product, alpha=-2)
        return distance.clamp(min=0)  # what rounding makes of 0; nan stays

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        """Keep the points."""
        ctx.save_for_backward(*inputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Return 2 sum_j (G_ij + G_ji) (x_i - x_j)."""
        (x,) = ctx.saved_tensors
        both = gradient + gradient.mT
        return 2 * (both.sum(dim=-1, keepdim=True) * x - both @ x)


def squared_distances(x: Tensor) -> Tensor:
    """Return |x_i - x_j|^2 of points moved near the origin, where products lose few digits."""
    rows = x.detach()[:: 1 + len(x) // 64]
    distance: Tensor = SquaredDistances.apply(x - rows.median(dim=0).values)  # type: ignore[no-untyped-call]
    return distance


# ------------------------------------------------------------------------------- bandwidths


def nearest(distance: Tensor, k: int) -> Tensor:
    """Return the square of the mean distance to the k nearest others."""
    near = torch.topk(distance, min(k, len(distance) - 1) + 1, largest=False, sorted=False).values
    apart = near > 0  # of each point to itself: 0, where the root has no derivative
    root = torch.where(apart, near, 1.0).sqrt() * apart
    return (root.sum() / (near.shape[0] * (near.shape[1] - 1))) ** 2


def median(distance: Tensor) -> Tensor:
    """Return the square of the median distance of points that differ (the lower, of two)."""
    return torch.where(distance > 0, distance, torch.nan).nanmedian()


def geometric_mean(distance: Tensor) -> Tensor:
    """Return the geometric mean of the squared distances of points that differ."""
    # Rounding of products does not make equal points different.
    least = 16 * torch.finfo(distance.dtype).eps * distance.detach().amax()
    apart = distance > least
    logarithm = torch.log(torch.where(apart, distance, 1.0))
    return torch.where(least > 0, torch.exp(logarithm.sum() / apart.sum()), 0.0)


def gaussian(distance: Tensor, square: Tensor | float) -> Tensor:
    """Return exp(-d^2 / (2 sigma^2)); all points are equal where sigma is 0."""
    if isinstance(square, Tensor):
        square = torch.where(square > 0, square, 1.0)
    return torch.exp(distance / (-2 * square))


# ------------------------------------------------------------------------------- eigenvalues


def leading(K: Tensor, rank: int, solver: SubspaceIteration) -> Tensor:
    """Return the largest eigenvalues of K / n, or of each of a stack, by subspace iteration."""
    n = K.shape[-1]
    held = K.detach()
    Q: Tensor = start(solver.seed, n, rank + solver.extra, K.dtype, K.device)
    for _ in range(solver.steps):
        Q, _ = torch.linalg.qr(held @ Q)
    product = held @ Q
    _, S = torch.linalg.eigh((Q.mT @ product).nan_to_num())  # it refuses nan, which products keep
    S = S[..., -rank:].flip(-1)
    V = Q @ S
    again = K @ V if K.requires_grad and torch.is_grad_enabled() else product @ S
    values: Tensor = (V * again).sum(dim=-2) / n
    return values


_STARTS: dict[tuple[Any, ...], Tensor] = {}
MAX_STARTS = 64  # batches of so many sizes are remembered


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def start(seed: int, n: int, size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return the random block that the iteration starts from, the same at every step."""
    key = (seed, n, size, dtype, device)
    if key not in _STARTS:
        if len(_STARTS) >= MAX_STARTS:
            _STARTS.clear()
        with torch.inference_mode(False):
            block = torch.as_tensor(_arrays.normal(seed, 1, n, size), dtype=dtype)
            _STARTS[key] = block.to(device)
    return _STARTS[key]


def all_of(K: Tensor, rank: int | None) -> Tensor:
    """Return all eigenvalues of K / n, or the largest, descending."""
    finite = torch.isfinite(K.detach().sum())  # entries are from 0 to 1
    values: Tensor = torch.linalg.eigvalsh(torch.where(finite, K, 0.0)).flip(-1) / K.shape[-1]
    values = values * torch.where(finite, 1.0, torch.nan)
    return values if rank is None else values[..., :rank]


def of_labels(same: Tensor, rank: int | None) -> Tensor:
    """Return the eigenvalues of an equality kernel: the share of each class, at its first row."""
    first = torch.tril(same, -1).sum(dim=-1) == 0
    shares = same.mean(dim=-1) * first
    return shares.sort(descending=True).values[: rank or len(same)]


# ------------------------------------------------------------------------------- to bits


def renyi(values: Tensor, n: int, alpha: float, rank: int | None) -> Tensor:
    """Return the entropy of eigenvalues that sum to one, on the last axis; of L_k with a rank."""
    if alpha == math.inf:
        return -torch.log2(values[..., 0])
    total = terms(resolved(values, values, alpha, rank), alpha).sum(dim=-1)
    if rank is not None:
        rest = (1 - values.sum(dim=-1, keepdim=True)) / (n - rank)
        total = total + (n - rank) * terms(resolved(rest, values, alpha, rank), alpha)[..., 0]
    if alpha == 1:
        return -total / math.log(2)
    if abs(alpha - 1) < NEAR_ONE:
        return torch.log1p(total) / ((1 - alpha) * math.log(2))
    return torch.log2(total) / (1 - alpha)


def terms(p: Tensor, alpha: float) -> Tensor:
    """Return p log p, p^alpha - p near alpha = 1 (nothing cancels there), or p^alpha; 0 for 0."""
    there = ~(p <= 0)  # nan stays
    safe = torch.where(there, p, 1.0)
    if alpha == 1:
        found = safe * torch.log(safe)
    elif abs(alpha - 1) < NEAR_ONE:
        found = safe * torch.expm1((alpha - 1) * torch.log(safe))
    else:
        found = safe**alpha
    return torch.where(there, found, 0.0)


def resolved(p: Tensor, values: Tensor, alpha: float, rank: int | None) -> Tensor:
    """Return eigenvalues fit for an order: below 1 small ones weigh most, with an infinite slope.

    There what a decomposition cannot resolve is zero, and what it hardly can has no gradient.
    """
    if alpha >= 1:
        return p
    eps = torch.finfo(p.dtype).eps
    top = values.detach()[..., :1]
    p = torch.where(p <= (values.shape[-1] + 64) * eps * top, p.detach(), p)
    return p if rank is not None else torch.where(p > 8 * eps * top, p, 0.0)
