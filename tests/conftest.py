"""What holds for all tests."""

from hypothesis import settings

# An example may take as long as a busy machine makes it.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
