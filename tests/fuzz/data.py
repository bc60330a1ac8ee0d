"""Variables: columns of known values, and the containers that a user may hold them in."""

import tempfile
from dataclasses import dataclass

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
import torch

FLOATS = ("float16", "float32", "float64", "longdouble")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FOREIGN = ("torch", "strict")
FRAMES = ("pandas", "polars")


@dataclass(frozen=True)
class Column:
    """One column: a NumPy array of numbers, or a list of symbols."""

    values: object
    kind: str  # "number", "bool", "symbol"
    dtype: str = ""  # of frames: "category", "string", "Int64", ...

    def __len__(self):
        return len(self.values)

    def take(self, index):
        values = self.values
        taken = [values[i] for i in index] if isinstance(values, list) else values[index]
        return Column(taken, self.kind, self.dtype)

    def codes(self):
        """Return integers that are equal where the values are, as Python compares them."""
        if self.kind == "symbol":
            seen = {}
            return np.array([seen.setdefault((type(v), v), len(seen)) for v in self.values])
        values = np.asarray(self.values)
        values = values.astype(np.float64) if values.dtype.kind == "f" else values
        return np.unique(values, return_inverse=True)[1]


@dataclass(frozen=True)
class Variable:
    """Columns in a container, with a kernel (None: the package chooses)."""

    columns: tuple
    container: str  # "numpy", "list", "memmap", a foreign library, or a frame library
    flat: bool  # one axis, or a column of a frame
    layout: str = "plain"  # "reversed", "strided", "fortran", "readonly", "deep"
    kernel: object = None
    matrix: object = None  # for Precomputed: the matrix
    sparse: str = ""
    note: str = ""

    def __len__(self):
        return len(self.columns[0]) if self.matrix is None else len(self.matrix)

    def take(self, index):
        """Return the same variable of fewer rows."""
        columns = tuple(c.take(index) for c in self.columns)
        matrix = None if self.matrix is None else self.matrix[np.ix_(index, index)]
        return Variable(
            columns,
            self.container,
            self.flat,
            self.layout if self.layout != "deep" else "plain",
            self.kernel,
            matrix,
            self.sparse,
            self.note,
        )

    # ------------------------------------------------------------------ what the oracle sees

    @property
    def numbers(self):
        """The numeric columns as float64, or None."""
        chosen = [c for c in self.columns if c.kind in self._numeric]
        if not chosen:
            return None
        return np.stack([np.real(c.values).astype(np.float64) for c in chosen], axis=1)

    @property
    def symbols(self):
        """The columns that are not numbers, as codes."""
        chosen = [c.codes() for c in self.columns if c.kind not in self._numeric]
        return np.stack(chosen, axis=1) if chosen else None

    @property
    def _numeric(self):
        """Kinds that a kernel of numbers can read: arrays of booleans are 0 and 1."""
        return ("number",) if self.container in FRAMES else ("number", "bool")

    @property
    def codes(self):
        """Integers that are equal where whole rows are."""
        rows = np.stack([c.codes() for c in self.columns], axis=1)
        return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def nominal(self):
        """Whether the default kernel is equality."""
        kinds = {c.kind for c in self.columns}
        if "number" not in kinds:
            return True
        whole = all(np.asarray(c.values).dtype.kind in "iu" for c in self.columns)
        return kinds == {"number"} and whole and self.flat

    @property
    def single(self):
        """Whether the package measures it in float32: tensors, and ready matrices."""
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
        if self.columns[0].kind == "symbol":
            return self._build_symbols()
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

    def _build_symbols(self):
        rows = [c.values for c in self.columns]
        if self.container == "list":
            return list(rows[0]) if self.flat else [list(row) for row in zip(*rows, strict=True)]
        dtype = object if self.container == "object" else None
        array = np.array(rows, dtype=dtype).T
        return _laid_out(array[:, 0] if self.flat else array, self.layout)

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


def _laid_out(array, layout):
    if layout == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    if layout == "strided":
        wide = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
        wide[::2] = array
        return wide[::2]
    if layout == "fortran":
        return np.asfortranarray(array)
    if layout == "deep":  # further axes are flattened
        return array.reshape(len(array), 2, -1)
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
    return pl.Series(np.ascontiguousarray(column.values))
