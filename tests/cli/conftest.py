"""The fixture that runs the command line in the test's own process, and embeddings without a model."""

from tests.e2e.conftest import command
from tests.retrieval.hashed import by_name, hashed

__all__ = ["by_name", "command", "hashed"]
