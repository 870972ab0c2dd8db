"""The settings that make an evaluation: the same command goes on, and any other is refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon.core.planner import Planner
from chameleon.errors import ChameleonError
from chameleon.evaluation.data import DataFile, find_benchmark
from chameleon.evaluation.run_settings import settings_of
from chameleon.inventory import Inventory
from chameleon.planners.replanning import Replanning
from chameleon.planners.then import Then
from chameleon.run.executor import Executor
from tests.e2e.commands import Command, Outcome
from tests.engine.doubles import Does
from tests.engine.files import write
from tests.evaluation.asking import MINE as TOOL_ALONE
from tests.evaluation.asking import Start, model_rows
from tests.evaluation.rows import make_rows, read_lines, write_rows

Patch = pytest.MonkeyPatch

TOOL = """
import os
from chameleon import Module

class Tool(Module):
    '''Answers with the first cell.'''
    def runtime_info(self):
        return {"engine": os.environ.get("ENGINE"), "weights": os.environ.get("WEIGHTS")}
    def run(self, state):
        return state.input["table"].rows[0][0]
"""
MINE = TOOL_ALONE.replace('"tools:Tool"}}', '"tools:Tool"}, spare: {use: "below/tools.py:Tool"}}')
DATA = make_rows(4)


class Folder:
    def __init__(self, command: Command, place: Path) -> None:
        self.command, self.place, self.out = command, place, place / "out"
        self.data = write_rows(place / "problems.jsonl", DATA)
        self.inventory = write(place, MINE)
        write(place, TOOL, "tools.py")
        (place / "below").mkdir()
        write(place / "below", TOOL, "tools.py")

    def run(self, *options: str) -> Outcome:
        named = (str(self.inventory), str(self.data), "--out", str(self.out), "--json")
        return self.command("eval", *named, *options)

    def refused(self, *options: str) -> str:
        outcome = self.run(*options)
        assert outcome.code == 1 and not outcome.out
        before, _, told = outcome.err.splitlines()[-1].partition("the folder was made with other settings: ")
        assert before == f"chameleon: {self.out}: " and "Use the same settings to resume" in told
        return told.partition("Use the same")[0].rstrip(". ")

    @property
    def settings(self) -> dict[str, Any]:
        return dict(json.loads((self.out / "settings.json").read_text()))


@pytest.fixture
def folder(command: Command, tmp_path: Path) -> Folder:
    folder = Folder(command, tmp_path)
    assert folder.run().code == 0
    return folder


def test_settings_name_all_that_a_result_depends_on_and_the_same_goes_on(folder: Folder) -> None:
    names = "benchmark scorer data inventory without model parameters digests seeds versions resolved started"
    assert list(folder.settings) == [*names.split(), "problems", "limit"]
    data = folder.settings["data"]
    assert data["name"] == "problems.jsonl" and len(data["sha256"]) == 64
    assert folder.settings["digests"].keys() == {"inventory", "prompts", "tools.py"}
    assert folder.settings["model"] is None and "python" in folder.settings["versions"]
    before = (folder.out / "results.jsonl").read_bytes()
    for name in ("problems.jsonl", "problems.jsonl.gz", "renamed.jsonl"):
        folder.data = write_rows(folder.place / name, DATA)
        again = folder.run("--workers", "64", "--limit", "4")
        assert again.code == 0 and f"Resumes in {folder.out}: 4 of 4 done." in again.err
        assert (folder.out / "results.jsonl").read_bytes() == before


def test_the_limit_may_grow_and_not_shrink(command: Command, tmp_path: Path) -> None:
    folder = Folder(command, tmp_path)
    for limit in ("2", "3", "4"):
        assert json.loads(folder.run("--limit", limit).out)["n"] == int(limit) == folder.settings["problems"]
    shrunk = folder.run("--limit", "3")
    assert shrunk.code == 1 and "the folder has results for 1 problem outside --limit" in shrunk.err
    assert len(read_lines(folder.out / "results.jsonl")) == 4 == folder.settings["problems"]
    assert folder.run().code == 0 and folder.settings["limit"] is None


def test_what_differs_is_told_but_weights_may_come(folder: Folder, monkeypatch: Patch) -> None:
    nothing = {"engine": None, "weights": None}
    assert folder.settings["resolved"] == {"tool": nothing, "spare": nothing}
    monkeypatch.setenv("WEIGHTS", "a commit")
    assert "4 of 4 done." in folder.run().err
    monkeypatch.setenv("ENGINE", "slow")
    assert folder.refused() == 'tool.engine, which this machine decides, changed from null to "slow"'
    monkeypatch.delenv("ENGINE")
    assert folder.refused("--without", "spare") == 'without changed from [] to ["spare"]'
    assert folder.refused("--scorer", "pot") == 'scorer changed from "chameleon" to "pot"'
    write(folder.place, MINE.replace("name: mine", "name: mine\nbudget: {steps: 9}"))
    assert folder.refused().startswith("parameters.budget.steps changed from 64 to 9")
    write(folder.place, MINE.replace("plan: [tool]", "plan: [spare]"))
    assert folder.refused().startswith("digests.inventory changed from ")
    write(folder.place, MINE)
    for below in ("", "below"):  # two files, and classes, of the same name are told apart
        write(folder.place / below, TOOL.replace("rows[0]", "rows[1]"), "tools.py")
        assert folder.refused().startswith("digests.tools.py changed from ")
        write(folder.place / below, TOOL, "tools.py")
    write_rows(folder.data, [*DATA[:3], {**DATA[3], "answer": "another"}])
    assert folder.refused().startswith("the content of data (problems.jsonl) has changed")
    folder.data = write_rows(folder.place / "other.jsonl", DATA[:2])
    assert folder.refused() == "data changed from problems.jsonl to other.jsonl"


def test_the_model_the_server_and_how_it_is_asked(loopback: Start, command: Command, tmp_path: Path) -> None:
    prompt = "---\nslots: [question]\n---\n# user\nHere is the item.\n{{ question }}\nSolution:"
    write(tmp_path, prompt, "mine.md")
    first = loopback(lambda request: "The answer is 7.", models=("local", "other"))
    folder, model = Folder(command, tmp_path), ("--model", "openai:local")
    folder.data = write_rows(tmp_path / "asked.jsonl", model_rows(1))
    asking = "name: mine\nextends: tabmwp\nmodules: {solution_generator: {prompt: mine}}\n"
    write(tmp_path, asking)
    for _ in range(2):
        done = folder.run(*model)
        assert done.code == 0, done.err
    settings = folder.settings
    assert settings["server"] == first.url and settings["parameters"]["row_lookup"]["max_tokens"] == 256
    assert {"the planner", "row_lookup"} <= settings["digests"]["prompts"].keys()
    told = folder.refused("--model", "openai:other")
    assert told.startswith("model changed from ") and "openai:local" in told and "openai:other" in told
    for changed in ("retries: 1", "timeout: 7", "prices: {input: 1.0, output: 2.0}", "temperature: 0.5"):
        write(tmp_path, f"{asking}llm: {{{changed}}}\n")
        told = folder.refused(*model)
        assert told.startswith("parameters.") and changed.split(":")[0] in told
    write(tmp_path, asking)
    write(tmp_path, prompt.replace("item", "question"), "mine.md")
    assert folder.refused(*model).startswith("digests.prompts.")
    write(tmp_path, prompt, "mine.md")
    second = loopback(lambda request: "The answer is 7.")
    assert folder.refused(*model) == f'server changed from "{first.url}" to "{second.url}"'


class Asks(Planner):
    """A planner with what it comes to here, and those that it asks."""

    def __init__(self, found: dict[str, str], *planners: Any) -> None:
        self.found, self.planners = found, planners

    def propose(self, state: Any, inventory: Any) -> tuple[()]:
        return ()

    def runtime_info(self, inventory: Inventory) -> dict[str, str]:
        assert inventory.name == "mine"
        return self.found


def resolving(found: Any) -> Does:
    module = Does(lambda state: "x")
    module.runtime_info = lambda: found  # type: ignore[method-assign]
    return module


def resolved(folder: Path, planner: Any, modules: dict[str, Does], *without: str) -> dict[str, Any]:
    data = DataFile(write_rows(folder / "problems.jsonl", make_rows(1)))
    executor = Executor(Inventory("mine", planner, modules).without(*without))
    return dict(settings_of(executor, find_benchmark("tabmwp"), "chameleon", data)["resolved"])


SMALL, LARGE = {"embeddings": "small"}, {"embeddings": "large"}


def test_every_planner_and_module_that_may_run_is_asked(tmp_path: Path) -> None:
    reads = resolving({"engine": "fast", "path": Path("a")})
    modules = {"reads": reads, "says": Does(str), "out": resolving({"a": 1})}
    found = resolved(tmp_path, Asks({}, Asks(SMALL), Asks(LARGE)), modules, "out")
    engine = {"engine": "fast", "path": {"$path": "a"}}
    assert found == {"planner 1": SMALL, "planner 2": LARGE, "reads": engine}
    for planner in (Then([Asks({}), Asks(SMALL)]), Replanning(Asks(SMALL))):
        assert list(resolved(tmp_path, planner, {"says": Does(str)}).values()) == [SMALL]
    with pytest.raises(ChameleonError, match="object"):
        resolved(tmp_path, Asks({}), {"reads": resolving({"engine": object()})})


SCIENCE = ("--benchmark", "scienceqa")


def test_changed_pictures_are_noticed_where_a_run_is_given_them(command: Command, tmp_path: Path) -> None:
    row = {"question": "Which?", "choices": ["a", "b"], "answer": 0, "hint": "", "image": "image.png"}
    row |= {"subject": "natural science", "grade": "grade2"}
    pictured, one, two = Folder(command, tmp_path), tmp_path / "images/1.png", tmp_path / "images/2.png"
    pictured.data = tmp_path / "problems.json"
    pictured.data.write_text(json.dumps({str(number): row for number in range(3)}))
    one.parent.mkdir()
    for number in range(3):
        (one.parent / f"{number}.png").write_bytes(b"no picture %d" % number)
    write(tmp_path, TOOL.replace('"table"].rows[0][0]', '"choices"][0]'), "tools.py")
    write(tmp_path, TOOL_ALONE.replace("table: Table,", 'image: "path?",'))
    first = pictured.run("--limit", "1", *SCIENCE)
    assert first.code == 0, first.err
    assert pictured.settings["pictures"]["count"] == 3
    assert pictured.run(*SCIENCE).code == 0, "the limit may grow"
    for contents in ((b"no picture 1", b"another"), (b"no picture 2", b"no picture 1")):  # swapped
        one.write_bytes(contents[0])
        two.write_bytes(contents[1])
        assert pictured.refused(*SCIENCE).startswith("the content of pictures has changed")
    one.write_bytes(b"no picture 1")
    two.unlink()
    assert pictured.refused(*SCIENCE) == "pictures.count changed from 3 to 2"
    write(tmp_path, TOOL_ALONE.replace("table: Table,", ""))
    pictured.out = tmp_path / "blind"
    assert pictured.run(*SCIENCE).code == 0 and "pictures" not in pictured.settings
    one.unlink()
    assert pictured.run(*SCIENCE).code == 0
