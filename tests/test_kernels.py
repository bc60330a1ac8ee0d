"""Kernels against their formulas, bandwidths against their definitions, and digits kept."""

import math
import pickle
import warnings
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
import scipy.stats
import torch
from scipy.spatial.distance import pdist, squareform

import lorenyi as lr
from lorenyi.bandwidths import Bandwidth
from lorenyi.data.sources import ArraySource
from lorenyi.kernels import row_products


def rows(n=20, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


X, Y = rows(), rows(12, seed=1)
SIGMAS = np.array([0.5, 2.0, 3.0])


def pairwise(function):
    return np.array([[function(x, y) for y in Y] for x in X])


FORMULAS = {
    "Gaussian": (
        lr.Gaussian(1.7),
        lambda x, y: math.exp(-np.sum((x - y) ** 2) / (2 * 1.7**2)),
    ),
    "Gaussian, per column": (
        lr.Gaussian(SIGMAS),
        lambda x, y: math.exp(-0.5 * np.sum(((x - y) / SIGMAS) ** 2)),
    ),
    "Laplacian": (lr.Laplacian(1.7), lambda x, y: math.exp(-np.sum(np.abs(x - y)) / 1.7)),
    "Laplacian, per column": (
        lr.Laplacian(tuple(SIGMAS)),
        lambda x, y: math.exp(-np.sum(np.abs(x - y) / SIGMAS)),
    ),
    "Linear": (lr.Linear(), lambda x, y: x @ y),
    "Cosine": (lr.Cosine(), lambda x, y: x @ y / math.sqrt((x @ x) * (y @ y))),
    "Polynomial": (lr.Polynomial(), lambda x, y: (x @ y + 1) ** 2),
    "Polynomial, all set": (
        lr.Polynomial(3, gamma=0.5, shift=0.25),
        lambda x, y: (0.5 * x @ y + 0.25) ** 3,
    ),
    "Polynomial, no shift": (lr.Polynomial(2, shift=0), lambda x, y: (x @ y) ** 2),
    "Delta": (lr.Delta(), lambda x, y: float(np.array_equal(x, y))),
    "Function": (
        lr.Function(lambda A, B: np.exp(A @ B.T), infinitely_divisible=True),
        lambda x, y: math.exp(x @ y),
    ),
}

every_kernel = pytest.mark.parametrize("name", FORMULAS)


@every_kernel
def test_a_kernel_called_on_two_sets_of_points_is_its_formula(name):
    kernel, formula = FORMULAS[name]
    assert kernel(X, Y) == pytest.approx(pairwise(formula), abs=1e-14, rel=1e-12)


@every_kernel
def test_a_kernel_of_points_with_themselves_is_symmetric_with_its_diagonal(name):
    kernel, formula = FORMULAS[name]
    K = kernel(X, X)
    assert pytest.approx(K.T, rel=1e-14) == K
    assert np.diag(K) == pytest.approx([formula(x, x) for x in X], rel=1e-12)


@every_kernel
def test_the_diagonal_is_that_of_the_block(name):
    kernel, _ = FORMULAS[name]
    settled, source = kernel.prepare(ArraySource(X), None)
    points = source.all()
    diagonal = settled.diagonal(points)
    diagonal = np.ones(len(X)) if diagonal is None else diagonal
    assert diagonal == pytest.approx(np.diag(settled.block(points, points)), rel=1e-13)


@pytest.mark.parametrize("name", [n for n in FORMULAS if FORMULAS[n][0].width(3)])
def test_the_kernel_is_the_inner_product_of_its_features(name):
    kernel, formula = FORMULAS[name]
    settled, source = kernel.prepare(ArraySource(X), None)
    features = settled.features(source.all())
    assert features.shape == (20, kernel.width(3))
    exact = [[formula(x, y) for y in X] for x in X]
    if name == "Linear":  # on the unit sphere, as a Gram will have it
        exact = exact / np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert features @ features.T == pytest.approx(np.array(exact), rel=1e-12, abs=1e-13)


def test_products_of_rows_are_features_of_a_product():
    Z = row_products(X, X[:, :2])
    assert pytest.approx((X @ X.T) * (X[:, :2] @ X[:, :2].T)) == Z @ Z.T
    with pytest.raises(TypeError, match="no finite feature map"):
        lr.Gaussian(1.0).features(X)


@every_kernel
def test_tensors_give_tensors_with_the_same_values(name):
    kernel, formula = FORMULAS[name]
    if name == "Function":
        kernel = lr.Function(lambda A, B: torch.exp(A @ B.T), infinitely_divisible=True)
    K = kernel(torch.tensor(X), torch.tensor(Y))
    assert isinstance(K, torch.Tensor)
    assert K.numpy() == pytest.approx(pairwise(formula), abs=1e-14, rel=1e-12)


@pytest.mark.parametrize("name", [n for n in FORMULAS if n not in ("Delta", "Function")])
def test_single_precision_stays_single(name):
    kernel, formula = FORMULAS[name]
    K = kernel(X.astype(np.float32), Y.astype(np.float32))
    assert K.dtype == np.float32
    assert pytest.approx(pairwise(formula), rel=1e-4, abs=1e-6) == K


def test_equality_compares_whole_rows():
    A = np.array([[0, 1], [0, 2], [0, 1]])
    assert lr.Delta()(A, A).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


# ------------------------------------------------------------------------------------ digits


@pytest.mark.parametrize("kernel", [lr.Gaussian(0.9), lr.Laplacian(0.9)], ids=repr)
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_a_large_offset_costs_no_digits(kernel, d, offset):
    """k(x + c, y + c) = k(x, y): what differs is the rounding of x + c itself, offset eps."""
    Z = rows(30, d)
    shifted = (Z + offset) - offset  # as far as it can be represented
    difference = (shifted[:, None] - shifted[None]) / 0.9
    gaussian = isinstance(kernel, lr.Gaussian)
    distance = difference**2 / 2 if gaussian else np.abs(difference)
    exact = np.exp(-distance.sum(axis=2))
    A = lr.gram(Z + offset, kernel)
    assert 30 * A.dense() == pytest.approx(exact, abs=1e-13)


def naive_gaussian(Z, sigma):
    Z = Z.astype(np.longdouble)
    squares = np.sum((Z[:, None, :] - Z[None, :, :]) ** 2, axis=2)
    return np.exp(-squares / (2 * np.longdouble(sigma) ** 2)).astype(float)


@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4, 1e8])
def test_large_norms_cost_no_digits(scale):
    """Two tight clusters far apart: distances within a cluster are tiny beside the norms."""
    Z = rows(30, 3)
    Z[::2] += scale
    found = 30 * lr.gram(Z, lr.Gaussian(1.0)).dense()
    slack = 1e-11 if scale < 1e6 else 4 * scale * np.finfo(float).eps  # of Z itself
    assert found == pytest.approx(naive_gaussian(Z, 1.0), abs=slack)


@pytest.mark.parametrize("scale", [1.0, 10.0, 30.0, 50.0, 1e3])
def test_large_norms_cost_single_precision_no_more_than_a_thousand_units(scale):
    """x.y - |x|^2/2 - |y|^2/2 loses what the norms have more than one: differences take over."""
    Z = rows(30, 3).astype(np.float32)
    Z[::2] += np.float32(scale)
    found = 30 * lr.gram(Z, lr.Gaussian(1.0)).dense()
    slack = 1e3 * float(np.finfo(np.float32).eps)
    assert found == pytest.approx(naive_gaussian(Z.astype(float), 1.0), abs=slack)


def test_a_kernel_never_exceeds_one_by_rounding():
    Z = np.repeat(rows(40, 3) * 30, 2, axis=0)
    K = lr.Gaussian(1.0)(Z, Z)
    assert K.max() <= 1.0


@pytest.mark.parametrize("sigma", [1e-8, 1e8])
def test_extreme_bandwidths_give_labels_or_a_constant(sigma):
    A = lr.gram(rows(), lr.Gaussian(sigma))
    limit = np.eye(20) / 20 if sigma < 1 else np.full((20, 20), 1 / 20)
    assert A.dense() == pytest.approx(limit, abs=1e-12)


# -------------------------------------------------------------------------------- bandwidths


def settled(rule, Z, weights=None):
    column = None if weights is None else ArraySource(np.asarray(weights, dtype=float)[:, None])
    return rule(ArraySource(np.asarray(Z, dtype=float)), column)


def test_the_median_is_that_of_the_distances_that_are_not_zero():
    for Z in (rows(), np.round(rows(40, 1)), rows(7, 1), np.array([[0.0], [0.0], [2.0]])):
        distances = pdist(Z)
        assert settled(lr.Median(), Z) == np.median(distances[distances > 0])


def test_the_median_of_equal_points_is_one():
    assert settled(lr.Median(), np.ones((5, 2))) == 1.0
    assert lr.gram(np.ones((5, 2)), lr.Gaussian("median")).names == ("Gaussian(sigma=1)",)


def test_the_median_per_column_is_that_of_each_column():
    Z = rows() * [1, 10, 100]
    expected = tuple(settled(lr.Median(), Z[:, j : j + 1]) for j in range(3))
    assert settled(lr.Median(per_column=True), Z) == expected
    A = lr.gram(Z, lr.Gaussian(lr.Median(per_column=True)))
    assert A.factors[0].kernel.sigma == expected
    with_constant = np.concatenate([Z, np.ones((20, 1))], axis=1)
    assert settled(lr.Median(per_column=True), with_constant) == (*expected, 1.0)


def weighted_median(Z, w):
    """The median of all distances between two of the repeated rows that are not zero."""
    distances = pdist(np.repeat(Z, w, axis=0))
    return np.median(distances[distances > 0])


@pytest.mark.parametrize("seed", range(10))
def test_the_weighted_median_is_that_of_the_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    Z = np.round(rng.normal(size=(12, 2)), 1)
    w = rng.integers(0, 4, size=12)
    assert settled(lr.Median(), Z, w.astype(float)) == pytest.approx(weighted_median(Z, w))


def test_the_weighted_median_does_not_depend_on_the_weights_scale():
    Z, w = rows(), np.random.default_rng(3).random(20)
    for c in (0.5, 3.0, 17.0):
        assert settled(lr.Median(), Z, c * w) == settled(lr.Median(), Z, w)


@pytest.mark.parametrize("d", [1, 2, 7])
def test_the_median_of_a_sample_of_pairs_is_near_that_of_all(d):
    Z = rows(2000, d)
    exact = float(np.median(pdist(Z)))
    assert settled(lr.Median(pairs=2_000_000), Z) == pytest.approx(exact, rel=1e-12)
    assert settled(lr.Median(), Z) == pytest.approx(exact, rel=5e-3)
    assert settled(lr.Median(pairs=20_000), Z) == pytest.approx(exact, rel=3e-2)


@pytest.mark.parametrize("far", [1.0, 1e9, 1e17])
@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_the_median_of_a_long_column_is_exact_wherever_a_few_numbers_are(far, mean):
    x = np.random.default_rng(0).normal(size=1500) + mean
    x[3] *= far
    exact = np.median(pdist(x[:, None]))
    assert settled(lr.Median(), x[:, None]) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize(("n", "d"), [(900, 2), (1500, 1), (3000, 3), (60_000, 1)])
def test_the_median_does_not_depend_on_the_order_of_the_rows(n, d):
    Z = rows(n, d)
    orders = [np.random.default_rng(seed).permutation(n) for seed in range(3)]
    assert {settled(lr.Median(), Z[order]) for order in orders} == {settled(lr.Median(), Z)}


def test_the_median_of_pairs_has_the_digits_that_mean_something():
    value = settled(lr.Median(), rows(3000, 3))
    assert value == float(f"{value:.4g}")


@pytest.mark.parametrize("d", [1, 2])
def test_the_median_of_weighted_rows_is_that_of_the_repeated_rows(d):
    Z = rows(1500, d)
    w = np.random.default_rng(4).integers(0, 5, size=1500)
    for rule in (lr.Median(), lr.Median(pairs=10_000)):
        assert settled(rule, Z, w.astype(float)) == settled(rule, np.repeat(Z, w, axis=0))


def test_columns_of_different_units_are_standardized_for_one_median():
    Z = rows(300, 3)
    plain = settled(lr.Median(standardize=True), Z)
    assert plain == pytest.approx(tuple(Z.std(axis=0) * np.median(pdist(Z / Z.std(axis=0)))))
    units = np.array([1.0, 1e3, 1e-6])
    assert settled(lr.Median(standardize=True), Z * units) == pytest.approx(tuple(plain * units))


def test_per_column_and_standardized_at_once_is_refused():
    with pytest.raises(ValueError, match="per_column=True, standardize=True"):
        lr.Median(per_column=True, standardize=True)


@pytest.mark.parametrize("n", [5, 50])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_scott_and_silverman_are_scipys_factors_times_the_deviation(n, d):
    Z = rows(n, d)
    kde = scipy.stats.gaussian_kde(np.random.default_rng(0).normal(size=(d, max(n, d + 2))))
    kde._neff = float(n)  # the factors are functions of n and d alone
    deviation = Z.std(axis=0)
    assert settled(lr.Scott(), Z) == pytest.approx(tuple(deviation * kde.scotts_factor()))
    assert settled(lr.Silverman(), Z) == pytest.approx(tuple(deviation * kde.silverman_factor()))


@pytest.mark.parametrize("rule", [lr.Scott(), lr.Silverman()], ids=repr)
def test_weighted_deviations_are_those_of_the_repeated_rows(rule):
    Z = rows(15, 2)
    w = np.random.default_rng(4).integers(0, 5, size=15)
    weighted = settled(rule, Z, w.astype(float))
    assert weighted == pytest.approx(settled(rule, np.repeat(Z, w, axis=0)), rel=1e-13)


@pytest.mark.parametrize("rule", [lr.Scott(), lr.Silverman()], ids=repr)
def test_a_constant_column_has_deviation_one_and_a_large_offset_none(rule):
    Z = rows(15, 2)
    plain = settled(rule, Z)
    shifted = settled(rule, Z + 1e6)
    assert shifted == pytest.approx(plain, rel=1e-8)
    constant = np.concatenate([Z, np.full((15, 1), 0.1 + 1e6)], axis=1)
    factor = settled(rule, constant)[0] / Z[:, 0].std()
    assert settled(rule, constant)[2] == pytest.approx(factor)


def test_deviations_are_summed_over_blocks(monkeypatch):
    Z = rows(100, 2)
    plain = settled(lr.Scott(), Z)
    monkeypatch.setattr("lorenyi.data.sources.BLOCK_ROWS", 7)
    assert settled(lr.Scott(), Z) == pytest.approx(plain, rel=1e-14)


@pytest.mark.parametrize("k", [1, 3, 100])
def test_the_nearest_rule_is_the_mean_distance_to_neighbors(k):
    Z = rows(12)
    distances = np.sort(np.linalg.norm(Z[:, None] - Z[None], axis=2), axis=1)[:, 1 : k + 1]
    assert settled(lr.Nearest(k), Z) == pytest.approx(distances.mean())
    w = np.array([2, 1, 3, 0, 1, 1, 4, 1, 1, 2, 1, 1])
    repeated = settled(lr.Nearest(k), np.repeat(Z, w, axis=0))
    assert settled(lr.Nearest(k), Z, w.astype(float)) == pytest.approx(repeated, rel=1e-6)
    assert settled(lr.Nearest(k), np.ones((5, 2))) == 1.0


@pytest.mark.parametrize("d", [2, 8])
def test_neighbors_of_a_sample_are_looked_for_among_all_rows(d):
    """Those among the sampled rows alone are farther away, the more rows there are."""
    Z = rows(3000, d)
    exact = settled(lr.Nearest(10, sample=3000), Z)
    found = [settled(lr.Nearest(10, sample=300, seed=seed), Z) for seed in range(10)]
    error = np.std(found) / np.sqrt(len(found))
    assert error < 0.02 * exact
    assert np.mean(found) == pytest.approx(exact, abs=4 * error)
    w = np.random.default_rng(0).integers(0, 3, size=len(Z))
    repeated = settled(lr.Nearest(5, sample=500), np.repeat(Z, w, axis=0))
    assert settled(lr.Nearest(5, sample=500), Z, w.astype(float)) == pytest.approx(repeated)


@pytest.mark.parametrize("far", [0.0, 1e9])
def test_neighbors_of_a_sample_are_those_of_two_clusters(far, monkeypatch):
    """Products of coordinates that are far from the others would cancel."""
    monkeypatch.setattr("lorenyi.data.sources.BLOCK_ROWS", 300)
    near = rows(500, 3)
    Z = np.concatenate([near, near + far + 100])
    rule = lr.Nearest(3, sample=999)
    assert settled(rule, Z) == pytest.approx(settled(lr.Nearest(3, sample=1000), Z), rel=1e-3)


def test_the_geometric_mean_is_that_of_distances_that_are_not_zero():
    Z, w = rows(12), np.array([2, 1, 3, 0, 1, 1, 4, 1, 1, 2, 1, 1])
    distances = [np.linalg.norm(a - b) for i, a in enumerate(Z) for b in Z[:i]]
    expected = 0.7 * np.exp(np.mean(np.log(distances)))
    assert settled(lr.GeometricMean(0.7), Z) == pytest.approx(expected, rel=1e-12)
    repeated = settled(lr.GeometricMean(), np.repeat(Z, w, axis=0))
    assert settled(lr.GeometricMean(), Z, w.astype(float)) == pytest.approx(repeated, rel=1e-12)
    assert settled(lr.GeometricMean(), np.ones((5, 2))) == 1.0
    many = settled(lr.GeometricMean(), rows(3000))
    assert many == pytest.approx(settled(lr.GeometricMean(sample=3000), rows(3000)), rel=0.05)


@pytest.mark.parametrize("k", [0, 2.5, True])
def test_a_number_of_neighbors_that_is_none_is_refused(k):
    with pytest.raises(ValueError, match="integer of at least 1"):
        lr.Nearest(k)


@pytest.mark.parametrize("word", ["median", "scott", "silverman"])
def test_a_rule_may_be_named(word):
    rule = {"median": lr.Median(), "scott": lr.Scott(), "silverman": lr.Silverman()}[word]
    for kernel in (lr.Gaussian, lr.Laplacian):
        assert kernel(word) == kernel(rule)
        assert lr.gram(X, kernel(word)).names == lr.gram(X, kernel(rule)).names


def test_a_users_rule_is_a_class_of_its_own():
    class Twice(Bandwidth):
        def __call__(self, points, weights):
            return 2.0

    assert lr.gram(X, lr.Gaussian(Twice())).names == ("Gaussian(sigma=2)",)


def test_a_rule_is_settled_once_for_both_sets_of_points():
    """k(X, Y) with a rule takes the points of both."""
    sigma = settled(lr.Median(), np.concatenate([X, Y]))
    assert np.array_equal(lr.Gaussian("median")(X, Y), lr.Gaussian(sigma)(X, Y))


@pytest.mark.parametrize("kernel", [lr.Gaussian, lr.Laplacian])
@pytest.mark.parametrize("sigma", [0, -1, math.nan, math.inf, "wide", (1.0, 0.0), (), [[1.0]]])
def test_a_bandwidth_that_is_not_positive_is_refused(kernel, sigma):
    with pytest.raises(ValueError, match=rf"{kernel.__name__}\(sigma="):
        kernel(sigma)


def test_as_many_bandwidths_as_columns_are_needed():
    with pytest.raises(ValueError, match="has 2 bandwidths and the points have 3 columns"):
        lr.gram(X, lr.Gaussian((1.0, 2.0)))


@pytest.mark.parametrize(
    "arguments",
    [{"degree": 0}, {"degree": 1.5}, {"gamma": 0}, {"gamma": math.inf}, {"shift": -1}],
)
def test_a_polynomial_that_is_no_kernel_is_refused(arguments):
    (name,) = arguments
    with pytest.raises(ValueError, match=rf"Polynomial\({name}="):
        lr.Polynomial(**arguments)


# --------------------------------------------------------------------------- a user's function


def cauchy(A, B):
    return 1 / (1 + squareform(pdist(np.concatenate([A, B])))[: len(A), len(A) :] ** 2)


def test_a_function_not_known_to_be_infinitely_divisible_warns_where_it_is_used():
    with pytest.warns(UserWarning, match=r"Function\(cauchy\) is not known to be infinitely") as w:
        lr.gram(X, cauchy)
    assert len(w) == 1
    assert w[0].filename == __file__
    with pytest.warns(UserWarning, match="infinitely divisible"):
        lr.gram(X, lr.Function(cauchy))


def test_a_kernel_class_of_ones_own_warns_too_unless_it_says():
    class Own(lr.Kernel):
        def block(self, X, Y):
            return cauchy(X, Y)

    class Known(Own):
        infinitely_divisible = True

    with pytest.warns(UserWarning, match="not known to be infinitely divisible"):
        A = lr.gram(X, Own())
    assert np.array_equal(A.dense(), lr.gram(X, Known()).dense())


@pytest.mark.parametrize("said", [True, False])
def test_saying_so_silences_the_warning(said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        A = lr.gram(X, lr.Function(cauchy, infinitely_divisible=said))
    assert 20 * A.dense() == pytest.approx(cauchy(X, X), abs=1e-15)


def known(function):
    return lr.Function(function, infinitely_divisible=True)


def test_a_function_that_depends_on_the_order_is_refused():
    with pytest.raises(ValueError, match=r"is not symmetric: .* must not depend on the order"):
        lr.gram(X, known(lambda A, B: np.exp(A[:, :1] - B[:, :1].T)))


@pytest.mark.parametrize(
    "function",
    [
        lambda A, B: np.ones(len(A)),
        lambda A, B: np.ones((len(A), len(B), 1)),
        lambda A, B: 1.0,
        lambda A, B: np.ones((len(A) + 1, len(B))),
    ],
)
def test_a_function_of_the_wrong_shape_is_refused(function):
    with pytest.raises(ValueError, match=r"gave shape .* one value for each pair"):
        lr.gram(X, known(function))


def test_a_function_with_a_zero_or_negative_diagonal_is_refused_with_the_row():
    with pytest.raises(ValueError, match=r"has diagonal 0 at row 0"):
        lr.gram(X, known(lambda A, B: np.zeros((len(A), len(B)))))
    Z = np.array([[1.0], [2.0], [0.0], [3.0]])
    for kernel in (lr.Linear(), lr.Cosine()):
        with pytest.raises(ValueError, match=f"{type(kernel).__name__}.*a row of zeros has no dir"):
            lr.gram(Z, kernel)


def test_a_function_that_gives_nan_is_refused():
    def hole(A, B):
        K = np.exp(-((A[:, :1] - B[:, :1].T) ** 2))
        return np.where(K < 0.1, np.nan, K)

    with pytest.raises(ValueError, match=r"Function\(hole\) gave NaN or infinity"):
        lr.entropy(lr.gram(X, known(hole)))


def test_a_functions_diagonal_is_used_to_normalize():
    kernel = known(lambda A, B: np.exp(A @ B.T))
    K = np.exp(X @ X.T)
    root = np.sqrt(np.diag(K))
    A = lr.gram(X, kernel)
    assert 20 * A.dense() == pytest.approx(K / np.outer(root, root), rel=1e-12)
    long = rows(150)  # its diagonal takes several calls
    K = np.exp(long @ long.T)
    root = np.sqrt(np.diag(K))
    np.testing.assert_allclose(150 * lr.gram(long, kernel).dense(), K / np.outer(root, root), 1e-12)


def test_a_function_of_integers_gives_floating_point_values():
    A = lr.gram(np.array([[1], [2], [3]]), known(lambda A, B: np.minimum(A, B.T).astype(np.int64)))
    K = np.minimum.outer([1, 2, 3], [1, 2, 3])
    assert A.dense() == pytest.approx(K / np.sqrt(np.outer([1, 2, 3], [1, 2, 3])) / 3)


# --------------------------------------------------------------------------- kernels as values

VALUES = [
    lr.Gaussian(1.5),
    lr.Gaussian("median"),
    lr.Gaussian((1.0, 2.0)),
    lr.Gaussian(lr.Median(pairs=10, per_column=True)),
    lr.Laplacian(1.5),
    lr.Laplacian("scott"),
    lr.Linear(),
    lr.Cosine(),
    lr.Polynomial(3, 0.5, 2.0),
    lr.Delta(),
    lr.Function(np.minimum),
    lr.Function(np.minimum, infinitely_divisible=True),
    lr.Precomputed(),
    lr.Median(pairs=10),
    lr.Scott(),
    lr.Silverman(),
]

every_value = pytest.mark.parametrize("value", VALUES, ids=repr)


@every_value
def test_a_kernel_is_frozen(value):
    for name in [field.name for field in fields(value)] or ["sigma"]:
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 1.0)


@every_value
def test_a_kernel_is_hashable_picklable_and_equal_to_its_like_alone(value):
    copy = pickle.loads(pickle.dumps(value))
    assert copy == value
    assert hash(copy) == hash(value)
    assert sum(copy == other for other in VALUES) == 1


@every_value
def test_the_repr_is_the_code_that_makes_it(value):
    if isinstance(value, lr.Function):
        assert repr(value) == "Function(minimum)"
    else:
        assert eval(repr(value), vars(lr)) == value


def test_many_bandwidths_are_shown_shortly():
    assert repr(lr.Gaussian([1, 2, 3, 4, 5.12345])) == "Gaussian(sigma=(1, 2, 3, 4, ...))"
    assert repr(lr.Gaussian(0.123456789)) == "Gaussian(sigma=0.1235)"


def test_arrays_of_bandwidths_are_values_too():
    assert lr.Gaussian(np.array([1.0, 2.0])) == lr.Gaussian((1, 2)) == lr.Gaussian([1.0, 2.0])
    assert lr.Gaussian(np.float32(2)) == lr.Gaussian(2) == lr.Gaussian(np.array(2.0))


@pytest.mark.parametrize(
    ("kernel", "divisible"),
    [
        (lr.Gaussian(), True),
        (lr.Laplacian(), True),
        (lr.Delta(), True),
        (lr.Linear(), False),
        (lr.Cosine(), False),
        (lr.Polynomial(), False),
        (lr.Function(cauchy), None),
        (lr.Function(cauchy, infinitely_divisible=True), True),
        (lr.Precomputed(), None),
    ],
    ids=repr,
)
def test_kernels_say_whether_they_are_infinitely_divisible(kernel, divisible):
    assert kernel.infinitely_divisible is divisible


@pytest.mark.parametrize("kernel", [lr.Gaussian(0.8), lr.Laplacian(0.8), lr.Delta()], ids=repr)
@pytest.mark.parametrize("power", [0.01, 0.3, 2.5])
def test_entrywise_powers_of_infinitely_divisible_kernels_are_positive(kernel, power):
    K = kernel(X, X)
    assert np.linalg.eigvalsh(K**power).min() > -1e-12


def test_a_kernel_that_is_not_divisible_has_a_power_that_is_no_kernel():
    """(1 + x'y)^2 is a kernel; its tenth root's entries are not, on three points of a line."""
    Z = np.array([[-0.5], [0.1], [1.5], [0.7], [-0.2]])
    K = lr.Polynomial(2)(Z, Z)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    assert np.linalg.eigvalsh(np.abs(K) ** 0.1).min() < -1e-6


def test_gaussians_join_into_one_factor_whatever_their_bandwidths():
    """exp(-a) exp(-b) = exp(-(a + b)): a joint holds scaled columns side by side."""
    A = lr.gram(X, lr.Gaussian(0.7)) * lr.gram(X[:, :1] ** 2, lr.Gaussian("median"))
    assert len(A.factors) == 1
    sigma = settled(lr.Median(), X[:, :1] ** 2)
    K = lr.Gaussian(0.7)(X, X) * lr.Gaussian(sigma)(X[:, :1] ** 2, X[:, :1] ** 2)
    assert 20 * A.dense() == pytest.approx(K, abs=1e-14)
    both = lr.gram(X, lr.Gaussian(0.7)) * lr.gram(X, lr.Laplacian(1.0))
    assert len(both.factors) == 2


def test_a_ready_made_kernel_has_no_points():
    with pytest.raises(TypeError, match=r"use gram\(K, Precomputed\(\)\)"):
        lr.Precomputed()(X, Y)
