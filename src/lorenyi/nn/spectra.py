"""Entropies of a batch's kernel matrices, for a loss that is asked for at every step.

Nothing is read back from the device but what a decomposition reads itself, and nothing is computed
in less than float32 or needs more. The gradient is that of the Rayleigh quotients of vectors that
are held, V diag(dS / d lambda) V'.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from lorenyi import _arrays
from lorenyi.functionals import Renyi
from lorenyi.spectra import SubspaceIteration

NEAR_ONE = 0.1  # of alpha: there powers are taken less their argument
STACKED = 512  # rows up to which the matrices of a term are decomposed as one stack
MAX_STARTS = 64  # sizes of batches that are remembered
_STARTS: dict[tuple[Any, ...], Tensor] = {}


def entropies(matrices: list[Tensor], entropy: Renyi) -> list[Tensor]:
    """Return the entropy of each of several kernel matrices, in bits."""
    few = entropy.rank is not None and len(matrices[0]) <= STACKED
    if len(matrices) > 1 and few:  # a call costs more than its work
        return list(one_entropy(torch.stack(matrices), entropy).unbind())
    return [one_entropy(K, entropy) for K in matrices]


def one_entropy(K: Tensor, entropy: Renyi) -> Tensor:
    """Return the entropy of a matrix, or of each of a stack."""
    slopes = K.requires_grad and torch.is_grad_enabled()
    value: Tensor = Entropy.apply(K, entropy, slopes)[0]  # type: ignore[no-untyped-call]
    return value


class Entropy(torch.autograd.Function):
    """S of K / n, with the gradient V diag(dS / d lambda) V' of vectors that are held."""

    generate_vmap_rule = True

    @staticmethod
    def forward(K: Tensor, entropy: Renyi, slopes: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return the entropy, the vectors, and its slope with respect to each eigenvalue."""
        n = K.shape[-1]
        solver, rank = entropy.solver, entropy.rank
        if isinstance(solver, SubspaceIteration) and rank is not None and rank + solver.extra < n:
            values, V = leading(K, rank, solver)
        else:
            values, V = all_of(K, rank, slopes)
        value, slope = renyi(values / n, n, entropy.alpha, rank)
        return value, V, slope

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep what the gradient takes."""
        K, _, _ = inputs
        _, V, slope = output
        ctx.mark_non_differentiable(V, slope)
        ctx.set_materialize_grads(False)  # no zeros for what has no gradient
        ctx.save_for_backward(K, V, slope)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> Any:
        """Return the gradient with respect to the kernel matrix."""
        K, V, slope = ctx.saved_tensors
        weight = gradient[..., None] * slope / K.shape[-1]
        found = (V * weight[..., None, :]) @ V.mT
        return Once.apply(found, K) if torch.is_grad_enabled() else found, None, None  # type: ignore[no-untyped-call]


class Once(torch.autograd.Function):
    """A gradient that depends on K, but of which nobody knows how: it refuses to be derived."""

    generate_vmap_rule = True

    @staticmethod
    def forward(gradient: Tensor, K: Tensor) -> Tensor:
        """Return the gradient."""
        return gradient.view_as(gradient)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep nothing."""

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Refuse: the vectors were held."""
        raise RuntimeError(
            "trying to differentiate twice an entropy whose eigenvectors are held; lr.Renyi(2) of "
            "a Gram needs none and has a second derivative"
        )


# ------------------------------------------------------------------------------- eigenvalues


def leading(K: Tensor, rank: int, solver: SubspaceIteration) -> tuple[Tensor, Tensor]:
    """Return the largest eigenvalues by subspace iteration, ascending, and their vectors."""
    Q: Tensor = start(solver.seed, K.shape[-1], rank + solver.extra, K.dtype, K.device)
    for _ in range(solver.steps):
        Q, _ = torch.linalg.qr(K @ Q)
    # A decomposition refuses nan, which the values keep.
    projected = Q.mT @ (K @ Q)
    values, S = torch.linalg.eigh(projected.nan_to_num())
    kept = values[..., -rank:] + 0 * projected.sum(dim=(-2, -1), keepdim=True)[..., 0]
    return kept, Q @ S[..., -rank:]


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


def all_of(K: Tensor, rank: int | None, vectors: bool) -> tuple[Tensor, Tensor]:
    """Return all eigenvalues, or the largest, ascending; their vectors if these are asked for."""
    total = K.sum(dim=(-2, -1))
    safe = torch.where(torch.isfinite(total)[..., None, None], K, 0.0)  # entries are from 0 to 1
    if vectors:
        values, V = torch.linalg.eigh(safe)
    else:
        values = torch.linalg.eigvalsh(safe)
        V = K[..., :0]
    rank = K.shape[-1] if rank is None else rank
    return values[..., -rank:] + 0 * total[..., None], V[..., -rank:]


def of_labels(same: Tensor, entropy: Renyi) -> Tensor:
    """Return the entropy of an equality kernel: eigenvalues are the share of each class."""
    first = torch.tril(same, -1).sum(dim=-1) == 0  # where a class occurs first
    shares = (same.mean(dim=-1) * first).sort().values
    rank, n = entropy.rank, len(same)
    return renyi(shares if rank is None else shares[-rank:], n, entropy.alpha, rank)[0]


# ------------------------------------------------------------------------------- to bits


def renyi(p: Tensor, n: int, alpha: float, rank: int | None) -> tuple[Tensor, Tensor]:
    """Return the entropy of eigenvalues p, ascending on the last axis, and its slope in each.

    With a rank, the other n - rank share what is left of one evenly: L_k of the paper.
    """
    bit = math.log(2)
    if alpha == math.inf:
        slope = torch.zeros_like(p)
        slope[..., -1] = -1 / (p[..., -1] * bit)
        return -torch.log2(p[..., -1]), slope
    q = mass = p
    if rank is not None:
        rest = 1 - p.sum(dim=-1, keepdim=True)
        q, mass = torch.cat([rest / (n - rank), p], dim=-1), torch.cat([rest, p], dim=-1)
    zero, flat = unresolved(q, alpha, rank)
    log = q.masked_fill(zero, 1.0).log_()
    mass = mass.masked_fill(zero, 0.0)
    if alpha == 1:
        value, each = -(mass * log).sum(dim=-1) / bit, -(log + 1) / bit
    elif abs(alpha - 1) < NEAR_ONE:
        # sum p^alpha = 1 + sum p (p^(alpha-1) - 1): nothing cancels as alpha goes to 1.
        power = torch.expm1((alpha - 1) * log)
        excess = (mass * power).sum(dim=-1)
        value = torch.log1p(excess) / ((1 - alpha) * bit)
        each = alpha / ((1 - alpha) * bit) * (power + 1) / (1 + excess)[..., None]
    else:
        top = log[..., -1:]
        power = torch.exp((alpha - 1) * (log - top))
        total = (mass * power).sum(dim=-1)  # of p^alpha, over the largest to the power alpha - 1
        value = ((alpha - 1) * top[..., 0] + torch.log(total)) / ((1 - alpha) * bit)
        each = alpha / ((1 - alpha) * bit) * power / total[..., None]
    each = each.masked_fill(flat, 0.0)
    return value, each if rank is None else each[..., 1:] - each[..., :1]


def unresolved(q: Tensor, alpha: float, rank: int | None) -> tuple[Tensor, Tensor]:
    """Return which eigenvalues are zero, and which have no slope.

    Below order 1 small ones weigh most, and the slope at zero is infinite: what a decomposition
    cannot resolve is zero there, and what it hardly can is held.
    """
    if alpha >= 1:
        zero = q <= 0
        return zero, zero
    scale = torch.finfo(q.dtype).eps * q[..., -1:]
    zero = q <= (0.0 if rank is not None else 8 * scale)
    return zero, q <= (q.shape[-1] + 64) * scale
