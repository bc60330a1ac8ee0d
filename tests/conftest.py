"""What holds for all tests."""

import gc

from hypothesis import settings

# An example may take as long as a busy machine makes it.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_collection_finish(session):
    """Take eleven thousand tests, and the libraries they import, out of the collector's rounds."""
    gc.collect()
    gc.freeze()
