"""Is it real? Tests by permutation, and what chance alone would show."""

from lorenyi.inference.conditional import (
    ConditionalIndependenceTest,
    conditional_independence_test,
)
from lorenyi.inference.independence import IndependenceTest, independence_test
from lorenyi.inference.result import TestResult
from lorenyi.inference.samples import ColumnChange, TwoSampleTest, two_sample_test

__all__ = [
    "ColumnChange",
    "ConditionalIndependenceTest",
    "IndependenceTest",
    "TestResult",
    "TwoSampleTest",
    "conditional_independence_test",
    "independence_test",
    "two_sample_test",
]
