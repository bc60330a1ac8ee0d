"""What criteria are made of: informations of candidates, chosen features and target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from lorenyi.selection.certified.intervals import Intervals, stack
from lorenyi.selection.certified.joints import Side
from lorenyi.selection.certified.spectra import Kernels
from lorenyi.selection.sampled import Features, Look, Sampled

TOLERANCE = 1e-2  # bits, of certified terms that are only shown


class Terms(ABC):
    """What a criterion is made of: informations of c candidates and k chosen features, in bits.

    Arrays of c, or of c x k with a column for each chosen feature in order of selection: NumPy
    arrays, or `Intervals` where entropies are certified, which have the same arithmetic and the
    same `sum`, `mean`, `min` and `max`. Each is computed when it is asked for.

    Parameters
    ----------
    candidates : array of int
        Features to score.
    chosen : tuple of int
        Features chosen before, in order.
    """

    def __init__(self, candidates: np.ndarray, chosen: Features) -> None:
        self.candidates, self.chosen = candidates, chosen

    @abstractmethod
    def joint(self, given: Features, target: bool) -> Any:
        """Return S(x, given), or S(x, given, y) with the target."""

    @abstractmethod
    def alone(self, given: Features, target: bool) -> Any:
        """Return S(given), or S(given, y) with the target."""

    def _pairs(self, target: bool) -> Any:
        return stack([self.joint((s,), target) for s in self.chosen])

    def _each(self, target: bool) -> Any:
        each = stack([_row(self.alone((s,), target)) for s in self.chosen])
        return each[0]

    @cached_property
    def relevance(self) -> Any:
        """I(x; y) = S(x) + S(y) - S(x, y), an array of c."""
        return self.joint((), False) + self.alone((), True) - self.joint((), True)

    @cached_property
    def redundancy(self) -> Any:
        """I(x; s) = S(x) + S(s) - S(x, s), an array of c x k."""
        if not self.chosen:
            return self._none
        return _column(self.joint((), False)) + self._each(False) - self._pairs(False)

    @cached_property
    def conditional_redundancy(self) -> Any:
        """I(x; s | y) = S(x, y) + S(s, y) - S(x, s, y) - S(y), an array of c x k."""
        if not self.chosen:
            return self._none
        pairs = self._each(True) - self._pairs(True) - self.alone((), True)
        return _column(self.joint((), True)) + pairs

    @cached_property
    def conditional_relevance(self) -> Any:
        """I(x; y | s) = S(x, s) + S(s, y) - S(x, s, y) - S(s), an array of c x k."""
        if not self.chosen:
            return self._none
        return self._pairs(False) - self._pairs(True) + (self._each(True) - self._each(False))

    @cached_property
    def joint_relevance(self) -> Any:
        """I(x, s; y) = S(x, s) + S(y) - S(x, s, y), an array of c x k."""
        if not self.chosen:
            return self._none
        return self._pairs(False) - self._pairs(True) + self.alone((), True)

    @cached_property
    def joint_entropy(self) -> Any:
        """S(x, s, y), an array of c x k."""
        return self._pairs(True) if self.chosen else self._none

    @cached_property
    def set_relevance(self) -> Any:
        """I(x, s_1, ..., s_k; y): what all of them together tell about y, an array of c."""
        chosen, y = self.chosen, self.alone((), True)
        return self.joint(chosen, False) - self.joint(chosen, True) + y

    @cached_property
    def chosen_relevance(self) -> Any:
        """I(s_1, ..., s_k; y), a number: what the chosen features tell without x."""
        if not self.chosen:
            return 0.0
        return self.alone(self.chosen, False) + self.alone((), True) - self.alone(self.chosen, True)

    @property
    def _none(self) -> np.ndarray:
        return np.zeros((len(self.candidates), 0))


class SampledTerms(Terms):
    """Terms from sampled rows: of all of them, without one group of rows, or of a permutation.

    Parameters
    ----------
    engine : Sampled
        Where the entropies come from.
    candidates, chosen
        As for `Terms`.
    look : Look
        How much of the data to look at.
    at : int
        Which of the values that the engine gives: 0 for that of all rows.
    """

    def __init__(
        self, engine: Sampled, candidates: np.ndarray, chosen: Features, look: Look, at: int
    ) -> None:
        super().__init__(candidates, chosen)
        self.engine, self.look, self.at = engine, look, at

    def joint(self, given: Features, target: bool) -> np.ndarray:
        """Return S(x, given), or S(x, given, y) with the target."""
        return self.engine.joint(self.candidates, given, target, self.look)[:, self.at]

    def alone(self, given: Features, target: bool) -> float:
        """Return S(given), or S(given, y) with the target."""
        return float(self.engine.alone(given, target, self.look)[self.at])


class CertifiedTerms(Terms):
    """Terms as intervals, to a tolerance.

    Parameters
    ----------
    engine : Kernels
        Where the entropies come from.
    candidates, chosen
        As for `Terms`.
    tol : float
        Width in bits to which an entropy must be known.
    above : float, optional
        Only upper bounds of scores are wanted, and those above this one, where a term can tell
        which bounds of entropies these need (`set_relevance` can).
    """

    def __init__(
        self,
        engine: Kernels,
        candidates: np.ndarray,
        chosen: Features,
        tol: float,
        above: float | None = None,
    ) -> None:
        super().__init__(candidates, chosen)
        self.engine, self.tol, self.above = engine, tol, above

    def joint(
        self, given: Features, target: bool, side: Side = "both", enough: Any = np.nan
    ) -> Intervals:
        """Return S(x, given), or S(x, given, y) with the target."""
        return self.engine.joint(self.candidates, given, target, self.tol, side, enough)

    def alone(self, given: Features, target: bool) -> Intervals:
        """Return S(given), or S(given, y) with the target."""
        return Intervals.of(self.engine.alone(given, target, 0.1 * self.tol))

    @cached_property
    def set_relevance(self) -> Intervals:
        """I(x, s_1, ..., s_k; y), with one-sided bounds where these are enough."""
        chosen, y = self.chosen, self.alone((), True)
        if self.above is None:
            return self.joint(chosen, False) - self.joint(chosen, True) + y
        # First the cheap bounds of both, then each as far as needed.
        need = self.above - float(y.high)
        minus = self.joint(chosen, True, "low", -np.inf)
        plus = self.joint(chosen, False, "high", np.inf)
        minus = self.joint(chosen, True, "low", plus.high - need)
        plus = self.joint(chosen, False, "high", need + minus.low)
        return plus - minus + y


def _row(x: Any) -> Any:
    return x[None] if isinstance(x, Intervals) else np.array([x])


def _column(x: Any) -> Any:
    return x[:, None]


def terms_of(engine: Any, tol: float = TOLERANCE) -> Callable[..., Terms]:
    """Return what gives the terms of candidates and chosen features, of an engine."""

    def make(candidates: Any, chosen: Sequence[int] = ()) -> Terms:
        x, given = np.asarray(candidates, dtype=np.int64), tuple(int(i) for i in chosen)
        if isinstance(engine, Sampled):
            return SampledTerms(engine, x, given, Look(engine.first(len(x))), 0)
        return CertifiedTerms(engine, x, given, tol)

    return make
