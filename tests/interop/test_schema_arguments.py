"""Arguments by the schemas of strangers: what planners see, which names are taken, what is refused."""

from __future__ import annotations

import time
from typing import Any

import pytest

from chameleon.errors import InventoryError, PlanError
from chameleon.interop.schema_arguments import SchemaArguments

pytest.importorskip("jsonschema")
TEXT, COUNT = {"type": "string"}, {"type": "integer"}
DRAFT = "http://json-schema.org/draft"
ABOVE = {"type": "number", "minimum": 0, "exclusiveMinimum": True}
ROW = {"properties": {"a": TEXT}, "required": ["a"]}


def of(schema: dict[str, Any]) -> SchemaArguments:
    found = SchemaArguments.of_schema("tool", {"type": "object", **schema})
    assert found is not None
    return found


def fault(schema: dict[str, Any], **given: Any) -> str:
    try:
        of(schema).check(given)
    except PlanError as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize(
    ("schema", "signature"),
    [
        ({**ROW, "properties": {"a": TEXT, "b": {"default": 1, **COUNT}}}, "(a: string, b: integer = 1)"),
        (
            {"properties": {"a": {"$ref": "#/$defs/R"}}, "$defs": {"R": {"enum": ["x", "y"]}}},
            '(a?: "x" | "y")',
        ),
        ({"allOf": [ROW, {"properties": {"b": TEXT}}]}, "(a?: string, b?: string)"),
        ({"oneOf": [ROW, {"properties": {"a": COUNT}}]}, "(a?: string | integer)"),
        ({"$schema": f"{DRAFT}-04/schema#", "properties": {"a": ABOVE}}, "(a?: number)"),
        ({"$schema": f"{DRAFT}-07/schema#", "properties": {"a": {"items": [TEXT, TEXT]}}}, "(a?: any)"),
        ({"properties": {"a": True}, "additionalProperties": {}}, "(a?: any)"),
        ({"properties": {"a": {"enum": ["x\x1b[2J\u202e"]}}}, '(a?: "x\\u001b[2J\N{REPLACEMENT CHARACTER}")'),
    ],
)
def test_planners_see_one_plain_object(schema: dict[str, Any], signature: str) -> None:
    found = of(schema)
    assert found.signature == signature
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & found.schema.keys()  # which providers refuse


def test_what_is_not_understood_is_passed_on() -> None:
    part = {**TEXT, "pattern": "^(a+)+$", "format": "new", "x-mine": [1], "contains": {"minimum": 2}}
    assert of({"properties": {"a": part}}).schema["properties"]["a"] == part


def test_notes_are_harmless_lines() -> None:
    (note,) = of({"properties": {"a": {"description": "one\x1b[2J\ntwo" + "x" * 2_000}}}).notes.values()
    assert note.startswith("one[2J two") and len(note) <= 1_000


@pytest.mark.parametrize(
    ("schema", "given", "told"),
    [
        (ROW, {"a": 1}, ""),  # values are the tool's to check
        ({"patternProperties": {"^x-": TEXT}, "additionalProperties": False}, {"x-1": "y"}, ""),
        ({"$ref": "#/$defs/Row", "$defs": {"Row": ROW}}, {"a": "x"}, ""),
        ({"properties": {"pattern": TEXT, "format": TEXT}}, {"pattern": "a", "format": "b"}, ""),
        ({"anyOf": [ROW]}, {"a": "x", "c": 1}, "takes no argument 'c'"),
        (ROW, {}, "tool lacks the argument 'a'. It is tool(a: string)."),
    ],
)
def test_names_are_checked(schema: Any, given: dict[str, Any], told: str) -> None:
    assert told in fault(schema, **given) and bool(told) == bool(fault(schema, **given))


def doubled(levels: int) -> dict[str, Any]:
    """Return a schema that refers twice to one that refers twice to one …"""
    parts: dict[str, Any] = {
        f"x{each}": {"anyOf": [{"$ref": f"#/$defs/x{each + 1}"}] * 2} for each in range(levels)
    }
    return {"properties": {"a": {"$ref": "#/$defs/x0"}}, "$defs": {**parts, f"x{levels}": TEXT}}


def wide(levels: int) -> dict[str, Any]:
    """Return a schema whose properties have 200 properties, which have 200 properties …"""
    parts = [
        {"type": "object", "properties": {f"p{each}": {"$ref": f"#/$defs/d{level}"} for each in range(200)}}
        for level in range(levels)
    ]
    return {**parts[0], "$defs": {f"d{level}": part for level, part in enumerate([*parts[1:], TEXT])}}


@pytest.mark.parametrize(
    "schema",
    [
        *(doubled(28), wide(5), {**ROW, "properties": {"a": {"items": {"$ref": "#"}}}}),
        {"properties": {"a": {"$ref": "#/properties/a"}}},
    ],
)
def test_a_signature_ends(schema: dict[str, Any]) -> None:
    begun = time.monotonic()
    assert len(of(schema).signature) <= 20_000
    assert time.monotonic() - begun < 5


def nested(levels: int) -> dict[str, Any]:
    return {"properties": {"a": nested(levels - 1)}} if levels else TEXT


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string"}, "it does not describe an object"),
        ({"properties": {"a": {"type": 7}}}, "cannot be used: 7 is not valid"),
        ({"properties": ["a"]}, "cannot be used"),
        ({"required": "a"}, "cannot be used"),
        ({"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}, "it refers to http://127.0.0.1:9/x"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "it refers to /\\$defs/none"),
        ({"properties": {"a": {"enum": ["x" * 100_000]}}}, "more than 100,000 characters"),
        (nested(200), "cannot be used"),
        ({"allOf": [{"properties": {"two words": TEXT}}]}, "names cannot be written in a plan"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: dict[str, Any], told: str) -> None:
    with pytest.raises(InventoryError, match=told):
        of(schema)
