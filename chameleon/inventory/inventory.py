"""`Inventory`: the modules that a planner may choose from, with the rules of composing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from inspect import isclass, signature
from pathlib import Path
from typing import Any, cast

from chameleon import values
from chameleon.core.conversation import HISTORY
from chameleon.core.module import InnerRun, Module
from chameleon.core.planner import Planner
from chameleon.errors import ChameleonError, InputError, InventoryError, placed
from chameleon.inventory.building import parts_of
from chameleon.inventory.composition import RULES_OF_MODULES, Composition
from chameleon.inventory.obstacles import Obstacle, all_of, obstacles
from chameleon.inventory.resolve import build, find_class
from chameleon.inventory.schema import INPUT_TYPES, short_for
from chameleon.inventory.source import Source, read_source, source_of, without
from chameleon.text import nearest, one_line, type_in_words, with_article

_MAX_REPR_CHARS = 300  # characters


@dataclass(frozen=True, repr=False)
class Inventory(Composition):
    """Modules by name, a planner, and the rules for plans. Make one with `load`, `parse`, or in Python.

    In Python: `Inventory.of([convert, weather])`, or with all its parts `Inventory(name="mine",
    planner=Fixed(["shout"]), modules={"shout": Shout()})`. Further parts have the names
    of the keys of a file: `about`, `fallback`, `rules`, `repair`, `on_error` by module, `budget`, `llm`, and
    `input_types`. Raises `InventoryError` with file, line and key.
    """

    @classmethod
    def of(
        cls,
        given: Composition | Module | str | Path | Iterable[Any] | Callable[..., Any],
        planner: str | Planner | type[Planner] | None = None,
        *,
        name: str = "tools",
    ) -> Inventory:
        """Return an inventory: as it is, by its name or file, or made of a list of tools.

        Tools are functions, modules, classes of them, and shipped modules by name; `planner`, by its name or
        as it is made, then plans over them (by default `one_shot`), and `name` is the inventory's. Raises
        `InventoryError` for anything else, and for a planner of an inventory that has one already.
        """
        is_spec = isinstance(given, Mapping) and "modules" in given
        if planner is not None and (is_spec or isinstance(given, Inventory | str | Path)):
            raise InventoryError("an inventory has a planner of its own", hint="Change it there.")
        if isinstance(given, Inventory):
            return given
        if isinstance(given, str | Path):
            return cls.load(given)
        if is_spec:
            return cls.parse(cast(Mapping[str, Any], given))
        planner = "one_shot" if planner is None else planner
        chosen = find_class(planner, "planners") if isinstance(planner, str) else planner
        planning = build(chosen, {}, lambda *_: name) if isclass(chosen) else chosen
        if not isinstance(planning, Planner):
            hint = 'Give its name, such as "react", or a Planner.'
            raise InventoryError(f"{str(planning)[:60]!r} is no planner", where=name, hint=hint)
        made = cls(name, planning, cast(Mapping[str, Module], given))  # or a list: `_by_name` reads both
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
        with placed(source.file):
            return cls(**parts_of(source, cls.read))

    def without(self, *names: str) -> Inventory:
        """Return the inventory without these modules, as an ablation has it (Chameleon paper, table 5).

        No planner is shown them, and no plan runs them. A planner may still name one, since its
        demonstrations do; the step is then dropped from its plan. Rules, fallback, repairs and `on_error`
        plans lose them too. Raises `InventoryError` for a module that the inventory does not have, and if
        every module that may end a plan is left out.
        """
        if not names:
            return self
        if unknown := next((name for name in names if name not in self.modules), None):
            hint = nearest(unknown, self.modules)
            raise InventoryError(f"there is no module {unknown!r} to leave out", where=self.name, hint=hint)
        out, last = sorted(self.left_out.union(names)), self.rules.last
        if last and not without(last, out):
            what = f"{' or '.join(last)} cannot be left out: a plan must end with it"
            raise InventoryError(what, where=self.name)
        rules = {rule: without(getattr(self.rules, rule), out) for rule in RULES_OF_MODULES}
        policies = self.on_error.items()
        return replace(
            self,
            left_out=frozenset(out),
            rules=self.rules.model_copy(update=rules | {"next": _followers(self.rules.next, out)}),
            fallback=tuple(without(self.fallback, out)),
            repair={name: spec for name, spec in self.repair.items() if not {name, spec.redo} & {*out}},
            # A plan of which nothing is left stops the run.
            on_error={name: without(policy, out) or "stop" for name, policy in policies},
        )

    def with_params(self, params: Mapping[str, Any]) -> Inventory:
        """Return the inventory with these parameters for all calls, in place of its own; None leaves one out.

        They are keys of `llm`, such as {"reasoning": "none"}. Raises `InventoryError` for an unknown one, and
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

        Raises `InventoryError` if no module takes it, and for an inventory made in Python.
        """
        plain = {key: each for key, each in self.modules.items() if not isinstance(each, InnerRun)}
        taking = [key for key, each in plain.items() if name in signature(type(each)).parameters]
        if self.source is None or not taking:
            raise InventoryError(f"no module of the inventory {self.name} takes {name}", code="no-setting")
        entries = self.source.data["modules"]
        changed = {key: {**short_for(entries[key]), name: value} for key in taking}
        data = {**self.source.data, "modules": {**entries, **changed}}
        return Inventory.read(replace(self.source, data=data)).without(*self.left_out)

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
        # Every inventory takes the turns before.
        types = {HISTORY: "list?", **self.input_types} if self.input_types else {}
        for key, kind in types.items():
            if key not in present and not kind.endswith("?"):
                what = f"the inventory {self.name} needs {with_article(key)}"
                raise InputError(what, hint=f"Give {key!r} in the input.", code=f"missing-input:{key}")
        for key, value in present.items() if types else ():
            if key not in types:
                hint = nearest(str(key), self.input_types)
                raise InputError(f"the inventory {self.name} takes no {key}", hint=hint)
            kind = types[key].removesuffix("?")
            if not isinstance(value, INPUT_TYPES[kind]):
                what = f"{key} is {type_in_words(value)}, and the inventory takes {with_article(kind)}"
                hint = "read_table reads a file, Table.from_records takes rows." if kind == "Table" else ""
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

    def __repr__(self) -> str:
        return f"<Inventory {one_line(str(self), _MAX_REPR_CHARS)}>"

    def obstacles(self) -> list[Obstacle]:
        """Find all that keeps it from working here, or a module that a run can do without: see `Obstacle`."""
        return list(obstacles(self))

    def check(self) -> None:
        """Raise all that is wrong or missing at once: prompts, what modules and planners need, and plans."""
        if found := self.obstacles():
            raise all_of(found, self.name)


def _followers(following: Mapping[str, str], out: Iterable[str]) -> dict[str, str]:
    """Return which module must follow which, without those left out: a → b → c without b is a → c."""
    left = dict(following)
    for name in out:
        after = left.pop(name, name)
        stepped = {each: after if follower == name else follower for each, follower in left.items()}
        left = {each: follower for each, follower in stepped.items() if follower != name}
    return left
