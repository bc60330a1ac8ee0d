"""Level and power of the test of conditional independence, against causal-learn's KCI.

    python paper/conditional_tests.py                # as many rounds as asked for, resuming
    python paper/conditional_tests.py --quick        # one small round, to see that it runs

Cases are drawn with one to three columns of numbers in z, of which x and y depend on the normalized
sum s. In the first three x and y are independent given z, in the others not. A round tests some
tables of each case at the level of 5 %, ours with 99 permutations, KCI by its own approximation of
the null. Writes conditional.csv and conditional.md to --out.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import kept, results, tell, write_csv

import lorenyi as lr

LEVEL = 0.05
CASES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "null: s + e, s^2 + f": lambda s, e, f: (s + 0.5 * e, s**2 + 0.5 * f),
    "null: sin 3s + e, sin 3s + f": lambda s, e, f: (
        np.sin(3 * s) + 0.3 * e,
        np.sin(3 * s) + 0.3 * f,
    ),
    "null: |s| e, |s| f": lambda s, e, f: (np.abs(s) * e, np.abs(s) * f),
    "s + e, s + f + 0.3 e": lambda s, e, f: (s + e, s + f + 0.3 * e),
    "s + e, s + f + 0.3 e^2": lambda s, e, f: (s + e, s + f + 0.3 * e**2),
    "tanh s + e, f + 0.7 s e": lambda s, e, f: (np.tanh(s) + e, f + 0.7 * s * e),
}


@dataclass(frozen=True)
class Round:
    """So many tables of one case, tested by one method."""

    case: str
    method: str
    columns: int
    n: int
    tables: int
    number: int


def ours(x: np.ndarray, y: np.ndarray, z: np.ndarray, seed: int) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of three columns
        found = lr.conditional_independence_test(x, y, z, permutations=99, seed=seed)
    return found.pvalue


def by_kci(x: np.ndarray, y: np.ndarray, z: np.ndarray, seed: int) -> float:
    from causallearn.utils.cit import CIT

    data = np.column_stack([x, y, z])
    return float(CIT(data, "kci")(0, 1, list(range(2, data.shape[1]))))


METHODS = {"lorenyi": ours, "KCI": by_kci}


def pvalues(settings: Round) -> list[float]:
    found = []
    for t in range(settings.tables):
        table = settings.number * settings.tables + t
        place = list(CASES).index(settings.case)  # other tables in each case
        rng = np.random.default_rng([table, settings.n, settings.columns, place])
        z = rng.normal(size=(settings.n, settings.columns))
        e, f = rng.normal(size=(2, settings.n))
        x, y = CASES[settings.case](z.sum(axis=1) / np.sqrt(settings.columns), e, f)
        found.append(METHODS[settings.method](x, y, z, table))
    return found


def run(out: Path, rounds: int, tables: int, n: int, methods: Sequence[str]) -> None:
    found: dict[tuple[str, int, str], list[float]] = {}
    for number in range(rounds):
        for columns in (1, 2, 3):
            for at, case in enumerate(CASES):
                for method in methods:
                    settings = Round(case, method, columns, n, tables, number)
                    file = out / "cache" / f"{at}-{columns}-{n}-{method}-{number}.json"
                    p = kept(file, settings, lambda settings=settings: pvalues(settings))
                    found.setdefault((case, columns, method), []).extend(p)
        tell(f"round {number + 1} of {rounds}: done")
        write(out, n, found, methods)


def write(out: Path, n: int, found: dict, methods: Sequence[str]) -> None:
    share = {key: float(np.mean(np.array(p) <= LEVEL + 1e-12)) for key, p in found.items()}
    rows = [(*key, n, len(found[key]), f"{value:.3f}") for key, value in sorted(share.items())]
    write_csv(out / "conditional.csv", ["case", "columns", "method", "n", "tables", "share"], rows)
    heads = [f"{m}, {d}" for d in (1, 2, 3) for m in methods]
    count = len(next(iter(found.values())))
    lines = [f"n = {n}, {count} tables a cell; method and number of columns in z:", ""]
    lines += [f"| case | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for case in CASES:
        cells = [f"{share[case, d, m]:.2f}" for d in (1, 2, 3) for m in methods]
        lines.append(f"| {case.replace('|', chr(92) + '|')} | {' | '.join(cells)} |")
    (out / "conditional.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small: to see that it runs")
    parser.add_argument("--out", type=Path, help="default: paper/results/conditional_tests")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--tables", type=int, default=20, help="of each case in a round")
    parser.add_argument("--rows", type=int, default=200)
    given = parser.parse_args(words)
    out = given.out or results("conditional_tests", given.quick)
    (out / "cache").mkdir(parents=True, exist_ok=True)
    methods = list(METHODS)
    try:
        import causallearn  # noqa: F401
    except ImportError:
        methods.remove("KCI")
    if given.quick:
        run(out, 1, 2, 60, methods)
    else:
        run(out, given.rounds, given.tables, given.rows, methods)


if __name__ == "__main__":
    main()
