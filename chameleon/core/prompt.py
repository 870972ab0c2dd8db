"""Prompt files: YAML front matter, then `# system` and `# user` sections rendered by Jinja2.

A prompt file is data. `prompts/<task>/<module>.md` looks like this::

    ---
    slots: [question, table, choices?]
    stop: ["\\n\\n\\n"]
    ---
    # system
    You read tables.
    # user
    {{ table }}

    Question: {{ question }}

Slots are looked up in the input, then in the cache. A slot with a question mark is optional and then empty.
Braces and dollar signs in values are safe, because values are never rendered again; angle brackets are kept
unless they form tags. Put text from elsewhere into a block, with `<passage>` above its lines and `</passage>`
below: nothing in a value can end it (see `chameleon.quoting`). A question of several lines becomes a block,
`<question>`; choices, title, unit and metadata have their line breaks removed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from chameleon.core.conversation import HISTORY, shown_before, turns
from chameleon.core.state import State
from chameleon.errors import PromptError
from chameleon.lazy import cached_property
from chameleon.quoting import Quoted, as_data, block, on_one_line, unblocked, unframed, untagged
from chameleon.table import ELLIPSIS, Style, Table, to_text
from chameleon.text import MAX_TEXT_TOKENS, beginning, did_you_mean, nearest, one_line
from chameleon.values import to_json
from chameleon.yaml_text import advice_on, file_text, read_yaml

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment

_MARKUP = re.compile(r"\{[{%#]")  # of Jinja2; a section without it never changes
_MAX_TYPED_COLUMNS, _MAX_NOTES, _MAX_NAME_CHARS = 60, 8, 40  # in the line that describes columns
LONGEST_CELL = 80  # characters, in a table that a module returned
_ONE_LINE_SLOTS = frozenset(["choices", "metadata", "title", "unit"])
_SECTION = re.compile(r"^# (system|user|assistant)[ \t]*$", re.MULTILINE)

Messages = list[tuple[str, str]]


@cache
def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    # Plain text goes to a model, not markup to a browser: escaping would change "<" and "&".
    return SandboxedEnvironment(
        autoescape=False, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@dataclass(frozen=True)
class Prompt:
    """One prompt file: its slots, stop strings and sections. Raises `PromptError` naming the file."""

    name: str
    slots: tuple[str, ...]
    stop: tuple[str, ...]
    sections: tuple[tuple[str, str], ...]

    @classmethod
    def load(cls, name: str, folders: Sequence[Path] = ()) -> Prompt:
        """Find `name` next to the inventory (`folders`), then among the prompts that Chameleon ships."""
        file_name = name if name.endswith(".md") else f"{name}.md"
        for folder in folders:
            if (folder / file_name).is_file():
                return cls.parse(file_text(folder / file_name, PromptError), str(folder / file_name))
        shipped = resources.files("chameleon.prompts").joinpath(*file_name.split("/"))
        if ".." in file_name.split("/") or not shipped.is_file():  # a name must not lead out of the folder
            looked = "".join(f"in {folder}, " for folder in folders)
            hint = f"{did_you_mean(name, _siblings(name, folders))} Looked {looked}among the shipped prompts."
            raise PromptError(f"there is no prompt {name!r}", hint=hint.strip())
        return cls.parse(shipped.read_text("utf-8"), f"prompts/{file_name}")

    @classmethod
    def parse(cls, text: str, name: str = "prompt") -> Prompt:
        """Read the text of a prompt file. Raises `PromptError` for an invalid one."""
        match = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
        try:
            front = read_yaml(match[1]) if match else {}
        except yaml.YAMLError as problem:
            hint = advice_on(problem)
            raise PromptError("the front matter is not YAML", where=name, hint=hint) from problem
        if not isinstance(front, dict) or (unknown := set(front) - {"slots", "stop"}):
            what = f"unknown keys {sorted(unknown)}" if isinstance(front, dict) else "no key-value pairs"
            raise PromptError(f"the front matter has {what}", where=name, hint="It takes slots and stop.")
        for key, items in front.items():
            if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
                raise PromptError(f"{key} is not a list of texts", where=name, hint=f"Write {key}: [a, b].")
        parts = _SECTION.split(text[match.end() :] if match else text)
        if len(parts) < 3 or parts[0].strip():
            raise PromptError("no sections", where=name, hint="Start with a line `# system` or `# user`.")
        sections = tuple(zip(parts[1::2], parts[2::2], strict=True))
        return cls(name, tuple(front.get("slots", ())), tuple(front.get("stop", ())), sections)

    @cached_property
    def _templates(self) -> tuple[tuple[str, Template | str], ...]:
        """Return each role with its template, or with its text if that never changes."""
        from jinja2 import TemplateSyntaxError

        compiled: list[tuple[str, Template | str]] = []
        for role, text in self.sections:
            try:
                template = _environment().from_string(text.strip("\n"))
            except TemplateSyntaxError as problem:
                line = f"line {problem.lineno} of its section # {role}"
                raise PromptError(f"{line}: {problem.message}", where=self.name) from problem
            template.globals = dict(template.globals)  # copied each time; a ChainMap is slow to copy
            compiled.append((role, template if _MARKUP.search(text) else template.render().strip()))
        return tuple(compiled)

    def check(self) -> None:
        """Raise `PromptError` for a syntax error in a template."""
        assert self._templates

    @cached_property
    def variables(self) -> frozenset[str]:
        """Return the names used in the templates, slots or not."""
        from jinja2 import meta

        self.check()
        trees = [_environment().parse(text) for _, text in self.sections]
        return frozenset(name for tree in trees for name in meta.find_undeclared_variables(tree))

    @cached_property
    def digest(self) -> str:
        """Return a short hash of the prompt for the settings of a run."""
        return hashlib.sha256(repr((self.slots, self.stop, self.sections)).encode()).hexdigest()[:12]

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """List the slots that must be filled."""
        return tuple(slot for slot in self.slots if not slot.endswith("?"))

    def render(self, slots: Mapping[str, Any]) -> Messages:
        """Return the messages to send, as (role, text) pairs. Raises `PromptError` naming an empty slot.

        Every value counts as data: no text in it, however deep, can begin or end a block of the prompt. If
        the prompt has no slot `history`, earlier turns of a conversation are put before the question.
        """
        from jinja2 import TemplateError

        history = slots.get(HISTORY)
        if earlier := turns(history):
            slots = {**slots, HISTORY: earlier}
        values: dict[str, Any] = {slot[:-1]: "" for slot in self.slots if slot.endswith("?")}
        values |= {key: _shown(key, value) for key, value in slots.items() if value is not None}
        if missing := [slot for slot in self.needs if slot not in values]:
            hint = nearest(missing[0], values)
            raise PromptError(f"the slot {missing[0]!r} has no value", where=self.name, hint=hint)
        try:
            messages = [
                (role, template if isinstance(template, str) else template.render(values).strip())
                for role, template in self._templates
            ]
        except TemplateError as problem:
            raise PromptError(f"the prompt cannot be rendered: {problem}", where=self.name) from problem
        if not earlier or HISTORY in self.variables:
            return messages
        return shown_before(history, values.get("question"), messages)


def _shown(slot: str, value: Any) -> Any:
    """Return a value for a template; a question and its choices or title follow a label on one line."""
    if slot == "question" and isinstance(value, str) and not isinstance(value, Quoted):
        return block(slot, value) if len(value.strip().splitlines()) > 1 else untagged(value.strip())
    return as_data(value, (lambda text: untagged(on_one_line(text))) if slot in _ONE_LINE_SLOTS else untagged)


def _siblings(name: str, folders: Sequence[Path]) -> set[str]:
    """Return the prompts in the folder of a name."""
    *inner, _ = name.split("/")
    homes = [home.joinpath(*inner) for home in (*folders, resources.files("chameleon.prompts"))]
    files = [each.name for home in homes if home.is_dir() for each in home.iterdir()]
    return {"/".join((*inner, each[:-3])) for each in files if each.endswith(".md")}


@dataclass(frozen=True)
class TableView:
    """How a prompt shows tables (`to_text`), and how much of each text, in estimated tokens."""

    style: Style = "pipe"
    max_rows: int | None = None
    max_cell: int | None = None
    max_tokens: int | None = None
    max_text_tokens: int = MAX_TEXT_TOKENS

    @property
    def limits(self) -> dict[str, Any]:
        """Return the limits of a table as arguments of `to_text` and `excerpt`."""
        return {"max_rows": self.max_rows, "max_cell": self.max_cell, "max_tokens": self.max_tokens}


def slots_of(
    state: State,
    view: TableView = TableView(),
    *,
    noted: bool = False,
    typed: bool = False,
    also: Collection[str] = (),
) -> dict[str, Any]:
    """Return the values a state offers to a prompt: input, then cache, then derived ones; the first wins.

    Args:
        view: how tables and texts are written and shortened; a note in the text says so.
        noted: put the note on a shortened table into the slot `note` instead.
        typed: describe the columns in `types`, which is empty otherwise.
        also: keys of the cache that `context` shows whatever they hold.

    Returns:
        the slots by name, among them the derived ones: `title`, the table's caption; `others`, the tables
        after the first, each with its `name`, `table` and `types`; `context`, all text that earlier modules
        wrote to the cache, in order, each under its key, and what they failed to find out; `unavailable`,
        only the latter; `types`.
    """
    max_rows = view.max_rows
    slots = {**state.cache, **state.input}
    table = state.table if "table" in state.input else None  # not every module declares that it reads one
    if noted and table is not None and max_rows is not None and len(table.rows) > max_rows:
        slots["note"] = f"The first {max_rows} of {len(table.rows):,} rows are shown."
        slots["table"] = table.take_rows(range(max_rows))
    derived = {
        "title": unframed(" ".join(table.caption.split())) if table is not None else "",
        "context": context_of(state, view.max_text_tokens, also),
        "unavailable": _unavailable_in(state),
        "types": types_in_words(table) if typed and table is not None else "",
    }
    for key, value in slots.items():
        if isinstance(value, Table):
            slots[key] = table_text(value, style=view.style, **view.limits)
        elif isinstance(value, str):
            slots[key] = text_within(value, view.max_text_tokens)
    if others := named_tables(slots.get("tables") or ()):
        slots["others"] = [
            {
                "name": name,
                "table": table_text(each, style=view.style, **view.limits),
                "types": types_in_words(each) if typed else "",
            }
            for name, each in others
        ]
    return derived | slots


def text_within(text: str, max_tokens: int) -> str:
    """Return the text, or its beginning and a note of how much is omitted; see `estimated_tokens`."""
    inner = unblocked(text)
    part = beginning(inner, max_tokens)
    if len(part) == len(inner):
        return text
    return f"{part}\n{ELLIPSIS} {len(inner) - len(part):,} more characters not shown"


def table_text(table: Table, *, style: Style, **limits: Any) -> str:
    """Write the table as a prompt shows it. HTML keeps its own tags; those inside cells are escaped.

    No cell can end the frame `/* … */` that many prompts put around a table.
    """
    text = unframed(to_text(table, style, **limits))
    return Quoted(text) if style == "html" else text


def types_in_words(table: Table) -> str:
    """Describe the type of each column in one line, as programs and queries see it, with any assumptions.

    "Date: date · Amount: number, $ · ZIP: text. Note: Amount: 1 × TBD counts as blank"
    """
    columns = table.columns[:_MAX_TYPED_COLUMNS]
    meanings = [(one_line(each.name, _MAX_NAME_CHARS), each.meaning) for each in columns]
    types = [f"{name}: {meaning.description}" for name, meaning in meanings]
    if more := len(table.columns) - len(columns):
        types.append(f"{more} more columns")
    notes = [*table.structure, *(f"{name}: {note}" for name, meaning in meanings for note in meaning.notes)]
    return unframed(" · ".join(types) + "".join(f". Note: {note}" for note in notes[:_MAX_NOTES]))


def named_tables(tables: Sequence[Table], first: int = 2) -> list[tuple[str, Table]]:
    """Return the tables after the first (or with `first=1` all), each with its name in prompts and replies.

    The name is the caption on one line. A table with no caption, or the same as an earlier one, is named by
    its number: "table 2".
    """
    by_name: dict[str, Table] = {}
    captions = [" ".join(table.caption.split()) for table in tables]
    for number, (caption, table) in enumerate(zip(captions, tables, strict=True), first):
        name, count = caption or f"table {number}", number
        while name in by_name or (name != caption and name in captions):  # a caption may be "table 2"
            name, count = f"table {count}", count + 1
        by_name[name] = table
    return list(by_name.items())


def context_of(state: State, max_text_tokens: int = MAX_TEXT_TOKENS, also: Collection[str] = ()) -> Quoted:
    """Write what earlier modules found out, in paragraphs such as "Knowledge: …", and what they could not.

    Text of several lines becomes a block named by its key.

    Args:
        max_text_tokens: estimated tokens; longer text is cut.
        also: keys of the cache that are shown whatever they hold; of all others only text is.
    """
    texts = {
        key: output_text(value, max_text_tokens)
        for key, value in state.cache.items()
        if isinstance(value, str) or (key in also and value not in (None, (), {}))
    }
    paragraphs = [paragraph(key, text) for key, text in texts.items() if text.strip()]
    return Quoted("\n\n".join(filter(None, [*paragraphs, _unavailable_in(state)])))


def output_text(output: Any, max_tokens: int) -> str:
    """Write a module's output: a table as rows, text unchanged, all else as JSON, within `max_tokens`."""
    if isinstance(output, Table):
        return table_text(output, style="pipe", max_cell=LONGEST_CELL, max_tokens=max_tokens)
    text = output if isinstance(output, str) else json.dumps(to_json(output), ensure_ascii=False)
    return text_within(text, max_tokens)


def _unavailable_in(state: State) -> str:
    """List what modules failed to find out, one per line: "Not available: image caption (why)"."""
    return "\n".join(
        f"Not available: {untagged(', '.join(lack.keys).replace('_', ' '))} ({untagged(lack.reason)})"
        for lack in state.missing
    )


def paragraph(key: str, text: str) -> str:
    """Write a text after the name of its key; several lines become a block."""
    label = key.replace("_", " ").capitalize()
    if len(text.strip().splitlines()) > 1:
        return f"{label}:\n{block(key, text)}"
    return f"{label}: {untagged(text.strip())}"
