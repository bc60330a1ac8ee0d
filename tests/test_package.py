"""The package as a whole: what an import costs, and that its list of names tells the truth."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import lorenyi

ROOT = Path(__file__).parents[1]
HEAVY = [
    "altair",
    "dask",
    "distributed",
    "matplotlib",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "sklearn",
    "torch",
    "typer",
]
PUBLIC = [name for name in lorenyi.__all__ if not isinstance(getattr(lorenyi, name), ModuleType)]


def run(code):
    """Run code in a fresh interpreter where warnings are errors; return what it prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


IMPORTED = f"import sys; print(*(m for m in {HEAVY} if m in sys.modules))"


def test_the_import_brings_no_heavy_library_along():
    assert run(f"import lorenyi; {IMPORTED}") == []


def test_measuring_arrays_brings_no_heavy_library_along():
    use = "import numpy, lorenyi; lorenyi.mutual_information(numpy.arange(9.0), list('aaabbbccc'))"
    assert run(f"{use}; {IMPORTED}") == []


def test_the_list_of_heavy_libraries_would_be_noticed():
    assert run(f"import lorenyi, narwhals; {IMPORTED}") == ["narwhals"]


def test_the_import_takes_less_than_a_second_after_numpy_and_scipy():
    code = (
        "import numpy, scipy.linalg, scipy.sparse, time; start = time.process_time(); "
        "import lorenyi; print(time.process_time() - start)"
    )
    assert min(float(run(code)[0]) for _ in range(3)) < 1


def test_every_listed_name_exists_once_and_is_public():
    assert len(set(lorenyi.__all__)) == len(lorenyi.__all__)
    for name in lorenyi.__all__:
        assert not name.startswith("_")
        assert hasattr(lorenyi, name)


def test_every_public_name_is_listed():
    """Submodules apart, which Python adds by itself."""
    found = {
        name
        for name, value in vars(lorenyi).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert found == set(PUBLIC)


def test_the_list_is_in_order():
    """Classes first, then functions and modules, each by the alphabet."""
    classes = [name for name in lorenyi.__all__ if name[0].isupper()]
    others = [name for name in lorenyi.__all__ if not name[0].isupper()]
    assert lorenyi.__all__ == sorted(classes) + sorted(others)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_object_is_documented(name):
    value = getattr(lorenyi, name)
    assert value.__module__.startswith("lorenyi.")
    assert value.__doc__
    assert not value.__doc__.startswith(f"{name}(")  # what a dataclass writes if nobody does
    for member, method in inspect.getmembers(value if inspect.isclass(value) else None):
        own = getattr(method, "__module__", "") or ""
        if own.startswith("lorenyi") and not member.startswith("_") and callable(method):
            assert inspect.getdoc(method), f"{name}.{member}"


def modules():
    """Every module of the package, but for the one that runs the command."""
    names = [info.name for info in pkgutil.walk_packages(lorenyi.__path__, "lorenyi.")]
    return [name for name in names if not name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_every_module_says_what_it_is_for(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        pytest.skip(f"needs {missing.name}")
    assert module.__doc__
    for listed in getattr(module, "__all__", []):
        assert hasattr(module, listed), listed


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_written_in_one_place():
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    path = ROOT / PROJECT["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{lorenyi.__version__}"' in path.read_text(encoding="utf-8")
    for copy in ("CITATION.cff", "conda/meta.yaml"):  # formats that cannot read it from there
        found = re.search(r'version\b[^\n\d]*"?([\d.]+)"?', _after_format(copy))
        assert found is not None
        assert found.group(1) == lorenyi.__version__, copy


def _after_format(name):
    """Return a file's text without the line that says which version of a format it has."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("cff-version"))


def minor_versions(text):
    return set(re.findall(r"3\.\d\d\b", text))


def test_every_python_of_the_classifiers_is_tested():
    classifiers = minor_versions(" ".join(PROJECT["project"]["classifiers"]))
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    matrix = next(line for line in workflow.splitlines() if line.strip().startswith("python: ["))
    assert minor_versions(matrix) == classifiers
    assert PROJECT["project"]["requires-python"] == f">={min(classifiers)}"
    assert all(system in workflow for system in ("ubuntu", "macos", "windows"))


def test_the_oldest_versions_tested_are_the_lower_bounds():
    lines = (ROOT / ".github/oldest.txt").read_text(encoding="utf-8").splitlines()
    tested = {line.replace("==", ">=") for line in lines if line and line[0] != "#"}
    assert tested == set(PROJECT["project"]["dependencies"])
    recipe = (ROOT / "conda/meta.yaml").read_text(encoding="utf-8")
    run = re.search(r"  run:\n(.*?)  run_constrained", recipe, flags=re.DOTALL)
    assert {line.strip(" -").replace(" ", "") for line in run.group(1).splitlines()} == {
        *tested,
        "python>={{python_min}}",
    }
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f'python_min = "{lowest}"' in recipe


def test_workflows_can_be_read():
    yaml = pytest.importorskip("yaml")
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
        assert all(job["steps"] for job in jobs.values()), path.name


def test_the_package_runs_as_a_module():
    pytest.importorskip("typer")
    command = [sys.executable, "-m", "lorenyi", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"lorenyi {lorenyi.__version__}"


def test_the_package_says_that_it_is_typed():
    assert (Path(lorenyi.__file__).parent / "py.typed").exists()
