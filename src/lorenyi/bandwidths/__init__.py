"""Rules that choose a kernel's bandwidth from the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from lorenyi.bandwidths.deviation import Scott, Silverman
from lorenyi.bandwidths.geometric import GeometricMean
from lorenyi.bandwidths.median import Median
from lorenyi.bandwidths.nearest import Nearest
from lorenyi.bandwidths.rule import Bandwidth

__all__ = [
    "Bandwidth",
    "GeometricMean",
    "Median",
    "Nearest",
    "Scott",
    "Sigma",
    "Silverman",
    "checked_sigma",
]

_RULES: dict[str, Bandwidth] = {"median": Median(), "scott": Scott(), "silverman": Silverman()}

Sigma: TypeAlias = float | Sequence[float] | Bandwidth | Literal["median", "scott", "silverman"]


def checked_sigma(sigma: Sigma, kernel: str) -> float | tuple[float, ...] | Bandwidth:
    """Return a bandwidth as a number, one for each column, or a rule; refuse anything else."""
    if isinstance(sigma, Bandwidth) or (type(sigma) is float and 0 < sigma < np.inf):
        return sigma
    if isinstance(sigma, str):
        if sigma not in _RULES:
            raise ValueError(
                f"{kernel}(sigma={sigma!r}): the rules are {', '.join(map(repr, _RULES))}; or "
                "give a positive number"
            )
        return _RULES[sigma]
    try:
        values = np.asarray(sigma, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.asarray(np.nan)
    if values.ndim > 1 or values.size == 0 or not np.all((values > 0) & np.isfinite(values)):
        raise ValueError(
            f"{kernel}(sigma={sigma!r}): sigma must be positive and finite (a number, or one "
            "for each column), or a bandwidth rule such as 'median'"
        )
    return float(values) if values.ndim == 0 else tuple(float(v) for v in values)
