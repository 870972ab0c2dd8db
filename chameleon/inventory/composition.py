"""`Composition`: modules by name, a planner and the rules, once built; `Inventory` builds them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chameleon.core.access import Access, reading_own
from chameleon.core.arguments import Arguments
from chameleon.core.llm_module import AsksModel, asking_of
from chameleon.core.module import InnerRun, Module, named, refuse_old_names
from chameleon.core.planner import Planner, every_planner
from chameleon.errors import InventoryError, placed
from chameleon.inventory.resolve import INVENTORY_MODULE, find_class, module_of
from chameleon.inventory.schema import BudgetSpec, InventorySpec, ModelSpec, OnError, RepairSpec, RulesSpec
from chameleon.inventory.source import RULES_OF_ONE_MODULE, KeyPath, Source
from chameleon.lazy import cached_property
from chameleon.text import nearest
from chameleon.usage import Budget

RULES_OF_MODULES = ("last", *RULES_OF_ONE_MODULE)


@dataclass(frozen=True)
class Card:
    """What a planner sees of a module: its name, what it does, when to use it, and its arguments."""

    name: str
    description: str
    when: str = ""
    arguments: Arguments | None = None
    returns: str = ""
    takes_code: str = ""

    @property
    def signature(self) -> str:
        """Write arguments and output on one line, such as `(amount: number) -> number`, or ""."""
        arguments = self.arguments.signature if self.arguments else ""
        return f"{arguments or '()'} -> {self.returns}" if self.returns else arguments

    @property
    def call(self) -> str:
        """Write the name with its argument names; `?` marks optional ones."""
        if self.arguments is None:
            return self.name
        needed = self.arguments.required
        names = (name if name in needed else f"{name}?" for name in self.arguments.names)
        return f"{self.name}({', '.join(names)})"

    @property
    def notes(self) -> Mapping[str, str]:
        """Return the description of each argument that has one."""
        return self.arguments.notes if self.arguments else {}


def card_of(module: Module, arguments: Arguments | None) -> Card:
    """Return the card of a module that takes these arguments."""
    returns, code = module.traits.returns, module.traits.takes_code
    return Card(module.name, module.description, module.when, arguments, returns, code)


@dataclass(frozen=True, repr=False)
class Composition:
    """The parts of an inventory, and what follows from them: see `Inventory`.

    Attributes:
        brought: the modules that the planners bring along.
        access: what each module may read, change and take, by name.
    """

    name: str
    planner: Planner
    modules: Mapping[str, Module]
    spec: InventorySpec | None = None
    about: str = ""
    input_types: Mapping[str, str] = field(default_factory=dict)
    fallback: tuple[str, ...] = ()
    rules: RulesSpec = field(default_factory=RulesSpec)
    repair: Mapping[str, RepairSpec] = field(default_factory=dict)
    on_error: Mapping[str, OnError] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget(**BudgetSpec().model_dump()))
    llm: ModelSpec = field(default_factory=ModelSpec)
    source: Source | None = field(default=None, repr=False, compare=False)
    left_out: frozenset[str] = frozenset()
    brought: frozenset[str] = frozenset()
    access: Mapping[str, Access] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Add the planners' modules, and read what modules declare. Raises `InventoryError`."""
        with placed(self.name):
            modules = _by_name(self.modules)
        for part in (*modules.values(), *every_planner(self.planner)):
            refuse_old_names(part)
        brought = set(self.brought)
        for planner in self.planners.values():
            for name, each in planner.extra_modules.items():
                if name not in modules:
                    modules[name] = named(each, name)
                    brought.add(name)
                elif not isinstance(modules[name], type(each)):  # `replace` runs this again on its own result
                    what = f"the module name {name} is reserved by the planner {planner.name}"
                    where = self.place(("modules", name))
                    raise InventoryError(what, where=where, hint="Give the module another name.")
        modules = reading_own(modules, brought)
        access = {name: Access.of(module) for name, module in modules.items()}
        vars(self).update(modules=modules, brought=frozenset(brought), access=access)
        self._check_mentioned()

    @cached_property
    def planners(self) -> Mapping[str, Planner]:
        """Return its planner as "planner", and those it delegates to as "planner 1" and so on."""
        every = enumerate(every_planner(self.planner))
        return {f"planner {number}" if number else "planner": each for number, each in every}

    @cached_property
    def present(self) -> Mapping[str, Module]:
        """Return the modules that are not left out."""
        return {name: module for name, module in self.modules.items() if name not in self.left_out}

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Return modules by their names on their servers."""
        return {name: own for own, each in self.modules.items() if (name := each.traits.server_name)}

    @cached_property
    def needs_model(self) -> bool:
        """Return whether its planner or one of its modules asks a language model."""
        return self.planner.needs_model or any(self.access[name].needs_model for name in self.present)

    def _check_mentioned(self) -> None:
        """Raise `InventoryError` for a module that is named outside `modules` but missing from it."""
        places = self.source.places if self.source else {}
        for key, name in self._mentioned():
            if name in self.modules:
                continue
            part = ".".join(str(each) for each in key if isinstance(each, str))
            if (removed := places.get(("modules", name))) is not None:
                what = f"the module {name!r} is removed here, but {part} ({self.place(key)}) still names it"
                hint = f"Override {part} without {name}, or keep the module."
                raise InventoryError(what, where=removed, hint=hint)
            what = f"{part} names a module {name!r} that is not in the inventory"
            raise InventoryError(what, where=self.place(key), hint=nearest(name, self.modules))

    def _mentioned(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield every module that is named outside `modules`, with the key that names it."""
        yield from _names_in(self.fallback, "fallback")
        for rule in RULES_OF_MODULES:
            yield from _names_in(getattr(self.rules, rule), "rules", rule)
        for name, spec in self.repair.items():
            yield ("repair", name), name
            yield ("repair", name, "redo"), spec.redo
        for name, policy in self.on_error.items():
            if isinstance(policy, list):
                yield from _names_in(policy, "modules", name, "on_error")
        for planner in self.planners.values():
            for key, names in planner.referenced_modules.items():
                yield from _names_in(names, "planner", key)

    def place(self, path: KeyPath) -> str:
        """Return the place of a key in its file, or the inventory's name if it was made in Python."""
        return self.source.place(path) if self.source else self.name

    @property
    def cards(self) -> list[Card]:
        """Return a card for each module that plans may name, in the order of the inventory."""
        pairs = [(m, self.access[n].arguments) for n, m in self.present.items() if n not in self.brought]
        return [card_of(module, arguments) for module, arguments in pairs]

    @property
    def arguments(self) -> Mapping[str, Arguments | None]:
        """Return the arguments that a plan may give each module."""
        return {name: each.arguments for name, each in self.access.items()}

    @property
    def takes(self) -> Mapping[str, Sequence[str]]:
        """Return the argument names of the modules that take arguments."""
        return {name: each.names for name, each in self.arguments.items() if each is not None}

    @property
    def askers(self) -> Mapping[str, Any]:
        """Return every planner and module that asks a model and is not left out, by name."""
        parts = {**self.planners, **self.present}.items()
        asking = {name: each for name, each in parts if isinstance(each, AsksModel)}
        inside = ((n, each.inner.askers) for n, each in self.present.items() if isinstance(each, InnerRun))
        return asking | {f"{name}.{part}": each for name, parts in inside for part, each in parts.items()}

    @property
    def own_models(self) -> Mapping[str, str]:
        """Return the own model of each planner and module that has one."""
        models = {}
        for name, each in self.askers.items():
            around = self.modules.get(name.partition(".")[0])  # the module, or the one around a part
            models[name] = asking_of(each).model or asking_of(around).model
        return {name: model for name, model in models.items() if model}

    @property
    def needs_default_model(self) -> bool:
        """Return whether any part has no model of its own and so asks the run's model."""
        return self.needs_model and (not self.askers or len(self.own_models) < len(self.askers))


def _by_name(tools: Any) -> dict[str, Module]:
    """Return modules by name, from a mapping or a list of tools."""
    if isinstance(tools, Mapping):
        return {name: named(_module(each), name) for name, each in tools.items()}
    if isinstance(tools, str) or not isinstance(tools, Collection | Iterator):  # a single tool
        tools = [tools]
    modules: dict[str, Module] = {}
    for module in map(_module, tools):
        if module.name in modules:
            hint = "Pass a mapping of names to modules."
            raise InventoryError(f"two modules are named {module.name}", hint=hint)
        modules[module.name] = module
    return modules


def _module(tool: Any) -> Module:
    """Return a module from a module, a shipped name, a tool, or an inventory to run."""
    if isinstance(tool, Module):
        return tool
    if isinstance(tool, Composition):
        nested: Module = find_class(INVENTORY_MODULE, "modules")(tool)
        return nested
    return module_of(find_class(tool, "modules") if isinstance(tool, str) else tool)


def _names_in(data: Any, *path: str | int) -> Iterator[tuple[KeyPath, str]]:
    """Yield every name in lists and mappings of names, with its place."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, Mapping):
        for name, each in data.items():
            yield (*path, name), name
            yield from _names_in(each, *path, name)
    else:
        for index, each in enumerate(data):
            yield from _names_in(each, *path, index)
