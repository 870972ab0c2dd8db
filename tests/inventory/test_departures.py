"""The settings of the papers' inventories are as printed, or stand on a page of departures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from chameleon import Inventory
from chameleon.core.llm_module import AsksModel, asking_of

DOCS = Path(__file__).parents[2] / "docs"
PRINTED = yaml.safe_load(Path(__file__).with_name("as_printed.yaml").read_text("utf-8"))
HEAD = "| inventory | key | ours | printed | why |\n|---|---|---|---|---|\n"
VIEW = {"table_style": "style", "max_rows": "max_rows", "max_cell": "max_cell"}
ROW = re.compile(r"\| `(\w+)` \| `([\w.]+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|")


def setting(name: str, key: str) -> Any:
    """Return what a key comes to in the inventory as loaded: "modules.select_row.samples"."""
    found: Any = Inventory.load(name)
    for part in key.split("."):
        if part == "llm_params":
            found = asking_of(found).params
        elif part in VIEW and isinstance(found, AsksModel):
            found = getattr(found.table_view, VIEW[part])
        else:
            found = found[part] if isinstance(found, Mapping) else getattr(found, part)
    return list(found) if isinstance(found, tuple) else found


@pytest.mark.parametrize("page", ["chameleon", "tables", "statutes", "tablerag"])
def test_departures_are_as_the_page_says(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text("utf-8")
    lines = text.partition(HEAD)[2].partition("\n\n")[0].splitlines()
    assert lines
    for line in lines:
        name, key, ours, printed = ROW.fullmatch(line).groups()  # type: ignore[union-attr]
        assert str(setting(name, key)) == ours != printed, line


@pytest.mark.parametrize("group", PRINTED, ids=lambda group: group["of"][0])
def test_settings_are_as_printed(group: dict[str, Any]) -> None:
    for name in group["of"]:
        settings = {key: value for key, value in group.items() if key != "of"}
        assert {key: setting(name, key) for key in settings} == settings, name
