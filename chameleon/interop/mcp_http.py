"""A Model Context Protocol server over HTTP: the SDK's transport, with limited replies."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from chameleon.errors import ModuleError
from chameleon.interop.mcp_pipes import MAX_MESSAGE_BYTES

_CONNECT_SECONDS = 30.0


@asynccontextmanager
async def http_streams(
    url: str, headers: Mapping[str, str], on_refusal: Callable[[Any], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the message streams that the client reads and writes.

    The SDK follows no redirect to another origin, and limits each event of a stream. `on_refusal` receives
    each response with an error status, because the SDK does not pass most of them on.
    """
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: Any) -> None:
            self.stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in self.stream:
                if (size := size + len(piece)) > MAX_MESSAGE_BYTES:
                    raise httpx2.StreamError(f"it has more than {MAX_MESSAGE_BYTES:,} bytes")
                yield piece

        async def aclose(self) -> None:
            await self.stream.aclose()

    async def bound(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ModuleError("it compresses its replies although asked not to")
        if response.is_error and response.request.method == "POST":
            on_refusal(response)
        if "event-stream" not in response.headers.get("content-type", ""):
            response.stream = Bounded(response.stream)

    http = httpx2.AsyncClient(
        headers={**headers, "accept-encoding": "identity"},
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
        event_hooks={"response": [bound]},
    )
    client = streamable_http_client(url, http_client=http, max_sse_event_size=MAX_MESSAGE_BYTES)
    async with http, client as streams:
        yield streams
