"""How often does "auto" keep noise, and what is informative? Figures of docs/selectors.md.

python benchmarks/selector_levels.py [power] [copies] [levels]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.feature_selection import f_classif

from lorenyi.selection import JMI, InformationSelector, NeighborInformation

Drawn = tuple[pd.DataFrame, np.ndarray, np.ndarray | None]


def kept(X: object, y: np.ndarray, weights: np.ndarray | None = None, **options: object) -> list:
    return InformationSelector(**options).fit(X, y, sample_weight=weights).names_.tolist()


def power() -> None:
    """One column of 30 is informative about a binary label, or none is."""
    print("rows, slope: kept, something else kept, F test with Bonferroni's correction")
    for n in (200, 800):
        for slope in (0.0, 0.2, 0.4, 0.6, 0.8):
            found, tables = [], 100 if slope else 200
            for seed in range(5000, 5000 + tables):
                rng = np.random.default_rng(seed)
                X = rng.normal(size=(n, 30))
                y = (rng.random(n) < 1 / (1 + np.exp(-slope * X[:, 0]))).astype(int)
                names, p = kept(X, y), 30 * f_classif(X, y)[1]
                other = bool(set(names) - {"x0"})
                found.append(("x0" in names, other, (p[0] if slope else p.min()) < 0.05))
            print(f"{n}, {slope:g}:", *np.mean(found, axis=0).round(3), flush=True)


def labels(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    return pd.DataFrame(rng.integers(0, 8, (400, 15)).astype(str)), rng.integers(0, 2, 400)


def whole(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    return pd.DataFrame(rng.integers(0, 72, (300, 10))), rng.integers(0, 2, 300)


def numbers(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    return pd.DataFrame(rng.normal(size=(300, 8))), rng.integers(0, 2, 300)


def bootstrapped(table: Callable, rng: np.random.Generator) -> Drawn:
    X, y = table(rng)
    rows = rng.integers(0, len(y), len(y))
    return X.iloc[rows], y[rows], None


def balanced(table: Callable, rng: np.random.Generator) -> Drawn:
    X, _ = table(rng)
    y = (rng.random(len(X)) < 0.2).astype(int)
    return X, y, (len(y) / (2 * np.bincount(y)))[y]


def copies(tables: int = 60) -> None:
    """Noise in bootstrap samples and with class weights."""
    default = NeighborInformation()
    for make, table, criterion in (
        (bootstrapped, labels, default),
        (bootstrapped, whole, default),
        (balanced, labels, default),
        (bootstrapped, numbers, JMI()),
        (bootstrapped, labels, JMI()),
    ):
        draws = (make(table, np.random.default_rng(seed)) for seed in range(tables))
        found = sum(bool(kept(X, y, w, criterion=criterion)) for X, y, w in draws)
        name = type(criterion).__name__
        print(f"{make.__name__} {table.__name__}, {name}: {found} of {tables}", flush=True)


def levels(tables: int = 4) -> None:
    """Six labels of equal effect on a class, and six columns of noise."""
    print("levels, rows: labels kept by auto, among six")
    for count in (2, 3, 4, 6, 10, 20):
        for n in (1000, 20_000):
            found = []
            for seed in range(tables):
                rng = np.random.default_rng(seed)
                codes = rng.integers(0, count, (n, 6))
                score = np.linspace(-1, 1, count)[codes].sum(axis=1)
                y = rng.random(n) < 1 / (1 + np.exp(-score))
                X = pd.DataFrame(np.char.add("v", codes.astype(str)), columns=list("abcdef"))
                X = X.assign(**{f"noise{j}": rng.normal(size=n) for j in range(6)})
                six = kept(X, y, n_features_to_select=6)
                found.append([sum(len(name) == 1 for name in c) for c in (kept(X, y), six)])
            print(f"{count}, {n}:", *np.mean(found, axis=0), flush=True)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "no feature was selected")
    for name in sys.argv[1:] or ("power", "copies", "levels"):
        {"power": power, "copies": copies, "levels": levels}[name]()
