"""Statistical inference: permutation tests, and the level that chance alone gives."""

from lorenyi.inference.chance import (
    Chance,
    adjusted_mutual_information,
    chance_level,
    corrected,
    pointwise_information,
    split_half,
)
from lorenyi.inference.conditional import (
    ConditionalIndependenceTest,
    conditional_independence_test,
)
from lorenyi.inference.drift import Drift
from lorenyi.inference.independence import IndependenceTest, independence_test
from lorenyi.inference.result import TestResult
from lorenyi.inference.samples import ColumnChange, TwoSampleTest, two_sample_test
from lorenyi.inference.transfer import transfer_entropy_test

__all__ = [
    "Chance",
    "ColumnChange",
    "ConditionalIndependenceTest",
    "Drift",
    "IndependenceTest",
    "TestResult",
    "TwoSampleTest",
    "adjusted_mutual_information",
    "chance_level",
    "conditional_independence_test",
    "corrected",
    "independence_test",
    "pointwise_information",
    "split_half",
    "transfer_entropy_test",
    "two_sample_test",
]
