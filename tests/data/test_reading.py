"""Reading a user's variable: arrays, data-frames, columns and sequences."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import lorenyi as lr
from lorenyi import _arrays
from lorenyi.data import sources
from lorenyi.data.reading import read, read_columns, variables


def rows(n=50, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


NUMBERS = {
    "a list of floats": [0.5, 1.5, 2.5],
    "a tuple": (0.5, 1.5, 2.5),
    "a range times a half": (0.5 + i for i in range(3)),
    "an array": np.array([0.5, 1.5, 2.5]),
    "a column": np.array([[0.5], [1.5], [2.5]]),
    "half precision": np.array([0.5, 1.5, 2.5], dtype=np.float16),
    "single precision": np.array([0.5, 1.5, 2.5], dtype=np.float32),
    "a tensor": torch.tensor([0.5, 1.5, 2.5]),
    "bfloat16": torch.tensor([0.5, 1.5, 2.5], dtype=torch.bfloat16),
    "a read-only view": np.broadcast_to(np.array([[0.5], [1.5], [2.5]]), (3, 1)),
    "Fortran's order": np.asfortranarray([[0.5], [1.5], [2.5]]),
    "a pandas column": pd.Series([0.5, 1.5, 2.5]),
    "a pandas frame": pd.DataFrame({"a": [0.5, 1.5, 2.5]}),
    "pandas' own floats": pd.Series([0.5, 1.5, 2.5], dtype="Float64"),
    "a polars column": pl.Series([0.5, 1.5, 2.5]),
    "a polars frame": pl.DataFrame({"a": [0.5, 1.5, 2.5]}),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_read_as_numbers(name):
    data = read(NUMBERS[name])
    assert data.split()[1] is None
    assert data.labels is None
    assert data.numbers.shape == (3, 1)
    assert _arrays.to_numpy(data.numbers)[:, 0].tolist() == [0.5, 1.5, 2.5]
    assert _arrays.is_floating(data.numbers)


LABELS = {
    "a list of integers": [1, 0, 1],
    "an array of integers": np.array([1, 0, 1], dtype=np.uint8),
    "a list of words": ["b", "a", "b"],
    "an array of words": np.array(["b", "a", "b"]),
    "objects that are words": np.array(["b", "a", "b"], dtype=object),
    "bytes": np.array([b"b", b"a", b"b"]),
    "truth values": [True, False, True],
    "an array of truth values": np.array([True, False, True]),
    "a tensor of integers": torch.tensor([1, 0, 1]),
    "a tensor of truth values": torch.tensor([True, False, True]),
    "a pandas column of words": pd.Series(["b", "a", "b"]),
    "a pandas categorical": pd.Series(["b", "a", "b"], dtype="category"),
    "a pandas column of integers": pd.Series([1, 0, 1]),
    "a pandas column of truth values": pd.Series([True, False, True]),
    "a polars column of words": pl.Series(["b", "a", "b"]),
    "a polars categorical": pl.Series(["b", "a", "b"], dtype=pl.Categorical),
    "a polars enum": pl.Series(["b", "a", "b"], dtype=pl.Enum(["a", "b"])),
    "a polars column of integers": pl.Series([1, 0, 1]),
    "a polars column of truth values": pl.Series([True, False, True]),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_read_as_labels(name):
    data = read(LABELS[name])
    numbers, codes = data.split()
    assert numbers is None
    assert codes.shape == (3, 1)
    assert codes[0] == codes[2] != codes[1]
    assert lr.gram(LABELS[name]).names == ("Delta()",)


def deep(kind, tmp_path):
    X = np.arange(24.0).reshape(2, 3, 4)
    if kind == "memmap":
        file = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=X.shape)
        file[:] = X
        return file
    made = {"numpy": np.asarray, "torch": torch.tensor, "list": lambda x: x.tolist()}
    return made[kind](X)


@pytest.mark.parametrize("kind", ["numpy", "torch", "list", "memmap"])
def test_more_than_two_axes_are_refused_with_what_to_do(kind, tmp_path):
    """Which axis holds the points is not to be guessed: tokens or whole sequences."""
    x = deep(kind, tmp_path)
    message = r"layer has shape \(2, 3, 4\).*layer.reshape\(len\(layer\), -1\).*reshape\(-1, 4\)"
    with pytest.raises(ValueError, match=message):
        read(x, "layer")
    with pytest.raises(ValueError, match=r"x has shape \(2, 3, 4\)"):
        lr.gram(x)


def test_two_dimensional_integers_are_numbers_and_equal_rows_have_equal_codes():
    X = np.array([[1, 2], [2, 1], [1, 2]])
    data = read(X)
    assert data.split()[1] is None
    assert data.codes()[:, 0].tolist() == [0, 1, 0]


def test_columns_of_a_frame_may_be_named_by_numbers():
    numbers = np.arange(6.0).reshape(3, 2)
    assert read(pd.DataFrame(numbers)).numbers.tolist() == numbers.tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_mixed_frame_is_both_numbers_and_categories(frame):
    table = frame({"x": [0.5, 1.5, 2.5], "k": [1, 2, 1], "w": ["u", "v", "u"]})
    data = read(table)
    assert np.array_equal(data.numbers, [[0.5, 1], [1.5, 2], [2.5, 1]])
    assert data.labels[:, 0].tolist() == [0, 1, 0]
    numbers, categories = data.split()
    assert numbers[:, 0].tolist() == [0.5, 1.5, 2.5]
    assert categories[:, 0].tolist() == [0, 1, 0]
    assert [repr(f.kernel)[:5] for f in lr.gram(table).factors] == ["Gauss", "Delta"]
    assert data.codes()[:, 0].tolist() == [0, 1, 2]


def test_a_gradient_survives_reading():
    x = torch.tensor(rows(), requires_grad=True)
    assert read(x).numbers.requires_grad


BAD = {
    "NaN": ([0.0, math.nan], ValueError, r"y has nan at row 1, column 0"),
    "infinity": (np.array([[0.0, 1.0], [0.0, -math.inf]]), ValueError, r"-inf at row 1, column 1"),
    "NaN in a tensor": (torch.tensor([0.0, math.nan]), ValueError, r"y has nan at row 1"),
    "no rows": ([], ValueError, r"y must have at least two rows"),
    "one row": (np.ones((1, 5)), ValueError, r"at least two rows .* found shape \(1, 5\)"),
    "a scalar": (np.float64(1.0), (ValueError, TypeError), "y must"),
    "a number": (3.0, TypeError, "y must be an array, a data-frame column or a sequence"),
    "a word": ("word", TypeError, "y must be an array"),
    "no columns": (np.ones((3, 0)), ValueError, "y has 3 rows and no columns"),
    "ragged": ([[1.0, 2.0], [3.0]], ValueError, "y is ragged"),
    "complex": (np.array([1j, 2]), TypeError, "y is complex"),
    "a complex tensor": (torch.tensor([1j, 2]), TypeError, "y is complex"),
    "objects": (np.array([1, "a"], dtype=object), TypeError, r"object array with int 1 at row 0"),
    "missing words": (np.array(["a", None], dtype=object), ValueError, "1 missing value, .* row 1"),
    "a missing day": (np.array(["2020-01-01", "NaT"], "M8[D]"), ValueError, "1 missing .* row 1"),
    "a missing entry": (pd.Series([1.0, None]), ValueError, "1 missing value, .* row 1"),
    "a null": (pl.DataFrame({"c": [1, None]}), ValueError, r"y\['c'\] has 1 missing value,"),
    "an empty frame": (pd.DataFrame(), ValueError, "y has no columns"),
    "a frame of one row": (pl.DataFrame({"c": [1]}), ValueError, "at least two rows, found 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_refused_by_name(name):
    value, error, message = BAD[name]
    with pytest.raises(error, match=message):
        read(value, "y")


def test_sparse_points_are_refused_with_the_way_for_a_matrix():
    import scipy.sparse

    with pytest.raises(TypeError, match=r"gram\(y, Precomputed\(\)\)"):
        read(scipy.sparse.eye_array(3), "y")


def test_the_first_bad_entry_is_found_in_any_block(monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_ROWS", 8)
    X = rows(50)
    X[37, 2] = math.inf
    X[45, 0] = math.nan
    with pytest.raises(ValueError, match="x has inf at row 37, column 2"):
        read(X)


def test_blocks_do_not_change_an_answer(monkeypatch):
    X = rows(60)
    plain = [float(lr.entropy(lr.gram(X, lr.Gaussian(s)))) for s in ("median", "scott")]
    monkeypatch.setattr(sources, "BLOCK_ROWS", 7)
    cut = [float(lr.entropy(lr.gram(X, lr.Gaussian(s)))) for s in ("median", "scott")]
    assert cut == pytest.approx(plain, abs=1e-13)


# ------------------------------------------------------------------------- columns and variables


def test_columns_of_arrays_frames_and_rows_are_typed_alike():
    table = {"a": [0.5, 1.5, 2.5], "b": ["u", "v", "u"]}
    items = list(zip(*table.values(), strict=True))
    for X in (pd.DataFrame(table), pl.DataFrame(table), np.array(items, dtype=object), items):
        number, word = read_columns(X)
        assert (number.kind, word.kind) == ("number", "label")
        assert word.categorical
        assert not number.categorical
        assert number.numbers().tolist() == [0.5, 1.5, 2.5]
        assert word.codes().tolist() == [0, 1, 0]


def test_gaps_of_columns_are_marked_and_no_error():
    masked = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert read_columns(masked)[1].gaps.tolist() == [True, False]
    assert read_columns([["a"], [None]])[0].gaps.tolist() == [False, True]
    assert read_columns(pl.DataFrame({"a": [None, 1]}))[0].gaps.tolist() == [True, False]


def test_the_variables_of_a_table_are_its_columns():
    frame = pd.DataFrame({"a": [1, 2], "b": ["u", "v"]})
    columns, names = variables(frame)
    assert names == ["a", "b"]
    assert all(isinstance(column, pd.Series) for column in columns)
    columns, names = variables(np.arange(6).reshape(2, 3))
    assert names == ["x0", "x1", "x2"]
    assert [column.tolist() for column in columns] == [[0, 3], [1, 4], [2, 5]]
    assert variables([[1, 2], "ab"]) == ([[1, 2], "ab"], ["x0", "x1"])


def test_a_table_without_two_axes_or_with_a_name_twice_is_refused():
    with pytest.raises(ValueError, match="X must have two dimensions"):
        variables(np.arange(3))
    with pytest.raises(ValueError, match="X must have two dimensions"):
        variables(pd.Series([1, 2]))
    with pytest.raises(ValueError, match="X has 2 columns named 'a'"):
        variables(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TypeError, match=r"X is a LazyFrame.*collect\(\) a lazy one"):
        variables(pl.LazyFrame({"a": [1]}))


def mapped(array, path):
    array.tofile(path)
    return np.memmap(path, dtype=array.dtype, mode="r", shape=array.shape)


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.float32])
@pytest.mark.parametrize("away", [False, True])
def test_weights_are_repeated_rows_when_kinds_are_told_apart(kind, away, tmp_path):
    """Floats must repeat, absent rows have no value, and large integers keep their digits."""
    x, w = np.arange(12).astype(kind), np.array([3, 3, 3] + [0] * 9)
    if kind == np.int64:
        x = np.iinfo(kind).max - x
    given = mapped(x, tmp_path / "x") if away else x
    assert lr.gram(given, weights=w).names == lr.gram(np.repeat(x, w)).names == ("Delta()",)
    assert lr.gram(given, weights=np.ones(12)).names == lr.gram(x).names != ("Delta()",)


@pytest.mark.parametrize("values", [[0.0, 1.0, 2.0], [0.0, 1.0, 0.0, 1.0], [0.5, 1.5, 0.5, 1.5]])
def test_kinds_are_the_same_in_memory_and_in_a_file(values, tmp_path):
    x = np.array(values)
    away = lr.gram(mapped(x, tmp_path / "x")).names
    assert [name[:5] for name in away] == [name[:5] for name in lr.gram(x).names]
