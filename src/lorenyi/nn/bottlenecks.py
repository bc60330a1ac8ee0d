"""Information bottlenecks: the matrix-based one, and the variational and nonlinear ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lorenyi.functionals import Renyi
from lorenyi.nn.terms import LOW_RANK, NEAREST, AnyKernel, MutualInformation, bits

TaskLoss: TypeAlias = Callable[[Tensor, Tensor], Tensor]


class Bottleneck(nn.Module):
    """A task loss and an amount of information weighed by beta, both kept for logging.

    Attributes
    ----------
    task, information : Tensor or None
        The two parts of the last loss, without gradient.
    """

    task: Tensor | None = None
    information: Tensor | None = None

    def __init__(self, beta: float, task_loss: TaskLoss) -> None:
        super().__init__()
        if not (beta >= 0 and math.isfinite(beta)):
            raise ValueError(f"beta={beta!r}: the weight of the information must not be negative")
        self.beta = beta
        self.task_loss = task_loss

    def extra_repr(self) -> str:
        """Show the weight."""
        return f"beta={self.beta:g}"

    def weigh(self, logits: Tensor, y: Tensor, information: Tensor, penalty: Tensor) -> Tensor:
        """Return task loss + beta * penalty; keep the parts."""
        task = self.task_loss(logits, y)
        self.task, self.information = task.detach(), information.detach()
        return task + self.beta * penalty


class InformationBottleneck(Bottleneck):
    """The loss of the paper: task loss + beta * I(X; Z), I measured on the batch itself.

    With `rank=None` the classical matrix-based bottleneck (MRIB), with `rank=k` its low-rank form
    (LRIB). Z is any representation that the network has anyway: nothing is sampled, no layer is
    added.

    Parameters
    ----------
    entropy : Renyi
        The functional: alpha = 1.01 and rank = 10 by default, as in the paper. `Auto` stands for
        the cheapest solver that gives a good gradient: all eigenvalues without a rank or on few
        rows, else `SubspaceIteration`.
    beta : float
        Weight of the information, in loss units a bit.
    kernel_x, kernel_z : Kernel or LearnableGaussian, optional
        By default Gaussian with the mean distance to the ten nearest points as bandwidth.
    task_loss : callable
        Of logits and targets; the cross-entropy by default.

    Attributes
    ----------
    task, information : Tensor or None
        The two parts of the last loss, without gradient.

    Examples
    --------
    >>> import torch, lorenyi as lr
    >>> from lorenyi.nn import InformationBottleneck
    >>> _ = torch.manual_seed(0)
    >>> x, y = torch.randn(50, 8), torch.arange(50) % 2
    >>> encoder, head = torch.nn.Linear(8, 4), torch.nn.Linear(4, 2)
    >>> loss = InformationBottleneck(beta=0.01)
    >>> z = encoder(x)
    >>> loss(head(z), y, x, z).backward()
    >>> loss
    InformationBottleneck(
      beta=0.01
      (measure): MutualInformation(Renyi(alpha=1.01, rank=10, solver=Auto(...)),
        kernel_x=Gaussian(sigma=Nearest(k=10...)), kernel_y=Gaussian(sigma=Nearest(k=10...)))
    )
    """

    def __init__(
        self,
        entropy: Renyi = LOW_RANK,
        beta: float = 0.01,
        kernel_x: AnyKernel = NEAREST,
        kernel_z: AnyKernel = NEAREST,
        task_loss: TaskLoss = F.cross_entropy,
    ) -> None:
        super().__init__(beta, task_loss)
        self.measure = MutualInformation(entropy, kernel_x, kernel_z)

    def forward(self, logits: Tensor, y: Tensor, x: Tensor, z: Tensor) -> Tensor:
        """Return task loss + beta * I(X; Z)."""
        information = self.measure(x, z)
        return self.weigh(logits, y, information, information)


class VariationalBottleneck(Bottleneck):
    r"""VIB (Alemi, Fischer, Dillon and Murphy, 2017): a stochastic layer with a Gaussian prior.

    .. math:: z \sim N(\mu(h), \operatorname{diag} \sigma^2(h)), \quad
              I(X; Z) \le E\, KL(N(\mu, \operatorname{diag} \sigma^2) \| N(0, 1))

    Call it on features to get z (a sample while training, its mean otherwise), then `loss`.

    Parameters
    ----------
    in_features, out_features : int
        Columns of the features and of z.
    beta : float
        Weight of the bound, in loss units a bit.
    task_loss : callable
        Of logits and targets; the cross-entropy by default.

    Examples
    --------
    >>> import torch
    >>> from lorenyi.nn import VariationalBottleneck
    >>> bottleneck, head = VariationalBottleneck(8, 4, beta=0.01), torch.nn.Linear(4, 2)
    >>> z = bottleneck(torch.randn(5, 8))
    >>> bottleneck.loss(head(z), torch.tensor([0, 1, 0, 1, 1])).backward()
    >>> bottleneck.information.item() > 0
    True
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        beta: float = 0.01,
        task_loss: TaskLoss = F.cross_entropy,
    ) -> None:
        super().__init__(beta, task_loss)
        self.encode = nn.Linear(in_features, 2 * out_features)
        self._rate: Tensor | None = None

    def forward(self, h: Tensor) -> Tensor:
        """Return z."""
        mean, raw = self.encode(h).chunk(2, dim=1)
        scale = F.softplus(raw - 5.0)  # a small deviation to start with, as published
        kl = 0.5 * (mean**2 + scale**2 - 1.0) - torch.log(scale)
        self._rate = bits(kl.sum(dim=1).mean())
        z: Tensor = mean + scale * torch.randn_like(mean) if self.training else mean
        return z

    def loss(self, logits: Tensor, y: Tensor) -> Tensor:
        """Return task loss + beta * bound on I(X; Z), of the batch last called on."""
        rate = called(self._rate)
        return self.weigh(logits, y, rate, rate)


class NonlinearBottleneck(Bottleneck):
    r"""NIB (Kolchinsky, Tracey and Wolpert, 2019): noise on z, and a bound from pairs of points.

    .. math:: z = h + \sigma \varepsilon, \quad I(X; Z) \le -\frac{1}{n} \sum_i \log_2 \frac{1}{n}
              \sum_j \exp \frac{-|h_i - h_j|^2}{2 \sigma^2}

    with sigma learnt, and the *square* of the bound in the loss, as its authors have it. Call it on
    features to get z (without noise when not training), then `loss`.

    Parameters
    ----------
    beta : float
        Weight of the squared bound.
    sigma : float
        Where the noise starts.
    task_loss : callable
        Of logits and targets; the cross-entropy by default.

    Examples
    --------
    >>> import torch
    >>> from lorenyi.nn import NonlinearBottleneck
    >>> bottleneck, head = NonlinearBottleneck(beta=0.01), torch.nn.Linear(4, 2)
    >>> z = bottleneck(torch.randn(5, 4))
    >>> bottleneck.loss(head(z), torch.tensor([0, 1, 0, 1, 1])).backward()
    >>> 0 < bottleneck.information.item() < 2.33      # at most log2 of the batch
    True
    """

    def __init__(
        self, beta: float = 0.01, sigma: float = 1.0, task_loss: TaskLoss = F.cross_entropy
    ) -> None:
        super().__init__(beta, task_loss)
        if not (sigma > 0 and math.isfinite(sigma)):
            raise ValueError(f"sigma={sigma!r}: the noise must be positive")
        self.log_sigma = nn.Parameter(torch.tensor(math.log(sigma)))
        self._rate: Tensor | None = None

    def forward(self, h: Tensor) -> Tensor:
        """Return z."""
        sigma = torch.exp(self.log_sigma)
        with torch.autocast(h.device.type, enabled=False):
            scaled = h.flatten(1).float() / sigma
            squares = (scaled**2).sum(dim=1)
            distance = squares[:, None] + squares[None, :] - 2 * scaled @ scaled.T
            mean = torch.logsumexp(-0.5 * distance.clamp(min=0), dim=1) - math.log(len(h))
            self._rate = bits(-mean.mean())
        return h + sigma * torch.randn_like(h) if self.training else h

    def loss(self, logits: Tensor, y: Tensor) -> Tensor:
        """Return task loss + beta * bound^2, of the batch last called on."""
        rate = called(self._rate)
        return self.weigh(logits, y, rate, rate**2)


def called(rate: Tensor | None) -> Tensor:
    """Return the rate that a call left behind."""
    if rate is None:
        raise RuntimeError("call the bottleneck on features first: z = bottleneck(h)")
    return rate
