"""Information bottlenecks: the matrix-based one, and the variational and nonlinear ones."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lorenyi.functionals import Renyi
from lorenyi.nn.kernels import AnyKernel
from lorenyi.nn.matrices import distances
from lorenyi.nn.terms import LOW_RANK, NEAREST, RELATIVE, MutualInformation, bits, precision

TaskLoss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
LOOKED_AT = 100  # steps between two looks at the spread, each a number read from the device
COLLAPSED = 1e-3  # of the first spread


class Bottleneck(nn.Module):
    """A task loss and an amount of information weighed by beta, both kept for logging.

    Attributes
    ----------
    task, information : Tensor or None
        The two parts of the last loss, without gradient.
    """

    task: Tensor | None = None
    information: Tensor | None = None
    steps: Tensor

    def __init__(self, beta: float, task_loss: TaskLoss, ramp: int = 0) -> None:
        super().__init__()
        if not (beta >= 0 and math.isfinite(beta)):
            raise ValueError(f"beta={beta!r}: the weight of the information must not be negative")
        if not isinstance(ramp, int) or ramp < 0:
            raise ValueError(f"ramp={ramp!r}: it is a number of steps, 0 for none")
        self.beta = beta
        self.ramp = ramp
        self.task_loss = task_loss
        if ramp:  # kept with the model, so that a resumed run goes on where it was
            self.register_buffer("steps", torch.zeros((), dtype=torch.float32))

    def extra_repr(self) -> str:
        """Show the weight."""
        return f"beta={self.beta:g}" + (f", ramp={self.ramp}" if self.ramp else "")

    def weigh(self, logits: Tensor, y: Tensor, information: Tensor, penalty: Tensor) -> Tensor:
        """Return task loss + beta * penalty; keep the parts."""
        task = self.task_loss(logits, y)
        self.task, self.information = task.detach(), information.detach()
        return task + self.weight() * penalty

    def weight(self) -> Tensor | float:
        """Return beta, or as much of it as the ramp has reached; a loss in training is a step."""
        if not self.ramp:
            return self.beta
        reached: Tensor = self.beta * (self.steps / self.ramp).clamp(max=1.0)
        if self.training:
            self.steps = self.steps + 1
        return reached


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
        By default Gaussian. The bandwidth of x is the mean distance to the ten nearest points; that
        of z is half the geometric mean distance, and the gradient goes through it: points are not
        pulled together as a whole, and none is sent far away to make the others alike. The paper's
        rule is `Gaussian(Held(Nearest(10)))`; see `Held` for what it does.
    task_loss : callable
        Of logits and targets; the cross-entropy by default.
    ramp : int
        Steps over which beta rises from 0, 0 for none: a large beta from the first step on leaves
        a network no time to learn what to keep.

    Attributes
    ----------
    task, information : Tensor or None
        The two parts of the last loss, without gradient.
    spread : Tensor or None
        Root mean square distance of z to its mean, likewise.

    Warns
    -----
    RuntimeWarning
        Once, where the spread of z has fallen below a thousandth of what it was at first (looked
        at every hundred steps in training): Z is shrunk, not compressed.

    Examples
    --------
    >>> import torch, lorenyi as lr
    >>> from lorenyi.nn import InformationBottleneck
    >>> _ = torch.manual_seed(0)
    >>> x, y = torch.randn(50, 8), torch.arange(50) % 2
    >>> encoder, head = torch.nn.Linear(8, 4), torch.nn.Linear(4, 2)
    >>> loss = InformationBottleneck(beta=0.1, ramp=100)
    >>> z = encoder(x)
    >>> loss(head(z), y, x, z).backward()
    >>> loss
    InformationBottleneck(
      beta=0.1, ramp=100
      (measure): MutualInformation(Renyi(alpha=1.01, rank=10, solver=Auto(...)),
        kernel_x=..., kernel_y=...)
    )
    """

    spread: Tensor | None = None

    def __init__(
        self,
        entropy: Renyi = LOW_RANK,
        beta: float = 0.1,
        kernel_x: AnyKernel = NEAREST,
        kernel_z: AnyKernel = RELATIVE,
        task_loss: TaskLoss = F.cross_entropy,
        ramp: int = 0,
    ) -> None:
        super().__init__(beta, task_loss, ramp)
        self.measure = MutualInformation(entropy, kernel_x, kernel_z)
        self._first: Tensor | None = None
        self._calls = 0
        self._warned = False

    def forward(self, logits: Tensor, y: Tensor, x: Tensor, z: Tensor) -> Tensor:
        """Return task loss + beta * I(X; Z)."""
        information = self.measure(x, z)
        self._look_at(z.detach())
        return self.weigh(logits, y, information, information)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _look_at(self, z: Tensor) -> None:
        """Keep the spread of z; warn where it is gone."""
        z = z.flatten(1).to(precision(z))
        self.spread = (z - z.mean(dim=0)).square().sum(dim=1).mean().sqrt()
        if not self.training or len(z) == 1:
            return
        self._first = self.spread if self._first is None else self._first
        self._calls += 1
        if self._warned or self._calls % LOOKED_AT:
            return
        if bool(self.spread < COLLAPSED * self._first):
            self._warned = True
            warnings.warn(
                f"the spread of z has fallen to {self.spread.item():.1e}, from "
                f"{self._first.item():.1e}: it is shrunk, not compressed. Lower beta, give ramp=, "
                "or take a kernel_z whose bandwidth has its gradient, such as the default.",
                RuntimeWarning,
                stacklevel=3,
            )


class VariationalBottleneck(Bottleneck):
    r"""VIB (Alemi, Fischer, Dillon and Murphy, 2017): a stochastic layer with a Gaussian prior.

    .. math:: z \sim N(\mu(h), \operatorname{diag} \sigma^2(h)), \quad
              I(X; Z) \le E\, KL(N(\mu, \operatorname{diag} \sigma^2) \| N(0, 1))

    Call it on features to get z (a sample while training, its mean otherwise) and the bound in
    bits, which `loss` takes.

    Parameters
    ----------
    in_features, out_features : int
        Columns of the features and of z.
    beta : float
        Weight of the bound, in loss units a bit.
    task_loss : callable
        Of logits and targets; the cross-entropy by default.
    ramp : int
        Steps over which beta rises from 0; 0 for none.

    Examples
    --------
    >>> import torch
    >>> from lorenyi.nn import VariationalBottleneck
    >>> bottleneck, head = VariationalBottleneck(8, 4, beta=0.01), torch.nn.Linear(4, 2)
    >>> z, rate = bottleneck(torch.randn(5, 8))
    >>> bottleneck.loss(head(z), torch.tensor([0, 1, 0, 1, 1]), rate).backward()
    >>> bottleneck.information.item() > 0
    True
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        beta: float = 0.01,
        task_loss: TaskLoss = F.cross_entropy,
        ramp: int = 0,
    ) -> None:
        super().__init__(beta, task_loss, ramp)
        self.encode = nn.Linear(in_features, 2 * out_features)

    def forward(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return z, and the bound on I(X; Z) in bits."""
        with torch.autocast(h.device.type, enabled=False):
            mean, raw = self.encode(h.to(self.encode.weight.dtype)).chunk(2, dim=1)
            mean, raw = mean.to(precision(mean)), raw.to(precision(raw))
            scale = F.softplus(raw - 5.0)  # a small deviation to start with, as published
            kl = 0.5 * (mean**2 + scale**2 - 1.0) - torch.log(scale)
            z = mean + scale * torch.randn_like(mean) if self.training else mean
            return z.to(h.dtype), bits(kl.sum(dim=1).mean())

    def loss(self, logits: Tensor, y: Tensor, rate: Tensor) -> Tensor:
        """Return task loss + beta * bound on I(X; Z)."""
        return self.weigh(logits, y, rate, rate)


class NonlinearBottleneck(Bottleneck):
    r"""NIB (Kolchinsky, Tracey and Wolpert, 2019): noise on z, and a bound from pairs of points.

    .. math:: z = h + \sigma \varepsilon, \quad I(X; Z) \le -\frac{1}{n} \sum_i \log_2 \frac{1}{n}
              \sum_j \exp \frac{-|h_i - h_j|^2}{2 \sigma^2}

    with sigma learned, and the *square* of the bound in the loss, as its authors have it. Call it
    on features to get z (without noise when not training) and the bound in bits, for `loss`.

    Parameters
    ----------
    beta : float
        Weight of the squared bound.
    sigma : float
        Where the noise starts.
    task_loss : callable
        Of logits and targets; the cross-entropy by default.
    ramp : int
        Steps over which beta rises from 0; 0 for none.

    Examples
    --------
    >>> import torch
    >>> from lorenyi.nn import NonlinearBottleneck
    >>> bottleneck, head = NonlinearBottleneck(beta=0.01), torch.nn.Linear(4, 2)
    >>> z, rate = bottleneck(torch.randn(5, 4))
    >>> bottleneck.loss(head(z), torch.tensor([0, 1, 0, 1, 1]), rate).backward()
    >>> 0 < bottleneck.information.item() < 2.33      # at most log2 of the batch
    True
    """

    def __init__(
        self,
        beta: float = 0.01,
        sigma: float = 1.0,
        task_loss: TaskLoss = F.cross_entropy,
        ramp: int = 0,
    ) -> None:
        super().__init__(beta, task_loss, ramp)
        if not (sigma > 0 and math.isfinite(sigma)):
            raise ValueError(f"sigma={sigma!r}: the noise must be positive")
        self.log_sigma = nn.Parameter(torch.tensor(math.log(sigma)))

    def forward(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return z, and the bound on I(X; Z) in bits."""
        with torch.autocast(h.device.type, enabled=False):
            x = h.to(precision(h))
            sigma = torch.exp(self.log_sigma.to(x.dtype))
            distance = distances(x.flatten(1) / sigma)
            mean = torch.logsumexp(-0.5 * distance, dim=1) - math.log(len(x))
            z = x + sigma * torch.randn_like(x) if self.training else x
            return z.to(h.dtype), bits(-mean.mean())

    def loss(self, logits: Tensor, y: Tensor, rate: Tensor) -> Tensor:
        """Return task loss + beta * bound^2."""
        return self.weigh(logits, y, rate, rate**2)
