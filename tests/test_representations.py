"""Representations: each formula against its naive definition, on arrays and tensors, with masks."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import lorenyi as lr  # noqa: E402
from lorenyi import representations as rep  # noqa: E402

KERNELS = [lr.Linear(), lr.Cosine(), lr.Gaussian(1.7), lr.Gaussian("median")]
GAUSSIAN = lr.Gaussian(1.7)


def rows(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def naive_matrix(X, kernel):
    """One pair of points at a time."""
    n = len(X)
    distance = np.array([[np.linalg.norm(a - b) for b in X] for a in X])
    if isinstance(kernel, lr.Gaussian):
        sigma = kernel.sigma
        if not isinstance(sigma, float):
            sigma = np.median(
                [distance[i, j] for i in range(n) for j in range(i) if distance[i, j]]
            )
        return np.exp(-(distance**2) / (2 * sigma**2))
    K = np.array([[a @ b for b in X] for a in X])
    if type(kernel) is lr.Cosine:
        root = np.sqrt(np.diag(K))
        K = K / root[:, None] / root[None, :]
    return K


def naive_entropy(K, alpha):
    p = np.linalg.eigvalsh(K / np.trace(K))
    p = p[p > len(p) * 1e-15]
    if alpha == math.inf:
        return -np.log2(p.max())
    if alpha == 1:
        return -np.sum(p * np.log2(p))
    return np.log2(np.sum(p**alpha)) / (1 - alpha)


@pytest.fixture(params=["numpy", "torch"])
def made(request):
    return (lambda x: x) if request.param == "numpy" else torch.tensor


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("alpha", [0, 0.5, 1, 1.01, 2, 3.5, 200.0, math.inf])
@pytest.mark.parametrize("shape", [(2, 3, 5, 9), (4, 9, 5), (9, 5)])
def test_the_entropy_is_that_of_each_matrix(kernel, alpha, shape, made):
    x = rows(*shape)
    found = np.asarray(rep.entropy(made(x), kernel, alpha=alpha))
    assert found.shape == shape[:-2]
    for place in np.ndindex(*shape[:-2]):
        expected = naive_entropy(naive_matrix(x[place], kernel), alpha)
        assert found[place] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("shape", [(3, 9, 5), (3, 9, 20)])
def test_a_mask_leaves_points_out(kernel, shape, made):
    x, mask = rows(*shape), np.arange(9) < np.array([[9], [6], [2]])
    found = np.asarray(rep.entropy(made(x), kernel, mask=made(mask)))
    by_t = np.asarray(rep.entropy(made(x), kernel, mask=made(mask), normalize="T"))
    by_d = np.asarray(rep.entropy(made(x), kernel, mask=made(mask), normalize="D"))
    ranks = np.asarray(rep.effective_rank(made(x), kernel, mask=made(mask)))
    for i, n in enumerate((9, 6, 2)):
        expected = naive_entropy(naive_matrix(x[i, :n], kernel), 1)
        assert found[i] == pytest.approx(expected, abs=1e-10)
        assert by_t[i] == pytest.approx(expected / math.log2(n), abs=1e-10)
        assert by_d[i] == pytest.approx(expected / math.log2(shape[-1]), abs=1e-10)
        assert ranks[i] == pytest.approx(2**expected, abs=1e-9)


def test_rankme_is_that_of_singular_values(made):
    x = rows(3, 9, 5)
    s = np.linalg.svd(x, compute_uv=False)
    p = s / s.sum(axis=1, keepdims=True)
    expected = np.exp(-np.sum(p * np.log(p), axis=1))
    assert np.asarray(rep.rankme(made(x))) == pytest.approx(expected, abs=1e-10)


def test_many_are_measured_some_at_a_time(monkeypatch, made):
    x, y = rows(3, 4, 6, 5), rows(3, 4, 6, 2, seed=1)
    mask = rows(3, 4, 6, seed=2) > -1
    whole = rep.mutual_information(made(x), made(y), mask=made(mask))
    monkeypatch.setattr("lorenyi.representations.stacks.ENTRIES", 5 * 36)
    for small in (2**18, 1):  # on one core, on several
        monkeypatch.setattr("lorenyi.representations.stacks.SMALL", small)
        parts = rep.mutual_information(made(x), made(y), mask=made(mask))
        assert parts.shape == (3, 4)
        assert np.asarray(parts) == pytest.approx(np.asarray(whole), abs=1e-12)


# ------------------------------------------------------------------------------------------ of two


@pytest.mark.parametrize("kernel", KERNELS[1:], ids=repr)
@pytest.mark.parametrize("alpha", [1, 2, 1.01])
def test_information_and_its_scores_are_those_of_the_matrices(kernel, alpha, made):
    x, y = rows(3, 8, 4), rows(3, 8, 2, seed=1)
    both, options = (kernel, GAUSSIAN), {"alpha": alpha}
    information = np.asarray(rep.mutual_information(made(x), made(y), both, **options))
    scores = np.asarray(rep.information_vendi_score(made(x), made(y), both, **options))
    conditional = np.asarray(rep.conditional_vendi_score(made(x), made(y), both, alpha=alpha))
    for i in range(3):
        A, B = naive_matrix(x[i], kernel), naive_matrix(y[i], GAUSSIAN)
        a, b, joint = (naive_entropy(K, alpha) for K in (A, B, A * B))
        assert information[i] == pytest.approx(a + b - joint, abs=1e-10)
        assert scores[i] == pytest.approx(2 ** (a + b - joint), abs=1e-10)
        assert conditional[i] == pytest.approx(2 ** (joint - b), abs=1e-9)


def test_the_information_is_that_of_the_measure_of_points():
    x, y = rows(40, 4), rows(40, 2, seed=1)
    H = lr.Renyi(solver=lr.Exact())
    A, B = lr.gram(x, lr.Gaussian("median")), lr.gram(y, lr.Gaussian("median"))
    expected = float(lr.mutual_information(A, B, entropy=H))
    assert rep.mutual_information(x, y) == pytest.approx(expected, abs=1e-10)


def test_dime_is_the_joint_entropy_of_chance_less_that_of_the_pair(made):
    from lorenyi import _arrays

    x = rows(2, 20, 3)
    y = x[..., :2] + 0.1 * rows(2, 20, 2, seed=1)
    found = np.asarray(rep.dime(made(x), made(y), GAUSSIAN, permutations=4, seed=3))
    for i in range(2):
        A, B = naive_matrix(x[i], GAUSSIAN), naive_matrix(y[i], GAUSSIAN)
        chance = []
        for j in range(4):
            order = _arrays.permutation(3, 20 + j, np.zeros(20, dtype=int))
            chance.append(naive_entropy(A * B[np.ix_(order, order)], 1))
        assert found[i] == pytest.approx(np.mean(chance) - naive_entropy(A * B, 1), abs=1e-10)
    assert (found > 0.1).all()
    assert np.abs(rep.dime(x, rows(2, 20, 2, seed=9), GAUSSIAN)).max() < found.min()


def test_the_divergence_of_samples_is_that_of_their_mixture(made):
    x, y = rows(3, 7, 2), rows(3, 11, 2, seed=1) + 1
    found = np.asarray(rep.jensen_shannon_divergence(made(x), made(y), GAUSSIAN))
    for i in range(3):
        K = naive_matrix(np.concatenate([x[i], y[i]]), GAUSSIAN)
        w = np.sqrt(np.concatenate([np.full(7, 1 / 14), np.full(11, 1 / 22)]))
        parts = naive_entropy(K[:7, :7], 1) + naive_entropy(K[7:, 7:], 1)
        expected = naive_entropy(K * w[:, None] * w[None, :], 1) - 0.5 * parts
        assert found[i] == pytest.approx(expected, abs=1e-10)
    assert rep.jensen_shannon_divergence(x, x, GAUSSIAN) == pytest.approx(0.0, abs=1e-10)
    far = rep.jensen_shannon_divergence(x, y + 1e3, GAUSSIAN)
    assert far == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_hsic_and_cka_are_those_of_their_authors(kernel, made):
    x, y = rows(3, 9, 4), rows(3, 9, 2, seed=1)
    n = 9
    H = np.eye(n) - 1 / n
    ones = np.ones(n)

    def biased(K, L):
        return np.trace(K @ H @ L @ H) / n**2

    def unbiased(K, L):
        K, L = K - np.diag(np.diag(K)), L - np.diag(np.diag(L))
        whole = (ones @ K @ ones) * (ones @ L @ ones) / ((n - 1) * (n - 2))
        return (np.trace(K @ L) + whole - 2 / (n - 2) * (ones @ K @ L @ ones)) / (n * (n - 3))

    for flag, naive in ((False, biased), (True, unbiased)):
        found = np.asarray(rep.hsic(made(x), made(y), kernel, unbiased=flag))
        aligned = np.asarray(rep.cka(made(x), made(y), kernel, unbiased=flag))
        for i in range(3):
            K, L = naive_matrix(x[i], kernel), naive_matrix(y[i], kernel)
            assert found[i] == pytest.approx(naive(K, L), abs=1e-10)
            expected = naive(K, L) / math.sqrt(naive(K, K) * naive(L, L))
            assert aligned[i] == pytest.approx(expected, abs=1e-10)


def test_the_matrix_of_alignments_is_that_of_pairs(made):
    layers = [made(rows(12, d, seed=d)) for d in (3, 5, 20)]
    for flag in (False, True):
        found = np.asarray(rep.cka_matrix(layers, unbiased=flag))
        for i in range(3):
            for j in range(3):
                expected = rep.cka(layers[i], layers[j], unbiased=flag)
                assert found[i, j] == pytest.approx(float(expected), abs=1e-10)


def test_the_standard_error_of_a_mean_is_the_usual_one(made):
    x = rows(2, 12, 1)
    found = rep.standard_error(lambda x: x.mean(-2)[..., 0], made(x), groups=12)
    np.testing.assert_allclose(np.asarray(found), x[..., 0].std(axis=1, ddof=1) / 12**0.5)
    each = rep.standard_error(lambda x: x.mean(-2)[..., 0], made(x), groups=list("abcdefghijkl"))
    np.testing.assert_allclose(np.asarray(each), np.asarray(found))


def test_standard_errors_are_the_deviation_over_samples():
    """200 samples of 60 points at once: their alignments vary by what each of them says."""
    x = rows(200, 60, 3)
    y = x + rows(200, 60, 3, seed=1)
    for measure in (rep.cka, lambda x, y: rep.mutual_information(x, y, alpha=2)):
        said = rep.standard_error(measure, x, y)
        assert said.shape == (200,)
        assert np.sqrt((said**2).mean()) == pytest.approx(measure(x, y).std(), rel=0.2)


def test_the_standard_error_is_that_of_the_measure_of_points():
    x = rows(300, 2)
    y = x[:, :1] + rows(300, 1, seed=1)
    kernel = lr.Gaussian(1.0)
    said = rep.standard_error(lambda x, y: rep.mutual_information(x, y, kernel), x, y, groups=60)
    points = lr.mutual_information(lr.gram(x, kernel), lr.gram(y, kernel))
    assert said == pytest.approx(points.standard_error, rel=0.25)


# ---------------------------------------------------------------------------------------- tensors


@pytest.mark.parametrize("kernel", [*KERNELS[:3], lr.Gaussian(lr.GeometricMean())], ids=repr)
def test_tensors_keep_their_precision_and_gradient(kernel):
    x = torch.tensor(rows(2, 5, 8), dtype=torch.float32, requires_grad=True)
    value = rep.entropy(x, kernel)
    assert value.dtype == torch.float32
    value.sum().backward()
    assert x.grad.isfinite().all()
    double = torch.tensor(rows(2, 5, 8), requires_grad=True)
    if kernel != lr.Gaussian(lr.GeometricMean()):  # a bandwidth by a rule is held
        assert torch.autograd.gradcheck(lambda x: rep.entropy(x, kernel), double)


def test_points_that_are_all_equal_hold_nothing(made):
    x = made(np.ones((2, 6, 3)))
    for kernel in [*KERNELS, lr.Gaussian(lr.GeometricMean())]:
        assert np.asarray(rep.entropy(x, kernel)) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rep.entropy(rows(5)), r"x has shape \(5,\)"),
        (lambda: rep.entropy(rows(1, 5)), "two or more"),
        (lambda: rep.entropy(rows(4, 5), mask=np.ones(5)), r"it must be \(4,\)"),
        (lambda: rep.entropy(rows(4, 5), normalize="n"), "normalize='n'"),
        (lambda: rep.cka(rows(4, 5), rows(5, 5)), "same points"),
        (lambda: rep.hsic(rows(3, 5), rows(3, 5), unbiased=True), "four points"),
        (lambda: rep.cka_matrix([rows(4, 5), rows(5, 5)]), "of one n"),
        (lambda: rep.mutual_information(rows(4, 5), rows(4, 5), lr.Linear()), "take Cosine"),
        (lambda: rep.jensen_shannon_divergence(rows(4, 5), rows(4, 6)), "same columns"),
        (lambda: rep.cka(rows(4, 5), rows(4, 5), (lr.Linear(),)), "a pair for x and y"),
        (lambda: rep.standard_error(rep.cka), "give the representations"),
        (lambda: rep.standard_error(rep.rankme, rows(9, 2), groups=10), "from 2 to 9"),
        (lambda: rep.standard_error(rep.rankme, rows(9, 2), groups=[1, 2]), "each of 9 points"),
        (lambda: rep.standard_error(rep.rankme, rows(9, 2), groups=[1] * 9), "one label"),
    ],
)
def test_what_makes_no_sense_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_kernels_that_have_no_stack_are_said():
    for kernel in (lr.Laplacian(1.0), lr.Gaussian((1.0, 2.0)), lr.Gaussian("scott")):
        with pytest.raises(TypeError, match="here"):
            rep.entropy(rows(4, 2), kernel)
