"""Making a Gram: reading a variable, choosing its kernel, normalizing."""

from __future__ import annotations

import warnings
from functools import partial, reduce
from typing import Any, Literal

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.bandwidths import Median
from lorenyi.data.reading import Data, read
from lorenyi.data.sources import ArraySource, Source
from lorenyi.data.streams import Stream
from lorenyi.gram.factors import Points, rules_of
from lorenyi.gram.memory import InMemory
from lorenyi.gram.protocol import Gram
from lorenyi.gram.ready import frequencies, from_matrix, number_of_points, points_of
from lorenyi.gram.streamed import Streamed
from lorenyi.gram.unit import normalized
from lorenyi.kernels import (
    Delta,
    Function,
    Gaussian,
    Kernel,
    Precomputed,
)


def gram(
    x: Any,
    kernel: Kernel | Any | None = None,
    *,
    weights: Any = None,
    check: Literal["seen", "full"] = "seen",
    name: str = "x",
) -> Gram:
    r"""Return the normalized kernel matrix of a variable.

    .. math:: A_{ij} = \sqrt{w_i w_j}\, k(x_i, x_j) / \sqrt{k(x_i, x_i) k(x_j, x_j)}

    Parameters
    ----------
    x : array, data-frame, column or sequence of n points; or a matrix, with `Precomputed()`
        Rows are points. More than two axes are refused: say which of them holds the points.
    kernel : Kernel or callable, optional
        Default: numbers get `Gaussian("median")`; text, truth values, categoricals and whole
        numbers of at most ten distinct values `Delta()`; a mixed data-frame the product of both.
        See `lorenyi.data.kinds`.
    weights : array of n, optional
        Frequencies: weight 2 is a repeated row, 0 an absent one, and n is their sum.
    check : {"seen", "full"}
        For a ready matrix: negative eigenvalues are an error if they are met ("seen"), or are
        searched for ("full", at the cost of a factorization).
    name : str
        What errors call x.

    Returns
    -------
    Gram

    Examples
    --------
    >>> import lorenyi as lr
    >>> lr.gram([[0.0, 1.0], [1.0, 1.0], [3.0, 1.0]])
    Gram(n=3, Gaussian(sigma=2))
    >>> lr.gram(["red", "blue", "red"])
    Gram(n=3, Delta())
    """
    if isinstance(x, Gram):
        return _given(x, kernel, weights, name)
    if kernel is not None and not isinstance(kernel, Kernel):
        kernel = _as_kernel(kernel)
    if isinstance(kernel, Precomputed):
        return from_matrix(x, weights, check, name)
    if kernel is not None and kernel.infinitely_divisible is None:
        warnings.warn(
            f"{kernel!r} is not known to be infinitely divisible, which the theory of these "
            "measures requires; Function(f, infinitely_divisible=True) states that it is, and "
            "False silences this warning",
            UserWarning,
            stacklevel=2,
        )
    data = read(x, name)
    given: Any = data.labels if data.numbers is None else data.numbers
    if isinstance(given, Stream):
        column = _stream_frequency(weights, len(given), f"{name}'s weights")
        parts = _parts(data, kernel, name, column)
        return joint(*[_from_stream(k, p, column, name) for k, p in parts])
    n = int(given.shape[0])
    frequency = None if weights is None else frequencies(weights, n, f"{name}'s weights")
    parts = _parts(data, kernel, name, frequency)
    grams = [_from_points(k, p, frequency, data.reference, name) for k, p in parts]
    if len(grams) > 1:  # then the names list the columns of each kernel
        columns = [data.columns(categorical, frequency) for categorical in (False, True)]
        grams = [
            A.changed(names=[f"[{these}]: {kernel}" for kernel in A.names])
            for A, these in zip(grams, columns, strict=True)
        ]
    return joint(*grams)


def _stream_frequency(weights: Any, n: int, name: str) -> Source | None:
    """Return the weights of rows that are not in memory; the weights may be."""
    if weights is None:
        return None
    found = None if type(weights) is np.ndarray else read(weights, name).numbers
    if isinstance(found, Stream):
        return found
    return ArraySource(frequencies(weights, n, name)[:, None])


def joint(*variables: Gram) -> Gram:
    """Return the joint Gram of several: the product of all."""
    if not variables:
        raise ValueError("joint() of no variables: give at least one Gram")
    return reduce(lambda a, b: a * b, [gram(A) for A in variables])


def _given(x: Gram, kernel: object, weights: object, name: str) -> Gram:
    if kernel is not None or weights is not None:
        raise ValueError(f"{name} is a Gram already: give kernel and weights where it is made")
    return x


def _as_kernel(kernel: Any) -> Kernel:
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"kernel is the class {kernel.__name__}: call it, {kernel.__name__}()")
    if not callable(kernel):
        raise TypeError(
            f"kernel must be a Kernel such as Gaussian(1.0), or a function k(X, Y); found "
            f"{kernel!r}"
        )
    return Function(kernel)


def _parts(
    data: Data, kernel: Kernel | None, name: str, frequency: np.ndarray | Source | None = None
) -> list[tuple[Kernel, Any]]:
    """Pair the columns of the data with kernels."""
    if isinstance(kernel, Delta):
        return [(kernel, data.codes())]
    if kernel is None:
        numbers, categories = data.split(frequency)
        several = data.units and numbers is not None and numbers.shape[1] > 1
        scale = Median(standardize=True) if several else Median()
        pairs: list[tuple[Kernel, Any]] = [(Gaussian(scale), numbers), (Delta(), categories)]
        return [(k, points) for k, points in pairs if points is not None]
    if data.labels is not None or data.numbers is None:
        raise TypeError(
            f"{name} has text, boolean or categorical columns, which {kernel!r} cannot read: use "
            "Delta(), or encode them as numbers"
        )
    return [(kernel, data.numbers)]


def _from_points(
    kernel: Kernel, points: Array, frequency: np.ndarray | None, reference: Array, name: str
) -> InMemory:
    if isinstance(kernel, Delta):  # its eigenvalues are exact for labels of any type
        xp = _arrays.namespace(reference)
        reference = xp.astype(reference, xp.float64)
    else:
        points = _arrays.as_points(points)
        reference = points[:0, :]
    column = None if frequency is None else ArraySource(frequency[:, None])
    if frequency is not None and not frequency.all():  # absent rows: any value will do
        there = np.flatnonzero(frequency)
        index = np.where(frequency > 0, np.arange(len(frequency)), there[0])
        points = _arrays.take(points, index)
    given, rules = ArraySource(points), rules_of(kernel, points.shape[1])
    kernel, source = normalized(*kernel.prepare(given, column), name)
    if source is given:  # the caller's array, which the caller may change
        source = given.each(_arrays.copied)
    if frequency is None:
        n: float = len(source)
        weights = _arrays.constant(_equal, len(source), 1.0, reference=reference)
        scale = _arrays.constant(_equal, len(source), 0.5, reference=reference)
    else:
        n = points_of(frequency, f"{name}'s weights")
        weights = _arrays.like(frequency / frequency.sum(), reference)
        scale = _arrays.namespace(weights).sqrt(weights)
    return InMemory((Points(kernel, source, rules=rules),), scale, weights, n)


def _equal(n: int, power: float) -> np.ndarray:
    return np.full(n, (1.0 / n) ** power)


# ------------------------------------------------------------------------------- not in memory


def _from_stream(kernel: Kernel, points: Stream, frequency: Source | None, name: str) -> Streamed:
    """Make the Gram of one stream."""
    column = None if frequency is None else points.aligned([frequency])[0]
    if column is not None:
        column = column.each(partial(_checked_frequency, f"{name}'s weights"))
        total, rows = column.sum(_total)
        n = number_of_points(float(total), int(rows), f"{name}'s weights")
    else:
        total = n = float(len(points))
    if isinstance(kernel, Delta):  # joined, integers and floats would not stay distinct
        points = points.each(_arrays.codes)
    elif column is None:
        points = points.each(_arrays.as_points)
    else:
        there = column.locate(np.array([0.5 * float(total)]))  # a row that has a weight
        row = points.take(there).all()
        points = points.stack([points, column]).each(partial(_present, row))
    rules = rules_of(kernel, points.shape[1])
    settled, prepared = normalized(*kernel.prepare(points, column), name)
    return Streamed((Points(settled, prepared, rules=rules),), column, 1.0 / float(total), n)


def _present(row: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return points beside their weights; rows of weight 0, which are absent, all get one value."""
    return np.where(rows[:, -1:] > 0, rows[:, :-1], row)


def _checked_frequency(name: str, rows: np.ndarray) -> np.ndarray:
    values = rows.astype(np.float64)
    if rows.shape[1] != 1:
        raise ValueError(f"{name} must be one number for each row, found {rows.shape[1]}")
    if not (values >= 0).all():
        raise ValueError(f"{name} must not be negative, found {values.min():g}")
    return values


def _total(rows: np.ndarray, block: slice) -> np.ndarray:
    return np.array([rows.sum(), np.count_nonzero(rows)])
