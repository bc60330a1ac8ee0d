"""What the scripts of the paper share: where results go, tables, a cache, progress, pictures."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import lorenyi

ROOT = Path(__file__).resolve().parents[1]


def options(name: str, doc: str | None, words: Sequence[str] | None) -> tuple[bool, Path]:
    """Read the command line of a figure's script: whether it is quick, and where results go."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small: to see that it runs")
    parser.add_argument("--out", type=Path, help=f"default: paper/results/{name}")
    given = parser.parse_args(words)
    out = given.out or results(name, given.quick)
    out.mkdir(parents=True, exist_ok=True)
    return given.quick, out


def results(name: str, quick: bool) -> Path:
    """Return the folder of a script's results; those of a quick run are kept apart."""
    return ROOT / "paper" / "results" / (name + ("-quick" if quick else ""))


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


# ----------------------------------------------------------------------------------------- files


def write_csv(file: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def write_json(file: Path, content: Any) -> None:
    """Write a file whole or not at all."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps(content, indent=1), encoding="utf-8")
    os.replace(part, file)


def kept(file: Path, settings: Any, make: Callable[[], Any]) -> Any:
    """Return what the file holds, if it was made with these settings; else make and keep it."""
    key = json.loads(json.dumps({"version": lorenyi.__version__, **asdict(settings)}))
    if file.exists():
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["key"] == key:
            return content["result"]
    file.parent.mkdir(parents=True, exist_ok=True)
    write_json(file, {"key": key, "result": make()})
    return json.loads(file.read_text(encoding="utf-8"))["result"]


def trials(out: Path, count: int, settings: Any, trial: Callable[[int], Any]) -> list[Any]:
    """Return trial(0), trial(1), ..., each from the cache if it was made before."""
    done, start = [], time.perf_counter()
    for t in range(count):
        done.append(kept(out / "cache" / f"trial-{t:03}.json", settings, lambda t=t: trial(t)))
        passed = time.perf_counter() - start
        left = passed / (t + 1) * (count - t - 1)
        tell(f"trial {t + 1} of {count}: {passed:.0f} s, about {left:.0f} s to go")
    return done


# -------------------------------------------------------------------------------------- pictures


def picture(file: Path, size: tuple[float, float], draw: Callable[[Any], None]) -> None:
    """Draw on a new figure and write it as a small PNG; say so where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
        from PIL import Image  # which matplotlib brings
    except ImportError:
        tell(f'no {file.name}: pictures need matplotlib, pip install "lorenyi[plots]"')
        return
    figure = Figure(figsize=size, layout="constrained")
    draw(figure)
    plain = io.BytesIO()
    figure.savefig(plain, dpi=90)
    with Image.open(plain) as image:  # few colours: a third of the size
        image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(file, optimize=True)
    tell(f"written: {file}")
