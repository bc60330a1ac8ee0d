"""`Auto`, the default solver: what it estimates, how far off it is, and what it says of that."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer, load_digits

import lorenyi as lr
from lorenyi.spectra.auto import Limits
from lorenyi.spectra.lowrank import LowRank, tail_curve
from lorenyi.spectra.quadrature import Quadrature, calibrated

RNG = np.random.default_rng(0)


def clusters(n):
    centers = RNG.integers(0, 5, (n, 1)) * np.array([[1.0, 2.0, -1.0, 0.5, 0.0, 1.0]])
    return 0.2 * RNG.normal(size=(n, 6)) + centers


TABLES = {
    "normal, 1 column": RNG.normal(size=(1300, 1)),
    "normal, 3 columns": RNG.normal(size=(1300, 3)),
    "normal, 10 columns": RNG.normal(size=(1300, 10)),
    "normal, 50 columns": RNG.normal(size=(1300, 50)),
    "heavy tails": RNG.standard_t(3, size=(1300, 5)),
    "clusters": clusters(1300),
    "uniform": RNG.random((1300, 2)),
    "digits": load_digits().data[:1300],
}
ORDERS = [(1, None), (1.01, None), (1.5, None), (3, None), (math.inf, None), (1, 20), (2, 100)]


NO_DENSE = Limits(dense=300, instead=0, at_last=0)  # above 300 rows never decomposed as a whole
BY_FACTOR = replace(NO_DENSE, stored=0)


@pytest.fixture(params=[BY_FACTOR, NO_DENSE], ids=["factor", "quadrature"])
def no_dense(request, monkeypatch):
    monkeypatch.setattr("lorenyi.spectra.auto.LIMITS", request.param)


@pytest.fixture
def by_quadrature(monkeypatch):
    monkeypatch.setattr("lorenyi.spectra.auto.LIMITS", NO_DENSE)


@pytest.fixture(scope="module", params=TABLES)
def table(request):
    A = lr.gram(TABLES[request.param])
    return A, lr.Exact()(A)


@pytest.mark.parametrize(("alpha", "rank"), ORDERS)
@pytest.mark.filterwarnings("ignore:.*the computing error is estimated")
def test_the_estimate_is_as_near_to_all_eigenvalues_as_it_says(no_dense, table, alpha, rank):
    A, spectrum = table
    exact = float(lr.renyi_entropy(spectrum, alpha, 1 if alpha == math.inf else rank))
    found = lr.Renyi(alpha, rank)(A)
    assert abs(found - exact) <= 2 * found.computing_error + 2e-5
    assert abs(found - exact) <= 0.7 * found.standard_error


@pytest.mark.parametrize("alpha", [0.5, 1, 10, 50])
def test_what_is_next_to_nothing_and_what_float32_rounds_is_said(no_dense, alpha):
    """A factor that leaves 1e-8 of the trace leaves more than that of an entropy."""
    A = lr.gram(TABLES["normal, 1 column"], lr.Gaussian(1.0))
    exact = float(lr.renyi_entropy(lr.Exact()(A), alpha))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = lr.Renyi(alpha)(A)
    assert 0 < abs(found - exact) <= 3 * found.computing_error


@pytest.mark.parametrize("name", ["normal, 3 columns", "normal, 10 columns", "heavy tails"])
def test_labels_are_measured_block_by_block(no_dense, name):
    X = TABLES[name]
    y = (X[:, 0] + RNG.normal(size=len(X)) > 0).astype(str)
    exact = lr.mutual_information(X, y, entropy=lr.Renyi(solver=lr.Exact()))
    found = lr.mutual_information(X, y)
    assert abs(found - exact) <= 0.2 * exact.standard_error
    assert found.standard_error == exact.standard_error


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4])
def test_a_tolerance_in_bits_means_what_it_says(no_dense, tol):
    A = lr.gram(TABLES["normal, 10 columns"])
    found = lr.Renyi(solver=lr.Auto(tol=tol))(A)
    assert found.computing_error <= tol
    assert abs(found - lr.Renyi(solver=lr.Exact())(A)) <= tol


@pytest.mark.filterwarnings("ignore:.*computing error is estimated")  # small limits do not do
@pytest.mark.parametrize(("way", "limits"), [(LowRank, BY_FACTOR), (Quadrature, NO_DENSE)])
def test_more_is_computed_where_more_is_asked_for(monkeypatch, way, limits):
    monkeypatch.setattr("lorenyi.spectra.auto.LIMITS", limits)
    sizes = []
    spectrum = way.spectrum
    monkeypatch.setattr(way, "spectrum", lambda self: (sizes.append(self.size), spectrum(self))[1])
    A = lr.gram(TABLES["normal, 10 columns"])
    for tol in (1e-3, 1e-5):
        lr.Renyi(solver=lr.Auto(tol=tol))(A)
    assert sizes[0] < sizes[-1]


def test_where_no_estimate_is_good_enough_all_eigenvalues_are_computed():
    A = lr.gram(TABLES["normal, 10 columns"])
    found = lr.Renyi(0.3)(A)
    assert found.computing_error == 0
    assert found == pytest.approx(float(lr.Renyi(0.3, solver=lr.Exact())(A)), abs=1e-9)


def test_what_is_too_coarse_is_said_with_a_remedy(no_dense):
    A = lr.gram(TABLES["normal, 3 columns"])
    with pytest.warns(RuntimeWarning, match=r"estimated to be \S+ bits; a larger order"):
        found = lr.Renyi(0.1)(A)
    assert "computed to" in repr(found)


@pytest.mark.parametrize("n", [20_500, 40_000])
def test_rows_are_streamed_through_pivots_with_the_value_of_all(n):
    """Two blocks of labels, each of fewer rows than are streamed, have the same entropies."""
    X = np.random.default_rng(1).normal(size=(n, 2))
    found = lr.entropy(X)
    small = lr.entropy(X[:10_000])
    assert abs(found - small) <= 4 * math.hypot(found.standard_error, small.standard_error)
    assert found.computing_error <= 0.2 * found.standard_error


def test_a_sample_of_rows_gives_the_spectrum_of_all(monkeypatch):
    A = lr.gram(TABLES["normal, 10 columns"])
    exact = lr.Renyi(solver=lr.Exact())(A)
    monkeypatch.setattr("lorenyi.spectra.lowrank.MAX_FACTOR_ROWS", 1000)
    monkeypatch.setattr("lorenyi.spectra.lowrank.SAMPLED_ROWS", 900)
    found = lr.Renyi(solver=lr.Auto(tol=1e-2))(A)
    assert abs(found - exact) <= 1e-2


@pytest.mark.parametrize("shape", [0.5, 0.7, 1.0])
@pytest.mark.parametrize("square", [1e-5, 1e-4, 3e-3, 9e-3])
def test_a_tail_has_the_sum_and_the_squares_it_was_asked_for(shape, square):
    values, counts = tail_curve(5000, 0.1, square, shape)
    assert counts.sum() == 5000
    assert counts @ values == pytest.approx(0.1)
    assert counts @ values**2 == pytest.approx(max(square, 0.1**2 / 5000), rel=1e-6)
    assert (np.diff(values) <= 0).all()


def test_counts_are_calibrated_to_number_sum_and_squares():
    nodes, weights = RNG.random((4, 6)), RNG.random((4, 6))
    values, counts = calibrated(nodes, weights, 100, 30.0, 12.0)
    moments = [counts.sum(), counts @ values, counts @ values**2]
    assert moments == pytest.approx([100, 30, 12])


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("alpha", [0.3, 0.7])
def test_below_order_one_the_error_is_said_too(by_quadrature, name, alpha):
    A = lr.gram(TABLES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = lr.Renyi(alpha)(A)
    exact = float(lr.renyi_entropy(lr.Exact()(A), alpha))
    assert abs(found - exact) <= 3 * found.computing_error + 1e-5


@pytest.mark.parametrize("d", [20, 50, 100])
@pytest.mark.parametrize("width", [0.5, 1.0])
@pytest.mark.parametrize("alpha", [0.5, 1, 1.5])
def test_flat_spectra_are_measured_to_a_share_of_the_standard_error(d, width, alpha):
    """As near as the data can tell, in a fraction of the vectors that there are."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(1300, d))
    A = lr.gram(X, lr.Gaussian(width * math.sqrt(2 * d)))
    exact = float(lr.renyi_entropy(lr.Exact()(A), alpha))
    found = lr.Renyi(alpha)(A)
    assert 0 < abs(found - exact) <= 0.2 * found.standard_error
    assert abs(found - exact) <= 3 * found.computing_error + 1e-5


def test_real_tables_are_measured_to_a_share_of_their_standard_error(no_dense):
    X, y = load_breast_cancer(return_X_y=True)
    exact = lr.mutual_information(X, y, entropy=lr.Renyi(solver=lr.Exact()))
    found = lr.mutual_information(X, y)
    assert abs(found - exact) <= 0.2 * exact.standard_error


# ---------------------------------------------------------------------------------- plans


def test_a_plan_says_what_would_be_done_with_each_block():
    X = RNG.normal(size=(2000, 2))
    labels = lr.gram(np.arange(2000) % 3, lr.Delta())
    assert str(lr.Auto().plan(labels)) == "3 eigenvalues known from equal rows and labels"
    assert str(lr.Auto().plan(lr.gram(X) * labels)).count("all eigenvalues (small)") == 3
    assert "2000 rows: low-rank factor (" in str(lr.Auto().plan(lr.gram(X)))
    assert "sampled rows" in str(lr.Auto().plan(lr.gram(RNG.normal(size=(24_000, 2)))))
    assert "order 0" in str(lr.Auto().plan(lr.gram(X), alpha=0))
    assert "all pairs" in str(lr.Auto().plan(lr.gram(X), alpha=2))
    assert "50 rows" in str(lr.Auto().plan(lr.gram(np.tile(X[:50], (40, 1)))))


def test_many_blocks_are_summed_up():
    X = RNG.normal(size=(400, 2))
    plan = lr.Auto().plan(lr.gram(X) * lr.gram(np.arange(400) % 40, lr.Delta()))
    assert "... and 30 blocks more" in str(plan)


# ---------------------------------------------------------------- progress, interruption, seeds


def test_progress_is_told_with_the_computing_error():
    told = []
    solver = lr.Auto(tol=1e-4, progress=lambda message, error: told.append((message, error)))
    lr.Renyi(solver=solver)(lr.gram(TABLES["normal, 10 columns"]))
    assert told[-1][1] <= 1e-4
    assert all("columns" in message or "vectors" in message for message, _ in told)


def test_nothing_is_printed_where_nobody_watches(capsys):
    lr.entropy(TABLES["normal, 10 columns"])
    assert capsys.readouterr() == ("", "")


def test_an_interruption_comes_through():
    def progress(message, error):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lr.Renyi(solver=lr.Auto(progress=progress))(lr.gram(TABLES["normal, 10 columns"]))


def test_the_same_call_gives_the_same_answer():
    A = lr.gram(TABLES["normal, 10 columns"])
    assert float(lr.Renyi()(A)) == float(lr.Renyi()(A))
    other = lr.Renyi(solver=lr.Auto(seed=5))(A)
    assert abs(other - lr.Renyi()(A)) <= 0.2 * other.standard_error


def test_a_value_does_not_depend_on_the_order_of_the_rows():
    X = np.random.default_rng(0).normal(size=(3000, 10))
    orders = [np.random.default_rng(seed).permutation(3000) for seed in range(3)]
    found = [lr.entropy(X[order]) for order in orders]
    assert len({value.about for value in found}) == 1
    assert np.ptp(found) <= 0.3 * found[0].standard_error
    squares = [float(lr.entropy(X[order], entropy=lr.Renyi(2))) for order in orders]
    assert np.ptp(squares) <= 1e-12


@pytest.mark.parametrize(("alpha", "rank"), [(1, None), (1.01, 5), (2, None)])
def test_tensors_without_gradient_are_measured_as_arrays(alpha, rank):
    X, H = TABLES["normal, 3 columns"], lr.Renyi(alpha, rank)
    found = lr.entropy(torch.tensor(X), entropy=H)
    assert isinstance(found, lr.Estimate)
    assert float(found) == float(lr.entropy(X, entropy=H))


def test_below_order_one_what_is_rounding_is_part_of_the_error():
    """Of a smooth kernel most eigenvalues are below rounding: 50 digits say by how much."""
    from mpmath import eigsy, matrix, mp

    x = np.linspace(0.0, 1.0, 24)
    A = np.exp(-0.5 * (x[:, None] - x) ** 2) / 24
    with mp.workdps(60):
        exact = matrix(24)
        for i in range(24):
            for j in range(24):
                exact[i, j] = mp.exp(-((mp.mpf(x[i]) - mp.mpf(x[j])) ** 2) / 2) / 24
        values = [v for v in eigsy(exact, eigvals_only=True) if v > 0]
        truth = float(mp.log(sum(v ** mp.mpf("0.1") for v in values), 2) / mp.mpf("0.9"))
    with pytest.warns(RuntimeWarning, match="the computing error is estimated"):
        found = lr.entropy(lr.gram(x, lr.Gaussian(1.0)), entropy=lr.Renyi(0.1))
    naive = np.log2(np.sum(np.abs(np.linalg.eigvalsh(A)) ** 0.1)) / 0.9
    assert abs(naive - truth) > 0.01  # rounding matters
    assert abs(float(found) - truth) <= found.computing_error


def test_each_term_of_a_formula_gets_its_share_of_the_tolerance(monkeypatch):
    """An error of one bit in each of three entropies moves mutual information by their root."""
    seen = []
    solved = lr.Renyi.solved
    spy = lambda self, A, tol, pilot: seen.append(tol) or solved(self, A, tol, pilot)  # noqa: E731
    monkeypatch.setattr(lr.Renyi, "solved", spy)
    x = RNG.normal(size=200)
    lr.mutual_information(
        x, x + RNG.normal(size=200), entropy=lr.Renyi(1, solver=lr.Auto(tol=3e-3))
    )
    assert seen == pytest.approx([3e-3 / math.sqrt(3)] * 3)


def test_a_default_call_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lr.mutual_information(TABLES["normal, 50 columns"], np.arange(1300) % 2)


# ---------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("bad", [0, -1e-3, float("nan")])
def test_a_tolerance_that_is_not_positive_is_refused(bad):
    with pytest.raises(ValueError, match=r"tol=.* must be a positive number"):
        lr.Auto(tol=bad)


@pytest.mark.parametrize("bad", [0, -1])
def test_a_memory_that_is_not_positive_is_refused(bad):
    with pytest.raises(ValueError, match=r"memory=.* number of bytes"):
        lr.Auto(memory=bad)


def test_rare_rows_far_away_are_not_missed_by_a_sample():
    """Of 40,000 rows 16,000 are sampled; 20 lie where no other is, each with its own eigenvalue."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40_000)
    x[::2000] = 100.0 * np.arange(1, 21)
    found = lr.entropy(lr.gram(x, lr.Gaussian(1.0)))
    assert found.computing_error < 0.2 * found.standard_error
    near = x[np.abs(x) < 50]
    share = len(near) / len(x)
    # Blocks that do not touch: S = share (S_near - log2 share) + 20 terms of 1/n each.
    alone = lr.entropy(lr.gram(near, lr.Gaussian(1.0)))
    expected = share * (float(alone) - np.log2(share)) + 20 / len(x) * np.log2(len(x))
    assert float(found) == pytest.approx(expected, abs=0.1 * found.standard_error)
