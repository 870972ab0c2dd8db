"""`Inventory`: the modules that a planner may choose from, and the rules for combining them."""

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

_MAX_REPR_CHARS = 300


@dataclass(frozen=True, repr=False)
class Inventory(Composition):
    """Modules by name, a planner, and the rules for plans. Make one with `load`, `parse`, or in Python.

    In Python: `Inventory.of([convert, weather])`, or with all its parts `Inventory(name="mine",
    planner=Fixed(["shout"]), modules={"shout": Shout()})`. The other parts are named like the keys of a
    file: `about`, `fallback`, `rules`, `repair`, `on_error` by module, `budget`, `llm`, and `input_types`.
    Raises `InventoryError` with file, line and key.
    """

    @classmethod
    def of(
        cls,
        source: Composition | Module | str | Path | Iterable[Any] | Callable[..., Any],
        planner: str | Planner | type[Planner] | None = None,
        *,
        name: str = "tools",
    ) -> "Inventory":
        """Return an inventory from an inventory, a name, a file, or a list of tools.

        Tools are functions, modules, module classes, and names of shipped modules.

        Args:
            planner: a planner, its class or its name, to plan over a list of tools; default: `one_shot`.
            name: the name of an inventory made from tools.

        Raises:
            InventoryError: for anything else, and for a `planner` if the inventory already has one.
        """
        is_spec = isinstance(source, Mapping) and "modules" in source
        if planner is not None and (is_spec or isinstance(source, Inventory | str | Path)):
            raise InventoryError("the inventory already has a planner", hint="Change it there.")
        if isinstance(source, Inventory):
            return source
        if isinstance(source, str | Path):
            return cls.load(source)
        if is_spec:
            return cls.parse(cast(Mapping[str, Any], source))
        planner = "one_shot" if planner is None else planner
        chosen = find_class(planner, "planners") if isinstance(planner, str) else planner
        planning = build(chosen, {}, lambda *_: name) if isclass(chosen) else chosen
        if not isinstance(planning, Planner):
            hint = 'Pass its name, such as "react", or a Planner.'
            raise InventoryError(f"{str(planning)[:60]!r} is not a planner", where=name, hint=hint)
        new = cls(name, planning, cast(Mapping[str, Module], source))  # may be a list: `_by_name` reads both
        if not new.modules.keys() - new.brought:
            hint = "Pass a list of functions and modules."
            raise InventoryError("no tools are given", where=name, hint=hint)
        return new

    @classmethod
    def load(
        cls, name: str | Path, folder: Path | None = None, *, recorded: Mapping[str, Any] | None = None
    ) -> "Inventory":
        """Read the shipped inventory of that name, or the file at that path.

        Args:
            folder: where to look for the file first.
            recorded: the settings in a run's log, `RunStarted.settings`. Server tools are then taken from
                that log, without calling any server.
        """
        return cls.read(replace(read_source(str(name), folder), recorded=recorded or {}))

    @classmethod
    def parse(cls, data: Mapping[str, Any], folder: Path | None = None) -> "Inventory":
        """Make an inventory from a mapping laid out like a file; a module may be a class or function."""
        return cls.read(source_of(data, folder))

    @classmethod
    def read(cls, source: Source) -> "Inventory":
        """Make the inventory that a source describes. Raises `InventoryError` with the place."""
        with placed(source.file):
            return cls(**parts_of(source, cls.read))

    def without(self, *names: str) -> "Inventory":
        """Return the inventory without these modules, for an ablation (Chameleon paper, table 5).

        Planners are not shown them, and plans do not run them. A planner may still name one, because its
        demonstrations do; that step is dropped from its plan. Rules, fallback, repairs and `on_error` plans
        lose them too. Raises `InventoryError` for a module that is not in the inventory, and if every module
        that may end a plan is left out.
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
        return replace(
            self,
            left_out=frozenset(out),
            rules=self.rules.model_copy(update=rules | {"next": _followers(self.rules.next, out)}),
            fallback=tuple(without(self.fallback, out)),
            repair={name: spec for name, spec in self.repair.items() if not {name, spec.redo} & {*out}},
            # If nothing of a plan is left, the failure stops the run.
            on_error={name: without(policy, out) or "stop" for name, policy in self.on_error.items()},
        )

    def with_params(self, params: Mapping[str, Any]) -> "Inventory":
        """Return the inventory with these parameters for all calls, overriding its own; None removes one.

        They are keys of `llm`, such as {"reasoning": "none"}. Raises `InventoryError` for an unknown one, and
        for an inventory made in Python.
        """
        if not params:
            return self
        if self.source is None:
            raise InventoryError("an inventory made in Python has no parameters to change", where=self.name)
        source = replace(self.source, params={**self.source.params, **params})
        return Inventory.read(source).without(*self.left_out)

    def with_setting(self, name: str, value: Any) -> "Inventory":
        """Return the inventory with this parameter set in each module that takes it.

        Raises `InventoryError` if no module takes it, and for an inventory made in Python.
        """
        entries = self.source.data["modules"] if self.source else {}
        own = {key: type(self.modules[key]) for key in entries if key in self.modules}
        plain = {key: each for key, each in own.items() if not issubclass(each, InnerRun)}
        taking = [key for key, each in plain.items() if name in signature(each).parameters]
        if self.source is None or not taking:
            raise InventoryError(f"no module of the inventory {self.name} takes {name}", code="no-setting")
        changed = {key: {**short_for(entries[key]), name: value} for key in taking}
        data = {**self.source.data, "modules": {**entries, **changed}}
        return Inventory.read(replace(self.source, data=data)).without(*self.left_out)

    @property
    def dropped(self) -> Mapping[str, Mapping[str, str]]:
        """The parameters of a bound inventory that each model is known not to accept, and why."""
        by_model: dict[str, dict[str, str]] = {}
        for asker in self.askers.values():
            if dropped := asker.model.dropped():
                by_model.setdefault(asker.model.name, {}).update(dropped)
        return by_model

    def check_input(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the input, frozen. Raises `InputError` naming a missing, unknown or wrongly typed key."""
        if not isinstance(inputs, Mapping):
            hint = "An input is a mapping such as {'question': 'How many?'}."
            raise InputError(f"the input is {type_in_words(inputs)}", hint=hint)
        present = {key: values.adopted(value) for key, value in inputs.items() if value is not None}
        # Every inventory accepts earlier turns.
        types = {HISTORY: "list?", **self.input_types} if self.input_types else {}  # no types: all fit
        for key, kind in types.items():
            if key not in present and not kind.endswith("?"):
                what = f"the inventory {self.name} needs {with_article(key)}"
                raise InputError(what, hint=f"Add {key!r} to the input.", code=f"missing-input:{key}")
        for key, value in present.items() if types else ():
            if key not in types:
                hint = nearest(str(key), self.input_types)
                raise InputError(f"the inventory {self.name} does not take {key}", hint=hint)
            kind = types[key].removesuffix("?")
            if not isinstance(value, INPUT_TYPES[kind]):
                what = f"{key} is {type_in_words(value)}, but the inventory takes {with_article(kind)}"
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
        """Return all that keeps the inventory or an optional module from working here: see `Obstacle`."""
        return list(obstacles(self))

    def check(self) -> None:
        """Raise one error for everything wrong or missing: prompts, requirements of parts, and plans."""
        if problems := self.obstacles():
            raise all_of(problems, self.name)


def _followers(following: Mapping[str, str], out: Iterable[str]) -> dict[str, str]:
    """Return which module must follow which, skipping those left out: a → b → c without b is a → c."""
    rest = dict(following)
    for name in out:
        after = rest.pop(name, name)
        stepped = {each: after if follower == name else follower for each, follower in rest.items()}
        rest = {each: follower for each, follower in stepped.items() if follower != name}
    return rest
