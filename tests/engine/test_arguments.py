"""References to earlier steps in arguments, and what schemas and signatures say of arguments."""

from __future__ import annotations

from datetime import date
from itertools import count
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from chameleon import Executor, Inventory, State, Table, tool
from chameleon.planners.fixed import Fixed
from chameleon.planners.plan_schema import plan_schema

FOUND: dict[str, Any] = {"temp": 4, "days": [{"max": 7}, {"max": 9}], "a-b": 1, "wind speed": 6}
TABLE = Table(["City", "n"], [["Oslo", "1"]])
numbers = count(1)
TOOLS = [tool(lambda: FOUND, name="weather"), tool(lambda: TABLE, name="table")]
TOOLS += [tool(lambda: next(numbers), name="counted"), tool(lambda what: {"said": what}, name="say")]
TEXTS = ("in $weather", "$weather and wind", "$rain.of today", "$rain", "$5", "$", "$say", "$tables")


def run(*plan: Any) -> State:
    return Executor(Inventory.of(TOOLS, Fixed([*plan]))).run({"question": "What?"})


def said(what: Any, *before: Any) -> Any:
    """Return what `say` was given, or the error of the run."""
    state = run(*before, {"module": "say", "args": {"what": what}})
    return state.why or state.answer["said"]


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
        ('$weather["wind speed"]', 6),
        ("$weather['days'][1][\"max\"]", 9),
        ("$table", TABLE),
        ("$table.rows.0.0", "Oslo"),
        ("$table.header", ("City", "n")),
        *((text, text) for text in TEXTS),  # the last two are no earlier step, and no step of this plan
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
        ("$weather.days.2", "$weather.days is a list of 2 and has no '2'"),
        ("$weather.temp.x", "$weather.temp is not a mapping, list or table"),
        ('$weather["wind speed"].x', '$weather["wind speed"] is not a mapping, list or table'),
        ("$table.cell", "$table has no 'cell'. There are: caption, header, rows."),
    ],
)
def test_a_path_that_is_not_there_is_told_with_what_is(written: str, told: str) -> None:
    assert told in said(written, "weather", "table")


@pytest.mark.parametrize("written", ["$weather", "$weather.temp", "$Weather['wind speed']"])
def test_a_reference_to_a_step_that_comes_later_is_refused(written: str) -> None:
    state = run({"module": "say", "args": {"what": written}}, "weather")
    assert f"{written!r} refers to weather, which does not come before" in state.why
    assert said(f"${written}") == written


@pytest.mark.parametrize("path", ["weather.wind speed", "weather.n C", "Weather[x]", "weather.", "weather[w"])
def test_a_text_that_begins_as_a_reference_and_is_none_is_refused_before_anything_runs(path: str) -> None:
    for value in (f"${path}", [{"deep": f"${path}"}]):
        state = run("weather", "counted", {"module": "say", "args": {"what": value}})
        assert repr(f"${path}") in state.why and '"$$…"' in state.why and not state.history


@pytest.mark.parametrize("written", ["$question", "$input.question", "$Question"])
def test_a_dollar_stands_for_no_input(written: str) -> None:
    assert (f"{written!r} names an input" in said(written)) is (written != "$Question")
    assert said(f"${written}") == written


@given(st.text())
def test_every_text_can_be_written(text: str) -> None:
    assert said(f"${text}" if text.startswith("$") else text, "weather") == text


Cat, Dog = (create_model(kind, kind=(Literal[kind], ...)) for kind in ("cat", "dog"))
Line = create_model("Line", start=(create_model("Point", x=(float, ...)), ...))
Shape = create_model("Shape", line=(Line, ...))


class Node(BaseModel):
    following: Node | None = None


def register(
    pet: Annotated[Cat | Dog, Field(discriminator="kind")],
    born: date,
    code: Annotated[str, Field(pattern="a+")],
    name: str,
    kind: Literal["x"] = "x",
    weight: float = object(),  # type: ignore[assignment]
) -> None: ...


def draw(shapes: list[Shape], node: Node) -> None: ...


CARDS = {card.name: card for card in Inventory.of([register, draw]).cards}
SCHEMA = plan_schema([*CARDS.values()], 3)
ARGUMENTS = SCHEMA["properties"]["modules"]["items"]["anyOf"][0]["properties"]["args"]["properties"]


def test_types_are_written_out_circles_end_and_an_odd_default_is_left_to_the_function() -> None:
    shapes, node = "shapes: [{line: {start: {x: number}}}]", "node: {following?: any | null}"
    assert CARDS["draw"].signature.startswith(f"({shapes}, {node})")
    arguments = CARDS["register"].arguments
    assert arguments is not None and arguments.schema["properties"]["weight"] == {"type": "number"}


@pytest.mark.parametrize("argument", ["pet", "born", "code", "kind", "weight", "name"])
def test_a_reference_is_offered_where_not_every_text_fits(argument: str) -> None:
    kinds = ARGUMENTS[argument].get("anyOf", [])
    assert any("$NAME.KEY" in each.get("description", "") for each in kinds) is (argument != "name")


def test_types_that_are_renamed_are_renamed_wherever_they_are_named() -> None:
    kinds = ARGUMENTS["pet"]["anyOf"][0]
    named = [*kinds["discriminator"]["mapping"].values(), *(each["$ref"] for each in kinds["oneOf"])]
    assert len(named) == 4 and {each.removeprefix("#/$defs/") for each in named} <= set(SCHEMA["$defs"])
