"""The information bottleneck of the paper: five objectives on one network, next to its table.

    python paper/information_bottleneck.py mnist --data FOLDER
    python paper/information_bottleneck.py subset --data FOLDER --epochs 5
    python paper/information_bottleneck.py cifar10 --data FOLDER --device cuda

`cifar10` has the paper's settings (VGG16, 300 epochs); `mnist` is a multilayer perceptron of
784-1024-1024-256-10, sized for two cores; `subset` a thin VGG on a part of CIFAR-10 (--width 64 is
the full one). Writes runs.csv, table.csv, table.md and a picture to --out; each run is kept there
after every epoch, so that a stopped one resumes.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import results, tell
from image_data import READERS, Images, batches, pixels
from image_nets import BETAS, Classifier, Standardise, perceptron, vgg16
from torch.nn import functional as F

OBJECTIVES = tuple(BETAS)
PAPER = {  # accuracy, and minutes in the information term / in all, on CIFAR-10
    "CE": (92.64, None, 80),
    "VIB": (94.08, 4, 84),
    "NIB": (94.01, 7, 87),
    "MRIB": (94.13, 46, 126),
    "LRIB": (94.16, 15, 95),
}
TIMED = 10  # every so many steps the information term is run once more, alone, for the clock


@dataclass(frozen=True)
class Settings:
    """How a network is trained; the rate falls by ten after each third of the epochs."""

    epochs: int
    width: int
    rate: float
    seeds: int
    batch: int = 100
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


@dataclass
class Run:
    """What is known of one network."""

    objective: str
    seed: int
    epoch: int = 0
    seconds: float = 0.0
    information_seconds: float = 0.0
    loss: list[float] = field(default_factory=list)
    information: list[float] = field(default_factory=list)
    accuracy: dict[str, float] = field(default_factory=dict)


# --------------------------------------------------------------------------------- training


def network(objective: str, images: Images, width: int, beta: float, seed: int) -> Classifier:
    torch.manual_seed(seed)
    channels, height, across = images.train.shape[1:]
    if channels == 1:
        encoder, features = perceptron(channels * height * across, width)
    else:
        encoder, features = vgg16(channels, width)
    return Classifier(objective, encoder, features, Standardise(images.mean, images.std), beta)


def clock(device: str) -> float:
    """Seconds: of the processor (all threads together), so that others' load does not count."""
    if device == "cpu":
        return time.process_time()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter()


def train_epoch(
    model: Classifier, optimiser: Any, images: Images, run: Run, how: Settings, device: str
) -> None:
    """Train for one epoch; add what it took and what it found to the run."""
    torch.manual_seed(1000 * run.seed + run.epoch)  # noise of VIB and NIB, the same on resuming
    model.train()
    steps = -(-len(images.train) // how.batch)
    losses, amounts, aside, start = [], [], 0.0, clock(device)
    for step, (x, y) in enumerate(batches(images, how.batch, 1000 * run.seed + run.epoch)):
        optimiser.zero_grad(set_to_none=True)
        loss, _, h = model.loss(x, y)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
        amounts.append(model.information())
        if model.bottleneck is not None and step % TIMED == 0:
            alone = clock(device)
            model.term(x, h.detach().requires_grad_()).backward()
            optimiser.zero_grad(set_to_none=True)
            run.information_seconds += (clock(device) - alone) * min(TIMED, steps - step)
            aside += clock(device) - alone
        if step % 20 == 0 or step == steps - 1:
            bar(run, how, (step + 1) / steps, losses[-1], clock(device) - start)
    run.seconds += clock(device) - start - aside
    run.loss.append(float(np.mean(losses)))
    run.information.append(float(np.mean(amounts)))
    run.epoch += 1


def trained(
    objective: str, seed: int, images: Images, how: Settings, beta: float, out: Path, device: str
) -> Run:
    """Train one network, or go on where it was stopped; return what was measured."""
    model = network(objective, images, how.width, beta, seed).to(device)
    optimiser = torch.optim.SGD(
        model.parameters(), how.rate, how.momentum, weight_decay=how.decay, nesterov=True
    )
    file = out / "runs" / f"{objective}-{seed}.pt"
    key = {"settings": asdict(how), "beta": beta, "rows": len(images.train)}
    run = Run(objective, seed)
    if file.exists():
        kept = torch.load(file, map_location=device, weights_only=True)
        if json.loads(kept["key"]) == json.loads(json.dumps(key)):
            run = Run(**json.loads(kept["run"]))
            model.load_state_dict(kept["model"])
            optimiser.load_state_dict(kept["optimiser"])
            tell(f"{objective}, seed {seed}: resumed after epoch {run.epoch} of {how.epochs}")
    while run.epoch < how.epochs:
        for group in optimiser.param_groups:
            group["lr"] = how.rate * 0.1 ** (3 * run.epoch // how.epochs)
        train_epoch(model, optimiser, images, run, how, device)
        save(file, key, run, model, optimiser)
    if not run.accuracy:
        run.accuracy = accuracies(model, images, how, device)
        save(file, key, run, model, optimiser)
    return run


def save(file: Path, key: dict[str, Any], run: Run, model: Any, optimiser: Any) -> None:
    """Write a checkpoint whole or not at all."""
    content = {
        "key": json.dumps(key),
        "run": json.dumps(asdict(run)),
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
    }
    part = file.with_suffix(".part")
    torch.save(content, part)
    os.replace(part, file)


# ------------------------------------------------------------------------------- evaluation


def accuracies(
    model: Classifier, images: Images, how: Settings, device: str, size: int = 500
) -> dict[str, float]:
    """Return accuracies (%) on test images: as they are, with noise, and after FGSM steps."""
    model.eval()
    generator = torch.Generator().manual_seed(0)
    right: dict[str, int] = {}

    def count(name: str, x: torch.Tensor, y: torch.Tensor) -> None:
        with torch.no_grad():
            right[name] = right.get(name, 0) + int((model(x).argmax(1) == y).sum())

    for part, y in zip(images.test.split(size), images.test_labels.split(size), strict=True):
        x = pixels(part)
        count("clean", x, y)
        for sigma in how.noise:
            noise = torch.randn(x.shape, generator=generator).to(device)
            count(f"noise {sigma:g}", (x + sigma * noise).clamp(0, 1), y)
        attacked = x.clone().requires_grad_()
        F.cross_entropy(model(attacked), y).backward()
        direction = attacked.grad.sign()
        for eps in how.attacks:
            count(f"fgsm {eps:.3g}", (x + eps * direction).clamp(0, 1), y)
    model.zero_grad(set_to_none=True)
    return {name: 100 * number / len(images.test) for name, number in right.items()}


# ----------------------------------------------------------------------------------- output


def summary(runs: list[Run]) -> list[dict[str, Any]]:
    """One row an objective: means and deviations over seeds, and the paper's numbers."""
    rows = []
    for objective in dict.fromkeys(run.objective for run in runs):
        own = [run for run in runs if run.objective == objective]
        row: dict[str, Any] = {"objective": objective, "seeds": len(own)}
        for name in own[0].accuracy:
            values = np.array([run.accuracy[name] for run in own])
            row[name] = f"{values.mean():.2f}"
            if len(own) > 1:
                row[name] += f" ± {values.std(ddof=1):.2f}"
        last = np.mean([run.information[-1] for run in own])
        row["information, bits"] = "" if np.isnan(last) else f"{last:.2f}"
        minutes = np.mean([[run.information_seconds, run.seconds] for run in own], axis=0) / 60
        row["minutes, information"] = "" if objective == "CE" else f"{minutes[0]:.2f}"
        row["minutes, all"] = f"{minutes[1]:.2f}"
        accuracy, inside, everything = PAPER[objective]
        row["paper: accuracy"] = f"{accuracy:.2f}"
        row["paper: minutes"] = f"{'-' if inside is None else inside} / {everything}"
        rows.append(row)
    return rows


def write(runs: list[Run], out: Path) -> list[dict[str, Any]]:
    rows = summary(runs)
    with (out / "table.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    lines = ["| " + " | ".join(rows[0]) + " |", "| --- " * len(rows[0]) + "|"]
    lines += ["| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows]
    (out / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (out / "runs.csv").open("w", newline="", encoding="utf-8") as stream:
        plain = csv.writer(stream, lineterminator="\n")
        head = ["objective", "seed", "epochs", "seconds", "information_seconds", "loss", "bits"]
        plain.writerow([*head, *runs[0].accuracy])
        for run in runs:
            times = [f"{run.seconds:.1f}", f"{run.information_seconds:.1f}"]
            ends = [f"{run.loss[-1]:.4f}", f"{run.information[-1]:.4f}"]
            shown = [f"{value:.2f}" for value in run.accuracy.values()]
            plain.writerow([run.objective, run.seed, run.epoch, *times, *ends, *shown])
    return rows


def draw(runs: list[Run], out: Path) -> bool:
    """Write the picture; return False where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for i, objective in enumerate(dict.fromkeys(run.objective for run in runs)):
        own = [run for run in runs if run.objective == objective]
        names = list(own[0].accuracy)
        values = np.array([[run.accuracy[name] for name in names] for run in own])
        at = np.arange(len(names)) + 0.12 * (i - 2)
        spread = values.std(axis=0, ddof=1) if len(own) > 1 else None
        left.errorbar(at, values.mean(axis=0), yerr=spread, fmt="o", ms=4, label=objective)
        bits = np.mean([run.information for run in own], axis=0)
        right.plot(np.arange(1, len(bits) + 1), bits, "o-", ms=3)
    left.set_xticks(range(len(names)), names, rotation=20)
    left.set_ylabel("test accuracy (%)")
    left.legend(fontsize=7)
    right.set(xlabel="epoch", ylabel="information term (bits)")
    figure.savefig(out / "bottleneck.png", dpi=90)
    return True


def bar(run: Run, how: Settings, share: float, loss: float, seconds: float) -> None:
    """Show how far an epoch is: one line, rewritten on a terminal."""
    done = "=" * int(20 * share)
    line = (
        f"{run.objective:<4} seed {run.seed}, epoch {run.epoch + 1} of {how.epochs} "
        f"[{done:<20}] loss {loss:.3f}, {seconds:.0f} s"
    )
    if sys.stderr.isatty():
        print(f"\r{line}", end="" if share < 1 else "\n", file=sys.stderr, flush=True)
    elif share == 1:
        tell(line)


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
    parser.add_argument("--rows", type=int, help="only so many images, to see that it runs")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path, help="default: paper/results/bottleneck-EXPERIMENT")
    given = parser.parse_args(words)
    if given.quick:
        small = {"epochs": 1, "seeds": 1, "width": 64, "rows": 2000}
        for name, value in small.items():
            setattr(given, name, getattr(given, name) or value)
    return given


def main(words: Sequence[str] | None = None) -> list[dict[str, Any]]:
    given = arguments(words)
    asked = {k: getattr(given, k) for k in ("epochs", "seeds", "width", "batch")}
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
            runs.append(trained(objective, seed, images, how, beta, out, given.device))
            rows = write(runs, out)
    if not draw(runs, out):
        tell('no picture: it needs matplotlib, pip install "lorenyi[plots]"')
    tell(f"accuracy (%), with the paper's on CIFAR-10 in brackets, written to {out}:")
    for row in rows:
        tell(f"  {row['objective']:<4} {row['clean']} ({row['paper: accuracy']})")
    return rows


if __name__ == "__main__":
    main()
