"""`chameleon doctor`: what is installed and configured here, and no value of it."""

from __future__ import annotations

import json

import pytest

from tests.e2e.commands import Command
from tests.loopback import Fault, Start


def test_tells_of_pictures_searches_and_no_value(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = command("doctor")
    assert bare.code == 0 and "Search, provider auto: none: no search provider is configured" in bare.out
    assert "Text in pictures, engine auto: " in bare.out and "Captions on this machine, device" in bare.out
    monkeypatch.setenv("SEARXNG_URL", "https://searx.example/token-nobody-may-see")
    some = command("doctor")
    assert "Search, provider auto: searxng\n" in some.out
    told = json.loads(command("doctor", "--json").out)
    assert "test" not in told["packages"] and {"requests", "urllib3", "lxml"} <= set(told["packages"]["web"])
    assert told["search_provider"]["takes"] == "searxng"
    assert "nobody-may-see" not in some.out and "nobody-may-see" not in json.dumps(told)


def test_doctor_says_that_no_database_has_replies(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAMELEON_STORE", "postgresql://ann:pa55word@127.0.0.1:1/chest")
    told = command("doctor")
    assert told.code == 0 and "Response store: the response store is a file, and postgresql:…" in told.out
    assert "pa55word" not in told.out + command("doctor", "--json").out


def test_tells_what_a_server_of_ones_own_does(command: Command, loopback: Start) -> None:
    refused = Fault(400, {"error": {"message": "tools are not supported"}})
    loopback(lambda request: refused if "tools" in request else '{"city": "Oslo"}')
    told = command("doctor").out
    assert "  context: 4,096 tokens, structured output: yes, tools: no (" in told
    assert json.loads(command("doctor", "--json").out)["server"]["structured output"] == "yes"
