"""`f_select_row` and `f_select_column`: replies are read in full or rejected, and no row goes unseen."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Inventory, State, StepRejected, Table
from chameleon.errors import ChameleonError, InventoryError
from chameleon.llm import LLM, ScriptedModel
from chameleon.modules.table_ops.operation import TableOperation
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from chameleon.table.formats import to_text

ROWS = 12


TABLE = Table(
    ["Rank", "Team", "Won, lost", "Drawn and lost", "Count (all)"],
    [[str(row), "x", "y", "z", str(row)] for row in range(1, ROWS + 1)],
)


@pytest.mark.parametrize(
    ("inside", "rows"),
    [
        ("[row 1, row 3 to row 5]", [1, 3, 4, 5]),
        ("[row 1, row 3 to 5]", [1, 3, 4, 5]),
        ("[row 1, row 3-5, row 9]", [1, 3, 4, 5, 9]),
        ("[row 1, row 2, and row 3]", [1, 2, 3]),
        ("[rows 1, 2, 3]", [1, 2, 3]),
        ("[1 and 2]", [1, 2]),
        ("row 1 & row 2", [1, 2]),
        ("[row 1 - row 3]", [1, 2, 3]),
        ("[rows 2–4]", [2, 3, 4]),
        ("[row 1 through row 3; row 9]", [1, 2, 3, 9]),
        ("[row 1; row 2]", [1, 2]),
        ('["row 1", "row 2"]', [1, 2]),
        ("[Row1,\nRow 3]", [1, 3]),
        ("[row 2, row 1]", [1, 2]),
        ("[row 11 to row 999999999]", [11, 12]),
    ],
)
def test_rows_are_read_in_all_forms_that_models_write(inside: str, rows: list[int]) -> None:
    assert SelectRow().read_args(f"The answer is : f_row({inside}).", TABLE) == {"rows": rows}


@pytest.mark.parametrize(
    "inside",
    [
        "[row 1, ..., row 10]",
        "row 1, row 2, row 3…",
        "[row 1, row 2, …]",
        "[row 1, the last row]",
        "[row 1, row -2]",
        "[row 5 to row 3]",
        "[row 1, row 3 to 5 to 7]",
        "[row 1, 2.5]",
        "[row 1, row 12345678901]",
        "[row 1 row 2]",
        "[row 1, *]",
        "[row 1,",
        "[row 1, ro",
    ],
)
def test_rows_that_cannot_be_read_in_full_are_no_vote(inside: str) -> None:
    with pytest.raises(StepRejected):
        SelectRow().read_args(f"The answer is : f_row({inside})", TABLE)


JOINS = [", ", ",", "; ", " and ", ", and ", " & ", " - ", " to ", " ... ", ", …, ", "\n", " or ", " "]


@given(
    st.lists(st.tuples(st.sampled_from(["row ", "rows ", "", "Row"]), st.integers(1, ROWS)), min_size=1),
    st.data(),
)
def test_what_is_accepted_has_all_rows_that_the_text_names(
    parts: list[tuple[str, int]], data: st.DataObject
) -> None:
    text = "".join(
        f"{data.draw(st.sampled_from(JOINS)) if place else ''}{word}{number}"
        for place, (word, number) in enumerate(parts)
    )
    try:
        rows = SelectRow().read_args(f"f_row([{text}])", TABLE)["rows"]
    except StepRejected:
        return
    ranges = re.findall(r"(\d+)(?: - | to )\D*(\d+)", text)
    within = chain.from_iterable(range(int(first), int(last) + 1) for first, last in ranges)
    assert set(rows) == {number for _, number in parts} | set(within)


@pytest.mark.parametrize(
    ("inside", "columns"),
    [
        ("[Rank, and Team]", ["Rank", "Team"]),
        ("[rank and team]", ["Rank", "Team"]),
        ("[Rank; Team]", ["Rank", "Team"]),
        ("Team & Rank", ["Rank", "Team"]),
        ('["Rank", "Team"]', ["Rank", "Team"]),
        ("[Won, lost, and Rank]", ["Rank", "Won, lost"]),
        ("[won,lost]", ["Won, lost"]),
        ("[Drawn and lost and Rank]", ["Rank", "Drawn and lost"]),
        ("[Count (all), Rank]", ["Rank", "Count (all)"]),
    ],
)
def test_columns_are_read_in_all_forms_that_models_write(inside: str, columns: list[str]) -> None:
    assert SelectColumn().read_args(f"f_col({inside})", TABLE) == {"columns": columns}


@pytest.mark.parametrize("inside", ["[Rank, Teem]", "[Rank, ...]", "[Rank, Team,", "[Rank or Team]", "[]"])
def test_a_column_that_is_not_there_is_never_left_out(inside: str) -> None:
    with pytest.raises(StepRejected, match="no column is named"):
        SelectColumn().read_args(f"f_col({inside})", TABLE)


@given(st.lists(st.sampled_from([*TABLE.header, "Teem"]), min_size=1), st.data())
def test_what_is_accepted_has_all_columns_that_the_text_names(names: list[str], data: st.DataObject) -> None:
    joins = [data.draw(st.sampled_from(JOINS)) for _ in names[1:]]
    text = "".join(chain.from_iterable(zip(names, [*joins, ""], strict=True)))
    try:
        columns = SelectColumn().read_args(f"f_col([{text}])", TABLE)["columns"]
    except StepRejected:
        return
    assert set(columns) == set(names)


@pytest.mark.parametrize(
    "reply",
    [
        "f_row([row 1]) and f_row([row 2])",
        "f_row([row 1])\nf_row([row 2])",
        "f_row([row 1]), and row 3",
        "f_row(row 1), row 2",
        "First f_row([row 1]), no: f_row([row 2, row 3])",
        "f_row([row 0, row 1])",
        "f_row([row 1,000])",
    ],
)
def test_no_row_beside_the_call_is_lost(reply: str) -> None:
    with pytest.raises(StepRejected):
        SelectRow().read_args(reply, TABLE)


def test_a_comma_within_a_number_is_not_taken_for_two_rows() -> None:
    long = Table(["n"], [[str(number)] for number in range(1200)])
    with pytest.raises(StepRejected, match="thousands"):
        SelectRow().read_args("f_row([row 1,100])", long)
    assert SelectRow().read_args("f_row([row 1, 100])", long) == {"rows": [1, 100]}


@pytest.mark.parametrize("reply", ["f_col([Rank]) and f_col([Team])", "f_col([Rank])\nf_col([Team])"])
def test_no_column_of_a_second_call_is_lost(reply: str) -> None:
    with pytest.raises(StepRejected):
        SelectColumn().read_args(reply, TABLE)


def test_a_call_that_is_repeated_counts_once() -> None:
    assert SelectRow().read_args("f_row([row 1])\n\nThe answer is: f_row([Row 1]).", TABLE) == {"rows": [1]}


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
