"""Information as a loss: the low-rank term against the classical one, and its share of a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from measuring import Result, against
from torch import Tensor, nn

import lorenyi as lr
from lorenyi.nn import InformationBottleneck, MutualInformation

ALPHA, RANK, COLUMNS = 1.01, 10, 256
NEEDED = {100: 0.9, 256: 1.5, 1024: 5.0, 4096: 20.0}


def classical(x: Tensor, z: Tensor, sigma_x: float, sigma_z: float) -> Tensor:
    """I(X; Z) from all eigenvalues, as it is usually written."""

    def matrix(points: Tensor, sigma: float) -> Tensor:
        squares = (points * points).sum(1)
        distance = squares[:, None] + squares[None, :] - 2 * points @ points.T
        return torch.exp(-distance.clamp(min=0) / (2 * sigma**2)) / len(points)

    def entropy(A: Tensor) -> Tensor:
        values = torch.linalg.eigvalsh(A).clamp(min=0)
        return torch.log2((values**ALPHA).sum()) / (1 - ALPHA)

    A, B = matrix(x, sigma_x), matrix(z, sigma_z)
    return entropy(A) + entropy(B) - entropy(A * B * len(x))


def batch(n: int) -> tuple[Tensor, Tensor]:
    """Inputs, and activations of a random layer."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, COLUMNS, generator=generator)
    layer = torch.randn(COLUMNS, COLUMNS, generator=generator) / COLUMNS**0.5
    return x, torch.relu(x @ layer).requires_grad_()


def times_in_turns(
    functions: dict[str, Callable[[], object]],
    runs: int,
    quantile: float,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return a quantile of each one's times, run in turns: what else goes on hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(runs + 1):
        for name, function in functions.items():
            start = clock()
            function()
            times[name].append(clock() - start)
    return {name: float(np.quantile(values[1:], quantile)) for name, values in times.items()}


def term(runs: int) -> list[Result]:
    """Forward and backward of I(X; Z) in float32."""
    results = []
    for n, least in NEEDED.items():
        x, z = batch(n)
        sigma_x, sigma_z = (lr.gram(v.detach()).factors[0].kernel.sigma for v in (x, z))
        kernels = lr.Gaussian(sigma_x), lr.Gaussian(sigma_z)
        low_rank = MutualInformation(lr.Renyi(ALPHA, RANK), *kernels)
        exact = MutualInformation(lr.Renyi(ALPHA, RANK, lr.Exact()), *kernels)

        def gradient(measure: Callable[[], Tensor], z: Tensor = z) -> Tensor:
            z.grad = None
            measure().backward()
            return z.grad

        both = {
            "ours": lambda: gradient(lambda: low_rank(x, z)),
            "rival": lambda: gradient(lambda: classical(x, z, sigma_x, sigma_z)),
        }
        repeats = max(runs, 50 if n <= 256 else 3) if n < 4096 else 2
        times = times_in_turns(both, repeats, 0.0)
        accuracy = ""
        if n < 4096:
            ours, truth = gradient(lambda: low_rank(x, z)), gradient(lambda: exact(x, z))
            cosine = torch.cosine_similarity(ours.flatten(), truth.flatten(), dim=0).item()
            accuracy = f"gradient of S^k: cosine {cosine:.4f}"
        row = Result(
            f"I(X; Z) forward and backward, batch {n}, d = {COLUMNS}, rank {RANK}, float32",
            "torch.linalg.eigvalsh",
            times["ours"],
            times["rival"],
            accuracy=accuracy,
        )
        results.append(against(row, least))
    return results


def plain_iteration(x: Tensor, z: Tensor, Q: Tensor) -> Tensor:
    """I(X; Z) by subspace iteration, as one would write it in ten lines."""

    def matrix(points: Tensor) -> Tensor:
        squares, n = (points * points).sum(1), len(points)
        distance = (squares[:, None] + squares[None, :] - 2 * points @ points.T).clamp(min=0)
        sigma = 0.25 * torch.exp(torch.log(distance + torch.eye(n)).sum() / (n * (n - 1)))
        return torch.exp(-distance / (2 * sigma))

    def entropy(K: Tensor) -> Tensor:
        n, V = len(K), Q
        with torch.no_grad():
            for _ in range(2):
                V = torch.linalg.qr(K @ V)[0]
            V = V @ torch.linalg.eigh(V.T @ K @ V)[1][:, -RANK:]
        values = (V * (K @ V)).sum(0) / n
        rest = (1 - values.sum()) / (n - RANK)
        return torch.log2((values**ALPHA).sum() + (n - RANK) * rest**ALPHA) / (1 - ALPHA)

    A, B = matrix(x), matrix(z)
    return entropy(A) + entropy(B) - entropy(A * B)


def iteration(runs: int) -> list[Result]:
    """The default term against ten lines that do the same, and with labels against without.

    In processor seconds of one thread: others' load does not count, nor idle threads of a pool.
    """
    results = []
    torch.set_num_threads(1)
    kernel = lr.Gaussian(lr.GeometricMean())
    for n in (64, 128, 512, 2048):
        x, z = batch(n)
        labels = torch.arange(n) % 10
        Q = torch.randn(n, RANK + 10, generator=torch.Generator().manual_seed(0))
        term = MutualInformation(lr.Renyi(ALPHA, RANK), kernel, kernel)
        of_labels = MutualInformation(lr.Renyi(ALPHA, RANK), kernel, None)
        three = {
            "ours": lambda: term(x, z).backward(),
            "rival": lambda: plain_iteration(x, z, Q).backward(),
            "labels": lambda: of_labels(z, labels).backward(),
        }
        repeats = max(runs, 200 if n <= 128 else 60 if n <= 512 else 10)
        times = times_in_turns(three, repeats, 0.0, time.process_time)
        task = f"I(X; Z) forward and backward, batch {n}, d = {COLUMNS}, rank {RANK}, float32"
        task += ", processor seconds"
        row = Result(task, "ten lines of subspace iteration", times["ours"], times["rival"])
        results.append(against(row, 1.0))
        task = f"I(Z; labels) forward and backward, batch {n}, processor seconds"
        row = Result(task, "I(X; Z)", times["labels"], times["ours"])
        results.append(against(row, 1 / 1.5))
    return results


def share(runs: int) -> list[Result]:
    """Share of the term in a training step of 784-1024-1024-256-10 at batch 100."""
    torch.manual_seed(0)
    widths = (784, 1024, 1024, 256)
    layers = [m for a, b in pairwise(widths) for m in (nn.Linear(a, b), nn.ReLU())]
    encoder, head = nn.Sequential(*layers), nn.Linear(256, 10)
    parameters = [*encoder.parameters(), *head.parameters()]
    optimizer = torch.optim.SGD(parameters, 0.05, momentum=0.9, weight_decay=5e-4)
    x, y = torch.rand(100, 784), torch.arange(100) % 10
    loss = InformationBottleneck(lr.Renyi(ALPHA, RANK), beta=0.01)

    def step(with_information: bool) -> None:
        optimizer.zero_grad(set_to_none=True)
        z = encoder(x)
        logits = head(z)
        value = loss(logits, y, x, z) if with_information else loss.task_loss(logits, y)
        value.backward()
        optimizer.step()

    both = {"all": lambda: step(True), "plain": lambda: step(False)}
    # Whole steps use all cores and vary by half; the best of many plain ones is a lucky one.
    times = times_in_turns(both, max(runs, 200), 0.5)
    part = 1 - times["plain"] / times["all"]
    row = Result(
        "training step with I(X; Z), 784-1024-1024-256-10, batch 100, rank 10",
        "the step without",
        times["all"],
        times["plain"],
        need="share < 25 %",
        accuracy=f"share {part:.0%}",
    )
    row.met = bool(np.isfinite(part) and part < 0.25)
    return [row]


TASKS: dict[str, Callable[[int], list[Result]]] = {
    "training_term": term,
    "training_iteration": iteration,
    "training_share": share,
}
PEAKS: dict[str, float] = {}
