"""An operation is applied once for a step, however large the table."""

from __future__ import annotations

from typing import Any

from chameleon import Executor, Inventory, State, StepRejected, Table
from chameleon.modules.table_ops.operation import Args, Operation
from chameleon.planners.fixed import Fixed
from tests.engine.doubles import Does

TABLE = Table(["a"], [["1"], ["2"], ["3"]])


class Last(Operation):
    """Keeps the last rows."""

    def __init__(self, rows: int = 1) -> None:
        self.rows = rows
        self.applied_to: list[Table] = []

    def choose_args(self, state: State) -> Args:
        return {"rows": self.rows, "said": ["as", "a", "list"]}

    def apply(self, table: Table, args: Args) -> Table:
        self.applied_to.append(table)
        if args["rows"] > len(table.rows):
            raise StepRejected("there are fewer")
        return table.take_rows(range(len(table.rows) - args["rows"], len(table.rows)))

    def written(self, args: Args) -> str:
        return str(args["rows"])


def run(*operations: Operation) -> State:
    modules: dict[str, Any] = {f"step_{number}": each for number, each in enumerate(operations)}
    modules["end"] = Does(lambda state: state.input["table"])
    executor = Executor(Inventory("mine", Fixed(list(modules)), modules))
    return executor.run({"question": "?", "table": TABLE})


def test_each_step_applies_once() -> None:
    first, second = Last(2), Last(1)
    state = run(first, second)
    assert state.answer.rows == (("3",),)
    assert first.applied_to == [TABLE] and len(second.applied_to) == 1


def test_a_refused_step_leaves_nothing_for_the_next() -> None:
    first, second = Last(9), Last(1)
    state = run(first, second)
    assert [link.get("refused") for link in state.cache["chain"]] == ["there are fewer", None]
    assert [link["call"] for link in state.cache["chain"]] == ["f_step_0(9)", "f_step_1(1)"]
    assert state.answer.rows == (("3",),) and len(first.applied_to) == len(second.applied_to) == 1


def test_the_output_holds_the_table_and_the_chain_does_not() -> None:
    state = run(Last(2), Last(9))
    first, second = (record.output for record in state.history[:2])
    assert first["table"] is state.input["table"] and "table" not in second
    assert all("table" not in link for link in state.cache["chain"])
