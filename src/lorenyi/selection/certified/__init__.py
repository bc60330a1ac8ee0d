"""Certified joint entropies for a search: intervals that a finer tolerance narrows.

`Kernels` is what the rest of the room asks; a `Joint` is one of its entropies: a factor below it, a
bound on what that leaves, more columns when asked, and then all eigenvalues.
"""
