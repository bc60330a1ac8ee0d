"""The commands: read a table, type its columns, check, measure, and output the result."""

from __future__ import annotations

import warnings

from lorenyi import report
from lorenyi.cli import Refused, options, show
from lorenyi.cli.kinds import rare_levels
from lorenyi.cli.output import Job, Output, job, named_steps
from lorenyi.cli.prepare import (
    criterion_named,
    fitting,
    how_many,
    open_table,
    require_variety,
    target_of,
)
from lorenyi.functionals import Renyi
from lorenyi.selection import InformationSelector
from lorenyi.spectra import Auto

TESTS = 19  # permutations per step for a given number of features: p-values down to .05


def describe(asked: options.Describe) -> Job:
    """Show an overview of a table."""
    output = Output.of(asked)
    table = open_table(asked, lenient=True)
    target = None if asked.target is None else table.column(asked.target, "--target")
    show.reading(table, asked.quiet, columns=False)
    with show.progress("comparing", asked.quiet) as step:
        finding = report.describe(
            table.frame,
            target=target,
            kernels=table.kernels(table.frame.columns),
            kinds={name: table.kind(name, c) for name, c in table.typed().items()},
            left_out=table.left_out,
            limit=asked.limit,
            whole=asked.sample is not None,
            n_jobs=asked.n_jobs,
            max_seconds=asked.max_seconds,
            progress=step,
            seed=asked.seed,
        )
    return job(finding, table, output, table.python, columns=False)


def select(asked: options.Select) -> Job:
    """Choose the columns that together are most informative about a target."""
    output = Output.of(asked)
    table = open_table(asked, spared=[asked.target or "target"])
    target = target_of(table, asked.target, asked.example)
    features = [c for c in table.frame.columns if c != target]
    if not features:
        raise Refused(f"{table.name}: no column is left besides the target")
    missing = asked.missing
    table.settle_missing("error" if missing == "value" else missing, [target])
    table.settle_missing(missing, features)
    X, y = table.frame.select(features), table.frame[target]
    n_features = how_many(asked.n_features, len(features))
    selector = InformationSelector(
        n_features,
        criterion=criterion_named(asked.criterion, asked.alpha, asked.rank, asked.bins, table),
        categorical_features=table.categorical(features) if table.numeric else "auto",
        feature_groups=[table.columns(g, "--groups") for g in asked.groups or []] or None,
        must_include=None if asked.given is None else table.columns(asked.given, "--given"),
        task=asked.task,
        missing="value" if missing == "value" else "error",
        n_permutations=None if isinstance(n_features, str) else TESTS,
        max_seconds=asked.max_seconds,
        n_jobs=-1 if asked.n_jobs is None else asked.n_jobs,
        random_state=asked.seed,
    )
    require_variety(table, X, y, asked.task)
    table.notes += rare_levels(table, features)
    show.reading(table, asked.quiet)
    with show.progress("choosing", asked.quiet) as step, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no feature was selected")  # the answer says so
        warnings.filterwarnings("ignore", "max_seconds was over")  # likewise
        selector.set_params(progress=named_steps(step, features)).fit(X, y)
    selector.set_params(progress=False)
    finding = report.selection(selector, X, y, target=target)
    reread = f"{table.python}\nX, y = {table.lines(features)}, table[{target!r}]"
    return job(finding, table, output, reread)


def measure(asked: options.Measure) -> Job:
    """Measure entropy and mutual information, beside chance."""
    output = Output.of(asked)
    if not asked.x:
        raise Refused("measure needs --x, the columns to measure, such as --x age,weight")
    texts = (asked.x, "--x"), (asked.y, "--y"), (asked.given, "--given")
    table = open_table(asked, suspects=False)
    sides = [[] if text is None else table.columns(text, option) for text, option in texts]
    used = list(dict.fromkeys(name for side in sides for name in side))
    table.take(used)
    table.settle_missing(asked.missing, used)
    table.notes += rare_levels(table, used)
    show.reading(table, asked.quiet)
    entropy = _entropy(asked, fitting(asked.rank, table), asked.certified)
    with show.progress("measuring", asked.quiet) as step:
        finding = report.measure(
            table.frame,
            *sides,
            entropy=entropy,
            kernels=table.kernels(used),
            certified=asked.certified is not None,
            permutations=asked.permutations,
            seed=asked.seed,
            progress=step,
        )
    return job(finding, table, output, table.python)


def matrix(asked: options.Matrix) -> Job:
    """Measure the mutual information of each pair of columns."""
    output = Output.of(asked)
    table = open_table(asked, lenient=True, suspects=asked.columns is None)
    used = table.frame.columns
    if asked.columns is not None:
        used = table.columns(asked.columns, "--columns")
    if len(used) > asked.limit:
        table.notes.append(
            f"the first {asked.limit} of {len(used):,} columns are compared: --columns chooses "
            "others, --limit takes more"
        )
        used = used[: asked.limit]
    if len(used) < 2:
        raise Refused(f"{table.name}: pairs need two columns, found {len(used)}")
    table.take(used)
    if all(table.frame[name].drop_nulls().n_unique() < 2 for name in used):
        raise Refused(f"{table.name}: all {len(used)} columns are constant")
    table.notes += rare_levels(table, used)
    show.reading(table, asked.quiet)
    with show.progress("comparing", asked.quiet) as step:
        finding = report.matrix(
            table.frame,
            used,
            entropy=_entropy(asked, fitting(asked.rank, table), None),
            kernels=table.kernels(used),
            whole=asked.sample is not None,
            n_jobs=asked.n_jobs,
            max_seconds=asked.max_seconds,
            progress=step,
            seed=asked.seed,
        )
    return job(finding, table, output, f"{table.python}\ncolumns = {used!r}")


def spectrum(asked: options.Spectrum) -> Job:
    """Show the leading eigenvalues."""
    output = Output.of(asked)
    table = open_table(asked, suspects=asked.columns is None)
    used = [n for n in table.frame.columns if asked.example is None or n != "target"]
    if asked.columns is not None:
        used = table.columns(asked.columns, "--columns")
    table.take(used)
    table.settle_missing(asked.missing, used)
    if all(table.frame[name].n_unique() == 1 for name in used):
        raise Refused(f"{table.name}: all {len(used)} columns are constant, all rows are alike")
    categorical = table.categorical(used)
    numbers = [n for n in used if n not in categorical and table.frame[n].n_unique() > 1]
    show.reading(table, asked.quiet)
    with show.progress("finding eigenvalues", asked.quiet):
        finding = report.spectrum(
            table.frame,
            alpha=1.0 if asked.alpha is None else asked.alpha,
            rank=fitting(asked.rank, table),
            bandwidth=asked.bandwidth,
            categorical=[used.index(name) for name in categorical],
            seed=asked.seed,
        )
    reread = (
        f"{table.python}\nnumbers = {table.lines(numbers)}.to_numpy()\n"
        f"categorical = [table[name] for name in {categorical!r}]"
    )
    return job(finding, table, output, reread)


def _entropy(asked: options.Measured, rank: int | None, tol: float | None) -> Renyi:
    solver = Auto(seed=asked.seed) if tol is None else Auto(tol, seed=asked.seed)
    return Renyi(1.0 if asked.alpha is None else asked.alpha, rank, solver)
