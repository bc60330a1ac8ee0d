"""Columns as small whole numbers: equal-frequency bins, and codes of distinct rows."""

from __future__ import annotations

import numpy as np


def equal_frequency(x: np.ndarray, bins: int, weights: np.ndarray | None = None) -> np.ndarray:
    r"""Return the bin of each value: about as many points in one bin as in another.

    With the points sorted, the edges are the values at the positions (from 0)
    :math:`\lfloor n j / b \rfloor - 1`, j = 1, ..., b, and the code of a value is the number of
    edges below it, so that equal values share a bin.

    Parameters
    ----------
    x : array of n
        Values, finite.
    bins : int
        b, at least 2.
    weights : array of n, optional
        Frequencies: weight 2 is a value given twice.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi.selection.discretize import equal_frequency
    >>> equal_frequency(np.array([5.0, 1.0, 2.0, 2.0, 9.0, 7.0]), 3)
    array([1, 0, 0, 0, 2, 2])
    """
    order = np.argsort(x, kind="stable")
    ordered = x[order]
    count = np.arange(1.0, len(x) + 1) if weights is None else np.cumsum(weights[order])
    places = np.floor(count[-1] * np.arange(1, bins + 1) / bins + 1e-9) - 1
    index = np.searchsorted(count, np.maximum(places, 0), side="right")
    edges = ordered[np.minimum(index, len(x) - 1)]
    return np.searchsorted(edges, x, side="left")


def codes(*columns: np.ndarray) -> np.ndarray:
    """Number the distinct rows of aligned columns from 0, in the order of their values.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi.selection.discretize import codes
    >>> codes(np.array([0.5, 2.0, 0.5, 0.5]), np.array([1, 1, 1, 0]))
    array([1, 2, 1, 0])
    """
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, part = np.unique(column, return_inverse=True)
        _, joint = np.unique(joint * (int(part.max()) + 1) + part, return_inverse=True)
    return np.asarray(joint, dtype=np.int64)
