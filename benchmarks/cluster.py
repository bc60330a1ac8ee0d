"""Rows on a cluster: two worker processes of this machine against one process."""

from __future__ import annotations

import time
from collections.abc import Callable

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from measuring import Result, peak_memory

import lorenyi as lr

COLUMNS, RANK, WIDTH = 10, 50, 2e-3


def cluster(runs: int) -> list[Result]:
    """Measure 10^6 and 10^7 rows on two workers, and 10^6 in this process."""
    H = lr.Renyi(2, RANK, lr.Auto(tol=WIDTH))
    times, found = {}, {}
    for n in (1_000_000, 10_000_000):
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
            ) as workers,
            Client(workers) as client,
        ):
            x = rows(n).persist()
            wait(x)
            times[n], found[n] = timed(lambda x=x: H.certified(lr.gram(x)), runs if n < 1e7 else 1)
            peaks = [peak / 2**30 for peak in client.run(peak_memory).values()]
            if n == 1_000_000:
                X = x.compute()
    alone, here = timed(lambda: H.certified(lr.gram(X)), runs)
    few, many = times
    exponent = float(np.log10(times[many] / times[few]))
    difference = abs(float(here) - float(found[few]))
    overhead = Result(
        f"n = 10^6, d = {COLUMNS}, rank {RANK}, alpha 2, certified, two worker processes",
        "one process, two threads",
        times[few],
        alone,
        need="< 2x the time of one process",
        accuracy=f"width {found[few].width:.1e} bits, difference {difference:.0e}",
    )
    overhead.met = times[few] < 2 * alone and difference < 1e-8
    large = Result(
        f"n = 10^7, d = {COLUMNS}, rank {RANK}, alpha 2, certified, two worker processes",
        f"itself at n = 10^6 ({times[few]:.1f} s)",
        times[many],
        need="exponent <= 1.1, < 1.5 GB a worker",
        accuracy=f"width {found[many].width:.1e} bits, exponent {exponent:.2f}",
        limit=f"workers' peaks {peaks[0]:.2f} and {peaks[1]:.2f} GB",
    )
    large.met = bool(exponent <= 1.1 and max(peaks) < 1.5 and found[many].width <= WIDTH)
    return [overhead, large]


def rows(n: int) -> da.Array:
    """Make standard normal points in chunks that stay in no cache."""
    return da.random.default_rng(0).normal(size=(n, COLUMNS), chunks=(2**17, COLUMNS))


def timed(function: Callable[[], object], runs: int) -> tuple[float, object]:
    """Return the shortest time of some runs: other processes only add to it."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - start)
    return min(times), value


TASKS: dict[str, Callable[[int], list[Result]]] = {"cluster": cluster}
PEAKS = {"cluster": 2.0}  # of the client
