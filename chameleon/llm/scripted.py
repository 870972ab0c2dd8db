"""A chat model that replies from a script, for tests, demonstrations and dry runs."""

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.base import LangSmithParams
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from chameleon.errors import InputError, ScriptExhausted
from chameleon.llm.tools import CallingText, ResultText, ToolCall
from chameleon.text import counted, one_line, redact

ScriptedReply = str | Mapping[str, Any] | Exception
Script = Iterable[ScriptedReply] | Callable[[list[tuple[str, str]]], ScriptedReply]

_ROLES = {"human": "user", "ai": "assistant"}


class ScriptedModel(BaseChatModel):
    """Returns the script's replies in order, then raises `ScriptExhausted`.

    `requests` keeps the messages of every request. It is safe to use from many threads.

        llm = LLM.connect(ScriptedModel(["Paris", "4"]))

    Args:
        script: the replies, or a function of the messages (pairs of role and text) that returns one. A reply
            is a text, an exception to raise, or a mapping with `text` and optionally `finish`,
            `input_tokens`, `output_tokens`, `cached_tokens`, `reasoning_tokens` and `cost`; or with
            `tool_calls`, each with `name` and `args` (an object, or a text that is not JSON), with or
            without its text.
        tools: whether it accepts tools; by default, if a reply calls one or the script is a function.
    """

    model_name: str = "script"
    _script: Any = PrivateAttr(default=())
    _requests: list[list[tuple[str, str]]] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, script: Script, model_name: str = "script", *, tools: bool | None = None) -> None:
        replies = script if callable(script) else list(script)
        if tools is None:
            tools = callable(replies) or any(
                isinstance(each, Mapping) and "tool_calls" in each for each in replies
            )
        profile: Any = {"tool_calling": True} if tools else None
        super().__init__(model_name=model_name, profile=profile)  # type: ignore[call-arg]
        self._script = replies

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a script of JSON lines, each a text or a mapping. Raises `InputError` naming a bad line."""
        file, replies = Path(path), list[ScriptedReply]()
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            raise InputError("there is no such file of scripted replies", where=str(file)) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"the script cannot be read: {reason}", where=str(file)) from error
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            where = f"{file}, line {number}"
            try:
                reply = json.loads(line)
                _message(reply)
            except json.JSONDecodeError as error:
                raise InputError(f"not JSON: {error}", where=where) from None
            except (AttributeError, KeyError, TypeError, ValueError):
                hint = 'A call needs name and args: {"tool_calls": [{"name": "search", "args": {}}]}.'
                what = 'a reply must be a text, {"text": …} or {"tool_calls": […]}'
                raise InputError(what, where=where, hint=hint) from None
            replies.append(reply)
        return cls(replies, model_name=file.name)

    @property
    def requests(self) -> list[list[tuple[str, str]]]:
        """Return the messages of every request so far, in the order of arrival."""
        return self._requests

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return LangSmithParams(ls_provider="scripted", ls_model_name=self.model_name, ls_model_type="chat")

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Accept tools if the script does."""
        if not self.profile:
            raise NotImplementedError
        return self.bind(tools=tools, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        pairs = [(_ROLES.get(message.type, message.type), _asked_text(message)) for message in messages]
        with self._lock:
            number = len(self._requests)
            self._requests.append(pairs)
        if callable(self._script):
            reply = self._script(pairs)
        elif number < len(self._script):
            reply = self._script[number]
        else:
            replies = counted(len(self._script), "reply")
            what = f"the script holds {replies}, but reply {number + 1} was requested"
            ends = "".join(redact(text)[-300:] for _, text in pairs[-1:])  # of the last message, if any
            hint = f"Add a reply to the message that ends: {one_line(ends)}"
            raise ScriptExhausted(what, where=self.model_name, hint=hint)
        if isinstance(reply, Exception):
            raise reply
        return ChatResult(generations=[ChatGeneration(message=_message(reply))])


def _asked_text(message: BaseMessage) -> str:
    """Return a message's text in the form it was sent, including tool calls and their results."""
    text = _text(message.content)
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = [ToolCall(each["name"], each["args"], each["id"] or "") for each in message.tool_calls]
        return CallingText(text, calls)
    if isinstance(message, ToolMessage):
        return ResultText(text, message.tool_call_id, message.name or "")
    return text


def _text(content: Any) -> str:
    """Return the text of a message, with a mark for each picture."""
    if not isinstance(content, list):
        return str(content)
    return "\n".join(block["text"] if block.get("type") == "text" else "[picture]" for block in content)


def _message(reply: str | Mapping[str, Any]) -> AIMessage:
    fields: Mapping[str, Any] = {"text": reply} if isinstance(reply, str) else reply
    metadata = {"finish_reason": fields.get("finish", "stop"), "cost": fields.get("cost")}
    calls: list[Any] = [
        {"name": call["name"], "args": call["args"], "id": f"call_{number}"}
        for number, call in enumerate(fields.get("tool_calls", ()), 1)
    ]
    message = AIMessage(
        content=fields.get("text", "") if calls else fields["text"],
        response_metadata=metadata,
        tool_calls=[call for call in calls if not isinstance(call["args"], str)],
        invalid_tool_calls=[{**call, "error": None} for call in calls if isinstance(call["args"], str)],
    )
    if "input_tokens" in fields and "output_tokens" in fields:
        read, written = fields["input_tokens"], fields["output_tokens"]
        usage = UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
        if "cached_tokens" in fields:
            usage["input_token_details"] = {"cache_read": fields["cached_tokens"]}
        if "reasoning_tokens" in fields:
            usage["output_token_details"] = {"reasoning": fields["reasoning_tokens"]}
        message.usage_metadata = usage
    return message
