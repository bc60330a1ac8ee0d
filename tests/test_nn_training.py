"""Terms in real training: scalers, autocast, copies, transforms, processes, and what is read."""

import copy
import math
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import lorenyi as lr  # noqa: E402
from lorenyi.nn import (  # noqa: E402
    Held,
    InformationBottleneck,
    MutualInformation,
    NonlinearBottleneck,
    VariationalBottleneck,
    gather,
    watch,
)

LOW_RANK, CLASSICAL = lr.Renyi(1.01, rank=10), lr.Renyi(1.01)


def rows(n=60, d=6, seed=0, dtype=torch.float32):
    return torch.tensor(np.random.default_rng(seed).normal(size=(n, d)), dtype=dtype)


# ------------------------------------------------------------------------------ what is not finite


@pytest.mark.parametrize("entropy", [LOW_RANK, CLASSICAL], ids=repr)
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_passes_to_the_loss(number, entropy):
    """A gradient scaler looks for it there and in the gradient, and skips the step."""
    x, z, y = rows(), rows(seed=1), torch.arange(60) % 6
    z[7, 2] = number
    z.requires_grad_()
    value = InformationBottleneck(entropy)(z, y, x, z)
    value.backward()
    assert value.isnan()
    assert not z.grad.isfinite().all()
    assert MutualInformation(entropy, kernel_y=None)(z, y).isnan()


def test_a_gradient_scaler_skips_the_step_and_goes_on():
    layer, x, y = torch.nn.Linear(6, 6), rows(), torch.arange(60) % 6
    loss, scaler = InformationBottleneck(LOW_RANK), torch.amp.GradScaler("cpu", init_scale=2.0**60)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    before = layer.weight.clone()
    moved = []
    for _ in range(60):
        with torch.autocast("cpu", dtype=torch.float16):
            z = layer(x)
            value = loss(z, y, x, z)
        optimizer.zero_grad()
        scaler.scale(value).backward()
        scaler.step(optimizer)
        scaler.update()
        moved.append(not torch.equal(before, layer.weight))
    assert not moved[0]
    assert moved[-1]
    assert layer.weight.isfinite().all()


# ------------------------------------------------------------------------------------- host reads


class Reads(torch.utils._python_dispatch.TorchDispatchMode):
    """Counts numbers that are read back from tensors."""

    def __init__(self):
        super().__init__()
        self.found = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name, device = str(function), (kwargs or {}).get("device")
        moved = "_to_copy" in name and device not in (None, args[0].device)
        if "_local_scalar_dense" in name or "nonzero" in name or moved:
            self.found.append(name)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("entropy", [LOW_RANK, CLASSICAL], ids=repr)
@pytest.mark.parametrize("n", [64, 600])
@pytest.mark.parametrize("labels", [False, True])
def test_a_step_reads_nothing_back_and_asks_no_file(entropy, n, labels, monkeypatch):
    """What a decomposition reads itself, to see whether it converged, is below this count."""
    x = torch.arange(n) % 9 if labels else rows(n)
    z = rows(n, seed=1).requires_grad_()
    term = MutualInformation(entropy, None if labels else lr.Gaussian(lr.GeometricMean()))
    term(x, z).backward()  # constants are made once

    def refuse(*_):
        raise AssertionError("memory was asked about")

    monkeypatch.setattr("lorenyi._memory.free_memory", refuse)
    monkeypatch.setattr(torch.Tensor, "numpy", refuse)
    with Reads() as reads:
        term(x, z).backward()
    assert reads.found == []


def test_the_spread_is_read_once_in_a_hundred_steps():
    x, y, loss = rows(), torch.arange(60) % 6, InformationBottleneck(LOW_RANK)
    z = rows(seed=1).requires_grad_()
    with Reads() as reads:
        for _ in range(200):
            loss(z, y, x, z)
    assert len([name for name in reads.found if "scalar" in name]) == 2


# --------------------------------------------------------------------------- copies and transforms


def bottlenecks():
    return [
        InformationBottleneck(LOW_RANK, ramp=5),
        VariationalBottleneck(6, 6),
        NonlinearBottleneck(),
    ]


def value_of(bottleneck, h, y):
    if isinstance(bottleneck, InformationBottleneck):
        return bottleneck(h, y, rows(), h)
    z, rate = bottleneck(h)
    return bottleneck.loss(z, y, rate)


@pytest.mark.parametrize("index", range(3))
def test_copies_and_averages_can_be_made_after_a_step(index):
    bottleneck, y = bottlenecks()[index], torch.arange(60) % 6
    h = torch.nn.Linear(6, 6)(rows())
    loss = value_of(bottleneck, h, y)
    again = copy.deepcopy(bottleneck)
    average = torch.optim.swa_utils.AveragedModel(bottleneck)
    average.update_parameters(bottleneck)
    loss.backward()
    assert again.information == bottleneck.information
    assert not any(isinstance(v, torch.Tensor) and v.requires_grad for v in vars(again).values())


@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast_measures_in_float32(index, dtype):
    torch.manual_seed(0)
    bottleneck, y, h = bottlenecks()[index].eval(), torch.arange(60) % 6, 8 * rows().to(dtype)
    with torch.autocast("cpu", dtype=dtype):
        value_of(bottleneck, h, y)
    half = bottleneck.information
    value_of(bottleneck, h.float(), y)
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(bottleneck.information.item(), rel=1e-5)


def test_no_matrix_is_kept_for_the_backward_pass():
    """The gradient is computed with the value: a graph holds n x d numbers, not n x n."""
    n, kept = 200, []
    x, z = torch.randn(n, 5), torch.randn(n, 3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: kept.append(t.numel()) or t, lambda t: t
    ):
        value = MutualInformation(lr.Renyi(1.01, 10))(x, z)
    value.backward()
    assert kept
    assert max(kept) <= n * 5


def test_checkpointing_gives_the_same_gradient():
    x, y = rows(), torch.arange(60) % 6
    gradients = []
    for saved in (True, False):
        torch.manual_seed(0)
        encoder, loss = torch.nn.Linear(6, 6), InformationBottleneck(LOW_RANK)

        def part(x, encoder=encoder, loss=loss):
            z = torch.relu(encoder(x))
            return loss(z, y, x, z)

        checkpoint = torch.utils.checkpoint.checkpoint
        (checkpoint(part, x, use_reentrant=False) if saved else part(x)).backward()
        gradients.append(encoder.weight.grad)
    assert torch.equal(*gradients)


@pytest.mark.parametrize("entropy", [LOW_RANK, CLASSICAL], ids=repr)
def test_function_transforms_give_the_same_gradient(entropy):
    x, batch = rows(), torch.stack([rows(seed=1), rows(seed=2)])
    term = MutualInformation(entropy)
    expected = []
    for z in batch:
        z = z.clone().requires_grad_()
        term(x, z).backward()
        expected.append(z.grad)
    found = torch.func.grad(lambda z: term(x, z))(batch[0])
    assert torch.allclose(found, expected[0], atol=1e-7)
    found = torch.func.vmap(torch.func.grad(lambda z: term(x, z)))(batch)
    assert torch.allclose(found, torch.stack(expected), atol=1e-6)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_term_compiles_without_a_break():
    layer, term, x = torch.nn.Linear(6, 4), MutualInformation(LOW_RANK), rows()
    torch._dynamo.reset()
    step = torch.compile(lambda x: term(x, layer(x)), backend="eager", fullgraph=True)
    step(x).backward()
    compiled = layer.weight.grad.clone()
    layer.zero_grad()
    term(x, layer(x)).backward()
    assert torch.allclose(compiled, layer.weight.grad, atol=1e-7)


# ---------------------------------------------------------------------------------- ramp and spread


def test_beta_rises_over_the_ramp_and_resumes():
    x, y, z = rows(), torch.arange(60) % 6, rows(seed=1)
    loss = InformationBottleneck(LOW_RANK, beta=0.5, ramp=4)

    def weight(loss):
        value = loss(z, y, x, z)
        return ((value - loss.task) / loss.information).item()

    found = [weight(loss) for _ in range(6)]
    assert found == pytest.approx([0.0, 0.125, 0.25, 0.375, 0.5, 0.5], abs=1e-6)
    fresh = InformationBottleneck(LOW_RANK, beta=0.5, ramp=4)
    weight(fresh), weight(fresh)
    resumed = InformationBottleneck(LOW_RANK, beta=0.5, ramp=4)
    resumed.load_state_dict(fresh.state_dict())
    assert weight(resumed) == pytest.approx(0.25, abs=1e-6)
    resumed.eval()
    assert weight(resumed) == weight(resumed)


def test_a_collapse_is_said_once():
    x, y, z = rows(), torch.arange(60) % 6, rows(seed=1)
    loss = InformationBottleneck(LOW_RANK)
    loss(z, y, x, z)
    assert loss.spread.item() == pytest.approx(z.var(0, correction=0).sum().sqrt().item(), rel=1e-5)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(250):
            loss(1e-4 * z, y, x, 1e-4 * z)
    assert [str(w.message)[-12:] for w in said] == ["the default."]
    assert "shrunk, not compressed" in str(said[0].message)


def squeezed(kernel, beta, steps=150):
    """A small net on clusters; return the spread of z, I(X; Z) by another rule, and accuracy."""
    torch.manual_seed(0)
    y = torch.arange(120) % 4
    x = rows(120, 10) + 3.0 * torch.nn.functional.one_hot(y, 10)
    encoder = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
    head = torch.nn.Linear(8, 4)
    optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], 0.1, momentum=0.9)
    loss = InformationBottleneck(LOW_RANK, beta, kernel_z=kernel)
    for _ in range(steps):
        optimizer.zero_grad()
        z = encoder(x)
        loss(head(z), y, x, z).backward()
        optimizer.step()
    with torch.no_grad():
        z = encoder(x)
        judge = MutualInformation(CLASSICAL, lr.Gaussian("median"), lr.Gaussian("median"))
        accuracy = (head(z).argmax(1) == y).float().mean().item()
        return loss.spread.item(), judge(x, z).item(), accuracy


def test_the_default_compresses_and_the_papers_rule_shrinks():
    """Judged by the median bandwidth, which neither of them is trained with."""
    default = lr.Gaussian(lr.GeometricMean())
    plain_spread, plain_bits, _ = squeezed(default, 0.0)
    spread, bits, accuracy = squeezed(default, 0.3)
    assert bits < 0.8 * plain_bits
    assert spread > 0.5 * plain_spread
    assert accuracy > 0.95
    held_spread, _, held_accuracy = squeezed(lr.Gaussian(Held(lr.Nearest(10))), 0.3)
    assert held_spread < 0.1 * plain_spread
    assert held_accuracy < 0.95


# ---------------------------------------------------------------------------------------- processes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script forks")
def test_two_processes_have_the_gradient_of_the_whole_batch():
    script = Path(__file__).with_name("two_processes.py")
    found = subprocess.run(
        [sys.executable, "-W", "ignore", script], capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0, found.stderr
    difference, other = found.stdout.split()
    assert float(difference) < 1e-5
    assert other == "0"
    x = rows()
    assert gather(x) is x


# -------------------------------------------------------------------------------------------- watch


class Parts(torch.nn.Module):
    """Layers that return dicts and tuples, as many models do."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.lstm = torch.nn.LSTM(4, 5, batch_first=True)
        self.last = Named()

    def forward(self, x):
        return self.last(self.lstm(torch.relu_(self.first(x)))[0])


class Named(torch.nn.Module):
    def forward(self, h):
        return {"loss": h.sum(), "logits": h.mean(1), "states": (h, h + 1)}


def test_watch_collects_tuples_and_dicts_over_batches():
    model, x = Parts(), rows(12, 15).reshape(12, 5, 3)
    layers = ["first", "lstm", "last", "last:states.1"]
    with watch(model, layers) as seen, torch.no_grad():
        for part in x.split(5):
            model(part)
    with torch.no_grad():
        before = model.first(x)
        h, (state, _) = model.lstm(torch.relu(before))
    assert torch.allclose(seen["first"], before, atol=1e-6)  # though written to in place later
    assert torch.allclose(seen["lstm"], h, atol=1e-6)
    assert torch.allclose(seen["last"], h.mean(1), atol=1e-6)
    assert torch.allclose(seen["last:states.1"], h + 1, atol=1e-6)
    assert list(seen) == layers
    assert not model.first._forward_hooks
    assert not any(value.requires_grad for value in seen.values())
    with watch(model, ["lstm:1.0"]) as seen:
        model(x)
    assert torch.allclose(seen["lstm:1.0"], state, atol=1e-6)


def test_watch_keeps_what_each_makes_of_an_output():
    model, x = Parts(), rows(12, 15).reshape(12, 5, 3)
    with watch(model, ["lstm"], each=lambda t: t.std(dim=(1, 2))) as seen:
        model(x[:4])
        model(x[4:])
        assert seen["lstm"].shape == (12,)
        seen.clear()
        with pytest.raises(RuntimeError, match="'lstm' was not passed"):
            _ = seen["lstm"]
    with watch(model, ["lstm"], last=True) as seen:
        model(x[:4])
        model(x[4:])
    assert seen["lstm"].shape == (8, 5, 5)


def test_what_watch_cannot_read_is_said():
    model, x = Parts(), rows(12, 15).reshape(12, 5, 3)
    with pytest.raises(ValueError, match=r"names of submodules \(first, lstm, last\)"):
        watch(model, "first")
    for layers, message in {
        "last:none": "nothing at 'none'",
        "last:loss": "without a tensor",
    }.items():
        with watch(model, [layers]), pytest.raises(ValueError, match=message):
            model(x)
