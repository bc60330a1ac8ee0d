"""Sizes that choose between ways of the certified search, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from lorenyi.spectra.prover import MODERATE, SMALL


@dataclass(frozen=True)
class Limits:
    """Where one way is better than another, measured on one core of two."""

    bounded: int = SMALL  # rows of a block from which bounds are cheaper than all eigenvalues: 5 ms
    # Rows up to which kernels are kept in float64 and all eigenvalues are computed: they take the
    # 0.2 s that a proof by a solver takes.
    dense: int = MODERATE
    pairs: int = 8_000  # rows up to which matrices of all pairs are made: two of them are 0.5 GB
    at_once: int = 6  # candidates whose norms are computed by one pass over a kernel: half the time
    columns: int = 64  # of the factor of a feature: a Gaussian of one variable needs 15 to 30
    left_out: float = 1e-6  # share of a feature's trace that float32 does not resolve
    resolved: float = 1e-5  # share of the largest eigenvalue that float32 resolves
    ranks: float = 2.5  # columns of a factor below a joint: fewer leave the bound 0.1 bits away
    start: float = (
        1.5  # columns of the first product with a joint, in ranks: some beyond are needed
    )
    residual: float = 0.01  # square of the residuals that are multiplied, of the largest
    memory: int = 2**29  # bytes of bases that are kept for a closer look
    smooth: float = 0.01  # share of the trace that a factor of the chosen features may leave
    single: float = 1e-4  # bits: the width that products in float32 may reach
    slower: float = 0.8  # times the width before: products that bring less are the last


LIMITS = Limits()
