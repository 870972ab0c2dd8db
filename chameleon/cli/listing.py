"""`chameleon list`, and the schema of inventory files."""

from __future__ import annotations

import inspect
import json
from typing import Any, Literal, get_args, get_origin

import typer

from chameleon.cli.out import echo, echo_json
from chameleon.errors import InventoryError
from chameleon.evaluation.data import find_benchmark
from chameleon.inventory import Inventory, InventorySpec, shipped_inventories
from chameleon.inventory.grid import Grid
from chameleon.inventory.resolve import find_class, hints_of, shipped
from chameleon.inventory.source import shipped_grids
from chameleon.llm_module import LLMModule
from chameleon.module import Module, split_keys


def print_schema() -> None:
    """The JSON Schema of inventory files."""
    typer.echo(json.dumps(InventorySpec.model_json_schema(), indent=2))


def list_classes(family: Literal["modules", "planners"], *, as_json: bool) -> None:
    """Every shipped module or planner with the first line of its docstring, by name."""
    rows = []
    for name in sorted(shipped(family)):
        cls = find_class(name, family)
        about = {"name": name, "about": _first_sentence(cls), "class": f"{cls.__module__}:{cls.__name__}"}
        rows.append(about | (interface(cls) if family == "modules" else {}))
    _print(rows, as_json)


def show_module(name: str, *, as_json: bool) -> None:
    """One module, shipped or "file:Class": its file, what it reads and writes, and its parameters."""
    cls = find_class(name, "modules")
    if not issubclass(cls, Module):
        raise InventoryError(f"{name!r} is no module")
    about = {"name": cls.name, "about": cls.description, "class": f"{cls.__module__}:{cls.__name__}"}
    about["file"] = str(inspect.getsourcefile(cls) or "")
    told: dict[str, Any] = about | interface(cls)
    if as_json:
        echo_json(told)
        return
    echo(f"{told['name']}: {told['about']}")
    echo(f"File: {told['file']}")
    reads = told["reads"]
    echo(f"Reads: {'everything' if reads is None else ', '.join(reads) or 'nothing'}")
    echo(f"Writes: {', '.join(told['writes'])}")
    if told["uses"]:
        echo(f"Uses: {', '.join(told['uses'])}")
    echo("Parameters, all modules: use, when, on_error")
    if told["asks_model"]:
        echo("Parameters, those that ask a model: prompt, llm, samples, vote, table_style, max_rows, …")
    for each in told["parameters"]:
        default = f" = {json.dumps(each['default'])}" if "default" in each else ", needed"
        echo(f"  {each['name']}: {each['type']}{default}")
    if told["parameters"] and cls.__init__ is not object.__init__:
        notes = inspect.cleandoc(cls.__init__.__doc__ or "")  # getdoc would take object's own
        if notes:
            echo("\n" + notes)


def interface(cls: type[Any]) -> dict[str, Any]:
    """What a module reads (None: everything), writes and uses, and its parameters with their defaults."""
    hints = hints_of(cls, cls.__name__)
    return {
        "reads": None if cls.reads is None else list(split_keys(cls.reads)),
        "writes": [f"cache.{cls.name}"] if cls.writes is None else list(split_keys(cls.writes)),
        "uses": list(split_keys(cls.uses)),
        "asks_model": issubclass(cls, LLMModule),
        "parameters": [
            _parameter(each, hints.get(each.name)) for each in inspect.signature(cls).parameters.values()
        ],
    }


def _parameter(parameter: inspect.Parameter, hint: Any) -> dict[str, Any]:
    empty = inspect.Parameter.empty
    shown: dict[str, Any] = {"name": parameter.name, "type": _type_name(parameter, hint)}
    if parameter.default is empty:
        return shown
    plain = parameter.default is None or isinstance(parameter.default, str | int | float | list | dict)
    return {**shown, "default": parameter.default if plain else repr(parameter.default)}


def _type_name(parameter: inspect.Parameter, hint: Any) -> str:
    """The type as it is written; the values that there are where it is one of several."""
    if get_origin(hint) is Literal:
        return " or ".join(map(str, get_args(hint)))
    if parameter.annotation is inspect.Parameter.empty:
        return "any"
    return inspect.formatannotation(parameter.annotation).strip("'")


def list_shipped_inventories(*, as_json: bool) -> None:
    rows = []
    for name in shipped_inventories():
        inventory = Inventory.load(name)
        rows.append({"name": name, "about": inventory.about, "needs_model": inventory.needs_model})
    _print(rows, as_json)


def list_shipped_grids(*, as_json: bool) -> None:
    """Every shipped grid with its arms."""
    rows = []
    for name in shipped_grids():
        grid = Grid.load(name)
        rows.append(
            {"name": name, "about": grid.spec.about, "inventory": grid.inventory, "arms": [*grid.arms]}
        )
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
        echo(f"{row['name']}: {row['about']}")
        echo(f"  columns {' '.join(row['columns'])}")
        width = max(map(len, row["scorers"]))
        for name, about in row["scorers"].items():
            echo(f"  --scorer {name:{width}}  {about}")


def _first_sentence(cls: type[Any]) -> str:
    return " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        echo_json(rows)
        return
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        echo(f"{row['name']:{width}}  {row['about']}")
