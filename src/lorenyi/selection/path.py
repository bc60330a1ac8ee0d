"""What a search found, as people read it; and what follows from it."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lorenyi.selection.judges import Judge, Sampling, Step
from lorenyi.selection.sampled import Look, leads
from lorenyi.selection.search import Path, Search

NULLS = 20  # permutations of each feature alone; their standardized values are pooled


class SelectionPath(Sequence[Step]):
    """The steps of a search, with the names of their features.

    Parameters
    ----------
    path : Path
        What was found.
    names : list of list of str
        The columns of each feature.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lorenyi.selection import InformationSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> InformationSelector(2).fit(X, y).path_
    step  feature  information    gain   p  within a standard error
       1  x3       0.853 ± 0.027  0.853  -  x2
       2  x2       1.115 ± 0.028  0.262  -  -
    """

    def __init__(self, path: Path, names: list[list[str]]) -> None:
        self.path, self._names = path, names

    def __len__(self) -> int:
        """Number of steps."""
        return len(self.path.steps)

    def __getitem__(self, index: Any) -> Any:
        """Return a step, or several."""
        return self.path.steps[index]

    def __iter__(self) -> Iterator[Step]:
        """Iterate over the steps."""
        return iter(self.path.steps)

    def name(self, feature: int) -> str:
        """Return what a feature is called: its columns."""
        return ", ".join(self._names[feature])

    @property
    def best_refused(self) -> str:
        """The name of the best candidate that was not good enough."""
        return "" if self.path.refused is None else self.name(self.path.refused.feature)

    def table(self) -> dict[str, list[Any]]:
        """Return the steps as columns, for a data frame."""
        steps = self.path.steps
        return {
            "feature": [self.name(s.feature) for s in steps],
            "score": [s.score for s in steps],
            "standard_error": [s.standard_error for s in steps],
            "gain": [s.gain for s in steps],
            "p_value": [s.p_value for s in steps],
            "rows": [s.rows for s in steps],
            "ties": [[self.name(int(f)) for f in s.ties] for s in steps],
        }

    def _lines(self) -> list[list[str]]:
        lines = [["step", "feature", "information", "gain", "p", "within a standard error"]]
        for number, step in enumerate(self.path.steps, start=1):
            ties = [self.name(int(f)) for f in step.ties]
            shown = ties if len(ties) <= 4 else [*ties[:3], f"and {len(ties) - 3} more"]
            p = "-" if math.isnan(step.p_value) else f"{step.p_value:.2g}"
            lines.append(
                [
                    str(number),
                    self.name(step.feature),
                    _with_error(step.score, step.standard_error),
                    f"{step.gain:.3f}",
                    p,
                    ", ".join(shown) or "-",
                ]
            )
        return lines

    def __repr__(self) -> str:
        """Show a table of the steps."""
        lines = self._lines()
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        rows = [
            "  ".join(
                cell.rjust(w) if k == 0 else cell.ljust(w)
                for k, (cell, w) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        head, *lines = [[html.escape(cell) for cell in line] for line in self._lines()]
        rows = "".join(f"<tr>{''.join(f'<td>{c}</td>' for c in line)}</tr>" for line in lines)
        return f"<table><tr>{''.join(f'<th>{c}</th>' for c in head)}</tr>{rows}</table>"


def _with_error(value: float, error: float) -> str:
    return f"{value:.3f}" if math.isnan(error) else f"{value:.3f} ± {error:.3f}"


def ranking(path: Path, chosen: list[int], units: list[list[int]], columns: int) -> np.ndarray:
    """Return the rank of each column: 1 for the first, then as the last step saw the others."""
    others = [u for u in range(len(units)) if u not in chosen]
    last = path.refused
    if last is None and path.steps:
        last = path.steps[-1]
    seen = {}
    if last is not None:
        scores = np.nan_to_num(last.scores, nan=-np.inf)
        seen = dict(zip(last.candidates.tolist(), scores.tolist(), strict=True))
    places = {u: -k for k, u in enumerate(path.dropped)}  # the last to go is the next best
    others.sort(key=lambda u: (-places.get(u, -len(units)), -seen.get(u, -np.inf), u))
    found = np.empty(columns, dtype=np.int64)
    for rank, u in enumerate([*chosen, *others], start=1):
        found[units[u]] = rank
    return found


def smallest(path: Path, judge: Judge) -> Path:
    """Cut a path where its score is first within a standard error of the best one on it."""
    features = path.features
    if len(features) < 2 or not isinstance(judge, Sampling):
        return path
    look = Look(judge.engine.count)
    found = np.vstack([judge.reached(tuple(features[: k + 1]), look) for k in range(len(features))])
    lead, error = leads(found, int(np.argmax(found[:, 0])))
    size = int(np.argmax(lead <= error)) + 1
    path.steps, path.refused = path.steps[:size], [*path.steps, path.refused][size]
    return path


def relevance(judge: Judge, search: Search, level: float) -> np.ndarray:
    """Return the p-value of each feature by itself, against no information at all.

    Each is compared with its own permutations, and each of these with the others. Distances from
    their mean, in standard deviations, are pooled over all features, so that many features show
    small probabilities.
    """
    if not isinstance(judge, Sampling):
        raise ValueError(
            "n_features_to_select='relevant' needs scores with sampling errors: a criterion such "
            "as NeighborInformation() or JMI(), without a Renyi entropy"
        )
    found = np.ones(len(search.same))
    candidates = np.array([i for i in range(len(search.same)) if i not in search.last])
    if not len(candidates):
        return found
    look = Look(judge.engine.count)
    scores = judge.values(candidates, (), look)[:, 0]
    null = judge.values(candidates, (), Look(look.blocks, NULLS))
    others = [np.delete(null, b, axis=1) for b in range(NULLS)]
    pooled = np.concatenate([_standard(null[:, b], o) for b, o in enumerate(others)])
    pooled, z = np.sort(pooled), _standard(scores, null[:, 1:])
    above = len(pooled) - np.searchsorted(pooled, z - 1e-12)
    found[candidates] = (1 + above) / (1 + len(pooled))
    return found


def _standard(values: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Return how many deviations of its permutations each value lies above their mean."""
    deviation = null.std(axis=1, ddof=1)
    safe = np.where(deviation > 0, deviation, np.inf)
    return np.asarray((values - null.mean(axis=1)) / safe)


def rejected(p: np.ndarray, level: float) -> np.ndarray:
    """Mark the small probabilities: a share `level` of them at most is expected to be false.

    The procedure of Benjamini and Hochberg.
    """
    order = np.argsort(p)
    passing = np.flatnonzero(p[order] <= level * np.arange(1, len(p) + 1) / len(p))
    found = np.zeros(len(p), dtype=bool)
    if len(passing):
        found[order[: passing[-1] + 1]] = True
    return found
