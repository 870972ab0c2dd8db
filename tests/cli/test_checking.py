"""`chameleon check`, and `eval` of what it finds: what is told, where, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chameleon import Inventory, LLMModule, State, Table
from tests.e2e.commands import ROOT, Command

TOOLS = '''
from chameleon import Module
from chameleon.errors import ChameleonError

class Shop(Module):
    """Asks a shop."""
    def check(self):
        raise ChameleonError("SHOP_KEY is not set", hint="Set it.")
    def run(self, state, count: int = 3):
        return "no"

class Says(Module):
    """Gives an answer."""
    def run(self, state):
        return "yes"
'''


def written(folder: Path, on_error: str) -> str:
    (folder / "tools.py").write_text(TOOLS)
    file = folder / "mine.yaml"
    file.write_text(
        "name: mine\nplanner: {use: fixed, plan: [shop, scales, says]}\nmodules:\n"
        f'  shop: {{use: "tools:Shop", on_error: {on_error}}}\n'
        '  scales: {use: "tools:Shop", on_error: skip}\n  says: {use: "tools:Says"}\n'
    )
    return str(file)


def test_what_a_run_does_without_is_told_and_is_no_failure(command: Command, tmp_path: Path) -> None:
    outcome = command("check", written(tmp_path, "skip"))
    assert (outcome.code, outcome.err) == (0, "")
    assert "mine is fine, but for what is told below: 3 modules, it asks no model." in outcome.out
    assert "Will be done without shop: SHOP_KEY is not set. Set it." in outcome.out
    assert "Will be done without scales: SHOP_KEY is not set." in outcome.out
    assert command("ask", "How much?", "--inventory", written(tmp_path, "skip")).code == 0


@pytest.mark.parametrize("has_pandas", [True, False])
def test_what_programs_can_import_is_told_and_df_promised_only_there(
    command: Command, monkeypatch: pytest.MonkeyPatch, has_pandas: bool
) -> None:
    known = ["numpy", "pandas", "sympy"] if has_pandas else []
    for user in ("chameleon.cli.checking", "chameleon.modules.program.programs"):
        monkeypatch.setattr(f"{user}.importable", lambda: known)
    said = command("check", "tables").out
    assert f"Programs can import {', '.join(['the standard library', *known])}.\n" in said
    state = State({"question": "How many?", "table": Table(["a"], [["1"]] * 61)})  # too many to copy
    for name in ("tables", "wikitq_pot", "tabfact_pot"):
        generator = Inventory.load(name).modules["program_generator"]
        assert isinstance(generator, LLMModule)
        prompt = str(generator.messages(state))
        assert ("pandas DataFrame" in prompt) == has_pandas
        assert ("two variables" in prompt) == (has_pandas and name != "tables")
        assert ("df" in prompt) == has_pandas
    assert "Programs can import" not in command("check", "tables_offline").out


def test_what_stops_a_run_is_a_failure_and_told_as_json_too(command: Command, tmp_path: Path) -> None:
    file = written(tmp_path, "stop")
    plain = command("check", file)
    assert plain.code == 1 and "mine cannot run here" in plain.out
    assert "the module shop cannot run here: SHOP_KEY is not set. Set it." in plain.complaint
    assert "Will be done without scales" in plain.out
    outcome = command("check", file, "--json")
    told = json.loads(outcome.out)
    assert outcome.code == 1 and told["ok"] is False
    assert [(each["part"], each["stops"]) for each in told["lacks"]] == [
        ("modules.shop", True),
        ("modules.scales", False),
    ]
    unread = command("check", "nobody", "--json")
    assert unread.code == 1 and "no inventory 'nobody'" in json.loads(unread.out)["lacks"][0]["what"]


def test_a_model_is_told_with_what_would_be_asked(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    none = command("check", "tables")
    assert none.code == 0 and "A run still needs a model: " in none.out and "is fine:" not in none.out
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody-may-see-this")
    some = command("check", "tables")
    assert some.code == 0 and "tables is fine: " in some.out
    assert "Model: openai:gpt-6-luna, because OPENAI_API_KEY is set" in some.out
    assert json.loads(command("check", "tables", "--json").out)["model"] == "openai:gpt-6-luna"
    monkeypatch.setenv("CHAMELEON_MODEL", "nobody:x")
    wrong = command("check", "tables")
    assert wrong.code == 1 and "no model provider 'nobody'" in wrong.complaint


def test_a_search_that_is_not_configured_is_told_with_what_to_write(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = command("check", "scienceqa").out
    assert (
        "Will be done without bing_search: no search provider is configured. Set one of BRAVE_API_KEY" in told
    )
    assert (
        "below this module's name {use: web_search, provider: ddgs}" in told and "docs/web_search.md" in told
    )
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/a.txt").write_text("Granite is a rock.")
    snippets = (ROOT / "docs/web_search.md").read_text("utf-8").split("```yaml\n")[1:]
    for number, text in enumerate(snippets):
        file = tmp_path / f"{number}.yaml"
        text = text.partition("```")[0].replace("folder: notes", "folder: /home/me/documents")
        file.write_text(text.replace("/home/me/documents", str(tmp_path / "papers")))
        lacks = json.loads(command("check", str(file), "--json").out)["lacks"]
        assert not [each for each in lacks if "search" in each["part"]]
    assert len(snippets) == 3


def test_the_search_in_python_runs_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "towers.txt").write_text("The Eiffel Tower is 330 m tall.")
    monkeypatch.chdir(tmp_path)
    block = (ROOT / "docs/web_search.md").read_text("utf-8").split("```python\n")[1].partition("```")[0]
    exec(block, {})
    assert capsys.readouterr().out == "towers towers.txt The Eiffel Tower is 330 m tall.\n"


@pytest.fixture
def data(tmp_path: Path) -> str:
    """A problem whose picture is not there."""
    row = {"pid": "1", "question": "Is it?", "choices": ["yes", "no"], "answer": 0, "hint": ""}
    row |= {"image": "museum.png", "subject": "social science", "grade": "grade2"}
    (tmp_path / "d.jsonl").write_text(json.dumps(row))
    return str(tmp_path / "d.jsonl")


def test_eval_refuses_what_is_missing_and_says_how_to_leave_it_out(
    command: Command, tmp_path: Path, data: str
) -> None:
    file = written(tmp_path, "skip")
    refused = command("eval", file, data)
    assert refused.code == 1 and refused.err.count("SHOP_KEY is not set") == 2
    assert "evaluate without what a run can do without: --without shop --without scales" in refused.err
    done = command("eval", file, data, "--without", "shop", "--without", "scales")
    assert done.code == 0
    blind = f"1 problem (1), with a picture that was not found: run without it. Looked in {tmp_path}"
    assert blind in done.err


def test_why_an_evaluation_answered_without_a_module_is_told(
    command: Command, tmp_path: Path, data: str
) -> None:
    file = written(tmp_path, "skip")
    (tmp_path / "tools.py").write_text(TOOLS.replace("def check(self)", "def setup(self)"))
    outcome = command("eval", file, data)
    assert outcome.code == 0, outcome.err
    assert "Answered without it, 1 time, for it failed: module shop: SHOP_KEY is not set\n" in outcome.out


def test_a_fixed_plan_that_is_refused_is_shown_once(command: Command, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\nplanner: {use: fixed, plan: [says, other]}\nrules: {last: says}\n"
        'modules: {says: {use: "tools:Says"}, other: {use: "tools:Says"}}\n'
    )
    outcome = command("ask", "How much?", "--inventory", str(file), "--trace")
    assert outcome.code == 1 and outcome.err.count("Plan refused: says → other") == 1


def test_an_inventory_is_read_without_its_code(command: Command, tmp_path: Path) -> None:
    file = written(tmp_path, "skip")
    (tmp_path / "tools.py").write_text("raise SystemExit('imported')")
    (tmp_path / "inner.yaml").write_text(
        "name: inner\nplanner: {use: then, planners: [{use: 'plans:Mine'}, {use: fixed, plan: [says]}]}\n"
        "modules: {says: {use: table_reader, note: 2020-01-01, size: .inf}}\n"
    )
    read = command("check", file, "--no-import")
    assert (read.code, read.err) == (0, "")
    assert (
        "mine is well formed: 3 modules. Nothing was imported.\nTo run it is to run tools:Shop, tools:Says.\n"
        in (read.out)
    )
    assert 'modules.says: {"use": "tools:Says"}' in read.out
    inner = json.loads(command("check", str(tmp_path / "inner.yaml"), "--no-import", "--json").out)
    assert inner["code"] == ["plans:Mine"] and inner["data"]["modules"]["says"]["note"] == "2020-01-01"
    imported = command("check", file)
    assert imported.code == 1 and "ends Python when it is imported" in imported.complaint
    assert imported.out.startswith("An inventory is code: this one imports or starts tools:Shop, tools:Says.")
    assert command("check", "tables").out.startswith("tables ")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("planner: {use: fixd, plan: [says]}", "there is no planner 'fixd'. Did you mean 'fixed'?"),
        ("planer: {use: fixed}", "mine.yaml:2: unknown key 'planer'"),
    ],
)
def test_what_is_wrong_is_told_without_importing(
    command: Command, tmp_path: Path, text: str, error: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"name: mine\n{text}\nmodules: {{says: {{use: 'tools:Says'}}}}\n")
    assert error in command("check", str(file), "--no-import").complaint


BARE = """
from typing import Annotated
from chameleon import tool

@tool
def weather(city: Annotated[str, "in English"]) -> dict:
    return {}

@tool
def convert(celsius: float) -> float:
    '''Converts.'''
    return celsius
"""
MINE = """name: mine
planner: react
modules:
  weather: 'tools:weather'
  convert: 'tools:convert'
  inner: {inventory: inner.yaml}
"""


def test_what_the_model_is_told_is_shown_and_what_it_is_not_told_is_warned_of(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(BARE)
    inner = "name: inner\nplanner: {use: fixed, plan: final_answer}\nmodules: {final_answer: {}}\n"
    (tmp_path / "inner.yaml").write_text(inner)
    file = tmp_path / "mine.yaml"
    file.write_text(MINE)
    outcome = command("check", str(file), "--model", "scripted:none.jsonl")
    assert "\n  weather(city: string):\n      city: in English\n" in outcome.out
    assert "\n  convert(celsius: number) -> number: Converts.\n" in outcome.out
    notes = [line for line in outcome.out.splitlines() if line.startswith("Note: ")]
    told = "Note: the model that plans sees nothing of {} but its name. Write {}, or a `description:`."
    assert notes == [told.format("weather", "its docstring"), told.format("inner", "`about:` in its file")]
    file.write_text(MINE.replace("react", "{use: fixed, plan: inner}"))
    assert "Note: " not in command("check", str(file)).out
