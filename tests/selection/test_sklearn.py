"""The selector as scikit-learn wants it: its own checks, whole, and its usual companions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lorenyi.selection import JMI, InformationSelector


@pytest.mark.filterwarnings("ignore:.*no feature.* selected:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [InformationSelector(), InformationSelector(1), InformationSelector(criterion=JMI())]
)
def test_scikit_learns_own_checks_hold(estimator, check):
    check(estimator)
