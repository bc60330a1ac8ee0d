"""How good are the choices? Selectors compared by what four models make of the chosen columns.

    python benchmarks/selector_study.py --tables FOLDER --out study.jsonl --picture study.png

Columns are chosen on training rows alone and judged on rows left out. Tables: scikit-learn's
bundled ones, synthetic ones whose true columns are known, and every .npz file of the folder with
X, y (floating point: a number to predict; else labels) and, if there are any, `cat` (a mask of the
columns that hold categories) and `truth` (the columns that matter). What is in the file of results
already is not run again. Rivals that are not installed are named and left out.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import rivals
from rivals import FREE, OURS, SIZED, Table
from sklearn import datasets, ensemble, linear_model, neighbors, svm
from threadpoolctl import threadpool_limits

Row = dict[str, Any]
Scores = dict[str, dict[str, float]]  # of a method, of a table: percent

# ----------------------------------------------------------------------------- tables


def plain(
    name: str, X: np.ndarray, y: np.ndarray, truth: int | None = None, categories: int = 0
) -> Table:
    """Return a table of numbers; with known truth its columns are shuffled.

    Selectors that break ties by position would find the first columns for nothing.
    """
    if truth is None:
        return Table(name, X, y, np.zeros(X.shape[1], dtype=bool))
    order = np.random.default_rng(99).permutation(X.shape[1])
    columns, cat = np.flatnonzero(order < truth), order < categories
    return Table(name, X[:, order], y, cat, columns)


def bundled() -> Iterator[Table]:
    for name in ("wine", "breast_cancer", "digits", "diabetes"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield plain(name, X, y)


def synthetic(n: int = 2000) -> Iterator[Table]:
    """Tables of which few columns decide, the first ones before `plain` shuffles them."""

    def label(score: np.ndarray) -> np.ndarray:
        return (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 40))
    yield plain("ten weak", X, label(0.8 * X[:, :10].sum(axis=1)), 10)
    product = 4 * X[:, 0] * X[:, 1] + 0.8 * (X[:, 2] + X[:, 3])
    yield plain("product", X, label(product), 4)
    ball = 5 * (np.linalg.norm(X[:, :3], axis=1) - 1.55)
    yield plain("ball", X, label(ball), 3)
    waves = 2 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 1.5 * X[:, 2] * X[:, 3] + np.abs(X[:, 4])
    yield plain("waves", X, waves + 0.7 * rng.standard_normal(n), 5)
    skewed = np.exp(1.5 * X)
    yield plain("thresholds", skewed, label(3 * (X[:, :6] > 0).sum(axis=1) - 9.0), 6)
    signs = np.sign(X[:, :20])
    parity = 3 * signs[:, :3].prod(axis=1) + 0.7 * signs[:, :3].sum(axis=1)
    yield plain("parity", signs + 0.3 * X[:, 20:], label(parity), 3)
    copies = np.repeat(X[:, :5], 6, axis=1) + 0.5 * rng.standard_normal((n, 30))
    noise = rng.standard_normal((n, 20))
    yield plain("copies", np.c_[copies, noise], X[:, :5] @ [2, 1.6, 1.2, 0.8, 0.4] + X[:, 9], 30)
    codes = rng.integers(0, 5, (n, 15))
    effect = 1.5 * rng.standard_normal((5, 5))
    score = sum(effect[codes[:, j], j] for j in range(5))
    yield plain("categories", np.c_[codes, X[:, :15]], label(score - np.median(score)), 5, 15)


def folder(path: Path) -> Iterator[Table]:
    for file in sorted(path.glob("*.npz")):
        with np.load(file) as data:
            if "X" not in data:  # images
                continue
            X = data["X"].astype(np.float64)
            cat = data["cat"] if "cat" in data else np.zeros(X.shape[1], dtype=bool)
            yield Table(file.stem, X, data["y"], cat, data.get("truth"))


# ----------------------------------------------------------------------------- judging


def columns_of(t: Table, train: Table, chosen: np.ndarray) -> np.ndarray:
    """Return what models see: numbers standardized by the training rows, categories one-hot."""
    parts = []
    for j in chosen:
        x, seen = t.X[:, [j]], train.X[:, j]
        if t.cat[j]:
            parts.append(1.4 * (x == np.unique(seen)))
        else:
            parts.append(np.clip((x - seen.mean()) / (seen.std() or 1), -8, 8))
    return np.hstack(parts)


def judge(train: Table, test: Table, chosen: np.ndarray) -> list[float]:
    """Return accuracy, or the share of variance explained (at least -0.2), of four models."""
    chosen = np.sort(chosen)
    if len(chosen) == 0:
        return []
    A, B = columns_of(train, train, chosen), columns_of(test, train, chosen)
    if train.numeric:
        mean, scale = train.y.mean(), train.y.std()
        models = (
            svm.SVR(C=2.0),
            neighbors.KNeighborsRegressor(5),
            ensemble.RandomForestRegressor(50, random_state=0, max_features=0.33),
            linear_model.Ridge(1.0),
        )
        y, goal = (train.y - mean) / scale, (test.y - mean) / scale
        return [max(-0.2, float(m.fit(A, y).score(B, goal))) for m in models]
    models = (
        svm.SVC(C=2.0),
        neighbors.KNeighborsClassifier(5),
        ensemble.RandomForestClassifier(50, random_state=0),
        linear_model.LogisticRegression(max_iter=150),
    )
    return [float(m.fit(A, train.y).score(B, test.y)) for m in models]


def study(tables: Iterator[Table], splits: int, out: Path, left_out: set[str]) -> Iterator[Row]:
    """Yield every result, those in the file first; add the others to it."""
    kept = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    yield from kept
    done = {(row["table"], row["split"], row["method"]) for row in kept}
    for table in tables:
        for seed in range(splits):
            train, test = table.split(seed)
            for method, choose in (SIZED | FREE).items():
                if method in left_out or (table.name, seed, method) in done:
                    continue
                size = max(table.sizes) if method in SIZED else "auto"
                start = time.process_time()
                try:
                    chosen = np.asarray(choose(train, size))
                except ImportError as missing:
                    print(f"left out: {method} ({missing})", flush=True)
                    left_out.add(method)
                    continue
                row: Row = {"table": table.name, "split": seed, "method": method}
                row |= {"seconds": time.process_time() - start, "columns": chosen.tolist()}
                cuts = table.sizes if method in SIZED else [len(chosen)]
                row["scores"] = {str(k): judge(train, test, chosen[:k]) for k in cuts}
                if table.truth is not None:
                    row["true"] = int(np.isin(chosen, table.truth).sum())
                with out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                yield row
        print(f"{table.name}: done", flush=True)


# ----------------------------------------------------------------------------- the tables printed


def means(rows: list[Row], methods: list[str]) -> Scores:
    """Return the mean over splits, sizes and models; only tables that all methods have."""
    found: dict[str, dict[str, list[float]]] = {m: {} for m in methods}
    for row in rows:
        if row["method"] in found and all(row["scores"].values()):
            score = 100 * float(np.mean(list(row["scores"].values())))
            found[row["method"]].setdefault(row["table"], []).append(score)
    common = set.intersection(*(set(of) for of in found.values()))
    return {m: {t: float(np.mean(of[t])) for t in sorted(common)} for m, of in found.items()}


def error(values: np.ndarray) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def seconds(rows: list[Row], method: str) -> float:
    return float(np.mean([row["seconds"] for row in rows if row["method"] == method]))


def report(rows: list[Row]) -> str:
    present = {row["method"] for row in rows}
    scores = means(rows, [m for m in SIZED if m in present])
    V = np.array([list(of.values()) for of in scores.values()])
    names, tables = list(scores), list(scores[OURS])
    # Equal scores share the mean of their places.
    rank = 0.5 + (V[None] > V[:, None]).sum(axis=1) + 0.5 * (V[None] == V[:, None]).sum(axis=1)
    mine = V[names.index(OURS)]
    lines = [
        f"{len(tables)} tables. Score: mean of four models and up to three sizes, in percent. "
        "Difference: method less ours, ± its standard error over tables.",
        "",
        "| method | score | mean rank | difference | worst table against ours | seconds |",
        "| --- | ---: | ---: | ---: | --- | ---: |",
    ]
    for i in np.argsort(-V.mean(axis=1)):
        d = V[i] - mine
        against = f"{d.mean():+.2f} ± {error(d):.2f} | {d.min():+.1f} {tables[d.argmin()]}"
        lines.append(
            f"| {names[i]} | {V[i].mean():.2f} | {rank[i].mean():.2f} "
            f"| {' | ' if names[i] == OURS else against} | {seconds(rows, names[i]):.3f} |"
        )
    rivals = [i for i, name in enumerate(names) if name != OURS]
    best = max(rivals, key=lambda i: V[i].mean())
    d = mine - V[best]
    lines += [
        "",
        f"Ours less the best rival, {names[best]}: {d.mean():+.2f} ± {error(d):.2f}; ahead on "
        f"{(d > 0).sum()} of {len(d)} tables; worst {d.min():+.1f} ({tables[d.argmin()]}).",
        *free_sizes(rows),
        "",
        "| table | " + " | ".join(names) + " |",
        "| --- |" + " ---: |" * len(names),
        *(
            f"| {t} | " + " | ".join(f"{v:.1f}" for v in V[:, j]) + " |"
            for j, t in enumerate(tables)
        ),
    ]
    return "\n".join(lines) + "\n"


def free_sizes(rows: list[Row]) -> list[str]:
    """Return what selectors kept that choose the number of columns themselves."""
    present = [m for m in FREE if any(row["method"] == m for row in rows)]
    if not present:
        return []
    scores = means(rows, present)
    lines = [
        "",
        "Sizes that selectors chose; scores on the "
        f"{len(scores[present[0]])} tables where all chose something.",
        "",
        "| method | columns (median) | nothing chosen | score | true, false columns | seconds |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for m in present:
        of = [row for row in rows if row["method"] == m]
        sizes = [len(row["columns"]) for row in of]
        true = sum(row["true"] for row in of if "true" in row)
        false = sum(len(row["columns"]) for row in of if "true" in row) - true
        lines.append(
            f"| {m} | {np.median(sizes):g} | {sizes.count(0)} of {len(sizes)} "
            f"| {np.mean(list(scores[m].values())):.2f} | {true}, {false} "
            f"| {seconds(rows, m):.3f} |"
        )
    return lines


def picture(rows: list[Row], out: Path, count: int = 3) -> None:
    """Draw our score less that of the best rivals, table by table, each sorted."""
    from matplotlib.figure import Figure

    present = {row["method"] for row in rows}
    scores = means(rows, [m for m in SIZED if m in present])
    mine = np.array(list(scores.pop(OURS).values()))
    best = sorted(scores, key=lambda m: -np.mean(list(scores[m].values())))[:count]
    figure = Figure(figsize=(3.4 * len(best), 0.8 + 0.11 * len(mine)), layout="constrained")
    axes = figure.subplots(1, len(best), sharex=True, squeeze=False)[0]
    for ax, name in zip(axes, best, strict=True):
        d = mine - np.array(list(scores[name].values()))
        order, tables = np.argsort(d), np.array(list(scores[name]))
        ax.barh(tables[order], d[order], color=np.where(d[order] < 0, "C3", "C0"))
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_title(f"against {name}: {d.mean():+.2f} ± {error(d):.2f}", fontsize=9)
        ax.tick_params(labelsize=5)
        ax.margins(y=0.01)
    figure.supxlabel("our score less theirs, points", fontsize=9)
    figure.savefig(out, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=Path, help="a folder of .npz files, besides the others")
    parser.add_argument("--only", nargs="*", default=[], help="names of tables")
    parser.add_argument("--skip", nargs="*", default=[], help="names of methods")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(rivals.SIZES))
    parser.add_argument(
        "--out", type=Path, default=Path("selector_study.jsonl"), help="results so far"
    )
    parser.add_argument("--report", type=Path, help="write the printed tables there, too")
    parser.add_argument("--picture", type=Path, help="draw the differences into this file")
    options = parser.parse_args()
    rivals.SIZES = tuple(options.sizes)
    tables = [*bundled(), *synthetic(), *(folder(options.tables) if options.tables else ())]
    for t in tables:
        if not t.sizes:
            print(f"left out: table {t.name} (too few columns)")
    wanted = (t for t in tables if t.sizes and (not options.only or t.name in options.only))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = list(study(wanted, options.splits, options.out, set(options.skip)))
    print(report(rows))
    if options.report:
        options.report.write_text(report(rows), encoding="utf-8")
    if options.picture:
        picture(rows, options.picture)


if __name__ == "__main__":
    main()
