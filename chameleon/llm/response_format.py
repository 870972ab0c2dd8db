"""How a JSON Schema is put to OpenAI and to compatible servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The `response_format` that asks for JSON of the schema's form."""
    name = "".join(
        c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in str(schema.get("title") or "reply")
    )
    described = {"name": name[:64], "schema": dict(schema), "strict": _closed(schema)}
    return {"type": "json_schema", "json_schema": described}


def _closed(schema: Any) -> bool:
    """Whether every object requires all its keys and allows no other: OpenAI's condition for `strict`."""
    if isinstance(schema, list):
        return all(_closed(item) for item in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or schema.get("additionalProperties") is not False:
            return False
        if set(properties) != set(schema.get("required", ())):
            return False
    return all(_closed(value) for value in schema.values())
