"""The options of the selector, checked before any data is read."""

from __future__ import annotations

import time
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from lorenyi._threads import cores
from lorenyi.kernels import Kernel
from lorenyi.selection.criteria import BaseCriterion, NeighborInformation
from lorenyi.selection.search import Search, Stop
from lorenyi.selection.table import Table

CONSTRAINTS: dict[str, list[Any]] = {
    "criterion": [BaseCriterion],
    "kernel": [Kernel, None],
    "task": [StrOptions({"auto", "classification", "regression"})],
    "missing": [StrOptions({"error", "value"})],
    "direction": [StrOptions({"forward", "backward"})],
    "start": [StrOptions({"single", "pair", "triple"})],
    "level": [Interval(Real, 0, 1, closed="neither")],
    "tol": [Interval(Real, None, None, closed="neither")],
    "n_permutations": [Interval(Integral, 5, None, closed="left"), None],
    "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
    "n_jobs": [
        Interval(Integral, None, -1, closed="right"),
        Interval(Integral, 1, None, closed="left"),
        None,
    ],
    "random_state": ["random_state"],
}


def check(selector: Any) -> None:
    """Refuse options that do not fit together, before any data is read."""
    criterion = selector.criterion
    if selector.kernel is not None and isinstance(criterion, NeighborInformation):
        raise ValueError(
            f"kernel={selector.kernel!r}: NeighborInformation compares ranks of columns; give "
            "NeighborInformation(bandwidth=...), or a criterion with an entropy"
        )
    asked = {
        "floating=True": selector.floating,
        "direction='backward'": selector.direction == "backward",
        f"start={selector.start!r}": selector.start != "single",
    }
    for said, is_asked in asked.items():
        if is_asked and not criterion.of_the_set:
            raise ValueError(
                f"{said} needs a criterion of the whole set such as NeighborInformation(), "
                f"not {criterion!r}"
            )


def search(selector: Any, table: Table, units: list[list[int]], required: list[int]) -> Search:
    """Return the search that the options ask for; columns that are required come first."""
    unit_of = {j: u for u, unit in enumerate(units) for j in unit}
    first = list(dict.fromkeys(unit_of[j] for j in required))
    count, stop = _count(selector, len(units), len(first))
    seconds = np.inf if selector.max_seconds is None else float(selector.max_seconds)
    return Search(
        count,
        first,
        last=[u for u, feature in enumerate(table.features) if feature.constant],
        same=table.repeated(),
        stop=stop,
        start={"single": 1, "pair": 2, "triple": 3}[selector.start],
        floating=selector.floating,
        deadline=time.monotonic() + seconds,
    )


def _count(selector: Any, features: int, required: int) -> tuple[int, Stop | None]:
    """Return how many features to choose at most, and when to stop before."""
    wanted = selector.n_features_to_select
    if isinstance(wanted, str) and wanted in ("auto", "relevant", "smallest"):
        if selector.direction == "backward":
            raise ValueError(f"direction='backward' needs a number of features, not {wanted!r}")
        return features, Stop(selector.level, selector.tol, selector.n_permutations)
    number = isinstance(wanted, (int, float, np.number)) and not isinstance(wanted, bool)
    if number and isinstance(wanted, (float, np.floating)) and 0 < wanted <= 1:
        wanted = max(1, round(float(wanted) * features))
    whole = number and not isinstance(wanted, (float, np.floating))
    if not whole or not max(required, 1) <= int(wanted) <= features:
        raise ValueError(
            f"n_features_to_select={selector.n_features_to_select!r}: it must be 'auto', "
            "'relevant', 'smallest', a share, "
            f"or an integer from {max(required, 1)} to the {features} features of X"
        )
    if selector.n_permutations is None:
        return int(wanted), None
    return int(wanted), Stop(selector.level, selector.tol, selector.n_permutations, ends=False)


def seed_of(random_state: Any) -> int:
    """Return a seed: scikit-learn's random states give one."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` means, as in scikit-learn: None is one, -1 all."""
    return max(1, cores() + 1 + n_jobs) if n_jobs is not None and n_jobs < 0 else n_jobs or 1
