"""Arguments by the schemas of strangers: what is taken, what is refused, what has no end."""

from __future__ import annotations

import time
from typing import Any

import pytest

from chameleon.errors import InventoryError, PlanError
from chameleon.interop.schema_arguments import SchemaArguments

pytest.importorskip("jsonschema")
TEXT = {"type": "string"}


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


ROW = {"properties": {"a": TEXT}, "required": ["a"]}
ONE_OF = {"properties": {"a": {"oneOf": [{**TEXT, "pattern": "^[0-9]+$"}, {**TEXT, "pattern": "^[a-z]+$"}]}}}


@pytest.mark.parametrize(
    ("schema", "signature"),
    [
        ({"$ref": "#/$defs/Row", "$defs": {"Row": ROW}}, "(a: string)"),
        ({"allOf": [ROW, {"properties": {"b": TEXT}}]}, "(a: string, b?: string)"),
        ({"anyOf": [ROW, {"properties": {"b": TEXT}, "required": ["b"]}]}, "(a?: string, b?: string)"),
        ({"oneOf": [ROW, {"properties": {"a": {"type": "integer"}}}]}, "(a?: string | integer)"),
        ({"additionalProperties": {}}, "()"),
        ({"properties": {"a": {"enum": ["x\x1b[2J\u202e"]}}}, '(a?: "x\\u001b[2J\N{REPLACEMENT CHARACTER}")'),
    ],
)
def test_arguments_are_found_where_a_schema_is_put_together(schema: dict[str, Any], signature: str) -> None:
    found = of(schema)
    assert found.signature == signature
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & found.schema.keys()  # which providers refuse


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"$ref": "#/$defs/Row", "$defs": {"Row": ROW}}, {"a": "x"}),
        ({"anyOf": [ROW, {"properties": {"b": TEXT}, "required": ["b"]}]}, {"b": "x"}),
        ({"properties": {"a": {"not": {"pattern": "^x"}}}}, {"a": "y"}),
        (ONE_OF, {"a": "12"}),
        ({"patternProperties": {"^x-": TEXT}, "additionalProperties": False}, {"x-1": "y"}),
        (
            {"properties": {"a": {"patternProperties": {"^x-": TEXT}, "additionalProperties": False}}},
            {"a": {"x-1": "y"}},
        ),
        ({"properties": {"a": {"enum": [{"format": "csv", "pattern": "x"}]}, "b": {"pattern": "x"}}}, {}),
        ({"properties": {"pattern": TEXT, "format": TEXT}}, {"pattern": "a", "format": "b"}),
        ({"additionalProperties": {}}, {"any": 1}),
        (
            {
                "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}}},
                "$defs": {"Row": ROW},
            },
            {"rows": [{"a": "x"}] * 5_000},
        ),
    ],
)
def test_what_fits_is_taken_though_patterns_are_left_to_the_tool(schema: Any, given: dict[str, Any]) -> None:
    assert not fault(schema, **given)


@pytest.mark.parametrize(
    ("schema", "given", "told"),
    [
        ({"$ref": "#/$defs/Row", "$defs": {"Row": ROW}}, {}, "tool lacks the argument 'a'"),
        ({"anyOf": [ROW, {"properties": {"b": TEXT}, "required": ["b"]}]}, {}, "does not fit"),
        ({"anyOf": [ROW]}, {"a": "x", "c": 1}, "takes no argument 'c'"),
        ({"properties": {"a": {"enum": [{"format": "csv"}]}}}, {"a": {"format": "zip"}}, "is not one of"),
        (ONE_OF, {"a": 1}, "does not fit"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, {"a": 1}, "refers to '/$defs/none'"),
    ],
)
def test_what_does_not_fit_is_refused(schema: Any, given: dict[str, Any], told: str) -> None:
    assert told in fault(schema, **given)


def doubled(levels: int) -> dict[str, Any]:
    """Return a schema that refers twice to one that refers twice to one …"""
    parts: dict[str, Any] = {
        f"x{each}": {"allOf": [{"$ref": f"#/$defs/x{each + 1}"}] * 2} for each in range(levels)
    }
    return {"properties": {"a": {"$ref": "#/$defs/x0"}}, "$defs": {**parts, f"x{levels}": TEXT}}


@pytest.mark.parametrize("schema", [doubled(28), {"properties": {"a": {"$ref": "#/properties/a"}}}])
def test_a_schema_without_end_is_given_up(schema: dict[str, Any]) -> None:
    begun = time.monotonic()
    assert "refers to itself without end" in fault(schema, a="x")
    assert time.monotonic() - begun < 5


def test_a_signature_without_end_is_cut() -> None:
    def of_next(level: int) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {f"p{each}": {"$ref": f"#/$defs/d{level}"} for each in range(200)},
        }

    schema = {**of_next(0), "$defs": {f"d{level}": of_next(level + 1) for level in range(4)}}
    begun = time.monotonic()
    assert len(of(schema).signature) <= 20_000
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string"}, "are no JSON object"),
        ({"properties": {"a": {"type": 7}}}, "the schema of tool is none"),
        ({"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}, "refers to http://127.0.0.1:9/x"),
        ({"allOf": [{"properties": {"two words": TEXT}}]}, "names cannot be written in a plan"),
    ],
)
def test_a_schema_that_nobody_could_check_is_refused(schema: dict[str, Any], told: str) -> None:
    with pytest.raises(InventoryError, match=told):
        of(schema)
