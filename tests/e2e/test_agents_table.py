"""The table of the page on tools says what `perf/react_agents.py` measures."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAD = "| tools a question needs | planner |"


def shown() -> list[list[str]]:
    """Return the rows of the table, each with the question and the planner that it is of."""
    _, _, table = (ROOT / "docs/tools.md").read_text("utf-8").partition(HEAD)
    lines = table.partition("\n\n")[0].splitlines()[2:]
    rows, kind = [], ""
    for line in lines:
        asked, planner, *figures = (cell.strip() for cell in line.strip("|").split("|"))
        kind = asked or kind
        rows.append([f"{kind}: {planner.replace('`', '')}", *figures])
    return rows


@pytest.mark.slow
def test_the_table_is_what_the_script_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psutil", reason="what measures takes it")
    monkeypatch.syspath_prepend(str(ROOT / "perf"))
    spec = importlib.util.spec_from_file_location("react_measured", ROOT / "perf/react_agents.py")
    assert spec is not None and spec.loader is not None
    agents = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, agents)
    spec.loader.exec_module(agents)
    measured = [agents.row(kind, form) for kind in agents.TASKS for form in agents.PLANNERS]
    assert [row[:-2] for row in measured] == shown()
    for row in measured:
        for figure in row[-2:]:  # each prefix goes on to the same end, and each budget is kept
            kept, of = figure.split(" of ")
            assert kept == of
