"""The settings that make an evaluation: the same command goes on, and any other is refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import Command, Outcome
from tests.e2e.rule_model import RuleModel
from tests.engine.files import write
from tests.evaluation.asking import Start, model_rows
from tests.evaluation.rows import make_rows, read_lines, write_rows

TOOL = """
from chameleon import Module

class Tool(Module):
    '''Answers with the first cell.'''
    def run(self, state):
        return state.input["table"].rows[0][0]
"""
MINE = """
name: mine
input: {question: str, table: Table, choices: "list?", unit: "str?"}
planner: {use: fixed, plan: [tool]}
modules:
  tool: {use: "tools:Tool"}
  spare: {use: "below/tools.py:Tool"}
"""
DATA = make_rows(4)


class Folder:
    """An evaluation of one's own inventory in a folder."""

    def __init__(self, command: Command, place: Path) -> None:
        self.command, self.place, self.out = command, place, place / "out"
        self.data = write_rows(place / "problems.jsonl", DATA)
        self.inventory = write(place, MINE)
        write(place, TOOL, "tools.py")
        (place / "below").mkdir()
        write(place / "below", TOOL, "tools.py")

    def run(self, *options: str) -> Outcome:
        return self.command(
            "eval", str(self.inventory), str(self.data), "--out", str(self.out), "--json", *options
        )

    def refused(self, *options: str) -> str:
        outcome = self.run(*options)
        assert outcome.code == 1 and not outcome.out
        told = outcome.err.splitlines()[-1].removeprefix("chameleon: ")
        start, end = (
            f"{self.out}: the folder was made with other settings: ",
            "Give another folder with --out.",
        )
        assert told.startswith(start) and told.endswith(end)
        return told.removeprefix(start).removesuffix(end).rstrip(". ")


@pytest.fixture
def folder(command: Command, tmp_path: Path) -> Folder:
    folder = Folder(command, tmp_path)
    assert folder.run().code == 0
    return folder


def test_settings_name_all_that_a_result_depends_on(folder: Folder) -> None:
    settings = json.loads((folder.out / "settings.json").read_text())
    assert list(settings) == [
        "benchmark", "scorer", "data", "inventory", "without", "model", "parameters", "digests", "seeds",
        "versions", "resolved", "started", "problems",
    ]  # fmt: skip
    assert settings["data"]["name"] == "problems.jsonl" and len(settings["data"]["sha256"]) == 64
    assert settings["digests"].keys() == {"inventory", "prompts", "tools.py"}
    assert settings["model"] is None and "python" in settings["versions"]


@pytest.mark.parametrize("options", [(), ("--workers", "1"), ("--workers", "64"), ("--limit", "4")])
def test_the_same_goes_on(folder: Folder, options: tuple[str, ...]) -> None:
    before = (folder.out / "results.jsonl").read_bytes()
    again = folder.run(*options)
    assert again.code == 0 and f"Goes on in {folder.out}: 4 of 4 are done." in again.err
    assert (folder.out / "results.jsonl").read_bytes() == before


def test_the_limit_may_grow_and_not_shrink(command: Command, tmp_path: Path) -> None:
    folder = Folder(command, tmp_path)
    for limit in ("2", "3", "3", "4"):
        assert json.loads(folder.run("--limit", limit).out)["n"] == int(limit)
    shrunk = folder.run("--limit", "3")
    assert shrunk.code == 1 and not shrunk.out
    assert "the folder has results of 1 problem that --limit leaves out" in shrunk.err
    assert len(read_lines(folder.out / "results.jsonl")) == 4


def test_modules_left_out_and_the_scorer(folder: Folder) -> None:
    assert folder.refused("--without", "spare") == 'without was [], and now is ["spare"]'
    assert folder.refused("--scorer", "pot") == 'scorer was "chameleon", and now is "pot"'


@pytest.mark.parametrize("name", ["problems.jsonl.gz", "renamed.jsonl"])
def test_the_same_data_packed_or_under_another_name_go_on(folder: Folder, name: str) -> None:
    folder.data = write_rows(folder.place / name, DATA)
    again = folder.run()
    assert again.code == 0 and "4 of 4 are done." in again.err


def test_changed_data(folder: Folder) -> None:
    write_rows(folder.data, [*DATA[:3], {**DATA[3], "answer": "another"}])
    assert folder.refused().startswith("data.sha256 was ")


@pytest.mark.parametrize("below", ["", "below"])
def test_a_changed_file_of_ones_own(folder: Folder, below: str) -> None:
    """Two files, and classes, of the same name are told apart."""
    write(folder.place / below, TOOL.replace("rows[0]", "rows[1]"), "tools.py")
    assert folder.refused().startswith("digests.tools.py was ")


def test_a_changed_inventory(folder: Folder) -> None:
    write(folder.place, MINE.replace("name: mine", "name: mine\nbudget: {steps: 9}"))
    assert folder.refused().startswith("parameters.budget.steps was 64, and now is 9")
    write(folder.place, MINE.replace("plan: [tool]", "plan: [spare]"))
    assert folder.refused().startswith("digests.inventory was ")


def test_the_model_its_parameters_and_its_prompts(loopback: Start, command: Command, tmp_path: Path) -> None:
    prompt = "---\nslots: [question]\n---\n# user\nHere is the item.\n{{ question }}\nSolution:"
    asking = (
        'name: mine\ninput: {question: str, table: Table, choices: "list?", unit: "str?"}\n'
        "planner: {use: fixed, plan: [solution_generator]}\n"
        "modules:\n  solution_generator: {prompt: mine}\n"
    )
    write(tmp_path, prompt, "mine.md")
    loopback(lambda request: "The answer is 7.", models=("local", "other"))
    folder = Folder(command, tmp_path)
    write(tmp_path, asking)
    model = ("--model", "openai:local")
    first = folder.run(*model)
    assert first.code == 0, first.err
    assert folder.run(*model).code == 0
    told = folder.refused("--model", "openai:other")
    assert told.startswith("model was ") and "openai:local" in told and "openai:other" in told
    write(tmp_path, asking + "llm: {temperature: 0.5}\n")
    assert "temperature" in folder.refused(*model)
    write(tmp_path, asking)
    write(tmp_path, prompt.replace("item", "question"), "mine.md")
    assert folder.refused(*model).startswith("digests.prompts.")


def test_the_server_and_how_it_is_asked(loopback: Start, command: Command, tmp_path: Path) -> None:
    first = loopback(RuleModel())
    folder = Folder(command, tmp_path)
    folder.data = write_rows(tmp_path / "asked.jsonl", model_rows(1))
    asking, model = "name: mine\nextends: tabmwp\n", ("--model", "openai:local")
    write(tmp_path, asking)
    assert folder.run(*model).code == 0
    settings = json.loads((folder.out / "settings.json").read_text())
    assert settings["server"] == first.url
    for changed in ("retries: 1", "timeout: 7", "prices: {input: 1.0, output: 2.0}"):
        write(tmp_path, f"{asking}llm: {{{changed}}}\n")
        assert folder.refused(*model).startswith(f"parameters.{changed.split(':')[0]}")
    write(tmp_path, asking)
    assert folder.run(*model).code == 0
    second = loopback(RuleModel())
    assert folder.refused(*model) == f'server was "{first.url}", and now is "{second.url}"'


def test_a_shipped_inventory_names_its_prompts(loopback: Start, command: Command, tmp_path: Path) -> None:
    loopback(RuleModel())
    data = write_rows(tmp_path / "problems.jsonl", model_rows(2))
    out = tmp_path / "out"
    ran = command("eval", "tabmwp", str(data), "--out", str(out), "--model", "openai:local", "--json")
    assert ran.code == 0
    settings = json.loads((out / "settings.json").read_text())
    assert {"the planner", "row_lookup"} <= settings["digests"]["prompts"].keys()
    assert settings["parameters"]["row_lookup"]["max_tokens"] == 256
