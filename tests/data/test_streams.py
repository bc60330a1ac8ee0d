"""Rows that are not in memory: files read in blocks give the answers of arrays in memory."""

import limits
import numpy as np
import pandas as pd
import pytest

import lorenyi as lr
from lorenyi import _memory
from lorenyi.data.blocks import read_blocks, read_frames
from lorenyi.data.sources import ArraySource, hstack
from lorenyi.data.streams import Here
from lorenyi.gram import structure
from lorenyi.gram.streamed import Streamed
from lorenyi.spectra.prover import Prover

pytestmark = pytest.mark.usefixtures("few_count_as_many")


@pytest.fixture
def memmap(tmp_path):
    def make(array, name="rows"):
        file = np.memmap(tmp_path / name, dtype=array.dtype, mode="w+", shape=array.shape)
        file[...] = array
        return file

    return make


def points(n=400, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def stream(X, *lengths):
    """Return X in blocks of these lengths."""
    ends = np.cumsum(lengths)
    assert ends[-1] == len(X)
    handles = [X[end - n : end] for end, n in zip(ends, lengths, strict=True)]
    return read_blocks(Here(), handles, lengths, X[:0], "x").numbers


CUTS = [(400,), (1, 399), (150, 3, 247), (80, 80, 80, 80, 80)]
every_cut = pytest.mark.parametrize("lengths", CUTS)


# --------------------------------------------------------------------------------- sources


@every_cut
def test_a_stream_gives_the_rows_of_the_array_it_was_cut_from(lengths):
    X = points()
    source = stream(X, *lengths)
    assert source.shape == (400, 2)
    assert np.array_equal(source.all(), X)
    index = np.array([399, 0, 149, 150, 151, 0])
    assert np.array_equal(source.take(index).all(), X[index])
    assert source.take(index[:0]).shape == (0, 2)
    assert np.array_equal(source.rows(slice(140, 160)), X[140:160])
    assert np.array_equal(source.each(np.abs).all(), np.abs(X))
    both = hstack([ArraySource(X), source])
    assert np.array_equal(both.all(), np.hstack([X, X]))
    seen = list(source.map(lambda rows, block: (block, rows)))
    assert all(np.array_equal(X[block], rows) for block, rows in seen)
    assert source.sum(lambda rows, block: rows.sum(axis=0)) == pytest.approx(X.sum(axis=0))


@every_cut
def test_draws_and_places_do_not_feel_the_cuts(lengths):
    X = np.abs(points())
    X[[0, 7, 399]] = 0.0
    source, whole = stream(X, *lengths), ArraySource(X)
    assert np.array_equal(source.choose(3, 5, 50), whole.choose(3, 5, 50))
    assert np.array_equal(source.choose(3, 5, 500), np.arange(400))
    places = np.random.default_rng(1).uniform(size=300) * X[:, 0].sum()
    found = source.locate(places)
    assert np.array_equal(found, whole.locate(places))
    assert (X[found, 0] > 0).all()
    beyond = np.array([X[:, 0].sum() * (1 + 1e-12)])
    assert source.locate(beyond) == [398]  # the last row is zero: nobody is there


def test_rows_can_be_left_out():
    X = points()
    source = stream(X, 100, 200, 100)
    keep = (X[:, 0] > 0) & (np.arange(400) >= 100)  # nothing is left of the first block
    mask = stream(keep.astype(float)[:, None], 100, 200, 100)
    counts = [keep[:100].sum(), keep[100:300].sum(), keep[300:].sum()]
    part = source.only(mask, counts)
    assert np.array_equal(part.all(), X[keep])
    assert len(part.tasks) == 2


def test_different_cuts_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"different blocks of rows, \(400\) and \(150, 3, 247\)"):
        stream(points(), 400).stack([stream(points(), 400), stream(points(), 150, 3, 247)])


def test_a_sum_over_blocks_keeps_what_belongs_to_rows():
    tasks = [(i,) for i in range(30)]
    total, kept = Here().sum_and_keep(lambda i: (i, i * i), tasks)
    assert total == sum(range(30))
    assert kept == [i * i for i in range(30)]


# --------------------------------------------------------------------------------- the same answers

X, LABELS = points(), np.random.default_rng(5).integers(0, 3, size=400)
FEW = np.round(X, 0)
KERNELS = [
    lr.Gaussian("median"),
    lr.Gaussian("scott"),
    lr.Gaussian((0.5, 2.0)),
    lr.Laplacian("silverman"),
    lr.Linear(),
    lr.Cosine(),
    lr.Polynomial(3, 0.5, 1.0),
    lr.Function(lambda X, Y: (1.5 + X @ Y.T) ** 2, infinitely_divisible=False),
]
SOLVERS = [
    lr.Exact(),
    lr.Auto(),
    lr.PivotedCholesky(tol=1e-3, sample=60),
    lr.BlockLanczos(steps=3, single=False),
    lr.Lanczos(steps=12),
    lr.InputSparsity(size=30),
    lr.GaussianProjection(size=30),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_has_the_spectrum_of_memory(memmap, kernel):
    A, B = lr.gram(X, kernel), lr.gram(memmap(X), kernel)
    assert isinstance(B, Streamed)
    assert A.names == B.names
    assert len(B) == 400
    assert lr.Exact()(B).values == pytest.approx(lr.Exact()(A).values, abs=1e-13)
    assert B.weights == pytest.approx(A.weights)
    assert B.scale == pytest.approx(A.scale)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("joint", [False, True])
def test_every_solver_gives_the_answer_of_memory(memmap, solver, joint):
    H = lr.Renyi(alpha=1.5, rank=5, solver=solver)
    A, B = lr.gram(X), lr.gram(memmap(X))
    if joint:
        A, B = A * lr.gram(LABELS), B * lr.gram(LABELS)
    assert float(H(B)) == pytest.approx(float(H(A)), abs=1e-8)


def test_blocks_stay_where_they_are_unless_all_rows_are_asked_for(memmap, monkeypatch):
    def refuse(self):
        raise AssertionError("brought to one place")

    monkeypatch.setattr(Streamed, "collected", refuse)
    x, y = memmap(X), memmap(np.repeat([0, 1], 200), "labels")
    H = lr.Renyi(alpha=2, rank=5, solver=lr.PivotedCholesky(tol=0.05, sample=60))
    lr.mutual_information(x, y, entropy=H.certified)
    lr.entropy(x, entropy=lr.Renyi(2))
    with pytest.raises(AssertionError, match="one place"):
        lr.Exact()(lr.gram(x))


@pytest.mark.parametrize("alpha", [1, 2])
def test_measures_are_those_of_memory(memmap, alpha):
    x, y, z = X[:, 0], LABELS, X[:, 1]
    H = lr.Renyi(alpha, 10)
    here = lr.conditional_mutual_information(x, y, given=z, entropy=H.certified)
    files = [memmap(v, name) for v, name in ((x, "x"), (y, "y"), (z, "z"))]
    there = lr.conditional_mutual_information(*files, entropy=H.certified)
    assert float(there) == pytest.approx(float(here), abs=1e-8)
    assert there.low == pytest.approx(here.low, abs=1e-8)
    assert lr.entropy(files[0], entropy=lr.Renyi(2)) == pytest.approx(
        float(lr.entropy(x, entropy=lr.Renyi(2))), abs=1e-12
    )


def test_the_interval_holds_the_exact_value(memmap):
    H = lr.Renyi(2, 10, lr.Auto(tol=5e-2))
    exact = float(lr.Renyi(2, 10, lr.Exact())(lr.gram(X)))
    estimate = H.certified(lr.gram(memmap(X)))
    assert exact in estimate
    assert 1e-9 < estimate.width <= 5e-2


@pytest.mark.parametrize("in_memory", [True, False])
def test_weights_are_frequencies(memmap, in_memory):
    w = np.random.default_rng(2).integers(0, 3, size=400).astype(float)
    given = w if in_memory else memmap(w, "weights")
    H = lr.Renyi(2, 10)
    for kernel in (lr.Gaussian("median"), lr.Gaussian("scott"), lr.Linear()):
        here = H(lr.gram(X, kernel, weights=w))
        there = H(lr.gram(memmap(X), kernel, weights=given))
        assert float(there) == pytest.approx(float(here), abs=1e-8)
    A = lr.gram(memmap(X), weights=given) * lr.gram(memmap(LABELS, "labels"), weights=given)
    B = lr.gram(X, weights=w) * lr.gram(LABELS, weights=w)
    assert float(H(A)) == pytest.approx(float(H(B)), abs=1e-8)
    with pytest.raises(ValueError, match="same weights"):
        lr.gram(memmap(X), weights=given) * lr.gram(memmap(LABELS, "labels"))
    with pytest.raises(ValueError, match="same weights"):
        lr.gram(memmap(X), weights=given) * lr.gram(LABELS)


def test_equal_rows_are_folded_across_blocks(memmap):
    A = lr.gram(memmap(FEW))
    singles, (block,) = A.reduced
    _, (same,) = lr.gram(FEW).reduced
    assert not isinstance(block, Streamed)
    assert len(block) == len(same) == len(np.unique(FEW, axis=0))
    assert block.weights == pytest.approx(same.weights)
    assert block.dense() == pytest.approx(same.dense(), abs=1e-15)
    assert len(singles) == 0


def test_too_many_distinct_rows_are_not_folded_here_or_there(memmap, monkeypatch):
    monkeypatch.setattr(structure, "DISTINCT", 60)
    Z = np.concatenate([X[:200], X[:200]])
    _, (here,) = lr.gram(Z).reduced
    _, (there,) = lr.gram(memmap(Z)).reduced
    assert len(here) == len(there) == 400
    monkeypatch.setattr(structure, "DISTINCT", 400)
    monkeypatch.setattr(structure, "WHOLE", 300)  # a sample that cannot miss what is repeated
    _, (here,) = lr.gram(Z).reduced
    _, (there,) = lr.gram(memmap(Z)).reduced
    assert len(here) == len(there) == 200


def test_labels_are_groups(memmap):
    rare = LABELS.copy()
    rare[:3] = [7, 8, 8]  # a label of one row, and one of few
    A, B = lr.gram(X) * lr.gram(rare), lr.gram(memmap(X)) * lr.gram(memmap(rare, "labels"))
    singles, blocks = B.reduced
    assert len(singles) == 1
    assert [len(b) for b in blocks if not isinstance(b, Streamed)] == [2]
    assert sorted(len(b) for b in blocks) == sorted(len(b) for b in A.reduced[1])
    assert sum(b.mass for b in blocks) + singles.sum() == pytest.approx(1)
    assert lr.Exact()(B).values == pytest.approx(lr.Exact()(A).values, abs=1e-14)
    counts = lr.entropy(memmap(rare, "labels"))
    assert float(counts) == pytest.approx(float(lr.entropy(rare)), abs=1e-14)


def test_rows_in_float32_are_read_as_float64_and_products_may_be_in_float32(memmap):
    x = X.astype(np.float32)
    A, B = lr.gram(x), lr.gram(memmap(x))
    assert B.reference.dtype == np.float64
    H = lr.Renyi(2, 5, lr.Lanczos(20))
    assert float(H(B)) == pytest.approx(float(H(A)), abs=1e-12)
    double = lr.gram(memmap(X, "double"))
    V = points(400, 3, seed=3)
    assert double @ V == pytest.approx(lr.gram(X) @ V, abs=1e-15)
    assert double.single() @ V.astype(np.float32) == pytest.approx(lr.gram(X) @ V, abs=1e-7)
    assert double @ V[:, 0] == pytest.approx(lr.gram(X) @ V[:, 0], abs=1e-15)


# --------------------------------------------------------------------------------- bad input


def test_a_bad_entry_is_named_by_its_row_in_the_file(memmap):
    Z = X.copy()
    Z[237, 1] = np.nan
    with pytest.raises(ValueError, match="x has nan at row 237, column 1"):
        lr.entropy(memmap(Z))


def test_bad_weights_and_ready_matrices_are_refused(memmap):
    w = np.ones(400)
    w[5] = -1
    with pytest.raises(ValueError, match="not be negative, found -1"):
        lr.gram(memmap(X), weights=memmap(w, "weights"))
    with pytest.raises(ValueError, match="weights sum to 1"):
        lr.gram(memmap(X), weights=memmap(np.full(400, 1 / 400), "weights"))
    with pytest.raises(ValueError, match="same rows"):
        lr.gram(memmap(X)) * lr.gram(memmap(LABELS[:300], "labels"))
    with pytest.raises(TypeError, match="a ready matrix cannot join"):
        lr.gram(memmap(X)) * lr.gram(np.eye(400), lr.Precomputed())


def test_too_many_rows_for_one_place_are_refused_before_they_are_read(memmap, monkeypatch):
    A = lr.gram(memmap(X))
    monkeypatch.setattr(_memory, "free_memory", lambda: 2000)
    monkeypatch.setattr(_memory, "A_LITTLE", 0)
    with pytest.raises(MemoryError, match="use Auto or PivotedCholesky"):
        A.collected()
    with pytest.raises(MemoryError, match="a dense 400 x 400 kernel matrix"):
        A.dense()


@pytest.mark.parametrize("sigma", [1.0, "scott", lr.Nearest()], ids=repr)
def test_an_iteration_on_rows_in_a_file_finds_what_it_does_in_memory(memmap, sigma, monkeypatch):
    """More rows than are decomposed at once, of a flat spectrum, so that a basis is iterated on."""
    for room in ("search", "prover"):
        monkeypatch.setattr(f"lorenyi.spectra.{room}.SAMPLE", 1300)
    x = points(1300, 10, seed=4)
    H = lr.Renyi(2, rank=20, solver=lr.Auto(tol=1e-3))
    A = lr.gram(memmap(x), lr.Gaussian(sigma))
    assert "BlockLanczos" in Prover(1e-3, None, 0).choose(A, 20).method
    found, expected = H.certified(A), H.certified(lr.gram(x, lr.Gaussian(sigma)))
    assert float(found) == pytest.approx(float(expected), abs=1e-3)
    assert float(H(A)) == pytest.approx(float(expected), abs=1e-3)


def test_a_function_of_float32_values_streams_through_pivots(memmap):
    x = points(900, 1, seed=5)
    kernel = lr.Function(
        lambda X, Y: np.exp(-0.5 * (X - Y.T) ** 2).astype(np.float32), infinitely_divisible=True
    )
    H = lr.Renyi(1, solver=lr.PivotedCholesky(sample=300))
    with limits.seconds(60):
        found = H.certified(lr.gram(memmap(x), kernel))
    assert lr.Renyi(1, solver=lr.Exact())(lr.gram(x, lr.Gaussian(1.0))) in found
    assert found.width < 0.01


def test_integers_in_a_file_are_numbers_to_a_kernel_of_numbers(memmap):
    """Products of small integer types would wrap around."""
    x = np.random.default_rng(0).integers(-100, 100, size=(400, 2)).astype(np.int8)
    for kernel in (lr.Polynomial(3), lr.Function(lambda X, Y: (X @ Y.T + 1.0) ** 2, False)):
        found = lr.gram(memmap(x), kernel).dense()
        assert found == pytest.approx(lr.gram(x.astype(float), kernel).dense(), abs=1e-12)


def test_large_labels_in_a_file_stay_apart_beside_others(memmap):
    x = np.uint64(2**64 - 1) - np.arange(400, dtype=np.uint64) % np.uint64(4)
    y = np.arange(400) % 2
    assert float(lr.joint_entropy(memmap(x), y)) == 2.0
    z = lr.gram(memmap(np.arange(400) % 3 / 3, "z"), lr.Delta())
    assert float(lr.joint_entropy(memmap(x), z)) == pytest.approx(np.log2(12), abs=1e-3)


def test_rows_of_weight_zero_in_a_file_are_absent(memmap):
    x, w = points(400, 2, seed=6), np.arange(400) % 3.0
    x[w == 0] = 0.0  # which have no direction
    for kernel in (lr.Cosine(), lr.Polynomial(2, shift=0.0)):
        found = lr.entropy(lr.gram(memmap(x), kernel, weights=w))
        exact = lr.entropy(lr.gram(x[w > 0], kernel, weights=w[w > 0]))
        assert float(found) == pytest.approx(float(exact), abs=1e-10)
        in_memory = lr.entropy(lr.gram(x, kernel, weights=w))
        assert float(in_memory) == pytest.approx(float(exact), abs=1e-10)


def test_blocks_of_another_type_than_the_first_are_refused_where_values_would_change():
    kinds = ((np.int8, 1), (np.int64, 257))  # few values: the second block is read at once
    frames = [pd.DataFrame({"a": np.arange(4, dtype=kind) + kind(s)}) for kind, s in kinds]
    with pytest.raises(TypeError, match=r"x\['a'\].*int8 in the first block.*int64 in that"):
        lr.entropy(lr.gram(read_frames(Here(), frames, [4, 4], "x"), lr.Delta()))
    wider = read_frames(Here(), frames[::-1], [4, 4], "x")
    assert float(lr.entropy(lr.gram(wider, lr.Delta()))) == 3.0
