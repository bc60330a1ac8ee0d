"""What criteria are made of: informations of candidates, chosen features and target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from lorenyi.intervals import Intervals, stack
from lorenyi.joints import Joints, Side
from lorenyi.selection.sampled import Features, Look, Sampled

TOLERANCE = 1e-2  # bits, of certified terms that are only shown


class Terms(ABC):
    """What a criterion is made of: informations of c candidates and k chosen features, in bits.

    Arrays of c, or of c x k with a column for each chosen feature in order of selection: NumPy
    arrays, or `Intervals` where entropies are certified, which have the same arithmetic and the
    same `sum`, `mean`, `min` and `max`. Each is computed when it is asked for. Where a score has a
    standard error, each candidate comes as often as it has values.

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
        """Return S(x, given), or S(x, given, y) with the target, an array of c."""

    @abstractmethod
    def alone(self, given: Features, target: bool) -> Any:
        """Return S(given), or S(given, y) with the target, an array of c or of 1."""

    def _pairs(self, target: bool) -> Any:
        return self._columns([self.joint((s,), target) for s in self.chosen])

    def _each(self, target: bool) -> Any:
        return self._columns([self.alone((s,), target) for s in self.chosen])

    def _columns(self, columns: list[Any]) -> Any:
        return stack(columns) if columns else np.zeros((len(self.candidates), 0))

    @cached_property
    def relevance(self) -> Any:
        """I(x; y) = S(x) + S(y) - S(x, y), an array of c."""
        return self.joint((), False) + self.alone((), True) - self.joint((), True)

    @cached_property
    def redundancy(self) -> Any:
        """I(x; s) = S(x) + S(s) - S(x, s), an array of c x k."""
        return self.joint((), False)[:, None] + self._each(False) - self._pairs(False)

    @cached_property
    def conditional_redundancy(self) -> Any:
        """I(x; s | y) = S(x, y) + S(s, y) - S(x, s, y) - S(y), an array of c x k."""
        pairs = self._each(True) - self._pairs(True) - self.alone((), True)[:, None]
        return self.joint((), True)[:, None] + pairs

    @cached_property
    def conditional_relevance(self) -> Any:
        """I(x; y | s) = S(x, s) + S(s, y) - S(x, s, y) - S(s), an array of c x k."""
        return self._pairs(False) - self._pairs(True) + (self._each(True) - self._each(False))

    @cached_property
    def joint_relevance(self) -> Any:
        """I(x, s; y) = S(x, s) + S(y) - S(x, s, y), an array of c x k."""
        return self._pairs(False) - self._pairs(True) + self.alone((), True)[:, None]

    @cached_property
    def joint_entropy(self) -> Any:
        """S(x, s, y), an array of c x k."""
        return self._pairs(True)

    @cached_property
    def set_relevance(self) -> Any:
        """I(x, s_1, ..., s_k; y): joint information of all about y, an array of c."""
        chosen, y = self.chosen, self.alone((), True)
        return self.joint(chosen, False) - self.joint(chosen, True) + y

    @cached_property
    def chosen_relevance(self) -> Any:
        """I(s_1, ..., s_k; y): without x, an array of c or of 1."""
        if not self.chosen:
            return np.zeros(len(self.candidates))
        return self.alone(self.chosen, False) + self.alone((), True) - self.alone(self.chosen, True)


class SampledTerms(Terms):
    """Terms from sampled rows: `count` values of each candidate, by default all of them.

    The first is that of all rows, others are its replicates or permutations, as the look has them.
    """

    def __init__(
        self,
        engine: Sampled,
        candidates: np.ndarray,
        chosen: Features,
        look: Look,
        count: int | None = None,
    ) -> None:
        self.count = engine.width(look) if count is None else count
        super().__init__(np.repeat(candidates, self.count), chosen)
        self.engine, self.look, self.features = engine, look, candidates

    def joint(self, given: Features, target: bool) -> np.ndarray:
        """Return S(x, given), or S(x, given, y) with the target."""
        found = self.engine.joint(self.features, given, self.look)
        return found[int(target), :, : self.count].ravel()

    def alone(self, given: Features, target: bool) -> np.ndarray:
        """Return S(given), or S(given, y) with the target."""
        found = self.engine.alone(given, self.look)[int(target), : self.count]
        return np.resize(found, len(self.candidates))


class CertifiedTerms(Terms):
    """Terms as intervals, from entropies to a width of `tol` bits.

    With `above`, only upper bounds of scores are wanted, as far as they exceed that, where a term
    knows which bounds of entropies these need (`set_relevance` does).
    """

    def __init__(
        self,
        engine: Joints,
        candidates: np.ndarray,
        chosen: Features,
        tol: float,
        above: float | None = None,
    ) -> None:
        super().__init__(candidates, chosen)
        self.engine, self.tol, self.above = engine, tol, above

    def joint(
        self,
        given: Features,
        target: bool,
        side: Side = "both",
        enough: Any = np.nan,
        tol: float | None = None,
    ) -> Intervals:
        """Return S(x, given), or S(x, given, y) with the target."""
        tol = self.tol if tol is None else tol
        return self.engine.joint(self.candidates, given, target, tol, side, enough)

    def alone(self, given: Features, target: bool) -> Intervals:
        """Return S(given), or S(given, y) with the target."""
        return Intervals.of(self.engine.alone(given, target, 0.1 * self.tol))[None]

    @cached_property
    def set_relevance(self) -> Intervals:
        """I(x, s_1, ..., s_k; y), with one-sided bounds where these are enough."""
        chosen, y = self.chosen, self.alone((), True)
        if self.above is None:
            return self.joint(chosen, False) - self.joint(chosen, True) + y
        # First the cheap bounds of both, then each as far as needed.
        need = self.above - float(y.high[0])
        minus = self.joint(chosen, True, "low", -np.inf)
        plus = self.joint(chosen, False, "high", np.inf)
        for tol in (0.1, 0.02, self.tol):
            minus = self.joint(chosen, True, "low", plus.high - need, tol)
            # Where all of it would do, all of it comes before more of the other.
            enough = np.where(minus.value > plus.high - need, plus.high - need, -np.inf)
            minus = self.joint(chosen, True, "low", enough, self.tol)
            plus = self.joint(chosen, False, "high", need + minus.low, tol)
        return plus - minus + y


def terms_of(engine: Any, tol: float = TOLERANCE) -> Callable[..., Terms]:
    """Return what gives the terms of candidates and chosen features, of an engine."""

    def make(candidates: Any, chosen: Sequence[int] = ()) -> Terms:
        x, given = np.asarray(candidates, dtype=np.int64), tuple(int(i) for i in chosen)
        if isinstance(engine, Sampled):
            return SampledTerms(engine, x, given, Look(engine.first(len(x))), 1)
        return CertifiedTerms(engine, x, given, tol)

    return make
