"""Variables: columns of known values, and the containers that a user may hold them in."""

import tempfile
from dataclasses import dataclass, replace

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
import torch

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FOREIGN = ("torch", "strict")
FRAMES = ("pandas", "polars")


@dataclass(frozen=True)
class Column:
    """One column: a NumPy array of numbers or times, or a list of symbols."""

    values: object
    kind: str  # "number", "bool", "time", "symbol"
    dtype: str = ""  # of frames: "category", "string", "Int64", ...

    def __len__(self):
        return len(self.values)

    def take(self, index):
        values = self.values
        taken = [values[i] for i in index] if isinstance(values, list) else values[index]
        return Column(taken, self.kind, self.dtype)

    def numbers(self):
        """Return the values as float64: times in days, truth values as 0 and 1."""
        if self.kind != "time":
            return np.real(self.values).astype(np.float64)
        fine = self.values.astype(f"{self.values.dtype.kind}8[us]")
        return fine.astype(np.int64) / (24 * 3600 * 1e6)

    def codes(self):
        """Return integers that are equal where the values are, as Python compares them."""
        if self.kind == "symbol":
            seen = {}
            return np.array([seen.setdefault((type(v), v), len(seen)) for v in self.values])
        values = np.asarray(self.values)
        values = self.numbers() if values.dtype.kind in "fmM" else values
        return np.unique(values, return_inverse=True)[1]

    def few(self, w):
        """Tell whether these are whole numbers of at most ten values (floats: that repeat)."""
        if self.kind != "number":
            return self.kind != "time"
        real = np.asarray(self.values).dtype.kind == "f"
        values = [v for v, there in zip(self.values, w > 0, strict=True) if there]
        values = [float(v) for v in values] if real else [int(v) for v in values]
        levels = len(set(values))
        if levels > 10 or (real and 2 * levels > w.sum()):
            return False
        return all(v == int(v) for v in values)


@dataclass(frozen=True)
class Variable:
    """Columns in a container, with a kernel (None: the package chooses)."""

    columns: tuple
    container: str  # "numpy", "list", "memmap", "object", a foreign library, or one of frames
    flat: bool  # one axis, or a column of a frame
    layout: str = "plain"  # "reversed", "strided", "fortran", "readonly"
    kernel: object = None
    matrix: object = None  # for Precomputed: the matrix
    sparse: str = ""
    note: str = ""

    def __len__(self):
        return len(self.columns[0]) if self.matrix is None else len(self.matrix)

    def take(self, index):
        """Return the same variable of other rows."""
        columns = tuple(c.take(index) for c in self.columns)
        matrix = None if self.matrix is None else self.matrix[np.ix_(index, index)]
        return replace(self, columns=columns, matrix=matrix)

    # ------------------------------------------------------------------ what the oracle sees

    @property
    def together(self):
        """Whether it is an array of numbers or truth values, whose columns are of one kind."""
        kinds = {c.kind for c in self.columns}
        return self.container not in (*FRAMES, "object") and kinds <= {"number", "bool"}

    @property
    def numeric(self):
        """Whether each column can be read by a kernel of numbers."""
        kinds = ("number", "time", "bool") if self.together else ("number", "time")
        return [c.kind in kinds for c in self.columns]

    @property
    def numbers(self):
        """The columns as numbers, for a kernel that was given."""
        return np.stack([c.numbers() for c in self.columns], axis=1)

    @property
    def codes(self):
        """Integers that are equal where whole rows are."""
        return _together([c.codes() for c in self.columns])

    def parts(self, w):
        """Return what the package chooses itself: numbers, codes (or None), and if units differ."""
        several = self.together and len(self.columns) > 1  # then they are one vector a row
        kinds = [(c, not several and c.few(w)) for c in self.columns]
        numbers = [c.numbers() for c, few in kinds if not few]
        codes = [c.codes() for c, few in kinds if few]
        X = np.stack(numbers, axis=1) if numbers else None
        return X, _together(codes) if codes else None, not self.together and len(numbers) > 1

    @property
    def single(self):
        """Whether it is in float32 and stays so: tensors, and ready matrices, in a Gram."""
        if self.matrix is not None:
            return self.matrix.dtype == np.float32
        small = any(np.asarray(c.values).dtype.itemsize < 8 for c in self.columns)
        real = any(np.asarray(c.values).dtype.kind == "f" for c in self.columns)
        return self.container in FOREIGN and small and real

    # ------------------------------------------------------------------ what the package sees

    def build(self):
        """Return the variable as a user would give it."""
        if self.matrix is not None:
            return self._build_matrix()
        if self.container in FRAMES:
            return self._build_frame()
        if self.container == "object" or self.columns[0].kind in ("symbol", "time"):
            return self._build_values()
        array = np.stack([np.asarray(c.values) for c in self.columns], axis=1)
        array = array[:, 0] if self.flat else array
        return self._contained(array)

    def _contained(self, array):
        if self.container == "list":
            return array.tolist()
        if self.container == "tuple":
            return tuple(array.tolist())
        if self.container == "torch":
            return torch.as_tensor(np.ascontiguousarray(array).copy())
        if self.container == "strict":
            return array_api_strict.asarray(np.ascontiguousarray(array))
        if self.container == "memmap":
            return self._mapped(array)
        return _laid_out(array, self.layout)

    def _mapped(self, array):
        with tempfile.TemporaryFile() as file:  # what is mapped outlives it
            file.write(np.ascontiguousarray(array).tobytes())
            file.flush()
            return np.memmap(file, dtype=array.dtype, mode="r", shape=array.shape)

    def _build_values(self):
        """Return columns of any kinds: Python's values in lists and objects."""
        if self.container in ("list", "object"):
            columns = [_python_values(c) for c in self.columns]
            if self.container == "list":
                return columns[0] if self.flat else [list(r) for r in zip(*columns, strict=True)]
            array = np.empty((len(self), len(columns)), dtype=object)
            for j, values in enumerate(columns):
                array[:, j] = values
        else:
            array = np.array([c.values for c in self.columns]).T
        array = array[:, 0] if self.flat else array
        return self._mapped(array) if self.container == "memmap" else _laid_out(array, self.layout)

    def _build_frame(self):
        make = _pandas_column if self.container == "pandas" else _polars_column
        columns = {f"c{i}": make(c) for i, c in enumerate(self.columns)}
        if self.flat:
            return columns["c0"]
        return pd.DataFrame(columns) if self.container == "pandas" else pl.DataFrame(columns)

    def _build_matrix(self):
        if self.sparse:
            return getattr(scipy.sparse, f"{self.sparse}_array")(self.matrix)
        if self.container == "torch":
            return torch.as_tensor(self.matrix.copy())
        if self.container == "strict":
            return array_api_strict.asarray(self.matrix)
        if self.container == "list":
            return self.matrix.tolist()
        return _laid_out(self.matrix, self.layout)

    def __str__(self):
        if self.matrix is not None:
            kind = f"{self.sparse or 'dense'} {self.matrix.dtype} matrix"
        elif self.container in FRAMES:
            kinds = [c.dtype or str(np.asarray(c.values).dtype) for c in self.columns]
            kind = ", ".join(kinds) if len(kinds) < 5 else f"{len(kinds)} columns"
        else:
            kind = str(np.asarray(self.columns[0].values).dtype)
            kind += "" if self.flat else f" x {len(self.columns)}"
        layout = "" if self.layout == "plain" else f" {self.layout}"
        note = f" {self.note}" if self.note else ""
        return f"{self.container}{layout} {kind}{note}, {self.kernel or 'default kernel'}"


def _together(codes):
    return np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def _python_values(column):
    if column.kind == "time":  # in microseconds they are objects of `datetime`
        return column.values.astype(f"{column.values.dtype.kind}8[us]").tolist()
    return list(column.values) if column.kind == "symbol" else np.asarray(column.values).tolist()


def _laid_out(array, layout):
    if layout == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    if layout == "strided":
        wide = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
        wide[::2] = array
        return wide[::2]
    if layout == "fortran":
        return np.asfortranarray(array)
    array = array.copy()
    array.flags.writeable = layout != "readonly"
    return array


def _pandas_column(column):
    if column.dtype == "category":
        return pd.Series(pd.Categorical(list(column.values)))
    if column.dtype == "string":
        return pd.Series(list(column.values), dtype="string")
    if column.dtype == "object":
        return pd.Series(list(column.values), dtype=object)
    return pd.Series(column.values, dtype=column.dtype or None)


def _polars_column(column):
    if column.dtype == "category":
        return pl.Series(list(column.values), dtype=pl.Categorical)
    if column.kind == "symbol":
        return pl.Series(list(column.values), dtype=pl.String)
    values = np.ascontiguousarray(column.values)
    if str(values.dtype) in ("datetime64[s]", "timedelta64[s]", "timedelta64[D]"):
        values = values.astype(f"{values.dtype.kind}8[ms]")  # polars has no such units
    return pl.Series(values)
