"""Fixtures: the command line in the test's own process and folder, models of words, an installed package."""

import shlex
from pathlib import Path

import pytest

from tests.e2e.commands import Command
from tests.e2e.conftest import command
from tests.inventory.installed import weather_tools
from tests.retrieval.hashed import by_name, hashed

__all__ = ["by_name", "command", "hashed", "weather_tools"]


@pytest.fixture
def sh(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a line of a shell, `sh("ask Q --table t.csv")`, in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return lambda line, *more: command(*shlex.split(line), *more)
