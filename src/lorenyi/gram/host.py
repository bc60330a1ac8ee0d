"""The same Gram as NumPy arrays, whatever array library holds its points."""

from __future__ import annotations

from functools import reduce
from operator import mul

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi.gram.factors import Factor, Matrix, Points
from lorenyi.gram.protocol import Gram
from lorenyi.kernels import Function


def on_host(A: Gram) -> Gram:
    """Return the same Gram as NumPy arrays, with ones on its diagonal in their precision too."""
    if _arrays.is_numpy(A.reference):
        return A
    factors = [_host_factor(factor) for factor in A.factors]
    weights = _host_array(A.weights)
    diagonal = reduce(mul, [_diagonal(factor) for factor in factors])
    return A.changed(factors=factors, scale=np.sqrt(weights / diagonal), weights=weights)


def _host_factor(factor: Factor) -> Factor:
    """Return a factor as NumPy arrays; a user's function, which may refuse them, as a matrix."""
    own = getattr(factor.kernel, "kernel", None)
    if isinstance(factor, Points) and isinstance(own, Function):
        everything = slice(0, len(factor))
        block = factor.block(everything, everything)
        rounding = factor.rounding + 4 * _arrays.epsilon(block)
        return Matrix(_host_array(block), given_rounding=rounding)
    return factor.map(_host_array)


def _host_array(x: Array) -> Array:
    if _arrays.is_sparse(x):
        return x
    x = _arrays.to_numpy(x)
    return _arrays.as_points(x) if x.dtype.kind == "f" else x


def _diagonal(factor: Factor) -> np.ndarray:
    """Return the kernel of each row with itself: one, up to the rounding of another precision."""
    if isinstance(factor, Matrix):
        return np.asarray(factor.array.diagonal())
    X = factor.source.all()
    return np.asarray(factor.kernel.pairs(X, X))
