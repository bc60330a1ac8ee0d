"""Follow a page literally: its install line, its Python, its commands.

    python tests/follow_page.py docs/start.md
    python tests/follow_page.py --install dist/lorenyi-0.1.0-py3-none-any.whl docs/start.md

With --install the wheel takes the place of the name `lorenyi` in the install line, in this
environment, which should be empty. Without it nothing is installed; instead, only what the install
line would bring can be imported.
"""

import contextlib
import importlib.abc
import importlib.metadata
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
ROOT = Path(__file__).parents[1]
INSTALL = re.compile(r'^\$ pip install "?(lorenyi(?:\[([\w,]+)\])?)"?', flags=re.MULTILINE)


def install_line(page: str) -> tuple[str, list[str]]:
    """Return the requirement of the page's first install line, and its extras."""
    found = INSTALL.search((ROOT / page).read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"{page} names no line `$ pip install lorenyi`")
    return found.group(1), (found.group(2) or "").split(",") if found.group(2) else []


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(extras: list[str]) -> set[str]:
    """Return all distributions that the package with some extras brings along."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    todo = list(project["dependencies"])
    for extra in extras:
        todo += project["optional-dependencies"][extra]
    found = {"lorenyi", "pip", "setuptools"}
    while todo:
        requirement = todo.pop()
        if "extra ==" in requirement:  # of a dependency, not asked for
            continue
        name = normal(re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0])
        if name not in found:
            found.add(name)
            try:
                todo += importlib.metadata.requires(name) or []
            except importlib.metadata.PackageNotFoundError:
                continue  # for another system
    return found


class Undeclared(importlib.abc.MetaPathFinder):
    """Hides every distribution that the install line does not bring."""

    def __init__(self, allowed: set[str]) -> None:
        owners = importlib.metadata.packages_distributions()
        self.hidden = {
            module
            for module, names in owners.items()
            if not any(normal(name) in allowed for name in names)
        }

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] in self.hidden:
            raise ModuleNotFoundError(f"No module named {fullname!r} (hidden)", name=fullname)


def follow(page: str) -> None:
    """Run the Python and then the commands of a page in an empty folder."""
    import pages

    namespace: dict[str, object] = {"__name__": "page"}
    for line, source in pages.blocks(page, "python"):
        try:
            pages.run(source, namespace)
        except Exception as error:
            error.add_note(f"in the block of {page} after line {line}")
            raise
    for line, words, shown in pages.commands(page, "lorenyi"):
        from lorenyi.cli import main as command

        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = command(shlex.split(words, comments=True)[1:])
        assert code == 0, f"{page}, line {line}: {words}"
        assert pages.missing_numbers(shown, printed.getvalue()) == [], (
            f"{words}\n{printed.getvalue()}"
        )


def main() -> None:
    """Follow the page that is named on the command line."""
    arguments = sys.argv[1:]
    page = arguments[-1]
    _, extras = install_line(page)
    os.environ.setdefault("COLUMNS", "120")
    if arguments[0] == "--install":
        wheel = Path(arguments[1]).resolve()
        target = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt"]
        subprocess.run([*pip, target], check=True)
    else:
        sys.meta_path.insert(0, Undeclared(declared(extras)))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            follow(page)
        finally:
            os.chdir(ROOT)


if __name__ == "__main__":
    main()
