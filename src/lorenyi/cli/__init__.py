"""The command `lorenyi`: questions about a table, answered in sentences, numbers or a page.

Needs the packages of ``pip install "lorenyi[cli]"``. Results go to standard output, messages to
standard error. Exit codes: 0 success, 1 a computation failed, 2 bad input, 130 interrupted, 141
broken pipe.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


class Refused(Exception):
    """Bad input; the message is shown on one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        from lorenyi.cli.app import run
    except ModuleNotFoundError as missing:
        return _fail(*_message(missing))
    try:
        code = run(given)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:
        # Otherwise Python raises an error when it flushes the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        if os.environ.get("LORENYI_DEBUG"):
            raise
        return _fail(*_message(error))


def _message(error: Exception) -> tuple[str, int]:
    """Return the line and the exit code of an error."""
    if hasattr(error, "format_message"):  # of typer: the command was not understood
        return f"{error.format_message()} (lorenyi --help)", 2
    lines = str(error).strip().splitlines() or [type(error).__name__]
    if isinstance(error, (Refused, ValueError, TypeError)):
        return lines[0], 2
    if isinstance(error, ModuleNotFoundError):
        return f'the command needs {error.name}: pip install "lorenyi[cli]"', 2
    if isinstance(error, MemoryError):
        return f"not enough memory: {lines[0]}", 1
    return f"{type(error).__name__}: {lines[0]} (LORENYI_DEBUG=1 shows where)", 1


def _fail(line: str, code: int) -> int:
    sys.stderr.write(f"lorenyi: {printable(line)}\n")
    return code


def printable(text: str) -> str:
    """Return text without control characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
