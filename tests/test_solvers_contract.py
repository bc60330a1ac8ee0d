"""One contract for every solver on every kind of Gram. A new solver is one line in METHODS."""

import math
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from functools import cache
from typing import NamedTuple

import array_api_compat
import numpy as np
import pytest
from grams import KINDS, copies, eigenvalues, normalized

import lorenyi as lr
from lorenyi import _arrays


class Method(NamedTuple):
    """A family of solvers of growing size, and what it promises."""

    make: Callable[..., lr.Solver]  # make(size, seed=...)
    kind: str  # of the spectrum where it is not complete
    random: bool = True  # another seed gives another answer at small sizes
    rank_optional: bool = True
    settles: float = 0.0  # error that it reaches at any size
    precision: float = 0.0  # of its own arithmetic, where that is not the Gram's
    tensors: bool = True  # works on tensors too


SINGLE = 4 * 45 * float(np.finfo(np.float32).eps)


def settled_lanczos(size, seed=0):
    return lr.Lanczos(steps=max(size, 12), tol=1e-5, seed=seed)


def blocks_of_four(size, seed=0):
    return lr.BlockLanczos(steps=-(-size // 4), block=4, single=False, seed=seed)


def single_blocks_of_four(size, seed=0):
    return lr.BlockLanczos(steps=-(-size // 4), block=4, seed=seed)


def subspace(size, seed=0):
    return lr.SubspaceIteration(steps=2, extra=size, seed=seed)


def pivots(size, seed=0):
    return lr.PivotedCholesky(tol=1e-15, size=size, block=4, seed=seed)


METHODS = {
    "Exact": Method(lambda size, seed=0: lr.Exact(), "complete", random=False),
    "Auto": Method(lambda size, seed=0: lr.Auto(seed=seed), "complete", random=False),
    "Lanczos": Method(lr.Lanczos, "ritz"),
    "Lanczos to a tolerance": Method(settled_lanczos, "ritz", random=False, settles=1e-5),
    "BlockLanczos": Method(blocks_of_four, "ritz"),
    "BlockLanczos in float32": Method(single_blocks_of_four, "ritz", precision=SINGLE),
    "PivotedCholesky": Method(pivots, "ritz", tensors=False),
    "SubspaceIteration": Method(subspace, "ritz", rank_optional=False),
    "GaussianProjection": Method(lr.GaussianProjection, "sketch", rank_optional=False),
    "HadamardProjection": Method(lr.HadamardProjection, "sketch", rank_optional=False),
    "InputSparsity": Method(lr.InputSparsity, "sketch", rank_optional=False),
    "SparseGraph": Method(lr.SparseGraph, "sketch", rank_optional=False),
}

case = cache(lambda kind: KINDS[kind]())  # Grams are values: tests may share them

every_kind = pytest.mark.parametrize("kind", KINDS)
every_method = pytest.mark.parametrize("name", METHODS)


def pairs(wanted=lambda method: True):
    """Every kind of Gram with every method that is wanted and can read it."""
    return pytest.mark.parametrize(
        ("kind", "name"),
        [
            (kind, name)
            for name, method in METHODS.items()
            for kind in KINDS
            if wanted(method) and (method.tensors or not kind.startswith("torch"))
        ],
    )


def close(kind, name):
    """How close the method can come to the plain matrix's eigenvalues."""
    return max(case(kind).tolerance, METHODS[name].precision)


random_methods = pytest.mark.parametrize("name", [m for m in METHODS if METHODS[m].random])


def padded(values, length):
    """The values as NumPy, with zeros for those that structure made unnecessary."""
    values = _arrays.to_numpy(values).astype(float)
    return np.pad(values, (0, max(0, length - len(values))))[:length]


def is_structure_only(A):
    """Whether the spectrum is known at sight, and no solver is asked."""
    return not A.reduced[1]


# -------------------------------------------------------------------------- the right values


@every_kind
def test_exact_is_numpys_eigenvalues_of_the_plain_matrix(kind):
    A, matrix, _, tolerance = case(kind)
    values = lr.Exact()(A).values
    assert len(values) <= len(matrix)
    assert padded(values, len(matrix)) == pytest.approx(eigenvalues(matrix), abs=tolerance)


@pairs()
def test_at_full_size_every_leading_value_is_exact(kind, name):
    A, matrix, n, _ = case(kind)
    solver = METHODS[name].make(len(A))
    for rank in (1, 5, min(len(A), int(n)) - 1):
        found = padded(solver(A, rank).values, rank)
        assert found == pytest.approx(eigenvalues(matrix)[:rank], abs=close(kind, name))


@pairs(lambda method: method.rank_optional)
def test_at_full_size_without_a_rank_the_spectrum_is_complete(kind, name):
    A, matrix, *_ = case(kind)
    spectrum = METHODS[name].make(len(A))(A)
    assert spectrum.kind == "complete"
    found = padded(spectrum.values, len(matrix))
    assert found == pytest.approx(eigenvalues(matrix), abs=close(kind, name))


@pairs()
def test_the_error_falls_with_the_size(kind, name):
    """Four times the size: random projections err about half as much, most others far less."""
    A, matrix, *_ = case(kind)
    rank, method = 3, METHODS[name]
    exact = eigenvalues(matrix)[:rank]

    seeds = range(10 if method.random else 1)  # others answer the same, whatever the seed

    def error(size):
        found = [padded(method.make(size, seed=i)(A, rank).values, rank) for i in seeds]
        return np.mean([np.abs(values - exact).max() for values in found])

    small, large = error(5), error(20)
    assert large <= max(0.9 * small, close(kind, name), method.settles)


# ------------------------------------------------------------------------------ the Spectrum


@pairs()
@pytest.mark.parametrize("size", [6, 1000])
def test_the_spectrum_tells_n_trace_and_order_in_the_grams_own_arrays(kind, name, size):
    A, matrix, n, tolerance = case(kind)
    rank, method = 4, METHODS[name]
    spectrum = method.make(size)(A, rank)
    assert spectrum.n == n
    assert spectrum.trace == pytest.approx(1, abs=tolerance)
    assert array_api_compat.array_namespace(spectrum.values) is array_api_compat.array_namespace(
        A.weights
    )
    assert spectrum.values.dtype == A.weights.dtype
    values = _arrays.to_numpy(spectrum.values)
    assert (values >= 0).all()
    assert (np.diff(values) <= 0).all()
    assert len(values) >= min(rank, np.linalg.matrix_rank(matrix))


@pairs()
def test_the_kind_of_the_spectrum_says_what_its_values_are(kind, name):
    A, method = case(kind).gram, METHODS[name]
    full = method.make(len(A))(A, 4)
    complete = is_structure_only(A) or method.kind != "sketch"
    assert full.kind == ("complete" if complete else "sketch")


@every_method
def test_a_spectrum_that_is_not_complete_does_not_say_it_is(name):
    A, method = case("dense_gaussian").gram, METHODS[name]
    assert method.make(8)(A, 4).kind == method.kind


@pairs(lambda method: method.kind == "ritz")
@pytest.mark.parametrize("steps", [4, 8, 16])
def test_ritz_values_never_exceed_the_eigenvalues(kind, steps, name):
    """theta_i <= lambda_i for every i (Cauchy's interlacing), up to rounding."""
    A, matrix, *_ = case(kind)
    values = padded(METHODS[name].make(steps)(A, 4).values, len(matrix))
    rounding = 1e-14 if close(kind, name) == 1e-10 else close(kind, name)
    assert (values <= eigenvalues(matrix) + rounding).all()


# --------------------------------------------------------------------------------- the seeds

IRREGULAR = ["dense_gaussian", "weighted", "ready_made", "sparse", "blocks", "torch_tensor"]


@pairs()
def test_the_same_seed_gives_the_same_answer(kind, name):
    A, B = KINDS[kind]().gram, KINDS[kind]().gram
    solver = METHODS[name].make(8, seed=5)
    first = _arrays.to_numpy(solver(A, 4).values)
    assert np.array_equal(first, _arrays.to_numpy(solver(A, 4).values))
    again = METHODS[name].make(8, seed=5)(B, 4).values
    assert np.array_equal(first, _arrays.to_numpy(again))


@random_methods
@pytest.mark.parametrize("kind", IRREGULAR)
def test_another_seed_gives_another_answer(kind, name):
    if kind.startswith("torch") and not METHODS[name].tensors:
        pytest.skip("it reads no tensors")
    A = case(kind).gram
    make = METHODS[name].make
    answers = [_arrays.to_numpy(make(6, seed=seed)(A, 4).values[:4]) for seed in (0, 1, -1, 2**63)]
    for i, first in enumerate(answers):
        for other in answers[:i]:
            assert not np.allclose(first, other, rtol=1e-10, atol=0)


@every_method
def test_the_answer_does_not_depend_on_the_state_of_numpys_generator(name):
    A, solver = case("dense_gaussian").gram, METHODS[name].make(8)
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    first = solver(A, 4).values
    np.random.seed(2)  # noqa: NPY002
    assert np.array_equal(first, solver(A, 4).values)
    np.random.set_state(state)  # noqa: NPY002


@pytest.mark.parametrize("name", [m for m in METHODS if METHODS[m].kind == "sketch"])
@pytest.mark.parametrize("kind", ["dense_gaussian", "ready_made", "sparse", "weighted"])
def test_the_mean_of_projected_squares_is_the_squared_norm(kind, name):
    """E[P P'] = I makes E sum_i sigma_i(A P)^2 = |A|_F^2, though no single answer is exact."""
    A, matrix, *_ = case(kind)
    make = METHODS[name].make
    sums = [float(np.sum(make(20, seed=seed)(A, 20).values ** 2)) for seed in range(150)]
    standard_error = np.std(sums) / math.sqrt(len(sums))
    assert standard_error < 0.05 * np.sum(matrix**2)
    assert abs(np.mean(sums) - np.sum(matrix**2)) < 4 * standard_error


# ------------------------------------------------------------------------------------- Auto


@pytest.mark.parametrize("kind", [k for k in KINDS if not k.startswith(("torch", "float32"))])
@pytest.mark.parametrize(("alpha", "rank"), [(1.0, None), (1.5, 4), (0.5, 4), (math.inf, None)])
def test_auto_keeps_its_promise_whichever_way_it_goes(monkeypatch, kind, alpha, rank):
    """With `small` set to next to nothing it must use factors and Krylov bases here too."""
    monkeypatch.setattr("lorenyi.spectra.prover.SMALL", 5)
    monkeypatch.setattr("lorenyi.spectra.prover.MODERATE", 5)
    A, matrix, n, _ = case(kind)
    values = eigenvalues(matrix)
    exact = lr.renyi_entropy(lr.Spectrum(np.where(values > 1e-15, values, 0.0), n), alpha, rank)
    # Null eigenvalues known to 1e-16 weigh in with their root at alpha = 1/2.
    slack = 1e-10 if alpha >= 1 else 1e-6
    H = lr.Renyi(alpha, rank, lr.Auto(tol=1e-4))
    estimate = H.certified(A)
    assert estimate.low - slack <= exact <= estimate.high + slack
    assert abs(float(H(A)) - float(exact)) <= 1e-4 + slack


# -------------------------------------------------------------------------- Lanczos in detail


@pytest.mark.parametrize("block", [1, 2, 3, 7, 16, 45, 60])
@pytest.mark.parametrize("kind", ["dense_gaussian", "copies_ready_made", "identity", "sparse"])
def test_blocks_of_any_width_find_everything_at_full_size(kind, block):
    A, matrix, *_ = case(kind)
    solver = lr.BlockLanczos(steps=-(-len(A) // block), block=block, single=False)
    values = padded(solver(A).values, len(matrix))
    assert values == pytest.approx(eigenvalues(matrix), abs=1e-13)


def algorithm_2(A, steps, start):
    """The paper's Algorithm 2 as printed: three-term recurrence, then orthogonalization."""
    Q = np.zeros((len(A), steps + 1))
    Q[:, 0] = start / np.linalg.norm(start)
    gamma, beta = np.zeros(steps), np.zeros(steps)
    for j in range(steps):
        q = A @ Q[:, j]
        if j:
            q -= beta[j - 1] * Q[:, j - 1]
        gamma[j] = q @ Q[:, j]
        q -= gamma[j] * Q[:, j]
        for _ in range(2):
            q -= Q[:, : j + 1] @ (Q[:, : j + 1].T @ q)
        beta[j] = np.linalg.norm(q)
        Q[:, j + 1] = q / beta[j]
    return np.diag(gamma) + np.diag(beta[:-1], 1) + np.diag(beta[:-1], -1)


@pytest.mark.parametrize("offset", [1e2, 1e4, 1e6, 1e8, 1e100])
@pytest.mark.parametrize("kernel", [lr.Gaussian(1.0), lr.Laplacian(1.0)], ids=repr)
def test_products_in_float32_are_as_good_for_points_far_apart(kernel, offset):
    """Two clusters whose distance float32 holds, but not the distances within: kept in float64."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[::2] += offset
    A = lr.gram(X, kernel)
    exact = padded(lr.Exact()(A).values, 60)
    found = lr.BlockLanczos(steps=15, block=4)(A).values
    assert padded(found, 60) == pytest.approx(exact, abs=1e-5)

    def certified(single):
        solver = lr.BlockLanczos(steps=8, block=4, single=single)
        return lr.Renyi(1.5, rank=5, solver=solver).certified(A)

    true = float(lr.Renyi(1.5, rank=5, solver=lr.Exact())(A))
    assert certified(True).low <= true <= certified(True).high
    if offset <= 1e6:  # beyond, the rounding of the points themselves is what is left open
        assert certified(True).width < certified(False).width + 1e-2


@pytest.mark.parametrize("steps", [1, 2, 7, 15])
@pytest.mark.parametrize("seed", [0, 3])
def test_lanczos_values_are_those_of_algorithm_2(steps, seed):
    A, matrix, *_ = case("dense_gaussian")
    T = algorithm_2(matrix, steps, _arrays.normal(seed, 1, len(matrix))[:, 0])
    found = lr.Lanczos(steps, seed=seed)(A, rank=steps)
    assert found.values == pytest.approx(eigenvalues(T), abs=1e-13)


@pytest.mark.parametrize("k", [1, 2, 5, 20, 39])
def test_lanczos_finds_the_repeated_eigenvalue_of_the_identity_k_times(k):
    A = case("identity").gram
    values = lr.Lanczos(steps=k)(A, rank=k).values
    assert values == pytest.approx(np.full(k, 1 / 40), abs=1e-15)


@pytest.mark.parametrize("kind", ["balanced_labels", "balanced_labels_ready_made"])
@pytest.mark.parametrize("k", [1, 2, 5, 20])
@pytest.mark.parametrize("seed", range(3))
def test_lanczos_finds_every_class_of_balanced_labels(kind, k, seed):
    """1/5 five times, then zeros: a matrix of rank 5 with two distinct eigenvalues."""
    A = case(kind).gram
    steps = max(k, 10)  # a null vector can come between two copies
    values = padded(lr.Lanczos(steps, seed=seed)(A, rank=k).values, k)
    exact = np.where(np.arange(k) < 5, 1 / 5, 0.0)
    assert values == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_lanczos_with_steps_enough_finds_every_copy_of_repeated_eigenvalues(seed):
    A, matrix, *_ = case("copies_ready_made")
    values = lr.Lanczos(steps=len(A), seed=seed)(A).values
    assert values == pytest.approx(eigenvalues(matrix), abs=1e-14)


@pytest.mark.parametrize("rank", [1, 3, 5, 8, 12])
@pytest.mark.parametrize("seed", range(5))
def test_restarted_lanczos_finds_every_copy_of_repeated_eigenvalues(rank, seed):
    A, matrix, *_ = case("copies_ready_made")
    values = lr.Lanczos(steps=rank + 10, tol=1e-9, seed=seed)(A, rank).values[:rank]
    assert values == pytest.approx(eigenvalues(matrix)[:rank], abs=1e-11)


@every_kind
@pytest.mark.parametrize("steps", [8, 12, 20])
def test_restarted_lanczos_reaches_its_tolerance_at_any_size(kind, steps):
    A, matrix, _, tolerance = case(kind)
    tol = 1e-10 if tolerance == 1e-10 else 1e-5
    values = padded(lr.Lanczos(steps, tol=tol)(A, 4).values, 4)
    exact = eigenvalues(matrix)[:4]
    assert np.abs(values - exact).max() <= max(tol * exact[0], tolerance)


@pytest.mark.parametrize(("steps", "rank"), [(5, 4), (4, 4), (1, 1), (1, None), (5, None)])
@pytest.mark.parametrize("restarts", [0, 1, 2])
def test_restarted_lanczos_warns_when_its_restarts_are_used_up_and_gives_all_it_has(
    steps, rank, restarts
):
    A, matrix, *_ = case("ready_made")
    with pytest.warns(RuntimeWarning, match=rf"residual .* after {restarts} restarts.* raise"):
        values = lr.Lanczos(steps, tol=1e-12, restarts=restarts)(A, rank).values
    assert len(values) == (rank or steps)
    assert (values <= eigenvalues(matrix)[: len(values)] + 1e-15).all()


def test_restarts_improve_the_values():
    A, matrix, *_ = case("ready_made")
    exact = eigenvalues(matrix)[:4]
    errors = []
    for restarts in (0, 2, 8, 32):
        with pytest.warns(RuntimeWarning, match="raise"):
            values = lr.Lanczos(6, tol=1e-15, restarts=restarts)(A, 4).values
        errors.append(np.abs(values - exact).max())
    assert (np.diff(errors) < 0).all()
    assert errors[-1] < 0.01 * errors[0]


def test_restarted_lanczos_at_its_smallest_still_answers():
    A, matrix, *_ = case("dense_gaussian")
    for rank in (1, None):
        spectrum = lr.Lanczos(steps=2, tol=1e-6, restarts=1000)(A, rank)
        assert float(spectrum.values[0]) == pytest.approx(eigenvalues(matrix)[0], rel=1e-6)


def test_an_invariant_krylov_space_grows_no_phantom_eigenvalues():
    """A smooth kernel of two columns has a low numerical rank: far fewer steps fill its range."""
    X = np.random.default_rng(0).random((400, 2))
    A = lr.gram(X, lr.Gaussian(1.0))
    exact = eigenvalues(A.dense())
    for steps in (60, 200, 400):
        values = padded(lr.Lanczos(steps)(A).values, 400)
        assert values == pytest.approx(exact, abs=1e-11)


def test_copies_with_a_smaller_matrix_beside_them_are_all_found():
    """Eigenvalues of very different size, each repeated: 5 of 1, 5 of 1e-3, 5 of 1e-6 ..."""
    sizes = np.repeat(10.0 ** -np.arange(0.0, 10.0, 3.0), 5)
    rng = np.random.default_rng(1)
    V = np.linalg.qr(rng.normal(size=(60, 60)))[0][:, : len(sizes)]
    matrix = normalized(V @ np.diag(sizes) @ V.T + 1e-12 * np.eye(60))
    A = lr.gram(matrix, lr.Precomputed())
    values = padded(lr.Lanczos(60)(A).values, 60)
    assert values == pytest.approx(eigenvalues(matrix), abs=1e-14)


def test_shuffled_copies_are_the_copies_of_one_matrix():
    """The helper's own promise: each eigenvalue five times."""
    values = eigenvalues(normalized(copies())).reshape(-1, 5)
    assert values == pytest.approx(values[:, :1] * np.ones(5), abs=1e-15)
    assert (np.diff(values[:, 0]) < -1e-4).all()


# ----------------------------------------------------------------------- solvers as values

SOLVERS = [
    lr.Exact(),
    lr.Auto(),
    lr.Auto(tol=1e-6, memory=10**9, seed=3),
    lr.Lanczos(12),
    lr.Lanczos(steps=12, tol=1e-8, restarts=7, seed=3),
    lr.BlockLanczos(),
    lr.BlockLanczos(steps=4, block=3, single=False, seed=2),
    lr.PivotedCholesky(),
    lr.PivotedCholesky(tol=1e-5, size=9, block=3, sample=500, seed=2),
    lr.GaussianProjection(9),
    lr.GaussianProjection(size=9, seed=2),
    lr.HadamardProjection(9, seed=2),
    lr.InputSparsity(9, seed=2),
    lr.SparseGraph(9),
    lr.SparseGraph(9, p=3, seed=2),
]

every_solver = pytest.mark.parametrize("solver", SOLVERS, ids=repr)


@every_solver
def test_a_solver_is_a_frozen_value(solver):
    names = [field.name for field in fields(solver)] or ["anything"]
    for name in names:
        with pytest.raises(FrozenInstanceError):
            setattr(solver, name, 1)


@every_solver
def test_a_solver_is_hashable_and_equal_to_its_pickled_copy(solver):
    copy = pickle.loads(pickle.dumps(solver))
    assert copy == solver
    assert hash(copy) == hash(solver)
    assert sum(copy == other for other in SOLVERS) == 1
    A = case("dense_gaussian").gram
    assert np.array_equal(copy(A, 4).values, solver(A, 4).values)


@every_solver
def test_a_solvers_repr_is_the_code_that_makes_it(solver):
    assert eval(repr(solver), vars(lr)) == solver


def test_sparse_graph_takes_its_arguments_in_the_order_size_p_seed():
    assert lr.SparseGraph(9, 3, 2) == lr.SparseGraph(size=9, p=3, seed=2)
    assert (lr.SparseGraph(9).p, lr.SparseGraph(9).seed) == (2, 0)


@pytest.mark.parametrize("bad", [0, -1, 2.5, 10.0, True, "10", math.nan])
@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lr.Lanczos, "steps"),
        (lr.BlockLanczos, "steps"),
        (lr.BlockLanczos, "block"),
        (lr.PivotedCholesky, "size"),
        (lr.PivotedCholesky, "block"),
        (lr.PivotedCholesky, "sample"),
        (lr.GaussianProjection, "size"),
        (lr.HadamardProjection, "size"),
        (lr.InputSparsity, "size"),
        (lr.SparseGraph, "size"),
        (lambda p: lr.SparseGraph(10, p=p), "p"),
    ],
)
def test_a_size_that_is_no_positive_integer_is_refused(make, argument, bad):
    with pytest.raises(ValueError, match=rf"{argument}=.* must be an integer of at least [12]"):
        make(**{argument: bad})


@pytest.mark.parametrize("bad", [0, -1e-3, math.nan])
@pytest.mark.parametrize("make", [lambda tol: lr.Lanczos(10, tol=tol), lr.PivotedCholesky])
def test_a_tolerance_that_is_not_positive_is_refused(make, bad):
    with pytest.raises(ValueError, match=r"tol=.* must be positive"):
        make(tol=bad)


@pytest.mark.parametrize("bad", [-1, 2.5, True])
def test_a_number_of_restarts_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="restarts="):
        lr.Lanczos(10, tol=1e-3, restarts=bad)


@pytest.mark.parametrize("bad", [1.5, "a", None, True])
@pytest.mark.parametrize("name", [m for m in METHODS if m != "Exact"])
def test_a_seed_that_is_no_integer_is_refused(name, bad):
    with pytest.raises(ValueError, match=r"seed=.* must be an integer"):
        METHODS[name].make(8, seed=bad)


@every_method
def test_numpys_integers_are_integers(name):
    A, make = case("dense_gaussian").gram, METHODS[name].make
    plain = make(8, seed=3)(A, 4).values
    assert np.array_equal(make(np.int64(8), seed=np.int32(3))(A, np.int64(4)).values, plain)


@every_method
@pytest.mark.parametrize("rank", [0, -1, 45, 46, 2.0, True, "3"])
def test_a_rank_that_is_no_integer_from_1_to_n_minus_1_is_refused(name, rank):
    A = case("dense_gaussian").gram
    with pytest.raises(ValueError, match=r"rank=.* n - 1 = 44"):
        METHODS[name].make(45)(A, rank)


@pytest.mark.parametrize(
    "solver",
    [
        lr.Lanczos(6),
        lr.Lanczos(6, tol=1e-3),
        lr.PivotedCholesky(size=6),
        lr.GaussianProjection(6),
        lr.HadamardProjection(6),
        lr.InputSparsity(6),
        lr.SparseGraph(6),
    ],
    ids=repr,
)
def test_a_rank_above_the_size_is_refused_with_the_argument_to_raise(solver):
    A = case("dense_gaussian").gram
    with pytest.raises(ValueError, match=r"(size|steps)=6 must be at least rank=7: raise"):
        solver(A, 7)


@pytest.mark.parametrize("name", [m for m in METHODS if not METHODS[m].rank_optional])
def test_a_projection_without_a_rank_is_refused_with_a_remedy(name):
    A = case("dense_gaussian").gram
    with pytest.raises(ValueError, match=r"rank=None .*give rank=k, or use Exact or Lanczos"):
        METHODS[name].make(6)(A)


def test_pivoted_cholesky_says_what_to_use_for_tensors():
    with pytest.raises(TypeError, match="use BlockLanczos for tensors"):
        lr.PivotedCholesky()(case("torch_tensor").gram)


@every_method
def test_more_values_than_distinct_rows_are_padded_with_zeros(name):
    """9 distinct rows among 45: at rank 20, eleven of the values are zeros."""
    A = case("folded").gram
    method = METHODS[name]
    spectrum = method.make(25)(A, 20)
    low = spectrum.low_rank(20)
    head = np.sum(_arrays.to_numpy(low.values)[:-1])
    assert len(low) <= 10
    assert head == pytest.approx(1, abs=max(1e-12, METHODS[name].precision))


@pytest.mark.parametrize("name", [m for m in METHODS if METHODS[m].kind != "sketch"])
def test_a_matrix_with_a_negative_eigenvalue_is_refused_where_it_is_seen(name):
    K = np.eye(12)
    K[0, 1] = K[1, 0] = 1.5  # eigenvalues 2.5 and -0.5
    A = lr.gram(K, lr.Precomputed())
    with pytest.raises(ValueError, match=r"not (positive semi-definite|a kernel matrix)"):
        METHODS[name].make(12)(A, None if METHODS[name].rank_optional else 5)
