"""`LLMModule`: a module that asks a model. A built-in one is a prompt file and a few lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from chameleon.asking import AsksModel
from chameleon.errors import ChameleonError, CutOff, EmptyReply, StepRejected
from chameleon.module import Keys, Module
from chameleon.prompt import Messages, slots_of
from chameleon.state import State
from chameleon.table.formats import Style
from chameleon.text import MAX_TEXT_TOKENS
from chameleon.values import freeze, to_json

if TYPE_CHECKING:
    from chameleon.llm import Reply

RAISE_LIMIT = "Raise llm.max_tokens if such an answer is that long; else the model may come to no end."


class LLMModule(AsksModel, Module):
    """Renders its prompt from the state, asks the model, and parses the reply.

    - `prompt`, `llm_params`: see `AsksModel`.
    - `parse(text)`: the reply as a value; raise `StepRejected` for a reply that will not do.
    - `samples`, `vote`: ask that many times and take the most frequent value ("majority", ties to the
      value seen first) or the first that parses ("first").
    - `keeps_last(state)`: whether the text of a repair's last attempt becomes the value where it will not do
      and nothing else does: whatever reads it can make something of it.
    - `takes_cut_off`: whether a reply that was cut off at `max_tokens` is of use; by default it is rejected.
    - `table_style`, `max_rows`, `max_cell`, `max_table_tokens`: how tables are written into the prompt, and
      how much of them (`chameleon.table.to_text`).
    - `max_text_tokens`: how much of each text is written into the prompt, in estimated tokens; what is left
      out is said.
    """

    samples: int = 1
    vote: str = "majority"
    takes_cut_off: ClassVar[bool] = False
    table_style: Style = "pipe"
    max_rows: int | None = None
    max_cell: int | None = None
    max_table_tokens: int | None = None
    max_text_tokens: int = MAX_TEXT_TOKENS
    uses: ClassVar[Keys] = ("model",)

    def parse(self, text: str) -> Any:
        """The value that a reply stands for; by default the text without surrounding space."""
        return text.strip()

    def keeps_last(self, state: State) -> bool:
        """Whether a last attempt is of use whatever it says; by default it is rejected like those before."""
        return False

    def slots(self, state: State) -> dict[str, Any]:
        """What the prompt may use; add to it where a module has more to say."""
        noted = "note?" in self.template.slots
        return slots_of(
            state,
            style=self.table_style,
            noted=noted,
            max_text_tokens=self.max_text_tokens,
            max_rows=self.max_rows,
            max_cell=self.max_cell,
            max_tokens=self.max_table_tokens,
        )

    def interpret(self, text: str, state: State) -> Any:
        """The value of a reply to this state; `parse(text)`, unless it depends on more than the text."""
        return self.parse(text)

    def run(self, state: State) -> Any:
        replies = self.ask(state)
        values = [self._value_or_rejection(reply, state) for reply in replies]
        rejected = all(isinstance(value, StepRejected) for value in values)
        is_last = _is_last_attempt(state) or isinstance(values[0], CutOff)  # that is not redone
        if rejected and is_last and self.keeps_last(state):
            values = [reply.text.strip() for reply in replies if reply.text.strip()] or values
        return elect(values, self.vote)

    def messages(self, state: State) -> Messages:
        """What is sent: the prompt, rendered from the state. Override it to send more, such as a picture."""
        return self.template.render(self.slots(state))

    def ask(self, state: State) -> list[Reply]:
        """The model's replies, one for each sample. Raises `StepRejected` where it says nothing at all."""
        try:
            return self._ask(state)
        except EmptyReply as empty:  # redone like a reply that cannot be read
            raise StepRejected(empty.what, hint=empty.hint) from None

    def _ask(self, state: State) -> list[Reply]:
        messages = self.messages(state)
        args = state.step.args if state.step else {}
        attempt = int(args.get("attempt", 0))  # numbers the samples of a repair on from those before
        params = self.stop_params
        if "warmer" in args:
            params |= self.redo_params(float(args["warmer"]))
        whole = not self.takes_cut_off
        if self.samples == 1:
            return [self.model.ask(messages, sample=attempt, whole=whole, **params)]
        first = attempt * self.samples
        return self.model.ask_many(messages, self.samples, first=first, whole=whole, **params)

    def _value_or_rejection(self, reply: Reply, state: State) -> Any:
        try:
            if reply.truncated and not self.takes_cut_off:
                raise CutOff("the reply was cut off, though asked for with more room", hint=RAISE_LIMIT)
            return self.interpret(reply.text, state)
        except StepRejected as rejection:
            return rejection


def _is_last_attempt(state: State) -> bool:
    return state.step is not None and bool(state.step.args.get("last"))


def elect(candidates: Sequence[Any], vote: str = "majority") -> Any:
    """The value that most candidates agree on, ties to the first; rejected ones have no vote.

    Raises the first rejection when nothing else is left.
    """
    valid = [candidate for candidate in candidates if not isinstance(candidate, ChameleonError)]
    if not valid:
        raise candidates[0]
    if vote == "first" or len(valid) == 1:
        return valid[0]
    keys = [json.dumps(to_json(freeze(candidate)), sort_keys=True) for candidate in valid]
    winner = Counter(keys).most_common(1)[0][0]
    return valid[keys.index(winner)]
