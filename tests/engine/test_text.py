"""The estimate of tokens: additive over lines, growing with the text, and near what GPT models count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.table import Table, to_text
from chameleon.text import beginning, estimated_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("the city", 2),
        ("Constantinople", 3),
        ("a | b", 3),
        ("1993", 2),
        ("in 1993", 4),
        ("12,467", 3),
        ("-----", 2),
        ("中文", 2),
        ("a\n\nb", 3),
    ],
)
def test_pieces_of_a_text(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


def test_a_table_in_bars() -> None:
    text = to_text(Table(["Kite", "Minutes"], [["red", "12"], ["blue", "15"]]))
    assert estimated_tokens(text) == 14  # as cl100k_base has


@given(st.lists(st.text(st.characters(exclude_characters="\t\n\r"), min_size=1), min_size=1))
def test_lines_add_up(lines: list[str]) -> None:
    each = sum(map(estimated_tokens, lines))
    assert estimated_tokens("\n".join(lines)) == each + len(lines) - 1


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(text: str, more: str) -> None:
    assert estimated_tokens(text) <= estimated_tokens(text + more) <= len(text) + len(more)


@pytest.mark.parametrize(
    ("text", "most", "begun"),
    [
        ("the city of Tartu", 2, "the city"),
        ("the city of Tartu", 4, "the city of Tartu"),
        ("Constantinople", 2, "Constantinop"),  # no word ends before it
        ("in 1993 and 1994", 4, "in 1993"),
        ("a\n\nb c", 2, "a"),
        ("", 1, ""),
    ],
)
def test_the_beginning_ends_with_a_word(text: str, most: int, begun: str) -> None:
    assert beginning(text, most) == begun


def test_blanks_do_not_carry_a_text_past_its_limit() -> None:
    assert len(beginning("a" + " " * 1_000_000 + "b", 10)) <= 80


@given(st.text(), st.integers(1, 30))
def test_a_beginning_keeps_to_the_limit(text: str, most: int) -> None:
    begun = beginning(text, most)
    assert text.startswith(begun) and estimated_tokens(begun) <= most
