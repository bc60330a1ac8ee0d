"""What a fitted selector chose, and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from lorenyi.data.reading import read_columns
from lorenyi.functionals import Renyi
from lorenyi.plots import RelevanceDisplay, SelectionPathDisplay
from lorenyi.report.eigenvalues import curve
from lorenyi.report.finding import (
    KERNEL_BITS,
    Finding,
    Section,
    Table,
    at_order,
    bits,
    counted,
    listed,
    with_error,
)
from lorenyi.report.page import shortened, table_section
from lorenyi.report.pictures import against
from lorenyi.selection import InformationSelector, NeighborInformation, reading
from lorenyi.selection.criteria import BaseCriterion

NEIGHBORS = (
    "Bits are Shannon's, estimated by leaving each row out and predicting it from its neighbors. "
    "Noise columns lower the estimate, so it can be negative. A standard error is that of "
    "sampling: how far the value is from that of many more rows."
)
SHOWN = 30  # columns of the maps
BEYOND = 3  # columns of the path after the chosen ones
PICTURED = 12  # chosen columns with a picture


def selection(
    selector: InformationSelector,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    target: str = "the target",
) -> Finding:
    """Report what a selector chose and why.

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
        question=f"Which columns are informative about {target}?",
        answer=_answer(selector, path, criterion, target, whole),
        facts=_facts(selector, path, whole, n),
        table=_table(selector, path, criterion),
        settings=_settings(selector, criterion),
        python=_python(selector, sample_weight is not None),
        sections=lambda: _sections(selector, X, y, sample_weight, criterion, target),
        extra={"rows": int(n), "candidates": int(d), "target_entropy": whole},
        caution=NEIGHBORS if isinstance(criterion, NeighborInformation) else KERNEL_BITS,
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
            f"None of {counted(d, 'column')} is more informative about {target} than chance "
            f"(level {selector.level:g})."
        ]
    sentences = [_headline(path.names, chosen, d, target)]
    if whole:
        sentences.append(_held(selector, path, criterion, target, whole))
    sentences.append(_stopped(selector, path))
    sentences.append(_errors(selector))
    return sentences


def _held(
    selector: InformationSelector,
    path: SelectionPathDisplay,
    criterion: BaseCriterion,
    target: str,
    whole: float,
) -> str:
    steps = _steps(selector)
    last, first = float(path.scores[-1]), float(path.scores[0])
    error = float(selector.standard_errors_[steps[-1]])
    amount = f"{with_error(last, error)} of the {bits(whole)} bits of {target}{_order(criterion)}"
    together = "Together they hold" if len(path.names) > 1 else "It holds"
    alone = f"; {path.names[0]} alone holds {bits(first)}" if len(path.names) > 1 else ""
    if last < 0.0005:
        return f"{together} nothing beyond chance: {amount}."
    return f"{together} {amount} ({100 * last / whole:.0f} %){alone}."


def _order(criterion: BaseCriterion) -> str:
    """Say the order of the criterion's entropy, where it is not 1."""
    entropy = getattr(criterion, "entropy", None)
    return at_order(getattr(entropy, "alpha", 1.0))


def _errors(selector: InformationSelector) -> str:
    if np.isnan(selector.standard_errors_).all():
        width = float(np.ptp(selector.score_bounds_, axis=1).max())
        return (
            f"Computing error: every score lies in an interval at most {max(width, 1e-9):.1g} bits "
            "wide. There is no standard error for this criterion."
        )
    error = float(np.nanmax(selector.standard_errors_))
    close = sum(len(step.ties) > 0 for step in selector.path_)
    tied = (
        f" At {close} of {counted(len(selector.path_), 'step')} another column scored within one "
        "standard error."
    )
    return f"Standard error of the scores: at most {bits(error)} bits." + (tied if close else "")


def _headline(names: list[str], chosen: int, d: int, target: str) -> str:
    if chosen == 1:
        return f"The most informative of {counted(d, 'column')} about {target} is {names[0]}."
    return (
        f"The {chosen} most informative of {counted(d, 'column')} about {target} are "
        f"{listed(names)}."
    )


def _stopped(selector: InformationSelector, path: SelectionPathDisplay) -> str:
    asked = selector.n_features_to_select
    if isinstance(asked, str):
        if len(selector.indices_) == selector.n_features_in_:
            return "All columns were chosen: each was more informative than its permutations."
        if following := selector.path_.best_refused:
            return (
                f"The search stopped by itself: the next best column, {following}, "
                f"was no more informative than permuted columns (level {selector.level:g})."
            )
        late = "time ran out" if selector.max_seconds is not None else "no other column was left"
        return f"The search ended because {late}."
    wanted = round(asked * selector.n_features_in_) if isinstance(asked, float) else asked
    found = counted(len(path.names), "column")
    if len(path.names) < max(int(wanted), 1):
        return f"Time ran out after {found} of {wanted} asked for."
    return f"{found} {'was' if len(path.names) == 1 else 'were'} asked for."


def _facts(
    selector: InformationSelector, path: SelectionPathDisplay, whole: float | None, n: int
) -> list[tuple[str, str]]:
    chosen = f"{len(selector.indices_)} of {selector.n_features_in_:,}"
    facts = [(chosen, "columns chosen"), (f"{n:,}", "rows")]
    if not len(path.scores):
        return facts
    error = float(selector.standard_errors_[_steps(selector)[-1]])
    last = f"{with_error(path.scores[-1], error)} bits"
    if not whole:
        return [facts[0], (last, "last score"), facts[1]]
    share = f"{max(100 * float(path.scores[-1]) / whole, 0.0):.0f} %"
    return [facts[0], (last, "held together"), (share, f"of {bits(whole)} bits"), facts[1]]


def _table(
    selector: InformationSelector, path: SelectionPathDisplay, criterion: BaseCriterion
) -> Table:
    steps = _steps(selector)
    p, adds = selector.p_values_[steps], selector.gains_[steps]
    errors = selector.standard_errors_[steps]
    bounds = selector.score_bounds_[steps]
    columns = ["step", "column", "score", "adds", "std. error", "low", "high", "p"]
    rows = [
        [
            i + 1,
            name,
            float(path.scores[i]),
            float(adds[i]),
            float(errors[i]),
            *_pair(bounds[i]),
            float(p[i]),
        ]
        for i, name in enumerate(path.names)
    ]
    unused = [] if criterion.of_the_set else ["adds"]
    unused += ["p"] if np.isnan(p).all() else []
    unused += ["std. error"] if np.isnan(errors).all() else ["low", "high"]
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
        "order": getattr(getattr(criterion, "entropy", None), "alpha", 1.0),
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
        _pictures(selector, X, y, sample_weight, target),
        scatter,
        *heat,
        _candidates(others, selector.n_features_in_, target),
        _spectrum(selector, X, sample_weight),
    ]


def _pictures(
    selector: InformationSelector, X: Any, y: Any, sample_weight: Any, target: str
) -> Section:
    """Return small pictures of the chosen columns against the target."""
    columns, answer = read_columns(X), read_columns(y, "y")[0]
    if sample_weight is not None:
        often = np.repeat(np.arange(len(answer.values)), np.rint(sample_weight).astype(np.int64))
        columns, answer = [c.take(often) for c in columns], answer.take(often)
    labels = selector.task_ == "classification"
    items = []
    for j in selector.indices_[:PICTURED].tolist():
        name = str(selector.names_[selector.indices_.tolist().index(j)])
        picture = against(columns[j], answer, labels)
        items.append({"name": shortened(name), "note": "", "picture": picture})
    kind = (
        "Distribution of each chosen column in each class."
        if labels
        else f"Rows, and the mean of {target} along each chosen column."
    )
    few = f" The first {PICTURED} are shown." if len(selector.indices_) > PICTURED else ""
    return {
        "kind": "pictures",
        "title": f"Chosen columns against {shortened(target)}",
        "text": f"{kind} One column at a time: what columns say only together does not show.{few}",
        "items": items,
        "y": target,
    }


def _path(
    path: SelectionPathDisplay, criterion: BaseCriterion, selector: InformationSelector, target: str
) -> Section:
    stop = len(path.names) if path.stop is None else path.stop
    of_set = criterion.of_the_set
    text = (
        f"Information of the columns chosen so far about {target}, in bits; the dark part is what "
        "each added. The thin line is two standard errors to each side, the ceiling the entropy of "
        f"{target}."
        if of_set
        else f"The score of {type(criterion).__name__} when each column was chosen, in bits."
    )
    auto = isinstance(selector.n_features_to_select, str)
    why = "the next was no more informative than its permutations" if auto else "as asked for"
    after = "; the next would have been:" if stop < len(path.names) else ""
    section = {
        "kind": "bars",
        "title": "Score path",
        "text": text,
        "rows": _path_rows(path, selector, stop, of_set),
        "numbered": True,
        "stop": stop,
        "stopped": f"Stopped here: {why}{after}",
        "unit": "bits",
    }
    if of_set and np.isfinite(selector.target_entropy_):
        section["most"] = float(selector.target_entropy_)
    return section


def _path_rows(
    path: SelectionPathDisplay, selector: InformationSelector, stop: int, of_set: bool
) -> list[dict[str, Any]]:
    steps = _steps(selector)
    rows = []
    for i, name in enumerate(path.names):
        row: dict[str, Any] = {
            "name": shortened(name),
            "value": float(path.scores[i]),
            "hollow": i >= stop,
            "more": [],
        }
        if of_set:
            row["from"] = float(path.scores[i - 1]) if i else 0.0
            if i < len(steps):
                row["adds"] = float(selector.gains_[steps[i]])
        if path.bounds is not None and not np.isnan(selector.standard_errors_).all():
            row["error"] = float(np.ptp(path.bounds[i])) / 2.0
        elif path.bounds is not None:
            low, high = _pair(path.bounds[i])
            row["more"].append(f"exact value between {low:.6f} and {high:.6f}")
        if i < len(steps) and np.isfinite(selector.p_values_[steps[i]]):
            row["note"] = f"p = {selector.p_values_[steps[i]]:.2g}"
        rows.append(row)
    return rows


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
        "text": f"Top: informative about {target} alone. Left: shares little with chosen columns."
        + few,
        "x": "shared with chosen columns (mean, bits)",
        "y": "shared with target (bits)",
        "points": points,
        "wide": len(names) > 12,  # then the map below takes the whole width
    }
    if len(names) < 2:
        return [scatter]
    heat = {
        "kind": "heat",
        "title": "Dependence of columns",
        "text": "Information between two columns, in bits: dark pairs are redundant." + few,
        "negative": "no more than chance: noise of the estimate",
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
        "distinct kinds of rows these columns distinguish.",
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
        f"Columns ({some}) in bits: relevance is the information of each about {target} alone, "
        "redundancy what it shares on average with the chosen ones.",
        Table(["column", "step", "relevance", "redundancy"], rows),
    )
