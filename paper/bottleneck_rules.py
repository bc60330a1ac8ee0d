"""Which bottleneck compresses: objectives on small networks, all judged by one evaluator.

    python paper/bottleneck_rules.py mnist --data FOLDER
    python paper/bottleneck_rules.py subset --data FOLDER --seeds 3

MNIST (4,000 images): a multilayer perceptron and a convolutional network, both without batch
normalization. Subset of CIFAR-10 (8,000 images): a convolutional network with it. Every objective
has as many settings: three values of beta, each with and without a ramp. The evaluator reads 2,000
test images: accuracy, also with noise and after an FGSM step; and of the features Z of 500 of them
I(X; Z), I(Z; Y) (order 1.01, all eigenvalues, the median distance as bandwidth, which no objective
trains with) and their spread. Each run is a line of runs.jsonl in --out, so that a stopped script
resumes; table.md has means over seeds, chosen.md for each objective the setting that is the most
accurate on 2,000 other images, the validation images.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import results, tell
from image_data import READERS, Images, pixels
from image_nets import RULES, judged
from torch import Tensor, nn
from torch.nn import functional as F

from lorenyi.nn import (
    InformationBottleneck,
    NonlinearBottleneck,
    VariationalBottleneck,
)

FEATURES, BATCH, RATE, RAMP = 64, 100, 0.05, 200
ALIVE = 20.0  # percent: a collapsed network says one class, about 10


@dataclass(frozen=True)
class Task:
    """Images, networks and attacks of one data set."""

    rows: int
    epochs: int
    networks: tuple[str, ...]
    noise: float
    attack: float
    held_out: int = 2000


TASKS = {
    "mnist": Task(4000, 12, ("perceptron", "convolutional"), 0.4, 0.1),
    "subset": Task(8000, 10, ("normalized",), 0.1, 0.016),
}
# Three values of beta each, a factor of three apart, with the best of first trials among them.
BETAS = {
    "default": (0.1, 0.3, 1.0),
    "paper's rule": (0.01, 0.03, 0.1),
    "VIB": (0.001, 0.003, 0.01),
    "NIB": (0.003, 0.01, 0.03),
}
OBJECTIVES = {
    "cross-entropy": ("cross-entropy", 0.0, 0),
    **{
        f"{name}, beta {beta:g}{', ramp' if ramp else ''}": (name, beta, ramp)
        for name, betas in BETAS.items()
        for ramp in (0, RAMP)
        for beta in betas
    },
}


def bottleneck(objective: str) -> nn.Module | None:
    """Return what an objective puts behind the encoder."""
    name, beta, ramp = OBJECTIVES[objective]
    if name in ("default", "paper's rule"):
        rule = RULES["default" if name == "default" else "paper"]
        return InformationBottleneck(beta=beta, ramp=ramp, **rule)
    if name == "VIB":
        return VariationalBottleneck(FEATURES, FEATURES, beta, ramp=ramp)
    return NonlinearBottleneck(beta, ramp=ramp) if name == "NIB" else None


def encoder(kind: str) -> nn.Module:
    """Return an encoder of 64 features."""
    layers: list[nn.Module]
    if kind == "perceptron":
        layers = [nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU()]
        last = 256
    elif kind == "convolutional":
        layers = [nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU()]
        layers += [nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten()]
        last = 784
    else:
        layers, channels = [], 3
        for width in (16, 32, 64):
            layers += [nn.Conv2d(channels, width, 3, stride=2, padding=1, bias=False)]
            layers += [nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        layers, last = [*layers, nn.Flatten()], 1024
    return nn.Sequential(*layers, nn.Linear(last, FEATURES), nn.ReLU())


class Net(nn.Module):
    """An encoder, what an objective puts behind it, and a linear head."""

    def __init__(self, kind: str, objective: str, images: Images) -> None:
        super().__init__()
        self.encoder = encoder(kind)
        self.bottleneck = bottleneck(objective)
        self.head = nn.Linear(FEATURES, 10)
        self.mean, self.std = (torch.tensor(v)[:, None, None] for v in (images.mean, images.std))

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


def evaluate(net: Net, task: Task, x: Tensor, y: Tensor) -> dict[str, float]:
    """Return what is known of a network, whatever it was trained with."""
    net.eval()
    attacked = x.clone().requires_grad_()
    F.cross_entropy(net(attacked), y).backward()
    noise = torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    seen = {
        "accuracy": x,
        f"noise {task.noise:g}": (x + task.noise * noise).clamp(0, 1),
        f"FGSM {task.attack:g}": (x + task.attack * attacked.grad.sign()).clamp(0, 1),
    }
    with torch.no_grad():
        found = {k: accuracy(net, v, y) for k, v in seen.items()}
        return found | judged(x[:500], net.features(x[:500])[0], y[:500])


def accuracy(net: Net, x: Tensor, y: Tensor) -> float:
    """Return the share of images that are recognized, in percent."""
    return 100 * (net(x).argmax(1) == y).float().mean().item()


def trained(kind: str, objective: str, seed: int, images: Images, epochs: int) -> Net:
    torch.manual_seed(seed)
    net = Net(kind, objective, images)
    optimizer = torch.optim.SGD(net.parameters(), RATE, momentum=0.9, weight_decay=5e-4)
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (0.1 if epoch == epochs - 1 else 1.0)
        for index in torch.randperm(len(images.train)).split(BATCH):
            optimizer.zero_grad()
            net.loss(pixels(images.train[index]), images.train_labels[index]).backward()
            optimizer.step()
    return net


# ------------------------------------------------------------------------------- tables


def table(runs: list[dict[str, Any]]) -> str:
    """Return means and deviations over seeds, one line for each network and objective."""
    names = [name for name in runs[0] if name not in ("network", "objective", "seed")]
    lines = ["| network | objective | alive | " + " | ".join(names) + " |"]
    lines += ["| --- | --- | --- |" + " ---: |" * len(names)]
    for key, own in grouped(runs).items():
        shown = []
        for name in names:
            values = np.array([run[name] for run in own])
            digits = 2 if name.startswith("I(") else 1
            error = f" ± {values.std(ddof=1):.{digits}f}" if len(own) > 1 else ""
            shown.append(f"{values.mean():.{digits}f}{error}")
        alive = sum(run["accuracy"] > ALIVE for run in own)
        lines.append(f"| {key[0]} | {key[1]} | {alive} of {len(own)} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def grouped(runs: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the runs of each network and objective, in the order of both."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for network in dict.fromkeys(run["network"] for run in runs):
        for objective in OBJECTIVES:
            own = [r for r in runs if (r["network"], r["objective"]) == (network, objective)]
            if own:
                found[network, objective] = own
    return found


def chosen(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the runs of the setting of each objective that is best on validation images."""
    best: dict[tuple[str, str], tuple[float, list[dict[str, Any]]]] = {}
    for (network, objective), own in grouped(runs).items():
        score = float(np.mean([run["validation"] for run in own]))
        key = (network, OBJECTIVES[objective][0])
        if key not in best or score > best[key][0]:
            best[key] = (score, own)
    return [run for _, own in best.values() for run in own]


def write(runs: list[dict[str, Any]], out: Path) -> None:
    (out / "table.md").write_text(table(runs), encoding="utf-8")
    (out / "chosen.md").write_text(table(chosen(runs)), encoding="utf-8")


def main(words: Sequence[str] | None = None) -> list[dict[str, Any]]:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("images", nargs="?", default="mnist", choices=TASKS)
    parser.add_argument("--quick", action="store_true", help="small, to see that it runs")
    parser.add_argument("--data", type=Path, help="folder of the files (default: $LORENYI_DATA)")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", type=int)
    given = parser.parse_args(words)
    task = TASKS[given.images]
    if given.quick:
        task = replace(task, rows=80, epochs=1, held_out=40)
    images = READERS[given.images](given.data or Path(os.environ.get("LORENYI_DATA", ".")))
    other = slice(task.rows, task.rows + task.held_out)
    validation = pixels(images.train[other]), images.train_labels[other]
    test = pixels(images.test[: task.held_out]), images.test_labels[: task.held_out]
    images = images.fewer(task.rows)
    seeds = range(given.seeds or (1 if given.quick else 5))
    name = "bottleneck-rules" + ("-subset" if given.images == "subset" else "")
    out = given.out or results(name, given.quick)
    out.mkdir(parents=True, exist_ok=True)
    file = out / "runs.jsonl"
    runs = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(run["network"], run["objective"], run["seed"]) for run in runs}
    for seed, kind, objective in product(seeds, task.networks, OBJECTIVES):
        if (kind, objective, seed) in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a collapse is in the table
            net = trained(kind, objective, seed, images, task.epochs)
        run = {"network": kind, "objective": objective, "seed": seed}
        run |= evaluate(net, task, *test)
        with torch.no_grad():
            run["validation"] = accuracy(net, *validation)
        runs.append(run)
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(run) + "\n")
        tell(f"{kind}, {objective}, seed {seed}: {run['accuracy']:.1f} %")
        write(runs, out)
    return runs


if __name__ == "__main__":
    main()
