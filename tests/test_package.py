"""The package as a whole: what an import costs, and that its list of names tells the truth."""

import importlib
import inspect
import pkgutil
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


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert lorenyi.__version__ == project["version"]


def test_the_package_says_that_it_is_typed():
    assert (Path(lorenyi.__file__).parent / "py.typed").exists()
