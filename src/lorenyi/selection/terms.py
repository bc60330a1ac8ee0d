"""What criteria are made of: informations of candidates, chosen features and target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from lorenyi.intervals import Intervals, stack
from lorenyi.joints import Joints
from lorenyi.selection.sampled import Features, Look, Sampled


class Terms(ABC):
    """What a criterion is made of: informations of c candidates and k chosen features, in bits.

    Arrays of c, or of c x k with a column for each chosen feature in order of selection: of NumPy,
    or certified `Intervals` with the same arithmetic, `sum`, `mean`, `min` and `max`, computed when
    asked for. Where a score has a standard error, each candidate comes as often as it has values.

    Parameters
    ----------
    candidates : array of int
        Features to score.
    chosen : tuple of int
        Features chosen before, in order.
    """

    def __init__(self, candidates: Any, chosen: Sequence[int]) -> None:
        self.candidates = np.asarray(candidates, dtype=np.int64)
        self.chosen = tuple(int(i) for i in chosen)

    @abstractmethod
    def joint(self, given: Features, target: bool) -> Any:
        """Return S(x, given), or S(x, given, y) with the target, an array of c."""

    @abstractmethod
    def alone(self, given: Features, target: bool) -> Any:
        """Return S(given), or S(given, y) with the target, an array of c or of 1."""

    def _each(self, entropy: Callable[[Features, bool], Any], target: bool) -> Any:
        """Return `joint` or `alone` with each chosen feature, an array of c x k."""
        columns = [entropy((s,), target) for s in self.chosen]
        return stack(columns) if columns else np.zeros((len(self.candidates), 0))

    @cached_property
    def relevance(self) -> Any:
        """I(x; y) = S(x) + S(y) - S(x, y), an array of c."""
        return self.joint((), False) + self.alone((), True) - self.joint((), True)

    @cached_property
    def redundancy(self) -> Any:
        """I(x; s) = S(x) + S(s) - S(x, s), an array of c x k."""
        alone = self.joint((), False)[:, None] + self._each(self.alone, False)
        return alone - self._each(self.joint, False)

    @cached_property
    def conditional_redundancy(self) -> Any:
        """I(x; s | y) = S(x, y) + S(s, y) - S(x, s, y) - S(y), an array of c x k."""
        given = self._each(self.alone, True) - self._each(self.joint, True)
        return self.joint((), True)[:, None] + (given - self.alone((), True)[:, None])

    @cached_property
    def conditional_relevance(self) -> Any:
        """I(x; y | s) = S(x, s) + S(s, y) - S(x, s, y) - S(s), an array of c x k."""
        alone = self._each(self.alone, True) - self._each(self.alone, False)
        return self._each(self.joint, False) - self._each(self.joint, True) + alone

    @cached_property
    def joint_relevance(self) -> Any:
        """I(x, s; y) = S(x, s) + S(y) - S(x, s, y), an array of c x k."""
        pairs = self._each(self.joint, False) - self._each(self.joint, True)
        return pairs + self.alone((), True)[:, None]

    @cached_property
    def joint_entropy(self) -> Any:
        """S(x, s, y), an array of c x k."""
        return self._each(self.joint, True)

    @cached_property
    def set_relevance(self) -> Any:
        """I(x, s_1, ..., s_k; y): joint information of all about y, an array of c."""
        both = self.joint(self.chosen, False) - self.joint(self.chosen, True)
        return both + self.alone((), True)

    @cached_property
    def chosen_relevance(self) -> Any:
        """I(s_1, ..., s_k; y): without x, an array of c or of 1."""
        if not self.chosen:
            return np.zeros(len(self.candidates))
        return self.alone(self.chosen, False) + self.alone((), True) - self.alone(self.chosen, True)


class SampledTerms(Terms):
    """Terms from sampled rows: of each candidate the first `count` values of a look, or all."""

    def __init__(
        self, engine: Sampled, x: Any, chosen: Sequence[int], look: Look, count: int = 0
    ) -> None:
        self.count = count or engine.width(look)
        self.engine, self.look, self.features = engine, look, np.asarray(x)
        super().__init__(np.repeat(self.features, self.count), chosen)

    def joint(self, given: Features, target: bool) -> np.ndarray:
        """Return S(x, given), or S(x, given, y) with the target."""
        found = self.engine.joint(self.features, given, self.look)
        return found[int(target), :, : self.count].ravel()

    def alone(self, given: Features, target: bool) -> np.ndarray:
        """Return S(given), or S(given, y) with the target."""
        count = 1 if self.look.permutations else self.count
        found = self.engine.alone(given, self.look)[int(target), :count]
        return np.resize(found, len(self.candidates))


class CertifiedTerms(Terms):
    """Terms as intervals, from entropies to a width of `tol` bits.

    With `above`, scores need only upper bounds that exceed it: of entropies, one-sided ones.
    """

    def __init__(
        self, engine: Joints, x: Any, chosen: Sequence[int], tol: float, above: float | None = None
    ) -> None:
        super().__init__(x, chosen)
        self.engine, self.tol, self.above = engine, tol, above

    def joint(self, given: Features, target: bool) -> Intervals:
        """Return S(x, given), or S(x, given, y) with the target."""
        return self.engine.joint(self.candidates, given, target, self.tol)

    def alone(self, given: Features, target: bool) -> Intervals:
        """Return S(given), or S(given, y) with the target."""
        return Intervals.of(self.engine.alone(given, target, 0.1 * self.tol))[None]

    @cached_property
    def set_relevance(self) -> Intervals:
        """I(x, s_1, ..., s_k; y), with one-sided bounds where these are enough."""
        if self.above is None:
            return cast(Intervals, super().set_relevance)
        y, bound = self.alone((), True), partial(self.engine.joint, self.candidates, self.chosen)
        # First the cheap bounds of both, then each as far as needed.
        need = self.above - float(y.high[0])
        minus = bound(True, self.tol, "low", -np.inf)
        plus = bound(False, self.tol, "high", np.inf)
        for tol in (0.1, 0.02, self.tol):
            minus = bound(True, tol, "low", plus.high - need)
            # Where all of it would do, all of it comes before more of the other.
            enough = np.where(minus.value > plus.high - need, plus.high - need, -np.inf)
            minus = bound(True, self.tol, "low", enough)
            plus = bound(False, tol, "high", need + minus.low)
        return plus - minus + y
