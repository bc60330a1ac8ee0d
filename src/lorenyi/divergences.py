r"""Divergence of two samples: the information of a point about its sample.

With the two samples' states :math:`\rho_x` and :math:`\rho_y`, each of weight one half,

.. math:: D(x, y) = S\Big(\frac{\rho_x + \rho_y}{2}\Big) - \frac{S(\rho_x) + S(\rho_y)}{2}

is the representation Jensen-Shannon divergence: 0 for equal samples, 1 bit for disjoint ones. It is
the mutual information of the points and a balanced label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.data.frames import is_frame, native_stacked
from lorenyi.data.reading import as_array
from lorenyi.estimate import Estimate, Influence, Rows
from lorenyi.functionals import Renyi, evaluate
from lorenyi.gram import Gram, gram
from lorenyi.kernels import Delta, Kernel
from lorenyi.measures import Functional

SIDES = ("x", "y")


def divergence(
    x: Any, y: Any, *, entropy: Functional = Renyi(), kernel: Kernel | None = None
) -> Any:
    """Return the representation Jensen-Shannon divergence of two samples, in bits.

    Each sample has weight one half, whatever its size. The bandwidth is that of both together. Like
    mutual information it is biased upward: two samples of the same distribution have a positive
    value; `two_sample_test` gives its significance. ``entropy=CollisionEntropy()`` gives the
    divergence of order 2 from pairs of different rows, without that bias if both samples have the
    same size.

    Parameters
    ----------
    x, y : array, data-frame, column or sequence
        Rows of the two samples, with the same columns.
    entropy : callable
        The functional.
    kernel : Kernel, optional
        As for `gram`.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> float(lr.divergence(["a", "a", "b", "b"], ["c", "d"]))
    1.0
    >>> rng = np.random.default_rng(0)
    >>> lr.divergence(rng.normal(size=400), rng.normal(1.0, size=200))
    0.154 ± 0.023 bits (points: Gaussian(sigma=1.086), sample: Delta())
    """
    points, label = stacked(x, y)
    share = np.bincount(label) / len(label)
    weights = 0.5 / share[label]
    A = gram(points, kernel, weights=weights, name="points").named("points")
    B = gram(label, Delta(), weights=weights, name="sample").named("sample")
    J = A * B
    found = evaluate(lambda H: H(A) + H(B) - H(J), entropy, A, B)
    return _of_two_samples(found, A, label)


def _of_two_samples(found: Any, A: Gram, label: np.ndarray) -> Any:
    """Return the value with the standard error of two samples of different sizes."""
    if not isinstance(found, Estimate) or found.influence is None:
        return found
    parts = found.influence.parts
    rows = (len(A), float(A.n))
    if rows not in parts or len(parts[rows]) != len(label):  # of some of the rows
        return found
    own: dict[Rows, np.ndarray] = {}
    for side, name in enumerate(SIDES):
        mine = parts[rows][label == side]
        own[name, float(len(mine))] = 0.5 * (mine - mine.mean())
    others = {key: values for key, values in parts.items() if key != rows}
    weights = {key: w for key, w in found.influence.weights.items() if key != rows}
    return Estimate(
        float(found),
        influence=Influence({**own, **others}, weights),
        computing_error=found.computing_error,
        bounds=found.bounds,
        failure=found.failure,
        about=found.about,
    )


def mmd(x: Any, y: Any, *, kernel: Kernel | None = None) -> float:
    r"""Return the squared maximum mean discrepancy of two samples, unbiased.

    .. math:: \frac{1}{n(n-1)} \sum_{i \ne j} k(x_i, x_j) + \frac{1}{m(m-1)} \sum_{i \ne j}
              k(y_i, y_j) - \frac{2}{nm} \sum_{ij} k(x_i, y_j)

    A reference for `divergence`, which is measured in bits. It can be negative.

    Parameters
    ----------
    x, y : array, data-frame, column or sequence
        Rows of the two samples, with the same columns.
    kernel : Kernel, optional
        As for `gram`.

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.mmd([0.0, 1.0], [5.0, 6.0], kernel=lr.Gaussian(1.0))
    1.21288985384...
    """
    points, label = stacked(x, y)
    sizes = np.bincount(label)
    if sizes.min() < 2:
        raise ValueError(f"{SIDES[int(sizes.argmin())]} has one row: mmd needs two of each sample")
    # Weights of the pairs: within a sample all except those of a row with itself.
    A = gram(points, kernel, name="points")
    sign = np.where(label == 0, 1.0 / sizes[0], -1.0 / sizes[1])
    K = np.asarray(_arrays.to_numpy(A.dense())) * len(label)
    total = 0.0
    for side, n in enumerate(sizes):
        block = K[np.ix_(label == side, label == side)]
        total += float(block.sum() - np.trace(block)) * (1.0 / (n * (n - 1)) - 1.0 / n**2)
        total -= float(np.trace(block)) / n**2
    return float(total + sign @ K @ sign)


def stacked(x: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Return the rows of both samples, one after the other, and the sample of each."""
    if is_frame(x) or is_frame(y):
        both, sizes = native_stacked(x, y)
    else:
        arrays = [_rows(v, name) for v, name in zip((x, y), SIDES, strict=True)]
        shapes = [tuple(a.shape[1:]) for a in arrays]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"x has rows of shape {shapes[0]} and y of {shapes[1]}: give both samples the same "
                "columns"
            )
        both, sizes = _arrays.concat(arrays), [int(a.shape[0]) for a in arrays]
    for name, size in zip(SIDES, sizes, strict=True):
        if not size:
            raise ValueError(f"{name} has no rows: give two samples")
    return both, np.repeat([0, 1], sizes)


def _rows(x: Any, name: str) -> Array:
    if isinstance(x, Gram):
        raise TypeError(f"{name} is a Gram: give the points of both samples, and kernel= for both")
    array = as_array(_arrays.on_host(x), name)
    if _arrays.is_numpy(array) and array.dtype.kind == "f":
        return _arrays.as_points(array)
    return array
