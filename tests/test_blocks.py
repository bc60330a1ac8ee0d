"""Where points come from: sources of rows, reading a user's variable, and keyed random draws."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import lorenyi as lr
from lorenyi import _arrays, blocks
from lorenyi.blocks import ArraySource, Source, hstack, read, slices, tree_sum
from lorenyi.streams import Stream


def rows(n=50, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


# --------------------------------------------------------------------------- slices and sums


@pytest.mark.parametrize("n", [0, 1, 6, 7, 8, 20])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_slices_cover_every_row_once_in_order(n, size):
    cuts = slices(n, size)
    assert [i for cut in cuts for i in range(n)[cut]] == list(range(n))
    assert all(0 < cut.stop - cut.start <= size for cut in cuts)
    assert len(cuts) == -(-n // size)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 17, 100])
def test_a_tree_sum_adds_every_term_once(count):
    terms = [2**i for i in range(count)]
    assert tree_sum(terms) == 2**count - 1
    arrays = [np.array([i, 1]) for i in range(count)]
    assert tree_sum(arrays).tolist() == [count * (count - 1) // 2, count]


def test_a_tree_sum_rounds_less_than_a_running_sum():
    terms = [np.float32(0.1)] * 2**16
    running = np.float32(0)
    for term in terms:
        running += term
    exact = float(np.float32(0.1)) * 2**16
    assert abs(tree_sum(terms) - exact) < 1e-3 * abs(running - exact)


# ---------------------------------------------------------------------------------- sources


@pytest.fixture
def memmap(tmp_path):
    """Make a memory-mapped copy of an array."""

    def make(array):
        file = np.memmap(tmp_path / "points", dtype=array.dtype, mode="w+", shape=array.shape)
        file[...] = array
        file.flush()
        return np.memmap(tmp_path / "points", dtype=array.dtype, mode="r", shape=array.shape)

    return make


def test_a_source_gives_rows_by_number():
    X = rows()
    source = ArraySource(X)
    assert source.shape == (50, 3)
    assert len(source) == 50
    assert np.array_equal(source.rows(slice(10, 20)), X[10:20])
    assert np.array_equal(source.all(), X)
    index = np.array([3, 40, 3])
    assert np.array_equal(source.take(index).all(), X[index])


def test_a_source_can_be_shifted_and_scaled(memmap):
    X, shift, scale = rows(), np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 4.0])
    expected = (X - shift) / scale
    for array in (X, memmap(X), torch.tensor(X)):
        move, stretch = (_arrays.like(a, array) for a in (shift, scale))
        mapped = isinstance(array, np.memmap)
        source = (read(array).numbers if mapped else ArraySource(array)).affine(move, stretch)
        assert _arrays.to_numpy(source.all()) == pytest.approx(expected, abs=1e-15)
        part = _arrays.to_numpy(source.rows(slice(5, 9)))
        assert part == pytest.approx(expected[5:9], abs=1e-15)
        index = np.array([7, 1])
        taken = _arrays.to_numpy(source.take(index).all())
        assert taken == pytest.approx(expected[index], abs=1e-15)
        again = _arrays.to_numpy(source.affine(move, stretch).all())
        assert again == pytest.approx((expected - shift) / scale, abs=1e-14)


def test_a_source_is_mapped_and_summed_over_blocks(monkeypatch):
    X = rows()
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 8)
    seen = list(ArraySource(X).map(lambda part, block: (block, part.sum())))
    assert [block.start for block, _ in seen] == list(range(0, 50, 8))
    assert sum(part for _, part in seen) == pytest.approx(X.sum())
    weights = np.arange(50.0)
    total = ArraySource(X).sum(lambda part, block: weights[block] @ part)
    assert total == pytest.approx(weights @ X)


def test_a_memory_mapped_file_is_read_only_as_needed(memmap):
    """Shifting and scaling keep the file where it is; only the rows asked for are computed."""
    X = rows(1000, 4)
    file = memmap(X)
    source = read(file).numbers.affine(np.ones(4), np.full(4, 2.0))
    assert isinstance(source, Stream)
    assert source.tasks[0][1].array is file
    part = source.rows(slice(100, 110))
    assert type(part) is np.ndarray
    assert part == pytest.approx((X[100:110] - 1) / 2)


@pytest.mark.parametrize("kernel", [lr.Gaussian("median"), lr.Gaussian(1.0), lr.Laplacian("scott")])
def test_a_memory_mapped_file_gives_the_answer_of_the_array(memmap, kernel):
    X = rows(200, 2)
    A, B = lr.gram(X, kernel), lr.gram(memmap(X), kernel)
    assert isinstance(B.factors[0].source, Stream)
    assert A.names == B.names
    index = np.array([3, 77])
    assert B.columns(index) == pytest.approx(A.columns(index), abs=1e-16)
    for solver in (lr.Exact(), lr.InputSparsity(20), lr.Lanczos(10)):
        assert solver(B, 5).values == pytest.approx(solver(A, 5).values, abs=1e-14)
    y = lr.gram(np.arange(200) % 2)
    assert lr.Exact()(B * y).values == pytest.approx(lr.Exact()(A * y).values, abs=1e-14)


def test_a_file_of_half_precision_or_integers_is_read_too(memmap):
    whole = np.random.default_rng(0).integers(0, 9, size=(60, 2)).astype(np.int32)
    half = rows(60, 2).astype(np.float16)
    for X in (whole, half):
        plain, mapped = (lr.gram(Z, lr.Gaussian(1.0)) for Z in (X, memmap(X)))
        assert np.array_equal(plain.factors[0].source.all(), mapped.factors[0].source.all())
        assert mapped.dense() == pytest.approx(plain.dense(), rel=1e-5, abs=1e-16)


class Counted(Source):
    """A source of one's own: rows computed when they are asked for."""

    def __init__(self, index, shift=0.0, scale=1.0):
        self.index, self.shift, self.scale = np.asarray(index), shift, scale

    @property
    def shape(self):
        return len(self.index), 2

    def rows(self, block):
        i = self.index[block].astype(float)
        return (np.stack([np.sin(i), np.cos(3 * i)], axis=1) - self.shift) / self.scale

    def take(self, index):
        return Counted(self.index[index], self.shift, self.scale)

    def affine(self, shift, scale):
        return Counted(self.index, self.shift + shift * self.scale, self.scale * scale)

    def each(self, function):
        return ArraySource(function(self.all()))

    def stack(self, sources):
        return hstack([ArraySource(source.all()) for source in sources])

    def locate(self, places):
        return ArraySource(self.all()).locate(places)


def test_whatever_gives_rows_by_number_is_a_source():
    source = Counted(np.arange(40))
    X = source.all()
    kernel, prepared = lr.Gaussian("median").prepare(source, None)
    assert isinstance(prepared, Counted)
    plain = lr.gram(X, lr.Gaussian("median"))
    assert kernel == plain.factors[0].kernel
    assert prepared.all() == pytest.approx(plain.factors[0].source.all(), abs=1e-14)


def test_columns_go_side_by_side_in_the_library_that_is_not_numpy():
    X, Y = rows(), rows(50, 2, seed=1)
    both = hstack([ArraySource(X), ArraySource(Y)])
    assert np.array_equal(both.all(), np.concatenate([X, Y], axis=1))
    mixed = hstack([ArraySource(X), ArraySource(torch.tensor(Y))]).all()
    assert isinstance(mixed, torch.Tensor)
    assert np.array_equal(mixed.numpy(), np.concatenate([X, Y], axis=1))
    single = hstack([ArraySource(X.astype(np.float32)), ArraySource(Y)]).all()
    assert single.dtype == np.float64


# ------------------------------------------------------------------------- reading a variable

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
    assert not data.nominal
    assert data.symbols is None
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
    "days": np.array(["2020-01-02", "2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
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
    assert data.nominal
    codes = data.codes()
    assert codes.shape == (3, 1)
    assert codes[0] == codes[2] != codes[1]
    assert lr.gram(LABELS[name]).names == ("Delta()",)


def test_further_axes_are_flattened():
    X = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(read(X).numbers, X.reshape(2, 12))
    tensor = read(torch.tensor(X)).numbers
    assert np.array_equal(tensor.numpy(), X.reshape(2, 12))


def test_two_dimensional_integers_are_numbers_and_equal_rows_have_equal_codes():
    X = np.array([[1, 2], [2, 1], [1, 2]])
    data = read(X)
    assert not data.nominal
    assert data.codes()[:, 0].tolist() == [0, 1, 0]


def test_columns_of_a_frame_may_be_named_by_numbers():
    numbers = np.arange(6.0).reshape(3, 2)
    assert read(pd.DataFrame(numbers)).numbers.tolist() == numbers.tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_mixed_frame_is_both_numbers_and_symbols(frame):
    table = frame({"x": [0.5, 1.5, 2.5], "k": [1, 2, 3], "w": ["u", "v", "u"]})
    data = read(table)
    assert np.array_equal(data.numbers, [[0.5, 1], [1.5, 2], [2.5, 3]])
    assert data.symbols[:, 0].tolist() == [0, 1, 0]
    assert not data.nominal
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
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 8)
    X = rows(50)
    X[37, 2] = math.inf
    X[45, 0] = math.nan
    with pytest.raises(ValueError, match="x has inf at row 37, column 2"):
        read(X)


def test_blocks_do_not_change_an_answer(monkeypatch):
    X = rows(60)
    plain = [float(lr.entropy(lr.gram(X, lr.Gaussian(s)))) for s in ("median", "scott")]
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 7)
    cut = [float(lr.entropy(lr.gram(X, lr.Gaussian(s)))) for s in ("median", "scott")]
    assert cut == pytest.approx(plain, abs=1e-13)
