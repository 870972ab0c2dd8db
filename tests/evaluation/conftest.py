from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.commands import Command
from tests.e2e.conftest import command
from tests.evaluation.asking import Asking, Start
from tests.evaluation.folders import whole

__all__ = ["command", "whole"]


@pytest.fixture
def asking(loopback: Start, command: Command, tmp_path: Path) -> Callable[..., Asking]:
    """Make evaluations that ask a model."""
    return partial(Asking, loopback, command, tmp_path)
