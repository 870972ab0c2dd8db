"""What is asked of a model, and what it replies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chameleon.budget import Usage
from chameleon.errors import ModelError, PromptError
from chameleon.llm.capabilities import EFFORTS
from chameleon.llm.illustrated import Illustrated

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

Messages = str | Sequence[tuple[str, str]]
ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply to one question.

    `finish` is why it stopped ("stop", "length", …); `cached` marks a reply from the response store, or one
    shared with the same question asked at the same time: its usage is nothing. `logprob` is the mean
    log-probability of its tokens (at most 0), None unless asked for (`logprobs`) and told by the server.
    `dropped` are parameters that the model was asked without, and why.
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

    @property
    def truncated(self) -> bool:
        """The reply hit its limit and is cut off."""
        return self.finish == "length"


@dataclass(frozen=True)
class Request:
    """One question to one model, in the form that the response store knows it by."""

    model: str
    messages: tuple[tuple[str, str], ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 0
    schema: Mapping[str, Any] | None = None
    own_settings: Mapping[str, Any] = field(default_factory=dict)  # of a client that the user made
    address: str = ""  # of the server, unless it is the provider's own
    pictures: tuple[str, ...] = ()  # references: a text that only quotes one is another request
    whole: bool = True  # ask again with more room where the reply is cut off

    @classmethod
    def of(
        cls,
        model: str,
        messages: Messages,
        params: Mapping[str, Any],
        *,
        sample: int = 0,
        schema: Mapping[str, Any] | None = None,
        own_settings: Mapping[str, Any] | None = None,
        address: str = "",
    ) -> Request:
        """Build a request; raise `PromptError` for an unknown role and `ModelError` for a bad parameter."""
        pairs = pairs_of(messages)
        pictures = pictures_of(pairs)
        return cls(model, pairs, plain(params), sample, schema, own_settings or {}, address, pictures)

    @property
    def key(self) -> str:
        """Names the request in the store: model, messages, parameters, schema, sample and server."""
        # Kept by hand: `cached_property` takes a lock, and a request is asked for its key at every step.
        if (known := self.__dict__.get("_key")) is not None:
            return str(known)
        identity = [self.model, self.messages, self.settings]
        key = hashlib.sha256(_CANONICAL(identity).encode()).hexdigest()
        self.__dict__["_key"] = key
        return key

    @property
    def settings(self) -> dict[str, Any]:
        """Everything but the model and the messages that tells two requests apart."""
        settings = {**self.own_settings, **self.params, "sample": self.sample}
        if self.address:
            settings["base_url"] = self.address
        if self.pictures:
            settings["pictures"] = list(self.pictures)
        return settings if self.schema is None else {**settings, "schema": self.schema}

    @property
    def logged_messages(self) -> tuple[tuple[str, str], ...]:
        """The messages as a log keeps them, with references in place of pictures."""
        if not self.pictures:
            return self.messages
        return tuple((role, str.__str__(text)) for role, text in self.messages)

    @property
    def logged_params(self) -> dict[str, Any]:
        return dict(self.params) if self.schema is None else {**self.params, "schema": dict(self.schema)}


def pictures_of(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The references of the pictures that go along with the messages."""
    illustrated = [text for _, text in pairs if isinstance(text, Illustrated)]
    return tuple(str(picture) for text in illustrated for picture in text.pictures) if illustrated else ()


def pairs_of(messages: Messages) -> tuple[tuple[str, str], ...]:
    """Messages as pairs of role and text; raise `PromptError` for an unknown role, or where there is none."""
    pairs = []
    for role, text in (("user", messages),) if isinstance(messages, str) else messages:
        if role not in ROLES:
            raise PromptError(f"{role!r} is not a role", hint=f"Roles are {', '.join(ROLES)}.")
        pairs.append((role, _encodable(text)))
    if not pairs:
        raise PromptError("there is no message to send to the model")
    return tuple(pairs)


def _encodable(text: str) -> str:
    """Mend surrogates, which no request can carry: a pair becomes its character, a lone one U+FFFD."""
    if text.isascii():
        return text
    if isinstance(text, Illustrated):
        return Illustrated(_encodable(text.text), text.pictures)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Write equal settings the same way: 0 for 0.0, a list of stops for one stop, nothing for None.

    Raises `ModelError` for a parameter that is not JSON.
    """
    settled = {name: _settled(name, value) for name, value in sorted(params.items()) if value is not None}
    for name, value in settled.items():
        if isinstance(value, (str, int, float)):
            continue
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            raise ModelError(f"the model parameter {name} is a {type(value).__name__}, not JSON") from None
    return settled


def _settled(name: str, value: Any) -> Any:
    if name == "stop":
        return [value] if isinstance(value, str) else list(value)
    if name == "reasoning" and value not in EFFORTS:
        raise ModelError(f"there is no reasoning effort {value!r}", hint=f"There are: {', '.join(EFFORTS)}.")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
