"""How good is the test of independence? Level and power against others, relation by relation.

    python paper/dependence_tests.py                 # as many rounds as asked for, resuming
    python paper/dependence_tests.py --quick         # one small round, to see that it runs

A round draws some tables of each relation at each number of rows and tests them by each method at
the level of 5 %, with 99 permutations. Rounds that were run before are read from the cache, so more
of them can be added. HSIC, Dcorr and MGC are hyppo's (with permutations, not its approximations),
dCor is dcor's, KCI causal-learn's (with its gamma approximation), KSG a nearest-neighbor estimate
of mutual information with permutations; methods whose package is missing are left out. Writes
power.csv, power.md and power.png to --out.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import kept, picture, results, tell, write_csv
from relations import RELATIONS
from scipy.special import digamma

import lorenyi as lr

LEVEL = 0.05
PERMUTATIONS = 99


@dataclass(frozen=True)
class Round:
    """So many tables of one relation, tested by one method."""

    relation: str
    method: str
    n: int
    tables: int
    number: int
    permutations: int = PERMUTATIONS


# --------------------------------------------------------------------------------------- methods


def ours(x: np.ndarray, y: np.ndarray, seed: int) -> float:
    return lr.independence_test(x, y, permutations=PERMUTATIONS, seed=seed, level=None).pvalue


def by_hyppo(name: str) -> Callable[[np.ndarray, np.ndarray, int], float]:
    def test(x: np.ndarray, y: np.ndarray, seed: int) -> float:
        import hyppo.independence

        found = getattr(hyppo.independence, name)()
        options = {} if name == "MGC" else {"auto": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(
                found.test(
                    _columns(x),
                    _columns(y),
                    reps=PERMUTATIONS,
                    workers=1,
                    random_state=seed,
                    **options,
                )[1]
            )

    return test


def by_dcor(x: np.ndarray, y: np.ndarray, seed: int) -> float:
    import dcor

    found = dcor.independence.distance_covariance_test(
        _columns(x), _columns(y), num_resamples=PERMUTATIONS, random_state=seed
    )
    return float(found.pvalue)


def by_kci(x: np.ndarray, y: np.ndarray, seed: int) -> float:
    from causallearn.utils.KCI.KCI import KCI_UInd

    return float(KCI_UInd().compute_pvalue(_columns(x), _columns(y))[0])


def by_neighbors(x: np.ndarray, y: np.ndarray, seed: int, k: int = 5) -> float:
    """Test by the estimate of Kraskov, Stoegbauer and Grassberger (their first), permuted."""
    rng = np.random.default_rng(seed)
    jitter = 1e-10  # ties are broken at random, as they advise
    dx, dy = (_largest(_columns(v) + jitter * rng.normal(size=(len(v), 1))) for v in (x, y))

    def information(order: np.ndarray) -> float:
        moved = dy[np.ix_(order, order)]
        reach = np.partition(np.maximum(dx, moved), k - 1, axis=1)[:, k - 1 : k]
        return -float(
            np.mean(
                digamma((dx < reach).sum(axis=1) + 1) + digamma((moved < reach).sum(axis=1) + 1)
            )
        )

    observed = information(np.arange(len(x)))
    null = [information(rng.permutation(len(x))) for _ in range(PERMUTATIONS)]
    return (1 + sum(value >= observed for value in null)) / (1 + PERMUTATIONS)


def _columns(x: np.ndarray) -> np.ndarray:
    return np.asarray(x, dtype=np.float64).reshape(len(x), -1)


def _largest(X: np.ndarray) -> np.ndarray:
    """Return distances in the maximum norm of standardized columns, infinite to oneself."""
    X = X / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    distance = np.abs(X[:, None] - X[None]).max(axis=2)
    np.fill_diagonal(distance, np.inf)
    return distance


METHODS: dict[str, Callable[[np.ndarray, np.ndarray, int], float]] = {
    "lorenyi": ours,
    "HSIC": by_hyppo("Hsic"),
    "Dcorr": by_hyppo("Dcorr"),
    "dCor": by_dcor,
    "KCI": by_kci,
    "KSG": by_neighbors,
    "MGC": by_hyppo("MGC"),
}


def available(names: Sequence[str]) -> list[str]:
    """Return the methods whose packages are there."""
    x = np.random.default_rng(0).normal(size=20)
    there = []
    for name in names:
        try:
            METHODS[name](x, x, 0)
            there.append(name)
        except ImportError as missing:
            tell(f"without {name}: {missing}")
    return there


# ----------------------------------------------------------------------------------------- rounds


def pvalues(settings: Round) -> list[float]:
    found = []
    for t in range(settings.tables):
        table = settings.number * settings.tables + t
        rng = np.random.default_rng([table, settings.n, sum(map(ord, settings.relation))])
        x, y = RELATIONS[settings.relation](rng, settings.n)
        found.append(METHODS[settings.method](x, y, table))
    return found


def run(
    out: Path,
    rounds: int,
    tables: int,
    sizes: Sequence[int],
    methods: Sequence[str],
    relations: Sequence[str] = tuple(RELATIONS),
) -> None:
    for number in range(rounds):
        for n in sizes:
            for relation in relations:
                for method in methods:
                    settings = Round(relation, method, n, tables, number)
                    name = f"{relation}-{n}-{method}-{number}.json".replace(" ", "_")
                    kept(
                        out / "cache" / name, settings, lambda settings=settings: pvalues(settings)
                    )
            tell(f"round {number + 1} of {rounds}, n = {n}: done")
            write(out, gathered(out))


def gathered(out: Path) -> dict[tuple[str, int, str], list[float]]:
    """Return the p-values of all rounds in the cache, of this call and of others."""
    found: dict[tuple[str, int, str], list[float]] = {}
    for file in sorted((out / "cache").glob("*.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        key = content["key"]
        cell = (key["relation"], key["n"], key["method"])
        found.setdefault(cell, []).extend(content["result"])
    return found


def power(p: Sequence[float]) -> float:
    """Return the share that is significant; NaN where nothing was tested."""
    return float(np.mean(np.where(np.isnan(p), np.nan, np.array(p) <= LEVEL + 1e-12)))


def write(out: Path, found: dict[tuple[str, int, str], list[float]]) -> None:
    rows = [(*key, len(p), f"{power(p):.3f}") for key, p in sorted(found.items())]
    write_csv(out / "power.csv", ["relation", "n", "method", "tables", "power"], rows)
    sizes = sorted({n for _, n, _ in found})
    lines = []
    for n in sizes:
        cells = {(r, m): p for (r, size, m), p in found.items() if size == n}
        methods = [m for m in METHODS if ("independent", m) in cells]
        counts = ", ".join(f"{m} {len(cells['independent', m])}" for m in methods)
        lines += [f"n = {n}; tables a cell: {counts}.", ""]
        lines += [f"| relation | {' | '.join(methods)} |", "| --- |" + " ---: |" * len(methods)]
        for relation in (r for r in RELATIONS if any((r, m) in cells for m in methods)):
            values = [power(cells.get((relation, m), [np.nan])) for m in methods]
            lines.append(f"| {relation} | {' | '.join(f'{v:.2f}' for v in values)} |")
        lines += [_summary(cells, methods), "", *_within(cells, methods), ""]
    (out / "power.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    _draw(out / "power.png", found, [m for m in METHODS if any(m in key for key in found)], sizes)


def _summary(cells: dict[tuple[str, str], list[float]], methods: Sequence[str]) -> str:
    """Return a row with the mean power over the relations that are none of independence."""
    means = []
    for m in methods:
        powers = [power(p) for (r, method), p in cells.items() if method == m and "indep" not in r]
        means.append(f"**{np.mean(powers):.2f}**" if powers else "")
    return f"| **mean of the dependent** | {' | '.join(means)} |"


def _within(cells: dict[tuple[str, str], list[float]], methods: Sequence[str]) -> list[str]:
    """Return sentences on where a method is ahead of ours by more than two standard errors."""
    lines = []
    for name, fresh in (("", False), (" fresh", True)):
        tested = {r for r, m in cells if m == "lorenyi" and "indep" not in r}
        tested = sorted(r for r in tested if r.startswith("fresh") == fresh)
        behind = []
        for relation in tested:
            there = {m: cells[relation, m] for m in methods if (relation, m) in cells}
            ahead = [m for m in there if is_ahead(there[m], there["lorenyi"])]
            if ahead:
                best = max(ahead, key=lambda m: power(there[m]))
                behind.append(f"{relation.removeprefix('fresh: ')} ({best})")
        if tested:
            best = f"{len(tested) - len(behind)} of {len(tested)}{name} relations"
            lines.append(
                f"No method is ahead of ours by more than two standard errors in {best}"
                + (f"; behind: {', '.join(behind)}." if behind else ".")
            )
    return lines


def is_ahead(one: Sequence[float], other: Sequence[float]) -> bool:
    """Tell whether the power by some p-values is above that by others, two standard errors off."""
    both = power([*one, *other])  # were they equal: a share of 1 in few tables is not certain
    error = np.sqrt(both * (1 - both) * (1 / len(one) + 1 / len(other)))
    return power(one) - power(other) > 2 * error


def _draw(file: Path, found: dict, methods: Sequence[str], sizes: Sequence[int]) -> None:
    names = [r for r in RELATIONS if any(key[0] == r for key in found)]

    def draw(figure) -> None:
        axes = figure.subplots(1, len(sizes), squeeze=False)[0]
        for ax, n in zip(axes, sizes, strict=True):
            grid = [[power(found.get((r, n, m), [np.nan])) for m in methods] for r in names]
            image = ax.imshow(grid, vmin=0, vmax=1, cmap="viridis", aspect="auto")
            ax.set_xticks(range(len(methods)), methods, rotation=40, ha="right")
            ax.set_yticks(range(len(names)), names if ax is axes[0] else [""] * len(names))
            ax.set_title(f"n = {n}")
        figure.colorbar(image, ax=axes.tolist(), label="share detected at the level of 5 %")

    picture(file, (3.0 + 2.6 * len(sizes), 0.9 + 0.23 * len(names)), draw)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small: to see that it runs")
    parser.add_argument("--out", type=Path, help="default: paper/results/dependence_tests")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--tables", type=int, default=20, help="of each relation in a round")
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--relations", nargs="+", default=list(RELATIONS), choices=list(RELATIONS))
    given = parser.parse_args(words)
    out = given.out or results("dependence_tests", given.quick)
    (out / "cache").mkdir(parents=True, exist_ok=True)
    methods = available(given.methods)
    if given.quick:
        run(out, 1, 2, [30], methods)
    else:
        run(out, given.rounds, given.tables, given.sizes, methods, given.relations)


if __name__ == "__main__":
    main()
