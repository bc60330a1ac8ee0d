"""What criteria are made of: joint entropies of features and target, for many candidates at once.

All criteria are formulas in S(x, Z) and S(x, Z, y): a candidate x, chosen features Z, the target y.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from lorenyi.estimate import Estimate
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Table

Side: TypeAlias = Literal["low", "high", "both"]  # the ends of an interval that are wanted


class Wanted(NamedTuple):
    """How well an entropy is to be known.

    Parameters
    ----------
    tol : float
        Width in bits that is narrow enough.
    enough : float
        A lower end that is as high, or an upper end that is as low, need not be better.
    side : {"low", "high", "both"}
        The ends that are wanted.
    """

    tol: float
    enough: float = math.nan
    side: Side = "both"

    @property
    def at_once(self) -> bool:
        """Whether any end is good enough: what comes without much work is wanted."""
        return self.enough == {"low": -math.inf, "high": math.inf, "both": math.nan}[self.side]

    def met(self, found: Estimate) -> bool:
        """Tell whether an interval is good enough."""
        if found.width <= max(self.tol, 1e-13):
            return True
        if self.side == "low":
            return found.low >= self.enough
        return self.side == "high" and found.high <= self.enough


class Information(ABC):
    """Entropies of a table's features and target, in bits.

    Parameters
    ----------
    table : Table
        Features, target, weights.
    """

    def __init__(self, table: Table) -> None:
        self.table = table

    def guesses(self) -> Information:
        """Return the same as numbers: the most likely values of what is known so far."""
        return self

    @abstractmethod
    def joint(
        self,
        x: np.ndarray,
        given: Features,
        target: bool,
        tol: Any,
        side: Side = "both",
        enough: Any = math.nan,
    ) -> Any:
        """Return S(x, given) or S(x, given, target) for each candidate of an array.

        Parameters
        ----------
        x : array of int
            Candidates.
        given : tuple of int
            Other features.
        target : bool
            Whether the target is among the variables.
        tol : float or array
            Width in bits that is narrow enough (for each).
        side : {"low", "high", "both"}
            Ends of the intervals that are wanted.
        enough : float or array
            A lower end that is as high, or an upper end that is as low, need not be better; where
            any is good enough (infinite), what comes at once is returned.

        Returns
        -------
        array, or Intervals
        """

    @abstractmethod
    def alone(self, given: Features, target: bool, tol: float) -> Any:
        """Return S(given) or S(given, target): a number, or an Estimate."""
