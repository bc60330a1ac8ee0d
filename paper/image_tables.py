"""What is known of the networks of the bottleneck experiments: log, tables and picture."""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from common import tell

PAPER = {  # accuracy, and minutes in the information term / in all, on CIFAR-10
    "CE": (92.64, None, 80),
    "VIB": (94.08, 4, 84),
    "NIB": (94.01, 7, 87),
    "MRIB": (94.13, 46, 126),
    "LRIB": (94.16, 15, 95),
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
    test: list[float] = field(default_factory=list)
    accuracy: dict[str, float] = field(default_factory=dict)
    judged: dict[str, float] = field(default_factory=dict)


def summary(runs: list[Run]) -> list[dict[str, Any]]:
    """One row an objective: means and deviations over seeds, and the paper's numbers."""
    rows = []
    for objective in dict.fromkeys(run.objective for run in runs):
        own = [run for run in runs if run.objective == objective]
        row: dict[str, Any] = {"objective": objective, "seeds": len(own)}
        for name in own[0].accuracy | own[0].judged:
            values = np.array([(run.accuracy | run.judged)[name] for run in own])
            row[name] = f"{values.mean():.2f}"
            if len(own) > 1:
                row[name] += f" ± {values.std(ddof=1):.2f}"
        last = np.mean([run.information[-1] for run in own])
        row["information term, bits"] = "" if np.isnan(last) else f"{last:.2f}"
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
        plain.writerow([*head, *runs[0].accuracy, *runs[0].judged])
        for run in runs:
            times = [f"{run.seconds:.1f}", f"{run.information_seconds:.1f}"]
            ends = [f"{run.loss[-1]:.4f}", f"{run.information[-1]:.4f}"]
            shown = [f"{value:.2f}" for value in (run.accuracy | run.judged).values()]
            plain.writerow([run.objective, run.seed, run.epoch, *times, *ends, *shown])
    return rows


def log(run: Run, out: Path, rate: float) -> None:
    """Add a line for the last epoch to log.csv."""
    file = out / "log.csv"
    new = not file.exists()
    with file.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if new:
            head = ["objective", "seed", "epoch", "rate", "loss", "bits", "test accuracy"]
            writer.writerow([*head, "seconds", "information_seconds"])
        last = [f"{values[-1]:.4f}" for values in (run.loss, run.information, run.test)]
        times = [f"{run.seconds:.1f}", f"{run.information_seconds:.1f}"]
        writer.writerow([run.objective, run.seed, run.epoch, f"{rate:g}", *last, *times])


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
        shared = min(len(run.information) for run in own)
        bits = np.mean([run.information[:shared] for run in own], axis=0)
        right.plot(np.arange(1, len(bits) + 1), bits, "o-", ms=3)
    left.set_xticks(range(len(names)), names, rotation=20)
    left.set_ylabel("test accuracy (%)")
    left.legend(fontsize=7)
    right.set(xlabel="epoch", ylabel="information term (bits)")
    figure.savefig(out / "bottleneck.png", dpi=90)
    return True


def bar(run: Run, epochs: int, share: float, loss: float, seconds: float) -> None:
    """Show how far an epoch is: one line, rewritten on a terminal."""
    done = "=" * int(20 * share)
    line = (
        f"{run.objective:<4} seed {run.seed}, epoch {run.epoch + 1} of {epochs} "
        f"[{done:<20}] loss {loss:.3f}, {seconds:.0f} s"
    )
    if sys.stderr.isatty():
        print(f"\r{line}", end="" if share < 1 else "\n", file=sys.stderr, flush=True)
    elif share == 1:
        tell(line)
