"""The parts of reading by words: tokens, dates, conditions and the kinds of columns."""

from __future__ import annotations

import pytest

from chameleon import Table
from chameleon.modules.offline.lexical.calendar import Date
from chameleon.modules.offline.lexical.conditions import Condition, date_of, rows_where
from chameleon.modules.offline.lexical.fields import fields_of, total_rows
from chameleon.modules.offline.lexical.reading import Link, Question, Reading
from chameleon.modules.offline.lexical.units import units_of
from chameleon.modules.offline.lexical.verdict import compared
from chameleon.modules.offline.lexical.words import key_of, tokens_of
from tests.modules.offline.asked import table

EPISODES, LEAGUE, SCHEDULE = map(table, ("episodes", "told league", "schedule"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,203", "1203"),
        ("third", "3rd"),
        ("seventy - one", "71"),
        ("thirty six", "36"),
        ("may 2 , 1999", "2 may 1999"),
        ("2 may 1999", "1999-05-02"),
        ("The Rovers", "rovers"),
        ("played", "plays"),
        ("12.50", "12.5"),
    ],
)
def test_two_spellings_of_one_thing_have_one_key(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@pytest.mark.parametrize(
    ("one", "other"), [("1", "first"), ("5.77", "577"), ("may 2", "may 3"), ("x - b", "b")]
)
def test_different_things_have_different_keys(one: str, other: str) -> None:
    assert key_of(one) != key_of(other)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("april 9", Date(0, 4, 9)),
        ("9th of april 2008", Date(2008, 4, 9)),
        ("april 2008", Date(2008, 4, 0)),
        ("2008 - 12 - 03", Date(2008, 12, 3)),
        ("sept 2 , 1972", Date(1972, 9, 2)),
        ("1997", Date(1997, 0, 0)),
        ("no date", None),
    ],
)
def test_dates_are_read_whole_or_in_part(text: str, date: Date | None) -> None:
    assert date_of(text) == date


def test_a_month_fits_its_days_and_not_others() -> None:
    rows = rows_where(SCHEDULE, [Condition("date", "on", "september 2011")])
    assert rows == [0, 1, 2]


def test_conditions_compare_numbers_dates_and_names() -> None:
    assert rows_where(LEAGUE, [Condition("points", ">", "31")]) == [1, 3]
    assert rows_where(LEAGUE, [Condition("town", "is", "Leith", negated=True)]) == [1, 3, 4]
    assert rows_where(LEAGUE, [Condition("club", "is", "rovers", also=("united",))]) == [0, 2]
    assert rows_where(EPISODES, [Condition("original air date", "before", "17 march 2009")]) == [0, 1]
    assert rows_where(LEAGUE, [Condition("nowhere", "is", "x")]) == []


def test_columns_have_the_kind_of_most_of_their_cells() -> None:
    kinds = {field.name: field.datatype for field in fields_of(SCHEDULE)}
    assert kinds["date"] == "date"
    assert kinds["attendance"] == "number"
    assert kinds["opponent"] == "text"


def test_totals_and_repeated_headers_are_no_rows_of_their_own() -> None:
    table = Table(["club", "points"], [["club", "points"], ["rovers", "3"], ["total", "3"]])
    assert total_rows(table) == {0, 2}


def test_a_reading_survives_being_written_as_json() -> None:
    where = (Condition("town", "is", "leith", also=("granton",)),)
    reading = Reading(
        "count",
        (Link("select_row", where=where), Link("sort_by", columns=("points",), descending=True)),
        (Question("count", where=where, sign=">=", number="2", place=2),),
        sure=0.8,
    )
    assert Reading.from_json(reading.to_json()) == reading


def test_numbers_that_differ_by_rounding_are_equal() -> None:
    assert compared("=", 15.67, 15.6701)
    assert compared("<", 3, 4)
    assert not compared("<", 4, 4.000001)


def test_signs_that_stand_for_no_number_do_no_harm() -> None:
    assert [token.number for token in tokens_of("² ½ ٣ --")][:2] == [None, None]


def test_a_unit_in_the_plural_is_the_same() -> None:
    units = {field.name: units_of(field) for field in fields_of(table("goods"))}
    assert units == {"Product": (), "Weight": ("g", "kg"), "Price": ("$",), "Wins": ("win",)}


def test_places_have_no_unit() -> None:
    (field,) = fields_of(Table(["Place"], [["1st"], ["2nd"], ["3rd"]]))
    assert units_of(field) == ()
