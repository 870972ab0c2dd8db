"""What is chosen of a table or added to it: replies are read in full or rejected, and no row goes unseen."""

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
from chameleon.modules.table_ops.add_column import AddColumn
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from tests.modules.table_ops.doubles import TABLE, Messages, case_in, rows_in, run

JOINS = [", ", ",", "; ", " and ", ", and ", " & ", " - ", " to ", " ... ", ", …, ", "\n", " or ", " "]
NO_VOTES = """
f_row([row 1, ..., row 10]) | f_row(row 1, row 2, row 3…) | f_row([row 1, row -2]) | f_row([row 1 row 2])
f_row([row 5 to row 3]) | f_row([row 1, row 3 to 5 to 7]) | f_row([row 1, *]) | f_row([row 1, ro
f_row([row 1, row 12345678901]) | f_row([row 1]) and f_row([row 2]) | f_row([row 1]), and row 3
First f_row([row 1]), no: f_row([row 2, row 3]) | f_row([row 0, row 1]) | f_row([row 1,000])
f_col([Rank, Teem]) | f_col([Rank, ...]) | f_col([Rank, Team, | f_col([Rank or Team]) | f_col([])
f_col([Rank]) and f_col([Team])
"""


@pytest.mark.parametrize(
    ("inside", "chosen"),
    [
        ("[row 1, row 3 to row 5]", [1, 3, 4, 5]),
        ("[row 1, row 3-5, row 9]", [1, 3, 4, 5, 9]),
        ("[rows 1, 2, 3]", [1, 2, 3]),
        ("[1 and 2]", [1, 2]),
        ("row 1 & row 2", [1, 2]),
        ("[rows 2–4]", [2, 3, 4]),
        ("[row 1 through row 3; row 9]", [1, 2, 3, 9]),
        ('["row 1", "row 2"]', [1, 2]),
        ("[Row1,\nRow 3]", [1, 3]),
        ("[row 2, row 1]", [1, 2]),
        ("[row 11 to row 999999999]", [11, 12]),
        ("[row 1])\n\nThe answer is: f_row([Row 1]", [1]),
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
def test_a_choice_is_read_in_all_forms_that_models_write(inside: str, chosen: list[Any]) -> None:
    if isinstance(chosen[0], int):
        assert SelectRow().read_args(f"The answer is : f_row({inside}).", TABLE) == {"rows": chosen}
    else:
        assert SelectColumn().read_args(f"f_col({inside})", TABLE) == {"columns": chosen}


@pytest.mark.parametrize(
    "reply", [reply for line in NO_VOTES.split("\n")[1:-1] for reply in line.split(" | ")]
)
def test_a_choice_that_cannot_be_read_in_full_is_no_vote(reply: str) -> None:
    with pytest.raises(StepRejected):
        (SelectColumn() if "f_col" in reply else SelectRow()).read_args(reply, TABLE)


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


def test_a_table_that_no_blocks_show_is_left_alone() -> None:
    for rows, calls, settings, shown in (
        (1000, 8, {}, "only 500 of 1,000"),
        (100, 3, {"max_rows": 10}, "only 30 of 100"),
        (30, 8, {"max_table_tokens": 1}, "only 0 of 30"),
    ):
        output, client = run(SelectRow(most_calls=calls), numbered(rows), [], **settings)
        assert output["refused"].startswith(shown) and not client.requests


def test_a_table_that_is_shown_whole_is_voted_on_as_published() -> None:
    replies = ["f_row([row 1])", "f_row([row 2])", "f_row([row 2])"]
    for rows, settings in ((100, {}), (700, {"max_rows": None})):
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


def test_a_style_that_no_prompt_shows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("---\nslots: [table]\n---\n# user\n{{ table }}\n")
    file, own = tmp_path / "mine.yaml", "select_column: {table_style: html, prompt: ./own}"
    for setting in ("select_column: {table_style: html}", "select_row: {table_style: json}", own):
        file.write_text(f"extends: wikitq\nname: mine\nmodules:\n  {setting}\n")
        with nullcontext() if setting == own else pytest.raises(InventoryError, match="table_style"):
            Inventory.load(file).check()
    without = SelectRow()
    without.prompt = ""
    with pytest.raises(InventoryError, match="no prompt"):
        without.check()


# Each row has some 2,500 characters, with what is asked for at its end.
LONG = Table(["text"], [[f"{'lorem ipsum ' * 208}(C{row})"] for row in range(50)], "texts")


def codes(messages: Messages) -> str:
    shown = " | ".join(re.findall(r"\((C\d+)\)", case_in(messages)))
    return f'We extract the value from column "text". f_add_column(Code). The value: {shown}'


def test_every_long_row_is_shown_once_within_the_limits_and_gets_its_value() -> None:
    output, client = run(AddColumn(), LONG, codes, max_table_tokens=6000)
    assert output["args"]["values"] == tuple(f"C{row}" for row in range(50))
    shown = [code for request in client.requests for code in re.findall(r"\((C\d+)\)", case_in(request))]
    assert sorted(shown) == sorted(output["args"]["values"]) and 1 < len(client.requests) <= 10
    assert all(sum(map(len, rows_in(request).values())) < 6000 * 6 for request in client.requests)
    _, client = run(AddColumn(), LONG, codes, max_rows=7, max_cell=9)
    rows = [rows_in(request).values() for request in client.requests]
    assert all(len(each) <= 7 and all(len(row) <= 9 for row in each) for each in rows)


@pytest.mark.parametrize(
    ("made", "tokens", "shown"),
    [(AddColumn(max_table_rows=50), 6000, r"\d+"), (AddColumn(), 1000, r"\d+"), (AddColumn(), 100, "0")],
)
def test_rows_that_would_take_too_many_calls_are_refused(made: AddColumn, tokens: int, shown: str) -> None:
    output, client = run(made, LONG, [], max_table_tokens=tokens)
    assert re.fullmatch(rf"only {shown} of 50 rows could be shown", output["refused"]) and not client.requests
