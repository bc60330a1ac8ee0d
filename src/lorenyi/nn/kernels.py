"""Kernel matrices of a batch, with the gradient through the bandwidth as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor, nn

from lorenyi.bandwidths import Bandwidth, GeometricMean, Median, Nearest
from lorenyi.data.sources import Source
from lorenyi.gram import Gram, gram
from lorenyi.kernels import Delta, Gaussian, Kernel
from lorenyi.nn.matrices import Rule, geometric, held, median, nearest, one


class LearnableGaussian(nn.Module):
    """A Gaussian kernel whose bandwidth is a parameter, exp(-|x - y|^2 / (2 sigma^2)).

    A term that is minimized over its own bandwidth is minimal where that is infinite: learn it
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


@dataclass(frozen=True)
class Held(Bandwidth):
    """A bandwidth rule that follows the batch but is held fixed where a gradient is taken.

    `Gaussian(Held(Nearest(10)))` is the rule of the paper. A value by such a rule does not depend
    on the scale of the points, and yet its gradient does: a step against it pulls all points
    together, by an amount that grows as they approach each other, while the value stays. As a
    bottleneck it shrinks Z: from the first step on that may kill the network, with a beta that
    rises slowly it is a penalty on the size of Z. The page on training has the table.

    Parameters
    ----------
    rule : Bandwidth
        Such as `Nearest(10)`.

    Examples
    --------
    >>> import lorenyi as lr
    >>> from lorenyi.nn import Held, InformationBottleneck
    >>> paper = lr.Gaussian(Held(lr.Nearest(10)))
    >>> InformationBottleneck(beta=0.01, kernel_x=paper, kernel_z=paper).measure.kernel_y
    Gaussian(sigma=Held(rule=Nearest(k=10, sample=1000, seed=0)))
    """

    rule: Bandwidth

    def __post_init__(self) -> None:
        if not isinstance(self.rule, Bandwidth) or isinstance(self.rule, Held):
            raise TypeError(f"Held({self.rule!r}): give a bandwidth rule such as Nearest(10)")

    def __call__(self, points: Source, weights: Source | None) -> float | tuple[float, ...]:
        """Return the bandwidth of the rule."""
        return self.rule(points, weights)


AnyKernel: TypeAlias = Kernel | LearnableGaussian | None


def settled(x: Tensor, kernel: AnyKernel) -> Kernel | LearnableGaussian:
    """Return a kernel, or the one that fits a tensor's type: equality for whole numbers."""
    if kernel is not None:
        return kernel
    return Gaussian(Median()) if x.is_floating_point() else Delta()


def is_plain(kernel: Kernel | LearnableGaussian) -> bool:
    """Tell whether `points` knows a kernel; others are measured by a `Gram`."""
    if isinstance(kernel, (LearnableGaussian, Delta)):
        return True
    if type(kernel) is not Gaussian:
        return False
    rule = kernel.sigma.rule if isinstance(kernel.sigma, Held) else kernel.sigma
    if isinstance(rule, Median):
        return not rule.per_column and not rule.standardize
    return isinstance(rule, (float, tuple, Nearest, GeometricMean))


def points(
    x: Tensor, kernel: Kernel | LearnableGaussian, dtype: torch.dtype
) -> tuple[Tensor, Rule | None]:
    """Return points and the rule of their Gaussian's bandwidth; of labels the kernel matrix."""
    x = x.flatten(1) if x.ndim > 1 else x[:, None]
    if isinstance(kernel, Delta):
        return (x[:, None] == x[None]).all(dim=2).to(dtype), None
    x = x.to(dtype)
    if isinstance(kernel, LearnableGaussian):
        return x / kernel.sigma, one
    assert isinstance(kernel, Gaussian)
    sigma = kernel.sigma
    if isinstance(sigma, Bandwidth):
        return x, rule_of(sigma)
    if isinstance(sigma, tuple) and len(sigma) != x.shape[1]:
        raise ValueError(f"{kernel!r} has {len(sigma)} bandwidths for {x.shape[1]} columns")
    assert isinstance(sigma, (float, tuple))
    return x / (sigma if isinstance(sigma, float) else x.new_tensor(sigma)), one


def rule_of(rule: Bandwidth) -> Rule:
    """Return a rule for squared distances, whose gradient goes through it unless it is held."""
    if isinstance(rule, Held):
        return held(rule_of(rule.rule))
    if isinstance(rule, Nearest):
        return nearest(rule.k)
    return geometric(rule.share) if isinstance(rule, GeometricMean) else median
