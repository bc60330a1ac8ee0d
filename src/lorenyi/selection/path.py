"""What a search found, as people read it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lorenyi import _html


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a search: the chosen feature, and the scores of all candidates.

    Attributes
    ----------
    feature : int
        Chosen.
    score : float
        The criterion, in bits. For `NeighborInformation`, the most information that the features up
        to this one show: each has the bandwidth that predicts best, so it never falls later.
    gain : float
        What the feature added to the score of the set; of criteria of pairs, the score.
    bounds : tuple of float
        Ends of the score, as computed: they differ where it was certified.
    rows, candidates : int, array of int
        Rows on which candidates were compared, and who was to be chosen from. The score is that of
        all rows that are looked at.
    scores, standard_errors : array
        Of the candidates, compared with the score; NaN where a certified search did not need them.
    ties : array of int
        Candidates within a standard error of the lead: another sample might have chosen them.
    standard_error : float
        Of the score, from the sampling of rows; NaN where only the computation is bounded.
    p_value : float
        Probability that the best of useless candidates scores as high; NaN if it was not asked for.
    fitted : bool
        Whether the p-value was read off a curve that was fitted to permutations.
    """

    feature: int
    score: float
    gain: float
    bounds: tuple[float, float]
    rows: int
    candidates: np.ndarray
    scores: np.ndarray
    standard_errors: np.ndarray
    ties: np.ndarray
    standard_error: float = math.nan
    p_value: float = math.nan
    fitted: bool = False


@dataclass(eq=False, repr=False)
class SelectionPath(Sequence[Step]):
    """The steps of a search, with the names of their features.

    Parameters
    ----------
    names : sequence of str
        Of all features.
    target_entropy : float
        Bits that there are to be known about the target.
    steps : list of Step
        In order of selection.
    refused : Step or None
        The best candidate that was not good enough.
    dropped : list of int
        Features that were taken out again, the last one first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lorenyi.selection import InformationSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> InformationSelector(2).fit(X, y).path_
    step  feature  information    gain   p  within a standard error
       1  x3       1.046 ± 0.039  1.046  -  x2
       2  x1       1.209 ± 0.042  0.163  -  x2
    """

    names: Sequence[str]
    target_entropy: float = math.nan
    steps: list[Step] = field(default_factory=list)
    refused: Step | None = None
    dropped: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: Any) -> Any:
        return self.steps[index]

    @property
    def features(self) -> tuple[int, ...]:
        """Chosen features, in order."""
        return tuple(step.feature for step in self.steps)

    @property
    def best_refused(self) -> str:
        """The name of the best candidate that was not good enough."""
        return "" if self.refused is None else self.names[self.refused.feature]

    def others(self, chosen: Sequence[int]) -> list[int]:
        """Return all other features, the best first, as the last step saw them."""
        scores = np.full(len(self.names), -np.inf)
        if last := self.refused or (self.steps[-1] if self.steps else None):
            scores[last.candidates] = np.nan_to_num(last.scores, nan=-np.inf)
        # The last to go is the next best.
        places = {feature: k for k, feature in enumerate(self.dropped)}
        left = [f for f in range(len(self.names)) if f not in chosen]
        return sorted(left, key=lambda f: (places.get(f, len(places)), -scores[f], f))

    def table(self) -> dict[str, list[Any]]:
        """Return the steps as columns, for a data frame."""
        numbers = ("score", "standard_error", "gain", "p_value", "rows")
        return {
            "feature": [self.names[step.feature] for step in self],
            **{column: [getattr(step, column) for step in self] for column in numbers},
            "ties": [[self.names[f] for f in step.ties.tolist()] for step in self],
        }

    def _lines(self) -> list[list[str]]:
        lines = [["step", "feature", "information", "gain", "p", "within a standard error"]]
        for number, step in enumerate(self, start=1):
            ties = [self.names[f] for f in step.ties.tolist()]
            ties = ties if len(ties) <= 4 else [*ties[:3], f"and {len(ties) - 3} more"]
            error = "" if math.isnan(step.standard_error) else f" ± {step.standard_error:.3f}"
            p = "-" if math.isnan(step.p_value) else f"{step.p_value:.2g}"
            p += " (fitted)" * step.fitted
            shown = [f"{step.score:.3f}{error}", f"{step.gain:.3f}", p, ", ".join(ties) or "-"]
            lines.append([str(number), self.names[step.feature], *shown])
        return lines

    def __repr__(self) -> str:
        columns = [list(column) for column in zip(*self._lines(), strict=True)]
        widths = [max(map(len, column)) for column in columns]
        padded = [[cell.ljust(w) for cell in c] for c, w in zip(columns, widths, strict=True)]
        padded[0] = [cell.rjust(widths[0]) for cell in columns[0]]
        return "\n".join("  ".join(line).rstrip() for line in zip(*padded, strict=True))

    def _repr_html_(self) -> str:
        head, *rows = self._lines()
        return _html.table(head, rows)
