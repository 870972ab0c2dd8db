"""What the tests of this folder share: connecting to servers, and what servers say."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from chameleon.llm import LLM
from tests.hosted import HostedServer
from tests.local_server import serving
from tests.loopback import Fault, LoopbackServer

Start = Callable[..., LoopbackServer]
Host = Callable[..., HostedServer]
Json = dict[str, Any]


def connect(server: HostedServer | LoopbackServer, model: str, **params: Any) -> LLM:
    """Connect to a model of that server, whose package may be missing."""
    provider = model.partition(":")[0]
    packages = {"anthropic": "langchain_anthropic", "google_genai": "langchain_google_genai"}
    if provider in packages:
        pytest.importorskip(packages[provider])
    is_openai = provider == "openai" and isinstance(server, HostedServer)
    address = server.openai_url if is_openai else server.url  # type: ignore[union-attr]
    params = {"base_url": address, "api_key": "k", "retries": 0, **params}
    return LLM.connect(model, **params)


def local(retries: int = 0, naps: list[float] | None = None, **params: Any) -> LLM:
    """Connect to the loopback server, without sleeping between attempts."""
    return without_waits(LLM.connect("openai:local", retries=retries, **params), naps)


def without_waits(llm: LLM, naps: list[float] | None = None) -> LLM:
    """Let the waits between attempts take no time, and note them in `naps`."""
    slept = [] if naps is None else naps
    llm._pipeline.sleep = slept.append  # type: ignore[method-assign, assignment]
    llm._pipeline.connection.pace._clock = lambda: time.monotonic() + sum(slept)
    return llm


def priced(text: str) -> dict[str, object]:
    """Return a scripted reply that tells what it cost."""
    return {"text": text, "input_tokens": 10, "output_tokens": 2, "cost": 0.5}


def refusals(server: HostedServer) -> Counter[str]:
    """Count how often the server refused for the same reason."""
    return Counter(str((seen.error or {})["error"]["message"]) for seen in server.refused)


def unsupported(name: str) -> Fault:
    """Refuse a parameter as OpenAI does."""
    message = f"Unsupported parameter: '{name}' is not supported with this model."
    return Fault(400, {"error": {"message": message, "param": name, "code": "unsupported_parameter"}})


def too_large(limit: int, most: int = 16_384) -> Fault:
    """Refuse a limit as OpenAI does."""
    message = f"max_tokens is too large: {limit}. This model supports at most {most} completion tokens, "
    message += f"whereas you provided {limit}."
    return Fault(400, {"error": {"message": message, "param": "max_tokens", "code": "invalid_value"}})


@contextmanager
def talking(say: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serve whatever `say` writes to each connection; give the server's address."""
    with serving(say) as host:
        yield f"http://{host}/v1"
