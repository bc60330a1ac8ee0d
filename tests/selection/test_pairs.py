"""Information from pairs of rows: its formula, its errors, its tests, and what they decide."""

import time
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, rankdata
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from lorenyi import CollisionEntropy
from lorenyi.selection import JMI, MRMR, InformationSelector, JointInformation, NeighborInformation
from lorenyi.selection.blocks import Block, log_weights
from lorenyi.selection.pairs import Pairs
from lorenyi.selection.sampled import Look, leads, standard_errors
from lorenyi.selection.table import Table, Variable

IRIS, SPECIES = load_iris(return_X_y=True)


def numbers(x):
    x = np.asarray(x, dtype=float).reshape(len(x), -1)
    return Variable(x, np.zeros((len(x), 0), dtype=int))


def labels(y):
    y = np.asarray(y).reshape(-1, 1)
    return Variable(np.zeros((len(y), 0)), y)


def mixed(n=60, seed=0):
    """Numbers, one of them with gaps, a label, and a label to be told."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[rng.uniform(size=n) < 0.2, 2] = np.nan
    kind = rng.integers(0, 3, n)
    y = (X[:, 0] + 0.5 * kind + 0.5 * rng.normal(size=n) > 0.5).astype(int)
    return Table([*(numbers(X[:, j]) for j in range(3)), labels(kind)], labels(y)), X, kind, y


# ------------------------------------------------------------------------------------- oracles


def scores_of(x):
    """Normal scores in a loop; gaps at the middle."""
    there = ~np.isnan(x)
    z = np.zeros(len(x))
    z[there] = norm.ppf((rankdata(x[there]) - 0.5) / there.sum())
    z[there] /= z[there].std()
    return z, there


def kernels(X, kind):
    """Of each column: the Gaussian, and where labels (or being missing) are equal."""
    found = []
    for x in X.T:
        z, there = scores_of(x)
        found.append((np.exp(-((z[:, None] - z) ** 2)), there[:, None] == there))
    return [*found, (np.ones((len(kind), len(kind))), kind[:, None] == kind)]


def widened(kernel, of_numbers=1.0, of_labels=1.0):
    gaussian, equal = kernel
    return gaussian**of_numbers * np.where(equal, 1.0, (1 - of_labels) ** 2)


def neighbor_information(K, y, powers=(1.0, 1.0), given=(), v=None):
    """The formula in the docstring, row by row, with the best smoothing of the last feature."""
    return max(smoothed_information(K, y, powers, given, v, a) for a in (1, 4, 16))


def smoothed_information(K, y, powers, given, v, a):
    n, total = len(y), 0.0
    v = np.ones(n) if v is None else v
    chosen = np.prod([np.ones((n, n)), *(widened(K[i], *powers) for i in given[:-1])], axis=0)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        p = q = np.average([y[j] == y[i] for j in others], weights=v[others])
        for w, b in [(chosen, 1), (chosen * widened(K[given[-1]]), a)]:
            same = sum(v[j] * w[i, j] for j in others if y[j] == y[i])
            q = (same + b * q) / (sum(v[j] * w[i, j] for j in others) + b)
        total += v[i] * np.log2(q / p)
    return total / sum(v)


def collision_entropy(*K):
    """-log2 of the mean product over pairs of different rows."""
    product = np.prod(K, axis=0)
    n = len(product)
    return -np.log2((product.sum() - np.trace(product)) / (n * (n - 1)))


# ------------------------------------------------------------------------------------- formulas


def test_the_information_of_neighbors_is_its_formula():
    table, X, kind, y = mixed()
    K = kernels(X, kind)
    engine = Pairs(table)
    every = np.arange(4)
    alone = engine.neighbors(every, (), Look(1))[:, 0]
    expected = [neighbor_information(K, y, given=(i,)) for i in range(4)]
    assert alone == pytest.approx(expected, abs=1e-5)
    power = engine.powers((0, 3))
    assert power != (1, 1)
    both = engine.neighbors(every, (0, 3), Look(1))[:, 0]
    expected = [neighbor_information(K, y, power, (0, 3, i)) for i in range(4)]
    assert both == pytest.approx(expected, abs=1e-5)


def test_weighted_rows_count_as_often_as_they_occur_but_not_for_themselves():
    table, X, kind, y = mixed()
    v = 1.0 + np.arange(len(y)) % 4
    engine, K = Pairs(replace(table, weights=v)), kernels(X, kind)
    every, v = np.arange(4), v / v.mean()
    expected = [neighbor_information(K, y, given=(i,), v=v) for i in range(4)]
    assert engine.neighbors(every, (), Look(1))[:, 0] == pytest.approx(expected, abs=1e-5)
    power = engine.powers((0, 3))
    expected = [neighbor_information(K, y, power, (0, 3, i), v) for i in range(4)]
    assert engine.neighbors(every, (0, 3), Look(1))[:, 0] == pytest.approx(expected, abs=1e-5)
    # Permuted weights go with the target: candidates of the rows as they are, all else in order.
    (order,) = engine.orders(Look(1, 1))
    moved = np.argsort(order)  # the row of a candidate that the target's row gets
    rows = engine._rows[0]
    K = [(g[np.ix_(rows[moved], rows[moved])], e[np.ix_(rows[moved], rows[moved])]) for g, e in K]
    expected = [neighbor_information(K, y[rows], given=(i,), v=v[rows]) for i in range(4)]
    found = engine.neighbors(every, (), Look(1, 1))[:, 0]
    assert found == pytest.approx(expected, abs=1e-5)


def test_the_chosen_weights_have_the_width_that_predicts_best():
    table, *_ = mixed(200)
    for given, widest in (((0, 1, 2, 3), 0.75), ((0,), 1.0)):
        engine = Pairs(table)
        widest = min(1.0, 3 / sum(engine._sizes[i] for i in given))
        best = max((1, 2, 4), key=lambda f: information_alone(engine, given, (f * widest, widest)))
        assert engine.powers(given) == (best * widest, widest)
    assert Pairs(table).powers(()) == (1.0, 1.0)


def test_a_label_counts_as_the_numbers_that_leave_as_many_similar_rows():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2000, 3))
    share = np.mean(np.exp(-((z[:1000] - z[1000:]) ** 2)))
    five = rng.integers(0, 5, 2000)
    columns = [numbers(z[:, :1]), numbers(z), labels(five), labels(five < 0), labels(z[:, 0] > 2)]
    sizes = Pairs(Table(columns, labels(five > 2)))._sizes
    assert sizes == pytest.approx([1, 3, np.log(1 / 5) / np.log(share), 0, 1], abs=0.15)


def information_alone(engine, features, powers=(1.0, 1.0)):
    (block,) = engine.blocks(1)
    return block.shown(log_weights(block.apart(features), *powers)).mean


def test_information_without_a_feature_is_that_of_the_others():
    table, *_ = mixed(80)
    engine = Pairs(table)
    engine.powers = lambda given: (1.0, 1.0)
    chosen = (0, 1, 3)
    found = engine.without_each(chosen)
    rest = [tuple(i for i in chosen if i != j) for j in chosen]
    (block,) = engine.blocks(1)
    expected = [block.bits(block.weights(r)).mean() for r in rest]
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("criterion", [JointInformation, JMI, MRMR])
def test_criteria_of_order_2_are_their_formulas(criterion):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70, 4))
    y = (X[:, 0] + X[:, 2] + rng.normal(size=70) > 0).astype(int)
    K = [np.exp(-((x[:, None] - x) ** 2)) for x in ((X - X.mean(0)) / X.std(0)).T]
    t = (y[:, None] == y).astype(float)
    H = collision_entropy

    def information(a, b):
        return H(a) + H(b) - H(a, b)

    entropy = CollisionEntropy()
    found = InformationSelector(2, criterion=criterion(entropy=entropy)).fit(X, y)
    first = int(np.argmax([information(k, t) for k in K]))
    assert found.indices_[0] == first
    assert found.scores_[0] == pytest.approx(information(K[first], t), abs=1e-5)
    score = {
        JointInformation: lambda i: H(K[i], K[first]) + H(t) - H(K[i], K[first], t),
        JMI: lambda i: H(K[i], K[first]) + H(t) - H(K[i], K[first], t),
        MRMR: lambda i: information(K[i], t) - information(K[i], K[first]),
    }[criterion]
    others = [i for i in range(4) if i != first]
    assert found.indices_[1] == max(others, key=score)
    assert found.scores_[1] == pytest.approx(score(found.indices_[1]), abs=1e-5)


# ------------------------------------------------------------------------------------- errors


def fresh_tables(kind, count):
    """Yield tables of 300 rows, all columns of which are informative."""
    rng = np.random.default_rng(2)
    for _ in range(count):
        noise = rng.normal(size=300)
        if kind == "categories":
            X = rng.integers(0, 5, (300, 2))
            yield X, (X.sum(axis=1) + 2 * noise > 4).astype(int)
        else:
            X = rng.normal(size=(300, int(kind[0])))
            y = X.sum(axis=1) + noise
            yield X, y if kind.endswith("number") else (y > 0).astype(int)


@pytest.mark.parametrize(
    ("criterion", "kind"),
    [
        (NeighborInformation(), "1 column, label"),
        (NeighborInformation(), "3 columns, label"),
        (NeighborInformation(), "3 columns, number"),
        (NeighborInformation(), "categories"),
        (JMI(), "1 column, label"),
        (JMI(CollisionEntropy()), "1 column, label"),
    ],
)
def test_standard_errors_are_those_of_fresh_samples(criterion, kind):
    """Rows count as neighbors of others as well: their own terms vary by 0.6 to 0.8 of it."""
    values, errors = [], []
    for X, y in fresh_tables(kind, 150):
        found = InformationSelector(X.shape[1], criterion=criterion).fit(X, y)
        values.append(found.scores_[-1])
        errors.append(found.standard_errors_[-1])
    assert 0.83 < np.mean(errors) / np.std(values) < 1.25  # 150 tables: 6 % each way


def test_equal_columns_are_ties_as_often_as_errors_are_within_one():
    ties = 0
    rng = np.random.default_rng(1)
    for _ in range(120):
        X = rng.normal(size=(300, 2))
        y = (X.sum(axis=1) + rng.normal(size=300) > 0).astype(int)
        ties += len(InformationSelector(1).fit(X, y).path_[0].ties)
    assert 0.55 < ties / 120 < 0.8  # 0.68 expected, with an error of 0.04


def test_nothing_ties_with_a_column_that_is_the_target():
    y = np.arange(100) % 2
    X = np.c_[np.random.default_rng(0).normal(size=(100, 2)), y]
    (step,) = InformationSelector(1).fit(X, y).path_
    assert step.score == pytest.approx(1.0, abs=1e-6)
    assert not len(step.ties)
    assert step.standard_errors.max() < 0.2


def test_a_lead_has_the_error_of_a_difference():
    rng = np.random.default_rng(3)
    common = rng.normal(size=25)
    replicates = np.stack([common + 0.01 * rng.normal(size=25), common])
    values = np.hstack([[[1.0], [0.9]], replicates])
    lead, error = leads(values, 0)
    assert lead.tolist() == pytest.approx([0.0, 0.1])
    assert error[1] < 0.1 * standard_errors(values).min()


def test_candidates_that_are_close_are_compared_on_more_rows():
    tied = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(6000, 3))
        X[:, 1] = X[:, 0] + 0.01 * rng.normal(size=6000)  # the same, nearly
        y = (X[:, 0] + rng.normal(size=6000) > 0).astype(int)
        step = InformationSelector(1).fit(X, y).path_[0]
        assert step.rows > 1000
        tied += [step.feature, *step.ties] in ([0, 1], [1, 0])
    assert tied >= 2
    far = InformationSelector(1).fit(X[:, [0, 2]], y).path_[0]
    assert far.rows == 2000
    assert not len(far.ties)


# ------------------------------------------------------------------------------------- tests


def test_permutations_leave_everything_but_the_candidates_as_it_is():
    table, *_ = mixed(90)
    engine = Pairs(table, seed=5)
    given = (0,)
    null = engine.neighbors(np.array([1, 3]), given, Look(1, 40))
    assert null.shape == (2, 40)
    assert len(np.unique(null[0])) == 40
    part = engine.neighbors(np.array([1, 3]), given, Look(1, 10, 30))
    np.testing.assert_allclose(part, null[:, 30:], atol=1e-6)
    # A useless column costs something, against a constant one.
    (block,) = engine.blocks(1)
    log = log_weights(block.apart(given), *engine.powers(given))
    assert null.mean() < block.shown(log, block.shown(log)).mean


def test_pure_noise_is_chosen_as_rarely_as_the_level_says():
    chosen = 0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no feature was selected")
        for seed in range(100):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(80, 6)), rng.integers(0, 2, 80)
            chosen += InformationSelector(random_state=seed).fit(X, y).indices_.size > 0
    assert chosen <= 11  # 5 expected; more than 11 has a probability of 0.004


def test_a_second_look_at_all_rows_keeps_the_level_and_finds_more():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(6000, 4))
    y = (rng.uniform(size=6000) < 0.5 + 0.035 * X[:, 2]).astype(int)
    found = InformationSelector().fit(X, y)
    assert found.indices_.tolist() == [2]
    assert found.p_values_[0] <= 0.05
    with pytest.warns(UserWarning, match="no feature was selected"):  # 2,000 rows do not show it
        few = InformationSelector(criterion=NeighborInformation(rows=2000)).fit(X, y)
    assert few.path_.refused.p_value > 0.05


def test_p_values_are_not_below_what_permutations_show():
    found = InformationSelector(n_permutations=99).fit(IRIS, SPECIES)
    assert found.p_values_[0] == pytest.approx(0.01)
    assert InformationSelector().fit(IRIS, SPECIES).p_values_[0] == pytest.approx(0.05)


def table_of_all_kinds(seed):
    """Numbers, labels of few and of many levels, a noisy copy; some of them decide, at random."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(150, 400))
    numbers, levels = rng.normal(size=(n, 4)), rng.integers(2, 30, 4)
    codes = rng.integers(0, levels, size=(n, 4))
    effects = np.column_stack([rng.normal(size=k)[c] for k, c in zip(levels, codes.T, strict=True)])
    signal = np.c_[numbers, effects] @ (rng.normal(size=8) * (rng.uniform(size=8) < 0.6))
    y = signal + 0.5 * rng.normal(size=n)
    frame = pd.DataFrame(numbers, columns=list("abcd"))
    for k, c in enumerate(codes.T):
        frame[f"label{k}"] = [f"v{v}" for v in c]
    frame["copy"] = frame["a"] + 0.1 * rng.normal(size=n)
    return frame, (y > np.median(y)).astype(int) if rng.uniform() < 0.6 else y


@pytest.mark.parametrize("options", [{}, {"floating": True}, {"direction": "backward"}])
def test_the_score_of_a_path_never_falls_where_a_column_adds_something(options):
    for seed in range(12):
        X, y = table_of_all_kinds(seed)
        count = 9 if not options else 6
        found = InformationSelector(count, **options).fit(X, y)
        steps = np.diff(found.scores_)
        assert (steps >= 0).all()  # more columns never show less
        assert found.gains_[1:] == pytest.approx(steps)
        assert found.scores_[-1] <= found.target_entropy_
        assert found.scores_[0] == pytest.approx(found.gains_[0])


def test_no_step_of_auto_loses_information():
    X, y = load_breast_cancer(return_X_y=True)
    found = InformationSelector().fit(X, y)
    assert (found.gains_ > 0).all()
    assert 5 <= found.indices_.size <= 20


@pytest.mark.parametrize("levels", [12, 30])
def test_labels_of_many_levels_are_found_beside_each_other(levels):
    """Hardly any two of 500 rows are equal in three labels of 30 levels."""
    rng = np.random.default_rng(1)
    C = rng.integers(0, levels, (2000, 12))
    score = sum(rng.normal(size=levels)[C[:, j]] for j in range(3))
    y = (score + 0.5 * rng.normal(size=2000) > 0).astype(int)
    found = InformationSelector(3, categorical_features=range(12)).fit(C, y)
    assert sorted(found.indices_) == [0, 1, 2]


# ------------------------------------------------------------------------------------- options


def redundant(n=400, seed=0):
    """Columns 0 and 1 matter, 2 repeats 0 noisily, the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    X[:, 2] = X[:, 0] + 0.3 * rng.normal(size=n)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    return X, y


def test_relevant_columns_are_all_that_tell_something_and_few_others():
    others = 0
    for seed in range(10):
        X, y = redundant(seed=seed)
        found = InformationSelector("relevant").fit(X, y)
        assert {0, 1, 2} <= set(found.indices_.tolist())
        others += found.indices_.size - 3
        assert found.relevance_p_values_[:3].max() < 0.02
    assert others <= 4  # 5 % of 3.15 each: 1.6 expected


def test_false_discoveries_are_controlled_as_benjamini_and_hochberg_have_it():
    """The k smallest of d p-values, with the largest k for which the k-th is below k level / d."""
    X, y = redundant()
    for level in (0.02, 0.05, 0.5):
        found = InformationSelector("relevant", level=level).fit(X, y)
        p = found.relevance_p_values_
        kept = [k for k in range(9) if k == 0 or np.sort(p)[k - 1] <= k * level / 8]
        expected = set(np.argsort(p)[: max(kept)]) | set(found.path_.features)
        assert set(found.indices_) == expected


def test_the_smallest_set_is_within_a_standard_error_of_the_best():
    X, y = load_breast_cancer(return_X_y=True)
    whole = InformationSelector().fit(X, y)
    small = InformationSelector("smallest").fit(X, y)
    size = small.indices_.size
    assert size < whole.indices_.size
    assert small.indices_.tolist() == whole.indices_[:size].tolist()
    assert whole.scores_.max() - small.scores_[-1] < 2 * whole.standard_errors_.max()


def parity(n, bits, columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    return X, (np.prod(X[:, 3 : 3 + bits], axis=1) > 0).astype(int)


def test_pairs_and_triples_that_tell_something_only_together_are_found():
    X, y = parity(1500, 2, 30)
    assert sorted(InformationSelector(2, start="pair").fit(X, y).indices_) == [3, 4]
    X, y = parity(1500, 3, 8)
    assert sorted(InformationSelector(3, start="triple").fit(X, y).indices_) == [3, 4, 5]


def test_a_backward_search_keeps_an_exclusive_or():
    X, y = parity(500, 2, 6)
    found = InformationSelector(2, direction="backward").fit(X, y)
    assert sorted(found.indices_) == [3, 4]
    assert sorted(found.ranking_.tolist()) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match="direction='backward' needs a number of features"):
        InformationSelector(direction="backward").fit(X, y)
    with pytest.raises(ValueError, match="direction='backward' needs a criterion of the whole set"):
        InformationSelector(2, direction="backward", criterion=JMI()).fit(X, y)


def test_parameters_of_the_criterion_are_reached_by_grid_searches():
    pipeline = Pipeline([("select", InformationSelector(2)), ("model", KNeighborsClassifier())])
    grid = GridSearchCV(pipeline, {"select__criterion__bandwidth": [0.5, 2.0]}, cv=3)
    best = grid.fit(IRIS, SPECIES).best_estimator_["select"]
    assert best.criterion.bandwidth in (0.5, 2.0)
    selector = InformationSelector().set_params(criterion__smoothing=3.0, n_features_to_select=1)
    assert selector.criterion == NeighborInformation(smoothing=3.0)
    assert InformationSelector().criterion.smoothing == 1.0
    with pytest.raises(ValueError, match="Invalid parameter criterion__sigma"):
        selector.set_params(criterion__sigma=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandwidth": 0}, "bandwidth=0: it must be a positive number"),
        ({"smoothing": "a"}, "smoothing='a'"),
        ({"rows": 1}, "rows=1: it must be an integer of at least 2"),
    ],
)
def test_parameters_that_cannot_be_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        NeighborInformation(**options)


def test_time_that_is_over_ends_the_search_with_a_warning():
    X, y = redundant()
    with pytest.warns(RuntimeWarning, match="max_seconds was over after 0 features"):
        found = InformationSelector(3, max_seconds=1e-9).fit(X, y)
    assert found.indices_.size == 0
    with pytest.raises(ValueError, match=r"'max_seconds' parameter .* Got 0"):
        InformationSelector(3, max_seconds=0).fit(X, y)


def test_time_that_is_over_ends_a_backward_search_too():
    X, y = redundant(300)
    with pytest.warns(RuntimeWarning, match="over with 8 features left"):
        found = InformationSelector(3, direction="backward", max_seconds=1e-9).fit(X, y)
    assert len(found.indices_) == 8


# ------------------------------------------------------------------------------------- tables


def test_the_order_of_rows_does_not_matter():
    X, y = redundant(1500)
    order = np.random.default_rng(0).permutation(1500)
    one, other = InformationSelector(3).fit(X, y), InformationSelector(3).fit(X[order], y[order])
    assert one.scores_.tolist() == other.scores_.tolist()


def test_the_order_sign_and_scale_of_columns_and_names_of_labels_do_not_matter():
    X, y = redundant(1500)
    order = [4, 2, 0, 5, 7, 6, 1, 3]
    other = X[:, order] * [-1.0, 2.0, 1e-3, 1e3, -5.0, 1.0, 1.0, 9.0]
    found = InformationSelector(3).fit(X, y)
    again = InformationSelector(3).fit(other, np.array(["b", "a"])[y])
    assert np.array(order)[again.indices_].tolist() == found.indices_.tolist()
    assert again.scores_ == pytest.approx(found.scores_, abs=1e-6)


def test_a_column_with_the_ranks_of_a_chosen_one_waits():
    X, y = redundant(400)
    found = InformationSelector(3).fit(np.c_[np.exp(X[:, 0]), -(X[:, 0] ** 3), X[:, 1:]], y)
    assert len({0, 1} & set(found.indices_)) == 1


def test_a_noisy_copy_of_a_chosen_column_adds_less_than_a_weak_one():
    """Its product with the first only narrows the kernel, which is as narrow as it should be."""
    found = []
    for seed in range(5):
        z, w, e = np.random.default_rng(seed).normal(size=(3, 600))
        X = np.c_[z, z + 0.05 * np.random.default_rng(99).normal(size=600), w]
        found.append(2 in InformationSelector(2).fit(X, z + 0.2 * w + 0.1 * e).indices_)
    assert all(found)


def test_copies_of_rows_do_not_predict_each_other():
    """In bootstrap samples of numbers noise is chosen as rarely as in the rows themselves."""
    chosen = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 8))
        y = (X[:, 0] + 0.5 * rng.normal(size=150) > 0).astype(int)
        rows = rng.integers(0, 150, 150)
        chosen += set(InformationSelector().fit(X[rows], y[rows]).indices_) - {0} != set()
    assert chosen <= 5  # 1.5 expected; of all copies as points 0.7 of the tables


def test_class_weights_balance_a_target_and_make_no_noise_significant():
    chosen = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 6))
        y = np.arange(200) < 20
        w = np.where(y, 5.0, 5 / 9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nothing is chosen
            found = InformationSelector().fit(X, y, sample_weight=w)
        assert found.target_entropy_ == pytest.approx(1.0, abs=1e-6)
        chosen += len(found.indices_) > 0
    assert chosen <= 4  # 1 expected


def test_the_target_has_the_order_of_the_scores():
    y = np.arange(300) < 30
    found = InformationSelector(1, criterion=JMI(CollisionEntropy())).fit(np.c_[y, ~y], y)
    assert found.scores_[0] == pytest.approx(found.target_entropy_, abs=0.01)


def test_a_mirrored_column_repeats_another_however_it_is_scaled():
    X, y = redundant(300)
    found = InformationSelector(2, standardize=False).fit(np.c_[X[:, 0], -X[:, 0], X[:, 3]], y)
    assert sorted(found.indices_) == [0, 2]


def test_equal_rows_of_labels_are_different_points():
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 50, axis=0)
    found = InformationSelector().fit(X, X[:, 1])
    assert found.indices_.tolist() == [1]
    assert found.scores_[0] == pytest.approx(1.0, abs=0.05)


def test_a_random_date_or_zip_code_is_not_chosen_before_what_matters():
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame(
        {
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), "D"),
            "zip": rng.integers(10_000, 99_999, n),
            "code": [f"c{c}" for c in rng.integers(0, 300, n)],
            "age": rng.integers(18, 90, n),
            "group": rng.integers(0, 3, n),
        }
    )
    y = (frame["age"] + 20 * (frame["group"] == 1) + 10 * rng.normal(size=n) > 60).astype(int)
    found = InformationSelector().fit(frame, y)
    assert found.names_.tolist() == ["age", "group"]
    assert found.categorical_.tolist() == [False, False, True, False, True]
    assert found.task_ == "classification"


@pytest.mark.parametrize(
    ("levels", "task", "found"),
    [
        (10, "auto", "classification"),
        (11, "auto", "regression"),
        (11, "classification", "classification"),
    ],
)
def test_integers_of_few_values_are_classes_as_in_features(levels, task, found):
    y = np.arange(220) % levels
    X = np.stack([y, y], axis=1) + np.random.default_rng(0).normal(size=(220, 2))
    assert InformationSelector(1, task=task).fit(X, y).task_ == found
    names = np.array([f"class {k}" for k in y])
    assert InformationSelector(1).fit(X, names).task_ == "classification"


def test_sums_of_an_earlier_look_are_those_of_a_fresh_engine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 6))
    table = Table([numbers(x) for x in X.T], labels((X[:, 0] + X[:, 1] > 0).astype(int)))
    used, fresh = (Pairs(table) for _ in range(2))
    used.neighbors(np.arange(1, 6), (0,), Look(2))
    for candidates in ([1, 4], [4], [2, 4]):
        some = np.array(candidates)
        again = used.neighbors(some, (0,), Look(4))
        assert np.allclose(again, fresh.neighbors(some, (0,), Look(4)), atol=1e-6)


def test_many_rows_are_drawn_and_not_all_read():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 6))
    y = X[:, 1] + 0.5 * X[:, 4] ** 2 + 0.3 * rng.normal(size=200_000)
    start = time.process_time()
    found = InformationSelector(2).fit(X, y)
    assert time.process_time() - start < 10
    assert sorted(found.indices_) == [1, 4]
    assert found.task_ == "regression"
    few = InformationSelector(2, criterion=NeighborInformation(rows=500)).fit(X, y)
    assert [step.rows for step in few.path_] == [500, 500]


def test_rows_of_a_large_table_are_drawn_by_their_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    first = np.arange(3000) < 300
    y = np.where(first, X[:, 0] > 0, X[:, 1] > 0).astype(int)  # column 0 matters for few rows
    criterion = NeighborInformation(rows=1000)
    weighted = InformationSelector(1, criterion=criterion).fit(X, y, np.where(first, 100, 1))
    assert weighted.indices_.tolist() == [0]
    assert InformationSelector(1, criterion=criterion).fit(X, y).indices_.tolist() == [1]


def test_collections_of_dask_and_parquet_are_not_collected(tmp_path, monkeypatch):
    import dask.dataframe as dd
    import pyarrow.dataset
    import pyarrow.parquet

    import lorenyi.distributed

    X, y = redundant(3000)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    criterion = NeighborInformation(rows=1000)
    expected = InformationSelector(3, criterion=criterion).fit(frame, y)
    monkeypatch.setattr(lorenyi.distributed, "collect", None)
    pieces = dd.from_pandas(frame, npartitions=4)
    found = InformationSelector(3, criterion=criterion).fit(pieces, y)
    assert found.scores_.tolist() == expected.scores_.tolist()
    assert found.names_.tolist() == expected.names_.tolist()
    array = pieces.to_dask_array(lengths=True)
    found = InformationSelector(3, criterion=criterion).fit(array, y)
    assert found.scores_.tolist() == expected.scores_.tolist()
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pandas(frame), tmp_path / "a.parquet", row_group_size=700
    )
    dataset = pyarrow.dataset.dataset(tmp_path / "a.parquet")
    found = InformationSelector(3, criterion=criterion).fit(dataset, y)
    assert found.scores_.tolist() == expected.scores_.tolist()


def test_a_path_reads_well_and_becomes_a_frame():
    X, y = redundant()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    found = InformationSelector(2).fit(frame, y)
    assert repr(found.path_).splitlines()[0].startswith("step  feature  information")
    assert "<table>" in found.path_._repr_html_()
    table = pd.DataFrame(found.path_.table())
    assert table["feature"].tolist() == found.names_.tolist()
    assert table["score"].tolist() == found.scores_.tolist()
    assert found.path_[0].candidates.tolist() == list(range(8))
    assert found.ranking_[found.indices_].tolist() == [1, 2]


def test_a_feature_that_cannot_be_measured_does_not_change_the_p_values_of_others():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    y = (X["a"] + X["b"] + rng.normal(size=120) > 0).astype(int)
    selector = InformationSelector("relevant", criterion=JMI(CollisionEntropy()))
    alone = selector.fit(X, y).relevance_p_values_
    with_ids = selector.fit(X.assign(id=[f"i{i}" for i in range(120)]), y).relevance_p_values_
    assert with_ids.tolist() == [*alone, 1.0]


def test_what_cannot_be_measured_has_no_error():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 8, (300, 5)).astype(str), columns=list("abcde"))
    y = (rng.uniform(size=300) > 0.5).astype(int)
    found = InformationSelector(5, criterion=JointInformation(CollisionEntropy())).fit(X, y)
    assert found.scores_[-1] == -np.inf  # no two rows agree in all
    assert np.isnan(found.standard_errors_[-1])
    assert np.isfinite(found.standard_errors_[:-1]).all()


def test_sums_are_not_computed_twice(monkeypatch):
    table, *_ = mixed(80)
    engine, done = Pairs(table), []
    plain = Block.sums_with

    def counted(self, w, features):
        done.extend(features.tolist())
        return plain(self, w, features)

    monkeypatch.setattr(Block, "sums_with", counted)
    x, look = np.arange(4), Look(1)
    first = engine.joint(x, (), look), engine.joint(x[1:], (0,), look)
    engine.alone((), look), engine.alone((0,), look)
    seen = sorted(done)
    again = engine.joint(x, (), look), engine.joint(x[2:], (0,), look)
    engine.joint(np.array([-1]), (), Look(1, 3))  # permutations do not count
    engine.alone((0,), look)
    assert sorted(done) == seen == [-1, -1, 0, 1, 1, 2, 2, 3, 3]
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1][:, 1:], again[1])


def test_the_jackknife_leaves_rows_out_as_rows_and_as_neighbors():
    table, *_ = mixed(60)
    engine = Pairs(table)
    (block,) = engine.blocks(1)
    block.smoothing = [1.0]
    log = log_weights(block.apart((0, 2)))
    shown = block.shown(log, block.shown(0 * block.t, every=True), every=True)
    group, (rows,) = np.arange(60) % 25, engine._rows
    for g in (0, 7, 24):
        rest = np.flatnonzero(group != g)
        features, target = [v.take(rest) for v in block.features], engine._target.take(rows[rest])
        part = Block(features, target, block.v[rest], 1.0)
        part.smoothing = [1.0]
        log_part = log_weights(part.apart((0, 2)))
        expected = part.shown(log_part, part.shown(0 * part.t))
        np.testing.assert_allclose(shown.bits[rest, 1 + g], expected.bits[:, 0], atol=1e-5)


def test_permutations_of_a_relevance_test_come_in_batches(monkeypatch):
    looks, plain = [], Pairs.neighbors

    def recorded(self, candidates, given, look):
        looks.extend([look] * bool(look.permutations))
        return plain(self, candidates, given, look)

    monkeypatch.setattr(Pairs, "neighbors", recorded)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    InformationSelector("relevant", level=0.02).fit(X, X[:, 0] > 0)
    relevance = looks[-5:]  # the last test of a fit
    assert [(look.skipped, look.permutations) for look in relevance] == [
        (0, 12),
        (12, 12),
        (24, 12),
        (36, 12),
        (48, 2),
    ]


def test_equal_numbers_have_their_mean_rank_and_gaps_have_none():
    x = np.random.default_rng(0).integers(0, 6, (40, 2)).astype(float)
    x[::7, 1] = np.nan
    found = numbers(x).ranked.numbers
    np.testing.assert_array_equal(found, rankdata(x, axis=0, nan_policy="omit"))
