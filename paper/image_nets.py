"""The networks of the bottleneck experiments, and the five objectives around one encoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import lorenyi as lr
from lorenyi.nn import (
    Held,
    InformationBottleneck,
    MutualInformation,
    NonlinearBottleneck,
    VariationalBottleneck,
)

ALPHA, RANK, STEPS = 1.01, 10, 20  # the paper's order, k and s
# Bandwidths of x and z: the paper's, and what the library has by default (bottleneck_rules.py).
PAPERS = lr.Gaussian(Held(lr.Nearest(10)))
RULES = {"paper": {"kernel_x": PAPERS, "kernel_z": PAPERS}, "default": {}}
# The paper prints beta = 0.01 for the matrix-based bottlenecks; the two others are ours.
BETAS = {"CE": 0.0, "VIB": 1e-3, "NIB": 1e-3, "MRIB": 0.01, "LRIB": 0.01}
VGG16 = (1, 1, 0, 2, 2, 0, 4, 4, 4, 0, 8, 8, 8, 0, 8, 8, 8, 0)  # widths in units; 0: max pooling


# The evaluator of all objectives: a bandwidth with which none of them trains.
MEDIAN = lr.Gaussian("median")
OF_INPUT = MutualInformation(lr.Renyi(ALPHA), MEDIAN, MEDIAN)
OF_LABELS = MutualInformation(lr.Renyi(ALPHA), MEDIAN, None)


@torch.no_grad()
def judged(x: Tensor, z: Tensor, y: Tensor) -> dict[str, float]:
    """Return what features z hold of inputs and labels (bits), and their spread."""
    return {
        "I(X; Z)": OF_INPUT(x, z).item(),
        "I(Z; Y)": OF_LABELS(z, y).item(),
        "spread": (z - z.mean(0)).square().sum(1).mean().sqrt().item(),
    }


class Standardise(nn.Module):
    """Centre and scale channels, inside the network: noise and attacks are in pixels."""

    def __init__(self, mean: tuple[float, ...], std: tuple[float, ...]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean)[:, None, None])
        self.register_buffer("std", torch.tensor(std)[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean) / self.std


def perceptron(inputs: int, width: int) -> tuple[nn.Module, int]:
    """784 - 1024 - 1024 - 256 at width 1024, and the number of features."""
    features = max(width // 4, 2)
    layers = [nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(nn.Flatten(), *layers, nn.Linear(width, features), nn.ReLU()), features


def vgg16(channels: int, width: int) -> tuple[nn.Module, int]:
    """VGG16 with batch normalisation; width 64 is the full one, 8 * width its features."""
    layers: list[nn.Module] = []
    for unit in VGG16:
        if not unit:
            layers.append(nn.MaxPool2d(2))
            continue
        layers += [nn.Conv2d(channels, unit * width, 3, padding=1, bias=False)]
        layers += [nn.BatchNorm2d(unit * width), nn.ReLU(inplace=True)]
        channels = unit * width
    return nn.Sequential(*layers, nn.Flatten()), 8 * width


class Classifier(nn.Module):
    """Encoder, what the objective puts behind it, and a linear head."""

    def __init__(
        self,
        objective: str,
        encoder: nn.Module,
        features: int,
        standardise: Standardise,
        beta: float,
        rule: str = "paper",
        ramp: int = 0,
    ) -> None:
        super().__init__()
        self.standardise = standardise
        self.encoder = encoder
        self.bottleneck: nn.Module | None = None
        if objective == "VIB":
            self.bottleneck = VariationalBottleneck(features, features, beta, ramp=ramp)
        elif objective == "NIB":
            self.bottleneck = NonlinearBottleneck(beta, ramp=ramp)
        elif objective in ("MRIB", "LRIB"):
            entropy = lr.Renyi(ALPHA, rank=RANK if objective == "LRIB" else None)
            self.bottleneck = InformationBottleneck(entropy, beta, ramp=ramp, **RULES[rule])
        self.head = nn.Linear(features, 10)

    def features(self, x: Tensor) -> Tensor:
        return self.encoder(self.standardise(x))

    def decide(self, h: Tensor) -> Tensor:
        return self.head(self.noisy(h)[0])

    def noisy(self, h: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return what the head reads, and the bound of a stochastic layer."""
        if isinstance(self.bottleneck, (VariationalBottleneck, NonlinearBottleneck)):
            return self.bottleneck(h)
        return h, None

    def forward(self, x: Tensor) -> Tensor:
        return self.decide(self.features(x))

    def loss(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the loss, the logits and the features of a batch."""
        h = self.features(x)
        z, rate = self.noisy(h)
        logits = self.head(z)
        if isinstance(self.bottleneck, InformationBottleneck):
            return self.bottleneck(logits, y, x, h), logits, h
        if self.bottleneck is not None:
            return self.bottleneck.loss(logits, y, rate), logits, h
        return F.cross_entropy(logits, y), logits, h

    def information(self) -> Tensor:
        """Return the information of the last batch, in bits (a bound, for VIB and NIB)."""
        if self.bottleneck is None:
            return torch.tensor(float("nan"))
        return self.bottleneck.information

    def term(self, x: Tensor, h: Tensor) -> Tensor:
        """Return the information term alone, for the clock."""
        if isinstance(self.bottleneck, InformationBottleneck):
            return self.bottleneck.measure(x, h)
        return self.bottleneck(h)[1]
