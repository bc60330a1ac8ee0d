"""Every criterion against its formula written out naively, and intervals against points."""

from dataclasses import dataclass

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from lorenyi import CollisionEntropy, Exact, Gaussian, Lanczos, Renyi
from lorenyi._arrays import numbered as codes
from lorenyi.intervals import Intervals, ratio, stack
from lorenyi.selection import (
    CMIM,
    DISR,
    FOU,
    ICAP,
    JMI,
    JMIM,
    MIFS,
    MRMR,
    Criterion,
    InformationSelector,
    JointInformation,
)
from lorenyi.selection.counts import equal_frequency

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 6))
X[:, 4] = X[:, 0] + 0.3 * RNG.normal(size=60)
Y = (X[:, 0] + X[:, 1] ** 2 + 0.5 * RNG.normal(size=60) > 0.7).astype(int)
BINARY = (X > 0).astype(float)

# ------------------------------------------------------------------------------------ naive greedy


def shannon(*columns):
    """Entropy of the joint column in bits, counted."""
    return oracles.renyi(np.unique(np.stack(columns), axis=1, return_counts=True)[1] / 60, 1)


def kernel_entropy(alpha, k):
    def entropy(*columns):
        matrices = []
        for c in columns:
            if c.dtype.kind == "i":
                matrices.append((c[:, None] == c[None, :]) / len(c))
            else:
                z = (c - c.mean()) / c.std()
                matrices.append(np.exp(-0.5 * (z[:, None] - z[None, :]) ** 2) / len(c))
        return oracles.entropy(oracles.joint(*matrices), alpha, k)

    return entropy


def information(S, x, y):
    return S(*x) + S(*y) - S(*x, *y)


def conditional(S, x, y, z):
    return S(x, z) + S(y, z) - S(x, y, z) - S(z)


FORMULAS = {
    JointInformation: lambda S, x, y, s: information(S, [x, *s], [y]),
    MIFS: lambda S, x, y, s: (
        information(S, [x], [y]) - 0.7 * sum(information(S, [x], [z]) for z in s)
    ),
    FOU: lambda S, x, y, s: (
        information(S, [x], [y])
        - sum(information(S, [x], [z]) - conditional(S, x, z, y) for z in s)
    ),
    MRMR: lambda S, x, y, s: (
        information(S, [x], [y]) - sum(information(S, [x], [z]) for z in s) / max(len(s), 1)
    ),
    JMI: lambda S, x, y, s: (
        sum(information(S, [x, z], [y]) for z in s) if s else information(S, [x], [y])
    ),
    JMIM: lambda S, x, y, s: (
        min(information(S, [x, z], [y]) for z in s) if s else information(S, [x], [y])
    ),
    ICAP: lambda S, x, y, s: (
        information(S, [x], [y])
        - sum(max(information(S, [x], [z]) - conditional(S, x, z, y), 0.0) for z in s)
    ),
    CMIM: lambda S, x, y, s: (
        min(conditional(S, x, y, z) for z in s) if s else information(S, [x], [y])
    ),
    DISR: lambda S, x, y, s: (
        sum(information(S, [x, z], [y]) / S(x, z, y) for z in s)
        if s
        else information(S, [x], [y]) / S(x, y)
    ),
}


def greedy(formula, S, columns, y, count):
    """The first of the best at each step."""
    chosen, scores = [], []
    while len(chosen) < count:
        rest = [j for j in range(len(columns)) if j not in chosen]
        found = [formula(S, columns[j], y, [columns[i] for i in chosen]) for j in rest]
        at = next(i for i, f in enumerate(found) if f > max(found) - 1e-10)
        chosen.append(rest[at])
        scores.append(found[at])
    return chosen, scores


@pytest.mark.parametrize("criterion", FORMULAS)
def test_shannons_flavour_is_the_formula_on_binned_columns(criterion):
    binned = [equal_frequency(c, 4) for c in X.T]
    chosen, scores = greedy(FORMULAS[criterion], shannon, binned, Y, 4)
    found = InformationSelector(4, criterion=criterion(entropy=None, bins=4)).fit(X, Y)
    assert found.indices_.tolist() == chosen
    assert found.scores_ == pytest.approx(scores, abs=1e-10)


@pytest.mark.parametrize("alpha", [0.6, 1, 1.01, 2])
@pytest.mark.parametrize("rank", [None, 10])
@pytest.mark.parametrize("criterion", FORMULAS)
def test_renyis_flavour_is_the_formula_on_kernel_matrices(criterion, alpha, rank):
    chosen, scores = greedy(FORMULAS[criterion], kernel_entropy(alpha, rank), list(X.T), Y, 4)
    found = InformationSelector(4, criterion=criterion(entropy=Renyi(alpha, rank))).fit(X, Y)
    # The oracle leaves out eigenvalues below 1e-13; 60 of them weigh 60 * 1e-13^0.6 at order 0.6.
    close = 1e-6 if alpha < 1 else 1e-9
    assert found.indices_.tolist() == chosen
    assert found.scores_ == pytest.approx(scores, abs=close)
    assert np.all(found.score_bounds_[:, 0] <= np.add(scores, close))
    assert np.all(found.score_bounds_[:, 1] >= np.subtract(scores, close))


@pytest.mark.parametrize("criterion", [JointInformation, JMI])
def test_columns_of_few_values_give_the_same_when_their_equal_rows_are_folded(criterion):
    chosen, scores = greedy(FORMULAS[criterion], kernel_entropy(1.01, 5), list(BINARY.T), Y, 4)
    functional = criterion(entropy=Renyi(1.01, 5))
    found = InformationSelector(4, criterion=functional, categorical_features=None).fit(BINARY, Y)
    assert found.indices_.tolist() == chosen
    assert found.scores_ == pytest.approx(scores, abs=1e-9)


def test_a_rank_that_the_points_do_not_have_is_none():
    """S^(n-1) = S, so the default rank copes with ten rows."""
    few = InformationSelector(3, criterion=JointInformation(entropy=Renyi(2, 100))).fit(X, Y)
    none = InformationSelector(3, criterion=JointInformation(entropy=Renyi(2))).fit(X, Y)
    assert few.scores_ == pytest.approx(none.scores_, abs=1e-12)


@pytest.mark.parametrize("solver", [Exact(), Lanczos(steps=40)])
def test_another_solver_is_taken_at_its_word(solver):
    entropy = Renyi(2, 10, solver)
    found = InformationSelector(3, criterion=JointInformation(entropy=entropy)).fit(X, Y)
    certified = InformationSelector(3, criterion=JointInformation(entropy=Renyi(2, 10))).fit(X, Y)
    assert found.indices_.tolist() == certified.indices_.tolist()
    assert found.scores_ == pytest.approx(certified.scores_, abs=1e-4)


def test_a_criterion_of_ones_own_is_one_formula():
    @dataclass(frozen=True)
    class Relevance(Criterion):
        """I(x; y) alone."""

        def score(self, t):
            return t.relevance

    for entropy in (None, Renyi(2, 20)):
        found = InformationSelector(6, criterion=Relevance(entropy=entropy)).fit(X, Y)
        assert np.all(np.diff(found.scores_) <= 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MIFS(0.7), "entropy=0.7"),
        (lambda: JMI(bins=1), "bins=1"),
        (lambda: JMI(bins=2.5), "bins=2.5"),
    ],
)
def test_a_criterion_says_what_it_was_given_that_it_cannot_be(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


# ---------------------------------------------------------------------------------- discretisation


def published(x, bins=5):
    """The rule in words: sorted values at n*j//bins - 1, left insertion points."""
    n = len(x)
    edges = [np.sort(x)[n * j // bins - 1] for j in range(1, bins + 1)]
    return np.searchsorted(edges, x, side="left")


@given(st.lists(st.integers(-5, 5), min_size=5, max_size=60), st.integers(2, 5))
def test_bins_are_those_of_the_published_rule(values, bins):
    x = np.array(values, dtype=float)
    assert equal_frequency(x, bins).tolist() == published(x, bins).tolist()


def test_codes_tell_distinct_rows_apart():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, 50), rng.normal(size=50).round()
    found = codes(a, b)
    rows = np.unique(np.stack([a, b], axis=1), axis=0)
    assert len(np.unique(found)) == len(rows) == found.max() + 1


# --------------------------------------------------------------------------------------- intervals

OPERATIONS = {
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y,
    "product": lambda x, y: x * y,
    "quotient": lambda x, y: x / (y + 3.5),
    "scaled": lambda x, y: 1.0 - 0.7 * x,
    "inverse": lambda x, y: 2.0 / (x + 3.5),
    "total": lambda x, y: x.sum(axis=0),
    "mean": lambda x, y: x.mean(axis=0),
    "least": lambda x, y: x.min(axis=0),
    "most": lambda x, y: x.max(axis=0),
}


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=50)
@given(seed=st.integers(0, 2**32 - 1))
def test_intervals_contain_what_their_points_give(name, seed):
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.uniform(-2, 2, size=(2, 2, 5)), axis=0)
    x, y = Intervals(ends[0, 0], ends[1, 0]), Intervals(ends[0, 1], ends[1, 1])
    found = OPERATIONS[name](x, y)
    for share in rng.uniform(size=(20, 2, 5)):
        points = (p.low + s * p.width for p, s in zip((x, y), share, strict=True))
        exact = OPERATIONS[name](*points)
        assert np.all(found.low - 1e-12 <= exact)
        assert np.all(exact <= found.high + 1e-12)


def test_division_by_an_interval_around_zero_leaves_everything_open():
    found = Intervals([1.0, 0.0], [1.0, 0.0]) / Intervals([-1.0, -1.0], [1.0, 1.0])
    assert found.low.tolist() == [-np.inf, 0.0]
    assert found.high.tolist() == [np.inf, 0.0]
    assert ratio(np.array([0.0, 1.0]), np.array([0.0, 2.0])).tolist() == [0.0, 0.5]


def test_columns_stack_as_intervals_if_one_is():
    found = stack([np.array([1.0, 2.0]), Intervals([0.0, 1.0], [1.0, 1.0])])
    assert found.low.shape == (2, 2)
    assert found.width.tolist() == [[0.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize("entropy", [Renyi(2, 20), CollisionEntropy()])
def test_the_kernel_is_the_one_that_was_asked_for(entropy):
    criterion = JointInformation(entropy=entropy)
    narrow = InformationSelector(2, criterion=criterion, kernel=Gaussian(0.2)).fit(X, Y)
    wide = InformationSelector(2, criterion=criterion, kernel=Gaussian(1.0)).fit(X, Y)
    standard = (X - X.mean(0)) / X.std(0)
    scaled = clone(narrow).set_params(standardize=False).fit(standard, Y)
    assert narrow.scores_ == pytest.approx(scaled.scores_, abs=1e-6)
    assert abs(narrow.scores_[1] - wide.scores_[1]) > 0.01
    with pytest.raises(ValueError, match="NeighborInformation compares ranks of columns"):
        InformationSelector(2, kernel=Gaussian(0.2)).fit(X, Y)
