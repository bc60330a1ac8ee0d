"""The base class of all solvers: exact structure first, then the blocks that remain."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._progress import Progress
from lorenyi._threads import one_thread
from lorenyi.gram import Gram, squared_norm, symmetric
from lorenyi.pairs import PairMean
from lorenyi.spectra.bounds import union
from lorenyi.spectra.spectrum import Spectrum, require_rank

Width: TypeAlias = Callable[[Spectrum], float]


@dataclass(frozen=True)
class Goal:
    """What eigenvalues are wanted for: an entropy, and how finely it is to be computed.

    Parameters
    ----------
    alpha, rank
        Order and rank of the entropy.
    tol : float
        Computing error in bits that is small enough.
    bits : callable
        The entropy of a `Spectrum` of trace one, for a given rank.
    """

    alpha: float
    rank: int | None
    tol: float
    bits: Callable[[Spectrum, int | None], float]

    def error(self, spectrum: Spectrum, rank: int | None) -> float:
        """Return the estimated computing error of a spectrum's entropy.

        Below order 1, where the smallest eigenvalues weigh most, rounding is part of it.
        """
        others = spectrum.alternatives
        if self.alpha < 1 and spectrum.kind == "complete":
            others = (*others, *spectrum.rounded())
        if not others:
            return 0.0
        value = self.bits(spectrum, rank)
        return max(abs(self.bits(other, rank) - value) for other in others)


class Solver(ABC):
    """A method for the leading eigenvalues, as a frozen value: `solver(A, rank)` -> `Spectrum`.

    Equal rows, equality kernels and finite feature maps are exploited before `solve` is called,
    so a solver sees one block without such structure.

    Attributes
    ----------
    alike : bool
        Whether rows and columns of A are treated alike, so that `symmetric` suffices.
    progress : bool or callable, optional
        How to report on long calls.
    """

    alike: ClassVar[bool] = True
    progress: Progress = None

    @property
    def wanted_error(self) -> float | None:
        """Requested computing error in bits; None where the effort is fixed."""
        return None

    @property
    def largest_error(self) -> float:
        """Computing error in bits beyond which a result warns; infinite where effort is fixed."""
        return math.inf

    def __call__(self, A: Gram, rank: int | None = None, width: Width | None = None) -> Spectrum:
        """Return the leading eigenvalues of A: at least `rank` of them, or all it can give.

        `width` gives the certified width in bits of the wanted quantity; solvers of fixed effort
        ignore it.
        """
        if rank is not None:
            require_rank(rank, A.n)
        with one_thread(A.reference):
            singles, blocks = A.reduced
            parts = known_spectrum(singles, A.mass if not blocks else None)
            for block in blocks:
                parts.append(self.solve(block, None if rank is None else min(rank, len(block))))
            return union(parts, A.n, A.mass)

    def estimate(self, A: Gram, goal: Goal) -> Spectrum | PairMean:
        """Return what gives the entropy of a goal; solvers of fixed effort ignore its tolerance.

        Order 2 without a rank needs no eigenvalues.
        """
        if goal.alpha == 2 and goal.rank is None:
            return PairMean(squared_norm(A), A.n)
        return self(A, goal.rank)

    def proven(self, A: Gram, alpha: float, rank: int | None, width: Width) -> Spectrum:
        """Return a spectrum whose bounds on the entropy are as narrow as `width` asks for."""
        return self(A, rank, width)

    @abstractmethod
    def solve(self, A: Gram, rank: int | None) -> Spectrum:
        """Return the leading eigenvalues of one block (n and trace: the block's own)."""


def known_spectrum(values: Array, trace: float | None) -> list[Spectrum]:
    """Return the Spectrum of eigenvalues known from structure, if there are any, in a list."""
    if not values.shape[0]:
        return []
    total = float(np.sum(_arrays.to_numpy(values), dtype=np.float64)) if trace is None else trace
    return [Spectrum(descending(values), int(values.shape[0]), total)]


def descending(values: Array) -> Array:
    """Sort values in descending order."""
    return _arrays.namespace(values).sort(values, descending=True)


def rayleigh(A: Gram | Array, V: Array) -> Array:
    """Return the Rayleigh quotients v'Av for orthonormal columns held constant.

    For converged vectors their derivative is the exact one of the eigenvalues; for vectors after
    few steps it is the paper's approximation.
    """
    matrix = symmetric(A) if isinstance(A, Gram) else A
    return _arrays.namespace(V).sum(V * (matrix @ V), axis=0)


def require_size(argument: str, found: object, least: int, why: str) -> None:
    """Refuse a size, a number of steps, ... that is not an integer of at least `least`."""
    integer = isinstance(found, (int, np.integer)) and not isinstance(found, bool)
    if not integer or found < least:  # type: ignore[operator]
        raise ValueError(f"{argument}={found!r}: it must be an integer of at least {least} ({why})")


def require_seed(seed: object) -> None:
    """Refuse a seed that is not an integer."""
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool):
        raise ValueError(f"seed={seed!r}: it must be an integer (same seed, same result)")
