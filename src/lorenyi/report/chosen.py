"""What a fitted selector chose, and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from lorenyi.data.reading import read_columns
from lorenyi.functionals import Renyi
from lorenyi.plots import RelevanceDisplay, SelectionPathDisplay
from lorenyi.report.eigenvalues import curve
from lorenyi.report.finding import Finding, Section, Table, bits, counted, listed
from lorenyi.report.page import shortened, table_section
from lorenyi.selection import InformationSelector, NeighborInformation, reading
from lorenyi.selection.criteria import BaseCriterion

SHOWN = 30  # columns of the maps
BEYOND = 3  # columns of the path after the chosen ones


def selection(
    selector: InformationSelector,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    target: str = "the target",
) -> Finding:
    """Tell what a selector chose and why.

    Parameters
    ----------
    selector : InformationSelector
        Fitted.
    X, y : arrays or data frames
        What it was fitted to.
    sample_weight : array of n, optional
        As in `fit`.
    target : str
        What y is called.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi import report
    >>> from lorenyi.selection import InformationSelector
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = X[:, 1] > 0
    >>> found = report.selection(InformationSelector(1).fit(X, y), X, y)
    >>> found.table.rows[0][:2]
    [1, 'x1']
    """
    path = SelectionPathDisplay.from_estimator(selector)
    criterion = selector.criterion
    # Of this the information of the set is a share; other criteria tell no share.
    whole = selector.target_entropy_ if criterion.of_the_set else None
    n, d = X.shape[0], selector.n_features_in_
    return Finding(
        question=f"Which columns tell about {target}?",
        answer=_answer(selector, path, criterion, target, whole),
        facts=_facts(selector, path, whole, n),
        table=_table(selector, path, criterion),
        settings=_settings(selector, criterion),
        python=_python(selector, sample_weight is not None),
        sections=lambda: _sections(selector, X, y, sample_weight, criterion, target),
        extra={"rows": int(n), "candidates": int(d), "target_entropy": whole},
    )


# ------------------------------------------------------------------------------------ in words


def _answer(
    selector: InformationSelector,
    path: SelectionPathDisplay,
    criterion: BaseCriterion,
    target: str,
    whole: float | None,
) -> list[str]:
    chosen, d = len(selector.indices_), selector.n_features_in_
    if not chosen:
        return [
            f"None of {counted(d, 'column')} tells more about {target} than chance does "
            f"(level {selector.level:g})."
        ]
    sentences = [_headline(path.names, chosen, d, target)]
    last, first = path.scores[-1], path.scores[0]
    if whole:
        together = "Together they hold" if chosen > 1 else "It holds"
        alone = f"; {path.names[0]} alone holds {bits(first)}" if len(path.names) > 1 else ""
        sentences.append(
            f"{together} {bits(last)} of the {bits(whole)} bits of {target} "
            f"({100 * last / whole:.0f} %){alone}."
        )
    sentences.append(_stopped(selector, path))
    sentences.append(_errors(selector))
    return sentences


def _errors(selector: InformationSelector) -> str:
    if np.isnan(selector.standard_errors_).all():
        width = float(np.ptp(selector.score_bounds_, axis=1).max())
        return (
            f"The computation is certain to {max(width, 1e-9):.1g} bits for every score; "
            "another sample of rows would give other numbers."
        )
    error = float(np.nanmax(selector.standard_errors_))
    close = sum(len(step.ties) > 0 for step in selector.path_)
    tied = f" At {close} of {len(selector.path_)} steps another column was as good within it."
    return f"Standard error of the scores: up to {bits(error)} bits." + (tied if close else "")


def _headline(names: list[str], chosen: int, d: int, target: str) -> str:
    if chosen == 1:
        return f"Of {counted(d, 'column')}, {names[0]} tells most about {target}."
    return f"These {chosen} of {counted(d, 'column')} tell most about {target}: {listed(names)}."


def _stopped(selector: InformationSelector, path: SelectionPathDisplay) -> str:
    if not isinstance(selector.n_features_to_select, str):
        return f"It was asked for {counted(len(path.names), 'feature')}."
    if len(selector.indices_) == selector.n_features_in_:
        return "The search went through all columns: each did better than its own permutations."
    return (
        "The search stopped by itself: the best of the columns left out told no more than its own "
        f"permutations do (level {selector.level:g})."
    )


def _facts(
    selector: InformationSelector, path: SelectionPathDisplay, whole: float | None, n: int
) -> list[tuple[str, str]]:
    if not len(path.scores):
        return [(f"0 of {selector.n_features_in_:,}", "columns chosen"), (f"{n:,}", "rows")]
    facts = [
        (f"{len(selector.indices_)} of {selector.n_features_in_:,}", "columns chosen"),
        (bits(path.scores[-1]), "bits, last score"),
    ]
    if whole:
        facts[1:] = [
            (f"{bits(path.scores[-1])} bits", "held together"),
            (f"{100 * path.scores[-1] / whole:.0f} %", "of the target's entropy"),
        ]
    return [*facts, (f"{n:,}", "rows")]


def _table(
    selector: InformationSelector, path: SelectionPathDisplay, criterion: BaseCriterion
) -> Table:
    steps = _steps(selector)
    p, adds = selector.p_values_[steps], selector.gains_[steps]
    bounds = path.scores[:, None] if path.bounds is None else path.bounds
    columns = ["step", "column", "score", "adds", "low", "high", "p"]
    rows = [
        [i + 1, name, float(path.scores[i]), float(adds[i]), *_pair(bounds[i]), float(p[i])]
        for i, name in enumerate(path.names)
    ]
    unused = [] if criterion.of_the_set else ["adds"]
    if np.isnan(p).all():
        unused.append("p")
    kept = [i for i, name in enumerate(columns) if name not in unused]
    return Table([columns[i] for i in kept], [[row[i] for i in kept] for row in rows], "score")


def _pair(ends: np.ndarray) -> tuple[float, float]:
    return float(ends.min()), float(ends.max())


def _steps(selector: InformationSelector) -> list[int]:
    """Return where each chosen feature begins among the chosen columns; a group is one."""
    units = selector.feature_groups_
    unit_of = {j: u for u, unit in enumerate(units) for j in unit}
    owners = [unit_of[j] for j in selector.indices_.tolist()]
    return [i for i, u in enumerate(owners) if u not in owners[:i]]


def _settings(selector: InformationSelector, criterion: BaseCriterion) -> dict[str, Any]:
    return {
        "criterion": type(criterion).__name__,
        "information": _how(criterion),
        "features": selector.n_features_to_select,
        "task": selector.task,
        "kernel": None if isinstance(criterion, NeighborInformation) else repr(selector.kernel_),
        "standardized": "yes" if selector.standardize else "no",
        "groups": selector.feature_groups,
        "given": selector.must_include,
        "level": selector.level if isinstance(selector.n_features_to_select, str) else None,
        "seed": selector.random_state,
    }


def _how(criterion: BaseCriterion) -> str:
    if isinstance(criterion, NeighborInformation):
        return f"of neighbors, bandwidth {criterion.bandwidth:g} on normal scores"
    entropy = getattr(criterion, "entropy", None)
    if entropy is None:
        return f"Shannon's, {getattr(criterion, 'bins', 5)} bins of equal frequency"
    if isinstance(entropy, Renyi):
        return f"Rényi's, order {entropy.alpha:g}, rank {entropy.rank or 'none'}"
    return "of order 2, from pairs of rows"


def _python(selector: InformationSelector, weighted: bool) -> str:
    defaults = InformationSelector().get_params(deep=False)
    asked = selector.get_params(deep=False)
    given = {k: v for k, v in asked.items() if v != defaults[k] and k != "progress"}
    criterion = given.get("criterion")
    names = ["InformationSelector"] + ([type(criterion).__name__] if criterion is not None else [])
    lines = [f"from lorenyi.selection import {', '.join(sorted(names))}"]
    if getattr(criterion, "entropy", None) is not None or "kernel" in given:
        lines.insert(0, "from lorenyi import Auto, Gaussian, Renyi")
    arguments = "".join(f"    {name}={value!r},\n" for name, value in given.items())
    call = f"InformationSelector(\n{arguments})" if arguments else "InformationSelector()"
    data = "X, y, sample_weight" if weighted else "X, y"
    lines += ["", f"selector = {call}.fit({data})", "selector.get_feature_names_out()"]
    return "\n".join(lines)


# ------------------------------------------------------------------------------------- on the page


def _sections(
    selector: InformationSelector,
    X: Any,
    y: Any,
    sample_weight: Any,
    criterion: BaseCriterion,
    target: str,
) -> list[Section]:
    if not len(selector.indices_):
        return []
    beyond = BEYOND if len(selector.indices_) < selector.n_features_in_ else 0
    longer = SelectionPathDisplay.from_estimator(
        selector, X, y, sample_weight=sample_weight, beyond=beyond
    )
    others = RelevanceDisplay.from_estimator(
        selector, X, y, sample_weight=sample_weight, n_candidates=SHOWN
    )
    scatter, *heat = _maps(others, selector.n_features_in_, target)
    return [
        _path(longer, criterion, selector, target),
        scatter,
        _spectrum(selector, X, sample_weight),
        *heat,
        _candidates(others, selector.n_features_in_, target),
    ]


def _path(
    path: SelectionPathDisplay, criterion: BaseCriterion, selector: InformationSelector, target: str
) -> Section:
    stop = len(path.names) if path.stop is None else path.stop
    bounds = path.scores[:, None] if path.bounds is None else path.bounds
    of_set = criterion.of_the_set
    text = (
        f"What the columns chosen so far tell together about {target}, in bits; the dark part is "
        "what each added."
        if of_set
        else f"The score of {type(criterion).__name__} when each column was chosen, in bits."
    )
    rows = []
    for i, name in enumerate(path.names):
        row = {
            "name": shortened(name),
            "value": float(path.scores[i]),
            "low": float(bounds[i].min()),
            "high": float(bounds[i].max()),
            "hollow": i >= stop,
        }
        if of_set:
            row["from"] = float(path.scores[i - 1]) if i else 0.0
        rows.append(row)
    auto = isinstance(selector.n_features_to_select, str)
    why = "the next did no better than its permutations" if auto else "as many as asked for"
    after = "; what would have followed:" if stop < len(path.names) else ""
    return {
        "kind": "bars",
        "title": "Score path",
        "text": text,
        "rows": rows,
        "numbered": True,
        "stop": stop,
        "stopped": f"Stopped here: {why}{after}",
        "unit": "bits",
    }


def _maps(others: RelevanceDisplay, d: int, target: str) -> list[Section]:
    """Return relevance against redundancy, and what pairs share."""
    names = [shortened(name) for name in others.names]
    few = f" The {len(names)} most relevant of {d:,} columns are shown." if len(names) < d else ""
    redundancy = _redundancy(others)
    points = [
        {
            "name": name,
            **dict(zip("xy", _rounded(redundancy[i], others.relevance[i]), strict=True)),
            "step": i + 1 if i < others.chosen else 0,
        }
        for i, name in enumerate(names)
    ]
    scatter = {
        "kind": "scatter",
        "title": "Relevance against redundancy",
        "text": f"High: tells about {target} alone. Left: repeats little of the chosen columns."
        + few,
        "x": "shared with chosen columns (mean, bits)",
        "y": "tells of target (bits)",
        "points": points,
    }
    if len(names) < 2:
        return [scatter]
    heat = {
        "kind": "heat",
        "title": "What pairs of columns share",
        "text": "Information between two columns: dark pairs repeat one another." + few,
        "names": names,
        "matrix": [[None if np.isnan(v) else float(v) for v in row] for row in others.redundancy],
        "orders": {"chosen, then relevance": list(range(len(names)))},
    }
    return [scatter, heat]


def _redundancy(others: RelevanceDisplay) -> np.ndarray:
    """Return the mean information that each column shares with the chosen ones but itself."""
    to_chosen = others.redundancy[:, : others.chosen]
    known = ~np.isnan(to_chosen)
    count = known.sum(axis=1)
    return np.asarray(np.where(known, to_chosen, 0.0).sum(axis=1) / np.maximum(count, 1))


def _rounded(*values: float) -> list[float]:
    """Show what displays measure to a hundredth of a bit with as many digits."""
    return [round(float(value), 2) + 0.0 for value in values]


def _spectrum(selector: InformationSelector, X: Any, sample_weight: Any) -> Section:
    columns = read_columns(X)
    chosen = selector.indices_.tolist()
    symbols = [bool(selector.categorical_[j]) for j in chosen]
    joint = reading.variable([columns[j] for j in chosen], symbols, [False] * len(chosen))
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    A = joint.gram(selector.kernel_, selector.standardize, weights)
    return curve(
        {"chosen columns": A},
        "Spectrum of the chosen columns",
        "Leading eigenvalues of their joint kernel matrix. The faster they fall, the fewer "
        "different kinds of rows these columns tell apart.",
    )


def _candidates(others: RelevanceDisplay, d: int, target: str) -> Section:
    redundancy = _redundancy(others)
    rows = [
        [name, i + 1 if i < others.chosen else None, *_rounded(others.relevance[i], redundancy[i])]
        for i, name in enumerate(others.names)
    ]
    some = "the chosen and the most relevant" if len(rows) < d else "all"
    return table_section(
        "Candidates",
        f"Columns ({some}) in bits: relevance is what each tells of {target} alone, "
        "redundancy what it shares on average with the chosen ones.",
        Table(["column", "step", "relevance", "redundancy"], rows),
    )
