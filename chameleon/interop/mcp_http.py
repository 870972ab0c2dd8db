"""A server of the Model Context Protocol over HTTP: bounded replies; a request fails alone.

The SDK ends a connection, and all calls on it, when one request meets a network error. Here such a request
alone is answered, with an error whose code says whether the server may have taken it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from chameleon.interop.mcp_pipes import LARGEST_MESSAGE, ServerFailed

NOT_TAKEN = -31_999  # outside what JSON-RPC and the protocol reserve
_TO_CONNECT = 30.0  # seconds


@asynccontextmanager
async def streams_over_http(url: str, headers: Mapping[str, str]) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams of messages that the client reads and writes."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import CONNECTION_CLOSED

    class Http(httpx2.AsyncClient):
        async def send(self, request: Any, **options: Any) -> Any:
            try:
                response = await super().send(request, **options)
                return await _received(response)
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as problem:
                return _failure(request, NOT_TAKEN, f"{type(problem).__name__}: {problem}")
            except httpx2.TransportError as problem:
                return _failure(request, CONNECTION_CLOSED, f"{type(problem).__name__}: {problem}")
            except ServerFailed as problem:
                return _failure(request, CONNECTION_CLOSED, str(problem))

    sent = {**headers, "accept-encoding": "identity"}
    async with (
        Http(headers=sent, timeout=httpx2.Timeout(_TO_CONNECT, read=None)) as http,
        streamable_http_client(url, http_client=http, max_sse_event_size=LARGEST_MESSAGE) as streams,
    ):
        yield streams


async def _received(response: Any) -> Any:
    """Return a reply, read to its end unless it is a stream of events, each of which the SDK bounds."""
    try:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ServerFailed("its replies are packed, and were asked for as they are")
        if "event-stream" in response.headers.get("content-type", ""):
            return response
        response.stream = _bounded(response.stream)
        body = await response.aread()
    except BaseException:
        await response.aclose()
        raise
    from mcp_types import INTERNAL_ERROR

    is_of_session = "mcp-session-id" in response.request.headers and response.request.method != "GET"
    # 404 by the protocol, 400 by many servers
    if is_of_session and (response.status_code == 404 or (response.status_code == 400 and b"ession" in body)):
        return _failure(response.request, NOT_TAKEN, "it has ended the session")
    is_refused = response.status_code in (401, 403, 407, 429) or response.status_code >= 500
    if is_refused and response.request.method == "POST" and b'"jsonrpc"' not in body:  # the SDK hides which
        told = f"HTTP {response.status_code} {response.reason_phrase}".rstrip()
        return _failure(response.request, INTERNAL_ERROR, told)
    return response


def _failure(request: Any, code: int, told: str) -> Any:
    """Return a reply that fails a request by an error of JSON-RPC; where it ended a session, all is well."""
    import httpx2

    if request.method == "DELETE":
        return httpx2.Response(204, request=request)
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": told}}
    return httpx2.Response(503, json=error, request=request)


def _bounded(stream: Any) -> Any:
    """Return a stream of a body that raises once it is too large."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in stream:
                size += len(piece)
                if size > LARGEST_MESSAGE:
                    raise ServerFailed(f"a reply has more than {LARGEST_MESSAGE:,} bytes")
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
