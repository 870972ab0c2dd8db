"""A request to a model, `ModelRequest`, and its `Reply`."""

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chameleon.errors import BudgetExceeded, ChameleonError, ModelError, PromptError, StoreError
from chameleon.lazy import cached_property
from chameleon.llm.capabilities import EFFORTS
from chameleon.llm.tools import CallingText, ResultText, ToolCall, check_tools, each_text
from chameleon.pictures.opening import Attachment, read_picture
from chameleon.text import type_in_words
from chameleon.usage import Call, Usage, checked_blocks, checked_calls, is_amount

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

Messages = str | Sequence[tuple[str, str]]
ROLES = ("system", "user", "assistant", "tool")
MAX_WIDENED = 2  # a reply cut off at sixteen times its limit never finishes


class MultimodalText(str):
    """A message's text with pictures: `("user", MultimodalText("What is this?", [picture]))`.

    As a string it is the text and a short reference to each picture, which is how it is logged and kept in
    the response store. The model gets `text` and the `pictures` themselves.
    """

    text: str
    pictures: tuple[Attachment, ...]

    # Pickle creates it from the whole text only, and then sets its attributes.
    def __new__(cls, text: str, pictures: Sequence[Attachment] = ()) -> "MultimodalText":
        instance = super().__new__(cls, "\n".join([text, *map(str, pictures)]))
        instance.text, instance.pictures = text, tuple(pictures)
        return instance


def with_picture(messages: Messages, path: str | Path, max_side: int) -> list[tuple[str, str]]:
    """Add a picture to the last message, scaled down to `max_side` pixels on the longer side."""
    *before, (role, text) = [("user", messages)] if isinstance(messages, str) else messages
    picture = Attachment.of(read_picture(path, max_side=max_side))
    return [*before, (role, MultimodalText(text, [picture]))]


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply to one question.

    Attributes:
        finish: why it stopped: "stop", "length", ….
        cached: whether it is from the response store, or shared with the same question asked at the same
            time: its usage is zero.
        logprob: the mean log-probability of its tokens (at most 0), None unless requested (`logprobs`) and
            sent by the server.
        dropped: the parameters left out of the request, and why.
        widened: how often its limit was raised.
        error: why it is unusable; raised for its caller.
        tool_calls, blocks: its calls, and the data the provider wants back with them (`CallingText`).
    """

    text: str
    finish: str = "stop"
    usage: Usage = field(default_factory=Usage)
    cached: bool = False
    seconds: float = 0.0
    attempts: int = 1
    model: str = ""
    logprob: float | None = None
    dropped: Mapping[str, str] = field(default_factory=dict)
    widened: int = 0
    error: ChameleonError | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    blocks: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def from_record(cls, model: str, record: Mapping[str, Any]) -> "Reply":
        """Read what `to_record` wrote. Raises `StoreError` for a damaged record."""
        text, finish = record.get("text"), record.get("finish")
        more = {name: record[name] for name in ("logprob", "dropped", "widened") if name in record}
        with suppress(TypeError, ValueError):
            calls = tuple(ToolCall(**call) for call in checked_calls(record.get("tool_calls", ())))
            blocks = checked_blocks(record.get("blocks", ()))
            if isinstance(text, str) and isinstance(finish, str):
                return cls(text, finish, cached=True, model=model, tool_calls=calls, blocks=blocks, **more)
        raise StoreError("a recorded reply is damaged", hint="Record it again with the store in mode record.")

    def to_record(self) -> dict[str, Any]:
        """Return the record for the response store."""
        record: dict[str, Any] = {"text": self.text, "finish": self.finish, "usage": self.usage.to_json()}
        more = {
            "logprob": self.logprob,
            "widened": self.widened or None,
            "dropped": dict(self.dropped) or None,
            "tool_calls": [call.to_json() for call in self.tool_calls] or None,
            "blocks": list(self.blocks) or None,
        }
        return record | {name: value for name, value in more.items() if value is not None}

    @property
    def truncated(self) -> bool:
        """Return whether the reply hit its limit and is cut off."""
        return self.finish == "length"

    def after(self, earlier: "Reply") -> "Reply":
        """Return this reply with the cost of an earlier reply to the same request added."""
        names = ("usage", "seconds", "attempts")
        return replace(self, **{name: getattr(earlier, name) + getattr(self, name) for name in names})

    def with_more_room(self, wider: "Reply", widened: int) -> "Reply":
        """Return the reply to the same request with more room, or this one if that failed."""
        if wider.error is None or wider.truncated or isinstance(wider.error, BudgetExceeded):
            return replace(wider.after(self), widened=widened)
        return replace(self.after(wider), widened=MAX_WIDENED)  # better cut off than lost

    def unpaid(self, cached: bool = False) -> "Reply":
        """Return the same reply without its cost, for another caller."""
        # One exception raised in two threads would mix up their tracebacks.
        return replace(self, usage=Usage(), seconds=0.0, cached=cached, error=copy.copy(self.error))

    def to_call(self, request: "ModelRequest") -> Call:
        """Return the entry for the run's log, with references instead of pictures."""
        schema = {} if request.schema is None else {"schema": dict(request.schema)}
        tools = {"tools": [tool["name"] for tool in request.tools]} if request.tools else {}
        return Call(
            model=request.model,
            messages=tuple((role, str.__str__(text)) for role, text in request.messages),
            params={**request.params, **schema, **tools},
            text=self.text,
            finish=self.finish,
            sample=request.sample,
            usage=self.usage,
            seconds=self.seconds,
            attempts=self.attempts,
            cached=self.cached,
            error="" if self.error is None else f"{type(self.error).__name__}: {self.error}",
            dropped=self.dropped,
            tool_calls=tuple(call.to_json() for call in self.tool_calls),
            blocks=self.blocks,
        )


@dataclass(frozen=True)
class ModelRequest:
    """One question to one model, in the form that identifies it in the response store.

    Attributes:
        own_settings: settings of a client that the user made.
        address: the server, unless it is the provider's own.
        pictures: references to the pictures; a text that only quotes a reference is a different request.
        whole: ask again with more room if the reply is cut off.
        soft: default parameters; a model that does not accept them is asked without, silently.
        tools: the tools that the model may call, each with name, description and parameters (a JSON schema).
    """

    model: str
    messages: tuple[tuple[str, str], ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 0
    schema: Mapping[str, Any] | None = None
    own_settings: Mapping[str, Any] = field(default_factory=dict)
    address: str = ""
    pictures: tuple[str, ...] = ()
    whole: bool = True
    tools: tuple[Mapping[str, Any], ...] = ()
    soft: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        model: str,
        messages: Messages,
        params: Mapping[str, Any],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        **others: Any,
    ) -> "ModelRequest":
        """Build a request. Raises `PromptError` for invalid messages, `ModelError` for other parts."""
        turns = (("user", messages),) if isinstance(messages, str) else messages
        if unknown := [role for role, _ in turns if role not in ROLES]:
            raise PromptError(f"{unknown[0]!r} is not a role", hint=f"Roles are {', '.join(ROLES)}.")
        pairs = tuple((role, encodable(text)) for role, text in turns)
        if not pairs:
            raise PromptError("there is no message to send to the model")
        if any((role == "tool") is not isinstance(text, ResultText) for role, text in pairs):
            raise PromptError("only a message of the role tool can be a ResultText, and it must be one")
        if tools and others.get("schema") is not None:
            raise ModelError("one request cannot have both tools and an output schema")
        texts = [text for _, text in pairs if isinstance(text, MultimodalText)]
        pictures = tuple(str(picture) for text in texts for picture in text.pictures)
        checked = check_tools(tools) if tools else ()
        return cls(model, pairs, canonical(params), pictures=pictures, tools=checked, **others)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Return the identity among requests in flight, which is cheaper than its key."""
        return self.model, self.messages, repr(self.settings)

    @cached_property
    def key(self) -> str:
        """Return the key in the store: a hash of everything that identifies the request."""
        identity = [self.model, self.messages, self.settings]
        return hashlib.sha256(_CANONICAL(identity).encode()).hexdigest()

    @property
    def settings(self) -> dict[str, Any]:
        """Return everything that identifies a request except the model and the messages."""
        pictures, tools = list(self.pictures), list(self.tools)
        more = {"base_url": self.address, "pictures": pictures, "tools": tools, "schema": self.schema}
        more = {name: value for name, value in more.items() if value not in ("", [], None)}
        return {**self.own_settings, **self.params, "sample": self.sample, **more}

    def lacks_room(self, reply: Reply) -> bool:
        """Return whether the reply was cut off at a raisable limit and the caller wants it whole."""
        return reply.truncated and self.whole and "max_tokens" in self.params


def encodable(text: str) -> str:
    """Repair surrogates, which no request can carry: pairs become characters, lone ones U+FFFD."""
    if text.isascii():
        return text
    if isinstance(text, MultimodalText):
        return MultimodalText(encodable(text.text), text.pictures)
    if isinstance(text, CallingText):
        calls = [replace(call, args=each_text(call.args, encodable)) for call in text.calls]
        return CallingText(encodable(text.text), calls, text.blocks)
    if isinstance(text, ResultText):
        return ResultText(encodable(text.text), text.id, text.name)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def canonical(params: Mapping[str, Any]) -> dict[str, Any]:
    """Normalize parameters: 0 for 0.0, a list for one stop, no None. Raises `ModelError`."""
    values: dict[str, Any] = {}
    for name, value in sorted(params.items()):
        if value is None:
            continue
        if name == "reasoning" and value not in EFFORTS:
            hint = f"There are: {', '.join(EFFORTS)}."
            raise ModelError(f"there is no reasoning effort {value!r}", hint=hint)
        if name == "max_tokens" and not is_amount(value):
            raise ModelError(f"max_tokens is {value!r:.40}", hint="Set a number of tokens.")
        if name == "stop":
            values[name] = [value] if isinstance(value, str) else list(value)
        else:
            values[name] = int(value) if isinstance(value, float) and value.is_integer() else value
        if not isinstance(value, (str, int, float)):
            try:
                json.dumps(values[name])
            except (TypeError, ValueError):
                raise ModelError(f"the model parameter {name} is {type_in_words(value)}, not JSON") from None
    return values
