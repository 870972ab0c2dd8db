"""The differences between LangChain's clients: one small class for each family of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

from chameleon import bridge
from chameleon.errors import SchemaRefused, ToolsRefused
from chameleon.llm.capabilities import Capabilities
from chameleon.llm.deadline import started
from chameleon.llm.message import ModelRequest, MultimodalText
from chameleon.llm.openai_replies import OF_CALLS
from chameleon.llm.parse_reply import from_blocks, text_of
from chameleon.llm.providers import OPENAI, base_url, is_openai_itself
from chameleon.llm.tools import CallingText, ResultText, as_function, wire_name
from chameleon.text import shared_start

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

_TOOLS_HINT = "Choose a model that takes them, or a planner that asks for a plan in text."
_SCHEMA_HINT = "Ask for the form in the prompt: `structured: auto` in the inventory does so if necessary."
Tell = Callable[[str], None]
Params = dict[str, Any]
MIN_CHARS = 4_096
"""The minimum number of characters worth caching: providers cache at least 1,024 tokens."""
_MAX_FAMILIES = 64


@dataclass(frozen=True)
class WireRequest:
    """A request in the form that is sent: the client with its parameters, and the options of the request.

    Attributes:
        options: parameters for which the client has no field.
        tell: receives pieces of text as they arrive.
    """

    request: ModelRequest
    dialect: Dialect
    known: Capabilities
    chat: BaseChatModel
    options: Mapping[str, Any]
    tell: Tell | None


class Dialect:
    """How to call any LangChain client; subclasses handle the differences.

    `max_samples` is the number of samples that one request can return.
    """

    max_samples = 1

    def __init__(self, chat: BaseChatModel, name: str, known: Capabilities) -> None:
        self.chat, self.name = chat, name

    def add(self, request: ModelRequest, sent: Params, options: Params, limit_name: str) -> None:
        """Move parameters that need another form from `sent` to the `options` of the request.

        Args:
            sent: parameters that the client has not set yet, by the names all providers share; changed here.
            options: parameters for which the client has no field; changed here.
            limit_name: the server's name for `max_tokens` if unusual, else "".
        """

    def messages(self, wire: WireRequest) -> list[BaseMessage]:
        """Return the messages as LangChain objects."""
        return [_for_langchain(role, text) for role, text in wire.request.messages]

    def ask(self, wire: WireRequest) -> Sequence[AIMessage]:
        """Make the request; return a message for each sample."""
        messages, schema = self.messages(wire), wire.request.schema
        if schema is None:
            return (self._ask(self._with_tools(wire), messages, wire.tell, **wire.options),)
        if wire.options:  # structured output passes only the messages
            what = f"{self.name} cannot take {', '.join(wire.options)} together with an output schema"
            raise SchemaRefused(what, hint=_SCHEMA_HINT)
        from langchain_core.exceptions import OutputParserException

        try:
            # The title becomes the name of a function: LangChain rejects a schema without one.
            structured = wire.chat.with_structured_output({"title": "reply", **schema}, include_raw=True)
            answer: Any = self._ask(structured, messages)
        except NotImplementedError:
            raise SchemaRefused(f"{self.name} has no structured output", hint=_SCHEMA_HINT) from None
        except OutputParserException as problem:  # Claude does not have to follow the form while it thinks
            what = f"the reply of {self.name} does not match the output schema"
            raise SchemaRefused(what, hint=_SCHEMA_HINT) from problem
        message: AIMessage = answer["raw"]
        if not message.tool_calls:
            return (message,)
        text = json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)  # it called the schema as a tool
        return (message.model_copy(update={"content": text, "tool_calls": []}),)

    def _with_tools(self, wire: WireRequest) -> Any:
        if not wire.request.tools:
            return wire.chat
        try:
            return wire.chat.bind_tools([as_function(tool) for tool in wire.request.tools])
        except NotImplementedError:
            raise ToolsRefused(f"{self.name} cannot be given tools to call", hint=_TOOLS_HINT) from None

    def _ask(self, chat: Any, messages: Any, on_text: Tell | None = None, **options: Any) -> Any:
        """Call a client; with `on_text`, stream the reply in pieces and return them as one message."""
        if on_text is None:
            return _waited(chat.invoke, messages, **options)

        def streamed() -> Any:
            return reduce(add, (_passed_on(piece, on_text) for piece in chat.stream(messages, **options)))

        return _waited(streamed)


def _waited(ask: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Make a blocking call, in a thread inside an event loop: faster than the clients' coroutines."""
    if bridge.is_bridged():
        return bridge.result(started(partial(ask, *args, **options)))
    return ask(*args, **options)


def _passed_on(piece: AIMessage, on_text: Tell) -> AIMessage:
    if text := text_of(piece):
        on_text(text)
    return piece


class AnthropicDialect(Dialect):
    """Claude's client: the part of a prompt to cache is marked in the prompt itself.

    That part is the text that the first user message shares with earlier ones that started the same way, such
    as the demonstrations of a module: a provider charges less for text it has read before.
    """

    def __init__(self, chat: BaseChatModel, name: str, known: Capabilities) -> None:
        super().__init__(chat, name, known)
        self._lock = threading.Lock()
        self._shared: dict[str, str] = {}  # keyed by the first `MIN_CHARS` of a text

    def messages(self, wire: WireRequest) -> list[BaseMessage]:
        messages = super().messages(wire)
        first = next((each for each in messages if each.type == "human"), None)
        if first is None or not isinstance(first.content, str) or "cache_control" in wire.known.without:
            return messages
        place = self.shared_length(first.content)
        head, tail = first.content[:place], first.content[place:]
        if head.strip() and tail.strip():
            cached = {"type": "text", "text": head, "cache_control": {"type": "ephemeral"}}
            first.content = [cached, {"type": "text", "text": tail}]
        return messages

    def shared_length(self, text: str) -> int:
        """Count the characters, in whole lines, that a text shares with earlier ones; 0 for the first."""
        if len(text) < MIN_CHARS:
            return 0
        with self._lock:
            before = self._shared.get(text[:MIN_CHARS], text)
            length = shared_start(before, text)
            if len(self._shared) >= _MAX_FAMILIES:
                self._shared.clear()
            self._shared[text[:MIN_CHARS]] = text[:length]
        # The same text again, for example for another sample, does not show what other prompts share.
        return 0 if before == text else text.rfind("\n", 0, length) + 1

    def ask(self, wire: WireRequest) -> Sequence[AIMessage]:
        thinking = getattr(wire.chat, "thinking", None) or {"type": "disabled"}
        if wire.request.schema is not None and thinking.get("type") != "disabled":
            raise SchemaRefused(f"{self.name} cannot be held to a schema while it thinks", hint=_SCHEMA_HINT)
        return super().ask(wire)


class OpenAIDialect(Dialect):
    """The clients based on OpenAI's, and compatible servers."""

    def __init__(self, chat: BaseChatModel, name: str, known: Capabilities) -> None:
        super().__init__(chat, name, known)
        address = getattr(chat, "openai_api_base", None) or getattr(chat, "base_url", None)
        self.address = str(address or base_url() or OPENAI)
        self._responses = getattr(chat, "use_responses_api", None)
        is_own = not is_openai_itself(self.address) and not hasattr(chat, "azure_endpoint")
        may_think, self._limit_name = bool(known.thinks or known.refuses_thinking), ""
        if is_own and not self._responses:
            # LangChain would send max_completion_tokens, which Ollama and older servers ignore.
            is_openais = name.startswith("openai:") and may_think
            self._limit_name = "max_completion_tokens" if is_openais else "max_tokens"
        if "n" in type(chat).model_fields and not self._responses and not getattr(chat, "streaming", None):
            self.max_samples = 8 if may_think else 128  # OpenAI allows eight for a model that thinks

    def add(self, request: ModelRequest, sent: Params, options: Params, limit_name: str) -> None:
        body: dict[str, Any] = {}
        if "max_tokens" in sent and self._limit_name:
            body[limit_name or self._limit_name] = sent.pop("max_tokens")
        if request.schema is not None:
            # In the body, because the client's own handling discards replies cut off by length.
            (options if self._responses else body)["response_format"] = _response_format(request.schema)
        if body:
            extra = sent.pop("extra_body", None) or getattr(self.chat, "extra_body", None) or {}
            options["extra_body"] = {**extra, **body}

    def ask(self, wire: WireRequest) -> Sequence[AIMessage]:
        messages = self.messages(wire)
        if "n" not in wire.options:
            return (self._ask(self._with_tools(wire), messages, wire.tell, **wire.options),)
        choices = _waited(wire.chat.generate, [messages], **wire.options).generations[0]
        return [choice.message for choice in choices]


class DirectDialect(OpenAIDialect):
    """Our own client of OpenAI's chat completions: it sends exactly the options set here."""

    def add(self, request: ModelRequest, sent: Params, options: Params, limit_name: str) -> None:
        super().add(request, sent, options, limit_name)
        options |= options.pop("extra_body", {})  # here they are fields like the others
        if "max_tokens" in sent:
            options["max_completion_tokens"] = sent.pop("max_tokens")
        if request.tools:
            options["tools"] = [as_function(tool) for tool in request.tools]

    def ask(self, wire: WireRequest) -> Sequence[AIMessage]:
        client: Any = wire.chat
        messages = [_for_openai(role, text) for role, text in wire.request.messages]
        replies: Sequence[AIMessage] = client.ask(messages, wire.options, wire.tell)
        return replies


def dialect_of(chat: BaseChatModel, name: str, known: Capabilities) -> Dialect:
    """Return the dialect of this client."""
    by_class = {
        "OpenAIChat": DirectDialect,
        "BaseChatOpenAI": OpenAIDialect,
        "ChatAnthropic": AnthropicDialect,
    }
    kinds = (by_class.get(kind.__name__) for kind in type(chat).__mro__)  # by name, to import no package
    return next(filter(None, kinds), Dialect)(chat, name, known)


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the option that asks OpenAI and compatible servers for JSON that follows the schema."""
    name = wire_name(str(schema.get("title") or "reply"))
    form = {"name": name, "schema": dict(schema), "strict": _is_closed(schema)}
    return {"type": "json_schema", "json_schema": form}


def _is_closed(schema: Any) -> bool:
    """Return whether every object requires all its keys and allows no others, as `strict` needs."""
    if isinstance(schema, list):
        return all(map(_is_closed, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        keys, is_open = schema.get("properties"), schema.get("additionalProperties") is not False
        if is_open or not isinstance(keys, Mapping) or {*keys} != {*schema.get("required", ())}:
            return False
    return all(map(_is_closed, schema.values()))


def _for_langchain(role: str, text: str) -> BaseMessage:
    """Return a message as a LangChain object."""
    kind = _message_kinds()[role]
    if isinstance(text, ResultText):
        return kind(content=text.text, tool_call_id=text.id, name=wire_name(text.name))
    if isinstance(text, CallingText):
        content, extra = from_blocks(text.blocks)
        calls = [{"name": wire_name(each.name), "args": each.args, "id": each.id} for each in text.calls]
        return kind(content=content or text.text, tool_calls=calls, additional_kwargs=extra)
    if isinstance(text, MultimodalText):
        pictures = ({"type": "image", "base64": p.base64, "mime_type": p.mime_type} for p in text.pictures)
        return kind(content=[{"type": "text", "text": text.text}, *pictures])
    return kind(content=text)


def _for_openai(role: str, text: str) -> dict[str, Any]:
    """Return a message in OpenAI's format, with any extra data its server sent, such as thoughts."""
    if isinstance(text, ResultText):
        return {"role": role, "content": text.text, "tool_call_id": text.id}
    if isinstance(text, CallingText):
        _, extra = from_blocks(text.blocks)
        of_calls, calls = extra.pop(OF_CALLS, {}), list[dict[str, Any]]()
        for call in text.calls:
            args = json.dumps(call.args, ensure_ascii=False)
            called = {"type": "function", "id": call.id, **of_calls.get(call.id, {})}
            calls.append({**called, "function": {"name": wire_name(call.name), "arguments": args}})
        return {"role": role, "content": text.text or None, "tool_calls": calls, **extra}
    if isinstance(text, MultimodalText):
        urls = (f"data:{p.mime_type};base64,{p.base64}" for p in text.pictures)
        pictures = ({"type": "image_url", "image_url": {"url": url}} for url in urls)
        return {"role": role, "content": [{"type": "text", "text": text.text}, *pictures]}
    return {"role": role, "content": text}


@cache
def _message_kinds() -> Mapping[str, Callable[..., BaseMessage]]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    return {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage, "tool": ToolMessage}
