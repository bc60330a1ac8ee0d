"""Is it real? Tests by permutation, and what chance alone would show."""

from lorenyi.inference.independence import IndependenceTest, independence_test
from lorenyi.inference.result import TestResult

__all__ = ["IndependenceTest", "TestResult", "independence_test"]
