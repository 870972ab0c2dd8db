"""A distribution with modules, a planner and an inventory, as an installer leaves it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = "weather-tools 1.2"
CODE = '''\
from chameleon.core.module import Module
from chameleon.core.planner import Planner
from chameleon.core.events import Step

print("a greeting of its own")


class Weather(Module):
    """Tells the weather.

    Of one place.
    """

    reads = "input.question"

    def __init__(self, place: str = "Rome") -> None:
        self.place = place

    def run(self, state):
        return f"sun in {self.place}"


class Always(Planner):
    """Runs one module.

    Set `module`, its name.
    """

    def __init__(self, module: str) -> None:
        self.module = module

    def propose(self, state, inventory):
        return () if state.executed_names else [Step(self.module)]


made = Weather("Oslo")
made.description = "Tells the weather of Oslo."
text = "no module"
'''
FUNCTIONS = '''\
from dataclasses import dataclass

from chameleon import tool


@dataclass
class Weather:
    sky: str


def plain(city: str, days: int = 3) -> Weather:
    """Tells the weather."""
    return Weather("rain")


forecast = tool(plain, name="forecast")
'''
ENTRIES = """\
[chameleon.modules]
weather = weather_tools:Weather
made_weather = weather_tools:made
a_text = weather_tools:text
forecast = weather_tools.functions:forecast
needy = weather_tools.needy:Needy
leaving = weather_tools.leaving:Leaving
misspelt = weather_tools:Wether
row_lookup = weather_tools:Weather

[chameleon.planners]
always = weather_tools:Always
"""


@pytest.fixture
def weather_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the distribution for one test, and give its package's folder."""
    site = tmp_path / "site-packages"
    package, told = site / "weather_tools", site / "weather_tools-1.2.dist-info"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(CODE, "utf-8")
    (package / "functions.py").write_text(FUNCTIONS, "utf-8")
    (package / "needy.py").write_text("import a_package_that_nobody_has\n", "utf-8")
    (package / "leaving.py").write_text("raise SystemExit(3)\n", "utf-8")
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: weather-tools\nVersion: 1.2\n", "utf-8")
    (told / "entry_points.txt").write_text(ENTRIES, "utf-8")
    monkeypatch.syspath_prepend(str(site))
    yield package
    for name in [name for name in sys.modules if name.partition(".")[0] == "weather_tools"]:
        del sys.modules[name]
