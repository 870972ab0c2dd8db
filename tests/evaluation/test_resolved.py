"""What an evaluation keeps of the machine it ran on and of the pictures it ran over: nothing else goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import ChameleonError
from chameleon.evaluation.data import DataFile, find_benchmark
from chameleon.evaluation.settings import settings_of
from chameleon.executor import Executor
from chameleon.inventory import Inventory
from chameleon.planner import Planner
from tests.e2e.commands import Command
from tests.engine.doubles import Does
from tests.engine.files import write
from tests.evaluation.rows import make_rows, write_rows

TOOL = """
import os
from chameleon import Module

class Tool(Module):
    '''Answers with the first cell.'''
    def runtime_info(self):
        return {"engine": os.environ["ENGINE"], "device": "cpu"}
    def run(self, state):
        return state.input["table"].rows[0][0]
"""
MINE = """
name: mine
input: {question: str, table: Table, choices: "list?", unit: "str?"}
planner: {use: fixed, plan: [tool]}
modules:
  tool: {use: "tools:Tool"}
  spare: {use: "tools:Tool"}
"""
PICTURED = """
name: pictured
input: {question: str, choices: list, image: "path?"}
planner: {use: fixed, plan: [tool]}
modules:
  tool: {use: "tools:Tool"}
"""
ANSWERS = """
from chameleon import Module

class Tool(Module):
    '''Answers with the first choice.'''
    def run(self, state):
        return state.input["choices"][0]
"""


def resolving(found: Any) -> Does:
    module = Does(lambda state: "x")
    module.runtime_info = lambda: found  # type: ignore[method-assign]
    return module


def settings(folder: Path, planner: Any, modules: dict[str, Does], *without: str) -> dict[str, Any]:
    data = DataFile(write_rows(folder / "problems.jsonl", make_rows(1)))
    inventory = Inventory("mine", planner, modules).without(*without)
    return settings_of(Executor(inventory), find_benchmark("tabmwp"), "chameleon", data)


class Asks(Planner):
    """A planner with what it comes to here, and those that it asks."""

    def __init__(self, found: dict[str, str], *planners: Any) -> None:
        self.found, self.planners = found, planners

    def propose(self, state: Any, inventory: Any) -> tuple[()]:
        return ()

    def runtime_info(self, inventory: Inventory) -> dict[str, str]:
        assert inventory.name == "mine"
        return self.found


def test_every_planner_and_module_that_may_run_is_asked(tmp_path: Path) -> None:
    planner = Asks({}, Asks({"embeddings": "small"}), Asks({"embeddings": "large"}))
    modules = {
        "reads": resolving({"engine": "fast", "path": Path("a")}),
        "says": Does(str),
        "out": resolving({"a": 1}),
    }
    assert settings(tmp_path, planner, modules, "out")["resolved"] == {
        "planner 1": {"embeddings": "small"},
        "planner 2": {"embeddings": "large"},
        "reads": {"engine": "fast", "path": {"$path": "a"}},
    }


@pytest.mark.parametrize("wrapping", ["then", "replanning"])
def test_planners_that_ask_others_pass_on_what_those_come_to(wrapping: str, tmp_path: Path) -> None:
    from chameleon.planners.replanning import Replanning
    from chameleon.planners.then import Then

    inner = Asks({"embeddings": "small"})
    planner: Any = Then([Asks({}), inner]) if wrapping == "then" else Replanning(inner)
    assert list(settings(tmp_path, planner, {"says": Does(str)})["resolved"].values()) == [inner.found]


def test_what_a_log_could_not_hold_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(ChameleonError, match="object"):
        settings(tmp_path, Asks({}), {"reads": resolving({"engine": object()})})


def test_another_machine_does_not_go_on_and_the_difference_is_told(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_rows(tmp_path / "problems.jsonl", make_rows(2))
    inventory, out = write(tmp_path, MINE), tmp_path / "out"
    write(tmp_path, TOOL, "tools.py")

    def evaluate() -> Any:
        return command("eval", str(inventory), str(data), "--out", str(out), "--json")

    monkeypatch.setenv("ENGINE", "rapid")
    assert evaluate().code == 0
    kept = json.loads((out / "settings.json").read_text())["resolved"]
    assert kept == {name: {"engine": "rapid", "device": "cpu"} for name in ("tool", "spare")}
    assert "2 of 2 are done." in evaluate().err
    monkeypatch.setenv("ENGINE", "slow")
    refused = evaluate()
    assert refused.code == 1
    assert 'tool.engine, which this machine decides, was "rapid", and now is "slow"' in refused.err


def test_weights_that_the_run_itself_downloads_are_no_difference(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_rows(tmp_path / "problems.jsonl", make_rows(2))
    inventory, out = write(tmp_path, MINE), tmp_path / "out"
    write(tmp_path, TOOL.replace('"device": "cpu"', '"weights": os.environ.get("WEIGHTS")'), "tools.py")
    monkeypatch.setenv("ENGINE", "torch")
    codes = []
    for weights in (None, "a commit"):
        if weights:
            monkeypatch.setenv("WEIGHTS", weights)
        codes.append(command("eval", str(inventory), str(data), "--out", str(out), "--json").code)
    assert codes == [0, 0]


class Pictured:
    """An evaluation of three questions with pictures."""

    def __init__(self, command: Command, place: Path) -> None:
        self.command, self.place = command, place
        row = {
            "question": "Which?", "choices": ["a", "b"], "answer": 0, "hint": "", "image": "image.png",
            "subject": "natural science", "grade": "grade2",
        }  # fmt: skip
        self.data = place / "problems.json"
        self.data.write_text(json.dumps({str(number): row for number in range(3)}))
        self.pictures = [place / f"images/{number}.png" for number in range(3)]
        (place / "images").mkdir()
        for number, path in enumerate(self.pictures):
            path.write_bytes(b"no picture %d" % number)
        self.inventory = write(place, PICTURED)
        write(place, ANSWERS, "tools.py")

    def run(self, *options: str) -> Any:
        named = (
            str(self.inventory),
            str(self.data),
            "--benchmark",
            "scienceqa",
            "--out",
            str(self.place / "out"),
        )
        return self.command("eval", *named, "--json", *options)

    @property
    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = json.loads((self.place / "out/settings.json").read_text())
        return settings


def test_changed_pictures_are_noticed(command: Command, tmp_path: Path) -> None:
    pictured = Pictured(command, tmp_path)
    first = pictured.run("--limit", "1")
    assert first.code == 0, first.err
    assert pictured.settings["pictures"]["count"] == 3
    assert pictured.run().code == 0, "the limit may grow"
    pictured.pictures[2].write_bytes(b"another")
    assert "pictures.sha256 was " in pictured.run().err
    pictured.pictures[1].write_bytes(b"no picture 2")
    pictured.pictures[2].write_bytes(b"no picture 1")
    assert "pictures.sha256 was " in pictured.run().err, "they are swapped"
    pictured.pictures[1].write_bytes(b"no picture 1")
    pictured.pictures[2].write_bytes(b"no picture 2")
    assert pictured.run().code == 0
    pictured.pictures[2].unlink()
    assert "pictures.count was 3, and now is 2" in pictured.run().err


def test_pictures_that_no_run_is_given_do_not_count(command: Command, tmp_path: Path) -> None:
    pictured = Pictured(command, tmp_path)
    write(tmp_path, PICTURED.replace(', image: "path?"', ""))
    assert pictured.run().code == 0
    assert "pictures" not in pictured.settings
    shutil.rmtree(tmp_path / "images")
    assert pictured.run().code == 0
