"""What commands do before they measure: read, find columns, guess kinds, refuse what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from lorenyi import selection
from lorenyi.cli.tables import LABELS, Read, Refused, example, read
from lorenyi.functionals import Renyi
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


def open_table(data: str | None, from_example: str | None, categorical: list[str] | None) -> Read:
    """Read the file, or the example."""
    if (data is None) == (from_example is None):
        raise Refused("give a file (- for standard input), or --example with a name; one of both")
    if from_example is not None:
        return example(from_example)
    # A column named as it is written may hold any text; patterns are matched after reading.
    symbols = [name for text in categorical or [] for name in [text, *text.split(",")]]
    return read(str(data), symbols)


def target_of(table: Read, target: str | None, from_example: str | None) -> str:
    """Return the target's column; examples have one."""
    if target is None and from_example is None:
        shown = ", ".join(repr(c) for c in table.frame.columns[-3:])
        raise Refused(f"select needs --target, the column to tell about; the last are {shown}")
    return table.column("target" if target is None else target, "--target")


def without_identifiers(
    table: Read, columns: Sequence[str], categorical: list[str] | None
) -> list[str]:
    """Leave out text that differs in every row: as symbols it would tell all, and mean nothing."""
    wanted = set(named(table, categorical, "--categorical") or [])
    n = table.frame.height
    found = [
        name
        for name in columns
        if table.nominal(name)
        and name not in wanted
        and n > 2
        and table.frame[name].n_unique() == n
    ]
    if found:
        table.notes.append(
            f"left out as identifiers, different in every row: {', '.join(found[:6])}"
            f"{', ...' if len(found) > 6 else ''} (--categorical keeps them)"
        )
    kept = [name for name in columns if name not in set(found)]
    if not kept:
        raise Refused(f"{table.name}: no column is left to measure")
    return kept


def named(table: Read, texts: list[str] | None, option: str) -> list[str] | None:
    """Return the columns that options name, None for none."""
    names = [name for text in texts or [] for name in table.columns(text, option)]
    return names or None


def guess_kinds(table: Read, used: Sequence[str], categorical: list[str] | None) -> None:
    """Take whole numbers with many values as numbers; what is said to be symbols as text."""
    symbols = set(named(table, categorical, "--categorical") or [])
    symbols = {name for name in symbols if not table.nominal(name)}
    numbers: list[str] = []
    labels: list[str] = []
    for name in used:
        if table.frame[name].dtype.is_integer() and name not in symbols:
            (numbers if table.frame[name].n_unique() > LABELS else labels).append(name)
    for names, kind in ((sorted(symbols), pl.String), (numbers, pl.Float64)):
        if names:
            table.frame = table.frame.with_columns(pl.col(names).cast(kind))
            table.python += f"\ntable = table.with_columns(pl.col({names!r}).cast(pl.{kind}))"
    if labels:
        table.notes.append(f"whole numbers taken as labels: {', '.join(labels[:6])}")
    if numbers:
        table.notes.append(f"whole numbers taken as numbers: {', '.join(numbers[:6])}")


def criterion_named(
    name: str, alpha: float | None, rank: int | None, bins: int, table: Read
) -> BaseCriterion:
    """Return the criterion: with an order or a rank certified, else from samples."""
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
    """Refuse a target or columns that do not vary; say what the target is taken for."""
    if y.n_unique() == 1:
        raise Refused(
            f"target {y.name!r} has one value only ({y[0]!r:.40}): there is nothing to tell about"
        )
    constant = [name for name in X.columns if X[name].n_unique() == 1]
    if len(constant) == X.width:
        raise Refused(f"{table.name}: all {X.width} columns are constant, they tell nothing")
    if constant:
        table.notes.append(f"{len(constant)} constant columns tell nothing")
    numbers = reading.read_target(y, task).numbers.shape[1]
    kind = "numbers" if numbers else f"{y.n_unique()} labels"
    table.notes.append(f"target {y.name}: {kind} (--task says otherwise)")


def size(table: Read) -> str:
    """Say how large a table is."""
    nominal = sum(table.nominal(name) for name in table.frame.columns)
    return (
        f"{table.frame.height:,} rows, {table.frame.width - nominal:,} columns of numbers, "
        f"{nominal:,} of symbols"
    )
