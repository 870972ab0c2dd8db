"""A log knows its inventory, prompts and files by what they hold: a change is another run."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory
from chameleon.core.events import RunStarted
from chameleon.core.log import EventLog
from chameleon.errors import LogError
from chameleon.llm import ScriptedModel
from chameleon.planners.fixed import Fixed
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


INVENTORY = """
name: mine
planner: {use: fixed, plan: [solution_generator, answer_generator]}
modules:
  solution_generator: {prompt: look, llm: {temperature: 0}}
  answer_generator: {}
budget: {calls: 1}
"""
IS_CHANGED = "the inventory mine has changed since the log began. Give a new file for the log."
PROMPT = "# user\nLook."


@pytest.mark.parametrize(
    ("before", "after", "prompt", "error"),
    [
        ("  answer_generator: {}\n", "  answer_generator: {}\n  row_lookup: {}\n", PROMPT, IS_CHANGED),
        ("[solution_generator, answer_generator]", "[solution_generator]", PROMPT, IS_CHANGED),
        ("answer_generator: {}", "answer_generator: {on_error: skip}", PROMPT, IS_CHANGED),
        ("", "", "# user\nLook twice.", "the prompt of solution_generator has changed since the log began"),
        ("", "", PROMPT, ""),
        ("calls: 1", "calls: 9", PROMPT, ""),
        ("temperature: 0", "temperature: 1", PROMPT, ""),
        ("name: mine", "name: mine\nabout: x", PROMPT, ""),
    ],
)
def test_a_log_goes_on_but_for_an_inventory_or_prompt_that_has_changed(
    before: str, after: str, prompt: str, error: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The model, the parameters of its calls, the budget and what is said of it may change."""

    def made(text: str, prompt: str) -> Executor:
        write(tmp_path, prompt, "look.md")
        model = LLM.connect(ScriptedModel(["The answer is 7."] * 9))
        return Executor(Inventory.load(write(tmp_path, text)), model)

    log = list(made(INVENTORY, PROMPT).stream(WHY))[:2]
    changed = partial(made, INVENTORY.replace(before, after), prompt)
    if not error:
        assert changed().run(WHY, log).answer == "7"
        monkeypatch.setattr("importlib.metadata.version", lambda _: "9.9")
        error = "the log was begun by version "
    with pytest.raises(LogError) as refused:
        changed().run(WHY, log)
    assert str(refused.value).startswith(error)


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
    whole = [*looking().stream(asked)]
    file.write_text("nine")
    for kept in (1, 4):
        with pytest.raises(LogError):
            looking().run(asked, whole[:kept])
    before = path.read_bytes()
    with EventLog(path) as log, pytest.raises(LogError, match="the image has changed") as refused:
        looking().run(asked, log)
    assert str(file) in str(refused.value) and "another question" in refused.value.what
    assert path.read_bytes() == before
    file.unlink()
    with EventLog(path) as log, pytest.raises(LogError, match="the image has changed"):
        looking().run(asked, log)


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
