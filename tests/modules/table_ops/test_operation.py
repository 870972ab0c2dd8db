"""An operation is applied once for a step; one of your own is a file and a prompt, as the docs print it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, StepRejected, Table
from chameleon.llm import ScriptedModel
from chameleon.modules.table_ops.operation import Args, TableOperation
from chameleon.planners.fixed import Fixed
from tests.engine.doubles import Does

TABLE = Table(["a"], [["1"], ["2"], ["3"]])


class Last(TableOperation):
    """Keeps the last rows."""

    uses = ()

    def __init__(self, rows: int = 1) -> None:
        self.rows = rows
        self.applied_to: list[Table] = []

    def read_args(self, text: str, table: Table) -> Args:
        raise NotImplementedError

    def choose_args(self, state: State) -> Args:
        return {"rows": self.rows, "said": ["as", "a", "list"]}

    def apply(self, table: Table, args: Args) -> Table:
        self.applied_to.append(table)
        if args["rows"] > len(table.rows):
            raise StepRejected("there are fewer")
        return table.take_rows(range(len(table.rows) - args["rows"], len(table.rows)))

    def written(self, args: Args) -> str:
        return str(args["rows"])


def run(*operations: TableOperation) -> State:
    modules: dict[str, Any] = {f"step_{number}": each for number, each in enumerate(operations)}
    modules["end"] = Does(lambda state: state.input["table"])
    executor = Executor(Inventory("mine", Fixed(list(modules)), modules))
    return executor.run({"question": "?", "table": TABLE})


def test_each_step_applies_once_and_a_refused_one_leaves_nothing_for_the_next() -> None:
    operations = [Last(2), Last(9), Last(1)]
    state = run(*operations)
    assert [link.get("refused") for link in state.cache["chain"]] == [None, "there are fewer", None]
    assert [link["call"] for link in state.cache["chain"]] == ["f_step_0(2)", "f_step_1(9)", "f_step_2(1)"]
    assert state.answer.rows == (("3",),) and [len(each.applied_to) for each in operations] == [1, 1, 1]
    assert ["table" in record.output for record in state.history[:3]] == [True, False, True]
    assert all("table" not in link for link in state.cache["chain"])


PAGE = Path(__file__).resolve().parents[3] / "docs" / "table_operations.md"
RIDERS = Table(["Rider", "Points"], [["Brandt", "12"], ["Ek", "60"], ["Holm", "31"], ["Paki", "48"]])


@pytest.fixture
def mine(tmp_path: Path) -> Inventory:
    blocks = re.findall(r"^`(mine\.\w+)`.*?:\n\n```\w+\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert [name for name, _ in blocks] == ["mine.py", "mine.md", "mine.yaml"]
    for name, text in blocks:
        (tmp_path / name).write_text(text, "utf-8")
    return Inventory.load(str(tmp_path / "mine.yaml"))


def run_mine(mine: Inventory, reply: str) -> tuple[list[object], Table]:
    """The links of the chain and the last table, where the new operation is answered with `reply`."""
    said = 'The datatype is Numerical. f_sort(Points), the order is "large to small".'
    client = ScriptedModel(["f_sort_by(Points)", said, "f_keep_first(2)", reply, "Ek | Paki"])
    state = Executor(mine, LLM.connect(client)).run({"question": "Who are the two best?", "table": RIDERS})
    assert state.ended is not None and state.ended.reason == "answered"
    assert "Keeps the first rows of the table." in client.requests[2][-1][1]
    return [dict(link) for link in state.cache["chain"]], state.input["table"]


def test_it_stands_in_a_chain_with_the_others_and_may_refuse(mine: Inventory) -> None:
    mine.check()
    chain, table = run_mine(mine, "f_keep_first(2)")
    assert [link["call"] for link in chain] == ["f_sort_by(Points, large to small)", "f_keep_first(2)"]
    assert table.rows == (("Ek", "60"), ("Paki", "48"))
    chain, table = run_mine(mine, "f_keep_first(0)")
    assert chain[-1]["refused"] == "'0' is no number of rows" and len(table.rows) == 4
