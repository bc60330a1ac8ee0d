"""Data-frames of any library: how to recognize them, and their typed columns."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from lorenyi.data.columns import Column, object_column, value_column

LIBRARIES = {"pandas", "polars", "pyarrow", "modin", "cudf", "narwhals"}


def is_frame(x: Any) -> bool:
    """Return whether x is a data-frame, or a column or index of one."""
    return hasattr(x, "__narwhals_dataframe__") or not LIBRARIES.isdisjoint(_libraries(x))


def is_table(x: Any) -> bool:
    """Return whether x is a data-frame, and not one of its columns."""
    return is_frame(x) and hasattr(type(x), "columns")


def _libraries(x: Any) -> set[str]:
    """Return the packages that the type of x comes from; a subclass counts for both."""
    return {base.__module__.split(".")[0] for base in type(x).__mro__}


def frame_columns(x: Any, name: str, first: int = 0) -> tuple[list[Column], bool]:
    """Return the columns of a data-frame, and whether x is one; errors count from `first`."""
    series, one = _all_series(x, name)
    labels = [f"{name}[{s.name!r}]" if s.name not in (None, "") else name for s in series]
    found = [_series(s, label, first) for s, label in zip(series, labels, strict=True)]
    return found, one


def native_columns(x: Any, name: str) -> tuple[list[Any], list[str]]:
    """Return the columns of a data-frame as objects of its library, and their names."""
    series, _ = _all_series(x, name)
    return [s.to_native() for s in series], [str(s.name) for s in series]


def native_rows(x: Any, rows: np.ndarray) -> Any:
    """Return some rows of a data-frame or a column, in its library."""
    import narwhals as nw

    frame = nw.from_native(_as_column(x), eager_only=True, allow_series=True)
    return frame[rows].to_native() if isinstance(frame, nw.Series) else frame[rows, :].to_native()


def native_stacked(x: Any, y: Any) -> tuple[Any, list[int]]:
    """Return the rows of two data-frames, or columns, in one; and how many each has."""
    import narwhals as nw

    if not (is_frame(x) and is_frame(y)):
        raise TypeError("one of x and y is a data-frame, the other is not: give two of one kind")
    frames = [nw.from_native(v, eager_only=True, allow_series=True) for v in (x, y)]
    if any(isinstance(f, nw.Series) for f in frames):
        values = [np.asarray(f.to_list()) for f in frames]
        return np.concatenate(values), [len(v) for v in values]
    names = [f.columns for f in frames]
    if sorted(names[0]) != sorted(names[1]):
        odd = sorted(set(names[0]) ^ set(names[1]))
        raise ValueError(f"x and y must have the same columns: {', '.join(odd)} is only in one")
    both = nw.concat([frames[0], frames[1].select(names[0])], how="vertical")
    return both.to_native(), [len(f) for f in frames]


def _all_series(x: Any, name: str) -> tuple[list[Any], bool]:
    """Return the columns of a data-frame, and whether x is one."""
    import narwhals as nw

    try:
        frame = nw.from_native(_as_column(x), eager_only=True, allow_series=True)
        if isinstance(frame, nw.Series):
            return [frame], True
        return list(frame.iter_columns()), False
    except nw.exceptions.DuplicateError as error:
        names = list(getattr(x, "column_names", None) or x.columns)
        twice = next(n for n in names if names.count(n) > 1)
        raise ValueError(
            f"{name} has {names.count(twice)} columns named {twice!r}: give each its own name"
        ) from error
    except TypeError as error:
        raise TypeError(
            f"{name} is a {type(x).__name__}, not a data-frame in memory or one of its columns: "
            "collect() a lazy one"
        ) from error


def _as_column(x: Any) -> Any:
    """Return an index or array of pandas or pyarrow as a column, which keeps its type."""
    if hasattr(x, "__array__") and not hasattr(x, "iloc") and "pandas" in _libraries(x):
        return sys.modules["pandas"].Series(x)
    if "pyarrow" in _libraries(x) and hasattr(x, "type") and not hasattr(x, "chunks"):
        return sys.modules["pyarrow"].chunked_array([x])
    return x


def _in_days(series: Any, missing: np.ndarray) -> np.ndarray:
    """Return dates (since 1970) or durations in days; NaN where there is none."""
    import narwhals as nw

    if series.dtype == nw.Duration:
        found = series.dt.total_microseconds()
    else:
        found = series.cast(nw.Datetime("us")) if series.dtype == nw.Date else series
        found = found.dt.timestamp("us")
    values = found.fill_null(0).to_numpy() if missing.any() else found.to_numpy()
    return np.where(missing, np.nan, values.astype(np.float64) / 86_400e6)


def _series(series: Any, label: str, first: int) -> Column:
    import narwhals as nw

    dtype = series.dtype
    missing = np.array(series.is_null().to_numpy(), dtype=bool)
    if dtype.is_nested():
        raise TypeError(
            f"{label} holds {dtype}: a column holds one number or label per row; spread it over "
            "columns first"
        )
    if dtype in (nw.Int128, nw.UInt128, nw.Decimal, nw.Time):  # NumPy has none
        return object_column(np.array(series.to_list(), dtype=object), missing, label, first)
    if dtype.is_numeric() or dtype == nw.Boolean:
        filled = series.fill_null(False if dtype == nw.Boolean else 0) if missing.any() else series
        values = filled.to_numpy()
        if dtype.is_float():
            values = np.where(missing, values.dtype.type(np.nan), values)
        return Column(label, values, "label" if dtype == nw.Boolean else "number", missing)
    if dtype.is_temporal():
        return Column(label, _in_days(series, missing), "time", missing)
    if isinstance(dtype, (nw.Object, nw.Unknown, nw.Binary)):
        found = value_column(series.to_numpy(), label, first)
        return Column(label, found.values, found.kind, found.missing | missing)
    text = np.array(series.cast(nw.String).to_numpy(), dtype=object)
    text[missing] = ""
    return Column(label, text.astype(str), "label", missing)
