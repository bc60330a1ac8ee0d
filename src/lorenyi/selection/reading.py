"""Reading what scikit-learn users have: arrays and data frames become variables of a `Table`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lorenyi.selection.table import Variable

Columns = Any  # positions, names or a mask


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame (pandas, polars, ...) and not an array."""
    return hasattr(X, "__dataframe__") or (hasattr(X, "columns") and hasattr(X, "shape"))


def positions(columns: Columns, names: Sequence[str] | None, count: int, what: str) -> list[int]:
    """Return the positions of columns given by number, by name or as a mask."""
    if columns is None:
        return []
    one = isinstance(columns, (str, int, np.integer))
    items: list[Any] = [columns] if one else list(columns)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != count:
            raise ValueError(f"{what} is a mask of {len(items)} columns and X has {count}")
        return [int(j) for j in np.flatnonzero(items)]
    return [_position(item, names, count, what) for item in items]


def _position(item: Any, names: Sequence[str] | None, count: int, what: str) -> int:
    if isinstance(item, str):
        if names is None or item not in names:
            known = "X has no column names" if names is None else f"X has {', '.join(names)}"
            raise ValueError(f"{what} names {item!r}: {known:.200}")
        return list(names).index(item)
    if not isinstance(item, (int, np.integer)) or not -count <= item < count:
        raise ValueError(f"{what} has {item!r}: columns are numbered 0 to {count - 1}")
    return int(item) % count


def read_frame(X: Any, name: str = "X") -> list[np.ndarray]:
    """Return the columns of a data frame: float64 (NaN is missing), or int64 codes of symbols.

    Codes of symbols are negative where the value is missing.
    """
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, allow_series=True)
    series = [frame] if isinstance(frame, nw.Series) else list(frame.iter_columns())
    return [_series(s, f"{name}[{s.name!r}]") for s in series]


def _series(series: Any, label: str) -> np.ndarray:
    if series.dtype.is_numeric():
        values = series.to_numpy()
        if values.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: {label}")
        values = np.asarray(values, dtype=np.float64)
        null = np.asarray(series.is_null().to_numpy(), dtype=bool)
        return np.where(null, np.nan, values) if null.any() else values
    if series.dtype.is_nested():
        raise TypeError(f"{label} holds {series.dtype}: a column holds one number or symbol a row")
    return symbols(np.asarray(series.to_numpy(), dtype=object))


def symbols(values: np.ndarray) -> np.ndarray:
    """Code the distinct values of a column, as text, from 0; missing ones are -1."""
    missing = np.array([v is None or v != v or v is _pandas_na(v) for v in values], dtype=bool)
    found = np.full(len(values), -1, dtype=np.int64)
    text = values[~missing].astype(str)
    if len(text):
        found[~missing] = np.unique(text, return_inverse=True)[1]
    return found


def _pandas_na(value: Any) -> Any:
    return value if type(value).__name__ in ("NAType", "NaTType") else _NOTHING


_NOTHING = object()


def require_values(columns: Iterable[np.ndarray], allow_missing: bool, name: str = "X") -> None:
    """Refuse infinities, and NaN unless missing values are allowed, naming the place."""
    for j, column in enumerate(columns):
        missing = column < 0 if column.dtype.kind == "i" else np.isnan(column)
        infinite = np.isinf(column) if column.dtype.kind == "f" else np.zeros(0, dtype=bool)
        if infinite.any():
            raise ValueError(
                f"Input {name} contains infinity at row {np.flatnonzero(infinite)[0]}, column {j}"
            )
        if missing.any() and not allow_missing:
            raise ValueError(
                f"Input {name} contains NaN: {int(missing.sum())} missing in column {j}, first at "
                f"row {np.flatnonzero(missing)[0]}. Drop or impute them, or say missing='value' to "
                "treat missing as a value of its own"
            )


def require_aligned(X: Any, y: Any) -> None:
    """Refuse a missing target, and one of another length."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    n, m = (int(v.shape[0]) if hasattr(v, "shape") else len(v) for v in (X, y))
    if n != m:
        raise ValueError(f"X has {n} rows and y has {m}: they must be the same rows")
    if n < 2 or X.shape[1] < 1:
        raise ValueError(f"X has shape {X.shape}: a minimum of 2 rows and 1 column is required")


def numbers_or_symbols(column: np.ndarray) -> np.ndarray:
    """Read a column of objects: as numbers if all are."""
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        return symbols(column)


def variable(
    columns: Sequence[np.ndarray], nominal: Sequence[bool], discrete: Sequence[bool]
) -> Variable:
    """Return columns as one variable: numbers and symbols."""
    n = len(columns[0])
    numbers = [c for c, symbol in zip(columns, nominal, strict=True) if not symbol]
    codes = [_coded(c) for c, symbol in zip(columns, nominal, strict=True) if symbol]
    keep = [bool(d) for d, symbol in zip(discrete, nominal, strict=True) if not symbol]
    return Variable(
        np.stack(numbers, axis=1).astype(np.float64) if numbers else np.zeros((n, 0)),
        np.stack(codes, axis=1) if codes else np.zeros((n, 0), dtype=np.int64),
        np.array(keep, dtype=bool),
    )


def _coded(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "iu":
        return np.asarray(column, dtype=np.int64)
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def read_target(y: Any, task: str) -> Variable:
    """Return the target: labels as symbols, numbers of a regression as numbers.

    Parameters
    ----------
    y : array or data frame, n or n x t
        One target or several, which count together.
    task : {"auto", "classification", "regression"}
        "auto": text, booleans, and numbers without fractions of which there are few are labels.
    """
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"task={task!r}: it is 'auto', 'classification' or 'regression'")
    if is_frame(y) or hasattr(y, "to_numpy"):
        columns = read_frame(y, "y")
    else:
        array = np.asarray(y)
        array = array.reshape(len(array), -1)
        numeric = array.dtype.kind in "iuf"
        columns = [c.astype(np.float64) if numeric else symbols(c.astype(object)) for c in array.T]
    require_values(columns, False, "y")
    nominal = [c.dtype.kind == "i" or _labels(c, task) for c in columns]
    if task == "regression" and any(nominal):
        raise ValueError("task='regression' needs a target of numbers: y has text or categories")
    return variable(columns, nominal, [False] * len(columns))


def _labels(column: np.ndarray, task: str) -> bool:
    """Tell whether numbers are labels: said, or whole and few."""
    if task != "auto":
        return task == "classification"
    whole = bool((column == np.floor(column)).all())
    return whole and len(np.unique(column)) <= max(20, len(column) // 10)
