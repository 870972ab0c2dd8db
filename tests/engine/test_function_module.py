"""Functions as modules: what is shown of them, what they take and give, and references to earlier steps."""

from __future__ import annotations

import asyncio
import datetime
import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

import chameleon
from chameleon import Executor, Inventory, Module, State, Table, tool
from chameleon.errors import InventoryError
from chameleon.planners.fixed import Fixed
from chameleon.planners.plan_schema import plan_schema

GIVEN = {"question": "What?"}
OSLO = Table(["City", "n"], [["Oslo", "1"]])


class Sky(Enum):
    RAIN = "rain"


@dataclass
class Weather:
    sky: str
    temp: float


@dataclass
class Place:
    name: str
    where: tuple[float, float] | None = None


class Trip(BaseModel):
    to: Place
    days: int = Field(3, ge=1)
    notes: list[str] = Field([], description="whatever comes to mind")


def forecast(city: str, days: int = 3, unit: Literal["C", "F"] = "C", at: str | None = None) -> Weather:
    """Tells the weather
    in a city."""
    raise NotImplementedError


def book(trip: Trip, places: list[Place], fees: dict[str, float]) -> Table:
    """Books."""
    raise NotImplementedError


def card(function: Callable[..., Any]) -> str:
    (shown,) = Inventory.of([function]).cards
    return f"{shown.name}{shown.signature}: {shown.description}"


def ran(function: Callable[..., Any], **args: Any) -> Any:
    """Return the output of a step with these arguments, or the error of the run."""
    name = next(iter(Inventory.of([function]).modules))
    state = Executor(Inventory.of([function], Fixed([{"module": name, "args": args}]))).run(GIVEN)
    return state.why or state.answer


def test_the_card_has_the_signature_the_docstring_and_what_comes_back() -> None:
    def walk(metres: Annotated[float, "in metres"], trip: Trip) -> None: ...

    (shown,) = Inventory.of([walk]).cards
    assert shown.notes == {"metres": "in metres"} and "-> " not in shown.signature
    place = "{name: string, where?: [any] | null}"
    assert card(forecast) == (
        'forecast(city: string, days: integer = 3, unit: "C" | "F" = "C", at?: string)'
        " -> {sky: string, temp: number}: Tells the weather in a city."
    )
    assert card(book) == (
        f"book(trip: {{to: {place}, days?: integer, notes?: [string]}}, places: [{place}], "
        "fees: {string: number}) -> Table: Books."
    )
    assert card(tool(lambda x: x, name="same", description="Gives it.")) == "same(x: any): Gives it."


def test_it_is_called_as_it_is_written() -> None:
    class Purse:
        """Holds money."""

        held = 5

        def take(self, euros: int) -> int:
            return self.held - euros

        def __call__(self, euros: int) -> int:
            return euros

    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    async def later(a: int) -> int:
        await asyncio.sleep(0)
        return a

    def by_place(a: int, /, b: int = 2) -> int:
        return a - b

    assert ran(Purse().take, euros=2) == 3 and ran(Purse(), euros=2) == 2
    assert card(Purse()) == "purse(euros: integer) -> integer: Holds money."
    assert ran(functools.partial(add, b=2), a=1) == 3 and card(functools.partial(add, b=2)).endswith("Adds.")
    assert ran(later, a=4) == 4 and ran(by_place, a=5) == 3
    assert tool(add)(1, 2) == 3, "it is still the function"


OF_DAYS: list[tuple[dict[str, Any], str]] = [
    ({"trip": {"to": {"name": "Oslo"}}, "extra": "2"}, "Oslo 5"),
    ({"trip": {"to": {"name": "Oslo"}, "days": 0}, "extra": 2}, "the argument trip.days of days is '0'"),
    ({"trip": {"to": {"name": "Oslo"}}}, "days is missing the argument 'extra'"),
    ({"trip": {}, "extras": 1}, "days takes no argument 'extras'. Did you mean 'extra'?"),
]


def test_arguments_come_as_they_are_annotated() -> None:
    def days(trip: Trip, extra: int) -> str:
        return f"{trip.to.name} {trip.days + extra}"

    assert all(output in ran(days, **args) for args, output in OF_DAYS)


class Taken(BaseModel):
    state: str


class Tells(Module):
    """Tells."""

    Args = Taken

    def run(self, state: State, /, **args: Any) -> Any:
        return args["state"]


def test_the_state_is_given_and_not_shown_and_an_argument_may_be_called_state_or_self() -> None:
    def so(word: str, state) -> str:  # type: ignore[no-untyped-def]
        return f"{word} {state.input['question']}"

    def optional(word: str, state: State | None = None, /) -> str:
        return so(word, state)

    def annotated(word: str, now: chameleon.State) -> str:
        return so(word, now)

    def unresolved(now: typing_only.State | None = None) -> str:  # type: ignore[name-defined]  # noqa: F821
        return so("So", now)

    for each in (so, optional, annotated):
        assert ran(each, word="So") == "So What?" and card(each).startswith(f"{each.__name__}(word: string)")
    assert ran(unresolved) == "So What?" and card(unresolved).startswith("unresolved:")
    assert "does not declare" in ran(tool(so, reads="cache.named?"), word="So")

    def capital(state: str, now: State) -> str:
        return f"{state}: {now.input['question']}"

    def mirror(a: int, self: str) -> str:
        return self * a

    assert card(capital).startswith("capital(state: string)") and ran(capital, state="Utah") == "Utah: What?"
    assert ran(mirror, a=2, self="ab") == "abab" and ran(Tells, state="Utah") == "Utah"


HELD = [
    (Place("Oslo", (59.9, 10.7)), {"name": "Oslo", "where": (59.9, 10.7)}),
    (Trip(to=Place("Oslo")), {"to": {"name": "Oslo", "where": None}, "days": 3, "notes": ()}),
    ([Place("Oslo")], ({"name": "Oslo", "where": None},)),
    ({"on": datetime.date(2026, 11, 24), "sky": Sky.RAIN}, {"on": "2026-11-24", "sky": "rain"}),
    *((Decimal("1.50"), "1.50"), ({3}, (3,)), (Path("a.png"), Path("a.png")), (OSLO, OSLO)),
]


@pytest.mark.parametrize(("output", "held"), HELD)
def test_what_comes_back_is_held_as_json_tables_and_paths(output: Any, held: Any) -> None:
    assert ran(tool(lambda: output, name="give")) == held
    frame = pytest.importorskip("pandas").DataFrame({"City": ["Oslo"], "n": [1]})
    assert ran(tool(lambda: {"found": frame}, name="give"))["found"] == OSLO


def _many(*cities: str) -> None: ...
def _unknown(city: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821


NO_TOOLS: list[tuple[Any, str]] = [
    (_many, "_many takes *cities, but a plan gives arguments by name. Name each argument"),
    (_unknown, "the annotations of _unknown cannot be read: name 'Nowhere' is not defined"),
    (Trip, "Trip is a class, not a function. Subclass chameleon.Module"),
    (Module.run, "Module.run is a method without its object. Pass tool(object.method)."),
    (lambda x: x, 'has no name. Give it one: tool(function, name="…").'),
]


@pytest.mark.parametrize(("given", "told"), NO_TOOLS)
def test_what_is_no_tool_is_refused_in_a_sentence(given: Any, told: str) -> None:
    with pytest.raises(InventoryError) as caught:
        tool(given)
    assert told in str(caught.value)
    with pytest.raises(InventoryError, match="two modules are named give"):
        Inventory.of([tool(lambda: 1, name="give"), tool(lambda: 2, name="give")])


def test_a_bad_tool_is_told_with_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("name: mine\nplanner: one_shot\nmodules: {good: 'tools:good'}\n")
    for option, told in (("reads", "reads of the tool bad has"), ("read", "a tool has no option 'read'")):
        bad = f"@tool({option}='table')\ndef bad(): ..."
        (tmp_path / "tools.py").write_text(f"from chameleon import tool\n\ndef good(): ...\n\n{bad}\n")
        with pytest.raises(InventoryError, match=rf"^tools\.py:5: {told}"):
            Inventory.load(tmp_path / "mine.yaml")


def test_a_fault_is_told_at_the_users_own_line_with_what_a_function_can_do() -> None:
    pd = pytest.importorskip("pandas")

    def change(state: State) -> Any:
        state.input["question"] = "Which?"  # type: ignore[index]

    def read() -> Any:
        return pd.DataFrame({"a": [1]})["b"]

    line = f"(test_function_module.py, line {change.__code__.co_firstlineno + 1})"
    assert f"name its key in `writes` {line}" in ran(change)
    assert "the last module returned nothing" in ran(tool(lambda: None, name="give"))
    told = f"KeyError: 'b' (test_function_module.py, line {read.__code__.co_firstlineno + 1})"
    assert told in ran(read) and told in ran(tool(lambda: read(), name="deeper"))


FOUND: dict[str, Any] = {"temp": 4, "days": [{"max": 7}, {"max": 9}], "a-b": 1, "wind speed": 6}
numbers = count(1)
TOOLS = [tool(lambda: FOUND, name="weather"), tool(lambda: OSLO, name="table")]
TOOLS += [tool(lambda: next(numbers), name="counted"), tool(lambda what: {"said": what}, name="say")]
TEXTS = ("in $weather", "$weather and wind", "$rain.of today", "$rain", "$5", "$", "$say", "$tables")


def run(*plan: Any) -> State:
    return Executor(Inventory.of(TOOLS, Fixed([*plan]))).run(GIVEN)


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
        *(("$$$5", "$$5"), ("$Question", "$Question")),
        ('$weather["wind speed"]', 6),
        ("$weather['days'][1][\"max\"]", 9),
        ("$table", OSLO),
        ("$table.rows.0.0", "Oslo"),
        ("$table.header", ("City", "n")),
        *((text, text) for text in TEXTS),  # the last two are no earlier step, and no step of this plan
    ],
)
def test_a_reference_is_what_an_earlier_step_gave_and_all_else_is_text(written: Any, value: Any) -> None:
    assert said(written, "weather", "table") == value


def test_of_a_step_that_ran_twice_the_latest_counts() -> None:
    assert said("$counted", "counted", "counted") == run("counted").answer - 1


def test_a_path_that_is_not_there_is_told_with_what_is() -> None:
    for written, told in {
        "$weather.tmp": "$weather has no 'tmp'. Did you mean 'temp'?",
        "$weather.days.2": "$weather.days is a list of 2 and has no '2'",
        "$weather.temp.x": "$weather.temp is not a mapping, list or table",
        '$weather["wind speed"].x': '$weather["wind speed"] is not a mapping, list or table',
        "$table.cell": "$table has no 'cell'. There are: caption, header, rows.",
    }.items():
        assert told in said(written, "weather", "table")


@pytest.mark.parametrize("path", ["weather", "weather.temp", "Weather['temp']", "input.question", "question"])
def test_a_reference_to_a_step_that_comes_later_or_to_an_input_is_refused(path: str) -> None:
    written = f"${path}"
    state = run({"module": "say", "args": {"what": written}}, "weather")
    told = "names an input" if "question" in path else "refers to weather, which does not come before"
    assert f"{written!r} {told}" in state.why and said(f"${written}") == written


@pytest.mark.parametrize("path", ["weather.wind speed", "weather.n C", "Weather[x]", "weather.", "weather[w"])
def test_a_text_that_begins_as_a_reference_and_is_none_is_refused_before_anything_runs(path: str) -> None:
    for value in (f"${path}", [{"deep": f"${path}"}]):
        state = run("weather", "counted", {"module": "say", "args": {"what": value}})
        assert repr(f"${path}") in state.why and '"$$…"' in state.why and not state.history


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


def test_types_are_written_out_and_renamed_wherever_they_are_named() -> None:
    shapes, node = "shapes: [{line: {start: {x: number}}}]", "node: {following?: any | null}"
    assert CARDS["draw"].signature.startswith(f"({shapes}, {node})")
    arguments = CARDS["register"].arguments
    assert arguments is not None and arguments.schema["properties"]["weight"] == {"type": "number"}
    kinds = ARGUMENTS["pet"]["anyOf"][0]
    named = [*kinds["discriminator"]["mapping"].values(), *(each["$ref"] for each in kinds["oneOf"])]
    assert len(named) == 4 and {each.removeprefix("#/$defs/") for each in named} <= set(SCHEMA["$defs"])


@pytest.mark.parametrize("argument", ["pet", "born", "code", "kind", "weight", "name"])
def test_a_reference_is_offered_where_not_every_text_fits(argument: str) -> None:
    kinds = ARGUMENTS[argument].get("anyOf", [])
    assert any("$NAME.KEY" in each.get("description", "") for each in kinds) is (argument != "name")
