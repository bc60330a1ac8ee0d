"""Build the sdist and the wheel, then check both as a user would get them (`make package`).

The sdist builds the wheel. The wheel is installed into an empty environment with the install line
of docs/start.md, where the page's code and commands must run. The unpacked sdist passes its tests.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "package"


def run(*command: object, cwd: Path = ROOT, source: str = "") -> None:
    """Run a command and show it; stop at an error."""
    print("$", *command, flush=True)
    environment = {**os.environ, "PYTHONPATH": source}
    subprocess.run([str(word) for word in command], cwd=cwd, check=True, env=environment)


def build() -> tuple[Path, Path]:
    """Return the sdist, and the wheel built from it."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", "dist")
    (sdist,), (wheel,) = ROOT.glob("dist/*.tar.gz"), ROOT.glob("dist/*.whl")
    return sdist, wheel


def check_wheel(wheel: Path) -> None:
    """Follow docs/start.md in an empty environment."""
    shutil.rmtree(WORK, ignore_errors=True)
    run(sys.executable, "-m", "venv", WORK / "empty")
    python = WORK / "empty" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, ROOT / "tests" / "follow_page.py", "--install", wheel, "docs/start.md")


def check_sdist(sdist: Path) -> None:
    """Run the tests of the unpacked sdist, with the dependencies of this environment."""
    with tarfile.open(sdist) as archive:
        archive.extractall(WORK, filter="data")
    (tree,) = WORK.glob("lorenyi-*/")
    run(
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "--dist",
        "worksteal",
        cwd=tree,
        source=str(tree / "src"),
    )


def main() -> None:
    """Build and check."""
    sdist, wheel = build()
    check_wheel(wheel)
    check_sdist(sdist)
    print(f"{sdist.name} and {wheel.name} are in dist/")


if __name__ == "__main__":
    main()
