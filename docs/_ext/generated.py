"""Reference pages end with what the code says of itself: the keys of inventories, the options of commands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sphinx.application import Sphinx

Schema = Mapping[str, Any]


def keys() -> str:
    """Return the keys of inventories as tables, by the JSON Schema that `chameleon check --schema` prints."""
    from chameleon.inventory.schema import InventorySpec

    schema = InventorySpec.model_json_schema()
    headings = {
        "ModelSpec": "`llm:`",
        "PlannerSpec": "`planner:`",
        "ModuleSpec": "`modules:` entry",
        "McpSpec": "`mcp:`",
        "RulesSpec": "`rules:`",
        "RepairSpec": "`repair:` entry",
        "BudgetSpec": "`budget:`",
        "Prices": "`prices:`",
    }
    parts = [section("At the top", schema, headings)]
    parts += [section(headings.get(name, name), part, headings) for name, part in schema["$defs"].items()]
    order = ["At the top", *headings.values()]
    parts.sort(key=lambda part: order.index(part[0]) if part[0] in order else len(order))
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in parts)


def section(title: str, schema: Schema, headings: Mapping[str, str]) -> tuple[str, str]:
    """Return a part of the schema as what it says of itself, and a table of its keys."""
    needed = schema.get("required", ())
    rows = ["| key | value | default | what it says |", "|---|---|---|---|"]
    for name, each in schema.get("properties", {}).items():
        default = "must be given" if name in needed else default_of(each)
        cells = (f"`{name}`", kind_of(each, headings), default, each.get("description", ""))
        rows.append(f"| {' | '.join(map(escaped, cells))} |")
    said = str(schema.get("description", "")).strip()
    return title, f"{said}\n\n" + "\n".join(rows)


def default_of(schema: Schema) -> str:
    """Return the default of a key as YAML would write it; nothing for an empty one."""
    default = schema.get("default")
    if default in (None, "", [], {}) or isinstance(default, dict):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def kind_of(schema: Schema, headings: Mapping[str, str]) -> str:
    """Return in words which values a key takes."""
    match schema:
        case {"$ref": ref}:
            name = ref.rpartition("/")[2]
            heading = headings.get(name, name)
            return f"[{heading}](#{re.sub('[^a-z-]', '', heading.lower().replace(' ', '-'))})"
        case {"anyOf": several}:
            return " or ".join(kind_of(each, headings) for each in several if each.get("type") != "null")
        case {"enum": values}:
            return ", ".join(
                f"`{str(each).lower() if each is True or each is False else each}`" for each in values
            )
        case {"const": value}:
            return f"`{value}`"
        case {"type": "array", "items": items}:
            return f"list of {kind_of(items, headings)}"
        case {"type": "object", "additionalProperties": Mapping() as values}:
            return f"mapping of names to {kind_of(values, headings)}"
        case {"type": kind}:
            words = {"string": "text", "integer": "whole number", "boolean": "true or false"}
            return words.get(kind, kind) + bounds_of(schema)
    return "anything"


def bounds_of(schema: Schema) -> str:
    """Return which numbers a key takes."""
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    said = [f"{sign} {schema[name]}" for name, sign in signs.items() if name in schema]
    return f" {', '.join(said)}" if said else ""


def commands() -> str:
    """Return all commands with their help, arguments and options, as the command line declares them."""
    import typer.main

    from chameleon.cli.app import app_for

    group: Any = typer.main.get_command(app_for([]))
    return "\n\n".join(
        f"## `chameleon {name}`\n\n{told(name, each)}" for name, each in group.commands.items()
    )


def told(name: str, command: Any) -> str:
    """Return the usage, the help and a table of the parameters of a command."""
    context = command.make_context(f"chameleon {name}", [], resilient_parsing=True)
    usage = command.get_usage(context).removeprefix("Usage: ")
    rows = ["| parameter | |", "|---|---|"]
    for param in command.params:
        shown, said = param.get_help_record(context)
        rows.append(f"| `{escaped(shown)}` | {escaped(said)} |")
    return f"```text\n{usage}\n```\n\n{(command.help or '').strip()}\n\n" + "\n".join(rows)


def escaped(cell: str) -> str:
    """Return a cell of a Markdown table that no bar of its text divides."""
    return " ".join(cell.split()).replace("|", "\\|")


PAGES = {"reference/inventory": keys, "reference/cli": commands}


def add_generated(app: Sphinx, docname: str, source: list[str]) -> None:
    """End a reference page with what is generated for it."""
    if docname in PAGES:
        source[0] += f"\n{PAGES[docname]()}\n"


def outdated(app: Sphinx, *_: object) -> list[str]:
    """Return the pages that are made anew by each build: the code may have changed."""
    return list(PAGES)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the generated parts to a build."""
    app.connect("source-read", add_generated)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
