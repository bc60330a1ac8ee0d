"""Time series: the information of one series' past about another's next value."""

from __future__ import annotations

from typing import Any

import numpy as np

from lorenyi import _arrays
from lorenyi.functionals import Renyi
from lorenyi.gram import Gram, gram
from lorenyi.kernels import Delta
from lorenyi.measures import Functional, conditional_mutual_information


def transfer_entropy(
    source: Any, target: Any, *, lags: int = 1, own_lags: int = 1, entropy: Functional = Renyi()
) -> Any:
    r"""Return the transfer entropy from one series to another, in bits.

    .. math:: T = I(y_t;\ x_{t-1}, \dots, x_{t-p}\ |\ y_{t-1}, \dots, y_{t-q})

    Rows of a series depend on each other, so the standard error is too small. Like every
    conditional information of few rows, T is positive by chance: `transfer_entropy_test` gives its
    significance.

    Parameters
    ----------
    source, target : array
        The series x and y, of one or several columns, in order of time.
    lags, own_lags : int
        Numbers p and q of past values.
    entropy : callable
        The functional.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> x = np.random.default_rng(0).normal(size=300)
    >>> y = np.roll(x, 1)                       # one step later
    >>> lr.transfer_entropy(x, y) > 3 * lr.transfer_entropy(y, x)
    True
    """
    now, past, own = lagged_grams(source, target, lags, own_lags)
    return conditional_mutual_information(now, past, given=own, entropy=entropy)


def lagged_grams(source: Any, target: Any, lags: int, own_lags: int) -> tuple[Gram, Gram, Gram]:
    """Return the Grams of y_t, the past of x and the past of y."""
    now, past, own = lagged(source, target, lags, own_lags)
    # Past values are compared like the series: labels by equality, for any number of lags.
    x, y = (Delta() if gram(np.asarray(v)).is_nominal else None for v in (source, target))
    return gram(now, y, name="target"), gram(past, x, name="source"), gram(own, y, name="target")


def lagged(
    source: Any, target: Any, lags: int, own_lags: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return y_t, the past of x and the past of y, for all t with enough past."""
    for name, count in (("lags", lags), ("own_lags", own_lags)):
        integer = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
        if not integer or count < 1:
            raise ValueError(f"{name}={count!r}: it must be an integer of at least 1")
    x, y = np.asarray(source), np.asarray(target)
    if len(x) != len(y):
        raise ValueError(f"source has {len(x)} values and target {len(y)}: give equal lengths")
    start = max(lags, own_lags)
    if len(y) < start + 2:
        raise ValueError(f"target has {len(y)} values, too few for {start} lags")

    def past(series: np.ndarray, count: int) -> np.ndarray:
        rows = series.reshape(len(series), -1)
        return np.hstack([rows[start - k : len(rows) - k] for k in range(1, count + 1)])

    return y[start:], past(x, lags), past(y, own_lags)


def shuffled_blocks(series: Any, length: int, seed: int = 0) -> np.ndarray:
    """Return a series cut into blocks in random order, as a null model of independence.

    The order within blocks is kept, and so is most of the series' dependence on its own past. Its
    dependence on another series is not.

    Parameters
    ----------
    series : array
        In order of time.
    length : int
        Length of a block: longer than the memory of the series.
    seed : int
        Seed of the order.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.shuffled_blocks([0, 1, 2, 3, 4, 5, 6], 3)
    array([3, 4, 5, 6, 0, 1, 2])
    """
    x = np.asarray(series)
    if not 1 <= length <= len(x):
        raise ValueError(f"length={length!r}: a block has at least 1 and at most {len(x)} values")
    return np.asarray(x[_arrays.block_permutation(seed, 0, len(x), length)])
