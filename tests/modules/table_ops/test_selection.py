"""`f_select_row` and `f_select_column`: replies are read in full or rejected, and no row goes unseen."""

from __future__ import annotations

import re
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Inventory, StepRejected, Table
from chameleon.errors import InventoryError
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from tests.modules.table_ops.doubles import TABLE, Messages, case_in, rows_in, run

JOINS = [", ", ",", "; ", " and ", ", and ", " & ", " - ", " to ", " ... ", ", …, ", "\n", " or ", " "]


@pytest.mark.parametrize(
    ("inside", "rows"),
    [
        ("[row 1, row 3 to row 5]", [1, 3, 4, 5]),
        ("[row 1, row 3-5, row 9]", [1, 3, 4, 5, 9]),
        ("[rows 1, 2, 3]", [1, 2, 3]),
        ("[1 and 2]", [1, 2]),
        ("row 1 & row 2", [1, 2]),
        ("[row 1 - row 3]", [1, 2, 3]),
        ("[rows 2–4]", [2, 3, 4]),
        ("[row 1 through row 3; row 9]", [1, 2, 3, 9]),
        ('["row 1", "row 2"]', [1, 2]),
        ("[Row1,\nRow 3]", [1, 3]),
        ("[row 2, row 1]", [1, 2]),
        ("[row 11 to row 999999999]", [11, 12]),
        ("[row 1])\n\nThe answer is: f_row([Row 1]", [1]),
    ],
)
def test_rows_are_read_in_all_forms_that_models_write(inside: str, rows: list[int]) -> None:
    assert SelectRow().read_args(f"The answer is : f_row({inside}).", TABLE) == {"rows": rows}


@pytest.mark.parametrize(
    "reply",
    [
        "f_row([row 1, ..., row 10])",
        "f_row(row 1, row 2, row 3…)",
        "f_row([row 1, the last row])",
        "f_row([row 1, row -2])",
        "f_row([row 5 to row 3])",
        "f_row([row 1, row 3 to 5 to 7])",
        "f_row([row 1, 2.5])",
        "f_row([row 1, row 12345678901])",
        "f_row([row 1 row 2])",
        "f_row([row 1, *])",
        "f_row([row 1, ro",
        "f_row([row 1]) and f_row([row 2])",
        "f_row([row 1]), and row 3",
        "First f_row([row 1]), no: f_row([row 2, row 3])",
        "f_row([row 0, row 1])",
        "f_row([row 1,000])",
    ],
)
def test_rows_that_cannot_be_read_in_full_are_no_vote(reply: str) -> None:
    with pytest.raises(StepRejected):
        SelectRow().read_args(reply, TABLE)


WORDS = st.sampled_from(["row ", "rows ", "", "Row"])


@given(st.lists(st.tuples(st.sampled_from(JOINS), WORDS, st.integers(1, 12)), min_size=1))
def test_what_is_accepted_has_all_rows_that_the_text_names(parts: list[tuple[str, str, int]]) -> None:
    text = "".join(f"{join if place else ''}{word}{n}" for place, (join, word, n) in enumerate(parts))
    try:
        rows = SelectRow().read_args(f"f_row([{text}])", TABLE)["rows"]
    except StepRejected:
        return
    ranges = re.findall(r"(\d+)(?: - | to )\D*(\d+)", text)
    within = chain.from_iterable(range(int(first), int(last) + 1) for first, last in ranges)
    assert set(rows) == {number for *_, number in parts} | set(within)


@pytest.mark.parametrize(
    ("inside", "columns"),
    [
        ("[Rank, and Team]", ["Rank", "Team"]),
        ("[rank and team]", ["Rank", "Team"]),
        ("Team & Rank", ["Rank", "Team"]),
        ('["Rank"; "Team"]', ["Rank", "Team"]),
        ("[Won, lost, and Rank]", ["Rank", "Won, lost"]),
        ("[won,lost]", ["Won, lost"]),
        ("[Drawn and lost and Rank]", ["Rank", "Drawn and lost"]),
        ("[Count (all), Rank]", ["Rank", "Count (all)"]),
    ],
)
def test_columns_are_read_in_all_forms_that_models_write(inside: str, columns: list[str]) -> None:
    assert SelectColumn().read_args(f"f_col({inside})", TABLE) == {"columns": columns}


@pytest.mark.parametrize(
    "inside",
    ["[Rank, Teem]", "[Rank, ...]", "[Rank, Team,", "[Rank or Team]", "[]", "[Rank]) and f_col([Team]"],
)
def test_a_column_that_is_not_there_or_in_a_second_call_is_never_left_out(inside: str) -> None:
    with pytest.raises(StepRejected):
        SelectColumn().read_args(f"f_col({inside})", TABLE)


def numbered(rows: int) -> Table:
    return Table(["name", "points"], [[f"n{row}", str(row)] for row in range(1, rows + 1)], "results")


def odd_hundreds(messages: Messages) -> str:
    """Names the rows 100, 300, … of those shown; none where there is none."""
    return f"f_row([{', '.join(f'row {row}' for row in rows_in(messages) if row % 200 == 100)}])"


def test_rows_are_chosen_in_blocks_with_the_numbers_of_the_whole_table() -> None:
    output, client = run(SelectRow(), numbered(350), odd_hundreds, samples=8)
    assert output["args"] == {"rows": (100, 300)}
    shown = [list(rows_in(request)) for request in client.requests]
    assert sorted(shown) == [list(range(s, min(s + 100, 351))) for s in (1, 101, 201, 301)]
    second = sorted(case_in(request) for request in client.requests)[1]
    assert "row 101 : n101 | 101" in second and "Rows 101 to 200 of 350 are shown." in second


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("f_row([*])", "f_row([])", tuple(range(1, 101))),
        ("f_row([*])", "f_row([*])", "*"),
        ("f_row([row 7, row 117])", "f_row([row 118, row 5, 999])", (7, 118)),
        ("f_row([])", "f_row([])", None),
        *(("f_row([row 3])", second, None) for second in ["f_row([row 3])", "f_row()", "I cannot tell."]),
    ],
)
def test_only_rows_that_were_shown_count(first: str, second: str, kept: object) -> None:
    output, _ = run(SelectRow(), numbered(120), lambda messages: first if 1 in rows_in(messages) else second)
    assert output.get("args", {}).get("rows") == kept and ("refused" in output) == (kept is None)


@pytest.mark.parametrize(
    ("rows", "calls", "settings", "shown"),
    [
        (1000, 8, {}, "only 500 of 1,000"),
        (100, 3, {"max_rows": 10}, "only 30 of 100"),
        (30, 8, {"max_table_tokens": 1}, "only 0 of 30"),
    ],
)
def test_a_table_that_no_blocks_show_is_left_alone(rows: int, calls: int, settings: Any, shown: str) -> None:
    output, client = run(SelectRow(most_calls=calls), numbered(rows), [], **settings)
    assert output["refused"].startswith(shown) and not client.requests


@pytest.mark.parametrize(("rows", "settings"), [(100, {}), (700, {"max_rows": None})])
def test_a_table_that_is_shown_whole_is_voted_on_as_published(rows: int, settings: dict[str, Any]) -> None:
    replies = ["f_row([row 1])", "f_row([row 2])", "f_row([row 2])"]
    output, client = run(SelectRow(top=1), numbered(rows), replies, samples=3, **settings)
    assert output["args"] == {"rows": (2,)} and len(client.requests) == 3


def test_an_inventory_chooses_from_long_tables_within_the_calls_of_a_vote() -> None:
    operation = Inventory.load("wikitq").modules["select_row"]
    assert isinstance(operation, SelectRow)
    output, client = run(operation, numbered(500), odd_hundreds)
    assert output["args"] == {"rows": (100, 300, 500)} and len(client.requests) <= operation.samples == 8


def test_a_comma_within_thousands_is_no_vote() -> None:
    table = numbered(1_300)
    assert SelectRow().read_args("f_row([row 1, 234])", table) == {"rows": [1, 234]}
    with pytest.raises(StepRejected, match="thousands"):
        SelectRow().read_args("f_row([row 1,234])", table)


def test_a_style_that_the_prompt_does_not_show_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("---\nslots: [table]\n---\n# user\n{{ table }}\n")
    file, own = tmp_path / "mine.yaml", "select_column: {table_style: html, prompt: ./own}"
    for setting in ("select_column: {table_style: html}", "select_row: {table_style: json}", own):
        file.write_text(f"extends: wikitq\nname: mine\nmodules:\n  {setting}\n")
        with nullcontext() if setting == own else pytest.raises(InventoryError, match="table_style"):
            Inventory.load(file).check()
