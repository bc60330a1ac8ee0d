"""The options of the selector, checked before any data is read."""

from __future__ import annotations

import time
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from lorenyi._threads import cores
from lorenyi.selection.criteria import BaseCriterion, NeighborInformation
from lorenyi.selection.search import Search, Stop
from lorenyi.selection.table import Table


def check(selector: Any) -> None:
    """Refuse parameters that do not fit, before any data is read."""
    if not isinstance(selector.criterion, BaseCriterion):
        raise TypeError(
            f"criterion={selector.criterion!r}: give a criterion such as NeighborInformation(), "
            "JointInformation() or JMI()"
        )
    if selector.kernel is not None and isinstance(selector.criterion, NeighborInformation):
        raise ValueError(
            f"kernel={selector.kernel!r}: NeighborInformation compares ranks of columns; give "
            "NeighborInformation(bandwidth=...), or a criterion with an entropy"
        )
    options = {
        "missing": ("error", "value"),
        "direction": ("forward", "backward"),
        "start": ("single", "pair", "triple"),
    }
    for name, allowed in options.items():
        if getattr(selector, name) not in allowed:
            listed = ", ".join(map(repr, allowed))
            raise ValueError(f"{name}={getattr(selector, name)!r}: it is one of {listed}")
    asked = {
        "floating=True": selector.floating,
        "direction='backward'": selector.direction == "backward",
        f"start={selector.start!r}": selector.start != "single",
    }
    for said, is_asked in asked.items():
        if is_asked and not selector.criterion.of_the_set:
            raise ValueError(
                f"{said} needs a criterion of the whole set such as NeighborInformation(), "
                f"not {selector.criterion!r}"
            )
    _require_number("level", selector.level, 0, 1, "between 0 and 1")
    _require_number("tol", selector.tol, -np.inf, np.inf, "a number of bits")
    if selector.max_seconds is not None:
        _require_number("max_seconds", selector.max_seconds, 0, np.inf, "positive, or None")
    copies = selector.n_permutations
    whole = isinstance(copies, Integral) and not isinstance(copies, bool)
    if copies is not None and (not whole or copies < 5):
        raise ValueError(f"n_permutations={copies!r}: it must be an integer of at least 5, or None")


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


def _require_number(name: str, value: Any, low: float, high: float, what: str) -> None:
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not low < float(value) < high:
        raise ValueError(f"{name}={value!r}: it must be {what}")


def seed_of(random_state: Any) -> int:
    """Return a seed: scikit-learn's random states give one."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def threads(n_jobs: int | None) -> int | None:
    """Return how many threads `n_jobs` means, as in scikit-learn: None is one, -1 all."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: give a number of threads, -1 for all cores, or None")
    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs)
