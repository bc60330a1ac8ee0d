"""Report on the columns that a selector chose, and why."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import lorenyi
from lorenyi.functionals import Renyi
from lorenyi.plots import SelectionPathDisplay
from lorenyi.report.chosen_page import ends_of, sections, steps_of
from lorenyi.report.finding import KERNEL_BITS, Finding
from lorenyi.report.tables import Table
from lorenyi.report.wording import bits, counted, listed, with_error
from lorenyi.selection import InformationSelector, NeighborInformation
from lorenyi.selection.criteria import BaseCriterion

NEIGHBORS = (
    "Bits are Shannon's, estimated by leaving each row out and predicting it from its neighbors. "
    "Noise columns lower the estimate, so it can be negative. A standard error is that of "
    "sampling: how far the value is from that of many more rows."
)


def selection(
    selector: InformationSelector,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    target: str = "the target",
) -> Finding:
    """Report the columns that a selector chose, and why.

    Parameters
    ----------
    selector : InformationSelector
        Fitted.
    X, y : arrays or data frames
        The data it was fitted to.
    sample_weight : array of n, optional
        As in `fit`.
    target : str
        Name of y.

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
    # Scores of a set of columns are at most this; scores of other criteria are not.
    whole = selector.target_entropy_ if criterion.of_the_set else None
    n, d = X.shape[0], selector.n_features_in_
    return Finding(
        question=f"Which columns are informative about {target}?",
        answer=_answer(selector, path, criterion, target, whole),
        facts=_facts(selector, path, whole, n),
        table=_table(selector, path, criterion),
        settings=_settings(selector, criterion),
        python=_python(selector, sample_weight is not None),
        sections=lambda: sections(selector, X, y, sample_weight, criterion, target),
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
    if whole and len(selector.path_):
        sentences.append(_held(selector, path, criterion, target, whole))
    if others := len(path.names) - len(selector.path_):
        sentences.append(
            f"{counted(others, 'column')} of them {'is' if others == 1 else 'are'} informative "
            f"only without the others (false discovery rate {selector.level:g})."
        )
    sentences.append(_stopped(selector, path))
    if len(selector.path_):
        sentences.append(_errors(selector))
    return sentences


def _held(
    selector: InformationSelector,
    path: SelectionPathDisplay,
    criterion: BaseCriterion,
    target: str,
    whole: float,
) -> str:
    k = len(selector.path_)
    last, first = float(path.scores[k - 1]), float(path.scores[0])
    error = float(selector.standard_errors_[steps_of(selector)[k - 1]])
    amount = f"{with_error(last, error)} of the {bits(whole)} bits of {target}"
    together = "Together they hold" if k > 1 else "It holds"
    if k < len(path.names):
        together = f"The first {k} together hold" if k > 1 else "The first holds"
    alone = f"; {path.names[0]} alone holds {bits(first)}" if k > 1 else ""
    if last < 0.0005:
        return f"{together} nothing beyond chance: {amount}."
    alpha = getattr(getattr(criterion, "entropy", None), "alpha", 1.0)
    order = "" if alpha == 1 else f", order {alpha:g}"
    return f"{together} {amount} ({100 * last / whole:.0f} %{order}){alone}."


def _errors(selector: InformationSelector) -> str:
    if np.isnan(selector.standard_errors_).all():
        width = float(np.ptp(selector.score_bounds_, axis=1).max())
        return (
            f"Computing error: every score lies in an interval at most {max(width, 1e-9):.1g} bits "
            "wide. There is no standard error for this criterion."
            + " P-values are read off a curve that is fitted to permutations."
            * any(step.fitted for step in selector.path_)
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
                f"added no more than permuted columns (level {selector.level:g})."
            )
        late = "time ran out" if selector.max_seconds is not None else "no other column was left"
        return f"The search ended because {late}."
    wanted = round(asked * selector.n_features_in_) if isinstance(asked, float) else asked
    found = counted(len(path.names), "column")
    if len(path.names) < max(int(wanted), 1):
        return f"Time ran out after {found} of {wanted} requested."
    return f"{found} {'was' if len(path.names) == 1 else 'were'} requested."


def _facts(
    selector: InformationSelector, path: SelectionPathDisplay, whole: float | None, n: int
) -> list[tuple[str, str]]:
    chosen = f"{len(selector.indices_)} of {selector.n_features_in_:,}"
    facts = [(chosen, "columns chosen"), (f"{n:,}", "rows")]
    if not len(path.scores):
        return facts
    error = float(selector.standard_errors_[steps_of(selector)[-1]])
    last = f"{with_error(path.scores[-1], error)} bits"
    if not whole:
        return [facts[0], (last, "last score"), facts[1]]
    share = f"{max(100 * float(path.scores[-1]) / whole, 0.0):.0f} %"
    return [facts[0], (last, "held together"), (share, f"of {bits(whole)} bits"), facts[1]]


def _table(
    selector: InformationSelector, path: SelectionPathDisplay, criterion: BaseCriterion
) -> Table:
    steps = steps_of(selector)
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
            *ends_of(bounds[i]),
            float(p[i]),
        ]
        for i, name in enumerate(path.names)
    ]
    unused = [] if criterion.of_the_set else ["adds"]
    unused += ["p"] if np.isnan(p).all() else []
    unused += ["std. error"] if np.isnan(errors).all() else ["low", "high"]
    kept = [i for i, name in enumerate(columns) if name not in unused]
    return Table([columns[i] for i in kept], [[row[i] for i in kept] for row in rows], "score")


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
    arguments = "".join(f"    {name}={value!r},\n" for name, value in given.items())
    call = f"InformationSelector(\n{arguments})" if arguments else "InformationSelector()"
    data = "X, y, sample_weight" if weighted else "X, y"
    used, lines = set(re.findall(r"\b[A-Z]\w*", call)), list[str]()
    for module in (lorenyi, lorenyi.selection):
        if names := sorted(used.intersection(module.__all__)):
            lines.append(f"from {module.__name__} import {', '.join(names)}")
    lines += ["", f"selector = {call}.fit({data})", "selector.get_feature_names_out()"]
    return "\n".join(lines)
