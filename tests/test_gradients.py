"""Gradients through every solver: right where they exist, finite everywhere."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from grams import gaussian, normalized, points

import lorenyi as lr
from lorenyi import _arrays
from lorenyi.spectra.projections import Projection

ORDERS = [0.5, 1.0, 1.01, 2.0, math.inf]


def tensor(array, **options):
    return torch.tensor(array, dtype=torch.float64, requires_grad=True, **options)


def rows(n=9, d=2, seed=0):
    """Points far enough apart for all eigenvalues to be distinct and well above zero."""
    return np.random.default_rng(seed).normal(size=(n, d))


def check(function, *inputs):
    """Compare with finite differences: each entry, to 1e-6 or a relative 1e-5."""
    assert torch.autograd.gradcheck(function, inputs, eps=1e-6, atol=1e-6, rtol=1e-5)


# The same functional of any rank; a projection needs one, and a size below n to be a projection.
SOLVERS = {
    "Exact": lr.Exact(),
    "Lanczos, full steps": lr.Lanczos(steps=30),
    "Lanczos, tolerance": lr.Lanczos(steps=8, tol=1e-13, restarts=300),
    "BlockLanczos": lr.BlockLanczos(steps=4, block=3, single=False),
    "SubspaceIteration": lr.SubspaceIteration(),
    "GaussianProjection": lr.GaussianProjection(6),
    "HadamardProjection": lr.HadamardProjection(6),
    "InputSparsity": lr.InputSparsity(6),
    "SparseGraph": lr.SparseGraph(6),
}
SETTLED = ["Exact", "Lanczos, full steps", "BlockLanczos"]
RANKED = list(SOLVERS)

# ------------------------------------------------------------------- against finite differences


@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize("name", SETTLED)
def test_the_entropys_gradient_is_that_of_finite_differences(name, alpha):
    H = lr.Renyi(alpha, solver=SOLVERS[name])
    check(lambda x: H(lr.gram(x, lr.Gaussian(0.7))), tensor(rows()))


@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize("name", RANKED)
def test_the_low_rank_entropys_gradient_is_that_of_finite_differences(name, alpha):
    H = lr.Renyi(alpha, rank=3, solver=SOLVERS[name])
    check(lambda x: H(lr.gram(x, lr.Gaussian(0.7))), tensor(rows()))


@pytest.mark.parametrize("alpha", ORDERS)
def test_vectors_found_in_float32_give_gradients_of_that_precision(alpha):
    """Too coarse for differences; the quotients v'Av themselves are taken in float64."""

    def gradient(solver):
        x = tensor(rows())
        lr.Renyi(alpha, rank=3, solver=solver)(lr.gram(x, lr.Gaussian(0.7))).backward()
        return x.grad.numpy()

    exact = gradient(lr.Exact())
    assert gradient(lr.BlockLanczos(steps=4, block=3)) == pytest.approx(exact, abs=2e-6)


@pytest.mark.parametrize("rank", [None, 3])
@pytest.mark.parametrize("name", SETTLED)
def test_a_joint_with_labels_has_the_gradient_of_its_blocks(name, rank):
    y = np.array([0, 1, 0, 1, 1, 0, 2, 0, 1])
    H = lr.Renyi(1.01, rank=rank, solver=SOLVERS[name])
    check(lambda x: H(lr.gram(x, lr.Gaussian(0.7)) * lr.gram(y, lr.Delta())), tensor(rows()))


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", SETTLED)
def test_mutual_information_of_two_tensors_has_both_gradients(name, alpha):
    H = lr.Renyi(alpha, solver=SOLVERS[name])

    def information(x, y):
        A, B = lr.gram(x, lr.Gaussian(0.7)), lr.gram(y, lr.Laplacian(1.5))
        return lr.mutual_information(A, B, entropy=H)

    check(information, tensor(rows()), tensor(rows(d=1, seed=1)))


def test_information_about_labels_and_given_a_third_variable_has_gradients():
    y = ["a", "b", "a", "b", "b", "a", "c", "a", "b"]
    z = rows(d=1, seed=2)

    def information(x):
        A, C = lr.gram(x, lr.Gaussian(0.7)), lr.gram(z, lr.Gaussian(1.0))
        plain = lr.mutual_information(A, y)
        return plain + 2 * lr.conditional_mutual_information(A, y, given=C)

    check(information, tensor(rows()))


KERNELS = {
    "Gaussian": lr.Gaussian(0.7),
    "Gaussian, per column": lr.Gaussian((0.5, 1.1)),
    "Laplacian": lr.Laplacian(1.2),
    "Linear, dual": lr.Linear(),
    "Cosine, dual": lr.Cosine(),
    "Polynomial, dual": lr.Polynomial(2, gamma=0.5, shift=0.5),
    "Polynomial": lr.Polynomial(5, gamma=0.5, shift=0.5),
    "Function": lr.Function(lambda X, Y: (1 + X @ Y.T) ** 2, infinitely_divisible=False),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("alpha", [1.0, 2.0, 2.5])
def test_every_kernel_has_its_gradient(name, alpha):
    H = lr.Renyi(alpha)
    check(lambda x: H(lr.gram(x, KERNELS[name])), tensor(rows() + 0.5))


@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("name", SETTLED)
def test_weights_count_in_the_gradient(name, rank):
    w = np.array([1.0, 2.0, 0.5, 3.0, 0.0, 1.0, 1.0, 2.0, 1.0])
    H = lr.Renyi(1.01, rank=rank, solver=SOLVERS[name])
    check(lambda x: H(lr.gram(x, lr.Gaussian(0.7), weights=w)), tensor(rows()))


def test_weight_two_has_the_gradient_of_a_row_given_twice():
    """The sum of the gradients at both copies."""
    X = rows(5)
    weighted, repeated = tensor(X), tensor(np.concatenate([X, X[:1]]))
    lr.Renyi(1.0)(lr.gram(weighted, lr.Gaussian(0.7), weights=[2, 1, 1, 1, 1])).backward()
    lr.Renyi(1.0)(lr.gram(repeated, lr.Gaussian(0.7))).backward()
    together = repeated.grad[:5].clone()
    together[0] += repeated.grad[5]
    assert weighted.grad.numpy() == pytest.approx(together.numpy(), abs=1e-12)


def test_a_ready_matrix_has_its_gradient():
    """Through the normalization by sqrt(K_ii K_jj) too. K stays symmetric: K = (L + L')/2."""
    L = rows(6, 6) @ rows(6, 6).T + 4 * np.eye(6)

    def entropy(L):
        return lr.Renyi(1.5, rank=2)(lr.gram((L + L.T) / 2, lr.Precomputed()))

    check(entropy, tensor(L))


def test_a_bandwidth_is_learnt_by_scaling_the_points():
    X = torch.tensor(rows())
    check(lambda s: lr.Renyi(1.0)(lr.gram(X / s, lr.Gaussian(1.0))), tensor(np.array([0.7, 1.3])))


def test_a_bandwidth_rule_is_a_constant_of_the_gradient():
    """The median moves with the points, but is held fixed, as a number would be."""
    x, y = tensor(rows()), tensor(rows())
    A = lr.gram(x, lr.Gaussian("median"))
    sigma = A.factors[0].kernel.sigma
    lr.Renyi(1.0)(A).backward()
    lr.Renyi(1.0)(lr.gram(y, lr.Gaussian(sigma))).backward()
    assert torch.equal(x.grad, y.grad)


@pytest.mark.parametrize("name", ["InputSparsity", "Exact"])
def test_images_have_gradients_in_their_own_shape(name):
    H = lr.Renyi(1.01, rank=2, solver=SOLVERS[name])
    x = tensor(rows(7, 12).reshape(7, 3, 4))
    H(lr.gram(x.flatten(1), lr.Gaussian(2.0))).backward()
    flat = tensor(rows(7, 12))
    H(lr.gram(flat, lr.Gaussian(2.0))).backward()
    assert x.grad.shape == (7, 3, 4)
    assert torch.equal(x.grad.reshape(7, 12), flat.grad)


# ---------------------------------------------------------------------- the paper's approximation


def krylov_basis(A, steps, start):
    """Q of the paper's Algorithm 2, with full orthogonalization."""
    Q = [start / np.linalg.norm(start)]
    for _ in range(steps - 1):
        q = A @ Q[-1]
        for _ in range(2):
            q = q - sum((v @ q) * v for v in Q)
        Q.append(q / np.linalg.norm(q))
    return np.array(Q).T


@pytest.mark.parametrize("alpha", [0.5, 1.01, 1.5, 2.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_unconverged_lanczos_gives_the_papers_gradient(alpha, seed):
    """dS/dA = sum_i dS/dtheta_i Q u_i u_i' Q' for the k leading Ritz pairs of s steps."""
    n, steps, k = 20, 6, 4
    X = points(n, 3)
    x = tensor(X)
    value = lr.Renyi(alpha, k, lr.Lanczos(steps, seed=seed))(lr.gram(x, lr.Gaussian(1.0)))
    value.backward()

    A = normalized(gaussian(X, 1.0))
    Q = krylov_basis(A, steps, _arrays.normal(seed, 1, n)[:, 0])
    theta, U = np.linalg.eigh(Q.T @ A @ Q)
    theta, V = theta[::-1][:k], (Q @ U)[:, ::-1][:, :k]
    tail = (1 - theta.sum()) / (n - k)
    potential = np.sum(theta**alpha) + (n - k) * tail**alpha
    slope = alpha * (theta ** (alpha - 1) - tail ** (alpha - 1))
    slope = slope / ((1 - alpha) * math.log(2) * potential)
    dA = V @ np.diag(slope) @ V.T
    assert value.item() == pytest.approx(math.log2(potential) / (1 - alpha), abs=1e-12)

    exact = np.zeros_like(X)  # A_ij = exp(-|x_i - x_j|^2 / 2) / n
    for i in range(n):
        for j in range(n):
            exact[i] -= 2 * dA[i, j] * A[i, j] * (X[i] - X[j])
    assert x.grad.numpy() == pytest.approx(exact, abs=1e-11)


def test_few_steps_are_an_approximation_that_more_steps_improve():
    X = points(40, 2)

    def gradient(solver):
        x = tensor(X)
        lr.Renyi(1.01, 4, solver)(lr.gram(x, lr.Gaussian(0.5))).backward()
        return x.grad.numpy()

    exact = gradient(lr.Exact())
    errors = [np.abs(gradient(lr.Lanczos(s)) - exact).max() for s in (5, 10, 20, 40)]
    assert (np.diff(errors) < 0).all()
    assert errors[0] > 1e-4
    assert errors[-1] < 1e-12


# -------------------------------------------------------------------------------- finite everywhere

HARD = {
    "duplicated rows": np.repeat(rows(4), 3, axis=0),
    "a constant feature": np.concatenate([rows(6, 1), np.ones((6, 1))], axis=1),
    "all rows equal": np.ones((5, 2)),
    "a batch of two": rows(2),
    "a batch of two equal rows": np.zeros((2, 3)),
    "an equilateral triangle": np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(0.75)]]),
    "a square": np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    "points far apart": np.arange(6.0)[:, None] * 1e3,
    "points close together": 1e-9 * rows(6),
    "two distant pairs": np.array([[0.0], [0.0], [1e3], [1e3]]),
    "a large offset": rows(6) + 1e6,
    "tiny and large": np.array([[1e-200], [1e150], [0.0], [1.0]]),
}
HARD_KERNELS = [lr.Gaussian("median"), lr.Laplacian(1.0)]
HARD_SOLVERS = [
    lr.Exact(),
    lr.Lanczos(12),
    lr.BlockLanczos(steps=6, block=2),
    lr.SubspaceIteration(extra=1),
    lr.GaussianProjection(1),
    lr.HadamardProjection(12),
    lr.InputSparsity(1),
    lr.SparseGraph(12),
]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, torch.float64) for name in HARD]
    + [(name, torch.float32) for name in HARD if name != "tiny and large"],
)
@pytest.mark.parametrize("alpha", [0.3, 0.95, 1.0, 2.0, math.inf])
@pytest.mark.filterwarnings("ignore:the projected eigenvalues sum")
def test_gradients_are_finite_whatever_the_batch(name, alpha, dtype):
    for kernel in HARD_KERNELS:
        for solver in HARD_SOLVERS:
            for rank in (None, 1):
                if rank is None and isinstance(solver, (Projection, lr.SubspaceIteration)):
                    continue
                x = torch.tensor(HARD[name], dtype=dtype, requires_grad=True)
                value = lr.Renyi(alpha, rank, solver)(lr.gram(x, kernel))
                value.backward()
                assert math.isfinite(value.item()), (kernel, solver, rank)
                assert torch.isfinite(x.grad).all(), (kernel, solver, rank)
                assert value.dtype == x.grad.dtype == dtype


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_gradients_of_information_about_labels_are_finite(name, alpha):
    X = HARD[name]
    for y in (np.arange(len(X)) % 2, np.zeros(len(X), dtype=int), np.arange(len(X))):
        x = tensor(X)
        value = lr.mutual_information(x, y, entropy=lr.Renyi(alpha))
        value.backward()
        assert math.isfinite(value.item())
        assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("kernel", [lr.Linear(), lr.Cosine(), lr.Polynomial()], ids=repr)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, math.inf])
def test_dual_forms_have_finite_gradients_with_null_eigenvalues(kernel, alpha):
    """Columns that depend on each other: the d x d form is singular too."""
    first = rows(12, 1) + 3
    for X in (np.concatenate([first, first, 2 * first], axis=1), np.ones((12, 2)), first):
        x = tensor(X)
        value = lr.Renyi(alpha)(lr.gram(x, kernel))
        value.backward()
        assert math.isfinite(value.item())
        assert torch.isfinite(x.grad).all()


def test_the_entropy_of_equal_rows_is_flat():
    """All rows equal is the minimum, 0 bits, for every order: its gradient is zero."""
    for alpha in (0.5, 1.0, 2.0, math.inf):
        x = tensor(np.ones((5, 2)))
        value = lr.Renyi(alpha)(lr.gram(x, lr.Gaussian(1.0)))
        value.backward()
        assert value.item() == pytest.approx(0, abs=1e-6 if alpha < 1 else 1e-12)
        assert torch.equal(x.grad, torch.zeros(5, 2, dtype=torch.float64))


def test_duplicated_rows_share_the_gradient_of_the_folded_ones():
    """Moving one of r copies to first order is moving the weighted point by 1/r of it."""
    X = rows(4)
    for alpha in (0.3, 0.95, 1.0, 1.5, 2.0, math.inf):
        x, w = tensor(np.repeat(X, 3, axis=0)), tensor(X)
        lr.Renyi(alpha)(lr.gram(x, lr.Gaussian(0.7))).backward()
        lr.Renyi(alpha)(lr.gram(w, lr.Gaussian(0.7), weights=np.full(4, 3))).backward()
        assert x.grad.numpy() == pytest.approx(np.repeat(w.grad.numpy() / 3, 3, axis=0), abs=1e-9)


def test_small_steps_along_the_gradient_change_the_entropy_by_its_norm():
    """A descent step on duplicated rows does what its gradient says, order 1 and below."""
    for alpha in (0.5, 1.0, 2.0):
        x = tensor(rows(8))
        H = lr.Renyi(alpha)
        before = H(lr.gram(x, lr.Gaussian(0.7)))
        before.backward()
        step = 1e-5 * x.grad
        after = H(lr.gram(x.detach() - step, lr.Gaussian(0.7)))
        expected = -1e-5 * float((x.grad**2).sum())
        assert after.item() - before.item() == pytest.approx(expected, rel=1e-2)


# ---------------------------------------------------------------------------- what has a graph


def test_labels_in_a_joint_get_no_gradient():
    y = torch.tensor([0.0, 1.0, 0.0, 1.0, 2.0], requires_grad=True)
    x = tensor(rows(5))
    value = lr.Renyi(1.0)(lr.gram(x, lr.Gaussian(0.7)) * lr.gram(y, lr.Delta()))
    value.backward()
    assert y.grad is None
    assert x.grad.abs().max() > 0


def test_the_entropy_of_labels_alone_has_no_graph():
    y = torch.tensor([0.0, 1.0, 0.0, 1.0, 2.0], requires_grad=True)
    assert isinstance(lr.Renyi(1.0)(lr.gram(y, lr.Delta())), lr.Estimate)
    assert not lr.Renyi(1.0).tensor(lr.gram(y, lr.Delta())).requires_grad


@pytest.mark.parametrize("name", RANKED)
def test_no_graph_is_made_when_no_gradient_is_asked_for(name):
    H = lr.Renyi(1.01, rank=3, solver=SOLVERS[name])
    plain = H(lr.gram(torch.tensor(rows()), lr.Gaussian(0.7)))
    assert isinstance(plain, lr.Estimate)
    x = tensor(rows())
    with torch.no_grad():
        without = H.tensor(lr.gram(x, lr.Gaussian(0.7)))
    assert not without.requires_grad
    detached = H(lr.gram(x.detach(), lr.Gaussian(0.7)))
    assert without.item() == detached.item() == plain.item()


@pytest.mark.parametrize("name", RANKED)
def test_the_value_is_the_same_with_a_gradient_and_without(name):
    H = lr.Renyi(1.01, rank=3, solver=SOLVERS[name])
    with_graph = H(lr.gram(tensor(rows()), lr.Gaussian(0.7)))
    without = H(lr.gram(torch.tensor(rows()), lr.Gaussian(0.7)))
    assert with_graph.requires_grad
    assert with_graph.item() == pytest.approx(without.item(), abs=1e-12)


@pytest.mark.parametrize("name", SETTLED)
def test_folding_is_left_out_for_a_gradient_without_changing_the_value(name):
    H = lr.Renyi(1.01, rank=3, solver=SOLVERS[name])
    X = np.repeat(rows(3), 3, axis=0)
    y = lr.gram(np.arange(9) % 2, lr.Delta())
    for make in (lambda x: lr.gram(x, lr.Gaussian(0.7)), lambda x: lr.gram(x, lr.Linear()) * y):
        with_graph, without = H(make(tensor(X))), H(make(torch.tensor(X)))
        assert with_graph.item() == pytest.approx(without.item(), abs=1e-12)


def test_the_repr_of_a_spectrum_with_a_graph_is_a_plain_one():
    A = lr.gram(tensor(rows()), lr.Gaussian(0.7))
    assert repr(lr.Lanczos(4)(A, 2)).startswith("Spectrum(n=9, ritz: 0.")


def test_a_gram_looked_at_without_a_graph_still_has_its_gradient_later():
    """What a Gram remembers of its structure must not remember that no gradient was asked for."""
    y = lr.gram(np.arange(9) % 2, lr.Delta())
    for make in (
        lambda x: lr.gram(x, lr.Gaussian(0.7)) * y,
        lambda x: lr.gram(x, lr.Linear()),
        lambda x: lr.gram(x, lr.Gaussian(0.7), weights=np.arange(9)),
    ):
        x, fresh = tensor(rows()), tensor(rows())
        A = make(x)
        with torch.no_grad():
            first = lr.Renyi(1.0)(A)
        second = lr.Renyi(1.0)(A)
        assert first.item() == pytest.approx(second.item(), abs=1e-14)
        second.backward()
        lr.Renyi(1.0)(make(fresh)).backward()
        assert torch.equal(x.grad, fresh.grad)


def test_second_use_of_one_gram_adds_to_the_gradient():
    """S(A) + S(A * B) shares the points: one backward pass through both."""
    x, parts = tensor(rows()), tensor(rows())
    B = lr.gram(rows(d=1, seed=4), lr.Gaussian(1.0))
    A = lr.gram(x, lr.Gaussian(0.7))
    (lr.Renyi(1.0)(A) + lr.Renyi(1.0)(A * B)).backward()
    lr.Renyi(1.0)(lr.gram(parts, lr.Gaussian(0.7))).backward()
    lr.Renyi(1.0)(lr.gram(parts, lr.Gaussian(0.7)) * B).backward()
    assert x.grad.numpy() == pytest.approx(parts.grad.numpy(), abs=1e-14)


@pytest.mark.parametrize("name", RANKED)
def test_gradients_repeat_exactly_and_follow_the_seed(name):
    def gradient(solver):
        x = tensor(points(30, 3))
        lr.Renyi(1.01, rank=3, solver=solver)(lr.gram(x, lr.Gaussian(1.0))).backward()
        return x.grad

    solver = SOLVERS[name]
    assert torch.equal(gradient(solver), gradient(solver))
    if isinstance(solver, Projection):
        assert not torch.allclose(gradient(solver), gradient(replace(solver, seed=7)))
