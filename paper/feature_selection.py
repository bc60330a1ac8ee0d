"""Feature selection: the paper's eight methods on its eight tables, next to its own numbers.

    python paper/feature_selection.py                      # published orders and ranks
    python paper/feature_selection.py --choose cv          # orders and ranks by cross-validation
    python paper/feature_selection.py --tables breast krvskp --methods JMI LRMI --quick

Writes to --out: selections.csv, errors.csv, ranks.csv, confidence.csv, times.csv, and a picture of
each of the last four. What is done is kept in --out/cache, a file for each selection, so that a run
that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from common import results as results_of
from common import tell, write_csv, write_json
from eight_tables import SOURCES, Table, folder, load
from scipy.stats import norm, rankdata
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import lorenyi
from lorenyi import Renyi
from lorenyi.selection import (
    CMIM,
    DISR,
    FOU,
    JMI,
    MIFS,
    MRMR,
    Criterion,
    InformationSelector,
    JointInformation,
)

# ------------------------------------------------------------------------------------ settings

FEATURES = 10
FOLDS = 10
SEED = 0  # of the folds
BINS = 5  # of equal frequency
BETA = 0.7  # of MIFS
GAMMA = 0.5  # of the support vector machine: a Gaussian kernel of width 1
NEIGHBOURS = 3
QUICK_TABLES = ("breast", "krvskp")
QUICK_ROWS = 300  # of other tables

SHANNON: dict[str, Criterion] = {
    "MIFS": MIFS(bins=BINS, beta=BETA),
    "FOU": FOU(bins=BINS),
    "MRMR": MRMR(bins=BINS),
    "JMI": JMI(bins=BINS),
    "CMIM": CMIM(bins=BINS),
    "DISR": DISR(bins=BINS),
}
METHODS = (*SHANNON, "MRMI", "LRMI")

Order: TypeAlias = tuple[float, int | None]  # alpha and rank; without a rank it is MRMI

PUBLISHED_LRMI: dict[str, Order] = {
    "breast": (2, 100),
    "semeion": (1.01, 400),
    "madelon": (2, 100),
    "krvskp": (1.01, 200),
    "spambase": (2, 100),
    "waveform": (2, 100),
    "optdigits": (1.01, 200),
    "statlog": (0.6, 100),
}
# The paper prints no orders for MRMI: these give its lists.
PUBLISHED_MRMI = {name: alpha for name, (alpha, _) in PUBLISHED_LRMI.items()} | {
    "spambase": 0.6,
    "waveform": 0.6,
}
ALPHAS = (0.6, 1.01, 2)
RANKS = (100, 200, 400)
ELSEWHERE: Order = (2, 100)  # for a table that is not in the paper

# --------------------------------------------------------------------------- the paper's numbers

PAPER_RANKS = {  # average rank over the number of features, tables as in SOURCES, average
    "MIFS": (4.8, 2.5, 6.6, 3.8, 7.3, 6.4, 4.5, 3.8, 4.96),
    "FOU": (5.2, 2.5, 5.6, 1.9, 6.2, 5.7, 4.8, 5.7, 4.70),
    "MRMR": (2.3, 4.7, 6.7, 3.7, 5.6, 3.6, 4.8, 4.0, 4.43),
    "JMI": (5.1, 5.2, 3.0, 3.7, 4.2, 2.3, 3.8, 3.5, 3.85),
    "CMIM": (3.0, 2.7, 4.5, 3.6, 3.2, 4.7, 2.6, 5.6, 3.74),
    "DISR": (7.3, 5.7, 4.0, 3.2, 3.9, 2.3, 6.9, 5.8, 4.89),
    "MRMI": (2.6, 1.8, 1.2, 1.7, 1.5, 1.8, 1.3, 2.0, 1.74),
    "LRMI": (2.6, 1.4, 1.1, 1.6, 1.5, 1.5, 1.3, 2.1, 1.64),
}
PAPER_MINUTES = {  # on eight cores
    "MRMI": (0.31, 56, 570, 71, 353, 318, 750, 600),
    "LRMI": (0.25, 44, 39, 11, 13, 14, 41, 23),
}
PAPER_LISTS = {
    ("breast", "MRMI"): "27 20 21 7 10 22 29 26 1 23",
    ("breast", "LRMI"): "27 20 21 7 10 22 29 26 1 23",
    ("breast", "MIFS"): "22 27 1 28 19 11 18 4 14 13",
    ("breast", "FOU"): "22 24 9 14 29 3 19 18 4 11",
    ("breast", "MRMR"): "22 24 7 1 13 27 28 23 26 10",
    ("breast", "JMI"): "22 24 23 27 7 20 13 26 3 6",
    ("breast", "CMIM"): "22 24 27 21 7 9 13 26 1 3",
    ("breast", "DISR"): "22 20 23 3 2 0 27 7 6 26",
    ("krvskp", "MRMI"): "20 9 32 31 5 34 14 0 33 6",
    ("krvskp", "LRMI"): "20 9 32 31 5 34 14 0 33 13",
    ("krvskp", "MIFS"): "20 9 32 31 15 8 2 27 24 11",
    ("krvskp", "FOU"): "20 9 32 31 14 0 33 8 1 15",
    ("krvskp", "MRMR"): "20 9 32 31 14 7 15 17 5 26",
    ("krvskp", "JMI"): "20 9 32 31 14 7 6 15 17 5",
    ("krvskp", "CMIM"): "20 9 32 31 14 7 15 5 17 21",
    ("krvskp", "DISR"): "20 9 32 31 28 15 13 7 26 14",
    ("waveform", "MRMI"): "6 10 15 9 12 11 30 37 23 29",
    ("waveform", "LRMI"): "6 10 15 9 5 8 4 16 12 11",
    ("waveform", "MIFS"): "6 10 16 33 28 39 36 21 23 31",
    ("waveform", "JMI"): "6 10 14 15 4 9 5 16 11 7",
    ("madelon", "MRMI"): "241 338 378 318 153 455 48 493 28 298",
    ("madelon", "LRMI"): "241 338 378 318 153 455 48 493 28 124",
    ("madelon", "JMI"): "105 453 64 442 153 475 338 455 378 493",
}

# ------------------------------------------------------------------------------- one selection


@dataclass
class Result:
    """A selection with what it took and how well the first 1, 2, ... features classify."""

    table: str
    method: str
    alpha: float | None
    rank: int | None
    features: list[int]
    scores: list[float]
    seconds: float
    errors: list[float]  # mean over folds
    deviations: list[float]  # standard deviation over folds


Known: TypeAlias = dict[frozenset[int], tuple[float, float]]


class Runner:
    """Makes selections of one table, or reads them from the cache."""

    def __init__(self, table: Table, cache: Path, folds: int, jobs: int) -> None:
        self.table, self.cache, self.folds, self.jobs = table, cache, folds, jobs
        self.known: Known = {}

    def __call__(self, method: str, order: Order | None) -> Result:
        """Return the result of a method, with an order and rank for the last two."""
        criterion = criterion_of(method, order)
        parts = (self.table.name, method, *(order or ()))
        name = "-".join(str(part) for part in parts if part is not None)
        file = self.cache / f"{name}.json"
        key = self.key(criterion)
        if file.exists():
            kept = json.loads(file.read_text(encoding="utf-8"))
            if kept["key"] == key:
                result = Result(**kept["result"])
                self.remember(result)
                tell(f"{name}: in the cache")
                return result
        tell(f"{name}: selecting ...")
        result = self.run(method, order, criterion)
        write_json(file, {"key": key, "result": asdict(result)})
        tell(f"{name}: {result.seconds:.2f} s, error {result.errors[-1]:.4f} with all features")
        return result

    def categories(self, criterion: Criterion) -> list[int]:
        """Return the columns that are compared by equality, or for Shannon's not put into bins."""
        if criterion.entropy is not None:
            return list(self.table.nominal)
        columns = range(self.table.X.shape[1]) if self.table.discrete else self.table.own_values
        return sorted({*columns, *self.table.nominal})

    def run(self, method: str, order: Order | None, criterion: Criterion) -> Result:
        count = min(FEATURES, self.table.X.shape[1])
        selector = InformationSelector(
            count,
            criterion=criterion,
            categorical_features=self.categories(criterion),
            task="classification",
            n_jobs=self.jobs,
        )
        start = time.perf_counter()
        selector.fit(self.table.X, self.table.y)
        seconds = time.perf_counter() - start
        features = selector.indices_.tolist()
        curve = [self.error(features[: k + 1]) for k in range(count)]
        alpha, rank = order or (None, None)
        errors, deviations = ([pair[side] for pair in curve] for side in (0, 1))
        scores = selector.scores_.tolist()
        return Result(
            self.table.name, method, alpha, rank, features, scores, seconds, errors, deviations
        )

    def error(self, features: Sequence[int]) -> tuple[float, float]:
        """Return mean and deviation of the error over folds, once for each set of features."""
        key = frozenset(features)
        if key not in self.known:
            folds = StratifiedKFold(self.folds, shuffle=True, random_state=SEED)
            X = self.table.X[:, sorted(features)]
            model = classifier(self.table.discrete)
            hits = cross_val_score(model, X, self.table.y, cv=folds, n_jobs=self.jobs)
            self.known[key] = float(np.mean(1 - hits)), float(np.std(hits))
        return self.known[key]

    def remember(self, result: Result) -> None:
        pairs = zip(result.errors, result.deviations, strict=True)
        for k, pair in enumerate(pairs, start=1):
            self.known[frozenset(result.features[:k])] = pair

    def key(self, criterion: Criterion) -> dict[str, Any]:
        """Return all that a result depends on."""
        rows = np.ascontiguousarray(np.column_stack([self.table.X, self.table.y]))
        return {
            "criterion": repr(criterion),
            "data": hashlib.sha256(rows.tobytes()).hexdigest()[:16],
            "features": FEATURES,
            "folds": self.folds,
            "seed": SEED,
            "classifier": repr(classifier(self.table.discrete)),
            "version": lorenyi.__version__,
        }


def criterion_of(method: str, order: Order | None) -> Criterion:
    if order is None:
        return SHANNON[method]
    alpha, rank = order
    return JointInformation(entropy=Renyi(alpha, rank))


def classifier(discrete: bool) -> Any:
    if discrete:
        return KNeighborsClassifier(NEIGHBOURS)
    return make_pipeline(StandardScaler(), SVC(gamma=GAMMA))


def result_of(run: Runner, method: str, choose: str) -> Result:
    """Return the result of a method, with the published order or with the best of the grid."""
    if method in SHANNON:
        return run(method, None)
    name = run.table.name
    if choose == "published":
        alpha, rank = PUBLISHED_LRMI.get(name, ELSEWHERE)
        return run(
            method,
            (PUBLISHED_MRMI.get(name, alpha), None) if method == "MRMI" else (alpha, rank),
        )
    ranks: Iterable[int | None] = RANKS if method == "LRMI" else (None,)
    grid = [(alpha, rank) for rank in ranks for alpha in ALPHAS]
    return min((run(method, order) for order in grid), key=lambda r: float(np.mean(r.errors)))


# ------------------------------------------------------------------------------------ the tables

Results: TypeAlias = dict[tuple[str, str], Result]


def average_ranks(results: Results, tables: Sequence[str], methods: Sequence[str]) -> np.ndarray:
    """Return methods x tables: the rank among methods, averaged over the number of features.

    Equal errors share the best of their ranks, as in the paper, whose ranks of a table add up to
    less than 36.
    """
    columns = []
    for table in tables:
        errors = np.array([results[table, method].errors for method in methods])
        columns.append(rankdata(errors.round(12), method="min", axis=0).mean(axis=1))
    return np.stack(columns, axis=1)


def confidence(average: np.ndarray, tables: int) -> np.ndarray:
    """Return Nemenyi's confidence that method i outperforms method j, from their average ranks."""
    m = len(average)
    scale = np.sqrt(m * (m + 1) / (6 * tables))
    return np.asarray(norm.cdf((average[None, :] - average[:, None]) / scale))


def paper_rank(method: str, table: str) -> float | str:
    names = list(SOURCES)
    return PAPER_RANKS[method][names.index(table)] if table in names else ""


def paper_minutes(method: str, table: str) -> float | None:
    names = list(SOURCES)
    if method not in PAPER_MINUTES or table not in names:
        return None
    return PAPER_MINUTES[method][names.index(table)]


def write_tables(results: Results, tables: list[str], methods: list[str], out: Path) -> None:
    """Write the five CSV files."""
    ordered = [results[table, method] for table in tables for method in methods]
    rows: list[list[Any]] = []
    for r in ordered:
        chosen = " ".join(map(str, r.features))
        paper = PAPER_LISTS.get((r.table, r.method), "")
        same = ("yes" if paper == chosen else "no") if paper else ""
        rows.append([r.table, r.method, r.alpha, r.rank, chosen, paper, same])
    head = ["table", "method", "alpha", "rank", "features", "paper", "equal"]
    write_csv(out / "selections.csv", head, rows)

    rows = [
        [r.table, r.method, k, f"{error:.6f}", f"{deviation:.6f}"]
        for r in ordered
        for k, (error, deviation) in enumerate(zip(r.errors, r.deviations, strict=True), start=1)
    ]
    write_csv(out / "errors.csv", ["table", "method", "features", "error", "deviation"], rows)

    ranks = average_ranks(results, tables, methods)
    rows = []
    for i, method in enumerate(methods):
        ours = [f"{rank:.2f}" for rank in (*ranks[i], ranks[i].mean())]
        rows.append([method, "lorenyi", *ours])
        paper = [paper_rank(method, table) for table in tables]
        rows.append([method, "paper", *paper, PAPER_RANKS[method][-1]])
    write_csv(out / "ranks.csv", ["method", "source", *tables, "average"], rows)

    ours, theirs = confidences(results, tables, methods)
    rows = [
        [a, b, f"{100 * ours[i, j]:.1f}", f"{100 * theirs[i, j]:.1f}"]
        for i, a in enumerate(methods)
        for j, b in enumerate(methods)
        if i != j
    ]
    head = ["method", "outperforms", "confidence (%)", "paper (%)"]
    write_csv(out / "confidence.csv", head, rows)

    rows = []
    for r in ordered:
        minutes = paper_minutes(r.method, r.table)
        times = ["", ""] if minutes is None else [minutes, f"{60 * minutes / r.seconds:.1f}"]
        rows.append([r.table, r.method, f"{r.seconds:.3f}", *times])
    head = ["table", "method", "seconds", "paper's minutes", "ratio"]
    write_csv(out / "times.csv", head, rows)


def confidences(
    results: Results, tables: Sequence[str], methods: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrix of these results, and that of the paper for the same methods."""
    ours = average_ranks(results, tables, methods).mean(axis=1)
    theirs = confidence(np.array([ranks[-1] for ranks in PAPER_RANKS.values()]), len(SOURCES))
    at = [list(PAPER_RANKS).index(method) for method in methods]
    return confidence(ours, len(tables)), theirs[np.ix_(at, at)]


# ----------------------------------------------------------------------------------- the pictures

STYLES = {"MRMI": "s-", "LRMI": "k.--"}  # often equal: dashes over a line show both


def draw(results: Results, tables: list[str], methods: list[str], out: Path) -> bool:
    """Write the four pictures; return False where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    pictures: dict[str, Callable[[Any], None]] = {
        "errors": lambda figure: draw_errors(figure, results, tables, methods),
        "ranks": lambda figure: draw_ranks(figure, results, tables, methods),
        "confidence": lambda figure: draw_confidence(figure, results, tables, methods),
        "times": lambda figure: draw_times(figure, results, tables, methods),
    }
    for name, picture in pictures.items():
        figure = Figure(figsize=(11, 6), layout="constrained")
        picture(figure)
        figure.savefig(out / f"{name}.png", dpi=150)
    return True


def draw_errors(figure: Any, results: Results, tables: list[str], methods: list[str]) -> None:
    """Error over the number of features, a panel for each table."""
    wide = min(4, len(tables))
    axes = figure.subplots(-(-len(tables) // wide), wide, squeeze=False).ravel()
    for ax, table in zip(axes, tables, strict=False):
        for method in methods:
            errors = results[table, method].errors
            x = range(1, len(errors) + 1)
            ax.plot(x, errors, STYLES.get(method, ".-"), label=method)
        ax.set(title=table, xlabel="features", ylabel="error", xticks=range(1, FEATURES + 1, 3))
    for ax in axes[len(tables) :]:
        ax.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(methods))


def draw_ranks(figure: Any, results: Results, tables: list[str], methods: list[str]) -> None:
    """Average ranks, with the paper's beside them."""
    ax = figure.subplots()
    x = np.arange(len(methods))
    ours = average_ranks(results, tables, methods).mean(axis=1)
    ax.bar(x - 0.2, ours, 0.4, label=f"lorenyi, {len(tables)} tables")
    ax.bar(x + 0.2, [PAPER_RANKS[m][-1] for m in methods], 0.4, label="paper, 8 tables")
    ax.set_xticks(x, methods)
    ax.set_ylabel("average rank")
    ax.legend()


def draw_confidence(figure: Any, results: Results, tables: list[str], methods: list[str]) -> None:
    """Confidence that the method of a row outperforms that of a column."""
    parts = zip(figure.subplots(1, 2), confidences(results, tables, methods), strict=True)
    for (ax, values), title in zip(parts, ("lorenyi", "paper"), strict=True):
        ax.imshow(100 * values, vmin=0, vmax=100, cmap="RdBu_r")
        for i, j in np.ndindex(values.shape):
            if i != j:
                color = "white" if abs(values[i, j] - 0.5) > 0.35 else "black"
                text = f"{100 * values[i, j]:.0f}"
                ax.text(j, i, text, color=color, ha="center", va="center")
        ax.set_xticks(range(len(methods)), methods, rotation=40)
        ax.set_yticks(range(len(methods)), methods)
        ax.set_title(f"{title}: confidence (%) that row outperforms column")


def draw_times(figure: Any, results: Results, tables: list[str], methods: list[str]) -> None:
    """Seconds for each selection, with the paper's."""
    ax = figure.subplots()
    for i, method in enumerate(methods):
        seconds = [results[table, method].seconds for table in tables]
        (line,) = ax.plot(tables, seconds, "o-", color=f"C{i}", label=method)
        minutes = [paper_minutes(method, table) for table in tables]
        if any(m is not None for m in minutes):
            theirs = [np.nan if m is None else 60 * m for m in minutes]
            ax.plot(tables, theirs, "s--", color=line.get_color(), label=f"{method}, paper")
    ax.set_yscale("log")
    ax.set_ylabel("seconds for ten features")
    ax.legend(ncols=2)


# ---------------------------------------------------------------------------------- command line


def fewer_rows(table: Table, rows: int) -> Table:
    """Return some rows of a table, drawn at random, without classes that become too small."""
    take = np.sort(np.random.default_rng(SEED).permutation(len(table.y))[:rows])
    X, y = table.X[take], table.y[take]
    classes, counts = np.unique(y, return_counts=True)
    keep = np.isin(y, classes[counts >= 3])
    return Table(table.name, X[keep], y[keep], table.discrete, table.own_values, table.nominal)


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", metavar="TABLE", help="default: all eight")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument(
        "--choose", choices=("published", "cv"), default="published", help="orders and ranks"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"three folds; {' and '.join(QUICK_TABLES)}, or {QUICK_ROWS} rows of other tables",
    )
    parser.add_argument(
        "--data", metavar="FOLDER", help="of .npz files (default: $LORENYI_DATA, then OpenML)"
    )
    parser.add_argument("--out", type=Path, help="default: paper/results/feature_selection")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="threads, processes")
    given = parser.parse_args(words)
    given.tables = given.tables or list(QUICK_TABLES if given.quick else SOURCES)
    return given


def main(words: Sequence[str] | None = None) -> None:
    given = arguments(words)
    usual = "feature_selection" + ("-cv" if given.choose == "cv" else "")
    out = given.out or results_of(usual, given.quick)
    (out / "cache").mkdir(parents=True, exist_ok=True)
    data = folder(given.data)
    results: Results = {}
    for place, name in enumerate(given.tables, start=1):
        table = load(name, data)
        if given.quick and name not in QUICK_TABLES:
            table = fewer_rows(table, QUICK_ROWS)
        tell(f"[{place} of {len(given.tables)}] {name}: {table.X.shape[0]} x {table.X.shape[1]}")
        run = Runner(table, out / "cache", 3 if given.quick else FOLDS, given.jobs)
        for method in given.methods:
            results[name, method] = result_of(run, method, given.choose)
    write_tables(results, given.tables, given.methods, out)
    if not draw(results, given.tables, given.methods, out):
        tell('no pictures: they need matplotlib, pip install "lorenyi[plots]"')
    ranks = average_ranks(results, given.tables, given.methods).mean(axis=1)
    tell("average ranks, with the paper's in brackets:")
    for method, rank in zip(given.methods, ranks, strict=True):
        tell(f"  {method:<5} {rank:.2f} ({PAPER_RANKS[method][-1]:.2f})")
    tell(f"written to {out}")


if __name__ == "__main__":
    main()
