"""The normalized kernel matrix: `gram` makes one, `A * B` is a joint."""

from lorenyi.gram.factors import Factor, Index, Matrix, Points
from lorenyi.gram.make import gram, joint
from lorenyi.gram.memory import InMemory
from lorenyi.gram.protocol import Gram
from lorenyi.gram.stored import held, is_constant, squared_norm, symmetric

__all__ = [
    "Factor",
    "Gram",
    "InMemory",
    "Index",
    "Matrix",
    "Points",
    "gram",
    "held",
    "is_constant",
    "joint",
    "squared_norm",
    "symmetric",
]
