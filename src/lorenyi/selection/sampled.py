"""What a table of sampled rows says: quantities with the replicates that their errors come from."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Features: TypeAlias = tuple[int, ...]
GROUPS = 25  # of rows that are left out in turn: a standard error has 14 % of its own


@dataclass(frozen=True)
class Look:
    """How much of the data to look at.

    With permutations, candidates are scored against permuted rows of everything else.
    """

    blocks: int  # of rows
    permutations: int = 0
    skipped: int = 0  # permutations before these


class Sampled(ABC):
    """Entropies of features and target from sampled rows, in bits.

    For c candidates a quantity is an array of c x r: first the value, then its values without each
    group of rows in turn (the jackknife's replicates); or one value for each permutation.
    """

    count: int  # blocks of rows that there are

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def width(self, look: Look) -> int:
        """Return how many values a quantity has for each candidate."""
        return look.permutations or 1 + min(GROUPS, self.rows(1))

    @abstractmethod
    def first(self, candidates: int) -> int:
        """Return how many blocks a first look at so many candidates takes."""

    @abstractmethod
    def rows(self, blocks: int) -> int:
        """Return how many rows some blocks have."""

    @abstractmethod
    def joint(
        self, candidates: np.ndarray, given: Features, target: bool, look: Look
    ) -> np.ndarray:
        """Return S(x, given), or S(x, given, y) with the target, for each candidate x."""

    @abstractmethod
    def alone(self, given: Features, target: bool, look: Look) -> np.ndarray:
        """Return S(given), or S(given, y) with the target."""

    @abstractmethod
    def likely_pairs(self, candidates: np.ndarray, count: int) -> list[tuple[int, int]]:
        """Return the pairs of features that seem most informative together, or all of them."""

    @abstractmethod
    def target_entropy(self, look: Look) -> float:
        """Return what there is to be known about the target."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of candidates in bits, and their replicates without each group of rows."""

    values: np.ndarray  # c
    replicates: np.ndarray  # c x groups

    @classmethod
    def of(cls, found: np.ndarray) -> Scores:
        """Read c x (1 + groups); what could not be measured is the worst there is."""
        found = np.where(np.isfinite(found), found, -np.inf)
        return cls(found[:, 0], found[:, 1:])

    @property
    def standard_errors(self) -> np.ndarray:
        """Of the scores, by the jackknife."""
        return _jackknife(self.replicates)

    def leads(self, best: int) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much one candidate leads over each, and the standard errors of that."""
        with np.errstate(invalid="ignore"):
            lead = self.values[best] - self.values
            error = _jackknife(self.replicates[best] - self.replicates)
        return np.nan_to_num(lead, posinf=np.inf), error


def _jackknife(replicates: np.ndarray) -> np.ndarray:
    groups = replicates.shape[1]
    with np.errstate(invalid="ignore"):
        spread = np.nan_to_num(replicates.std(axis=1), nan=0.0)
    return np.asarray(spread * math.sqrt(groups - 1))
