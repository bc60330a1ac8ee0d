"""Robustness: how much a selection changes when noise is added to the columns.

    python paper/selection_robustness.py            # tables of the folder of .npz files
    python paper/selection_robustness.py --quick    # few rows, to see that it runs

The paper claims that LRMI, which ignores the tail of the spectrum, is the more robust of the two.
Each column of a continuous table gets Gaussian noise of a share of its standard deviation. On a
discrete table that would make all rows distinct and say little; there each value is, with some
probability, replaced by another of its column's. The list of ten features with noise is compared
with the one without: by the share of features in either that are in both (Jaccard), and by the
overlap of the first 1, 2, ..., 10, averaged, for which the order matters and the first ones most.

LRMI has the paper's order and rank, MRMI the same order. Large tables are cut to fewer rows; as a
rank of 100 leaves out less of a small matrix, LRMI is then run with a rank cut in proportion, too.
Writes selection_robustness.csv, a row for each list, and selection_robustness.md to --out.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import numpy as np
from eight_tables import ROOT, SOURCES, Table, folder, load
from feature_selection import PUBLISHED_LRMI, criterion_of, fewer_rows, tell, write_csv

from lorenyi.selection import InformationSelector

TABLES = ("breast", "krvskp", "semeion", "spambase", "waveform")
ROWS = 600  # tables with more are cut to these ...
FOLDING = ("krvskp",)  # ... except where few rows are distinct
QUICK_ROWS, QUICK_COLUMNS = 100, 16
FEATURES = 10
ADDED = (0.05, 0.1, 0.2, 0.5)  # standard deviations
REPLACED = (0.01, 0.02, 0.05, 0.1)  # share of the values


@dataclass(frozen=True)
class Row:
    """One list with noise against the one without."""

    table: str
    rows: int
    method: str
    alpha: float
    rank: int | None
    noise: str
    level: float
    seed: int
    jaccard: float
    overlap: float
    features: str


def with_noise(table: Table, level: float, seed: int) -> np.ndarray:
    """Return the columns with noise: added to continuous ones, values replaced in discrete ones."""
    rng = np.random.default_rng(seed)
    if not table.discrete:
        return table.X + level * table.X.std(axis=0) * rng.normal(size=table.X.shape)
    X = table.X.copy()
    for column in X.T:
        values, codes = np.unique(column, return_inverse=True)
        hit = rng.uniform(size=len(column)) < level
        others = codes + rng.integers(1, max(len(values), 2), size=len(column))
        column[hit] = values[others % len(values)][hit]
    return X


def jaccard(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the share of features in either list that are in both."""
    return len(set(one) & set(other)) / len(set(one) | set(other))


def average_overlap(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the overlap of the first 1, 2, ... of two lists, averaged."""
    depths = range(1, len(one) + 1)
    return float(np.mean([len(set(one[:k]) & set(other[:k])) / k for k in depths]))


def compared(
    table: Table, method: str, alpha: float, rank: int | None, seeds: int, jobs: int
) -> Iterator[Row]:
    """Select with and without noise."""
    selector = InformationSelector(
        min(FEATURES, table.X.shape[1]),
        criterion=criterion_of(method, (alpha, rank)),
        categorical_features=list(table.nominal),
        task="classification",
        n_jobs=jobs,
    )
    clean = selector.fit(table.X, table.y).indices_.tolist()
    noise = "values replaced" if table.discrete else "Gaussian added"
    for level in REPLACED if table.discrete else ADDED:
        for seed in range(seeds):
            found = selector.fit(with_noise(table, level, seed), table.y).indices_.tolist()
            agreement = jaccard(clean, found), average_overlap(clean, found)
            chosen = " ".join(map(str, found))
            yield Row(
                table.name,
                len(table.y),
                method,
                alpha,
                rank,
                noise,
                level,
                seed,
                *agreement,
                chosen,
            )


def methods(name: str, rows: int, whole: int) -> list[tuple[str, float, int | None]]:
    """Return MRMI and LRMI for a table of some of its rows."""
    alpha, rank = PUBLISHED_LRMI[name]
    assert rank is not None
    ranks = dict.fromkeys([rank, max(2, round(rank * rows / whole))])
    return [("MRMI", alpha, None), *(("LRMI", alpha, r) for r in ranks)]


def markdown(found: Sequence[Row]) -> str:
    """Return the means over seeds, MRMI beside LRMI."""
    lines = [
        "How far lists of ten features agree with those without noise (1: the same list), mean "
        "over seeds. The last column is LRMI's overlap minus MRMI's for the same noise, with its "
        "standard error: positive where LRMI changes less.",
        "",
        "| table | rows | alpha | noise | level | LRMI's rank | Jaccard MRMI | Jaccard LRMI "
        "| overlap MRMI | overlap LRMI | difference |",
        "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    ahead, behind = 0, 0
    cells = dict.fromkeys((r.table, r.rank, r.level) for r in found if r.method == "LRMI")
    for table, rank, level in cells:
        here = [r for r in found if (r.table, r.level) == (table, level)]
        ours = [r for r in here if (r.method, r.rank) == ("LRMI", rank)]
        theirs = [r for r in here if r.method == "MRMI"]
        gains = np.array([a.overlap - b.overlap for a, b in zip(ours, theirs, strict=True)])
        ahead, behind = ahead + int(gains.mean() > 1e-12), behind + int(gains.mean() < -1e-12)
        error = gains.std(ddof=1) / len(gains) ** 0.5 if len(gains) > 1 else np.nan
        means = [
            float(np.mean([getattr(r, what) for r in rows]))
            for what in ("jaccard", "overlap")
            for rows in (theirs, ours)
        ]
        lines.append(
            f"| {table} | {ours[0].rows} | {ours[0].alpha} | {ours[0].noise} | {level} | {rank} | "
            + " | ".join(f"{mean:.2f}" for mean in means)
            + f" | {gains.mean():+.3f} ± {error:.3f} |"
        )
    equal = len(cells) - ahead - behind
    lines += [
        "",
        f"Of {len(cells)} rows LRMI's list changes less in {ahead}, more in {behind}, and as much "
        f"in {equal}.",
    ]
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(SOURCES))
    parser.add_argument("--seeds", type=int, default=5, help="draws of the noise at each level")
    parser.add_argument("--quick", action="store_true", help="few rows, columns and seeds")
    parser.add_argument("--rows", type=int, default=ROWS, help="of tables that have more")
    parser.add_argument("--data", metavar="FOLDER", help="of .npz files")
    parser.add_argument("--out", type=Path, help="default: paper/results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="threads")
    given = parser.parse_args(words)
    name = "selection_robustness" + ("-quick" if given.quick else "")
    out = given.out or ROOT / "paper" / "results"
    out.mkdir(parents=True, exist_ok=True)
    found: list[Row] = []
    for table_name in given.tables:
        whole = load(table_name, folder(given.data))
        cut = given.quick or (len(whole.y) > given.rows and table_name not in FOLDING)
        table = fewer_rows(whole, QUICK_ROWS if given.quick else given.rows) if cut else whole
        table = replace(table, X=table.X[:, :QUICK_COLUMNS]) if given.quick else table
        for method in methods(table_name, len(table.y), len(whole.y)):
            tell(f"{table_name}, {len(table.y)} rows: {method}")
            found += compared(table, *method, 2 if given.quick else given.seeds, given.jobs)
            head = [field.name for field in fields(Row)]
            write_csv(out / f"{name}.csv", head, [astuple(row) for row in found])
            (out / f"{name}.md").write_text(markdown(found), encoding="utf-8")
    tell(markdown(found))


if __name__ == "__main__":
    main()
