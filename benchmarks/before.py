"""LRMI on the paper's eight tables, by this code and by that before the search was rebuilt.

python benchmarks/before.py SOURCE TABLE    # one table by the package in SOURCE; prints JSON
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
BEFORE = "8558a8a"  # the last commit with the search as it was
MOST = 1.25  # times its processor time, for all tables together
COUNT = 10  # features
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


def select(name: str) -> dict[str, object]:
    """Choose ten features of a table; return the list, and seconds of one processor."""
    from measuring import table

    import lorenyi as lr
    from lorenyi.selection import InformationSelector, JointInformation

    sys.path.append(str(ROOT / "paper"))
    from eight_tables import SOURCES
    from feature_selection import PUBLISHED_LRMI

    X, y = table(name)
    options = {"categorical_features": list(SOURCES[name].nominal), "task": "classification"}
    known = inspect.signature(InformationSelector).parameters
    options = {key: value for key, value in options.items() if key in known}
    criterion = JointInformation(entropy=lr.Renyi(*PUBLISHED_LRMI[name]))
    selector = InformationSelector(COUNT, criterion=criterion, **options)
    start = time.process_time()
    selector.fit(X, y)
    return {"seconds": time.process_time() - start, "list": selector.indices_.tolist()}


def measured(source: Path, name: str) -> dict:
    """Run `select` in a process of its own, with the package in a folder."""
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(source)}
    command = [sys.executable, __file__, str(source), name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def extracted(folder: str) -> Path:
    """Write the package as it was into a folder; return where it is."""
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", BEFORE, "src"], capture_output=True, check=True
    )
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return Path(folder) / "src"


def lrmi_before(runs: int) -> list:
    """Choose from each table by both, one right after the other."""
    from choosing import PAPER_LISTS, SOURCES
    from measuring import Result

    results = []
    with tempfile.TemporaryDirectory() as folder:
        old = extracted(folder)
        for name in SOURCES:
            now, then = measured(ROOT / "src", name), measured(old, name)
            row = Result(f"LRMI, ten features, {name}, one processor", f"itself at {BEFORE}", 0.0)
            row.seconds, row.rival_seconds = now["seconds"], then["seconds"]
            listed = PAPER_LISTS.get((name, "LRMI"), " ".join(map(str, then["list"])))
            whose = "the published" if (name, "LRMI") in PAPER_LISTS else "the same"
            row.met = listed == " ".join(map(str, now["list"]))
            row.need, row.accuracy = f"{whose} list", f"{whose} list: {row.met}"
            results.append(row)
    whole = Result("LRMI, ten features, all eight tables", f"itself at {BEFORE}", 0.0)
    whole.seconds = sum(row.seconds for row in results)
    whole.rival_seconds = sum(row.rival_seconds for row in results)
    whole.need, whole.met = f">= {1 / MOST:g}x", whole.seconds <= MOST * whole.rival_seconds
    return [*results, whole]


TASKS = {"lrmi_before": lrmi_before}
PEAKS: dict[str, float] = {}


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])  # before the package that is installed
    print(json.dumps(select(sys.argv[2])))
