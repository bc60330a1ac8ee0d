"""Which bottleneck compresses: objectives on two small networks, all judged by one evaluator.

    python paper/bottleneck_rules.py --data FOLDER

4,000 images of MNIST, a multilayer perceptron and a convolutional network without batch
normalization. The evaluator reads 2,000 test images: accuracy, also with noise and after an FGSM
step; and of the features Z of 500 of them I(X; Z), I(Z; Y) (order 1.01, all eigenvalues, the median
distance as bandwidth, which no objective trains with) and their spread. Each run is a line of
runs.jsonl in --out, so that a stopped script resumes; table.md has means over seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import results, tell
from image_data import Images, mnist, pixels
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

FEATURES, BATCH, RATE, RAMP = 64, 100, 0.05, 200
PAPER = lr.Gaussian(Held(lr.Nearest(10)))
JUDGE = MutualInformation(lr.Renyi(1.01), lr.Gaussian("median"), lr.Gaussian("median"))
OF_LABELS = MutualInformation(lr.Renyi(1.01), lr.Gaussian("median"), None)


def matrix_based(beta: float, kernel: lr.Gaussian | None = None, ramp: int = 0) -> Any:
    kernels = {} if kernel is None else {"kernel_x": kernel, "kernel_z": kernel}
    return lambda: InformationBottleneck(beta=beta, ramp=ramp, **kernels)


OBJECTIVES: dict[str, Any] = {
    "cross-entropy": lambda: None,
    "default, beta 0.1": matrix_based(0.1),
    "default, beta 0.3": matrix_based(0.3),
    "default, beta 0.3, ramp": matrix_based(0.3, ramp=RAMP),
    "paper's rule, beta 0.01": matrix_based(0.01, PAPER),
    "paper's rule, beta 0.1": matrix_based(0.1, PAPER),
    "paper's rule, beta 0.1, ramp": matrix_based(0.1, PAPER, RAMP),
    "VIB, beta 0.001": lambda: VariationalBottleneck(FEATURES, FEATURES, 1e-3),
    "VIB, beta 0.01": lambda: VariationalBottleneck(FEATURES, FEATURES, 1e-2),
    "NIB, beta 0.001": lambda: NonlinearBottleneck(1e-3),
    "NIB, beta 0.01": lambda: NonlinearBottleneck(1e-2),
}


class Net(nn.Module):
    """An encoder of 64 features, what an objective puts behind it, and a linear head."""

    def __init__(self, kind: str, bottleneck: nn.Module | None, mean: float, std: float) -> None:
        super().__init__()
        wide = [nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU()]
        folded: list[nn.Module] = [nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU()]
        folded += [nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten()]
        layers, last = (wide, 256) if kind == "perceptron" else (folded, 784)
        self.encoder = nn.Sequential(*layers, nn.Linear(last, FEATURES), nn.ReLU())
        self.bottleneck = bottleneck
        self.head = nn.Linear(FEATURES, 10)
        self.mean, self.std = mean, std

    def features(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        h = self.encoder((x - self.mean) / self.std)
        if isinstance(self.bottleneck, (VariationalBottleneck, NonlinearBottleneck)):
            return self.bottleneck(h)
        return h, None

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x)[0])

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        z, rate = self.features(x)
        logits = self.head(z)
        if isinstance(self.bottleneck, InformationBottleneck):
            return self.bottleneck(logits, y, x, z)
        if self.bottleneck is not None:
            return self.bottleneck.loss(logits, y, rate)
        return F.cross_entropy(logits, y)


def evaluate(net: Net, x: Tensor, y: Tensor) -> dict[str, float]:
    """Return what is known of a network, whatever it was trained with."""
    net.eval()
    attacked = x.clone().requires_grad_()
    F.cross_entropy(net(attacked), y).backward()
    noise = torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    seen = {
        "accuracy": x,
        "noise 0.4": (x + 0.4 * noise).clamp(0, 1),
        "FGSM 0.1": (x + 0.1 * attacked.grad.sign()).clamp(0, 1),
    }
    with torch.no_grad():
        found = {k: 100 * (net(v).argmax(1) == y).float().mean().item() for k, v in seen.items()}
        z = net.features(x[:500])[0]
        found["I(X; Z)"] = JUDGE(x[:500], z).item()
        found["I(Z; Y)"] = OF_LABELS(z, y[:500]).item()
        found["spread"] = (z - z.mean(0)).square().sum(1).mean().sqrt().item()
    return found


def trained(kind: str, objective: str, seed: int, images: Images, epochs: int) -> Net:
    torch.manual_seed(seed)
    net = Net(kind, OBJECTIVES[objective](), images.mean[0], images.std[0])
    optimizer = torch.optim.SGD(net.parameters(), RATE, momentum=0.9, weight_decay=5e-4)
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (0.1 if epoch == epochs - 1 else 1.0)
        for index in torch.randperm(len(images.train)).split(BATCH):
            optimizer.zero_grad()
            net.loss(pixels(images.train[index]), images.train_labels[index]).backward()
            optimizer.step()
    return net


def table(runs: list[dict[str, Any]]) -> str:
    names = [name for name in runs[0] if name not in ("network", "objective", "seed")]
    lines = ["| network | objective | alive | " + " | ".join(names) + " |"]
    lines += ["| --- | --- | --- |" + " ---: |" * len(names)]
    for key in dict.fromkeys((run["network"], run["objective"]) for run in runs):
        own = [run for run in runs if (run["network"], run["objective"]) == key]
        shown = []
        for name in names:
            values = np.array([run[name] for run in own])
            digits = 1 if name[0] in "anF" or name == "spread" else 2
            error = f" ± {values.std(ddof=1):.{digits}f}" if len(own) > 1 else ""
            shown.append(f"{values.mean():.{digits}f}{error}")
        alive = sum(run["accuracy"] > 50 for run in own)
        lines.append(f"| {key[0]} | {key[1]} | {alive} of {len(own)} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> list[dict[str, Any]]:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small, to see that it runs")
    parser.add_argument("--data", type=Path, help="folder of mnist.npz (default: $LORENYI_DATA)")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", type=int)
    given = parser.parse_args(words)
    images = mnist(given.data or Path(os.environ.get("LORENYI_DATA", ".")))
    images = images.fewer(300 if given.quick else 4000)
    seeds, epochs = given.seeds or (1 if given.quick else 5), 1 if given.quick else 12
    out = given.out or results("bottleneck-rules", given.quick)
    out.mkdir(parents=True, exist_ok=True)
    file = out / "runs.jsonl"
    runs = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(run["network"], run["objective"], run["seed"]) for run in runs}
    test, labels = pixels(images.test[:2000]), images.test_labels[:2000]
    for seed in range(seeds):
        for kind in ("perceptron", "convolutional"):
            for objective in OBJECTIVES:
                if (kind, objective, seed) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)  # a collapse is in the table
                    net = trained(kind, objective, seed, images, epochs)
                run = {"network": kind, "objective": objective, "seed": seed}
                runs.append(run | evaluate(net, test, labels))
                with file.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(runs[-1]) + "\n")
                tell(f"{kind}, {objective}, seed {seed}: {runs[-1]['accuracy']:.1f} %")
        (out / "table.md").write_text(table(runs), encoding="utf-8")
    return runs


if __name__ == "__main__":
    main()
