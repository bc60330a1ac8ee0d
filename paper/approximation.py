"""Approximation: how far the fast solvers are from the exact low-rank entropy, and how fast.

    python paper/approximation.py            # resumes where it was stopped
    python paper/approximation.py --quick

Three figures of the paper's supplement. A = Phi Sigma Phi' has eigenvalues i^-c; the relative error
of S_alpha^k is averaged over trials,

- size.csv, size.png: over the size s of projections and the steps of Lanczos, for three decays c;
  with time.csv, the seconds of processor time that each takes on the dense matrix;
- alpha.csv, alpha.png: over the order alpha, at c = 1;
- decay.csv, decay.png: over the decay c, at alpha = 2.

Phi is made of two Walsh-Hadamard transforms with random signs: orthogonal, dense, fast to apply.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
from common import kept, options, picture, tell, trials, write_csv

import lorenyi as lr
from lorenyi.spectra.krylov import Krylov
from lorenyi.spectra.projections import Projection, walsh_hadamard

# ------------------------------------------------------------------------------------ settings


@dataclass(frozen=True)
class Settings:
    """The paper gives n, k, sizes, steps, trials, and the alpha and c of each figure."""

    n: int = 8192
    rank: int = 64
    trials: int = 100
    sizes: tuple[int, ...] = (100, 200, 300, 400, 600, 800, 1000)  # of projections
    steps: tuple[int, ...] = (64, 70, 80, 90, 100, 110)  # of Lanczos
    decays: tuple[float, ...] = (1.5, 1.0, 0.5)
    alpha: float = 1.5
    # Over alpha and over c the paper does not say which s: these are in the middle of the range.
    size: int = 400
    step: int = 90
    alphas: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0)
    alphas_decay: float = 1.0
    every_decay: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
    every_decay_alpha: float = 2.0
    repeats: int = 2  # of each timing


FULL = Settings()
QUICK = Settings(
    n=2048,
    trials=4,
    sizes=(100, 200, 400),
    steps=(64, 80, 110),
    alphas=(0.5, 1.0, 1.5, 2.0, 3.0, 5.0),
    every_decay=(0.0, 0.5, 1.0, 1.5, 2.0),
    repeats=1,
)

PROJECTIONS: dict[str, type[Projection]] = {
    "GRP": lr.GaussianProjection,
    "SRHT": lr.HadamardProjection,
    "IST": lr.InputSparsity,
    "SGS": lr.SparseGraph,  # p = 2
}
METHODS = (*PROJECTIONS, "Lanczos")

# ----------------------------------------------------------------------------------- the matrix


def eigenvalues(n: int, c: float) -> np.ndarray:
    values = np.arange(1, n + 1) ** -c
    return np.asarray(values / values.sum())


class Basis:
    """The orthogonal matrix Phi = D_1 H D_2 H Pi / n: signs, Walsh-Hadamard, twice, and an order.

    One round would not do: its entries are all of one size, so every sampled column holds the same
    share of every eigenvector, and input sparsity (IST) comes out ten times better than it is.
    """

    def __init__(self, n: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.order = n, rng.permutation(n)
        self.signs = rng.choice([-1.0, 1.0], size=(2, n))

    def coordinates(self, V: np.ndarray) -> np.ndarray:
        """Return Phi' V."""
        rows = V.T
        for sign in self.signs:
            rows = walsh_hadamard(rows * sign, self.n)
        return rows[:, self.order].T / self.n

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Return A = Phi diag(values) Phi'."""
        rows = np.empty((self.n, self.n))
        rows[:, self.order] = (values[:, None] * self.coordinates(np.eye(self.n))).T
        for sign in self.signs[::-1]:
            rows = walsh_hadamard(rows, self.n) * sign
        return rows / self.n


@dataclass(frozen=True)
class Diagonal:
    """Sigma itself, for Lanczos: a Gaussian start is Gaussian in every orthogonal basis."""

    values: np.ndarray
    mass: float = 1.0
    roundoff: float = 0.0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def reference(self) -> np.ndarray:
        return self.values

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        return np.asarray(self.values[:, None] * V)


# -------------------------------------------------------------------------------------- a trial


def projected(settings: Settings, seed: int) -> Iterator[tuple[str, float, int, np.ndarray]]:
    """Give method, c, s and the singular values of A P for all projections.

    With F = Phi'P they are the roots of the eigenvalues of F' Sigma^2 F. Columns of P in random
    order: the first s of them, scaled, are a projection of size s, so one P serves all sizes.
    """
    basis, largest = Basis(settings.n, seed), max(settings.sizes)
    shuffled = np.random.default_rng([seed, 1]).permutation(largest)
    for method, solver in PROJECTIONS.items():
        P = solver(largest, seed=seed).matrix(settings.n)
        F = basis.coordinates(P)[:, shuffled]
        for c, sizes in points(settings, settings.sizes, settings.size):
            Y = eigenvalues(settings.n, c)[:, None] * F[:, : max(sizes)]
            moments = Y.T @ Y
            for s in sizes:
                squares = np.linalg.eigvalsh(moments[:s, :s])[::-1][: settings.rank]
                yield method, c, s, np.sqrt(squares * largest / s)


def iterated(settings: Settings, seed: int) -> Iterator[tuple[str, float, int, np.ndarray]]:
    """Give the same for Lanczos: the first s steps of a longer run are a run of s steps."""
    for c, steps in points(settings, settings.steps, settings.step):
        A: Any = Diagonal(eigenvalues(settings.n, c))
        krylov = Krylov(A, 1, max(steps), seed)
        krylov.fill()
        for s in steps:
            ritz = np.linalg.eigvalsh(krylov.projected[:s, :s])
            yield "Lanczos", c, s, ritz[::-1][: settings.rank]


def points(
    settings: Settings, every: Sequence[int], one: int
) -> list[tuple[float, tuple[int, ...]]]:
    """Return each c with its sizes: all of them in the first figure, one in the others."""
    whole = {c: tuple(sorted({*every, one})) for c in settings.decays}
    return [(c, whole.get(c, (one,))) for c in sorted({*settings.every_decay, *whole})]


def trial(settings: Settings, seed: int) -> list[tuple[Any, ...]]:
    """Return figure, method, c, s, alpha, error and sum of values, for all points of all figures.

    The error is relative to the exact S_alpha^k; the sum tells whether values exceed the trace.
    """
    rows = []
    for method, c, s, values in (*projected(settings, seed), *iterated(settings, seed)):
        orders = []
        if c in settings.decays:
            orders += [("size", settings.alpha)]
        if s == (settings.step if method == "Lanczos" else settings.size):
            if c == settings.alphas_decay:
                orders += [("alpha", alpha) for alpha in settings.alphas]
            if c in settings.every_decay:
                orders += [("decay", settings.every_decay_alpha)]
        exact = lr.Spectrum(eigenvalues(settings.n, c))
        kind = "ritz" if method == "Lanczos" else "sketch"
        found = lr.Spectrum(values, settings.n, 1.0, kind)
        for figure, alpha in orders:
            with warnings.catch_warnings():  # that projected values exceed the trace
                warnings.simplefilter("ignore", RuntimeWarning)
                value = float(lr.renyi_entropy(found, alpha, settings.rank))
            truth = float(lr.renyi_entropy(exact, alpha, settings.rank))
            rows.append((figure, method, c, s, alpha, abs(value / truth - 1), float(values.sum())))
    return rows


def times(settings: Settings, key: Settings, out: Path) -> list[list[Any]]:
    """Return method, s and seconds on the dense matrix, best of some; first LAPACK's, for all.

    They are seconds of processor time, which other work on the machine lengthens less.
    """
    values = eigenvalues(settings.n, settings.alphas_decay)
    K: np.ndarray | None = None
    tasks: list[tuple[str, int]] = [("eigvalsh", settings.n)]
    tasks += [(method, s) for method in PROJECTIONS for s in settings.sizes]
    tasks += [("Lanczos", s) for s in settings.steps]
    rows = []
    for method, s in tasks:
        file = out / "cache" / f"time-{method}-{s}.json"

        def seconds(method: str = method, s: int = s) -> float:
            nonlocal K
            K = Basis(settings.n, 0).matrix(values) if K is None else K
            tell(f"timing {method}, s = {s}")
            return best_time(settings, method, s, K)

        rows.append([method, s, kept(file, key, seconds)])
    return rows


def best_time(settings: Settings, method: str, s: int, K: np.ndarray) -> float:
    found = []
    solver: lr.Solver = lr.Lanczos(s) if method == "Lanczos" else lr.Exact()
    if method in PROJECTIONS:
        solver = PROJECTIONS[method](s)
    A = lr.gram(K, lr.Precomputed())
    for _ in range(1 if method == "eigvalsh" else settings.repeats):
        start = time.process_time()
        if method == "eigvalsh":
            scipy.linalg.eigvalsh(K)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                lr.Renyi(settings.alpha, settings.rank, solver)(A)
        found.append(time.process_time() - start)
    return min(found)


# ------------------------------------------------------------------------------ tables, pictures


def write_tables(found: list[list[Any]], out: Path) -> None:
    """Average over trials and write a table for each figure."""
    errors, sums = (np.array([[row[i] for row in rows] for rows in found]) for i in (5, 6))
    head = ["method", "c", "s", "alpha", "mean error", "deviation", "trials", "sums above 1"]
    for figure in ("size", "alpha", "decay"):
        rows = [
            [*point[1:5], f"{e.mean():.4e}", f"{e.std(ddof=1):.4e}", len(e), int((t > 1).sum())]
            for point, e, t in zip(found[0], errors.T, sums.T, strict=True)
            if point[0] == figure
        ]
        write_csv(out / f"{figure}.csv", head, rows)


def curve(rows: list[list[Any]], method: str, x: int, c: float | None = None) -> np.ndarray:
    """Return x, mean and deviation of one method (and one c) as columns, sorted by x."""
    chosen = [r for r in rows if r[0] == method and c in (None, float(r[1]))]
    return np.array(sorted((float(r[x]), float(r[4]), float(r[5])) for r in chosen)).T


def draw_curve(ax: Any, method: str, columns: np.ndarray) -> None:
    """Draw the mean error with a band of a quarter of the standard deviation, as the paper has."""
    x, mean, deviation = columns
    color = f"C{METHODS.index(method)}"
    ax.plot(x, mean, "o-", ms=3, lw=1.2, color=color, label=method)
    ax.fill_between(x, mean - deviation / 4, mean + deviation / 4, color=color, alpha=0.2, lw=0)
    ax.set_yscale("log")


def draw_sizes(figure: Any, rows: list[list[Any]], seconds: list[Any], settings: Settings) -> None:
    axes = figure.subplots(2, 2).ravel()
    for ax, c in zip(axes, settings.decays, strict=False):
        for method in METHODS:
            draw_curve(ax, method, curve(rows, method, 2, c))
        ax.set_title(f"c = {c:g}, $\\alpha$ = {settings.alpha:g}", fontsize=10)
        ax.set_ylabel("relative error")
    for method in METHODS if seconds else ():
        x, y = np.array([(s, t) for name, s, t in seconds if name == method]).T
        axes[-1].plot(x, y, "o-", ms=3, lw=1.2, color=f"C{METHODS.index(method)}")
    if seconds:
        axes[-1].axhline(seconds[0][2], color="0.3", ls="--", lw=1)
        axes[-1].text(64, seconds[0][2], "all eigenvalues, by LAPACK", va="bottom", fontsize=8)
        axes[-1].margins(y=0.12)
    axes[-1].set(yscale="log", ylabel="seconds of processor time")
    axes[-1].set_title("running time", fontsize=10)
    axes[-1].set_visible(bool(seconds))
    for ax in axes:
        ax.set_xscale("log")
        ticks = [64, 100, 200, 400, 1000]
        ax.set_xticks(ticks, [str(t) for t in ticks])
        ax.minorticks_off()
    for ax in axes[2:]:
        ax.set_xlabel("s: columns of the projection, steps of Lanczos")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)


def draw_sweep(figure: Any, rows: list[list[Any]], x: int, xlabel: str, title: str) -> None:
    ax = figure.subplots()
    for method in METHODS:
        draw_curve(ax, method, curve(rows, method, x))
    ax.set(xlabel=xlabel, ylabel="relative error")
    ax.set_title(title, fontsize=10)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=8)


def read_rows(file: Path) -> list[list[Any]]:
    return [line.split(",") for line in file.read_text(encoding="utf-8").splitlines()[1:]]


def draw(settings: Settings, seconds: list[Any], out: Path) -> None:
    """Draw the three figures from their tables."""
    size, alpha, decay = (read_rows(out / f"{name}.csv") for name in ("size", "alpha", "decay"))
    picture(out / "size.png", (8, 6.2), lambda f: draw_sizes(f, size, seconds, settings))
    at = f"s = {settings.size}, Lanczos {settings.step}"
    title = f"c = {settings.alphas_decay:g}, {at}"
    picture(out / "alpha.png", (5, 3.4), lambda f: draw_sweep(f, alpha, 3, "order α", title))
    title = f"α = {settings.every_decay_alpha:g}, {at}"
    picture(out / "decay.png", (5, 3.4), lambda f: draw_sweep(f, decay, 1, "decay c", title))


def run(settings: Settings, out: Path) -> None:
    """Run, or resume, what the settings ask for."""
    same = replace(settings, trials=0, repeats=0)  # more of them leave those made before
    found = trials(out, settings.trials, same, lambda t: trial(settings, t))
    write_tables(found, out)
    draw(settings, [], out)  # the times take long: a picture before, and again after them
    seconds = times(settings, same, out)
    whole = seconds[0][2]
    head = ["method", "s", "seconds", "times faster than eigvalsh"]
    write_csv(
        out / "time.csv", head, [[m, s, f"{t:.4f}", f"{whole / t:.1f}"] for m, s, t in seconds]
    )
    draw(settings, seconds, out)


def main(words: Sequence[str] | None = None) -> None:
    quick, out = options("approximation", __doc__, words)
    run(QUICK if quick else FULL, out)


if __name__ == "__main__":
    main()
