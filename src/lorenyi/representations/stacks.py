"""Stacks of kernel matrices [..., T, T], with masks, and their eigenvalues."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._threads import cores, one_thread, parallel
from lorenyi.bandwidths import GeometricMean, Median
from lorenyi.data.reading import as_array
from lorenyi.kernels import Cosine, Gaussian, Kernel, Linear

ENTRIES = 2**24  # of kernel matrices at a time: 128 MiB in float64
SMALL = 2**18  # entries in all, for which one core is as fast as several


def representation(x: Any, name: str = "x") -> Array:
    """Return an array [..., T, D] in the precision that it is measured in."""
    x = _arrays.as_points(as_array(x, name))
    if x.ndim < 2 or not x.shape[-1] or x.shape[-2] < 2:
        raise ValueError(
            f"{name} has shape {tuple(x.shape)}: a representation is [..., T, D], T points (two or "
            "more) of D columns"
        )
    return x


def pair(x: Any, y: Any) -> tuple[Array, Array]:
    """Return two representations of the same points."""
    x, y = representation(x), representation(y, "y")
    if x.shape[:-1] != y.shape[:-1]:
        raise ValueError(
            f"x has shape {tuple(x.shape)} and y {tuple(y.shape)}: they must be of the same points"
        )
    return x, y


Kernels: TypeAlias = Kernel | tuple[Kernel, Kernel]


def two(kernel: Kernels) -> tuple[Kernel, Kernel]:
    """Return the kernels of x and y, of which one may have been given for both."""
    if not isinstance(kernel, tuple):
        return kernel, kernel
    if len(kernel) != 2:
        raise ValueError(f"kernel={kernel!r}: give one, or a pair for x and y")
    return kernel


def present(mask: Any, x: Array) -> Array | None:
    """Return a mask [..., T] as numbers 1 and 0, or None."""
    if mask is None:
        return None
    xp = _arrays.namespace(x)
    mask = _arrays.like(as_array(mask, "mask"), x)
    if tuple(mask.shape) != tuple(x.shape[:-1]):
        raise ValueError(f"mask has shape {tuple(mask.shape)}: it must be {tuple(x.shape[:-1])}")
    return xp.astype(mask != 0, x.dtype)


def number(mask: Array | None, x: Array) -> Array | float:
    """Return how many points there are, one number or one for each."""
    if mask is None:
        return float(x.shape[-2])
    return _arrays.namespace(mask).sum(mask, axis=-1)


def over_stack(function: Callable[..., Array], *arrays: Array | None) -> Array:
    """Apply a function to the stacks of several arrays, some of them at a time."""
    given = [array for array in arrays if array is not None]
    x = given[0]
    shape = tuple(x.shape[:-2])
    count, entries = math.prod(shape), int(x.shape[-2]) ** 2
    on_cores = on_host(given) and count * entries > SMALL
    size = max(1, min(ENTRIES // entries, -(-count // (4 * cores())) if on_cores else count))
    with one_thread(x):
        if count <= size:
            return function(*arrays)
        xp = _arrays.namespace(x)
        flat = [
            None if a is None else xp.reshape(a, (count, *a.shape[len(shape) :])) for a in arrays
        ]

        def part(start: int) -> Array:
            cut = slice(start, start + size)
            return function(*(None if a is None else a[cut, ...] for a in flat))

        starts = range(0, count, size)
        found = xp.concat(parallel(part, starts) if on_cores else [part(i) for i in starts])
        return xp.reshape(found, (*shape, *found.shape[1:]))


def on_host(arrays: list[Array]) -> bool:
    """Tell whether arrays are in the memory of this machine and nobody asks for a gradient."""
    if any(_arrays.tracks_gradient(a) for a in arrays):
        return False
    here = [_arrays.is_numpy(a) or (_arrays.is_torch(a) and a.is_cpu) for a in arrays]
    return all(here)


# ------------------------------------------------------------------------------- kernels


def features(x: Array, kernel: Kernel, mask: Array | None) -> Array | None:
    """Return F with K = F F', where the kernel has such; None for a Gaussian."""
    if type(kernel) is Cosine:
        x = unit_rows(x)
    elif type(kernel) is not Linear:
        return None
    return x if mask is None else x * mask[..., None]


def unit_rows(x: Array) -> Array:
    """Return points of length one; a point at the origin stays there."""
    xp = _arrays.namespace(x)
    length = xp.sqrt(xp.sum(x * x, axis=-1, keepdims=True))
    return x / xp.where(length > 0, length, 1.0)


def squared_distances(x: Array) -> Array:
    """Return |x_i - x_j|^2, 0 for i = j."""
    xp = _arrays.namespace(x)
    x = x - xp.mean(_arrays.detach(x), axis=-2, keepdims=True)
    squares = xp.sum(x * x, axis=-1)
    product = squares[..., :, None] + squares[..., None, :] - 2 * (x @ x.mT)
    apart = 1 - xp.eye(x.shape[-2], dtype=x.dtype, device=_device(x))
    return xp.where(product > 0, product, 0.0) * apart


def _device(x: Array) -> Any:
    return None if _arrays.is_numpy(x) else x.device


def kernel_matrix(x: Array, kernel: Kernel, mask: Array | None = None) -> Array:
    """Return the kernel of all pairs of points, with ones on the diagonal (`Linear`: as it is)."""
    xp = _arrays.namespace(x)
    if type(kernel) is Linear:
        return _masked(x @ x.mT, mask)
    if type(kernel) is Cosine:
        x = unit_rows(x)
        return _masked(x @ x.mT, mask)
    if type(kernel) is not Gaussian:
        raise TypeError(f"kernel={kernel!r}: it is Linear(), Cosine() or Gaussian(...) here")
    if isinstance(kernel.sigma, float):
        return _masked(xp.exp(squared_distances(x / kernel.sigma) / -2.0), mask)
    distance = squared_distances(x)
    square = squared_bandwidth(kernel, _arrays.detach(distance), mask)
    return _masked(xp.exp(distance / (-2.0 * square[..., None, None])), mask)


def _masked(K: Array, mask: Array | None) -> Array:
    return K if mask is None else K * mask[..., :, None] * mask[..., None, :]


def squared_bandwidth(kernel: Gaussian, distance: Array, mask: Array | None) -> Array:
    """Return sigma^2 of each matrix by the rule, without gradient; 1 where all points are equal."""
    xp, rule = _arrays.namespace(distance), kernel.sigma
    apart = distance > 0
    if mask is not None:
        apart = apart & (mask[..., :, None] * mask[..., None, :] > 0)
    pairs = xp.sum(xp.astype(apart, distance.dtype), axis=(-2, -1))
    some = pairs > 0
    if isinstance(rule, GeometricMean):
        logs = xp.sum(xp.log(xp.where(apart, distance, 1.0)), axis=(-2, -1))
        return xp.where(some, rule.share**2 * xp.exp(logs / xp.where(some, pairs, 1.0)), 1.0)
    if not (isinstance(rule, Median) and not rule.per_column and not rule.standardize):
        raise TypeError(f"{kernel!r}: sigma is a number, 'median' or GeometricMean() here")
    n = distance.shape[-1]
    ordered = xp.sort(xp.reshape(xp.where(apart, distance, math.inf), (*pairs.shape, n * n)))
    # Each pair is there twice: the two in the middle of all pairs that differ.
    half = _arrays.to_numpy(pairs).astype(np.int64) // 2
    rows = _arrays.to_numpy(ordered).reshape(-1, n * n)
    places = [np.maximum((half.reshape(-1) - shift) // 2, 0) for shift in (1, 0)]
    low, high = (np.sqrt(rows[np.arange(len(rows)), 2 * place]) for place in places)
    middle = np.where(half.reshape(-1) > 0, (0.5 * (low + high)) ** 2, 1.0)
    return _arrays.like(middle.reshape(half.shape), distance)


# ------------------------------------------------------------------------------- eigenvalues


def moments(x: Array, kernel: Kernel, mask: Array | None) -> Array:
    """Return a matrix of trace one with the eigenvalues of the kernel: the smaller of two."""
    F = features(x, kernel, mask)
    if F is not None:
        K = F @ F.mT if F.shape[-2] <= F.shape[-1] else F.mT @ F
        xp = _arrays.namespace(K)
        trace = xp.sum(xp.linalg.diagonal(K), axis=-1)
        return K / xp.where(trace > 0, trace, 1.0)[..., None, None]
    return normalized(kernel_matrix(x, kernel, mask), mask)


def normalized(K: Array, mask: Array | None) -> Array:
    """Return a kernel matrix over its number of points."""
    if mask is None:
        return K / K.shape[-1]
    xp = _arrays.namespace(K)
    n = xp.sum(mask, axis=-1)
    return K / xp.where(n > 0, n, 1.0)[..., None, None]


def renyi(A: Array, alpha: float) -> Array:
    """Return Rényi's entropy of each of a stack of matrices of trace one, in bits."""
    xp = _arrays.namespace(A)
    if alpha == 2:
        return -xp.log2(xp.sum(A * A, axis=(-2, -1))) + 0.0  # never -0.0
    return of_values(_arrays.eigvalsh(A), alpha) + 0.0


def of_values(p: Array, alpha: float) -> Array:
    """Return Rényi's entropy of eigenvalues that sum to one, on the last axis."""
    xp = _arrays.namespace(p)
    if alpha == math.inf:
        return -xp.log2(xp.max(p, axis=-1))
    top = xp.max(_arrays.detach(p), axis=-1, keepdims=True)
    least = 0.0 if alpha >= 1 else p.shape[-1] * _arrays.epsilon(p) * top
    there = p > least
    if alpha == 0:
        return xp.log2(xp.sum(xp.astype(there, p.dtype), axis=-1))
    log = xp.log(xp.where(there, p, 1.0))
    p = xp.where(there, p, 0.0)
    if alpha == 1:
        return -xp.sum(p * log, axis=-1) / math.log(2)
    if abs(alpha - 1) < 0.1:  # nothing cancels as alpha goes to 1
        excess = xp.sum(p * xp.expm1((alpha - 1) * log), axis=-1)
        return xp.log1p(excess) / ((1 - alpha) * math.log(2))
    first = xp.log(top)
    total = xp.sum(xp.where(there, xp.exp(alpha * (log - first)), 0.0), axis=-1)
    return (alpha * first[..., 0] + xp.log(total)) / ((1 - alpha) * math.log(2))
