"""Ask OpenAI's chat completions, and servers compatible with it, over aiohttp: as LangChain's client would.

LangChain's and OpenAI's packages take most of the time of a call, and a second to import. Their part here is
small: parameters are fitted above (`connection.py`); what LangChain knows of models is read from its file.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import re
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson
from pydantic import BaseModel, SecretStr

from chameleon import bridge
from chameleon.errors import ModelError
from chameleon.lazy import cached_property
from chameleon.llm.capabilities import section
from chameleon.llm.deadline import Bound, TooLate
from chameleon.llm.openai_stream import OF_CALLS, THOUGHTS, Json, StreamedReply, calls_of
from chameleon.text import one_line, redact

OPENAI = "https://api.openai.com/v1"
_HEADERS = {"Content-Type": "application/json", "User-Agent": "chameleon"}
_MISSED = "Check its address, which usually ends in /v1."
_MOVED = "Give that address, if you trust it."
_LEAST_SAID, _LARGE = 100, 1_000_000


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A reply as LangChain's `AIMessage` has it, as far as we read it."""

    content: Any
    response_metadata: Json
    usage_metadata: Json
    additional_kwargs: Json = field(default_factory=dict)
    tool_calls: Sequence[Json] = ()


class StatusError(Exception):
    """The server replied with an HTTP status that is an error; `response` is what `failures.py` looks at."""

    def __init__(self, status_code: int, text: str, headers: Mapping[str, str]) -> None:
        super().__init__(f"the server replied with {status_code}: {text[:_LEAST_SAID]}")
        self.response = SimpleNamespace(status_code=status_code, text=text, headers=headers)
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            told = None
        self.body = told.get("error", told) if isinstance(told, dict) else told


class OpenAIChat(BaseModel):
    """A client of one model at an OpenAI-compatible address; `timeout` is in seconds, for a whole request."""

    model: str
    base_url: str = OPENAI
    api_key: SecretStr | None = None
    organization: str | None = None
    default_headers: Mapping[str, str] = {}
    timeout: float = 120.0
    max_retries: int = 0
    reasoning_effort: str | None = None
    n: int | None = None
    streaming: bool = False
    model_kwargs: Mapping[str, Any] = {}
    ends_in_time: ClassVar[bool] = True

    @property
    def profile(self) -> Mapping[str, Any]:
        """Return what LangChain knows of the model."""
        return profiles().get(self.model, {})

    def ask(
        self, messages: Sequence[Json], extra: Mapping[str, Any], tell: Callable[[str], None] | None = None
    ) -> list[ChatMessage]:
        """Make a request with these further parameters; return a message for each sample.

        `tell` is called with each piece of the text as it comes.

        Raises:
            StatusError: The server refused, or failed.
            TooLate: The timeout is over.
            LongReply: The reply is longer than any that is of use.
            ConnectionError, ValueError: There is no reply, or none that can be read.
        """
        if re.match(r"o\d", self.model):  # as LangChain does it for OpenAI's o-series
            roles = {"system": "developer"}
            messages = [each | {"role": roles.get(each["role"], each["role"])} for each in messages]
        own = {name: value for name in ("reasoning_effort", "n") if (value := getattr(self, name))}
        tell = tell or (_tell_nobody if self.streaming else None)
        streamed = {"stream": True, "stream_options": {"include_usage": True}} if tell else {}
        further = {**own, **self.model_kwargs, **extra, **streamed}
        body = {"model": self.model, "messages": list(messages), **further}
        post, encoded = self._post, _encoded(body)
        if tell is None:
            return _messages(bridge.on_wire(post(encoded, None)))
        return _messages(bridge.told_on_wire(lambda told: post(encoded, told), tell))

    async def _post(self, body: bytes, tell: Callable[[str], None] | None) -> Any:
        """Return the JSON of the reply, made of its pieces where it comes in pieces."""
        url, headers, proxy = self._place
        # What is larger, such as pictures, is not written at once.
        data = body if len(body) < _LARGE else BytesIO(body)
        trust = _authorities() if url.startswith("https:") else True
        try:
            async with (
                asyncio.timeout(self.timeout),
                _session().post(
                    url, data=data, headers=headers, proxy=proxy, ssl=trust, allow_redirects=False
                ) as response,
            ):
                if 300 <= response.status < 400:  # followed, it would carry the key there
                    place = one_line(redact(response.headers.get("location", "nowhere")), 200)
                    raise ModelError(
                        f"the server at {redact(self.base_url)} sends requests on to {place}", hint=_MOVED
                    )
                if response.status >= 400:
                    raise StatusError(response.status, await _text(response), response.headers)
                if tell is not None and response.content_type == "text/event-stream":
                    return await _collected(response, tell)
                if (text := await _text(response)).lstrip()[:1] == "<":
                    raise ModelError(f"the server at {redact(self.base_url)} sent an HTML page", hint=_MISSED)
                return json.loads(text)
        except TimeoutError:
            raise TooLate from None
        except aiohttp.ClientError as problem:
            # Those of a reply that was cut off carry a status that no server has sent.
            cause = problem if isinstance(problem, OSError) else None
            said = (cause and cause.strerror) or str(problem)
            raise ConnectionError(redact(str(said))) from cause

    @cached_property
    def _place(self) -> tuple[str, Mapping[str, str], str | None]:
        """Return the address of the requests, their headers, and the proxy that the environment names."""
        key = self.api_key.get_secret_value() if self.api_key else ""
        parts = urlsplit(self.base_url)
        login, at, host = parts.netloc.rpartition("@")
        header = f"Basic {b64encode(unquote(login).encode()).decode()}" if at else f"Bearer {key}"
        ids = {
            "OpenAI-Organization": self.organization or os.environ.get("OPENAI_ORG_ID"),
            "OpenAI-Project": os.environ.get("OPENAI_PROJECT_ID"),
        }
        told = {name: value for name, value in ids.items() if value}
        path = f"{parts.path.rstrip('/')}/chat/completions"
        url = parts._replace(netloc=host, path=path).geturl()
        headers = {**_HEADERS, "Authorization": header, **told, **self.default_headers}
        return url, headers, _proxy_of(self.base_url)


def _tell_nobody(piece: str) -> None:
    """Read a reply in pieces that nobody waits for: some gateways reply in no other way."""


def takes(name: str, settings: Mapping[str, Any]) -> bool:
    """Tell whether this client can stand for LangChain's, which no setting and no model needs."""
    has_socks = (_proxy_of(settings.get("base_url") or OPENAI) or "").startswith("socks")
    if os.environ.get("OPENAI_PROXY") or has_socks or settings.get("max_retries") or not profiles():
        return False
    needs_responses = name.startswith(tuple(section("responses_only"))) or "codex" in name
    return not needs_responses and settings.keys() <= OpenAIChat.model_fields.keys()


def _proxy_of(address: str) -> str | None:
    """Return the proxy that the environment names for an address."""
    parts, named = urlsplit(address), getproxies()
    found = named.get(parts.scheme) or named.get("all")
    if not found or proxy_bypass(parts.hostname or ""):
        return None
    return found if "://" in found else f"http://{found}"


@cache
def profiles() -> Mapping[str, Mapping[str, Any]]:
    """Return LangChain's profiles of OpenAI's models, without its package, which takes a second to import."""
    package = find_spec("langchain_openai")
    for place in (package and package.submodule_search_locations) or ():
        spec = spec_from_file_location("langchain_openai_profiles", Path(place, "data", "_profiles.py"))
        if spec is not None and spec.loader is not None and Path(str(spec.origin)).is_file():
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            found: Mapping[str, Mapping[str, Any]] = getattr(module, "_PROFILES", {})
            return found
    return {}


def _encoded(body: Json) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:  # an integer of more than 64 bits, a key that is no text
        return json.dumps(body).encode()


_sessions: dict[Any, aiohttp.ClientSession] = {}  # by loop


class _Connector(aiohttp.TCPConnector):
    """Use no connection again on which something came that nobody had asked for: it answers no question."""

    async def connect(self, *args: Any, **named: Any) -> Any:
        while (connection := await super().connect(*args, **named)).protocol.should_close:  # type: ignore[union-attr]
            connection.close()
        return connection


def _session() -> aiohttp.ClientSession:
    """Return the connections of the loop that runs: that of requests alone asks, so that all share them."""
    loop = asyncio.get_running_loop()
    if loop not in _sessions:
        # As many connections as there are calls in flight: these are bounded elsewhere.
        connector = _Connector(limit=0, ttl_dns_cache=300)
        jar = aiohttp.DummyCookieJar()  # accounts share the session
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=None)
        _sessions[loop] = aiohttp.ClientSession(connector=connector, timeout=timeout, cookie_jar=jar)
        atexit.register(_close, loop, _sessions[loop], os.getpid())
    return _sessions[loop]


@cache
def _authorities() -> ssl.SSLContext:
    """Trust whom the system trusts, and certifi, unless the environment names other authorities."""
    context = ssl.create_default_context()
    if not any(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")):
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _close(loop: asyncio.AbstractEventLoop, session: aiohttp.ClientSession, process: int) -> None:
    if loop.is_running() and os.getpid() == process:  # a forked copy has neither
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(session.close(), loop).result(1)


async def _text(response: aiohttp.ClientResponse) -> str:
    """Read a reply, unpacked, up to the longest that is of use."""
    parts, bound = [], Bound()
    async for part in response.content.iter_any():
        bound.count(part)
        parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")


async def _collected(response: aiohttp.ClientResponse, tell: Callable[[str], None]) -> Json:
    """Read the events of a streamed reply (text/event-stream), and make one reply of them."""
    reply, whole, bound, is_whole = StreamedReply(), Json(), Bound(), False
    async for line in response.content:
        bound.count(line)
        name, _, data = line.decode("utf-8", "replace").strip().partition(":")
        if name != "data" or not data.strip():
            continue
        if data.strip() == "[DONE]":
            is_whole = True
            continue
        event = json.loads(data)
        if not isinstance(event, dict) or event.get("error"):
            raise StatusError(_status_in(event), data.strip(), {})
        whole |= {key: value for key, value in event.items() if value is not None and key != "choices"}
        choices = event.get("choices") or []
        for choice in choices if isinstance(choices, list) else [None]:
            if piece := reply.add(choice):
                tell(piece)
    if not is_whole and not reply.has_ended:
        raise ConnectionError("the reply ended before its end")
    return {**whole, "choices": [reply.choice()]}


def _messages(data: Any) -> list[ChatMessage]:
    """Read the samples of a reply. Raises `ValueError` for JSON that is no reply, and for an error in it."""
    if isinstance(data, dict) and data.get("error"):
        raise StatusError(_status_in(data), json.dumps(data), {})
    choices = data.get("choices") if isinstance(data, dict) else None
    if (
        not isinstance(choices, list)
        or not choices
        or not all(isinstance(each, dict) and isinstance(each.get("message"), dict) for each in choices)
    ):
        raise json.JSONDecodeError("the reply has no choices", str(data)[:_LEAST_SAID], 0)
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    if odd := [each for each in choices if not isinstance(each["message"].get("content") or "", (str, list))]:
        raise json.JSONDecodeError("the reply has no text", str(odd[0])[:_LEAST_SAID], 0)
    return [_message(choice, usage) for choice in choices]


def _message(choice: Json, usage: Json) -> ChatMessage:
    said = choice["message"]
    counted = _counted(usage)
    told = {"finish_reason": choice.get("finish_reason"), "logprobs": choice.get("logprobs")}
    calls = calls_of(said.get("tool_calls"))
    further = {name: said[name] for name in ("refusal", *THOUGHTS) if said.get(name)}
    if of_calls := {str(each.get("id")): {OF_CALLS: each[OF_CALLS]} for each in calls if each.get(OF_CALLS)}:
        further[OF_CALLS] = of_calls
    named = [(each.get("id"), each.get("function") or {}) for each in calls]
    made = [{"name": told.get("name"), "args": told.get("arguments"), "id": id} for id, told in named]
    return ChatMessage(said.get("content") or "", {**told, "token_usage": usage}, counted, further, made)


def _counted(usage: Json) -> Json:
    """Return the tokens of a reply, by LangChain's names."""

    def count(held: Any, name: str) -> int | None:
        found = held.get(name) if isinstance(held, dict) else None
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    return {
        "input_tokens": count(usage, "prompt_tokens"),
        "output_tokens": count(usage, "completion_tokens"),
        "input_token_details": {"cache_read": count(usage.get("prompt_tokens_details"), "cached_tokens")},
        "output_token_details": {
            "reasoning": count(usage.get("completion_tokens_details"), "reasoning_tokens")
        },
    }


def _status_in(data: Any) -> int:
    """Return the status that an error in a reply names (OpenRouter's `code`), else 400."""
    error = data.get("error") if isinstance(data, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 400
