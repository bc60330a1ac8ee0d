"""Distances of a batch, and bandwidths from them, in plain tensor operations.

A rule takes the squared distances and returns sigma^2, with a function that returns the symmetric
derivative of log sigma^2 by each squared distance. Where all points are equal any bandwidth will
do: sigma^2 is positive then, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

Slope: TypeAlias = Callable[[], Tensor]
Rule: TypeAlias = Callable[[Tensor], tuple[Tensor, Slope | None]]


def distances(x: Tensor) -> Tensor:
    """Return |x_i - x_j|^2 of all rows, 0 for i = j."""
    product = x @ x.mT
    squares = product.diagonal(dim1=-2, dim2=-1).clone()
    product *= -2
    product += squares[..., :, None]
    product += squares[..., None, :]
    return product.relu_()  # what rounding makes of 0; nan stays


# ------------------------------------------------------------------------------- bandwidths


def one(distance: Tensor) -> tuple[Tensor, Slope | None]:
    """Return a bandwidth of one, for points that are measured in it."""
    return distance.new_ones(()), None


def held(rule: Rule) -> Rule:
    """Return a rule whose bandwidth counts as a constant where a gradient is taken."""
    return lambda distance: (rule(distance)[0], None)


def nearest(k: int) -> Rule:
    """Return the rule of the mean distance to the k nearest others."""

    def rule(distance: Tensor) -> tuple[Tensor, Slope]:
        n = distance.shape[-1]
        others = distance + torch.diag(distance.new_full((n,), torch.inf))
        near = torch.topk(others, min(k, n - 1), largest=False, sorted=False)
        root = near.values.sqrt()
        sigma = root.mean()

        def slope() -> Tensor:
            each = torch.where(root > 0, 1 / (root * sigma * root.numel()), 0.0)
            both = torch.zeros_like(distance).scatter(-1, near.indices, each)
            return 0.5 * (both + both.mT)

        return torch.where(sigma == 0, 1.0, sigma**2), slope

    return rule


def median(distance: Tensor) -> tuple[Tensor, Slope]:
    """Return the median distance of points that differ (the lower of two)."""
    found = torch.where(distance > 0, distance, torch.nan).nanmedian()
    square = torch.where(found > 0, found, 1.0)

    def slope() -> Tensor:
        there = (distance == square).to(distance.dtype)  # shared by pairs that are as far apart
        return there / (there.sum().clamp(min=1) * square)

    return square, slope


def geometric(share: float) -> Rule:
    """Return the rule of a share of the geometric mean distance of points that differ."""

    def rule(distance: Tensor) -> tuple[Tensor, Slope]:
        # Points do not differ by what rounding makes of 0.
        equal = distance <= 16 * torch.finfo(distance.dtype).eps * distance.amax()
        count = (distance.shape[-1] ** 2 - equal.sum()).clamp(min=1)
        mean = distance.log().masked_fill_(equal, 0.0).sum() / count

        def slope() -> Tensor:
            return distance.reciprocal().masked_fill_(equal, 0.0).div_(count)

        return mean.exp() * share**2, slope

    return rule
