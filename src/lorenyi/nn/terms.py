"""Measures as loss terms: entropy, mutual information, total correlation of batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from lorenyi._memory import fits
from lorenyi.bandwidths import GeometricMean, Nearest
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram, gram, joint, symmetric
from lorenyi.kernels import Gaussian, Kernel
from lorenyi.nn import spectra
from lorenyi.nn.kernels import AnyKernel, LearnableGaussian, is_plain, points, settled
from lorenyi.spectra import Auto, Exact, SubspaceIteration

LOW_RANK = Renyi(1.01, rank=10)  # the paper's order and rank
NEAREST = Gaussian(Nearest(10))  # and its rule for the bandwidth, here with its gradient
RELATIVE = Gaussian(GeometricMean(0.5))  # a rule that compresses: docs/training.md has the table
MANY_ROWS = 4096  # beyond which it is asked whether matrices fit in memory
MATRICES = 8  # that a term of two variables holds, with its gradient


Variable: TypeAlias = tuple[Tensor, AnyKernel]
Known: TypeAlias = dict[str, tuple[Tensor, Kernel | LearnableGaussian]]
Groups: TypeAlias = Sequence[Sequence[str]]


class Term(nn.Module):
    """What all terms share: the functional made fit for a batch, and kernels of tensors."""

    def __init__(self, entropy: Renyi) -> None:
        super().__init__()
        if not isinstance(entropy, Renyi):
            raise TypeError(f"entropy={entropy!r}: give a functional such as Renyi(1.01, rank=10)")
        if entropy.alpha == 0:
            raise ValueError("alpha=0 counts eigenvalues, which has no gradient: take alpha > 0")
        self.entropy = entropy

    def extra_repr(self) -> str:
        """Show the functional and the kernels that are no modules."""
        kernels = [f"{k}={v!r}" for k, v in vars(self).items() if isinstance(v, Kernel)]
        return ", ".join([repr(self.entropy), *kernels])

    def total(self, signs: Sequence[int], **variables: Variable) -> Tensor:
        """Return the entropies of each variable, then of all jointly, summed with their signs."""
        names = list(variables)
        whole = [names] if len(names) > 1 else []
        groups = [*([name] for name in names), *whole]
        found: Tensor = measured(self.entropy, variables, groups, signs)
        return found


def entropies(entropy: Renyi, variables: dict[str, Variable], groups: Groups) -> list[Tensor]:
    """Return the joint entropy of each group of variables, which are measured once."""
    found: list[Tensor] = measured(entropy, variables, groups, None)
    return found


def measured(
    entropy: Renyi, variables: dict[str, Variable], groups: Groups, signs: Sequence[int] | None
) -> Any:
    """Return the joint entropies of groups, or their sum with signs; in bits, at least float32."""
    require_points(variables)
    x, _ = next(iter(variables.values()))
    if len(x) == 1:  # one point has no entropy, wherever it is
        zeros = [x[:0].to(precision(x)).sum() for x, _ in variables.values()]
        zero = torch.stack(zeros).sum()
        return [zero for _ in groups] if signs is None else zero
    entropy = for_batch(entropy, len(x))
    known = {name: (x, settled(x, kernel)) for name, (x, kernel) in variables.items()}
    device = x.device.type
    half = torch.is_autocast_enabled(device)
    with torch.autocast(device, enabled=False) if half else nullcontext():
        found = of_matrices if is_direct(entropy, known) else of_grams
        return found(entropy, known, groups, signs)


def require_points(variables: dict[str, Variable]) -> None:
    """Refuse batches of different sizes, and tensors that may be points in two ways."""
    rows = {name: len(tensor) for name, (tensor, _) in variables.items()}
    if len(set(rows.values())) > 1 or 0 in rows.values():
        raise ValueError(f"a batch has the same rows in all its variables, found {rows}")
    for name, (tensor, _) in variables.items():
        if tensor.ndim == 3:
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}: which axis holds the points? Give "
                f"{name}.flatten(1) for one point a row, {name}.mean(1) for the mean of its "
                f"tokens, {name}.flatten(0, 1) for one point a token; lorenyi.representations "
                "measures each [T, D] by itself"
            )


def precision(*tensors: Tensor) -> torch.dtype:
    """Return the precision in which tensors are measured: at least float32."""
    found = torch.float32
    for tensor in tensors:
        if tensor.is_floating_point():
            found = torch.promote_types(found, tensor.dtype)
    return found


def is_direct(entropy: Renyi, variables: Known) -> bool:
    """Tell whether a term is computed from stored matrices, in tensor operations alone."""
    plain = all(is_plain(kernel) for _, kernel in variables.values())
    if type(entropy.solver) not in (Exact, SubspaceIteration) or not plain:
        return False
    tensors = [tensor for tensor, _ in variables.values()]
    n, device = len(tensors[0]), tensors[0].device
    if n <= MANY_ROWS:
        return True
    needed = MATRICES * precision(*tensors).itemsize * n**2
    if device.type == "cuda":
        return bool(needed <= torch.cuda.mem_get_info(device)[0])
    return device.type != "cpu" or fits(needed)


def of_matrices(
    entropy: Renyi, variables: Known, groups: Groups, signs: Sequence[int] | None
) -> Any:
    """Return what `measured` asks for, from kernel matrices."""
    dtype = precision(*(tensor for tensor, _ in variables.values()))
    found = [points(x, kernel, dtype) for x, kernel in variables.values()]
    tensors, rules = [x for x, _ in found], [rule for _, rule in found]
    names = list(variables)
    places = [[names.index(name) for name in group] for group in groups]
    if signs is None:
        return spectra.entropies(entropy, places, rules, tensors)
    return spectra.total(entropy, places, signs, rules, tensors)


# Solvers choose by values, on NumPy arrays where that is faster: nothing for a tracer.
@torch.compiler.disable  # type: ignore[untyped-decorator]
def of_grams(entropy: Renyi, variables: Known, groups: Groups, signs: Sequence[int] | None) -> Any:
    """Return the same by Grams: for any kernel, any solver, and more rows than can be squared."""
    alone = {name: gram_of(x, kernel, name) for name, (x, kernel) in variables.items()}
    if entropy.solver.alike:
        alone = {name: symmetric(A) for name, A in alone.items()}
    values = [entropy.tensor(joint(*[alone[name] for name in group])) for group in groups]
    reference = next(x for x, _ in variables.values())
    found = [torch.as_tensor(value, device=reference.device) for value in values]
    return found if signs is None else spectra.signed_sum(found, signs)


def gram_of(x: Tensor, kernel: Kernel | LearnableGaussian, name: str) -> Gram:
    """Return the Gram of a batch."""
    if isinstance(kernel, LearnableGaussian):
        made: Gram = kernel(x)
        return made
    return gram(x.flatten(1) if x.ndim > 2 else x, kernel, name=name)  # such as images


def for_batch(entropy: Renyi, n: int) -> Renyi:
    """Return the functional for n rows: a rank below n, and `Auto` settled by size alone.

    `Auto` works until an interval is narrow. A training step asks for no interval, so here it
    stands for the cheapest that gives a good gradient.
    """
    rank = None if entropy.rank is None else min(entropy.rank, n - 1)
    solver = entropy.solver
    if isinstance(solver, Auto):
        few = SubspaceIteration(seed=solver.seed)
        solver = Exact() if rank is None or n <= 2 * (rank + few.extra) else few
    return replace(entropy, rank=rank, solver=solver)


class Entropy(Term):
    """The entropy S(X) of a batch, in bits.

    Parameters
    ----------
    entropy : Renyi
        The functional; the paper's low-rank one by default. A rank above n - 1 becomes n - 1, so
        that batches may vary; the entropy of a single row is 0, with zero gradient.
    kernel : Kernel or LearnableGaussian, optional
        By default a Gaussian whose bandwidth is half the geometric mean distance of two points. The
        gradient goes through `GeometricMean`, `Nearest` and `Median` too, so that it does not pull
        points together or apart as a whole; `Held` keeps it out.

    Examples
    --------
    >>> import torch, lorenyi as lr
    >>> from lorenyi.nn import Entropy
    >>> x = torch.arange(4.0)[:, None].requires_grad_()
    >>> value = Entropy(lr.Renyi(2), lr.Gaussian(1.0))(x)
    >>> value.backward()
    >>> round(value.item(), 4), round(x.grad[0].item(), 4)
    (1.3491, -0.372)
    """

    def __init__(self, entropy: Renyi = LOW_RANK, kernel: AnyKernel = RELATIVE) -> None:
        super().__init__(entropy)
        self.kernel = kernel

    def forward(self, x: Tensor) -> Tensor:
        """Return S(X)."""
        return self.total((1,), x=(x, self.kernel))


class MutualInformation(Term):
    """The mutual information I(X; Y) = S(X) + S(Y) - S(X, Y) of a batch, in bits.

    Parameters
    ----------
    entropy : Renyi
        The functional, as for `Entropy`.
    kernel_x, kernel_y : Kernel or LearnableGaussian, optional
        As for `Entropy`; None is the kernel that fits the type: equality for whole numbers.

    Examples
    --------
    >>> import torch, lorenyi as lr
    >>> from lorenyi.nn import MutualInformation
    >>> x, labels = torch.tensor([[0.0], [0.1], [5.0], [5.1]]), torch.tensor([0, 0, 1, 1])
    >>> information = MutualInformation(lr.Renyi(1), lr.Gaussian(1.0), kernel_y=None)
    >>> round(information(x, labels).item(), 3)
    1.0
    """

    def __init__(
        self,
        entropy: Renyi = LOW_RANK,
        kernel_x: AnyKernel = RELATIVE,
        kernel_y: AnyKernel = RELATIVE,
    ) -> None:
        super().__init__(entropy)
        self.kernel_x = kernel_x
        self.kernel_y = kernel_y

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return I(X; Y)."""
        return self.total((1, 1, -1), x=(x, self.kernel_x), y=(y, self.kernel_y))


class TotalCorrelation(Term):
    """The total correlation sum_i S(X_i) - S(X_1, ..., X_L) of a batch, in bits.

    Parameters
    ----------
    entropy : Renyi
        The functional, as for `Entropy`.
    kernel : Kernel or LearnableGaussian, optional
        Of every variable.

    Examples
    --------
    >>> import torch, lorenyi as lr
    >>> from lorenyi.nn import TotalCorrelation
    >>> coin = torch.tensor([0, 1, 0, 1])
    >>> TotalCorrelation(lr.Renyi(1), lr.Delta())(coin, coin, coin).item()
    2.0
    """

    def __init__(self, entropy: Renyi = LOW_RANK, kernel: AnyKernel = RELATIVE) -> None:
        super().__init__(entropy)
        self.kernel = kernel

    def forward(self, *variables: Tensor) -> Tensor:
        """Return the total correlation of two or more variables."""
        if len(variables) < 2:
            raise ValueError(f"a total correlation is of two or more, found {len(variables)}")
        named = {f"variable {i}": (x, self.kernel) for i, x in enumerate(variables)}
        return self.total([1] * len(variables) + [-1], **named)


def bits(nats: Tensor) -> Tensor:
    """Return an amount given in natural units in bits."""
    return nats / math.log(2)
