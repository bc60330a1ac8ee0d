"""Tests by permutation: time against hyppo and causal-learn, and at many rows."""

from __future__ import annotations

import warnings

import numpy as np
from measuring import Result, against, median_time

import lorenyi as lr


def dependent(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two columns that depend on each other, so that no test ends early."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(n)
    return x, 0.3 * x + rng.standard_normal(n)


def against_hsic(runs: int) -> list[Result]:
    from hyppo.independence import Hsic

    x, y = dependent(1_000)
    seconds, found = median_time(lambda: lr.independence_test(x, y), max(runs, 3))

    def rival(rows: int = 1_000) -> float:
        few = x[:rows, None], y[:rows, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that 199 permutations are few
            return float(Hsic().test(*few, reps=199, workers=1, auto=False)[1])

    rival(20)  # compiles
    theirs, pvalue = median_time(rival, 1)
    row = Result(
        "independence_test(x, y), n = 1000, 199 permutations",
        "hyppo Hsic, 199 permutations",
        seconds,
        theirs,
        accuracy=f"p = {found.pvalue:g}, hyppo's {pvalue:g}",
    )
    return [against(row, 10)]


def many_rows(runs: int) -> list[Result]:
    results = []
    for n, most in ((10_000, 10.0), (100_000, 30.0)):
        x, y = dependent(n)
        seconds, found = median_time(lambda: lr.independence_test(x, y), 1)
        results.append(
            Result(
                f"independence_test(x, y), n = {n}, 199 permutations",
                "-",
                seconds,
                need=f"< {most:g} s",
                met=seconds < most,
                accuracy=f"p = {found.pvalue:g}",
            )
        )
    return results


def against_kci(runs: int) -> list[Result]:
    from causallearn.utils.cit import CIT

    rng = np.random.default_rng(0)
    z = rng.standard_normal(1_000)
    x = z + rng.standard_normal(1_000)
    y = z + 0.3 * x + rng.standard_normal(1_000)
    seconds, found = median_time(
        lambda: lr.conditional_independence_test(x, y, given=z), max(runs, 3)
    )
    data = np.column_stack([x, y, z])
    theirs, pvalue = median_time(lambda: CIT(data, "kci")(0, 1, [2]), 3)
    row = Result(
        "conditional_independence_test(x, y, given=z), n = 1000, 199 permutations",
        "causal-learn KCI",
        seconds,
        theirs,
        accuracy=f"p = {found.pvalue:g}, KCI's {pvalue:.2g}",
    )
    return [against(row, 5)]


TASKS = {
    "tests-hsic": against_hsic,
    "tests-large": many_rows,
    "tests-kci": against_kci,
}
PEAKS: dict[str, float] = {"tests-large": 2.0}
