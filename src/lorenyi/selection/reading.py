"""Reading what scikit-learn users have: arrays and data frames become variables of a `Table`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, _num_samples, validate_data

from lorenyi import _arrays
from lorenyi.data.columns import Column, unmasked
from lorenyi.data.frames import is_table
from lorenyi.data.reading import in_memory, is_elsewhere, read_columns, row_count, take_rows
from lorenyi.gram.ready import points_of
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.table import Variable, by_weight


def positions(wanted: Any, names: Sequence[str] | None, count: int, what: str) -> list[int]:
    """Return the positions of columns given by number, by name or as a mask."""
    one = isinstance(wanted, (str, int, np.integer))
    items: list[Any] = [wanted] if one else list(() if wanted is None else wanted)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != count:
            raise ValueError(f"{what} is a mask of {len(items)} columns and X has {count}")
        return [int(j) for j in np.flatnonzero(items)]
    for k, item in enumerate(items):
        if isinstance(item, str):
            if names is None or item not in names:
                known = "X has no column names" if names is None else f"X has {', '.join(names)}"
                raise ValueError(f"{what} names {item!r}: {known:.200}")
            items[k] = list(names).index(item)
        elif not isinstance(item, (int, np.integer)) or not -count <= item < count:
            raise ValueError(f"{what} has {item!r}: columns are numbered 0 to {count - 1}")
    return [int(item) % count for item in items]


def features_of(selector: Any, X: Any) -> list[Column]:
    """Return the columns of X in memory; the selector learns their number and names."""
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    said = selector.categorical_features
    named = kind in "US" and said is not None and not isinstance(said, str)
    typed = named or kind == "O" or isinstance(X, np.ma.MaskedArray)
    if is_table(X) or (typed and X.ndim == 2):
        columns = read_columns(X)
        validate_data(selector, X, skip_check_array=True)
        return columns
    if kind in "mM":  # times are numbers here
        X = np.where(np.isnat(X), np.nan, np.asarray(X).astype(np.float64))
    return read_columns(validate_data(selector, X, ensure_all_finite=False, ensure_min_samples=2))


def require_values(given: Iterable[Column], allow_missing: bool, name: str = "X") -> None:
    """Refuse infinities, and missing values unless they are allowed, naming the place."""
    given = list(given)
    for j, column in enumerate(given):
        named = column.label.partition("[")[2].removesuffix("]")
        place = f" in column {j if not named or named.startswith(':') else named}"
        place = place if len(given) > 1 or name == "X" else ""  # a single target has no other name
        infinite = np.isinf(column.values) if column.values.dtype.kind == "f" else np.zeros(0)
        if infinite.any():
            raise ValueError(
                f"Input {name} contains infinity{place}, at row {np.flatnonzero(infinite)[0]}: "
                "drop such rows, or replace it by a number or NaN"
            )
        missing = column.gaps
        if missing.any() and not allow_missing:
            value = ", or say missing='value' to treat missing as a value of its own"
            raise ValueError(
                f"Input {name} contains NaN: {int(missing.sum())} missing{place}, first at row "
                f"{np.flatnonzero(missing)[0]}. Drop or impute them{value * (name == 'X')}"
            )


def require_aligned(X: Any, y: Any) -> None:
    """Refuse a missing target, and one of another length."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    n, m = (row_count(x) if is_elsewhere(x) else _num_samples(x) for x in (X, y))
    if n != m:
        raise ValueError(f"X has {n} rows and y has {m}: they must be the same rows")
    shape = getattr(X, "shape", (n, 1))
    if n < 2 or (len(shape) > 1 and shape[1] < 1):
        raise ValueError(f"X has shape {shape}: a minimum of 2 rows and 1 column is required")


def variable(given: Sequence[Column], nominal: Sequence[bool] | np.ndarray) -> Variable:
    """Return columns as one variable: numbers and symbols."""
    n, read = len(given[0].values), list(zip(given, nominal, strict=True))
    numbers = [np.zeros((n, 0)), *(c.numbers() for c, symbol in read if not symbol)]
    codes = [np.zeros((n, 0), dtype=np.int64), *(c.codes() for c, symbol in read if symbol)]
    return Variable(np.column_stack(numbers), np.column_stack(codes))


def read_target(y: Any, task: str) -> Variable:
    """Return one target or several as labels or numbers; "auto": by the rule for features."""
    given = read_columns(y, "y")
    require_values(given, False, "y")
    if task == "regression" and any(c.kind == "label" for c in given):
        raise ValueError("task='regression' needs a target of numbers: y has text or categories")
    nominal = [task == "classification" or (task == "auto" and c.categorical) for c in given]
    return variable(given, nominal)


def frequencies(sample_weight: Any, n: int) -> np.ndarray | None:
    """Return how often each row occurs."""
    if sample_weight is None:
        return None
    w = unmasked(sample_weight, "sample_weight")  # masks, which the check would ignore
    w = _check_sample_weight(w, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True)
    points_of(w, "sample_weight")
    return np.asarray(w)


def looked_at(X: Any, y: Any, sample_weight: Any, most: int | None, seed: int) -> tuple[Any, ...]:
    """Return all in memory, with weights; of more than `most` points so many, a row for each.

    Of data that is not in memory a million rows are taken at most.
    """
    n = row_count(X)
    weights = frequencies(in_memory(sample_weight, "sample_weight"), n) if n else None
    most = LIMITS.points if most is None and is_elsewhere(X) else most
    if most is None or (n if weights is None else weights.sum()) <= most:
        if weights is None or (weights > 0).all():
            return in_memory(X, "X"), in_memory(y, "y"), weights
        require_aligned(X, y)
        rows = np.flatnonzero(weights)  # the others are absent
        return take_rows(X, rows, "X"), take_rows(y, rows, "y"), weights[rows]
    require_aligned(X, y)
    if weights is None:
        rows = _arrays.choose(seed, 40, n, most)
    else:
        order = np.argsort(_arrays.hashed(seed, 40, n)[:, 0])
        rows = np.sort(order[by_weight(weights[order], most)])
    return take_rows(X, rows, "X"), take_rows(y, rows, "y"), None
