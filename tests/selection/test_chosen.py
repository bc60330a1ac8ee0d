"""What is kept of chosen features: bounds at a glance hold, and starts only save work."""

import numpy as np
import pytest

import lorenyi as lr
from lorenyi import Exact, Gaussian, Renyi
from lorenyi.selection import InformationSelector, JointInformation
from lorenyi.selection.chosen import Chosen, column
from lorenyi.selection.ends import Wanted
from lorenyi.selection.information import FEW_ROWS, Kernels
from lorenyi.selection.table import Table, Variable
from lorenyi.spectra import Auto
from lorenyi.spectra.krylov import Krylov


def variables(n, seed, weights=None, nominal=False):
    """Three Gaussian columns, a candidate that depends on them, and labels of three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    z = rng.integers(0, 4, n) if nominal else 0.7 * X[:, 0] + 0.7 * rng.standard_t(3, n)
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [-0.6, 0.9])
    y[0] = 7  # a class of one row
    grams = [lr.gram(x, Gaussian(1.0), weights=weights) for x in X.T]
    candidate = lr.gram(z, None if nominal else Gaussian(1.0), weights=weights)
    return grams, candidate, lr.gram(y, weights=weights), y


def chosen(grams, labels, y, entropy):
    """What is kept of the first two features and then of all, each with or without the target."""
    groups = [np.arange(len(y))] if labels is None else [np.flatnonzero(y == c) for c in set(y)]
    columns = [column(A) for A in grams]
    before = Chosen(columns[:-1], labels, groups, entropy, Auto(), None)
    return before, Chosen(columns, labels, groups, entropy, Auto(), before)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("alpha", [0.6, 1.01, 2])
def test_a_glance_bounds_the_exact_value(alpha, target, nominal, weighted):
    n, entropy = 500, Renyi(alpha, 30, Exact())
    weights = np.random.default_rng(5).integers(1, 4, n).astype(float) if weighted else None
    grams, candidate, labels, y = variables(n, 3, weights, nominal)
    both = chosen(grams, labels if target else None, y, entropy)
    for count, kept in zip((2, 3), both, strict=True):
        A = candidate
        for B in grams[:count] + ([labels] if target else []):
            A = A * B
        exact = float(entropy(A))
        high = kept.glance(column(candidate), "high").high
        assert exact <= high <= exact + 0.25
        if alpha == 2:
            norm = kept.squared_norms([column(grams[0]), column(candidate)])[1]
            assert norm == pytest.approx(float(A.squared_norm()), rel=1e-3)
            assert norm >= float(A.squared_norm()) * (1 - 1e-6)
            once, twice = (
                kept.glance(column(candidate), "low", norm, again=again).low
                for again in (False, True)
            )
            assert exact - 0.35 <= once <= twice <= exact
            assert twice >= exact - 0.25
            assert twice > once + 1e-3 or once > exact - 5e-3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("alpha", [0.6, 1.01, 2])
def test_products_come_closer_and_enclose(alpha, target, nominal, weighted):
    n, entropy = 500, Renyi(alpha, 30, Exact())
    weights = np.random.default_rng(5).integers(1, 4, n).astype(float) if weighted else None
    grams, candidate, labels, y = variables(n, 3, weights, nominal)
    _, kept = chosen(grams, labels if target else None, y, entropy)
    A = candidate
    for B in grams + ([labels] if target else []):
        A = A * B
    exact = float(entropy(A))
    c = column(candidate)
    glance = kept.glance(c, "high").high
    for tol in (0.1, 1e-4):
        found, off = kept.closer(c, Wanted(tol, -np.inf, "high"))
        assert exact <= found.high <= min(glance, exact + 0.01)
        assert found.high - exact <= 2 * off + 2e-4  # about right, but for rounding
    coarse = kept.enclosing(c)
    fine = kept.enclosing(c, coarse)  # in float64
    assert (coarse.single, fine.single) == (True, False)
    for proof, tol in ((coarse, 2e-3), (fine, 1e-6)):
        both = proof.until(Wanted(tol))
        assert both.low <= exact <= both.high
        assert both.width <= tol
        assert 0 < both.failure < 1e-9


def test_more_products_come_closer():
    grams, candidate, _, y = variables(600, 8)
    _, kept = chosen(grams, None, y, Renyi(0.6, 40, Exact()))
    once, twice = (
        kept.closer(column(candidate), Wanted(tol, -np.inf, "high"))[0].high for tol in (1.0, 1e-5)
    )
    assert twice < once - 1e-5


def test_what_is_low_enough_is_not_made_closer(monkeypatch):
    grams, candidate, _, y = variables(600, 8)
    _, kept = chosen(grams, None, y, Renyi(0.6, 40, Exact()))
    c = column(candidate)
    once = kept.closer(c, Wanted(1.0, -np.inf, "high"))[0].high
    monkeypatch.setattr("lorenyi.selection.proven.Basis.grow", lambda _: pytest.fail("in vain"))
    assert kept.closer(c, Wanted(1e-5, once, "high"))[0].high == once


def test_products_are_made_until_they_are_enough():
    grams, candidate, _, y = variables(600, 8)
    _, kept = chosen(grams, None, y, Renyi(1.01, 40, Exact()))
    proof = kept.enclosing(column(candidate))
    before, size = proof.found, proof.proofs[0].basis.Q.shape[1]
    assert proof.until(Wanted(before.width)) is before
    after = proof.until(Wanted(0.5 * before.width))
    assert proof.proofs[0].basis.Q.shape[1] > size
    assert after.width < before.width
    assert after.failure > before.failure  # each look may miss something


def test_a_column_of_few_values_is_the_same_from_its_distinct_rows():
    values = np.random.default_rng(2).integers(0, 12, 300)
    A = lr.gram(values / 3.0, Gaussian(1.0))
    folded = lr.gram(np.arange(12) / 3.0, Gaussian(1.0), weights=np.bincount(values).astype(float))
    plain, short = column(A), column(A, folded, values)
    for name in ("factor", "square"):
        one, other = (getattr(c, name) @ getattr(c, name).T for c in (plain, short))
        assert np.allclose(one, other, atol=2e-5)
    assert np.allclose(plain.values, short.values, atol=1e-6)


@pytest.mark.parametrize("target", [False, True])
def test_an_enclosure_counts_what_the_column_s_factor_lacks(target, monkeypatch):
    monkeypatch.setattr("lorenyi.selection.chosen.SMOOTH", 0.03)
    grams, candidate, labels, y = variables(500, 3)
    entropy = Renyi(1.01, 30, Exact())
    _, kept = chosen(grams, labels if target else None, y, entropy)
    c = column(candidate)
    assert c.rest > 1e-3
    A = candidate
    for B in grams + ([labels] if target else []):
        A = A * B
    assert kept.enclosing(c).found.low <= float(entropy(A))


def of_500_rows(monkeypatch):
    """Information of four columns, for which the chosen ones are kept."""
    monkeypatch.setattr("lorenyi.selection.information.FEW_ROWS", 200)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), rng.integers(0, 2, 500)
    none = np.zeros((500, 0), dtype=np.int64)
    features = [Variable(x[:, None], none, np.zeros(1, dtype=bool)) for x in X.T]
    target = Variable(np.zeros((500, 0)), y[:, None], np.zeros(0, dtype=bool))
    information = Kernels(Table(features, target, None), Renyi(1.01, 40))
    information._most = 0  # no kernels of few values
    return information


def test_an_end_that_has_settled_is_not_looked_at_again(monkeypatch):
    calls = []
    closer = Chosen.closer

    def counted(self, candidate, wanted):
        calls.append(wanted.tol)
        return closer(self, candidate, wanted)

    monkeypatch.setattr(Chosen, "closer", counted)
    information = of_500_rows(monkeypatch)
    for tol in (0.1, 0.05, 0.02):
        information.joint(np.array([3]), (0, 1, 2), False, tol, "high", -np.inf)
    assert calls == [0.1]


def test_those_in_front_are_not_begun_anew(monkeypatch):
    """A finer look goes on from what the coarser one has found, in float64 where that takes it."""
    begun = []
    enclosing = Chosen.enclosing

    def counted(self, candidate, like=None):
        begun.append(like)
        return enclosing(self, candidate, like)

    monkeypatch.setattr(Chosen, "enclosing", counted)
    information = of_500_rows(monkeypatch)
    widths = [
        float(information.joint(np.array([3]), (0, 1, 2), True, tol).width[0])
        for tol in (1e-2, 1e-3, 1e-5, 1e-8)
    ]
    assert np.all(np.array(widths) <= [1e-2, 1e-3, 1e-5, 1e-8])
    assert [like is None for like in begun] == [True, False]


@pytest.mark.parametrize("target", [False, True])
def test_at_order_two_a_glance_is_all_that_is_needed(target):
    grams, candidate, labels, y = variables(500, 6)
    entropy = Renyi(2)
    for count, kept in zip(
        (2, 3), chosen(grams, labels if target else None, y, entropy), strict=True
    ):
        A = candidate
        for B in grams[:count] + ([labels] if target else []):
            A = A * B
        found = kept.glance(column(candidate), "high", kept.squared_norms([column(candidate)])[0])
        assert float(entropy(A)) in found
        assert found.width < 1e-4


@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("rank", [30, None])
def test_a_glance_holds_where_the_factor_of_a_candidate_lacks_much(rank, target):
    """Of 200 labels it has columns for 64, so the norm is bounded from above only."""
    grams, _, labels, y = variables(500, 4)
    candidate = lr.gram(np.random.default_rng(4).integers(0, 200, 500), lr.Delta())
    c, entropy = column(candidate), Renyi(2, rank, Exact())
    assert c.missing > 0.5
    for count, kept in zip(
        (2, 3), chosen(grams, labels if target else None, y, entropy), strict=True
    ):
        A = candidate
        for B in grams[:count] + ([labels] if target else []):
            A = A * B
        norm, exact = kept.squared_norms([c])[0], float(A.squared_norm())
        assert exact <= norm <= exact + c.missing
        for side, again in (("low", False), ("low", True), ("high", False)):
            assert float(entropy(A)) in kept.glance(c, side, norm, again)


@pytest.mark.parametrize("alpha", [0.6, 1.01, 2])
def test_a_glance_is_nearly_exact_where_the_chosen_are_smooth(alpha):
    """One column has few eigenvalues, so its factor leaves out next to nothing."""
    grams, candidate, _, y = variables(600, 1)
    entropy = Renyi(alpha, 40, Exact())
    kept = Chosen([column(grams[1])], None, [np.arange(len(y))], entropy, Auto(), None)
    exact = float(entropy(grams[1] * candidate))
    room = 0.1 if alpha < 1 else 0.01  # what float32 does not resolve weighs more below 1
    assert exact <= kept.glance(column(candidate), "high").high <= exact + room


@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("alpha", [0.6, 1.01, 2])
def test_a_joint_with_its_start_gives_the_exact_value(alpha, target):
    grams, candidate, labels, y = variables(700, 2)
    _, kept = chosen(grams, labels if target else None, y, Renyi(alpha, 20))
    A = kept.joint(column(candidate))
    assert all(block.single().mass == block.mass for block in A.reduced[1])
    found = Renyi(alpha, 20, Auto(tol=2e-3)).certified(A)
    plain = candidate
    for B in grams + ([labels] if target else []):
        plain = plain * B
    exact = float(Renyi(alpha, 20, Exact())(plain))
    assert exact in found
    assert found.width <= 2e-3


@pytest.mark.parametrize("start", ["random", "constant", "eigenvectors"])
def test_a_start_may_be_anything(start):
    """An interval holds whatever the iteration began with; a good start makes it cheap."""
    rng = np.random.default_rng(0)
    A = lr.gram(rng.normal(size=(900, 4)), Gaussian(1.0))
    vectors = np.linalg.eigh(A.dense())[1][:, -32:]
    A.near = {
        "random": rng.normal(size=(900, 32)),
        "constant": np.ones((900, 32)) + 1e-9 * rng.normal(size=(900, 32)),
        "eigenvectors": vectors,
    }[start].astype(np.float32)
    exact = float(Renyi(2, 25, Exact())(A))
    found = Renyi(2, 25, Auto(tol=1e-3)).certified(A)
    assert exact in found
    assert found.width <= 1e-3


def test_a_start_of_eigenvectors_is_enough_at_once():
    A = lr.gram(np.random.default_rng(0).normal(size=(600, 3)), Gaussian(1.0))
    values, vectors = np.linalg.eigh(A.dense())
    krylov = Krylov(A.held(), 16, 40, start=vectors[:, -40:])
    krylov.fill()
    assert krylov.products == 40
    np.testing.assert_allclose(krylov.ritz()[0], values[::-1][:40], rtol=1e-10)


@pytest.mark.parametrize(("alpha", "rank"), [(0.6, 40), (1.01, 40), (2, 40), (2, None)])
def test_the_list_is_that_of_exact_eigenvalues(alpha, rank):
    """Continuous columns, so that glances and starts are what decides."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(420, 9))
    X[:, 5] = X[:, 0] + 0.3 * rng.normal(size=420)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.4 * rng.normal(size=420) > 0).astype(int)
    lists = [
        InformationSelector(6, criterion=JointInformation(Renyi(alpha, rank, solver))).fit(X, y)
        for solver in (Auto(), Exact())
    ]
    assert lists[0].indices_.tolist() == lists[1].indices_.tolist()
    np.testing.assert_allclose(lists[0].scores_, lists[1].scores_, atol=1e-3)


@pytest.mark.parametrize("rare", [2, 3, 15, 16, 24])
@pytest.mark.parametrize("alpha", [0.6, 2])
def test_a_rare_class_is_no_obstacle(alpha, rare):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(FEW_ROWS + 20, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    y[:rare] = 2
    lists = [
        InformationSelector(4, criterion=JointInformation(Renyi(alpha, 40, solver))).fit(X, y)
        for solver in (Auto(), Exact())
    ]
    assert lists[0].indices_.tolist() == lists[1].indices_.tolist()


def test_labels_that_are_all_different_are_no_obstacle():
    X = np.random.default_rng(4).normal(size=(700, 4))
    y = [f"row {i}" for i in range(700)]
    found = InformationSelector(4, criterion=JointInformation(Renyi(2, 40))).fit(X, y)
    assert sorted(found.indices_) == [0, 1, 2, 3]


def test_what_was_not_followed_widens_the_enclosure():
    """After `narrow` most of the residual is left out; eigenvalues must still be enclosed."""
    A = lr.gram(np.random.default_rng(1).normal(size=(300, 3)), Gaussian(1.0))
    dense = A.dense()
    near = np.linalg.eigh(dense)[1][:, -6:] + np.random.default_rng(2).normal(0, 0.03, (300, 6))
    krylov = Krylov(A.held(), 6, 6, start=near)
    krylov.fill()
    krylov.narrow(1)
    krylov.grow(7)
    krylov.fill()
    Y = krylov.vectors(krylov.ritz(6)[1])
    rest = dense - Y @ (Y.T @ dense)
    outside = np.linalg.eigvalsh(rest - (rest @ Y) @ Y.T)[-1]
    peaked, spread = krylov.enclosure(6, outside)
    exact = np.cumsum(np.linalg.eigvalsh(dense)[::-1][:6])
    assert np.all(np.cumsum(peaked.values[:6]) >= exact)
    assert spread.values[0] <= exact[0]


def test_far_points_leave_no_numbers_that_make_products_slow():
    """Kernels of distant points underflow to denormal float32 numbers, which must not be kept."""
    rng = np.random.default_rng(0)
    columns = [
        column(lr.gram(13 * rng.integers(0, 2, 400) + x, Gaussian(1.0)))
        for x in rng.normal(size=(2, 400))
    ]
    kept = Chosen(columns, None, [np.arange(400)], Renyi(2, 20), Auto(), None)
    tiny = np.finfo(np.float32).tiny
    stored = [kept.blocks[0].held.factors[0].array, kept.blocks[0].squares, columns[0].square]
    for array in stored:
        assert not np.any((array != 0) & (np.abs(array) < tiny))
