"""The mutual information of each pair of columns, and groups of redundant columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lorenyi.functionals import Renyi
from lorenyi.kernels import Kernel
from lorenyi.report.dependence import LEVEL, Dependence, Progress, dependences
from lorenyi.report.finding import Finding
from lorenyi.report.tables import Section, Table, shortened, table_section
from lorenyi.report.wording import at_order, bits, counted, listed

SHOWN = 60  # columns of the map on the page
TOGETHER = 0.5  # normalized information above which columns form a group
PAIR_COLUMNS = ("column", "and", "bits", "std. error", "chance", "p", "significant", "share")


def matrix(
    table: Any,
    columns: Sequence[str],
    *,
    entropy: Renyi = Renyi(),
    kernels: Mapping[str, Kernel] | None = None,
    whole: bool = False,
    n_jobs: int | None = None,
    max_seconds: float | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> Finding:
    """Report the mutual information of each pair of columns, similar columns side by side.

    Each value comes with its standard error, its chance level (the value with the rows of one
    column permuted) and the p-value of a test of independence.

    Parameters
    ----------
    table : data frame
        Its columns are found by `table[name]`.
    columns : sequence of str
        The columns to compare. Each pair is measured on the rows that have both values.
    entropy : Renyi
        The functional.
    kernels : mapping, optional
        Kernels of columns for which the default is not wanted.
    whole : bool
        Whether to measure on all rows; otherwise on at most 2,000, drawn at random.
    n_jobs : int, optional
        Threads; all cores by default.
    max_seconds : float, optional
        No pair is started after that.
    progress : callable, optional
        Called with a message and the share of pairs that is done.
    seed : int
        Seed of sampled rows and permutations.

    Examples
    --------
    >>> import pandas as pd
    >>> from lorenyi import report
    >>> table = pd.DataFrame({"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "c": [5, 5, 8, 8] * 5})
    >>> found = report.matrix(table, ["a", "b", "c"])
    >>> found.grid.rows[1]
    ['c', 1.0, 1.0, 0.0]
    >>> print(found.answer[0])
    a and c share most: 1.000 bits.
    """
    if len(columns) < 2:
        raise ValueError(f"columns={list(columns)!r}: pairs need at least two columns")
    found = dependences(
        table,
        columns,
        entropy=entropy,
        kernels=kernels,
        whole=whole,
        n_jobs=n_jobs,
        max_seconds=max_seconds,
        progress=progress,
        seed=seed,
    )
    order, groups = clustered(found.bits)
    groups = [[order.index(i) for i in group] for group in groups]
    found = found.ordered(order)
    return Finding(
        question="Which columns depend on each other?",
        answer=_answer(found, groups, entropy),
        facts=_facts(found),
        table=Table(PAIR_COLUMNS, pair_rows(found)),
        settings={
            "order": entropy.alpha,
            "rank": entropy.rank,
            "solver": repr(entropy.solver),
            "rows measured": found.rows,
            "seed": seed,
        },
        python=_python(entropy, kernels or {}),
        sections=lambda: _sections(found),
        extra=_extra(found),
        grid=_grid(found),
    )


def _facts(found: Dependence) -> list[tuple[str, str]]:
    pairs = found.pairs()
    return [
        (str(len(found.names)), "columns"),
        (f"{found.count:,} of {len(pairs):,}", "pairs significant"),
        (f"{bits(found.bits[pairs[0]])} bits" if pairs else "none", "largest"),
        (f"{found.rows:,}", "rows"),
    ]


def _extra(found: Dependence) -> dict[str, Any]:
    return {
        "columns": found.names,
        "matrix": _plain(found.bits),
        "standard_errors": _plain(found.errors),
        "chance": _plain(found.chance),
        "p_values": _plain(found.p_values),
        "rows": found.total,
        "rows_measured": found.rows,
        "pairs_left": found.left,
    }


def _grid(found: Dependence) -> Table:
    rows = zip(found.names, found.bits.tolist(), strict=True)
    return Table(["column", *found.names], [[name, *row] for name, row in rows])


def _plain(values: np.ndarray) -> list[list[float | None]]:
    return [[None if np.isnan(v) else float(v) for v in row] for row in values]


def pair_rows(found: Dependence) -> list[list[Any]]:
    """Return the rows of a table of pairs, sorted by their information beyond chance."""
    return [
        [
            found.names[i],
            found.names[j],
            float(found.bits[i, j]),
            float(found.errors[i, j]),
            float(found.chance[i, j]),
            float(found.p_values[i, j]),
            "yes" if found.significant[i, j] else "no",
            _share(found, i, j),
        ]
        for i, j in found.pairs()
    ]


def clustered(shared: np.ndarray) -> tuple[list[int], list[list[int]]]:
    """Return an order with similar columns side by side, and groups of redundant columns."""
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(shared) < 2:
        return list(range(len(shared))), []
    shared = np.nan_to_num(shared)
    own = np.sqrt(np.maximum(shared.diagonal(), 0.0))
    scale = np.outer(own, own)
    normal = np.divide(shared, scale, out=np.zeros_like(shared), where=scale > 1e-12)
    distance = np.clip(1.0 - normal, 0.0, None)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    labels = fcluster(tree, 1.0 - TOGETHER, "distance")
    order = [int(i) for i in leaves_list(tree)]
    if order[0] > order[-1]:  # either end may come first
        order.reverse()
    groups = [[i for i in order if labels[i] == label] for label in dict.fromkeys(labels[order])]
    return order, [group for group in groups if len(group) > 1]


def _share(found: Dependence, i: int, j: int) -> float:
    """Return the information of a pair beyond chance, relative to the smaller entropy."""
    least = min(found.bits[i, i], found.bits[j, j]) - found.chance[i, j]
    return max(float(found.beyond[i, j] / least), 0.0) if least > 1e-9 else 0.0


def _answer(found: Dependence, groups: list[list[int]], entropy: Renyi) -> list[str]:
    pairs, names = found.pairs(), found.names
    if not pairs:
        return ["No pair of columns was measured.", *remarks(found, entropy)]
    i, j = pairs[0]
    order = at_order(entropy.alpha)
    first = f"{names[i]} and {names[j]} share most: {bits(found.bits[i, j])} bits{order}."
    if not found.significant[i, j]:
        first = f"No two of {counted(len(names), 'column')} depend on each other significantly."
    sentences = [first, significance(found), *redundancy(found, groups), *independent(found)]
    return [*sentences, *remarks(found, entropy)]


def redundancy(found: Dependence, groups: list[list[int]]) -> list[str]:
    """Name the groups of redundant columns, the largest first."""
    if not groups:
        return []
    largest = sorted(groups, key=len, reverse=True)[:3]
    named = "; ".join(listed([found.names[i] for i in group], 5) for group in largest)
    return [
        f"{sum(map(len, groups))} of {counted(len(found.names), 'column')} are largely redundant, "
        f"in {counted(len(groups), 'group')}: {named}{' ...' if len(groups) > 3 else '.'}"
    ]


def independent(found: Dependence) -> list[str]:
    """Name the columns that depend significantly on no other."""
    apart = [n for i, n in enumerate(found.names) if not found.significant[i].any()]
    if not apart or len(apart) == len(found.names):
        return []
    return [f"Not significantly dependent on any other column: {listed(apart)}."]


def significance(found: Dependence) -> str:
    """State how many pairs are significant."""
    pairs = found.pairs()
    count = found.count
    return (
        f"{count:,} of {counted(len(pairs), 'pair')} {'is' if count == 1 else 'are'} significant "
        f"(permutation tests, false discovery rate {100 * LEVEL:.0f} %)."
    )


def remarks(found: Dependence, entropy: Renyi) -> list[str]:
    """State which rows were sampled and which pairs were not measured."""
    notes = []
    if found.rows < found.total:
        notes.append(
            f"Pairs were measured on {found.rows:,} of {found.total:,} rows, drawn at random."
        )
    if found.left:
        notes.append(f"Time ran out: {counted(found.left, 'pair')} were not measured.")
    if entropy.alpha != 1 or entropy.rank is not None:
        notes.append("Away from order 1, and with a rank, mutual information can be negative.")
    return notes


def heat_section(found: Dependence, text: str = "") -> Section:
    """Return the map of pairs: their information beyond chance."""
    most = min(len(found.names), SHOWN)
    few = (
        f" The first {most} of {len(found.names)} columns are shown."
        if most < len(found.names)
        else ""
    )
    beyond = found.beyond[:most, :most]
    return {
        "kind": "heat",
        "title": "Dependence of columns",
        "text": "Mutual information of each pair of columns beyond chance, in bits: dark pairs are "
        f"redundant.{text}{few}",
        "names": [shortened(name) for name in found.names[:most]],
        "matrix": _plain(beyond),
        "own": [float(v) for v in found.bits.diagonal()[:most]],
        "errors": _plain(found.errors[:most, :most]),
        "chance": _plain(found.chance[:most, :most]),
        "p": _plain(found.p_values[:most, :most]),
        "negative": "no more than chance: a permutation shared more",
        "orders": {"similar side by side": list(range(most))},
        "wide": True,
    }


def pairs_section(found: Dependence) -> Section:
    """Return the table of pairs."""
    return table_section(
        "Pairs",
        "Mutual information in bits with its standard error; chance is its value with the rows of "
        "one column permuted; share is the part beyond chance, over the smaller entropy.",
        Table(PAIR_COLUMNS, pair_rows(found)),
    )


def _sections(found: Dependence) -> list[Section]:
    beyond = np.where(np.eye(len(found.names), dtype=bool), -np.inf, np.nan_to_num(found.beyond))
    closest = beyond.argmax(axis=1)
    rows = [
        [name, float(found.bits[i, i]), float(beyond[i, closest[i]]), found.names[closest[i]]]
        for i, name in enumerate(found.names)
    ]
    return [
        heat_section(found, " Similar columns are side by side."),
        pairs_section(found),
        table_section(
            "Each column",
            "Its entropy, and the column that shares most with it beyond chance.",
            Table(["column", "entropy (bits)", "shared (bits)", "with"], rows),
        ),
    ]


def _python(entropy: Renyi, kernels: Mapping[str, Kernel]) -> str:
    return "\n".join(
        [
            "import lorenyi as lr",
            "from lorenyi import Auto, Gaussian, Renyi",
            "",
            f"H = {entropy!r}",
            f"kernels = {dict(kernels)!r}",
            "grams = {name: lr.gram(table[name], kernels.get(name)) for name in columns}",
            "shared = {",
            "    (a, b): lr.mutual_information(grams[a], grams[b], entropy=H)",
            "    for a in columns for b in columns if a < b",
            "}",
        ]
    )
