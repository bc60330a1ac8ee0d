"""Run the benchmarks: each task in a process of its own, for its peak memory.

python benchmarks/run.py [task ...] [--runs N] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

import tasks


def child(name: str, runs: int) -> None:
    """Run one task here and print its results as JSON."""
    warnings.filterwarnings("error", category=RuntimeWarning)  # a tolerance not reached
    tasks.RATES.update(json.loads(os.environ["LORENYI_RATES"]))
    results = tasks.TASKS[name](runs)
    peak = tasks.peak_memory() / 2**30
    for result in results:
        result.peak_gb = peak
        if name in tasks.PEAKS:
            result.met = bool(result.met and peak < tasks.PEAKS[name])
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
        met = {True: "yes", False: "no", None: ""}[r["met"]]
        lines.append(
            f"| {r['task']} | {r['rival']} | {r['seconds']:.3g} | {rival} | {ratio} | {r['need']} "
            f"| {met} | {r['accuracy']} | {r['limit']} | {r['peak_gb']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help=f"of {', '.join(tasks.TASKS)}; default: all")
    parser.add_argument("--runs", type=int, default=3, help="runs of ours, of which the median")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.tasks[0], options.runs)
        return
    rates = tasks.machine()
    environment = os.environ | {"LORENYI_RATES": json.dumps(rates)}
    rows: list[dict] = []
    options.out.mkdir(exist_ok=True)
    for name in options.tasks or tasks.TASKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        command = [sys.executable, __file__, name, "--child", "--runs", str(options.runs)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["failed"]
            print(f"  not run: {last[0]}", file=sys.stderr)
            continue
        found = json.loads(done.stdout.strip().splitlines()[-1])
        rows += found
        print(markdown(found, rates).split("\n", 4)[4], file=sys.stderr, flush=True)
    (options.out / "benchmarks.md").write_text(markdown(rows, rates))
    with (options.out / "benchmarks.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    print(markdown(rows, rates))


if __name__ == "__main__":
    main()
