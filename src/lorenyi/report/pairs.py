"""What each two columns of a table share, and which columns go together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from lorenyi.functionals import Renyi
from lorenyi.gram import gram
from lorenyi.plots.matrix import pairwise
from lorenyi.report.finding import Finding, Section, Table, bits, counted, listed
from lorenyi.report.page import shortened, table_section

Progress = Callable[[float], None]
SHOWN = 60  # columns of the map on the page
TOGETHER = 0.5  # normalised information above which columns make a group


def matrix(
    table: Any,
    columns: Sequence[str],
    *,
    entropy: Renyi = Renyi(),
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Finding:
    """Tell what each two columns share, similar ones side by side.

    Parameters
    ----------
    table : data frame
        Its columns are found by `table[name]`.
    columns : sequence of str
        Which of them.
    entropy : Renyi
        The functional.
    n_jobs : int, optional
        Threads; all cores by default.
    progress : callable, optional
        Called with the share of pairs that is done.

    Examples
    --------
    >>> import pandas as pd
    >>> from lorenyi import report
    >>> table = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [5, 5, 8, 8]})
    >>> found = report.matrix(table, ["a", "b", "c"])
    >>> found.grid.rows[1]
    ['c', 1.0, 1.0, 0.0]
    >>> print(found.answer[0])
    a and c share most: 1.000 bits.
    """
    names = list(columns)
    if len(names) < 2:
        raise ValueError(f"columns={names!r}: pairs need at least two columns")
    grams = [gram(table[name], name=name) for name in names]
    shared = pairwise(grams, entropy, n_jobs, progress)
    order, groups = clustered(shared)
    names = [names[i] for i in order]
    shared = shared[np.ix_(order, order)]
    groups = [[order.index(i) for i in group] for group in groups]
    own = shared.diagonal()
    pairs = sorted(combinations(range(len(names)), 2), key=lambda p: -shared[p])
    rows = [[names[i], names[j], shared[i, j], _share(shared, i, j)] for i, j in pairs]
    return Finding(
        question="Which columns tell about each other?",
        answer=_answer(names, shared, pairs, groups, entropy),
        facts=[
            (str(len(names)), "columns"),
            (f"{len(pairs):,}", "pairs"),
            (f"{bits(shared[pairs[0]])} bits", "largest"),
            (f"{int(grams[0].n):,}", "rows"),
        ],
        table=Table(["column", "and", "bits", "share"], rows, "bits"),
        settings={"order": entropy.alpha, "rank": entropy.rank, "solver": repr(entropy.solver)},
        python=_python(entropy),
        sections=lambda: _sections(
            names, shared, own, Table(["column", "and", "bits", "share"], rows)
        ),
        extra={"columns": names, "matrix": shared.tolist(), "rows": int(grams[0].n)},
        grid=Table(
            ["column", *names], [[n, *r] for n, r in zip(names, shared.tolist(), strict=True)]
        ),
    )


def clustered(shared: np.ndarray) -> tuple[list[int], list[list[int]]]:
    """Return an order with similar columns side by side, and groups of those that go together."""
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(shared) < 2:
        return list(range(len(shared))), []
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


def _share(shared: np.ndarray, i: int, j: int) -> float:
    """Return what a pair shares, as a share of the smaller entropy of the two."""
    least = min(shared[i, i], shared[j, j])
    return float(shared[i, j] / least) if least > 1e-12 else 0.0


def _answer(
    names: list[str],
    shared: np.ndarray,
    pairs: list[tuple[int, int]],
    groups: list[list[int]],
    entropy: Renyi,
) -> list[str]:
    i, j = pairs[0]
    sentences = [f"{names[i]} and {names[j]} share most: {bits(shared[i, j])} bits."]
    if groups:
        largest = sorted(groups, key=len, reverse=True)[:3]
        told = "; ".join(listed([names[i] for i in group], 5) for group in largest)
        grouped = sum(map(len, groups))
        sentences.append(
            f"{grouped} of {counted(len(names), 'column')} largely repeat one another, in "
            f"{counted(len(groups), 'group')}: {told}{' ...' if len(groups) > 3 else '.'}"
        )
    else:
        sentences.append("No columns largely repeat one another.")
    apart = [names[i] for i in range(len(names)) if _most(shared, i) < 0.05 * shared[i, i]]
    if apart:
        sentences.append(f"Nearly nothing with any other: {listed(apart)}.")
    if entropy.alpha != 1 or entropy.rank is not None:
        sentences.append("Away from order 1, and with a rank, small values can be negative.")
    return sentences


def _most(shared: np.ndarray, i: int) -> float:
    return float(np.delete(shared[i], i).max())


def _sections(names: list[str], shared: np.ndarray, own: np.ndarray, pairs: Table) -> list[Section]:
    most = min(len(names), SHOWN)
    few = f" The first {most} of {len(names)} columns are shown." if most < len(names) else ""
    shown = [shortened(name) for name in names[:most]]
    entropies = Table(
        ["column", "entropy (bits)", "most shared (bits)", "with"],
        [
            [names[i], own[i], _most(shared, i), names[int(np.argmax(_others(shared, i)))]]
            for i in range(len(names))
        ],
    )
    return [
        {
            "kind": "heat",
            "title": "What pairs of columns share",
            "text": "Similar columns stand side by side. The diagonal, left blank, is a column's "
            f"own entropy.{few}",
            "names": shown,
            "matrix": [[float(v) for v in row[:most]] for row in shared[:most]],
            "own": [float(v) for v in own[:most]],
            "orders": {"clustered": list(range(most))},
        },
        table_section(
            "Pairs", "Each two columns, in bits and as a share of the smaller entropy.", pairs
        ),
        table_section("Each column", "Its entropy, and its closest companion.", entropies),
    ]


def _others(shared: np.ndarray, i: int) -> np.ndarray:
    row = np.array(shared[i])
    row[i] = -np.inf
    return row


def _python(entropy: Renyi) -> str:
    return "\n".join(
        [
            "import lorenyi as lr",
            "from lorenyi import Auto, Renyi",
            "",
            f"H = {entropy!r}",
            "grams = {name: lr.gram(table[name]) for name in columns}",
            "shared = {",
            "    (a, b): lr.mutual_information(grams[a], grams[b], entropy=H)",
            "    for a in columns for b in columns if a < b",
            "}",
        ]
    )
