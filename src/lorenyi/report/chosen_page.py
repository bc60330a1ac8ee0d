"""The page of a selection: path, pictures, maps and candidates."""

from __future__ import annotations

from typing import Any

import numpy as np

from lorenyi.data.reading import read_columns
from lorenyi.plots import RelevanceDisplay, SelectionPathDisplay
from lorenyi.report.eigenvalues import curve
from lorenyi.report.pictures import against
from lorenyi.report.tables import Section, Table, shortened, table_section
from lorenyi.selection import InformationSelector, reading
from lorenyi.selection.criteria import BaseCriterion

SHOWN = 30  # columns of the maps
BEYOND = 3  # columns of the path after the chosen ones
PICTURED = 12  # chosen columns with a picture


def sections(
    selector: InformationSelector,
    X: Any,
    y: Any,
    sample_weight: Any,
    criterion: BaseCriterion,
    target: str,
) -> list[Section]:
    """Return the sections below the answer on the page of a selection."""
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
        "text": f"{kind} One column at a time: joint effects are not visible.{few}",
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
    why = "the next was no more informative than its permutations" if auto else "as requested"
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
    steps = steps_of(selector)
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
            if i < len(selector.path_):
                row["adds"] = float(selector.gains_[steps[i]])
        if path.bounds is not None and not np.isnan(selector.standard_errors_).all():
            row["error"] = float(np.ptp(path.bounds[i])) / 2.0
        elif path.bounds is not None:
            low, high = ends_of(path.bounds[i])
            row["more"].append(f"exact value between {low:.6f} and {high:.6f}")
        if i < len(steps) and np.isfinite(selector.p_values_[steps[i]]):
            row["note"] = f"p = {selector.p_values_[steps[i]]:.2g}"
        rows.append(row)
    return rows


def _maps(others: RelevanceDisplay, d: int, target: str) -> list[Section]:
    """Return relevance against redundancy, and the information of pairs."""
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
    """Return the mean information that each column shares with the other chosen columns."""
    to_chosen = others.redundancy[:, : others.chosen]
    known = ~np.isnan(to_chosen)
    count = known.sum(axis=1)
    return np.asarray(np.where(known, to_chosen, 0.0).sum(axis=1) / np.maximum(count, 1))


def _rounded(*values: float) -> list[float]:
    """Round values of displays, which are measured to a hundredth of a bit."""
    return [round(float(value), 2) + 0.0 for value in values]


def _spectrum(selector: InformationSelector, X: Any, sample_weight: Any) -> Section:
    columns = read_columns(X)
    chosen = selector.indices_.tolist()
    symbols = [bool(selector.categorical_[j]) for j in chosen]
    joint = reading.variable([columns[j] for j in chosen], symbols)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    A = joint.gram(selector.kernel_, selector.standardize, weights)
    return curve(
        {"chosen columns": A},
        "Spectrum of the chosen columns",
        "Leading eigenvalues of their joint kernel matrix. The faster they decay, the fewer "
        "distinct rows these columns separate.",
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
        "redundancy its mean information about the chosen ones.",
        Table(["column", "step", "relevance", "redundancy"], rows),
    )


def ends_of(ends: np.ndarray) -> tuple[float, float]:
    """Return the lower and the upper end."""
    return float(ends.min()), float(ends.max())


def steps_of(selector: InformationSelector) -> list[int]:
    """Return where each chosen feature begins among the chosen columns; a group is one."""
    units = selector.feature_groups_
    unit_of = {j: u for u, unit in enumerate(units) for j in unit}
    owners = [unit_of[j] for j in selector.indices_.tolist()]
    return [i for i, u in enumerate(owners) if u not in owners[:i]]
