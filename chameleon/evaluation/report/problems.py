"""A problem as it opens on the page: what was asked, each plan, step and call, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from chameleon import values
from chameleon.evaluation.report.beginnings import Beginnings, PromptText
from chameleon.evaluation.report.figures import count_of, in_figures
from chameleon.evaluation.report.summary import (
    RunSummary,
    Verdict,
    spent_in_words,
    usage_in_words,
    verdict_of,
)
from chameleon.evaluation.report.text import Shown, brief
from chameleon.evaluation.report.views import Picture, TextView, View, picture_view, value_text, view_of
from chameleon.evaluation.results import Result
from chameleon.state import Begun, Ended, Event, Failure, Plan, Record
from chameleon.table import Table
from chameleon.usage import Call

AT_ONCE = 250
"""As many problems' events are in memory at once."""

_PLANS = {
    "proposed": "Plan",
    "again": "Another plan",
    "repair": "Repair",
    "on_error": "Plan after the failure",
    "fallback": "Fallback plan",
}


@dataclass(frozen=True)
class CallView:
    call: Call
    messages: list[tuple[str, PromptText]]
    params: str
    spent: str


@dataclass(frozen=True)
class PlanView:
    kind = "plan"
    label: str
    plan: Plan
    names: tuple[str, ...]
    calls: list[CallView]


@dataclass(frozen=True)
class StepView:
    """`same` names the keys that hold the output, `changes` those that hold something else."""

    kind = "step"
    number: int
    record: Record
    args: str
    output: View | None
    same: list[str]
    changes: list[tuple[str, View]]
    calls: list[CallView]


@dataclass(frozen=True)
class EndView:
    kind = "end"
    reason: str
    error: Failure | None
    calls: list[CallView]


@dataclass
class ProblemView:
    """`anchor` is the page's own name for it; `elsewhere` is what other runs made of the same problem."""

    anchor: str
    result: Result
    verdict: Verdict
    answer: View
    gold: View
    usage: str
    picture: Picture | None
    elsewhere: list[tuple[str, Verdict, str]]
    title: str = ""
    grades: str = ""
    question: View | None = None
    choices: str | None = None
    table: View | None = None
    other: list[tuple[str, View]] = field(default_factory=list)
    events: list[PlanView | StepView | EndView] = field(default_factory=list)


@dataclass
class RunProblems:
    """The problems of one run that the page shows: those that were not right come first."""

    run: RunSummary
    number: int
    chosen: list[tuple[int, Result]]

    @classmethod
    def of(cls, run: RunSummary, number: int, most: int) -> RunProblems:
        every = list(enumerate(run.run.results, 1))
        chosen = [*(one for one in every if not one[1].correct), *(one for one in every if one[1].correct)]
        return cls(run, number, chosen[:most])

    @property
    def note(self) -> str:
        n = len(self.run.run.results)
        if len(self.chosen) == n:
            return ""
        return f"{len(self.chosen):,} of {n:,} shown: --problems N shows more."

    @property
    def verdicts(self) -> Sequence[Verdict]:
        return self.run.verdicts

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of those that are shown came to each verdict."""
        verdicts = [verdict_of(result) for _, result in self.chosen]
        return {verdict: verdicts.count(verdict) for verdict in verdicts}

    def anchor(self, place: int) -> str:
        return f"run{self.number}-problem{place}"


class ProblemReader:
    """Reads problems for the page, some hundreds at once, however many there are."""

    def __init__(self, runs: Sequence[RunProblems], beginnings: Beginnings) -> None:
        self.beginnings = beginnings
        self._verdicts = {
            run.number: {result.id: verdict_of(result) for result in run.run.run.results} for run in runs
        }
        self._anchors = {
            run.number: {result.id: run.anchor(place) for place, result in run.chosen} for run in runs
        }
        self._names = {run.number: run.run.name for run in runs}

    def views(self, run: RunProblems) -> Iterator[ProblemView]:
        """The chosen problems of a run, in their order."""
        waiting = iter(run.chosen)
        while part := list(islice(waiting, AT_ONCE)):
            histories = run.run.run.histories([result.id for _, result in part])
            for place, result in part:
                yield self._view(run, place, result, histories.pop(result.id, ()))

    def _view(self, run: RunProblems, place: int, result: Result, events: Sequence[Event]) -> ProblemView:
        view = ProblemView(
            anchor=run.anchor(place),
            result=result,
            verdict=verdict_of(result),
            answer=view_of(values.from_json(result.answer)),
            gold=view_of(values.from_json(result.gold)),
            usage=usage_in_words(result.usage),
            picture=picture_view(result.picture),
            elsewhere=self._elsewhere(run, result.id),
            grades=in_figures(run.run.tally, count_of(result)) if result.grades else "",
        )
        self._tell(view, events)
        return view

    def _elsewhere(self, run: RunProblems, id: str) -> list[tuple[str, Verdict, str]]:
        return [
            (self._names[number], verdicts[id], self._anchors[number].get(id, ""))
            for number, verdicts in self._verdicts.items()
            if number != run.number and id in verdicts
        ]

    def _tell(self, view: ProblemView, events: Sequence[Event]) -> None:
        table: Table | None = None
        number = 0
        for event in events:
            if isinstance(event, Begun):
                _ask(view, event.input)
                given = event.input.get("table")
                table = given if isinstance(given, Table) else None
            elif isinstance(event, Plan):
                names = event.names
                view.events.append(PlanView(_PLANS[event.kind], event, names, self._calls(event.calls)))
            elif isinstance(event, Record):
                number += 1
                view.events.append(self._step(number, event, table))
                changed = event.input_changes.get("table")
                table = changed if isinstance(changed, Table) and not event.dropped else table
            elif isinstance(event, Ended):
                why = None if event.error == view.result.error else event.error  # it stands above
                view.events.append(EndView(event.reason, why, self._calls(event.calls)))

    def _step(self, number: int, record: Record, table: Table | None) -> StepView:
        same, changes = [], []
        for where, changed in (("input", record.input_changes), ("cache", record.cache_changes)):
            for key, value in changed.items():
                name = f"{where}.{key}"
                if value is record.output or value == record.output:
                    same.append(name)
                else:
                    changes.append((name, view_of(value)))
        return StepView(
            number=number,
            record=record,
            args=value_text(record.step.args) if record.step.args else "",
            output=_output(record, table),
            same=same,
            changes=changes,
            calls=self._calls(record.calls),
        )

    def _calls(self, calls: Sequence[Call]) -> list[CallView]:
        return [
            CallView(
                call,
                [(role, self.beginnings.split(text)) for role, text in call.messages],
                value_text(call.params),
                "from the response store" if call.cached else spent_in_words(call.usage),
            )
            for call in calls
        ]


def _ask(view: ProblemView, given: Mapping[str, Any]) -> None:
    """What the problem was given: the keys that every reader looks for first, then any others."""
    rest = dict(given)
    question = rest.pop("question", None)
    view.title = brief(value_text(question)) if question is not None else ""
    view.question = view_of(question) if question is not None else None
    choices = rest.pop("choices", None)
    view.choices = value_text(choices) if choices else None
    table = rest.pop("table", None)
    view.table = view_of(table) if table is not None else None
    view.other = [(key, view_of(value)) for key, value in rest.items() if value not in (None, "")]


def _output(record: Record, table: Table | None) -> View | None:
    if record.error is not None and record.output is None:
        return None
    if isinstance(record.output, Table) and record.output == table:
        size = f"{len(table.rows):,} × {len(table.header):,}"
        return TextView(Shown(f"The table stays as it was, {size}."))
    return view_of(record.output)
