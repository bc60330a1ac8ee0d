"""Measures as loss terms: entropy, mutual information, total correlation of batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias, cast

import torch
from torch import Tensor, nn

from lorenyi.bandwidths import Nearest
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram, gram, joint, stored_gram
from lorenyi.kernels import Gaussian, Kernel
from lorenyi.spectra import Auto, Exact, SubspaceIteration


class LearnableGaussian(nn.Module):
    """A Gaussian kernel whose bandwidth is a parameter, exp(-|x - y|^2 / (2 sigma^2)).

    A term that is minimised over its own bandwidth is minimal where that is infinite: learn it
    under another objective, or with the sign that makes it informative.

    Parameters
    ----------
    sigma : float or sequence of float
        Where it starts: one number, or one for each column.

    Examples
    --------
    >>> from lorenyi.nn import LearnableGaussian
    >>> LearnableGaussian(2.0)
    LearnableGaussian(sigma=2)
    """

    def __init__(self, sigma: float | Sequence[float] = 1.0) -> None:
        super().__init__()
        start = Gaussian(sigma).sigma
        if not isinstance(start, (float, tuple)):
            raise ValueError(f"sigma={sigma!r}: a learnable bandwidth starts from a number")
        self.log_sigma = nn.Parameter(torch.log(torch.tensor(start)))

    @property
    def sigma(self) -> Tensor:
        """The bandwidth now, with its gradient."""
        return torch.exp(self.log_sigma)

    def forward(self, x: Tensor) -> Gram:
        """Return the Gram of a batch."""
        return gram(x.flatten(1) / self.sigma, Gaussian(1.0))

    def extra_repr(self) -> str:
        """Show the bandwidth."""
        values = self.sigma.detach().flatten().tolist()
        shown = ", ".join(f"{value:.4g}" for value in values[:4])
        return f"sigma={shown}" if self.sigma.ndim == 0 else f"sigma=({shown})"


AnyKernel: TypeAlias = Kernel | LearnableGaussian | None
LOW_RANK = Renyi(1.01, rank=10)  # the paper's order and rank
NEAREST = Gaussian(Nearest(10))  # and its rule for the bandwidth


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

    # Solvers choose by values, on NumPy arrays where that is faster: nothing for a tracer.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def entropies(self, **variables: tuple[Tensor, AnyKernel]) -> list[Tensor]:
        """Return the entropy of each variable, then of all jointly; in bits, at least float32."""
        tensors = [tensor for tensor, _ in variables.values()]
        rows = {name: len(tensor) for name, (tensor, _) in variables.items()}
        if len(set(rows.values())) > 1 or 0 in rows.values():
            raise ValueError(f"a batch has the same rows in all its variables, found {rows}")
        if len(tensors[0]) == 1:  # one point has no entropy, wherever it is
            zeros = [t[:0].to(precision(t)).sum() for t in tensors]
            return [*zeros, cast(Tensor, sum(zeros))]
        with torch.autocast(tensors[0].device.type, enabled=False):
            entropy = for_batch(self.entropy, len(tensors[0]))
            of_entries = entropy.solver.alike
            grams = [batch_gram(t, k, name, of_entries) for name, (t, k) in variables.items()]
            whole = [joint(*grams)] if len(grams) > 1 else []
            return entropy.each(*grams, *whole)


def precision(x: Tensor) -> torch.dtype:
    """Return the precision in which a tensor is measured: at least float32."""
    return torch.promote_types(x.dtype, torch.float32)


def batch_gram(x: Tensor, kernel: AnyKernel, name: str, of_entries: bool) -> Gram:
    """Return the Gram of a batch; of its entries alone where these, made once, are all it takes."""
    if isinstance(kernel, LearnableGaussian):
        A: Gram = kernel(x)
        return A.symmetric() if of_entries else A
    return stored_gram(x, kernel, name=name) if of_entries else gram(x, kernel, name=name)


@lru_cache(maxsize=64)
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
        By default a Gaussian whose bandwidth is the mean distance to the ten nearest points,
        without gradient.

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

    def __init__(self, entropy: Renyi = LOW_RANK, kernel: AnyKernel = NEAREST) -> None:
        super().__init__(entropy)
        self.kernel = kernel

    def forward(self, x: Tensor) -> Tensor:
        """Return S(X)."""
        value: Tensor = self.entropies(x=(x, self.kernel))[0]
        return value


class MutualInformation(Term):
    """The mutual information I(X; Y) = S(X) + S(Y) - S(X, Y) of a batch, in bits.

    Parameters
    ----------
    entropy : Renyi
        The functional, as for `Entropy`.
    kernel_x, kernel_y : Kernel or LearnableGaussian, optional
        As for `Entropy`; None is the kernel that fits the type: equality for integer labels.

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
        kernel_x: AnyKernel = NEAREST,
        kernel_y: AnyKernel = NEAREST,
    ) -> None:
        super().__init__(entropy)
        self.kernel_x = kernel_x
        self.kernel_y = kernel_y

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return I(X; Y)."""
        a, b, together = self.entropies(x=(x, self.kernel_x), y=(y, self.kernel_y))
        value: Tensor = a + b - together
        return value


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

    def __init__(self, entropy: Renyi = LOW_RANK, kernel: AnyKernel = NEAREST) -> None:
        super().__init__(entropy)
        self.kernel = kernel

    def forward(self, *variables: Tensor) -> Tensor:
        """Return the total correlation of two or more variables."""
        if len(variables) < 2:
            raise ValueError(f"a total correlation is of two or more, found {len(variables)}")
        named = {f"variable {i}": (x, self.kernel) for i, x in enumerate(variables)}
        *alone, together = self.entropies(**named)
        value: Tensor = torch.stack(alone).sum() - together
        return value


def bits(nats: Tensor) -> Tensor:
    """Return an amount given in natural units in bits."""
    return nats / math.log(2)
