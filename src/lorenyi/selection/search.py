"""Greedy search: the best candidate at each step, certified; when to stop; floating back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from lorenyi.estimate import Estimate
from lorenyi.selection.criteria import Criterion
from lorenyi.selection.information import Features, Information
from lorenyi.selection.race import REPORTED, TIE, Race, reported, score
from lorenyi.selection.table import Table

Progress = Callable[[str], None]


@dataclass
class Path:
    """What a search found: features in order of selection, with the score after each.

    Attributes
    ----------
    features : list of int
        Chosen, in order.
    scores : list of Estimate
        The criterion when each was chosen.
    p_values : list of float
        How often a permuted column would have scored as high, where that was asked for.
    dropped : list of int
        Features that a backward step took out again.
    target_entropy : float
        S(y), of which the scores are shares.
    """

    features: list[int] = field(default_factory=list)
    scores: list[Estimate] = field(default_factory=list)
    p_values: list[float] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    target_entropy: float = np.nan


@dataclass(frozen=True)
class Stop:
    """When a search ends by itself: a feature must do better than its own permutations.

    Parameters
    ----------
    level : float
        Probability, over permutations, of going on although the best of all candidates tells
        nothing more.
    tol : float
        What a feature must add at least, in bits.
    permutations : int
        How many permuted columns to compare with.
    seed : int
        Of the permutations.
    """

    level: float = 0.05
    tol: float = 0.0
    permutations: int = 30
    seed: int = 0

    def p_value(
        self,
        criterion: Criterion,
        table: Table,
        feature: int,
        chosen: Features,
        found: float,
        candidates: int,
        workers: int | None,
    ) -> float:
        r"""Return how likely the best of some useless candidates has such a score.

        The score is compared with that of a constant column, which tells nothing, and with those
        of the same column permuted. As the candidate is the best of m, a tail of 1 in m matters,
        which a few permutations do not show: it is read off Pearson's type III curve with their
        mean, variance and skewness, or with the skewness of the gamma distribution that begins
        where a constant column is if that is larger (for a contingency table the limit is
        :math:`\chi^2`, which is one), and :math:`1 - (1 - p)^m` is returned.
        """
        null = table.permuted(feature, chosen, self.permutations, self.seed)
        information = criterion.information(null, workers)
        copies = np.arange(len(chosen), len(null.features))
        given = tuple(range(len(chosen)))
        score(criterion, information, copies, given, 1e-3)  # then it is known
        *values, before = score(
            criterion, information.guesses(), copies, given, 1e-3
        ).value.tolist()
        if found - before <= self.tol + TIE:
            return 1.0
        mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
        if not deviation > 1e-9:
            return 1.0 if found <= max(values) + TIE else 1.0 / (1 + self.permutations)
        gamma = 2 * deviation / (mean - before) if mean > before else 0.0
        skew = min(max(float(stats.skew(values, bias=False)), gamma, 0.0), 3.0)
        z = (found - mean) / (deviation * (1 + 1 / len(values)) ** 0.5)
        p = float(stats.pearson3.sf(z, skew))
        return float(-np.expm1(candidates * np.log1p(-min(p, 1 - 1e-16))))


def forward(
    criterion: Criterion,
    table: Table,
    count: int,
    *,
    first: Sequence[int] = (),
    last: Sequence[int] = (),
    same: Sequence[int] | None = None,
    stop: Stop | None = None,
    floating: bool = False,
    pairs: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Path:
    """Choose features one at a time, each the best companion of those chosen before.

    Parameters
    ----------
    criterion : Criterion
        What to maximise.
    table : Table
        Features, target, weights.
    count : int
        How many features, at most with a `stop`.
    first : sequence of int
        Features that must be in, chosen before all others.
    last : sequence of int
        Features that tell nothing (constant ones), chosen when no others are left.
    same : sequence of int, optional
        A number for each feature, equal where one repeats the other; repetitions of a chosen
        feature wait until no others are left.
    stop : Stop, optional
        Ends the search before.
    floating : bool
        After each step, take out again a feature without which the rest score better than any
        set of that size before.
    pairs : bool
        Begin with the best two features instead of the best one.
    workers : int, optional
        Threads at most.
    progress : callable, optional
        Called with a line after each step.
    """
    information = criterion.information(table, workers)
    race = Race(criterion, information)
    same = range(len(table.features)) if same is None else same
    path = Path()
    record: dict[int, float] = {}
    if pairs and not first and count > 1:
        free, _ = _candidates(len(table.features), (), same, last)
        pair = race.best_pair(free) if len(free) > 1 else ()
        first = sorted(pair, key=lambda i: -float(reported(criterion, information, i, ())))
    while len(path.features) < count:
        chosen = tuple(path.features)
        required = [i for i in first if i not in chosen]
        candidates, fresh = _candidates(len(table.features), chosen, same, last)
        if stop is not None and chosen and not fresh and not required:
            break
        i = required[0] if required else race.best(candidates, chosen)
        found = reported(criterion, information, i, chosen)
        p = np.nan
        if stop is not None and chosen and not required:
            value, m = float(found), len(candidates)
            p = stop.p_value(criterion, table, i, chosen, value, m, workers)
            if p > stop.level:
                break
        path.p_values.append(p)
        path.features.append(i)
        path.scores.append(found)
        if progress is not None:
            progress(f"{len(path.features)} of {count}: feature {i}, {float(found):.4f} bits")
        if floating and not required:
            _float_back(criterion, information, path, record, set(first))
    path.target_entropy = float(information.alone((), True, REPORTED))
    return path


def _candidates(
    count: int, chosen: Features, same: Sequence[int], last: Sequence[int]
) -> tuple[np.ndarray, bool]:
    """Return the features to choose from, and whether they may tell something new.

    Repetitions of chosen ones come when nothing else is left, constant ones after them.
    """
    free = [i for i in range(count) if i not in chosen]
    seen = {same[i] for i in chosen}
    fresh = [i for i in free if same[i] not in seen and i not in last]
    return np.array(fresh or [i for i in free if i not in last] or free), bool(fresh)


def _float_back(
    criterion: Criterion,
    information: Information,
    path: Path,
    record: dict[int, float],
    required: set[int],
) -> None:
    """Take out features as long as the rest are better than any set of that size before."""
    size = len(path.features)
    record[size] = max(record.get(size, -np.inf), float(path.scores[-1]))
    while len(path.features) > 2:
        # The last is the one that just came in: leaving it out leads back to where we were.
        options = []
        for j in path.features[:-1]:
            rest = [i for i in path.features if i != j]
            if j not in required:
                options.append((reported(criterion, information, rest[-1], tuple(rest[:-1])), j))
        if not options:
            return
        found, j = max(options, key=lambda option: (float(option[0]), -option[1]))
        size = len(path.features) - 1
        if not float(found.low) > record.get(size, -np.inf) + TIE:
            return
        at = path.features.index(j)
        path.dropped.append(j)
        path.features.pop(at)
        path.scores.pop(at)
        path.p_values.pop(at)
        path.scores[-1] = found
        record[size] = float(found)
