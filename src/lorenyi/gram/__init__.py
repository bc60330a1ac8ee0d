"""The normalised kernel matrix: `gram` makes one, `A * B` is a joint."""

from lorenyi.gram.factors import Factor, Index, Matrix, Points
from lorenyi.gram.make import gram, joint
from lorenyi.gram.matrix import Gram

__all__ = ["Factor", "Gram", "Index", "Matrix", "Points", "gram", "joint"]
