"""`chameleon ask` and `chameleon plan`: turn options into a run, and its events into a page or JSON."""

import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from chameleon.cli.approving import EXIT_WAITS, kept
from chameleon.cli.options import QuestionOptions, RunOptions
from chameleon.cli.page import RunPage
from chameleon.cli.setup import (
    STANDARD_INPUT,
    Setup,
    checked,
    events_of,
    prepare,
    read_text_or_document,
    receiver,
)
from chameleon.cli.terminal import Activity, ReplyPrinter, echo, echo_json, output, say
from chameleon.cli.wording import MAX_REPLY_CHARS, answer_text, settled
from chameleon.core.events import Event, Plan, RunEnded
from chameleon.core.log import EventLog, event_to_json, settings_in
from chameleon.core.sources import notes_on
from chameleon.core.state import State
from chameleon.errors import InputError
from chameleon.text import one_line
from chameleon.values import to_json

_MAX_LINE_CHARS = 400
_STEP_KEYS = ("module", "args", "output", "error", "seconds", "dropped")
_OPTIONAL_KEYS = ("notes", "planned", "waiting", "dropped")
EXIT_CODES = {"answered": 0, "running": 0, "failed": 1, "budget": 1, "declined": 3, "waiting": EXIT_WAITS}


def run_question(
    question: QuestionOptions,
    run: RunOptions = RunOptions(),
    questions: Path | None = None,
    *,
    as_json: bool,
    plan_only: bool = False,
) -> int:
    """Run a question, or each line of a file, show what happens, and return the exit code.

    `plan_only` stops at the first plan.
    """
    if questions is not None:
        return _run_questions(question, run, questions, as_json=as_json)
    started, log = time.monotonic(), run.log
    if log is not None and question.image == STANDARD_INPUT:
        what = "a run that resumes later reads its image again: save it to a file"
        raise typer.BadParameter(what, param_hint="--log")
    options = checked(question)
    with ExitStack() as close:
        activity = close.enter_context(Activity("preparing"))
        setup = prepare(options, run.approve, close, settings_in(log) if log else {}, plans=plan_only)
        inventory = setup.executor.inventory
        trace = run.trace or plan_only or output.verbose
        page = RunPage(as_json=as_json, trace=trace, inventory=inventory, model=setup.executor.model)
        page.plan_only, page.started = plan_only, started
        page.begin(setup.why)
        kept_log = close.enter_context(EventLog(log)) if log is not None else None
        if kept_log is not None:
            kept_log.forget_failure()
            if any(isinstance(event, RunEnded) for event in kept_log):
                page.note(f"The run in {log} has ended: what follows is from it, and nothing is asked again.")
        events: list[Event] = []
        reply = ReplyPrinter()
        traces = close.enter_context(receiver(run))
        stream = events_of(setup.executor, setup.given, kept_log, reply if run.stream else None)
        for event in page.follow(stream, reply, activity):
            if traces is not None:
                traces.event(event)
            events.append(event)
            if plan_only and isinstance(event, Plan) and not event.refused:
                break
    if run.html is not None:
        from chameleon.evaluation.run_page import write_run_page

        write_run_page([events], run.html)
        page.note(f"Page: {run.html}")
    state = settled(page.state, setup.given, inventory)
    waits_in = (log or kept(events)) if state.waiting else None
    if as_json:
        echo_json({**summary(state, setup), **({"log": str(waits_in)} if waits_in else {})})
    if waits_in is not None:
        page.wait(state, waits_in)
    elif state.ended is None:
        page.rest(state)
    else:
        page.end(state, options.unit or "")
    return EXIT_CODES[state.status]


def _run_questions(options: QuestionOptions, run: RunOptions, file: Path, *, as_json: bool) -> int:
    """Ask each line of a file, print one line each ("(declined)" if so), and return the worst exit code."""
    if options.question or run.log is not None:
        raise typer.BadParameter("it cannot be combined with QUESTION or --log", param_hint="--questions")
    lines = read_text_or_document(str(file))["text"].splitlines()
    if not (questions := list(filter(None, map(str.strip, lines)))):
        raise InputError("there is no question in it", where=str(file))
    options, codes = checked(replace(options, question=questions[0])), {0}
    with ExitStack() as close:
        setup = prepare(options, run.approve, close)
        for question in questions:
            with Activity(one_line(question, MAX_REPLY_CHARS)):
                state = setup.executor.run({**setup.given, "question": question})
            state = settled(state, setup.given, setup.executor.inventory)
            codes.add(EXIT_CODES[state.status])
            if as_json:
                echo_json({"question": question, **summary(state, setup)})
            else:
                answer = answer_text(state.answer, options.unit or "")
                echo(" ".join(answer.split()) if state.status == "answered" else f"({state.status})")
                if why := state.ended.error.advice if state.ended and state.ended.error else state.reading:
                    say(one_line(f"{question}: {why}", _MAX_LINE_CHARS))
    return 1 if 1 in codes else max(codes)  # a failure is worse than declining or waiting


def summary(state: State, setup: Setup) -> dict[str, Any]:
    """Return the run as one JSON object."""
    error = state.ended.error if state.ended else None
    planned = [step.to_json() for plan in state.plans if not plan.refused for step in plan.steps]
    cached = {"answered": "sources", "declined": "nearest"}.get(state.status, "")
    data = {
        "answer": to_json(state.answer),
        "reading": (state.reading or None) if state.status == "answered" else None,
        cached: to_json(state.cache.get(cached)),
        "notes": notes_on(state),
        "inventory": setup.executor.inventory.name,
        "model": state.started.settings.get("model") if state.started else setup.executor.model,
        "why": setup.why,
        "plan": list(state.plan),
        "planned": planned if any("args" in step for step in planned) else (),
        "declined": state.status == "declined",
        "waiting": [step.to_json() for step in state.waiting],
        "steps": _steps(state),
        "dropped": [str(each) for each in state.dropped],
        "usage": state.usage.to_json(),
        "error": error.to_json() if error else None,
    }
    return {key: value for key, value in data.items() if value or key not in (*_OPTIONAL_KEYS, cached)}


def _steps(state: State) -> list[dict[str, Any]]:
    """Return what each step did, with nested steps but without prompts, which are in the event log."""
    steps = []
    for number, record in enumerate(state.history):
        data = event_to_json(record)
        within = State.fold(state.within.get(number, ()))
        usage = sum((call.usage for call in record.calls), within.usage)
        step = {key: data[key] for key in _STEP_KEYS if key in data}
        step |= {"steps": _steps(within)} if number in state.within else {}
        steps.append({**step, "usage": usage.to_json()})
    return steps
