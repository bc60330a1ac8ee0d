"""One code for all array libraries and data frames: the same answer, in the caller's library."""

import datetime
import math
from decimal import Decimal

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import lorenyi as lr
from lorenyi import (
    BlockLanczos,
    Cosine,
    Delta,
    Estimate,
    Exact,
    Gaussian,
    GaussianProjection,
    HadamardProjection,
    InputSparsity,
    Lanczos,
    Laplacian,
    Linear,
    Median,
    Polynomial,
    Precomputed,
    Renyi,
    SparseGraph,
    gram,
)
from lorenyi._arrays import libraries

N = 40
RNG = np.random.default_rng(0)
POINTS, LINE, MORE = RNG.normal(size=(N, 2)), RNG.normal(size=N), RNG.normal(size=(N, 3))
LABELS = np.arange(N) % 3
H1 = Renyi(1, None, Exact())


def read_only(array):
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


LIBRARIES = {
    "NumPy": np.array,
    "read-only NumPy": read_only,
    "PyTorch": lambda array: torch.from_numpy(np.array(array)),
    "array-api-strict": lambda array: array_api_strict.asarray(np.array(array)),
}
LIBRARY = pytest.mark.parametrize("library", LIBRARIES)
FOREIGN = pytest.mark.parametrize("library", ["PyTorch", "array-api-strict"])


def assert_same(found, expected, library=None):
    """Equal to 1e-12, and an `Estimate` whatever the library: no gradient was asked for."""
    assert float(found) == pytest.approx(float(expected), abs=1e-12, rel=1e-12)
    assert isinstance(found, Estimate)


# ---------------------------------------------------------------------------------- array libraries

MEASURES = {
    "entropy": lambda a, b, c, **k: lr.entropy(a, **k),
    "joint_entropy": lr.joint_entropy,
    "conditional_entropy": lambda a, b, c, **k: lr.conditional_entropy(a, given=[b, c], **k),
    "mutual_information": lambda a, b, c, **k: lr.mutual_information(a, b, **k),
    "mutual_information of two": lambda a, b, c, **k: lr.mutual_information([a, b], c, **k),
    "normalized_mutual_information": (
        lambda a, b, c, **k: lr.normalized_mutual_information(a, b, **k)
    ),
    "conditional_mutual_information": (
        lambda a, b, c, **k: lr.conditional_mutual_information(a, b, given=c, **k)
    ),
    "total_correlation": lr.total_correlation,
    "dual_total_correlation": lr.dual_total_correlation,
    "interaction_information": lr.interaction_information,
    "vendi_score": lambda a, b, c, **k: lr.vendi_score(a, **k),
    "conditional_vendi_score": lambda a, b, c, **k: lr.conditional_vendi_score(a, given=b, **k),
    "information_vendi_score": lambda a, b, c, **k: lr.information_vendi_score(a, b, **k),
}
# Below order one the smallest eigenvalues (1e-14 here) show the library's own rounding: with a
# rank only.
FUNCTIONALS = [
    Renyi(alpha, rank, Exact()) for alpha in (1, 1.01, 2, math.inf) for rank in (None, 5)
] + [Renyi(0.5, 5, Exact())]


@pytest.mark.parametrize("measure", MEASURES)
@LIBRARY
def test_every_measure_gives_the_same_answer_in_the_callers_library(library, measure):
    to, function = LIBRARIES[library], MEASURES[measure]
    for H in FUNCTIONALS:
        expected = function(POINTS, LINE, LABELS, entropy=H)
        found = function(to(POINTS), to(LINE), to(LABELS), entropy=H)
        assert_same(found, expected, library)


def test_an_amount_of_information_from_numpy_is_bits():
    for name, measure in MEASURES.items():
        found = measure(POINTS, LINE, LABELS, entropy=H1)
        unitless = name == "normalized_mutual_information" or "vendi" in name
        assert isinstance(found, float if unitless else Estimate)


SOLVERS = [
    Exact(),
    Lanczos(12),
    Lanczos(N),
    Lanczos(12, tol=1e-8),
    BlockLanczos(3, block=6, single=False),
    GaussianProjection(12),
    HadamardProjection(12),
    InputSparsity(12),
    SparseGraph(12),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@FOREIGN
def test_every_solver_gives_the_same_answer_in_the_callers_library(library, solver):
    """Random draws are functions of seed and row, so all libraries see the same ones."""
    to = LIBRARIES[library]
    for rank, alpha in ((5, 1), (5, 0.5), (3, 2), (3, math.inf)):
        H = Renyi(alpha, rank, solver)
        for x in (POINTS, np.round(POINTS)):
            expected, found = H(gram(x, Gaussian(0.5))), H(gram(to(x), Gaussian(0.5)))
            assert float(found) == pytest.approx(float(expected), abs=1e-12)
            assert isinstance(found, Estimate)


KERNELS = [
    Gaussian(0.7),
    Gaussian([0.5, 2.0]),
    Gaussian("median"),
    Gaussian("scott"),
    Gaussian("silverman"),
    Laplacian(1.0),
    Linear(),
    Cosine(),
    Polynomial(3),
    Delta(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@LIBRARY
def test_every_kernel_gives_the_same_matrix_in_the_callers_library(library, kernel):
    to = LIBRARIES[library]
    x = np.round(2 * POINTS) + 0.25
    expected, found = gram(x, kernel), gram(to(x), kernel)
    assert np.asarray(found.dense()) == pytest.approx(expected.dense(), abs=1e-14)
    assert_same(H1(found), H1(expected), library)


@LIBRARY
def test_a_ready_matrix_may_come_from_any_library(library):
    K = MORE @ MORE.T + np.eye(N)
    assert_same(H1(gram(LIBRARIES[library](K), Precomputed())), H1(gram(K, Precomputed())), library)


@LIBRARY
def test_weights_may_come_from_any_library(library):
    weights, to = np.arange(N) % 4, LIBRARIES[library]
    expected = lr.mutual_information(POINTS, LABELS, entropy=H1, weights=weights)
    found = lr.mutual_information(to(POINTS), to(LABELS), entropy=H1, weights=to(weights))
    assert_same(found, expected, library)
    beside = lr.entropy(POINTS, entropy=H1, weights=to(weights))
    assert isinstance(beside, Estimate)


@FOREIGN
def test_numpy_beside_another_library_gives_the_same_answer(library):
    to = LIBRARIES[library]
    expected = lr.joint_entropy(POINTS, LINE, entropy=H1)
    for pair in ((to(POINTS), LINE), (POINTS, to(LINE))):
        assert_same(lr.joint_entropy(*pair, entropy=H1), expected, library)
    words = [f"w{label}" for label in LABELS]
    expected = lr.joint_entropy(POINTS, words, entropy=H1)
    assert_same(lr.joint_entropy(to(POINTS), words, entropy=H1), expected, library)


@pytest.mark.parametrize("measure", MEASURES)
def test_tensors_and_lists_mix_in_every_measure(measure):
    """(Strict arrays can not be added to a float of another class; all others can.)"""
    words = [f"w{label}" for label in LABELS]
    expected = MEASURES[measure](POINTS, LINE, words, entropy=H1)
    found = MEASURES[measure](torch.as_tensor(POINTS), LINE, words, entropy=H1)
    assert_same(found, expected, "PyTorch")


@FOREIGN
def test_labels_and_truth_values_of_any_library_are_symbols(library):
    to = LIBRARIES[library]
    assert repr(gram(to(LABELS))) == repr(gram(to(LABELS > 0))) == f"Gram(n={N}, Delta())"
    assert_same(lr.entropy(to(LABELS), entropy=H1), lr.entropy(LABELS, entropy=H1), library)
    assert_same(lr.entropy(to(LABELS > 0), entropy=H1), lr.entropy(LABELS > 0, entropy=H1), library)


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (torch.float64, 1e-12),
        (torch.float32, 1e-5),
        (torch.bfloat16, 0.02),
        (torch.float16, 2e-3),
        (torch.int32, 1e-12),
        (torch.uint8, 1e-12),
    ],
    ids=str,
)
def test_tensors_of_any_precision_are_read(dtype, tolerance):
    x = np.abs(np.round(4 * POINTS)) if "int" in str(dtype) else POINTS
    found = lr.entropy(torch.as_tensor(x).to(dtype), entropy=Renyi(1, 5, Exact()))
    expected = lr.entropy(x, entropy=Renyi(1, 5, Exact()))
    assert float(found) == pytest.approx(float(expected), abs=tolerance)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_a_value_with_a_gradient_has_the_precision_of_the_data_down_to_single(dtype):
    x = torch.as_tensor(POINTS).to(dtype).requires_grad_()
    found = lr.entropy(x, entropy=Renyi(1, 5, Exact()))
    assert isinstance(found, torch.Tensor)
    assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "u2", ">f8", "longdouble"])
def test_numpy_numbers_of_any_size_are_read(dtype):
    x = np.round(POINTS - POINTS.min())
    found = lr.entropy(x.astype(dtype), entropy=H1)
    assert found == pytest.approx(float(lr.entropy(x, entropy=H1)), abs=1e-5)


@pytest.mark.parametrize(
    "form",
    [np.asfortranarray, lambda a: np.repeat(a, 2, axis=0)[::2], lambda a: a[::-1][::-1]],
    ids=["columns first", "every second row", "reversed twice"],
)
def test_the_memory_layout_does_not_matter(form):
    H = Renyi(1, 5, Lanczos(20))
    assert lr.entropy(form(POINTS), entropy=H) == pytest.approx(
        float(lr.entropy(POINTS, entropy=H)), abs=1e-12
    )


@pytest.mark.filterwarnings("ignore:the projected eigenvalues sum to")
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_the_callers_arrays_are_left_alone(solver):
    K = np.ascontiguousarray(MORE @ MORE.T + np.eye(N))
    variables = [POINTS.copy(), LINE.copy(), LABELS.copy(), K.copy()]
    A = gram(variables[0], Gaussian(0.5)) * gram(variables[3], Precomputed())
    Renyi(1, 5, solver)(A)
    Renyi(2, None, solver)(A)
    lr.total_correlation(*variables[:3], entropy=Renyi(1, 5, solver))
    for before, after in zip((POINTS, LINE, LABELS, K), variables, strict=True):
        assert np.array_equal(before, after)


def test_a_tensor_on_the_graph_keeps_its_gradient():
    x = torch.tensor(POINTS, requires_grad=True)
    lr.mutual_information(x, LABELS, entropy=H1).backward()
    assert torch.isfinite(x.grad).all()
    assert x.grad.abs().max() > 0


# -------------------------------------------------------------------------------- shapes and lists

IMAGES = RNG.normal(size=(N, 4, 3))


@LIBRARY
def test_images_are_not_points_until_it_is_said_how(library):
    with pytest.raises(ValueError, match=rf"x has shape \({N}, 4, 3\).*x.reshape\(len\(x\), -1\)"):
        lr.entropy(LIBRARIES[library](IMAGES), entropy=H1)


def test_a_column_is_a_line():
    assert lr.entropy(LINE[:, None], entropy=H1) == lr.entropy(LINE, entropy=H1)


@pytest.mark.parametrize(
    ("x", "kernel"),
    [
        pytest.param([0.5, 1.5, 2.5, 4.0], "Gaussian", id="floats"),
        pytest.param([1, 2, 2, 4], "Delta", id="integers"),
        pytest.param([True, False, True, True], "Delta", id="truth values"),
        pytest.param(["a", "b", "b", "c"], "Delta", id="strings"),
        pytest.param([b"a", b"b", b"b", b"c"], "Delta", id="bytes"),
        pytest.param(("a", "b", "b", "c"), "Delta", id="tuple of strings"),
        pytest.param(range(4), "Delta", id="range"),
        pytest.param(range(50), "Gaussian", id="many whole numbers"),
        pytest.param([1.0, 2.0, 2.0, 1.0], "Delta", id="floats that are whole numbers and repeat"),
        pytest.param((i / 2 for i in range(4)), "Gaussian", id="generator"),
        pytest.param([[1, 2], [1, 2], [3, 4], [5, 6]], "Gaussian", id="rows of integers"),
        pytest.param([(1.0, 2.0), (1.5, 2.0), (3.0, 4.0)], "Gaussian", id="tuples of floats"),
        pytest.param([["a", "u"], ["a", "v"], ["b", "v"]], "Delta", id="rows of strings"),
        pytest.param(np.array(["a", "b"]), "Delta", id="array of strings"),
        pytest.param(np.array(["a", "b"], dtype=object), "Delta", id="objects that are strings"),
        pytest.param(np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), "Gaussian", id="days"),
        pytest.param(
            np.array([[True, False], [True, True]]), "Gaussian", id="rows of truth values"
        ),
        pytest.param([Decimal("0.5"), 2], "Gaussian", id="Decimals"),
        pytest.param(np.array([0.5, 2], dtype=object), "Gaussian", id="objects that are numbers"),
        pytest.param(np.array([1, 2], dtype=object), "Delta", id="objects that are integers"),
        pytest.param(np.array([[1], [2]], dtype=object), "Delta", id="a column of such integers"),
        pytest.param(np.array([True, False], dtype=object), "Delta", id="objects: truth values"),
        pytest.param(np.ma.array([0.5, 1.5]), "Gaussian", id="masked nowhere"),
        pytest.param(pd.Index([0.5, 1.5]), "Gaussian", id="an index of floats"),
        pytest.param(pd.Categorical([0.5, 1.5]), "Delta", id="categories that are floats"),
    ],
)
def test_numbers_get_a_gaussian_kernel_and_categories_equality(x, kernel):
    assert kernel in repr(gram(x))


def test_rows_of_symbols_are_equal_where_all_are():
    rows = [["a", "u"], ["a", "v"], ["b", "v"], ["a", "u"]]
    assert lr.entropy(rows, entropy=H1) == pytest.approx(1.5)


# ------------------------------------------------------------------------------------- data frames

WORDS = np.array(["red", "green", "blue"])[LABELS]
TRUTH = LINE > 0


def series(kind):
    """Build a column of pandas or polars from a NumPy array and a dtype."""
    if kind is pd:
        # An index in another order: rows count, not their names.
        return lambda values, dtype=None: pd.Series(
            values, dtype=dtype, name="v", index=np.arange(len(values))[::-1]
        )
    return lambda values, dtype=None: pl.Series("v", list(values), dtype=dtype)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        pytest.param(series(pd)(LINE), LINE, id="pandas float"),
        pytest.param(series(pd)(LINE, "float32"), LINE.astype(np.float32), id="pandas float32"),
        pytest.param(series(pd)(LINE, "Float64"), LINE, id="pandas Float64"),
        pytest.param(series(pd)(LABELS), LABELS, id="pandas int"),
        pytest.param(series(pd)(LABELS, "Int64"), LABELS, id="pandas Int64"),
        pytest.param(series(pd)(LABELS, "UInt8"), LABELS, id="pandas UInt8"),
        pytest.param(series(pd)(TRUTH), TRUTH, id="pandas bool"),
        pytest.param(series(pd)(TRUTH, "boolean"), TRUTH, id="pandas boolean"),
        pytest.param(series(pd)(WORDS), WORDS, id="pandas text"),
        pytest.param(series(pd)(WORDS, "string"), WORDS, id="pandas string"),
        pytest.param(series(pd)(WORDS.tolist(), object), WORDS, id="pandas object text"),
        pytest.param(series(pd)(WORDS, "category"), WORDS, id="pandas category"),
        pytest.param(series(pd)(LABELS, "category"), LABELS, id="pandas category of integers"),
        pytest.param(
            series(pd)(pd.to_datetime(["2020-01-01", "2021-05-05"] * 20)),
            (np.arange(N) % 2) * 490.0 + 0.5,
            id="pandas time",
        ),
        pytest.param(series(pd)(LINE, object), LINE, id="pandas object float"),
        pytest.param(series(pd)(LABELS, object), LABELS, id="pandas object int"),
        pytest.param(series(pd)(TRUTH, object), TRUTH, id="pandas object bool"),
        pytest.param(series(pd)(pd.arrays.SparseArray(LINE)), LINE, id="pandas sparse float"),
        pytest.param(series(pd)(pd.arrays.SparseArray(LABELS)), LABELS, id="pandas sparse int"),
        pytest.param(series(pd)(pd.arrays.SparseArray(TRUTH)), TRUTH, id="pandas sparse bool"),
        pytest.param(
            series(pd)(pd.period_range("2020", periods=3)[LABELS]), LABELS, id="pandas period"
        ),
        pytest.param(
            pl.Series("v", LABELS.astype("m8[s]").astype("m8[ms]")),
            LABELS / 86_400 + 1e-5,
            id="polars duration",
        ),
        pytest.param(series(pl)(LABELS, pl.Int128), LABELS, id="polars int128"),
        pytest.param(
            series(pl)([2**63 + int(i) for i in LABELS], pl.UInt64), LABELS, id="polars uint64"
        ),
        pytest.param(
            pl.Series("v", [b"\xff" * int(i) for i in LABELS]), LABELS, id="polars binary"
        ),
        pytest.param(pa.chunked_array([pa.array(LINE)]), LINE, id="pyarrow chunked"),
        pytest.param(pa.array(LINE), LINE, id="pyarrow array"),
        pytest.param(series(pl)(LINE), LINE, id="polars float"),
        pytest.param(series(pl)(LINE, pl.Float32), LINE.astype(np.float32), id="polars float32"),
        pytest.param(series(pl)(LABELS), LABELS, id="polars int"),
        pytest.param(series(pl)(LABELS, pl.UInt8), LABELS, id="polars uint8"),
        pytest.param(series(pl)(TRUTH), TRUTH, id="polars bool"),
        pytest.param(series(pl)(WORDS), WORDS, id="polars text"),
        pytest.param(series(pl)(WORDS, pl.Categorical), WORDS, id="polars categorical"),
        pytest.param(series(pl)(WORDS, pl.Enum(["red", "green", "blue"])), WORDS, id="polars enum"),
        pytest.param(
            pl.Series("v", ["2020-01-01", "2021-05-05"] * 20).str.to_date(),
            (np.arange(N) % 2) * 490.0 + 0.5,
            id="polars date",
        ),
    ],
)
def test_a_column_of_a_data_frame_is_read_like_the_array(column, values):
    expected, found = gram(values), gram(column)
    assert repr(found) == repr(expected)
    assert found.dense() == pytest.approx(expected.dense(), abs=1e-7)
    assert lr.mutual_information(column, POINTS, entropy=H1) == pytest.approx(
        float(lr.mutual_information(values, POINTS, entropy=H1)), abs=1e-6
    )
    assert isinstance(lr.entropy(column, entropy=H1), Estimate)


TABLE = {"a": POINTS[:, 0], "b": POINTS[:, 1], "word": WORDS, "truth": TRUTH, "c": LINE}
FRAMES = {
    "pandas": pd.DataFrame(TABLE, index=np.arange(N)[::-1]),
    "polars": pl.DataFrame({name: values.tolist() for name, values in TABLE.items()}),
}
FRAME = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


@FRAME
def test_a_numeric_frame_is_a_matrix_of_points(frame):
    found = gram(frame[["a", "b"]])
    expected = gram(POINTS, Gaussian(Median(standardize=True)))
    assert repr(found) == repr(expected)
    assert found.dense() == pytest.approx(expected.dense(), abs=1e-15)


@FRAME
def test_a_mixed_frame_is_the_joint_of_its_numbers_and_its_symbols(frame):
    found = gram(frame)
    numbers = gram(np.column_stack([POINTS, LINE]), Gaussian(Median(standardize=True)))
    expected = numbers * gram(WORDS) * gram(TRUTH)
    assert found.dense() == pytest.approx(expected.dense(), abs=1e-15)
    assert "Gaussian" in repr(found)
    assert "Delta" in repr(found)


@FRAME
def test_a_frame_of_symbols_is_equal_where_all_are(frame):
    found = lr.entropy(frame[["word", "truth"]], entropy=H1)
    assert found == pytest.approx(float(lr.joint_entropy(WORDS, TRUTH, entropy=H1)))
    whole = gram(frame, Delta())
    assert H1(whole) == pytest.approx(math.log2(N))


@FRAME
def test_columns_of_a_frame_are_variables_in_every_measure(frame):
    by_column = [frame["a"], frame["word"], frame["truth"]]
    by_array = [POINTS[:, 0], WORDS, TRUTH]
    for measure in MEASURES.values():
        found, expected = measure(*by_column, entropy=H1), measure(*by_array, entropy=H1)
        assert float(found) == pytest.approx(float(expected), abs=1e-12)


def test_columns_of_an_object_array_have_kinds_of_their_own():
    rows = np.array([[0.5, "a"], [1.5, "b"], [2.5, "a"]], dtype=object)
    expected = gram([0.5, 1.5, 2.5]) * gram(["a", "b", "a"])
    for x in (rows, rows.tolist()):
        assert gram(x).dense() == pytest.approx(expected.dense(), abs=1e-15)


def test_large_integers_beside_floats_are_told_apart_by_equality():
    frame = pd.DataFrame({"id": [2**60, 2**60 + 1], "x": [0.5, 0.5]})
    assert H1(gram(frame, Delta())) == pytest.approx(1.0)


@pytest.mark.parametrize("module", [pd, pl], ids=["pandas", "polars"])
def test_a_column_is_read_alike_alone_in_a_frame_and_in_an_array(module):
    for values, kernel in ((LABELS, "Delta"), (np.arange(N), "Gaussian")):
        frame = module.DataFrame({"v": values.tolist()})
        forms = [frame["v"], frame, values, values[:, None], values.astype(float), values.tolist()]
        assert len({repr(gram(form)) for form in forms}) == 1
        assert kernel in repr(gram(frame))


@FRAME
def test_a_frame_may_hold_weights_and_a_ready_matrix(frame):
    weights = type(frame)({"w": (np.arange(N) % 4).tolist()})["w"]
    expected = lr.entropy(LINE, entropy=H1, weights=np.arange(N) % 4)
    assert lr.entropy(frame["c"], entropy=H1, weights=weights) == pytest.approx(float(expected))
    K = gram(POINTS).dense() * N
    matrix = type(frame)({f"k{i}": column.tolist() for i, column in enumerate(K.T)})
    assert H1(gram(matrix, Precomputed())) == pytest.approx(float(H1(gram(POINTS))))


# ------------------------------------------------------------------------------- constants


def test_constants_of_many_rows_are_not_kept():
    """Ten Grams of a million rows, let go, leave nothing behind."""
    for n in range(10**6, 10**6 + 10):
        lr.gram(np.zeros(n), lr.Gaussian(1.0))
    assert not any(math.prod(value.shape) >= 10**6 for value in libraries._CONSTANTS.values())


def test_few_constants_are_kept_the_oldest_go_first():
    for n in range(2, 2 + 2 * libraries.MAX_CONSTANTS):
        lr.gram(np.zeros(n), lr.Gaussian(1.0))
    assert len(libraries._CONSTANTS) <= libraries.MAX_CONSTANTS
    one, other = (lr.gram(np.zeros(50), lr.Gaussian(1.0)).weights for _ in range(2))
    assert one is other
    assert not one.flags.writeable


def test_what_was_made_in_inference_mode_does_not_meet_a_gradient():
    x = torch.linspace(0.0, 1.0, 77)
    kernel = lr.Gaussian(1.0)
    with torch.inference_mode():
        lr.entropy(lr.gram(x.clone(), kernel))
    x.requires_grad_()
    lr.entropy(lr.gram(x, kernel)).backward()
    assert torch.isfinite(x.grad).all()


def test_times_of_polars_keep_their_fractions():
    times = [datetime.time(1, 1, 1, microsecond) for microsecond in (1, 2, 3, 3)]
    assert float(lr.entropy(gram(pl.Series(times), Delta()))) == 1.5
    assert "Gaussian" in repr(gram(pl.Series(times)))


def test_objects_that_are_written_alike_are_refused():
    class Thing:
        def __repr__(self):
            return "a thing"

    with pytest.raises(TypeError, match=r"x has different objects of type Thing.*equal text"):
        lr.entropy(np.array([Thing(), Thing(), Thing()], dtype=object))
