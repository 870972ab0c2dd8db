"""From an inventory's data to its parts: every fault is told with its file, line and key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from chameleon.asking import AsksModel
from chameleon.errors import ChameleonError, InventoryError
from chameleon.inventory.resolve import build, find_class
from chameleon.inventory.rules import mentioned, not_there
from chameleon.inventory.schema import InventorySpec, ModelSpec, ModuleSpec, PlannerSpec
from chameleon.inventory.source import KeyPath, Source
from chameleon.llm.providers import full_name
from chameleon.module import Module
from chameleon.planner import Planner
from chameleon.text import nearest
from chameleon.usage import Budget

_PROMPT_SETTINGS = ("table_style", "max_rows", "max_cell", "max_table_tokens", "max_text_tokens")


def parts_of(source: Source) -> dict[str, Any]:
    """Check the data against `InventorySpec` and make what it names, as the arguments of an `Inventory`.

    Raises `InventoryError` with the place.
    """
    data = dict(source.data)
    if isinstance(data.get("modules"), dict):  # `answer_generator:` with nothing after it has no parameters
        data["modules"] = {name: {} if entry is None else entry for name, entry in data["modules"].items()}
    try:
        spec = InventorySpec.model_validate(data)
    except ValidationError as problem:
        raise spec_error(problem, source) from problem
    modules = {name: _build_module(name, entry, spec, source) for name, entry in spec.modules.items()}
    on_error = {name: entry.on_error for name, entry in spec.modules.items()}
    for key, name in mentioned(spec.fallback, spec.rules, spec.repair, on_error):
        if name in source.removed and name not in modules:
            raise _still_named(key, name, source)
        if name not in modules:
            raise not_there(key, name, modules, where=source.place(key))
    return {
        "name": spec.name,
        "planner": build_planner(spec.planner, spec, source, ("planner",)),
        "modules": modules,
        "spec": spec,
        "about": spec.about,
        "input_types": spec.input,
        "fallback": tuple(spec.fallback),
        "rules": spec.rules,
        "repair": spec.repair,
        "on_error": on_error,
        "budget": Budget(**spec.budget.model_dump()),
        "llm": spec.llm,
        "source": source,
    }


def _still_named(key: KeyPath, name: str, source: Source) -> InventoryError:
    """The error for a module that is removed here, and named by what stays of the inventory below."""
    part = ".".join(str(each) for each in key if isinstance(each, str))
    return InventoryError(
        f"the module {name!r} is removed here, and {part} ({source.place(key)}) still names it",
        where=source.removed[name],
        hint=f"Give {part} anew without {name}, or keep the module.",
    )


def spec_error(
    problem: ValidationError, source: Source, above: KeyPath = (), root: type[BaseModel] = InventorySpec
) -> InventoryError:
    """What pydantic says of a file that `root` describes, with the place; `above`: where the data stands."""
    errors = problem.errors()  # a misspelt key is why another one is missing
    first = next((error for error in errors if error["type"] == "extra_forbidden"), errors[0])
    path = (*above, *first["loc"])
    key = ".".join(str(part) for part in _present(path, source.data))
    if first["type"] == "extra_forbidden":
        hint = nearest(str(path[-1]), _model_at(path, root).model_fields)
        return InventoryError(f"unknown key {key!r}", where=source.place(path), hint=hint)
    if first["type"] == "missing":
        return InventoryError(f"the key {'.'.join(map(str, path))!r} is missing", where=source.place(path))
    message = first["msg"].removeprefix("Value error, ")
    shown = json.dumps(first["input"], default=str)[:80]
    return InventoryError(f"{key} is {shown}: {message[:1].lower()}{message[1:]}", where=source.place(path))


def _present(path: KeyPath, data: Any) -> KeyPath:
    """The part of a path that the data has: pydantic adds the names of the types that it tried."""
    for length, part in enumerate(path):
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return path[:length]
    return path


def _model_at(path: KeyPath, root: type[BaseModel]) -> type[BaseModel]:
    """The model of the mapping in which the last key of a path stands."""
    found = root
    for part in path[:-1]:
        if (field_info := found.model_fields.get(str(part))) is not None:
            found = _model_in(field_info.annotation) or found
    return found


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _model_in(part))), None)


def _build_module(name: str, entry: ModuleSpec, spec: InventorySpec, source: Source) -> Module:
    path = ("modules", name)
    where = _locate(source, path)
    try:
        cls = find_class(entry.use or name, "modules", source.folders)
    except ChameleonError as problem:
        raise problem.at(where) from problem
    if not issubclass(cls, Module):
        raise InventoryError(f"{cls.__name__} is not a subclass of Module", where=where)
    module: Module = build(cls, entry.parameters(), partial(_locate, source, path), ModuleSpec.model_fields)
    module.name = name
    module.when = entry.when or module.when
    settings = {"prompt": entry.prompt, "samples": entry.samples, "vote": entry.vote}
    settings |= {key: getattr(entry, key) for key in _PROMPT_SETTINGS}
    given = {key: value for key, value in settings.items() if value is not None}
    if (given or entry.llm) and not module.needs_model:
        key = next(iter(given), "llm")
        raise InventoryError(f"{cls.__name__} asks no model and has no {key!r}", where=where)
    if module.needs_model:
        _configure(module, given, entry.llm, spec, source)
        _set_model(module, entry.llm, where)
    return module


def build_planner(entry: PlannerSpec, spec: InventorySpec, source: Source, path: KeyPath) -> Planner:
    """Make the planner at `path`; parameters named `planner` and `planners` are planners themselves."""
    where = _locate(source, path)
    try:
        cls = find_class(entry.use, "planners", source.folders)
    except ChameleonError as problem:
        raise problem.at(where) from problem
    parameters = entry.parameters()
    if "planner" in parameters:
        parameters["planner"] = _inner_planner(parameters["planner"], spec, source, (*path, "planner"))
    if isinstance(several := parameters.get("planners"), list):
        parameters["planners"] = [
            _inner_planner(one, spec, source, (*path, "planners", index)) for index, one in enumerate(several)
        ]
    planner: Planner = build(cls, parameters, partial(_locate, source, path), PlannerSpec.model_fields)
    if not isinstance(planner, Planner):
        raise InventoryError(
            f"{cls.__name__} is no planner", where=where, hint="Subclass chameleon.Planner and write propose."
        )
    if isinstance(planner, AsksModel):
        _configure(planner, {"prompt": entry.prompt} if entry.prompt else {}, entry.llm, spec, source)
        _set_model(planner, entry.llm, where)
    elif entry.prompt or entry.llm:
        raise InventoryError(
            f"the planner {entry.use} asks no model, and has no prompt and no llm", where=where
        )
    return planner


def _inner_planner(data: Any, spec: InventorySpec, source: Source, path: KeyPath) -> Planner:
    try:
        entry = PlannerSpec.model_validate(data)
    except ValidationError as problem:
        raise spec_error(problem, source, path) from problem
    return build_planner(entry, spec, source, path)


def _configure(
    owner: Any, given: Mapping[str, Any], llm: ModelSpec | None, spec: InventorySpec, source: Source
) -> None:
    """Set what every asker of a model has: prompt, folders to look in, and call parameters."""
    for key, value in given.items():
        setattr(owner, key, value)
    owner.folders = source.folders
    owner.llm_params = spec.llm.params() | (llm.params() if llm else {})


def _set_model(owner: Any, llm: ModelSpec | None, where: str) -> None:
    """Set the model of its own that a module or planner has, if any."""
    if llm is None:
        return
    if llm.model:
        owner.own_model, owner.own_connection = full_name(llm.model), llm.connection()
    elif misplaced := next(iter(llm.connection()), None):
        raise InventoryError(
            f"llm.{misplaced} belongs to a model, and none is named beside it",
            where=where,
            hint=f"Give {misplaced} in the llm of the whole inventory, or name a model here.",
        )


def _locate(source: Source, path: KeyPath, *further: str) -> str:
    """The place of a key, and the key: "mine.yaml:7: modules.row_lookup"."""
    full = (*path, *further)
    return f"{source.place(full)}: {'.'.join(map(str, full))}"
