"""Experiments: a file with variants of one inventory, a grid, to compare with each other."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from chameleon.core.llm_module import LLMModule
from chameleon.errors import ChameleonError, InventoryError
from chameleon.inventories import first_rung
from chameleon.inventory import Inventory
from chameleon.inventory.building import spec_error
from chameleon.inventory.schema import InputType, Name, Strict
from chameleon.inventory.source import GRID, Source, extended, read_source, under_new_names
from chameleon.text import nearest

if TYPE_CHECKING:
    from chameleon.evaluation.benchmark import Benchmark


class VariantSpec(Strict):
    """The keys of `common` and of each arm: those of an inventory except `name` and `extends`, and `without`.

    They are merged with the inventory below as `extends` merges: part of a mapping is enough, and null
    removes a key. The merged result is checked as a whole.
    """

    about: str = ""
    without: list[Name] = Field(default_factory=list)
    input: dict[Name, InputType | None] | None = None
    llm: dict[str, Any] | None = None
    planner: dict[str, Any] | None = None
    fallback: list[Name] | None = None
    rules: dict[str, Any] | None = None
    repair: dict[Name, dict[str, Any] | None] | None = None
    budget: dict[str, Any] | None = None
    modules: dict[Name, dict[str, Any] | None] | None = None


class ArmSpec(VariantSpec):
    """One arm, which may name its own `model`, `data` and `benchmark`.

    Attributes:
        inventory: replaces the grid's inventory.
        published: its published figure: a row's `system` in `benchmarks/published`, or for an ablation the
            change from the first arm, in points.
    """

    inventory: str | None = None
    model: str = ""
    data: str | None = None
    benchmark: str = ""
    published: str | float | None = None


class GridSpec(Strict):
    """A whole grid file."""

    name: Name
    about: str = ""
    inventory: str
    common: VariantSpec = VariantSpec()
    arms: dict[Name, ArmSpec | None] = Field(min_length=1)


@dataclass(frozen=True)
class Arm:
    """One variant: its inventory, its changes to the common part in words, its model and its data."""

    name: str
    about: str
    inventory: Inventory
    changes: tuple[str, ...] = ()
    model: str = ""
    data: Path | None = None
    published: str | float | None = None
    benchmark: str = ""

    @classmethod
    def of(cls, spec: GridSpec, name: str, source: Source, below: Source) -> Arm:
        """Make the arm with this name, a part of the grid's `source`, on top of the common part."""
        own = source.below("arms", name)
        merged = _extend(below, own)
        merged.data["name"] = f"{spec.name}_{name}"
        variant = spec.arms[name] or ArmSpec()
        try:
            inventory = Inventory.read(merged)
            for path, left_out in ((("common",), spec.common.without), (("arms", name), variant.without)):
                try:
                    inventory = inventory.without(*left_out)
                except InventoryError as problem:
                    raise problem.at(source.place((*path, "without"))) from problem
        except ChameleonError as problem:
            what = f"the arm {name}: {problem.what}"
            raise InventoryError(what, where=problem.where or source.file, hint=problem.hint) from problem
        data = Path(*source.folders[:1], variant.data) if variant.data else None
        fields = (variant.model, data, variant.published, variant.benchmark)
        return cls(name, variant.about, inventory, tuple(_changes(own.data)), *fields)

    def printed(self, benchmark: Benchmark) -> dict[str, Any]:
        """Return the published figure of this arm, in percent or points; empty without one."""
        if isinstance(self.published, str):
            row = next((each for each in benchmark.published if each.system == self.published), None)
            return {} if row is None else {"published": next(iter(row.percent.values()), None)}
        return {} if self.published is None else {"published_change": self.published}

    @property
    def calls(self) -> int | None:
        """Count the model calls of one question if nothing is retried, or None without a fixed plan."""
        inventory = self.inventory
        if not inventory.needs_model:
            return 0
        plan = fixed_plan(inventory)
        if plan is None:
            return None
        asking = [inventory.modules[name] for name in plan if inventory.access[name].needs_model]
        return sum(module.samples if isinstance(module, LLMModule) else 1 for module in asking)


@dataclass(frozen=True)
class Grid:
    """The variants to compare, by name: of one `inventory` or several; the first is the baseline.

    Make one with `load` or `of`. Raises `InventoryError` with file, line and key for anything invalid in any
    of them.
    """

    name: str
    about: str
    inventory: str
    arms: Mapping[str, Arm]

    @classmethod
    def of(
        cls, inventories: Sequence[str | Inventory], models: Sequence[str] = (), *, has_model: bool = False
    ) -> Grid:
        """Compare these inventories, each with each of the models if it calls one.

        Args:
            models: names such as "openai:gpt-6-luna"; if empty, each inventory is one arm.
            has_model: whether a model is set without being in `models`. Without any, an inventory that
                begins with a reader that calls none is reduced to that reader.
        """
        arms: dict[str, Arm] = {}
        for each in inventories:
            inventory = Inventory.of(each)
            base_name, changes = inventory.name, tuple[str, ...]()
            if not (models or has_model) and (first := first_rung(base_name)):
                inventory, changes = Inventory.load(first), (f"only {first}, because no model is set",)
            for model in (models or ("",)) if inventory.needs_model else ("",):
                first_name = " ".join(filter(None, (base_name, model if len(models) > 1 else "")))
                same = sum(name == first_name or name.startswith(f"{first_name} (") for name in arms)
                name = f"{first_name} ({same + 1})" if same else first_name
                arms[name] = Arm(name, inventory.about, inventory, changes, model)
        names = dict.fromkeys(arm.inventory.name for arm in arms.values())
        return cls("comparison", "", ", ".join(names), arms)

    @classmethod
    def load(cls, name: str | Path, folder: Path | None = None, *, inventory: str | None = None) -> Grid:
        """Read a shipped grid or a file; `inventory`, with the same modules, replaces the one it names."""
        source = GRID.read(GRID.find(str(name), folder))
        try:
            spec = GridSpec.model_validate(source.data)
        except ValidationError as problem:
            raise spec_error(problem, source, root=GridSpec) from problem
        home = source.folders[0] if source.folders else None
        try:
            base = read_source(inventory, folder) if inventory else read_source(spec.inventory, home)
        except InventoryError as problem:
            if inventory:
                raise
            place = source.place(("inventory",))
            raise problem.at(f"{place}: {problem.where}" if problem.where else place) from problem
        arms = {}
        for arm, variant in spec.arms.items():
            own = variant and variant.inventory and read_source(variant.inventory, home)
            below = own or base
            below = _extend(below, source.below("common")) if "common" in source.data else below
            arms[arm] = Arm.of(spec, arm, source, below)
        return cls(spec.name, spec.about, inventory or spec.inventory, arms)

    def only(self, names: Collection[str]) -> Grid:
        """Return the grid with only these arms, in its order. Raises `InventoryError` for unknown names."""
        if wrong := next((name for name in names if name not in self.arms), None):
            hint = nearest(wrong, self.arms)
            raise InventoryError(f"the experiment has no arm {wrong!r}", where=self.name, hint=hint)
        return replace(self, arms={name: arm for name, arm in self.arms.items() if name in names})


def fixed_plan(inventory: Inventory) -> Sequence[str] | None:
    """Return the modules of every run, in order, or None if the plan depends on the question."""
    plans = inventory.planner.fixed_plans
    if len(plans) != 1 or inventory.planner.needs_model:
        return None
    return [name for name in plans[0] if name not in inventory.left_out]


def _extend(below: Source, own: Source) -> Source:
    not_of_it = {"without", *ArmSpec.__annotations__}  # keys of an arm, but not of an inventory
    data = {key: value for key, value in own.data.items() if key not in not_of_it}
    data = under_new_names(data, places := dict(own.places), own.file)
    return extended(replace(own, data=data, places=places), below)


def _changes(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield "without term_clarifier", "table_filter: use semantic_filter, rows 10", "llm: temperature 0"."""
    if left_out := data.get("without"):
        yield f"without {', '.join(left_out)}"
    own = {k: v for k, v in data.items() if k not in ("about", "without", "modules", "published")}
    for name, value in {**(data.get("modules") or {}), **own}.items():
        if isinstance(value, Mapping) and value:
            yield f"{name}: {', '.join(f'{key} {_text_of(item)}' for key, item in value.items())}"
        else:
            yield f"{name}: {'removed' if value is None else _text_of(value)}"


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
