"""What the selector does with real tables: copies, constants, groups, weights, gaps, frames."""

import pickle
import re
from decimal import Decimal

import numpy as np
import oracles
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import lorenyi as lr
from lorenyi import Renyi
from lorenyi.selection import (
    CMIM,
    JMI,
    MRMR,
    InformationSelector,
    JointInformation,
    NeighborInformation,
)

IRIS, SPECIES = load_iris(return_X_y=True)
JOINT = [
    pytest.param(NeighborInformation(), id="neighbors, default"),
    pytest.param(JointInformation(), id="LRMI"),
    pytest.param(JointInformation(entropy=Renyi(1.01, 50)), id="LRMI, order 1.01"),
    pytest.param(JointInformation(entropy=Renyi(1)), id="MRMI, order 1"),
    pytest.param(JointInformation(entropy=None), id="Shannon"),
]
EVERY = [*JOINT, pytest.param(JMI(), id="JMI"), pytest.param(MRMR(), id="MRMR")]


def exclusive_or(n=400, seed=0):
    """Column 2 xor column 5 decide; 2 has a hint alone, 5 none; copies of 2, and weak others."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 10)).astype(float)
    X[:, 5] = rng.uniform(size=n) < 0.7
    y = (X[:, 2] != X[:, 5]).astype(int)
    X[:, 7] = np.where(rng.uniform(size=n) < 0.1, 1 - X[:, 2], X[:, 2])  # a noisy copy
    X[:, 8] = 1 - X[:, 2]  # the same with other names
    X[:, 9] = np.where(rng.uniform(size=n) < 0.35, 1 - y, y) * (rng.uniform(size=n) < 0.5)
    return X, y


# ------------------------------------------------------------------------------- what is worth it


@pytest.mark.parametrize("criterion", JOINT)
def test_joint_criteria_find_an_exclusive_or_where_a_ranking_fails(criterion):
    X, y = exclusive_or()
    found = InformationSelector(2, criterion=criterion).fit(X, y)
    assert sorted(found.indices_) == [2, 5]
    ranking = SelectKBest(lambda X, y: mutual_info_classif(X, y, discrete_features=True), k=2)
    assert 5 not in ranking.fit(X, y).get_support(indices=True)


@pytest.mark.parametrize("criterion", JOINT)
@pytest.mark.parametrize("seed", range(3))
def test_pairs_find_a_pure_exclusive_or(criterion, seed):
    """No column tells anything alone; there are noise columns and noisy copies."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(200, 8)).astype(float)
    y = (X[:, 2] != X[:, 5]).astype(int)
    X[:, 7] = np.where(rng.uniform(size=200) < 0.2, 1 - X[:, 2], X[:, 2])
    found = InformationSelector(2, criterion=criterion, start="pair").fit(X, y)
    assert sorted(found.indices_) == [2, 5]
    alone = [mutual_info_classif(X[:, [j]], y, discrete_features=True)[0] for j in found.indices_]
    np.testing.assert_allclose(found.scores_[1], 1.0, atol=0.1)
    assert max(alone) < 0.05


def test_the_best_pair_is_that_of_all_pairs_in_full():
    X = np.random.default_rng(1).normal(size=(120, 6))
    y = (X[:, 1] * X[:, 4] > 0).astype(int)
    entropy = Renyi(1.01, 30)
    exact = {
        (i, j): float(lr.mutual_information(standard(X[:, [i, j]]), lr.gram(y), entropy=entropy))
        for i in range(6)
        for j in range(i)
    }
    criterion = JointInformation(entropy=entropy)
    found = InformationSelector(2, criterion=criterion, start="pair").fit(X, y)
    assert sorted(found.indices_) == sorted(max(exact, key=exact.get))


def standard(X):
    return lr.gram((X - X.mean(axis=0)) / X.std(axis=0), lr.Gaussian(1.0))


def test_pairs_are_for_criteria_of_the_set():
    with pytest.raises(ValueError, match="start='pair' needs a criterion of the whole set"):
        InformationSelector(2, criterion=JMI(), start="pair").fit(IRIS, SPECIES)


@pytest.mark.parametrize("criterion", EVERY)
def test_a_copy_is_chosen_only_when_nothing_else_is_left(criterion):
    X = np.column_stack([IRIS, 3 * IRIS[:, 2] + 1, -IRIS[:, 3]])
    found = InformationSelector(6, criterion=criterion).fit(X, SPECIES)
    assert {4, 5}.isdisjoint(found.indices_[:4])
    alone = InformationSelector(4, criterion=criterion).fit(IRIS, SPECIES)
    assert found.indices_[:4].tolist() == alone.indices_.tolist()


@pytest.mark.parametrize("criterion", EVERY)
def test_constant_columns_come_last(criterion):
    X = np.column_stack([np.full(150, 1e9), IRIS, np.zeros(150)])
    found = InformationSelector(6, criterion=criterion).fit(X, SPECIES)
    assert found.indices_[4:].tolist() == [0, 5]
    assert np.isfinite(found.scores_).all()


def test_a_column_far_from_zero_keeps_its_digits():
    near = InformationSelector(2).fit(IRIS, SPECIES)
    far = InformationSelector(2).fit(IRIS + 1e8, SPECIES)
    assert far.indices_.tolist() == near.indices_.tolist()
    assert far.scores_ == pytest.approx(near.scores_, abs=1e-5)  # 1e8 + 0.1 has 8 digits left


def test_ties_go_to_the_lowest_column():
    rng = np.random.default_rng(1)
    x = rng.normal(size=80)
    y = (x > 0).astype(int)
    X = np.column_stack([np.sin(x), x, x])
    assert InformationSelector(1).fit(X[:, 1:], y).indices_.tolist() == [0]
    one_target = InformationSelector(2).fit(X, np.zeros(80))
    assert one_target.indices_.tolist() == [0, 1]  # nothing tells anything about a constant


# --------------------------------------------------------------------------------- when to stop


@pytest.mark.parametrize("criterion", [NeighborInformation(), JointInformation(), JMI(), CMIM()])
def test_noise_is_not_chosen_by_itself(criterion):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 8))
    y = (X[:, 3] + 0.5 * rng.normal(size=200) > 0).astype(int)
    found = InformationSelector(criterion=criterion).fit(X, y)
    assert found.indices_.tolist() == [3]
    assert found.p_values_[0] <= 0.05 < found.path_.refused.p_value
    with pytest.warns(UserWarning, match="no feature was selected: the best of 7, x"):
        nothing = InformationSelector(criterion=criterion).fit(np.delete(X, 3, axis=1), y)
    assert nothing.indices_.size == 0
    with pytest.warns(UserWarning, match="No features were selected"):
        assert nothing.transform(X[:, 1:]).shape == (200, 0)


def test_the_search_goes_on_while_a_column_adds_something():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 6))
    y = (X[:, 1] + X[:, 4] > 0).astype(int)
    found = InformationSelector().fit(X, y)
    assert sorted(found.indices_) == [1, 4]
    assert (found.p_values_ <= 0.05).all()
    with pytest.warns(UserWarning, match="no feature was selected"):
        assert InformationSelector(tol=10.0).fit(X, y).indices_.size == 0


def test_a_number_of_features_has_p_values_where_permutations_are_asked_for():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 4))
    y = (X[:, 2] > 0).astype(int)
    found = InformationSelector(3, n_permutations=19).fit(X, y)
    assert len(found.indices_) == 3
    assert found.indices_[0] == 2
    assert found.p_values_[0] == pytest.approx(0.05)
    assert (found.p_values_[1:] > 0.05).all()
    plain = InformationSelector(3).fit(X, y)
    assert np.isnan(plain.p_values_).all()
    assert plain.scores_.tolist() == found.scores_.tolist()


@pytest.mark.filterwarnings("ignore:no feature was selected")  # 0.08 bits of one table
@pytest.mark.parametrize("criterion", [NeighborInformation(), CMIM()])
def test_steps_too_many_are_as_rare_as_the_level_says(criterion):
    """After the one column that tells something, the best of nine useless ones is refused."""
    more = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, size=(100, 10))
        y = np.where(rng.uniform(size=100) < 0.2, 1 - X[:, 0], X[:, 0])
        found = InformationSelector(criterion=criterion, random_state=seed).fit(X, y)
        more += found.indices_.size > 1
    assert more <= 5  # level 0.05: 1.5 expected, more than 5 has a probability of 0.003


def test_a_seed_gives_one_answer():
    X, y = exclusive_or(200)
    one, again = (InformationSelector(random_state=3).fit(X, y) for _ in range(2))
    assert one.indices_.tolist() == again.indices_.tolist()
    assert one.p_values_[1:].tolist() == again.p_values_[1:].tolist()


def test_floating_takes_out_what_others_have_made_needless():
    """Column 0 is the best alone; 1 and 2 together tell all."""
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, size=(2, 400))
    y = 2 * a + b
    both = np.where(rng.uniform(size=400) < 0.15, rng.integers(0, 4, 400), y)
    X = np.column_stack([both, a, b, rng.integers(0, 2, 400)])
    criterion = JointInformation(entropy=Renyi(1))
    plain = InformationSelector(2, criterion=criterion, categorical_features=[0, 1, 2, 3])
    floating = clone(plain).set_params(floating=True)
    assert plain.fit(X, y).indices_[0] == 0
    assert sorted(floating.fit(X, y).indices_) in ([0, 1], [0, 2])  # two are wanted: no step back
    three = floating.set_params(n_features_to_select=3).fit(X, y)
    assert three.scores_[-1] == pytest.approx(2.0, abs=0.01)
    with pytest.raises(ValueError, match="floating=True needs a criterion of the whole set"):
        InformationSelector(2, criterion=JMI(), floating=True).fit(X, y)


# ------------------------------------------------------------------------------------ columns


def test_columns_of_a_group_come_together():
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 3, 200)
    X = np.column_stack([rng.normal(size=200), np.eye(3)[colour], rng.normal(size=200)])
    y = (colour == 1) ^ (rng.uniform(size=200) < 0.05)
    found = InformationSelector(2, feature_groups=[[1, 2, 3]]).fit(X, y)
    assert found.indices_[:3].tolist() == [1, 2, 3]
    assert found.indices_.size == found.scores_.size == 4
    assert found.support_.sum() == 4
    names = pd.DataFrame(X, columns=list("abcde"))
    assert InformationSelector(2, feature_groups=[["b", "c", "d"]]).fit(
        names, y
    ).indices_.tolist() == (found.indices_.tolist())
    with pytest.raises(ValueError, match="in two groups"):
        InformationSelector(2, feature_groups=[[1, 2], [2, 3]]).fit(X, y)


def test_required_columns_come_first_in_their_order():
    found = InformationSelector(3, must_include=[1, 0]).fit(IRIS, SPECIES)
    assert found.indices_[:2].tolist() == [1, 0]
    assert found.indices_[2] in (2, 3)
    automatic = InformationSelector(must_include=[1]).fit(IRIS, SPECIES)
    assert automatic.indices_[0] == 1
    assert automatic.indices_.size > 1
    with pytest.raises(ValueError, match="from 2 to the 4 features"):
        InformationSelector(1, must_include=[1, 0]).fit(IRIS, SPECIES)


def test_nominal_columns_are_compared_by_equality():
    """Codes 0, 1, 2 of which 1 decides: distances between codes say little, equality all."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 3, 300)
    X = np.column_stack([code, rng.normal(size=300)])
    y = code == 1
    named = InformationSelector(1, categorical_features=[0]).fit(X, y)
    masked = InformationSelector(1, categorical_features=[True, False]).fit(X, y)
    renamed = InformationSelector(1, categorical_features=[0]).fit(
        np.column_stack([np.array([7, -2, 40])[code], X[:, 1]]), y
    )
    # Other numbers of the classes are another order of rows, and sums are in float32.
    assert named.scores_ == masked.scores_ == pytest.approx(renamed.scores_, abs=1e-6)
    seen = InformationSelector(1).fit(X, y)
    assert seen.categorical_.tolist() == [True, False]
    assert seen.scores_ == named.scores_
    numbers = InformationSelector(1, categorical_features=None).fit(X, y)
    assert named.scores_ != pytest.approx(numbers.scores_, abs=1e-3)


@pytest.mark.parametrize(
    ("n", "kinds"), [(1000, (None, 300)), (800, (200, 200)), (700, (None, None, 300))]
)
def test_columns_of_many_labels_have_the_scores_of_exact_eigenvalues(n, kinds):
    """`kinds`: for each column the number of its labels, or None for numbers."""
    rng = np.random.default_rng(n)
    columns = [rng.normal(size=n) if k is None else rng.integers(0, k, n) for k in kinds]
    y = (columns[0] > np.median(columns[0])) ^ (rng.uniform(size=n) < 0.1)
    frame = pd.DataFrame(
        {
            str(i): x if x.dtype.kind == "f" else [f"label {v}" for v in x]
            for i, x in enumerate(columns)
        }
    )
    criterion = JointInformation()
    found = InformationSelector(len(kinds), criterion=criterion, random_state=0).fit(frame, y)

    def kernel(x):
        if x.dtype.kind != "f":
            return (x[:, None] == x) / n
        x = (x - x.mean()) / x.std()
        return np.exp(-0.5 * (x[:, None] - x) ** 2) / n

    grams, target = [kernel(columns[i]) for i in found.indices_], kernel(y)
    for i, bounds in enumerate(found.score_bounds_):
        chosen = oracles.joint(*grams[: i + 1])
        exact = oracles.mutual_information(chosen, target, alpha=2, k=100)
        assert bounds[0] - 1e-9 <= exact <= bounds[1] + 1e-9
        assert found.scores_[i] == pytest.approx(exact, abs=1e-3)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_names_and_kinds_of_columns(frame):
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 3, 120)
    columns = {
        "noise": rng.normal(size=120),
        "colour": np.array(["red", "green", "blue"])[colour],
        "flag": rng.uniform(size=120) < 0.5,
        "size": rng.integers(0, 50, 120),
    }
    table = frame(columns)
    y = np.where((colour == 0) | (columns["size"] > 40), "yes", "no")
    found = InformationSelector(2).fit(table, y)
    assert found.get_feature_names_out().tolist() == ["colour", "size"]
    coded = np.column_stack([columns["noise"], colour, columns["flag"], columns["size"]])
    same = InformationSelector(2, categorical_features=[1, 2]).fit(coded, y)
    assert found.scores_ == pytest.approx(same.scores_, abs=1e-6)  # another order of float32 sums
    library = "pandas" if frame is pd.DataFrame else "polars"
    kept = found.set_output(transform=library).transform(table)
    assert isinstance(kept, frame)
    assert list(kept.columns) == ["colour", "size"]
    assert list(kept.dtypes) == list(table[["colour", "size"]].dtypes)
    with pytest.raises(ValueError, match="feature names"):
        found.transform(table[["size", "colour", "flag", "noise"]])


def test_categories_of_a_frame_need_not_be_named():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 3, 100)
    y = code == 1
    series = pd.Series(code).astype("category")
    frame = pd.DataFrame({"kind": series, "x": rng.normal(size=100)})
    named = pd.DataFrame({"kind": code, "x": frame["x"]})
    found = InformationSelector(1).fit(frame, y)
    same = InformationSelector(1, categorical_features=["kind"]).fit(named, y)
    assert found.scores_ == pytest.approx(same.scores_, abs=1e-12)


def test_objects_are_read_where_nominal_columns_are_named():
    X = np.array([["u", 1.0], ["v", 2.0], ["u", 5.0], ["v", 1.0]] * 5, dtype=object)
    found = InformationSelector(1, categorical_features=[0]).fit(X, X[:, 0] == "u")
    assert found.indices_.tolist() == [0]


def test_missing_values_are_an_error_or_a_value():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = rng.integers(0, 2, 200)
    X[y == 1, 1] = np.where(rng.uniform(size=(y == 1).sum()) < 0.8, np.nan, X[y == 1, 1])
    with pytest.raises(ValueError, match="NaN"):
        InformationSelector(1, missing="error").fit(X, y)
    with pytest.raises(ValueError, match=re.escape("missing='value'")):
        InformationSelector(1, missing="error").fit(pd.DataFrame(X, columns=list("abc")), y)
    for criterion in (NeighborInformation(), JMI()):
        selector = InformationSelector(1, criterion=criterion).fit(X, y)
        assert selector.indices_.tolist() == [1]  # that it is missing tells
        assert selector.transform(X).shape == (200, 1)
        frame = pd.DataFrame(X, columns=list("abc"))
        framed = InformationSelector(1, criterion=criterion).fit(frame, y)
        assert framed.scores_ == pytest.approx(selector.scores_, abs=1e-12)
    with pytest.raises(ValueError, match=r"missing in column 'b', first at row \d+"):
        InformationSelector(1, missing="error").fit(pd.DataFrame(X, columns=list("abc")), y)
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity in column 0, at row 0: drop"):
        InformationSelector(1, missing="value").fit(X, y)
    with pytest.raises(ValueError, match="infinity in column 'a', at row 0"):
        InformationSelector(1, missing="value").fit(pd.DataFrame(X, columns=list("abc")), y)


NUMBERS = np.round(IRIS[:, 2], 1)
GAP = np.arange(150) == 7


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(pd.Series(NUMBERS, dtype=object), id="objects"),
        pytest.param(pd.Series([Decimal(str(v)) for v in NUMBERS]), id="Decimals"),
        pytest.param(pd.Series(pd.arrays.SparseArray(NUMBERS)), id="sparse"),
        pytest.param(pd.Series(NUMBERS, dtype="Float64"), id="Float64"),
        pytest.param(pd.Series(NUMBERS, dtype="float64[pyarrow]"), id="Arrow"),
    ],
)
def test_numbers_of_every_kind_are_numbers(column):
    expected = InformationSelector(1).fit(NUMBERS[:, None], SPECIES).scores_
    tables = (column.to_frame("v"), column.to_numpy(dtype=object)[:, None])
    for X in tables:
        assert InformationSelector(1).fit(X, SPECIES).scores_ == pytest.approx(expected, abs=1e-9)
    expected = InformationSelector(1).fit(IRIS, NUMBERS).scores_
    for y in (column, column.to_numpy(dtype=object), column.to_frame("v")):
        assert InformationSelector(1).fit(IRIS, y).scores_ == pytest.approx(expected, abs=1e-9)


def test_truth_values_in_an_object_array_are_symbols():
    X = (IRIS.mean(axis=0) < IRIS).astype(object)
    found, same = (InformationSelector(2).fit(x, SPECIES) for x in (X, X.astype(bool)))
    assert found.scores_ == pytest.approx(same.scores_, abs=1e-12)
    assert found.transform(X).shape == (150, 2)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "UInt64", "int64[pyarrow]"])
def test_large_labels_are_told_apart(dtype):
    """Integers beyond 2^53 that float64 would take for one, as columns and as target."""
    code = np.random.default_rng(0).integers(0, 3, 90)
    large = 2**63 if dtype.lower().startswith("u") else 2**60
    label = pd.Series([large + int(c) for c in code], dtype=dtype)
    frame = pd.DataFrame({"id": label, "x": np.linspace(0.0, 1.0, 90)})
    for X in (frame, pl.from_pandas(frame), frame[["id"]].to_numpy()):
        found = InformationSelector(1, criterion=JMI(), categorical_features=[0]).fit(X, code)
        assert found.indices_.tolist() == [0]
        assert found.scores_ == pytest.approx(float(lr.entropy(code)), abs=1e-9)
    expected = InformationSelector(1).fit(code[:, None], code).scores_
    for y in (label, label.tolist(), pl.from_pandas(label), label.to_numpy(dtype=object)):
        assert InformationSelector(1).fit(code[:, None], y).scores_ == pytest.approx(expected)


@pytest.mark.parametrize(
    "gappy",
    [
        pytest.param(np.ma.array(NUMBERS, mask=GAP), id="masked"),
        pytest.param(np.where(GAP, None, NUMBERS), id="None"),
        pytest.param(np.where(GAP, pd.NA, NUMBERS.astype(object)), id="NA"),
        pytest.param(np.where(GAP, pd.NaT, pd.to_datetime(NUMBERS).astype(object)), id="NaT"),
        pytest.param(pd.to_datetime(np.where(GAP, np.nan, NUMBERS)).to_numpy(), id="NaT of NumPy"),
        pytest.param(pd.Series(np.where(GAP, None, SPECIES > 0), dtype="boolean"), id="boolean"),
        pytest.param(pd.Series(np.where(GAP, None, "a"), dtype="string"), id="string"),
        pytest.param(pd.Series(np.where(GAP, None, 2**60 + SPECIES), dtype="Int64"), id="Int64"),
        pytest.param(pl.Series(np.where(GAP, None, 2**60 + SPECIES).tolist()), id="polars"),
    ],
)
def test_a_gap_of_every_kind_is_missing(gappy):
    X = gappy[:, None] if isinstance(gappy, np.ndarray) else pd.DataFrame({"v": gappy})
    place = "column 0" if isinstance(gappy, np.ndarray) else "column 'v'"
    with pytest.raises(ValueError, match=f"X contains NaN: 1 missing in {place}, first at row 7"):
        InformationSelector(1, missing="error").fit(X, SPECIES)
    with pytest.raises(ValueError, match="y contains NaN: 1 missing, first at row 7"):
        InformationSelector(1).fit(IRIS, gappy)
    found = InformationSelector(1, criterion=JMI(), missing="value").fit(X, GAP)
    assert found.scores_ == pytest.approx(float(lr.entropy(GAP)), abs=1e-9)  # that tells all


def test_masked_weights_are_missing():
    with pytest.raises(ValueError, match="sample_weight has 1 missing value, first at row 7"):
        InformationSelector(1).fit(IRIS, SPECIES, np.ma.array(np.ones(150), mask=GAP))


def test_columns_without_one_kind_or_name_are_refused():
    mixed = pd.DataFrame({"v": [1.5, "a"] * 75})
    with pytest.raises(TypeError, match=r"X\['v'\] .* float 1.5 at row 0 and str 'a' at row 1"):
        InformationSelector(1).fit(mixed, SPECIES)
    with pytest.raises(TypeError, match=r"y .* float 1.5 at row 0 and str 'a' at row 1"):
        InformationSelector(1).fit(IRIS, mixed["v"])
    twice = pd.DataFrame(IRIS[:, :2], columns=["a", "a"])
    with pytest.raises(ValueError, match="X has 2 columns named 'a'"):
        InformationSelector(1).fit(twice, SPECIES)
    with pytest.raises(ValueError, match="y has 2 columns named 'a'"):
        InformationSelector(1).fit(IRIS, twice)


def test_a_target_of_categories_holds_labels():
    numbers = pd.Series(NUMBERS).astype("category")
    found = InformationSelector(1).fit(IRIS, numbers)
    said = InformationSelector(1, task="classification").fit(IRIS, NUMBERS)
    assert found.scores_ == pytest.approx(said.scores_, abs=1e-9)


def test_sparse_input_is_refused_in_one_sentence():
    with pytest.raises(TypeError, match="Sparse data was passed"):
        InformationSelector(1).fit(scipy.sparse.csr_array(IRIS), SPECIES)


# ------------------------------------------------------------------------------------- targets


def test_a_continuous_target_is_recognised_and_can_be_said():
    X, y = load_diabetes(return_X_y=True)
    found = InformationSelector(3).fit(X[:200], y[:200] + 0.5)
    said = InformationSelector(3, task="regression").fit(X[:200], y[:200])
    assert {2, 8} <= set(found.indices_)
    # Another shift is another rounding, and kernels are held in float32.
    assert found.scores_ == pytest.approx(said.scores_, abs=1e-6)
    labels = InformationSelector(1, task="classification").fit(X[:200], y[:200])
    assert labels.scores_[0] != pytest.approx(found.scores_[0], abs=1e-2)
    assert {2, 8} <= set(InformationSelector(3, criterion=JMI()).fit(X, y + 0.5).indices_)
    with pytest.raises(ValueError, match="task='regression' needs a target of numbers"):
        InformationSelector(1, task="regression").fit(X[:4], list("abab"))


@pytest.mark.parametrize("criterion", [JointInformation(), JMI()])
def test_several_target_columns_count_together(criterion):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(300, 6)).astype(float)
    Y = X[:, [1, 4]].astype(int)
    found = InformationSelector(2, criterion=criterion).fit(X, Y)
    assert sorted(found.indices_) == [1, 4]
    one = InformationSelector(2, criterion=criterion).fit(X, 2 * Y[:, 0] + Y[:, 1])
    assert found.scores_ == pytest.approx(one.scores_, abs=1e-9)
    mixed = pd.DataFrame({"k": np.where(X[:, 1] > 0, "a", "b"), "x": X[:, 4] + 0.5})
    assert sorted(InformationSelector(2, criterion=criterion).fit(X, mixed).indices_) == [1, 4]


# ------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("criterion", EVERY)
@pytest.mark.parametrize("count", [3, "auto"])
def test_a_weight_is_how_often_a_row_is_given(criterion, count):
    rng = np.random.default_rng(0)
    w = rng.integers(0, 4, 150)
    weighted = InformationSelector(count, criterion=criterion).fit(IRIS, SPECIES, sample_weight=w)
    index = rng.permutation(np.repeat(np.arange(150), w))
    repeated = InformationSelector(count, criterion=criterion).fit(IRIS[index], SPECIES[index])
    assert weighted.indices_.tolist() == repeated.indices_.tolist()
    assert weighted.scores_ == pytest.approx(repeated.scores_, abs=1e-12)


def test_weights_need_not_be_whole():
    w = np.random.default_rng(0).uniform(0.5, 2, 150)
    found = InformationSelector().fit(IRIS, SPECIES, sample_weight=w)
    assert found.indices_[0] == 3
    with pytest.raises(ValueError, match="frequencies"):
        InformationSelector(1).fit(IRIS, SPECIES, sample_weight=np.full(150, 1 / 150))


# ----------------------------------------------------------------------------- among its companions


def test_pipelines_grids_clones_and_pickles_work():
    pipeline = make_pipeline(InformationSelector(2), LogisticRegression(max_iter=1000))
    grid = GridSearchCV(
        pipeline,
        {
            "informationselector__criterion": [JointInformation(Renyi(2, 20)), CMIM(), JMI()],
            "informationselector__criterion__entropy": [Renyi(1.01, 20), None],
            "informationselector__n_features_to_select": [1, 2],
        },
        cv=3,
    ).fit(IRIS, SPECIES)
    assert grid.best_score_ > 0.9
    selector = InformationSelector(2, criterion=JMI(bins=4)).fit(IRIS, SPECIES)
    assert clone(selector).get_params() == selector.get_params()
    again = pickle.loads(pickle.dumps(selector))
    assert again.transform(IRIS).tolist() == selector.transform(IRIS).tolist()


def test_threads_do_not_change_the_answer():
    X, y = exclusive_or(200)
    answers = [
        InformationSelector(4, n_jobs=jobs).fit(X, y).scores_.tolist() for jobs in (1, 2, -1)
    ]
    assert answers[0] == answers[1] == answers[2]
    with pytest.raises(ValueError, match=r"'n_jobs' parameter .* Got 0"):
        InformationSelector(1, n_jobs=0).fit(X, y)


def test_each_step_is_told_where_asked_for():
    lines = []
    InformationSelector(2, progress=lambda *line: lines.append(line)).fit(IRIS, SPECIES)
    assert [line[0].partition(",")[0] for line in lines] == [
        "1: feature 3 of 4 candidates",
        "2: feature 1 of 3 candidates",
    ]
    assert [line[1] for line in lines] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features_to_select": 5}, "from 1 to the 4 features"),
        ({"n_features_to_select": 0}, "n_features_to_select=0"),
        ({"n_features_to_select": "some"}, "n_features_to_select='some'"),
        ({"n_features_to_select": 1.5}, "n_features_to_select=1.5"),
        ({"criterion": "jmi"}, "'criterion' parameter .* Got 'jmi'"),
        ({"missing": "drop"}, "'missing' parameter .* Got 'drop'"),
        ({"task": "rank"}, "'task' parameter .* Got 'rank'"),
        ({"level": 0}, "'level' parameter .* Got 0"),
        ({"n_permutations": 2}, "'n_permutations' parameter .* Got 2"),
        ({"n_permutations": 0}, "an int in the range \\[5, inf\\) or None. Got 0"),
        ({"n_permutations": "a"}, "'n_permutations' parameter .* Got 'a'"),
        ({"n_jobs": "a"}, "'n_jobs' parameter .* Got 'a'"),
        ({"n_jobs": 1.5}, "'n_jobs' parameter .* Got 1.5"),
        ({"level": "a"}, "'level' parameter .* Got 'a'"),
        ({"tol": "a"}, "'tol' parameter .* Got 'a'"),
        ({"n_features_to_select": "smallest", "criterion": JMI()}, "'smallest' needs a criterion"),
        ({"n_features_to_select": "smallest", "criterion": JointInformation()}, "sampling errors"),
        ({"feature_groups": [0, 1]}, r"feature_groups=\[0, 1\]: give a list of groups"),
        ({"categorical_features": [9]}, "columns are numbered 0 to 3"),
        ({"categorical_features": ["x"]}, "X has no column names"),
        ({"categorical_features": [True]}, "mask of 1 columns"),
    ],
)
def test_options_that_cannot_be_are_named(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        InformationSelector(**options).fit(IRIS, SPECIES)


def test_a_share_of_the_features_can_be_asked_for():
    assert InformationSelector(0.5).fit(IRIS, SPECIES).indices_.size == 2
    assert InformationSelector(1.0).fit(IRIS, SPECIES).indices_.size == 4


def test_why_nothing_is_selected_is_said():
    with pytest.warns(UserWarning, match="no feature was selected: X or y is constant"):
        InformationSelector().fit(np.ones((20, 2)), [0, 1] * 10)
    with pytest.warns(UserWarning, match="no feature was selected: X or y is constant"):
        InformationSelector().fit(IRIS, np.zeros(150))


def test_a_backward_search_leaves_copies_out_first():
    x = np.random.default_rng(0).normal(size=(200, 3))
    X = np.c_[x, np.exp(x[:, 0]), x[:, 0], np.ones(200)]
    y = (x.sum(axis=1) > 0).astype(int)
    assert sorted(InformationSelector(3, direction="backward").fit(X, y).indices_) == [0, 1, 2]
    assert len(InformationSelector(5, direction="backward").fit(X, y).indices_) == 5


def test_time_that_is_over_leaves_the_best_pair():
    X, y = exclusive_or(200)
    with pytest.warns(RuntimeWarning, match="max_seconds was over after 2 features"):
        found = InformationSelector(3, start="pair", max_seconds=1e-9).fit(X, y)
    assert len(found.indices_) == 2


def test_weights_may_sum_to_more_points_than_there_is_room_for():
    X = np.random.default_rng(0).normal(size=(100, 2))
    weights = np.full(100, 1e7)
    for criterion in (NeighborInformation(), JMI()):
        chosen = InformationSelector(1, criterion=criterion)
        assert chosen.fit(X, X[:, 0] > 0, sample_weight=weights).indices_.tolist() == [0]
