"""Certified entropies of joints of variables: intervals that narrow when more is asked.

`Joints` is what a search asks; a `Joint` is one of its entropies: a factor below it, a bound on
what that leaves, more columns when asked, and then all eigenvalues.
"""

from lorenyi.joints.engine import Features, Joints, Variables
from lorenyi.joints.joint import Joint, Side, Wanted

__all__ = ["Features", "Joint", "Joints", "Side", "Variables", "Wanted"]
