"""Sizes that choose between ways of the certified search, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Where one way is better than another, measured on one core of two.

    Attributes
    ----------
    bounded : int
        Rows of a block from which bounds by a factor are cheaper than all eigenvalues: 5 ms.
    dense : int
        Rows up to which kernels are kept in float64 and all eigenvalues are computed: they take the
        0.2 s that a proof by a solver takes.
    pairs : int
        Rows from which no matrix of all pairs is made: two of 8,000 rows are 0.5 GB.
    columns : int
        Columns of the factor of a single feature: a Gaussian of one variable needs 15 to 30.
    left_out : float
        Share of a feature's trace that its factor may leave out: float32 resolves no more.
    resolved : float
        Share of the largest eigenvalue below which float32 does not resolve one.
    ranks : float
        Columns of a factor below a joint, in ranks: fewer leave the bound a tenth of a bit away.
    """

    bounded: int = 300
    dense: int = 1_200
    pairs: int = 8_000
    columns: int = 64
    left_out: float = 1e-6
    resolved: float = 1e-5
    ranks: float = 2.5


LIMITS = Limits()
