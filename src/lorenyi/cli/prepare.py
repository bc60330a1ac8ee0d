"""Preparation of a command: read the table, find columns, check the input."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from lorenyi import selection
from lorenyi.cli import Refused
from lorenyi.cli.kinds import EMPTY
from lorenyi.cli.options import Common
from lorenyi.cli.reading import read_table
from lorenyi.cli.tables import Read
from lorenyi.functionals import Renyi
from lorenyi.report.wording import counted
from lorenyi.selection import Criterion, reading
from lorenyi.selection.criteria import BaseCriterion

CRITERIA: dict[str, type[Criterion]] = {
    "joint": selection.JointInformation,
    "mifs": selection.MIFS,
    "fou": selection.FOU,
    "mrmr": selection.MRMR,
    "jmi": selection.JMI,
    "jmim": selection.JMIM,
    "icap": selection.ICAP,
    "cmim": selection.CMIM,
    "disr": selection.DISR,
}


def open_table(
    asked: Common, *, spared: Sequence[str] = (), suspects: bool = True, lenient: bool = False
) -> Read:
    """Read the file, or the example, and leave out columns that are not to be measured.

    Parameters
    ----------
    asked : Common
        The command.
    spared : sequence of str
        Columns to keep even if they look like identifiers.
    suspects : bool
        Whether to leave out identifiers and empty columns; not if the command names its columns.
    lenient : bool
        Whether text among numbers counts as missing, instead of an error.
    """
    if (asked.data is None) == (asked.example is None):
        raise Refused("give either a file (- for standard input) or --example with a name")
    table = read_table(
        asked.data,
        example=asked.example,
        header=asked.header,
        encoding=asked.encoding,
        sheet=asked.sheet,
        numeric=asked.numeric or (),
        categorical=asked.categorical or (),
        date=asked.date or (),
        sample=asked.sample,
        seed=asked.seed,
        lenient=lenient,
    )
    kept = {*spared, *named(table, asked.keep, "--keep")}
    kept |= {*named(table, asked.categorical, "--categorical"), *table.numeric}
    table.frame = table.frame.drop(named(table, asked.drop, "--drop"))
    if suspects:
        found = {n: why for n, why in table.suspects.items() if n in table.frame.columns}
        table.leave_out({n: why for n, why in found.items() if why == EMPTY})
        found = {n: why for n, why in found.items() if why != EMPTY and n not in kept}
        table.leave_out(found, " (--keep includes them)")
    if table.frame.width == 0:
        raise Refused(f"{table.name}: no column is left to measure (--keep includes identifiers)")
    return table


def named(table: Read, texts: list[str] | None, option: str) -> list[str]:
    """Return the columns that options name."""
    return [name for text in texts or [] for name in table.columns(text, option)]


def target_of(table: Read, target: str | None, from_example: str | None) -> str:
    """Return the target's column; examples have one."""
    if target is None and from_example is None:
        shown = ", ".join(repr(c) for c in table.frame.columns[-3:])
        raise Refused(f"select needs --target, the column to predict; the last are {shown}")
    return table.column("target" if target is None else target, "--target")


def criterion_named(
    name: str, alpha: float | None, rank: int | None, bins: int, table: Read
) -> BaseCriterion:
    """Return the criterion; with an order or a rank, that of certified entropies."""
    if name == "neighbors" and alpha is None and rank is None:
        return selection.NeighborInformation()
    name = "joint" if name == "neighbors" else name  # an order or a rank is that of an entropy
    if alpha is None and rank is None:
        return selection.JointInformation() if name == "joint" else CRITERIA[name](bins=bins)
    if name == "joint" and rank is None:
        rank = 100 if table.frame.height > 100 else None
    return CRITERIA[name](entropy=Renyi(2.0 if alpha is None else alpha, fitting(rank, table)))


def fitting(rank: int | None, table: Read) -> int | None:
    """Refuse a rank that the rows do not allow."""
    n = table.frame.height
    if rank is not None and rank > n - 1:
        raise Refused(f"--rank {rank}: the table has {n} rows, so it must be at most {n - 1}")
    return rank


def how_many(text: str, features: int) -> int | float | str:
    """Read `--n-features`."""
    if text in ("auto", "relevant", "smallest"):
        return text
    try:
        value: float = int(text) if text.isdigit() else float(text)
    except ValueError:
        value = 0
    if (isinstance(value, float) and not 0 < value <= 1) or not 0 < value <= features:
        raise Refused(
            f"--n-features {text}: give a number from 1 to the {features} columns, a share such as "
            "0.2, or auto, relevant or smallest"
        )
    return value


def require_variety(table: Read, X: pl.DataFrame, y: pl.Series, task: str) -> None:
    """Refuse a target or columns that do not vary; note the target's type."""
    if y.n_unique() == 1:
        raise Refused(f"target {y.name!r} has only one value ({y[0]!r:.40}): choose another")
    constant = [name for name in X.columns if X[name].n_unique() == 1]
    if len(constant) == X.width:
        raise Refused(f"{table.name}: all {X.width} columns are constant")
    if constant:
        table.notes.append(f"constant, so not informative: {', '.join(constant[:6])}")
    numbers = reading.read_target(y, task).numbers.shape[1]
    kind = "numbers" if numbers else f"{y.n_unique()} classes"
    table.notes.append(f"target {y.name}: {kind} (--task)")
    levels = y.n_unique()
    if not numbers and levels > y.len() / 2:
        raise Refused(
            f"target {y.name!r} has {levels} classes in {y.len()} rows: it names rows; choose "
            "another, or --task regression for numbers"
        )


def size(table: Read) -> str:
    """Return the size of a table in words."""
    kinds = [table.kind(name, column) for name, column in table.typed().items()]
    counts = {
        "numeric": sum(k.startswith("number") for k in kinds),
        "date": sum(k.startswith("date") for k in kinds),
        "categorical": sum(k.startswith("category") for k in kinds),
    }
    told = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    return f"{counted(table.frame.height, 'row')}, {counted(table.frame.width, 'column')} ({told})"
