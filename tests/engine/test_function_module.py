"""Functions as modules: what a planner is shown of them, what they take and what they give."""

from __future__ import annotations

import asyncio
import datetime
import functools
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

import chameleon
from chameleon import Executor, Inventory, Module, State, Table, tool
from chameleon.errors import InventoryError
from chameleon.planners.fixed import Fixed

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


def test_what_is_said_of_an_argument_is_a_note() -> None:
    def walk(metres: Annotated[float, "in metres"], trip: Trip) -> None: ...

    (shown,) = Inventory.of([walk]).cards
    assert shown.notes == {"metres": "in metres"} and "-> " not in shown.signature


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


@pytest.mark.parametrize(
    ("args", "output"),
    [
        ({"trip": {"to": {"name": "Oslo"}}, "extra": "2"}, "Oslo 5"),
        ({"trip": {"to": {"name": "Oslo"}, "days": 0}, "extra": 2}, "the argument trip.days of days is '0'"),
        ({"trip": {"to": {"name": "Oslo"}}}, "days lacks the argument 'extra'"),
        ({"trip": {}, "extras": 1}, "days takes no argument 'extras'. Did you mean 'extra'?"),
    ],
)
def test_arguments_come_as_they_are_annotated(args: Any, output: str) -> None:
    def days(trip: Trip, extra: int) -> str:
        return f"{trip.to.name} {trip.days + extra}"

    assert output in ran(days, **args)


def test_the_state_is_given_and_not_shown() -> None:
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


class Taken(BaseModel):
    state: str


class Tells(Module):
    """Tells."""

    Args = Taken

    def run(self, state: State, /, **args: Any) -> Any:
        return args["state"]


def test_an_argument_may_be_called_state_or_self() -> None:
    def capital(state: str, now: State) -> str:
        return f"{state}: {now.input['question']}"

    def mirror(a: int, self: str) -> str:
        return self * a

    assert card(capital).startswith("capital(state: string)") and ran(capital, state="Utah") == "Utah: What?"
    assert ran(mirror, a=2, self="ab") == "abab" and ran(Tells, state="Utah") == "Utah"


@pytest.mark.parametrize(
    ("output", "held"),
    [
        (Place("Oslo", (59.9, 10.7)), {"name": "Oslo", "where": (59.9, 10.7)}),
        (Trip(to=Place("Oslo")), {"to": {"name": "Oslo", "where": None}, "days": 3, "notes": ()}),
        ([Place("Oslo")], ({"name": "Oslo", "where": None},)),
        ({"on": datetime.date(2026, 11, 24), "sky": Sky.RAIN}, {"on": "2026-11-24", "sky": "rain"}),
        (Decimal("1.50"), "1.50"),
        ({3}, (3,)),
        (Path("a.png"), Path("a.png")),
        (OSLO, OSLO),
    ],
)
def test_what_comes_back_is_held_as_json_tables_and_paths(output: Any, held: Any) -> None:
    assert ran(tool(lambda: output, name="give")) == held


def test_a_data_frame_is_a_table() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"City": ["Oslo"], "n": [1]})
    assert ran(tool(lambda: {"found": frame}, name="give"))["found"] == OSLO


def _many(*cities: str) -> None: ...
def _unknown(city: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (_many, "_many takes *cities, and a plan gives arguments by name. Name each argument"),
        (_unknown, "the annotations of _unknown cannot be read: name 'Nowhere' is not defined"),
        (Trip, "Trip is a class, not a function. Subclass chameleon.Module"),
        (Module.run, "Module.run is a method without its object. Pass tool(object.method)."),
        (lambda x: x, 'has no name. Give it one: tool(function, name="…").'),
    ],
)
def test_what_is_no_tool_is_refused_in_a_sentence(given: Any, told: str) -> None:
    with pytest.raises(InventoryError) as caught:
        tool(given)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("reads='table'", "reads of the tool bad has the key 'table'"),
        ("read='input.table'", "a tool has no option 'read'. Did you mean 'reads'?"),
    ],
)
def test_a_bad_tool_is_told_with_its_own_line(options: str, told: str, tmp_path: Path) -> None:
    bad = f"@tool({options})\ndef bad(): ..."
    (tmp_path / "tools.py").write_text(f"from chameleon import tool\n\ndef good(): ...\n\n{bad}\n")
    (tmp_path / "mine.yaml").write_text("name: mine\nplanner: one_shot\nmodules: {good: 'tools:good'}\n")
    with pytest.raises(InventoryError) as caught:
        Inventory.load(tmp_path / "mine.yaml")
    assert str(caught.value).startswith(f"tools.py:5: {told}")


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(InventoryError, match="two modules are called give"):
        Inventory.of([tool(lambda: 1, name="give"), tool(lambda: 2, name="give")])


def test_a_fault_is_told_at_the_users_own_line_with_what_a_function_can_do() -> None:
    pd = pytest.importorskip("pandas")

    def change(state: State) -> Any:
        state.input["question"] = "Which?"  # type: ignore[index]

    def read() -> Any:
        return pd.DataFrame({"a": [1]})["b"]

    line = f"(test_function_module.py, line {change.__code__.co_firstlineno + 1})"
    assert f"name its key in `writes` {line}" in ran(change)
    told = f"KeyError: 'b' (test_function_module.py, line {read.__code__.co_firstlineno + 1})"
    assert told in ran(read) and told in ran(tool(lambda: read(), name="deeper"))


def test_a_function_that_returns_nothing_and_is_the_last_is_told_what_the_answer_is() -> None:
    assert "the last module returned nothing" in ran(tool(lambda: None, name="give"))
