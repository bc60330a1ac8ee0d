"""Feature selection by the joint information of columns about a target, as in scikit-learn.

>>> from sklearn.datasets import load_breast_cancer
>>> from lorenyi.selection import InformationSelector
>>> X, y = load_breast_cancer(return_X_y=True)
>>> InformationSelector(n_features_to_select=3).fit(X, y).indices_
array([22, 24, 21])
"""

from lorenyi.selection.criteria import (
    CMIM,
    DISR,
    FOU,
    ICAP,
    JMI,
    JMIM,
    MIFS,
    MRMR,
    Criterion,
    JointInformation,
    NeighborInformation,
)
from lorenyi.selection.path import SelectionPath
from lorenyi.selection.selector import InformationSelector
from lorenyi.selection.terms import Terms

__all__ = [
    "CMIM",
    "Criterion",
    "DISR",
    "FOU",
    "ICAP",
    "InformationSelector",
    "JMI",
    "JMIM",
    "JointInformation",
    "MIFS",
    "MRMR",
    "NeighborInformation",
    "SelectionPath",
    "Terms",
]
