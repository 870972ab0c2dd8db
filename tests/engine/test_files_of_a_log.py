"""A log knows the files of its input by what they hold: a changed picture is another question."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, State
from chameleon.errors import LogError
from chameleon.log import EventLog
from chameleon.state import Event, RunStarted
from tests.engine.doubles import executor


def looking() -> Executor:
    types = {"question": "str", "image": "path?", "note": "str?"}
    return executor(
        {
            "look": lambda state: Path(state.input["image"]).read_text(),
            "say": lambda state: state.cache["look"],
        },
        input_types=types,
    )


@pytest.fixture
def asked(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "v.png").write_text("five")
    return {"question": "How many?", "image": str(tmp_path / "v.png")}


def events(asked: dict[str, Any], log: Iterable[Event] = ()) -> list[Event]:
    return [*log, *looking().stream(asked, log)]


def test_a_file_that_has_changed_under_its_name_is_refused(asked: dict[str, Any], tmp_path: Path) -> None:
    file, path = Path(asked["image"]), tmp_path / "run.jsonl"
    with EventLog(path) as log:
        assert looking().run(asked, log).answer == "five"
    with EventLog(path) as log:  # the file is as it was, whenever it was written
        os.utime(file, (1, 1))
        assert looking().run(asked, log).answer == "five"
    file.write_text("nine")
    before = path.read_bytes()
    with EventLog(path) as log, pytest.raises(LogError, match="the image has changed") as refused:
        looking().run(asked, log)
    assert str(file) in str(refused.value) and "another question" in refused.value.what
    assert path.read_bytes() == before
    file.unlink()
    with EventLog(path) as log, pytest.raises(LogError, match="the image has changed"):
        looking().run(asked, log)


@pytest.mark.parametrize("kept", range(1, 5))
def test_a_run_is_refused_wherever_it_stopped(asked: dict[str, Any], kept: int) -> None:
    whole = events(asked)
    assert State.fold(events(asked, whole[:kept])).answer == "five"
    Path(asked["image"]).write_text("nine")
    with pytest.raises(LogError):
        events(asked, whole[:kept])


def test_inputs_without_files_are_as_before_and_texts_name_no_file(tmp_path: Path) -> None:
    (tmp_path / "v.png").write_text("five")
    quiet = executor({"say": lambda state: "yes"}, input_types={"question": "str", "note": "str?"})
    begun = next(iter(quiet.stream({"question": "How many?", "note": str(tmp_path / "v.png")})))
    assert isinstance(begun, RunStarted) and begun.settings == quiet.settings


def test_a_path_counts_in_an_inventory_without_types(tmp_path: Path) -> None:
    (tmp_path / "v.png").write_text("five")
    free = executor({"say": lambda state: "yes"})
    begun = next(iter(free.stream({"question": "How many?", "scan": tmp_path / "v.png"})))
    assert isinstance(begun, RunStarted) and len(begun.settings["files"]["scan"]) == 64


def test_a_device_and_a_pipe_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    free = executor({"say": lambda state: "yes"})
    for place in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "nowhere"):
        begun = next(iter(free.stream({"question": "How many?", "scan": place})))
        assert isinstance(begun, RunStarted) and begun.settings["files"]["scan"] == "absent"
