"""`chameleon list` and `doctor`: what modules, planners and this machine have, and no secret."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import Command
from tests.inventory.installed import SOURCE
from tests.loopback import Fault, Start


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
    assert "Parameters, besides those of all planners (" in shown and "  shortlist: int = 40\n" in shown
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
        "a_text": "'no module' is no module",
        "leaving": "'weather_tools.leaving:Leaving' ends Python when it is imported (sys.exit).",
        "misspelt": "'weather_tools:Wether' fails when imported: AttributeError: ",
        "needy": "'weather_tools.needy:Needy' needs the package 'a_package_that_nobody_has'. pip install ",
        "row_lookup": "the name stands for that of Chameleon",
    }.items():
        assert errors.pop(name).startswith(told)
    assert not errors
    ours, theirs = [row["source"] for row in every if row["name"] == "row_lookup"]
    assert (ours, theirs) == ("shipped", SOURCE)
    assert {row["name"]: row["source"] for row in sh("list planners --json").json}["always"] == SOURCE


@pytest.mark.usefixtures("weather_tools")
def test_what_others_bring_is_shown_one_by_one(sh: Command) -> None:
    module, planner = sh("list modules weather").out, sh("list planners always").out
    assert module.startswith("weather: Tells the weather. Of one place.\n")
    assert f"\nSource: {SOURCE}\n" in module and '\n  place: str = "Rome"\n' in module
    assert f"\nSource: {SOURCE}\n" in planner and planner.endswith("\nSet `module`, its name.\n")
    own = sh("list modules weather_tools:Weather").out
    assert "\nSource:" not in own and "\nFile: " in own
    assert "Did you mean 'weather'?" in sh("list modules wether").complaint


@pytest.mark.parametrize(
    "name", ["forecast", "weather_tools.functions:forecast", "weather_tools.functions:plain"]
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
