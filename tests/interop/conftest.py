"""The command line in the test's own process."""

from tests.e2e.conftest import command

__all__ = ["command"]
