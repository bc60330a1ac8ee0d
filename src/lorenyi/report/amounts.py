"""How much one set of columns tells about another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lorenyi import measures
from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram, gram, joint
from lorenyi.inference import IndependenceTest, independence_test
from lorenyi.plots.matrix import pairwise
from lorenyi.report.eigenvalues import curve
from lorenyi.report.finding import Finding, Section, Table, bits, listed
from lorenyi.report.page import shortened

MEANING = {
    "S(x)": "entropy of x",
    "S(y)": "entropy of y",
    "S(x, y)": "of both together",
    "S(x | y)": "left of x when y is known",
    "S(x | given)": "left of x when the rest is known",
    "I(x; y)": "shared by x and y",
    "I(x; y | given)": "shared beyond what is given",
}


def measure(
    table: Any,
    x: Sequence[str],
    y: Sequence[str] = (),
    given: Sequence[str] = (),
    *,
    entropy: Renyi = Renyi(),
    permutations: int = 0,
    seed: int = 0,
) -> Finding:
    """Tell how much columns of a table tell about others.

    Parameters
    ----------
    table : data frame
        Its columns are found by `table[name]`.
    x, y, given : sequences of str
        Names of columns; several on one side count together. Without y, the entropy of x.
    entropy : Renyi
        The functional.
    permutations : int
        If not 0, of a permutation test of whether x and y depend on each other at all.
    seed : int
        Of the permutations.

    Examples
    --------
    >>> import pandas as pd
    >>> from lorenyi import report
    >>> table = pd.DataFrame({"coin": [0, 0, 1, 1], "bet": ["no", "no", "yes", "yes"]})
    >>> print(report.measure(table, ["coin"], ["bet"]).answer[0])
    coin shares 1.000 bits with bet.
    """
    sides = {"x": list(x), "y": list(y), "given": list(given)}
    grams = {
        side: joint(*(gram(table[name], name=name).named(name) for name in names))
        for side, names in sides.items()
        if names
    }
    found = _measured(grams, entropy)
    test = None
    if permutations and y:
        first, second = (tuple(table[name] for name in sides[side]) for side in ("x", "y"))
        test = independence_test(
            first, second, given=grams.get("given"), permutations=permutations, seed=seed
        )
    names = {side: listed(columns, 4) for side, columns in sides.items() if columns}
    rows = [
        [name, float(e), e.low, e.high, "proven" if not e.failure else f"p <= {e.failure:.1g}"]
        for name, e in found.items()
    ]
    return Finding(
        question=_question(names),
        answer=_answer(names, found, test, entropy, len(sides["x"]) > 1),
        facts=[(f"{bits(e)} bits", name) for name, e in list(found.items())[-3:]]
        + [(f"{int(grams['x'].n):,}", "rows")],
        table=Table(["measure", "bits", "low", "high", "interval"], rows, "bits"),
        settings={
            "order": entropy.alpha,
            "rank": entropy.rank,
            "solver": repr(entropy.solver),
            **{side: columns for side, columns in sides.items() if columns},
            **{f"kernels of {side}": A.names for side, A in grams.items()},
        },
        python=_python(sides, entropy, permutations, seed),
        sections=lambda: _sections(grams, found, sides, table, entropy),
        extra={"rows": int(grams["x"].n)} | ({"p_value": test.pvalue} if test else {}),
    )


def _measured(grams: dict[str, Gram], entropy: Renyi) -> dict[str, Estimate]:
    """Return every measure that the columns allow; the last is what was asked for."""
    H = entropy.certified
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


def _question(names: dict[str, str]) -> str:
    known = f", given {names['given']}" if "given" in names else ""
    if "y" in names:
        return f"How much does {names['x']} tell about {names['y']}{known}?"
    return f"How much is there to know about {names['x']}{known}?"


def _answer(
    names: dict[str, str],
    found: dict[str, Estimate],
    test: IndependenceTest | None,
    entropy: Renyi,
    several: bool,
) -> list[str]:
    what, value = list(found.items())[-1]
    known = f" beyond {names['given']}" if "given" in names else ""
    share = "share" if several else "shares"
    if "y" in names:
        first = f"{names['x']} {share} {bits(value)} bits with {names['y']}{known}."
    else:
        first = f"{names['x']} {'hold' if several else 'holds'} {bits(value)} bits{known}."
    sentences = [first]
    if "y" in names and float(found["S(y)"]) > 1e-9 and "given" not in names:
        sentences.append(
            f"That is {100 * float(value) / float(found['S(y)']):.0f} % of the "
            f"{bits(found['S(y)'])} bits of {names['y']}."
        )
    if "y" in names and "given" in names:
        sentences.append(f"Without {names['given']} they share {bits(found['I(x; y)'])} bits.")
    kind = "proven" if not value.failure else f"it fails with probability {value.failure:.1g}"
    sentences.append(f"{what} lies between {value.low:.6f} and {value.high:.6f} ({kind}).")
    if "y" in names and (entropy.alpha != 1 or entropy.rank is not None):
        sentences.append(
            "Away from order 1, and with a rank, what two variables share can be negative."
        )
    if test is not None:
        sentences.append(
            f"Permutation test: p = {test.pvalue:.2g}, so that they depend on each other is "
            + (
                "beyond doubt."
                if test.pvalue <= 0.01
                else "likely."
                if test.pvalue <= 0.05
                else "not shown."
            )
        )
    return sentences


def _sections(
    grams: dict[str, Gram],
    found: dict[str, Estimate],
    sides: dict[str, list[str]],
    table: Any,
    entropy: Renyi,
) -> list[Section]:
    rows = [
        {"name": name, "note": MEANING[name], "value": float(e), "low": e.low, "high": e.high}
        for name, e in found.items()
    ]
    shown = dict.fromkeys([name for names in sides.values() for name in names])
    curves = {"x": grams["x"]}
    if "y" in grams:
        curves |= {"y": grams["y"], "x and y": grams["x"] * grams["y"]}
    spectrum = curve(
        curves, "Spectrum", "Leading eigenvalues of the kernel matrices.", wide=len(shown) < 2
    )
    return [
        {
            "kind": "bars",
            "title": "Amounts of information",
            "text": "In bits, with the certified interval where it is wide enough to be seen.",
            "rows": rows,
            "unit": "bits",
        },
        spectrum,
        *_pairs(table, list(shown)[:30], entropy),
    ]


def _pairs(table: Any, names: list[str], entropy: Renyi) -> list[Section]:
    """Return what each two of the columns share."""
    if len(names) < 2:
        return []
    shared = pairwise([gram(table[name], name=name) for name in names], entropy)
    return [
        {
            "kind": "heat",
            "title": "What pairs of columns share",
            "text": "Information between each two of the columns, in bits.",
            "names": [shortened(name) for name in names],
            "matrix": shared.tolist(),
            "own": shared.diagonal().tolist(),
            "orders": {"as given": list(range(len(names)))},
        }
    ]


def _python(sides: dict[str, list[str]], entropy: Renyi, permutations: int, seed: int) -> str:
    def columns(side: str) -> str:
        return f"({', '.join(f'table[{name!r}]' for name in sides[side])},)"

    lines = ["import lorenyi as lr", "from lorenyi import Auto, Renyi", "", f"H = {entropy!r}"]
    given = f", given={columns('given')}" if sides["given"] else ""
    if not sides["y"]:
        call = "conditional_entropy" if given else "entropy"
        return "\n".join([*lines, f"lr.{call}({columns('x')}{given}, entropy=H.certified)"])
    both = f"{columns('x')}, {columns('y')}{given}"
    call = "conditional_mutual_information" if given else "mutual_information"
    if permutations:
        lines.append(
            f"lr.independence_test({both}, permutations={permutations}, seed={seed}).pvalue"
        )
    return "\n".join([*lines, f"lr.{call}({both}, entropy=H.certified)"])
