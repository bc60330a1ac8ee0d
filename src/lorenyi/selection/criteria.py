r"""What makes a feature worth choosing: criteria as small frozen values.

A criterion gives every candidate x a score, from entropies of x, the chosen features s_1, s_2, ...
and the target y; the search takes the largest. Entropies are Shannon's, of discretized columns
(`entropy=None`), or a functional of the columns as they are. Your own has one method:

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
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from lorenyi.functionals import CollisionEntropy, Renyi
from lorenyi.intervals import positive, ratio
from lorenyi.joints import Joints
from lorenyi.kernels import Gaussian
from lorenyi.selection.counts import Counts
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.pairs import Pairs
from lorenyi.selection.table import Table
from lorenyi.selection.terms import Terms


class BaseCriterion(ABC):
    """What makes a feature worth choosing; a frozen dataclass."""

    #: Whether a score is that of the whole set, so that what a feature adds is a difference.
    of_the_set: ClassVar[bool] = False
    #: Whether numbers are compared by their ranks alone.
    by_ranks: ClassVar[bool] = False

    @property
    def by_pairs(self) -> bool:
        """Whether entropies come from pairs of rows: others overrate labels of few rows each."""
        return True

    @abstractmethod
    def score(self, t: Any) -> Any:
        """Return a score for each candidate, the larger the better: an array, or `Intervals`.

        `t` holds the `Terms`: informations of candidates, chosen features and target.
        """

    def before(self, t: Any) -> Any:
        """Return the score of the chosen set without a candidate; 0 if scores are not of sets."""
        return np.zeros(1)

    def reached(self, t: Any) -> Any:
        """Return the score of a path, of the chosen features and one candidate after them."""
        return self.score(t)

    @abstractmethod
    def engine(self, table: Table, seed: int = 0, workers: int | None = None) -> Any:
        """Return where the entropies come from: a `Sampled`, or certified `Joints`."""

    def __call__(self, t: Any) -> Any:
        """Return the scores; scikit-learn wants a default that is no plain value to be callable."""
        return self.score(t)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, so that grid searches reach them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Criterion(BaseCriterion):
    """A formula of entropies, and where these come from.

    Parameters
    ----------
    entropy : Renyi, CollisionEntropy or None
        On columns as they are, a `Renyi`, certified, or `CollisionEntropy()`, that of order 2 from
        pairs of different rows with its sampling error. None: Shannon's, of discretized columns.
    bins : int
        Bins of equal frequency, for Shannon's.
    """

    entropy: Renyi | CollisionEntropy | None = None
    bins: int = 5

    def __post_init__(self) -> None:
        if self.entropy is not None and not isinstance(self.entropy, (Renyi, CollisionEntropy)):
            raise TypeError(
                f"entropy={self.entropy!r}: give a functional such as Renyi(alpha=2, rank=100) or "
                "CollisionEntropy(), or None for Shannon's entropy of discretized columns"
            )
        if isinstance(self.entropy, CollisionEntropy) and self.entropy != CollisionEntropy():
            raise ValueError(
                f"entropy={self.entropy!r}: pairs and seed have no meaning in a selection, which "
                "draws its own; give CollisionEntropy()"
            )
        if not isinstance(self.bins, Integral) or self.bins < 2:  # True, too, is below 2
            raise ValueError(f"bins={self.bins!r}: it must be an integer of at least 2")

    @property
    def by_pairs(self) -> bool:
        """Whether entropies come from pairs of rows."""
        return isinstance(self.entropy, CollisionEntropy)

    def engine(self, table: Table, seed: int = 0, workers: int | None = None) -> Any:
        """Return counts, pairs of rows, or certified spectra, as the entropy asks for."""
        if self.entropy is None:
            return Counts(table, self.bins, seed)
        if isinstance(self.entropy, Renyi):
            return Joints(table.variables(), self.entropy, workers)
        kernel = table.kernel
        if not isinstance(kernel, Gaussian) or not isinstance(kernel.sigma, (int, float)):
            raise ValueError(
                f"kernel={kernel!r}: {self.entropy!r} in a selection needs a Gaussian with a "
                "number, such as Gaussian(1.0); give a Renyi entropy for other kernels"
            )
        return Pairs(table, float(kernel.sigma), ranks=False, seed=seed, workers=workers)


@dataclass(frozen=True)
class NeighborInformation(BaseCriterion):
    r"""Leave-one-out information about the target from similar rows: the default.

    With :math:`w_{ij}` the product of the kernels of the features between two rows and
    :math:`t_{ij}` that of the target (1 for equal labels), each row predicts its own target from
    the others:

    .. math:: \hat p_i = \frac{\sum_{j \ne i} w_{ij} t_{ij} + a\, p_i}{\sum_{j \ne i} w_{ij} + a},
              \qquad I = \frac1n \sum_i \log_2 \frac{\hat p_i}{p_i}

    with :math:`p_i` the mean of :math:`t_{ij}`. For a candidate beside chosen features,
    :math:`a\, p_i` is a times their own prediction, so that a column of many levels loses nothing
    where few rows are equal in all. Columns of noise lower this estimate, in bits, labels of many
    levels gain nothing, and each row has its own term, so it has a standard error. Numbers are
    compared by their normal scores, so that scale and tails of a column do not matter.

    Parameters
    ----------
    bandwidth : float
        Of the kernel :math:`\exp(-(x_i - x_j)^2 / \sigma^2)` on normal scores, for candidates. The
        kernels of k chosen features are taken to the power p = min(1, 3/k), or 2 or 4 times that if
        they predict better so. A label counts for as many features as leave as few rows similar,
        and its levels have a similarity of (1 - p)^2.
    smoothing : float
        a: how many rows the mean, or the prediction of the chosen features, counts for; of a
        candidate 4 or 16 times as many if it predicts better so.
    rows : int or None
        Rows of a table that are looked at, drawn at random; None: all.
    """

    bandwidth: float = 1.0
    smoothing: float = 1.0
    rows: int | None = LIMITS.rows

    of_the_set: ClassVar[bool] = True
    by_ranks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("bandwidth", "smoothing"):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or not value > 0:
                raise ValueError(f"{name}={value!r}: it must be a positive number")
        if self.rows is not None and (not isinstance(self.rows, Integral) or self.rows < 2):
            raise ValueError(f"rows={self.rows!r}: it must be an integer of at least 2, or None")

    def score(self, t: Any) -> Any:
        """Return the information of the chosen features and each candidate."""
        return t.engine.neighbors(t.features, t.chosen, t.look)[:, : t.count].ravel()

    def before(self, t: Any) -> Any:
        """Return the most information that the chosen features show."""
        return t.engine.reached(t.chosen)

    def reached(self, t: Any) -> Any:
        """Return the most information that a path shows, each feature with its best bandwidth."""
        return t.engine.reached((*t.chosen, int(t.features[0])))

    def engine(self, table: Table, seed: int = 0, workers: int | None = None) -> Pairs:
        """Return pairs of rows."""
        return Pairs(table, self.bandwidth, True, self.smoothing, seed, workers)


@dataclass(frozen=True)
class JointInformation(Criterion):
    r"""The information of the whole set about the target: LRMI with a rank, MRMI without.

    .. math:: I(x, s_1, \dots, s_k; y) = S(x, s_1, \dots, s_k) + S(y) - S(x, s_1, \dots, s_k, y)

    It includes what features are informative of only together; a repeated one adds nothing. The
    score is that of the set after x has joined it.

    Parameters
    ----------
    entropy, bins
        As in `Criterion`; Shannon's tables become sparse after a few columns.
    """

    entropy: Renyi | None = Renyi(alpha=2, rank=100)
    of_the_set: ClassVar[bool] = True

    def score(self, t: Terms) -> Any:
        return t.set_relevance

    def before(self, t: Terms) -> Any:
        return t.chosen_relevance


@dataclass(frozen=True)
class MIFS(Criterion):
    r"""Mutual information feature selection (Battiti 1994).

    .. math:: I(x; y) - \beta \sum_s I(x; s)

    Parameters
    ----------
    entropy, bins
        As in `Criterion`.
    beta : float
        Weight of the redundancy.
    """

    beta: float = 0.7

    def score(self, t: Terms) -> Any:
        return t.relevance - self.beta * t.redundancy.sum(axis=1)


@dataclass(frozen=True)
class FOU(Criterion):
    r"""First-order utility (Brown 2009), also known as conditional infomax.

    .. math:: I(x; y) - \sum_s [I(x; s) - I(x; s \mid y)]
    """

    def score(self, t: Terms) -> Any:
        return t.relevance - (t.redundancy - t.conditional_redundancy).sum(axis=1)


@dataclass(frozen=True)
class MRMR(Criterion):
    r"""Maximum relevance, minimum redundancy (Peng, Long and Ding 2005).

    .. math:: I(x; y) - \frac{1}{k} \sum_s I(x; s)
    """

    def score(self, t: Terms) -> Any:
        return t.relevance - (1 / max(len(t.chosen), 1)) * t.redundancy.sum(axis=1)


@dataclass(frozen=True)
class JMI(Criterion):
    r"""Joint mutual information (Yang and Moody 1999).

    .. math:: \sum_s I(x, s; y), \quad \text{at first } I(x; y)
    """

    def score(self, t: Terms) -> Any:
        return t.joint_relevance.sum(axis=1) if t.chosen else t.relevance


@dataclass(frozen=True)
class JMIM(Criterion):
    r"""Joint mutual information maximization (Bennasar, Hicks and Setchi 2015).

    .. math:: \min_s I(x, s; y), \quad \text{at first } I(x; y)
    """

    def score(self, t: Terms) -> Any:
        return t.joint_relevance.min(axis=1) if t.chosen else t.relevance


@dataclass(frozen=True)
class ICAP(Criterion):
    r"""Interaction capping (Jakulin 2005): redundancy counts, synergy does not.

    .. math:: I(x; y) - \sum_s \max(0, I(x; s) - I(x; s \mid y))
    """

    def score(self, t: Terms) -> Any:
        return t.relevance - positive(t.redundancy - t.conditional_redundancy).sum(axis=1)


@dataclass(frozen=True)
class CMIM(Criterion):
    r"""Conditional mutual information maximization (Fleuret 2004).

    .. math:: \min_s I(x; y \mid s), \quad \text{at first } I(x; y)
    """

    def score(self, t: Terms) -> Any:
        return t.conditional_relevance.min(axis=1) if t.chosen else t.relevance


@dataclass(frozen=True)
class DISR(Criterion):
    r"""Double input symmetrical relevance (Meyer and Bontempi 2006).

    .. math:: \sum_s \frac{I(x, s; y)}{S(x, s, y)}, \quad \text{at first } \frac{I(x; y)}{S(x, y)}
    """

    def score(self, t: Terms) -> Any:
        if not t.chosen:
            return ratio(t.relevance, t.joint((), True))
        return ratio(t.joint_relevance, t.joint_entropy).sum(axis=1)
