"""Which objects are data-frames."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import lorenyi as lr
from lorenyi.data.frames import frame_columns, is_frame, is_table


class Own(pd.DataFrame):
    """A class of a user's, as geopandas has one."""


TABLES = {
    "pandas": pd.DataFrame({"a": [1, 2]}),
    "polars": pl.DataFrame({"a": [1, 2]}),
    "pyarrow": pa.table({"a": [1, 2]}),
    "narwhals": nw.from_native(pl.DataFrame({"a": [1, 2]})),
    "lazy": pl.LazyFrame({"a": [1, 2]}),
    "subclass": Own({"a": [1, 2]}),
}
COLUMNS = {
    "pandas": pd.Series([1, 2]),
    "index": pd.Index([1, 2]),
    "categories": pd.Categorical([1, 2]),
    "polars": pl.Series([1, 2]),
    "pyarrow": pa.chunked_array([[1, 2]]),
}
OTHERS = [np.zeros((2, 2)), torch.zeros(2, 2), [[1], [2]], {"a": [1]}, "ab", None]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_a_frame(name):
    assert is_table(TABLES[name])
    assert is_frame(TABLES[name])


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_read_like_a_frame_and_is_no_table(name):
    assert is_frame(COLUMNS[name])
    assert not is_table(COLUMNS[name])


@pytest.mark.parametrize("x", OTHERS, ids=lambda x: type(x).__name__)
def test_nothing_else_is_a_frame(x):
    assert not is_frame(x)
    assert not is_table(x)


@pytest.mark.parametrize("name", [*TABLES])
def test_columns_of_every_library_are_read_unless_they_are_lazy(name):
    if name == "lazy":
        with pytest.raises(TypeError, match="x is a LazyFrame"):
            frame_columns(TABLES[name], "x")
        return
    (column,), one = frame_columns(TABLES[name], "x")
    assert column.values.tolist() == [1, 2]
    assert column.label == "x['a']"
    assert not one


def test_a_subclass_of_a_frame_keeps_the_types_of_its_columns():
    table = {"a": [0.5, 1.5, 2.5], "b": ["u", "v", "u"]}
    assert repr(lr.gram(Own(table))) == repr(lr.gram(pd.DataFrame(table)))


def test_a_column_may_have_any_name():
    frame = pd.DataFrame(
        {"type": [1.0, 2.0, 4.0], "iloc": [0.5, 2.0, 3.0], "chunks": [3.0, 1.0, 2.0]}
    )
    renamed = frame.set_axis(["a", "b", "c"], axis=1)
    assert float(lr.entropy(frame)) == float(lr.entropy(renamed))
