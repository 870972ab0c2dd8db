"""Fixtures: the command line in the test's own process, embeddings without a model, an installed package."""

from tests.e2e.conftest import command
from tests.inventory.installed import weather_tools
from tests.retrieval.hashed import by_name, hashed

__all__ = ["by_name", "command", "hashed", "weather_tools"]
