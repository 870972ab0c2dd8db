"""`chameleon list`: the modules, planners, inventories, grids and benchmarks that there are."""

from __future__ import annotations

import inspect
import json
import re
from typing import Annotated, Any, Literal, get_args, get_origin

from chameleon.cli.out import echo, echo_json
from chameleon.errors import InventoryError
from chameleon.inventory.resolve import find_class, hints_of, shipped
from chameleon.inventory.source import read_source, shipped_grids, shipped_inventories

Kind = Literal["modules", "planners", "inventories", "grids", "benchmarks"]

_BOUNDED = re.compile(r"Annotated\[(\w+(?:\[[^\[\]]*\])?), [^\[\]]*\]")


def print_list(kind: Kind, *, as_json: bool) -> None:
    """Print all of a kind that is shipped, by name."""
    if kind == "inventories":
        names = shipped_inventories()
    else:
        names = shipped_grids() if kind == "grids" else sorted(shipped(kind))
    rows = [{"name": name, **_about(kind, name, as_json=as_json)} for name in names]
    if as_json:
        echo_json(rows)
        return
    width = max(map(len, names))
    for row in rows:
        if kind != "benchmarks":
            echo(f"{row['name']:{width}}  {row['about']}")
            continue
        echo(f"{row['name']}: {row['about']}")
        echo(f"  columns {' '.join(row['columns'])}")
        widest = max(map(len, row["scorers"]))
        for name, about in row["scorers"].items():
            echo(f"  --scorer {name:{widest}}  {about}")


def _about(kind: Kind, name: str, *, as_json: bool) -> dict[str, Any]:
    """Return what a list says of one: of a class the first sentences of its docstring.

    Whether an inventory needs a model is known by its classes: they are loaded only where that is printed.
    """
    if kind == "inventories" and not as_json:
        return {"about": read_source(name).data.get("about", "")}
    if kind == "inventories":
        from chameleon.inventory import Inventory

        inventory = Inventory.load(name)
        return {"about": inventory.about, "needs_model": inventory.needs_model}
    if kind == "grids":
        from chameleon.evaluation.grid import Grid

        grid = Grid.load(name)
        return {"about": grid.spec.about, "inventory": grid.inventory, "arms": [*grid.arms]}
    if kind == "benchmarks":
        from chameleon.evaluation.data import find_benchmark

        benchmark = find_benchmark(name)
        scorers = {scorer: each.about for scorer, each in benchmark.scorers.items()}
        return {"about": benchmark.about, "scorers": scorers, "columns": ["ALL", *benchmark.columns]}
    cls = find_class(name, kind)
    about = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
    found = {"about": about, "class": f"{cls.__module__}:{cls.__name__}"}
    return found | (_interface(cls) if kind == "modules" else {})


def show_module(name: str, *, as_json: bool) -> None:
    """Print one module, shipped or "file:Class": its file, what it reads and writes, and its parameters."""
    from chameleon.module import Module

    cls = find_class(name, "modules")
    if not issubclass(cls, Module):
        raise InventoryError(f"{name!r} is no module")
    about = {"name": cls.name, "about": cls.description, "class": f"{cls.__module__}:{cls.__name__}"}
    about["file"] = str(inspect.getsourcefile(cls) or "")
    shown: dict[str, Any] = about | _interface(cls)
    if as_json:
        echo_json(shown)
        return
    echo(f"{shown['name']}: {shown['about']}")
    echo(f"File: {shown['file']}")
    reads = shown["reads"]
    echo(f"Reads: {'everything' if reads is None else ', '.join(reads) or 'nothing'}")
    echo(f"Writes: {', '.join(shown['writes'])}")
    if shown["uses"]:
        echo(f"Uses: {', '.join(shown['uses'])}")
    echo("Parameters, all modules: use, description, when, on_error")
    if shown["asks_model"]:
        echo("Parameters, those that ask a model: prompt, llm, samples, vote, table_style, max_rows, …")
    for each in shown["parameters"]:
        default = f" = {json.dumps(each['default'])}" if "default" in each else ", needed"
        echo(f"  {each['name']}: {each['type']}{default}")
    if shown["parameters"] and cls.__init__ is not object.__init__:
        notes = inspect.cleandoc(cls.__init__.__doc__ or "")  # getdoc would take object's own
        if notes:
            echo("\n" + notes)


def _interface(cls: type[Any]) -> dict[str, Any]:
    """Return what a module reads (None: everything), writes and uses, and its parameters with defaults.

    The type of a parameter is as it is written, or the values that there are where it is one of several.
    """
    from chameleon.llm_module import LLMModule
    from chameleon.module import split_keys

    hints = hints_of(cls, cls.__name__)
    parameters = []
    for name, each in inspect.signature(cls).parameters.items():
        default, hint, kind = each.default, hints.get(name), "any"
        if get_origin(hint) is Literal:
            kind = " or ".join(map(str, get_args(hint)))
        elif get_origin(hint) is Annotated:  # a plain type with bounds
            kind = inspect.formatannotation(get_args(hint)[0]).replace("typing.", "")
        elif each.annotation is not each.empty:
            kind = _BOUNDED.sub(r"\1", inspect.formatannotation(each.annotation).strip("'"))
        shown: dict[str, Any] = {"name": name, "type": kind}
        if default is not each.empty:
            plain = default is None or isinstance(default, str | int | float | list | dict)
            shown["default"] = default if plain else repr(default)
        parameters.append(shown)
    return {
        "reads": None if cls.reads is None else list(split_keys(cls.reads)),
        "writes": [f"cache.{cls.name}"] if cls.writes is None else list(split_keys(cls.writes)),
        "uses": list(split_keys(cls.uses)),
        "asks_model": issubclass(cls, LLMModule),
        "parameters": parameters,
    }
