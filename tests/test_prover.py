"""Certified bounds by `Auto`: how it searches, that it gets there or says why not."""

import re
import threading
import warnings

import limits
import numpy as np
import pytest
import torch
from grams import eigenvalues, gaussian, normalized
from test_certificates import exact_entropy

import lorenyi as lr
from lorenyi.gram import held, stored, tiles
from lorenyi.spectra import search
from lorenyi.spectra.cholesky import Factor
from lorenyi.spectra.krylov import Krylov
from lorenyi.spectra.prover import Prover


def smooth(n=1500, d=1, seed=0):
    """Points whose Gram has few eigenvalues that matter."""
    return np.random.default_rng(seed).uniform(0, 5, size=(n, d))


def flat(n=1500, seed=0):
    """Points of ten columns at a small bandwidth: a spectrum that hardly falls."""
    return np.random.default_rng(seed).normal(size=(n, 10))


SMOOTH, FLAT = lr.Gaussian(1.0), lr.Gaussian(1.5)


class Idle(search.Search):
    """A search that does nothing, however often it is asked."""

    method, effort = "Idle", 0

    def spectrum(self):
        return lr.Lanczos(1)(self.A, None)

    def _learn(self, excess, goal):
        self.asked = getattr(self, "asked", 0) + 1


def test_what_learns_nothing_is_not_asked_again(monkeypatch):
    idle = Idle(lr.gram(smooth(400), SMOOTH))
    assert not idle.refine(10.0, lambda spectrum: 10.0)
    monkeypatch.setattr(Prover, "_start", lambda self, A, *rest: idle)
    with limits.seconds(60), pytest.warns(RuntimeWarning, match="certified width"):
        lr.Auto()(idle.A)
    assert idle.asked == 2


def made(kind):
    A = lr.gram(smooth(400) if kind == "factor" else flat(400), SMOOTH)
    if kind == "factor":
        return search.FactorSearch(A, 0, 300, classical=True)
    if kind == "whole":
        return search.WholeSearch(A)
    rank = 20 if kind == "krylov" else None
    return search.KrylovSearch(A, rank, 0, hold=True, single=False, room=10**9)


@pytest.mark.parametrize("kind", ["factor", "whole", "krylov", "krylov of all"])
def test_every_search_ends_however_much_is_asked_of_it(kind):
    """The effort grows with each refinement that is said to have learned something."""
    found = made(kind)
    with limits.seconds(60):
        for _ in range(1000):
            before = found.effort
            if not found.refine(1e9, lambda spectrum: 1e9):
                break
            assert found.effort > before
        else:
            pytest.fail(f"still learning at effort {found.effort}")


def test_a_factor_of_what_is_left_as_noise_says_that_nothing_was_added():
    """Entries rounded to float32: pivots below that rounding are not there."""
    x = np.linspace(0, 1, 200)[:, None]
    K = gaussian(x, 1.0).astype(np.float32)
    factor = Factor(lr.gram(K, lr.Precomputed()))
    with limits.seconds(60):
        while factor.grow(16):
            size = factor.size
            assert size <= 200
    assert not factor.grow(16)
    assert factor.size == size < 60


def test_a_krylov_basis_in_float32_is_complete_when_the_trace_is_used_up_and_not_before():
    A = lr.gram(np.random.default_rng(0).normal(size=(3000, 6)), lr.Gaussian(1.5)).single()
    krylov = Krylov(held(A), 64, 640)
    krylov.fill()
    assert 1e-4 < krylov.rest < 4 * 3000 * np.finfo(np.float32).eps * 20
    assert not krylov.complete
    spectrum = krylov.spectrum(A, None)
    assert spectrum.kind == "ritz"


def counted_entries(monkeypatch):
    """A list that grows by the size of each block of the Gaussian kernel."""
    entries, block = [], lr.Gaussian.block

    def counted(self, X, Y):
        entries.append(int(X.shape[0]) * int(Y.shape[0]))
        return block(self, X, Y)

    monkeypatch.setattr(lr.Gaussian, "block", counted)
    return entries


@pytest.fixture(scope="module")
def smooth_case():
    X = smooth()
    return lr.gram(X, SMOOTH), eigenvalues(normalized(gaussian(X, 1.0)))


@pytest.fixture(scope="module")
def flat_case():
    A = lr.gram(flat(), FLAT)
    return A, eigenvalues(np.asarray(A.dense()))


# --------------------------------------------------------------------- it gets there, or warns


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("alpha", [1, 2.5])
@pytest.mark.parametrize("rank", [None, 12])
def test_the_width_asked_for_is_reached_on_a_smooth_kernel(smooth_case, tol, alpha, rank):
    A, values = smooth_case
    estimate = lr.Renyi(alpha, rank, lr.Auto(tol=tol)).certified(A)
    assert estimate.width <= tol
    assert exact_entropy(values, alpha, rank, len(values)) in estimate


@pytest.mark.parametrize(("alpha", "rank", "tol"), [(2, 20, 1e-2), (1, 20, 1e-3), (5, 8, 1e-3)])
def test_the_width_asked_for_is_reached_on_a_flat_spectrum(flat_case, alpha, rank, tol):
    A, values = flat_case
    estimate = lr.Renyi(alpha, rank, lr.Auto(tol=tol)).certified(A)
    assert estimate.width <= tol
    assert exact_entropy(values, alpha, rank, len(values)) in estimate


def test_less_is_asked_of_the_kernel_at_a_larger_tolerance(monkeypatch):
    entries = counted_entries(monkeypatch)
    costs = []
    for tol in (1e-1, 1e-6):
        entries.clear()
        lr.Renyi(1, None, lr.Auto(tol=tol)).certified(lr.gram(smooth(), lr.Gaussian(0.1)))
        costs.append(sum(entries))
    assert costs[0] < costs[1]


def test_what_cannot_be_reached_is_said_with_the_width_and_a_remedy():
    """A flat spectrum without a rank, and no room for all of it."""
    A = lr.gram(flat(1400), FLAT)
    H = lr.Renyi(1, None, lr.Auto(tol=1e-6, memory=20 * 2**20))
    remedy = r"above tol=1e-06; raise tol=, give more memory=, a rank=, or use Exact\(\)"
    with pytest.warns(RuntimeWarning, match=rf"certified width is \S+ bits, {remedy}"):
        estimate = H.certified(A)
    assert estimate.width > 1e-6
    assert exact_entropy(eigenvalues(np.asarray(A.dense())), 1, None, 1400) in estimate


def test_the_interval_of_a_few_eigenvalues_can_be_narrow_where_that_of_all_is_not():
    A = lr.gram(flat(1400), FLAT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lr.Renyi(2, 10, lr.Auto(tol=1e-2, memory=20 * 2**20)).certified(A)


# --------------------------------------------------------------------------- what it chooses


def chosen(A, rank=None, memory=None):
    """The method for the one block of a Gram, and why."""
    (block,) = A.reduced[1]
    choice = Prover(1e-4, memory, 0).choose(block, rank)
    return f"{choice.method} ({choice.reason})"


def test_a_small_gram_is_decomposed_as_a_whole():
    assert chosen(lr.gram(flat(200), FLAT)) == "Exact (small)"


def test_a_smooth_kernel_is_factorized():
    found = chosen(lr.gram(smooth(), SMOOTH))
    assert re.fullmatch(r"PivotedCholesky \(residual \S+ after \d+ columns\)", found)


def test_a_smooth_kernel_of_very_many_rows_is_streamed():
    assert "Nyström from PivotedCholesky" in chosen(lr.gram(smooth(30_000, 2), SMOOTH))


def test_a_flat_spectrum_is_iterated_on_with_the_matrix_held():
    found = chosen(lr.gram(flat(), FLAT), rank=20)
    assert re.search(r"BlockLanczos, .*matrix held \(.*not smooth", found)


def test_with_too_little_memory_the_iteration_is_matrix_free():
    found = chosen(lr.gram(flat(), FLAT), rank=20, memory=2**22)
    assert re.search(r"BlockLanczos, .*matrix-free \(.*too large to hold", found)


# -------------------------------------------------------------------------------- determinism


@pytest.mark.parametrize("make", [lambda: lr.gram(smooth(), SMOOTH), lambda: lr.gram(flat(), FLAT)])
def test_the_same_seed_gives_the_same_answer(make):
    H = lr.Renyi(2, 10, lr.Auto(tol=1e-2, seed=3))
    first, again = H.certified(make()), H.certified(make())
    assert (first.low, float(first), first.high) == (again.low, float(again), again.high)


@pytest.mark.parametrize("seed", [1, 2, -7])
def test_another_seed_still_contains_the_exact_value(smooth_case, flat_case, seed):
    for (A, values), rank in ((smooth_case, None), (flat_case, 10)):
        estimate = lr.Renyi(1, rank, lr.Auto(tol=1e-2, seed=seed)).certified(A)
        assert exact_entropy(values, 1, rank, len(values)) in estimate
        assert estimate.width <= 1e-2


# -------------------------------------------------------------------- progress, interruption


def test_progress_is_told_with_the_width_until_it_is_reached(flat_case):
    told = []
    solver = lr.Auto(tol=1e-2, progress=lambda message, width: told.append((message, width)))
    estimate = lr.Renyi(2, 20, solver).certified(flat_case[0])
    assert len(told) >= 2
    widths = [width for _, width in told]
    assert widths[-1] == pytest.approx(estimate.width)
    assert widths[-1] <= 1e-2 < widths[0]
    assert all("bits wide" in message and "Gram(n=1500" in message for message, _ in told)


def threads():
    """Those of other work than ours: ours stay, to be used again."""
    return [thread for thread in threading.enumerate() if not thread.name.startswith("lorenyi")]


@pytest.mark.parametrize("after", [1, 2])
def test_an_interruption_comes_through_and_leaves_no_thread_behind(flat_case, after):
    told = []

    def progress(message, width):
        told.append(width)
        if len(told) == after:
            raise KeyboardInterrupt

    before = threads()
    with pytest.raises(KeyboardInterrupt):
        lr.Renyi(2, 20, lr.Auto(tol=1e-2, progress=progress)).certified(flat_case[0])
    assert len(told) == after
    assert threads() == before


def test_an_interruption_inside_the_kernel_comes_through_and_leaves_no_thread_behind(monkeypatch):
    """As when the user presses Ctrl-C while the rows are worked on in parallel."""
    calls = []
    block = lr.Gaussian.block

    def interrupted(self, X, Y):
        calls.append(1)
        if len(calls) > 20:
            raise KeyboardInterrupt
        return block(self, X, Y)

    monkeypatch.setattr(lr.Gaussian, "block", interrupted)
    before = threads()
    with pytest.raises(KeyboardInterrupt):
        lr.Renyi(2, 20, lr.Auto(tol=1e-2, memory=2**22)).certified(lr.gram(flat(), FLAT))
    assert threads() == before


# -------------------------------------------------------------------------------------- memory


def test_with_little_memory_no_dense_matrix_is_ever_made(monkeypatch, flat_case):
    A, values = flat_case

    whole = tiles.kernel_matrix

    def small(A):
        assert len(A) <= 300, f"a dense matrix of {len(A)} rows"
        return whole(A)

    monkeypatch.setattr(tiles, "kernel_matrix", small)
    monkeypatch.setattr(stored, "kernel_matrix", small)
    entries = counted_entries(monkeypatch)
    estimate = lr.Renyi(2, 20, lr.Auto(tol=1e-2, memory=2**22)).certified(A)
    assert max(entries) <= 1500**2 // 3
    assert estimate.width <= 1e-2
    assert exact_entropy(values, 2, 20, len(values)) in estimate


# -------------------------------------------------------------------------------- very many rows


@pytest.mark.parametrize(("alpha", "rank"), [(1, None), (2, 20)])
def test_very_many_rows_give_the_value_of_the_few_they_repeat(alpha, rank):
    """300 points 100 times: folded, the exact value; moved by 1e-7, the streamed factor's."""
    centers = smooth(300, 2)
    X = np.tile(centers, (100, 1))
    moved = X + 1e-7 * np.random.default_rng(0).normal(size=X.shape)
    folded, streamed = lr.gram(X, SMOOTH), lr.gram(moved, SMOOTH)
    exact = lr.Renyi(alpha, rank, lr.Exact())(folded)
    estimate = lr.Renyi(alpha, rank, lr.Auto(tol=1e-3)).certified(streamed)
    assert len(streamed.reduced[1][0]) == 30_000
    assert estimate.width <= 1e-3
    # Points that moved by 1e-7 change the kernel by as much at most, and S by a few bits of it.
    assert estimate.low - 1e-5 <= float(exact) <= estimate.high + 1e-5


def test_single_precision_rows_are_streamed_too():
    X = smooth(30_000, 2)
    H = lr.Renyi(2, 20, lr.Auto(tol=1e-2))
    double = H.certified(lr.gram(X, SMOOTH))
    single = H.certified(lr.gram(X.astype(np.float32), SMOOTH))
    assert single.low <= double.high
    assert double.low <= single.high
    assert single.width <= 1e-2


# ------------------------------------------------------------------------------------- tensors


def test_a_tensor_without_gradient_has_the_interval_of_its_array(flat_case):
    _, values = flat_case
    H = lr.Renyi(2, 20, lr.Auto(tol=1e-2))
    T = lr.gram(torch.tensor(flat()), FLAT)
    estimate = H.certified(T)
    assert estimate.width <= 1e-2
    assert exact_entropy(values, 2, 20, len(values)) in estimate


@pytest.mark.parametrize(("alpha", "rank"), [(1, None), (1.01, 5), (2, 3)])
def test_the_gradient_through_the_default_solver_is_right(alpha, rank):
    X = torch.tensor(flat(12)[:, :2], requires_grad=True)
    H = lr.Renyi(alpha, rank)
    assert torch.autograd.gradcheck(lambda Z: H(lr.gram(Z, SMOOTH)), (X,))


def test_the_gradient_of_many_rows_is_close_to_that_of_all_eigenvalues():
    """Exact for converged vectors; those of a few steps give the paper's approximation."""
    X = torch.tensor(smooth(400, 2), requires_grad=True)
    gradients = []
    for solver in (lr.Auto(), lr.Exact()):
        (g,) = torch.autograd.grad(lr.Renyi(2, 6, solver)(lr.gram(X, SMOOTH)), (X,))
        gradients.append(g.numpy())
    assert gradients[0] == pytest.approx(gradients[1], abs=5e-3 * np.abs(gradients[1]).max())


def test_several_blocks_that_are_not_complete_are_enclosed_together():
    """What one of them leaves open is told with the others as if they were certain."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * 1300, 6))
    y = np.arange(len(X)) % 2
    A = lr.gram(X, lr.Gaussian(1.0)) * lr.gram(y)
    found = lr.Renyi(2, 60, lr.Auto(tol=2e-3)).certified(A)
    assert found.width <= 2e-3
    assert found.low <= float(lr.Renyi(2, 60, lr.Exact())(A)) <= found.high
