"""A test of transfer entropy between two series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lorenyi._progress import Progress
from lorenyi.inference.conditional import ConditionalIndependenceTest, conditional_independence_test
from lorenyi.inference.features import BANDWIDTHS
from lorenyi.series import lagged_grams


def transfer_entropy_test(
    source: Any,
    target: Any,
    *,
    lags: int = 1,
    own_lags: int = 1,
    block: int | None = None,
    bandwidths: Sequence[float] = BANDWIDTHS,
    permutations: int = 199,
    level: float | None = 0.05,
    seed: int = 0,
    progress: Progress = None,
) -> ConditionalIndependenceTest:
    """Test whether one series' past informs another's next value, beyond that one's own past.

    It is `conditional_independence_test` of the next value and the past of the source, given the
    past of the target, where permutations move blocks of the source's residuals, which keeps their
    remaining dependence on the source's own past. `information` of the result is the transfer
    entropy. A target with a memory longer than `own_lags`, or a third series that drives both, is
    also detected as transfer.

    Parameters
    ----------
    source, target, lags, own_lags
        As in `transfer_entropy`.
    block : int, optional
        Length of the blocks: longer than the memory of the source. By default the root of the
        number of rows, so that there are as many blocks as rows in one. If the target is labels,
        permutations stay within groups of its past instead, without blocks.
    bandwidths, permutations, level, seed, progress
        As in `independence_test`.

    Returns
    -------
    ConditionalIndependenceTest

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> y = np.roll(x, 1) ** 2 + 0.5 * rng.normal(size=200)     # one step later
    >>> lr.transfer_entropy_test(x, y).pvalue, lr.transfer_entropy_test(y, x).pvalue > 0.05
    (0.005, True)
    """
    now, past, own = lagged_grams(source, target, lags, own_lags)
    if block is None and not own.is_nominal:
        block = math.isqrt(len(now))
    return conditional_independence_test(
        now,
        past,
        given=own,
        bandwidths=bandwidths,
        permutations=permutations,
        level=level,
        block=block,
        seed=seed,
        progress=progress,
    )
