"""What a table of sampled rows says: quantities with the replicates that their errors come from."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi.selection.limits import LIMITS

Features: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Look:
    """How much of the data to look at; permutations are of everything but the candidates."""

    blocks: int  # of rows
    permutations: int = 0
    skipped: int = 0  # permutations before these


class Sampled(ABC):
    """Entropies of features and target from sampled rows, in bits.

    For c candidates a quantity is an array of c x r: the value and then those without each group of
    rows in turn (the jackknife's replicates), or one value for each permutation.
    """

    seed: int
    size: int  # rows of a block
    count: int = 1  # blocks that there are

    @abstractmethod
    def joint(self, candidates: np.ndarray, given: Features, look: Look) -> np.ndarray:
        """Return S(x, given) and S(x, given, y) for each candidate x: 2 x c x r.

        Feature -1 is a constant.
        """

    def alone(self, given: Features, look: Look) -> np.ndarray:
        """Return S(given) and S(given, y) of the rows as they are: 2 x (1 + groups)."""
        return np.asarray(self.joint(np.array([-1]), given, Look(look.blocks))[:, 0])

    def width(self, look: Look) -> int:
        """Return r, how many values a quantity has for each candidate."""
        return look.permutations or 1 + min(LIMITS.groups, self.size)

    def first(self, candidates: int) -> int:
        """Return how many blocks a first look at so many candidates takes."""
        return 1

    def likely_sets(
        self, x: np.ndarray, size: int, permutation: int = 0
    ) -> list[tuple[float, Features]]:
        """Return the sets of features that seem most informative together, or all of them."""
        return [(0.0, features) for features in combinations(x.tolist(), size)]

    def target_entropy(self) -> float:
        """Return what there is to be known about the target."""
        return float(self.alone((), Look(1))[1, 0])

    def orders(self, look: Look, block: int = 0) -> np.ndarray:
        """Return the orders of a block's rows that a look takes: permutations, or as they are."""
        if not look.permutations:
            return np.arange(self.size)[None]
        numbers = range(look.skipped, look.skipped + look.permutations)
        streams = [10**6 * (1 + b) + 1000 * block for b in numbers]
        keys = [_arrays.hashed(self.seed, stream, self.size)[:, 0] for stream in streams]
        return np.argsort(keys, axis=1)


def standard_errors(values: np.ndarray) -> np.ndarray:
    """Return the jackknife's errors of values, c x (1 + r), from the replicates after each.

    Infinite where a replicate could not be measured, NaN where the value itself could not be.
    """
    with np.errstate(invalid="ignore"):
        errors = values[:, 1:].std(axis=1) * math.sqrt(values.shape[1] - 2)
    errors[np.isnan(errors) & np.isfinite(values[:, 0])] = np.inf
    return np.asarray(errors)


def leads(values: np.ndarray, best: int) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much one candidate leads over each, and the standard errors of that."""
    with np.errstate(invalid="ignore"):
        lead = values[best] - values
    return np.nan_to_num(lead[:, 0], posinf=np.inf), standard_errors(lead)
