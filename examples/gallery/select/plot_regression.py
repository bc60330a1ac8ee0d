"""
A numeric target
================

Friedman's function: five of ten columns matter, two of them only by their product, one only by its
square. The target is a number; nothing else changes in the call.
"""

from sklearn.datasets import make_friedman1

from lorenyi.plots import SelectionPathDisplay
from lorenyi.selection import InformationSelector

X, y = make_friedman1(n_samples=800, n_features=10, noise=1.0, random_state=0)
selector = InformationSelector().fit(X, y)
selector.path_

# %%
# The search stops by itself. The dotted line is the ceiling: the entropy of the target as the
# criterion measures it. Noise in the target keeps every set of columns below it.
#
# The last chosen column lowers the score, although its gain is significant: with more columns, all
# bandwidths are widened to keep enough similar rows. A gain compares two sets at equal bandwidths.

SelectionPathDisplay.from_estimator(selector, X, y, beyond=3).plot()

# %%
# What each column shares with the target, and with the others. These columns are independent of
# each other: redundancies are zero up to sampling error, and some of the estimates are negative.

from lorenyi.plots import RelevanceDisplay

RelevanceDisplay.from_estimator(selector, X, y).plot()
