"""The test of conditional independence: its level, its power, its parts, its adapters."""

import numpy as np
import pytest
import scipy.stats

import lorenyi as lr
from lorenyi.inference.neighbors import MAX_GROUP, PARTITIONS, local_groups
from lorenyi.inference.regression import fits, residuals, singular, standardized_residuals
from lorenyi.inference.searches import causal_learn_test, tigramite_test


def common_cause(seed, n=120, own=0.0):
    """x and y depend on z, and on each other by `own`."""
    rng = np.random.default_rng(seed)
    z, e, f = rng.normal(size=(3, n))
    return z + 0.5 * e, z**2 + 0.5 * f + own * e, z


def test_given_a_common_cause_the_level_holds():
    found = [
        lr.conditional_independence_test(*common_cause(s), permutations=39, seed=s).pvalue
        for s in range(60)
    ]
    for level in (0.05, 0.1, 0.25):
        below = int(np.sum(np.array(found) <= level + 1e-12))
        assert scipy.stats.binom.sf(below - 1, 60, level) > 1e-3
    x, y, _ = common_cause(0)
    assert lr.independence_test(x, y).pvalue == 0.005  # without z they depend on each other


def test_what_the_cause_does_not_explain_is_found():
    found = [
        lr.conditional_independence_test(*common_cause(s, own=0.4), permutations=99).pvalue
        for s in range(8)
    ]
    assert np.sum(np.array(found) <= 0.05) >= 7


def test_given_labels_it_is_the_test_within_groups():
    rng = np.random.default_rng(0)
    z = rng.choice(["u", "v"], 90)
    x, y = (2.0 * (z == "u") + rng.normal(size=90) for _ in range(2))
    found = lr.conditional_independence_test(x, y, given=z, level=None)
    within = lr.independence_test(x, y, given=z, level=None)
    assert found.pvalue == within.pvalue
    assert found.null == pytest.approx(within.null, abs=1e-9)
    assert found.information == lr.conditional_mutual_information(x, y, given=z)


def test_given_numbers_and_labels_both_count():
    """x and y share z where the label is u, and -z where it is v."""
    rng = np.random.default_rng(1)
    z, label = rng.normal(size=200), rng.choice(["u", "v"], 200)
    s = np.where(label == "u", z, -z)
    x, y = s + 0.5 * rng.normal(size=200), z + 0.5 * rng.normal(size=200)
    assert lr.conditional_independence_test(x, y, given=label).pvalue == 0.005
    found = lr.conditional_independence_test(x, y, given=(z, label))
    assert found.pvalue > 0.05


def test_categories_are_tested_too():
    rng = np.random.default_rng(2)
    z = rng.normal(size=200)
    x = np.where(z + rng.normal(size=200) > 0, "a", "b")
    own = np.where(x == "a", 1.0, 0.0) + rng.normal(size=200)
    assert lr.conditional_independence_test(x, z + rng.normal(size=200), given=z).pvalue > 0.05
    assert lr.conditional_independence_test(x, z + 1.5 * own, given=z).pvalue <= 0.05


def test_three_columns_of_numbers_give_a_warning():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="given has 3 columns of numbers"):
        lr.conditional_independence_test(*rng.normal(size=(2, 40)), given=rng.normal(size=(40, 3)))


def test_a_ready_matrix_is_refused():
    K = lr.gram(np.eye(5), lr.Precomputed())
    with pytest.raises(ValueError, match=r"x=.*must be numbers or labels"):
        lr.conditional_independence_test(K, np.arange(5.0), given=np.arange(5.0))


# ------------------------------------------------------------------------------- its parts


def test_residuals_are_those_of_fits_to_all_other_rows(monkeypatch):
    """One bandwidth, one ridge: against solving n systems of n - 1 rows."""
    from lorenyi.inference import regression

    monkeypatch.setattr(regression, "RIDGES", [1e-3])
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=25), rng.normal(size=25)
    y -= y.mean()
    C = lr.gram(z, lr.Gaussian(0.7))
    K, expected = C.dense(), []
    for i in range(25):
        others = np.arange(25) != i
        inner = K[np.ix_(others, others)] + 1e-3 * np.eye(24)
        expected.append(y[i] - K[i, others] @ np.linalg.solve(inner, y[others]))
    assert residuals(y[:, None], C)[:, 0] == pytest.approx(np.array(expected), abs=1e-4)


def test_residuals_forget_a_smooth_function_and_its_noise():
    rng = np.random.default_rng(0)
    z, e, f = rng.normal(size=(3, 400))
    Y = np.column_stack([np.sin(2 * z) + np.exp(0.5 * z) * e, z**2 + np.exp(0.5 * z) * f])
    left = standardized_residuals(Y, lr.gram(z))
    assert abs(np.corrcoef(left[:, 0], e)[0, 1]) > 0.9
    assert abs(np.corrcoef(left[:, 0] ** 2, left[:, 1] ** 2)[0, 1]) < 0.15


def test_the_metric_is_the_mean_outer_product_of_the_fits_gradient():
    """Against differences of the dual form of the fit."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 2))
    y = np.sin(2 * Z[:, 0]) + 0.1 * rng.normal(size=40)
    y -= y.mean()
    A = lr.gram(Z, lr.Gaussian(1.0))
    fit = fits(y[:, None], singular(A))[0]
    dual = (y - fit.fitted) / fit.ridge

    def value(points):
        distance = ((points[:, None] - Z) ** 2).sum(axis=2)
        return np.exp(-distance / 2) / 40 @ dual

    assert value(Z) == pytest.approx(fit.fitted, abs=1e-4)
    step = 1e-5
    slopes = [(value(Z + step * e) - value(Z - step * e)) / (2 * step) for e in np.eye(2)]
    M = np.array(slopes) @ np.array(slopes).T
    root = fit.metric(y, Z)
    assert root @ root == pytest.approx(M / np.linalg.eigvalsh(M)[-1], abs=1e-3)


def test_columns_are_turned_to_the_direction_that_matters():
    """Of a wave along the diagonal of three columns more than the noise is left without turning."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 3))
    y = np.sin(3 * Z.sum(axis=1) / np.sqrt(3))[:, None] + 0.3 * rng.normal(size=(200, 1))
    plain, turned = residuals(y, lr.gram(Z)), residuals(y, lr.gram(Z), Z)
    assert np.mean(plain**2) > 0.2
    assert np.mean(turned**2) < 0.12  # 0.09 is the noise


@pytest.mark.parametrize("columns", [1, 3])
def test_groups_are_small_near_and_within_labels(columns):
    rng = np.random.default_rng(0)
    Z, labels = rng.normal(size=(300, columns)), rng.integers(0, 3, 300)
    several = local_groups(Z, labels, 0)
    assert several.shape == (PARTITIONS, 300)
    for groups in several:
        members = [groups == g for g in np.unique(groups)]
        assert max(m.sum() for m in members) <= MAX_GROUP
        assert all(len(set(labels[m])) == 1 for m in members)
        spread = np.mean([Z[m].std(axis=0).mean() for m in members])
        assert spread < (0.1 if columns == 1 else 0.6)  # of 1 among all rows
    cuts = {tuple(groups - groups.min()) for groups in several}
    assert len(cuts) == PARTITIONS


def test_equal_rows_given_end_the_cutting():
    groups = local_groups(np.zeros((40, 1)), np.zeros(40, dtype=np.int64), 0)
    assert np.bincount(groups.ravel()).max() <= MAX_GROUP


# ------------------------------------------------------------------------------- searches


def chain(n=150):
    """a -> b -> c."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=n)
    b = a**2 + 0.4 * rng.normal(size=n)
    return np.column_stack([a, b, np.tanh(b) + 0.3 * rng.normal(size=n)])


def test_causal_learn_finds_a_chain():
    cit = pytest.importorskip("causallearn.utils.cit")
    data = chain()
    test = cit.CIT(data, causal_learn_test(permutations=99))
    assert test(0, 1) == 0.01
    assert test(0, 2, [1]) > 0.05
    assert test(2, 0, {1}) == test(0, 2, [1])


@pytest.mark.parametrize("block", [1, 8, None])
def test_tigramite_finds_a_link_in_time(block):
    pytest.importorskip("tigramite")
    from tigramite.data_processing import DataFrame
    from tigramite.pcmci import PCMCI

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 150))
    y[1:] += x[:-1] ** 2
    frame = DataFrame(np.column_stack([x, y]), var_names=["x", "y"])
    found = PCMCI(frame, tigramite_test(permutations=99, block=block), verbosity=0).run_pcmci(
        tau_max=1, pc_alpha=0.05
    )
    assert found["p_matrix"][0, 1, 1] == 0.01
    assert found["val_matrix"][0, 1, 1] > 0.05
    assert found["p_matrix"][1, 0, 1] > 0.05
