"""The parts of the grammar: words, bounds and the shapes of tables."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some

from chameleon import Table
from chameleon.modules.offline.grammar.bounds import find_bounds
from chameleon.modules.offline.grammar.clock import say_minutes
from chameleon.modules.offline.grammar.programs import literal
from chameleon.modules.offline.grammar.shapes import (
    is_headerless,
    is_label,
    spread_columns,
    stem_and_leaf,
    with_first_line,
)
from chameleon.modules.offline.grammar.words import sentences, stem, stems, tokenize


@pytest.mark.parametrize(
    "forms",
    [
        ["vote", "votes", "voted", "voting"],
        ["sale", "sales", "sold", "sell"],
        ["city", "cities"],
        ["box", "boxes"],
        ["stop", "stops", "stopped", "stopping"],
        ["child", "children"],
        ["Tuesday", "Tue"],
        ["Ann", "Ann's"],
    ],
)
def test_forms_of_a_word_have_one_stem(forms: list[str]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("goal", "gold"), ("men", "women"), ("price", "prize"), ("won", "one")]
)
def test_different_words_keep_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_small_words_tell_no_names_apart() -> None:
    assert stems("a ticket for the zoo") == stems("tickets to zoo")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2+9/10 kilograms", Fraction(29, 10)),
        ("3/4 of a pound", Fraction(3, 4)),
        ("$1,155.50 in all", Fraction("1155.5")),
        ("twelve eggs", Fraction(12)),
        ("-4 degrees", Fraction(-4)),
    ],
)
def test_numbers_of_a_question(text: str, number: Fraction) -> None:
    assert tokenize(text)[0].number == number


def test_a_title_does_not_end_a_sentence() -> None:
    text = "Mr. Lee runs the P. E. class at 3.15 P.M. today. How many come?"
    assert sentences(text) == ["Mr. Lee runs the P. E. class at 3.15 P.M. today.", "How many come?"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("at least 20 but fewer than 80 points", ["at least 20", "less than 80"]),
        ("5 or more wins", ["at least 5"]),
        ("between 2 and 6 games", ["between 2 and 6"]),
        ("no more than 3", ["at most 3"]),
        ("older than 30", ["more than 30"]),
        ("cheaper than $5", ["less than 5"]),
        ("exactly twice", ["exactly 2"]),
        ("since 2019", ["at least 2019"]),
        ("Room 7 on floor 3", []),
    ],
)
def test_bounds(text: str, said: list[str]) -> None:
    words = tokenize(text)
    assert [bound.say() for bound in find_bounds(words, range(len(words)))] == said


@given(some.fractions(max_denominator=1000))
def test_a_literal_is_exact(number: Fraction) -> None:
    text = literal(number)
    inner = text.removeprefix('Fraction("').removesuffix('")')
    assert Fraction(inner) == number


@given(some.text(max_size=80))
def test_any_text_has_words_and_sentences(text: str) -> None:
    assert all(word.text and stem(word.text) is not None for word in tokenize(text))
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (0, "0 minutes"),
        (45, "45 minutes"),
        (60, "1 hour"),
        (135, "2 hours and 15 minutes"),
    ],
)
def test_durations(minutes: int, said: str) -> None:
    assert say_minutes(minutes) == said


def test_a_price_list_without_a_header_keeps_its_first_line() -> None:
    table = Table(["Apple", "$0.50"], [["Pear", "$0.75"]])
    assert is_headerless(table)
    assert with_first_line(table).rows == (("Apple", "$0.50"), ("Pear", "$0.75"))


@pytest.mark.parametrize(
    "header", [["State", "1990", "2000"], ["Item", "Price", "Stock"], ["", "Men", "Women"]]
)
def test_a_header_stays_a_header(header: list[str]) -> None:
    assert not is_headerless(Table(header, [["a", "1", "2"]]))


def test_stems_and_leaves_become_numbers() -> None:
    plot = stem_and_leaf(Table(["Stem", "Leaf "], [["0", "7"], ["1", "2, 2, 9"], ["3", ""]]))
    assert plot is not None
    assert plot.numbers == (7, 12, 12, 19)


@pytest.mark.parametrize(
    ("name", "names_rows"),
    [("Year", True), ("Order ID", True), ("Rank", True), ("Number of years", False), ("Points", False)],
)
def test_numbers_that_name_rows(name: str, names_rows: bool) -> None:
    table = Table([name], [["1"], ["2"]])
    assert is_label(table.columns[0]) == names_rows


@pytest.mark.parametrize(
    ("header", "count"),
    [
        (["Zoo", "Brown bears", "Grizzly bears"], 2),
        (["Crop", "2005", "2006"], 2),
        (["Category", "January", "February"], 2),
        (["Team", "Goals", "Points"], 0),
    ],
)
def test_columns_that_split_one_quantity(header: list[str], count: int) -> None:
    assert len(spread_columns(Table(header, [["a", "1", "2"]]))) == count
