"""The page of a run: question and answer, what each step did to the table, and the prompts of a model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from chameleon.core.events import Event, Nested, Plan, StepRecord
from chameleon.core.sources import notes_on, sources_in_words
from chameleon.core.state import State
from chameleon.errors import InputError
from chameleon.evaluation.page_views import DECLINES, environment, planned_by, value_text, views, write_html
from chameleon.figures import in_time
from chameleon.table import Table
from chameleon.usage import Usage

TEMPLATE = "run_page.html.j2"
_MAX_EVENTS, _MAX_BARS, _MAX_ROWS = 400, 60, 10_000  # events, bars, rows
_MAX_TABLES = 8

Marks = Mapping[int, frozenset[int]]
"""Cells by row: the columns, from 0."""


class Bar(NamedTuple):
    """A plan or a step on the time line, in percent of the whole."""

    name: str
    kind: str
    start: float
    width: float
    took: str


class RunView(NamedTuple):
    """A run as a page shows it."""

    state: State
    question: str
    status: str
    given: Mapping[str, Any]
    read: list[tuple[str, str]]
    tables: list[tuple[Table, Marks]]
    bars: list[Bar]
    events: list[tuple[str, Any]]
    more: int
    spent: str

    @classmethod
    def of(cls, events: Sequence[Event]) -> Self:
        """Make the view of a run from its events."""
        state = State.fold(events)
        inputs = dict(state.started.input) if state.started else {}
        calls = [call for event in events for call in getattr(event, "calls", ())]
        usage = sum((call.usage for call in calls), Usage())
        unknown = ["tokens"] * (usage.input_tokens is None) + ["cost"] * (usage.cost is None)
        parts = [usage.in_words, *([f"{' and '.join(unknown)} not known"] if calls and unknown else [])]
        parts.append(in_time(state.seconds))
        stored = sum(call.cached for call in calls)
        parts += [f"{stored} replies from the store"] if stored else []
        read = [("Read as", state.reading)] if state.reading else []
        read += [("From", line) for line in sources_in_words(state.sources)]
        table = inputs.get("table")
        if state.sources or (isinstance(table, Table) and len(table.rows) <= _MAX_ROWS):
            read += [("Note", note) for note in notes_on(state, 8)]
        steps = list(views(islice(events, _MAX_EVENTS)))
        more = max(0, len(events) - _MAX_EVENTS)
        status = "Out of budget" if state.status == "budget" else state.status.capitalize()
        question, tables = value_text(inputs.pop("question", None) or ""), _tables_in(state)
        bars = list(_bars(events))
        return cls(state, question, status, inputs, read, tables, bars, steps, more, ", ".join(parts))

    @property
    def kind(self) -> str:
        """The CSS class of its colors, as for the problems of a report."""
        return {"answered": "right", "declined": "declined"}.get(self.state.status, "failed")

    @property
    def about(self) -> list[tuple[str, str]]:
        """The description of a run: pairs of a name and a text."""
        started = self.state.started
        settings = started.settings if started else {}
        plan, reached = self.state.plan, len(self.state.plan) - len(self.state.pending)
        began = datetime.fromtimestamp(started.at, UTC) if started and started.at else None
        pairs = [
            ("Ran", f"{began:%Y-%m-%d %H:%M} UTC" if began else ""),
            ("Version", str(settings.get("version") or "")),
            ("Inventory", started.inventory if started else ""),
            ("Model", str(settings.get("model") or "none")),
            ("Plan", " → ".join(plan[:reached])),
            ("Not reached", " → ".join(plan[reached:])),
            ("Took", self.spent),
        ]
        return [(name, text) for name, text in pairs if text]


def page_of(events: Iterable[Event]) -> str:
    """Return the page of a run, self-contained and without scripts."""
    return environment().get_template(TEMPLATE).render(runs=[RunView.of(list(events))])


def write_run_page(runs: Iterable[Sequence[Event]], file: str | Path) -> int:
    """Write the page of a run, or of the runs of a conversation; return how many. Raises `InputError`."""
    run_views = [RunView.of(events) for events in runs if events]
    if not run_views:
        raise InputError("there is no run to show", hint="Give the event log of a run.")
    write_html(TEMPLATE, file, runs=run_views)
    return len(run_views)


def events_of(state: State) -> Iterator[Event]:
    """Yield the events that made a state; approvals are left out, as a state does not keep them."""
    if state.started is not None:
        yield state.started
    number = 0
    for plan in state.plans:
        yield plan
        steps = [] if plan.refused else list(plan.steps)
        while number < len(state.history):
            record = state.history[number]
            if not record.dropped and steps[:1] != [record.step]:
                break  # it is a step of the next plan
            yield from (Nested(record.step.module, event) for event in state.within.get(number, ()))
            yield record
            steps = steps if record.dropped else steps[1:]
            number += 1
    if state.ended is not None:
        yield state.ended


def _bars(events: Iterable[Event]) -> Iterator[Bar]:
    """Yield plans and steps as they followed each other, some of them side by side.

    A step that runs an inventory is one bar.
    """
    timed = [event for event in events if isinstance(event, Plan | StepRecord)]
    starts, start, end = [], 0.0, 0.0
    for event in timed:
        # A step that ran in parallel began with the one before it, any other when all before it had ended.
        start = start if isinstance(event, StepRecord) and event.beside else end
        starts.append(start)
        end = max(end, start + round(event.seconds, 6))  # as rounded in a log
    total = end or 1.0
    for start, event in zip(starts[:_MAX_BARS], timed, strict=False):
        if isinstance(event, StepRecord):
            name, error = event.step.module, event.error
            kind = "" if error is None else "declined" if error.kind in DECLINES else "failed"
        else:
            name, kind = f"plan {planned_by(event.by)}", "refused" if event.refused else ""
        share = 100 * round(event.seconds, 6) / total  # drawn as 0.4% or more, to be seen
        yield Bar(name, kind, min(100 * start / total, 99.6), max(share, 0.4), in_time(event.seconds))


def _tables_in(state: State) -> list[tuple[Table, Marks]]:
    """Return the given tables, or the found ones that the answer is based on, each with its cells."""
    inputs = dict(state.started.input) if state.started else {}
    changes = [inputs, *(each.input_changes for each in state.history if not inputs.get("table"))]
    candidates = [each for one in changes for each in (one.get("table"), *(one.get("tables") or ()))]
    tables = {each.caption: each for each in reversed(candidates) if isinstance(each, Table)}  # as first seen
    pairs = []
    for caption, table in reversed(tables.items()):
        sources = [each for each in state.sources if len(tables) == 1 or each.get("table") == caption]
        if sources or inputs.get("table"):
            pairs.append((table, _marks_in(table, sources)))
    return pairs[:_MAX_TABLES]


def _marks_in(table: Table, sources: Iterable[Mapping[str, Any]]) -> Marks:
    """Return the cells of a table that the answer is based on: columns by row, both from 0."""
    marks: dict[int, frozenset[int]] = {}
    for source in sources:
        names = source.get("columns") or ()
        columns = frozenset(place for place, name in enumerate(table.header) if name in names)
        for row in source.get("rows") or ():
            marks[row - 1] = marks.get(row - 1, frozenset()) | columns  # sources count rows from 1
        for row, name in source.get("cells") or ():
            places = {place for place, own in enumerate(table.header) if own == name}
            marks[row - 1] = marks.get(row - 1, frozenset()) | places
    return marks
