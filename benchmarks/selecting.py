"""The selector as it comes: many rows, many columns, pairs of columns, files."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import rivals
import selector_study
from choosing import COUNT, fastcan, mrmr
from measuring import DATA, Result, median_time, peak_memory
from sklearn.feature_selection import mutual_info_classif

from lorenyi.selection import InformationSelector

TRUE = 10  # columns that matter


def labels(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ten columns matter, two of them through their product as well."""
    logit = 0.8 * X[:, :TRUE].sum(axis=1) + 2 * X[:, 0] * X[:, 1]
    return (rng.uniform(size=len(X)) < 1 / (1 + np.exp(-logit))).astype(int)


def mixed_table(n: int, d: int, nominal: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, of which ten matter, and codes of six values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    X[:, d - nominal :] = rng.integers(0, 6, size=(n, nominal))
    return X, labels(X, rng)


def found(selector: InformationSelector) -> str:
    """Say how many of the true columns were chosen."""
    return f"{int(np.sum(selector.indices_ < TRUE))} of {TRUE} true columns"


def default(runs: int, n: int = 100_000, d: int = 100) -> list[Result]:
    """Choose ten features of many rows, against rivals in the same run."""
    X, y = mixed_table(n, d, nominal=30)
    selector = InformationSelector(COUNT, n_jobs=-1)
    seconds, _ = median_time(lambda: selector.fit(X, y), runs)
    others: dict[str, tuple[Callable[[], object] | None, float]] = {
        "mrmr_selection": (mrmr(X, y), 1.0),
        "scikit-learn mutual_info_classif (ranks only)": (
            lambda: mutual_info_classif(X, y, random_state=0),
            1.0,
        ),
        "fastcan": (fastcan(X, y), 0.5),
    }
    results = []
    for name, (rival, least) in others.items():
        row = Result(f"default, ten features, {n} x {d} mixed columns", name, seconds)
        row.accuracy = found(selector)
        if rival is None:
            row.accuracy += "; rival not installed"
        else:
            row.rival_seconds, _ = median_time(rival, 3)
            row.need, row.met = f">= {least:g}x", row.rival_seconds >= least * seconds
        results.append(row)
    return results


def sizes(runs: int) -> list[Result]:
    """Choose ten features of a million rows, of many columns, of very many columns."""
    results = []
    for n, d, most in ((1_000_000, 100, 15), (2600, 500, 3), (1000, 10_000, 30)):
        X, y = mixed_table(n, d)
        selector = InformationSelector(COUNT, n_jobs=-1)
        seconds, _ = median_time(lambda s=selector, X=X, y=y: s.fit(X, y), 1)
        row = Result(f"default, ten features, {n} x {d}", "-", seconds)
        row.need, row.met = f"< {most} s, < 2 GB beside the table", seconds < most
        row.accuracy = found(selector)
        results.append(row)
        del X, y
    return results


def automatic(runs: int) -> list[Result]:
    """Stop by itself: every step tested by permutations."""
    results = []
    for n, d in ((5000, 100), (20_000, 50)):
        X, y = mixed_table(n, d)
        selector = InformationSelector(n_jobs=-1)
        seconds, _ = median_time(lambda s=selector, X=X, y=y: s.fit(X, y), 1)
        chosen = f"{len(selector.indices_)} chosen, {found(selector)}"
        results.append(Result(f'"auto", {n} x {d}', "-", seconds, accuracy=chosen))
    return results


def pair(runs: int, n: int = 10_000, d: int = 500) -> list[Result]:
    """Find the two columns of an exclusive or."""
    X = np.random.default_rng(0).normal(size=(n, d))
    y = (X[:, 100] * X[:, 321] > 0).astype(int)
    selector = InformationSelector(2, start="pair", n_jobs=-1)
    seconds, _ = median_time(lambda: selector.fit(X, y), 1)
    right = sorted(selector.indices_.tolist()) == [100, 321]
    ranks, scores = median_time(lambda: mutual_info_classif(X, y, random_state=0), 1)
    theirs = sorted(np.argsort(-np.asarray(scores))[:2].tolist()) == [100, 321]
    row = Result(
        f"best pair of {d} columns (exclusive or), {n} rows", "mutual_info_classif", seconds
    )
    row.rival_seconds, row.need, row.met = ranks, "< 10 s", right and seconds < 10
    row.accuracy = f"found: {right}, by the rival's ranking: {theirs}"
    return [row]


def files(runs: int, d: int = 50) -> list[Result]:
    """Choose ten features of Parquet files on two workers: only rows that are drawn travel."""
    import dask.dataframe as dd
    import pyarrow as pa
    import pyarrow.parquet as pq
    from distributed import Client, LocalCluster

    times, lists = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for n in (1_000_000, 10_000_000):
            path = Path(folder) / str(n)
            path.mkdir()
            for part in range(n // 250_000):
                rng = np.random.default_rng(part)
                X = rng.normal(size=(250_000, d)).astype(np.float32)
                columns = {f"x{j}": X[:, j] for j in range(d)} | {"y": labels(X, rng)}
                pq.write_table(pa.table(columns), path / f"{part:04d}.parquet")
            with (
                LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers,
                Client(workers),
            ):
                frame = dd.read_parquet(path)
                selector = InformationSelector(COUNT)
                start = time.perf_counter()
                selector.fit(frame.drop(columns="y"), frame["y"])
                times[n], lists[n] = time.perf_counter() - start, found(selector)
    few, many = times
    exponent = float(np.log10(times[many] / times[few]))
    row = Result(
        f"default, 10^7 x {d}, Parquet, two workers",
        f"itself at 10^6 ({times[few]:.1f} s)",
        times[many],
    )
    row.need, row.met = "exponent <= 1.1", exponent <= 1.1
    row.accuracy = (
        f"exponent {exponent:.2f}, {lists[many]}, client's peak {peak_memory() / 2**30:.2f} GB"
    )
    return [row]


def quality(runs: int) -> list[Result]:
    """Compare what four models make of the chosen columns, over the tables at hand."""
    tables = [*selector_study.bundled(), *selector_study.synthetic(), *selector_study.folder(DATA)]
    left_out = {"HSIC Lasso", *rivals.FREE}  # slow, and without a size
    with tempfile.TemporaryDirectory() as folder:
        rows = list(selector_study.study(iter(tables), 1, Path(folder) / "rows", left_out))
    scores = selector_study.means(rows, [m for m in rivals.SIZED if m not in left_out])
    mine = np.array(list(scores.pop(rivals.OURS).values()))
    best = max(scores, key=lambda name: float(np.mean(list(scores[name].values()))))
    lead = mine - np.array(list(scores[best].values()))
    error = selector_study.error(lead)
    spent = [selector_study.seconds(rows, name) for name in (rivals.OURS, best)]
    row = Result(f"quality of 5, 10 and 20 columns, {len(lead)} tables", best, spent[0], spent[1])
    row.need, row.met = "not below by two standard errors", bool(lead.mean() > -2 * error)
    row.accuracy = f"mean score {mine.mean():.2f}, lead {lead.mean():+.2f} ± {error:.2f}"
    return [row]


TASKS: dict[str, Callable[[int], list[Result]]] = {
    "select": default,
    "select-sizes": sizes,
    "select-auto": automatic,
    "select-pair": pair,
    "select-files": files,
    "select-quality": quality,
}
PEAKS = {"select": 2.0, "select-sizes": 2.0}
