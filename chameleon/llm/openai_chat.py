"""Call OpenAI's chat completions, and compatible servers, over aiohttp, as LangChain's client would.

LangChain's and OpenAI's packages take most of the time of a call, and a second to import. Little of them is
needed: parameters are already fitted (`connection.py`), and LangChain's profiles are read from its file.
"""

import asyncio
import atexit
import json
import os
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson
from pydantic import BaseModel, SecretStr

from chameleon import bridge
from chameleon.errors import ModelError
from chameleon.lazy import cached_property
from chameleon.llm.deadline import ReplyBound, TooLate
from chameleon.llm.openai_replies import ChatMessage, Json, StatusError, StreamedReply, messages_in
from chameleon.llm.providers import OPENAI, authorized
from chameleon.text import one_line, redact

_HEADERS = {"Content-Type": "application/json", "User-Agent": "chameleon"}
_LARGE_BODY_BYTES = 1_000_000


class OpenAIChat(BaseModel):
    """A client of one model at an OpenAI-compatible address; `timeout`: seconds for a whole request."""

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
        """Return LangChain's profile of the model."""
        return profiles().get(self.model, {})

    def ask(
        self, messages: Sequence[Json], extra: Mapping[str, Any], on_text: Callable[[str], None] | None = None
    ) -> list[ChatMessage]:
        """Make a request with these additional parameters; return a message for each sample.

        `on_text` is called with each piece of the text as it arrives. Raises `StatusError`, `TooLate`,
        `LongReply`, and `ConnectionError` or `ValueError` for an unreadable or missing reply.
        """
        if re.match(r"o\d", self.model):  # as LangChain does for OpenAI's o-series
            roles = {"system": "developer"}
            messages = [each | {"role": roles.get(each["role"], each["role"])} for each in messages]
        params = {name: value for name in ("reasoning_effort", "n") if (value := getattr(self, name))}
        if self.streaming:  # some gateways can only stream
            on_text = on_text or (lambda piece: None)
        streamed = {"stream": True, "stream_options": {"include_usage": True}} if on_text else {}
        body = {"model": self.model, "messages": messages, **params, **self.model_kwargs, **extra, **streamed}
        try:
            encoded = orjson.dumps(body)
        except TypeError:  # an integer of more than 64 bits, a key that is not text
            encoded = json.dumps(body).encode()
        if on_text is None:
            return messages_in(bridge.on_wire(self._post(encoded, None)))
        return messages_in(bridge.stream_on_wire(lambda hear: self._post(encoded, hear), on_text))

    async def _post(self, body: bytes, on_text: Callable[[str], None] | None) -> Any:
        """Return the JSON of the reply, assembled from its pieces if it is streamed."""
        url, settings = self._place
        # Larger bodies, such as pictures, are not written at once.
        data, server = body if len(body) < _LARGE_BODY_BYTES else BytesIO(body), redact(self.base_url)
        try:
            async with asyncio.timeout(self.timeout), _session().post(url, data=data, **settings) as response:
                if 300 <= response.status < 400:
                    place = one_line(redact(response.headers.get("location", "nowhere")), 200)
                    hint = "Use that address if you trust it."
                    raise ModelError(f"the server at {server} redirects requests to {place}", hint=hint)
                if response.status >= 400:
                    raise StatusError(response.status, await _text(response), response.headers)
                if on_text is not None and response.content_type == "text/event-stream":
                    return await _collected(response, on_text)
                if (text := await _text(response)).lstrip()[:1] == "<":
                    hint = "Check its address, which usually ends in /v1."
                    raise ModelError(f"the server at {server} sent an HTML page", hint=hint)
                return json.loads(text)
        except TimeoutError:
            raise TooLate from None
        except aiohttp.ClientError as problem:
            # An error about a cut-off reply has a status that no server sent.
            cause = problem if isinstance(problem, OSError) else None
            raise ConnectionError(redact(str((cause and cause.strerror) or problem))) from cause

    @cached_property
    def _place(self) -> tuple[str, dict[str, Any]]:
        """Return the address of the requests, and their settings: headers, proxy, trust, no redirects."""
        key = self.api_key.get_secret_value() if self.api_key else ""
        address, header = authorized(self.base_url, key)
        parts = urlsplit(address)
        organization = self.organization or os.environ.get("OPENAI_ORG_ID")
        ids = {"Organization": organization, "Project": os.environ.get("OPENAI_PROJECT_ID")}
        by_id = {f"OpenAI-{name}": id for name, id in ids.items() if id}
        url = parts._replace(path=f"{parts.path.rstrip('/')}/chat/completions").geturl()
        headers = {**_HEADERS, "Authorization": header, **by_id, **self.default_headers}
        trust = _authorities() if url.startswith("https:") else True
        settings = {"headers": headers, "proxy": proxy_of(self.base_url), "ssl": trust}
        return url, {**settings, "allow_redirects": False}  # a followed redirect would carry the key along


def proxy_of(address: str) -> str | None:
    """Return the proxy set in the environment for an address."""
    parts, proxies = urlsplit(address), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


@cache
def profiles() -> Mapping[str, Mapping[str, Any]]:
    """Return LangChain's profiles of OpenAI's models without importing its package, which takes a second."""
    package = find_spec("langchain_openai")
    for place in (package and package.submodule_search_locations) or ():
        spec = spec_from_file_location("langchain_openai_profiles", Path(place, "data", "_profiles.py"))
        if spec is not None and spec.loader is not None and Path(str(spec.origin)).is_file():
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            data: Mapping[str, Mapping[str, Any]] = getattr(module, "_PROFILES", {})
            return data
    return {}


_sessions: dict[Any, aiohttp.ClientSession] = {}  # by loop


class _Connector(aiohttp.TCPConnector):
    """Never reuse a connection that received unexpected data, because that data answers no request."""

    async def connect(self, *args: Any, **kwargs: Any) -> Any:
        while (connection := await super().connect(*args, **kwargs)).protocol.should_close:  # type: ignore[union-attr]
            connection.close()
        return connection


def _session() -> aiohttp.ClientSession:
    """Return the session of the running loop; only the loop of requests calls it, so all share it."""
    loop = asyncio.get_running_loop()
    if loop not in _sessions:
        # No limit on connections, because calls in flight are limited elsewhere.
        connector = _Connector(limit=0, ttl_dns_cache=300)
        jar = aiohttp.DummyCookieJar()  # accounts share the session
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=None)
        _sessions[loop] = aiohttp.ClientSession(connector=connector, timeout=timeout, cookie_jar=jar)
        atexit.register(_close, loop, _sessions[loop], os.getpid())
    return _sessions[loop]


@cache
def _authorities() -> ssl.SSLContext:
    """Trust the system's authorities and certifi's, unless the environment names others."""
    context = ssl.create_default_context()
    if not any(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")):
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _close(loop: asyncio.AbstractEventLoop, session: aiohttp.ClientSession, process: int) -> None:
    if loop.is_running() and os.getpid() == process:  # a forked process has neither
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(session.close(), loop).result(1)


async def _text(response: aiohttp.ClientResponse) -> str:
    """Read a decompressed reply, up to the size limit."""
    parts, bound = [], ReplyBound()
    async for part in response.content.iter_any():
        bound.count(part)
        parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")


async def _collected(response: aiohttp.ClientResponse, on_text: Callable[[str], None]) -> Json:
    """Read the events of a streamed reply (text/event-stream), and combine them into one reply."""
    reply, bound, is_whole = StreamedReply(), ReplyBound(), False
    async for line in response.content:
        bound.count(line)
        name, _, data = line.decode("utf-8", "replace").strip().partition(":")
        if name != "data" or not data.strip():
            continue
        if data.strip() == "[DONE]":
            is_whole = True
        elif piece := reply.add(json.loads(data)):
            on_text(piece)
    if not is_whole and not reply.has_ended:
        raise ConnectionError("the reply ended early")
    return reply.whole()
