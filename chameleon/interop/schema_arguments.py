"""Arguments from a JSON schema written elsewhere: a server's tool, or another framework's."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict, Field, create_model

from chameleon.core.arguments import Arguments, filled_arguments
from chameleon.core.state import State
from chameleon.errors import BadArguments, InventoryError, require
from chameleon.lazy import cached_property
from chameleon.text import harmless, one_line
from chameleon.values import Room

_NAME = re.compile(r"[\w.$-]{1,64}")
_COMBINERS = ("allOf", "anyOf", "oneOf")
_REFERENCE = re.compile(r'"\$ref": "([^"]*)"')
_MAX_SCHEMA_CHARS, _MAX_NOTE_CHARS, _MAX_SIGNATURE_CHARS = 100_000, 1_000, 20_000


@dataclass(frozen=True)
class SchemaArguments(Arguments):
    """The arguments of a tool by its JSON schema. Names are checked here, values by the tool."""

    schema: dict[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def of_schema(cls, module: str, schema: Any) -> "SchemaArguments | None":
        """Return the arguments in a schema, or None. Raises as `usable_schema` does."""
        root = usable_schema(module, schema)
        parts = [root, *(each for key in _COMBINERS for each in root.get(key, ()) if isinstance(each, dict))]
        properties: dict[str, Any] = {}
        for name, each in (item for part in parts for item in part.get("properties", {}).items()):
            kind = each if isinstance(each, dict) else {}  # it may be `true`: anything
            before = properties.get(name, kind)
            properties[name] = kind if before == kind else {"anyOf": [before, kind]}
        if not all(map(_NAME.fullmatch, properties)):
            raise InventoryError(f"{module} takes arguments whose names cannot be written in a plan")
        is_open = root.get("additionalProperties", False) is not False
        is_open = is_open or not root.keys().isdisjoint(("$ref", "patternProperties"))
        if not properties and not is_open:
            return None
        required = [name for name in root.get("required", ()) if name in properties]
        fields: dict[str, Any] = {}
        # A name such as `$filter` is not an identifier: fields are numbered, with the names as aliases.
        for place, name in enumerate(properties):
            fields[f"argument_{place}"] = (Any, Field(... if name in required else None, alias=name))
        model = create_model(module, __config__=ConfigDict(extra="allow" if is_open else "forbid"), **fields)
        plain: dict[str, Any] = {key: root[key] for key in ("$defs", "definitions") if key in root}
        plain |= {"properties": properties, "required": required, "additionalProperties": is_open}
        return cls(module, model, schema={"type": "object", **plain})

    @cached_property
    def signature(self) -> str:
        return one_line(harmless(super().signature), _MAX_SIGNATURE_CHARS)

    @cached_property
    def notes(self) -> Mapping[str, str]:
        return {name: one_line(harmless(note), _MAX_NOTE_CHARS) for name, note in super().notes.items()}

    def values(self, planned_args: Mapping[str, Any], state: State, room: Room) -> dict[str, Any]:
        self._validated(planned_args, BadArguments)
        return filled_arguments(planned_args, state, room)


def usable_schema(module: str, schema: Any) -> dict[str, Any]:
    """Return the schema of an object as plain JSON. Raises `InventoryError` for an unusable one."""
    require("jsonschema", "schemas of other people's tools are read with", "mcp")
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    try:
        text = json.dumps(schema, allow_nan=False, ensure_ascii=False)
        if len(text) > _MAX_SCHEMA_CHARS:
            raise ValueError(f"it has more than {_MAX_SCHEMA_CHARS:,} characters")
        root: Any = json.loads(text)
        if not isinstance(root, dict) or root.get("type", "object") != "object":
            raise ValueError("it does not describe an object")
        validator_for(root, default=Draft202012Validator).check_schema(root)
        resource = Resource.from_contents(root, default_specification=DRAFT202012)
        resolver = Registry().with_resource("", resource).resolver()
        for link in set(_REFERENCE.findall(text)):
            resolver.lookup(link)
    except (SchemaError, TypeError, Unresolvable, ValueError, RecursionError) as problem:
        why = f"it refers to {problem.ref}" if isinstance(problem, Unresolvable) else problem
        why = one_line(harmless(str(getattr(why, "message", why))), 200)
        raise InventoryError(f"the schema of {module} cannot be used: {why}") from problem
    return root
