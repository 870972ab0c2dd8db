"""`chameleon check` and `chameleon list`."""

from __future__ import annotations

import json
from typing import Any, Literal

import typer

from chameleon.evaluation.data import find_benchmark
from chameleon.inventory import Inventory, InventorySpec, shipped_inventories
from chameleon.inventory.resolve import find_class, shipped


def print_schema() -> None:
    """The JSON Schema of inventory files."""
    typer.echo(json.dumps(InventorySpec.model_json_schema(), indent=2))


def check_inventory(name: str, *, as_json: bool) -> None:
    """Load the inventory and check what loading leaves lazy."""
    inventory = Inventory.load(name)
    inventory.check()
    modules = list(inventory.modules)
    if as_json:
        found = {
            "inventory": inventory.name,
            "ok": True,
            "modules": modules,
            "needs_model": inventory.needs_model,
        }
        typer.echo(json.dumps(found))
        return
    asks = "asks a model" if inventory.needs_model else "asks no model"
    typer.echo(f"{inventory.name} is fine: {len(modules)} modules, it {asks}.")
    typer.echo(f"Input: {', '.join(f'{key} ({kind})' for key, kind in inventory.input_types.items())}")
    for card in inventory.cards:
        typer.echo(f"  {card.name:22} {card.description} {card.when}".rstrip())


def list_classes(family: Literal["modules", "planners"], *, as_json: bool) -> None:
    """Every shipped module or planner with the first line of its docstring."""
    rows = []
    for name in shipped(family):
        cls = find_class(name, family)
        rows.append(
            {"name": name, "about": _first_sentence(cls), "class": f"{cls.__module__}:{cls.__name__}"}
        )
    _print(rows, as_json)


def list_shipped_inventories(*, as_json: bool) -> None:
    rows = []
    for name in shipped_inventories():
        inventory = Inventory.load(name)
        rows.append({"name": name, "about": inventory.about, "needs_model": inventory.needs_model})
    _print(rows, as_json)


def list_shipped_benchmarks(*, as_json: bool) -> None:
    """Every shipped benchmark with its official scorers, the default first."""
    rows: list[dict[str, Any]] = []
    for benchmark in map(find_benchmark, shipped("benchmarks")):
        scorers = {name: scorer.about for name, scorer in benchmark.scorers.items()}
        columns = ["ALL", *benchmark.columns]
        rows.append(
            {"name": benchmark.name, "about": benchmark.about, "scorers": scorers, "columns": columns}
        )
    if as_json:
        _print(rows, as_json)
        return
    for row in rows:
        typer.echo(f"{row['name']}: {row['about']}")
        typer.echo(f"  columns {' '.join(row['columns'])}")
        width = max(map(len, row["scorers"]))
        for name, about in row["scorers"].items():
            typer.echo(f"  --scorer {name:{width}}  {about}")


def _first_sentence(cls: type[Any]) -> str:
    return " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        typer.echo(f"{row['name']:{width}}  {row['about']}")
