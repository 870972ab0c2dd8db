"""What the tests of this folder share: connecting to servers, what servers say, and tools that are called."""

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from chameleon.llm import LLM, Reply, ScriptedModel
from chameleon.llm.tools import CallingText, ResultText
from tests.hosted import HostedServer
from tests.hosted_tools import Calls
from tests.local_server import serving
from tests.loopback import Fault, LoopbackServer, Start
from tests.loopback import Reply as Answer

__all__ = ["Start"]
Host = Callable[..., HostedServer]
Json = dict[str, Any]


def connect(server: HostedServer | LoopbackServer, model: str, **params: Any) -> LLM:
    provider = model.partition(":")[0]
    packages = {"anthropic": "langchain_anthropic", "google_genai": "langchain_google_genai"}
    if provider in packages:
        pytest.importorskip(packages[provider])
    address = server.url
    if provider == "openai" and isinstance(server, HostedServer):
        address = server.openai_url
    return LLM.connect(model, **{"base_url": address, "api_key": "k", "retries": 0, **params})


def local(retries: int = 0, naps: list[float] | None = None, **params: Any) -> LLM:
    """Connect to the loopback server, without sleeping between attempts."""
    return without_waits(LLM.connect("openai:local", retries=retries, **params), naps)


def scripted(script: Any, **params: Any) -> LLM:
    return LLM.connect(ScriptedModel(script), **params)


def without_waits(llm: LLM, naps: list[float] | None = None) -> LLM:
    """Let the waits between attempts take no time, and note them in `naps`."""
    slept = [] if naps is None else naps
    llm._pipeline.sleep = slept.append  # type: ignore[method-assign, assignment]
    llm._pipeline.connection.pace._clock = lambda: time.monotonic() + sum(slept)
    return llm


def use_langchain(monkeypatch: pytest.MonkeyPatch, is_wanted: bool = True) -> None:
    """Have OpenAI's models asked by LangChain's client instead of ours where that is wanted."""
    if is_wanted:
        pytest.importorskip("langchain_openai")
        monkeypatch.setattr("chameleon.llm.chat_clients._why_langchain", lambda *_: "a test asks for it")


def refusals(server: HostedServer) -> Counter[str]:
    return Counter(str((seen.error or {})["error"]["message"]) for seen in server.refused)


def failing(message: str, status: int = 400, **more: Any) -> Fault:
    return Fault(status, {"error": {"message": message, **more}})


def too_large(limit: int, most: int = 16_384) -> Fault:
    message = f"max_tokens is too large: {limit}. This model supports at most {most} completion tokens."
    return failing(message, param="max_tokens", code="invalid_value")


@contextmanager
def talking(say: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serve whatever `say` writes to each connection; give the server's address."""
    with serving(say) as host:
        yield f"http://{host}/v1"


@contextmanager
def sending(body: bytes, head: str = "200 OK", kind: str = "application/json") -> Iterator[str]:
    """Serve this reply to each connection; give the server's address."""
    start = f"HTTP/1.1 {head}\r\nConnection: close\r\nContent-Type: {kind}\r\n"
    start += f"Content-Length: {len(body)}\r\n\r\n"
    with talking(lambda connection: connection.sendall(start.encode() + body)) as address:
        yield address


WEATHER = {
    "name": "weather",
    "description": "Tell the weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TOOLS = [WEATHER, {"name": "now", "description": "Tell the time."}]
QUESTION = ("user", "Is it warmer in Rome or in Oslo?")
TWO = Calls([("weather", {"city": "Rome"}), ("weather", {"city": "Oslo"})], "I look both up.")


def continued(reply: Reply, *texts: str, before: Any = (QUESTION,)) -> list[tuple[str, str]]:
    """Return the conversation after a reply that calls tools, with what the tools gave."""
    pairs = zip(reply.tool_calls, texts, strict=True)
    results = [("tool", ResultText(text, call.id, call.name)) for call, text in pairs]
    return [*before, ("assistant", CallingText(reply.text, reply.tool_calls, reply.blocks)), *results]


def calling(*calls: tuple[str, Any], text: str | None = None, **message: Any) -> Answer:
    """Return a reply of the loopback server that calls tools."""
    functions = [{"name": name, "arguments": args} for name, args in calls]
    told = [{"id": f"c{n}", "type": "function", "function": each} for n, each in enumerate(functions)]
    return Answer(text, "tool_calls", message={"tool_calls": told, **message})
