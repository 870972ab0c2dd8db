"""Arguments by the schemas of strangers: what planners see, which names are taken, what is refused."""

import time
from typing import Any

import pytest

from chameleon.errors import InventoryError
from chameleon.interop.schema_arguments import SchemaArguments

pytest.importorskip("jsonschema")
TEXT, COUNT = {"type": "string"}, {"type": "integer"}
ABOVE = {"type": "number", "minimum": 0, "exclusiveMinimum": True}
ROW = {"properties": {"a": TEXT}, "required": ["a"]}
BOTH = {**ROW, "properties": {"a": TEXT, "b": {"default": 1, **COUNT}}}
ODD = {**TEXT, "pattern": "^(a+)+$", "format": "new", "x-mine": [1], "contains": {"minimum": 2}}


def of(schema: dict[str, Any]) -> SchemaArguments:
    found = SchemaArguments.of_schema("tool", {"type": "object", **schema})
    assert found is not None
    return found


def a(schema: Any, draft: str = "", **more: Any) -> dict[str, Any]:
    told = {"$schema": f"http://json-schema.org/draft-{draft}/schema#"} if draft else {}
    return {**told, "properties": {"a": schema}, **more}


@pytest.mark.parametrize(
    ("schema", "signature"),
    [
        (BOTH, "(a: string, b: integer = 1)"),
        (a({"$ref": "#/$defs/R"}, **{"$defs": {"R": {"enum": ["x", "y"]}}}), '(a?: "x" | "y")'),
        ({"allOf": [ROW, {"properties": {"b": TEXT}}]}, "(a?: string, b?: string)"),
        ({"oneOf": [ROW, a(COUNT)]}, "(a?: string | integer)"),
        (a(ABOVE, "04"), "(a?: number)"),
        (a({"items": [TEXT, TEXT]}, "07"), "(a?: any)"),
        (a(True, additionalProperties={}), "(a?: any)"),
        (a({"enum": ["x\x1b[2J\u202e"]}), '(a?: "x\\u001b[2J\N{REPLACEMENT CHARACTER}")'),
    ],
)
def test_planners_see_one_plain_object(schema: dict[str, Any], signature: str) -> None:
    found = of(schema)
    assert found.signature == signature
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & found.schema.keys()  # which providers refuse


def doubled(levels: int) -> dict[str, Any]:
    parts: dict[str, Any] = {f"x{n}": {"anyOf": [{"$ref": f"#/$defs/x{n + 1}"}] * 2} for n in range(levels)}
    return a({"$ref": "#/$defs/x0"}, **{"$defs": {**parts, f"x{levels}": TEXT}})


def wide(levels: int) -> dict[str, Any]:
    parts = [
        {"type": "object", "properties": {f"p{each}": {"$ref": f"#/$defs/d{level}"} for each in range(200)}}
        for level in range(levels)
    ]
    return {**parts[0], "$defs": {f"d{level}": part for level, part in enumerate([*parts[1:], TEXT])}}


ITSELF = [{**ROW, **a({"items": {"$ref": "#"}})}, a({"$ref": "#/properties/a"})]


@pytest.mark.parametrize("schema", [doubled(28), wide(5), *ITSELF])
def test_a_signature_ends(schema: dict[str, Any]) -> None:
    begun = time.monotonic()
    assert len(of(schema).signature) <= 20_000
    assert time.monotonic() - begun < 5


def nested(levels: int) -> dict[str, Any]:
    return a(nested(levels - 1)) if levels else TEXT


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (TEXT, "it does not describe an object"),
        (a({"type": 7}), "cannot be used: 7 is not valid"),
        ({"properties": ["a"]}, "cannot be used"),
        ({"required": "a"}, "cannot be used"),
        (a({"$ref": "http://127.0.0.1:9/x"}), "it refers to http://127.0.0.1:9/x"),
        (a({"$ref": "#/$defs/none"}), "it refers to /\\$defs/none"),
        (a({"enum": ["x" * 100_000]}), "more than 100,000 characters"),
        (nested(200), "cannot be used"),
        ({"allOf": [{"properties": {"two words": TEXT}}]}, "names cannot be written in a plan"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: dict[str, Any], told: str) -> None:
    with pytest.raises(InventoryError, match=told):
        of(schema)
