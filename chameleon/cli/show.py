"""A run as a page of text: what runs and why, the plan, each step, the answer, and where it came from."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from chameleon.cli.out import counted, echo
from chameleon.state import Approval, Dropped, Event, Failure, Nested, Plan, RunStarted, State, StepRecord
from chameleon.table import Table, to_terminal
from chameleon.text import harmless
from chameleon.usage import Call, Usage
from chameleon.values import to_json

_MOST_SHOWN = 500  # characters of a passage; --json has all
_INDENT = "     "
_LONGEST = 12
_LEAST_COST = 0.0001  # dollars
_MOST_ITEMS, _MOST_TABLES = 6, 4
_LABELS = {
    "proposed": "Plan",
    "replan": "Another plan",
    "repair": "Repair",
    "on_error": "Plan after the failure",
    "fallback": "Fallback plan",
}


class RunPage:
    """Print a run as it happens; print nothing when the caller will print JSON."""

    def __init__(
        self, *, as_json: bool, trace: bool, model: str | None = None, above: Sequence[str] = ()
    ) -> None:
        self.silent, self.trace, self.model, self.above = as_json, trace, model, tuple(above)
        self.steps = 0
        self.inside: RunPage | None = None
        self.table: Table | None = None
        self.refused: tuple[Sequence[str], str] = ((), "")
        self.width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))

    def begin(self, why: str) -> None:
        """Print what runs, and why."""
        self._line(f"Runs {harmless(why)}.")

    def note(self, text: str) -> None:
        """Print a sentence about the run."""
        self._line(harmless(text))

    def show(self, event: Event) -> None:
        """Print an event of the run."""
        if isinstance(event, Plan):
            self._plan(event)
        elif isinstance(event, Nested):
            self._nested(event)
        elif isinstance(event, StepRecord):
            self.steps, self.inside = self.steps + 1, None
            if self.trace:
                self._step(event)
        elif isinstance(event, Approval):
            if event.said in ("yes", "no"):
                self._line(f"{'Approved' if event.said == 'yes' else 'Not approved'}: {harmless(str(event))}")
        elif isinstance(event, Dropped):
            self._line(f"{harmless(str(event))}.")
        elif isinstance(event, RunStarted):
            self.table = State().after(event).table

    def _nested(self, event: Nested) -> None:
        """Print what happens in a step that runs an inventory, further to the right, under its name."""
        if not self.trace:
            return
        if self.inside is None:
            above = (*self.above, event.module)
            self.inside = RunPage(as_json=self.silent, trace=True, model=self.model, above=above)
            self.inside.width = max(40, self.width - len(_INDENT))
            self._line(f"{_INDENT}{' › '.join(above)}:")
        self.inside.show(event.event)

    def end(self, state: State, unit: str) -> None:
        """Print what the run took, and its answer, or why there is none."""
        assert state.ended is not None
        ended = state.ended
        if spent := spent_in_words(state.usage, sum(call.cached for call in state.calls)):
            self._line(spent)
        self._by_model(state.calls)
        if ended.reason == "answered":
            for failure in () if self.trace else state.skipped:
                self._line(f"Did without: {harmless(str(failure))}")
            said = answer_text(state.answer, unit)
            self._line(f"Answer:\n{textwrap.indent(said, _INDENT)}" if "\n" in said else f"Answer: {said}")
            for line in sources_in_words(state.cache.get("sources")):
                self._line(f"From: {line}")
        elif ended.reason == "declined" and ended.error is not None:
            self._line(f"Declined: {harmless(ended.error.advice)}")
            self._nearest(state.cache.get("nearest"))
        else:
            error = ended.error or Failure("ModuleError", "the run failed")
            echo(f"chameleon: {harmless(str(error))}", err=True)

    def _nearest(self, passages: Any) -> None:
        """Print passages, and tables, that may answer, each with its place."""
        for passage in passages or ():
            text, width = str(passage.get("text", "")), self.width - len(_INDENT)
            if "passage" in passage:
                text = textwrap.shorten(harmless(text), _MOST_SHOWN, placeholder=" …")
                lines = textwrap.wrap(text, width)
            else:  # the first rows of a table
                lines = [
                    textwrap.shorten(harmless(line), width, placeholder=" …") for line in text.splitlines()
                ]
            shown = textwrap.indent("\n".join(lines), _INDENT)
            self._line(f"Nearest: {sources_in_words([passage])[0]}\n{shown}")

    def _by_model(self, calls: Sequence[Call]) -> None:
        """Print what each model took, where more than one was asked."""
        models = list(dict.fromkeys(call.model for call in calls))
        for model in models if len(models) > 1 else ():
            usage = sum((call.usage for call in calls if call.model == model), Usage())
            if usage.calls:
                self._line(f"{_INDENT}{harmless(model)}: {in_words(usage)}")

    def _plan(self, plan: Plan) -> None:
        repair = plan.kind == "repair"
        if plan.refused:
            again = (plan.names, plan.refused) == self.refused  # a fixed plan stays what it is
            self.refused = (plan.names, plan.refused)
            if self.trace and not again:
                said = plan.calls[-1] if plan.calls else None
                names = str(plan) or (said and (said.text or str([*map(dict, said.tool_calls)]))) or ""
                spent = self._spent(plan.calls)
                self._line(f"Plan refused: {harmless(names)[:300]}".rstrip(" :") + spent)
                self._line(_INDENT + harmless(plan.refused))
            return
        if repair and not self.trace:
            return
        self._line(f"{_LABELS[plan.kind]}: {' → '.join(harmless(str(step)) for step in plan.steps)}")
        if self.trace:
            by = f"by {plan.by}" if plan.kind in ("proposed", "replan") else ""
            by += f", {', '.join(map(harmless, asked))}" if (asked := self._others(plan.calls)) else ""
            by += self._spent(plan.calls) if by else ""
            self._line(_INDENT + ": ".join(part for part in (by, harmless(plan.note)) if part))

    @staticmethod
    def _spent(calls: Sequence[Call]) -> str:
        usage = sum((call.usage for call in calls), Usage())
        return f"  [{in_words(usage)}]" if usage.calls else ""

    def _step(self, record: StepRecord) -> None:
        usage = sum((call.usage for call in record.calls), Usage())
        spent = (f", {in_words(usage)}" if usage.calls else ", reply from the store") if record.calls else ""
        spent += f", {', '.join(map(harmless, asked))}" if (asked := self._others(record.calls)) else ""
        spent += ", asked again after it was cut off" if any(c.usage.calls > 1 for c in record.calls) else ""
        spent += ", cut off" if any(call.finish == "length" for call in record.calls) else ""
        again = f", attempt {redo.attempt}" if (redo := record.step.redo) else ""
        step = harmless(str(record.step))
        self._line(f"{self.steps:3}. {step}{again}  [{record.seconds:.3f} s{spent}]")
        if record.dropped:
            self._block("dropped: it ran beside a step that failed")
        elif record.error is not None:
            where = record.error.where.removeprefix(f"module {record.step.module}").removeprefix(": ")
            place = f"{where}: " if where else ""  # a host, a file: the module's name stands above it
            self._block(f"failed: {place}{record.error.advice}")
        else:
            if record.output not in (record.step.args or {}).values():  # which stands above
                self._value(record.output)
            changed = record.input_changes.get("table")
            if isinstance(changed, Table) and changed != record.output:
                self._table(changed)

    def _others(self, calls: Sequence[Call]) -> list[str]:
        """Return the models that were asked, where they are not the run's."""
        return list(dict.fromkeys(call.model for call in calls if call.model != self.model))

    def _value(self, value: Any) -> None:
        if isinstance(value, Table):
            self._table(value)
        elif isinstance(value, Mapping) and "call" in value:  # a link of a chain: what it did to the table
            refused = f"\nrefused: {value['refused']}" if "refused" in value else ""
            self._block(f"{value['call']}{refused}")
        elif isinstance(value, Mapping):
            lines = []
            for key, item in value.items():
                if key == "chain" and _is_chain(item):
                    for link in item:  # with the table that each leaves
                        self._value(link)
                        self._table(link["table"])
                    continue
                rows = isinstance(item, tuple) and item and all(isinstance(each, Mapping) for each in item)
                text = "\n".join(map(_one_of_list, item)) if rows else plain(item)
                below = rows or "\n" in text
                lines.append(f"{key}:\n" + textwrap.indent(text, "  ") if below else f"{key}: {text}")
            self._block("\n".join(lines))
        elif isinstance(value, tuple) and value:
            self._block("\n".join(map(_one_of_list, value)))
        else:
            self._block(plain(value))

    def _table(self, table: Table) -> None:
        """Print the table as it now stands; where nothing has changed it, only that, and its size."""
        if table == self.table:
            self._block(f"the table stays as it was, {len(table.rows)} × {len(table.header)}")
            return
        self.table = table
        shown = to_terminal(table, self.width - len(_INDENT), _LONGEST)
        self._line(textwrap.indent(f"{len(table.rows)} × {len(table.header)} table\n{shown}", _INDENT))

    def _block(self, text: str) -> None:
        lines = [line.rstrip()[:500] for line in text.splitlines()] or [""]
        if len(lines) > _LONGEST:
            lines = [*lines[:_LONGEST], f"… {len(lines) - _LONGEST} more lines"]
        self._line(textwrap.indent("\n".join(lines), _INDENT))

    def _line(self, text: str) -> None:
        if not self.silent:
            echo(textwrap.indent(text, _INDENT * len(self.above)))


def _is_chain(value: Any) -> bool:
    """Tell whether these are links of a chain of tables, each with its table."""
    return isinstance(value, tuple) and all(
        isinstance(link, Mapping) and isinstance(link.get("table"), Table) for link in value
    )


def _one_of_list(value: Any) -> str:
    """Write one of a list on a line of its own, scores with four digits."""
    if not isinstance(value, Mapping):
        return plain(value)
    return ", ".join(
        f"{key}: {f'{item:.4g}' if isinstance(item, float) else plain(item)}" for key, item in value.items()
    )


def plain(value: Any) -> str:
    """Write a value in one piece: text as it is, a flat list with commas, what is nested as JSON."""
    if isinstance(value, Table):
        return f"a {len(value.rows)} × {len(value.header)} table"
    if isinstance(value, tuple) and not any(isinstance(item, Mapping | tuple) for item in value):
        return ", ".join(map(plain, value)) if value else "none"
    if isinstance(value, Mapping | tuple):
        return json.dumps(to_json(value), ensure_ascii=False)
    return str(value)


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
    else:
        text = _one_of_list(answer)
    text = harmless(text)
    if not unit or isinstance(answer, bool) or not isinstance(answer, int | float):
        return text
    return f"{unit}{text}" if unit in "$€£¥₹" else f"{text} {harmless(unit)}"


def in_words(usage: Usage) -> str:
    """Write "3 calls, 812 + 40 tokens (512 cached), $0.0012"; leave out what the provider does not say."""
    parts = [counted(usage.calls, "call")]
    if not usage.input_tokens and not usage.output_tokens and not usage.cost:  # nothing was told, or paid
        return parts[0]
    if usage.calls and usage.input_tokens is not None and usage.output_tokens is not None:
        parts.append(f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens{usage.parts}")
    if usage.calls and usage.cost is not None:
        is_little = 0 < usage.cost < _LEAST_COST
        parts.append(f"under ${_LEAST_COST}" if is_little else f"${usage.cost:.4f}")
    return ", ".join(parts)


def spent_in_words(usage: Usage, stored: int) -> str:
    """Write "Model: 3 calls, …, 2 from the response store"; "" where there was neither."""
    parts = [in_words(usage)] if usage.calls else []
    parts += [f"{stored} from the response store"] if stored else []
    return f"Model: {', '.join(parts)}" if parts else ""


def sources_in_words(sources: Any) -> list[str]:
    """Write a line for each table that an answer came from; none for what is no `cache.sources`."""
    if not isinstance(sources, Sequence) or isinstance(sources, str):
        return []
    lines = [harmless(_source(source)) for source in sources if isinstance(source, Mapping)]
    more = [f"and {len(lines) - _MOST_TABLES} more tables"] if len(lines) > _MOST_TABLES else []
    return [*lines[:_MOST_TABLES], *more]


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
    said = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    return f"{noun}{'s' if many else ''} {said}"
