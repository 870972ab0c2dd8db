"""A run as a page of text: what runs and why, the plan, each step, and the answer."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon.cli.out import echo
from chameleon.cli.sources import sources_in_words
from chameleon.state import Dropped, Event, Failure, Plan, RunStarted, State, StepRecord
from chameleon.table import Table, to_terminal
from chameleon.text import harmless
from chameleon.usage import Call, Usage
from chameleon.values import to_json

_INDENT = "     "
_LONGEST = 12
_LABELS = {
    "proposed": "Plan",
    "replan": "Another plan",
    "repair": "Repair",
    "on_error": "Plan after the failure",
    "fallback": "Fallback plan",
}


class Page:
    """Prints a run as it happens; prints nothing when the caller will print JSON."""

    def __init__(self, *, as_json: bool, trace: bool, model: str | None = None) -> None:
        self.silent, self.trace, self.model = as_json, trace, model
        self.steps = 0
        self.table: Table | None = None
        self.refused: tuple[Sequence[str], str] = ((), "")
        self.width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))

    def begin(self, why: str) -> None:
        self._line(f"Runs {harmless(why)}.")

    def note(self, text: str) -> None:
        """Print a sentence about the run."""
        self._line(harmless(text))

    def show(self, event: Event) -> None:
        if isinstance(event, Plan):
            self._plan(event)
        elif isinstance(event, StepRecord):
            self.steps += 1
            if self.trace:
                self._step(event)
        elif isinstance(event, Dropped):
            self._line(f"{harmless(str(event))}.")
        elif isinstance(event, RunStarted):
            self.table = State().after(event).table

    def end(self, state: State, unit: str) -> None:
        assert state.ended is not None
        ended = state.ended
        if state.calls:
            stored = sum(call.cached for call in state.calls)
            parts = [in_words(state.usage)] if state.usage.calls else []
            parts += [f"{stored} from the response store"] if stored else []
            if parts:
                self._line(f"Model: {', '.join(parts)}")
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
        """Print passages that may answer, each with its place."""
        for passage in passages or ():
            text = harmless(" ".join(str(passage.get("text", "")).split()))
            shown = textwrap.indent(textwrap.fill(text, self.width - len(_INDENT)), _INDENT)
            self._line(f"Nearest: {sources_in_words([passage])[0]}\n{shown}")

    def _by_model(self, calls: Sequence[Call]) -> None:
        """What each model took, where more than one was asked."""
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
                names = " → ".join(map(harmless, plan.names))[:300]
                self._line(
                    "\n".join([f"Plan refused: {names}".rstrip(" :"), _INDENT + harmless(plan.refused)])
                )
            return
        if repair and not self.trace:
            return
        self._line(f"{_LABELS[plan.kind]}: {' → '.join(plan.names)}")
        if self.trace:
            by = f"by {plan.by}" if plan.kind in ("proposed", "replan") else ""
            by += f", {', '.join(map(harmless, asked))}" if (asked := self._others(plan.calls)) else ""
            usage = sum((call.usage for call in plan.calls), Usage())
            by += f"  [{in_words(usage)}]" if by and usage.calls else ""
            self._line(_INDENT + ": ".join(part for part in (by, harmless(plan.note)) if part))

    def _step(self, record: StepRecord) -> None:
        usage = sum((call.usage for call in record.calls), Usage())
        spent = (f", {in_words(usage)}" if usage.calls else ", reply from the store") if record.calls else ""
        spent += f", {', '.join(map(harmless, asked))}" if (asked := self._others(record.calls)) else ""
        spent += ", asked again after it was cut off" if any(c.usage.calls > 1 for c in record.calls) else ""
        spent += ", cut off" if any(call.finish == "length" for call in record.calls) else ""
        again = f", attempt {redo.attempt}" if (redo := record.step.redo) else ""
        self._line(f"{self.steps:3}. {record.step.module}{again}  [{record.seconds:.3f} s{spent}]")
        if record.dropped:
            self._block("dropped: it ran beside a step that failed")
        elif record.error is not None:
            self._block(f"failed: {_without_module(record.error, record.step.module)}")
        else:
            self._value(record.output)
            changed = record.input_changes.get("table")
            if isinstance(changed, Table) and changed != record.output:
                self._table(changed)

    def _others(self, calls: Sequence[Call]) -> list[str]:
        """The models that were asked, where they are not the run's."""
        return list(dict.fromkeys(call.model for call in calls if call.model != self.model))

    def _value(self, value: Any) -> None:
        if isinstance(value, Table):
            self._table(value)
        elif isinstance(value, Mapping) and "call" in value:  # a link of a chain: what it did to the table
            refused = f"\nrefused: {value['refused']}" if "refused" in value else ""
            self._block(f"{value['call']}{refused}")
        elif isinstance(value, Mapping):
            self._block("\n".join(_entry(key, _listed(item)) for key, item in value.items()))
        elif isinstance(value, tuple) and value:
            self._block("\n".join(map(_item, value)))
        else:
            self._block(plain(value))

    def _table(self, table: Table) -> None:
        """The table as it now stands; where nothing has changed it, only that, and its size."""
        if table == self.table:
            self._block(f"the table stays as it was, {len(table.rows)} × {len(table.header)}")
            return
        self.table = table
        shown = to_terminal(table, self.width - len(_INDENT), _LONGEST)
        self._line(textwrap.indent(f"{len(table.rows)} × {len(table.header)} table\n{shown}", _INDENT))

    def _block(self, text: str) -> None:
        lines = [harmless(line.rstrip().replace("\t", "    ")) for line in text.splitlines()] or [""]
        indents = [len(raw) - len(raw.lstrip(" ")) for raw in text.splitlines()] or [0]
        shown = [" " * indent + line.strip() for indent, line in zip(indents, lines, strict=True)]
        if len(shown) > _LONGEST:
            shown = [*shown[:_LONGEST], f"… {len(shown) - _LONGEST} more lines"]
        self._line("\n".join(_INDENT + line[:500] for line in shown))

    def _line(self, text: str) -> None:
        if not self.silent:
            echo(text)
            sys.stdout.flush()


def _entry(key: str, text: str) -> str:
    """A text of several lines stands below its name."""
    if "\n" not in text:
        return f"{key}: {text}"
    below = textwrap.indent(text.lstrip("\n"), "  ")
    return f"{key}:\n{below}"


def _listed(value: Any) -> str:
    """A list of mappings as its items, one below the other; all else in one piece."""
    if isinstance(value, tuple) and value and all(isinstance(item, Mapping) for item in value):
        return "\n" + "\n".join(map(_item, value))
    return plain(value)


def _without_module(error: Failure, module: str) -> str:
    """The error with the place that it names itself (a host, a file): the module's name stands above it."""
    place = error.where.removeprefix(f"module {module}").removeprefix(": ")
    return f"{place}: {error.advice}" if place else error.advice


def _item(value: Any) -> str:
    """One of a list, on a line of its own."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_rounded(item)}" for key, item in value.items())
    return plain(value)


def _rounded(value: Any) -> str:
    """A score with four digits, anything else in full."""
    return f"{value:.4g}" if isinstance(value, float) else plain(value)


def plain(value: Any) -> str:
    """A value in one piece: text as it is, a flat list with commas, what is nested as JSON."""
    if isinstance(value, Table):
        return f"a {len(value.rows)} × {len(value.header)} table"
    if isinstance(value, tuple) and value and all(isinstance(item, Table) for item in value):
        return ", ".join(map(plain, value))
    if isinstance(value, Mapping) or (isinstance(value, tuple) and any(map(_is_nested, value))):
        return json.dumps(to_json(value), ensure_ascii=False)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value)


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping | tuple | Table)


def answer_text(answer: Any, unit: str) -> str:
    """The answer: a number with its unit ("$12", "7 km"), texts found in a picture one below the other."""
    if isinstance(answer, tuple) and answer and all(isinstance(item, Mapping) for item in answer):
        return "\n".join(harmless(_said(item)) for item in answer)
    text = harmless(_said(answer))
    if not unit or isinstance(answer, bool) or not isinstance(answer, int | float):
        return text
    return f"{unit}{text}" if unit in "$€£¥₹" else f"{text} {harmless(unit)}"


def _said(answer: Any) -> str:
    """The answer in words: of a mapping with a text, that alone."""
    if isinstance(answer, str | tuple | Mapping) and not answer:
        return "(nothing)"
    if isinstance(answer, Mapping):
        text = answer.get("text")
        return text if isinstance(text, str) else _item(answer)
    return plain(answer)


def in_words(usage: Usage) -> str:
    """ "3 calls, 812 + 40 tokens (512 cached), $0.0012"; what the provider does not say is left out."""
    parts = [f"{usage.calls:,} call{'' if usage.calls == 1 else 's'}"]
    if not usage.input_tokens and not usage.output_tokens and not usage.cost:  # nothing was told, or paid
        return parts[0]
    if usage.calls and usage.input_tokens is not None and usage.output_tokens is not None:
        parts.append(f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens{usage.parts}")
    if usage.calls and usage.cost is not None:
        parts.append(f"${usage.cost:.4f}")
    return ", ".join(parts)
