"""The public API is typed: mypy passes its documented use and rejects what cannot work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

USE = """
from collections.abc import Sequence

from chameleon import Executor, Inventory, Module, Planner, State, Step, Table, ask, evaluate
from chameleon import read_table, tool
from chameleon.evaluation import Problem
from chameleon.modules.lookup import RowLookup

@tool
def double(number: int) -> int:
    return 2 * number

class Rows(Module):
    reads = ("input.table",)

    def run(self, state: State) -> int:
        table: Table = state.input["table"]
        return len(table.rows)

class First(Planner):
    def propose(self, state: State, inventory: Inventory) -> Sequence[Step]:
        return () if state.executed_names else [Step("rows")]

executor = Executor([double, Rows], planner=First())
state: State = executor.run({"question": "How many?", "table": read_table("a.csv")})
status: str = state.status
print(state.answer, state.why, state.sources, state.reading, ask("How many?", "a.csv").answer, RowLookup)
made = [Problem(row["id"], {}, 1) for row in [{"id": "1"}]]
print(evaluate(made, executor, scorer=lambda one, gold: True, progress=True))
print(executor.batch([{}], progress=True), made)
"""
WRONG = [
    ("Executor(5)", '"Executor" has incompatible type "int"'),
    ('Executor("tables", 5)', '"Executor" has incompatible type "int"'),
    ('Executor("tables").run("How many?")', 'incompatible type "str"'),
    ("ask(5)", 'incompatible type "int"'),
    ("State().anwser", 'has no attribute "anwser"'),
]


@pytest.mark.slow
def test_mypy_takes_the_documented_use_and_rejects_the_rest(tmp_path: Path) -> None:
    from mypy import api

    (tmp_path / "use.py").write_text(USE)
    for number, (line, _) in enumerate(WRONG):
        (tmp_path / f"wrong{number}.py").write_text(f"from chameleon import Executor, State, ask\n{line}\n")
    options = ["--strict", "--python-executable", sys.executable, "--cache-dir", str(tmp_path / "cache")]
    shown, _, _ = api.run([*options, *map(str, sorted(tmp_path.glob("*.py")))])
    assert "use.py" not in shown, shown
    for number, (_, told) in enumerate(WRONG):
        assert any(told in line for line in shown.splitlines() if f"wrong{number}.py" in line), shown
