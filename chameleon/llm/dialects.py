"""What LangChain's clients differ in when they are asked: one small class for each family of them."""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chameleon.errors import ModelError
from chameleon.llm.capabilities import Capabilities
from chameleon.llm.message import ModelRequest, MultimodalText
from chameleon.llm.providers import base_url, is_openai_itself
from chameleon.text import shared_start

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

_FEW_SAMPLES, _MOST_SAMPLES = 8, 128
_LEAST_KEPT = 4_096  # characters: providers keep no beginning of less than 1,024 tokens
_MOST_FAMILIES = 64


class Dialect:
    """How any client is asked; subclasses know more of theirs."""

    def __init__(self, chat: BaseChatModel, name: str) -> None:
        self.chat, self.name = chat, name

    def samples_at_once(self, known: Capabilities) -> int:
        """Return how many samples can be had in one request."""
        return 1

    def passes_stop(self, request: ModelRequest) -> bool:
        """Tell whether `stop` goes with this request: structured output passes nothing but the messages."""
        return request.schema is None

    def with_request(
        self, request: ModelRequest, sent: dict[str, Any], known: Capabilities
    ) -> dict[str, Any]:
        """Return what goes with the request itself, taking from `sent` what goes in another form."""
        return {}

    def messages(self, request: ModelRequest, known: Capabilities) -> list[BaseMessage]:
        """Return the messages as LangChain has them."""
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

        kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
        made: list[BaseMessage] = []
        for role, text in request.messages:
            content: str | list[str | dict[Any, Any]] = text
            if isinstance(text, MultimodalText):
                shown = (
                    {"type": "image", "base64": p.base64, "mime_type": p.mime_type} for p in text.pictures
                )
                content = [{"type": "text", "text": text.text}, *shown]
            made.append(kinds[role](content=content))
        return made

    def invoke(
        self, chat: BaseChatModel, request: ModelRequest, extra: Mapping[str, Any], known: Capabilities
    ) -> Sequence[AIMessage]:
        """Make the request; return a message for each sample."""
        messages = self.messages(request, known)
        if request.schema is None:
            return (chat.invoke(messages, **extra),)
        if extra:
            raise ModelError(f"{self.name} cannot take {', '.join(extra)} together with an output schema")
        try:
            structured = chat.with_structured_output({"title": "reply", **request.schema}, include_raw=True)
        except NotImplementedError:
            hint = "Use a prompt that asks for the form."
            raise ModelError(f"{self.name} offers no structured output", hint=hint) from None
        answer: Any = structured.invoke(messages)
        message: AIMessage = answer["raw"]
        if not message.tool_calls:
            return (message,)
        form = json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
        return (message.model_copy(update={"content": form, "tool_calls": []}),)


class AnthropicDialect(Dialect):
    """Claude's client: what prompts share is marked in them, so that it is kept and costs less.

    Prompts that share their first characters are one family: the demonstrations of one module. What all of
    them share is marked from the second one on, since a single prompt is not worth the surcharge.
    """

    def __init__(self, chat: BaseChatModel, name: str) -> None:
        super().__init__(chat, name)
        self._lock = threading.Lock()
        self._families: OrderedDict[str, tuple[str, int]] = (
            OrderedDict()
        )  # the last text, and what all shared

    def messages(self, request: ModelRequest, known: Capabilities) -> list[BaseMessage]:
        made = super().messages(request, known)
        length = 0 if "cache_control" in known.refuses else self._shared(request.messages)
        for number, (_, text) in enumerate(request.messages):
            if length > len(text):
                length -= len(text)
                continue
            place = text.rfind("\n", 0, length) + 1  # a model reads whole lines
            if not isinstance(text, MultimodalText) and text[:place].strip() and text[place:].strip():
                kept = {"type": "text", "text": text[:place], "cache_control": {"type": "ephemeral"}}
                made[number].content = [kept, {"type": "text", "text": text[place:]}]
            break
        return made

    def _shared(self, messages: Sequence[tuple[str, str]]) -> int:
        """Return how many characters of the messages' texts all prompts of the family have had; 0 for one."""
        text = "".join(text for _, text in messages)
        if len(text) < _LEAST_KEPT:
            return 0
        with self._lock:
            before, shared = self._families.pop(text[:_LEAST_KEPT], (text, 0))
            found = shared_start(before, text)
            # The same prompt again, as for another sample, says nothing of what other prompts share.
            length = shared if before == text else min(shared or found, found)
            self._families[text[:_LEAST_KEPT]] = (text, length)
            if len(self._families) > _MOST_FAMILIES:
                self._families.popitem(last=False)
        return length


class OpenAIDialect(Dialect):
    """The clients built on OpenAI's, and the servers compatible with it."""

    def __init__(self, chat: BaseChatModel, name: str) -> None:
        super().__init__(chat, name)
        self.address = getattr(chat, "openai_api_base", None) or base_url() or "https://api.openai.com/v1"
        self._responses = getattr(chat, "use_responses_api", None)

    def samples_at_once(self, known: Capabilities) -> int:
        """Return how many samples a request may ask for; OpenAI gives eight of a model that thinks."""
        has_field = "n" in type(self.chat).model_fields
        if not has_field or self._responses or getattr(self.chat, "streaming", None):
            return 1
        return _FEW_SAMPLES if known.may_think else _MOST_SAMPLES

    def passes_stop(self, request: ModelRequest) -> bool:
        return True

    def with_request(
        self, request: ModelRequest, sent: dict[str, Any], known: Capabilities
    ) -> dict[str, Any]:
        body: dict[str, Any] = {}
        is_own_server = not is_openai_itself(str(self.address)) and not hasattr(self.chat, "azure_endpoint")
        if "max_tokens" in sent and is_own_server and not self._responses:
            # LangChain would send max_completion_tokens, which Ollama and older servers ignore.
            body[known.limit_name] = sent.pop("max_tokens")
        if request.schema is not None:
            # In the body, since the client's own handling throws away replies cut off by length.
            if self._responses:
                return {"response_format": _response_format(request.schema)}
            body["response_format"] = _response_format(request.schema)
        if not body:
            return {}
        own = sent.pop("extra_body", None) or getattr(self.chat, "extra_body", None) or {}
        return {"extra_body": {**own, **body}}

    def invoke(
        self, chat: BaseChatModel, request: ModelRequest, extra: Mapping[str, Any], known: Capabilities
    ) -> Sequence[AIMessage]:
        messages = self.messages(request, known)
        if "n" not in extra:
            return (chat.invoke(messages, **extra),)
        made = chat.generate([messages], **extra).generations[0]
        return [choice.message for choice in made]  # type: ignore[union-attr, misc]


def dialect_of(chat: BaseChatModel) -> type[Dialect]:
    """Return how this client is asked."""
    kinds = {kind.__name__ for kind in type(chat).__mro__}
    by_class = {"BaseChatOpenAI": OpenAIDialect, "ChatAnthropic": AnthropicDialect}
    return next((dialect for kind, dialect in by_class.items() if kind in kinds), Dialect)


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what asks OpenAI and compatible servers for JSON of the schema's form."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", str(schema.get("title") or "reply"))[:64]
    # What `strict` takes: objects that require all their keys and allow no other.
    strict = schema.get("additionalProperties") is False
    return {"type": "json_schema", "json_schema": {"name": name, "schema": dict(schema), "strict": strict}}
