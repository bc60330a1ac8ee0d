"""Sizes that choose between ways of the search, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Limits:
    """How much is looked at, and where one way is better than another."""

    # Rows.
    rows: int = 16_000  # of a table, drawn at random: so many show 0.1 % of explained variance
    points: int = 10**6  # of weighted rows, a row each
    told_apart: int = 30  # distinct values of a number that tells copies of rows from equal rows
    block: int = 500  # rows that are compared with each other, at least: fewer choose worse columns
    first: int = 4  # blocks of a first look: 2,000 rows lose 0.16 +- 0.08 points against 4,000
    first_pairs: float = 1e9  # kernel values of a first look at most: a second
    tried: int = 2  # blocks on which bandwidths of a path are tried
    shifts: int = 32  # pairs a row, in twice as many blocks, that rank pairs of features
    shortlist: int = 64  # of these pairs, or triples, of which the criterion chooses
    triples: int = 100  # features that triples are made of: five seconds
    groups: int = 25  # of rows that are left out in turn: a standard error has 14 % of its own
    # Levels above which a label has too few rows in each for criteria that are biased.
    labels: int = 10
    cell: float = 5.0  # rows a level: the rule of contingency tables
    # Candidates and permutations.
    equal: float = 1e-7  # bits: sums are in float32
    close: float = 2.0  # standard errors behind the best up to which more rows are looked at
    screened: float = 3.0  # the same on half of a first look: on five tables no list changed
    batch: int = 12  # permutations at a time
    memory: int = 2**28  # bytes of sums of permuted candidates at a time
    spent: float = 0.8  # of the level, on the first look
    ranks: int = 3  # permuted ones as good as the best at the level: power .50 where 1 has .42
    clear: float = 4.0  # standard deviations above permuted ones at which no more are needed
    nulls: int = 20  # permutations of each feature alone, pooled
    # Bandwidths: powers of the weights.
    full: float = 3.0  # chosen features up to which they are not widened
    widths: tuple[float, ...] = 1.0, 2.0, 4.0  # times that power, of which the best is taken
    # Powers of all weights of a path, or of those before and of the next feature; twice as many
    # raise its score by 0.01 bits on average over eleven tables.
    together: tuple[float, ...] = 2.0, 1.0, 0.5  # a copy narrows, pairs tell together
    powers: tuple[tuple[float, float], ...] = tuple(product((1.0, 0.7), (1.0, 0.5, 0.2)))
    # Times the smoothing of the criterion, of which the best is taken: with 1 alone, of six labels
    # of six levels in 1,000 rows two are found beside each other in place of all.
    smoothing: tuple[float, ...] = 1.0, 4.0, 16.0
    # Candidates and rows of a piece of a kernel: of small ones threads wait for each other.
    plain: tuple[int, int] = 16, 128
    permuted: tuple[int, int] = 64, 16  # products of matrices
    # Certified scores, in bits.
    tie: float = 1e-9  # narrower intervals that overlap are equal
    coarse: float = 0.1  # width of entropies at the first look, which drops most candidates
    fine: float = 2e-3  # at the next one, and for scores that are shown
    finest: float = 1e-11  # at the last one
    finer: float = 32.0  # times finer than the look before, at most
    copies: int = 30  # permuted columns, to which a curve is fitted


LIMITS = Limits()
