"""Tables that one prompt cannot show: no row is thrown away, or given a value, that no prompt has shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from chameleon import Inventory, State, Table
from chameleon.errors import ChameleonError, InventoryError
from chameleon.llm import LLM, ScriptedModel
from chameleon.modules.table_ops.add_column import AddColumn
from chameleon.modules.table_ops.join import Join
from chameleon.modules.table_ops.operation import TableOperation
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from chameleon.table.formats import to_text

Messages = Sequence[tuple[str, str]]
ROW = re.compile(r"^row (\d+) : (.*)$", re.M)


def numbered(rows: int) -> Table:
    return Table(["name", "points"], [[f"n{row}", str(row)] for row in range(1, rows + 1)], "results")


def case_in(messages: Messages) -> str:
    """What stands after the demonstrations: the table that is asked about, and the question."""
    return messages[-1][1].rpartition("/*\n")[2]


def rows_in(messages: Messages) -> list[int]:
    return [int(number) for number, _ in ROW.findall(case_in(messages))]


def run(
    operation: TableOperation, table: Table, reply: Callable[[Messages], str] | Sequence[str], **settings: Any
) -> tuple[dict[str, Any], ScriptedModel]:
    for name, value in settings.items():
        setattr(operation, name, value)
    client = ScriptedModel(reply)
    state = State(input={"question": "which row is meant?", "table": table})
    return operation.with_llm(LLM.connect(client)).run(state), client


def odd_hundreds(messages: Messages) -> str:
    """Names the rows 100, 300, … of those shown; none where there is none."""
    return f"f_row([{', '.join(f'row {row}' for row in rows_in(messages) if row % 200 == 100)}])"


def test_rows_are_chosen_in_blocks_with_the_numbers_of_the_whole_table() -> None:
    output, client = run(SelectRow(), numbered(350), odd_hundreds, samples=8)
    assert output["args"] == {"rows": (100, 300)}
    shown = [rows_in(request) for request in client.requests]
    assert sorted(shown) == [list(range(s, min(s + 100, 351))) for s in (1, 101, 201, 301)]
    cases = sorted(case_in(request) for request in client.requests)
    assert "row 101 : n101 | 101" in cases[1] and "Rows 101 to 200 of 350 are shown." in cases[1]
    assert all("f_row([]) to keep none" in case for case in cases)


@pytest.mark.parametrize(
    ("replies", "kept"),
    [
        (["f_row([*])", "f_row([])"], tuple(range(1, 101))),
        (["f_row([])", "f_row([*])"], tuple(range(101, 121))),
        (["f_row([*])", "f_row([*])"], "*"),
        (["f_row([row 7, row 117])", "f_row([row 118, row 5, 999])"], (7, 118)),
    ],
)
def test_only_rows_that_were_shown_count(replies: list[str], kept: object) -> None:
    def reply(messages: Messages) -> str:
        return replies[rows_in(messages)[0] > 1]

    assert run(SelectRow(), numbered(120), reply)[0]["args"] == {"rows": kept}


@pytest.mark.parametrize("second", ["f_row([row 3])", "f_row(*)", "f_row()", "I cannot tell."])
def test_a_block_whose_reply_will_not_do_refuses_the_operation(second: str) -> None:
    def reply(messages: Messages) -> str:
        return second if rows_in(messages)[0] > 1 else "f_row([row 3])"

    assert "refused" in run(SelectRow(), numbered(120), reply)[0]


def test_no_row_in_any_block_is_no_selection() -> None:
    assert run(SelectRow(), numbered(120), lambda _: "f_row([])")[0]["refused"]


@pytest.mark.parametrize(
    ("rows", "made", "settings", "shown"),
    [
        (1000, SelectRow(), {}, "500 of 1,000"),
        (100, SelectRow(), {"max_rows": 10}, "80 of 100"),
        (100, SelectRow(most_calls=3), {"max_rows": 10}, "30 of 100"),
        (30, SelectRow(), {"max_table_tokens": 1}, "0 of 30"),
    ],
)
def test_a_table_that_no_number_of_blocks_shows_is_refused_before_any_call(
    rows: int, made: SelectRow, settings: dict[str, int], shown: str
) -> None:
    output, client = run(made, numbered(rows), [], **settings)
    assert output["refused"] == f"only {shown} rows could be shown; filter_rows can cut by a condition"
    assert not client.requests


@pytest.mark.parametrize(("rows", "settings"), [(100, {}), (700, {"max_rows": None})])
def test_a_table_that_is_shown_whole_is_voted_on_as_published(rows: int, settings: dict[str, Any]) -> None:
    replies = ["f_row([row 1])", "f_row([row 2])", "f_row([row 2])"]
    output, client = run(SelectRow(top=1), numbered(rows), replies, samples=3, **settings)
    assert output["args"] == {"rows": (2,)} and len(client.requests) == 3
    assert "are shown" not in case_in(client.requests[0])


@pytest.mark.parametrize("name", ["wikitq", "tabfact", "fetaqa", "chain_of_table"])
def test_the_inventories_choose_from_long_tables_within_the_calls_of_a_vote(name: str) -> None:
    operation = Inventory.load(name).modules["select_row"]
    assert isinstance(operation, SelectRow)
    output, client = run(operation, numbered(500), odd_hundreds)
    assert output["args"] == {"rows": (100, 300, 500)} and len(client.requests) <= operation.samples == 8


def long_rows(rows: int = 50) -> Table:
    """Each row some 2,500 characters, with what is asked for at its end."""
    return Table(["text"], [[f"{'lorem ipsum ' * 208}(C{row})"] for row in range(rows)], "texts")


def codes(messages: Messages) -> str:
    shown = " | ".join(re.findall(r"\((C\d+)\)", case_in(messages)))
    return f'We extract the value from column "text". f_add_column(Code). The value: {shown}'


def test_every_long_row_is_shown_once_and_gets_its_value() -> None:
    table = long_rows()
    output, client = run(AddColumn(), table, codes, max_table_tokens=6000)
    assert output["args"]["values"] == tuple(f"C{row}" for row in range(50))
    shown = [code for request in client.requests for code in re.findall(r"\((C\d+)\)", case_in(request))]
    assert sorted(shown) == sorted(output["args"]["values"])
    assert 1 < len(client.requests) <= 10
    assert not any("not shown" in case_in(request) for request in client.requests)


@pytest.mark.parametrize("settings", [{"max_table_tokens": 6000}, {"max_rows": 7, "max_cell": 9}])
def test_the_limits_hold_for_each_prompt_of_an_added_column(settings: dict[str, int]) -> None:
    table = long_rows()
    _, client = run(AddColumn(), table, codes, **settings)
    for request in client.requests:
        rows = [row for _, row in ROW.findall(case_in(request))]
        assert sum(map(len, rows)) < 6000 * 6
        assert len(rows) <= settings.get("max_rows", 50)
        assert all(len(row) <= settings.get("max_cell", 3000) for row in rows)


@pytest.mark.parametrize(
    ("made", "tokens", "shown"),
    [(AddColumn(max_table_rows=50), 6000, None), (AddColumn(), 1000, None), (AddColumn(), 100, 0)],
)
def test_rows_that_would_take_more_calls_than_allowed_are_refused_before_any_call(
    made: AddColumn, tokens: int, shown: int | None
) -> None:
    output, client = run(made, long_rows(), [], max_table_tokens=tokens)
    assert re.fullmatch(r"only \d+ of 50 rows could be shown", output["refused"]) and not client.requests
    assert shown is None or output["refused"].startswith(f"only {shown} ")


def test_a_further_table_is_cut_like_the_first() -> None:
    operation = Join()
    operation.max_cell = 20
    other = Table(["key", "text"], [["a", "x" * 500]], "other")
    state = State(input={"question": "?", "table": numbered(2), "tables": (other,)})
    (shown,) = operation.slots(state)["others"]
    assert "x" * 19 + "…" in shown["table"] and "x" * 20 not in shown["table"]


def test_a_style_that_select_column_does_not_write_in_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: wikitq\nname: mine\nmodules:\n  select_column: {table_style: html}\n")
    with pytest.raises(ChameleonError, match="shows the table as JSON by column, whatever its table_style"):
        Inventory.load(file).check()
    operation = SelectColumn()
    operation.table_style = "html"
    with pytest.raises(InventoryError):
        operation.check()
    (tmp_path / "own.md").write_text("---\nslots: [table]\n---\n# user\n{{ table }}\n")
    operation = SelectColumn()
    operation.table_style, operation.prompt, operation.folders = "html", "own", (tmp_path,)
    operation.check()


def test_a_style_without_the_numbers_of_rows_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: wikitq\nname: mine\nmodules:\n  select_row: {table_style: json}\n")
    with pytest.raises(ChameleonError, match="table_style: json shows no numbers"):
        Inventory.load(file).check()


def test_a_part_of_a_table_is_numbered_on() -> None:
    part = Table(["a"], [["x"], ["y"]])
    assert to_text(part, "numbered", first=101) == "col : a\nrow 101 : x\nrow 102 : y"
