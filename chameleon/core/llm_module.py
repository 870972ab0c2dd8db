"""Parts that ask a model: `AsksModel` for modules and planners, `LLMModule`, and votes over replies."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from chameleon.core.events import LONGEST_REPLY, Redo
from chameleon.core.module import Keys, Module, split_keys
from chameleon.core.prompt import Messages, Prompt, TableView, context_of, slots_of
from chameleon.core.state import State
from chameleon.errors import (
    AuthFailed,
    ChameleonError,
    ContextTooLong,
    CutOff,
    EmptyReply,
    InventoryError,
    ModelError,
    NoModel,
    PromptError,
    RateLimited,
    ReplayMiss,
    SchemaRefused,
    StepRejected,
)
from chameleon.lazy import cached_property
from chameleon.quoting import untagged
from chameleon.text import one_line
from chameleon.values import freeze, to_json

if TYPE_CHECKING:
    from chameleon.llm import LLM, Reply

Weights = Literal["given", "rank"]
Structured = Literal[True, False, "auto"]
FOR_GOOD = (AuthFailed, ContextTooLong, NoModel, RateLimited)  # rephrasing the request does not help
_REMINDER = "Reply in JSON of the schema that is asked for, whatever form is described or shown here."
_MAX_FAULT_CHARS = 500
RAISE_LIMIT = "Raise llm.max_tokens if such an answer is that long; else the model may never end."


@dataclass(frozen=True)
class Asking:
    """The inventory's settings for a part that asks a model.

    Attributes:
        params: parameters of the call, such as {"max_tokens": 256}.
        folders, place: where to look for its prompt, and the file and line that name it.
        model: the part's own model, "provider:name", with `connection` (retries, timeout, prices).
        has_own_stop: whether to use the stop texts of its prompt.
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    place: str = ""
    model: str = ""
    connection: Mapping[str, Any] = field(default_factory=dict)
    has_own_stop: bool = True


class AsksModel:
    """Ask a model with a prompt file. Shipped classes may set `_asking`.

    Attributes:
        prompt: the prompt file, such as "folder/name", next to the inventory or shipped; the inventory may
            name another.
        structured: whether replies must follow a JSON schema, if the part has one. "auto" does so if the
            model is known to support it and has refused none; otherwise the prompt asks for text.
        folders: where to look for the prompt when the class is used from Python.
    """

    name: str = ""
    prompt: str = ""
    structured: Structured = False
    _asking: Asking = Asking()
    _llm: LLM | None = None

    @cached_property
    def _template(self) -> Prompt:
        """Read the prompt file on first use. Raises `PromptError` if it is missing."""
        if not self.prompt:
            raise InventoryError(f"{self.name} has no prompt file", hint="Set `prompt:` in the inventory.")
        try:
            return Prompt.load(self.prompt, self._asking.folders or getattr(self, "folders", ()))
        except PromptError as problem:  # an error inside the file has its own place
            raise problem if problem.where else problem.at(self._asking.place) from None

    def with_llm(self, llm: Any) -> Self:
        """Return a copy that asks this model, or the part's own model if it has one."""
        params, copied = self._asking.params, copy.copy(self)
        copied._llm = connected(self.name, self._asking, llm)
        if copied._llm is not None:
            if getattr(self, "samples", 1) == 1 and "temperature" not in params:
                copied._llm = copied._llm.with_defaults(temperature=0)  # but a vote needs replies that differ
            copied._llm = copied._llm.with_params(**params)
        return copied

    def _redo_params(self, warmer: float) -> dict[str, Any]:
        """Return the parameters of a redo: the temperature raised by `warmer`, if one is set."""
        temperature = self.model.params.get("temperature")
        if temperature is None:
            return {}
        highest = max(float(temperature), 1.0)  # Claude's maximum
        return {"temperature": min(float(temperature) + warmer, highest)}

    @property
    def _stop_params(self) -> dict[str, Any]:
        """Return the prompt's stop texts as a parameter, unless others are set for all calls."""
        stop = self._template.stop if self._asking.has_own_stop else ()
        return {"stop": list(stop)} if stop else {}

    def _replies(
        self, messages: Messages, n: int = 1, *, schema: Mapping[str, Any] | None = None, **options: Any
    ) -> list[Reply]:
        """Ask for n samples, following the schema if `structured` says so and the model supports it."""
        offer = "known" if self.structured is True else self.model.offers("schema") if self.structured else ""
        if self.structured and self.model.is_replay:  # the store knows how the recorded run asked
            offer = offer or "known"
        if schema is None or not offer:
            return self._samples(messages, n, **options)
        try:
            replies = self._samples(_with_schema_note(messages), n, schema=schema, **options)
        except ModelError as problem:
            # If the model is known to take schemas, only these errors are about the schema; else any may be.
            worth = (ReplayMiss, SchemaRefused) if offer == "known" else ModelError
            if self.structured is True or not isinstance(problem, worth) or isinstance(problem, FOR_GOOD):
                raise
            replies = self._samples(messages, n, **options)
            if not isinstance(problem, ReplayMiss):
                self.model.learn("schema", works=False)  # the same request without a schema worked
            return replies
        if offer == "try":  # some servers accept a schema and ignore it
            is_held = all(reply.text.lstrip()[:1] in ("{", "[", '"') for reply in replies)
            self.model.learn("schema", works=is_held, why="ignored")
        return replies

    def _samples(self, messages: Messages, n: int, *, first: int = 0, **options: Any) -> list[Reply]:
        if n == 1:
            return [self.model.ask(messages, sample=first, **options)]
        return self.model.ask_many(messages, n, first=first, **options)

    @property
    def model(self) -> LLM:
        """Return the model. Raises `NoModel` if none is connected."""
        if self._llm is None:
            raise NoModel(f"{self.name} asks a model, but none is connected")
        return self._llm


class LLMModule(AsksModel, Module):
    """Render a prompt from the state, ask the model, and parse the reply: override `parse`.

    `salvage` may return what can be used of a rejected reply when no retry follows: on a repair's last
    attempt, or when the model repeats its rejected reply.

    Attributes:
        prompt, structured: see `AsksModel`.
        samples, vote: ask that many times and take the most frequent value ("majority", ties go to the value
            seen first) or the first that parses ("first").
        table_view: how tables are written into the prompt, and how much of them and of each text.
    """

    samples: int = 1
    vote: Literal["majority", "first"] = "majority"
    table_view: TableView = TableView()
    uses: ClassVar[Keys] = ("model",)
    _takes_cut_off: ClassVar[bool] = False  # whether to use a reply cut off at `max_tokens`, not reject it

    def parse(self, text: str) -> Any:
        """Return the value of a reply; by default the stripped text."""
        return text.strip()

    def salvage(self, text: str, state: State, *, is_cut: bool) -> Any:
        """Return the usable value of a rejected last attempt, or None (the default).

        Args:
            text: the reply, stripped.
            is_cut: whether the reply was cut off.
        """
        return None

    def slots(self, state: State) -> dict[str, Any]:
        """Return the values for the prompt's slots; override it to add more."""
        slots = self._template.slots
        also = self._own_keys(state)
        if "cache.*?" in self.traits.extra_reads:  # may read more than the prompt should show
            reads = {*split_keys(self.reads or ()), *(f"cache.{key}?" for key in also)}
            keys = [key for key in state.cache if {f"cache.{key}", f"cache.{key}?"} & reads]
            state = state.with_fields(cache={key: state.cache[key] for key in keys})
        return slots_of(state, self.table_view, noted="note?" in slots, typed="types?" in slots, also=also)

    def _own_keys(self, state: State) -> list[str]:
        """Return the cache keys that the user's modules write or the module's inventory entry names."""
        extra = [key for key in self.traits.extra_reads if key.startswith("cache.")]
        keys = [key.strip("?").removeprefix("cache.") for key in extra]
        others = [key for key in state.cache if f"cache.{key}" not in self.traits.known_keys]
        return [*dict.fromkeys([*keys, *(others if "*" in keys else [])])]

    def schema(self, state: State) -> Mapping[str, Any] | None:
        """Return the JSON schema of a reply, or None (the default) for plain text."""
        return None

    def interpret(self, text: str, state: State) -> Any:
        """Return the value of a reply to this state; override `parse` if that needs only the text."""
        return self.parse(text)

    def run(self, state: State) -> Any:
        replies = self.ask(state)
        values = [self._value_or_rejection(reply, state) for reply in replies]
        rejected = all(isinstance(value, StepRejected) for value in values)
        is_last = isinstance(values[0], CutOff) or self._is_last(replies, state)  # no redo if cut off
        if rejected and is_last:
            worth = [self.salvage(each.text.strip(), state, is_cut=each.truncated) for each in replies]
            values = [value for value in worth if value is not None] or values
        return elect(values, self.vote)

    def _is_last(self, replies: Sequence[Reply], state: State) -> bool:
        """Return whether no retry follows these replies: see `chameleon.run.decide`."""
        redo = state.step.redo if state.step else None
        is_again = redo and len(replies) == 1 and replies[0].text.strip()[:LONGEST_REPLY] == redo.reply
        return redo is not None and (redo.last or bool(is_again))

    def messages(self, state: State) -> Messages:
        """Render the prompt from the state. Override it to send more, such as a picture.

        Outputs of the user's modules go before the last message if the prompt has no slot for them.
        """
        messages = self._template.render(self.slots(state))
        outputs = {key: state.cache[key] for key in self._own_keys(state) if key in state.cache}
        if not outputs or "context?" in self._template.slots or "context" in self._template.variables:
            return messages
        context = context_of(State(cache=outputs), self.table_view.max_text_tokens, outputs)
        *earlier, (role, text) = messages
        return [*earlier, (role, f"Known beside what follows:\n\n{context}\n\n{text}")]

    def _starts_over(self, state: State) -> bool:
        """Return whether a redo uses a fresh prompt that does not show the error. By default it shows it."""
        return False

    def ask(self, state: State) -> list[Reply]:
        """Ask the model once for each sample. Raises `StepRejected` for an empty reply."""
        redo = state.step.redo if state.step else None
        messages = [*self.messages(state), *([] if self._starts_over(state) else _repair_messages(redo))]
        attempt = redo.attempt if redo else 0  # continues the numbering of earlier samples
        params = self._stop_params | (self._redo_params(attempt * redo.temperature_step) if redo else {})
        whole = not self._takes_cut_off
        first, schema = attempt * self.samples, self.schema(state) if self.structured else None
        try:
            return self._replies(messages, self.samples, schema=schema, first=first, whole=whole, **params)
        except EmptyReply as empty:  # redone like an unreadable reply
            raise StepRejected(empty.what, hint=empty.hint) from None

    def _value_or_rejection(self, reply: Reply, state: State) -> Any:
        try:
            if reply.truncated and not self._takes_cut_off:
                raise CutOff("the reply was cut off again with a higher max_tokens", hint=RAISE_LIMIT)
            return self.interpret(reply.text, state)
        except StepRejected as rejection:
            return rejection


def template_of(asker: AsksModel) -> Prompt:
    """Return the prompt of a module or planner. Raises `PromptError` if it cannot be read."""
    return asker._template


def asking_of(part: Any) -> Asking:
    """Return the inventory's settings for a part that asks a model, or empty ones for other parts."""
    asking: Asking = getattr(part, "_asking", Asking())
    return asking


def configure(part: Any, asking: Asking) -> None:
    """Set the inventory's settings for a part that asks a model."""
    part._asking = asking


def connected(name: str, asking: Asking, llm: LLM | None) -> LLM | None:
    """Return the part's own model if it has one, else this one. Raises as `LLM.connect` does."""
    if not asking.model:
        return llm
    from chameleon.llm import LLM as Model

    try:
        return (Model.connect if llm is None else llm.with_model)(asking.model, **asking.connection)
    except ChameleonError as error:
        raise error.at(f"{name}, {error.where or f'model {asking.model}'}") from None


def _repair_messages(redo: Redo | None) -> Messages:
    """Return the messages that show what was wrong with the last reply, if the redo asks for it."""
    if redo is None or not redo.fault:
        return []
    fault = untagged(one_line(redo.fault, _MAX_FAULT_CHARS))
    turn = f"That will not do. The fault, which may quote the data: {fault}\nReply again, in the same form."
    return [("assistant", redo.reply or "(nothing)"), ("user", turn)]


def _with_schema_note(messages: Messages) -> Messages:
    """Add that the schema takes precedence, because prompts describe and show a text format."""
    (role, text), *rest = messages
    return (
        [(role, f"{text}\n\n{_REMINDER}"), *rest] if role == "system" else [("system", _REMINDER), *messages]
    )


def elect(candidates: Sequence[Any], vote: str = "majority") -> Any:
    """Return the value that most candidates agree on, ties to the first; rejected candidates do not vote.

    Args:
        candidates: the values of the replies, in order; for a rejected reply its error.
        vote: "majority", or "first" to take the first that is not rejected.

    Raises:
        ChameleonError: the first rejection, if nothing else is left.
    """
    valid = [candidate for candidate in candidates if not isinstance(candidate, ChameleonError)]
    if not valid:
        raise candidates[0]
    return valid[0] if vote == "first" or len(valid) == 1 else votes(valid, [1.0] * len(valid))[0][0]


def votes(read: Sequence[Any], weights: Sequence[float]) -> list[tuple[Any, float]]:
    """Return the distinct values with the sum of their weights.

    Highest weight first, ties in order of appearance. Rejected replies (errors) do not vote.
    """
    values: dict[str, Any] = {}
    sums: dict[str, float] = {}
    for value, weight in zip(read, weights, strict=True):
        if not isinstance(value, ChameleonError):
            key = json.dumps(to_json(freeze(value)), sort_keys=True)
            values.setdefault(key, value)
            sums[key] = sums.get(key, 0.0) + weight
    return sorted(((values[key], weight) for key, weight in sums.items()), key=lambda vote: -vote[1])


def weights_of(replies: Sequence[Reply], weights: Weights) -> list[float]:
    """Return the weight of each reply in the vote.

    Args:
        weights: "given" for its probability (the geometric mean over its tokens) if the model reports one for
            every reply (`llm: {logprobs: true}`), else 1. "rank" for its position, as in Chain-of-Table's
            code, whose model reported no probabilities: of n replies the first weighs 1, the next
            (n - 1) / n, and so on.
    """
    if weights == "rank":
        return [(len(replies) - rank) / len(replies) for rank in range(len(replies))]
    logprobs = [reply.logprob for reply in replies]
    return [1.0 if None in logprobs or each is None else math.exp(each) for each in logprobs]
