"""Report on the information that one set of columns shares with another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lorenyi import _arrays, measures
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram, gram, joint
from lorenyi.inference import (
    TestResult,
    chance_level,
    conditional_independence_test,
    independence_test,
)
from lorenyi.inference.chance import part
from lorenyi.kernels import Kernel
from lorenyi.report.dependence import Progress, dependences
from lorenyi.report.eigenvalues import curve
from lorenyi.report.finding import Finding
from lorenyi.report.pairs import heat_section
from lorenyi.report.tables import Section, Table, plain
from lorenyi.report.wording import at_order, bits, listed, with_error

MEANING = {
    "S(x)": "entropy of x",
    "S(y)": "entropy of y",
    "S(x, y)": "joint entropy",
    "S(x | y)": "left of x when y is known",
    "S(x | given)": "left of x when the rest is known",
    "I(x; y)": "mutual information",
    "I(x; y | given)": "mutual information given the rest",
}
CHANCE = 5  # permutations whose mean is the chance level: they differ little
CHANCE_ROWS = 10_000  # rows on which it is measured; it is inversely proportional to their number
SHOWN = 30  # columns of the map


def measure(
    table: Any,
    x: Sequence[str],
    y: Sequence[str] = (),
    given: Sequence[str] = (),
    *,
    entropy: Renyi = Renyi(),
    kernels: Mapping[str, Kernel] | None = None,
    certified: bool = False,
    permutations: int = 199,
    seed: int = 0,
    progress: Progress | None = None,
) -> Finding:
    """Report how much information columns of a table share with others.

    Parameters
    ----------
    table : data frame
        Its columns are found by `table[name]`.
    x, y, given : sequences of str
        Names of columns; several on one side count together. Without y, the entropy of x.
    entropy : Renyi
        The functional.
    kernels : mapping, optional
        Kernels of columns for which the default is not wanted.
    certified : bool
        Whether to compute lower and upper bounds of the exact value of these rows.
    permutations : int
        Of the test of independence of x and y; 0: no test and no chance level.
    seed : int
        Of the permutations.
    progress : callable, optional
        Called with a message and the share that is done.

    Examples
    --------
    >>> import pandas as pd
    >>> from lorenyi import report
    >>> table = pd.DataFrame({"coin": [0, 0, 1, 1] * 5, "bet": ["no", "no", "yes", "yes"] * 5})
    >>> print(report.measure(table, ["coin"], ["bet"]).answer[0])
    coin shares 1.000 ± 0.000 bits with bet.
    """
    sides = {"x": list(x), "y": list(y), "given": list(given)}
    own = kernels or {}
    grams = {
        side: joint(*(gram(table[n], own.get(n), name=n).named(n) for n in names))
        for side, names in sides.items()
        if names
    }
    notify = progress or (lambda message, share: None)
    notify("entropies", None)
    found = _measured(grams, entropy.certified if certified else entropy)
    test, chance = None, np.nan
    if permutations and y:
        notify("permutations", None)
        columns = {side: tuple(table[name] for name in sides[side]) for side in ("x", "y")}
        test = _test(columns, grams.get("given"), permutations, seed)
        chance = np.nan if given else _chance(grams["x"], grams["y"], entropy, seed)
    names = {side: listed(columns, 4) for side, columns in sides.items() if columns}
    return Finding(
        question=_question(names),
        answer=_answer(names, found, test, chance, entropy, len(sides["x"]) > 1),
        facts=_facts(found, test, int(grams["x"].n)),
        table=_table(found, test, chance, certified),
        settings={
            "order": entropy.alpha,
            "rank": entropy.rank,
            "solver": repr(entropy.solver),
            "permutations": permutations,
            **{side: columns for side, columns in sides.items() if columns},
            **{f"kernels of {side}": A.names for side, A in grams.items()},
        },
        python=_python(sides, entropy, own, certified, permutations, seed),
        sections=lambda: _sections(grams, found, sides, table, entropy, own, chance),
        extra={"rows": int(grams["x"].n)}
        | ({"p_value": test.pvalue, "chance": plain(chance)} if test else {}),
    )


def _measured(grams: dict[str, Gram], H: Callable[[Gram], Any]) -> dict[str, Estimate]:
    """Return every measure that the columns allow; the last is the requested one."""
    A, B, C = (grams.get(side) for side in ("x", "y", "given"))
    found = {"S(x)": H(grams["x"])}
    if B is not None:
        found["S(y)"] = H(B)
        found["S(x, y)"] = measures.joint_entropy(A, B, entropy=H)
        found["S(x | y)"] = found["S(x, y)"] - found["S(y)"]
        found["I(x; y)"] = measures.mutual_information(A, B, entropy=H)
    if C is not None and B is None:
        found["S(x | given)"] = measures.conditional_entropy(A, C, entropy=H)
    if C is not None and B is not None:
        found["I(x; y | given)"] = measures.conditional_mutual_information(A, B, given=C, entropy=H)
    return found


def _test(
    columns: dict[str, tuple[Any, ...]], given: Gram | None, permutations: int, seed: int
) -> TestResult:
    """Test columns at several bandwidths."""
    options: dict[str, Any] = {"permutations": permutations, "seed": seed, "progress": False}
    if given is not None:
        return conditional_independence_test(columns["x"], columns["y"], given, **options)
    return independence_test(columns["x"], columns["y"], **options)


def _chance(A: Gram, B: Gram, entropy: Renyi, seed: int) -> float:
    """Return the mutual information with the rows of y permuted."""
    n, scale = len(A), 1.0
    if n > CHANCE_ROWS:
        rows = _arrays.choose(seed, 42, n, CHANCE_ROWS)
        A, B, scale = part(A, rows), part(B, rows), CHANCE_ROWS / n
    found = chance_level(A, B, entropy=entropy, permutations=CHANCE, seed=seed, progress=False)
    return scale * found.mean


def _table(
    found: dict[str, Estimate], test: TestResult | None, chance: float, certified: bool
) -> Table:
    asked = list(found)[-1]
    columns = ["measure", "bits", "std. error", "low", "high", "chance", "p"]
    rows: list[list[Any]] = []
    for name, e in found.items():
        ends = e.bounds if certified and e.bounds is not None else (np.nan, np.nan)
        level = chance if name == "I(x; y)" else np.nan
        p = test.pvalue if test is not None and name == asked else np.nan
        rows.append([name, float(e), float(e.standard_error), *ends, level, p])
    filled = [k for k in range(len(columns)) if k < 3 or not np.isnan([r[k] for r in rows]).all()]
    kept = [[row[k] for k in filled] for row in rows]
    return Table([columns[k] for k in filled], kept, "bits")


def _facts(found: dict[str, Estimate], test: TestResult | None, n: int) -> list[tuple[str, str]]:
    facts = [(f"{with_error(e, e.standard_error)} bits", k) for k, e in list(found.items())[-2:]]
    if test is not None:
        facts.append((f"{test.pvalue:.2g}", "p-value"))
    return [*facts, (f"{n:,}", "rows")]


def _question(names: dict[str, str]) -> str:
    known = f", given {names['given']}" if "given" in names else ""
    if "y" in names:
        return f"How much information is shared by {names['x']} with {names['y']}{known}?"
    return f"How much information is in {names['x']}{known}?"


def _answer(
    names: dict[str, str],
    found: dict[str, Estimate],
    test: TestResult | None,
    chance: float,
    entropy: Renyi,
    several: bool,
) -> list[str]:
    value = list(found.values())[-1]
    known = f" given {names['given']}" if "given" in names else ""
    amount = f"{with_error(value, value.standard_error)} bits{at_order(entropy.alpha)}"
    if "y" not in names:
        return [f"{names['x']} {'hold' if several else 'holds'} {amount}{known}.", *_bounds(found)]
    sentences = [
        f"{names['x']} {'share' if several else 'shares'} {amount} with {names['y']}{known}."
    ]
    if "given" in names:
        plain = found["I(x; y)"]
        sentences.append(
            f"Without {names['given']} they share {with_error(plain, plain.standard_error)} bits."
        )
    elif not np.isnan(chance):
        sentences.append(_beyond(float(value), chance, float(found["S(y)"]), names["y"]))
    if test is not None:
        sentences.append(_significance(test))
    sentences += _bounds(found)
    if entropy.alpha != 1 or entropy.rank is not None:
        sentences.append("Away from order 1, and with a rank, mutual information can be negative.")
    return sentences


def _beyond(value: float, chance: float, whole: float, name: str) -> str:
    first = f"By chance it would be {bits(chance)} bits"
    if value - chance < 0.0005:
        return f"{first}: the value does not exceed chance."
    share = f", {100 * (value - chance) / whole:.0f} % of the {bits(whole)} bits of {name}"
    return f"{first}; {bits(value - chance)} are beyond it{share if whole > 1e-9 else ''}."


def _significance(test: TestResult) -> str:
    kind = "Significant" if test.pvalue <= 0.05 else "Not significant"
    return (
        f"{kind} at 5 %: p = {test.pvalue:.2g} (permutation test, {len(test.null)} permutations)."
    )


def _bounds(found: dict[str, Estimate]) -> list[str]:
    """State the bounds of the exact value of these rows, if they were computed."""
    what, value = list(found.items())[-1]
    if value.bounds is None:
        return []
    kind = "" if not value.failure else f", but with a probability of {value.failure:.1g}"
    return [f"Computing error: {what} lies between {value.low:.6f} and {value.high:.6f}{kind}."]


def _sections(
    grams: dict[str, Gram],
    found: dict[str, Estimate],
    sides: dict[str, list[str]],
    table: Any,
    entropy: Renyi,
    kernels: Mapping[str, Kernel],
    chance: float,
) -> list[Section]:
    rows = []
    for name, e in found.items():
        row: dict[str, Any] = {"name": name, "note": MEANING[name], "value": float(e)}
        if np.isfinite(e.standard_error):
            row["error"] = float(e.standard_error)
        if e.bounds is not None:
            row["more"] = [f"exact value between {e.low:.6f} and {e.high:.6f}"]
        if name == "I(x; y)" and not np.isnan(chance):
            row["chance"] = chance
        rows.append(row)
    shown = dict.fromkeys([name for names in sides.values() for name in names])
    curves = {"x": grams["x"]}
    if "y" in grams:
        curves |= {"y": grams["y"], "x and y": grams["x"] * grams["y"]}
    spectrum = curve(curves, "Spectrum", "Leading eigenvalues of the kernel matrices.")
    heat = []
    if len(shown) > 1:
        names = list(shown)[:SHOWN]
        heat = [heat_section(dependences(table, names, entropy=entropy, kernels=kernels))]
    return [
        {
            "kind": "bars",
            "title": "Amounts of information",
            "text": "In bits. The thin line is two standard errors to each side.",
            "rows": rows,
            "unit": "bits",
        },
        *heat,
        spectrum,
    ]


def _python(
    sides: dict[str, list[str]],
    entropy: Renyi,
    kernels: Mapping[str, Kernel],
    certified: bool,
    permutations: int,
    seed: int,
) -> str:
    def column(name: str) -> str:
        if name in kernels:
            return f"lr.gram(table[{name!r}], lr.{kernels[name]!r})"
        return f"table[{name!r}]"

    def columns(side: str) -> str:
        return f"({', '.join(map(column, sides[side]))},)"

    lines = ["import lorenyi as lr", "from lorenyi import Auto, Renyi", "", f"H = {entropy!r}"]
    given = f", given={columns('given')}" if sides["given"] else ""
    H = "H.certified" if certified else "H"
    if not sides["y"]:
        call = "conditional_entropy" if given else "entropy"
        return "\n".join([*lines, f"lr.{call}({columns('x')}{given}, entropy={H})"])
    both = f"{columns('x')}, {columns('y')}{given}"
    call = "conditional_mutual_information" if given else "mutual_information"
    if permutations:
        test = "conditional_independence_test" if given else "independence_test"
        lines.append(f"lr.{test}({both}, permutations={permutations}, seed={seed}).pvalue")
    return "\n".join([*lines, f"lr.{call}({both}, entropy={H})"])
