"""An operation is applied once for a step; one of your own is a file and a prompt, as the docs print it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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


def test_each_step_applies_once_and_a_refused_one_leaves_nothing_for_the_next() -> None:
    operations = [Last(2), Last(9), Last(1)]
    modules: dict[str, Any] = {f"step_{number}": each for number, each in enumerate(operations)}
    modules["end"] = Does(lambda state: state.input["table"])
    executor = Executor(Inventory("mine", Fixed(list(modules)), modules))
    state = executor.run({"question": "?", "table": TABLE})
    assert [link.get("refused") for link in state.cache["chain"]] == [None, "there are fewer", None]
    assert [link["call"] for link in state.cache["chain"]] == ["f_step_0(2)", "f_step_1(9)", "f_step_2(1)"]
    assert state.answer.rows == (("3",),) and [len(each.applied_to) for each in operations] == [1, 1, 1]
    assert ["table" in record.output for record in state.history[:3]] == [True, False, True]
    assert all("table" not in link for link in state.cache["chain"])


PAGE = Path(__file__).resolve().parents[3] / "docs" / "table_operations.md"
RIDERS = Table(["Rider", "Points"], [["Brandt", "12"], ["Ek", "60"], ["Holm", "31"], ["Paki", "48"]])


def test_one_of_your_own_stands_in_a_chain_with_the_others_and_may_refuse(tmp_path: Path) -> None:
    blocks = re.findall(r"^`(mine\.\w+)`.*?:\n\n```\w+\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert [name for name, _ in blocks] == ["mine.py", "mine.md", "mine.yaml"]
    for name, text in blocks:
        (tmp_path / name).write_text(text, "utf-8")
    mine = Inventory.load(str(tmp_path / "mine.yaml"))
    mine.check()
    said = 'The datatype is Numerical. f_sort(Points), the order is "large to small".'
    for reply in ("f_keep_first(2)", "f_keep_first(0)"):
        client = ScriptedModel(["f_sort_by(Points)", said, "f_keep_first(2)", reply, "Ek | Paki"])
        executor = Executor(mine, LLM.connect(client))
        state = executor.run({"question": "Who are the two best?", "table": RIDERS})
        assert state.ended is not None and state.ended.reason == "answered"
        assert "Keeps the first rows of the table." in client.requests[2][-1][1]
        first, second = state.cache["chain"]
        assert first["call"] == "f_sort_by(Points, large to small)"
        if reply == "f_keep_first(2)":
            assert second["call"] == reply and state.input["table"].rows == (("Ek", "60"), ("Paki", "48"))
        else:
            assert "'0'" in second["refused"] and len(state.input["table"].rows) == 4
