"""The normalized kernel matrix: entries, products, joints, weights, structure, ready matrices."""

import dataclasses
import itertools
import math

import limits
import numpy as np
import oracles
import pytest
import scipy.sparse
import torch
from grams import (
    KINDS,
    eigenvalues,
    equality,
    frequencies,
    gaussian,
    labels,
    normalized,
    points,
    ready_matrix,
    repeated_points,
    sparse_matrix,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import lorenyi as lr
from lorenyi import _arrays
from lorenyi.gram import Gram, Matrix, Points, held, squared_norm
from lorenyi.gram.factors import as_single

every_kind = pytest.mark.parametrize("kind", KINDS)


def entrywise(A):
    """Rounding of an entry: a few dozen units (distances, exp, scaling) of the largest."""
    return 64 * _arrays.epsilon(A.reference) * float(A.weights.max())


def renyi(alpha=1.0, rank=None):
    return lr.Renyi(alpha, rank, solver=lr.Exact())


def dense(array):
    return array.toarray() if _arrays.is_sparse(array) else _arrays.to_numpy(array)


# -------------------------------------------------------------------------------- the matrix


@every_kind
def test_dense_is_the_plain_matrix(kind):
    A, matrix, *_ = KINDS[kind]()
    assert dense(A.dense()) == pytest.approx(matrix, abs=entrywise(A))


@every_kind
def test_the_diagonal_is_the_relative_weights_and_sums_to_one(kind):
    A, matrix, _, tolerance = KINDS[kind]()
    diagonal = _arrays.to_numpy(A.weights)
    assert diagonal == pytest.approx(np.diag(matrix), abs=entrywise(A))
    assert diagonal.sum() == pytest.approx(1, abs=tolerance * 1e-2)
    assert np.trace(dense(A.dense())) == pytest.approx(1, abs=tolerance * 1e-2)


@every_kind
def test_a_product_is_the_plain_matrixs(kind):
    A, matrix, _, tolerance = KINDS[kind]()
    V = np.random.default_rng(0).normal(size=(len(matrix), 3))
    columns = _arrays.like(V, A.reference)
    assert dense(A @ columns) == pytest.approx(matrix @ V, abs=tolerance)
    vector = A @ columns[:, 0]
    assert vector.shape == (len(matrix),)
    assert dense(vector) == pytest.approx(matrix @ V[:, 0], abs=tolerance)
    assert (A @ columns).dtype == A.reference.dtype


@every_kind
def test_columns_are_the_plain_matrixs_in_the_order_asked_for(kind):
    A, matrix, *_ = KINDS[kind]()
    index = np.array([7, 0, 12, 7])
    assert dense(A.columns(index)) == pytest.approx(matrix[:, index], abs=entrywise(A))


@every_kind
def test_blocks_are_the_plain_matrixs(kind):
    A, matrix, *_ = KINDS[kind]()
    some, others = np.array([3, 1, 20]), np.array([0, 5, 1, 29])
    for rows, columns in itertools.product([slice(4, 15), some], [slice(0, 9), others]):
        found = dense(A.block(rows, columns))
        expected = matrix[rows][:, columns]
        assert found == pytest.approx(expected, abs=entrywise(A))


@every_kind
def test_the_squared_norm_is_the_sum_of_squares(kind):
    A, matrix, _, tolerance = KINDS[kind]()
    assert float(squared_norm(A)) == pytest.approx(np.sum(matrix**2), abs=tolerance)


@every_kind
def test_holding_the_entries_changes_nothing(kind):
    A, matrix, n, _ = KINDS[kind]()
    stored = held(A)
    assert dense(stored.dense()) == pytest.approx(matrix, abs=entrywise(A))
    assert stored.n == n
    assert stored.is_sparse == A.is_sparse


@every_kind
def test_storing_entries_does_not_make_them_better(kind):
    A = KINDS[kind]().gram
    assert held(A).roundoff == pytest.approx(A.roundoff, rel=1e-12)


@every_kind
def test_nobody_sets_what_a_gram_is_from_outside(kind):
    A = KINDS[kind]().gram
    for name in ("mass", "names", "factors", "n"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(A, name, None)


def test_a_gram_stays_a_small_protocol():
    """A new primitive is written, and tested, for every kind: say why in the commit."""
    assert len(Gram.__abstractmethods__) <= 13


def test_other_weights_are_those_that_a_gram_is_made_with():
    x, w = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 4 + 1.0
    made = lr.gram(x, lr.Polynomial(2), weights=w)
    changed = lr.gram(x, lr.Polynomial(2)).weighted(w / w.sum(), w.sum())
    assert changed.n == made.n
    assert changed.dense() == pytest.approx(made.dense(), rel=1e-14)
    w[:3] = 0.0  # rows of no weight stay so
    absent = lr.gram(x, lr.Gaussian(1.0), weights=w)
    assert np.array_equal(absent.weighted(absent.weights).dense(), absent.dense())


def test_labels_stay_whole_in_single_precision():
    """Labels above 2^24 are not told apart in float32, however many there are to cast."""
    labels = np.arange(2**22 + 1) + 2**24
    assert as_single(labels) is labels
    numbers = labels.astype(float)
    assert as_single(numbers).dtype == np.float32


@every_kind
def test_length_is_the_number_of_rows_and_n_that_of_points(kind):
    A, matrix, n, _ = KINDS[kind]()
    assert len(A) == len(matrix)
    assert A.n == n
    assert isinstance(A.n, int) == (n == int(n))


@every_kind
def test_the_repr_names_the_number_of_points_and_every_kernel(kind):
    A, _, n, _ = KINDS[kind]()
    assert repr(A).startswith(f"Gram(n={n:g}, ")
    for name in A.names:
        assert name in repr(A)


def test_reprs_are_what_one_types():
    X, y = points(), labels()
    A, B = lr.gram(X, lr.Gaussian(1.3)), lr.gram(y, lr.Delta())
    assert repr(A * B) == "Gram(n=45, Gaussian(sigma=1.3), Delta())"
    assert repr(lr.gram(np.eye(3), lr.Precomputed())) == "Gram(n=3, Precomputed())"
    weighted = lr.gram([0.0, 1.0, 3.0], lr.Laplacian(2), weights=[0.5, 1, 2])
    assert repr(weighted) == "Gram(n=3.5, Laplacian(sigma=2))"


def test_many_rows_are_cut_into_blocks_without_a_trace():
    """Enough rows for several blocks of every kind of product."""
    X = np.random.default_rng(0).normal(size=(1500, 2))
    y = np.arange(1500) % 2
    V = np.random.default_rng(1).normal(size=(1500, 2))
    A = lr.gram(X, lr.Gaussian(1.0)) * lr.gram(X[:, :1], lr.Laplacian(1.0))
    K = gaussian(X, 1.0) * np.exp(-np.abs(X[:, :1] - X[:, :1].T))
    matrix = normalized(K)
    assert np.abs(A.dense() - matrix).max() < 1e-15
    assert np.abs(A @ V - matrix @ V).max() < 1e-13
    assert float(squared_norm(A)) == pytest.approx(np.sum(matrix**2), rel=1e-12)
    matrix = normalized(K * equality(y))
    assert np.abs((A * lr.gram(y, lr.Delta())) @ V - matrix @ V).max() < 1e-13


def test_inputs_are_never_changed():
    """Points, weights and ready matrices may be read-only; nothing is written into them."""
    X, w, K = points(), frequencies(), ready_matrix()
    S = sparse_matrix()
    before = [X.copy(), w.copy(), K.copy(), S.toarray()]
    solvers = [lr.Exact(), lr.Lanczos(10), lr.HadamardProjection(20), lr.InputSparsity(20)]
    for writeable in (True, False):
        for array in (X, w, K, S.data):
            array.flags.writeable = writeable
        grams = [
            lr.gram(X, lr.Gaussian(1.0), weights=w),
            lr.gram(X, lr.Linear(), weights=w),
            lr.gram(K, lr.Precomputed(), weights=w),
            lr.gram(S, lr.Precomputed(), weights=w),
        ]
        for A in [*grams, grams[0] * grams[2], grams[2] * grams[3]]:
            A.dense()
            squared_norm(A)
            A @ np.ones(45)
            A.columns(np.arange(3))
            for solver in solvers:
                solver(A, 3)
        for array, copy in zip([X, w, K, S.toarray()], before, strict=True):
            assert np.array_equal(array, copy)


# ------------------------------------------------------------------------------------ joints


def variables():
    return {
        "points": lr.gram(points(), lr.Gaussian(1.3)),
        "more points": lr.gram(points(seed=9), lr.Gaussian(0.8)),
        "folded": lr.gram(repeated_points(), lr.Laplacian(1.0)),
        "labels": lr.gram(labels(), lr.Delta()),
        "linear": lr.gram(points(d=2, seed=8), lr.Linear()),
        "ready": lr.gram(ready_matrix(), lr.Precomputed()),
        "sparse": lr.gram(sparse_matrix(), lr.Precomputed()),
    }


@pytest.mark.parametrize("names", list(itertools.combinations(variables(), 2)), ids=" x ".join)
def test_a_joint_is_the_entrywise_product_with_its_trace_set_to_one(names):
    """(A o B) / tr(A o B), for equal weights."""
    A, B = (variables()[name] for name in names)
    product = A.dense() * B.dense()
    assert (A * B).dense() == pytest.approx(product / np.trace(product), abs=1e-15)


@pytest.mark.parametrize("names", list(itertools.combinations(variables(), 2)), ids=" x ".join)
def test_joints_commute(names):
    A, B = (variables()[name] for name in names)
    assert (A * B).dense() == pytest.approx((B * A).dense(), abs=1e-16)
    H = renyi(1.5)
    assert float(H(A * B)) == pytest.approx(float(H(B * A)), abs=1e-12)


@pytest.mark.parametrize("names", list(itertools.combinations(variables(), 3)), ids=" x ".join)
def test_joints_associate(names):
    A, B, C = (variables()[name] for name in names)
    assert ((A * B) * C).dense() == pytest.approx((A * (B * C)).dense(), abs=1e-16)
    assert lr.gram((A * B) * C).names == (A * (B * C)).names


def test_a_weighted_joint_applies_its_weights_once():
    X, Y, w = points(), points(seed=9), frequencies()
    A = lr.gram(X, lr.Gaussian(1.3), weights=w) * lr.gram(Y, lr.Laplacian(1.0), weights=w)
    K = gaussian(X, 1.3) * np.exp(-np.abs(Y[:, None] - Y[None]).sum(axis=2))
    assert A.dense() == pytest.approx(normalized(K, w), abs=1e-16)
    assert A.n == w.sum()


def test_a_joint_with_a_constant_is_the_variable_itself():
    A = lr.gram(points(), lr.Gaussian(1.3))
    for constant in (np.zeros(45, dtype=int), np.full((45, 2), 7.0)):
        assert (A * lr.gram(constant)).dense() == pytest.approx(A.dense(), abs=1e-16)


def test_a_joint_of_labels_with_themselves_is_the_labels():
    B = lr.gram(labels(), lr.Delta())
    assert (B * B).dense() == pytest.approx(B.dense(), abs=1e-16)
    assert float(renyi(1.0)(B * B)) == pytest.approx(float(renyi(1.0)(B)), abs=1e-14)


def test_a_joint_of_float32_and_float64_tensors_is_in_float64_and_knows_its_rounding():
    X = torch.from_numpy(points())
    single, double = lr.gram(X.float(), lr.Gaussian(1.3)), lr.gram(X, lr.Gaussian(1.3))
    assert (single * double).dense().dtype == torch.float64
    assert (single * double).roundoff > np.finfo(np.float32).eps > 1e3 * double.roundoff
    exact = _arrays.to_numpy((double * double).dense())
    assert _arrays.to_numpy((single * double).dense()) == pytest.approx(exact, abs=1e-7)
    assert (double * lr.gram(labels(), lr.Delta())).dense().dtype == torch.float64


def test_points_of_any_type_are_in_float64_in_numpy():
    X = points()
    for dtype in (np.float16, np.float32, np.longdouble, np.int8):
        A = lr.gram(X.astype(dtype), lr.Gaussian(1.3))
        assert (A * lr.gram(X, lr.Gaussian(1.3))).dense().dtype == np.float64
        exact = lr.gram(X.astype(dtype).astype(np.float64), lr.Gaussian(1.3)).dense()
        np.testing.assert_array_equal(A.dense(), exact)


def test_joints_of_several_and_of_one():
    A, B, C = list(variables().values())[:3]
    assert lr.joint(A, B, C).dense() == pytest.approx((A * B * C).dense(), abs=1e-16)
    assert lr.joint(A) is A


def test_a_joint_of_other_rows_or_other_weights_is_refused():
    A = lr.gram(points(), lr.Gaussian(1.3))
    with pytest.raises(ValueError, match=r"same rows: .* has 45 and .* has 30"):
        A * lr.gram(points(30), lr.Gaussian(1.3))
    with pytest.raises(ValueError, match=r"same weights: .* build both with the same weights="):
        A * lr.gram(points(), lr.Gaussian(1.3), weights=frequencies())
    with pytest.raises(TypeError):
        A * 2.0


# ------------------------------------------------------------- weights are frequencies of rows

H = {"S_1": renyi(1.0), "S_2": renyi(2.0), "S_0.5^4": renyi(0.5, rank=4)}
KERNELS = {
    "Gaussian(1)": lr.Gaussian(1.0),
    "median": lr.Gaussian("median"),
    "median of a sample": lr.Gaussian(lr.Median(pairs=20)),
    "median per column": lr.Gaussian(lr.Median(per_column=True)),
    "scott": lr.Gaussian("scott"),
    "silverman": lr.Laplacian("silverman"),
    "Linear": lr.Linear(),
    "Polynomial": lr.Polynomial(),
    "Delta": lr.Delta(),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("functional", H)
def test_weight_two_is_a_repeated_row_and_weight_zero_an_absent_one(kernel, functional):
    X = points(20, 2)
    w = np.random.default_rng(5).integers(0, 4, size=20)
    kernel, entropy = KERNELS[kernel], H[functional]
    weighted = lr.gram(X, kernel, weights=w)
    repeated = lr.gram(np.repeat(X, w, axis=0), kernel)
    assert weighted.n == repeated.n == w.sum()
    assert weighted.names == repeated.names  # the same bandwidth
    assert float(entropy(weighted)) == pytest.approx(float(entropy(repeated)), abs=1e-12)


def test_relative_weights_are_supported_once_they_sum_to_the_rows():
    X, w = points(40, 2), np.random.default_rng(5).uniform(0.0, 1.0, size=40)
    A = lr.gram(X, lr.Gaussian(1.0), weights=w / w.mean())
    exact = normalized(gaussian(X, 1.0), w)
    assert A.n == pytest.approx(40)
    for alpha in (0.5, 1, 2, 3):
        assert oracles.entropy(exact, alpha) in lr.Renyi(alpha).certified(A)
        assert oracles.entropy(exact, alpha, 7) in lr.Renyi(alpha, rank=7).certified(A)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_thousand_million_points_in_a_hundred_rows_take_no_memory(kernel):
    X, w = points(100, 2), np.full(100, 1e7)
    with limits.seconds(30):
        found = lr.entropy(lr.gram(X, KERNELS[kernel], weights=w))
    settled = lr.gram(X, KERNELS[kernel])
    if kernel not in ("scott", "silverman", "median of a sample"):  # n, or the sample, counts
        once = lr.gram(X, KERNELS[kernel], weights=np.full(100, 10.0))
        assert float(found) == pytest.approx(float(lr.entropy(once)), rel=0.02)
    assert 0 < float(found) <= math.log2(len(settled))


@pytest.mark.parametrize("functional", H)
def test_weights_mean_the_same_in_every_measure(functional):
    X, y = points(20, 2), labels(20)
    w = np.random.default_rng(5).integers(0, 4, size=20)
    Xr, yr = np.repeat(X, w, axis=0), np.repeat(y, w)
    entropy = H[functional]
    for measure in (lr.mutual_information, lr.conditional_entropy, lr.total_correlation):
        weighted = measure(X, y, entropy=entropy, weights=w)
        assert float(weighted) == pytest.approx(float(measure(Xr, yr, entropy=entropy)), abs=1e-12)


def test_a_ready_matrix_takes_weights_as_repeated_rows():
    K, w = ready_matrix(12), np.array([1, 2, 0, 3, 1, 1, 0, 2, 1, 1, 1, 1])
    index = np.repeat(np.arange(12), w)
    for form in (K, scipy.sparse.csr_array(K)):
        weighted = lr.gram(form, lr.Precomputed(), weights=w)
        repeated = lr.gram(K[np.ix_(index, index)], lr.Precomputed())
        for entropy in H.values():
            assert float(entropy(weighted)) == pytest.approx(float(entropy(repeated)), abs=1e-12)


def test_weights_need_not_be_whole():
    """Between two whole weights the entropy lies between theirs; halves add up."""
    X = points(10, 2)
    one, two = np.ones(10), np.ones(10)
    two[0] = 2
    halfway = np.ones(10)
    halfway[0] = 1.5
    values = [
        float(renyi(1.0)(lr.gram(X, lr.Gaussian(1.0), weights=w))) for w in (one, halfway, two)
    ]
    assert values[0] > values[1] > values[2] or values[0] < values[1] < values[2]
    split = lr.gram(np.concatenate([X, X[:1]]), lr.Gaussian(1.0), weights=[1.25, *one[1:], 0.75])
    whole = lr.gram(X, lr.Gaussian(1.0), weights=two)
    assert split.n == whole.n == 11
    assert float(renyi(1.0)(split)) == pytest.approx(float(renyi(1.0)(whole)), abs=1e-14)


def test_the_scale_of_weights_is_the_number_of_points():
    """Twice the weights: the same matrix, twice n; only S^k, which spreads over n - k, moves."""
    X, w = points(), frequencies()
    A, B = (lr.gram(X, lr.Gaussian(1.0), weights=c * w) for c in (1, 2))
    assert A.dense() == pytest.approx(B.dense(), abs=1e-17)
    assert 2 * A.n == B.n
    assert float(renyi(1.0)(A)) == pytest.approx(float(renyi(1.0)(B)), abs=1e-14)
    assert float(renyi(1.0, rank=3)(A)) < float(renyi(1.0, rank=3)(B))


def test_equal_weights_of_any_kind_are_no_weights():
    X = points()
    plain = lr.gram(X, lr.Gaussian("median"))
    for w in (np.ones(45), [1] * 45, np.ones(45, dtype=bool), torch.ones(45)):
        weighted = lr.gram(X, lr.Gaussian("median"), weights=w)
        assert weighted.names == plain.names
        assert np.array_equal(weighted.dense(), plain.dense())


# ---------------------------------------------------------- structure, used and never noticed


def sizes(A):
    """Number of eigenvalues known at sight, and sizes of the Grams that hold the others."""
    singles, blocks = A.reduced
    return len(singles), sorted(len(block) for block in blocks)


def test_equal_rows_fold_into_one():
    X = repeated_points()
    m = len(np.unique(X, axis=0))
    assert m == 9
    assert sizes(lr.gram(X, lr.Gaussian(1.0))) == (0, [m])
    assert sizes(lr.gram(points(), lr.Gaussian(1.0))) == (0, [45])


def test_folding_looks_at_the_joint_rows():
    X, Y = repeated_points(), repeated_points(seed=12)
    joint = np.concatenate([X, Y], axis=1)
    m = len(np.unique(joint, axis=0))
    assert 9 < m < 45
    A = lr.gram(X, lr.Gaussian(1.0)) * lr.gram(Y, lr.Laplacian(1.0))
    assert sizes(A) == (0, [m])
    assert sizes(A * lr.gram(points(), lr.Gaussian(1.0))) == (0, [45])


def test_folding_adds_weights_and_keeps_n():
    X, w = repeated_points(), frequencies()
    A = lr.gram(X, lr.Gaussian(1.0), weights=w)
    _, (block,) = A.reduced
    assert block.n == A.n == w.sum()
    _, group = np.unique(X, axis=0, return_inverse=True)
    expected = np.bincount(group.ravel(), weights=w) / w.sum()
    assert np.sort(block.weights) == pytest.approx(np.sort(expected), abs=1e-16)


def test_plus_and_minus_zero_are_one_point():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 1.0]])
    for kernel in (lr.Gaussian(1.0), lr.Polynomial()):
        assert sizes(lr.gram(X, kernel)) == (0, [2])
    assert len(lr.gram(X, lr.Delta()).reduced[0]) == 2


def test_labels_are_blocks_and_classes_of_one_row_are_values():
    y = np.array([0, 1, 0, 2, 1, 0, 3, 4])
    X = points(8)
    A = lr.gram(X, lr.Gaussian(1.0)) * lr.gram(y, lr.Delta())
    assert sizes(A) == (3, [2, 3])
    singles, blocks = A.reduced
    assert singles == pytest.approx(np.full(3, 1 / 8))
    assert sorted(block.mass for block in blocks) == pytest.approx([2 / 8, 3 / 8])


def test_labels_alone_are_values():
    A = lr.gram(["u", "v", "u", "w"], lr.Delta())
    singles, blocks = A.reduced
    assert not blocks
    assert np.sort(singles) == pytest.approx([0.25, 0.25, 0.5])


def test_several_labels_split_by_their_combinations():
    y, z = np.array([0, 0, 1, 1, 0, 0]), np.array(["a", "b", "a", "b", "a", "b"])
    A = lr.gram(points(6), lr.Gaussian(1.0)) * lr.gram(y) * lr.gram(z)
    assert sizes(A) == (2, [2, 2])


def test_rows_without_weight_are_dropped():
    w = np.array([1.0, 0, 2, 0, 1])
    assert sizes(lr.gram(points(5), lr.Gaussian(1.0), weights=w)) == (0, [3])
    K = lr.gram(ready_matrix(5), lr.Precomputed(), weights=w)
    assert sizes(K) == (0, [3])


@pytest.mark.parametrize(
    ("kernels", "size"),
    [
        ([lr.Linear()], 3),
        ([lr.Cosine()], 3),
        ([lr.Polynomial(2)], 16),
        ([lr.Polynomial(2, shift=0.0)], 9),
        ([lr.Polynomial(3)], 45),
        ([lr.Linear(), lr.Polynomial(2)], 45),
        ([lr.Linear(), lr.Cosine()], 9),
        ([lr.Linear(), lr.Gaussian(1.0)], 45),
    ],
    ids=repr,
)
def test_finite_features_are_used_where_they_are_fewer_than_the_rows(kernels, size):
    grams = [lr.gram(points(seed=i), kernel) for i, kernel in enumerate(kernels)]
    A = lr.joint(*grams)
    assert sizes(A) == (0, [size])
    values = np.zeros(45)
    values[:size] = lr.Exact()(A).values
    assert values == pytest.approx(eigenvalues(A.dense()), abs=1e-14)


def test_a_ready_matrix_has_no_structure_to_see_but_its_labels():
    K = lr.gram(ready_matrix(), lr.Precomputed())
    assert sizes(K) == (0, [45])
    y = labels()
    counts = sorted(np.bincount(y))
    assert sizes(K * lr.gram(y, lr.Delta())) == (0, counts)


@every_kind
def test_the_parts_hold_all_nonzero_eigenvalues(kind):
    A, matrix, _, tolerance = KINDS[kind]()
    singles, blocks = A.reduced
    parts = [_arrays.to_numpy(singles), *(eigenvalues(dense(b.dense())) for b in blocks)]
    found = np.sort(np.concatenate(parts))[::-1]
    found = np.pad(found, (0, len(matrix) - len(found)))
    assert found == pytest.approx(eigenvalues(matrix), abs=tolerance)
    masses = [b.mass for b in blocks]
    assert sum(masses) + parts[0].sum() == pytest.approx(1, abs=tolerance)


@every_kind
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, math.inf])
@pytest.mark.parametrize("rank", [None, 4])
def test_structure_is_invisible_in_the_entropy(kind, alpha, rank):
    """The entropy of the Gram is that of its plain matrix, given ready-made with the same n."""
    A, matrix, n, tolerance = KINDS[kind]()
    values = eigenvalues(matrix)
    if alpha < 1 and tolerance > 1e-10:
        pytest.skip("the root of float32's rounding")
    values = np.where(values > 1e-13, values, 0.0)
    exact = lr.renyi_entropy(lr.Spectrum(values, n), alpha, rank)
    found = float(renyi(alpha, rank)(A))
    # Null eigenvalues known to 1e-17 still weigh in at alpha = 1/2.
    slack = 1e-6 if alpha < 1 else max(1e-10, 20 * tolerance if tolerance > 1e-10 else 0)
    assert found == pytest.approx(float(exact), abs=slack)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_order_of_rows_does_not_matter(data):
    """Any permutation of the rows of all variables: the same entropy, by every exact solver."""
    n = data.draw(st.integers(4, 14))
    order = np.array(data.draw(st.permutations(range(n))))
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 2)).astype(float)
    y = rng.integers(0, 3, size=n)
    w = rng.integers(1, 4, size=n).astype(float)
    K = ready_matrix(n, seed)

    def entropy(index):
        A = lr.gram(X[index], lr.Gaussian("median"), weights=w[index])
        B = lr.gram(y[index], lr.Delta(), weights=w[index])
        C = lr.gram(K[np.ix_(index, index)], lr.Precomputed(), weights=w[index])
        return [float(renyi(1.5)(M)) for M in (A, B, C, A * B, A * C, A * B * C)]

    assert entropy(order) == pytest.approx(entropy(np.arange(n)), abs=1e-11)


# ------------------------------------------------------------------------------------- memory


def test_what_does_not_fit_is_refused_before_it_is_tried(monkeypatch):
    """1000 x 1000 doubles, twice: 16 MB. With 10 MB free no entry is evaluated."""
    evaluated = []

    def kernel(X, Y):
        evaluated.append(len(X) * len(Y))
        return np.exp(-((X - Y.T) ** 2))

    X = np.random.default_rng(0).normal(size=(1000, 1))
    A = lr.gram(X, lr.Function(kernel, infinitely_divisible=True))
    evaluated.clear()
    monkeypatch.setattr("lorenyi._memory.free_memory", lambda: 10_000_000)
    for attempt in (A.dense, lambda: lr.Exact()(A)):
        with pytest.raises(MemoryError, match=r"a dense 1000 x 1000 kernel matrix needs .* GiB"):
            attempt()
    assert not evaluated


@pytest.mark.parametrize(
    "solver",
    [
        lr.InputSparsity(10),
        lr.SparseGraph(10),
        lr.GaussianProjection(5),
        lr.HadamardProjection(5),
        lr.Lanczos(5),
        lr.BlockLanczos(steps=3, block=4, single=False),
        lr.PivotedCholesky(size=20),
    ],
    ids=repr,
)
def test_solvers_that_read_in_blocks_need_no_whole_matrix(monkeypatch, solver):
    """What the refusal advises must work where it is given."""
    X = np.random.default_rng(0).normal(size=(1000, 1))
    A = lr.gram(X, lr.Gaussian(1.0))
    plenty = solver(A, 3).values
    monkeypatch.setattr("lorenyi._memory.free_memory", lambda: 10_000_000)
    scarce = solver(lr.gram(X, lr.Gaussian(1.0)), 3).values
    assert scarce == pytest.approx(plenty, abs=1e-12)


def test_structure_counts_before_memory(monkeypatch):
    """1000 rows of 20 distinct points need a 20 x 20 matrix."""
    monkeypatch.setattr("lorenyi._memory.free_memory", lambda: 1_000_000)
    X = np.repeat(np.arange(20.0), 50)[:, None]
    assert float(renyi(1.0)(lr.gram(X, lr.Gaussian(1.0)))) > 0


# ----------------------------------------------------------------------------- ready matrices


@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_a_ready_matrix_is_normalized_by_its_diagonal(make):
    K = ready_matrix()
    scale = np.linspace(0.1, 10, 45)
    A = lr.gram(make(K), lr.Precomputed())
    B = lr.gram(make(np.outer(scale, scale) * K), lr.Precomputed())
    assert A.dense() == pytest.approx(normalized(K), abs=1e-16)
    assert B.dense() == pytest.approx(A.dense(), abs=1e-15)


def test_every_sparse_format_and_repeated_entries_are_read():
    K = sparse_matrix()
    expected = normalized(K.toarray())
    for kind in ("csr", "csc", "coo", "lil", "dok", "bsr"):
        A = lr.gram(K.asformat(kind), lr.Precomputed())
        assert A.dense() == pytest.approx(expected, abs=1e-16)
        assert A.is_sparse
    halves = scipy.sparse.coo_array(K)
    rows, columns = halves.coords
    twice = scipy.sparse.coo_array(
        (np.tile(halves.data / 2, 2), (np.tile(rows, 2), np.tile(columns, 2))), shape=K.shape
    )
    A = lr.gram(twice, lr.Precomputed())
    assert A.dense() == pytest.approx(expected, abs=1e-16)


def test_a_nested_list_and_integers_are_matrices_too():
    expected = normalized(np.array([[2.0, 1.0], [1.0, 3.0]]))
    for K in ([[2, 1], [1, 3]], np.array([[2, 1], [1, 3]]), torch.tensor([[2, 1], [1, 3]])):
        A = lr.gram(K, lr.Precomputed())
        assert dense(A.dense()) == pytest.approx(expected, abs=1e-15)
    assert lr.gram(np.eye(3, dtype=bool), lr.Precomputed()).dense() == pytest.approx(np.eye(3) / 3)
    whole = scipy.sparse.csr_array(np.array([[2, 1], [1, 3]]))
    assert lr.gram(whole, lr.Precomputed()).dense() == pytest.approx(expected)


@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array, torch.tensor])
def test_asymmetry_up_to_rounding_is_accepted_and_beyond_refused(make):
    K = ready_matrix()
    K[3, 4] *= 1 + 1e-14
    lr.gram(make(K), lr.Precomputed())
    K[3, 4] += 1e-6
    with pytest.raises(ValueError, match=r"x is not symmetric: .* use \(K \+ K'\) / 2"):
        lr.gram(make(K), lr.Precomputed())


def test_asymmetry_is_found_wherever_it_is():
    """The check goes tile by tile: also in the last corner of a matrix of several tiles."""
    for i, j in ((0, 1), (599, 0), (520, 590), (3, 598), (511, 512)):
        K = np.eye(600)
        K[i, j] = 0.1
        with pytest.raises(ValueError, match="not symmetric"):
            lr.gram(K, lr.Precomputed())
        with pytest.raises(ValueError, match="not symmetric"):
            lr.gram(scipy.sparse.csr_array(K), lr.Precomputed())


def test_single_precision_has_single_precisions_tolerance():
    K = ready_matrix().astype(np.float32)
    K[3, 4] *= np.float32(1 + 1e-6)
    lr.gram(K, lr.Precomputed())
    K[3, 4] += np.float32(0.1)
    with pytest.raises(ValueError, match="not symmetric"):
        lr.gram(K, lr.Precomputed())


def indefinite(n=12):
    """Symmetric, unit diagonal, one eigenvalue of -0.1."""
    K = np.eye(n)
    K[0, 1] = K[1, 0] = 1.1
    return K


@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array, torch.tensor])
def test_positive_semi_definiteness_is_proven_on_demand(make):
    lr.gram(make(indefinite()), lr.Precomputed())  # not looked for
    with pytest.raises(ValueError, match="x is not positive semi-definite"):
        lr.gram(make(indefinite()), lr.Precomputed(), check="full")
    lr.gram(make(ready_matrix()), lr.Precomputed(), check="full")
    lr.gram(make(np.ones((30, 30))), lr.Precomputed(), check="full")  # singular is fine


def test_a_negative_eigenvalue_just_beyond_rounding_is_found_by_the_full_check():
    V = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0]
    for least, refused in ((-1e-9, True), (1e-9, False), (-1e-18, False)):
        K = V @ np.diag([*np.linspace(0.5, 1.5, 19), least]) @ V.T
        K = (K + K.T) / 2
        if refused:
            with pytest.raises(ValueError, match="not positive semi-definite"):
                lr.gram(K, lr.Precomputed(), check="full")
        else:
            lr.gram(K, lr.Precomputed(), check="full")


def test_a_negative_eigenvalue_that_is_seen_is_an_error():
    A = lr.gram(indefinite(), lr.Precomputed())
    with pytest.raises(ValueError, match="not positive semi-definite"):
        renyi(1.0)(A)


def test_a_zero_on_the_diagonal_is_refused_with_its_row():
    K = ready_matrix()
    K[4, :] = K[:, 4] = 0
    for form in (K, scipy.sparse.csr_array(K)):
        with pytest.raises(ValueError, match=r"diagonal 0 at row 4"):
            lr.gram(form, lr.Precomputed())


@pytest.mark.parametrize("K", [np.ones((3, 4)), np.ones(3), np.ones((1, 1)), np.ones((2, 2, 2))])
def test_what_is_not_square_is_no_matrix(K):
    with pytest.raises(ValueError, match="x must be a square kernel matrix, found shape"):
        lr.gram(K, lr.Precomputed())


def test_an_unknown_check_is_refused():
    with pytest.raises(ValueError, match=r"check='all': it is 'seen' or 'full'"):
        lr.gram(np.eye(3), lr.Precomputed(), check="all")


# ---------------------------------------------------------------------- a Gram from variables


def test_defaults_follow_the_kind_of_data():
    assert lr.gram([0.0, 1.0, 3.0]).names == ("Gaussian(sigma=2)",)
    assert lr.gram(np.array([[0, 1], [1, 1], [3, 1]])).names == ("Gaussian(sigma=2)",)
    for symbols in ([1, 2, 2], ["a", "b", "b"], [True, False, False], np.array([3, 3, 1])):
        assert lr.gram(symbols).names == ("Delta()",)


def test_a_gram_is_taken_as_it_is_and_not_made_twice():
    A = lr.gram(points(), lr.Gaussian(1.0))
    assert lr.gram(A) is A
    for arguments in ({"kernel": lr.Delta()}, {"weights": np.ones(45)}):
        with pytest.raises(ValueError, match="x is a Gram already"):
            lr.gram(A, **arguments)


def test_a_class_or_a_word_for_a_kernel_is_refused_with_the_remedy():
    with pytest.raises(TypeError, match=r"kernel is the class Linear: call it, Linear\(\)"):
        lr.gram(points(), lr.Linear)
    with pytest.raises(TypeError, match=r"such as Gaussian\(1\.0\)"):
        lr.gram(points(), "gaussian")


def test_gaussians_and_labels_join_into_one_factor_each():
    """A joint of any number of Gaussians is one Gaussian; of labels, one equality kernel."""
    X, Y = points(), points(seed=9)
    A = lr.gram(X, lr.Gaussian(1.0)) * lr.gram(Y, lr.Gaussian(3.0)) * lr.gram(labels())
    A = A * lr.gram(labels(seed=8)) * lr.gram(X, lr.Laplacian(1.0))
    assert [type(f.kernel).__name__ for f in A.factors] == ["Gaussian", "Delta", "Laplacian"]
    assert A.factors[0].source.shape == (45, 6)
    K = gaussian(X, 1.0) * gaussian(Y, 3.0) * equality(labels()) * equality(labels(seed=8))
    K = K * np.exp(-np.abs(X[:, None] - X[None]).sum(axis=2))
    assert A.dense() == pytest.approx(normalized(K), abs=1e-15)
    assert len(A.names) == 5


def test_factors_are_points_or_matrices():
    A = lr.gram(points(), lr.Gaussian(1.0)) * lr.gram(ready_matrix(), lr.Precomputed())
    assert isinstance(A, Gram)
    assert [type(f) for f in A.factors] == [Points, Matrix]
    assert [len(f) for f in A.factors] == [45, 45]


@pytest.mark.parametrize("solver", [lr.Exact(), lr.BlockLanczos(), lr.Auto()], ids=repr)
def test_a_joint_is_no_more_precise_than_its_coarsest_factor(solver):
    """Entries rounded to float32 are not positive semi-definite to sixteen digits."""
    X = torch.from_numpy(np.random.default_rng(0).normal(size=(60, 2)))
    y, H = np.arange(60) % 2, lr.Renyi(1.01, solver=solver)
    exact = float(lr.mutual_information(lr.gram(X, lr.Gaussian(2.0)), y, entropy=H))
    coarse = lr.gram(X.float(), lr.Gaussian(2.0))
    assert (coarse * lr.gram(y)).reference.dtype == torch.float32
    assert (coarse * lr.gram(X, lr.Gaussian(1.0))).roundoff > np.finfo(np.float32).eps
    assert float(lr.mutual_information(coarse, y, entropy=H)) == pytest.approx(exact, abs=1e-4)


SHIFTED = [lr.Gaussian(lr.Nearest(3)), lr.Gaussian("median"), lr.Laplacian(1.0), None]
