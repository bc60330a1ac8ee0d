"""Information measured directly from data: entropies of the eigenvalues of a kernel matrix.

>>> import lorenyi as lr
>>> lr.mutual_information([0, 0, 1, 1], ["no", "no", "yes", "yes"])
1.0 bits (x: Delta(), y: Delta())
"""

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from lorenyi._public import *  # noqa: F403
    from lorenyi._public import __all__ as __all__

__version__ = "0.1.0"


def __getattr__(name: str) -> _Any:
    """Import the public names at first use: `lorenyi --help` needs none of them."""
    if name == "__all__" or not name.startswith("_"):
        public = _import_module("lorenyi._public")
        globals().update({each: getattr(public, each) for each in public.__all__})
        globals()["__all__"] = list(public.__all__)
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module 'lorenyi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})


class _Package(_ModuleType):
    """A package in which functions hide modules of the same name: `entropy` and `gram`."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in ("entropy", "gram") and isinstance(value, _ModuleType)):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
