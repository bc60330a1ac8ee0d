"""What every benchmark shares: results, clocks, the rates of this machine, the eight tables."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("LORENYI_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))

RATES: dict[str, float] = {}  # filled by run.py: what `machine` measured in this run


@dataclass
class Result:
    task: str
    rival: str
    seconds: float
    rival_seconds: float | None = None
    need: str = ""
    met: bool | None = None
    accuracy: str = ""
    limit: str = ""
    peak_gb: float = 0.0

    @property
    def ratio(self) -> float | None:
        return None if self.rival_seconds is None else self.rival_seconds / self.seconds


def median_time(function: Callable[[], object], runs: int) -> tuple[float, object]:
    times, value = [], None
    for _ in range(runs):
        start = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), value


def peak_memory() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def against(result: Result, least: float) -> Result:
    result.need = f">= {least:g}x"
    result.met = result.ratio is not None and result.ratio >= least
    return result


# --------------------------------------------------------------------------- what the machine can


def machine() -> dict[str, float]:
    """Rates of this machine now: GEMM (GF/s, both cores), exp (G/s, one core), memory (GB/s)."""
    rates = {}
    for name, dtype in (("gemm64", np.float64), ("gemm32", np.float32)):
        X = np.random.default_rng(0).random((2000, 2000)).astype(dtype)
        seconds, _ = median_time(lambda X=X: X @ X, 5)
        rates[name] = 2 * 2000**3 / seconds / 1e9
    x = np.random.default_rng(0).random(2**18)
    for name, y in (("exp64", x), ("exp32", x.astype(np.float32))):
        out = np.empty_like(y)
        seconds, _ = median_time(lambda y=y, out=out: np.exp(y, out=out), 50)
        rates[name] = len(y) / seconds / 1e9
    big = np.ones(2**27)
    seconds, _ = median_time(lambda: big.sum(), 5)
    rates["memory"] = big.nbytes / seconds / 1e9
    return rates


def share(seconds: float, flops: float, rate: float, what: str) -> str:
    """Say how far a time is from what the floating point rate allows."""
    return f"{flops / 1e9 / rate / seconds:.0%} of the time is {what} at {rate:.0f} GF/s"


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    file = DATA / f"{name}.npz"
    if not file.exists():
        raise FileNotFoundError(f"{name}.npz is not in {DATA}: set LORENYI_DATA to its folder")
    with np.load(file) as data:
        return data["X"].astype(np.float64), data["y"]
