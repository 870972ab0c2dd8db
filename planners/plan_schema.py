"""The JSON schema of a plan, for models that accept schemas."""

from collections.abc import Mapping, Sequence
from typing import Any

from chameleon.core.arguments import Arguments
from chameleon.inventory import Card

_ANNOTATION_KEYS = frozenset(["type", "title", "description", "default", "examples"])
_REFERENCE = {"type": "string", "description": '"$NAME.KEY": what the earlier step NAME gave'}

_DEFS = "#/$defs/"


def plan_schema(cards: Sequence[Card], max_steps: int) -> Mapping[str, Any]:
    """Return the schema of {"modules": [...]}: a name for each module without arguments, else a call."""
    shared: dict[str, Any] = {}
    plain = [card.name for card in cards if card.arguments is None or not card.arguments.required]
    calls = [_call(card.name, card.arguments, shared) for card in cards if card.arguments is not None]
    names = {"type": "string", "enum": plain}
    items = {"anyOf": [*([names] if plain else []), *calls]} if calls else names
    steps = {"type": "array", "items": items, "minItems": 1, "maxItems": max_steps}
    return closed_object({"modules": steps}, title="plan") | ({"$defs": shared} if shared else {})


def closed_object(properties: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return the schema of an object that has exactly these properties."""
    closed = {"type": "object", "properties": properties, "required": [*properties]}
    return {**more, **closed, "additionalProperties": False}


def _call(name: str, arguments: Arguments, shared: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a call; shared types move to the top, under their own names."""
    schema = _moved(arguments.schema, name)
    shared |= {f"{name}_{kind}": each for kind, each in schema.pop("$defs", {}).items()}
    properties = dict(schema["properties"])
    for argument, each in properties.items():
        if each.get("type") != "string" or set(each) - _ANNOTATION_KEYS:  # plain text may be a reference
            properties[argument] = {"anyOf": [each, _REFERENCE]}
    args = {**schema, "properties": properties}
    return closed_object({"module": {"type": "string", "enum": [name]}, "args": args})


def _moved(schema: Any, name: str) -> Any:
    """Return a schema with references to its types under their new names at the top."""
    if isinstance(schema, str):
        return f"#/$defs/{name}_{schema.removeprefix(_DEFS)}" if schema.startswith(_DEFS) else schema
    if isinstance(schema, Mapping):
        return {key: _moved(value, name) for key, value in schema.items()}
    return [_moved(each, name) for each in schema] if isinstance(schema, list) else schema
