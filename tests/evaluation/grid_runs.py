"""A small grid: arms that keep some rows of a table, and a model that answers with the last that it sees."""

import json
from pathlib import Path
from typing import Any

from tests.engine.files import write
from tests.evaluation.rows import write_rows

TOOLS = '''
from chameleon import Module
from chameleon.errors import MissingPackage

class Keep(Module):
    """Keeps the first rows."""
    reads = ("input.table",)
    writes = ("input.table", "cache.kept")

    def __init__(self, rows: int = 1, lost: str = "") -> None:
        self.rows, self.lost = rows, lost

    def run(self, state):
        table = state.input["table"]
        if self.lost == "package":
            raise MissingPackage("the package sieve is missing", hint="pip install sieve")
        if self.lost and self.lost in table.caption:
            raise ValueError("it cannot be kept")
        return {"rows": list(range(min(self.rows, len(table.rows))))}

    def update_input(self, input, output):
        return {"table": input["table"].take_rows(output["rows"])}

    def update_cache(self, cache, output):
        return {"kept": {"rows": output["rows"], "columns": [0, 1]}}
'''
INVENTORY = """\
name: sieve
input: {question: str, table: Table}
llm: {retries: 0, prices: {input: 1.0, output: 1.0}}
planner: {use: fixed, plan: [keep, table_formatter, table_answerer, consistency]}
modules:
  keep: {use: "tools:Keep", rows: 1}
  table_formatter: {format: markdown}
  table_answerer: {prompt: tablerag/hybridqa, form: short, samples: 1}
  consistency: {}
"""
GRID = """\
name: sieves
about: How much is kept.
inventory: sieve.yaml
arms:
  whole: {about: "All rows.", without: [keep]}
  one: {}
  two: {modules: {keep: {rows: 2}}}
"""
HEADER = ["Boat", "Port"]
BOATS = [["Swift", "Ostrand"], ["Heron", "Tarn"], ["Otter", "Varn"]]


def make(folder: Path, grid: str = GRID) -> tuple[str, str]:
    """Write a grid and what it needs; its path and that of questions like WikiTQ's (no cell has the last)."""
    write(folder, TOOLS, "tools.py")
    write(folder, INVENTORY, "sieve.yaml")
    questions, tables = list[dict[str, Any]](), list[dict[str, Any]]()
    for n, answer in enumerate(("Swift", "Otter", "Heron", "7")):
        asked = {"question": f"Which boat is number {n}?", "table_id": f"boats-{n}"}
        questions.append({"id": f"nt-{n}", "answer": [answer], **asked})
        tables.append({"table_id": f"boats-{n}", "caption": f"Fleet {n}", "header": HEADER, "rows": BOATS})
    write_rows(folder / "tables.jsonl", tables)
    return str(write(folder, grid, "grid.yaml")), str(write_rows(folder / "questions.jsonl", questions))


def last_boat(request: dict[str, Any]) -> str:
    """A model's reply: the first cell of the last row of the table that it is shown."""
    text = request["messages"][-1]["content"]
    data = text.rpartition("<data>\n")[2].partition("\n</data>")[0]
    return f"The answer is: {data.splitlines()[-1].strip('| ').split(' | ')[0]}"


def arms(printed: str) -> dict[str, dict[str, Any]]:
    return {arm["arm"]: arm for arm in json.loads(printed)["arms"]}
