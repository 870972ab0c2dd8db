"""References to earlier steps: what "$name.path" stands for, and what is text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor, Inventory, State, Table, tool
from chameleon.planners.fixed import Fixed

FOUND: dict[str, Any] = {"temp": 4, "days": [{"max": 7}, {"max": 9}], "a-b": 1, "wind speed": 6}
TABLE = Table(["City", "n"], [["Oslo", "1"]])
count = 0


@tool
def weather() -> Any:
    """Tells the weather."""
    return FOUND


@tool
def table() -> Table:
    """Gives a table."""
    return TABLE


@tool
def counted() -> int:
    """Counts its calls."""
    global count
    count += 1
    return count


@tool
def say(what: Any) -> Any:
    """Gives what it is given."""
    return {"said": what}


def run(*plan: Any) -> State:
    return Executor(Inventory.of([weather, table, counted, say], Fixed([*plan]))).run({"question": "What?"})


def said(what: Any, *before: Any) -> Any:
    """Return what `say` was given, or the error of the run."""
    state = run(*before, {"module": "say", "args": {"what": what}})
    assert state.ended is not None
    return str(state.ended.error) if state.ended.error else state.answer["said"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("$weather", {"temp": 4, "days": ({"max": 7}, {"max": 9}), "a-b": 1, "wind speed": 6}),
        ("$weather.temp", 4),
        ("$weather.days.1.max", 9),
        ("$weather.days[1].max", 9),
        ("$weather.a-b", 1),
        ("$Weather.temp", 4),  # as models write names
        (["$weather.temp", {"deep": "$weather.temp"}], (4, {"deep": 4})),
        ("$$weather.temp", "$weather.temp"),
        ("$$$5", "$$5"),
        ("in $weather", "in $weather"),
        ('$weather["wind speed"]', 6),
        ("$weather['days'][1][\"max\"]", 9),
        ("$$weather.temp degrees", "$weather.temp degrees"),
        ("$weather and wind", "$weather and wind"),
        ("$rain.of today", "$rain.of today"),
        ("$rain", "$rain"),
        ("$5", "$5"),
        ("$", "$"),
        ("$say", "$say"),  # which is no earlier step
        ("$tables", "$tables"),  # which is none of this plan
        ("$table", TABLE),
        ("$table.rows.0.0", "Oslo"),
        ("$table.header", ("City", "n")),
    ],
)
def test_a_reference_is_what_an_earlier_step_gave_and_all_else_is_text(written: Any, value: Any) -> None:
    assert said(written, "weather", "table") == value


def test_of_a_step_that_ran_twice_the_latest_counts() -> None:
    first = run("counted").answer
    assert said("$counted", "counted", "counted") == first + 2


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("$weather.tmp", "$weather has no 'tmp'. Did you mean 'temp'?"),
        ("$weather.days.2", "$weather.days is a list of 2 and has no '2'; the first is $weather.days.0"),
        ("$weather.temp.x", "$weather.temp is no mapping, list or table, and nothing in it is called 'x'"),
        ('$weather["wind sped"]', "$weather has no 'wind sped'. Did you mean 'wind speed'?"),
        ('$weather["wind speed"].x', '$weather["wind speed"] is no mapping, list or table'),
        ("$table.cell", "$table has no 'cell'. There are: caption, header, rows."),
    ],
)
def test_a_path_that_is_not_there_is_told_with_what_is(written: str, told: str) -> None:
    assert told in said(written, "weather", "table")


@pytest.mark.parametrize("written", ["$weather", "$weather.temp", "$Weather['wind speed']"])
def test_a_reference_to_a_step_that_comes_later_is_refused(written: str) -> None:
    state = run({"module": "say", "args": {"what": written}}, "weather")
    told = str(state.ended and state.ended.error)
    assert f"{written!r} refers to weather, which does not come before" in told
    assert said(f"${written}") == written


@pytest.mark.parametrize(
    "written", ["$weather.wind speed", "$weather.temp degrees", "$Weather[x]", "$weather.", "$weather[wind"]
)
def test_a_text_that_begins_as_a_reference_and_is_none_is_refused_before_anything_runs(written: str) -> None:
    before = count
    for value in (written, [{"deep": written}]):
        told = said(value, "weather", "counted")
        assert repr(written) in told and 'eather.KEY"' in told and '"$$…"' in told
    assert count == before


@pytest.mark.parametrize("written", ["$question", "$input.question", "$Question"])
def test_a_dollar_stands_for_no_input(written: str) -> None:
    told = said(written)
    is_refused = f'{written!r} names an input, and "$" stands for the output of an earlier step. ' in told
    assert is_refused is (written != "$Question") and said(f"${written}") == written


@given(st.text())
def test_every_text_can_be_written(text: str) -> None:
    written = f"${text}" if text.startswith("$") else text
    assert said(written, "weather") == text
