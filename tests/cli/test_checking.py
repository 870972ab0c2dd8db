"""`chameleon check`, `list` and `doctor`: what is told, where, with which exit codes, and no secret."""

import json
import re
import sys
from pathlib import Path

import pytest
from pytest import CaptureFixture, MonkeyPatch

from chameleon import Inventory, LLMModule, State, Table
from tests.e2e.commands import ROOT, Command
from tests.inventory.installed import SOURCE
from tests.loopback import Fault, Start

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


SKIPS = """\
name: mine
planner: {use: fixed, plan: [shop, scales, says]}
modules:
  shop: {use: "tools:Shop", on_error: skip}
  scales: {use: "tools:Shop", on_error: skip}
  says: {use: "tools:Says"}
"""
SEARCH_DOCS = (ROOT / "docs/web_search.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    row = {"pid": "1", "question": "Is it?", "choices": ["yes", "no"], "answer": 0, "hint": ""}
    row |= {"image": "museum.png", "subject": "social science", "grade": "grade2"}
    for name, text in (("tools.py", TOOLS), ("mine.yaml", SKIPS), ("d.jsonl", json.dumps(row))):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_what_a_run_does_without_is_told_and_is_no_failure(sh: Command) -> None:
    outcome = sh("check mine.yaml")
    assert (outcome.code, outcome.err) == (0, "")
    assert "mine is fine, except for the notes below: 3 modules, it asks no model." in outcome.out
    assert "Runs will skip shop: SHOP_KEY is not set. Set it." in outcome.out
    assert "Runs will skip scales: SHOP_KEY is not set." in outcome.out
    assert sh("ask 'How much?' --inventory mine.yaml").code == 0


def test_what_stops_a_run_is_a_failure_and_told_as_json_too(sh: Command, folder: Path) -> None:
    (folder / "mine.yaml").write_text(SKIPS.replace("skip", "stop", 1))
    plain, outcome = sh("check mine.yaml"), sh("check mine.yaml --json")
    assert plain.code == 1 and "mine cannot run here" in plain.out
    assert "the module shop cannot run here: SHOP_KEY is not set. Set it." in plain.complaint
    assert "Runs will skip scales" in plain.out
    assert outcome.code == 1 and outcome.json["ok"] is False
    lacks = [(each["part"], each["stops"]) for each in outcome.json["lacks"]]
    assert lacks == [("modules.shop", True), ("modules.scales", False)]
    unread = sh("check nobody --json")
    assert unread.code == 1 and "no inventory 'nobody'" in unread.json["lacks"][0]["what"]


@pytest.mark.parametrize("has_pandas", [True, False])
def test_df_is_promised_where_pandas_is(sh: Command, monkeypatch: MonkeyPatch, has_pandas: bool) -> None:
    known = ["numpy", "pandas", "sympy"] if has_pandas else []
    for user in ("chameleon.cli.checking", "chameleon.modules.program.programs"):
        monkeypatch.setattr(f"{user}.importable", lambda: known)
    told = f"Programs can import {', '.join(['the standard library', *known])}.\n"
    assert told in sh("check tables").out and "Programs can import" not in sh("check tables_offline").out
    state = State({"question": "How many?", "table": Table(["a"], [["1"]] * 61)})  # too many to copy
    for name in ("tables", "wikitq_pot", "tabfact_pot"):
        generator = Inventory.load(name).modules["program_generator"]
        assert isinstance(generator, LLMModule)
        prompt = str(generator.messages(state))
        assert ("pandas DataFrame" in prompt) == ("df" in prompt) == has_pandas
        assert ("two variables" in prompt) == (has_pandas and name != "tables")


def test_a_model_is_told_with_what_would_be_asked(sh: Command, monkeypatch: MonkeyPatch) -> None:
    none = sh("check tables")
    assert none.code == 0 and "A run still needs a model: " in none.out and "is fine:" not in none.out
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody-may-see-this")
    some = sh("check tables")
    assert some.code == 0 and "tables is fine: " in some.out
    assert "Model: openai:gpt-6-luna, because OPENAI_API_KEY is set" in some.out
    assert sh("check tables --json").json["model"] == "openai:gpt-6-luna"
    monkeypatch.setenv("CHAMELEON_MODEL", "nobody:x")
    wrong = sh("check tables")
    assert wrong.code == 1 and "no model provider 'nobody'" in wrong.complaint


def test_a_search_that_is_not_configured_is_told_with_what_to_write(sh: Command, folder: Path) -> None:
    told = sh("check scienceqa").out
    for part in (
        "Runs will skip bing_search: no search provider is configured. Set one of BRAVE_API_KEY",
        "below this module's name {use: web_search, provider: ddgs}",
        "docs/web_search.md",
    ):
        assert part in told
    (folder / "papers").mkdir()
    (folder / "papers/a.txt").write_text("Granite is a rock.")
    snippets = SEARCH_DOCS.split("```yaml\n")[1:]
    for text in snippets:
        text = text.partition("```")[0].replace("folder: notes", "folder: /home/me/documents")
        (folder / "search.yaml").write_text(text.replace("/home/me/documents", f"{folder}/papers"))
        lacks = sh("check search.yaml --json").json["lacks"]
        assert not [each for each in lacks if "search" in each["part"]]
    assert len(snippets) == 3


def test_the_search_runs_as_told(folder: Path, monkeypatch: MonkeyPatch, capsys: CaptureFixture[str]) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / "towers.txt").write_text("The Eiffel Tower is 330 m tall.")
    monkeypatch.chdir(folder)
    exec(SEARCH_DOCS.split("```python\n")[1].partition("```")[0], {})
    assert capsys.readouterr().out == "towers towers.txt The Eiffel Tower is 330 m tall.\n"


def test_eval_refuses_what_is_missing_and_says_how_to_leave_it_out(sh: Command) -> None:
    refused = sh("eval mine.yaml d.jsonl")
    assert refused.code == 1 and refused.err.count("SHOP_KEY is not set") == 2
    assert "evaluate without the optional parts: --without shop --without scales" in refused.err
    done = sh("eval mine.yaml d.jsonl --without shop --without scales")
    blind = "1 problem (1), with a picture that was not found: run without it. Looked in "
    assert done.code == 0 and blind in done.err


def test_why_an_evaluation_answered_without_a_module_is_told(sh: Command, folder: Path) -> None:
    (folder / "tools.py").write_text(TOOLS.replace("def check(self)", "def setup(self)"))
    outcome = sh("eval mine.yaml d.jsonl")
    assert outcome.code == 0, outcome.err
    assert "Answered without it, 1 time, because it failed: module shop: SHOP_KEY is not set\n" in outcome.out


def test_an_inventory_is_read_without_its_code(sh: Command, folder: Path) -> None:
    (folder / "tools.py").write_text("raise SystemExit('imported')")
    (folder / "inner.yaml").write_text(
        "name: inner\nplanner: {use: then, planners: [{use: 'plans:Mine'}, {use: fixed, plan: [says]}]}\n"
        "modules: {says: {use: table_reader, note: 2020-01-01, size: .inf}}\n"
    )
    read = sh("check mine.yaml --no-import")
    assert (read.code, read.err) == (0, "")
    assert "Nothing was imported.\nRunning it runs tools:Shop, tools:Says.\n" in read.out
    assert "mine is well formed: 3 modules." in read.out and 'modules.says: {"use": "tools:Says"}' in read.out
    inner = sh("check inner.yaml --no-import --json").json
    assert inner["code"] == ["plans:Mine"] and inner["data"]["modules"]["says"]["note"] == "2020-01-01"
    imported = sh("check mine.yaml")
    assert imported.code == 1 and "ends Python when it is imported" in imported.complaint
    assert imported.out.startswith("An inventory is code: this one imports or starts tools:Shop, tools:Says.")
    assert sh("check tables").out.startswith("tables ")


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
MINE = """\
name: mine
planner: react
modules: {weather: 'tools:weather', convert: 'tools:convert', inner: {inventory: inner.yaml}}
"""


def test_what_the_model_is_told_is_shown_and_what_it_is_not_is_warned_of(sh: Command, folder: Path) -> None:
    inner = "name: inner\nplanner: {use: fixed, plan: final_answer}\nmodules: {final_answer: {}}\n"
    for name, text in (("tools.py", BARE), ("inner.yaml", inner), ("mine.yaml", MINE)):
        (folder / name).write_text(text)
    shown = sh("check mine.yaml --model scripted:none.jsonl").out
    assert "\n  weather(city: string):\n      city: in English\n" in shown
    assert "\n  convert(celsius: number) -> number: Converts.\n" in shown
    told = "Note: the planning model sees only the name of {}. Write {}, or a `description:`."
    notes = [line for line in shown.splitlines() if line.startswith("Note: ")]
    assert notes == [told.format("weather", "its docstring"), told.format("inner", "`about:` in its file")]
    (folder / "mine.yaml").write_text(MINE.replace("react", "{use: fixed, plan: inner}"))
    assert "Note: " not in sh("check mine.yaml").out


def test_a_module_is_shown_with_its_keys_and_parameters(sh: Command) -> None:
    shown = sh("list modules text_detector").out
    assert re.search(r"^File: .*/modules/vision/text_detector\.py\nSource: shipped$", shown, re.MULTILINE)
    assert "Reads: input.image\nWrites: cache.detected_text, cache.text_boxes\n" in shown
    assert '  engine: auto or easyocr or rapidocr = "auto"\n' in shown
    told = sh("list modules web_search --json").json
    assert told["writes"] == ["cache.web_search_response"] and told["uses"][:2] == ["web", "BRAVE_API_KEY"]
    assert {"name": "count", "type": "int", "default": 3} in told["parameters"]
    every = sh("list modules --json").json
    assert [each["name"] for each in every] == sorted(each["name"] for each in every)
    assert all(each["writes"] and each["source"] == "shipped" for each in every)


def test_a_planner_is_shown_with_its_parameters(sh: Command) -> None:
    shown = sh("list planners one_shot").out
    assert re.search(r"^one_shot: Shows .*\nFile: .*/planners/one_shot\.py\nSource: shipped$", shown, re.M)
    assert "Its own parameters (for all planners: " in shown and "  shortlist: int = 40\n" in shown
    assert "\n\nIf a plan was refused " in shown  # the rest of the docstring
    told = sh("list planners fixed --json").json
    plan = {"name": "plan", "type": "str | list[str | dict[str, Any]]"}
    assert told["asks_model"] is False and told["parameters"] == [plan]
    assert "shortlist" not in sh("list planners").out


@pytest.mark.usefixtures("weather_tools")
def test_what_others_bring_is_listed_with_its_distribution_and_what_is_wrong(sh: Command) -> None:
    listed, every = sh("list modules").out, sh("list modules --json").json
    assert re.search(rf"^weather +{SOURCE}  Tells the weather\.$", listed, re.MULTILINE)
    assert re.search(r"^text_detector +shipped +Reads the text ", listed, re.MULTILINE)
    assert re.search(r"^a_text +weather-tools 1\.2  cannot be used: 'no m", listed, re.M)
    modules = {row["name"]: row for row in every}
    weather = modules["weather"]
    assert (weather["source"], weather["class"]) == (SOURCE, "weather_tools:Weather")
    assert weather["reads"] == ["input.question"]
    assert modules["made_weather"]["about"] == "Tells the weather of Oslo."
    errors = {name: row["error"] for name, row in modules.items() if "error" in row}
    for name, told in {
        "a_text": "'no module' is not a module",
        "leaving": "'weather_tools.leaving:Leaving' ends Python when it is imported (sys.exit).",
        "misspelt": "'weather_tools:Wether' fails when imported: AttributeError: ",
        "needy": "'weather_tools.needy:Needy' needs the package 'a_package_that_nobody_has'. pip install ",
        "row_lookup": "the name is a short form of Chameleon",
    }.items():
        assert errors.pop(name).startswith(told)
    assert not errors
    ours, theirs = [row["source"] for row in every if row["name"] == "row_lookup"]
    assert (ours, theirs) == ("shipped", SOURCE)
    assert {row["name"]: row["source"] for row in sh("list planners --json").json}["always"] == SOURCE


@pytest.mark.parametrize(
    "name", ["forecast", *(f"weather_tools.functions:{n}" for n in ("forecast", "plain"))]
)
def test_a_function_is_shown_with_arguments_and_its_file(sh: Command, weather_tools: Path, name: str) -> None:
    shown, told = sh("list modules", name).out, sh("list modules --json", name).json
    card = f"{name.rpartition(':')[2]}(city: string, days: integer = 3) -> {{sky: string}}"
    file = str(weather_tools / "functions.py")
    assert shown.startswith(f"{card}: Tells the weather.\nFile: {file}")
    assert (told["file"], told["card"]) == (file, card)
    assert told["class"] == "weather_tools.functions:plain" and told["reads"] == []


@pytest.mark.usefixtures("weather_tools")
def test_inventories_are_listed_without_running_anyones_code(sh: Command) -> None:
    listed = sh("list inventories").out
    assert "weather_tools" not in sys.modules
    ours, _, methods = listed.partition("\n\nMethods, to be measured on benchmarks:\n")
    names = [line.split()[0] for line in ours.splitlines()]
    assert len(names) == 15 and "tables_first" in names and methods.startswith("chain_of_table ")


def test_tells_of_pictures_searches_and_no_value(sh: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = sh("doctor")
    assert bare.code == 0 and "Search, provider auto: none: no search provider is configured" in bare.out
    assert "Text in pictures, engine auto: " in bare.out and "Captions on this machine, device" in bare.out
    monkeypatch.setenv("SEARXNG_URL", "https://searx.example/token-nobody-may-see")
    monkeypatch.setenv("CHAMELEON_STORE", "postgresql://ann:pa55word@127.0.0.1:1/chest")
    some, told = sh("doctor"), sh("doctor --json")
    assert some.code == 0 and "Search, provider auto: searxng\n" in some.out
    assert "Response store: the response store is a file, but postgresql:…" in some.out
    packages = told.json["packages"]
    assert "test" not in packages and {"requests", "urllib3", "lxml"} <= set(packages["web"])
    assert told.json["search_provider"]["takes"] == "searxng"
    assert not any(secret in some.out + told.out for secret in ("nobody-may-see", "pa55word"))


def test_tells_what_a_server_of_ones_own_does(sh: Command, loopback: Start) -> None:
    refused = Fault(400, {"error": {"message": "tools are not supported"}})
    loopback(lambda request: refused if "tools" in request else '{"city": "Oslo"}')
    assert "  context: 4,096 tokens, structured output: yes, tools: no (" in sh("doctor").out
    assert sh("doctor --json").json["server"]["structured output"] == "yes"
