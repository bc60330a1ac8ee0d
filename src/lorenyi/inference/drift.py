"""Drift: batches of a stream, one after the other, against a reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lorenyi._progress import Progress
from lorenyi.divergences import stacked
from lorenyi.inference.features import BANDWIDTHS
from lorenyi.inference.samples import TwoSampleTest, two_sample_test


class Drift:
    """Compare batches of a stream with a reference, as they come.

    Each batch is tested by `two_sample_test`, so columns that changed are named and the level of
    each test is exact: without drift a share `level` of all batches are false alarms. For fewer
    false alarms give a smaller level and more permutations (at least 1 / level), for slow drift a
    larger window.

    Parameters
    ----------
    reference : array, data-frame, column or sequence
        Rows that the stream is compared with.
    window : int
        How many of the latest batches are tested together.
    bandwidths, permutations, level, seed
        As in `two_sample_test`.

    Attributes
    ----------
    tests : list of TwoSampleTest
        One for each batch.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> rng = np.random.default_rng(0)
    >>> drift = lr.Drift(rng.normal(size=(300, 2)))
    >>> for day in range(4):                      # the second column widens on day 2
    ...     batch = rng.normal(size=(100, 2)) * [1.0, 2.0 if day >= 2 else 1.0]
    ...     found = drift.update(batch)
    >>> drift.alarms, drift.changed
    ([2, 3], {2: ['x1'], 3: ['x1']})
    """

    def __init__(
        self,
        reference: Any,
        *,
        window: int = 1,
        bandwidths: Sequence[float] = BANDWIDTHS,
        permutations: int = 199,
        level: float = 0.05,
        seed: int = 0,
    ) -> None:
        if isinstance(window, bool) or not isinstance(window, int) or window < 1:
            raise ValueError(f"window={window!r}: it must be an integer of at least 1")
        if level is None:
            raise ValueError("level=None: an alarm is a p-value at or below a level, give one")
        self.reference, self.window, self.level = reference, window, level
        self.bandwidths, self.permutations, self.seed = bandwidths, permutations, seed
        self.tests: list[TwoSampleTest] = []
        self._latest: list[Any] = []

    def update(self, batch: Any, *, progress: Progress = None) -> TwoSampleTest:
        """Test the next batch, together with those before it that are in the window.

        Parameters
        ----------
        batch : array, data-frame, column or sequence
            Rows with the columns of the reference.
        progress
            As in `independence_test`.
        """
        latest = [*self._latest, batch][-self.window :]
        rows = latest[0]
        for more in latest[1:]:
            rows = stacked(rows, more)[0]
        found = two_sample_test(
            self.reference,
            rows,
            bandwidths=self.bandwidths,
            permutations=self.permutations,
            level=self.level,
            seed=self.seed + len(self.tests),
            progress=progress,
        )
        self._latest = latest
        self.tests.append(found)
        return found

    def watch(self, batches: Iterable[Any]) -> Drift:
        """Test batches one after the other, and return this object."""
        for batch in batches:
            self.update(batch)
        return self

    @property
    def pvalues(self) -> list[float]:
        """The p-value of each batch."""
        return [found.pvalue for found in self.tests]

    @property
    def alarms(self) -> list[int]:
        """The numbers, from 0, of batches that differ from the reference at the level."""
        return [i for i, p in enumerate(self.pvalues) if p <= self.level + 1e-12]

    @property
    def changed(self) -> dict[int, list[str]]:
        """The columns that changed, of each batch that is an alarm."""
        return {i: self.tests[i].changed for i in self.alarms}

    def __repr__(self) -> str:
        """Show the number of batches and which are alarms."""
        return f"Drift({len(self.tests)} batches, alarms: {self.alarms or 'none'})"
