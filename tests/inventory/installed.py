"""A distribution with modules, a planner and an inventory, as an installer leaves it: see `installed.txt`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = "weather-tools 1.2"
FILES = Path(__file__).with_suffix(".txt").read_text("utf-8").split("=== ")[1:]


@pytest.fixture
def weather_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the distribution for one test, and give its package's folder."""
    site = tmp_path / "site-packages"
    for name, _, text in (file.partition("\n") for file in FILES):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(site))
    yield site / "weather_tools"
    for name in [name for name in sys.modules if name.partition(".")[0] == "weather_tools"]:
        del sys.modules[name]
