"""Selectors with one signature, ours and rivals: a table and a size in, ordered columns out."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn import ensemble, feature_selection, linear_model
from sklearn.multiclass import OneVsRestClassifier

from lorenyi import CollisionEntropy
from lorenyi.selection import CMIM, JMI, InformationSelector, JointInformation

SIZES = (5, 10, 20)
ROWS = 800  # at most, to choose and train on; as many to judge on
OURS = "InformationSelector"


@dataclass
class Table:
    name: str
    X: np.ndarray
    y: np.ndarray
    cat: np.ndarray
    truth: np.ndarray | None = None

    @property
    def numeric(self) -> bool:
        return self.y.dtype.kind == "f"

    @property
    def sizes(self) -> list[int]:
        return [k for k in SIZES if k < self.X.shape[1]]

    @property
    def scaled(self) -> np.ndarray:
        deviation = self.X.std(axis=0)
        return (self.X - self.X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)

    def rows(self, index: np.ndarray) -> Table:
        return Table(self.name, self.X[index], self.y[index], self.cat, self.truth)

    def split(self, seed: int) -> tuple[Table, Table]:
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        order, n = rng.permutation(len(self.y)), min(ROWS, int(0.6 * len(self.y)))
        return self.rows(order[:n]), self.rows(order[n : n + ROWS])


def ours(t: Table, k: int | str, **options: Any) -> np.ndarray:
    task = "regression" if t.numeric else "classification"
    categories = np.flatnonzero(t.cat).tolist()
    selector = InformationSelector(
        k, task=task, categorical_features=categories, random_state=0, **options
    )
    return selector.fit(t.X, t.y).indices_


def first(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the k columns that score most; of equals, those that come first in the table."""
    return np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[:k]


def f_values(t: Table) -> np.ndarray:
    name = "f_regression" if t.numeric else "f_classif"
    return np.nan_to_num(getattr(feature_selection, name)(t.scaled, t.y)[0], posinf=1e30)


def f_test(t: Table, k: int) -> np.ndarray:
    return first(f_values(t), k)


def mutual_information(t: Table, k: int) -> np.ndarray:
    name = "mutual_info_regression" if t.numeric else "mutual_info_classif"
    score = getattr(feature_selection, name)
    return first(score(t.scaled, t.y, discrete_features=t.cat, random_state=0), k)


def trees(t: Table, **options: Any) -> Any:
    if t.numeric:
        return ensemble.RandomForestRegressor(random_state=0, max_features=0.33, **options)
    return ensemble.RandomForestClassifier(random_state=0, **options)


def forest(t: Table, k: int) -> np.ndarray:
    return first(trees(t, n_estimators=200).fit(t.scaled, t.y).feature_importances_, k)


def l1(t: Table, k: int) -> np.ndarray:
    """Order columns by their coefficients; those at zero by the F test."""
    F = f_values(t)
    last = 1e-9 * F / max(F.max(), 1e-9)
    if t.numeric:
        y = (t.y - t.y.mean()) / t.y.std()
        return first(np.abs(linear_model.LassoCV(cv=4).fit(t.scaled, y).coef_) + last, k)
    one = linear_model.LogisticRegression(penalty="l1", C=0.3, solver="liblinear", max_iter=200)
    fitted = OneVsRestClassifier(one).fit(t.scaled, t.y).estimators_
    return first(sum(np.abs(part.coef_).sum(axis=0) for part in fitted) + last, k)


def lightgbm(t: Table, k: int) -> np.ndarray:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if t.numeric else LGBMClassifier
    model = kind(n_jobs=1, verbose=-1, importance_type="gain", random_state=0)
    return first(model.fit(t.scaled, t.y).feature_importances_, k)


def fastcan(t: Table, k: int) -> np.ndarray:
    from fastcan import FastCan

    varied = np.flatnonzero(t.X.std(axis=0) > 0)
    y = t.y[:, None] if t.numeric else (t.y[:, None] == np.unique(t.y)[1:]).astype(np.float64)
    found = FastCan(min(k, len(varied)), verbose=0).fit(t.scaled[:, varied], y).indices_
    return varied[found]


def mrmr(t: Table, k: int) -> np.ndarray:
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    choose = mrmr_regression if t.numeric else mrmr_classif
    table, y = pd.DataFrame(t.scaled), pd.Series(t.y)
    return np.array(choose(table, y, K=k, show_progress=False, n_jobs=1), dtype=int)


def hsic_lasso(t: Table, k: int, block: int = 20, rounds: int = 3) -> np.ndarray:
    """Block HSIC Lasso (Climente-González et al. 2019): columns as they enter its path."""

    def centered(K: np.ndarray) -> np.ndarray:
        K = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean(axis=(0, 1))
        norm = np.sqrt((K**2).sum(axis=(0, 1)))
        return (K / np.where(norm > 0, norm, 1)).reshape(block * block, -1)

    rng, Z, A, b = np.random.default_rng(0), t.scaled, [], []
    y = (t.y - t.y.mean()) / t.y.std() if t.numeric else t.y
    for _ in range(rounds):
        order = rng.permutation(len(y))
        for start in range(0, len(y) - block + 1, block):
            rows = order[start : start + block]
            apart, same = Z[rows][:, None] - Z[rows], y[rows][:, None] == y[rows]
            A.append(centered(np.where(t.cat, apart == 0, np.exp(-0.5 * apart**2))))
            L = np.exp(-0.5 * (y[rows][:, None] - y[rows]) ** 2) if t.numeric else same * 1.0
            b.append(centered(L[:, :, None]))
    A, b = np.concatenate(A), np.concatenate(b)[:, 0]
    inner = A.T @ b
    path = linear_model.lars_path_gram(
        inner, A.T @ A, n_samples=len(b), method="lasso", positive=True, max_iter=3 * k
    )[2]
    steps = path.shape[1]
    entry = np.where((path > 0).any(axis=1), (path > 0).argmax(axis=1), steps)
    return np.lexsort((-inner, entry))[:k]


def boruta(t: Table, k: str) -> np.ndarray:
    from boruta import BorutaPy

    model = trees(t, max_depth=5, n_jobs=1)
    search = BorutaPy(model, n_estimators=60, max_iter=30, random_state=0)
    return np.flatnonzero(search.fit(t.X, t.y).support_)


Selector = Callable[[Table, Any], np.ndarray]
SIZED: dict[str, Selector] = {
    OURS: ours,
    "CMIM": partial(ours, criterion=CMIM()),
    "JMI": partial(ours, criterion=JMI()),
    "order 2": partial(ours, criterion=JointInformation(CollisionEntropy())),
    "F test": f_test,
    "mutual information": mutual_information,
    "forest": forest,
    "L1": l1,
    "LightGBM": lightgbm,
    "fastcan": fastcan,
    "mrmr_selection": mrmr,
    "HSIC Lasso": hsic_lasso,
}
FREE: dict[str, Selector] = {
    "auto": ours,
    "Boruta": boruta,
    "all columns": lambda t, k: np.arange(t.X.shape[1]),
}
