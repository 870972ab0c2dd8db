"""Write the generated parts of docs/reference: keys of inventories, options of commands, Python names.

python docs/_ext/generated.py
"""

import inspect
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

REFERENCE = Path(__file__).parents[1] / "reference"
MARKER = "<!-- The rest is written by `python docs/_ext/generated.py`. -->\n"
NAMES = {  # by module; after a colon, the members of a class
    "chameleon": "ask read_table Executor:run,batch,map,stream,arun,abatch,amap,astream "
    "Inventory:of,load,parse,without,with_params,check "
    "Table:column,from_pandas,from_records,to_pandas,take_rows State:status,answer,why,sources,reading,"
    "executed_names,usage,follow_up,answer_approval,waiting,to_html,after "
    "tool Module:run,setup,check,update_input,update_cache,runtime_info core.module.Traits LLMModule:parse "
    "core.prompt.TableView Planner:propose,check,replans_after_failure,continue_after_failure Step Plan "
    "LLM:connect,ask,aask EventLog Budget evaluate compare results ChameleonError Declined StepRejected",
    "chameleon.table": "choose_table",
    "chameleon.evaluation": "Benchmark:problem,rows,found Scorer:from_answer,right Problem",
    "chameleon.planners": "fixed.Fixed one_shot.OneShot react.React",
    "chameleon.llm": "ScriptedModel ResponseStore",
    "chameleon.retrieval": "make.build_index make.make_retriever make.delete_documents document.Document",
    "chameleon.documents": "reading.read_passages reading.text_passages",
    "chameleon.interop": "langchain.as_runnable langchain.as_tool",
    "chameleon.core.conversation_log": "ConversationLog:follow_up",
}
MADE_OTHERWISE = ("Inventory", "LLM", "State")  # created by `Inventory.of`, `LLM.connect`, `Executor.run`
_SECTION = re.compile(r"(?m)^(Args|Attributes|Raises|Returns|Yields):\n((?:    .*\n?|\n(?=    ))+)")
_ITEM = re.compile(r"(?m)^(\*{0,2}\w+(?:, \w+)*): ")
_ANNOTATION = re.compile(r"(: |-> )(['\"])(.*?)\2(?=[,) ]|$)")
_MODULES = re.compile(r"\b(?:chameleon|collections|langchain_core|pathlib|typing)\.(?:\w+\.)*(?=[A-Z])")
Schema = Mapping[str, Any]


def names() -> str:
    """Return the public names with their signatures and docstrings."""
    parts = []
    for module, listed in NAMES.items():
        parts.append(f"## `{module}`")
        for path, _, members in (each.partition(":") for each in listed.split()):
            for name in (path, *(f"{path}.{each}" for each in filter(None, members.split(",")))):
                level = "###" if name == path else "####"
                parts.append(f"{level} `{name}`\n\n{described(name, resolve_name(f'{module}.{name}'))}")
    return "\n\n".join(parts)


def described(name: str, of: Any) -> str:
    """Return the signature of `of`, if it can be called, and its docstring as Markdown."""
    text = _SECTION.sub(as_list, inspect.getdoc(of) or "").strip()
    if not callable(of) or name in MADE_OTHERWISE:
        return text
    signature = _MODULES.sub("", _ANNOTATION.sub(r"\1\3", str(inspect.signature(of))))
    signature = signature.replace("Annotated[int, Gt(gt=0)]", "PositiveInt")
    call = name.rpartition(".")[2] + re.sub(r"^\(self(?:, )?", "(", signature)
    call = call.removesuffix(" -> None") if inspect.isclass(of) else call
    lines = textwrap.wrap(call, 88, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "```py\n" + "\n".join(lines) + f"\n```\n\n{text}"


def as_list(section: re.Match[str]) -> str:
    """Return the section of a docstring below a heading such as "Args:", as a list."""
    return f"**{section[1]}**\n\n" + _ITEM.sub(r"- `\1`: ", textwrap.dedent(section[2]))


def keys() -> str:
    """Return the keys of inventories as tables, from the output of `chameleon check --schema`."""
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
    """Return the description of a part of the schema and a table of its keys."""
    needed = schema.get("required", ())
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for name, each in schema.get("properties", {}).items():
        default = "must be given" if name in needed else default_of(each)
        cells = (f"`{name}`", kind_of(each, headings), default, each.get("description", ""))
        rows.append(f"| {' | '.join(map(escaped, cells))} |")
    about = str(schema.get("description", "")).strip()
    return title, f"{about}\n\n" + "\n".join(rows)


def default_of(schema: Schema) -> str:
    """Return the default of a key as YAML, or "" for an empty one."""
    default = schema.get("default")
    if default in (None, "", [], {}) or isinstance(default, dict):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def kind_of(schema: Schema, headings: Mapping[str, str]) -> str:
    """Describe the values that a key accepts."""
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
            signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
            bounds = ", ".join(f"{sign} {schema[name]}" for name, sign in signs.items() if name in schema)
            return f"{words.get(kind, kind)} {bounds}".rstrip()
    return "anything"


def commands() -> str:
    """Return all commands with their help, arguments and options, from the command line's definition."""
    import typer.main

    from chameleon.cli.app import app_for

    group: Any = typer.main.get_command(app_for([]))
    return "\n\n".join(
        f"## `chameleon {name}`\n\n{command_text(name, each)}" for name, each in group.commands.items()
    )


def command_text(name: str, command: Any) -> str:
    """Return the usage, the help and a parameter table of a command."""
    context = command.make_context(f"chameleon {name}", [], resilient_parsing=True)
    usage = command.get_usage(context).removeprefix("Usage: ")
    rows = ["| parameter | |", "|---|---|"]
    for param in command.params:
        option, help = param.get_help_record(context)
        rows.append(f"| `{escaped(option)}` | {escaped(help)} |")
    return f"```text\n{usage}\n```\n\n{(command.help or '').strip()}\n\n" + "\n".join(rows)


def escaped(cell: str) -> str:
    """Escape the bars in the text of a Markdown table cell."""
    return " ".join(cell.split()).replace("|", "\\|")


GENERATED = {"api.md": names, "cli.md": commands, "inventory.md": keys}


def outdated() -> dict[Path, str]:
    """Return the pages that are out of date, each with its new text."""
    texts = {REFERENCE / name: f"{MARKER}\n{made()}\n" for name, made in GENERATED.items()}
    old = {page: page.read_text("utf-8") for page in texts}
    new = {page: old[page].partition(MARKER)[0] + text for page, text in texts.items()}
    return {page: text for page, text in new.items() if text != old[page]}


if __name__ == "__main__":
    for page, text in outdated().items():
        page.write_text(text, "utf-8")
