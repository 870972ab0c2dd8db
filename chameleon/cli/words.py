"""Values, answers and refusals in words: what a run spent, where an answer came from, what else to try."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Any

from chameleon.cli.hints import HINTS
from chameleon.core.events import Failure, Step
from chameleon.core.state import State
from chameleon.errors import Declined, StepRejected
from chameleon.figures import in_digits, with_unit, without_noise
from chameleon.inventories import DEFAULTS
from chameleon.inventory import Inventory
from chameleon.run.steps import parallel_group
from chameleon.table import Table
from chameleon.text import counted, harmless, one_line
from chameleon.usage import Usage
from chameleon.values import to_json

MAX_REPLY_CHARS = 200
_MOST_ITEMS, _MOST_TABLES = 6, 4
_AROUND = " .,;:!?\"'“”‘’`*()[]"
_ASK_A_MODEL = "let a model answer: {} {} --model PROVIDER:NAME, with its key."
_ASK_AGAIN = (
    "Replies came from the response store: --store record asks the model again and keeps the replies, "
    "--store off asks it and keeps nothing."
)


def one_of_list(value: Any) -> str:
    """Write one of a list on a line of its own, scores with four digits."""
    if not isinstance(value, Mapping):
        return plain(value)
    return ", ".join(
        f"{key}: {in_digits(item) if isinstance(item, float) else plain(item)}" for key, item in value.items()
    )


def plain(value: Any) -> str:
    """Write a value in one piece: text as it is, a flat list with commas, what is nested as JSON."""
    if isinstance(value, Table):
        return f"a {len(value.rows):,} × {len(value.header)} table"
    if isinstance(value, tuple) and not any(isinstance(item, Mapping | tuple) for item in value):
        return ", ".join(map(plain, value)) if value else "none"
    if isinstance(value, Mapping | tuple):
        return json.dumps(to_json(value), ensure_ascii=False)
    return without_noise(value) if isinstance(value, float) else str(value)


def answer_text(answer: Any, unit: str) -> str:
    """Write the answer: a number with its unit ("$12", "7 km"), texts of a picture one below the other.

    Of a mapping with a text, that alone.
    """
    if isinstance(answer, tuple) and answer and all(isinstance(item, Mapping) for item in answer):
        return "\n".join(answer_text(item, "") for item in answer)
    if isinstance(answer, str | tuple | Mapping) and not answer:
        text = "(nothing)"
    elif isinstance(answer, Mapping) and isinstance(answer.get("text"), str):
        text = answer["text"]
    elif isinstance(answer, Mapping):
        text = ", ".join(f"{key}: {plain(item)}" for key, item in answer.items())
    else:
        text = plain(answer)
    text = harmless(text)
    if not unit or isinstance(answer, bool) or not isinstance(answer, int | float):
        return text
    return with_unit(text, harmless(unit))


def plan_in_words(steps: Sequence[Step], inventory: Inventory | None) -> str:
    """Write steps in their order, as "one & two → three": those with & between them run side by side."""
    groups, left = list[str](), list(steps)
    while left:
        group = parallel_group(left, inventory.access) if inventory else left[:1]
        groups.append(" & ".join(harmless(str(step)) for step in group))
        left = left[len(group) :]
    return " → ".join(groups)


def now_in_words(state: State, inventory: Inventory) -> str:
    """Name the modules that a run does next, as "weather and trains"; "" at its end."""
    if state.ended is not None or state.waiting:
        return ""
    group = parallel_group(state.pending, inventory.access) if state.pending else ()
    return " and ".join(step.module for step in group) or "planner"


def spent_in_words(usage: Usage, stored: int) -> str:
    """Write "Model: 3 calls, …, 2 from the response store"; "" where there was neither."""
    parts = [usage.in_words] if usage.calls else []
    parts += [f"{stored} from the response store"] if stored else []
    return f"Model: {', '.join(parts)}" if parts else ""


def sources_in_words(sources: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write a line for each table or passage that an answer came from."""
    lines = [harmless(_source(source)) for source in sources]
    left = len(lines) - _MOST_TABLES
    more = [f"and {counted(left, 'more table')}"] if left > 0 else []
    return [*lines[:_MOST_TABLES], *more]


def notes_on(state: State, most: int | None = None) -> list[str]:
    """Return what was assumed of the table that was asked, of the columns that the answer rests on."""
    table = (state.started.input.get("table") if state.started is not None else None) or state.table
    if not isinstance(table, Table):
        return []
    used = {name for source in state.sources for name in source.get("columns") or ()}
    of_columns = (each.notes for each in table.columns if not used or each.name in used)
    notes = [*table.structure, *chain.from_iterable(of_columns)]
    left = len(notes) - (most or len(notes))
    return [*notes[:most], f"and {left} more; --json shows all"] if left > 0 else notes


def _source(source: Mapping[str, Any]) -> str:
    """Write the place of the table or passage, then rows, columns and the row of the answer."""
    parts = [_place(source)]
    rows, of = source.get("rows"), source.get("of")
    if isinstance(rows, Sequence) and rows and len(rows) != of:
        parts.append(_listed("row", _ranges(rows)))
    elif isinstance(of, int) and isinstance(count := source.get("count"), int):
        parts.append(f"{count:,} of {of:,} rows")
    elif isinstance(of, int):
        parts.append(f"all {of:,} rows" if of != 1 else "its one row")
    if columns := source.get("columns"):
        parts.append(_listed("column", list(map(str, columns))))
    cells = source.get("cells") or ()
    if isinstance(of, int) and cells and (not rows or len(rows) == of):
        parts.append(f"the answer in {_listed('row', _ranges(sorted({cell[0] for cell in cells})))}")
    return ", ".join(parts)


def _place(source: Mapping[str, Any]) -> str:
    """Write the file with the sheet, heading or table in it; without a file the table's or passage's name."""
    if "passage" in source:
        if "file" not in source:
            return f"passage {source['passage']}"
        parts = [str(source["file"]), *([str(source["heading"])] if "heading" in source else [])]
        return ", ".join([*parts, *(f"{key} {source[key]}" for key in ("page", "table") if key in source)])
    name = str(source.get("file") or source.get("table") or "a table")
    if place := [f"{kind} {source[kind]}" for kind in ("sheet", "heading", "page") if kind in source]:
        return ", ".join([name, *place])
    whole_file = str(source.get("id")) == name  # the file holds that one table
    return name if whole_file or "file" not in source else f"{name}, table {source.get('table')}"


def _ranges(rows: Sequence[int]) -> list[str]:
    """Write numbers of rows, three or more neighbours as one: 3, 5 to 9."""
    found: list[str] = []
    for _, run in groupby(enumerate(rows), key=lambda placed: placed[1] - placed[0]):
        first, *others = (row for _, row in run)
        if len(others) > 1:
            found.append(f"{first:,} to {others[-1]:,}")
        else:
            found += [f"{row:,}" for row in (first, *others)]
    return found


def _listed(noun: str, items: Sequence[str]) -> str:
    """Write "rows 3 and 5", "column Team", "columns A, B and 7 more"."""
    many = len(items) > 1 or " to " in items[0]
    if len(items) > _MOST_ITEMS:
        items = [*items[: _MOST_ITEMS - 1], f"{len(items) - _MOST_ITEMS + 1} more"]
    text = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    return f"{noun}{'s' if many else ''} {text}"


def settled(
    state: State, given: Mapping[str, Any], inventory: Inventory, named_by: str = "--inventory"
) -> State:
    """Decline a run whose answer is not among the choices, and say what else to try where there is no answer.

    Case and punctuation around a choice do not count. Modules give such a reply as it is: a benchmark may
    have a rule of its own for it. The advice is in options of the command line.
    """
    ended, choices, answer = state.ended, given.get("choices"), state.answer
    if ended is None:
        return state
    if choices and ended.reason == "answered":
        answers = answer if isinstance(answer, tuple) and answer else (answer,)
        if {_bare(answer_text(each, "")) for each in answers} <= set(map(_bare, choices)):
            return state
        reply = one_line(answer_text(answer, ""), MAX_REPLY_CHARS)
        what = f"the reply {reply!r} is none of the choices: {'; '.join(choices)}"
        ended = replace(ended, reason="declined", error=Failure(Declined.__name__, what))
    if ended.error is None:
        return state
    hints = list(filter(None, [HINTS.get(ended.error.code, ended.error.hint)]))
    with_model = {offline: name for name, offline in DEFAULTS.values()}.get(inventory.name)
    rejected = ended.reason == "failed" and ended.error.kind == StepRejected.__name__
    if rejected and any(call.cached for call in state.calls):
        hints.append(_ASK_AGAIN)
    elif ended.reason == "declined" and with_model:
        advice = _ASK_A_MODEL.format(named_by, with_model)
        hints.append(f"Or {advice}" if hints else f"{advice[0].upper()}{advice[1:]}")
    error = replace(ended.error, hint=" ".join(hints))
    return replace(state, ended=replace(ended, error=error))


def _bare(text: str) -> str:
    """Return a text without case and punctuation around it; one of punctuation alone as it is."""
    folded = " ".join(text.casefold().split())
    return folded.strip(_AROUND) or folded
