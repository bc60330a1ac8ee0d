"""The parser of the command line, made from the commands of `options`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from lorenyi import __version__
from lorenyi.cli.options import COMMANDS, command

app = typer.Typer(
    name="lorenyi",
    help="How much information do columns of a table hold about each other? In bits.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # replace characters it cannot encode
            stream.reconfigure(errors="replace")
    parser = typer.main.get_command(app)
    result = parser.main(list(arguments) or ["--help"], prog_name="lorenyi", standalone_mode=False)
    if hasattr(result, "deliver"):
        result.finding.command = " ".join(map(shlex.quote, ["lorenyi", *arguments]))
        result.deliver()
        return 0
    if result == 130:  # typer's code for an interruption
        raise KeyboardInterrupt
    return result if isinstance(result, int) else 0


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lorenyi {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


for _name, _kind in COMMANDS.items():
    app.command(_name)(command(_name, _kind))
