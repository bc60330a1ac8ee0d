"""Batches that several processes share."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor


def gather(x: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Return the rows of all processes, in the order of their ranks, for a term of the whole batch.

    A term is no mean over rows: each process must measure all of them. The gradient goes to the
    rows of this process alone, times the number of processes, so that the mean that
    `DistributedDataParallel` takes is the gradient of the whole batch. The task loss stays one of
    the process's own rows. Without processes x itself is returned.

    Parameters
    ----------
    x : Tensor
        The rows of this process, as many as every other has (`drop_last=True`).
    group : ProcessGroup, optional
        The processes; all by default.

    Examples
    --------
    >>> import torch
    >>> from lorenyi.nn import gather
    >>> x = torch.ones(3, 2)
    >>> gather(x) is x      # there is one process
    True
    """
    if not (dist.is_available() and dist.is_initialized()):
        return x
    size, rank = dist.get_world_size(group), dist.get_rank(group)
    rows = x.detach().contiguous()
    parts = [rows.new_empty(rows.shape) for _ in range(size)]
    dist.all_gather(parts, rows, group=group)
    if x.requires_grad:
        parts[rank] = rows + size * (x - rows)  # the value is that of the rows, exactly
    return torch.cat(parts)
