"""A log knows its inventory, prompts and files by what they hold: a change is another run."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory
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
    ("made", "question", "begin", "told"),
    [
        (shouting(), "how?", 0, "belongs to another question or inventory"),
        (shouting("other"), "why?", 0, "belongs to another question or inventory"),
        (shouting(), "why?", 1, "no start"),
        (shouting(module="cry"), "why?", 0, "has a step 'shout', but the inventory shouting has no such"),
    ],
)
def test_the_log_of_another_run_is_refused(made: Executor, question: str, begin: int, told: str) -> None:
    with pytest.raises(LogError, match=told):
        made.run({"question": question}, list(shouting().stream(WHY))[begin:])


INVENTORY = """
name: mine
planner: {use: fixed, plan: [solution_generator, answer_generator]}
modules:
  solution_generator: {prompt: look, llm: {temperature: 0}}
  answer_generator: {}
budget: {calls: 1}
"""
IS_CHANGED = "the inventory mine has changed since the log began. Use a new file for the log."
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
        error = "the log was started by version "
    with pytest.raises(LogError) as refused:
        changed().run(WHY, log)
    assert str(refused.value).startswith(error)


def looking() -> Executor:
    modules = {"look": lambda state: Path(state.input["image"]).read_text(), "say": lambda s: s.cache["look"]}
    return executor(modules, input_types={"question": "str", "image": "path?", "note": "str?"})


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    return write(tmp_path, "five", "v.png")


def test_a_file_that_has_changed_under_its_name_is_refused(picture: Path, tmp_path: Path) -> None:
    asked, path = {"question": "How many?", "image": str(picture)}, tmp_path / "run.jsonl"
    for written in (None, (1, 1)):  # the file is as it was, whenever it was written
        os.utime(picture, written)
        with EventLog(path) as log:
            assert looking().run(asked, log).answer == "five"
    whole = [*looking().stream(asked)]
    picture.write_text("nine")
    for kept in (1, 4):
        with pytest.raises(LogError):
            looking().run(asked, whole[:kept])
    before = path.read_bytes()
    with EventLog(path) as log, pytest.raises(LogError, match="the image has changed") as refused:
        looking().run(asked, log)
    assert str(picture) in str(refused.value) and path.read_bytes() == before
    picture.unlink()
    with EventLog(path) as log, pytest.raises(LogError, match="the image has changed"):
        looking().run(asked, log)


def begun(given: dict[str, Any], **options: Any) -> Any:
    """Return the settings of the run that the log begins with, and those of its executor."""
    quiet = executor({"say": lambda state: "yes"}, **options)
    first: Any = next(iter(quiet.stream({"question": "How many?"} | given)))
    return first.settings, quiet.settings


def test_texts_name_no_file_and_a_path_counts_in_an_inventory_without_types(picture: Path) -> None:
    settings, alone = begun({"note": str(picture)}, input_types={"question": "str", "note": "str?"})
    assert settings == alone
    assert len(begun({"scan": picture})[0]["files"]["scan"]) == 64


def test_a_device_and_a_pipe_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "nowhere"):
        assert begun({"scan": place})[0]["files"]["scan"] == "absent"
