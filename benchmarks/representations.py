"""Entropies of many token matrices at once, against the usual loops over singular values."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from measuring import Result, against
from torch import Tensor
from training import times_in_turns

from lorenyi import representations

LAYERS, SEQUENCES, TOKENS, COLUMNS = 24, 64, 256, 768


def tokens(layers: int) -> Tensor:
    """Random tokens with a decaying spectrum, as layers have it."""
    generator = torch.Generator().manual_seed(0)
    scale = torch.arange(1, COLUMNS + 1) ** -0.5
    return scale * torch.randn(layers, SEQUENCES, TOKENS, COLUMNS, generator=generator)


def by_singular_values(x: Tensor) -> Tensor:
    """One matrix after the other, as it is usually written."""
    found = []
    for X in x.flatten(0, -3):
        p = torch.linalg.svdvals(X) ** 2
        p = p / p.sum()
        found.append(-(p * torch.log2(p.clamp(min=1e-12))).sum())
    return torch.stack(found).reshape(x.shape[:-2])


def by_eigenvalues(x: Tensor) -> Tensor:
    """All at once."""
    K = x @ x.mT
    K = K / K.diagonal(dim1=-2, dim2=-1).sum(-1)[..., None, None]
    p = torch.linalg.eigvalsh(K)
    return -(p * torch.log2(p.clamp(min=1e-12))).sum(-1)


def entropies(runs: int) -> list[Result]:
    """One layer of 24, for memory and time: all layers take as long, ours and theirs."""
    torch.set_num_threads(1)  # idle threads of a pool count as well
    x = tokens(1)[0]
    functions = {
        "ours": lambda: representations.entropy(x),
        "eigenvalues": lambda: by_eigenvalues(x),
        "singular values": lambda: by_singular_values(x),
    }
    found = {name: function() for name, function in functions.items()}
    times = times_in_turns(functions, max(runs, 5), 0.0, time.process_time)
    expected = found["singular values"]
    error = max((value - expected).abs().max().item() for value in found.values())
    task = f"entropy of {SEQUENCES} x {TOKENS} tokens x {COLUMNS}, one layer of {LAYERS}, float32"
    task += ", processor seconds"
    ours, accuracy = times["ours"], f"within {error:.1e} bits"
    loop = Result(task, "torch.linalg.svdvals", ours, times["singular values"], accuracy=accuracy)
    batched = Result(task, "batched torch.linalg.eigvalsh", ours, times["eigenvalues"])
    return [against(loop, 4.0), against(batched, 0.95)]


TASKS: dict[str, Callable[[int], list[Result]]] = {"representations": entropies}
PEAKS: dict[str, float] = {}
