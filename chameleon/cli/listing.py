"""`chameleon list`: list the available modules, planners, inventories, experiments and benchmarks."""

import inspect
import json
import re
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer

from chameleon.cli.options import Kind
from chameleon.cli.terminal import echo, echo_json
from chameleon.errors import ChameleonError, InventoryError
from chameleon.inventory.resolve import find_class, hints_of, shipped
from chameleon.inventory.source import INVENTORY, read_source, shipped_grids
from chameleon.inventory.user_code import distribution_of, installed, load_entry

_SHIPPED = "shipped"
_PACKAGES = re.compile(r"(?:\w+\.)+(?=\w)")  # in front of a type: "chameleon.table."


def print_list(kind: Kind, name: str | None, *, as_json: bool) -> None:
    """Print one module or planner, or all of a kind by name, each with its source.

    Inventories for your own files come first, then the methods that are measured on benchmarks.
    """
    if name is not None:
        return _show_part(name, kind, as_json=as_json)
    files = INVENTORY.shipped if kind == "inventories" else {}
    methods = {name for name, file in files.items() if file.parent.name == "benchmarks"}
    names = files or (shipped_grids() if kind == "experiments" else shipped(kind))
    rows = [{"name": name, "source": _SHIPPED, **_about(kind, name, as_json=as_json)} for name in names]
    sources = dict.fromkeys(names, _SHIPPED)
    for entry in installed(kind) if kind not in ("experiments", "inventories") else ():
        rows.append(_entry_row(kind, entry, sources, as_json=as_json))
        sources.setdefault(entry.name, distribution_of(entry))
    rows.sort(key=lambda row: (row["name"] in methods, row["name"]))
    if as_json:
        echo_json(rows)
        return
    width, width_of_sources = (max(len(row[column]) for row in rows) for column in ("name", "source"))
    for number, row in enumerate(rows):
        if row["name"] in methods and rows[number - 1]["name"] not in methods:
            echo("\nMethods, to be measured on benchmarks:")
        about = f"cannot be used: {row['error']}" if "error" in row else row["about"]
        if "scorers" not in row:
            source = "" if kind == "experiments" else f"{row['source']:{width_of_sources}}  "
            echo(f"{row['name']:{width}}  {source}{about}")
            continue
        echo(f"{row['name']}: {about}\n  columns {' '.join(row['columns'])}")
        widest = max(map(len, row["scorers"]))
        for scorer, about in row["scorers"].items():
            echo(f"  --scorer {scorer:{widest}}  {about}")


def _about(kind: Kind, name: str, *, as_json: bool) -> dict[str, Any]:
    """Return the row of one item; for a class, this includes the first sentences of its docstring.

    Only its classes say if an inventory needs a model, so they are loaded only if that is printed.
    """
    if kind == "inventories" and not as_json:
        return {"about": read_source(name).data.get("about", "")}
    if kind == "inventories":
        from chameleon.inventory import Inventory

        inventory = Inventory.load(name)
        return {"about": inventory.about, "needs_model": inventory.needs_model}
    if kind == "experiments":
        from chameleon.evaluation.grid import Grid

        grid = Grid.load(name)
        return {"about": grid.about, "inventory": grid.inventory, "arms": [*grid.arms]}
    if kind == "benchmarks":
        from chameleon.evaluation.data import find_benchmark

        benchmark = find_benchmark(name)
        scorers = {scorer: each.about for scorer, each in benchmark.scorers.items()}
        return {"about": benchmark.about, "scorers": scorers, "columns": ["ALL", *benchmark.columns]}
    return _row_of(kind, find_class(name, kind))


def _entry_row(kind: Kind, entry: EntryPoint, sources: Mapping[str, str], *, as_json: bool) -> dict[str, Any]:
    """Return the row of an item from another distribution, with the error if it cannot be used."""
    row: dict[str, Any] = {"name": entry.name, "source": distribution_of(entry)}
    if (source := sources.get(entry.name)) is not None:
        owner = "Chameleon" if source == _SHIPPED else source
        return row | {"about": "", "error": f"the name is a short form of {owner}"}
    try:
        if kind in ("modules", "planners"):
            return row | _row_of(kind, _tool(load_entry(entry)))
        return row | _about(kind, entry.name, as_json=as_json)
    except ChameleonError as problem:
        return row | {"about": "", "error": str(problem)}


def _show_part(name: str, kind: Kind, *, as_json: bool) -> None:
    """Print one module or planner, by name or "file:Class": its file, its source and its parameters."""
    if kind not in ("modules", "planners"):
        raise typer.BadParameter("only modules and planners can be shown one by one", param_hint="NAME")
    from chameleon.core.arguments import written_as

    part = _tool(find_class(name, kind))
    cls = part if inspect.isclass(part) else type(part)
    function = getattr(part, "function", None)
    source = written_as(inspect.unwrap(function)) if function else cls
    row = {"name": part.name, **_row_of(kind, part), "file": inspect.getsourcefile(source) or ""}
    if kind == "modules":
        row["about"] = part.description
    if ":" not in name:
        entries = [] if name in shipped(kind) else installed(kind, name)
        row["source"] = distribution_of(entries[0]) if entries else _SHIPPED
    if as_json:
        echo_json(row)
        return
    lines = {"File": row["file"], "Source": row.get("source")}
    if kind == "modules":
        lines["Reads"] = "everything" if row["reads"] is None else ", ".join(row["reads"]) or "nothing"
        lines |= {"Writes": ", ".join(row["writes"]), "Uses": ", ".join(row["uses"])}
    echo(f"{row.get('card', row['name'])}: {row['about']}")
    for label, text in lines.items():
        if text:
            echo(f"{label}: {text}")
    if row["parameters"]:
        echo(f"Its own parameters (for all {kind}: `chameleon check --schema`):")
    for each in row["parameters"]:
        default = f" = {json.dumps(each['default'])}" if "default" in each else ", needed"
        echo(f"  {each['name']}: {each['type']}{default}")
    texts = [cls.__init__.__doc__] if row["parameters"] and cls.__init__ is not object.__init__ else []
    if kind == "planners":  # after its first paragraph, a docstring describes the parameters
        texts = ["\n\n".join(inspect.cleandoc(cls.__doc__ or "").split("\n\n")[1:]), *texts]
    for text in filter(None, texts):
        echo("\n" + inspect.cleandoc(text))


def _tool(part: Any) -> Any:
    """Wrap a function as a tool; return anything else unchanged."""
    from chameleon.core.tool import as_module

    return as_module(part) if callable(part) and not inspect.isclass(part) else part


def _row_of(kind: Kind, part: Any) -> dict[str, Any]:
    """Return the row of a module or planner, which may be a class or a tool.

    It has the first paragraph of the docstring, what a module reads (None: everything), writes and uses, and
    the parameters with defaults. Raises `InventoryError` for anything but a module or planner.
    """
    from chameleon.core.access import arguments_of
    from chameleon.core.llm_module import AsksModel, LLMModule
    from chameleon.core.module import Module, split_keys
    from chameleon.core.planner import Planner
    from chameleon.inventory.composition import card_of

    is_class = inspect.isclass(part)
    cls: type[Any] = part if is_class else type(part)
    if not issubclass(cls, Module if kind == "modules" else Planner):
        raise InventoryError(f"{part!r:.80} is not a {kind[:-1]}")
    text = (part.__doc__ if is_class else "") or getattr(part, "description", "")
    row: dict[str, Any] = {
        "about": " ".join(text.strip().split("\n\n")[0].split()),
        "class": f"{part.__module__}:{getattr(part, '__qualname__', cls.__name__)}",
    }
    if kind == "modules":
        row["reads"] = None if part.reads is None else list(split_keys(part.reads))
        row["writes"] = [f"cache.{part.name}"] if part.writes is None else list(split_keys(part.writes))
        row["uses"] = list(split_keys(part.uses))
        if not is_class:
            card = card_of(part, arguments_of(part))
            row["card"] = f"{card.name}{card.signature}"
    row["asks_model"] = issubclass(cls, LLMModule if kind == "modules" else AsksModel)
    return {**row, "parameters": _parameters(cls) if is_class else []}


def _parameters(cls: type[Any]) -> list[dict[str, Any]]:
    """Return name, type and default of each parameter; the type is its text, or the allowed values."""
    hints_of(cls, cls.__name__)  # raises if annotations cannot be read
    hints = get_type_hints(cls.__init__)  # without the bounds of PositiveInt
    parameters = []
    for name, each in inspect.signature(cls).parameters.items():
        hint, default = hints.get(name, "any"), each.default
        if get_origin(hint) is Literal:
            shown_type = " or ".join(map(str, get_args(hint)))
        else:
            shown_type = _PACKAGES.sub("", inspect.formatannotation(hint).strip("'"))
            shown_type = re.sub(r"^Optional\[(.+)\]$", r"\1 | None", shown_type)
        entry: dict[str, Any] = {"name": name, "type": shown_type}
        if default is not each.empty:
            plain = default is None or isinstance(default, str | int | float | list | dict)
            entry["default"] = default if plain else repr(default)
        parameters.append(entry)
    return parameters
