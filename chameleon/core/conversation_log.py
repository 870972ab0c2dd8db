"""The log of a conversation: the runs of its turns, one after another in one file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chameleon.core.events import Event, RunEnded, RunStarted
from chameleon.core.log import EventLog, read_event
from chameleon.core.state import State
from chameleon.errors import InputError, LogError


def runs_in(path: Path) -> list[list[Event]]:
    """Read the events of each run in a log without changing the file; an unfinished last line is skipped.

    Raises `InputError` for a file that cannot be read, and `LogError` if it is not a log.
    """
    runs: list[list[Event]] = []
    try:
        with path.open("rb") as lines:
            events = [read_event(line, n, path) for n, line in enumerate(lines, 1) if line.endswith(b"\n")]
    except OSError as problem:
        raise InputError(f"cannot read the log: {problem.strerror}", where=str(path)) from problem
    for event in events:
        if isinstance(event, RunStarted):
            runs.append([])
        elif not runs:
            raise LogError("line 1 does not start a run", where=str(path), hint="Name another file.")
        runs[-1].append(event)
    return runs


class ConversationLog(EventLog):
    """A file of JSON lines that holds the runs of a conversation, whole lines only.

    It serves as the log of one run at a time: `executor.run(given, log)` starts the next turn, or resumes
    the last one if it did not end. `turns` are the runs that ended or were abandoned; `first` is the start
    of the first run. Raises as `EventLog` does.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.turns: list[State] = []
        self.first: RunStarted | None = None
        super().__init__(path)

    def reopen(self) -> None:
        """Read the file again, for example after Ctrl-C: the file decides which turn is next."""
        self.close()
        ConversationLog.__init__(self, self.path)

    def _take(self, event: Event) -> None:
        """Keep an event; the first of a run starts a turn, the last ends it."""
        if isinstance(event, RunStarted):  # abandons an unfinished turn
            self.next_turn()
            self.first = self.first or event
        elif not self.events:
            raise LogError("an event precedes any run", where=str(self.path), hint="Name another file.")
        super()._take(event)
        if isinstance(event, RunEnded):
            self.next_turn()

    def next_turn(self) -> None:
        """Abandon the unfinished turn, if any, so that the next run starts a new one."""
        if (state := self.unfinished) is not None:
            self.turns.append(state)
            self.events.clear()

    @property
    def unfinished(self) -> State | None:
        """Return the state of the unfinished turn, or None."""
        try:
            return State.fold(self.events) if self.events else None
        except LogError as problem:
            raise problem.at(str(self.path)) from problem

    def follow_up(self, question: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the input of the next turn: `State.follow_up` of the last turn, or `inputs` if first."""
        if self.events:
            raise LogError("the last turn has not ended", where=str(self.path), hint="Resume it first.")
        return self.turns[-1].follow_up(question) if self.turns else {**inputs, "question": question}
