"""Where points come from: sources of rows, in memory and in files."""

import numpy as np
import pytest
import torch

import lorenyi as lr
from lorenyi import _arrays
from lorenyi.data import sources
from lorenyi.data.reading import read
from lorenyi.data.sources import ArraySource, Source, hstack, slices, tree_sum
from lorenyi.data.streams import Stream


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
    monkeypatch.setattr(sources, "BLOCK_ROWS", 8)
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
