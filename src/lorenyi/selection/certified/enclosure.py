"""Products with the diagonal blocks of a joint, and what they prove of its spectrum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi.selection.certified.chosen import Part
from lorenyi.selection.certified.limits import LIMITS
from lorenyi.selection.certified.proof import FAILURE, Basis
from lorenyi.spectra import Spectrum, enclosure

Pair: TypeAlias = tuple[Spectrum, Spectrum]


class Enclosure:
    """What products in float32 with the blocks of a joint prove; small ones have all eigenvalues.

    With `twice` the start is multiplied as well, which a bound from below does not need.
    """

    def __init__(self, parts: Sequence[Part], seed: int, twice: bool) -> None:
        self.parts, self.seed = parts, seed
        small = {i: enclosure(complete(part)) for i, part in enumerate(parts) if part.is_small}
        self.small = {i: pair for i, pair in small.items() if pair is not None}
        self.proven = False  # since the last growth
        self.held: dict[int, np.ndarray] = {}
        self.bases: dict[int, Basis] = {}
        for i, J in self.matrices().items():
            near = parts[i].near(math.ceil(LIMITS.start * parts[i].share))
            self.bases[i] = Basis(J, J @ near if twice else near)

    @property
    def others(self) -> list[int]:
        """Numbers of the blocks that are not small."""
        return [i for i in range(len(self.parts)) if i not in self.small]

    def matrices(self) -> dict[int, np.ndarray]:
        """Return the matrices of the blocks that are not small, made anew if they were given up."""
        if not self.held:
            self.held = {i: self.parts[i].matrix(double=False) for i in self.others}
        return self.held

    def grow(self) -> bool:
        """Multiply the main directions of the residuals, too; tell whether there are any."""
        self.proven = False
        return max([self.bases[i].grow(J) for i, J in self.matrices().items()])

    @property
    def slack(self) -> float:
        """Relative size of the rounding in sums of lower bounds on eigenvalues."""
        eps = _arrays.epsilon(next(iter(self.bases.values())).Q)
        relative = max(part.rounding(double=False).relative for part in self.parts)
        most = max(int(basis.Q.shape[1]) for basis in self.bases.values())
        return 2 * relative + (64 + most) * eps

    def below(self) -> tuple[np.ndarray, np.ndarray]:
        """Return Ritz values of all blocks, descending, and better lower bounds."""
        each = [basis.below() for basis in self.bases.values()]
        known = [pair[1].values for pair in self.small.values()]
        ritz, better = (np.concatenate([*known, *found]) for found in zip(*each, strict=True))
        return np.sort(ritz)[::-1], np.sort(better)[::-1]

    def ends(self) -> tuple[list[Spectrum], list[Spectrum], float] | None:
        """Return what encloses each block from both sides, and the probability that it does not.

        None if nothing bounds what is outside a basis.
        """
        self.proven = True
        pairs = list(self.small.values())
        for i, J in self.matrices().items():
            part = self.parts[i]
            off = part.rounding(double=False)
            pair = self.bases[i].enclosed(J, part.share, part.mass, off, self.seed)
            if pair is None:
                return None
            pairs.append(pair)
        peaked, spread = zip(*pairs, strict=True)
        return list(peaked), list(spread), FAILURE * len(self.bases)


def complete(part: Part) -> Spectrum:
    """Return all eigenvalues of a block."""
    values = np.maximum(_arrays.eigvalsh(part.matrix(double=True))[::-1], 0.0)
    return Spectrum(values, len(part), part.mass, rounding=part.rounding(double=True).relative)
