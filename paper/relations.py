"""Relations between two variables that tests of dependence are tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

Rng: TypeAlias = np.random.Generator
Draw: TypeAlias = Callable[[Rng, int], tuple[np.ndarray, np.ndarray]]


def _curve(function: Callable[[np.ndarray], np.ndarray], noise: float) -> Draw:
    """y = f(x) + noise, x uniform on [-1, 1]."""

    def draw(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
        x = rng.uniform(-1, 1, n)
        return x, function(x) + noise * rng.normal(size=n)

    return draw


def independent(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=n), rng.normal(size=n)


def independent_heavy(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.standard_cauchy(n), rng.standard_t(2, n)


def independent_discrete(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.poisson(2.0, n), rng.integers(0, 3, n)


def independent_wide(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(n, 5)), rng.normal(size=(n, 2))


def circle(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    t = rng.uniform(0, 2 * np.pi, n)
    return np.cos(t) + 0.3 * rng.normal(size=n), np.sin(t) + 0.3 * rng.normal(size=n)


def spiral(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    u = rng.uniform(0, 4, n)
    x, y = u * np.cos(np.pi * u), u * np.sin(np.pi * u)
    return x + 0.35 * rng.normal(size=n), y + 0.35 * rng.normal(size=n)


def diamond(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    u, v = rng.uniform(-1, 1, (2, n))
    return u + v, u - v


def checkerboard(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    i, j = rng.integers(0, 4, n), rng.integers(0, 2, n)
    x = i + rng.uniform(size=n)
    return x, 2 * j + i % 2 + rng.uniform(size=n) + 0.3 * rng.normal(size=n)


def two_parabolas(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.uniform(-1, 1, n)
    return x, (x**2 + 0.6 * rng.uniform(size=n)) * rng.choice([-1, 1], n)


def multiplicative(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=n)
    return x, (0.4 + np.abs(x)) * rng.normal(size=n)


def cross(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=n)
    return x, 0.6 * x * rng.choice([-1, 1], n) + 0.7 * rng.normal(size=n)


def heavy_linear(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_t(2, n)
    return x, 0.35 * x + rng.standard_t(2, n)


def heavy_quadratic(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_t(3, n)
    return x, np.abs(x) + 1.5 * rng.standard_t(2, n)


def counts(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.poisson(3.0, n)
    return x, rng.poisson(2.0 + 0.4 * np.abs(x - 3.0))


def label_of_number(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=n)
    return x, np.where(rng.random(n) < 0.35, np.abs(x) < 0.67, rng.random(n) < 0.5).astype(int)


def labels(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.integers(0, 5, n)
    return x, np.where(rng.random(n) < 0.25, np.array([2, 0, 3, 1, 4])[x], rng.integers(0, 5, n))


def linear_of_five(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 5))
    return X, 0.4 * X[:, 0] + rng.normal(size=n)


def linear_three_by_three(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    X, Y = rng.normal(size=(2, n, 3))
    Y[:, 0] += 0.45 * X[:, 0]
    return X, Y


def quadratic_of_three(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 3))
    return X, 0.35 * (X[:, 0] ** 2 + X[:, 1] ** 2) + rng.normal(size=n)


def product_of_two(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 2))
    return X, 0.6 * X[:, 0] * X[:, 1] + rng.normal(size=n)


RELATIONS: dict[str, Draw] = {
    "independent": independent,
    "independent, heavy tails": independent_heavy,
    "independent, discrete": independent_discrete,
    "independent, 5 and 2 columns": independent_wide,
    "linear": _curve(lambda x: 0.5 * x, 1.0),
    "cubic": _curve(lambda x: x**3, 1.0),
    "exponential": _curve(lambda x: np.exp(2 * x), 5.0),
    "step": _curve(lambda x: np.sign(x), 2.4),
    "quadratic": _curve(lambda x: x**2, 0.6),
    "W-shape": _curve(lambda x: 4 * (x**2 - 0.5) ** 2, 0.5),
    "sine, one period": _curve(lambda x: np.sin(np.pi * x), 1.6),
    "sine, two periods": _curve(lambda x: np.sin(2 * np.pi * x), 1.2),
    "sine, four periods": _curve(lambda x: np.sin(4 * np.pi * x), 0.7),
    "circle": circle,
    "spiral": spiral,
    "diamond": diamond,
    "checkerboard": checkerboard,
    "two parabolas": two_parabolas,
    "multiplicative noise": multiplicative,
    "cross": cross,
    "linear, heavy tails": heavy_linear,
    "absolute value, heavy tails": heavy_quadratic,
    "counts": counts,
    "label of a number": label_of_number,
    "labels": labels,
    "linear, 1 of 5 columns": linear_of_five,
    "linear, 3 by 3 columns": linear_three_by_three,
    "quadratic, 2 of 3 columns": quadratic_of_three,
    "product of 2 columns": product_of_two,
}


# ------------------------------------------------------------------------------- fresh ones
# Views and their combination were chosen on the relations above. These were written down before
# anything was run on them, and nothing was chosen by them.


def sawtooth(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.uniform(-1, 1, n)
    return x, (2 * x) % 1 + 0.5 * rng.normal(size=n)


def line_or_nothing(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=n)
    return x, x * rng.integers(0, 2, n) + 0.7 * rng.normal(size=n)


def four_clusters(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    k = rng.integers(0, 4, n)
    x, y = np.array([1, -1, 0, 0])[k], np.array([0, 0, 1, -1])[k]
    return x + 0.45 * rng.normal(size=n), y + 0.45 * rng.normal(size=n)


def noise_steps(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=n)
    return x, (1 + 0.9 * (x > 0)) * rng.normal(size=n)


def lower_tail(rng: Rng, n: int, theta: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """Clayton's copula with exponential margins."""
    u, v = rng.uniform(size=(2, n))
    w = (1 + u**-theta * (v ** (-theta / (1 + theta)) - 1)) ** (-1 / theta)
    return -np.log(u), -np.log(w)


def poisson_regression(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=n)
    return x, rng.poisson(np.exp(0.25 * x + 0.5))


def ordered_levels(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=n)
    return x, np.digitize(0.35 * x + rng.normal(size=n), [-1.0, -0.3, 0.3, 1.0])


def chirp(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.uniform(0, 1, n)
    return x, np.sin(6 * np.pi * x**2) + 0.9 * rng.normal(size=n)


def growing_heavy_noise(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=n)
    return x, 0.3 * x + (0.6 + 0.4 * np.abs(x)) * rng.standard_t(3, n)


def means_of_levels(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    k = rng.integers(0, 4, n)
    return k, np.array([0.5, -0.4, 0.3, -0.4])[k] + rng.normal(size=n)


def two_of_four(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 4))
    return X, np.tanh(X[:, 0] + X[:, 1]) + 1.3 * rng.normal(size=n)


def length_of_three(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 3))
    return X, np.linalg.norm(X, axis=1) + 0.9 * rng.normal(size=n)


def square_in_four_by_four(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    X, Y = rng.normal(size=(2, n, 4))
    Y[:, 0] += 0.7 * X[:, 1] ** 2
    return X, Y


FRESH: dict[str, Draw] = {
    "fresh: logarithm": _curve(lambda x: 0.5 * np.log(np.abs(x) + 0.05), 0.9),
    "fresh: bump": _curve(lambda x: np.exp(-((6 * x) ** 2)), 0.35),
    "fresh: sawtooth": sawtooth,
    "fresh: line or nothing": line_or_nothing,
    "fresh: four clusters": four_clusters,
    "fresh: noise in two steps": noise_steps,
    "fresh: lower tail": lower_tail,
    "fresh: Poisson regression": poisson_regression,
    "fresh: ordered levels": ordered_levels,
    "fresh: chirp": chirp,
    "fresh: growing heavy noise": growing_heavy_noise,
    "fresh: means of levels": means_of_levels,
    "fresh: 2 of 4 columns": two_of_four,
    "fresh: length of 3 columns": length_of_three,
    "fresh: square in 4 by 4 columns": square_in_four_by_four,
}
RELATIONS.update(FRESH)
