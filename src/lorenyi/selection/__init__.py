"""Feature selection by what columns jointly tell about a target, at home in scikit-learn.

>>> from sklearn.datasets import load_breast_cancer
>>> from lorenyi.selection import InformationSelector
>>> X, y = load_breast_cancer(return_X_y=True)
>>> InformationSelector(n_features_to_select=3).fit(X, y).indices_
array([27, 20, 21])
"""

from lorenyi.selection.criteria import (
    CMIM,
    DISR,
    FOU,
    JMI,
    MIFS,
    MRMR,
    Criterion,
    JointInformation,
    Terms,
    renyi_criteria,
)
from lorenyi.selection.selector import InformationSelector

__all__ = [
    "CMIM",
    "Criterion",
    "DISR",
    "FOU",
    "InformationSelector",
    "JMI",
    "JointInformation",
    "MIFS",
    "MRMR",
    "Terms",
    "renyi_criteria",
]
