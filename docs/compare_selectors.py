"""Five columns of breast and of wine by several selectors: how well they classify, and the time.

    python docs/compare_selectors.py        # writes docs/compare_selectors.md, two minutes

Each selector sees the training folds only (10 stratified folds); a support vector machine with
scikit-learn's defaults, on standardized columns, is then judged on the fold left out. Times are
medians over the folds, one thread, processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.feature_selection import (
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
    mutual_info_classif,
)
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lorenyi.selection import CMIM, InformationSelector

COLUMNS = 5
FOLDS = 10
TABLES = {"breast": load_breast_cancer, "wine": load_wine}


def score(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return mutual_info_classif(X, y, random_state=0)


SELECTORS: dict[str, Callable[[], Any]] = {
    "all columns": lambda: None,
    "SelectKBest(f_classif)": lambda: SelectKBest(f_classif, k=COLUMNS),
    "SelectKBest(mutual_info_classif)": lambda: SelectKBest(score, k=COLUMNS),
    "SequentialFeatureSelector(the same SVM)": lambda: SequentialFeatureSelector(
        model(), n_features_to_select=COLUMNS
    ),
    "InformationSelector(CMIM())": lambda: InformationSelector(COLUMNS, criterion=CMIM(), n_jobs=1),
    "InformationSelector()": lambda: InformationSelector(COLUMNS, n_jobs=1),
    'InformationSelector("auto")': lambda: InformationSelector("auto", n_jobs=1),
}


def model() -> Any:
    return make_pipeline(StandardScaler(), SVC())


def judge(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> tuple[list[float], list[float]]:
    """Return the accuracy on each fold left out, and the seconds of each selection."""
    right, seconds = [], []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        selector, columns = make(), np.arange(X.shape[1])
        if selector is not None:
            start = time.process_time()
            selector.fit(X[train], y[train])
            seconds.append(time.process_time() - start)
            columns = selector.get_support(indices=True)
        fitted = model().fit(X[train][:, columns], y[train])
        right.append(fitted.score(X[test][:, columns], y[test]))
    return right, seconds


def main() -> None:
    lines = [
        "| selector | " + " | ".join(f"{name}: accuracy | seconds" for name in TABLES) + " |",
        "| --- |" + " ---: | ---: |" * len(TABLES),
    ]
    for name, make in SELECTORS.items():
        cells = [f"`{name}`" if "(" in name else name]
        for load in TABLES.values():
            right, seconds = judge(make, *load(return_X_y=True))
            error = np.std(right, ddof=1) / np.sqrt(FOLDS)
            cells += [f"{100 * np.mean(right):.1f} ± {100 * error:.1f}"]
            cells += [f"{np.median(seconds):.2g}" if seconds else ""]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
