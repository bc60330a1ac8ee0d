"""Sizes that choose between ways of the certified search, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Where one way is better than another, measured on one core of two.

    Attributes
    ----------
    dense : int
        Rows of a block up to which all eigenvalues cost no more than bounds on them: 5 ms.
    double : int
        Rows up to which kernels are kept in float64, and all eigenvalues are the last resort: the
        0.2 s that they take are what a proof by products takes.
    large : int
        Rows from which no matrix of all pairs is made: two of 8,000 rows are 0.5 GB.
    columns : int
        Columns of the factor of a single feature: a Gaussian of one variable needs 15 to 30.
    left_out : float
        Share of a feature's trace that its factor may leave out: float32 resolves no more.
    resolved : float
        Share of the largest eigenvalue below which float32 does not resolve one.
    glance : float
        Columns of a factor below a joint, in ranks: fewer leave the end a tenth of a bit away.
    start : float
        Columns of the first product with a joint, in ranks: some beyond the rank are needed for
        what is outside them to be small against those within.
    single : float
        Bits: the width that products in float32 may reach.
    slower : float
        Times the width before: products that bring less than that are the last.
    """

    dense: int = 300
    double: int = 1_200
    large: int = 8_000
    columns: int = 64
    left_out: float = 1e-6
    resolved: float = 1e-5
    glance: float = 2.5
    start: float = 1.5
    single: float = 1e-4
    slower: float = 0.6


LIMITS = Limits()
