r"""What makes a feature worth choosing: criteria as small frozen values.

A criterion gives every candidate x a score, from entropies of x, the chosen features s_1, s_2, ...
and the target y; the search takes the candidate with the largest. Each comes in two flavours:
Shannon's information of discretised columns (`entropy=None`), or any `Renyi` functional of the
columns as they are. Your own is a frozen dataclass with one method:

>>> from dataclasses import dataclass
>>> from lorenyi.selection import Criterion, InformationSelector
>>> @dataclass(frozen=True)
... class CIFE(Criterion):
...     '''Conditional infomax: relevance without what repeats the chosen ones.'''
...
...     def score(self, t):
...         return t.relevance - (t.redundancy - t.conditional_redundancy).sum(axis=1)
>>> InformationSelector(2, criterion=CIFE()).fit([[0, 5], [0, 6], [1, 5], [1, 6]], [0, 0, 1, 1])
InformationSelector(criterion=CIFE(entropy=None, bins=5), n_features_to_select=2)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from lorenyi.functionals import Renyi
from lorenyi.selection.counts import Counts
from lorenyi.selection.information import Features, Information, Side
from lorenyi.selection.intervals import Intervals, ratio, stack
from lorenyi.selection.spectra import Kernels
from lorenyi.selection.table import Table


class Terms:
    """What a criterion is made of: informations of c candidates and k chosen features, in bits.

    Arrays of c, or of c x k with a column for each chosen feature in order of selection: NumPy
    arrays where entropies are exact, else `Intervals`, which have the same arithmetic and the
    same `sum`, `mean`, `min` and `max`. Each is computed when it is asked for.

    Parameters
    ----------
    information : Information
        Where the entropies come from.
    candidates : array of int
        Features to score.
    chosen : tuple of int
        Features chosen before, in order.
    tol : float or array of c
        Width in bits to which an entropy must be known.
    above : float, optional
        Only upper ends of scores are wanted, and those above this one, where a term can tell
        which ends of entropies these need (`set_relevance` can).
    """

    def __init__(
        self,
        information: Information,
        candidates: np.ndarray,
        chosen: Features,
        tol: Any,
        above: float | None = None,
    ) -> None:
        self.information = information
        self.candidates = candidates
        self.chosen = chosen
        self.tol = tol
        self.above = above

    def joint(
        self, given: Features, target: bool, side: Side = "both", enough: Any = np.nan
    ) -> Any:
        """Return S(x, given), or S(x, given, y) with the target."""
        return self.information.joint(self.candidates, given, target, self.tol, side, enough)

    def alone(self, given: Features, target: bool) -> Any:
        """Return S(given), or S(given, y) with the target."""
        found = self.information.alone(given, target, 0.1 * float(np.min(self.tol)))
        return found if type(found) is float else Intervals.of(found)

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
        labels = self.alone((), True)
        if self.above is None or not isinstance(labels, Intervals):
            return self.joint(self.chosen, False) - self.joint(self.chosen, True) + labels
        # First what comes at once of both, then each as far as needed.
        need = self.above - float(labels.high)
        minus = self.joint(self.chosen, True, "low", -np.inf)
        plus = self.joint(self.chosen, False, "high", np.inf)
        minus = self.joint(self.chosen, True, "low", plus.high - need)
        plus = self.joint(self.chosen, False, "high", need + minus.low)
        return plus - minus + labels

    @property
    def _none(self) -> np.ndarray:
        return np.zeros((len(self.candidates), 0))


def _row(x: Any) -> Any:
    return x[None] if isinstance(x, Intervals) else np.array([x])


def _column(x: Any) -> Any:
    return x[:, None]


@dataclass(frozen=True)
class Criterion(ABC):
    """Base of all criteria: where information comes from, and one formula.

    Parameters
    ----------
    entropy : Renyi, optional
        The functional, on columns as they are. None: Shannon's, on discretised columns.
    bins : int
        Bins of equal frequency, for Shannon's.
    """

    entropy: Renyi | None = None
    bins: int = 5

    #: Whether a score is that of the whole set, so that what a feature adds is a difference.
    of_the_set: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.entropy is not None and not isinstance(self.entropy, Renyi):
            raise TypeError(
                f"entropy={self.entropy!r}: give a functional such as Renyi(alpha=2, rank=100), "
                "or None for Shannon's entropy of discretised columns"
            )
        integer = isinstance(self.bins, (int, np.integer)) and not isinstance(self.bins, bool)
        if not integer or self.bins < 2:
            raise ValueError(f"bins={self.bins!r}: it must be an integer of at least 2")

    @abstractmethod
    def score(self, t: Terms) -> Any:
        """Return a score for each candidate, the larger the better.

        Parameters
        ----------
        t : Terms
            Informations of candidates, chosen features and target.

        Returns
        -------
        array, or Intervals
        """

    def information(self, table: Table, workers: int | None = None) -> Information:
        """Return where this criterion's entropies come from."""
        if self.entropy is None:
            return Counts(table, self.bins)
        return Kernels(table, self.entropy, workers)


@dataclass(frozen=True)
class JointInformation(Criterion):
    r"""The information of the whole set about the target: LRMI with a rank, MRMI without.

    .. math:: I(x, s_1, \dots, s_k; y) = S(x, s_1, \dots, s_k) + S(y) - S(x, s_1, \dots, s_k, y)

    It sees what features tell only together, and that a repeated one tells nothing new. The
    score is that of the set after x has joined it.

    Parameters
    ----------
    entropy : Renyi
        The functional. None: Shannon's, on discretised columns, whose tables become sparse after
        a few columns.
    bins : int
        Bins of equal frequency, for Shannon's.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi.selection import InformationSelector, JointInformation
    >>> X = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]] * 3)
    >>> y = X[:, 0] ^ X[:, 1]
    >>> InformationSelector(2, criterion=JointInformation()).fit(X, y).scores_.round(3)
    array([0.261, 0.408])
    """

    entropy: Renyi | None = Renyi(alpha=2, rank=100)
    of_the_set: ClassVar[bool] = True

    def score(self, t: Terms) -> Any:
        """Return I(x, s_1, ..., s_k; y)."""
        return t.set_relevance


@dataclass(frozen=True)
class MIFS(Criterion):
    r"""Mutual information feature selection (Battiti 1994).

    .. math:: I(x; y) - \beta \sum_s I(x; s)

    Parameters
    ----------
    entropy : Renyi, optional
        The functional; None for Shannon's, on discretised columns.
    bins : int
        Bins of equal frequency, for Shannon's.
    beta : float
        Weight of the redundancy.
    """

    beta: float = 0.7

    def score(self, t: Terms) -> Any:
        """Return I(x; y) - beta sum_s I(x; s)."""
        return t.relevance - self.beta * t.redundancy.sum(axis=1)


@dataclass(frozen=True)
class FOU(Criterion):
    r"""First-order utility (Brown 2009), also known as conditional infomax.

    .. math:: I(x; y) - \sum_s [I(x; s) - I(x; s \mid y)]
    """

    def score(self, t: Terms) -> Any:
        """Return I(x; y) - sum_s [I(x; s) - I(x; s | y)]."""
        return t.relevance - (t.redundancy - t.conditional_redundancy).sum(axis=1)


@dataclass(frozen=True)
class MRMR(Criterion):
    r"""Maximum relevance, minimum redundancy (Peng, Long and Ding 2005).

    .. math:: I(x; y) - \frac{1}{k} \sum_s I(x; s)
    """

    def score(self, t: Terms) -> Any:
        """Return I(x; y) minus the mean of I(x; s)."""
        return t.relevance - (1 / max(len(t.chosen), 1)) * t.redundancy.sum(axis=1)


@dataclass(frozen=True)
class JMI(Criterion):
    r"""Joint mutual information (Yang and Moody 1999).

    .. math:: \sum_s I(x, s; y), \quad \text{at first } I(x; y)
    """

    def score(self, t: Terms) -> Any:
        """Return the sum of I(x, s; y)."""
        return t.joint_relevance.sum(axis=1) if t.chosen else t.relevance


@dataclass(frozen=True)
class CMIM(Criterion):
    r"""Conditional mutual information maximisation (Fleuret 2004).

    .. math:: \min_s I(x; y \mid s), \quad \text{at first } I(x; y)
    """

    def score(self, t: Terms) -> Any:
        """Return the least of I(x; y | s)."""
        return t.conditional_relevance.min(axis=1) if t.chosen else t.relevance


@dataclass(frozen=True)
class DISR(Criterion):
    r"""Double input symmetrical relevance (Meyer and Bontempi 2006).

    .. math:: \sum_s \frac{I(x, s; y)}{S(x, s, y)}, \quad \text{at first } \frac{I(x; y)}{S(x, y)}
    """

    def score(self, t: Terms) -> Any:
        """Return the sum of I(x, s; y) / S(x, s, y)."""
        if not t.chosen:
            return ratio(t.relevance, t.joint((), True))
        return ratio(t.joint_relevance, t.joint_entropy).sum(axis=1)


def renyi_criteria(
    alphas: tuple[float, ...] = (0.6, 1.01, 2.0),
    ranks: tuple[int | None, ...] = (100, 200, 400),
    criterion: type[Criterion] = JointInformation,
) -> list[Criterion]:
    """Return a criterion for every order and rank, to choose among by cross-validation.

    Parameters
    ----------
    alphas : tuple of float
        Orders.
    ranks : tuple of int or None
        Ranks; None is the classical entropy.
    criterion : type
        The criterion, made as `criterion(entropy=Renyi(alpha, rank))`.

    Examples
    --------
    >>> from lorenyi.selection import renyi_criteria
    >>> grid = {"select__criterion": renyi_criteria(), "select__n_features_to_select": [5, 10]}
    >>> len(grid["select__criterion"])
    9
    """
    return [criterion(entropy=Renyi(alpha, rank)) for alpha in alphas for rank in ranks]
