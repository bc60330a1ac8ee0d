"""The race against plain comparison, and whom it looks at."""

from dataclasses import dataclass

import numpy as np
import pytest

from lorenyi import Auto, Exact, Renyi
from lorenyi.intervals import Intervals
from lorenyi.joints import Joints
from lorenyi.selection import Criterion, InformationSelector, JointInformation
from lorenyi.selection.certified import Certified
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.table import Table, Variable


@pytest.fixture
def rng():
    """Give each test its own numbers, whichever ran before it."""
    return np.random.default_rng(0)


def table(X, y):
    """A table of numeric columns and labels."""
    n = len(X)
    none = np.zeros((n, 0), dtype=np.int64)
    features = [Variable(x[:, None].astype(float), none) for x in X.T]
    target = Variable(np.zeros((n, 0)), np.asarray(y)[:, None])
    return Table(features, target, None)


def fitted(X, y, count, alpha, rank):
    """Selections by certified intervals, and by all eigenvalues."""
    return [
        InformationSelector(count, criterion=JointInformation(Renyi(alpha, rank, solver))).fit(X, y)
        for solver in (Auto(), Exact())
    ]


@pytest.mark.parametrize(
    ("alpha", "rank"), [(0.6, 40), (0.6, None), (1.01, 40), (1.01, None), (2, 40), (2, None)]
)
def test_the_race_ends_where_all_scores_in_full_do(alpha, rank, rng):
    X = rng.normal(size=(420, 9))
    X[:, 5] = X[:, 0] + 0.3 * rng.normal(size=420)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.4 * rng.normal(size=420) > 0).astype(int)
    found, exact = fitted(X, y, 6, alpha, rank)
    assert found.indices_.tolist() == exact.indices_.tolist()
    low, high = found.score_bounds_.T
    room = 1e-6 if alpha < 1 else 1e-12  # null eigenvalues weigh below order 1
    assert np.all((low <= exact.scores_ + room) & (exact.scores_ <= high + room))
    assert np.all(high - low <= 2.1 * LIMITS.fine)


@pytest.mark.parametrize("rank", [None, 60])
def test_columns_of_two_values_give_the_exact_list(rank):
    rng = np.random.default_rng(3)
    X = (rng.random((300, 14)) < rng.uniform(0.3, 0.6, 14)).astype(float)
    y = (X[:, :4].sum(axis=1) + rng.integers(0, 2, 300)).astype(int)
    found, exact = fitted(X, y, 9, 1.01, rank)
    assert found.indices_.tolist() == exact.indices_.tolist()
    assert np.allclose(found.scores_, exact.scores_, atol=1e-3)


@pytest.mark.parametrize("rare", [1, 2, 3, 15, 24])
def test_a_rare_class_is_no_obstacle(rare, rng):
    X = rng.normal(size=(620, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    y[:rare] = 2
    found, exact = fitted(X, y, 4, 0.6, 40)
    assert found.indices_.tolist() == exact.indices_.tolist()


def test_labels_that_are_all_different_are_no_obstacle(rng):
    y = [f"row {i}" for i in range(700)]
    criterion = JointInformation(Renyi(2, 40))
    found = InformationSelector(4, criterion=criterion).fit(rng.normal(size=(700, 4)), y)
    assert sorted(found.indices_) == [0, 1, 2, 3]


def certified(criterion, data):
    return Certified(criterion, criterion.engine(data), data, 0)


class Misled(Joints):
    """Certified intervals whose most likely values are off."""

    off = 0.0

    def joint(self, x, given, target, tol, side="both", enough=np.nan):
        found = super().joint(x, given, target, tol, side, enough)
        found.value -= self.off * target * (x % 2)
        return found


@pytest.mark.parametrize(("alpha", "rank"), [(2, 20), (0.6, 20), (1.01, None)])
def test_wrong_values_cost_time_only(alpha, rank):
    """Values say who is measured first; nobody is eliminated for that."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(620, 7))
    y = (X[:, 1] + X[:, 3] * X[:, 5] + 0.3 * rng.normal(size=620) > 0).astype(int)
    entropy, lists = Renyi(alpha, rank), []
    for off in (0.0, -1.0, 0.01, 1.0):
        data = table(X, y)
        information = Misled(data.variables(), entropy)
        information.off = off
        race, chosen = Certified(JointInformation(entropy), information, data, 0), ()
        for _ in range(4):
            free = np.array([i for i in range(7) if i not in chosen])
            chosen += (race.best(free, chosen),)
        lists.append(chosen)
    assert set(lists) == {lists[0]}


def test_the_best_pair_is_that_of_all_pairs(rng):
    X = rng.normal(size=(200, 5))
    y = (X[:, 1] * X[:, 4] > 0).astype(int)
    race = certified(JointInformation(Renyi(2, 20)), table(X, y))
    assert race.best_set(np.arange(5), 2) == (1, 4)


def test_of_equal_candidates_the_first_wins_without_a_warning(rng):
    """A column, the same mirrored, and the same again."""
    x = rng.normal(size=300)
    X = np.column_stack([rng.normal(size=300), x, -x, x])
    race = certified(JointInformation(Renyi(1.01, 20)), table(X, (x > 0).astype(int)))
    assert race.best(np.arange(4), ()) == 1


SCORED: list[int] = []


@dataclass(frozen=True)
class Numbers(Criterion):
    """Scores that are exact from the first look on."""

    def score(self, t):
        SCORED.append(len(t.candidates))
        return t.candidates.astype(float)


def test_scores_that_are_exact_are_looked_at_once():
    SCORED.clear()
    race = Certified(Numbers(), None, None, 0)
    assert race.best(np.arange(6), ()) == 5
    assert SCORED == [6]


LOOKS: list[tuple[bool, int]] = []


@dataclass(frozen=True)
class Narrowing(Criterion):
    """Scores as narrow as is asked for: six rivals 1e-3 behind the best, others far behind."""

    def score(self, t):
        value = np.where(t.candidates == 3, 0.0, np.where(t.candidates < 7, -1e-3, -1.0))
        LOOKS.append((t.above is None, len(t.candidates)))
        half = 0.5 * np.broadcast_to(t.tol, value.shape)
        return Intervals(value - half, value + half)


def test_once_the_leader_is_known_its_rivals_are_looked_at_side_by_side():
    LOOKS.clear()
    race = Certified(Narrowing(), None, None, 0)
    assert race.best(np.arange(9), ()) == 3
    assert (False, 6) in LOOKS  # the upper ends of all but one
    assert LOOKS[0] == (False, 9)
    assert not any(above and count > 3 for above, count in LOOKS if count != 7)


@dataclass(frozen=True)
class Vague(Criterion):
    """Scores that no tolerance makes narrow."""

    def score(self, t):
        return Intervals(-1.0 * (t.candidates == 1), np.where(t.candidates == 2, -0.5, 1.0))


def test_where_intervals_do_not_separate_a_warning_names_the_features(rng):
    with pytest.warns(RuntimeWarning, match="features 0, 1, 3 still overlap at a width of 2 bits"):
        found = InformationSelector(1, criterion=Vague(Renyi(2))).fit(
            rng.normal(size=(20, 4)), [0, 1] * 10
        )
    assert found.indices_.tolist() == [0]
