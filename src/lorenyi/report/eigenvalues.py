"""The spectrum of a table: its effective number of distinct rows, and which rank to use."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lorenyi.bandwidths import Median, Silverman
from lorenyi.data.reading import read_columns
from lorenyi.data.sources import ArraySource
from lorenyi.entropy import renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram
from lorenyi.kernels import Gaussian
from lorenyi.report.finding import Finding
from lorenyi.report.tables import Section, Table, table_section
from lorenyi.report.wording import bits, counted
from lorenyi.selection import reading
from lorenyi.selection.table import Variable
from lorenyi.spectra import Auto, Spectrum

SHOWN = 60  # eigenvalues of a curve
WHOLE = 1500  # rows up to which all eigenvalues are computed
LEADING = 200  # eigenvalues of larger tables
SAMPLE = 1000  # rows on which bandwidths are compared
FACTORS = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)  # multiples of the bandwidth used
CLOSE = 0.01  # relative error of the entropy at which a rank is sufficient


def spectrum(
    X: Any,
    *,
    alpha: float = 1.0,
    rank: int | None = None,
    bandwidth: float | None = None,
    categorical: Sequence[int] = (),
    seed: int = 0,
) -> Finding:
    """Report the effective number of distinct rows, and which rank and bandwidth suit a table.

    Numeric columns are standardized and share one Gaussian kernel; others are compared by equality.

    Parameters
    ----------
    X : array or data frame
        The table.
    alpha : float
        Order of the entropy.
    rank : int, optional
        Number of eigenvalues to compute; by default all of a small table, 200 of a larger one.
    bandwidth : float, optional
        Bandwidth of the kernel; by default the median distance of standardized rows.
    categorical : sequence of int
        Positions of categorical columns; text and booleans always are.
    seed : int
        Seed of all random draws.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi import report
    >>> found = report.spectrum(np.repeat(np.eye(3), 10, axis=0), bandwidth=0.01)
    >>> print(found.answer[0])
    The effective number of distinct rows is 3.0, of 30.
    """
    variable = _variable(X, categorical)
    n = len(variable.values)
    median = _distance(variable)
    sigma = median if bandwidth is None else bandwidth
    A = variable.gram(Gaussian(sigma), True, None)
    found = _solved(A, rank if rank is not None or n <= WHOLE else min(LEADING, n - 1), seed)
    entropy = Renyi(alpha, rank, Auto(seed=seed)).certified(A)
    enough, sweep = _enough(found, alpha, n), _sweep(variable, sigma, seed)
    rows = [[i + 1, float(v), float(s)] for i, (v, s) in enumerate(_sums(found)[:SHOWN])]
    table = Table(["i", "eigenvalue", "sum"], rows, "eigenvalue")
    return Finding(
        question="How many distinct rows does this table hold?",
        answer=[
            *_effective_words(entropy, alpha, n),
            _rank_words(enough, alpha, len(found.values)),
            _bandwidth_words(sigma, median, bandwidth is None, _sensible(sweep, min(n, SAMPLE))),
        ],
        facts=[
            (f"{2.0 ** float(entropy):.1f}", "effective number of rows"),
            (f"{n:,}", "rows"),
            (str(enough) if enough else f"over {len(found.values)}", "sensible rank"),
            (f"{median:.3g}", "median distance"),
        ],
        table=table,
        settings={
            "order": alpha,
            "rank": rank,
            "bandwidth": float(sigma),
            "columns": _kinds(variable),
            "standardized": "yes",
            "eigenvalues found": int(np.sum(found.values > 0)),
            "seed": seed,
        },
        python=_python(sigma, alpha, rank, seed),
        sections=lambda: [
            curve({"all columns": A}, "Spectrum", "Leading eigenvalues.", closed=False, seed=seed),
            _sweep_section(sweep, sigma, min(n, SAMPLE), n),
            table_section("Eigenvalues", "", Table(table.columns, rows), name="i"),
        ],
        extra=_extra(variable, entropy, enough, median, sweep),
    )


def _kinds(variable: Variable) -> str:
    return f"{variable.numbers.shape[1]} numeric, {variable.symbols.shape[1]} categorical"


def _extra(
    variable: Variable,
    entropy: Estimate,
    enough: int | None,
    median: float,
    sweep: list[tuple[float, float]],
) -> dict[str, Any]:
    n = len(variable.values)
    return {
        "rows": n,
        "entropy": {"value": float(entropy), "low": entropy.low, "high": entropy.high},
        "effective_rank": 2.0 ** float(entropy),
        "sensible_rank": enough,
        "median_distance": median,
        "silverman": _silverman(variable),
        "sensible_bandwidth": list(_sensible(sweep, min(n, SAMPLE))),
        "bandwidths": [
            {"bandwidth": s, "effective_rows_order_2": v, "rows": min(n, SAMPLE)} for s, v in sweep
        ],
    }


def _sums(found: Spectrum) -> list[tuple[float, float]]:
    """Return eigenvalues, each with the sum up to it."""
    return list(zip(found.values, np.cumsum(found.values), strict=True))


def curve(
    grams: Mapping[str, Gram], title: str, text: str, *, closed: bool = True, seed: int = 0
) -> Section:
    """Return the leading eigenvalues of some Grams as a section, folded or open."""
    series = []
    for name, A in grams.items():
        values = _solved(A, min(SHOWN, int(A.n) - 1), seed).values[:SHOWN]
        series.append({"name": name, "values": [float(v) for v in values if v > 1e-12]})
    return {
        "kind": "curves",
        "title": title,
        "text": text,
        "series": series,
        "x": "eigenvalue, in order",
        "y": "size (they sum to 1)",
        "wide": True,
        "closed": closed,
    }


def _solved(A: Gram, rank: int | None, seed: int) -> Spectrum:
    with warnings.catch_warnings():
        # Eigenvalues are shown with three digits: a wider certificate does not matter.
        warnings.filterwarnings("ignore", message=".*certified width", category=RuntimeWarning)
        return Auto(tol=1e-3, seed=seed)(A, rank)


def _variable(X: Any, categorical: Sequence[int]) -> Variable:
    columns = read_columns(X)
    reading.require_values(columns, False)
    symbols = [j in set(categorical) or (c.kind == "label") for j, c in enumerate(columns)]
    return reading.variable(columns, symbols)


def _distance(variable: Variable) -> float:
    numbers = variable.standardized(None)
    if not numbers.shape[1]:
        return 1.0
    return float(Median()(ArraySource(numbers), None))  # type: ignore[arg-type]


def _silverman(variable: Variable) -> float | None:
    numbers = variable.standardized(None)
    if not numbers.shape[1]:
        return None
    return float(np.mean(Silverman()(ArraySource(numbers), None)))


def _enough(found: Spectrum, alpha: float, n: int) -> int | None:
    """Return the smallest rank whose entropy is close to that without a rank."""
    if alpha == 0:
        return None
    exact = float(renyi_entropy(found, alpha))
    known = int(np.sum(found.values > 1e-12))
    low, high = 1, min(known, n - 1)
    near = CLOSE * max(exact, 0.1)

    def close(k: int) -> bool:
        return float(renyi_entropy(found, alpha, k)) - exact <= near

    if not close(high):
        return None
    while low < high:  # S^k decreases with k
        middle = (low + high) // 2
        low, high = (low, middle) if close(middle) else (middle + 1, high)
    return low


def _sweep(variable: Variable, sigma: float, seed: int) -> list[tuple[float, float]]:
    """Return 2^S_2 of a sample of rows for several bandwidths."""
    n = len(variable.values)
    if n > SAMPLE:
        index = np.random.default_rng(seed).choice(n, SAMPLE, replace=False)
        variable = variable.take(np.sort(index))
    if not variable.numbers.shape[1]:
        return []
    found = []
    for factor in FACTORS:
        A = variable.gram(Gaussian(sigma * factor), True, None)
        found.append((sigma * factor, float(2.0 ** Renyi(2.0)(A))))
    return found


def _sensible(sweep: list[tuple[float, float]], n: int) -> tuple[float | None, float | None]:
    """Return the range of bandwidths at which rows are neither all unrelated nor all alike."""
    fine = [sigma for sigma, rows in sweep if 1.5 <= rows <= n / 2]
    return (min(fine), max(fine)) if fine else (None, None)


def _effective_words(entropy: Estimate, alpha: float, n: int) -> list[str]:
    return [
        f"The effective number of distinct rows is {2.0 ** float(entropy):.1f}, of {n:,}.",
        f"It is 2^S with the entropy S = {bits(entropy)} bits at order {alpha:g}; equal rows "
        f"would give 1, unrelated ones {n:,}.",
    ]


def _rank_words(enough: int | None, alpha: float, found: int) -> str:
    if enough is None:
        return (
            f"No rank up to the {counted(found, 'eigenvalue')} found comes within 1 % of the "
            "entropy without a rank: the spectrum is flat, so use none, or a larger bandwidth."
        )
    return (
        f"A rank of {enough} is enough: the entropy of order {alpha:g} is then within 1 % of that "
        "without a rank."
    )


def _bandwidth_words(
    sigma: float, median: float, default: bool, sensible: tuple[float | None, float | None]
) -> str:
    low, high = sensible
    used = f"The bandwidth is {sigma:.3g}" + (
        ", the median distance of standardized rows" if default else f" (median: {median:.3g})"
    )
    if low is None or high is None:
        return f"{used}; at every bandwidth near it rows are all unrelated or all alike."
    return (
        f"{used}; {low:.3g} to {high:.3g} is a sensible range: below it nearly all rows are "
        "unrelated, above it all are alike."
    )


def _sweep_section(sweep: list[tuple[float, float]], sigma: float, sample: int, n: int) -> Section:
    part = f" Measured on {sample:,} rows drawn from {n:,}." if sample < n else ""
    rows = [
        {
            "name": f"bandwidth {s:.3g}" + (" (used)" if s == sigma else ""),
            "value": float(np.log2(max(v, 1.0))),
            "more": [f"{v:.1f} distinct rows"],
        }
        for s, v in sweep
    ]
    most = f"{np.log2(sample):.2f}"
    return {
        "kind": "bars",
        "title": "How the bandwidth changes it",
        "text": f"Entropy of order 2 in bits, at most {most}. Near that, rows are unrelated; "
        f"near 0, all are alike.{part}",
        "rows": rows,
        "unit": "bits",
    }


def _python(sigma: float, alpha: float, rank: int | None, seed: int) -> str:
    return "\n".join(
        [
            "import lorenyi as lr",
            "",
            "numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)",
            f"A = lr.gram(numbers, lr.Gaussian({float(sigma)!r}))",
            "for column in categorical:",
            "    A = A * lr.gram(column, lr.Delta())",
            f"lr.Renyi({alpha!r}, {rank!r}, lr.Auto(seed={seed})).certified(A)",
        ]
    )
