"""Evidence for the default criterion: how well the columns chosen by each of several classify.

    python paper/default_criterion.py            # bundled tables, and those of the .npz folder
    python paper/default_criterion.py --quick    # two small tables, to see that it runs

Columns are chosen on one half of the rows; the first 1, 2, ..., 10 are judged on the other half, by
10-fold cross-validation with 3 nearest neighbours and with a support vector machine (Gaussian
kernel, scikit-learn's defaults), on standardised columns. No row that judges has chosen. For a
continuous target the score is R^2. Halves are drawn anew for each seed.
Writes default_criterion.csv, a row for each selection, and default_criterion.md to --out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from eight_tables import ROOT, Table, folder, load
from feature_selection import fewer_rows, tell, write_csv
from scipy.stats import rankdata
from sklearn import datasets
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from lorenyi import Renyi
from lorenyi.selection import CMIM, JMI, Criterion, InformationSelector, JointInformation

FEATURES = 10
ROWS = 600  # of tables that have more
BUNDLED: dict[str, Callable[..., Any]] = {
    "wine": datasets.load_wine,
    "digits": datasets.load_digits,
    "diabetes": datasets.load_diabetes,
}
TABLES = ("breast", "wine", "digits", "diabetes", "krvskp", "spambase", "waveform", "statlog")

Choice = Callable[[Table, bool, int], list[int]]  # of a table, a regression or not, by a seed


def joint(alpha: float, rank: int | None) -> tuple[str, Choice]:
    method = "MRMI" if rank is None else f"LRMI, rank {rank}"
    criterion = JointInformation(entropy=Renyi(alpha, rank))
    return f"{method}, alpha {alpha:g}", partial(by_information, criterion)


def by_information(criterion: Criterion, table: Table, regression: bool, seed: int) -> list[int]:
    selector = InformationSelector(
        min(FEATURES, table.X.shape[1]),
        criterion=criterion,
        categorical_features=list(table.nominal),
        discrete_features=table.discrete,
        task="regression" if regression else "classification",
        n_jobs=1,
    )
    return list(selector.fit(table.X, table.y).indices_.tolist())


def by_ranking(table: Table, regression: bool, seed: int) -> list[int]:
    """Rank columns by scikit-learn's estimate of their mutual information with the target."""
    measure = mutual_info_regression if regression else mutual_info_classif
    scores = measure(table.X, table.y, discrete_features=table.discrete, random_state=seed)
    return list(np.argsort(-scores, kind="stable")[:FEATURES].tolist())


CHOICES: dict[str, Choice] = {
    **dict(joint(alpha, rank) for alpha in (1.01, 2) for rank in (50, 100, 200, None)),
    "JMI, Shannon": partial(by_information, JMI()),
    "CMIM, Shannon": partial(by_information, CMIM()),
    "scikit-learn's ranking": by_ranking,
}


@dataclass(frozen=True)
class Row:
    """One selection, and the scores of its first 1, 2, ... columns."""

    table: str
    rows: int
    choice: str
    seed: int
    seconds: float
    features: str
    neighbours: str
    machine: str
    mean: float


def read(name: str, data: Path | None) -> tuple[Table, bool]:
    """Return a table and whether its target is continuous."""
    if name not in BUNDLED:
        return load(name, data), False
    X, y = BUNDLED[name](return_X_y=True)
    whole, regression = bool((np.floor(X) == X).all()), name == "diabetes"
    y = (y - y.mean()) / y.std() if regression else y
    return Table(name, X, y, whole, (), ()), regression


def halves(table: Table, regression: bool, seed: int) -> tuple[Table, Table]:
    labels = None if regression else table.y
    parts = train_test_split(
        np.arange(len(table.y)), test_size=0.5, random_state=seed, stratify=labels
    )
    one, other = (replace(table, X=table.X[part], y=table.y[part]) for part in parts)
    return one, other


def curve(table: Table, regression: bool, model: Any, chosen: Sequence[int]) -> list[float]:
    """Return the cross-validated score of the first 1, 2, ... columns."""
    kind = KFold if regression else StratifiedKFold
    folds = kind(10, shuffle=True, random_state=0)
    score = r2_score if regression else accuracy_score
    scores = []
    for k in range(1, len(chosen) + 1):
        X, pipeline = table.X[:, list(chosen[:k])], make_pipeline(StandardScaler(), model)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            scores.append(float(score(table.y, cross_val_predict(pipeline, X, table.y, cv=folds))))
    return scores


def judged(table: Table, regression: bool, seed: int) -> Iterator[Row]:
    """Choose by every criterion on one half, and judge on the other."""
    one, other = halves(table, regression, seed)
    models = (KNeighborsRegressor(3), SVR()) if regression else (KNeighborsClassifier(3), SVC())
    known: dict[tuple[int, ...], list[list[float]]] = {}
    for name, choice in CHOICES.items():
        start = time.process_time()
        chosen = choice(one, regression, seed)
        seconds = time.process_time() - start
        if tuple(chosen) not in known:
            known[tuple(chosen)] = [curve(other, regression, model, chosen) for model in models]
        scores = known[tuple(chosen)]
        texts = [" ".join(f"{s:.4f}" for s in part) for part in scores]
        listed = " ".join(map(str, chosen))
        mean = round(float(np.mean(scores)), 5)
        yield Row(table.name, len(one.y), name, seed, round(seconds, 3), listed, *texts, mean)


def markdown(found: Sequence[Row]) -> str:
    """Return mean scores and times, a row for each criterion."""
    tables = list(dict.fromkeys(row.table for row in found))
    means = np.array(
        [
            [np.mean([r.mean for r in found if (r.choice, r.table) == (c, t)]) for t in tables]
            for c in CHOICES
        ]
    )
    ranks = rankdata(-means.round(12), axis=0).mean(axis=1)
    seconds = [np.mean([r.seconds for r in found if r.choice == c]) for c in CHOICES]
    sizes = {r.table: r.rows for r in found}
    lines = [
        "Score (accuracy; R^2 for diabetes) in per cent, mean over 1 to 10 columns, two models and "
        f"{len({r.seed for r in found})} splits; columns were chosen on rows that do not judge. "
        "Average rank over tables (1 is best), and seconds of processor time for a selection. "
        "Rows that chose: " + ", ".join(f"{t} {sizes[t]}" for t in tables) + ".",
        "",
        "| criterion | " + " | ".join(tables) + " | mean | rank | seconds |",
        "| --- |" + " ---: |" * (len(tables) + 3),
    ]
    for name, row, rank, spent in zip(CHOICES, means, ranks, seconds, strict=True):
        cells = [f"{100 * value:.1f}" for value in (*row, row.mean())]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {rank:.1f} | {spent:.2g} |")
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", default=list(TABLES), metavar="TABLE")
    parser.add_argument("--seeds", type=int, default=3, help="splits into halves")
    parser.add_argument("--rows", type=int, default=ROWS, help="of tables that have more")
    parser.add_argument("--quick", action="store_true", help="wine and diabetes, 120 rows, a split")
    parser.add_argument("--data", metavar="FOLDER", help="of .npz files")
    parser.add_argument("--out", type=Path, help="default: paper/results")
    given = parser.parse_args(words)
    name = "default_criterion" + ("-quick" if given.quick else "")
    out = given.out or ROOT / "paper" / "results"
    out.mkdir(parents=True, exist_ok=True)
    found: list[Row] = []
    for table_name in ("wine", "diabetes") if given.quick else given.tables:
        table, regression = read(table_name, folder(given.data))
        rows = 120 if given.quick else given.rows
        if regression:
            table = replace(table, X=table.X[:rows], y=table.y[:rows])
        elif len(table.y) > rows:
            table = fewer_rows(table, rows)
        for seed in range(1 if given.quick else given.seeds):
            tell(f"{table_name}, {len(table.y)} rows, split {seed + 1}")
            found += judged(table, regression, seed)
            head = [field.name for field in fields(Row)]
            write_csv(out / f"{name}.csv", head, [astuple(row) for row in found])
            (out / f"{name}.md").write_text(markdown(found), encoding="utf-8")
    tell(markdown(found))


if __name__ == "__main__":
    main()
