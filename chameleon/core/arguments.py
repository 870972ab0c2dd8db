"""The arguments a module takes besides the state: their schema, and a check that a plan fits it.

In a plan an argument may refer to the output of an earlier step: "$weather.temp", '$weather["wind speed"]';
"$$" is a literal dollar sign.
"""

import functools
import inspect
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticSerializationError, to_jsonable_python

from chameleon.core.state import State
from chameleon.errors import BadArguments, ChameleonError, InventoryError, PlanError
from chameleon.lazy import cached_property
from chameleon.table import Table
from chameleon.text import as_name, nearest, one_line
from chameleon.values import Room, freeze

_MAX_VALUE_CHARS = 80
_MAX_TYPE_LEVELS = 4  # nesting levels written out in a signature
_MAX_TYPES = 2_000  # written out in a signature
_UNNAMED_KINDS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_PART = re.compile(r"""\.([\w-]+)|\[(?:(\d+)|"([^"]+)"|'([^']+)')\]""")  # .key, [3], ["a key"]
_REFERENCE = re.compile(rf"\$([^\W\d]\w*)((?:{_PART.pattern})*)")  # $step, then any number of parts
_REFERENCE_START = re.compile(r"\$([^\W\d]\w*)[.\[]")  # looks like one, but may be broken further on
_PLAIN_KEY = re.compile(r"[\w-]+")
_VALUE_HINT = "Write the value itself"
_TABLE_KEYS = ("header", "rows", "caption")


class _Schema(GenerateJsonSchema):
    """JSON schemas, including types that JSON cannot express: a plan passes those by reference.

    In a result it appears by its name. A default that JSON cannot hold is omitted, because the
    function supplies it.
    """

    ignored_warning_kinds = GenerateJsonSchema.ignored_warning_kinds | {"non-serializable-default"}

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:
        return {}

    def is_instance_schema(self, schema: Any) -> JsonSchemaValue:
        name = schema["cls"].__name__
        if self.mode == "serialization":
            return {"type": name}
        return {"type": "string", "description": f'"$NAME" of a step that gives a {name}'}

    def encode_default(self, dft: Any) -> Any:
        """Return a default as JSON. Raises `PydanticSerializationError` for a number that is not finite."""
        try:
            json.dumps(to_jsonable_python(dft, inf_nan_mode="constants"), allow_nan=False)
        except ValueError as problem:
            raise PydanticSerializationError(str(problem)) from problem
        return super().encode_default(dft)

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Omit the titles that pydantic derives from names: they repeat each name in the prompt."""
        return False


def filled_arguments(planned_args: Mapping[str, Any], state: State, room: Room) -> dict[str, Any]:
    """Return the arguments with references replaced by the outputs of earlier steps.

    Raises `ModuleError` if they need more than `room`: each of them may be a whole output.
    """
    args = {name: filled(value, state) for name, value in planned_args.items()}
    freeze(args, "the value of its arguments", room)
    return args


@dataclass(frozen=True)
class Arguments:
    """The arguments of a module: `model` has a field for each."""

    module: str
    model: type[BaseModel]

    @classmethod
    def of(
        cls, module: str, run: Callable[..., Any], model: type[BaseModel] | None, skip: Collection[str] = ()
    ) -> "Arguments | None":
        """Return the arguments of a module, or None if it takes none.

        Args:
            run: the function that takes them.
            model: a model with a field for each; None to use the signature of `run`.
            skip: parameters of `run` that a plan does not give, such as `self` and the state.

        Raises:
            InventoryError: if no schema can describe the signature.
        """
        if model is not None:
            return cls(module, model)
        parameters = [each for each in inspect.signature(run).parameters.values() if each.name not in skip]
        return cls(module, _model_of(module, run, parameters)) if parameters else None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of the arguments, in order."""
        return tuple(field.alias or name for name, field in self.model.model_fields.items())

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Return the names of the required arguments."""
        fields = self.model.model_fields.items()
        return tuple(field.alias or name for name, field in fields if field.is_required())

    @cached_property
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments, an object that allows no others."""
        schema = self.model.model_json_schema(schema_generator=_Schema)
        for each in (schema, *schema.get("$defs", {}).values()):
            each.pop("title", None)
        schema.setdefault("properties", {})
        return {**schema, "additionalProperties": False}

    @cached_property
    def signature(self) -> str:
        """Write the arguments on one line: `(amount: number, to: "F" | "C" = "F")`."""
        schema, words = self.schema, type_writer(self.schema)
        parts = []
        for name, each in schema["properties"].items():
            kinds = [kind for kind in each.get("anyOf", ()) if kind != {"type": "null"}]
            if kinds and each.get("default", ...) is None:  # null if omitted
                parts.append(f"{name}?: {words({**each, 'anyOf': kinds})}")
            elif "default" in each:
                parts.append(f"{name}: {words(each)} = {json.dumps(each['default'], ensure_ascii=False)}")
            else:
                parts.append(f"{name}{'' if name in self.required else '?'}: {words(each)}")
        return f"({', '.join(parts)})"

    @cached_property
    def notes(self) -> Mapping[str, str]:
        """Return the description of each argument that has one."""
        texts = {name: each.get("description", "") for name, each in self.schema["properties"].items()}
        return {name: " ".join(text.split()) for name, text in texts.items() if text}

    def check(
        self,
        planned_args: Mapping[str, Any],
        earlier: Collection[str] = (),
        planned: Collection[str] = (),
        inputs: Collection[str] = (),
    ) -> None:
        """Raise `PlanError` for arguments that do not fit the schema.

        Args:
            earlier: modules that run before; a reference to one may become anything.
            planned: modules of the whole plan; a reference to a later one does not fit.
            inputs: names of inputs; a reference to one does not fit.
        """
        _check_references(planned_args, earlier, planned, inputs)
        open_ones = {name for name, value in planned_args.items() if any(references(value, earlier))}
        self._validated(planned_args, PlanError, open_ones)

    def values(self, planned_args: Mapping[str, Any], state: State, room: Room) -> dict[str, Any]:
        """Return the arguments for `run`. Raises `BadArguments`, and as `filled_arguments` does."""
        args = self._validated(filled_arguments(planned_args, state, room), BadArguments)
        return {field.alias or name: getattr(args, name) for name, field in self.model.model_fields.items()}

    def _validated(
        self, args: Mapping[str, Any], error: type[ChameleonError], open_ones: Collection[str] = ()
    ) -> BaseModel | None:
        """Return the arguments in their model, or None if only `open_ones` do not fit yet.

        Raises `error` for any other misfit.
        """
        names = {*self.names, *self.model.model_fields}
        unknown = [name for name in args if name not in names]
        if unknown and self.model.model_config.get("extra") != "allow":
            hint = nearest(unknown[0], self.names) if self.names else "It takes none."
            raise error(f"{self.module} takes no argument {unknown[0][:60]!r}", hint=hint)
        try:
            return self.model.model_validate(dict(args))
        except ValidationError as problem:
            for fault in problem.errors(include_url=False):
                name, *inner = fault["loc"] or ("",)
                if str(name) in open_ones:  # a reference, whose value is not known yet
                    continue
                what = f"{self.module} is missing the argument {name!r}"
                if fault["type"] != "missing" or inner:
                    place = ".".join(map(str, fault["loc"])) or "an argument"
                    value = one_line(str(fault["input"]), _MAX_VALUE_CHARS)
                    what = f"the argument {place} of {self.module} is {value!r}: {fault['msg']}"
                raise error(what, hint=f"It is {self.module}{self.signature}.") from None
        return None


def type_writer(root: Mapping[str, Any]) -> Callable[[Any], str]:
    """Return a function that writes the types in a JSON schema: `number`, `"F" | "C"`, `{city: string}`.

    Recursive types, types nested too deeply and types after the first `_MAX_TYPES` are written as "any".
    """
    budget = count(_MAX_TYPES, -1)  # for the whole schema: nested references can multiply

    def words(schema: Any, depth: int = 0, within: Sequence[str] = ()) -> str:
        if next(budget) <= 0 or not isinstance(schema, Mapping) or depth > _MAX_TYPE_LEVELS:
            return "any"  # a schema may also be just `True`
        if isinstance(ref := schema.get("$ref"), str):
            name = ref.rpartition("/")[2]
            if name in within or len(within) == _MAX_TYPE_LEVELS:  # recursive, or nested too deeply
                return "any"
            return words(root.get("$defs", {}).get(name), depth, (*within, name))
        if "enum" in schema or "const" in schema:
            values: Sequence[Any] = schema.get("enum") or [schema.get("const")]
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
        if several := schema.get("anyOf") or schema.get("oneOf"):
            return " | ".join(dict.fromkeys(words(each, depth, within) for each in several))
        kind = schema.get("type", "any")
        if kind == "array":
            return f"[{words(schema.get('items', {}), depth + 1, within)}]"
        if kind == "object" and (members := schema.get("properties")):
            needed = schema.get("required", ())
            signs = {name: "" if name in needed else "?" for name in members}
            parts = (f"{name}{signs[name]}: {words(members[name], depth + 1, within)}" for name in members)
            return f"{{{', '.join(parts)}}}"
        if kind == "object" and isinstance(of := schema.get("additionalProperties"), Mapping):
            return f"{{string: {words(of, depth + 1, within)}}}"
        return " | ".join(kind) if isinstance(kind, list) else str(kind)

    return words


def _model_of(
    module: str, run: Callable[..., Any], parameters: Sequence[inspect.Parameter]
) -> type[BaseModel]:
    """Make a pydantic model from these parameters of a function."""
    for each in parameters:
        if each.kind in _UNNAMED_KINDS:
            what = f"{module} takes {str(each).partition(':')[0]}, but a plan gives arguments by name"
            raise InventoryError(what, hint="Name each argument in its signature.")
    try:
        hints = get_type_hints(written_as(run), include_extras=True)
    except Exception as problem:  # annotations are code: names imported only for type checkers are missing
        raise InventoryError(f"the annotations of {module} cannot be read: {problem}") from problem
    # Neutral field names: an argument may have the name of a pydantic method.
    fields: dict[str, Any] = {
        f"argument_{place}": (
            _noted(hints.get(each.name, Any)),
            Field(... if each.default is each.empty else each.default, alias=each.name),
        )
        for place, each in enumerate(parameters)
    }
    try:
        config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
        return create_model(module, __config__=config, **fields)
    except (PydanticUserError, TypeError) as problem:
        raise InventoryError(f"the annotations of {module} have no schema: {problem}") from problem


def written_as(function: Any) -> Any:
    """Return the function that carries the annotations: for a partial or an object, the one it calls."""
    while isinstance(function, functools.partial):
        function = function.func
    is_written = inspect.isroutine(function) or inspect.isclass(function)
    return function if is_written else type(function).__call__


def output_of(run: Callable[..., Any]) -> str:
    """Write a function's return type as `Arguments.signature` does; "" if it says nothing useful."""
    try:
        kind = get_type_hints(written_as(run), include_extras=True).get("return", type(None))
        if inspect.isclass(kind) and hasattr(kind, "to_json"):  # a table, say
            return kind.__name__
        schema = TypeAdapter(kind).json_schema(mode="serialization", schema_generator=_Schema)
    except Exception:  # annotations are code; these are only a hint
        return ""
    words = type_writer(schema)(schema)
    return "" if words in ("any", "null", "object", "array") else words


def _noted(hint: Any) -> Any:
    """Return the annotation with the text of `Annotated[float, "in metres"]` as its description."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *further = get_args(hint)
    noted = [Field(description=each) if isinstance(each, str) else each for each in further]
    return Annotated[kind, *noted]


@dataclass(frozen=True, slots=True)
class Reference:
    """The output of an earlier step, or the part of it at a path of keys and zero-based indices."""

    module: str
    path: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, earlier: Collection[str]) -> "Reference | None":
        """Return the reference that a whole text is, or None for literal text that names no earlier step."""
        match = _REFERENCE.fullmatch(text)
        if match is None or not (name := _step_called(match[1], earlier)):
            return None
        return cls(name, tuple(part[part.lastindex or 0] for part in _PART.finditer(match[2])))

    def __str__(self) -> str:
        parts = (f".{part}" if _PLAIN_KEY.fullmatch(part) else f'["{part}"]' for part in self.path)
        return f"${self.module}{''.join(parts)}"

    def value(self, state: State) -> Any:
        """Return the latest value referred to. Raises `BadArguments` if the step failed."""
        ran = [record for record in state.executed if record.step.module == self.module]
        if not ran or ran[-1].error is not None:
            raise BadArguments(f"there is no {self}: {self.module} failed")
        value = ran[-1].output
        for depth, part in enumerate(self.path):
            value = _part_of(value, part, Reference(self.module, self.path[:depth]))
        return value


def _step_called(name: str, earlier: Collection[str]) -> str:
    """Return the earlier step that is meant, allowing for how models write names; "" if none."""
    return name if name in earlier else next((each for each in earlier if as_name(each) == as_name(name)), "")


def _part_of(value: Any, part: str, place: Reference) -> Any:
    """Return the item of a mapping, a list or a table at a key or index."""
    if isinstance(value, Table):
        value = {name: getattr(value, name) for name in _TABLE_KEYS}
    if isinstance(value, Mapping):
        if part in value:
            return value[part]
        raise BadArguments(f"{place} has no {part!r}", hint=nearest(part, [*value]))
    if isinstance(value, Sequence) and not isinstance(value, str):
        if part.isdecimal() and int(part) < len(value):
            return value[int(part)]
        raise BadArguments(f"{place} is a list of {len(value):,} and has no {part!r}; the first is {place}.0")
    raise BadArguments(f"{place} is not a mapping, list or table, so it has no {part!r}")


def _texts_with_dollar(value: Any) -> Iterator[str]:
    """Yield the texts within a value that begin with a dollar."""
    if isinstance(value, str):
        if value.startswith("$"):
            yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_with_dollar(each)


def references(value: Any, earlier: Collection[str]) -> Iterator[Reference]:
    """Yield the references within a value."""
    return filter(None, (Reference.parse(text, earlier) for text in _texts_with_dollar(value)))


def _check_references(
    value: Any, earlier: Collection[str], planned: Collection[str], inputs: Collection[str]
) -> None:
    """Raise `PlanError` for text that starts like a reference to an earlier step but is not a valid one.

    Also for a reference to a step that does not come before, or to an input.
    """
    for text in _texts_with_dollar(value):
        if Reference.parse(text, earlier) is not None:
            continue
        if (later := Reference.parse(text, planned)) is not None:
            what, fix = f"refers to {later.module}, which does not come before", "Call it before"
        elif (match := _REFERENCE.fullmatch(text)) and match[1] in inputs:
            what, fix = 'names an input, but "$" refers to the output of an earlier step', _VALUE_HINT
        elif (match := _REFERENCE_START.match(text)) and _step_called(match[1], earlier):
            what = f"starts like a reference to {match[1]} but is not valid"
            fix = f'Write only "${match[1]}.KEY" or "${match[1]}[\'A KEY\']"'
        else:
            continue
        hint = f'{fix}, or "$$…" for a text that begins with a dollar.'
        raise PlanError(f"{text[:60]!r} {what}", hint=hint)


def filled(value: Any, state: State) -> Any:
    """Return the value with references replaced by the outputs of earlier steps, and "$$" by a dollar."""
    if isinstance(value, str):
        if not value.startswith("$"):
            return value
        if value.startswith("$$"):
            return value[1:]
        reference = Reference.parse(value, set(state.executed_names))
        return value if reference is None else reference.value(state)
    if isinstance(value, Mapping):
        return {key: filled(each, state) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [filled(each, state) for each in value]
    return value
