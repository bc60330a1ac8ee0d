"""Standard errors of what is measured on representations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.representations.stacks import representation


def standard_error(
    measure: Callable[..., Array], *representations: Any, groups: int | Any = 20
) -> Array:
    r"""Return the standard error of a measure of points, by the jackknife over groups of them.

    .. math:: \sqrt{\frac{g - 1}{g} \sum_k (\theta_{(k)} - \bar\theta)^2}

    with the values :math:`\theta_{(k)}` without the points of group k. It is right to one part in
    :math:`\sqrt{2 g}`, and includes what a bandwidth by a rule contributes. Where values are one
    for each sequence, as those of `entropy` are, the standard error of their mean over n sequences
    is their standard deviation over the root of n.

    Parameters
    ----------
    measure : callable
        Of as many arrays as are given: `cka`, or `lambda x, y: dime(x, y, Cosine())`.
    *representations : arrays or tensors, [..., T, D]
        Of the same points, or samples of different ones for `jensen_shannon_divergence`.
    groups : int or array, [T]
        Number of groups, each of neighboring points; or a label for each point, so that points that
        depend on each other (tokens of one sequence) are left out together.

    Returns
    -------
    array or tensor, [...]
        As the measure's.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi.representations import cka, standard_error
    >>> x = np.random.default_rng(0).normal(size=(200, 5))
    >>> noisy = x + np.random.default_rng(1).normal(size=(200, 5))
    >>> print(f"{cka(x, noisy):.2f} ± {standard_error(cka, x, noisy):.2f}")
    0.49 ± 0.03
    """
    arrays = [representation(x, f"representation {i}") for i, x in enumerate(representations)]
    if not arrays:
        raise ValueError("give the representations that the measure is of")
    labels = [_labels(groups, int(x.shape[-2])) for x in arrays]
    count = int(labels[0].max()) + 1
    if any(int(own.max()) + 1 != count for own in labels):
        raise ValueError("groups must be the same for all representations")
    xp = _arrays.namespace(arrays[0])
    values = []
    for k in range(count):
        kept = (_arrays.like(np.flatnonzero(own != k), arrays[0]) for own in labels)
        values.append(
            measure(*(xp.take(x, rows, axis=-2) for x, rows in zip(arrays, kept, strict=True)))
        )
    found = xp.stack([xp.asarray(value) for value in values])
    apart = found - xp.mean(found, axis=0, keepdims=True)
    return xp.sqrt(xp.sum(apart * apart, axis=0) * ((count - 1) / count))


def _labels(groups: int | Any, n: int) -> np.ndarray:
    """Return the group of each point, counted from 0."""
    if isinstance(groups, int):
        if not 2 <= groups <= n:
            raise ValueError(f"groups={groups}: there are {n} points, so it is from 2 to {n}")
        return np.arange(n) * groups // n
    given = np.asarray(_arrays.to_numpy(groups) if _arrays.is_array(groups) else groups)
    if given.shape != (n,):
        raise ValueError(f"groups has shape {given.shape}: give a label for each of {n} points")
    labels = np.unique(given, return_inverse=True)[1]
    if labels.max() == 0:
        raise ValueError("groups has one label: two or more groups are needed")
    return labels
