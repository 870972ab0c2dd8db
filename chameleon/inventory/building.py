"""From an inventory's data to its parts: every error names file, line and key."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast, get_args

from pydantic import BaseModel, ValidationError

from chameleon.core.llm_module import AsksModel, LLMModule
from chameleon.core.module import Module, check_keys, split_keys
from chameleon.core.planner import Planner
from chameleon.errors import ChameleonError, InventoryError
from chameleon.inventory.resolve import INVENTORY_MODULE, adapter_of, build, find_class, is_own, module_of
from chameleon.inventory.schema import InventorySpec, McpSpec, ModelSpec, ModuleSpec, PlannerSpec, short_for
from chameleon.inventory.source import KeyPath, Nesting, Source
from chameleon.inventory.toolkit import ModuleList, Toolkit
from chameleon.inventory.user_code import Family
from chameleon.text import nearest
from chameleon.usage import Budget

MCP_SERVER = "chameleon.modules.compose.mcp_server:McpServer"
_OF_ASKERS = (
    *("prompt", "samples", "vote", "structured", "table_style"),
    *("max_rows", "max_cell", "max_table_tokens", "max_text_tokens"),
)


def parts_of(source: Source, read: Callable[[Source], Any]) -> dict[str, Any]:
    """Check the data against `InventorySpec` and make what it names, as the arguments of an `Inventory`.

    `read` makes the inventories that it runs as modules. Raises `InventoryError` with the place.
    """
    if not source.above:
        source = replace(source, nesting=Nesting())
    spec = spec_of(source)
    builder = Builder(source, spec, read)
    planner = builder.planner(spec.planner, ("planner",))
    made = {name: builder.modules(name, entry) for name, entry in spec.modules.items()}
    policies = ((names, spec.modules[entry].on_error) for entry, names in made.items())
    return {
        **{key: getattr(spec, key) for key in ("name", "about", "rules", "repair", "llm")},
        "planner": planner,
        "modules": builder.together(made),
        "spec": spec,
        "input_types": spec.input,
        "fallback": tuple(spec.fallback),
        "on_error": {name: policy for names, policy in policies if policy for name in names},
        "budget": Budget(**spec.budget.model_dump()),
        "source": source,
    }


def spec_of(source: Source) -> InventorySpec:
    """Check the data against `InventorySpec`; nothing is imported. Raises `InventoryError` with the place."""
    data = source.data
    if source.params:
        data = {**data, "llm": {**(data.get("llm") or {}), **source.params}}
    try:
        return InventorySpec.model_validate(data)
    except ValidationError as problem:
        raise spec_error(problem, source) from problem


def own_code(source: Source, seen: set[str] | None = None) -> list[str]:
    """Return what an inventory names that Chameleon does not ship: to make it is to run that code or server.

    Nothing is imported, and each file that it runs as a module is looked at once: those in `seen` were.
    Raises `InventoryError` for a name that stands for nothing.
    """
    spec, seen = spec_of(source), {source.file} if seen is None else seen
    inside = list[str]()
    for entry in spec.modules.values():
        if entry.inventory and (inner := source.nested(entry.inventory)).file not in seen:
            seen.add(inner.file)
            inside += own_code(inner, seen)
    planners = [name for name in _used(spec.planner.model_dump()) if is_own(name, "planners")]
    names = [entry.use or name for name, entry in spec.modules.items() if not (entry.inventory or entry.mcp)]
    modules = [name for name in names if is_own(name, "modules")]
    servers = [each.mcp.place for each in spec.modules.values() if each.mcp]
    return [*dict.fromkeys([*planners, *modules, *servers, *inside])]


def _used(data: Any) -> Iterator[str]:
    """Yield what a planner, and those that it asks in its turn, are made from."""
    if isinstance(data, Mapping):
        if isinstance(data.get("use"), str):
            yield data["use"]
        for each in data.values():
            yield from _used(each)
    elif isinstance(data, list):
        for each in data:
            yield from _used(each)


@dataclass(frozen=True)
class Builder:
    """Makes the modules and planners that an inventory's file describes."""

    source: Source
    spec: InventorySpec
    read: Callable[[Source], Any]

    def modules(self, name: str, entry: ModuleSpec) -> Mapping[str, Module]:
        """Make the modules of one entry: one of its name, or those that a toolkit has, by their own."""
        path = ("modules", name)
        if entry.inventory is not None:
            return {name: self._configured(self._nested(entry.inventory, entry, path), name, entry, path)}
        if entry.mcp is not None:
            made: Module | Toolkit = self._server(entry.mcp, entry, path)
        else:
            given = self.source.given.get(name)
            found = self._found(entry.use or name, "modules", path) if given is None else given
            made = self._made(found, entry, path)
        if isinstance(made, Module):
            return {name: self._configured(made, name, entry, path)}
        for key in ("description", "when", "llm", *_OF_ASKERS):
            if getattr(entry, key) is not None:
                raise self._wrong((*path, key), f"an entry of several tools has no {key!r}", "Leave it out.")
        with self._at(path):
            several = made.modules()
        shared = ModuleSpec(asks=entry.asks)
        return {own: self._configured(each, own, shared, path) for own, each in several.items()}

    def together(self, made: Mapping[str, Mapping[str, Module]]) -> dict[str, Module]:
        """Return the modules of all entries. Raises `InventoryError` where two have one name."""
        found: dict[str, Module] = {}
        for entry, modules in made.items():
            if twice := next((name for name in modules if name in found), None):
                hint = "Give the entry a prefix for the names of its tools."
                raise self._wrong(("modules", entry), f"two modules are called {twice}", hint)
            found |= modules
        return found

    def _configured(self, module: Module, name: str, entry: ModuleSpec, path: KeyPath) -> Module:
        """Return a module under its name, with what all modules may have: card, prompt, model."""
        module = module.with_name(name)
        module.description = entry.description or module.description
        module.when = entry.when or module.when
        module.asks = entry.asks or module.asks
        if entry.reads is not None:
            keys = entry.reads if isinstance(entry.reads, str) else tuple(entry.reads)
            with self._at((*path, "reads")):
                check_keys(keys, None, f"module {name}")
            module = module.reading(split_keys(keys))
        if isinstance(entry.at_most, dict):
            raise self._wrong((*path, "at_most"), "at_most is a mapping", "Write how often it may run.")
        module.at_most = entry.at_most or module.at_most
        given = {key: value for key in _OF_ASKERS if (value := getattr(entry, key)) is not None}
        if entry.inventory is not None:
            if key := next(iter(given), None):
                raise self._wrong(path, f"an inventory as a module has no {key!r}", "Its own file says that.")
        elif module.needs_model:
            kind = type(module)
            if entry.structured and getattr(kind, "schema", LLMModule.schema) is LLMModule.schema:
                raise self._wrong(path, f"{kind.__name__} replies in text, and has no 'structured'")
            self._configure(module, given, entry.llm, path)
        elif given or entry.llm:
            key = next(iter(given), "llm")
            raise self._wrong(path, f"{type(module).__name__} asks no model and has no {key!r}")
        return module

    def _nested(self, name: str, entry: ModuleSpec, path: KeyPath) -> Module:
        """Make the module that runs an inventory, with its `llm` before what its own file says."""
        given = entry.parameters()
        if wrong := ["use"] if entry.use else [key for key in given if key != "at_least"]:
            key, hint = wrong[0], "Give inventory, at_least, llm, description, when, on_error."
            raise self._wrong((*path, key), f"an inventory as a module has no {key!r}", hint)
        try:
            source = self.source.nested(name)
        except InventoryError as problem:
            is_missing = problem.where in ("", name)
            place = ": ".join(filter(None, (self._place(path), problem.where)))
            raise problem.at(place) if is_missing else problem from None
        own = entry.llm.params() if entry.llm else {}
        recorded = self.source.recorded.get("inside", {}).get(path[-1], {})
        source = replace(source, params={**own, **self.source.params}, recorded=recorded)
        cls = self._found(INVENTORY_MODULE, "modules", path)
        module: Any = self._built(cls, {**given, "inventory": self.read(source)}, path)
        if entry.llm and entry.llm.model:
            module.own_model, module.own_connection = self._own_model(entry.llm)
        return cast(Module, module)

    def _server(self, mcp: McpSpec, entry: ModuleSpec, path: KeyPath) -> Toolkit:
        """Make what brings the tools of a server: as a log has them, where a run is to go on."""
        if entry.use:
            raise self._wrong((*path, "use"), "the tools of a server have no 'use'", "Leave it out.")
        recorded = self.source.recorded.get("tools", {}).values()
        listed = [tool for tool in recorded if tool.get("of") == path[-1]]
        given = {**entry.parameters(), "entry": path[-1], "server": mcp, "at_most": entry.at_most}
        given |= {"folder": self.source.folders[0] if self.source.folders else None, "listed": listed or None}
        made: Toolkit = self._built(find_class(MCP_SERVER, "modules"), given, path)
        return made

    def _built(self, cls: Any, given: Mapping[str, Any], path: KeyPath) -> Any:
        return build(cls, given, partial(self._place, path), ModuleSpec.model_fields)

    def _own_model(self, llm: ModelSpec) -> tuple[str, Mapping[str, Any]]:
        from chameleon.llm.providers import full_name

        return full_name(llm.model or ""), llm.connection()

    def _made(self, found: Any, entry: ModuleSpec, path: KeyPath) -> Module | Toolkit:
        """Make the module or toolkit of a class; a function, or a module that is made, is one already."""
        given = entry.parameters()
        if inspect.isclass(found):
            adapter = adapter_of(found)
            if adapter is None and not issubclass(found, Module | Toolkit):
                raise self._wrong(path, f"{found.__name__} is not a subclass of Module")
            made = self._built(found, given, path)
            return cast(Module | Toolkit, made if adapter is None else adapter(made))
        is_list = isinstance(found, list | tuple)
        if given and not is_list:
            hint = "Arguments are given in a plan: {module: NAME, args: {…}}."
            raise self._wrong((*path, next(iter(given))), f"{entry.use or path[-1]} takes no parameter", hint)
        with self._at(path):
            modules = [*map(module_of, found if is_list else [found])]
        if not is_list:
            return copy.copy(modules[0])
        given |= {"given": modules, "at_most": entry.at_most}
        return cast(Toolkit, build(ModuleList, given, partial(self._place, path)))

    def planner(self, entry: PlannerSpec, path: KeyPath) -> Planner:
        """Make the planner at `path`; parameters named `planner` and `planners` are planners themselves."""
        cls = self._found(entry.use, "planners", path)
        parameters = entry.parameters()
        if "planner" in parameters:
            parameters["planner"] = self._inner(parameters["planner"], (*path, "planner"))
        if isinstance(several := parameters.get("planners"), list):
            inner = (*path, "planners")
            parameters["planners"] = [self._inner(each, (*inner, n)) for n, each in enumerate(several)]
        planner: Planner = build(cls, parameters, partial(self._place, path), PlannerSpec.model_fields)
        if not isinstance(planner, Planner):
            hint = "Subclass chameleon.Planner and write propose."
            raise self._wrong(path, f"{cls.__name__} is no planner", hint)
        if isinstance(planner, AsksModel):
            self._configure(planner, {"prompt": entry.prompt} if entry.prompt else {}, entry.llm, path)
        elif entry.prompt or entry.llm:
            raise self._wrong(path, f"the planner {entry.use} asks no model, and has no prompt and no llm")
        return planner

    def _inner(self, data: Any, path: KeyPath) -> Planner:
        try:
            entry = PlannerSpec.model_validate(short_for(data))
        except ValidationError as problem:
            raise spec_error(problem, self.source, path) from problem
        return self.planner(entry, path)

    def _found(self, name: str, family: Family, path: KeyPath) -> Any:
        with self._at(path):
            return find_class(name, family, self.source.folders)

    def _configure(self, owner: Any, given: Mapping[str, Any], llm: ModelSpec | None, path: KeyPath) -> None:
        """Set what all askers of a model have: prompt, folders to look in, parameters, their own model."""
        for key, value in given.items():
            setattr(owner, key, value)
        owner.folders = self.source.folders
        owner.prompt_place = self._place(path, "prompt")
        own, given_for_all = llm.params() if llm else {}, self.source.params
        owner.llm_params = self.spec.llm.params() | {k: own[k] for k in own if k not in given_for_all}
        written = [each for each in (self.spec.llm, llm) if each and "temperature" in each.model_fields_set]
        if given_for_all.get("temperature", 0) is None or (written and written[-1].temperature is None):
            owner.llm_params |= {"temperature": None}  # left out, rather than 0
        owner.has_own_stop = "stop" not in given_for_all
        if llm is None:
            return
        if llm.model:
            owner.own_model, owner.own_connection = self._own_model(llm)
        elif misplaced := next(iter(llm.connection()), None):
            hint = f"Give {misplaced} in the llm of the whole inventory, or name a model here."
            raise self._wrong(path, f"llm.{misplaced} belongs to a model, and none is named beside it", hint)

    @contextmanager
    def _at(self, path: KeyPath) -> Iterator[None]:
        """Give an error the place of a key, unless it has its own: a fault of another tool in a file, say."""
        try:
            yield
        except ChameleonError as problem:
            raise problem if problem.where else problem.at(self._place(path)) from problem

    def _wrong(self, path: KeyPath, what: str, hint: str = "") -> InventoryError:
        return InventoryError(what, where=self._place(path), hint=hint)

    def _place(self, path: KeyPath, *further: str | int) -> str:
        """Return the place of a key, and the key: "mine.yaml:7: modules.row_lookup"."""
        full = (*path, *further)
        return f"{self.source.place(full)}: {'.'.join(map(str, full))}"


def spec_error(
    problem: ValidationError, source: Source, above: KeyPath = (), root: type[BaseModel] = InventorySpec
) -> InventoryError:
    """Tell what pydantic says of a file that `root` describes, with the place; the data stand at `above`."""
    errors = problem.errors()  # a misspelt key is why another one is missing
    first = next((error for error in errors if error["type"] == "extra_forbidden"), errors[0])
    path = (*above, *first["loc"])
    where = source.place(path)
    if first["type"] == "missing":
        return InventoryError(f"the key {'.'.join(map(str, path))!r} is missing", where=where)
    present: list[str] = []  # pydantic adds the names of the types that it tried
    data: Any = source.data
    model = root
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            break
        present.append(str(part))
        if len(present) < len(path) and (field := model.model_fields.get(str(part))) is not None:
            model = _model_in(field.annotation) or model
    key = ".".join(present)
    if first["type"] == "extra_forbidden":
        hint = nearest(str(path[-1]), model.model_fields)
        if model is InventorySpec and key in ModuleSpec.model_fields:
            hint = f"It stands at a module: `modules: {{NAME: {{{key}: …}}}}`."
        return InventoryError(f"unknown key {key!r}", where=where, hint=hint)
    message = first["msg"].removeprefix("Value error, ")
    shown = json.dumps(first["input"], default=str)[:80]
    hint = f"Write `{present[-1]}: {{NAME: …}}`." if first["type"] == "dict_type" else ""
    return InventoryError(f"{key} is {shown}: {message[:1].lower()}{message[1:]}", where=where, hint=hint)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Find the model in a type such as `dict[str, Model] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _model_in(part))), None)
