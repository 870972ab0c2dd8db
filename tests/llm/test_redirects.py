"""A prompt goes to the server that the user named: no client follows a redirect with it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from chameleon import LLM
from chameleon.errors import ModelError

MODELS = ("openai:gpt-4.1-mini", "anthropic:claude-haiku-4-5", "google_genai:gemini-2.5-flash")


@pytest.fixture
def servers() -> Iterator[tuple[str, list[bytes]]]:
    """Yield the address of a server that sends each request on to another, and what that other was sent."""
    sent: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            if self.server is other:
                sent.append(body)
            self.send_response(307)
            self.send_header("location", f"http://127.0.0.1:{other.server_port}{self.path}")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    first, other = (ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2))
    for each in (first, other):
        threading.Thread(target=each.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{first.server_port}", sent
    for each in (first, other):
        each.shutdown()
        each.server_close()


@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_no_prompt_follows_a_redirect(
    model: str, in_loop: bool, servers: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, sent = servers
    for name in ("OPENAI", "ANTHROPIC", "GOOGLE"):
        monkeypatch.setenv(f"{name}_API_KEY", "a-key-of-some-length")
        monkeypatch.setenv(f"{name}_BASE_URL", address)
    settings = {} if model.startswith("openai") else {"base_url": address}
    llm = LLM.connect(model, retries=0, **settings)
    with pytest.raises(ModelError):
        asyncio.run(llm.aask("The secret plan.")) if in_loop else llm.ask("The secret plan.")
    assert sent == []
