"""`chameleon chat`: one question after another, each answered like `ask` with the earlier ones as context."""

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass, field, fields
from typing import Any

import typer

from chameleon.cli.approving import EXIT_WAITS
from chameleon.cli.hints import in_options
from chameleon.cli.options import GivenOptions, QuestionOptions, RunOptions
from chameleon.cli.page import RunPage, page_width
from chameleon.cli.setup import STANDARD_INPUT, checked, events_of, prepare, receiver
from chameleon.cli.terminal import Activity, Interrupted, ReplyPrinter, Terminated, echo, output, say
from chameleon.cli.wording import settled
from chameleon.core.conversation import HISTORY, answer_in_text
from chameleon.core.conversation_log import ConversationLog
from chameleon.core.events import Event, Failure, RunEnded, RunStarted
from chameleon.core.state import State
from chameleon.errors import InputError
from chameleon.interop.otlp import Traces
from chameleon.interop.spans import conversation_id
from chameleon.inventory.digest import check_same, files_of
from chameleon.run.executor import Executor
from chameleon.table import Table, to_terminal
from chameleon.text import counted, harmless, one_line

_HELP = (
    "A line is a question, and may refer to those before it. /table shows the current table, /history "
    "the questions and answers; /exit or Ctrl-D leaves, Ctrl-C stops an answer."
)
_SHOWN_TURNS, _MAX_CHARS = 5, 200  # turns, and characters of each text, when a conversation resumes
_TURN_KEYS = ("question", HISTORY)
_STOP_EVENT = RunEnded("failed", Failure("Stopped", "it was stopped"))


def chat_about(source_options: GivenOptions, run: RunOptions, inventory: str | None) -> int:
    """Answer the questions on standard input; return the exit code, `EXIT_WAITS` if a run waits."""
    for name, sources in source_options.files.items():
        if STANDARD_INPUT in sources:
            raise typer.BadParameter("standard input holds the questions: give a file", param_hint=name)
    with ExitStack() as close:
        traces = close.enter_context(receiver(run))
        log = close.enter_context(ConversationLog(run.log)) if run.log is not None else None
        started = log.first if log is not None else None
        old = {k: v for k, v in started.input.items() if k not in _TURN_KEYS} if started else {}
        inventory = inventory or (started.inventory if started else None)
        options = {
            each.name: getattr(source_options, each.name) for each in fields(source_options) if each.init
        }
        question = checked(QuestionOptions(**options, question="?", inventory=inventory))
        setup = prepare(question, run.approve, close, started.settings if started else {})
        new = {k: v for k, v in setup.given.items() if k not in _TURN_KEYS and v is not None}
        chat = Chat(setup.executor, old | new, log, run, traces, started)
        if started is not None:
            chat.check_same(started)
        say(f"Runs {harmless(setup.why)}.")
        chat.go_on()
        for line in () if chat.waits else _lines():
            if not chat.take(line):
                break
    if run.html is not None and chat.turns:
        from chameleon.evaluation import run_page

        run_page.write_run_page([[*run_page.events_of(turn)] for turn in chat.turns], run.html)
        say(f"Page: {harmless(str(run.html))}")
    return EXIT_WAITS if chat.waits else 0


def _lines() -> Iterator[str]:
    """Yield the nonblank lines of standard input; a terminal shows a prompt for each."""
    if is_terminal := sys.stdin.isatty():
        with suppress(ImportError):  # makes lines editable if the system supports it
            import readline  # noqa: F401
    elif isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    out = sys.__stdout__ if sys.__stdout__ is not None and sys.__stdout__.isatty() else sys.stderr
    while True:
        try:
            with redirect_stdout(out):  # the prompt belongs on a terminal; a file gets only answers
                line = input("> ") if is_terminal else sys.stdin.readline()
        except Terminated:
            raise
        except (EOFError, Interrupted):
            say("")
            return
        if not line and not is_terminal:
            return
        if line.strip():
            yield line.strip()


@dataclass
class Chat:
    """A conversation at the terminal: its input, the runs so far, and the log that keeps them."""

    executor: Executor
    given: Mapping[str, Any]
    log: ConversationLog | None
    options: RunOptions
    traces: Traces | None
    first: RunStarted | None = None  # of the conversation
    turns: list[State] = field(default_factory=list)  # the runs so far
    waits: bool = False

    def __post_init__(self) -> None:  # report missing input before any question
        self.executor.inventory.check_input(self.next_input("?"))

    def check_same(self, started: RunStarted) -> None:
        """Raise `LogError` if inventory, prompts, files or input differ from the log."""
        turn = {key: value for key, value in started.input.items() if key in _TURN_KEYS}
        inputs = self.executor.inventory.check_input({**self.given, **turn})
        settings = {**self.executor.settings, **files_of(self.executor.inventory, inputs)}
        check_same(State.fold([started]), self.executor.inventory, inputs, settings)

    def go_on(self) -> None:
        """Show the last turns of the log, and answer its last question if that is unanswered."""
        if self.log is None:
            return
        unfinished = self.log.unfinished
        if turns := self.log.turns:
            self.turns = list(turns)
            say(f"Resumes {self.log.path} after {counted(len(turns), 'question')}.")
            self._show(turns[-_SHOWN_TURNS:])
        if unfinished is not None and unfinished.started is not None:
            inputs = unfinished.started.input
            say(f"The last question was left unanswered: {one_line(str(inputs.get('question')), _MAX_CHARS)}")
            self.answer(inputs)

    def take(self, line: str) -> bool:
        """Answer a line: a question or a command. Return whether the conversation continues."""
        name = line.partition(" ")[0]
        if name in ("/exit", "/quit"):
            return False
        if name == "/table":
            table = self.next_input("?").get("table")
            echo(to_terminal(table, page_width()) if isinstance(table, Table) else "There is no table.")
        elif name == "/history":
            self._show(self.turns)
        elif line[0] == "/":
            say(_HELP if name == "/help" else f"There is no command {name}. {_HELP}")
        else:
            self.answer(self.next_input(line))
        return not self.waits

    def next_input(self, question: str) -> Mapping[str, Any]:
        """Return the input for the next question."""
        return self.turns[-1].follow_up(question) if self.turns else {**self.given, "question": question}

    def answer(self, inputs: Mapping[str, Any]) -> None:
        """Run a question and show what happens; errors are reported, and the chat continues."""
        inventory = self.executor.inventory
        trace, reply = self.options.trace or output.verbose, ReplyPrinter()
        page = RunPage(as_json=False, trace=trace, inventory=inventory, model=self.executor.model)
        events = events_of(self.executor, inputs, self.log, reply if self.options.stream else None)
        try:
            with Activity() as activity:
                for event in page.follow(events, reply, activity):
                    self._send(event)
            state = page.state
        except Terminated:
            raise
        except Interrupted:
            say("")
            state = self._after_stop(page.state)
        except InputError as problem:
            say(f"chameleon: {one_line(str(in_options(problem)), 400)}")
            return
        if state.started is None:
            return
        if state.waiting and self.log is not None:
            self.waits = True
            page.wait(state, self.log.path)
            return
        if state.ended is None:  # without a log nothing can resume: the next question starts over
            say("The question was left unanswered. With --log FILE it could wait for approval.")
            return
        state = settled(state, inputs, inventory, "chameleon chat")
        self.turns.append(state)
        page.end(state, self.given.get("unit") or "")
        if output.quiet and state.answer is None:  # a line for each question
            echo(f"({state.status})")

    def _send(self, event: Event) -> None:
        """Send an event to the span receiver, if any, as part of this conversation."""
        if self.traces is None:
            return
        id = ""
        if isinstance(event, RunStarted):
            self.first = self.first or event
            id = conversation_id(self.first)
        self.traces.event(event, conversation=id)

    def _after_stop(self, state: State) -> State:
        """End the run that Ctrl-C stopped, in the state of its log, if any."""
        if self.log is not None:
            self.log.reopen()  # the file decides how far the run came
            state = self.log.unfinished or next(reversed(self.log.turns), state)
        if state.started is not None and state.ended is None:
            if self.log is not None:
                self.log.append(_STOP_EVENT)
            self._send(_STOP_EVENT)
            state = state.after(_STOP_EVENT)
        return state

    @staticmethod
    def _show(turns: Sequence[State]) -> None:
        for turn in turns:
            question = turn.started.input.get("question", "") if turn.started else ""
            answer = answer_in_text(turn.answer) if turn.status == "answered" else f"({turn.status})"
            echo(f"> {one_line(str(question), _MAX_CHARS)}\n{one_line(answer, _MAX_CHARS)}", err=True)
