"""`chameleon ask` and `chameleon plan`: from options to an executor, from its events to a page of text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from chameleon.cli.approving import EXIT_WAITS, attend, how_to_go_on, kept
from chameleon.cli.exporting import receiver
from chameleon.cli.given import (
    STANDARD_INPUT,
    check_options,
    files_in_words,
    fit,
    read_input,
    read_text_or_document,
    without_file_of_settings,
)
from chameleon.cli.hints import HINTS
from chameleon.cli.options import QuestionOptions, RunOptions
from chameleon.cli.setup import Setup, defaults_for, set_up
from chameleon.cli.show import RunPage
from chameleon.cli.terminal import Activity, ReplyStream, echo, echo_json, is_verbose, say
from chameleon.cli.words import answer_text, notes_on, now_in_words
from chameleon.core.log import EventLog, event_to_json, settings_in
from chameleon.core.module import split_keys
from chameleon.core.state import Event, Failure, Plan, RunEnded, State
from chameleon.errors import Declined, StepRejected
from chameleon.inventories import DEFAULTS
from chameleon.inventory import Inventory
from chameleon.run.executor import Executor
from chameleon.text import one_line
from chameleon.usage import Usage
from chameleon.values import to_json

_ASK_A_MODEL = "let a model answer: {} {} --model PROVIDER:NAME, with its key."
_ASK_ANEW = (
    "Replies came from the response store: --store record asks the model anew and keeps what it says, "
    "--store off asks it and keeps nothing."
)
_LONGEST_REPLY, _LONGEST_TOLD = 200, 400
_AROUND = " .,;:!?\"'“”‘’`*()[]"
_OF_STEPS = ("module", "args", "output", "error", "seconds", "dropped")
EXIT_CODES = {"answered": 0, "failed": 1, "budget": 1, "declined": 3}


def run_question(options: QuestionOptions, run: RunOptions, *, as_json: bool, plan_only: bool = False) -> int:
    """Run a question, show what happens, and return the exit code; `plan_only` stops at the first plan."""
    begun, log = time.monotonic(), run.log
    if log is not None and options.image == STANDARD_INPUT:
        what = "a run that goes on later reads its picture again: save it to a file"
        raise typer.BadParameter(what, param_hint="--log")
    options = without_file_of_settings(options)
    check_options(options)
    with ExitStack() as kept_open:
        activity = kept_open.enter_context(Activity(f"reading {files_in_words(options)}"))
        everything = kept_open.enter_context(read_input(options))
        activity.show("preparing")
        setup = set_up_for(options, everything, settings_in(log), plans=plan_only)
        given = fit(everything, setup.executor.inventory, options)
        inventory = setup.executor.inventory
        page = RunPage(
            as_json=as_json,
            trace=run.trace or is_verbose(),
            inventory=inventory,
            model=setup.executor.model,
            plan_only=plan_only,
            begun=begun,
        )
        page.begin(setup.why)
        attend(setup.executor, run.approve)
        events: list[Event] = []
        reply = ReplyStream()
        traces = kept_open.enter_context(receiver(run))
        for event in _events(setup.executor, given, log, page.note, reply if run.stream else None):
            reply.end()
            if traces is not None:
                traces.event(event)
            page.show(event)
            events.append(event)
            if plan_only and isinstance(event, Plan) and not event.refused:
                break
            activity.show(now_in_words(page.state, inventory))
    state = advised(among_choices(page.state, given), setup.executor)
    waits_in = (log or kept(events)) if state.waiting else None
    if as_json:
        echo_json({**summary(state, setup), **({"log": str(waits_in)} if waits_in else {})})
    if waits_in is not None:
        page.wait(state, how_to_go_on(state, waits_in))
        return EXIT_WAITS
    if state.ended is None:
        page.rest(state)
        return 0
    page.end(state, options.unit or "")
    return EXIT_CODES[state.ended.reason]


def run_questions(options: QuestionOptions, run: RunOptions, file: Path, *, as_json: bool) -> int:
    """Ask each line of a file, print a line for each, "(declined)" too, and return the worst exit code."""
    if options.question or run.log is not None:
        raise typer.BadParameter("give neither QUESTION nor --log beside it", param_hint="--questions")
    lines = read_text_or_document(str(file))["text"].splitlines()
    asked = list(filter(None, map(str.strip, lines)))
    options, codes = replace(options, question=asked[0]), {0}
    check_options(options)
    with read_input(options) as everything:
        setup = set_up_for(options, everything, {})
        given = fit(everything, setup.executor.inventory, options)
        attend(setup.executor, run.approve)
        for question in asked:
            with Activity(one_line(question, _LONGEST_REPLY)):
                state = setup.executor.run({**given, "question": question})
            state = advised(among_choices(state, given), setup.executor)
            reason = state.ended.reason if state.ended else "waiting"
            codes.add(EXIT_CODES.get(reason, EXIT_WAITS))
            if as_json:
                echo_json({"question": question, **summary(state, setup)})
            else:
                unit = options.unit or ""
                said = answer_text(state.answer, unit) if reason == "answered" else f"({reason})"
                echo(" ".join(said.split()))
                if why := state.ended.error.advice if state.ended and state.ended.error else state.reading:
                    say(one_line(f"{question}: {why}", _LONGEST_TOLD))
    return 1 if 1 in codes else max(codes)


def set_up_for(
    options: QuestionOptions, given: Mapping[str, Any], recorded: Mapping[str, Any], *, plans: bool = False
) -> Setup:
    """Choose what answers questions with this input; `recorded` are a log's settings, or empty."""
    named: str | Inventory | None = options.inventory
    if options.inventory is not None and recorded:  # with what servers listed
        named = Inventory.load(options.inventory, recorded=recorded)
    planned, offline = defaults_for(given)
    defaults = ("tables" if plans and planned == "tables_first" else planned, offline)
    return set_up(named, options, defaults=defaults, ask_for_end=True, at_least=options.at_least)


def among_choices(state: State, given: Mapping[str, Any]) -> State:
    """Decline a run whose answer is none of the choices; case and punctuation around do not count.

    Modules give such a reply as it is: a benchmark may have a rule of its own for it.
    """
    ended, answer, choices = state.ended, state.answer, given.get("choices")
    if not choices or ended is None or ended.reason != "answered":
        return state

    def bare(text: str) -> str:  # a choice of punctuation alone stays as it is
        folded = " ".join(text.casefold().split())
        return folded.strip(_AROUND) or folded

    forms = set(map(bare, choices))
    answers = answer if isinstance(answer, tuple) and answer else (answer,)
    if all(bare(answer_text(each, "")) in forms for each in answers):
        return state
    said = one_line(answer_text(answer, ""), _LONGEST_REPLY)
    what = f"the reply {said!r} is none of the choices: {'; '.join(choices)}"
    return replace(state, ended=replace(ended, reason="declined", error=Failure(Declined.__name__, what)))


def advised(state: State, executor: Executor, named_by: str = "--inventory") -> State:
    """Tell a run without an answer what else to try, in options of the command line."""
    ended = state.ended
    if ended is None or ended.error is None:
        return state
    hints = list(filter(None, [HINTS.get(ended.error.code, ended.error.hint)]))
    with_model = {offline: name for name, offline in DEFAULTS.values()}.get(executor.inventory.name)
    rejected = ended.reason == "failed" and ended.error.kind == StepRejected.__name__
    if rejected and any(call.cached for call in state.calls):
        hints.append(_ASK_ANEW)
    elif ended.reason == "declined" and with_model:
        advice = _ASK_A_MODEL.format(named_by, with_model)
        hints.append(f"Or {advice}" if hints else f"{advice[0].upper()}{advice[1:]}")
    error = replace(ended.error, hint=" ".join(hints))
    return replace(state, ended=replace(ended, error=error))


def _events(
    executor: Executor,
    given: Mapping[str, Any],
    path: Path | None,
    note: Callable[[str], None],
    reply: ReplyStream | None,
) -> Iterator[Event]:
    """Yield the run's events, those of a log first; new ones are written as they happen."""
    if path is None:
        yield from with_sandbox(executor.stream(given, on_text=reply), executor)
        return
    with EventLog(path) as log:
        log.forget_failure()
        before = tuple(log)
        new = with_sandbox(executor.stream(given, log, on_text=reply), executor)
        first = next(new, None)  # a log of another run is refused before anything is shown
        if before and isinstance(before[-1], RunEnded):
            note(f"The run in {path} has ended: what follows is taken from it, and nothing is asked anew.")
        yield from before
        if first is not None:
            yield first
        yield from new


def with_sandbox(events: Iterator[Event], executor: Executor) -> Iterator[Event]:
    """Yield the events; the sandbox starts beside the first steps of a plan that will use it."""
    modules = executor.inventory.modules
    for event in events:
        yield event
        planned = event.steps if isinstance(event, Plan) and not event.refused else ()
        if any("sandbox" in split_keys(modules[step.module].uses) for step in planned):
            from chameleon.sandbox import start_early

            start_early()


def summary(state: State, setup: Setup) -> dict[str, Any]:
    """Return the run as one JSON object."""
    error = state.ended.error if state.ended else None
    reason = state.ended.reason if state.ended else None
    answered, declined = reason == "answered", reason == "declined"
    planned = [step.to_json() for plan in state.plans if not plan.refused for step in plan.steps]
    return {
        "answer": to_json(state.answer),
        "reading": (state.reading or None) if answered else None,
        **({"sources": to_json(state.cache["sources"])} if answered and "sources" in state.cache else {}),
        **({"nearest": to_json(state.cache["nearest"])} if declined and "nearest" in state.cache else {}),
        **({"notes": notes} if (notes := notes_on(state)) else {}),
        "inventory": setup.executor.inventory.name,
        "model": state.begun.settings.get("model") if state.begun else setup.executor.model,
        "why": setup.why,
        "plan": list(state.plan),
        **({"planned": planned} if any("args" in step for step in planned) else {}),
        "declined": declined,
        **({"waiting": [step.to_json() for step in state.waiting]} if state.waiting else {}),
        "steps": _steps(state),
        **({"dropped": [str(each) for each in state.dropped]} if state.dropped else {}),
        "usage": state.usage.to_json(),
        "error": error.to_json() if error else None,
    }


def _steps(state: State) -> list[dict[str, Any]]:
    """Return what each step did, without its prompts, which the event log holds; of an inventory its own."""
    steps = []
    for number, record in enumerate(state.history):
        written = event_to_json(record)
        within = State.fold(state.within.get(number, ()))
        own = (call.usage for call in record.calls)
        usage = within.usage if number in state.within else sum(own, Usage())
        told = {key: written[key] for key in _OF_STEPS if key in written}
        told |= {"steps": _steps(within)} if number in state.within else {}
        steps.append({**told, "usage": usage.to_json()})
    return steps
