"""What a search meets: labels of many levels, starts, copies of rows, steps back, weights."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from lorenyi import CollisionEntropy
from lorenyi.selection import (
    CMIM,
    JMI,
    InformationSelector,
    JointInformation,
    NeighborInformation,
)
from lorenyi.selection.counts import equal_frequency
from lorenyi.selection.estimated import Estimated
from lorenyi.selection.pairs import Pairs
from lorenyi.selection.sampled import Look
from lorenyi.selection.table import Table, Variable


def quiet(selector, X, y, weights=None):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no feature was selected")
        return selector.fit(X, y, sample_weight=weights)


def labels_that_add_up(levels, n, seed=0):
    """Six labels of equal effect on a class, and six columns of noise."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (n, 6))
    y = rng.random(n) < 1 / (1 + np.exp(-np.linspace(-1, 1, levels)[codes].sum(axis=1)))
    frame = pd.DataFrame(np.char.add("v", codes.astype(str)), columns=list("abcdef"))
    return frame.assign(**{f"noise{j}": rng.normal(size=n) for j in range(6)}), y


# ------------------------------------------------------------------ labels of many levels


@pytest.mark.parametrize("levels", [3, 6, 10])
def test_labels_of_many_levels_are_found_beside_each_other(levels):
    X, y = labels_that_add_up(levels, 1000)
    assert sorted(InformationSelector(6).fit(X, y).names_) == list("abcdef")
    assert sorted(InformationSelector().fit(X, y).names_) == list("abcdef")


def test_constant_columns_do_not_change_what_is_found():
    X, y = labels_that_add_up(6, 600)
    alone = InformationSelector(4).fit(X, y).names_.tolist()
    X = X.assign(k1="same", k2="same", k3="same")
    found = InformationSelector(7, must_include=["k1", "k2", "k3"]).fit(X, y)
    assert found.names_.tolist() == ["k1", "k2", "k3", *alone]


def test_labels_of_a_few_rows_each_wait_where_they_seem_to_be_informative():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = pd.DataFrame({"id": [f"k{i}" for i in range(400)], "good": y + rng.normal(size=400)})
    for criterion in (CMIM(), JMI(), JointInformation()):
        assert InformationSelector(1, criterion=criterion).fit(X, y).names_ == ["good"]
    for criterion in (CMIM(), JMI(entropy=CollisionEntropy()), NeighborInformation()):
        assert InformationSelector(criterion=criterion).fit(X, y).names_.tolist() == ["good"]
    said = InformationSelector(1, criterion=CMIM(), categorical_features=["id"]).fit(X, y)
    assert said.names_ == ["id"]  # that it is a category was asked for


# ------------------------------------------------------------------ starts


def test_a_start_is_tested_as_a_whole():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 6)), rng.integers(0, 2, 100)
        found += len(quiet(InformationSelector(start="pair"), X, y).indices_) > 0
    assert found <= 4


def test_a_start_keeps_only_what_is_significant_beside_the_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    alone = InformationSelector(start="pair").fit(X, X[:, 2] > 0)
    assert alone.indices_.tolist() == [2]
    both = InformationSelector(start="pair").fit(X, X[:, 2] * X[:, 5] > 0)
    assert sorted(both.indices_) == [2, 5]
    assert (both.p_values_ <= 0.05).all()


def test_three_features_that_are_informative_only_together_are_found_among_thirty():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 30))
    y = X[:, 5] * X[:, 10] * X[:, 21] > 0
    assert sorted(InformationSelector(3, start="triple").fit(X, y).indices_) == [5, 10, 21]


def test_best_pairs_are_those_of_the_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    w = np.where(np.arange(1000) < 150, 100.0, 1.0)
    y = np.where(w > 1, X[:, 7] * X[:, 11] > 0, X[:, 12] * X[:, 15] > 0)
    selector = InformationSelector(2, start="pair")
    assert sorted(selector.fit(X, y, sample_weight=w).indices_) == [7, 11]
    assert sorted(selector.fit(X, y).indices_) == [12, 15]


def test_a_feature_that_was_taken_back_does_not_come_in_untested():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (3000, 3))
    y = bits @ [4, 2, 1]
    mixed = np.where(rng.random(3000) < 0.25, rng.integers(0, 8, 3000), y)
    X = np.c_[mixed, bits, rng.integers(0, 2, (3000, 2))]
    criterion = JointInformation(CollisionEntropy())
    found = InformationSelector(criterion=criterion, start="pair", floating=True).fit(X, y)
    assert sorted(found.indices_) == [1, 2, 3]
    assert 0 in found.path_.dropped


def test_smaller_sets_keep_what_must_be_included():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    found = InformationSelector("smallest", must_include=[3, 0]).fit(X, X[:, 3] > 0)
    assert found.indices_.tolist() == [3, 0]


def test_floating_never_ends_with_a_feature_that_adds_nothing():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 8))
        X[:, 4:] = X[:, :4] + 0.3 * rng.normal(size=(120, 4))
        y = X[:, :3].sum(axis=1) + rng.normal(size=120) > 0
        found = quiet(InformationSelector(floating=True), X, y)
        assert not len(found.indices_) or found.gains_[-1] > 0


# ------------------------------------------------------------------ copies of rows and weights


def of_labels(rng):
    return pd.DataFrame(rng.integers(0, 8, (300, 12)).astype(str)), rng.integers(0, 2, 300)


def of_whole_numbers(rng):
    return pd.DataFrame(rng.integers(0, 72, (300, 8))), rng.integers(0, 2, 300)


@pytest.mark.parametrize("criterion", [NeighborInformation(), JMI()])
@pytest.mark.parametrize("table", [of_labels, of_whole_numbers])
def test_noise_stays_insignificant_in_bootstrap_samples(table, criterion):
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = table(rng)
        rows = rng.integers(0, 300, 300)
        found += (
            len(quiet(InformationSelector(criterion=criterion), X.iloc[rows], y[rows]).indices_) > 0
        )
    assert found <= 3


def test_class_weights_do_not_make_noise_significant():
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = of_labels(rng)
        w = np.where(y == 1, 4.0, 1.0)
        found += len(quiet(InformationSelector(), X, y, w).indices_) > 0
    assert found <= 3


def test_a_row_of_weight_zero_is_absent():
    rng = np.random.default_rng(0)
    X = np.c_[rng.integers(0, 10, 200), rng.normal(size=200)]
    y, w = (X[:, 0] > 4).astype(float), np.ones(201)
    w[200] = 0
    alone = InformationSelector(2).fit(X, y)
    more = InformationSelector(2).fit(np.r_[X, [[57.5, np.inf]]], np.r_[y, np.nan], sample_weight=w)
    assert more.categorical_.tolist() == alone.categorical_.tolist() == [True, False]
    assert more.task_ == alone.task_
    np.testing.assert_array_equal(more.scores_, alone.scores_)


def test_the_score_of_a_path_never_falls_whatever_the_weights():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1500, 5))
        y = X[:, 0] + rng.normal(size=1500) > 0
        w = np.exp(2 * rng.normal(size=1500))
        assert (np.diff(InformationSelector(5).fit(X, y, sample_weight=w).scores_) >= -1e-9).all()


def test_errors_of_counts_are_those_of_samples():
    values, errors = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (1000, 1))
        y = np.where(rng.uniform(size=1000) < 0.3, 1 - X[:, 0], X[:, 0])
        found = InformationSelector(1, criterion=JMI()).fit(X, y)
        values.append(found.scores_[0])
        errors.append(found.standard_errors_[0])
    assert 0.65 < np.mean(errors) / np.std(values) < 1.5


def test_the_entropy_of_a_rare_target_comes_from_as_many_rows_as_the_scores():
    rng = np.random.default_rng(0)
    y = (np.arange(8000) % 50 == 0).astype(int)
    X = np.c_[y, rng.normal(size=8000)]
    found = InformationSelector(1, criterion=JointInformation(CollisionEntropy())).fit(X, y)
    assert found.path_.target_entropy == pytest.approx(found.scores_[0], rel=0.15)


# ------------------------------------------------------------------ tests of steps


class Values:
    """An engine and its scores as they are given, one candidate that is permuted."""

    def __init__(self, best, null, first=1, count=1):
        self.best, self.null, self.looks = best, np.asarray(null), []
        self.engine = SimpleNamespace(first=lambda n: first, count=count, size=10)

    def p_value(self, **options):
        judge = Estimated.__new__(Estimated)
        judge.engine = self.engine
        judge.values = self.values
        step = SimpleNamespace(candidates=np.array([0]))
        return judge.p_value(step, (), 0.05, options.get("asked"))

    def values(self, candidates, chosen, look):
        if not look.permutations:
            return np.array([[self.best]])
        self.looks.append((look.blocks, look.skipped, look.permutations))
        return self.null[None, look.skipped : look.skipped + look.permutations]


def test_a_score_far_above_its_permutations_needs_no_more_of_them():
    null = np.random.default_rng(0).normal(size=59)
    far = Values(10.0, null)
    assert far.p_value() == 0.05
    assert sum(size for _, _, size in far.looks) == 19
    flat = Values(1.0, np.zeros(59))
    assert flat.p_value() == 0.05
    near = Values(null[:19].max() + 0.1, np.r_[null[:19], np.full(40, -9.0)])
    assert near.p_value() == pytest.approx(1 / 60)
    assert [skipped for _, skipped, _ in near.looks] == [0, 12, *range(19, 59, 12)]


def test_permutations_end_when_too_many_do_as_well():
    found = Values(0.5, np.r_[np.linspace(-3, 0.4, 30), np.ones(3), np.zeros(30)])
    assert found.p_value() == pytest.approx((1 + 3) / (1 + 43))


def test_two_looks_share_the_level():
    second = Values(1.0, np.zeros(200), first=1, count=4)
    second.values = lambda c, chosen, look: (
        np.array([[1.0]])
        if not look.permutations
        else np.full((1, look.permutations), 2.0 if look.blocks == 1 else 0.0)
    )
    assert second.p_value() == pytest.approx(1 / (100 * 0.2))


def test_looks_of_permutations_are_parts_of_one():
    rng = np.random.default_rng(0)
    numbers = [Variable(rng.normal(size=(60, 1)), np.zeros((60, 0), int)) for _ in range(2)]
    target = Variable(np.zeros((60, 0)), rng.integers(0, 2, (60, 1)))
    engine, x = Pairs(Table(numbers, target)), np.arange(2)
    whole = Pairs(Table(numbers, target)).neighbors(x, (), Look(1, 24))
    parts = [engine.neighbors(x, (), Look(1, 12, skipped)) for skipped in (0, 12)]
    np.testing.assert_allclose(np.hstack(parts), whole, atol=1e-6)


def test_relevance_can_be_significant_at_any_level():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    X[:, 1:3] = np.c_[-X[:, 0], X[:, 0] ** 3]
    found = InformationSelector("relevant", level=0.01).fit(X, X[:, 0] > 0)
    assert {0, 1, 2} <= set(found.indices_.tolist())
    again = found.set_params(n_features_to_select=1).fit(X[:, :3], X[:, 0] > 0)
    assert not hasattr(again, "relevance_p_values_")


def test_fitted_p_values_say_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    found = InformationSelector(criterion=JointInformation()).fit(X, X[:, 1] > 0)
    assert found.path_[0].fitted
    assert "(fitted)" in repr(found.path_)
    assert "(fitted)" not in repr(InformationSelector().fit(X, X[:, 1] > 0).path_)


# ------------------------------------------------------------------ options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "backward", "floating": True}, "floating=True is for direction='forward'"),
        ({"direction": "backward", "start": "pair"}, "start='pair' is for direction='forward'"),
        (
            {"n_features_to_select": "auto", "start": "pair", "criterion": JointInformation()},
            "is not tested: give a number of features",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=message):
        InformationSelector(**{"n_features_to_select": 1, **options}).fit(
            rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
        )


def test_what_a_selection_does_not_use_is_refused():
    with pytest.raises(ValueError, match="pairs and seed have no meaning in a selection"):
        JMI(entropy=CollisionEntropy(pairs=10))


# ------------------------------------------------------------------ what a path says


def test_required_features_are_never_taken_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X[:, 0] + X[:, 1] > 0
    back = InformationSelector(2, direction="backward", must_include=[4]).fit(X, y)
    assert back.indices_[0] == 4
    floating = InformationSelector(3, floating=True, must_include=[4]).fit(X, y)
    assert floating.indices_[0] == 4
    assert 4 not in floating.path_.dropped


def test_copies_end_a_search_that_stops_by_itself():
    x = np.random.default_rng(0).normal(size=200)
    found = InformationSelector().fit(np.c_[x, 2 * x, x**3], x > 0)
    assert len(found.indices_) == 1
    assert found.path_.refused is None


def test_scores_of_candidates_are_those_of_the_step():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    path = InformationSelector(3).fit(X, X[:, 1] + 0.5 * X[:, 3] > 0).path_
    for step in path:
        place = step.candidates.tolist().index(step.feature)
        assert step.scores[place] == pytest.approx(step.score)
        assert step.scores[place] == step.scores.max()


def test_features_that_were_not_chosen_are_ranked_by_the_last_step():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    y = 3 * X[:, 4] + 1.5 * X[:, 2] + 0.8 * X[:, 0] + 0.5 * rng.normal(size=800) > 0
    found = InformationSelector(1).fit(X, y)
    last = found.path_[-1]
    others = [j for j in np.argsort(-last.scores) if j != last.feature]
    assert found.ranking_[others].tolist() == [2, 3, 4, 5]
    assert found.ranking_.tolist()[:3:2] == [3, 2]


def test_what_the_smallest_set_leaves_out_is_named():
    X, y = load_breast_cancer(return_X_y=True)
    whole = InformationSelector().fit(X, y).path_
    small = InformationSelector("smallest").fit(X, y).path_
    assert 0 < len(small) < len(whole)
    assert small.refused.feature == whole[len(small)].feature


def test_likely_pairs_are_compared_by_how_rare_they_are():
    """A pair of wide kernels has more pairs of rows, and so larger sums, than a narrow one."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1500)
    rare = [np.where(rng.random(1500) < 0.05, 1 + y, 0) for _ in range(2)]
    narrow = [np.where(y == 1, 1, -1) * (z := rng.normal(size=1500)), z]
    variables = [
        *(Variable(np.zeros((1500, 0)), x[:, None]) for x in rare),
        *(Variable(x[:, None], np.zeros((1500, 0), int)) for x in narrow),
    ]
    engine = Pairs(Table(variables, Variable(np.zeros((1500, 0)), y[:, None])))
    assert engine.likely_sets(np.arange(4), 2)[0][1] == (2, 3)


def test_permuted_candidates_do_not_depend_on_each_other():
    rng = np.random.default_rng(0)
    variables = [Variable(rng.normal(size=(60, 1)), np.zeros((60, 0), int)) for _ in range(5)]
    table = Table(variables, Variable(np.zeros((60, 0)), rng.integers(0, 2, (60, 1))))
    x, look = np.arange(5), Look(1, 7)
    judge = Estimated(NeighborInformation(), Pairs(table))
    pieces = np.concatenate([judge._null(x[k : k + 1], (), look) for k in range(5)])
    np.testing.assert_allclose(judge._null(x, (), look), pieces, atol=1e-6)


# ------------------------------------------------------------------ what a review found


def test_rows_of_weight_zero_do_not_hide_what_is_wrong():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(100, 4)), np.ones(100)
    y, w[:5] = X[:, 0] > 0, 0
    for wrong in (np.r_[y, y[:20]], y[:90], None):
        with pytest.raises(ValueError, match=r"same rows|y is None"):
            InformationSelector(1).fit(X, wrong, sample_weight=w)
    masked = np.ma.masked_array(X, mask=np.isclose(X, X[50, 0]))
    found = InformationSelector(1).fit(masked, y, sample_weight=w)
    assert found.scores_ == InformationSelector(1).fit(masked[5:], y[5:]).scores_


def test_a_triple_keeps_only_what_is_significant_beside_the_rest():
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(300, 8))
        found = InformationSelector(start="triple").fit(X, X[:, 0] * X[:, 1] > 0)
        assert sorted(found.indices_) == [0, 1]


def test_where_no_set_is_significant_single_features_are_looked_at():
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 8))
        y = X[:, 0] + 1.5 * rng.normal(size=100) > 0
        found += 0 in quiet(InformationSelector(start="pair"), X, y).indices_
    assert found >= 5


def test_a_start_has_no_copies_and_ranks_the_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = X[:, 0] + 0.3 * rng.normal(size=200) > 0
    found = InformationSelector(3, start="pair").fit(np.c_[X[:, 0], X], y)
    assert not {0, 1} <= set(found.indices_.tolist())
    X = rng.normal(size=(1000, 20))
    y = 4 * X[:, 0] * X[:, 1] + X[:, 7] + 0.3 * rng.normal(size=1000) > 0
    assert InformationSelector(2, start="pair").fit(X, y).ranking_[7] == 3


def test_a_group_of_a_number_and_a_label_is_no_label_of_few_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    y = (X[:, 0] > 0).astype(int)
    X = np.column_stack([X[:, 0], rng.integers(0, 2, 100), X[:, 1:]])
    found = InformationSelector(1, criterion=JMI(), feature_groups=[[0, 1]]).fit(X, y)
    assert found.indices_.tolist() == [0, 1]


def test_a_start_ends_in_time():
    X = np.random.default_rng(0).normal(size=(600, 12))
    y = X[:, 0] * X[:, 1] > 0
    with pytest.warns(RuntimeWarning, match="max_seconds was over"):
        InformationSelector(start="pair", max_seconds=1e-9).fit(X, y)
    with pytest.raises(ValueError, match="must_include with given ones"):
        InformationSelector(2, start="pair", must_include=[0]).fit(X, y)


def test_bins_count_weights_as_repetitions():
    x, w = np.arange(6.0), np.array([2, 3, 2, 3, 2, 3])
    repeated = equal_frequency(np.repeat(x, w), 4)
    assert equal_frequency(x, 4, w).tolist() == repeated[np.cumsum(w) - 1].tolist()
