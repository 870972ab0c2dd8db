"""From an inventory's data to an `Inventory`: every fault is told with its file, line and key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from chameleon.budget import Budget
from chameleon.errors import ChameleonError, InventoryError
from chameleon.inventory.inventory import Inventory
from chameleon.inventory.resolve import build, find_class
from chameleon.inventory.schema import InventorySpec, ModelSpec, ModuleSpec, PlannerSpec, RepairSpec
from chameleon.inventory.source import Source
from chameleon.module import Module
from chameleon.planner import Planner, nearest


def inventory_of(source: Source) -> Inventory:
    """Check the data against `InventorySpec`, make what it names; raises `InventoryError` with the place."""
    try:
        spec = InventorySpec.model_validate(source.data)
    except ValidationError as problem:
        raise _spec_error(problem, source) from problem
    modules = {name: _build_module(name, entry, spec, source) for name, entry in spec.modules.items()}
    try:
        return Inventory(
            name=spec.name,
            planner=build_planner(spec.planner, spec, source),
            modules=modules,
            spec=spec,
            about=spec.about,
            input_types=spec.input,
            fallback=tuple(spec.fallback),
            rules=spec.rules,
            repair=spec.repair,
            on_error={name: entry.on_error for name, entry in spec.modules.items()},
            budget=Budget(**spec.budget.model_dump()),
            llm=spec.llm,
        )
    except InventoryError as problem:
        raise InventoryError(problem.what, where=problem.where or source.file, hint=problem.hint) from problem


def _spec_error(problem: ValidationError, source: Source) -> InventoryError:
    first = problem.errors()[0]
    path = [part for part in first["loc"] if isinstance(part, str | int)]
    known = [part for index, part in enumerate(path) if tuple(path[: index + 1]) in source.places] or path
    key = ".".join(str(part) for part in known)
    if first["type"] == "extra_forbidden":
        options = InventorySpec.model_fields if len(path) == 1 else _fields_at(path)
        return InventoryError(
            f"unknown key {key!r}", where=source.place(path), hint=nearest(str(path[-1]), options)
        )
    if first["type"] == "missing":
        return InventoryError(f"the key {'.'.join(map(str, path))!r} is missing", where=source.place(path))
    message = first["msg"].removeprefix("Value error, ")
    shown = json.dumps(first["input"], default=str)[:80]
    return InventoryError(f"{key} is {shown}: {message[:1].lower()}{message[1:]}", where=source.place(path))


def _fields_at(path: Sequence[str | int]) -> list[str]:
    """The keys that may stand where an unknown one was found."""
    field_info = InventorySpec.model_fields.get(str(path[0]))
    annotation = field_info.annotation if field_info else None
    if annotation is not None and hasattr(annotation, "model_fields") and len(path) == 2:
        return list(annotation.model_fields)
    return list({"repair": RepairSpec.model_fields}.get(str(path[0]), ModelSpec.model_fields))


def _build_module(name: str, entry: ModuleSpec, spec: InventorySpec, source: Source) -> Module:
    path = ("modules", name)
    where = f"{source.place(path)}: modules.{name}"
    try:
        cls = find_class(entry.use or name, "modules", source.folders)
    except ChameleonError as problem:
        raise _moved(problem, where) from problem
    if not issubclass(cls, Module):
        raise InventoryError(f"{cls.__name__} is not a subclass of Module", where=where)
    module: Module = build(cls, entry.parameters(), where)
    module.name = name
    module.when = entry.when or module.when
    settings = {"prompt": entry.prompt, "samples": entry.samples, "vote": entry.vote}
    settings |= {"table_style": entry.table_style, "max_rows": entry.max_rows}
    given = {key: value for key, value in settings.items() if value is not None}
    if (given or entry.llm) and not module.needs_model:
        key = next(iter(given), "llm")
        raise InventoryError(f"{cls.__name__} asks no model and has no {key!r}", where=where)
    if module.needs_model:
        _configure(module, given, entry.llm, spec, source)
    return module


def build_planner(entry: PlannerSpec, spec: InventorySpec, source: Source) -> Planner:
    """Make a planner; parameters named `planner` and `planners` are planners themselves."""
    where = f"{source.place(('planner',))}: planner"
    try:
        cls = find_class(entry.use, "planners", source.folders)
    except ChameleonError as problem:
        raise _moved(problem, where) from problem
    parameters = entry.parameters()
    if isinstance(inner := parameters.get("planner"), dict):
        parameters["planner"] = build_planner(PlannerSpec.model_validate(inner), spec, source)
    if isinstance(several := parameters.get("planners"), list):
        parameters["planners"] = [
            build_planner(PlannerSpec.model_validate(one), spec, source) for one in several
        ]
    planner: Planner = build(cls, parameters, where)
    if not callable(getattr(planner, "propose", None)):
        raise InventoryError(f"{cls.__name__} has no method propose", where=where)
    if hasattr(planner, "prompt"):
        _configure(planner, {"prompt": entry.prompt} if entry.prompt else {}, entry.llm, spec, source)
    elif entry.prompt or entry.llm:
        raise InventoryError(
            f"the planner {entry.use} asks no model, and has no prompt and no llm", where=where
        )
    return planner


def _configure(
    owner: Any, given: Mapping[str, Any], llm: ModelSpec | None, spec: InventorySpec, source: Source
) -> None:
    """Set what every asker of a model has: prompt, folders to look in, and call parameters."""
    for key, value in given.items():
        setattr(owner, key, value)
    owner.folders = source.folders
    owner.llm_params = spec.llm.params() | (llm.params() if llm else {})


def _moved(problem: ChameleonError, where: str) -> ChameleonError:
    return type(problem)(problem.what, where=where, hint=problem.hint)
