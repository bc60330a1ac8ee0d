"""What is refused, and how: every message names the argument and the remedy."""

import re
from decimal import Decimal

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch

import lorenyi as lr
from lorenyi import (
    Cosine,
    Exact,
    Function,
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
    Spectrum,
    gram,
    information_potential,
    renyi_entropy,
)

x = np.arange(6.0)
NAN = np.array([0.0, np.nan, 1.0, 1.0, 1.0, 1.0])
HALVES = Spectrum([0.5, 0.5])
LEADING = Spectrum([0.5, 0.2], 5, kind="ritz")

ASYMMETRIC = np.eye(6)
ASYMMETRIC[0, 1] = 0.5
NULL = np.diag([1.0, 0.0, 1.0])
OPPOSED = np.full((3, 3), -0.9) + 1.9 * np.eye(3)  # eigenvalues 1.9, 1.9, -0.8
DRAWN = np.random.default_rng(0).normal(size=(40, 40))
INDEFINITE = (DRAWN + DRAWN.T) / 2 + np.diag(2 - np.diag(DRAWN))


def entropy(*data, **options):
    return lambda: lr.entropy(*data, **options)


def make(*arguments, **options):
    return lambda: gram(*arguments, **options)


def of(H, matrix):
    return lambda: H(gram(matrix, Precomputed()))


def case(name, call, error, *parts):
    """Each part is a pattern; the message must match them in this order."""
    return pytest.param(call, error, ".*".join(parts), id=name)


POINTS = [
    case("NaN", entropy([0.0, np.nan, 1.0]), ValueError, "x has nan at row 1", "drop or impute"),
    case("infinity", entropy([0.0, np.inf, 1.0]), ValueError, "x has inf at row 1", "drop"),
    case(
        "NaN in a matrix of points",
        entropy([[0.0, 1.0], [0.0, np.nan]]),
        ValueError,
        "x has nan at row 1, column 1",
        "drop or impute",
    ),
    case(
        "NaN in a tensor",
        entropy(torch.tensor([0.0, torch.nan, 1.0])),
        ValueError,
        "x has nan at row 1",
        "drop or impute",
    ),
    case(
        "NaN in any array",
        entropy(array_api_strict.asarray([0.0, float("nan"), 1.0])),
        ValueError,
        "x has nan at row 1",
        "drop or impute",
    ),
    case("NaN in y", lambda: lr.mutual_information(x, NAN), ValueError, "y has nan", "drop"),
    case(
        "NaN in given",
        lambda: lr.conditional_entropy(x, given=NAN),
        ValueError,
        "given has nan",
        "drop",
    ),
    case(
        "NaN in the third variable",
        lambda: lr.total_correlation(x, x, NAN),
        ValueError,
        "variable 2 has nan",
        "drop",
    ),
    case(
        "NaN in one of several",
        lambda: lr.mutual_information([x, NAN], x),
        ValueError,
        r"x\[1\] has nan",
        "drop",
    ),
    case("empty list", entropy([]), ValueError, "x must have at least two rows", r"\(0,\)"),
    case("empty array", entropy(np.zeros((0, 3))), ValueError, "x must have at least two rows"),
    case("no columns", entropy(np.zeros((3, 0))), ValueError, "x has 3 rows and no columns"),
    case("one row", entropy([[1.0, 2.0]]), ValueError, "x must have at least two rows", r"1, 2"),
    case("a 0-d array", entropy(np.float64(3)), ValueError, "x must have at least two rows"),
    case("a number", entropy(3), TypeError, "x must be an array", "sequence", "int 3"),
    case("a string", entropy("abc"), TypeError, "x must be an array", "sequence", "str 'abc'"),
    case("a dict", entropy({"a": [1, 2]}), TypeError, "x must be an array", "sequence", "dict"),
    case("a set", entropy({1, 2}), TypeError, "x must be an array", "sequence", "set"),
    case("None", entropy(None), TypeError, "x must be an array", "sequence", "None"),
    case("ragged", entropy([[1, 2], [3]]), ValueError, "x is ragged", "the same shape"),
    case(
        "numbers among words",
        entropy(["a", "b", 2.5]),
        TypeError,
        "x is an object array with str 'a' at row 0 and float 2.5 at row 2",
        r"astype\(float\)",
    ),
    case(
        "truth values among numbers",
        entropy(np.array([2, True], dtype=object)),
        TypeError,
        "x is an object array with int 2 at row 0 and bool True at row 1",
        r"astype\(float\)",
    ),
    case(
        "lists in an object array",
        entropy(pd.Series([{1}, {2}], name="v")),
        TypeError,
        r"x\['v'\] is an object array with set \{1\} at row 0",
        "all strings, or all numbers",
    ),
    case(
        "integers of more than 64 bits",
        entropy([2**64, 2**64 + 1]),
        ValueError,
        "x has whole numbers from 18446744073709551616 to 18446744073709551617",
        "text if they are labels",
    ),
    case(
        "a number beyond float64",
        entropy([0.5, 10**400]),
        ValueError,
        "x has a number beyond the range of float64",
        "scale",
    ),
    case("NaN among words", entropy(["a", np.nan]), ValueError, "x has 1 missing value", "row 1"),
    case("NaN objects", entropy([Decimal("nan"), 1]), ValueError, "x has 1 missing value", "row 0"),
    case(
        "NaT among times",
        entropy(np.array([pd.Timestamp(0), pd.NaT], dtype=object)),
        ValueError,
        "x has 1 missing value, first at row 1",
        "drop or impute",
    ),
    case(
        "NA in a column of a matrix",
        entropy(np.array([["a", 1.0], ["b", pd.NA]], dtype=object)),
        ValueError,
        r"x\[:, 1\] has 1 missing value, first at row 1",
        "drop or impute",
    ),
    *(
        case(
            f"masked {kind}",
            entropy(np.ma.array(values, mask=[False, False, True, True])),
            ValueError,
            "x has 2 missing values, first at row 2",
            "drop or impute",
        )
        for kind, values in {
            "floats": [0.5, 1.5, 2.5, 3.5],
            "labels": [0, 1, 1, 0],
            "words": ["a", "b", "a", "b"],
        }.items()
    ),
    case(
        "a masked matrix",
        make(np.ma.array(np.eye(3), mask=np.eye(3) > 0), Precomputed()),
        ValueError,
        "x has 3 missing values, first at row 0",
        "drop or impute",
    ),
    case(
        "a structured array",
        entropy(np.zeros(3, dtype=[("a", float), ("b", int)])),
        TypeError,
        "x is a structured array",
        "columns",
    ),
    case(
        "a missing object",
        entropy(np.array(["a", None], dtype=object)),
        ValueError,
        "x has 1 missing value, first at row 1",
        "drop or impute",
    ),
    case(
        "a missing time",
        entropy(np.array(["2020-01-01", "NaT"], dtype="M8[D]")),
        ValueError,
        "x has 1 missing value, first at row 1",
        "drop or impute",
    ),
    case("complex", entropy(np.array([1j, 2])), TypeError, "x is complex", "real and imaginary"),
    case("a complex list", entropy([1j, 2]), TypeError, "x is complex", "real and imaginary"),
    case("a complex tensor", entropy(torch.tensor([1j, 2])), TypeError, "x is complex", "parts"),
    case(
        "a complex array",
        entropy(array_api_strict.asarray([1j, 2])),
        TypeError,
        "x is complex",
        "parts",
    ),
    case(
        "sparse points",
        entropy(sp.csr_array(np.eye(3))),
        TypeError,
        "x is a SciPy sparse matrix",
        r"Precomputed\(\)",
        "dense",
    ),
    case(
        "different lengths",
        lambda: lr.mutual_information(x, x[:5]),
        ValueError,
        "same rows",
        "x: .* has 6",
        "y: .* has 5",
        "same points",
    ),
    case(
        "Grams of different lengths",
        lambda: gram(x) * gram(x[:5]),
        ValueError,
        "same rows",
        "6",
        "5",
        "same points",
    ),
    case(
        "tensors and strict arrays",
        lambda: (
            lr.gram(torch.arange(6) / 7, lr.Gaussian(1.0))
            * lr.gram(array_api_strict.linspace(0.0, 1.0, 6), lr.Gaussian(1.0))
        ),
        TypeError,
        "array_api_strict and torch",
        "convert",
    ),
]

FRAMES = [
    case(
        "pandas: NaN",
        entropy(pd.Series([1.0, np.nan], name="age")),
        ValueError,
        r"x\['age'\] has 1 missing value",
        "drop or impute",
    ),
    case(
        "pandas: missing text",
        entropy(pd.Series(["a", None, "b"], name="city")),
        ValueError,
        r"x\['city'\] has 1 missing value",
        "drop",
    ),
    case(
        "pandas: NA",
        entropy(pd.Series([1, None], dtype="Int64", name="age")),
        ValueError,
        r"x\['age'\] has 1 missing value",
        "drop",
    ),
    case(
        "pandas: missing category",
        entropy(pd.Series(["a", None], dtype="category", name="city")),
        ValueError,
        r"x\['city'\] has 1 missing value",
        "drop",
    ),
    case(
        "pandas: missing in a frame",
        lambda: lr.mutual_information([0, 1], pd.DataFrame({"b": [1.0, 2.0], "age": [1, None]})),
        ValueError,
        r"y\['age'\] has 1 missing value",
        "drop",
    ),
    case(
        "pandas: infinity",
        entropy(pd.Series([1.0, np.inf], name="age")),
        ValueError,
        r"x\['age'\] has inf at row 1",
        "drop",
    ),
    case("pandas: one row", entropy(pd.Series([1.0])), ValueError, "x must have at least two rows"),
    case("pandas: no columns", entropy(pd.DataFrame()), ValueError, "x has no columns", "one"),
    case(
        "pandas: mixed objects",
        entropy(pd.Series([1, "a"], dtype=object, name="mix")),
        TypeError,
        r"x\['mix'\] is an object array with int 1 at row 0 and str 'a' at row 1",
        r"astype\(float\)",
    ),
    case(
        "pandas: complex",
        entropy(pd.Series([1j, 2], name="z")),
        TypeError,
        r"x\['z'\] is complex",
        "parts",
    ),
    case(
        "polars: null",
        entropy(pl.Series("age", [1.0, None])),
        ValueError,
        r"x\['age'\] has 1 missing value",
        "drop",
    ),
    case(
        "polars: NaN",
        entropy(pl.Series("age", [1.0, float("nan")])),
        ValueError,
        r"x\['age'\] has nan at row 1",
        "drop",
    ),
    case(
        "polars: missing text",
        entropy(pl.Series("city", ["a", None])),
        ValueError,
        r"x\['city'\] has 1 missing value",
        "drop",
    ),
    case(
        "polars: missing in a frame",
        entropy(pl.DataFrame({"b": [1.0, 2.0], "age": [1, None]})),
        ValueError,
        r"x\['age'\] has 1 missing value",
        "drop",
    ),
    case("polars: empty", entropy(pl.DataFrame()), ValueError, "x has no columns", "one"),
    case(
        "polars: lazy",
        entropy(pl.LazyFrame({"a": [1.0, 2.0]})),
        TypeError,
        "x is a LazyFrame",
        r"collect\(\)",
    ),
    case(
        "pandas: two columns of one name",
        entropy(pd.DataFrame(np.eye(3), columns=["a", "b", "a"])),
        ValueError,
        "x has 2 columns named 'a'",
        "its own name",
    ),
    case(
        "pyarrow: two columns of one name",
        entropy(pa.table([[1.0, 2.0], [1.0, 2.0]], names=["a", "a"])),
        ValueError,
        "x has 2 columns named 'a'",
        "its own name",
    ),
    case(
        "pandas: NaT",
        entropy(pd.Series(pd.to_datetime(["2020-01-01", None]), name="day")),
        ValueError,
        r"x\['day'\] has 1 missing value, first at row 1",
        "drop",
    ),
    case(
        "pandas: sparse NaN",
        entropy(pd.Series(pd.arrays.SparseArray([1.0, np.nan]), name="v")),
        ValueError,
        r"x\['v'\] has 1 missing value, first at row 1",
        "drop",
    ),
    case(
        "polars: integers of more than 64 bits",
        entropy(pl.Series("id", [2**70, 1], dtype=pl.Int128)),
        ValueError,
        r"x\['id'\] has whole numbers from 1 to 1180591620717411303424",
        "text if they are labels",
    ),
    case(
        "polars: lists",
        entropy(pl.Series("v", [[1, 2], [3]])),
        TypeError,
        r"x\['v'\] holds List",
        "columns",
    ),
]

WEIGHTS = [
    case("too few", entropy(x, weights=[1, 2]), ValueError, "weights", "each of 6 rows", r"\(2,\)"),
    case("in two dimensions", entropy(x, weights=np.ones((6, 1))), ValueError, "weights", "6 rows"),
    case("a number", entropy(x, weights=2), TypeError, "weights must be an array", "int 2"),
    case(
        "negative",
        entropy(x, weights=[1, 2, -1, 1, 1, 1]),
        ValueError,
        "weights must be finite and not negative",
        "-1 at row 2",
    ),
    case(
        "NaN",
        entropy(x, weights=NAN),
        ValueError,
        "weights must be finite and not negative",
        "nan at row 1",
    ),
    case(
        "infinite",
        entropy(x, weights=[np.inf, 1, 1, 1, 1, 1]),
        ValueError,
        "weights must be finite and not negative",
        "inf at row 0",
    ),
    case("zero", entropy(x, weights=np.zeros(6)), ValueError, "weights sum to 0", "frequencies"),
    case(
        "probabilities",
        entropy(x, weights=np.full(6, 1 / 6)),
        ValueError,
        "weights sum to 1 over 6 rows",
        "frequencies",
        r"weights / weights.mean\(\)",
    ),
    case(
        "fewer points than rows",
        entropy(x, weights=np.full(6, 0.5)),
        ValueError,
        "weights sum to 3 over 6 rows",
        r"weights / weights.mean\(\)",
    ),
    case(
        "masked",
        entropy(x, weights=np.ma.array(np.ones(6), mask=x == 4)),
        ValueError,
        "weights has 1 missing value, first at row 4",
        "drop or impute",
    ),
    case("text", entropy(x, weights=list("abcdef")), TypeError, "weights must be numbers"),
    case("complex", entropy(x, weights=np.ones(6) * 1j), TypeError, "weights must be numbers"),
    case("ragged", entropy(x, weights=[[1], [1, 2]]), ValueError, "weights is ragged", "same"),
    case(
        "of a matrix",
        make(np.eye(6), Precomputed(), weights=[1, 2]),
        ValueError,
        "weights",
        "each of 6 rows",
    ),
    case(
        "different in a joint",
        lambda: gram(x, weights=[1, 2, 1, 1, 1, 1]) * gram(x),
        ValueError,
        "same weights",
        "weights=",
    ),
    case(
        "of a Gram",
        entropy(gram(x), weights=np.ones(6)),
        ValueError,
        "x is a Gram already",
        "weights where it is made",
    ),
]

RULES = r"'median', 'scott', 'silverman'"
SIGMA = "sigma must be positive and finite"
KERNELS = [
    *(
        case(
            f"{rule.__name__} of a sample of {sample}",
            lambda rule=rule, sample=sample: rule(sample=sample),
            ValueError,
            rf"{rule.__name__}\(sample={sample!r}\)",
            "integer of at least 2",
        )
        for rule in (lr.Nearest,)
        for sample in (0, 1, 10.0, "all")
    ),
    *(
        case(
            f"Median of {pairs} pairs",
            lambda pairs=pairs: Median(pairs=pairs),
            ValueError,
            rf"Median\(pairs={pairs!r}\)",
            "integer of at least 1",
        )
        for pairs in (0, -1, 10.0, "all")
    ),
    case("sigma = 0", lambda: Gaussian(0), ValueError, r"Gaussian\(sigma=0\)", SIGMA, "'median'"),
    case("sigma < 0", lambda: Laplacian(-1.0), ValueError, r"Laplacian\(sigma=-1.0\)", SIGMA),
    case("sigma = NaN", lambda: Gaussian(np.nan), ValueError, r"sigma=nan", SIGMA, "'median'"),
    case("sigma infinite", lambda: Gaussian(np.inf), ValueError, r"sigma=inf", SIGMA),
    case("sigma None", lambda: Gaussian(None), ValueError, r"sigma=None", SIGMA),
    case("one sigma of 0", lambda: Gaussian([1.0, 0.0]), ValueError, r"sigma=\[1.0, 0.0\]", SIGMA),
    case("no sigma", lambda: Gaussian([]), ValueError, r"sigma=\[\]", SIGMA),
    case("a matrix of sigmas", lambda: Gaussian([[1.0]]), ValueError, "sigma=", SIGMA),
    case("unknown rule", lambda: Gaussian("mean"), ValueError, "sigma='mean'", RULES, "number"),
    case("a rule's class", lambda: Gaussian(Median), ValueError, "sigma=", SIGMA),
    case(
        "sigmas for other columns",
        make(np.ones((4, 3)), Gaussian([1.0, 2.0])),
        ValueError,
        "Gaussian",
        "2 bandwidths",
        "3 columns",
        "one for each column",
    ),
    case("degree 0", lambda: Polynomial(0), ValueError, "degree=0", "integer >= 1"),
    case("degree 1.5", lambda: Polynomial(1.5), ValueError, "degree=1.5", "integer >= 1"),
    case("gamma = 0", lambda: Polynomial(2, gamma=0), ValueError, "gamma=0", "positive"),
    case("shift < 0", lambda: Polynomial(2, shift=-1), ValueError, "shift=-1", "not be negative"),
    case("a kernel's class", make(x, Gaussian), TypeError, "class Gaussian", r"call it, Gaussian"),
    case("a kernel's name", make(x, "gaussian"), TypeError, "kernel must be", r"Gaussian\(1.0\)"),
    case("no function", lambda: Function(3), TypeError, r"Function\(3\)", r"k\(X, Y\)"),
    case(
        "text with a kernel of numbers",
        make(["a", "b"], Gaussian(1.0)),
        TypeError,
        "x has text",
        "Gaussian",
        r"Delta\(\)",
        "encode",
    ),
    case(
        "a text column with a kernel of numbers",
        make(pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]}), Linear()),
        TypeError,
        "x has text",
        "Linear",
        r"Delta\(\)",
    ),
    case(
        "a row of zeros",
        make([[0.0, 0.0], [1.0, 1.0]], Linear()),
        ValueError,
        r"Linear\(\): a row of zeros has no direction",
        "drop such rows or use another kernel",
    ),
    case(
        "a row without direction",
        make([[0.0, 0.0], [1.0, 1.0]], Cosine()),
        ValueError,
        r"Cosine\(\)",
        "row of zeros",
        "drop",
    ),
    case(
        "a function with a null diagonal",
        make(x, Function(lambda X, Y: X @ Y.T, infinitely_divisible=False)),
        ValueError,
        "Function.* of x has diagonal 0 at row 0",
        "another kernel",
    ),
    case(
        "a function with a negative diagonal",
        make(x + 1, Function(lambda X, Y: -X @ Y.T, infinitely_divisible=False)),
        ValueError,
        "Function.* of x has diagonal -1 at row 0",
        "another kernel",
    ),
    case(
        "a function that is not symmetric",
        make(x + 1, Function(lambda X, Y: X + 2 * Y.T, infinitely_divisible=False)),
        ValueError,
        "Function.* is not symmetric",
        "order",
    ),
    case(
        "a function of another shape",
        make(x, Function(lambda X, Y: X, infinitely_divisible=False)),
        ValueError,
        r"gave shape \(6, 1\)",
        "one value for each pair",
    ),
    case(
        "a function of no array",
        make(x, Function(lambda X, Y: 3, infinitely_divisible=False)),
        ValueError,
        "Function",
        "one value for each pair",
    ),
    case("no points", lambda: Precomputed()(x, x), TypeError, r"gram\(K, Precomputed\(\)\)"),
    case("a Gram again", make(gram(x), Gaussian(1.0)), ValueError, "Gram already", "kernel"),
]

NEGATIVE = ("eigenvalue is (at most )?-0", "not positive semi-definite", "check the kernel")
MATRICES = [
    case("a null diagonal", make(NULL, Precomputed()), ValueError, "x has diagonal 0 at row 1"),
    case(
        "a null diagonal, sparse",
        make(sp.csr_array(NULL), Precomputed()),
        ValueError,
        "x has diagonal 0 at row 1",
        "drop or scale such rows",
    ),
    case(
        "not symmetric",
        make(ASYMMETRIC, Precomputed()),
        ValueError,
        "x is not symmetric",
        r"\(K \+ K'\) / 2",
    ),
    case(
        "not symmetric, sparse",
        make(sp.csr_array(ASYMMETRIC), Precomputed()),
        ValueError,
        "x is not symmetric",
        r"\(K \+ K'\) / 2",
    ),
    case(
        "not symmetric, tensor",
        make(torch.as_tensor(ASYMMETRIC), Precomputed()),
        ValueError,
        "x is not symmetric",
        r"\(K \+ K'\) / 2",
    ),
    case(
        "not square",
        make(np.ones((3, 4)), Precomputed()),
        ValueError,
        "x must be a square kernel matrix",
        r"\(3, 4\)",
        "another kernel",
    ),
    case("a vector", make(np.ones(3), Precomputed()), ValueError, "x must be a square", r"\(3,\)"),
    case("ragged", make([[1, 0], [0]], Precomputed()), ValueError, "x is ragged", "same shape"),
    case(
        "NaN",
        make(np.array([[1, np.nan], [np.nan, 1]]), Precomputed()),
        ValueError,
        "x has nan at row 0, column 1",
    ),
    case("complex", make(np.eye(3) * 1j, Precomputed()), TypeError, "x must hold real numbers"),
    case(
        "complex, sparse",
        make(sp.csr_array(np.eye(3) * 1j), Precomputed()),
        TypeError,
        "x must hold real numbers",
    ),
    case(
        "objects",
        make(np.eye(3).astype(object), Precomputed()),
        TypeError,
        "x must hold real numbers",
        "object",
    ),
    case(
        "unknown check",
        make(np.eye(3), Precomputed(), check="yes"),
        ValueError,
        "check='yes'",
        "'seen' or 'full'",
    ),
    case("negative, Exact", of(Renyi(1, None, Exact()), OPPOSED), ValueError, *NEGATIVE),
    case("negative, Exact, rank", of(Renyi(1, 3, Exact()), INDEFINITE), ValueError, *NEGATIVE),
    case("negative, infinity", of(Renyi(np.inf, None, Exact()), OPPOSED), ValueError, *NEGATIVE),
    case("negative, Lanczos", of(Renyi(1, 2, Lanczos(3)), OPPOSED), ValueError, *NEGATIVE),
    case("negative, few steps", of(Renyi(1, 3, Lanczos(20)), INDEFINITE), ValueError, *NEGATIVE),
    case(
        "negative, function",
        lambda: Renyi(1, None, Exact())(
            gram(
                x, Function(lambda X, Y: np.where(X == Y.T, 1.0, -0.9), infinitely_divisible=False)
            )
        ),
        ValueError,
        *NEGATIVE,
    ),
    case(
        "negative, full check",
        make(INDEFINITE, Precomputed(), check="full"),
        ValueError,
        "x is not positive semi-definite",
        "no negative eigenvalue",
    ),
    case(
        "negative, full check, sparse",
        make(sp.csr_array(INDEFINITE), Precomputed(), check="full"),
        ValueError,
        "x is not positive semi-definite",
        "no negative eigenvalue",
    ),
]

ORDER = "number from 0 to infinity"
RANK = "integer of at least 1, or None"
WITHIN = "integer from 1 to n - 1 = 5"
FUNCTIONALS = [
    case("alpha < 0", lambda: Renyi(-1), ValueError, "alpha=-1", ORDER),
    case("alpha = -inf", lambda: Renyi(-np.inf), ValueError, "alpha=-inf", ORDER),
    case("alpha = NaN", lambda: Renyi(np.nan), ValueError, "alpha=nan", ORDER),
    case("alpha text", lambda: Renyi("2"), ValueError, "alpha='2'", ORDER),
    case("alpha None", lambda: Renyi(None), ValueError, "alpha=None", ORDER),
    case("alpha complex", lambda: Renyi(1j), ValueError, "alpha=1j", ORDER),
    case("alpha True", lambda: Renyi(True), ValueError, "alpha=True", ORDER),
    case(
        "alpha < 0 of a spectrum",
        lambda: renyi_entropy(HALVES, -1),
        ValueError,
        "alpha=-1",
        ORDER,
    ),
    case(
        "potential of order 0",
        lambda: information_potential(HALVES, 0),
        ValueError,
        "alpha=0",
        "0 < alpha < inf",
    ),
    case(
        "potential of order inf",
        lambda: information_potential(HALVES, np.inf),
        ValueError,
        "alpha=inf",
        "0 < alpha < inf",
    ),
    case(
        "potential of a part",
        lambda: information_potential(LEADING, 2),
        ValueError,
        "truncated spectrum needs rank=k",
    ),
    case("rank 0", lambda: Renyi(1, 0), ValueError, "rank=0", RANK),
    case("rank < 0", lambda: Renyi(1, -1), ValueError, "rank=-1", RANK),
    case("rank 2.0", lambda: Renyi(1, 2.0), ValueError, "rank=2.0", RANK),
    case("rank True", lambda: Renyi(1, True), ValueError, "rank=True", RANK),
    case("rank text", lambda: Renyi(1, "3"), ValueError, "rank='3'", RANK),
    case("rank n", lambda: Renyi(1, 6, Exact())(gram(x)), ValueError, "rank=6", WITHIN, "None"),
    case("rank > n", lambda: Renyi(2, 99, Exact())(gram(x)), ValueError, "rank=99", WITHIN),
    case("rank n of a solver", lambda: Exact()(gram(x), 6), ValueError, "rank=6", WITHIN),
    case("rank n of L_k", lambda: HALVES.low_rank(2), ValueError, "rank=2", "n - 1 = 1"),
    case("rank 0 of L_k", lambda: HALVES.low_rank(0), ValueError, "rank=0", "from 1 to n - 1"),
    case("rank beyond a part", lambda: LEADING.low_rank(3), ValueError, "rank=3", "has 2"),
    case("a solver's class", lambda: Renyi(1, None, Exact), TypeError, "solver=", r"Exact\(\)"),
    case("a solver's name", lambda: Renyi(1, None, "exact"), TypeError, "solver='exact'", "Exact"),
    case(
        "order 1 of trace 1/2",
        lambda: renyi_entropy(Spectrum([0.5], trace=0.5)),
        ValueError,
        "alpha=1 with trace 0.5",
        "scale it to trace 1",
    ),
]

LINE = gram(np.linspace(0, 5, 12), Gaussian(0.3))
SOLVERS = [
    case("steps 0", lambda: Lanczos(0), ValueError, "steps=0", "integer of at least 1"),
    case("steps 3.0", lambda: Lanczos(3.0), ValueError, "steps=3.0", "integer of at least 1"),
    case("tol 0", lambda: Lanczos(3, tol=0), ValueError, "tol=0", "positive", "None"),
    case("tol NaN", lambda: Lanczos(3, tol=np.nan), ValueError, "tol=nan", "positive", "None"),
    case("restarts < 0", lambda: Lanczos(3, restarts=-1), ValueError, "restarts=-1", "integer"),
    case("Auto's tol", lambda: lr.Auto(tol="a"), ValueError, "tol='a'", "positive number"),
    case("Auto's memory", lambda: lr.Auto(memory="1 GB"), ValueError, "memory='1 GB'", "bytes"),
    case("seed text", lambda: Lanczos(3, seed="a"), ValueError, "seed='a'", "integer"),
    case("size 0", lambda: GaussianProjection(0), ValueError, "size=0", "integer of at least 1"),
    case("size True", lambda: InputSparsity(True), ValueError, "size=True", "integer"),
    case("p 0", lambda: SparseGraph(3, p=0), ValueError, "p=0", "integer of at least 1"),
    case("steps < rank", lambda: Renyi(1, 4, Lanczos(3))(LINE), ValueError, "steps=3", "rank=4"),
    *(
        case(
            f"size < rank, {projection.__name__}",
            lambda projection=projection: Renyi(1, 4, projection(3))(LINE),
            ValueError,
            "size=3",
            "rank=4",
            "raise size=",
        )
        for projection in (GaussianProjection, HadamardProjection, InputSparsity, SparseGraph)
    ),
    case(
        "a projection without a rank",
        lambda: Renyi(1, None, InputSparsity(3))(LINE),
        ValueError,
        "rank=None",
        "rank=k",
        "Exact",
    ),
    case(
        "order 0 of a part",
        lambda: Renyi(0, None, Lanczos(3))(LINE),
        ValueError,
        "alpha=0",
        r"solver=Exact\(\)",
    ),
]

SPECTRA = [
    case("negative", lambda: Spectrum([1.2, -0.2]), ValueError, "an eigenvalue is -0.2", "check"),
    case("NaN", lambda: Spectrum([0.5, np.nan]), ValueError, "not finite", "check"),
    case("a matrix", lambda: Spectrum(np.eye(2)), ValueError, r"values", r"\(2, 2\)", "eigvalsh"),
    case("empty", lambda: Spectrum([]), ValueError, "values", r"\(0,\)", "eigvalsh"),
    case("a part", lambda: Spectrum([0.5, 0.3]), ValueError, "sum to 0.8", "trace=", "kind='ritz'"),
    case("kind", lambda: Spectrum([1.0], kind="all"), ValueError, "kind='all'", "'complete'"),
    case(
        "above the trace",
        lambda: Spectrum([0.9, 0.3], 5, kind="ritz"),
        ValueError,
        "sum to 1.2, more than the trace 1",
        "not a kernel matrix",
    ),
]

EVERY = {
    lr.entropy: 1,
    lr.joint_entropy: 2,
    lr.conditional_entropy: 2,
    lr.mutual_information: 2,
    lr.normalized_mutual_information: 2,
    lr.conditional_mutual_information: 3,
    lr.total_correlation: 2,
    lr.dual_total_correlation: 2,
    lr.interaction_information: 2,
    lr.vendi_score: 1,
    lr.conditional_vendi_score: 2,
    lr.information_vendi_score: 2,
    lr.independence_test: 2,
}
MEASURES = [
    *(
        case(
            f"{measure.__name__} by {found}",
            lambda measure=measure, count=count, found=found: measure(*[x] * count, entropy=found),
            TypeError,
            f"entropy={re.escape(repr(found))}",
            r"Renyi\(",
        )
        for measure, count in EVERY.items()
        for found in ("renyi", Renyi)
    ),
    case("one variable", lambda: lr.total_correlation(x), ValueError, "at least 2", "found 1"),
    case("no variable", lambda: lr.joint_entropy(), ValueError, "at least 1", "found 0"),
    case("no Gram", lambda: lr.joint(), ValueError, r"joint\(\)", "at least one Gram"),
]

CASES = {
    "points": POINTS,
    "frames": FRAMES,
    "weights": WEIGHTS,
    "kernels": KERNELS,
    "matrices": MATRICES,
    "functionals": FUNCTIONALS,
    "solvers": SOLVERS,
    "spectra": SPECTRA,
    "measures": MEASURES,
}
TABLE = [
    pytest.param(*entry.values, id=f"{group}: {entry.id}")
    for group, entries in CASES.items()
    for entry in entries
]


@pytest.mark.parametrize(("call", "error", "pattern"), TABLE)
def test_bad_input_is_refused_with_the_argument_and_the_remedy(call, error, pattern):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert re.search(pattern, str(caught.value), flags=re.DOTALL), str(caught.value)


# ------------------------------------------------------------------------------- and what is not


def test_a_function_that_may_not_be_infinitely_divisible_warns():
    def triangle(X, Y):
        return np.maximum(1 - np.abs(X - Y.T), 0)

    with pytest.warns(UserWarning, match=r"Function\(triangle\).*infinitely_divisible=True"):
        gram(x, triangle)
    for known in (True, False):
        gram(x, Function(triangle, infinitely_divisible=known))


def test_rounding_is_not_bad_input():
    """Symmetric and positive semi-definite up to rounding is what eigenvectors give back."""
    vectors = np.linalg.qr(DRAWN)[0][:, :5]
    K = vectors * [5.0, 4.0, 3.0, 2.0, 1.0] @ vectors.T
    scale = np.sqrt(np.diag(K))
    K = K / np.outer(scale, scale)
    K[0, 1] *= 1 + 1e-15
    assert np.linalg.eigvalsh(K)[0] < 0
    A = gram(K, Precomputed(), check="full")
    exact = Renyi(1, None, Exact())(A)
    assert exact <= np.log2(5) + 1e-9
    assert Renyi(1, None, Lanczos(40))(A) == pytest.approx(exact, abs=1e-9)


def test_a_negative_eigenvalue_that_no_solver_sees_is_found_by_the_full_check():
    """Order 2 needs no eigenvalue, and one column none that is negative."""
    A = gram(OPPOSED, Precomputed())
    Renyi(2, None, Exact())(A)
    Renyi(1, 1, InputSparsity(1))(A)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        gram(OPPOSED, Precomputed(), check="full")
