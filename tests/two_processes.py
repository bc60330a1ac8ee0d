"""A script: the gradient of two processes that share a batch, beside that of one that has it all.

It forks before any thread is started, so that PyTorch is imported once.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import lorenyi as lr
from lorenyi.nn import InformationBottleneck, gather


def gradient(model, x, y, together):
    z = model(x)
    loss = InformationBottleneck(lr.Renyi(1.01, rank=10), beta=0.7)
    loss(z, y, together(x), together(z)).backward()
    return next(model.parameters()).grad


def main(store):
    child = os.fork()
    rank = 0 if child else 1
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(0)
    model, x, y = torch.nn.Linear(6, 4), torch.randn(80, 6), torch.arange(80) % 4
    alone = gradient(model, x, y, lambda rows: rows).clone()
    model.zero_grad()
    half = slice(40 * rank, 40 * rank + 40)
    shared = gradient(DistributedDataParallel(model), x[half], y[half], gather)
    difference = (shared - alone).abs().max().item() / alone.abs().max().item()
    dist.destroy_process_group()
    if not child:
        os._exit(int(difference > 1e-5))
    _, status = os.waitpid(child, 0)
    sys.stdout.write(f"{difference} {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(os.path.join(folder, "store"))
