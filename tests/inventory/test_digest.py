"""A log knows its inventory and files by what they hold; what keeps an inventory from working."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, Module, State
from chameleon.core.log import EventLog
from chameleon.errors import ChameleonError, InventoryError, LogError, MissingPackage
from chameleon.inventory import Obstacle
from chameleon.llm import ScriptedModel
from chameleon.planners.fixed import Fixed
from tests.engine.doubles import Does, executor, failing, inventory_of, run, why
from tests.engine.files import write

WHY = {"question": "why?"}


def shouting(name: str = "shouting", module: str = "shout") -> Executor:
    shout = Does(lambda state: state.input["question"].upper(), reads="input.question")
    return Executor(Inventory(name, Fixed([module]), {module: shout}))


OTHER = "belongs to another question or inventory"
RUNS = [
    *((shouting(), "how?", 0, OTHER), (shouting("other"), "why?", 0, OTHER), (shouting(), "why?", 1, "no ")),
    (shouting(module="cry"), "why?", 0, "has a step 'shout', but the inventory shouting has no such"),
]


@pytest.mark.parametrize(("made", "question", "begin", "told"), RUNS)
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
    ("before", "after", "error"),
    [
        ("  answer_generator: {}\n", "  answer_generator: {}\n  row_lookup: {}\n", IS_CHANGED),
        ("[solution_generator, answer_generator]", "[solution_generator]", IS_CHANGED),
        ("answer_generator: {}", "answer_generator: {on_error: skip}", IS_CHANGED),
        ("Look.", "Look twice.", "the prompt of solution_generator has changed since the log began"),
        *(("", "", ""), ("calls: 1", "calls: 9", ""), ("temperature: 0", "temperature: 1", "")),
        ("name: mine", "name: mine\nabout: x", ""),
    ],
)
def test_changes_are_told(before: str, after: str, error: str, monkeypatch: Any, tmp_path: Path) -> None:
    def made(text: str, prompt: str) -> Executor:
        write(tmp_path, prompt, "look.md")
        model = LLM.connect(ScriptedModel(["The answer is 7."] * 9))
        return Executor(Inventory.load(write(tmp_path, text)), model)

    log = list(made(INVENTORY, PROMPT).stream(WHY))[:2]
    changed = partial(made, INVENTORY.replace(before, after), PROMPT.replace(before, after))
    if not error:
        assert changed().run(WHY, log).answer == "7"
        monkeypatch.setattr("importlib.metadata.version", lambda _: "9.9")
        error = "the log was started by version "
    with pytest.raises(LogError) as refused:
        changed().run(WHY, log)
    assert str(refused.value).startswith(error)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    return write(tmp_path, "five", "v.png")


def test_a_file_that_has_changed_under_its_name_is_refused(picture: Path, tmp_path: Path) -> None:
    asked, path = {"question": "How many?", "image": str(picture)}, tmp_path / "run.jsonl"
    modules = {"look": lambda state: Path(state.input["image"]).read_text(), "say": lambda s: s.cache["look"]}
    looking = executor(modules, input_types={"question": "str", "image": "path?", "note": "str?"})
    for written in (None, (1, 1)):  # the file is as it was, whenever it was written
        os.utime(picture, written)
        with EventLog(path) as log:
            assert looking.run(asked, log).answer == "five"
    whole, before = [*looking.stream(asked)], path.read_bytes()
    picture.write_text("nine")
    for kept in (1, 4):
        with pytest.raises(LogError):
            looking.run(asked, whole[:kept])
    for _ in range(2):
        with EventLog(path) as log, pytest.raises(LogError, match="the image has changed") as refused:
            looking.run(asked, log)
        assert str(picture) in str(refused.value) and path.read_bytes() == before
        picture.unlink(missing_ok=True)


def begun(given: dict[str, Any], **options: Any) -> Any:
    """Return the settings of the run that the log begins with, and those of its executor."""
    quiet = executor({"say": lambda state: "yes"}, **options)
    first: Any = next(iter(quiet.stream({"question": "How many?"} | given)))
    return first.settings, quiet.settings


def test_texts_name_no_file_a_path_counts_without_types_and_no_device_is_read(picture: Path) -> None:
    settings, alone = begun({"note": str(picture)}, input_types={"question": "str", "note": "str?"})
    assert settings == alone
    assert len(begun({"scan": picture})[0]["files"]["scan"]) == 64
    os.mkfifo(pipe := picture.parent / "pipe")
    for place in (pipe, Path("/dev/zero"), pipe.parent, pipe.parent / "nowhere"):
        assert begun({"scan": place})[0]["files"]["scan"] == "absent"


NO_KEY = type("NoKey", (ChameleonError,), {})("SHOP_KEY is not set", hint="Set it.")


def checking(problem: Exception) -> Module:
    """Return a module whose check raises this."""
    return Does(lambda state: "never", check=lambda: failing(problem)(State()))


def obstacle(problem: Exception, **options: Any) -> Obstacle:
    (found,) = inventory_of({"shop": checking(problem), "says": lambda state: "yes"}, **options).obstacles()
    return found


def test_all_is_told_at_once_and_what_a_run_does_without_apart() -> None:
    scales = checking(MissingPackage("scales is not installed", hint="pip install scales"))
    modules = {"shop": checking(NO_KEY), "scales": scales, "says": lambda state: "yes"}
    mine = inventory_of(modules, on_error={"scales": "skip"})
    found = [(each.part, each.module, each.stops) for each in mine.obstacles()]
    assert found == [("modules.shop", "shop", True), ("modules.scales", "scales", False)]
    with pytest.raises(InventoryError, match=r"^mine: 2 problems .*SHOP_KEY is not set Set it\.; .*pip inst"):
        mine.check()
    with pytest.raises(InventoryError, match=r"^mine: the module scales cannot run here"):
        mine.without("shop").check()
    assert mine.without("shop", "scales").obstacles() == []


def test_a_policy_that_needs_the_module_itself_does_not_help_and_a_check_at_fault_is_told() -> None:
    assert obstacle(NO_KEY, on_error={"shop": ["shop"]}).stops
    assert not obstacle(NO_KEY, on_error={"shop": ["says"]}).stops
    broken = str(obstacle(KeyError("drawer")).error)
    assert "the check of the module shop failed: KeyError: 'drawer' (doubles.py, line " in broken
    told = why(run({"shop": type("NoRun", (Module,), {})()}))
    assert told.startswith("module shop: NoRun has no run method")


@pytest.mark.parametrize("reads", ["cache.shop", "cache.prices"])
def test_a_key_that_nobody_gives_is_told_with_those_that_are_there(reads: str) -> None:
    modules = {"shop": Does(str, writes="cache.price"), "last": Does(str, reads=reads)}
    (found,) = inventory_of(modules).obstacles()
    assert found.part == "planner" and "Available before it: " in str(found.error)
    assert f"step 2 of the plan shop → last: last reads {reads}, but nothing before" in str(found.error)


def obstacles_of_own(folder: Path, parameters: str) -> list[Obstacle]:
    """Return the obstacles of an inventory with one module of the user's own file."""
    code = f"class Shop(Module):\n    def run(self, {parameters}):\n        return 1\n"
    write(folder, f"from chameleon import Module\n\n\n{code}", "tools.py")
    planner, modules = {"use": "fixed", "plan": ["shop"]}, {"shop": {"use": "tools:Shop"}}
    return Inventory.parse({"name": "mine", "planner": planner, "modules": modules}, folder).obstacles()


@pytest.mark.parametrize("first", ["x: int", "x: 'int' = 3", "s: int | None", "s: list[str]"])
def test_an_argument_in_the_place_of_the_state_is_refused_with_the_line(tmp_path: Path, first: str) -> None:
    with pytest.raises(InventoryError, match="the first parameter of `run` must be the state") as refused:
        obstacles_of_own(tmp_path, f"{first}, to: str = 'F'")
    assert refused.value.where == "tools.py:5"
    for number, state in enumerate(("s", "s: object", "s: 'State | None'", "s: 'Later'", "state: dict")):
        (folder := tmp_path / str(number)).mkdir()
        assert obstacles_of_own(folder, state) == []
