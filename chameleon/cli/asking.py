"""`chameleon ask` and `chameleon plan`: from options to an executor, from its events to a page of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from chameleon.cli.given import (
    STANDARD_INPUT,
    file_name,
    index_folder,
    only,
    picture_file,
    read_tables,
    read_text_or_paper,
    require_one_reader,
    text_passages,
)
from chameleon.cli.out import echo_json
from chameleon.cli.setup import CORPUS, PAPERS, PICTURES, TABLES, ModelOptions, Setup, set_up
from chameleon.cli.show import Page, answer_text
from chameleon.errors import Declined, InputError, StepRejected
from chameleon.executor import Executor
from chameleon.log import EventLog, event_to_json
from chameleon.state import Event, Failure, Plan, RunEnded, State, StepRecord
from chameleon.usage import Usage
from chameleon.values import to_json

_ASK_A_MODEL = "let a model answer: --inventory {} --model PROVIDER:NAME, with its key."
_ASK_ANEW = (
    "Replies came from the response store: --store record asks the model anew and keeps what it says, "
    "--store off asks it and keeps nothing."
)
_TAKES_TABLES = "chain_of_table_extended"
_LONGEST_REPLY = 200
_AROUND = " .,;:!?\"'“”‘’`*()[]"
EXIT_CODES = {"answered": 0, "failed": 1, "budget": 1, "declined": 3}


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    question: str
    table: Sequence[str] | None
    image: Sequence[str] | None
    text: Sequence[str] | None
    index: Path | None
    choices: str | None
    unit: str | None
    inventory: str | None
    options: ModelOptions

    @contextmanager
    def input(self) -> Iterator[dict[str, Any]]:
        """The input of the run, which may rest on files that are there until the end of the block.

        Raises `InputError` for a file that cannot be read, and where there is nothing to answer from,
        `BadParameter` for options that do not go together.
        """
        if not self.question.strip():
            raise typer.BadParameter("is empty", param_hint="QUESTION")
        image, text = only(self.image, "--image"), only(self.text, "--text")
        tables = self.table or ()
        if tables.count(STANDARD_INPUT) > 1:
            raise typer.BadParameter("only one of them can read standard input", param_hint="--table")
        from_pipe = STANDARD_INPUT if STANDARD_INPUT in tables else None
        require_one_reader(table=from_pipe, image=image, text=text)
        self._require_sources()
        given: dict[str, Any] = {"question": self.question, "unit": self.unit}
        given |= read_tables(tables)
        if self.index is not None:
            given["index"] = index_folder(self.index)
        if text is not None:
            given |= read_text_or_paper(text)
        if self.choices is not None:
            given["choices"] = [choice.strip() for choice in self.choices.split(";") if choice.strip()]
            if len(given["choices"]) < 2:
                raise typer.BadParameter('two options or more, such as "yes;no"', param_hint="--choices")
        with ExitStack() as kept:
            if image is not None:
                given["image"] = kept.enter_context(picture_file(image))
            yield given

    def _require_sources(self) -> None:
        """Raise an error where no inventory is named and none of the general ones takes what is given."""
        if self.inventory is not None:
            return
        if not self.table and not self.image and not self.text and not self.index:
            raise InputError(
                "the question comes without anything to answer it from",
                hint="Give a table with --table, an index with --index, a picture with --image or a text "
                "with --text.",
            )
        if self.index and (self.table or self.image or self.text):
            raise typer.BadParameter(
                f"is given with something else, and {' and '.join(CORPUS)} take an index alone: leave one "
                "out, or name an inventory that takes them with --inventory",
                param_hint="--index",
            )
        if self.table and (self.image or self.text):
            with_table, without_table = " and ".join(TABLES), " and ".join(PICTURES)
            raise InputError(
                f"a table and a {'picture' if self.image else 'text'} are given, and {with_table} take a "
                f"table alone, {without_table} a picture, a text or both",
                hint="Leave one out, or name an inventory that takes them with --inventory"
                f"{'' if self.image else ', such as finqa'}.",
            )

    @property
    def general(self) -> tuple[str, str]:
        """The inventories for such a question where none is named: with a model, and without."""
        if self.index:
            return CORPUS
        return PICTURES if not self.table and (self.image or self.text) else TABLES


def _set_up(asked: Asked, given: Mapping[str, Any]) -> Setup:
    """What will run. Raises `InputError` where that takes one table and is given more."""
    general = PAPERS if "passages" in given and not asked.image else asked.general
    setup = set_up(asked.inventory, asked.options, general=general, ask_for_end=True)
    inventory = setup.executor.inventory
    if "index" in given and inventory.input_types and "index" not in inventory.input_types:
        raise InputError(
            f"the inventory {inventory.name} reads no index",
            hint=f"Leave --inventory out, or name one that does, such as {CORPUS[0]}.",
        )
    if "tables" in given and inventory.input_types and "tables" not in inventory.input_types:
        raise InputError(
            f"the inventory {inventory.name} takes one table, and {1 + len(given['tables'])} are given",
            hint=f"Name one that takes more with --inventory, such as {_TAKES_TABLES}.",
        )
    return setup


def _fitted(given: dict[str, Any], setup: Setup, asked: Asked) -> dict[str, Any]:
    """The input with a text in the one form that the inventory takes: its passages, or the text.

    A table beside passages takes the name of its file where it has no caption, so that sources name it.
    """
    takes = setup.executor.inventory.input_types
    if "text" in given and "passages" not in given and takes and "passages" in takes and "text" not in takes:
        given = given | {"passages": text_passages(given["text"], only(asked.text, "--text"))}
    if "passages" not in given:
        return given
    left_out = "text" if not takes or "passages" in takes else "passages"
    fitted = {key: value for key, value in given.items() if key != left_out}
    if "passages" in fitted and asked.table and not fitted["table"].caption.strip():
        fitted["table"] = fitted["table"].with_caption(file_name(asked.table[0]))
    return fitted


def run_question(asked: Asked, *, trace: bool, log: Path | None, as_json: bool) -> int:
    """Run, show, and return the exit code."""
    if log is not None and STANDARD_INPUT in (asked.image or ()):
        raise typer.BadParameter(
            "a run that goes on later reads its picture again: save it to a file", param_hint="--log"
        )
    with asked.input() as all_given:
        setup = _set_up(asked, all_given)
        given = _fitted(all_given, setup, asked)
        page = Page(as_json=as_json, trace=trace, model=setup.executor.model)
        page.begin(setup.why)
        state = State()
        for event in _events(setup.executor, given, log, page.note):
            page.show(event)
            state = state.after(event)
    state = _advised(_among_choices(state, given.get("choices") or ()), setup.executor)
    if as_json:
        echo_json(summary(state, setup))
    page.end(state, asked.unit or "")
    assert state.ended is not None
    return EXIT_CODES[state.ended.reason]


def _among_choices(state: State, choices: Sequence[str]) -> State:
    """The run as declined where its answer is none of the choices; case and punctuation around do not count.

    Modules give such a reply as it is: a benchmark may have a rule of its own for it.
    """
    ended, answer = state.ended, state.answer
    if not choices or ended is None or ended.reason != "answered":
        return state
    forms = set(map(_bare, choices))
    given = answer if isinstance(answer, tuple) and answer else (answer,)
    if all(_bare(answer_text(each, "")) in forms for each in given):
        return state
    said = answer_text(answer, "")
    said = said if len(said) <= _LONGEST_REPLY else f"{said[:_LONGEST_REPLY]}…"
    what = f"the reply {said!r} is none of the choices: {'; '.join(choices)}"
    return replace(state, ended=replace(ended, reason="declined", error=Failure(Declined.__name__, what)))


def _bare(text: str) -> str:
    """A choice without case and the punctuation around it; one of punctuation alone as it is."""
    folded = " ".join(text.casefold().split())
    return folded.strip(_AROUND) or folded


def _advised(state: State, executor: Executor) -> State:
    """A run without an answer with what else to try.

    Where no model was asked, one may know more; where replies of the response store were rejected, the model
    may say another thing.
    """
    ended = state.ended
    if ended is None or ended.error is None:
        return state
    rejected = ended.reason == "failed" and ended.error.kind == StepRejected.__name__
    if rejected and any(call.cached for call in state.calls):
        hint = f"{ended.error.hint} {_ASK_ANEW}".lstrip()
        return replace(state, ended=replace(ended, error=replace(ended.error, hint=hint)))
    if ended.reason != "declined":
        return state
    with_model = {without: name for name, without in (TABLES, PICTURES, CORPUS, PAPERS)}
    name = with_model.get(executor.inventory.name)
    if name is None:
        return state
    advice, model = ended.error.hint, _ASK_A_MODEL.format(name)
    hint = f"{advice} Or {model}" if advice else f"{model[0].upper()}{model[1:]}"
    return replace(state, ended=replace(ended, error=replace(ended.error, hint=hint)))


def _events(
    executor: Executor, given: Mapping[str, Any], path: Path | None, note: Callable[[str], None]
) -> Iterator[Event]:
    """The run's events, those of a log first; new ones are written as they happen. `note` tells the user."""
    if path is None:
        yield from executor.stream(given)
        return
    with EventLog(path) as log:
        log.forget_failure()
        before = tuple(log)
        new = executor.stream(given, log)
        first = next(new, None)  # a log of another run is refused before anything is shown
        if before and isinstance(before[-1], RunEnded):
            note(f"The run in {path} has ended: what follows is taken from it, and nothing is asked anew.")
        yield from before
        if first is not None:
            yield first
        yield from new


def plan_question(asked: Asked, *, as_json: bool) -> int:
    """Ask the planner alone, and show its plan."""
    with asked.input() as all_given:
        setup = _set_up(asked, all_given)
        given = _fitted(all_given, setup, asked)
        page = Page(as_json=as_json, trace=True, model=setup.executor.model)
        page.begin(setup.why)
        state = State()
        for event in setup.executor.stream(given):
            page.show(event)
            state = state.after(event)
            if isinstance(event, Plan) and not event.refused:
                break
    if as_json:
        echo_json(summary(state, setup))
    elif state.ended is not None:
        page.end(state, "")
    return EXIT_CODES[state.ended.reason] if state.ended else 0


def summary(state: State, setup: Setup) -> dict[str, Any]:
    """The run as one JSON object."""
    error = state.ended.error if state.ended else None
    reason = state.ended.reason if state.ended else None
    answered, declined = reason == "answered", reason == "declined"
    return {
        "answer": to_json(state.answer),
        **({"sources": to_json(state.cache["sources"])} if answered and "sources" in state.cache else {}),
        **({"nearest": to_json(state.cache["nearest"])} if declined and "nearest" in state.cache else {}),
        "inventory": setup.executor.inventory.name,
        "model": state.begun.settings.get("model") if state.begun else setup.executor.model,
        "why": setup.why,
        "plan": list(state.plan),
        "declined": declined,
        "steps": [_step(record) for record in state.history],
        **({"dropped": [str(each) for each in state.dropped]} if state.dropped else {}),
        "usage": state.usage.to_json(),
        "error": error.to_json() if error else None,
    }


def _step(record: StepRecord) -> dict[str, Any]:
    """A step without its prompts, which the event log holds."""
    written = event_to_json(record)
    kept = ("module", "args", "output", "error", "seconds", "dropped")
    usage = sum((call.usage for call in record.calls), Usage())
    return {key: written[key] for key in kept if key in written} | {"usage": usage.to_json()}
