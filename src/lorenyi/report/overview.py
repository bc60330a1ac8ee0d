"""Overview of a table: its columns, missing values, and dependences between columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lorenyi.data.columns import Column
from lorenyi.data.reading import read_columns
from lorenyi.functionals import Renyi
from lorenyi.kernels import Kernel
from lorenyi.report.columns import distinct, drawn, kind_of, repeats, statistics, varies
from lorenyi.report.dependence import Dependence, Progress, dependences
from lorenyi.report.finding import Finding
from lorenyi.report.pairs import (
    PAIR_COLUMNS,
    clustered,
    heat_section,
    independent,
    pair_rows,
    pairs_section,
    redundancy,
    remarks,
    significance,
)
from lorenyi.report.pictures import distribution
from lorenyi.report.tables import Section, Table, shortened, table_section
from lorenyi.report.wording import bits, counted, listed, percent

BEYOND = "beyond chance"  # heading of the bits that a column shares with another
PICTURED = 60  # columns with a picture on the page


def describe(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    target: str | None = None,
    kernels: Mapping[str, Kernel] | None = None,
    kinds: Mapping[str, str] | None = None,
    left_out: Mapping[str, str] | None = None,
    limit: int = 40,
    whole: bool = False,
    n_jobs: int | None = None,
    max_seconds: float | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> Finding:
    """Report what a table holds: types, missing values, distributions, and dependences.

    Parameters
    ----------
    table : data frame
        Its columns are found by `table[name]`.
    columns : sequence of str, optional
        The columns to describe; all by default.
    target : str, optional
        A column whose dependences are shown first.
    kernels : mapping, optional
        Kernels of columns for which the default is not wanted.
    kinds : mapping, optional
        Types of the columns, in words.
    left_out : mapping, optional
        Columns that were left out before, and why.
    limit : int
        Maximum number of columns whose pairs are compared.
    whole, n_jobs, max_seconds, progress, seed
        As in `matrix`.

    Examples
    --------
    >>> import pandas as pd
    >>> from lorenyi import report
    >>> table = pd.DataFrame({"a": [0, 0, 1, 1] * 5, "b": [0.5, 1.0, None, 7.0] * 5})
    >>> found = report.describe(table)
    >>> print(found.answer[0], found.answer[1])
    20 rows and 2 columns: 1 number, 1 category. Missing values: b (25 %).
    """
    names = [str(name) for name in (table.columns if columns is None else columns)]
    typed = {name: read_columns(table[name], name)[0] for name in names}
    compared = [n for n in names if varies(typed[n])]
    if target in compared:
        compared = [target, *(n for n in compared if n != target)]
    dropped, compared = compared[limit:], compared[:limit]
    found = None
    if len(compared) > 1:
        found = dependences(
            table,
            compared,
            kernels=kernels,
            whole=whole,
            n_jobs=n_jobs,
            max_seconds=max_seconds,
            progress=progress,
            seed=seed,
        )
    n = len(next(iter(typed.values())).values)
    words = dict(kinds or {})
    for name, column in typed.items():
        words.setdefault(name, kind_of(column))
    summary = _summary(typed, words, found, n)
    return Finding(
        question="What does this table hold?",
        answer=_answer(typed, words, found, target, left_out or {}, dropped, n),
        facts=_facts(typed, found, n),
        table=summary,
        settings={"order": 1.0, "columns compared": len(compared), "seed": seed},
        python=_python(target),
        sections=lambda: _sections(typed, words, found, target, summary),
        extra={
            "rows": n,
            "columns": {name: statistics(c, words[name]) for name, c in typed.items()},
            "left_out": dict(left_out or {}),
            "pairs": [] if found is None else Table(PAIR_COLUMNS, pair_rows(found)).records(),
        },
    )


# ------------------------------------------------------------------------------- columns


def _summary(
    typed: dict[str, Column], words: dict[str, str], found: Dependence | None, n: int
) -> Table:
    rows = []
    for name, column in typed.items():
        with_, shared = _closest(found, name)
        rows.append(
            [
                name,
                words[name],
                int(column.gaps.sum()),
                distinct(column),
                drawn(column, words[name]),
                with_,
                shared,
            ]
        )
    heads = ["column", "read as", "missing", "distinct", "distribution", "depends most on", BEYOND]
    return Table(heads, rows)


def _closest(found: Dependence | None, name: str) -> tuple[str, float]:
    """Return the column on which one depends most, if significantly, and how much beyond chance."""
    if found is None or name not in found.names:
        return "", np.nan
    i = found.names.index(name)
    best = found.partners(i)[:1]
    return (found.names[best[0]], float(found.beyond[i, best[0]])) if best else ("", np.nan)


# ------------------------------------------------------------------------------- in words


def _answer(
    typed: dict[str, Column],
    words: dict[str, str],
    found: Dependence | None,
    target: str | None,
    left_out: Mapping[str, str],
    dropped: Sequence[str],
    n: int,
) -> list[str]:
    sentences = [_headline(words, n), _gaps(typed, n)]
    constant = [name for name, column in typed.items() if not varies(column)]
    if constant:
        sentences.append(f"Constant: {listed(constant)}.")
    same = repeats(typed)
    if same:
        named = "; ".join(f"{' = '.join(group[:4])}" for group in same[:4])
        sentences.append(f"The same values under other names or scales: {named}.")
    if left_out:
        named = listed([f"{name} ({why})" for name, why in left_out.items()], 4)
        sentences.append(f"Not compared: {named}.")
    if found is None:
        why = "Pairs were not compared (limit)." if dropped else "No two columns vary."
        return [*sentences, why]
    if target is not None and target in found.names:
        sentences.insert(1, _about(found, target))
    sentences.append(significance(found))
    sentences += [*_groups(found, target), *independent(found)]
    if dropped:
        sentences.append(
            f"The first {len(found.names)} columns were compared, the other {len(dropped):,} not "
            "(limit)."
        )
    return [*sentences, *remarks(found, Renyi())]


def _headline(words: dict[str, str], n: int) -> str:
    kinds = {"number": 0, "date": 0, "category": 0}
    for kind in words.values():
        kinds[kind.split()[0]] = kinds.get(kind.split()[0], 0) + 1
    plural = {"category": "categories"}
    named = [
        f"{c:,} {kind if c == 1 else plural.get(kind, kind + 's')}"
        for kind, c in kinds.items()
        if c
    ]
    return f"{counted(n, 'row')} and {counted(len(words), 'column')}: {', '.join(named)}."


def _gaps(typed: dict[str, Column], n: int) -> str:
    gaps = {name: int(c.gaps.sum()) for name, c in typed.items() if c.gaps.any()}
    if not gaps:
        return "No values are missing."
    worst = sorted(gaps, key=lambda name: -gaps[name])
    named = listed([f"{name} ({percent(gaps[name] / n)})" for name in worst], 5)
    return f"Missing values: {named}."


def _about(found: Dependence, target: str) -> str:
    i = found.names.index(target)
    best = found.partners(i)
    if not best:
        return f"{target} depends significantly on no single column."
    named = listed([f"{found.names[j]} ({bits(found.beyond[i, j])} bits)" for j in best[:4]])
    more = f" {len(best)} columns are significant." if len(best) > 4 else ""
    return f"{target} depends most on {named}, beyond chance.{more}"


def _groups(found: Dependence, target: str | None) -> list[str]:
    others = found.ordered([i for i, name in enumerate(found.names) if name != target])
    return redundancy(others, clustered(others.bits)[1])


# ------------------------------------------------------------------------------- on the page


def _facts(typed: dict[str, Column], found: Dependence | None, n: int) -> list[tuple[str, str]]:
    cells = n * max(len(typed), 1)
    gaps = sum(int(c.gaps.sum()) for c in typed.values())
    facts = [
        (f"{n:,}", "rows"),
        (f"{len(typed):,}", "columns"),
        (percent(gaps / cells), "values missing"),
    ]
    if found is not None:
        pairs = found.pairs()
        facts.append((f"{found.count:,} of {len(pairs):,}", "pairs dependent"))
    return facts


def _sections(
    typed: dict[str, Column],
    words: dict[str, str],
    found: Dependence | None,
    target: str | None,
    summary: Table,
) -> list[Section]:
    n = len(next(iter(typed.values())).values)
    items = []
    for name, column in list(typed.items())[:PICTURED]:
        gaps = int(column.gaps.sum())
        missing = f", {percent(gaps / n)} missing" if gaps else ""
        note = f"{words[name]}, {distinct(column):,} distinct{missing}"
        items.append({"name": shortened(name), "note": note, "picture": distribution(column)})
    few = f" The first {PICTURED} of {len(typed):,} are shown." if len(typed) > PICTURED else ""
    sections: list[Section] = [
        {
            "kind": "pictures",
            "title": "Distributions",
            "text": f"Histograms of numbers and dates, shares of categories.{few}",
            "items": items,
        }
    ]
    if found is not None:
        if target is not None and target in found.names:
            sections.append(_target_section(found, target))
        order, _ = clustered(found.bits)
        sections += [heat_section(found.ordered(order)), pairs_section(found)]
    shown = [c for c, name in enumerate(summary.columns) if name != "distribution"]  # drawn above
    cells = [[row[c] for c in shown] for row in summary.rows]
    heads = [summary.columns[c] for c in shown]
    text = "Beyond chance: mutual information with that column minus its chance level, in bits."
    return [*sections, table_section("Columns", text, Table(heads, cells))]


def _target_section(found: Dependence, target: str) -> Section:
    i = found.names.index(target)
    order = [j for j in np.argsort(-np.nan_to_num(found.beyond[i])) if j != i][:30]
    rows = [
        {
            "name": shortened(found.names[j]),
            "value": float(found.bits[i, j]),
            "error": float(found.errors[i, j]),
            "chance": float(found.chance[i, j]),
            "hollow": not bool(found.significant[i, j]),
            "more": [f"p = {found.p_values[i, j]:.2g}"],
        }
        for j in order
        if not np.isnan(found.bits[i, j])
    ]
    return {
        "kind": "bars",
        "title": f"Dependence of {shortened(target)}",
        "text": "Mutual information with each column alone, in bits. The thin line is two standard "
        "errors to each side, the tick the chance level; hollow bars are not significant.",
        "rows": rows,
        "unit": "bits",
        "most": float(found.bits[i, i]),
    }


def _python(target: str | None) -> str:
    about = "" if target is None else f", target={target!r}"
    return f"from lorenyi import report\n\nfound = report.describe(table{about})"
