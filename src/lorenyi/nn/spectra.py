"""Joint entropies of a batch and their gradient, fast enough for every training step.

Nothing synchronizes with the device except the decompositions themselves. The precision is that of
the tensors, at least float32. Values that are not finite give a loss that is not finite, as a
gradient scaler expects.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lorenyi import _arrays
from lorenyi.functionals import Renyi
from lorenyi.nn.matrices import Rule, Slope, distances
from lorenyi.spectra import SubspaceIteration

NEAR_ONE = 0.1  # of alpha: there powers are taken less their argument
STACKED = 512  # rows up to which the matrices of a term are decomposed as one stack
MAX_STARTS = 64  # sizes of batches that are remembered
_STARTS: dict[tuple[Any, ...], Tensor] = {}

Groups = Sequence[Sequence[int]]
Rules = Sequence[Rule | None]


def total(
    entropy: Renyi, groups: Groups, signs: Sequence[int], rules: Rules, variables: Sequence[Tensor]
) -> Tensor:
    """Return a sum of joint entropies of groups of variables, in bits, each with its sign.

    A variable is points with the rule of a Gaussian's bandwidth, or without one a kernel matrix.
    """
    asked = torch.is_grad_enabled()
    wanted = [asked and x.requires_grad for x in variables]  # never a matrix: labels have none
    if any(wanted):
        found: Tensor = Total.apply(entropy, groups, signs, rules, wanted, *variables)[0]  # type: ignore[no-untyped-call]
        return found
    return Total.forward(entropy, groups, signs, rules, wanted, *variables)[0]


class Total(torch.autograd.Function):
    """A sum of joint entropies, whose gradient is computed together with its value.

    The gradient with respect to a kernel matrix K is V diag(dS / d lambda) V' / n, for eigenvectors
    V that are held fixed. The chain rule leads from there to the points, through the bandwidth as
    well, by one matrix product: K and its gradient are symmetric. No n x n matrix is kept for the
    backward pass. A second derivative would lack the contribution of the eigenvectors and is an
    error.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(
        entropy: Renyi,
        groups: Groups,
        signs: Sequence[int],
        rules: Rules,
        wanted: Sequence[bool],
        *variables: Tensor,
    ) -> tuple[Tensor, ...]:
        """Return the sum, and its gradient for each variable that wants one."""
        made = [gaussian(x, rule) for x, rule in zip(variables, rules, strict=True)]
        asked = [any(wanted[i] for i in group) for group in groups]
        joints = measured(entropy, groups, rules, [K for K, *_ in made], asked)
        slopes = {j: joints[j].slope() for j in range(len(groups)) if asked[j]}
        found = [signed_sum([joint.value for joint in joints], signs)]
        for i, wants in enumerate(wanted):
            if wants:
                own = [j for j in slopes if i in groups[j]]
                slope = signed_sum([slopes[j] for j in own], [signs[j] for j in own])
                found.append(of_points(slope, *made[i][1:]))
        return tuple(found)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep the gradient, and the points, so that a second derivative is refused."""
        _, _, _, _, ctx.wanted, *variables = inputs
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)  # no zeros for what has no gradient
        ctx.save_for_backward(*output[1:], *itertools.compress(variables, ctx.wanted))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor | None, *_: Any) -> Any:
        """Return the gradient with respect to the points."""
        kept = ctx.saved_tensors
        found: list[Tensor | None] = [None] * (5 + len(ctx.wanted))
        half = len(kept) // 2
        places = (5 + i for i, wanted in enumerate(ctx.wanted) if wanted)
        for i, slope, x in zip(places, kept[:half], kept[half:], strict=True):
            if gradient is not None:
                found[i] = gradient * slope
                if torch.is_grad_enabled():
                    found[i] = Once.apply(found[i], x)  # type: ignore[no-untyped-call]
        return tuple(found)


def signed_sum(terms: Sequence[Tensor], signs: Sequence[int]) -> Tensor:
    """Return the sum of tensors, each with its sign."""
    found = terms[0] if signs[0] == 1 else signs[0] * terms[0]
    for term, sign in zip(terms[1:], signs[1:], strict=True):
        found = torch.add(found, term, alpha=sign)
    return found


def entropies(
    entropy: Renyi, groups: Groups, rules: Rules, variables: Sequence[Tensor]
) -> list[Tensor]:
    """Return each joint entropy, without gradient."""
    kernels = [gaussian(x, rule)[0] for x, rule in zip(variables, rules, strict=True)]
    asked = [False] * len(groups)
    return [joint.value for joint in measured(entropy, groups, rules, kernels, asked)]


def gaussian(x: Tensor, rule: Rule | None) -> tuple[Any, ...]:
    """Return the kernel matrix of points, then what `of_points` takes."""
    if rule is None:
        return (x,)
    x = x - x.mean(dim=0)  # products lose few digits near the origin
    distance = distances(x)
    square, slope = rule(distance)
    factor = -0.5 / square
    return (distance * factor).exp_(), x, distance, factor, slope


def of_points(
    inner: Tensor, x: Tensor, distance: Tensor, factor: Tensor, slope: Slope | None
) -> Tensor:
    """Return 4 sum_j W_ij (x_i - x_j), W the slope with respect to the squared distances."""
    W = inner * factor
    if slope is not None:
        pull = W.flatten() @ distance.flatten()  # minus the slope with respect to log sigma^2
        W -= slope().mul_(pull)
    rows = W.sum(dim=-1, keepdim=True)
    return 4 * (rows * x).sub_(W @ x)


class Joint(NamedTuple):
    """The entropy of a kernel matrix, its eigenvectors, and dS / d lambda over n.

    The entropy alone where no gradient is asked for.
    """

    value: Tensor
    matrix: Tensor | None = None
    vectors: Tensor | None = None
    slopes: Tensor | None = None

    def slope(self) -> Tensor:
        """Return dS / dK times K: the slope with respect to the logarithm of each entry."""
        assert self.matrix is not None
        assert self.vectors is not None
        assert self.slopes is not None
        return ((self.vectors * self.slopes) @ self.vectors.mT).mul_(self.matrix)


def measured(
    entropy: Renyi, groups: Groups, rules: Rules, kernels: Sequence[Tensor], asked: Sequence[bool]
) -> list[Joint]:
    """Return the joint entropy of each group, with eigenvectors where a gradient is asked for."""
    n = kernels[0].shape[-1]
    others = [j for j, group in enumerate(groups) if any(rules[i] is not None for i in group)]
    # On few rows a call costs more than its work, so that there is one for all.
    few = entropy.rank is not None and n <= STACKED and len(others) > 1
    found: dict[int, Joint] = {}
    for stack in [others] if few else [[j] for j in others]:
        matrices = [product(kernels, groups[j]) for j in stack]
        K = torch.stack(matrices) if few else matrices[0][None]
        vectors = any(asked[j] for j in stack)
        eigenvalues, V = largest(K, entropy, vectors)
        value, slope = renyi(eigenvalues / n, n, entropy.alpha, entropy.rank)
        for i, j in enumerate(stack):
            kept = (K[i], V[i], slope[i] / n) if asked[j] else ()  # else the matrix is let go
            found[j] = Joint(value[i], *kept)
    return [
        found[j] if j in found else Joint(of_labels(product(kernels, group), entropy))
        for j, group in enumerate(groups)
    ]


def product(kernels: Sequence[Tensor], group: Sequence[int]) -> Tensor:
    """Return the kernel matrix of several variables jointly: the entrywise product."""
    found: Tensor = reduce(operator.mul, [kernels[i] for i in group])
    return found


class Once(torch.autograd.Function):
    """The identity on a gradient, which raises where its own derivative is asked for."""

    generate_vmap_rule = True

    @staticmethod
    def forward(gradient: Tensor, x: Tensor) -> Tensor:
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


def largest(K: Tensor, entropy: Renyi, vectors: bool) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues that a functional takes, ascending, and their vectors."""
    solver, rank, n = entropy.solver, entropy.rank, K.shape[-1]
    if rank is not None and isinstance(solver, SubspaceIteration) and rank + solver.extra < n:
        return leading(K, rank, solver)
    return all_of(K, rank, vectors)


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
