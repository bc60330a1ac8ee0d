"""The four questions of the command line, and their options."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from lorenyi import __version__, report
from lorenyi.cli import show
from lorenyi.cli.output import Job, Output, job, named_steps
from lorenyi.cli.prepare import (
    criterion_named,
    fitting,
    guess_kinds,
    how_many,
    named,
    open_table,
    require_variety,
    size,
    target_of,
    without_identifiers,
)
from lorenyi.cli.tables import Refused
from lorenyi.functionals import Renyi
from lorenyi.selection import InformationSelector
from lorenyi.spectra import Auto

LIMIT = 40  # columns of a matrix unless more are asked for

Example = Literal["breast", "iris", "wine", "digits", "diabetes"]
Named = Literal["neighbors", "joint", "mifs", "fou", "mrmr", "jmi", "jmim", "icap", "cmim", "disr"]
Task = Literal["auto", "classification", "regression"]
Missing = Literal["error", "drop", "value"]
Gaps = Literal["error", "drop"]

app = typer.Typer(
    name="lorenyi",
    help="How much does this tell about that? Information in a table, in bits.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Data = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Parquet, Arrow, .npz or .npy; - is standard input.",
        show_default=False,
    ),
]
FromExample = Annotated[
    Example | None, typer.Option("--example", help="A table of scikit-learn instead of a file.")
]
Nominal = Annotated[
    list[str] | None,
    typer.Option("--categorical", help="Columns of symbols: a,b or a pattern*.", metavar="COLS"),
]
Alpha = Annotated[float | None, typer.Option(min=0.0, help="Order of the entropy.")]
Rank = Annotated[int | None, typer.Option(min=1, help="Keep this many leading eigenvalues.")]
Tol = Annotated[float, typer.Option(min=1e-12, help="Width of certified intervals, in bits.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all that is random.")]
Jobs = Annotated[int | None, typer.Option(help="Threads; all cores by default.")]
Bandwidth = Annotated[float | None, typer.Option(min=1e-300, help="Of the Gaussian kernel.")]
GapsOption = Annotated[Gaps, typer.Option("--missing", help="What to do with missing values.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel="Output")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV.", rich_help_panel="Output")]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", help="Also write a page (HTML).", rich_help_panel="Output"),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing else.", rich_help_panel="Output")
]


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a letter shows another
            stream.reconfigure(errors="replace")
    command = typer.main.get_command(app)
    result = command.main(list(arguments) or ["--help"], prog_name="lorenyi", standalone_mode=False)
    if isinstance(result, Job):
        words = ["lorenyi", *arguments]
        result.finding.command = " ".join(map(shlex.quote, words))
        result.deliver()
        return 0
    if result == 130:  # what typer makes of an interruption
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


# ------------------------------------------------------------------------------------ the questions


@app.command()
def select(
    data: Data = None,
    target: Annotated[str | None, typer.Option(help="The column to tell about.")] = None,
    example: FromExample = None,
    n_features: Annotated[
        str, typer.Option(help="How many: a number, a share, auto, relevant or smallest.")
    ] = "auto",
    criterion: Annotated[Named, typer.Option(help="What makes a column worth choosing.")] = (
        "neighbors"
    ),
    alpha: Alpha = None,
    rank: Rank = None,
    bins: Annotated[int, typer.Option(min=2, help="Bins of criteria without --alpha.")] = 5,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns in or out together: a,b or a pattern*; repeat it.", metavar="COLS"
        ),
    ] = None,
    given: Annotated[
        str | None, typer.Option(help="Columns taken as known, chosen first.", metavar="COLS")
    ] = None,
    drop: Annotated[str | None, typer.Option(help="Columns to leave out.", metavar="COLS")] = None,
    categorical: Nominal = None,
    task: Annotated[Task, typer.Option(help="Whether the target holds labels or numbers.")] = (
        "auto"
    ),
    missing: Annotated[Missing, typer.Option(help="What to do with missing values.")] = "error",
    n_jobs: Jobs = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    report_file: ReportFile = None,
    quiet: Quiet = False,
) -> Any:
    """Choose the columns that together tell most about a target."""
    output = Output(as_json, as_csv, report_file, quiet)
    table = open_table(data, example, categorical)
    target = target_of(table, target, example)
    left_out = [] if drop is None else table.columns(drop, "--drop")
    features = [c for c in table.frame.columns if c != target and c not in left_out]
    features = without_identifiers(table, features, categorical)
    table.take([*features, target])
    table.settle_missing("error" if missing == "value" else missing, [target])
    table.settle_missing(missing, features)
    symbols = [c for c in named(table, categorical, "--categorical") or [] if c in features]
    selector = InformationSelector(
        how_many(n_features, len(features)),
        criterion=criterion_named(criterion, alpha, rank, bins, table),
        categorical_features=symbols or "auto",
        feature_groups=[table.columns(g, "--groups") for g in groups] if groups else None,
        must_include=None if given is None else table.columns(given, "--given"),
        task=task,
        missing="value" if missing == "value" else "error",
        n_jobs=-1 if n_jobs is None else n_jobs,
        random_state=seed,
    )
    X, y = table.frame.select(features), table.frame[target]
    require_variety(table, X, y, task)
    show.notes([f"{table.name}: {size(table)}", *table.notes], quiet)
    with show.progress("choosing", quiet) as step, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no feature was selected")  # the answer says so
        selector.set_params(progress=named_steps(step, features)).fit(X, y)
    selector.set_params(progress=False)
    finding = report.selection(selector, X, y, target=target)
    reread = f"{table.python}\nX, y = {table.lines(features)}, table[{target!r}]"
    return job(finding, table, output, reread)


@app.command()
def measure(
    data: Data = None,
    x: Annotated[str, typer.Option(help="Columns on one side: a,b.", metavar="COLS")] = "",
    y: Annotated[str | None, typer.Option(help="On the other side.", metavar="COLS")] = None,
    given: Annotated[str | None, typer.Option(help="Taken as known.", metavar="COLS")] = None,
    example: FromExample = None,
    alpha: Alpha = 1.0,
    rank: Rank = None,
    categorical: Nominal = None,
    test: Annotated[int, typer.Option(min=0, help="Permutations of a test of independence.")] = 0,
    missing: GapsOption = "error",
    tol: Tol = 1e-3,
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    report_file: ReportFile = None,
    quiet: Quiet = False,
) -> Any:
    """Measure entropy, mutual information, and the same given other columns."""
    output = Output(as_json, as_csv, report_file, quiet)
    if not x:
        raise Refused("measure needs --x, the columns to measure, such as --x age,weight")
    table = open_table(data, example, categorical)
    sides = [
        [] if names is None else table.columns(names, option)
        for names, option in ((x, "--x"), (y, "--y"), (given, "--given"))
    ]
    used = list(dict.fromkeys(name for side in sides for name in side))
    table.take(used)
    table.settle_missing(missing, used)
    guess_kinds(table, used, categorical)
    show.notes([f"{table.name}: {size(table)}", *table.notes], quiet)
    entropy = Renyi(1.0 if alpha is None else alpha, fitting(rank, table), Auto(tol, seed=seed))
    with show.progress("measuring", quiet):
        finding = report.measure(table.frame, *sides, entropy=entropy, permutations=test, seed=seed)
    return job(finding, table, output, table.python)


@app.command()
def matrix(
    data: Data = None,
    columns: Annotated[str | None, typer.Option(help="Only these.", metavar="COLS")] = None,
    example: FromExample = None,
    alpha: Alpha = 1.0,
    rank: Rank = None,
    categorical: Nominal = None,
    limit: Annotated[int, typer.Option(min=2, help="Most columns to compare.")] = LIMIT,
    missing: GapsOption = "error",
    tol: Tol = 1e-3,
    n_jobs: Jobs = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    report_file: ReportFile = None,
    quiet: Quiet = False,
) -> Any:
    """Measure what each two columns share, similar ones side by side."""
    output = Output(as_json, as_csv, report_file, quiet)
    table = open_table(data, example, categorical)
    if columns is None:
        used = without_identifiers(table, table.frame.columns, categorical)
    else:
        used = table.columns(columns, "--columns")
    if len(used) > limit:
        table.notes.append(
            f"the first {limit} of {len(used):,} columns are compared: --columns chooses others, "
            "--limit takes more"
        )
        used = used[:limit]
    if len(used) < 2:
        raise Refused(f"{table.name}: pairs need two columns, found {len(used)}")
    table.take(used)
    table.settle_missing(missing, used)
    if all(table.frame[name].n_unique() == 1 for name in used):
        raise Refused(f"{table.name}: all {len(used)} columns are constant, they tell nothing")
    guess_kinds(table, used, categorical)
    show.notes([f"{table.name}: {size(table)}", *table.notes], quiet)
    entropy = Renyi(1.0 if alpha is None else alpha, fitting(rank, table), Auto(tol, seed=seed))
    with show.progress("comparing", quiet) as step:
        finding = report.matrix(
            table.frame,
            used,
            entropy=entropy,
            n_jobs=n_jobs,
            progress=lambda share: step("pairs", share),
        )
    return job(finding, table, output, f"{table.python}\ncolumns = {used!r}")


@app.command()
def spectrum(
    data: Data = None,
    columns: Annotated[str | None, typer.Option(help="Only these.", metavar="COLS")] = None,
    example: FromExample = None,
    alpha: Alpha = 1.0,
    rank: Rank = None,
    bandwidth: Bandwidth = None,
    categorical: Nominal = None,
    missing: GapsOption = "error",
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    report_file: ReportFile = None,
    quiet: Quiet = False,
) -> Any:
    """Show the leading eigenvalues, and what rank and bandwidth would be sensible."""
    output = Output(as_json, as_csv, report_file, quiet)
    table = open_table(data, example, categorical)
    if columns is None:
        used = without_identifiers(table, table.frame.columns, categorical)
        used = [name for name in used if example is None or name != "target"]
    else:
        used = table.columns(columns, "--columns")
    table.take(used)
    table.settle_missing(missing, used)
    if all(table.frame[name].n_unique() == 1 for name in used):
        raise Refused(f"{table.name}: all {len(used)} columns are constant, all rows are alike")
    symbols = set(named(table, categorical, "--categorical") or [])
    nominal = [name for name in used if table.nominal(name) or name in symbols]
    numbers = [n for n in used if n not in nominal and table.frame[n].n_unique() > 1]
    show.notes([f"{table.name}: {size(table)}", *table.notes], quiet)
    with show.progress("finding eigenvalues", quiet):
        finding = report.spectrum(
            table.frame,
            alpha=1.0 if alpha is None else alpha,
            rank=fitting(rank, table),
            bandwidth=bandwidth,
            categorical=[used.index(name) for name in nominal],
            seed=seed,
        )
    reread = (
        f"{table.python}\nnumbers = {table.lines(numbers)}.to_numpy()\n"
        f"nominal = [table[name] for name in {nominal!r}]"
    )
    return job(finding, table, output, reread)
