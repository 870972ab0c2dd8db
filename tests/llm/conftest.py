"""Servers that play the hosted APIs, some of their models under names that nobody knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chameleon.llm import LLM, ResponseStore
from tests.hosted import RULES, HostedServer
from tests.llm.asking import Host

ALIASES = {  # models that nobody knows, and whose rules they have
    "openai": {"o9-mini": "o4-mini", "gpt-9-mini": "gpt-5-mini", "gpt-9-luna": "gpt-6-luna"},
    "anthropic": {"claude-opus-9": "claude-opus-5"},
    "google": {"gemini-9-flash": "gemini-3.8-flash"},
}


@pytest.fixture(autouse=True)
def _unknown_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider, names in ALIASES.items():
        for name, known in names.items():
            monkeypatch.setitem(RULES[provider], name, RULES[provider][known])  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> ResponseStore:
    return ResponseStore(tmp_path / "deep" / "r.sqlite")


@pytest.fixture
def hosted() -> Iterator[Host]:
    """Start servers: `server = hosted(reply, …)` as `HostedServer(reply, …)`; stop them after the test."""
    servers: list[HostedServer] = []

    def start(*args: Any, **options: Any) -> HostedServer:
        servers.append(HostedServer(*args, **options).__enter__())
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def openai_itself(hosted: Host, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[LLM, HostedServer]]:
    """Connect to a model at api.openai.com, which a server here stands in for as its proxy."""

    def start(model: str, **params: Any) -> tuple[LLM, HostedServer]:
        server = hosted()
        monkeypatch.setenv("HTTP_PROXY", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", "http://api.openai.com/v1")
        # LangChain shares connections, and with them a proxy, among clients of one address and timeout.
        timeout = float(server.url.rpartition(":")[2])
        return LLM.connect(model, api_key="k", timeout=timeout, retries=0, **params), server

    return start
