"""Kernels as small frozen values.

A kernel is called on two sets of points, `k(X, Y)`, and gives the block of its values. Bandwidths
follow one convention everywhere: `Gaussian(sigma)` is exp(-|x - y|^2 / (2 sigma^2)).
"""

from lorenyi.kernels.inner import Cosine, Linear, Polynomial, row_products
from lorenyi.kernels.kernel import Kernel
from lorenyi.kernels.other import Delta, Function, Precomputed
from lorenyi.kernels.scaled import Gaussian, Laplacian

__all__ = [
    "Cosine",
    "Delta",
    "Function",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "row_products",
]
