"""Robustness: what noise in the data does to the eigenvalues, and to the entropy.

    python paper/robustness.py [--quick]

One figure of the paper: x_i ~ N(0, 0.1^2) in d dimensions, linear kernel, y_i = x_i + eps p_i for
four laws of p with mean 0 and variance 1.

- eigenvalues.csv: the change mu_i - lambda_i of each eigenvalue in the first trial, and its
  standard deviation over trials; correlation.csv: how far the changes are from independent;
- deviations.csv: the standard deviation over trials of S_alpha and S_alpha^k (times n), and of
  their information potentials, over alpha;
- robustness.png: both, for each law.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import options, picture, write_csv

import lorenyi as lr

# ------------------------------------------------------------------------------------ settings


@dataclass(frozen=True)
class Settings:
    """The paper gives n, d, eps, the spread of x and the trials; alphas and ranks are choices."""

    n: int = 100
    d: int = 400
    spread: float = 0.1
    eps: float = 0.01
    trials: int = 100
    alphas: tuple[float, ...] = tuple(np.linspace(0.1, 3.0, 30).round(2).tolist())
    ranks: tuple[int | None, ...] = (5, 10, 20, 50, None)  # None: all eigenvalues
    seed: int = 0


FULL = Settings()
QUICK = Settings(alphas=(0.1, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0, 2.5, 3.0))

Law = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
LAWS: dict[str, Law] = {
    "Gaussian": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-(3**0.5), 3**0.5, size=shape),
    "Student t(3)": lambda rng, shape: rng.standard_t(3, size=shape) / 3**0.5,
    "Rademacher": lambda rng, shape: rng.choice([-1.0, 1.0], size=shape),
}

# ----------------------------------------------------------------------------------- the numbers


def spectrum(X: np.ndarray) -> np.ndarray:
    return np.asarray(lr.Exact()(lr.gram(X, lr.Linear())).values)


def perturbed(settings: Settings, law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues without noise, and those of each trial as rows."""
    rng = np.random.default_rng(settings.seed)
    X = settings.spread * rng.normal(size=(settings.n, settings.d))
    noisy = [spectrum(X + settings.eps * law(rng, X.shape)) for _ in range(settings.trials)]
    return spectrum(X), np.array(noisy)


def deviations(
    noisy: np.ndarray, alphas: Sequence[float], rank: int | None
) -> list[tuple[float, float]]:
    """Return the standard deviation over trials of entropy and potential, for each alpha.

    The entropy's is multiplied by n, as in the paper's figure; its theorem is about the potential
    sum_i mu_i^alpha.
    """
    spectra = [lr.Spectrum(values) for values in noisy]
    found = []
    for a in alphas:
        bits = [lr.renyi_entropy(s, a, rank) for s in spectra]
        potentials = [lr.information_potential(s, a, rank) for s in spectra]
        spread = noisy.shape[1] * np.std(bits, ddof=1), np.std(potentials, ddof=1)
        found.append((float(spread[0]), float(spread[1])))
    return found


def correlation(change: np.ndarray) -> tuple[float, float]:
    """Return the mean absolute correlation of neighbours, and of all pairs, over trials."""
    table = np.corrcoef(change.T)
    n = len(table)
    neighbours = np.abs(np.diag(table, 1)).mean()
    return float(neighbours), float((np.abs(table).sum() - n) / (n * n - n))


# ------------------------------------------------------------------------------ tables, pictures

Rows = list[list[Any]]


def run(settings: Settings, out: Path) -> None:
    """Compute, write and draw."""
    eigenvalues: Rows = []
    correlations: Rows = []
    entropies: Rows = []
    for name, law in LAWS.items():
        clean, noisy = perturbed(settings, law)
        change = noisy - clean
        for i in range(settings.n):
            numbers = (clean[i], change[0, i], change[:, i].mean(), change[:, i].std(ddof=1))
            eigenvalues.append([name, i + 1, *(f"{v:.6g}" for v in numbers)])
        correlations.append([name, *(f"{v:.3f}" for v in correlation(change))])
        for rank in settings.ranks:
            found = deviations(noisy, settings.alphas, rank)
            pairs = zip(settings.alphas, found, strict=True)
            entropies += [
                [name, rank or "", a, f"{bits:.6g}", f"{p:.6g}"] for a, (bits, p) in pairs
            ]
    head = ["law", "i", "eigenvalue", "change", "mean change", "deviation"]
    write_csv(out / "eigenvalues.csv", head, eigenvalues)
    write_csv(out / "correlation.csv", ["law", "neighbours", "all pairs"], correlations)
    head = ["law", "rank", "alpha", "n * deviation of entropy", "deviation of potential"]
    write_csv(out / "deviations.csv", head, entropies)
    picture(out / "robustness.png", (10, 5), lambda f: draw(f, settings, eigenvalues, entropies))


def draw(figure: Any, settings: Settings, eigenvalues: Rows, entropies: Rows) -> None:
    axes = figure.subplots(2, len(LAWS), sharey="row")
    for (upper, lower), name in zip(axes.T, LAWS, strict=True):
        change = [float(row[3]) for row in eigenvalues if row[0] == name]
        upper.plot(range(1, len(change) + 1), change, ".", ms=3, color="0.25")
        upper.axhline(0, color="0.6", lw=0.8)
        upper.set_title(name, fontsize=10)
        upper.set_xlabel("i")
        for i, rank in enumerate(settings.ranks):
            chosen = [row[2:4] for row in entropies if row[:2] == [name, rank or ""]]
            look = {"color": f"C{i}", "label": f"k = {rank}"}
            if rank is None:
                look = {"color": "k", "ls": "--", "label": "all"}
            lower.plot(*np.array(chosen, dtype=float).T, lw=1.4, **look)
        lower.set_xlabel("order α")
    axes[0, 0].set_ylabel(r"$\mu_i - \lambda_i$, one trial")
    axes[1, 0].set_ylabel("n x deviation of S (bits)")
    axes[1, 0].legend(fontsize=8, loc="upper left")


def main(words: Sequence[str] | None = None) -> None:
    quick, out = options("robustness", __doc__, words)
    run(QUICK if quick else FULL, out)


if __name__ == "__main__":
    main()
