"""The information bottleneck of the paper: five objectives on one network, next to its table.

    python paper/information_bottleneck.py mnist --data FOLDER
    python paper/information_bottleneck.py subset --data FOLDER --epochs 5
    python paper/information_bottleneck.py cifar10 --data FOLDER --device cuda

`cifar10` has the paper's settings (VGG16, 300 epochs); `mnist` is a multilayer perceptron of
784-1024-1024-256-10, sized for two cores; `subset` a thin VGG on a part of CIFAR-10 (--width 64 is
the full one). Writes log.csv (a line each epoch), runs.csv, table.csv, table.md and a picture to
--out. Each run is kept there after every epoch: a stopped one resumes, and a finished one goes on
where --epochs is raised, with the rates of the longer schedule from there on. Images are kept and
augmented on --device; --amp computes in half precision (bfloat16, or float16 with a gradient
scaler), the information in float32. --rule default takes the library's own bandwidth for MRIB and
LRIB, for which --beta 0.1 --ramp 500 is a good start.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from common import results, tell
from image_data import READERS, Images, batches, pixels
from image_nets import BETAS, RULES, Classifier, Standardise, judged, perceptron, vgg16
from image_tables import Run, bar, draw, log, write
from torch.nn import functional as F

OBJECTIVES = tuple(BETAS)
HALF = {"bfloat16": torch.bfloat16, "float16": torch.float16}
TIMED = 10  # every so many steps the information term is run once more, alone, for the clock


@dataclass(frozen=True)
class Settings:
    """How a network is trained; the rate falls by ten after each third of the epochs."""

    epochs: int
    width: int
    rate: float
    seeds: int
    batch: int = 100
    rule: str = "paper"
    ramp: int = 0
    momentum: float = 0.9
    decay: float = 5e-4
    noise: tuple[float, ...] = (0.1, 0.2)
    attacks: tuple[float, ...] = (2 / 255, 4 / 255)


SETTINGS = {
    "cifar10": Settings(epochs=300, width=64, rate=0.1, seeds=3),
    "mnist": Settings(
        epochs=4, width=1024, rate=0.05, seeds=3, noise=(0.2, 0.4), attacks=(0.05, 0.1)
    ),
    "subset": Settings(epochs=5, width=16, rate=0.1, seeds=1),
}


# --------------------------------------------------------------------------------- training


def network(objective: str, images: Images, how: Settings, beta: float, seed: int) -> Classifier:
    torch.manual_seed(seed)
    width = how.width
    channels, height, across = images.train.shape[1:]
    if channels == 1:
        encoder, features = perceptron(channels * height * across, width)
    else:
        encoder, features = vgg16(channels, width)
    standardise = Standardise(images.mean, images.std)
    return Classifier(objective, encoder, features, standardise, beta, how.rule, how.ramp)


def clock(device: str) -> float:
    """Seconds: of the processor (all threads together), so that others' load does not count."""
    if device == "cpu":
        return time.process_time()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter()


@dataclass
class Trainer:
    """A network with what trains it, where and how."""

    model: Classifier
    optimiser: torch.optim.Optimizer
    images: Images
    how: Settings
    device: str
    amp: str | None = None

    def __post_init__(self) -> None:
        kind = self.device.split(":")[0]
        self.scaler = torch.amp.GradScaler(kind, enabled=self.amp == "float16")

    def half(self) -> Any:
        """Return the context in which the network computes in half precision, if it should."""
        dtype = HALF.get(self.amp or "", torch.bfloat16)
        return torch.autocast(self.device.split(":")[0], dtype, enabled=self.amp is not None)

    def state(self) -> dict[str, Any]:
        parts = {"model": self.model, "optimiser": self.optimiser, "scaler": self.scaler}
        return {name: part.state_dict() for name, part in parts.items()}

    def load(self, kept: dict[str, Any]) -> None:
        self.model.load_state_dict(kept["model"])
        self.optimiser.load_state_dict(kept["optimiser"])
        self.scaler.load_state_dict(kept["scaler"])


def train_epoch(trainer: Trainer, run: Run) -> None:
    """Train for one epoch; add what it took and what it found to the run."""
    model, optimiser, how, device = trainer.model, trainer.optimiser, trainer.how, trainer.device
    torch.manual_seed(1000 * run.seed + run.epoch)  # noise of VIB and NIB, the same on resuming
    model.train()
    steps = -(-len(trainer.images.train) // how.batch)
    losses, amounts, aside, start = [], [], 0.0, clock(device)
    for step, (x, y) in enumerate(batches(trainer.images, how.batch, 1000 * run.seed + run.epoch)):
        optimiser.zero_grad(set_to_none=True)
        with trainer.half():
            loss, _, h = model.loss(x, y)
        trainer.scaler.scale(loss).backward()
        trainer.scaler.step(optimiser)
        trainer.scaler.update()
        losses.append(loss.detach())  # nothing is read from the device at each step
        amounts.append(model.information())
        if model.bottleneck is not None and step % TIMED == 0:
            alone = clock(device)
            model.term(x, h.detach().requires_grad_()).backward()
            optimiser.zero_grad(set_to_none=True)
            run.information_seconds += (clock(device) - alone) * min(TIMED, steps - step)
            aside += clock(device) - alone
        if step % 100 == 0 or step == steps - 1:
            bar(run, how.epochs, (step + 1) / steps, losses[-1].item(), clock(device) - start)
    run.seconds += clock(device) - start - aside
    run.loss.append(torch.stack(losses).mean().item())
    run.information.append(torch.stack(amounts).mean().item())
    run.epoch += 1
    run.test.append(accuracies(trainer, corrupted=False)["clean"])


def trained(
    objective: str,
    seed: int,
    images: Images,
    how: Settings,
    beta: float,
    out: Path,
    device: str,
    amp: str | None = None,
) -> Run:
    """Train one network, or go on where it was stopped; return what was measured."""
    model = network(objective, images, how, beta, seed).to(device)
    if images.train.shape[1] > 1:
        model = model.to(memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(
        model.parameters(), how.rate, how.momentum, weight_decay=how.decay, nesterov=True
    )
    trainer = Trainer(model, optimiser, images, how, device, amp)
    file = out / "runs" / f"{objective}-{seed}.pt"
    same = {k: v for k, v in asdict(how).items() if k not in ("epochs", "seeds")}
    key = {"settings": same, "beta": beta, "rows": len(images.train), "amp": amp}
    run = Run(objective, seed)
    if file.exists():
        kept = torch.load(file, map_location=device, weights_only=True)
        if json.loads(kept["key"]) == json.loads(json.dumps(key)):
            run = Run(**json.loads(kept["run"]))
            trainer.load(kept)
            tell(f"{objective}, seed {seed}: resumed after epoch {run.epoch} of {how.epochs}")
    while run.epoch < how.epochs:
        rate = how.rate * 0.1 ** (3 * run.epoch // how.epochs)
        for group in optimiser.param_groups:
            group["lr"] = rate
        train_epoch(trainer, run)
        log(run, out, rate)
        run.accuracy = {}
        save(file, key, run, trainer)
    if not run.accuracy:
        run.accuracy = accuracies(trainer)
        x, y = pixels(images.test[:500]), images.test_labels[:500]
        with torch.no_grad():
            run.judged = judged(x, model.noisy(model.features(x))[0], y)
        save(file, key, run, trainer)
    return run


def save(file: Path, key: dict[str, Any], run: Run, trainer: Trainer) -> None:
    """Write a checkpoint whole or not at all."""
    content = {"key": json.dumps(key), "run": json.dumps(asdict(run)), **trainer.state()}
    part = file.with_suffix(".part")
    torch.save(content, part)
    os.replace(part, file)


# ------------------------------------------------------------------------------- evaluation


def accuracies(trainer: Trainer, corrupted: bool = True, size: int = 500) -> dict[str, float]:
    """Return accuracies (%) on test images: as they are, with noise, and after FGSM steps."""
    model, images, how, device = trainer.model, trainer.images, trainer.how, trainer.device
    model.eval()
    generator = torch.Generator(device).manual_seed(0)
    right: dict[str, torch.Tensor] = {}

    def count(name: str, x: torch.Tensor, y: torch.Tensor) -> None:
        with torch.no_grad(), trainer.half():
            right[name] = right.get(name, 0) + (model(x).argmax(1) == y).sum()

    for part, y in zip(images.test.split(size), images.test_labels.split(size), strict=True):
        x = pixels(part)
        count("clean", x, y)
        if not corrupted:
            continue
        for sigma in how.noise:
            noise = torch.randn(x.shape, generator=generator, device=device)
            count(f"noise {sigma:g}", (x + sigma * noise).clamp(0, 1), y)
        attacked = x.clone().requires_grad_()
        F.cross_entropy(model(attacked), y).backward()
        direction = attacked.grad.sign()
        for eps in how.attacks:
            count(f"fgsm {eps:.3g}", (x + eps * direction).clamp(0, 1), y)
    model.zero_grad(set_to_none=True)
    return {name: 100 * number.item() / len(images.test) for name, number in right.items()}


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", nargs="?", default="mnist", choices=SETTINGS)
    parser.add_argument("--quick", action="store_true", help="one small epoch: to see that it runs")
    parser.add_argument(
        "--data", type=Path, help="folder of the files (default: $LORENYI_DATA, or .)"
    )
    parser.add_argument("--objectives", nargs="+", default=list(OBJECTIVES), choices=OBJECTIVES)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--seeds", type=int, help="networks for each objective")
    parser.add_argument("--width", type=int, help="of a hidden layer, or of VGG's first (full: 64)")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--beta", type=float, help="for all objectives, instead of their own")
    parser.add_argument("--rule", choices=RULES, help="bandwidths of MRIB and LRIB")
    parser.add_argument("--ramp", type=int, help="steps over which beta rises from 0")
    parser.add_argument("--rows", type=int, help="only so many images, to see that it runs")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--amp", choices=HALF, help="compute in half precision")
    parser.add_argument("--out", type=Path, help="default: paper/results/bottleneck-EXPERIMENT")
    given = parser.parse_args(words)
    if given.quick:
        small = {"epochs": 1, "seeds": 1, "width": 64, "rows": 2000}
        for name, value in small.items():
            setattr(given, name, getattr(given, name) or value)
    return given


def main(words: Sequence[str] | None = None) -> list[dict[str, Any]]:
    given = arguments(words)
    asked = {k: getattr(given, k) for k in ("epochs", "seeds", "width", "batch", "rule", "ramp")}
    usual = asdict(SETTINGS[given.experiment])
    how = Settings(**usual | {k: v for k, v in asked.items() if v is not None})
    out = given.out or results(f"bottleneck-{given.experiment}", given.quick)
    (out / "runs").mkdir(parents=True, exist_ok=True)
    folder = given.data or Path(os.environ.get("LORENYI_DATA", "."))
    images = READERS[given.experiment](folder).fewer(given.rows).to(given.device)
    runs: list[Run] = []
    for seed in range(how.seeds):  # all objectives before the next seed: a table early
        for objective in given.objectives:
            beta = BETAS[objective] if given.beta is None else given.beta
            where = (out, given.device, given.amp)
            runs.append(trained(objective, seed, images, how, beta, *where))
            rows = write(runs, out)
    if not draw(runs, out):
        tell('no picture: it needs matplotlib, pip install "lorenyi[plots]"')
    tell(f"accuracy (%), with the paper's on CIFAR-10 in brackets, written to {out}:")
    for row in rows:
        tell(f"  {row['objective']:<4} {row['clean']} ({row['paper: accuracy']})")
    return rows


if __name__ == "__main__":
    main()
