"""The plain call: measures with nothing said, against all eigenvalues and against themselves."""

from __future__ import annotations

import math
import time

import numpy as np
import scipy.linalg
from measuring import RATES, Result, against, median_time, peak_memory, share

import lorenyi as lr

# ------------------------------------------------------------------------------- data


def normal(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal columns, and a label that depends on the first."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, "a", "b")


def heavy(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(n, 5))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, "a", "b")


def clusters(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 8, n)
    return rng.standard_normal((8, 6))[y] * 2 + 0.5 * rng.standard_normal((n, 6)), y.astype(str)


def letters(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Like the letter table: 16 whole numbers from 0 to 15, 26 classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 26, n)
    X = rng.uniform(3, 12, (26, 16))[y] + 2.2 * rng.standard_normal((n, 16))
    return np.clip(np.round(X), 0, 15).astype(int), y.astype(str)


def embeddings(n: int, d: int = 768) -> np.ndarray:
    """Unit vectors in float32 with a spectrum that falls like those of language models."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.arange(1, d + 1) ** -0.6
    X = X @ np.linalg.qr(rng.standard_normal((d, d)))[0] + 0.3
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


# ------------------------------------------------------------------------------- rivals


def all_eigenvalues(X: np.ndarray, y: np.ndarray, sigma: float) -> float:
    """Mutual information of order 1 as one would write it: three kernel matrices, eigvalsh."""
    square = np.sum(X * X, axis=1)
    K = np.exp(-np.maximum(square[:, None] + square[None] - 2 * X @ X.T, 0) / (2 * sigma**2))
    L = (y[:, None] == y[None]).astype(float)
    return bits(K) + bits(L) - bits(K * L)


def bits(K: np.ndarray) -> float:
    values = scipy.linalg.eigvalsh(K / len(K), overwrite_a=True, check_finite=False)
    values = values[values > 1e-15]
    return float(-np.sum(values * np.log2(values)))


def sigma_of(X: np.ndarray) -> float:
    return float(lr.gram(X).factors[0].kernel.sigma)


# ------------------------------------------------------------------------------- tasks


def against_all(name: str, X: np.ndarray, y: np.ndarray, least: float | None, runs: int) -> Result:
    seconds, found = median_time(lambda: lr.mutual_information(X, y), runs)
    rival = lambda: all_eigenvalues(X.astype(float), y, sigma_of(X))  # noqa: E731
    theirs, exact = median_time(rival, runs if len(X) <= 2_000 else 1)
    off = abs(float(found) - exact) / found.standard_error
    row = Result(
        f"mutual_information(X, y), {name}",
        "NumPy kernels, scipy eigvalsh of A, B and the joint",
        seconds,
        theirs,
        accuracy=f"{found.value:.4f} ± {found.standard_error:.4f} bits, {off:.2f} standard errors "
        "from exact",
        limit=share(seconds, 2.0 * len(X) ** 2 * 500, RATES["gemm32"], "products of 500 columns"),
    )
    against(row, least or 1.0)
    row.met = bool(row.met and off <= 0.2)
    return row


def default_call(runs: int) -> list[Result]:
    return [
        against_all(f"standard normal, d = 10, label, n = {n}", *normal(n, 10), least, runs)
        for n, least in ((2_000, 3), (10_000, 30))
    ]


def other_data(runs: int) -> list[Result]:
    n = 5_000
    tables = {
        f"standard normal, d = 3, n = {n}": normal(n, 3),
        f"standard normal, d = 50, n = {n}": normal(n, 50),
        f"heavy tails, d = 5, n = {n}": heavy(n),
        f"clusters, d = 6, n = {n}": clusters(n),
        f"like letters, d = 16, 26 classes, n = {n}": letters(n),
    }
    return [against_all(name, X, y, None, runs) for name, (X, y) in tables.items()]


def large(runs: int) -> list[Result]:
    results, before = [], None
    for n, aim in ((10_000, None), (100_000, 10), (1_000_000, 60)):
        X, y = normal(n, 10)
        seconds, found = median_time(lambda: lr.mutual_information(X, y), 1)
        row = Result(
            f"mutual_information(X, y), standard normal, d = 10, label, n = {n}",
            "-" if before is None else f"itself at n = {before[0]}",
            seconds,
            accuracy=f"{found.value:.5f} ± {found.standard_error:.5f} bits, computed to "
            f"{found.computing_error:.0e}",
            limit=share(seconds, 2.0 * n * 1024**2 * 2, RATES["gemm64"], "moments of 1024 columns"),
        )
        if before is not None:
            exponent = math.log(seconds / before[1]) / math.log(n / before[0])
            row.need, row.met = (
                "exponent <= 1.1, < 2 GB",
                bool(exponent <= 1.1 and peak_memory() < 2 * 2**30),
            )
            row.accuracy += f", exponent {exponent:.2f}, aim {aim} s"
        before = (n, seconds)
        results.append(row)
    return results


def letter_table(runs: int) -> list[Result]:
    X, y = letters(20_000)
    seconds, found = median_time(lambda: lr.mutual_information(X, y), runs)
    said = f"{found.value:.4f} ± {found.standard_error:.4f} bits, computed to"
    task = "mutual_information(X, y), like letters, d = 16, 26 classes, n = 20,000"
    return [Result(task, "-", seconds, accuracy=f"{said} {found.computing_error:.0e}")]


def embedded(runs: int) -> list[Result]:
    from vendi_score import vendi

    results = []
    X = embeddings(20_000)
    A = lr.gram(X, lr.Cosine())
    ours, found = median_time(lambda: lr.Renyi()(lr.gram(X, lr.Cosine())), runs)
    theirs, score = median_time(lambda: vendi.score_dual(X.astype(float)), 1)
    off = abs(float(found) - math.log2(score))
    row = Result(
        "entropy of embeddings, 20,000 x 768, cosine",
        "vendi-score score_dual",
        ours,
        theirs,
        accuracy=f"difference {off:.1e} bits, standard error {found.standard_error:.1e}",
        limit=share(ours, 2.0 * len(A) * 768**2, RATES["gemm64"], "X'X"),
    )
    results.append(against(row, 1))
    X = X[:5_000]
    sigma = sigma_of(X)
    square = np.sum(X.astype(float) ** 2, axis=1)

    def rival() -> float:
        D = square[:, None] + square[None] - 2 * X.astype(float) @ X.T.astype(float)
        return float(vendi.score_K(np.exp(-np.maximum(D, 0) / (2 * sigma**2))))

    ours, found = median_time(lambda: lr.entropy(X), runs)
    theirs, score = median_time(rival, 1)
    off = abs(float(found) - math.log2(score)) / found.standard_error
    row = Result(
        "entropy of embeddings, 5,000 x 768, median Gaussian",
        "vendi-score score_K",
        ours,
        theirs,
        accuracy=f"{off:.2f} standard errors from exact",
    )
    results.append(against(row, 1))
    X = embeddings(20_000)
    ours, found = median_time(lambda: lr.entropy(X), 1)
    said = f"{found.value:.4f} ± {found.standard_error:.4f} bits, computed to"
    task = "entropy of embeddings, 20,000 x 768, median Gaussian"
    results.append(Result(task, "-", ours, accuracy=f"{said} {found.computing_error:.0e}"))
    return results


def by_pairs(runs: int) -> list[Result]:
    X, y = normal(1_000_000, 10)
    H = lr.Renyi(2)
    seconds, found = median_time(lambda: lr.mutual_information(X, y, entropy=H), runs)
    sigma = sigma_of(X)
    start = time.perf_counter()
    few = lr.mutual_information(
        lr.gram(X[:10_000], lr.Gaussian(sigma)), lr.gram(y[:10_000]), entropy=lr.CollisionEntropy()
    )
    rival = time.perf_counter() - start
    low, high = found.interval()
    inside = low - 2 * few.standard_error <= few <= high + 2 * few.standard_error
    row = Result(
        "mutual_information(X, y, entropy=Renyi(2)), d = 10, n = 10^6",
        "all pairs of 10^4 of the rows",
        seconds,
        rival,
        need="< 2 s",
        met=bool(seconds < 2 and inside),
        accuracy=f"{found.value:.5f} ± {found.standard_error:.5f} bits; of 10^4 rows "
        f"{few.value:.4f} ± {few.standard_error:.4f}",
    )
    return [row]


def proof(runs: int) -> list[Result]:
    X, _ = normal(10_000, 10)
    H = lr.Renyi(1, solver=lr.Auto(tol=1e-2))
    sigma = sigma_of(X)
    seconds, found = median_time(lambda: H.certified(lr.gram(X, lr.Gaussian(sigma))), runs)
    square = np.sum(X * X, axis=1)

    def rival() -> float:
        D = square[:, None] + square[None] - 2 * X @ X.T
        return bits(np.exp(-np.maximum(D, 0) / (2 * sigma**2)))

    theirs, exact = median_time(rival, 1)
    row = Result(
        "entropy with a proof to 0.01 bits, n = 10^4, d = 10, median bandwidth",
        "scipy eigvalsh",
        seconds,
        theirs,
        accuracy=f"width {found.width:.1e} bits, exact inside: {exact in found}",
    )
    against(row, 20)
    row.met = bool(row.met and exact in found and found.width <= 1e-2)
    return [row]


TASKS = {
    "plain": default_call,
    "plain-data": other_data,
    "plain-large": large,
    "plain-letters": letter_table,
    "plain-embeddings": embedded,
    "plain-pairs": by_pairs,
    "plain-proof": proof,
}
PEAKS: dict[str, float] = {"plain-large": 2.0}
