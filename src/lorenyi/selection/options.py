"""The options of the selector, checked before any data is read."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from lorenyi.kernels import Kernel
from lorenyi.selection.criteria import BaseCriterion, NeighborInformation

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


def ends(selector: Any) -> bool:
    """Return whether the search ends by itself."""
    return selector.n_features_to_select in ("auto", "relevant", "smallest")


def check(selector: Any) -> None:
    """Refuse options that do not fit together, before any data is read."""
    criterion, wanted = selector.criterion, selector.n_features_to_select
    if selector.kernel is not None and isinstance(criterion, NeighborInformation):
        raise ValueError(
            f"kernel={selector.kernel!r}: NeighborInformation compares ranks of columns; give "
            "NeighborInformation(bandwidth=...), or a criterion with an entropy"
        )
    asked = {
        "floating=True": selector.floating,
        "direction='backward'": selector.direction == "backward",
        f"start={selector.start!r}": selector.start != "single",
        "n_features_to_select='smallest'": wanted == "smallest",
    }
    for said, is_asked in asked.items():
        if is_asked and not criterion.of_the_set:
            raise ValueError(
                f"{said} needs a criterion of the whole set such as NeighborInformation(), "
                f"not {criterion!r}"
            )
    if selector.direction == "backward" and ends(selector):
        raise ValueError(f"direction='backward' needs a number of features, not {wanted!r}")
    for said in ("floating=True", f"start={selector.start!r}"):
        if selector.direction == "backward" and asked[said]:
            raise ValueError(f"{said} is for direction='forward', not 'backward'")
    if selector.must_include is not None and selector.start != "single":
        raise ValueError(
            f"start={selector.start!r} begins with the best features, must_include with given ones"
        )
    if ends(selector) and selector.start != "single" and not criterion.by_pairs:
        raise ValueError(
            f"start={selector.start!r} with {criterion!r} is not tested: give a number of features"
        )


def count(selector: Any, features: int, least: int) -> int:
    """Return how many features to choose at most: a number, or a share of them."""
    wanted = found = features if ends(selector) else selector.n_features_to_select
    if isinstance(wanted, Real) and not isinstance(wanted, Integral) and 0 < float(wanted) <= 1:
        found = max(1, round(float(wanted) * features))
    whole = isinstance(found, Integral) and not isinstance(found, bool)
    if not whole or not least <= found <= features:
        raise ValueError(
            f"n_features_to_select={wanted!r}: it must be 'auto', 'relevant', 'smallest', a share, "
            f"or an integer from {least} to the {features} features of X"
        )
    return int(found)


def seed_of(random_state: Any) -> int:
    """Return a seed: scikit-learn's random states give one."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
