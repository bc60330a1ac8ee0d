"""The commands and their options: each command is a dataclass whose fields are its options.

Only the parser is imported here. The implementation is in `lorenyi.cli.commands`, which is
imported when a command runs, so that help and version are fast.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

LIMIT = 40  # default number of columns whose pairs are compared

Example = Literal["breast", "iris", "wine", "digits", "diabetes"]
Named = Literal["neighbors", "joint", "mifs", "fou", "mrmr", "jmi", "jmim", "icap", "cmim", "disr"]
READING, OUTPUT = "Reading the table", "Output"


def _reading(help_text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=READING, **more)


def _output(help_text: str, *names: str) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=OUTPUT)


@dataclass(frozen=True, kw_only=True)
class Common:
    """Options of every command: where the table is, how to read it, where the result goes."""

    data: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help="CSV, TSV, Excel, JSON (lines), Parquet, Arrow, .npz or .npy, plain or compressed "
            "(gz, zst, bz2, xz, zip); - is standard input.",
            show_default=False,
        ),
    ] = None
    example: Annotated[
        Example | None, _reading("A table from scikit-learn instead of a file.", "--example")
    ] = None
    numeric: Annotated[
        list[str] | None,
        _reading("Columns of numbers: a,b or a pattern*.", "--numeric", metavar="COLS"),
    ] = None
    categorical: Annotated[
        list[str] | None, _reading("Columns of categories.", "--categorical", metavar="COLS")
    ] = None
    date: Annotated[
        list[str] | None,
        _reading("Columns of dates, optionally with their format: day=%d/%m/%Y.", metavar="COLS"),
    ] = None
    drop: Annotated[
        list[str] | None, _reading("Columns to leave out.", "--drop", metavar="COLS")
    ] = None
    keep: Annotated[
        list[str] | None,
        _reading("Identifiers to include anyway.", "--keep", metavar="COLS"),
    ] = None
    header: Annotated[
        bool | None,
        _reading(
            "Whether the first row holds names; inferred by default.",
            "--header/--no-header",
            show_default=False,
        ),
    ] = None
    encoding: Annotated[str | None, _reading("Encoding of text: utf-8, cp1252, ...")] = None
    sheet: Annotated[str | None, _reading("Sheet of an Excel workbook; the first by default.")] = (
        None
    )
    sample: Annotated[
        int | None, _reading("Draw this many rows at random, if there are more.", min=2)
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random draws.")] = 0
    as_json: Annotated[bool, _output("Print JSON.", "--json")] = False
    as_csv: Annotated[bool, _output("Print CSV.", "--csv")] = False
    report_file: Annotated[Path | None, _output("Also write an HTML page.", "--report")] = None
    quiet: Annotated[bool, _output("Print only the result.", "--quiet", "-q")] = False


@dataclass(frozen=True, kw_only=True)
class Measured(Common):
    """Options of commands that measure bits."""

    alpha: Annotated[float | None, typer.Option(min=0.0, help="Order of the entropy.")] = 1.0
    rank: Annotated[int | None, typer.Option(min=1, help="Keep this many leading eigenvalues.")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class Describe(Common):
    """Describe a table: types, missing values, distributions, dependences."""

    target: Annotated[
        str | None, typer.Option(help="A column whose dependence on the others is shown first.")
    ] = None
    limit: Annotated[int, typer.Option(min=0, help="Most columns whose pairs are compared.")] = (
        LIMIT
    )
    max_seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Compare no further pair after that.")
    ] = None
    n_jobs: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None


@dataclass(frozen=True, kw_only=True)
class Select(Common):
    """Choose the columns that together are most informative about a target."""

    target: Annotated[str | None, typer.Option(help="The column to predict or explain.")] = None
    n_features: Annotated[
        str, typer.Option(help="How many: a number, a share, auto, relevant or smallest.")
    ] = "auto"
    criterion: Annotated[Named, typer.Option(help="Criterion that ranks the columns.")] = (
        "neighbors"
    )
    alpha: Annotated[
        float | None, typer.Option(min=0.0, help="Order of the entropy, for other criteria.")
    ] = None
    rank: Annotated[int | None, typer.Option(min=1, help="Keep this many leading eigenvalues.")] = (
        None
    )
    bins: Annotated[
        int, typer.Option(min=2, help="Bins of other criteria, without --alpha and --rank.")
    ] = 5
    groups: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns chosen only together: a,b or a pattern*; repeatable.", metavar="COLS"
        ),
    ] = None
    given: Annotated[
        str | None, typer.Option(help="Columns that are chosen first.", metavar="COLS")
    ] = None
    task: Annotated[
        Literal["auto", "classification", "regression"],
        typer.Option(help="Whether the target holds labels or numbers."),
    ] = "auto"
    missing: Annotated[
        Literal["error", "drop", "value"],
        typer.Option(help="Missing values: an error, drop their rows, or treat them as a value."),
    ] = "error"
    max_seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Start no further step after that many seconds.")
    ] = None
    n_jobs: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None


@dataclass(frozen=True, kw_only=True)
class Measure(Measured):
    """Measure entropy and (conditional) mutual information, with the chance level."""

    x: Annotated[str, typer.Option(help="First set of columns: a,b.", metavar="COLS")] = ""
    y: Annotated[str | None, typer.Option(help="Second set of columns.", metavar="COLS")] = None
    given: Annotated[str | None, typer.Option(help="Columns to condition on.", metavar="COLS")] = (
        None
    )
    permutations: Annotated[
        int, typer.Option(min=0, help="Permutations of the test; 0: no test, no chance level.")
    ] = 199
    certified: Annotated[
        float | None,
        typer.Option(
            min=1e-12, help="Certified bounds on the computed value, this many bits wide."
        ),
    ] = None
    missing: Annotated[
        Literal["error", "drop"], typer.Option(help="Missing values: an error, or rows to drop.")
    ] = "error"


@dataclass(frozen=True, kw_only=True)
class Matrix(Measured):
    """Measure the mutual information of each pair of columns, similar ones side by side."""

    columns: Annotated[str | None, typer.Option(help="Only these.", metavar="COLS")] = None
    limit: Annotated[int, typer.Option(min=2, help="Most columns to compare.")] = LIMIT
    max_seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Compare no further pair after that.")
    ] = None
    n_jobs: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None


@dataclass(frozen=True, kw_only=True)
class Spectrum(Measured):
    """Show the leading eigenvalues, and which rank and bandwidth suit the table."""

    columns: Annotated[str | None, typer.Option(help="Only these.", metavar="COLS")] = None
    bandwidth: Annotated[
        float | None, typer.Option(min=1e-300, help="Bandwidth of the Gaussian kernel.")
    ] = None
    missing: Annotated[
        Literal["error", "drop"], typer.Option(help="Missing values: an error, or rows to drop.")
    ] = "error"


COMMANDS = {
    "describe": Describe,
    "select": Select,
    "measure": Measure,
    "matrix": Matrix,
    "spectrum": Spectrum,
}


def command(name: str, kind: type[Common]) -> Callable[..., Any]:
    """Return a function whose parameters are the fields of a command, for the parser."""

    def run(**given: Any) -> Any:
        return getattr(import_module("lorenyi.cli.commands"), name)(kind(**given))

    hints = get_type_hints(kind, include_extras=True)
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
    run.__name__, run.__doc__ = name, kind.__doc__
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run
