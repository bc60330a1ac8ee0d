"""Two samples: the divergence against its definition, the test, and which columns changed."""

import numpy as np
import pytest
import scipy.spatial.distance
import scipy.stats

import lorenyi as lr

EXACT = lr.Renyi(solver=lr.Exact())


def bits(K, weights):
    root = np.sqrt(weights)
    values = np.linalg.eigvalsh(root[:, None] * K * root)
    values = values[values > 1e-15]
    return -np.sum(values * np.log2(values))


def two(seed=0, n=40, m=25):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.normal(0.5, 1.5, size=(m, 2))


def test_the_divergence_is_its_definition():
    x, y = two()
    both = np.vstack([x, y])
    K = np.exp(-scipy.spatial.distance.cdist(both, both, "sqeuclidean") / 2)
    w = np.repeat([0.5 / 40, 0.5 / 25], [40, 25])
    first, second = K[:40, :40], K[40:, 40:]
    expected = bits(K, w) - bits(first, np.full(40, 1 / 40)) / 2
    expected -= bits(second, np.full(25, 1 / 25)) / 2
    found = lr.divergence(x, y, kernel=lr.Gaussian(1.0), entropy=EXACT)
    assert float(found) == pytest.approx(expected, abs=1e-10)


def test_for_labels_it_is_jensens_and_shannons():
    x, y = ["a", "a", "b", "c"], ["a", "b"]
    p, q = np.array([0.5, 0.25, 0.25]), np.array([0.5, 0.5, 0.0])
    expected = scipy.spatial.distance.jensenshannon(p, q, base=2) ** 2
    assert float(lr.divergence(x, y)) == pytest.approx(expected, abs=1e-12)


def test_equal_samples_have_none_and_disjoint_ones_one_bit():
    x, _ = two()
    assert float(lr.divergence(x, x, entropy=EXACT)) == pytest.approx(0.0, abs=1e-12)
    far = lr.divergence(x, x + 1000.0, entropy=EXACT, kernel=lr.Gaussian(1.0))
    assert float(far) == pytest.approx(1.0, abs=1e-12)


def test_the_standard_error_is_that_of_two_samples_of_their_own_sizes():
    """Against the spread over tables; the larger sample is ten times the smaller."""
    kernel, found, errors = lr.Gaussian(1.0), [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=300), rng.normal(1.5, 0.6, size=30)
        value = lr.divergence(x, y, kernel=kernel)
        found.append(float(value))
        errors.append(value.standard_error)
    assert np.mean(errors) == pytest.approx(np.std(found), rel=0.3)


def test_order_2_of_different_pairs_has_no_bias():
    """Two samples of one law: the mean is zero within three standard errors of it."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, 40))
        found.append(float(lr.divergence(x, y, entropy=lr.CollisionEntropy())))
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(40)
    biased = [
        float(lr.divergence(*np.random.default_rng(s).normal(size=(2, 40)))) for s in range(5)
    ]
    assert min(biased) > 0


def test_mmd_is_its_definition():
    x, y = two()
    kxx, kyy, kxy = (
        np.exp(-scipy.spatial.distance.cdist(a, b, "sqeuclidean") / 2)
        for a, b in ((x, x), (y, y), (x, y))
    )
    expected = (kxx.sum() - 40) / (40 * 39) + (kyy.sum() - 25) / (25 * 24) - 2 * kxy.mean()
    assert lr.mmd(x, y, kernel=lr.Gaussian(1.0)) == pytest.approx(expected, abs=1e-12)


# ------------------------------------------------------------------------------- the test


def test_the_level_holds_for_one_column_and_for_many():
    for columns in (1, 6):
        found, named = [], 0
        for seed in range(80):
            rng = np.random.default_rng(seed)
            x, y = rng.normal(size=(20, columns)), rng.normal(size=(15, columns))
            result = lr.two_sample_test(x, y, permutations=19, seed=seed)
            found.append(result.pvalue)
            named += bool(result.changed)
        for share in (np.mean(np.array(found) <= 0.05 + 1e-12), named / 80):
            assert scipy.stats.binom.sf(round(80 * share) - 1, 80, 0.05) > 1e-3


def test_the_columns_that_changed_are_named():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(150, 8)), rng.normal(size=(100, 8))
    y[:, 2] += 1.0
    y[:, 5] = np.sign(y[:, 5]) * 0.9
    found = lr.two_sample_test(x, y)
    assert found.pvalue == 0.005
    assert sorted(found.changed) == ["x2", "x5"]
    assert found.columns[0].excess > 0.05
    assert "changed columns: x" in repr(found)


def test_a_change_that_only_columns_together_show_is_found():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 150, 2))
    y[:, 1] = np.abs(y[:, 1]) * np.sign(y[:, 0])
    found = lr.two_sample_test(x, y)
    assert found.pvalue == 0.005
    assert found.changed == []


def test_frames_may_hold_numbers_and_labels():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    first = {"size": rng.normal(size=90), "kind": rng.choice(["a", "b"], 90)}
    second = {"kind": rng.choice(["a", "b", "c"], 60), "size": rng.normal(size=60)}
    for library in (pd, pl):
        found = lr.two_sample_test(library.DataFrame(first), library.DataFrame(second))
        assert found.changed == ["kind"]
        assert found.divergence == lr.divergence(*found.samples)
    assert lr.two_sample_test(pd.Series(first["size"]), pd.Series(second["size"])).columns == ()


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        (np.ones((3, 2)), np.ones((3, 1)), ValueError, "the same columns"),
        (np.ones(3), [], ValueError, "y has no rows"),
        (lr.gram([1.0, 2.0]), [1.0], TypeError, "x is a Gram"),
    ],
)
def test_bad_samples_are_refused(x, y, error, message):
    for call in (lr.divergence, lr.two_sample_test):
        with pytest.raises(error, match=message):
            call(x, y)


def test_frames_of_other_columns_are_refused():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="same columns: b, c"):
        lr.divergence(pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [1], "c": [2]}))
    with pytest.raises(TypeError, match="one of x and y is a data-frame"):
        lr.divergence(pd.DataFrame({"a": [1], "b": [2]}), np.ones((2, 2)))
