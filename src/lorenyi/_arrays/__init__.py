"""All that is known of array libraries: namespaces, linear algebra, gradients, keyed random draws.

Every formula elsewhere is written against the array API namespace that `namespace` returns, so
NumPy, PyTorch and any other conforming library share it.
"""

from lorenyi._arrays.autograd import detach, doubled, exponents, gaussian, on_host, tracks_gradient
from lorenyi._arrays.draws import choose, hashed, normal, permutation, signs, uniform
from lorenyi._arrays.groups import codes, group_rows, row_keys
from lorenyi._arrays.libraries import (
    Array,
    as_floating,
    as_points,
    at_most,
    concat,
    constant,
    copied,
    epsilon,
    exp,
    is_array,
    is_floating,
    is_numpy,
    is_sparse,
    is_torch,
    largest,
    like,
    namespace,
    scaled,
    squared,
    take,
    to_numpy,
)
from lorenyi._arrays.linalg import eigh, eigvalsh, qr, svd

__all__ = [
    "Array",
    "namespace",
    "is_numpy",
    "is_torch",
    "is_array",
    "is_sparse",
    "is_floating",
    "to_numpy",
    "like",
    "as_floating",
    "as_points",
    "epsilon",
    "copied",
    "on_host",
    "take",
    "concat",
    "constant",
    "exp",
    "squared",
    "scaled",
    "at_most",
    "largest",
    "eigvalsh",
    "eigh",
    "qr",
    "svd",
    "tracks_gradient",
    "detach",
    "doubled",
    "exponents",
    "gaussian",
    "hashed",
    "uniform",
    "normal",
    "signs",
    "choose",
    "permutation",
    "group_rows",
    "row_keys",
    "codes",
]
