"""Tables for a terminal: in line, within the width, harmless."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError
from chameleon.table import Table, to_terminal


def places(text: str) -> int:
    marks = sum(unicodedata.category(character) in {"Mn", "Me"} for character in text)
    return (
        len(text) - marks + sum(unicodedata.east_asian_width(character) in {"W", "F"} for character in text)
    )


def test_columns_stand_in_line() -> None:
    table = Table(["City", "People"], [["Rome", "2,800,000"], ["北京", "7"], ["Ko\u0308ln", ""]])
    assert to_terminal(table).split("\n") == [
        "City     People",
        "────  ─────────",
        "Rome  2,800,000",
        "北京          7",
        "Ko\u0308ln",
    ]


def test_numbers_are_never_cut_and_hidden_columns_are_named() -> None:
    table = Table(["Name", *(f"Year {n}" for n in range(9))], [["A rather long name", *["$1,234,567"] * 9]])
    lines = to_terminal(table, 40).split("\n")
    assert lines[2] == "A rather long n…  $1,234,567  $1,234,567"
    assert lines[-1] == "… 7 more columns not shown: Year 2, Year 3, Year 4, Year 5, Year 6, …"


def test_rows_beyond_the_limit_are_counted() -> None:
    table = Table(["n"], [[str(n)] for n in range(100)])
    assert to_terminal(table, max_rows=3).endswith("\n… 97 more rows not shown")
    assert to_terminal(table, max_rows=None).count("\n") == 101
    assert to_terminal(Table(["a", "b"])) == "a  b\n─  ─"


def test_a_cell_cannot_steer_the_terminal() -> None:
    table = Table(["\x1b]0;title\x07"], [["\x1b[2Jx\u202egnp\u200b\x9b31m\n\r\ty"], ["\ud800"]])
    text = to_terminal(table)
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert text.count("\n") == 3


def test_a_terminal_may_be_too_narrow() -> None:
    with pytest.raises(InputError, match="at least 20 places, not 19"):
        to_terminal(Table(["a"]), 19)


@given(
    st.integers(1, 12).flatmap(
        lambda width: st.lists(st.lists(st.text(max_size=30), min_size=width, max_size=width), max_size=4)
    ),
    st.integers(20, 120),
)
def test_no_line_of_cells_is_wider_than_the_terminal(rows: list[list[str]], width: int) -> None:
    if not rows:
        return
    table = Table(rows[0], rows[1:])
    lines = to_terminal(table, width).split("\n")
    assert all(places(line) <= width for line in lines[: len(rows) + 1])
    assert all(line.isprintable() for line in lines)
