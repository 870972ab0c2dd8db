"""Arguments by a JSON schema that somebody else wrote: a tool of a server, or of another framework."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from typing import Any

from pydantic import BaseModel

from chameleon.arguments import Arguments
from chameleon.earlier import filled
from chameleon.errors import BadArguments, InventoryError, require
from chameleon.state import State
from chameleon.text import harmless, nearest, one_line

_NAME = re.compile(r"[\w.$-]{1,64}")
_LARGEST, _DEEPEST, _LONGEST_NOTE, _LONGEST_SIGNATURE = 100_000, 32, 1_000, 20_000
_DEEPEST_PART, _MOST_ERRORS = 3, 100
_MOST_REFERENCES = 2_000  # that are followed to check arguments, and so many more for each value in them
_PATTERNS = ("pattern", "patternProperties")  # those of strangers may take for ever
_NOT_WITHOUT_PATTERNS = ("not", "if", "maxContains", "unevaluatedProperties", "unevaluatedItems")
_SCHEMAS_BY_NAME = ("properties", "$defs", "definitions", "dependentSchemas", "patternProperties")
_DATA = ("enum", "const", "default", "examples")
_SEVERAL = ("allOf", "anyOf", "oneOf")
_TEXTS = ("description", "title", "$comment")
_followed: ContextVar[list[int]] = ContextVar("references that may still be followed")


@dataclass(frozen=True)
class SchemaArguments(Arguments):
    """What a tool takes by its JSON schema, `checked`; patterns and formats are left to the tool to check.

    `given` are its arguments as plans and models see them: one object, also where the schema puts them
    together from several. Make it with `of_schema`, which refuses what nobody could check.
    """

    given: Mapping[str, Any] = field(default_factory=dict, hash=False)
    checked: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def of_schema(cls, module: str, schema: Any) -> SchemaArguments | None:
        """Return the arguments that a schema describes; None where there are none.

        Raises `InventoryError` for a schema that is broken, too large, refers elsewhere, or has names that no
        plan could write.
        """
        clean = clean_schema(module, schema)
        if clean.get("type", "object") != "object":
            raise InventoryError(f"the arguments of {module} are no JSON object")
        require("jsonschema", "arguments of other people's tools are checked with", "mcp")
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError

        try:
            Draft202012Validator.check_schema(clean)
        except (SchemaError, RecursionError) as problem:
            why = one_line(harmless(str(getattr(problem, "message", problem))), 200)
            raise InventoryError(f"the schema of {module} is none: {why}") from problem
        shown = {key: clean[key] for key in (*_TEXTS, "$defs", "definitions") if key in clean}
        names: dict[str, Any] = {}
        for part in _parts(clean, clean):
            for name, each in part.get("properties", {}).items():
                names[name] = {"anyOf": [names[name], each]} if names.get(name, each) != each else each
        if not all(map(_NAME.fullmatch, names)):
            raise InventoryError(f"{module} takes arguments whose names cannot be written in a plan")
        needed = [part.get("required", ()) for part in _parts(clean, clean, ("allOf",))]
        shown |= {"properties": names, "required": [*dict.fromkeys(name for each in needed for name in each)]}
        others = clean.get("additionalProperties", False)
        shown["additionalProperties"] = others = others is not False or "patternProperties" in clean
        if not names and not others:
            return None
        return cls(module, BaseModel, shown, clean)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.given["properties"])

    @cached_property
    def required(self) -> tuple[str, ...]:
        return tuple(name for name in self.given.get("required", ()) if name in self.names)

    @cached_property
    def schema(self) -> dict[str, Any]:
        return {"type": "object", **self.given}

    @cached_property
    def signature(self) -> str:
        return one_line(harmless(super().signature), _LONGEST_SIGNATURE)

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
        from referencing.exceptions import Unresolvable

        values = thawed(given)
        token = _followed.set([_MOST_REFERENCES + 20 * len(json.dumps(values, default=str))])
        try:
            errors = [*islice(self._validator.iter_errors(values), _MOST_ERRORS)]
        except (_TooMuch, RecursionError):
            yield f"the schema of {self.module} refers to itself without end", "Leave the tool out: `deny`."
            return
        except Unresolvable as problem:
            what = f"the schema of {self.module} refers to {str(problem.ref)[:80]!r}, which it does not have"
            yield what, "Leave the tool out: `deny`."
            return
        finally:
            _followed.reset(token)
        for error in errors:
            name = str(error.absolute_path[0]) if error.absolute_path else ""
            if name not in open_ones:
                place = ".".join(map(str, error.absolute_path)) or "an argument"
                what = f"the argument {place} of {self.module} does not fit: {one_line(error.message, 200)}"
                yield what, f"It is {self.module}{self.signature}."

    @cached_property
    def _validator(self) -> Any:
        from referencing import Registry

        return _validator_class()(_checked_here(self.checked), registry=Registry())  # fetches nothing


class _TooMuch(Exception):
    """A schema that refers to itself more often than anybody would write."""


@cache
def _validator_class() -> Any:
    """Return the validator of JSON schemas that counts the references it follows."""
    from jsonschema import Draft202012Validator, validators

    def counted(follow: Any) -> Any:
        def followed(*given: Any) -> Any:
            left = _followed.get()
            left[0] -= 1
            if left[0] < 0:
                raise _TooMuch
            return follow(*given)

        return followed

    known = Draft202012Validator.VALIDATORS
    return validators.extend(
        Draft202012Validator, {key: counted(known[key]) for key in ("$ref", "$dynamicRef")}
    )


def _parts(
    part: Any, root: Mapping[str, Any], several: Sequence[str] = _SEVERAL, depth: int = 0
) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and those that hold beside it for the same object, some levels deep."""
    if not isinstance(part, Mapping) or depth > _DEEPEST_PART:
        return
    yield part
    kind, _, name = str(part.get("$ref", "")).removeprefix("#/").partition("/")
    if kind in ("$defs", "definitions"):
        yield from _parts(root.get(kind, {}).get(name), root, several, depth + 1)
    for key in several:
        for each in part.get(key, ()):
            yield from _parts(each, root, several, depth + 1)


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
            elif not of_names and key in _DATA:
                found[key] = value
            elif not of_names and key in ("$ref", "$dynamicRef") and not str(value).startswith("#"):
                raise InventoryError(f"the schema of {module} refers to {one_line(harmless(str(value)), 80)}")
            else:
                is_names = not of_names and key in _SCHEMAS_BY_NAME
                found[key] = cleaned(value, depth + 1, of_names=is_names)
        return found

    made: dict[str, Any] = cleaned(json.loads(json.dumps(schema)), 0)
    return made


def _checked_here(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema without patterns, and without what would refuse values for want of them."""
    if not any(f'"{key}":' in json.dumps(schema) for key in _PATTERNS):
        return schema

    def without(part: Any, *, of_names: bool = False) -> Any:
        if isinstance(part, list):
            return [without(each) for each in part]
        if not isinstance(part, dict):
            return part
        if of_names:
            return {name: without(each) for name, each in part.items()}
        found = {
            key: value if key in _DATA else without(value, of_names=key in _SCHEMAS_BY_NAME)
            for key, value in part.items()
            if key not in (*_PATTERNS, *_NOT_WITHOUT_PATTERNS)
        }
        if "patternProperties" in part:
            found.pop("additionalProperties", None)
        if "oneOf" in found:  # several may fit now
            found["allOf"] = [*found.get("allOf", ()), {"anyOf": found.pop("oneOf")}]
        return found

    made: dict[str, Any] = without(schema)
    return made


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
