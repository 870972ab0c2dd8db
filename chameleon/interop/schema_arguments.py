"""Arguments by a JSON schema that somebody else wrote: a tool of a server, or of another framework."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from chameleon.arguments import Arguments
from chameleon.earlier import filled
from chameleon.errors import BadArguments, InventoryError, require
from chameleon.state import State
from chameleon.text import harmless, nearest, one_line

_NAME = re.compile(r"[\w.$-]{1,64}")
_LARGEST, _DEEPEST, _LONGEST_NOTE = 100_000, 32, 1_000
_LEFT_TO_THE_TOOL = ("pattern", "patternProperties", "format")  # patterns of strangers may take for ever
_TEXTS = ("description", "title", "$comment")


@dataclass(frozen=True)
class SchemaArguments(Arguments):
    """What a tool takes by its JSON schema; `pattern` and `format` are left to the tool to check.

    Make it with `of_schema`, which refuses what nobody could check.
    """

    given: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def of_schema(cls, module: str, schema: Any) -> SchemaArguments | None:
        """Return the arguments that a schema describes; None where there are none.

        Raises `InventoryError` for a schema that is broken, too large, refers elsewhere, or has names that no
        plan could write.
        """
        clean = clean_schema(module, schema)
        if clean.get("type", "object") != "object":
            raise InventoryError(f"the arguments of {module} are no JSON object")
        names = clean.setdefault("properties", {})
        if not isinstance(names, dict) or not all(map(_NAME.fullmatch, names)):
            raise InventoryError(f"{module} takes arguments whose names cannot be written in a plan")
        clean.setdefault("additionalProperties", False)
        if not names and clean["additionalProperties"] is False:
            return None
        require("jsonschema", "arguments of other people's tools are checked with", "mcp")
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError

        try:
            Draft202012Validator.check_schema(clean)
        except SchemaError as problem:
            why = one_line(harmless(problem.message), 200)
            raise InventoryError(f"the schema of {module} is none: {why}") from problem
        return cls(module, BaseModel, clean)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.given["properties"])

    @cached_property
    def required(self) -> tuple[str, ...]:
        return tuple(name for name in self.given.get("required", ()) if name in self.names)

    @cached_property
    def schema(self) -> dict[str, Any]:
        return {"type": "object", **self.given}

    def values(self, given: Mapping[str, Any], state: State) -> dict[str, Any]:
        whole = {name: filled(value, state) for name, value in given.items()}
        if fault := self._fault(whole):
            what, hint = fault
            raise BadArguments(what, hint=hint)
        return whole

    def _fault(self, given: Mapping[str, Any], open_ones: Collection[str] = ()) -> tuple[str, str] | None:
        for name in given:
            if name not in self.names and self.given["additionalProperties"] is False:
                what = f"{self.module} takes no argument {name[:60]!r}"
                return what, nearest(name, self.names) if self.names else "It takes none."
        for name in self.required:
            if name not in given:
                return f"{self.module} lacks the argument {name!r}", f"It is {self.module}{self.signature}."
        return next(self._faults_of_values(given, open_ones), None)

    def _faults_of_values(
        self, given: Mapping[str, Any], open_ones: Collection[str]
    ) -> Iterator[tuple[str, str]]:
        for error in self._validator.iter_errors(thawed(given)):
            name = str(error.absolute_path[0]) if error.absolute_path else ""
            if name not in open_ones:
                place = ".".join(map(str, error.absolute_path)) or "an argument"
                what = f"the argument {place} of {self.module} does not fit: {one_line(error.message, 200)}"
                yield what, f"It is {self.module}{self.signature}."

    @cached_property
    def _validator(self) -> Any:
        from jsonschema import Draft202012Validator
        from referencing import Registry

        return Draft202012Validator(_checked_here(self.given), registry=Registry())  # fetches nothing


def clean_schema(module: str, schema: Any) -> dict[str, Any]:
    """Return a schema whose texts are one line each. Raises `InventoryError` for one that is out of hand."""
    if not isinstance(schema, Mapping):
        raise InventoryError(f"the schema of {module} is no JSON object")
    try:
        if len(json.dumps(schema, allow_nan=False)) > _LARGEST:
            raise InventoryError(f"the schema of {module} has more than {_LARGEST:,} characters")
    except (TypeError, ValueError, RecursionError) as problem:
        raise InventoryError(f"the schema of {module} is no JSON") from problem

    def cleaned(part: Any, depth: int, *, of_names: bool = False) -> Any:
        if depth > _DEEPEST:
            raise InventoryError(f"the schema of {module} goes down too far")
        if isinstance(part, list):
            return [cleaned(each, depth + 1) for each in part]
        if not isinstance(part, dict):
            return part
        found: dict[str, Any] = {}
        for key, value in part.items():
            if not of_names and key in _TEXTS:
                found[key] = one_line(harmless(str(value)), _LONGEST_NOTE)
            elif not of_names and key in ("$ref", "$dynamicRef") and not str(value).startswith("#"):
                raise InventoryError(f"the schema of {module} refers to {one_line(harmless(str(value)), 80)}")
            else:
                is_names = not of_names and key in ("properties", "$defs", "definitions")
                found[key] = cleaned(value, depth + 1, of_names=is_names)
        return found

    made: dict[str, Any] = cleaned(json.loads(json.dumps(schema)), 0)
    return made


def _checked_here(part: Any, *, of_names: bool = False) -> Any:
    """Return the schema without what is left to the tool."""
    if isinstance(part, list):
        return [_checked_here(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        key: _checked_here(value, of_names=not of_names and key in ("properties", "$defs", "definitions"))
        for key, value in part.items()
        if of_names or key not in _LEFT_TO_THE_TOOL
    }


def thawed(value: Any) -> Any:
    """Return frozen values as JSON has them: a table as header, rows and caption, a path as its text."""
    if hasattr(value, "to_json"):
        value = value.to_json()
    if isinstance(value, Mapping):
        return {str(key): thawed(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [thawed(each) for each in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def texts_in(value: Any) -> Iterator[str]:
    """Yield all texts in JSON, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from (key, *texts_in(each))
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
