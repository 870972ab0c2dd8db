"""Columns that only a run has: how long its chain of operations is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon import State
from chameleon.benchmarks.tabfact import Tabfact
from chameleon.core.events import RunEnded
from chameleon.evaluation.results import Result, Tally
from tests.e2e.commands import Command
from tests.engine.files import write
from tests.evaluation.rows import write_rows

KEPT, REFUSED = {"call": "select_row(1)"}, {"call": "sort_by(a)", "refused": "no such column"}


@pytest.mark.parametrize(
    ("reason", "chain", "columns"),
    [
        ("answered", (), ("chain 0",)),
        ("answered", (REFUSED,), ("chain 0",)),
        ("answered", (KEPT, REFUSED, KEPT), ("chain 2",)),
        ("answered", [KEPT] * 9, ("chain 6+",)),
        ("answered", "no chain", ("chain 0",)),
        ("answered", 7, ("chain 0",)),
        ("declined", [KEPT], ()),
        ("failed", [], ()),
        ("budget", [KEPT], ()),
    ],
)
def test_the_length_of_a_chain(reason: Any, chain: Any, columns: tuple[str, ...]) -> None:
    assert Tabfact().run_columns(State(cache={"chain": chain}, ended=RunEnded(reason))) == columns
    assert Tabfact().run_columns(State(cache={"chain": chain})) == ()


@pytest.mark.parametrize("declined", [0, 1])
def test_they_come_last_and_one_tells_something_where_not_all_runs_are_in_it(declined: int) -> None:
    tally = Tally(Tabfact.columns)
    for number in range(3):
        gone = number < declined
        columns = ("small",) if gone else ("small", "chain 2")
        tally.add(Result(str(number), None if gone else "yes", gone, not gone, columns=columns))
    assert list(tally.columns) == [*Tabfact.columns, "chain 2"]
    assert ("chain 2" in tally.telling) == bool(declined)
    n = 3 - declined
    assert tally.to_json("tabfact")["breakdown"]["chain 2"] == {"n": n, "correct": n, "accuracy": 1.0}


KITES = {"table_id": "k", "header": ["kite", "minutes"], "rows": [["red", "12"], ["blue", "15"]]}
HILLS = {"table_id": "h", "header": ["hill"], "rows": [["high and low"]] * 700}
CODE = """
from chameleon import Module

class Chains(Module):
    "Keeps two operations."
    writes = ("cache.chain",)
    def run(self, state):
        return [{"call": "select_row(1)"}, {"call": "sort_by(a)"}, {"call": "x", "refused": "no"}]
    def update_cache(self, cache, output):
        return {"chain": output}

class Says(Module):
    "Says yes."
    def run(self, state):
        return "yes"
"""
INVENTORY = """
name: chains
input: {question: str, table: Table}
planner:
  use: rules
  rules:
    - {when: {table.rows: {at_least: 12}}, plan: [says]}
    - {plan: [chains, says]}
modules:
  chains: {use: "making_chains:Chains"}
  says: {use: "making_chains:Says"}
"""


def test_eval_and_stats_show_them(command: Command, tmp_path: Path) -> None:
    write(tmp_path, CODE, "making_chains.py")
    inventory = str(write(tmp_path, INVENTORY))
    write_rows(tmp_path / "tables.jsonl", [KITES, HILLS])
    rows = [
        {"id": str(number), "table_id": "kh"[number % 2], "statement": "it flew", "label": number // 3}
        for number in range(6)
    ]
    data = write_rows(tmp_path / "data.jsonl", rows)
    out = tmp_path / "out"
    ran = command("eval", inventory, str(data), "--out", str(out))
    header = next(line for line in ran.out.splitlines() if "ALL" in line)
    assert header.split()[-4:] == ["chain", "0", "chain", "2"]
    found = json.loads(command("report", str(out), "--json").out)["runs"][0]["breakdown"]
    assert found["chain 0"] == {"n": 3, "correct": 2, "accuracy": pytest.approx(2 / 3)}
    assert found["chain 2"] == found["small"] == {"n": 3, "correct": 1, "accuracy": pytest.approx(1 / 3)}
    told = command("stats", str(out)).out
    assert "out: by chain length\n" in told and "out: by table size\n" in told
    scored = command("score", "tabfact", str(data), str(out / "results.jsonl"), "--json")
    assert "chain 0" not in json.loads(scored.out)["breakdown"], "recorded answers have no chain"
