"""Build the parts of an inventory from its data: every error names the file, line and key."""

import copy
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast, get_args

from pydantic import BaseModel, ValidationError

from chameleon.core.access import reading
from chameleon.core.llm_module import Asking, AsksModel, LLMModule, configure
from chameleon.core.module import Module, check_keys, needs_model, split_keys
from chameleon.core.planner import Planner
from chameleon.errors import InventoryError, placed
from chameleon.inventory.resolve import INVENTORY_MODULE, adapter_of, build, find_class, is_own, module_of
from chameleon.inventory.schema import InventorySpec, McpSpec, ModelSpec, ModuleSpec, PlannerSpec, short_for
from chameleon.inventory.source import KeyPath, Nesting, Source
from chameleon.inventory.toolkit import ModuleList, Toolkit
from chameleon.inventory.user_code import Family
from chameleon.text import nearest
from chameleon.usage import Budget

MCP_SERVER = "chameleon.modules.compose.mcp_server:McpServer"
_KEYS = [*ModuleSpec.model_fields]
_VIEW_KEYS = {
    "table_style": "style",
    "max_table_tokens": "max_tokens",
    **{name: name for name in ("max_rows", "max_cell", "max_text_tokens")},
}
_ASKER_KEYS = _KEYS[_KEYS.index("prompt") :]  # keys for modules that ask a model


def parts_of(source: Source, read: Callable[[Source], Any]) -> dict[str, Any]:
    """Check the data against `InventorySpec` and build its parts, as the arguments of an `Inventory`.

    `read` builds the inventories that it runs as modules. Raises `InventoryError` with the place.
    """
    if not source.above:
        source = replace(source, nesting=Nesting())  # each outermost inventory has its own count
    spec = spec_of(source)
    builder = Builder(source, spec, read)
    return {
        **{key: getattr(spec, key) for key in ("name", "about", "rules", "repair", "llm")},
        "planner": builder.planner(spec.planner, ("planner",)),
        **builder.modules(),
        "spec": spec,
        "input_types": spec.input,
        "fallback": tuple(spec.fallback),
        "budget": Budget(**spec.budget.model_dump()),
        "source": source,
    }


def spec_of(source: Source) -> InventorySpec:
    """Check the data against `InventorySpec`, importing nothing. Raises `InventoryError` with the place."""
    data = source.data
    if source.params:
        data = {**data, "llm": {**(data.get("llm") or {}), **source.params}}
    try:
        return InventorySpec.model_validate(data)
    except ValidationError as problem:
        raise spec_error(problem, source) from problem


def own_code(source: Source, seen: set[str] | None = None) -> list[str]:
    """Return the code and servers that an inventory names and Chameleon does not ship; loading it runs them.

    Nothing is imported. Each inventory file that it runs as a module is read once, and files in `seen` not
    again. Raises `InventoryError` for an unknown name.
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
    """Yield the `use` of a planner and of the planners it delegates to."""
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
    """Builds the modules and planners described in an inventory's file."""

    source: Source
    spec: InventorySpec
    read: Callable[[Source], Any]

    def modules(self) -> dict[str, dict[str, Any]]:
        """Make the modules of all entries. Raises `InventoryError` if two have the same name."""
        modules, on_error = dict[str, Module](), dict[str, Any]()
        for entry, spec in self.spec.modules.items():
            for name, module in self._modules(entry, spec, ("modules", entry)).items():
                if name in modules:
                    hint = "Add a prefix for the tools of this entry."
                    raise self._wrong(("modules", entry), f"two modules are named {name}", hint)
                modules[name] = module
                if spec.on_error:
                    on_error[name] = spec.on_error
        return {"modules": modules, "on_error": on_error}

    def _modules(self, name: str, entry: ModuleSpec, path: KeyPath) -> dict[str, Module]:
        """Make the modules of one entry: one with its name, or a toolkit's under their own names."""
        part: Module | Toolkit
        if entry.inventory is not None:
            part = self._nested(entry.inventory, entry, path)
        elif entry.mcp is not None:
            part = self._server(entry.mcp, entry, path)
        else:
            value = self.source.given.get(name)
            target = self._find(entry.use or name, "modules", path) if value is None else value
            part = self._make(target, entry, path)
        if isinstance(part, Module):
            return {name: self._configured(part, entry, path)}
        self._refuse(entry, ("description", "when", *_ASKER_KEYS), path, "an entry of several tools takes no")
        with placed(self._place(path)):
            several = part.modules()
        shared = ModuleSpec(requires_approval=entry.requires_approval)
        return {tool_name: self._configured(each, shared, path) for tool_name, each in several.items()}

    def _configured(self, module: Module, entry: ModuleSpec, path: KeyPath) -> Module:
        """Return a module with the settings any entry may have: card, keys to read, prompt, model."""
        module.description = entry.description or module.description
        module.when = entry.when or module.when
        if entry.requires_approval is not None:
            module.requires_approval = entry.requires_approval
        if entry.reads is not None:
            keys = entry.reads if isinstance(entry.reads, str) else tuple(entry.reads)
            with placed(self._place(path, "reads")):
                check_keys(keys, None, f"module {path[-1]}")
            module = reading(module, split_keys(keys))
        if isinstance(entry.max_runs, dict):
            raise self._wrong((*path, "max_runs"), "max_runs is a mapping", "Write a number of runs.")
        module.max_runs = entry.max_runs or module.max_runs
        kind = type(module)
        if entry.inventory is not None:
            model, connection = self._own_model(entry.llm, path)
            if model:
                configure(module, Asking(model=model, connection=connection))
        elif not (isinstance(module, AsksModel) and needs_model(module)):
            self._refuse(entry, _ASKER_KEYS, path, f"{kind.__name__} asks no model and takes no")
        elif entry.structured and getattr(kind, "schema", LLMModule.schema) is LLMModule.schema:
            raise self._wrong(path, f"{kind.__name__} replies in text, so it cannot have 'structured'")
        else:
            self._configure(module, entry, path)
        return module

    def _nested(self, name: str, entry: ModuleSpec, path: KeyPath) -> Module:
        """Make the module that runs an inventory; the entry's `llm` overrides that of its file."""
        keys = ("use", *_ASKER_KEYS, *entry.parameters())
        refused = [key for key in keys if key not in ("llm", "at_least")]
        self._refuse(entry, refused, path, "an inventory as a module takes no")
        with placed(self._place(path)):
            source = self.source.nested(name)
        params = entry.llm.params() if entry.llm else {}
        recorded = self.source.recorded.get("inside", {}).get(path[-1], {})
        source = replace(source, params={**params, **self.source.params}, recorded=recorded)
        cls = self._find(INVENTORY_MODULE, "modules", path)
        module: Module = self._build(cls, {**entry.parameters(), "inventory": self.read(source)}, path)
        return module

    def _server(self, mcp: McpSpec, entry: ModuleSpec, path: KeyPath) -> Toolkit:
        """Make the toolkit of a server from its tools, or from the log of a resumed run."""
        self._refuse(entry, ("use",), path, "the tools of a server take no")
        recorded = self.source.recorded.get("tools", {}).values()
        tools = [tool_name for tool_name in recorded if tool_name.get("of") == path[-1]]
        args = {**entry.parameters(), "entry": path[-1], "server": mcp, "max_runs": entry.max_runs}
        args |= {"folder": self.source.folders[0] if self.source.folders else None, "listed": tools or None}
        toolkit: Toolkit = self._build(find_class(MCP_SERVER, "modules"), args, path)
        return toolkit

    def _build(
        self, cls: Any, params: Mapping[str, Any], path: KeyPath, spec: type[BaseModel] = ModuleSpec
    ) -> Any:
        return build(cls, params, partial(self._place, path), spec.model_fields)

    def _make(self, target: Any, entry: ModuleSpec, path: KeyPath) -> Module | Toolkit:
        """Make a module or toolkit from a class, a function, a module or a list of them."""
        args = entry.parameters()
        if inspect.isclass(target):
            if not (issubclass(target, Module | Toolkit) or adapter_of(target)):
                raise self._wrong(path, f"{target.__name__} is not a subclass of Module")
            part = self._build(target, args, path)
            return part if isinstance(part, Toolkit) else module_of(part)
        is_list = isinstance(target, list | tuple)
        if args and not is_list:
            hint = "A plan passes arguments: {module: NAME, args: {…}}."
            raise self._wrong((*path, next(iter(args))), f"{entry.use or path[-1]} takes no parameter", hint)
        with placed(self._place(path)):
            modules = [*map(module_of, target if is_list else [target])]
        if not is_list:
            return copy.copy(modules[0])  # its settings change, and others may use the same object
        args |= {"given": modules, "max_runs": entry.max_runs}
        return cast(Toolkit, self._build(ModuleList, args, path))

    def planner(self, data: Any, path: KeyPath) -> Planner:
        """Make the planner at `path`, and the planners in its parameters `planner` and `planners`."""
        try:
            entry = PlannerSpec.model_validate(short_for(data))
        except ValidationError as problem:
            raise spec_error(problem, self.source, path) from problem
        cls = self._find(entry.use, "planners", path)
        parameters = entry.parameters()
        if "planner" in parameters:
            parameters["planner"] = self.planner(parameters["planner"], (*path, "planner"))
        if isinstance(several := parameters.get("planners"), list):
            inner = (*path, "planners")
            parameters["planners"] = [self.planner(each, (*inner, n)) for n, each in enumerate(several)]
        planner: Planner = self._build(cls, parameters, path, PlannerSpec)
        if not isinstance(planner, Planner):
            hint = "Subclass chameleon.Planner and write propose."
            raise self._wrong(path, f"{cls.__name__} is not a planner", hint)
        if isinstance(planner, AsksModel):
            self._configure(planner, entry, path)
        else:
            self._refuse(entry, ("prompt", "llm"), path, f"planner {entry.use} asks no model and takes no")
        return planner

    def _find(self, name: str, family: Family, path: KeyPath) -> Any:
        with placed(self._place(path)):
            return find_class(name, family, self.source.folders)

    def _configure(self, owner: Any, entry: ModuleSpec | PlannerSpec, path: KeyPath) -> None:
        """Set what every part that asks a model has: prompt, table view, call parameters, its own model."""
        keys = [key for key in _ASKER_KEYS if key != "llm" and key in type(entry).model_fields]
        settings = {key: value for key in keys if (value := getattr(entry, key)) is not None}
        if view := {_VIEW_KEYS[key]: settings.pop(key) for key in [*settings] if key in _VIEW_KEYS}:
            owner.table_view = replace(owner.table_view, **view)
        vars(owner).update(settings)
        llm, given_for_all = entry.llm, self.source.params
        own = llm.params() if llm else {}  # overridden by those for all calls
        params = self.spec.llm.params() | {k: own[k] for k in own if k not in given_for_all}
        specs = [each for each in (self.spec.llm, llm) if each and "temperature" in each.model_fields_set]
        if given_for_all.get("temperature", 0) is None or (specs and specs[-1].temperature is None):
            params |= {"temperature": None}  # omit it instead of defaulting to 0
        model, connection = self._own_model(llm, path)
        place, stops = self._place(path, "prompt"), "stop" not in given_for_all
        configure(owner, Asking(params, self.source.folders, place, model, connection, has_own_stop=stops))

    def _own_model(self, llm: ModelSpec | None, path: KeyPath) -> tuple[str, Mapping[str, Any]]:
        """Return the model that an entry names, or "", with its connection."""
        if llm is not None and llm.model:
            from chameleon.llm.providers import full_name

            return full_name(llm.model), llm.connection()
        if llm is not None and (misplaced := next(iter(llm.connection()), None)):
            hint = f"Move {misplaced} to the inventory's own llm, or name a model here."
            raise self._wrong(path, f"llm.{misplaced} needs a model next to it", hint)
        return "", {}

    def _refuse(self, entry: BaseModel, keys: Iterable[str], path: KeyPath, what: str) -> None:
        """Raise `InventoryError` for the first of these keys that is set; `what` ends in "takes no"."""
        if key := next((key for key in keys if getattr(entry, key) is not None), None):
            raise self._wrong((*path, key), f"{what} {key!r}", "Remove it.")

    def _wrong(self, path: KeyPath, what: str, hint: str = "") -> InventoryError:
        return InventoryError(what, where=self._place(path), hint=hint)

    def _place(self, path: KeyPath, *further: str | int) -> str:
        """Return the place and path of a key: "mine.yaml:7: modules.row_lookup"."""
        full = (*path, *further)
        return f"{self.source.place(full)}: {'.'.join(map(str, full))}"


def spec_error(
    problem: ValidationError, source: Source, above: KeyPath = (), root: type[BaseModel] = InventorySpec
) -> InventoryError:
    """Return pydantic's error about the data of a file, with its place.

    Args:
        above: the key path of that data in the file.
        root: the type of the whole file.
    """
    errors = problem.errors()  # a misspelled key explains a missing one
    first = next((error for error in errors if error["type"] == "extra_forbidden"), errors[0])
    path = (*above, *first["loc"])
    where = source.place(path)
    if first["type"] == "missing":
        return InventoryError(f"the key {'.'.join(map(str, path))!r} is missing", where=where)
    present: list[str] = []  # pydantic also adds the types it tried
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
            hint = f"It belongs to a module: `modules: {{NAME: {{{key}: …}}}}`."
        return InventoryError(f"unknown key {key!r}", where=where, hint=hint)
    message = first["msg"].removeprefix("Value error, ")
    value = json.dumps(first["input"], default=str)[:80]
    hint = f"Write `{present[-1]}: {{NAME: …}}`." if first["type"] == "dict_type" else ""
    return InventoryError(f"{key} is {value}: {message[:1].lower()}{message[1:]}", where=where, hint=hint)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model in a type such as `dict[str, Model] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _model_in(part))), None)
