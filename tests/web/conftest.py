"""Clients and servers for the tests of the web client."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.web.servers import WebServer


@pytest.fixture
def serve() -> Iterator[Callable[..., WebServer]]:
    """Start servers: `server = serve({"/": Answer(b"hello")})`; all are stopped at the end of the test."""
    with ExitStack() as stack:
        yield lambda routes: stack.enter_context(WebServer(routes))
