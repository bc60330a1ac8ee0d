"""How often the 95 % interval contains the population's value: a simulation.

python benchmarks/intervals.py [--tables 500]

The population's value is that of many more rows (the same functional, the bandwidth chosen anew).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import lorenyi as lr


def normal_pair(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_normal(n)
    return x, 0.7 * x + np.sqrt(1 - 0.49) * rng.standard_normal(n)


def parabola(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_normal(n)
    return x, x**2 + 0.5 * rng.standard_normal(n)


def label(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, "a", "b")


def table(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.choice(5, n, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    y = np.where(rng.random(n) < 0.6, x, rng.integers(0, 5, n))
    return x.astype(str), y.astype(str)


def heavy(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_t(3, n)
    return x, np.sin(x) + 0.5 * rng.standard_t(3, n)


def mixture(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    k = rng.integers(0, 3, n)
    return np.array([-2.0, 0.0, 3.0])[k] + 0.6 * rng.standard_normal(n), k.astype(str)


def independent(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.standard_normal(n), rng.standard_normal(n)


def independent_ten(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.standard_normal((n, 10)), np.where(rng.random(n) < 0.5, "a", "b")


LAWS = {
    "normal pair, correlation 0.7": normal_pair,
    "parabola with noise": parabola,
    "label of three normal columns": label,
    "two nominal columns": table,
    "heavy tails, a sine": heavy,
    "mixture and its component": mixture,
    "independent, one column each": independent,
    "independent, ten columns and a label": independent_ten,
}


def measures(x: np.ndarray, y: np.ndarray, H: lr.Renyi) -> tuple[lr.Estimate, lr.Estimate]:
    return lr.entropy(x, entropy=H), lr.mutual_information(x, y, entropy=H)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results/coverage.md")
    options = parser.parse_args()
    lines = [
        f"{options.tables} tables in each row. Coverage of the 95 % interval; mean of the standard "
        "error over the standard deviation of the value; bias in standard errors.",
        "",
        "| law | order | n | entropy: coverage | s.e. / s.d. | bias | mutual information: coverage "
        "| s.e. / s.d. | bias |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, law in LAWS.items():
        for alpha in (1, 2):
            H = lr.Renyi(alpha)
            rng = np.random.default_rng(1)
            large = [measures(*law(rng, 12_000), H) for _ in range(6)]
            truth = np.mean([[float(v) for v in pair] for pair in large], axis=0)
            for n in (100, 400):
                rng = np.random.default_rng(2)
                found = [measures(*law(rng, n), H) for _ in range(options.tables)]
                cells = []
                for i in range(2):
                    values = np.array([float(pair[i]) for pair in found])
                    errors = np.array([pair[i].standard_error for pair in found])
                    inside = np.abs(values - truth[i]) <= 1.96 * errors
                    ratio = errors.mean() / values.std()
                    bias = (values.mean() - truth[i]) / values.std()
                    cells += [f"{inside.mean():.2f}", f"{ratio:.2f}", f"{bias:+.1f}"]
                lines.append(f"| {name} | {alpha} | {n} | {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
