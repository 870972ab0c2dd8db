"""Write programs in Binder's SQL, which can ask a model (Cheng et al., 2023).

The programs of all samples are kept, to be run and voted on. A prompt that does not fit the model's context
is an error (`ContextTooLong`): no demonstration is dropped unseen, as the published code does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chameleon import LLMModule, State, StepRejected
from chameleon.modules.program.program_generator import program_in
from chameleon.modules.sql.calls import steps_of
from chameleon.modules.sql.describe import described
from chameleon.modules.sql.normal import normalised
from chameleon.modules.sql.repair import repaired, require_sqlglot

if TYPE_CHECKING:
    from chameleon.llm import Reply

_LABELS = ("neuralsql:", "sql:", "program:")


class BinderGenerator(LLMModule):
    """Writes SQL programs that may ask a model about cells: QA("map@…") and QA("ans@…"). For tables."""

    prompt = "wikitq/binder"
    reads = ("input.question", "input.table")
    writes = ("cache.programs",)

    def __init__(self, shown_rows: int | None = None) -> None:
        """`shown_rows`: how many rows of the table the prompt shows; all, as published, unless given."""
        self.shown_rows = shown_rows

    def check(self) -> None:
        require_sqlglot()

    def slots(self, state: State) -> dict[str, Any]:
        """The normalised table stands in `database`."""
        table = state.input["table"]
        shown = described(normalised(table), table.caption.lower(), self.shown_rows)
        return super().slots(state) | {"database": shown}

    def run(self, state: State) -> list[dict[str, Any]]:
        """The programs in the order of the samples, each with its log-probability where it is known.

        A reply that holds no program stands there with the reason as `failed`.
        """
        replies = self.ask(state)
        read = [self._value_or_rejection(reply, state) for reply in replies]
        if all(isinstance(each, StepRejected) for each in read):
            raise read[0]
        return [_told(each, reply) for each, reply in zip(read, replies, strict=True)]

    def interpret(self, text: str, state: State) -> str:
        table = state.input["table"]
        return program_for(text, table)


def _told(program: str | StepRejected, reply: Reply) -> dict[str, Any]:
    if isinstance(program, StepRejected):
        return {"program": reply.text.strip(), "failed": program.what}
    return {"program": program} | ({} if reply.logprob is None else {"logprob": reply.logprob})


def program_for(text: str, table: Any) -> str:
    """The program in a reply, repaired for the table; raises `StepRejected` for one that cannot be read."""
    program = program_in(text).strip()
    for label in _LABELS:
        if program.lower().startswith(label):
            program = program[len(label) :].strip()
    program = program.split("\n\n", maxsplit=1)[0]
    fixed = repaired(program, normalised(table), table.caption)
    if not fixed:
        raise StepRejected("the reply holds no program")
    steps_of(fixed)
    return fixed
