"""Information as a loss: the right value and gradient, whatever the batch, dtype or solver."""

import copy
import math
import os
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import oracles  # noqa: E402
from pages import ROOT  # noqa: E402

import lorenyi as lr  # noqa: E402
from lorenyi.gram import held  # noqa: E402
from lorenyi.nn import (  # noqa: E402
    Entropy,
    Held,
    InformationBottleneck,
    InformationPlane,
    LearnableGaussian,
    MutualInformation,
    NonlinearBottleneck,
    TotalCorrelation,
    VariationalBottleneck,
    spectra,
)
from lorenyi.nn.terms import for_batch  # noqa: E402

GAUSSIAN = lr.Gaussian(1.5)


def rows(n=12, d=3, seed=0, dtype=torch.float64):
    return torch.tensor(np.random.default_rng(seed).normal(size=(n, d)), dtype=dtype)


def matrix(x, sigma=1.5):
    return oracles.normalized(oracles.matrix(oracles.gaussian(sigma), x.double().numpy()))


def labeled(y):
    return oracles.normalized((y[:, None] == y[None, :]).double().numpy())


# ------------------------------------------------------------------------------------- the values


@pytest.mark.parametrize("rank", [None, 4])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.01, 2.0, math.inf])
def test_terms_are_the_measures_of_the_batch(alpha, rank):
    """Against the naive definition: settled solvers, so nothing is approximated."""
    H = lr.Renyi(alpha, rank, lr.Exact())
    x, y, labels = rows(), rows(d=2, seed=1), torch.arange(12) % 3
    A, B, C = matrix(x), matrix(y), labeled(labels)
    assert Entropy(H, GAUSSIAN)(x).item() == pytest.approx(oracles.entropy(A, alpha, rank))
    found = MutualInformation(H, GAUSSIAN, GAUSSIAN)(x, y).item()
    assert found == pytest.approx(oracles.mutual_information(A, B, alpha, rank))
    found = MutualInformation(H, GAUSSIAN, None)(x, labels).item()
    assert found == pytest.approx(oracles.mutual_information(A, C, alpha, rank))
    found = TotalCorrelation(H, GAUSSIAN)(x, y, x).item()
    alone = [oracles.entropy(M, alpha, rank) for M in (A, B, A)]
    expected = sum(alone) - oracles.entropy(oracles.joint(A, B, A), alpha, rank)
    assert found == pytest.approx(expected)


def test_the_bottleneck_is_the_task_loss_and_the_weighed_information():
    x, z, y = rows(), rows(d=2, seed=1), torch.arange(12) % 2
    logits = rows(d=2, seed=3).requires_grad_()
    loss = InformationBottleneck(lr.Renyi(1.01), 0.3, GAUSSIAN, GAUSSIAN)
    assert loss.task is loss.information is None
    value = loss(logits, y, x, z)
    information = oracles.mutual_information(matrix(x), matrix(z), 1.01)
    task = torch.nn.functional.cross_entropy(logits, y).item()
    assert loss.task.item() == pytest.approx(task)
    assert loss.information.item() == pytest.approx(information)
    assert value.item() == pytest.approx(task + 0.3 * information)
    assert not loss.task.requires_grad
    other = InformationBottleneck(lr.Renyi(1), 0.0, task_loss=lambda a, b: (a[:, 0] - b).sum())
    assert other(logits, y, x, z).item() == pytest.approx((logits[:, 0] - y).sum().item())


def test_images_count_as_their_pixels():
    term = MutualInformation(lr.Renyi(1), GAUSSIAN, GAUSSIAN)
    x, z = rows(d=12), rows(d=2, seed=1)
    assert term(x.reshape(12, 3, 2, 2), z).item() == pytest.approx(term(x, z).item())


def published(x, z, alpha=1.01):
    """I(X; Z) as code for the bottleneck has it, and its bandwidths: exp(-d^2 / s) with the mean
    distance s to the first ten rows."""
    kernels, sigmas = [], []
    for points in (x, z):
        distance = torch.cdist(points, points)
        sigmas.append(distance[:, :10].mean().item())
        kernels.append(torch.exp(-(distance**2) / sigmas[-1]))
    A, B = kernels
    three = [torch.linalg.eigvalsh(K / K.trace()).clamp(min=0) for K in (A, B, A * B)]
    a, b, joint = (torch.log2((values**alpha).sum()) / (1 - alpha) for values in three)
    return (a + b - joint).item(), sigmas


def by_their_rule(x, z):
    """The same by the term, which is told the bandwidths."""
    value, sigmas = published(x, z)
    kernels = [lr.Gaussian((sigma / 2) ** 0.5) for sigma in sigmas]
    return value, MutualInformation(lr.Renyi(1.01), *kernels)(x, z).item()


def test_published_code_gives_the_same_value_with_its_bandwidth():
    x = rows(128, 20)
    value, ours = by_their_rule(x, torch.relu(x @ rows(20, 8, seed=1)))
    assert ours == pytest.approx(value, abs=1e-9)


def test_the_two_rules_differ_by_what_the_page_says():
    """128 images of MNIST: their kernel matrix is nearly the identity."""
    file = Path(os.environ.get("LORENYI_DATA", ROOT.parent / "shared" / "data")) / "mnist.npz"
    if not file.exists():
        pytest.skip("needs mnist.npz in LORENYI_DATA")
    with np.load(file) as data:
        x = torch.tensor(data["X_train"][:128].reshape(128, -1) / 255)
    z = torch.relu(x @ rows(784, 256, seed=1)) / 28
    value, ours = by_their_rule(x, z)
    assert ours == pytest.approx(value, abs=1e-9)
    nearest = lr.Gaussian(lr.Nearest(10))
    default = MutualInformation(lr.Renyi(1.01), nearest, nearest)(x, z).item()
    assert (round(value, 2), round(default, 2)) == (6.72, 3.07)


# ------------------------------------------------------------------------------------ the gradients

SOLVERS = {
    "Auto": lr.Auto(),
    "Exact": lr.Exact(),
    "Lanczos": lr.Lanczos(steps=30),
    "BlockLanczos": lr.BlockLanczos(steps=4, block=3, single=False),
    "SubspaceIteration": lr.SubspaceIteration(),
    "GaussianProjection": lr.GaussianProjection(6),
    "HadamardProjection": lr.HadamardProjection(6),
    "InputSparsity": lr.InputSparsity(6),
    "SparseGraph": lr.SparseGraph(6),
}


@pytest.mark.filterwarnings("ignore:the projected eigenvalues sum")
@pytest.mark.parametrize("name", SOLVERS)
def test_the_gradient_is_that_of_finite_differences(name):
    """Through each solver; at 12 rows iterations have all vectors, so their values are settled."""
    term = MutualInformation(lr.Renyi(1.01, 3, SOLVERS[name]), lr.Gaussian(0.7), lr.Gaussian(0.9))
    x, z = rows(9, 2), rows(9, 2, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: term(x, z), z, eps=1e-6, atol=1e-6, rtol=1e-5)


def test_a_learnable_bandwidth_has_its_gradient():
    kernel = LearnableGaussian((1.5, 0.8)).double()
    term = MutualInformation(lr.Renyi(1), GAUSSIAN, kernel)
    x, z = rows(9), rows(9, 2, seed=1)
    fixed = MutualInformation(lr.Renyi(1), GAUSSIAN, lr.Gaussian((1.5, 0.8)))
    assert term(x, z).item() == pytest.approx(fixed(x, z).item(), abs=1e-7)
    assert [name for name, _ in term.named_parameters()] == ["kernel_y.log_sigma"]

    def value(log_sigma):
        return torch.func.functional_call(term, {"kernel_y.log_sigma": log_sigma}, (x, z))

    assert torch.autograd.gradcheck(value, kernel.log_sigma, atol=1e-6, rtol=1e-5)
    with pytest.raises(ValueError, match="starts from a number"):
        LearnableGaussian("median")


RULES = {"nearest": lr.Nearest(3), "geometric": lr.GeometricMean(0.6), "median": lr.Median()}


@pytest.mark.parametrize("name", RULES)
def test_the_gradient_goes_through_the_bandwidth(name):
    """A value that does not depend on the scale of the points does not pull them together."""
    term, z = Entropy(lr.Renyi(1), lr.Gaussian(RULES[name])), rows(9, 2).requires_grad_()
    assert torch.autograd.gradcheck(term, z, eps=1e-6, atol=1e-6, rtol=1e-5)
    term(z).backward()
    radial = (z.grad * (z - z.mean(dim=0)).detach()).sum().item()
    assert radial == pytest.approx(0.0, abs=1e-12)
    assert term(1e3 * z + 7).item() == pytest.approx(term(z).item(), abs=1e-9)
    assert term(1e-12 * z).item() == pytest.approx(term(z).item(), abs=1e-9)


@pytest.mark.parametrize("name", ["nearest", "geometric"])
def test_a_rule_that_is_held_has_the_gradient_of_its_number(name):
    z, same = rows().requires_grad_(), rows().requires_grad_()
    Entropy(lr.Renyi(1), lr.Gaussian(Held(RULES[name])))(z).backward()
    sigma = lr.gram(rows(), lr.Gaussian(RULES[name])).factors[0].kernel.sigma
    Entropy(lr.Renyi(1), lr.Gaussian(sigma))(same).backward()
    assert z.grad.numpy() == pytest.approx(same.grad.numpy(), abs=1e-12)
    radial = (z.grad * (z - z.mean(dim=0)).detach()).sum().item()
    assert radial > 0.1  # the entropy would fall if all came together, were the number fixed
    with pytest.raises(TypeError, match="such as Nearest"):
        Held(2.0)


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("n", [30, 1500])
def test_a_term_has_the_bandwidth_of_all_rows(n, scale):
    X = rows(n, 4) + scale
    naive = torch.cdist(X, X).topk(4, largest=False).values[:, 1:].mean().item()
    kernels = lr.Gaussian(lr.Nearest(3)), lr.Gaussian(naive)
    found = [Entropy(lr.Renyi(1.01, rank=3), kernel)(X).item() for kernel in kernels]
    assert found[0] == pytest.approx(found[1], rel=1e-6)


@pytest.mark.parametrize("rule", [lr.GeometricMean(), Held(lr.Nearest(10))], ids=repr)
def test_the_low_rank_gradient_on_a_batch_points_where_the_exact_one_does(rule):
    """The default is an approximation; as good as the paper's twenty steps of Lanczos."""
    x = rows(120, 20, dtype=torch.float32)
    x[:, :5] += 3 * rows(6, 5, seed=3, dtype=torch.float32)[torch.arange(120) % 6]  # six clusters

    def gradient(solver):
        z = (0.3 * rows(120, 5, seed=1, dtype=torch.float32) + x[:, :5]).requires_grad_()
        kernels = lr.Gaussian(lr.Nearest(10)), lr.Gaussian(rule)
        MutualInformation(lr.Renyi(1.01, 10, solver), *kernels)(x, z).backward()
        return z.grad.flatten()

    exact = gradient(lr.Exact())
    error = {
        name: ((gradient(solver) - exact).norm() / exact.norm()).item()
        for name, solver in {"default": lr.Auto(), "steps": lr.SubspaceIteration(20)}.items()
    }
    assert error["default"] < 0.3
    assert error["steps"] < 1e-3


# ---------------------------------------------------------------------------- batches as they come

HARD = {
    "duplicated rows": torch.repeat_interleave(rows(4), 3, dim=0),
    "constant features": torch.ones(12, 3),
    "a constant column": torch.cat([rows(12, 2), torch.ones(12, 1)], dim=1),
    "two rows": rows(2),
    "two equal rows": torch.zeros(2, 3),
    "three rows": rows(3),
    "dead units": torch.relu(rows() - 5),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("rank", [None, 10])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_gradients_are_finite_whatever_the_batch(name, rank, dtype):
    for alpha in (0.5, 1.01, 2.0):
        z = HARD[name].clone().to(dtype).requires_grad_()
        x, y = rows(len(z), 5, seed=2).to(dtype), torch.arange(len(z)) % 2
        loss = InformationBottleneck(lr.Renyi(alpha, rank), beta=1.0)
        value = loss(z[:, :2], y, x, z)
        value.backward()
        assert torch.isfinite(value)
        assert torch.isfinite(z.grad).all()
        assert z.grad.dtype == dtype
        assert loss.information.dtype == (dtype if dtype == torch.float64 else torch.float32)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_a_single_row_has_no_information_and_a_zero_gradient(dtype):
    z = rows(1, dtype=dtype).requires_grad_()
    value = MutualInformation()(rows(1, dtype=dtype), z)
    value.backward()
    assert value.item() == 0
    assert value.dtype == (dtype if dtype == torch.float64 else torch.float32)
    assert torch.equal(z.grad, torch.zeros_like(z))
    labels = torch.zeros(1, dtype=torch.long)
    assert MutualInformation(lr.Renyi(1), GAUSSIAN, None)(z, labels).item() == 0


def test_a_rank_above_the_batch_becomes_n_minus_1():
    x, z = rows(5), rows(5, seed=1)
    low, high = lr.Renyi(1.01, 4, lr.Exact()), lr.Renyi(1.01, 50, lr.Exact())
    terms = [MutualInformation(H, GAUSSIAN, GAUSSIAN)(x, z).item() for H in (low, high)]
    assert terms[0] == terms[1]
    with pytest.raises(ValueError, match="rank"):  # the functional itself stays strict
        high(lr.gram(x, GAUSSIAN))


def test_auto_is_settled_by_the_size_of_the_batch():
    assert for_batch(lr.Renyi(1.01), 4096).solver == lr.Exact()
    assert for_batch(lr.Renyi(1.01, 10), 40).solver == lr.Exact()
    assert for_batch(lr.Renyi(1.01, 10, lr.Auto(seed=3)), 41).solver == lr.SubspaceIteration(seed=3)
    assert for_batch(lr.Renyi(1.01, 10, lr.Lanczos(20)), 4096).solver == lr.Lanczos(20)


@pytest.mark.parametrize("n", [41, 600])
def test_matrices_of_one_term_are_decomposed_together_or_alone_with_the_same_result(n, monkeypatch):
    """As a stack up to some size, then one by one."""
    x, found = rows(n, 4), []
    for stacked in (10_000, 1):
        monkeypatch.setattr(spectra, "STACKED", stacked)
        z = rows(n, 2, seed=1).requires_grad_()
        value = MutualInformation(lr.Renyi(1.01, rank=10), GAUSSIAN, GAUSSIAN)(x, z)
        value.backward()
        found.append((value.detach(), z.grad))
    assert torch.allclose(found[0][0], found[1][0], atol=1e-12)
    assert torch.allclose(found[0][1], found[1][1], atol=1e-12)


@pytest.mark.parametrize("solver", [lr.Exact(), lr.SubspaceIteration(steps=12)])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.01, 3.0, math.inf])
def test_the_direct_way_and_that_of_grams_agree(alpha, solver, monkeypatch):
    """The same term twice: in tensor operations alone, and by Grams, with its gradient."""
    x, labels, found = rows(60, 4), torch.arange(60) % 7, []
    term = MutualInformation(lr.Renyi(alpha, 5, solver), GAUSSIAN, None)
    for direct in (True, False):
        if not direct:
            monkeypatch.setattr("lorenyi.nn.terms.is_direct", lambda entropy, variables: False)
        z = x.clone().requires_grad_()
        value = term(z, labels)
        value.backward()
        found.append((value.item(), z.grad))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-6)
    assert torch.allclose(found[0][1], found[1][1], atol=1e-5)


@pytest.mark.parametrize("alpha", [1.0, 1.01, 2.0])
def test_stored_entries_have_the_gradient_of_their_points(alpha):
    """One side of the kernel is held and the other counted twice: the same, by symmetry."""
    H, kernel = lr.Renyi(alpha, solver=lr.Exact()), lr.Laplacian(1.2)
    gradients = []
    for store in (held, lambda A: A):
        x, z = rows(seed=1).requires_grad_(), rows(d=2).requires_grad_()
        A, B = (store(lr.gram(v, kernel)) for v in (x, z))
        lr.mutual_information(A, B, entropy=H).backward()
        gradients.append((x.grad, z.grad))
    for a, b in zip(*gradients, strict=True):
        assert torch.allclose(a, b, atol=1e-12)


def test_a_second_derivative_is_refused_rather_than_wrong():
    """The vectors are held, so it would lack what they contribute; without any it is there."""
    x = rows().requires_grad_()
    (first,) = torch.autograd.grad(Entropy(lr.Renyi(1), GAUSSIAN)(x), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        first.sum().backward()
    assert torch.autograd.gradgradcheck(lambda x: lr.Renyi(2)(lr.gram(x, GAUSSIAN)), x)


def test_under_autocast_the_spectrum_is_at_least_float32():
    """Most digits of the products would be lost, and the matrix not positive any more."""
    x, z = rows(64, 20, dtype=torch.float32), rows(64, 6, seed=1).bfloat16().requires_grad_()
    term, noisy = MutualInformation(lr.Renyi(1.01, rank=10)), NonlinearBottleneck()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = term(x, z)
        _, rate = noisy(z)
    assert value.dtype == rate.dtype == torch.float32
    # With a gradient values are Rayleigh quotients, else eigenvalues: 64 terms in float32 apart.
    assert value.item() == pytest.approx(term(x, z.detach().float()).item(), rel=64 * 6e-8)
    value.backward()
    assert z.grad.dtype == torch.bfloat16
    assert torch.isfinite(z.grad).all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The .grad attribute")
def test_a_compiled_model_with_the_loss_gives_the_same():
    model, loss = torch.nn.Linear(5, 3), InformationBottleneck(lr.Renyi(1.01, rank=4))
    x, y = rows(30, 5, dtype=torch.float32), torch.arange(30) % 3

    def step(x, y):
        z = torch.relu(model(x))
        return loss(z, y, x, z)

    plain = step(x, y)
    torch._dynamo.reset()
    compiled = torch.compile(step, backend="eager")
    assert compiled(x, y).item() == pytest.approx(plain.item(), abs=1e-6)
    compiled(x[:7], y[:7]).backward()
    assert torch.isfinite(model.weight.grad).all()


# ------------------------------------------------------------------------------------ as modules


def test_modules_are_copied_saved_and_shown():
    loss = InformationBottleneck(lr.Renyi(1.5, rank=7), 0.2, GAUSSIAN, LearnableGaussian(2.0))
    other = InformationBottleneck(lr.Renyi(1.5, rank=7), 0.2, GAUSSIAN, LearnableGaussian(5.0))
    other.load_state_dict(copy.deepcopy(loss).state_dict())
    assert list(loss.state_dict()) == ["measure.kernel_y.log_sigma"]
    assert other.measure.kernel_y.sigma.item() == pytest.approx(2.0)
    shown = repr(loss)
    for part in ("beta=0.2", "alpha=1.5, rank=7", "Gaussian(sigma=1.5)", "sigma=2"):
        assert part in shown
    assert "sigma=(1, 2)" in repr(LearnableGaussian((1.0, 2.0)))
    x, z = rows(), rows(d=2, seed=1)
    y = torch.zeros(12, dtype=torch.long)
    again = copy.deepcopy(loss)(z, y, x, z)
    assert again.item() == loss(z, y, x, z).item()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: InformationBottleneck(beta=-1.0), r"beta=-1\.0"),
        (lambda: InformationBottleneck(beta=math.nan), "beta=nan"),
        (lambda: MutualInformation(lr.Renyi(0)), "alpha=0 counts"),
        (lambda: NonlinearBottleneck(sigma=0.0), r"sigma=0\.0"),
        (lambda: MutualInformation()(rows(4), rows(5)), "'x': 4, 'y': 5"),
        (lambda: Entropy()(rows(0)), "'x': 0"),
        (lambda: TotalCorrelation()(rows(4)), "two or more, found 1"),
        (lambda: MutualInformation()(rows(4), rows(4, 6).reshape(4, 2, 3)), r"y has shape \(4, 2"),
        (lambda: InformationBottleneck(ramp=-1), "ramp=-1"),
        (lambda: lr.GeometricMean(0.0), r"share=0\.0"),
    ],
)
def test_what_makes_no_sense_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_no_functional_is_said():
    with pytest.raises(TypeError, match=r"Renyi\(1\.01, rank=10\)"):
        Entropy(entropy=1.01)


# ---------------------------------------------------------------------------------- the rivals


def test_the_variational_bound_is_the_divergence_from_the_prior():
    torch.manual_seed(0)
    layer, h = VariationalBottleneck(3, 2, beta=0.5), rows(dtype=torch.float32)
    _, rate = layer(h)
    y = torch.arange(12) % 2
    logits = rows(d=2)
    value = layer.loss(logits, y, rate).item()
    mean, raw = layer.encode(h).chunk(2, dim=1)
    normal = torch.distributions.Normal(mean, torch.nn.functional.softplus(raw - 5))
    prior = torch.distributions.Normal(0.0, 1.0)
    kl = torch.distributions.kl_divergence(normal, prior).sum(1).mean().item() / math.log(2)
    task = torch.nn.functional.cross_entropy(logits, y).item()
    assert layer.information.item() == pytest.approx(kl, rel=1e-5)
    assert value == pytest.approx(task + 0.5 * kl, rel=1e-5)
    assert not torch.equal(layer(h)[0], layer(h)[0])
    layer.eval()
    assert torch.equal(layer(h)[0], mean)


def test_the_nonlinear_bound_is_that_of_pairs():
    """Naively; it lies between the information of the noisy layer and log2 n."""
    layer, h = NonlinearBottleneck(beta=0.5, sigma=0.7), rows()
    torch.manual_seed(0)
    z, rate = layer(h)
    y, logits = torch.arange(12) % 2, rows(d=2)
    value = layer.loss(logits, y, rate).item()
    K = oracles.matrix(oracles.gaussian(0.7), h.numpy())
    bound = -np.mean(np.log2(K.mean(axis=1)))
    task = torch.nn.functional.cross_entropy(logits, y).item()
    assert layer.information.item() == pytest.approx(bound, rel=1e-5)
    assert value == pytest.approx(task + 0.5 * bound**2, rel=1e-5)
    assert (z - h).std().item() == pytest.approx(0.7, rel=0.3)
    layer.eval()
    assert torch.equal(layer(h)[0], h)
    layer.loss(logits.requires_grad_(), y, rate).backward()
    assert layer.log_sigma.grad.item() != 0


# ------------------------------------------------------------------------------------ training


def trained(beta, steps=120):
    """A small net on three noisy clusters; batches of 40 and a last one of a single row."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    y = torch.arange(161) % 3
    x = torch.randn(161, 10, generator=generator)
    x[:, :3] += 3.0 * torch.nn.functional.one_hot(y, 3)
    encoder = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
    head = torch.nn.Linear(8, 3)
    loss = InformationBottleneck(lr.Renyi(1.01, rank=10), beta, GAUSSIAN, GAUSSIAN)
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=3e-3)
    bits = []
    for _ in range(steps // 5):
        for index in torch.randperm(161, generator=generator).split(40):
            optimizer.zero_grad()
            z = encoder(x[index])
            loss(head(z), y[index], x[index], z).backward()
            optimizer.step()
            if len(index) > 1:
                bits.append(loss.information.item())
            else:
                assert loss.information.item() == 0
    with torch.no_grad():
        accuracy = (head(encoder(x)).argmax(1) == y).float().mean().item()
    return np.mean(bits[:4]), np.mean(bits[-4:]), accuracy


def test_training_lowers_the_information_and_keeps_the_accuracy():
    start, plain, plain_accuracy = trained(0.0)
    _, squeezed, accuracy = trained(0.3)
    assert squeezed < 0.9 * start < 0.5 * plain
    assert accuracy > 0.9
    assert accuracy > plain_accuracy - 0.02


# -------------------------------------------------------------------------------------- the plane


def model_and_batch():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    return model, rows(dtype=torch.float32), torch.arange(12) % 2


def test_the_plane_holds_what_each_layer_tells():
    model, x, y = model_and_batch()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    options = {"entropy": lr.Renyi(1.01), "kernel_x": GAUSSIAN, "kernel_t": GAUSSIAN}
    with InformationPlane(model, ["1", "2"], **options) as plane:
        for step in (0, 5):
            model(x)
            plane.record(step, x, y)
    places = [(row.step, row.layer) for row in plane.records]
    assert places == [(0, "1"), (0, "2"), (5, "1"), (5, "2")]
    with torch.no_grad():
        t = model[1](model[0](x))
    xt = oracles.mutual_information(matrix(x), matrix(t), 1.01)
    ty = oracles.mutual_information(matrix(t), labeled(y), 1.01)
    assert plane.records[0].i_xt == pytest.approx(xt, abs=1e-5)
    assert plane.records[0].i_ty == pytest.approx(ty, abs=1e-5)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert not model[1]._forward_hooks


def test_layers_of_tokens_are_read_as_it_is_said():
    model = torch.nn.LSTM(3, 4, batch_first=True)
    x, y = rows(6, 15, dtype=torch.float32).reshape(6, 5, 3), torch.arange(6) % 2
    with InformationPlane(model, [""]) as plane:
        model(x)
        with pytest.raises(ValueError, match=r"layer '' has shape \(6, 5, 4\): which axis"):
            plane.record(0, x.flatten(1), y)
    with InformationPlane(model, [""], each=lambda t: t.mean(1)) as plane:
        model(x)
        plane.record(0, x.flatten(1), y)
    assert plane.records[0].i_xt > 0


def test_what_the_plane_cannot_read_is_said():
    model, x, y = model_and_batch()
    with pytest.raises(ValueError, match=r"names of submodules \(0, 1, 2\)"):
        InformationPlane(model, ["nine"])
    with InformationPlane(model, ["1"]) as plane:
        with pytest.raises(RuntimeError, match="'1' was not passed"):
            plane.record(0, x, y)
        model(x[:5])
        with pytest.raises(ValueError, match="saw 5 rows and x has 12"):
            plane.record(0, x, y)


def test_the_plane_is_drawn():
    figure = pytest.importorskip("matplotlib.figure")
    from lorenyi.plots import InformationPlaneDisplay

    model, x, y = model_and_batch()
    with InformationPlane(model, ["1", "2"]) as plane:
        with pytest.raises(ValueError, match="no records"):
            InformationPlaneDisplay.from_plane(plane)
        for step in (0, 5, 9):
            model(x + step)
            plane.record(step, x + step, y)
    display = InformationPlaneDisplay.from_plane(plane)
    assert display.x.shape == (3, 2)
    assert display.y[2, 1] == plane.records[5].i_ty
    drawn = display.plot(ax=figure.Figure().subplots())
    assert drawn.lines_[1].get_xdata().tolist() == display.x[:, 1].tolist()
    assert [text.get_text() for text in drawn.ax_.get_legend().get_texts()] == ["1", "2"]
    with pytest.raises(ValueError, match=r"must be \(1, 2\)"):
        InformationPlaneDisplay([0], [[1.0]], [[1.0]], ["a", "b"])
