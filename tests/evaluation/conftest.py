from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from chameleon.evaluation.run import Run
from tests.e2e.commands import Command
from tests.e2e.conftest import command
from tests.evaluation.asking import Asking, Start
from tests.evaluation.folders import whole
from tests.evaluation.report_runs import PNG, hostile_run, model_run, offline_run

__all__ = ["command", "whole"]


@pytest.fixture
def asking(loopback: Start, command: Command, tmp_path: Path) -> Callable[..., Asking]:
    return partial(Asking, loopback, command, tmp_path)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """Two runs of made problems: 24 offline, and 12 by a scripted model."""
    folder = tmp_path_factory.mktemp("runs")
    return offline_run(folder / "offline", 24), model_run(folder / "model", 12)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "picture.png").write_bytes(PNG)
    return hostile_run(folder / "run", folder / "picture.png")
