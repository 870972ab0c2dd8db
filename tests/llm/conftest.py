"""Servers that play the hosted APIs, some of their models under names that nobody knows."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from chameleon.llm import ResponseStore
from tests.hosted import HostedServer
from tests.hosted_apis import RULES
from tests.llm.asking import Host

# Models that nobody knows, and whose rules they have.
ALIASES = {"openai": {"o9-mini": "o4-mini", "gpt-9-mini": "gpt-5-mini", "gpt-9-luna": "gpt-6-luna"}}
ALIASES |= {"anthropic": {"claude-opus-9": "claude-opus-5"}, "google": {"gemini-9-flash": "gemini-3.8-flash"}}


@pytest.fixture(autouse=True)
def _unknown_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider, names in ALIASES.items():
        for name, known in names.items():
            monkeypatch.setitem(RULES[provider], name, RULES[provider][known])


@pytest.fixture
def store(tmp_path: Path) -> ResponseStore:
    return ResponseStore(tmp_path / "deep" / "r.sqlite")


@pytest.fixture
def hosted() -> Iterator[Host]:
    """Start servers: `server = hosted(reply, …)` as `HostedServer(reply, …)`; stop them after the test."""
    with ExitStack() as stack:

        def start(*args: Any, **options: Any) -> HostedServer:
            return stack.enter_context(HostedServer(*args, **options))

        yield start
