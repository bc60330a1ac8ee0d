"""Is it real? Tests by permutation, and what chance alone would show."""

from lorenyi.inference.conditional import (
    ConditionalIndependenceTest,
    conditional_independence_test,
)
from lorenyi.inference.independence import IndependenceTest, independence_test
from lorenyi.inference.result import TestResult

__all__ = [
    "ConditionalIndependenceTest",
    "IndependenceTest",
    "TestResult",
    "conditional_independence_test",
    "independence_test",
]
