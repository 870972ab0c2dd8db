"""Print a run as a page of text: what runs and why, the plan, each step, the answer, and its sources."""

import json
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chameleon.cli import wording
from chameleon.cli.terminal import Activity, ReplyPrinter, Style, echo, output, say, terminal_width
from chameleon.core.events import Approval, Dropped, Event, Failure, Nested, Plan, RunStarted, StepRecord
from chameleon.core.module import InnerRun
from chameleon.core.sources import notes_on, sources_in_words
from chameleon.core.state import State
from chameleon.figures import in_time
from chameleon.inventory import Inventory
from chameleon.table import Table, to_terminal
from chameleon.text import harmless, redact
from chameleon.usage import Call, Usage
from chameleon.values import to_json

_MAX_NOTES = 4
_MAX_CHARS = 500  # characters of a passage; --json has all
_INDENT = "     "
_MAX_LINES = 12
_LABELS = {
    "proposed": "Plan",
    "replan": "Another plan",
    "repair": "Repair",
    "on_error": "Plan after the failure",
    "fallback": "Fallback plan",
}


def page_width() -> int:
    """Return the width of a page in characters: the terminal's, but at most 120."""
    return min(terminal_width(), 120)


@dataclass(kw_only=True)
class RunPage:
    """Print a run: the answer on stdout, all else on stderr.

    Args:
        as_json: print only errors, because the caller will print JSON.
        trace: print events as they happen, else only the notable ones after the answer.
        plan_only: the plan is the result.
        above: the modules that run this inventory.
        started: the start of the run on the monotonic clock.
    """

    as_json: bool
    trace: bool
    inventory: Inventory | None = None
    model: str | None = None
    plan_only: bool = False
    above: Sequence[str] = ()
    started: float = field(default_factory=time.monotonic)
    steps: int = 0
    inside: "RunPage | None" = None
    state: State = State()
    notes: list[str] = field(default_factory=list)
    why: str = ""

    @property
    def width(self) -> int:
        """Return the width of a line in characters, which is less inside a step."""
        return max(40, page_width() - len(_INDENT) * len(self.above))

    def begin(self, why: str) -> None:
        """Say what runs and why, in a trace at once, else below the answer."""
        self.why = f"Runs {harmless(why)}."
        if self.trace:
            self._line(self.why)

    def note(self, text: str) -> None:
        """Print a note about the run, in a trace at once, else below the answer."""
        if self.trace:
            self._line(harmless(text))
        else:
            self.notes.append(harmless(text))

    def follow(self, events: Iterable[Event], reply: ReplyPrinter, activity: Activity) -> Iterator[Event]:
        """Print events as they happen, and yield each; `activity` shows what the run does meanwhile."""
        for event in events:
            reply.end()
            self.show(event)
            yield event
            activity.show(wording.now_in_words(self.state, self.inventory) if self.inventory else "")

    def show(self, event: Event) -> None:
        """Print an event of the run."""
        calls = () if self.above or isinstance(event, RunStarted) else event.calls
        for dropped in Dropped.of_calls(calls):
            if dropped not in self.state.dropped:
                self.note(f"{dropped}.")
        if isinstance(event, Plan):
            self._plan(event)
        elif isinstance(event, Nested):
            if self.trace:
                self._nested(event)
        elif isinstance(event, StepRecord):
            self.steps, self.inside = self.steps + 1, None
            if self.trace:
                self._step(event)
        elif isinstance(event, Approval) and event.said in ("yes", "no"):
            self.note(f"{'Approved' if event.said == 'yes' else 'Not approved'}: {event}")
        self.state = self.state.after(event)

    def _nested(self, event: Nested) -> None:
        """Print what happens in a step that runs an inventory, indented below its name."""
        if self.inside is None:
            above = (*self.above, event.module)
            module = self.inventory.modules.get(event.module) if self.inventory else None
            inner = module.inner if isinstance(module, InnerRun) else None
            self.inside = RunPage(as_json=self.as_json, trace=True, inventory=inner, model=self.model)
            self.inside.above = above
            self._line(f"{_INDENT}{' › '.join(above)}:", "")
        self.inside.show(event.event)

    def end(self, state: State, unit: str) -> None:
        """Print the answer, or the reason for not having one, and what the run cost."""
        assert state.ended is not None
        ended = state.ended
        if ended.reason == "answered":
            if not self.as_json:
                is_terminal = (output.results or sys.stdout).isatty()
                short = state.cache["reading"].get("short") if state.reading and is_terminal else None
                echo(harmless(short) if short else wording.answer_text(state.answer, unit), style="bold")
            if state.reading:
                self._line(f"Read as: {harmless(state.reading)}")
            for line in sources_in_words(state.sources):
                self._line(f"From: {line}")
            for failure in () if self.trace else state.skipped:
                self._line(f"Did without: {harmless(str(failure))}")
        elif ended.reason == "declined" and ended.error is not None:
            if not self.as_json:
                echo(f"Declined: {harmless(ended.error.advice)}", err=True)
            self._nearest(state.cache.get("nearest"))
        else:
            error = ended.error or Failure("ModuleError", "the run failed")
            echo(f"chameleon: {harmless(str(error))}", err=True)
            failures = [(name, lack) for name, lack in state.failures.items() if lack != error]
            earlier = [(name, lack) for name, lack in failures if lack.kind != "InnerDeclined"]
            for name, lack in () if self.trace else earlier[-1:]:
                self._line(f"Before that, {name} failed: {harmless(lack.message)}")
        for note in notes_on(state, _MAX_NOTES):
            self._line(f"Note: {harmless(note)}")
        self.rest(state)

    def wait(self, state: State, path: Path) -> None:
        """Print what the run cost so far, what it waits for, and how to resume it from its log."""
        self.rest(state)
        if not self.as_json:
            echo(harmless(f"Waits for approval: {', '.join(map(str, state.waiting))}"), err=True)
            echo(harmless(f"Run `chameleon approve {path}`, then this command with --log {path}"), err=True)

    def rest(self, state: State) -> None:
        """Print everything except the answer: the plan, the cost, and what ran and why."""
        for note in self.notes:
            self._line(note)
        if cost := wording.spent_in_words(state.usage, sum(call.cached for call in state.calls)):
            self._line(cost)
        took = f"Took {in_time(time.monotonic() - self.started)}."
        self._line(took if self.trace else f"{self.why} {took}".strip())

    def _nearest(self, passages: Any) -> None:
        """Print passages and tables that may contain the answer, each with its location."""
        width = self.width - len(_INDENT)
        for passage in passages or ():
            text, lines = str(passage.get("text", "")), []
            if "passage" in passage:
                lines = textwrap.wrap(textwrap.shorten(harmless(text), _MAX_CHARS, placeholder=" …"), width)
            else:  # the first rows of a table
                for line in text.splitlines():
                    lines.append(textwrap.shorten(harmless(line), width, placeholder=" …"))
            excerpt = textwrap.indent("\n".join(lines), _INDENT)
            self._line(f"Nearest: {sources_in_words([passage])[0]}\n{excerpt}", "", wrap=False)

    def _plan(self, plan: Plan) -> None:
        if plan.refused:
            previous = [(each.names, each.refused) for each in self.state.plans[-1:]]
            if self.trace and (plan.names, plan.refused) not in previous:  # a fixed plan does not change
                reply = plan.calls[-1] if plan.calls else None
                names = str(plan) or (reply and (reply.text or str([*map(dict, reply.tool_calls)]))) or ""
                line = f"Plan refused: {harmless(names)[:300]}".rstrip(" :")
                self._line(line + self._cost(plan.calls), "")
                self._line(_INDENT + harmless(plan.refused))
                self._messages(plan.calls)
            return
        if plan.kind == "repair" and not self.trace:
            return
        steps = wording.plan_in_words(plan.steps, self.inventory)
        if self.plan_only and not self.as_json:
            echo(steps, style="bold")
        elif self.trace:
            self._line(f"{_LABELS[plan.kind]}: {steps}", "")
        else:
            self.notes.append(f"{_LABELS[plan.kind]}: {steps}")
        if self.trace:
            by = f"by {plan.by}{self._cost(plan.calls)}" if plan.kind in ("proposed", "replan") else ""
            self._line(_INDENT + ": ".join(part for part in (by, harmless(plan.note)) if part))
            self._messages(plan.calls)

    def _cost(self, calls: Sequence[Call], first: str = "") -> str:
        """Write what calls cost in brackets, after `first`, and any models other than the run's."""
        usage = sum((call.usage for call in calls), Usage())
        parts = [first, usage.in_words if usage.calls else "reply from the store" if calls else ""]
        parts += dict.fromkeys(harmless(call.model) for call in calls if call.model != self.model)
        parts += ["cut off"] if any(call.finish == "length" for call in calls) else []
        return f"  [{', '.join(filter(None, parts))}]" if any(parts) else ""

    def _messages(self, calls: Sequence[Call]) -> None:
        """Print the messages to a model and its replies, if output is verbose."""
        for call in calls if output.verbose else ():
            tools = [f"{each['name']} {json.dumps(to_json(each['args']))}" for each in call.tool_calls]
            reply = "\n".join(filter(None, (call.text, *tools)))
            for role, message in (*call.messages, ("reply", reply)):
                text = redact(message)
                self._lines(f"{role}: {text}" if "\n" not in text else f"{role}:\n{text}", "dim")

    def _step(self, record: StepRecord) -> None:
        attempt = f", attempt {redo.attempt}" if (redo := record.step.redo) else ""
        step = f"{harmless(str(record.step))}{attempt}"
        self._line(f"{self.steps:3}. {step}{self._cost(record.calls, in_time(record.seconds))}", "")
        self._messages(record.calls)
        if record.dropped:
            self._block("dropped: it ran at the same time as a step that failed")
        elif record.error is not None:
            where = record.error.where.removeprefix(f"module {record.step.module}").removeprefix(": ")
            place = f"{where}: " if where else ""  # a host, a file: the module's name is above it
            self._block(f"failed: {place}{record.error.advice}")
        else:
            if record.output not in (record.step.args or {}).values():  # shown above
                self._value(record.output)
            changed = record.input_changes.get("table")
            if isinstance(changed, Table) and changed != record.output:
                self._table(changed)

    def _value(self, value: Any) -> None:
        if isinstance(value, Table):
            self._table(value)
        elif isinstance(value, Mapping) and "call" in value:  # a link of a chain: a change to the table
            refused = f"\nrefused: {value['refused']}" if "refused" in value else ""
            self._block(f"{value['call']}{refused}")
        elif isinstance(value, Mapping):
            self._block("\n".join(wording.entry(key, item) for key, item in value.items()))
        else:
            items = value if isinstance(value, tuple) and value else (value,)
            self._block("\n".join(map(wording.one_of_list, items)))

    def _table(self, table: Table) -> None:
        """Print a table that a step returned or changed, with its size."""
        text = to_terminal(table, self.width - len(_INDENT), _MAX_LINES)
        self._lines(f"{len(table.rows):,} × {len(table.header)} table\n{text}")

    def _block(self, text: str) -> None:
        lines = [line.rstrip()[:500] for line in text.splitlines()] or [""]
        if len(lines) > _MAX_LINES:
            lines = [*lines[:_MAX_LINES], f"… {len(lines) - _MAX_LINES:,} more lines"]
        self._lines("\n".join(lines))

    def _lines(self, text: str, style: Style = "") -> None:
        """Print lines of a step's output, indented below its name."""
        self._line(textwrap.indent(text, _INDENT), style, wrap=False)

    def _line(self, text: str, style: Style = "dim", *, wrap: bool = True) -> None:
        """Print on stderr; at a terminal, long sentences are wrapped between words."""
        if self.as_json:
            return
        text = textwrap.indent(text, _INDENT * len(self.above))
        if wrap and len(text) > self.width and sys.stderr.isatty():
            hanging = _INDENT * (len(self.above) + 1)
            text = textwrap.fill(
                text, self.width, subsequent_indent=hanging, break_on_hyphens=False, break_long_words=False
            )
        say(text, style)
