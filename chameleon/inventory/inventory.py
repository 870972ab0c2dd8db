"""`Inventory`: the modules that a planner may choose from, with the rules of composing them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import isclass, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon import values
from chameleon.core.access import Access
from chameleon.core.conversation import HISTORY
from chameleon.core.llm_module import AsksModel
from chameleon.core.module import Module, split_keys
from chameleon.core.planner import (
    Planner,
    check_arguments,
    check_names,
    check_order,
    check_reads,
    every_planner,
)
from chameleon.core.state import State, Step
from chameleon.errors import ChameleonError, InputError, InventoryError
from chameleon.inventory.building import INVENTORY_MODULE, parts_of
from chameleon.inventory.obstacles import Obstacle, all_of, obstacles
from chameleon.inventory.references import check_mentioned, leave_out
from chameleon.inventory.resolve import adapter_of, build, find_class, module_of
from chameleon.inventory.schema import (
    INPUT_TYPES,
    BudgetSpec,
    InventorySpec,
    ModelSpec,
    OnError,
    RepairSpec,
    RulesSpec,
    short_for,
)
from chameleon.inventory.source import KeyPath, Source, read_source, source_of
from chameleon.lazy import cached_property
from chameleon.text import nearest, type_in_words, with_article
from chameleon.usage import Budget

if TYPE_CHECKING:
    from chameleon.core.arguments import Arguments


@dataclass(frozen=True)
class Card:
    """What a planner is told about a module: its name, what it does, when to use it, and what it takes."""

    name: str
    description: str
    when: str = ""
    arguments: Arguments | None = None
    gives: str = ""
    takes_code: str = ""

    @property
    def signature(self) -> str:
        """Write arguments and output on one line: `(amount: number) -> number`; "" where there are none."""
        taken = self.arguments.signature if self.arguments else ""
        return f"{taken or '()'} -> {self.gives}" if self.gives else taken

    @property
    def call(self) -> str:
        """Write the name with the names of the arguments, `?` at those that may be left out."""
        if self.arguments is None:
            return self.name
        needed = self.arguments.required
        told = (name if name in needed else f"{name}?" for name in self.arguments.names)
        return f"{self.name}({', '.join(told)})"

    @property
    def notes(self) -> Mapping[str, str]:
        """Return what is said of single arguments."""
        return self.arguments.notes if self.arguments else {}


@dataclass(frozen=True)
class Inventory:
    """Modules by name, a planner, and the rules for plans. Make one with `load`, `parse`, or in Python.

    In Python: `Inventory.of([convert, weather])`, or with all its parts `Inventory(name="mine",
    planner=Fixed(["shout"]), modules={"shout": Shout()})`. Further parts have the names
    of the keys of a file: `about`, `fallback`, `rules`, `repair`, `on_error` by module, `budget`, `llm`, and
    `input_types`. Raises `InventoryError` with file, line and key. `brought` are the planner's modules.
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

    def __post_init__(self) -> None:
        try:
            named = _by_name(self.modules)
        except InventoryError as problem:
            raise problem if problem.where else problem.at(self.name) from problem
        for planner in every_planner(self.planner):
            for name, each in planner.brings.items():
                if name in named and not isinstance(named[name], type(each)):
                    what = f"a module is called {name}, and that name is the planner's ({planner.name})"
                    where = self.place(("modules", name))
                    raise InventoryError(what, where=where, hint="Give the module another name.")
            brought = {name: each for name, each in planner.brings.items() if name not in named}
            object.__setattr__(self, "brought", self.brought | set(brought))
            named |= _by_name(brought)
        object.__setattr__(self, "modules", _told_own(named, self.brought))
        check_mentioned(self)

    @classmethod
    def of(
        cls, given: Any, planner: str | Planner | type[Planner] | None = None, *, name: str = "tools"
    ) -> Inventory:
        """Return an inventory as it is given: made, by its name or file, or as a list of tools.

        Tools are functions, modules, classes of them, and shipped modules by name; `planner`, by its name or
        as it is made, then plans over them (by default `one_shot`), and `name` is the inventory's. Raises
        `InventoryError` for anything else, and for a planner beside an inventory that is made.
        """
        is_spec = isinstance(given, Mapping) and "modules" in given
        if planner is not None and (is_spec or isinstance(given, Inventory | str | Path)):
            raise InventoryError("an inventory has a planner of its own", hint="Change it there.")
        if isinstance(given, Inventory):
            return given
        if isinstance(given, str | Path):
            return cls.load(given)
        if is_spec:
            return cls.parse(given)
        is_one = isinstance(given, Module) or callable(given) or adapter_of(given) is not None
        if is_one and not isinstance(given, Mapping):
            given = [given]
        planner = "one_shot" if planner is None else planner
        chosen = find_class(planner, "planners") if isinstance(planner, str) else planner
        planning = build(chosen, {}, lambda *_: name) if isclass(chosen) else chosen
        if not isinstance(planning, Planner):
            hint = 'Give its name, such as "react", or a Planner.'
            raise InventoryError(f"{str(planning)[:60]!r} is no planner", where=name, hint=hint)
        made = cls(name, planning, given)
        if not made.modules.keys() - made.brought:
            hint = "Give a list of functions and modules."
            raise InventoryError("there are no tools", where=name, hint=hint)
        return made

    @classmethod
    def load(
        cls, name: str | Path, folder: Path | None = None, *, recorded: Mapping[str, Any] | None = None
    ) -> Inventory:
        """Read the shipped inventory of that name, or the file at that path.

        `recorded` are the settings of a run's log, `RunStarted.settings`: the tools of servers are then as
        they were listed for that run, and no server is asked for them.
        """
        return cls.read(replace(read_source(str(name), folder), recorded=recorded or {}))

    @classmethod
    def parse(cls, data: Mapping[str, Any], folder: Path | None = None) -> Inventory:
        """Make an inventory from a mapping of the form of a file; a class or function may be a module."""
        return cls.read(source_of(data, folder))

    @classmethod
    def read(cls, source: Source) -> Inventory:
        """Make the inventory that a source describes. Raises `InventoryError` with the place."""
        try:
            return cls(**parts_of(source, cls.read))
        except InventoryError as problem:
            raise problem if problem.where else problem.at(source.file) from problem

    def place(self, path: KeyPath) -> str:
        """Return where a key stands in its file; its name where it was made in Python."""
        return self.source.place(path) if self.source else self.name

    def without(self, *names: str) -> Inventory:
        """Return the inventory without these modules, as an ablation has it; no plan runs them."""
        return leave_out(self, names)

    def with_params(self, params: Mapping[str, Any]) -> Inventory:
        """Return the inventory with these parameters for all calls, in place of its own; None leaves one out.

        They are keys of `llm`, such as {"reasoning": "none"}. Raises `InventoryError` for what is none, and
        for an inventory made in Python.
        """
        if not params:
            return self
        if self.source is None:
            raise InventoryError("an inventory made in Python has no parameters to change", where=self.name)
        source = replace(self.source, params={**self.source.params, **params})
        return Inventory.read(source).without(*self.left_out)

    def with_setting(self, name: str, value: Any) -> Inventory:
        """Return the inventory with this parameter in each module that takes it, in place of its own.

        Raises `InventoryError` where none takes it, and for an inventory made in Python.
        """
        plain = {key: each for key, each in self.modules.items() if each.inner is None}
        taking = [key for key, each in plain.items() if name in signature(type(each)).parameters]
        if self.source is None or not taking:
            raise InventoryError(f"no module of the inventory {self.name} takes {name}")
        entries = self.source.data["modules"]
        changed = {key: {**short_for(entries[key]), name: value} for key in taking}
        data = {**self.source.data, "modules": {**entries, **changed}}
        return Inventory.read(replace(self.source, data=data)).without(*self.left_out)

    @property
    def askers(self) -> Mapping[str, Any]:
        """Return every planner and module that asks a model and may run, by name."""
        planners = enumerate(every_planner(self.planner))
        named = {f"planner {number}" if number else "planner": each for number, each in planners}
        asking = {**named, **self.present}.items()
        found = {name: each for name, each in asking if isinstance(each, AsksModel) and each.needs_model}
        return found | {
            f"{name}.{part}": each
            for name, module in self.present.items()
            if module.inner is not None
            for part, each in module.inner.askers.items()
        }

    @property
    def cards(self) -> list[Card]:
        """Return a card for each module that plans may name, in the order of the inventory."""
        return [
            Card(name, module.description, module.when, self.arguments[name], module.gives, module.takes_code)
            for name, module in self.present.items()
            if name not in self.brought
        ]

    @cached_property
    def arguments(self) -> Mapping[str, Arguments | None]:
        """Return what each module takes in a plan besides the state."""
        taken = {name: module.arguments for name, module in self.modules.items()}
        return {name: each and replace(each, module=name) for name, each in taken.items()}

    @property
    def takes(self) -> Mapping[str, Sequence[str]]:
        """Return the names of the arguments of those modules that take some."""
        return {name: each.names for name, each in self.arguments.items() if each is not None}

    @property
    def present(self) -> Mapping[str, Module]:
        """Return the modules that are not left out."""
        return {name: module for name, module in self.modules.items() if name not in self.left_out}

    @cached_property
    def access(self) -> Mapping[str, Access]:
        """Return what each module may see and change."""
        return {name: Access.of(module) for name, module in self.modules.items()}

    @property
    def needs_model(self) -> bool:
        """Return whether its planner or one of its modules asks a language model."""
        return self.planner.needs_model or any(each.needs_model for each in self.present.values())

    @property
    def own_models(self) -> Mapping[str, str]:
        """Return the planners and modules that ask a model of their own, and which."""
        found = {}
        for name, each in self.askers.items():
            module = self.modules.get(name.partition(".")[0])
            within = getattr(module, "own_model", "") if module is not None and module.inner else ""
            if model := each.own_model or within:
                found[name] = model
        return found

    @property
    def needs_default_model(self) -> bool:
        """Return whether some part of it asks the model of the run, having none of its own."""
        return self.needs_model and (not self.askers or len(self.own_models) < len(self.askers))

    @property
    def dropped(self) -> Mapping[str, Mapping[str, str]]:
        """What models, by name, are known not to take of the parameters of a bound inventory, and why."""
        found: dict[str, dict[str, str]] = {}
        for asker in self.askers.values():
            if dropped := asker.model.dropped():
                found.setdefault(asker.model.name, {}).update(dropped)
        return found

    def check_input(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the input, frozen. Raises `InputError` naming a missing, unknown or wrongly typed key."""
        if not isinstance(given, Mapping):
            hint = "An input is a mapping such as {'question': 'How many?'}."
            raise InputError(f"the input is {type_in_words(given)}", hint=hint)
        present = {key: values.adopted(value) for key, value in given.items() if value is not None}
        if self.input_types:
            for key, kind in self.input_types.items():
                if key not in present and not kind.endswith("?"):
                    what = f"the inventory {self.name} needs {with_article(key)}"
                    hint = f"Give {key!r} in the input."
                    raise InputError(what, hint=hint, code=f"missing-input:{key}")
            for key, value in present.items():
                if key == HISTORY and key not in self.input_types and isinstance(value, list | tuple):
                    continue  # every inventory takes the turns before
                if key not in self.input_types:
                    hint = nearest(str(key), self.input_types)
                    raise InputError(f"the inventory {self.name} takes no {key}", hint=hint)
                kind = self.input_types[key].removesuffix("?")
                if not isinstance(value, INPUT_TYPES[kind]):
                    what = f"{key} is {type_in_words(value)}, and the inventory takes {with_article(kind)}"
                    hint = "chameleon.table.read_table reads a file." if kind == "Table" else ""
                    raise InputError(what, hint=hint)
                if key == "question" and not str(value).strip():
                    raise InputError("the question is empty")
        try:
            frozen: Mapping[str, Any] = values.freeze(present, "input")
        except ChameleonError as problem:
            raise InputError(problem.what, hint=problem.hint) from problem
        return frozen

    def __str__(self) -> str:
        return f"{self.name}: {self.planner.name} over {', '.join(self.present)}"

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Return the modules by the names that their servers have for them."""
        return {each.alias: name for name, each in self.modules.items() if each.alias}

    def meant(self, step: Step) -> Step:
        """Return the step with its module's name, where it has that of the module's server: `get-sum`."""
        name = step.module
        return step if name in self.modules else replace(step, module=self.aliases.get(name, name))

    def check_plan(self, plan: Sequence[Step | str], state: State, *, whole: bool = True) -> None:
        """Raise `PlanError` if steps or names cannot follow the state, or a `whole` plan breaks the order."""
        steps = [Step(each) if isinstance(each, str) else each for each in plan]
        names = [step.module for step in steps]
        check_names(names, self.modules, self.rules)
        if whole:
            check_order(names, self.rules)
        check_reads(names, self.access, state.keys)
        check_arguments(steps, self.arguments, state.program, {"input", *state.input})

    def obstacles(self) -> list[Obstacle]:
        """Find all that keeps it from working here, or a module that a run can do without: see `Obstacle`."""
        return list(obstacles(self))

    def check(self) -> None:
        """Raise all that is wrong or missing at once: prompts, what modules and planners need, and plans."""
        if found := self.obstacles():
            raise all_of(found, self.name)


def _told_own(modules: Mapping[str, Module], brought: Collection[str]) -> dict[str, Module]:
    """Return the modules; those that tell what others found read the keys that modules of one's own add."""
    own = {name: each for name, each in modules.items() if each.is_of_ones_own and name not in brought}
    shipped = [each for name, each in modules.items() if name not in own]
    read = [key for each in shipped if not each.tells_own for key in split_keys(each.reads or ())]
    given = [*read, *(key for each in shipped for key in each.written_keys)]
    known = {part for key in given for part in key.removesuffix("?").split("|")}
    of_text = (set(each.written_keys).difference(split_keys(each.non_text)) for each in own.values())
    written = {key for keys in of_text for key in keys if key.startswith("cache.")}
    keys = [f"{key}?" for key in sorted(written - known)]
    return {n: each.reading(keys, known) if keys and each.tells_own else each for n, each in modules.items()}


def _by_name(given: Any) -> dict[str, Module]:
    """Return modules by name, as they are given: a mapping, or a list of what has a name of its own."""
    if isinstance(given, Mapping):
        return {name: _module(each).with_name(name) for name, each in given.items()}
    if isinstance(given, str) or not isinstance(given, Iterable):
        what = f"{str(given)[:60]!r} is {type_in_words(given)}, and no modules"
        hint = "Give a list of functions and modules, or a mapping of names to them."
        raise InventoryError(what, hint=hint)
    found: dict[str, Module] = {}
    for module in map(_module, given):
        if module.name in found:
            hint = "Give a mapping of names to modules."
            raise InventoryError(f"two modules are called {module.name}", hint=hint)
        found[module.name] = module
    return found


def _module(given: Any) -> Module:
    """Return what is given as a module: a shipped one by its name; an inventory is one that runs it."""
    if isinstance(given, str):
        given = find_class(given, "modules")
    if isinstance(given, Inventory):
        nested: Module = find_class(INVENTORY_MODULE, "modules")(given)
        return nested
    return module_of(given)
