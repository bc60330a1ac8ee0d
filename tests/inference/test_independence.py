"""The default test of independence: exact, powerful, fast, and clear about what it did."""

import math

import numpy as np
import pytest
import scipy.stats

import lorenyi as lr
from lorenyi.inference import features, quadratic
from lorenyi.inference.features import BANDWIDTHS, basis, scaled
from lorenyi.inference.permuting import STOP_ERROR, harmonic, looks, pooled, tails
from lorenyi.inference.quadratic import Quadratic, View, shared_views, side_by_side, views


def draw(kind, rng, n):
    """Return two independent variables of a kind."""
    if kind == "numbers":
        return rng.normal(size=n), rng.standard_t(2, n)
    if kind == "ties":
        return np.round(rng.normal(size=n), 0), rng.integers(0, 30, n)
    if kind == "labels":
        return rng.choice(["a", "b", "c"], n), rng.random(n) < 0.2
    return rng.normal(size=(n, 3)), rng.integers(0, 4, n)


# ------------------------------------------------------------------------------- the level


@pytest.mark.parametrize("kind", ["numbers", "ties", "labels", "mixed"])
def test_the_level_holds(kind):
    """P(p <= level) <= level: so many below it are within the binomial bound of one in 10^4."""
    found = []
    for seed in range(150):
        x, y = draw(kind, np.random.default_rng(seed), 24)
        found.append(lr.independence_test(x, y, permutations=39, seed=seed).pvalue)
    for level in (0.05, 0.1, 0.25):
        below = int(np.sum(np.array(found) <= level + 1e-12))
        assert scipy.stats.binom.sf(below - 1, len(found), level) > 1e-4
    assert np.mean(found) < 0.75  # and it is not that nothing is ever found


def test_each_of_the_pool_is_equally_likely_to_be_the_largest():
    """Whichever of the pool is called the observed one: the p-values are 1/m, 2/m, ..., 1."""
    values = np.random.default_rng(0).normal(size=(20, 4)) * [1.0, 5.0, 0.1, 2.0]
    found = [pooled(np.roll(values, -i, axis=0)).pvalue for i in range(20)]
    assert sorted(found) == pytest.approx(np.arange(1, 21) / 20)
    squares = values**2
    found = [pooled(np.roll(squares, -i, axis=0), [1, 1, 0.5, 0.5]).pvalue for i in range(20)]
    assert sorted(found) == pytest.approx(np.arange(1, 21) / 20)


def test_what_does_not_vary_does_not_speak():
    values = np.column_stack([np.full(10, 3.0), np.arange(10.0)])
    assert pooled(values).pvalue == 1.0
    assert pooled(values[::-1]).pvalue == 0.1
    assert pooled(values[::-1]).largest == 1
    assert pooled(values, [1.0, 1.0]).pvalue == 1.0
    assert pooled(values[::-1], [1.0, 1.0]).pvalue == 0.1
    assert pooled(values[::-1], [1.0, 1.0]).largest == 1


def test_the_tails_are_those_of_gamma_distributions():
    values = np.random.default_rng(0).chisquare([1.0, 5.0, 60.0], (40, 3))
    for found, v in zip(tails(values).T, values.T, strict=True):
        gamma = scipy.stats.gamma(v.mean() ** 2 / v.var(), scale=v.var() / v.mean())
        np.testing.assert_allclose(found, gamma.sf(v), rtol=1e-9)


def test_the_statistic_is_the_harmonic_mean_of_p_values_by_share():
    p = np.array([[0.01, 0.01], [0.01, 0.5], [0.5, 0.01]])
    expected = [0.01, 4 / (3 / 0.01 + 1 / 0.5), 4 / (3 / 0.5 + 1 / 0.01)]
    np.testing.assert_allclose(harmonic(p, [3.0, 1.0]), scipy.stats.norm.isf(expected), rtol=1e-12)
    twice = np.arange(10.0, 0.0, -1.0)[:, None].repeat(2, axis=1)
    assert pooled(twice, [0.5, 1.0]).largest == 1


def test_so_many_deviations_are_less_rare_in_a_skewed_view():
    """One row of the pool is 3 deviations up in each view; that of the even view is larger."""
    skewed, even = (scipy.stats.gamma.isf(np.linspace(0.01, 0.99, 99), k) for k in (0.5, 200.0))
    pool = np.full((101, 2), [np.mean(skewed), np.mean(even)])
    pool[2:] = np.column_stack([skewed, even[::-1]])
    pool[0, 1] += 3 * even.std()
    pool[1, 0] += 3 * skewed.std()
    assert pooled(pool, [1.0, 1.0]).statistic > pooled(pool, [1.0, 1.0]).null[0] + 0.2
    assert pooled(pool).statistic < pooled(pool).null[0] + 0.2


# ------------------------------------------------------------------------------- early ends


def test_an_early_end_never_changes_what_is_significant():
    early = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=60)
        y = 0.35 * x + rng.normal(size=60)
        short = lr.independence_test(x, y)
        full = lr.independence_test(x, y, level=None)
        assert len(full.null) == 199
        assert not full.ended_early
        early += short.ended_early
        if short.ended_early:
            assert short.pvalue > 0.05
            assert "is out of reach" in repr(short)
        else:
            assert short.pvalue == full.pvalue
            assert np.array_equal(short.null, full.null)
    assert 0 < early < 12


def test_so_many_above_are_as_rare_as_is_said():
    rng = np.random.default_rng(0)
    found = lr.independence_test(rng.normal(size=50), rng.normal(size=50))
    above = int(np.sum(found.null >= found.statistic))
    assert found.ended_early
    assert scipy.stats.binom.sf(above - 1, len(found.null), 0.05) <= STOP_ERROR


@pytest.mark.parametrize("permutations", [1, 38, 39, 40, 199, 999])
def test_looks_end_at_the_last_permutation(permutations):
    ends = looks(permutations)
    assert ends[-1] == permutations
    assert ends == sorted(set(ends))


# ------------------------------------------------------------------------------- the statistic


def naive(x, y, shift):
    """Return sum L(a, b) Delta^2 / (2 ln 2) over all pairs of eigenvectors, from dense matrices."""
    n = len(x)
    (lam, V), (mu, W) = (np.linalg.eigh(lr.gram(v).dense()) for v in (x, y))
    V, W = V[:, lam > 1e-9], W[:, mu > 1e-9]
    lam, mu = lam[lam > 1e-9], mu[mu > 1e-9]
    c, d = np.sqrt(n * lam) * V, np.sqrt(n * mu) * W
    cc, dd = np.einsum("ij,il->ijl", c, c), np.einsum("ik,im->ikm", d, d)
    cc, dd = cc - cc.mean(axis=0), dd - dd.mean(axis=0)
    delta = np.einsum("ijl,ikm->jlkm", cc, dd) / n
    total = 0.0
    for j in range(len(lam)):
        for m in range(len(lam)):
            for k in range(len(mu)):
                for q in range(len(mu)):
                    a, b = lam[j] * mu[k] + shift, lam[m] * mu[q] + shift
                    weight = 1 / a if math.isclose(a, b) else math.log(a / b) / (a - b)
                    total += weight * delta[j, m, k, q] ** 2
    return total / (2 * math.log(2))


def statistic(x, y, multiples=(1.0,), numbers=(None, None)):
    """Return bits by the name of the view, of arrays or Grams."""
    a, b = (basis(lr.gram(v), multiples, N) for v, N in zip((x, y), numbers, strict=True))
    groups = np.zeros(len(a.columns), dtype=int)
    found = Quadratic(a.columns, b.columns, views(a, b, multiples), groups)
    return dict(zip(found.names, found(None)[0], strict=True))


def few_values(seed=0, n=60):
    """Return two dependent variables of four and three values: all eigenvalues are leading."""
    rng = np.random.default_rng(seed)
    x = rng.choice([0.0, 1.5, 2.0, 4.0], n)
    return x, np.where(rng.random(n) < 0.4, x > 1.7, rng.random(n) < 0.5) * 1.5 + (x > 3) * 0.5


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_statistic_is_the_sum_of_squares(share, monkeypatch):
    monkeypatch.setattr(quadratic, "UNRESOLVED", share)
    monkeypatch.setattr(features, "LEFT_OF_TRACE", 1e-14)
    monkeypatch.setattr(features, "LEFT_OF_PRODUCTS", 1e-14)
    x, y = few_values()
    assert statistic(x, y)[1.0, 1.0] == pytest.approx(naive(x, y, share / len(x)), rel=1e-9)


def test_for_labels_it_is_pearsons_chi_square(monkeypatch):
    monkeypatch.setattr(quadratic, "UNRESOLVED", 0.0)
    rng = np.random.default_rng(1)
    x = rng.integers(0, 4, 200)
    y = np.where(rng.random(200) < 0.3, x, rng.integers(0, 3, 200))
    table = np.zeros((4, 4))
    np.add.at(table, (x, y), 1)
    chi = scipy.stats.chi2_contingency(table, correction=False).statistic
    expected = chi / (2 * 200 * math.log(2))
    assert statistic(x.astype(str), y.astype(str))[None] == pytest.approx(expected, rel=1e-10)


def test_what_the_basis_omits_changes_no_decision(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = np.sin(2.0 * x) + 1.5 * rng.normal(size=300)
    coarse = lr.independence_test(x, y, level=None)
    monkeypatch.setattr(features, "LEFT_OF_PRODUCTS", 1e-8)
    fine = lr.independence_test(x, y, level=None)
    assert np.corrcoef(coarse.null, fine.null)[0, 1] > 0.999
    assert coarse.pvalue == pytest.approx(fine.pvalue, abs=0.011)


def test_bases_side_by_side_have_the_statistics_of_each_alone():
    rng = np.random.default_rng(0)
    y = rng.normal(size=80)
    multiples, groups = (np.inf, 1.0), np.zeros(80, dtype=int)
    *sides, b = (basis(lr.gram(v), multiples) for v in (y**2, rng.normal(size=(80, 2)), y))
    seen = [views(a, b, multiples) for a in sides]
    columns, moved = side_by_side(sides, seen)
    orders = np.stack([rng.permutation(80) for _ in range(3)])
    alone = [
        Quadratic(a.columns, b.columns, own, groups) for a, own in zip(sides, seen, strict=True)
    ]
    together = Quadratic(columns, b.columns, moved, groups)(orders)
    np.testing.assert_allclose(together, np.hstack([q(orders) for q in alone]), rtol=1e-10)


def test_at_an_infinite_bandwidth_it_is_the_rv_coefficient(monkeypatch):
    """Of one column each: the squared correlation; with labels, the share of variance explained.

    The basis leaves what has less than 1e-12 of the energy.
    """
    monkeypatch.setattr(features, "LEFT_OF_PRODUCTS", 1e-14)
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 50, 2))
    Y[:, 0] += X[:, 0]

    def linear(x, y):
        return statistic(x, y, (np.inf, 2.0))[np.inf, np.inf] * 2 * math.log(2)

    C = np.cov(np.hstack([X, Y]).T)
    expected = np.sum(C[:2, 2:] ** 2) / np.linalg.norm(C[:2, :2]) / np.linalg.norm(C[2:, 2:])
    assert linear(X, Y) == pytest.approx(expected, rel=1e-9)
    expected = np.corrcoef(X[:, 0], Y[:, 0])[0, 1] ** 2
    assert linear(X[:, 0], Y[:, 0]) == pytest.approx(expected, rel=1e-9)
    label = rng.choice(["a", "b"], 50)
    means = [X[label == k, 0].mean() for k in label]
    assert linear(X[:, 0], label) == pytest.approx(np.var(means) / np.var(X[:, 0]), rel=1e-9)


def test_equal_weights_give_hsic_with_squared_kernels(monkeypatch):
    """That is the squared distance of the joint state from the product of both."""
    monkeypatch.setattr(features, "LEFT_OF_TRACE", 1e-14)
    monkeypatch.setattr(features, "LEFT_OF_PRODUCTS", 1e-14)
    x, y = few_values()
    a, b = (basis(lr.gram(v), (1.0,)) for v in (x, y))
    view = View((1.0, 1.0), a.at(1.0), b.at(1.0), is_flat=True)
    found = Quadratic(a.columns, b.columns, [view], np.zeros(len(x), dtype=int))(None)[0, 0]
    H = np.eye(len(x)) - 1 / len(x)
    K, L = ((len(x) * lr.gram(v).dense()) ** 2 for v in (x, y))
    expected = np.trace(K @ H @ L @ H) / len(x) ** 2 / (2 * math.log(2))
    assert found == pytest.approx(expected, rel=1e-9)


def test_normal_scores_are_compared_linearly_too(monkeypatch):
    """Squared, it is the correlation of van der Waerden, which no monotone function changes."""
    monkeypatch.setattr(features, "LEFT_OF_PRODUCTS", 1e-14)
    x = np.random.default_rng(0).standard_t(2, 60)
    y = 0.5 * x + np.random.default_rng(1).standard_t(2, 60)

    def of_scores(x, y):
        a, b = (basis(lr.gram(v), (np.inf, 1.0), with_scores=True) for v in (x, y))
        *_, last = shared_views(a, b, (np.inf, 1.0))
        assert last.name == (np.inf, np.inf)
        return Quadratic(a.columns, b.columns, [last], np.zeros(60, dtype=int))(None)[0, 0]

    ranks = [(scipy.stats.rankdata(v) - 0.5) / 60 for v in (x, y)]
    expected = np.corrcoef(*scipy.stats.norm.ppf(ranks))[0, 1] ** 2 / (2 * math.log(2))
    assert of_scores(x, y) == pytest.approx(expected, rel=1e-9)
    assert of_scores(np.exp(x / 5), y**3) == pytest.approx(expected, rel=1e-9)


def test_the_narrowest_bandwidth_for_both_has_a_small_share():
    x, y = np.random.default_rng(0).normal(size=(2, 40))

    def seen(y, multiples=BANDWIDTHS):
        a, b = (basis(lr.gram(v), multiples, with_scores=True) for v in (x, y))
        return [(v.name, v.share, v.is_flat) for v in shared_views(a, b, multiples)]

    same = [((m, m), 0.1 if m == 0.25 else 1.0, False) for m in (2.0, 1.0, 0.5, 0.25, np.inf)]
    crossed = [((2.0, 0.25), 0.5, False), ((0.25, 2.0), 0.5, False)]
    smooth = [((2.0, 2.0), 1.0, True), ((np.inf, np.inf), 1.0, False)]
    assert seen(y) == [*same, *crossed, *smooth]
    # Labels have no bandwidth: nothing is crossed, and they have no scores.
    same[3] = ((0.25, 0.25), 1.0, False)
    assert seen(y > 0) == [*same, ((2.0, 2.0), 1.0, True)]
    # A single bandwidth is used alone.
    assert seen(y, (0.5,)) == [((0.5, 0.5), 1.0, False)]


def test_integers_of_few_values_are_labels_and_numbers():
    rng = np.random.default_rng(1)
    x = rng.poisson(3.0, 120)
    y = rng.poisson(2.0 + 0.5 * np.abs(x - 3.0))
    assert lr.gram(x).is_nominal
    found = lr.independence_test(x, y)
    assert found.bandwidth == (2.0, 2.0)
    assert found.pvalue < lr.independence_test(lr.gram(x), lr.gram(y)).pvalue
    assert lr.independence_test(x, y, weights=np.ones(120)).pvalue == found.pvalue


def test_an_oscillation_is_seen_at_crossed_bandwidths():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 100)
    y = np.sin(4 * np.pi * x) + 0.7 * rng.normal(size=100)
    assert lr.independence_test(x, y).bandwidth == (0.25, 2.0)
    assert lr.independence_test(y, x).bandwidth == (2.0, 0.25)


def test_near_independence_it_is_the_mutual_information(monkeypatch):
    """A full grid of values, tilted ever less: the quotient tends to 1."""
    monkeypatch.setattr(quadratic, "UNRESOLVED", 0.0)
    a, b = (v.ravel() for v in np.meshgrid([0.0, 1.0, 3.0], [0.0, 2.0, 2.5]))
    tilt = np.array([1, -1, 0, -2, 1, 1, 1, 0, -1])
    off = []
    for size in (20, 200):
        rows = np.repeat(np.arange(9), size + tilt)
        x, y = a[rows], b[rows]
        grams = [lr.gram(v, lr.Gaussian(1.0)) for v in (x, y)]
        exact = float(lr.mutual_information(*grams, entropy=lr.Renyi(solver=lr.Exact())))
        found = statistic(*grams)[None]
        off.append(abs(found / exact - 1))
    assert off[0] < 0.1
    assert off[1] < 0.01


def test_other_bandwidths_are_those_of_scaled_kernels():
    x, y = few_values()
    found = statistic(x, y, BANDWIDTHS)
    assert {(2.0, 0.25), (0.25, 2.0)} < set(found)
    for multiples, value in found.items():
        if multiples == (np.inf, np.inf):
            continue
        sigma = [
            m * lr.gram(v).factors[0].kernel.sigma for m, v in zip(multiples, (x, y), strict=True)
        ]
        grams = [lr.gram(v, lr.Gaussian(s)) for v, s in zip((x, y), sigma, strict=True)]
        alone = statistic(*grams)[None]
        assert value == pytest.approx(alone, rel=1e-3)  # the shared basis leaves 1e-4
    assert (
        scaled(lr.gram(x), 0.5).factors[0].kernel
        == lr.gram(x, lr.Gaussian(0.5 * 2.0)).factors[0].kernel
    )


# ------------------------------------------------------------------------------- power


def relation(name, seed, n=100):
    rng = np.random.default_rng(seed)
    x, e, t = rng.uniform(-1, 1, n), rng.normal(size=n), rng.uniform(0, 2 * np.pi, n)
    return {
        "linear": lambda: (x, x + 0.8 * e),
        "circle": lambda: (np.cos(t) + 0.2 * e, np.sin(t) + 0.2 * rng.normal(size=n)),
        "sine": lambda: (x, np.sin(2 * np.pi * x) + 0.7 * e),
        "noise": lambda: (e, (0.3 + np.abs(e)) ** 1.5 * rng.normal(size=n)),
        "label": lambda: (e, np.where(np.abs(e) < 0.67, "in", "out")),
    }[name]()


def test_fine_patterns_are_found_with_enough_rows():
    """Three rings: only the narrowest bandwidth for both is below the distance between them."""
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        t, radius = rng.uniform(0, 2 * np.pi, 200), rng.integers(1, 4, 200)
        x, y = radius * np.cos(t), radius * np.sin(t)
        x, y = x + 0.15 * rng.normal(size=200), y + 0.15 * rng.normal(size=200)
        found.append(lr.independence_test(x, y).pvalue)
    assert np.sum(np.array(found) <= 0.05) >= 9


def test_a_line_is_found_among_outliers():
    def is_found(seed):
        x, e = np.random.default_rng(seed).standard_t(1.2, (2, 80))
        return lr.independence_test(x, 0.3 * x + e).pvalue <= 0.05

    assert sum(is_found(seed) for seed in range(20)) >= 18  # 16 without normal scores


@pytest.mark.parametrize("name", ["linear", "circle", "sine", "noise", "label"])
def test_dependence_is_found(name):
    """Of 8 tables, at least 7 at one in a hundred."""
    found = [lr.independence_test(*relation(name, s), permutations=99).pvalue for s in range(8)]
    assert np.sum(np.array(found) <= 0.01 + 1e-12) >= 7


def test_given_labels_dependence_of_opposite_signs_is_found_and_a_common_cause_is_not():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 80)
    x = rng.normal(size=80)
    y = np.where(z == 1, x, -x) + 0.3 * rng.normal(size=80)
    assert lr.independence_test(x, y, given=z).pvalue == 0.005
    found = []
    for _ in range(5):
        x, y = (3 * z + rng.normal(size=80) for _ in range(2))
        assert lr.independence_test(x, y).pvalue == 0.005
        found.append(lr.independence_test(x, y, given=z).pvalue)
    assert np.median(found) > 0.1


# ------------------------------------------------------------------------------- all kinds of data


def test_a_constant_has_a_p_value_of_one():
    x = np.random.default_rng(0).normal(size=50)
    for constant in (np.ones(50), np.array(["a"] * 50)):
        assert lr.independence_test(x, constant).pvalue == 1.0
        assert lr.independence_test(constant, x).pvalue == 1.0


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows_are_enough(n):
    x = np.arange(n) ** 2.0
    found = lr.independence_test(x, x, permutations=99)
    assert math.isfinite(found.statistic)
    # The statistic of x with itself is the largest: 1 of n! orders, up to reflections.
    assert 1 / math.factorial(n) <= 4 * found.pvalue + 0.1


def test_weights_are_frequencies():
    rng = np.random.default_rng(0)
    x, y, w = rng.normal(size=25), rng.normal(size=25), rng.integers(0, 3, 25)
    weighed = lr.independence_test(x, y + 0.5 * x, weights=w, level=None)
    rows = np.repeat(np.arange(25), w)
    repeated = lr.independence_test(x[rows], (y + 0.5 * x)[rows], level=None)
    assert weighed.n == len(rows)
    assert weighed.null == pytest.approx(repeated.null, abs=1e-6)
    assert weighed.pvalue == repeated.pvalue


def test_frames_tensors_and_float32_are_variables():
    pd, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(70, 2)), rng.choice(["a", "b"], 70)
    z = x[:, 0] ** 2 + 0.2 * rng.normal(size=70)
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": y})
    assert lr.independence_test(frame, z).pvalue == 0.005
    assert lr.independence_test((frame["a"], frame["c"]), z).pvalue == 0.005
    plain = lr.independence_test(x, z)
    tensor = lr.independence_test(torch.tensor(x, requires_grad=True), torch.tensor(z))
    assert tensor.null == pytest.approx(plain.null, abs=1e-6)
    assert lr.independence_test(x.astype(np.float32), z).pvalue == plain.pvalue


def test_units_do_not_matter():
    x, y = relation("circle", 3)
    first, second = lr.independence_test(x, y), lr.independence_test(1e6 - 1e3 * x, y)
    assert second.null == pytest.approx(first.null, abs=1e-4)


def test_a_bandwidth_given_as_a_number_stays():
    x, y = relation("circle", 3)
    A, B = lr.gram(x, lr.Gaussian(0.3)), lr.gram(y, lr.Gaussian(0.3))
    found = lr.independence_test(A, B)
    assert found.bandwidth is None
    assert "bits" in repr(found)
    assert lr.independence_test(A, y).bandwidth in {(m, m) for m in BANDWIDTHS}
    assert not lr.independence_test(x, y, bandwidths=[1]).is_standardized


def test_many_categories_are_told_apart():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 300, 900).astype(str)
    assert lr.independence_test(x, rng.integers(0, 2, 900).astype(str)).pvalue > 0.05
    assert lr.independence_test(x, x).pvalue == 0.005


# ------------------------------------------------------------------------------- the result


def test_the_same_seed_gives_the_same_answer():
    x, y = relation("linear", 0, 40)
    first, again, other = (lr.independence_test(x, y, seed=s, level=None) for s in (1, 1, 2))
    assert np.array_equal(first.null, again.null)
    assert not np.array_equal(first.null, other.null)


def test_the_information_is_the_mutual_information():
    x, y = relation("sine", 0, 50)
    assert lr.independence_test(x, y).information == lr.mutual_information(x, y)


def test_it_shows_itself_in_notebooks_and_pictures():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    found = lr.independence_test(*relation("sine", 0, 50))
    assert "p-value" in found._repr_html_()
    assert "<svg" in found._repr_html_()
    display = found.plot(ax=Figure().subplots())
    assert display.line_.get_xdata()[0] == found.statistic


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("permutations", 0),
        ("level", 1.5),
        ("level", "no"),
        ("bandwidths", []),
        ("bandwidths", [1, -1]),
        ("bandwidths", "wide"),
        ("seed", 0.5),
    ],
)
def test_a_bad_argument_is_named(argument, value):
    with pytest.raises(ValueError, match=f"{argument}="):
        lr.independence_test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], **{argument: value})
