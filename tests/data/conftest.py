"""What tests of rows that are not in memory share."""

import pytest

from lorenyi.data import sources
from lorenyi.gram import structure


@pytest.fixture
def few_count_as_many(monkeypatch):
    """Let a few hundred rows count as many, so that nothing is brought to one place unasked."""
    monkeypatch.setattr(sources, "BLOCK_ROWS", 70)
    monkeypatch.setattr(structure, "WHOLE", 40)
    monkeypatch.setattr("lorenyi.spectra.search.SAMPLE", 60)
    monkeypatch.setattr("lorenyi.spectra.prover.SAMPLE", 60)
