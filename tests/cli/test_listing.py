"""`chameleon list`: what a module reads, writes and takes, the file that has it, and who brings it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import Command
from tests.inventory.installed import SOURCE


def rows(command: Command, kind: str) -> dict[str, dict[str, Any]]:
    """Return what `list KIND --json` prints, by name: of two of a name the first."""
    listed = json.loads(command("list", kind, "--json").out)
    return {row["name"]: row for row in reversed(listed)}


def test_a_module_is_shown_with_its_keys_and_parameters(command: Command) -> None:
    shown = command("list", "modules", "text_detector").out
    assert re.search(r"^File: .*/modules/vision/text_detector\.py\nSource: shipped$", shown, re.MULTILINE)
    assert "Reads: input.image\nWrites: cache.detected_text, cache.text_boxes\n" in shown
    assert '  engine: auto or easyocr or rapidocr = "auto"\n' in shown
    told = json.loads(command("list", "modules", "web_search", "--json").out)
    assert told["writes"] == ["cache.web_search_response"] and told["uses"][:2] == ["web", "BRAVE_API_KEY"]
    assert {"name": "count", "type": "int", "default": 3} in told["parameters"]
    assert "shortlist" not in command("list", "planners").out
    every = json.loads(command("list", "modules", "--json").out)
    assert [each["name"] for each in every] == sorted(each["name"] for each in every)
    assert all(each["writes"] and each["source"] == "shipped" for each in every)


def test_a_planner_is_shown_with_its_parameters(command: Command) -> None:
    shown = command("list", "planners", "one_shot").out
    assert re.search(r"^one_shot: Shows .*\nFile: .*/planners/one_shot\.py\nSource: shipped$", shown, re.M)
    assert "Parameters, besides those of all planners (" in shown and "  shortlist: int = 40\n" in shown
    assert "\n\nA plan that was refused, " in shown  # the rest of the docstring
    told = json.loads(command("list", "planners", "fixed", "--json").out)
    assert told["asks_model"] is False and told["parameters"] == [
        {"name": "plan", "type": "str | list[str | dict[str, Any]]"}
    ]


def test_what_others_bring_is_listed_with_its_distribution(command: Command, weather_tools: Path) -> None:
    listed = command("list", "modules").out
    assert re.search(rf"^weather +{SOURCE}  Tells the weather\.$", listed, re.MULTILINE)
    assert re.search(r"^text_detector +shipped +Reads the text ", listed, re.MULTILINE)
    modules = rows(command, "modules")
    assert modules["weather"]["source"] == SOURCE and modules["weather"]["class"] == "weather_tools:Weather"
    assert modules["weather"]["reads"] == ["input.question"]
    assert modules["made_weather"]["about"] == "Tells the weather of Oslo."
    assert rows(command, "planners")["always"]["source"] == SOURCE


def test_what_cannot_be_used_is_listed_with_the_reason(command: Command, weather_tools: Path) -> None:
    errors = {name: row["error"] for name, row in rows(command, "modules").items() if "error" in row}
    assert errors == {
        "a_text": "'no module' is no module",
        "leaving": "'weather_tools.leaving:Leaving' ends Python when it is imported (sys.exit). "
        'Keep what it does as a program under `if __name__ == "__main__":`.',
        "misspelt": "'weather_tools:Wether' fails when imported: AttributeError: "
        "module 'weather_tools' has no attribute 'Wether'",
        "needy": "'weather_tools.needy:Needy' needs the package 'a_package_that_nobody_has'. "
        "pip install a_package_that_nobody_has",
    }
    assert re.search(
        r"^a_text +weather-tools 1\.2  cannot be used: 'no m", command("list", "modules").out, re.M
    )


def test_a_name_that_is_taken_is_told_of(command: Command, weather_tools: Path) -> None:
    listed = json.loads(command("list", "modules", "--json").out)
    ours, theirs = [row for row in listed if row["name"] == "row_lookup"]
    assert ours["source"] == "shipped" and "error" not in ours
    assert theirs["source"] == SOURCE and theirs["error"] == "the name stands for that of Chameleon"


def test_what_others_bring_is_shown_one_by_one(command: Command, weather_tools: Path) -> None:
    module = command("list", "modules", "weather").out
    assert module.startswith("weather: Tells the weather. Of one place.\n")
    assert f"\nSource: {SOURCE}\n" in module and '\n  place: str = "Rome"\n' in module
    planner = command("list", "planners", "always").out
    assert f"\nSource: {SOURCE}\n" in planner and planner.endswith("\nSet `module`, its name.\n")
    own = command("list", "modules", "weather_tools:Weather").out
    assert "\nSource:" not in own and "\nFile: " in own
    assert command("list", "modules", "wether").complaint == (
        "there is no module 'wether'. Did you mean 'weather'?"
    )


@pytest.mark.parametrize(
    "name", ["forecast", "weather_tools.functions:forecast", "weather_tools.functions:plain"]
)
def test_a_function_is_shown_with_its_arguments_and_its_own_file(
    command: Command, weather_tools: Path, name: str
) -> None:
    shown = command("list", "modules", name).out
    own = name.rpartition(":")[2]
    assert shown.startswith(
        f"{own}(city: string, days: integer = 3) -> {{sky: string}}: Tells the weather.\nFile: "
    )
    told = json.loads(command("list", "modules", name, "--json").out)
    assert told["file"] == str(weather_tools / "functions.py") and told["file"] in shown
    assert told["card"] == f"{own}(city: string, days: integer = 3) -> {{sky: string}}"
    assert told["class"] == "weather_tools.functions:plain" and told["reads"] == []


def test_inventories_are_listed_without_running_anyones_code(command: Command, weather_tools: Path) -> None:
    listed = command("list", "inventories").out
    assert "weather_tools" not in sys.modules
    ours, _, methods = listed.partition("\n\nMethods, to be measured on benchmarks:\n")
    names = [line.split()[0] for line in ours.splitlines()]
    assert len(names) == 14 and "tables_first" in names and methods.startswith("chain_of_table ")
