"""What a schema and a signature say of arguments that are nested, chosen by a key, or have odd defaults."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from chameleon import Inventory, tool
from chameleon.planners.plan_schema import plan_schema


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Point(BaseModel):
    x: float


class Line(BaseModel):
    start: Point


class Shape(BaseModel):
    line: Line


class Node(BaseModel):
    following: Node | None = None


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


@tool
def register(
    pet: Pet,
    born: date,
    code: Annotated[str, Field(pattern="a+")],
    name: str,
    kind: Literal["x"] = "x",
    weight: float = object(),  # type: ignore[assignment]
) -> None:
    """Registers a pet."""


@tool
def draw(shapes: list[Shape], node: Node) -> None:
    """Draws shapes."""


CARDS = {card.name: card for card in Inventory.of([register, draw]).cards}


def test_types_that_are_not_deep_are_written_out_and_circles_end() -> None:
    assert CARDS["draw"].signature.startswith(
        "(shapes: [{line: {start: {x: number}}}], node: {following?: any | null})"
    )


def test_a_default_of_another_kind_is_left_to_the_function() -> None:
    arguments = CARDS["register"].arguments
    assert arguments is not None and arguments.schema["properties"]["weight"] == {"type": "number"}


@pytest.mark.parametrize("default", [float("inf"), float("nan")])
def test_a_default_that_json_has_no_number_for_is_left_to_the_function(default: float) -> None:
    def bounded(to: float = default) -> None:
        """Bounds."""

    [card] = Inventory.of([bounded]).cards
    assert card.signature == "(to?: number)"


def held_to() -> Any:
    schema = plan_schema([*CARDS.values()], 3)
    return schema, schema["properties"]["modules"]["items"]["anyOf"][0]["properties"]["args"]["properties"]


@pytest.mark.parametrize(
    ("argument", "is_offered"),
    [("pet", True), ("born", True), ("code", True), ("kind", True), ("weight", True), ("name", False)],
)
def test_a_reference_is_offered_where_not_every_text_fits(argument: str, is_offered: bool) -> None:
    kinds = held_to()[1][argument].get("anyOf", [])
    assert any("$NAME.KEY" in each.get("description", "") for each in kinds) is is_offered


def test_types_that_are_renamed_are_renamed_wherever_they_are_named() -> None:
    schema, arguments = held_to()
    kinds = arguments["pet"]["anyOf"][0]
    named = [*kinds["discriminator"]["mapping"].values(), *(each["$ref"] for each in kinds["oneOf"])]
    assert len(named) == 4 and {each.removeprefix("#/$defs/") for each in named} <= set(schema["$defs"])
