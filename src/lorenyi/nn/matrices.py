"""Kernel matrices of a batch in plain tensor operations, with the gradient through the bandwidth.

Nothing is read back from the device, and nothing is refused for its values: a number that is not
finite becomes a loss that is not, as a gradient scaler expects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

# ------------------------------------------------------------------------------- matrices


def distances(x: Tensor) -> Tensor:
    """Return |x_i - x_j|^2 of all rows, 0 for i = j."""
    product = x @ x.mT
    squares = product.diagonal(dim1=-2, dim2=-1).clone()
    product *= -2
    product += squares[..., :, None]
    product += squares[..., None, :]
    return product.clamp_(min=0)  # what rounding makes of 0; nan stays


class GaussianMatrix(torch.autograd.Function):
    """exp(-d^2 / (2 sigma^2)) of all rows, sigma by a rule; its gradient in one product.

    It is taken on one side and counted twice, so it is right for functions of the matrix that treat
    rows and columns alike. There is no second derivative: eigenvectors would be missing from it.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, rule: Rule | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the matrix, squared distances, the squared bandwidth, and the centered points.

        Products lose few digits where points are near the origin.
        """
        x = x - x.mean(dim=0)
        distance = distances(x)
        square = x.new_ones(()) if rule is None else rule.square(distance)
        return (distance * (-0.5 / square)).exp_(), distance, square, x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep what the gradient takes."""
        _, ctx.rule = inputs
        matrix, distance, square, x = output
        ctx.mark_non_differentiable(distance, square, x)
        ctx.set_materialize_grads(False)  # no zeros for what has no gradient
        moves = ctx.rule is not None and not ctx.rule.held
        ctx.save_for_backward(x, matrix, distance if moves else square, square)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> Any:
        """Return 4 sum_j W_ij (x_i - x_j), W the slope with respect to the squared distances."""
        x, matrix, distance, square = ctx.saved_tensors
        W = (gradient * matrix).mul_(-0.5 / square)
        if ctx.rule is not None and not ctx.rule.held:
            pull = W.flatten() @ distance.flatten()  # minus the slope with respect to log sigma^2
            W -= pull * ctx.rule.slope(distance, square)
        rows = W.sum(dim=-1, keepdim=True)
        return 4 * (rows * x).sub_(W @ x), None


def gaussian(x: Tensor, rule: Rule | None) -> Tensor:
    """Return the Gaussian kernel of points."""
    if not x.requires_grad:  # a function with a gradient takes its time
        return GaussianMatrix.forward(x, rule)[0]
    matrix: Tensor = GaussianMatrix.apply(x, rule)[0]  # type: ignore[no-untyped-call]
    return matrix


# ------------------------------------------------------------------------------- bandwidths


class Rule(ABC):
    """A bandwidth from squared distances: sigma^2, and the slope of its logarithm.

    Where all points are equal any bandwidth will do: sigma^2 is positive then, too.
    """

    held = False

    @abstractmethod
    def square(self, distance: Tensor) -> Tensor:
        """Return sigma^2."""

    @abstractmethod
    def slope(self, distance: Tensor, square: Tensor) -> Tensor:
        """Return the symmetric derivative of log sigma^2 by each squared distance."""


@dataclass(frozen=True)
class NearestRule(Rule):
    """The mean distance to the k nearest others."""

    k: int
    held: bool = False

    def square(self, distance: Tensor) -> Tensor:
        """Return the square of the mean."""
        mean: Tensor = self._near(distance).values.sqrt().mean()
        return torch.where(mean == 0, 1.0, mean**2)

    def slope(self, distance: Tensor, square: Tensor) -> Tensor:
        """Return 1 / (d sigma) for each neighbor, over their number; half of it either way."""
        near = self._near(distance)
        root = near.values.sqrt()
        each = torch.where(root > 0, 1 / (root * square.sqrt() * root.numel()), 0.0)
        both = torch.zeros_like(distance).scatter(-1, near.indices, each)
        return 0.5 * (both + both.mT)

    def _near(self, distance: Tensor) -> Any:
        """Return the nearest others: a point itself is not among them."""
        n = distance.shape[-1]
        others = distance + torch.diag(distance.new_full((n,), torch.inf))
        return torch.topk(others, min(self.k, n - 1), largest=False, sorted=False)


@dataclass(frozen=True)
class MedianRule(Rule):
    """The median distance of points that differ (the lower of two)."""

    held: bool = False

    def square(self, distance: Tensor) -> Tensor:
        """Return the square of the median."""
        found = torch.where(distance > 0, distance, torch.nan).nanmedian()
        return torch.where(found > 0, found, 1.0)

    def slope(self, distance: Tensor, square: Tensor) -> Tensor:
        """Return 1 / sigma^2 at the median, shared by pairs that are as far apart."""
        there = (distance == square).to(distance.dtype)
        return there / (there.sum().clamp(min=1) * square)


@dataclass(frozen=True)
class GeometricRule(Rule):
    """A share of the geometric mean distance of points that differ."""

    share: float
    held: bool = False

    def square(self, distance: Tensor) -> Tensor:
        """Return share^2 exp(mean log d^2)."""
        apart, count = self._apart(distance)
        return (distance.log().masked_fill_(~apart, 0.0).sum() / count).exp() * self.share**2

    def slope(self, distance: Tensor, square: Tensor) -> Tensor:
        """Return 1 / d^2 of points that differ, over their number."""
        apart, count = self._apart(distance)
        return (1 / (count * distance)).masked_fill_(~apart, 0.0)

    def _apart(self, distance: Tensor) -> tuple[Tensor, Tensor]:
        """Return which points differ, by more than rounding makes of it; how many do."""
        apart = distance > 16 * torch.finfo(distance.dtype).eps * distance.amax()
        return apart, apart.sum().clamp(min=1)
