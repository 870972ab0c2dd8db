"""Clients that are quick to give up, for tests over real sockets."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from chameleon.errors import WebError
from chameleon.web import Web, WebLimits, WebReply
from chameleon.web.addresses import as_number
from chameleon.web.web import HostPace
from tests.web.servers import Route, WebServer

Serve = Callable[[dict[str, Route]], WebServer]


def briefly(seconds: float) -> None:
    time.sleep(min(seconds, 0.01))


def client(*servers: WebServer, seconds: float = 5.0, **options: Any) -> Web:
    """A client that may ask these servers, and nothing else on this machine."""
    limits = options.pop("limits", WebLimits(seconds=seconds, bytes=100_000))
    settings = {"sleep": briefly, "pace": HostPace(), **options}
    return Web(limits, tuple(server.host for server in servers), **settings)


def fetched(web: Web, url: str, **options: Any) -> WebReply:
    """Fetch and keep, as one does whom the reply was of use."""
    reply = web.fetch(url, **options)
    web.keep(reply)
    return reply


def failure(web: Web, url: str, **options: Any) -> str:
    with pytest.raises(WebError) as caught:
        web.fetch(url, **options)
    return str(caught.value)


def numeric(host: str, port: int) -> list[str]:
    """Know numbers only, in every spelling, as the system's resolver does."""
    return [str(as_number(host))]
