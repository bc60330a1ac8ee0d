"""Intuition: what the rank, the order and the decay of the eigenvalues do to the entropy.

    python paper/intuition.py [--quick]

Two figures of the paper, without any randomness. The n eigenvalues are exp(-r i / n), normalized.

- spectrum.csv, rank.csv, rank.png: the altered spectrum L_k for some ranks k, as values and as
  their running sum; and S_alpha^k over k for some decays r, falling to S_alpha;
- alpha.csv, decay.csv, sweeps.png: S_alpha^k over alpha, and over r, for some k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import options, picture, write_csv

import lorenyi as lr

# ------------------------------------------------------------------------------------ settings


@dataclass(frozen=True)
class Settings:
    """The paper gives n, the spectrum, and alpha from 0 to 2; the rest are choices."""

    n: int = 1000
    decay: float = 10.0  # r where it does not vary
    alpha: float = 1.0  # where it does not vary
    ranks: tuple[int, ...] = (10, 50, 100, 200, 400)
    decays: tuple[float, ...] = (1.0, 3.0, 10.0, 30.0, 100.0)
    every_rank: tuple[int, ...] = (*range(1, 20), *range(20, 1000, 10), 999)
    every_alpha: tuple[float, ...] = tuple(np.linspace(0.0, 2.0, 81).round(3).tolist())
    every_decay: tuple[float, ...] = tuple(np.geomspace(0.1, 1000.0, 81).tolist())


FULL = QUICK = Settings()  # it takes a few seconds

# ----------------------------------------------------------------------------------- the numbers


def spectrum(n: int, r: float) -> lr.Spectrum:
    values = np.exp(-r * np.arange(1, n + 1) / n)
    return lr.Spectrum(values / values.sum())


def altered(n: int, r: float, rank: int | None) -> np.ndarray:
    """Return the n values of L_k, one by one."""
    whole = spectrum(n, r)
    if rank is None:
        return np.asarray(whole.values)
    low = whole.low_rank(rank)
    return np.repeat(np.asarray(low.values), np.asarray(low.counts).astype(int))


def entropy(settings: Settings, alpha: float, r: float, rank: int | None) -> float:
    return float(lr.renyi_entropy(spectrum(settings.n, r), alpha, rank))


Rows = list[list[Any]]


def tables(settings: Settings) -> dict[str, tuple[list[str], Rows]]:
    """Return head and rows of the four tables; a rank of "" stands for all eigenvalues."""
    s, ranks = settings, (*settings.ranks, None)
    spectra: Rows = []
    for k in ranks:
        values = altered(s.n, s.decay, k)
        sums = np.cumsum(values)
        corners = [*range(1, k + 2), s.n] if k else range(1, s.n + 1)  # after k all are equal
        spectra += [[k or "", i, float(values[i - 1]), float(sums[i - 1])] for i in corners]
    over_rank = [
        [r, k or "", entropy(s, s.alpha, r, k)] for r in s.decays for k in (*s.every_rank, None)
    ]
    over_alpha = [
        [k or "", alpha, entropy(s, alpha, s.decay, k)] for k in ranks for alpha in s.every_alpha
    ]
    over_decay = [[k or "", r, entropy(s, s.alpha, r, k)] for k in ranks for r in s.every_decay]
    return {
        "spectrum": (["rank", "i", "eigenvalue", "running sum"], spectra),
        "rank": (["decay", "rank", "entropy"], over_rank),
        "alpha": (["rank", "alpha", "entropy"], over_alpha),
        "decay": (["rank", "decay", "entropy"], over_decay),
    }


# ---------------------------------------------------------------------------------- the pictures


def lines(rows: Rows, x: int, y: int) -> dict[Any, np.ndarray]:
    """Return x and y of each group of rows (the first column tells which)."""
    groups = dict.fromkeys(row[0] for row in rows)
    return {g: np.array([(row[x], row[y]) for row in rows if row[0] == g]).T for g in groups}


def draw_lines(ax: Any, rows: Rows, x: int, y: int, **style: Any) -> None:
    """Draw a line for each rank; black and dashed for all eigenvalues."""
    for i, (k, points) in enumerate(lines(rows, x, y).items()):
        look = {"color": f"C{i}", "label": f"k = {k}"} if k else {"color": "k", "label": "all"}
        ax.plot(*points, **{"lw": 1.4, "ls": "-" if k else "--", **look, **style})


def draw_ranks(figure: Any, settings: Settings, rows: dict[str, Rows]) -> None:
    left, right = figure.subplots(1, 2)
    draw_lines(left, rows["spectrum"], 1, 2)
    sums = left.twinx()
    draw_lines(sums, rows["spectrum"], 1, 3, ls=":", lw=1.1)
    left.set(yscale="log", xlabel="i", ylabel="eigenvalue of $L_k$ (solid)")
    sums.set(ylim=(0, 1.02), ylabel="running sum (dotted)")
    left.set_title(f"r = {settings.decay:g}", fontsize=10)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=6, fontsize=8)
    for i, r in enumerate(settings.decays):
        of_r = [row for row in rows["rank"] if row[0] == r]
        points = np.array([row[1:] for row in of_r if row[1] != ""]).T
        right.plot(*points, color=f"C{i}", lw=1.4)
        right.axhline(of_r[-1][2], color=f"C{i}", lw=0.9, ls="--")
        place = (settings.n, of_r[-1][2])
        right.text(*place, f"r = {r:g}", color=f"C{i}", ha="right", va="bottom", fontsize=8)
    right.margins(y=0.1)
    right.set(xlabel="rank k", ylabel=f"entropy at α = {settings.alpha:g} (bits)")
    right.set_title("$S^k$ (solid) falls to S (dashed)", fontsize=10)


def draw_sweeps(figure: Any, settings: Settings, rows: dict[str, Rows]) -> None:
    left, right = figure.subplots(1, 2)
    draw_lines(left, rows["alpha"], 1, 2)
    left.set(xlabel="order α", ylabel="entropy (bits)")
    left.set_title(f"r = {settings.decay:g}", fontsize=10)
    draw_lines(right, rows["decay"], 1, 2)
    right.set(xscale="log", xlabel="decay r", ylabel="entropy (bits)")
    right.set_title(f"α = {settings.alpha:g}", fontsize=10)
    right.legend(fontsize=8, loc="upper right")


def run(settings: Settings, out: Path) -> None:
    """Compute, write and draw."""
    found = tables(settings)
    for name, (head, rows) in found.items():
        short = [[f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows]
        write_csv(out / f"{name}.csv", head, short)
    rows = {name: table for name, (_, table) in found.items()}
    picture(out / "rank.png", (8.5, 3.4), lambda f: draw_ranks(f, settings, rows))
    picture(out / "sweeps.png", (8.5, 3.4), lambda f: draw_sweeps(f, settings, rows))


def main(words: Sequence[str] | None = None) -> None:
    quick, out = options("intuition", __doc__, words)
    run(QUICK if quick else FULL, out)


if __name__ == "__main__":
    main()
