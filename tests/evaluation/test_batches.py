"""Evaluations by batches: as those asked at once, for half; rounds, faults, ends on the way and limits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chameleon.evaluation import batches
from tests.e2e.commands import Command
from tests.evaluation.batched import ANTHROPIC, OPENAI, VOTED, Batched, by_rules, counts, solved
from tests.hosted import Asked, HostedServer

Make = Callable[..., Batched]


@pytest.fixture
def batched(monkeypatch: pytest.MonkeyPatch, command: Command, tmp_path: Path) -> Iterator[Make]:
    """Make evaluations that ask a server of their own."""
    monkeypatch.setattr(batches, "PAUSES_S", (0.002, 0.01))
    servers: list[HostedServer] = []

    def make(reply: Any = by_rules, **about: Any) -> Batched:
        server = HostedServer(reply)
        servers.append(server)
        server.__enter__()
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k-openai-secret")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k-anthropic-secret")
        return Batched(server, command, tmp_path, **about)

    yield make
    for server in servers:
        server.stop()


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize("store", ["off", "auto"])
def test_plans_and_repairs_come_out_as_asked_at_once(batched: Make, model: str, store: str) -> None:
    made = batched(model=model)
    assert made.run("once", "--store", "off").code == 0
    alone = Counter(json.dumps(seen.body, sort_keys=True) for seen in made.server.served)
    made.server.forget()
    outcome = made.run("batch", "--batch", "--store", store)
    assert outcome.code == 0, outcome.err
    assert made.results("batch", ["usage"]) == made.results("once", ["usage"])
    assert made.calls("batch") == made.calls("once")
    assert made.cost("batch") == pytest.approx(made.cost("once") / 2) and made.cost("once") > 0
    assert counts(outcome)["usage"]["calls"] == alone.total() == made.times_sent.total()
    if model == OPENAI:  # of Claude's prompts, what is marked for its cache depends on those before
        assert made.times_sent == alone
    assert not made.server.served, "nothing is asked at once"
