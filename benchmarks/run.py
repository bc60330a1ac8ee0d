"""Run the benchmarks: each task in a process of its own, for its peak memory.

What a run measured replaces what was known of its tasks in results/; other tasks keep theirs.

python benchmarks/run.py [task ...] [--runs N] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

import before
import choosing
import cluster
import engine
import measuring
import plain
import representations
import selecting
import testing
import training

# A module names its tasks in TASKS and, for those whose peak memory is a promise, in PEAKS (GB).
MODULES = (
    plain,
    selecting,
    testing,
    engine,
    choosing,
    before,
    training,
    representations,
    cluster,
)
TASKS = {name: task for module in MODULES for name, task in module.TASKS.items()}
PEAKS = {name: peak for module in MODULES for name, peak in module.PEAKS.items()}


def child(name: str, runs: int) -> None:
    """Run one task here and print its results as JSON."""
    warnings.filterwarnings("error", category=RuntimeWarning)  # a tolerance not reached
    measuring.RATES.update(json.loads(os.environ["LORENYI_RATES"]))
    results = TASKS[name](runs)
    peak = measuring.peak_memory() / 2**30
    for result in results:
        result.peak_gb = peak
        if name in PEAKS and result.need:
            result.met = bool(result.met and peak < PEAKS[name])
    print(json.dumps([asdict(r) | {"ratio": r.ratio} for r in results]))


def markdown(rows: list[dict], rates: dict[str, float]) -> str:
    lines = [
        f"Measured on {platform.machine()}, {os.cpu_count()} cores; products run at "
        f"{rates['gemm64']:.0f} GF/s (float64) and {rates['gemm32']:.0f} GF/s (float32), exp at "
        f"{rates['exp64']:.1f} and {rates['exp32']:.1f} G/s a core, memory is read at "
        f"{rates['memory']:.0f} GB/s. Ratios are of medians in one run.",
        "",
        "| task | rival | seconds | rival's | ratio | needed | met | accuracy | limit | peak GB |",
        "| --- | --- | ---: | ---: | ---: | --- | --- | --- | --- | ---: |",
    ]
    for r in rows:
        rival = "" if r["rival_seconds"] is None else f"{r['rival_seconds']:.3g}"
        ratio = "" if r["ratio"] is None else f"{r['ratio']:.3g}x"
        peak = "" if r["peak_gb"] is None else f"{r['peak_gb']:.2f}"
        met = {True: "yes", False: "no", None: ""}[r["met"]]
        lines.append(
            f"| {r['task']} | {r['rival']} | {r['seconds']:.3g} | {rival} | {ratio} | {r['need']} "
            f"| {met} | {r['accuracy']} | {r['limit']} | {peak} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help=f"of {', '.join(TASKS)}; default: all")
    parser.add_argument("--runs", type=int, default=3, help="runs of ours, of which the median")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.tasks[0], options.runs)
        return
    rates = measuring.machine()
    environment = os.environ | {"LORENYI_RATES": json.dumps(rates)}
    options.out.mkdir(exist_ok=True)
    store = options.out / "benchmarks.json"
    kept: dict[str, list[dict]] = json.loads(store.read_text()) if store.exists() else {}
    for name in options.tasks or TASKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        command = [sys.executable, __file__, name, "--child", "--runs", str(options.runs)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["failed"]
            print(f"  not run: {last[0]}", file=sys.stderr)
            continue
        kept[name] = json.loads(done.stdout.strip().splitlines()[-1])
        print(markdown(kept[name], rates).split("\n", 4)[4], file=sys.stderr, flush=True)
        store.write_text(json.dumps(kept, indent=1) + "\n")
    rows = [row for name in TASKS for row in kept.get(name, [])]
    (options.out / "benchmarks.md").write_text(markdown(rows, rates))
    print(markdown(rows, rates))


if __name__ == "__main__":
    main()
