"""A log knows its inventory, prompts and files by what they hold: a change is another run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory
from chameleon.errors import LogError
from chameleon.llm import ScriptedModel
from chameleon.log import EventLog
from chameleon.planners.fixed import Fixed
from chameleon.state import Event, RunStarted
from tests.engine.doubles import Does, executor
from tests.engine.files import write

WHY = {"question": "why?"}


def shouting(name: str = "shouting", module: str = "shout") -> Executor:
    shout = Does(lambda state: state.input["question"].upper(), reads="input.question")
    return Executor(Inventory(name, Fixed([module]), {module: shout}))


@pytest.mark.parametrize(
    ("executor", "given", "begin", "told"),
    [
        (shouting(), {"question": "how?"}, 0, "belongs to another question or inventory"),
        (shouting("other"), WHY, 0, "belongs to another question or inventory"),
        (shouting(), WHY, 1, "no beginning"),
        (shouting(module="cry"), WHY, 0, "has a step 'shout', and the inventory shouting has no such module"),
    ],
)
def test_the_log_of_another_run_is_refused(
    executor: Executor, given: dict[str, Any], begin: int, told: str
) -> None:
    with pytest.raises(LogError, match=told):
        executor.run(given, list(shouting().stream(WHY))[begin:])


class TestAnInventoryThatHasChangedSinceTheLogBegan:
    BEFORE = """
name: mine
planner: {use: fixed, plan: [solution_generator, answer_generator]}
modules:
  solution_generator: {prompt: look, llm: {temperature: 0}}
  answer_generator: {}
budget: {calls: 1}
"""

    def begun(self, folder: Path) -> list[Event]:
        write(folder, "# user\nLook.", "look.md")
        return list(self.executor(folder).stream(WHY))[:2]

    def executor(self, folder: Path, before: str = "", after: str = "") -> Executor:
        path = write(folder, self.BEFORE.replace(before, after))
        return Executor(Inventory.load(path), LLM.connect(ScriptedModel(["The answer is 7."] * 9)))

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("  answer_generator: {}\n", "  answer_generator: {}\n  row_lookup: {}\n"),
            ("[solution_generator, answer_generator]", "[solution_generator]"),
            ("answer_generator: {}", "answer_generator: {on_error: skip}"),
        ],
    )
    def test_is_told(self, before: str, after: str, tmp_path: Path) -> None:
        log = self.begun(tmp_path)
        with pytest.raises(LogError) as error:
            self.executor(tmp_path, before, after).run(WHY, log)
        assert str(error.value) == (
            "the inventory mine has changed since the log began. Give a new file for the log."
        )

    def test_in_a_prompt_is_told(self, tmp_path: Path) -> None:
        log = self.begun(tmp_path)
        write(tmp_path, "# user\nLook twice.", "look.md")
        with pytest.raises(LogError, match="the prompt of solution_generator has changed since"):
            self.executor(tmp_path).run(WHY, log)

    def test_of_version_is_told(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        log = self.begun(tmp_path)
        monkeypatch.setattr("importlib.metadata.version", lambda _: "9.9")
        with pytest.raises(LogError, match=r"begun by version .* of chameleon-compose, and this is 9\.9"):
            self.executor(tmp_path).run(WHY, log)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("calls: 1", "calls: 9"),
            ("temperature: 0", "temperature: 1"),
            ("name: mine", "name: mine\nabout: x"),
        ],
    )
    def test_may_be_in_the_calls_of_its_model_and_in_its_budget(
        self, before: str, after: str, tmp_path: Path
    ) -> None:
        log = self.begun(tmp_path)
        state = self.executor(tmp_path, before, after).run(WHY, log)
        assert state.answer == "7"


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


@pytest.mark.parametrize("kept", [1, 4])
def test_a_run_is_refused_wherever_it_stopped(asked: dict[str, Any], kept: int) -> None:
    whole = [*looking().stream(asked)]
    assert looking().run(asked, whole[:kept]).answer == "five"
    Path(asked["image"]).write_text("nine")
    with pytest.raises(LogError):
        looking().run(asked, whole[:kept])


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
