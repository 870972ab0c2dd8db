"""Approval at a terminal, for a run in progress or one that waits in its log."""

import secrets
from collections.abc import Iterable
from pathlib import Path

import typer

from chameleon.cli.terminal import asked, echo, is_attended
from chameleon.core.conversation_log import ConversationLog
from chameleon.core.events import Event, Step
from chameleon.core.log import EventLog
from chameleon.core.state import State
from chameleon.errors import InputError
from chameleon.run.approval import described
from chameleon.signing import config_dir, sealed
from chameleon.text import harmless

EXIT_WAITS = 4
_ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "l": None, "later": None}


def answer_in(log: Path, *, yes: bool, no: bool) -> int:
    """Write the answer for the waiting steps to a log, by default one asked for at the terminal.

    Args:
        yes: approve without asking.
        no: refuse without asking.
    """
    if yes and no:
        raise typer.BadParameter("give --yes or --no, not both", param_hint="--yes")
    answer = yes if yes or no else None
    if not log.exists():
        raise InputError("there is no such log", where=str(log))
    with ConversationLog(log) as conversation:
        state = conversation.unfinished or State()
        if not (steps := state.waiting):
            raise InputError("nothing in it is waiting for approval", where=str(log))
        if answer is None and is_attended():
            answer = confirm(steps, _innermost(state))
        elif answer is None:
            _show(steps, _innermost(state))
        if answer is None:
            how = "" if is_attended() else " `chameleon approve` asks at a terminal, or takes --yes or --no."
            echo(f"It is still waiting.{how}", err=True)
            return EXIT_WAITS
        if answer and not sealed(b""):
            hint = "Set XDG_CONFIG_HOME to a folder that you can write to."
            what = "approvals cannot be signed: the key cannot be saved"
            raise InputError(what, where=str(config_dir()), hint=hint)
        conversation.append(state.answer_approval("yes" if answer else "no", "chameleon approve"))
    verdict = "Approved" if answer else "Not approved"
    echo(harmless(f"{verdict}: {', '.join(step.module for step in steps)}"))
    echo(harmless(f"Resume with the command that started the run, and --log {log}"))
    return 0


def kept(events: Iterable[Event]) -> Path:
    """Write the events of a waiting run to a new log in this folder, and return its path."""
    path = Path(f"waiting-{secrets.token_hex(4)}.jsonl")
    with EventLog(path) as log:
        for event in events:
            log.append(event)
    return path


def _innermost(state: State) -> State:
    """Return the state of the run that asks: this one, or one of an inventory inside it."""
    return state if state.asked else _innermost(State.fold(state.inside))


def _show(steps: Iterable[Step], state: State, *, whole: bool = False) -> bool:
    """Show steps with their arguments, and return whether anything was cut."""
    echo("Asks for approval:", err=True)
    is_cut = False
    for step in steps:  # line by line, since a line may have megabytes
        lines = described(step, state, whole=whole), described(step, state, whole=True)
        for line, in_full in zip(*lines, strict=True):
            echo(f"  {line}", err=True)
            is_cut = is_cut or line != in_full
    return is_cut


def confirm(steps: tuple[Step, ...], state: State) -> bool | None:
    """Ask until there is an answer; None means that the run should wait."""
    more = "[s]how all, " if _show(steps, state) else ""
    what = "it" if len(steps) == 1 else "them"
    while True:
        if not (line := asked(f"Run {what}? {more}[y]es, [n]o, [l]ater: ")):
            return None
        if (reply := line.strip()) in _ANSWERS:
            return _ANSWERS[reply]
        if reply in ("s", "show"):
            _show(steps, state, whole=True)
