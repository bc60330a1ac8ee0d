"""Entropies of many token matrices at once, against the usual loops over singular values."""

from __future__ import annotations

from collections.abc import Callable

import torch
from measuring import Result, against, median_time
from torch import Tensor

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
    """Layer by layer, so that memory holds one layer; the loop of singular values on the first."""
    x = tokens(1)[0]
    ours, found = median_time(lambda: representations.entropy(x), max(runs, 3))
    batched, other = median_time(lambda: by_eigenvalues(x), max(runs, 3))
    loop, expected = median_time(lambda: by_singular_values(x), 1)
    error = max((found - expected).abs().max().item(), (other - expected).abs().max().item())
    task = f"entropy of {SEQUENCES} x {TOKENS} tokens x {COLUMNS}, one layer of {LAYERS}, float32"
    accuracy = f"within {error:.1e} bits"
    return [
        against(Result(task, "torch.linalg.svdvals", ours, loop, accuracy=accuracy), 4.0),
        against(Result(task, "batched torch.linalg.eigvalsh", ours, batched), 0.95),
    ]


TASKS: dict[str, Callable[[int], list[Result]]] = {"representations": entropies}
PEAKS: dict[str, float] = {}
