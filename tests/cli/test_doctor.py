"""`chameleon doctor`: what is installed and configured here, and no value of it."""

from __future__ import annotations

import pytest

from tests.e2e.commands import Command
from tests.loopback import Fault, Start


def test_tells_of_pictures_searches_and_no_value(sh: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = sh("doctor")
    assert bare.code == 0 and "Search, provider auto: none: no search provider is configured" in bare.out
    assert "Text in pictures, engine auto: " in bare.out and "Captions on this machine, device" in bare.out
    monkeypatch.setenv("SEARXNG_URL", "https://searx.example/token-nobody-may-see")
    monkeypatch.setenv("CHAMELEON_STORE", "postgresql://ann:pa55word@127.0.0.1:1/chest")
    some, told = sh("doctor"), sh("doctor --json")
    assert some.code == 0 and "Search, provider auto: searxng\n" in some.out
    assert "Response store: the response store is a file, and postgresql:…" in some.out
    packages = told.json["packages"]
    assert "test" not in packages and {"requests", "urllib3", "lxml"} <= set(packages["web"])
    assert told.json["search_provider"]["takes"] == "searxng"
    assert not any(secret in some.out + told.out for secret in ("nobody-may-see", "pa55word"))


def test_tells_what_a_server_of_ones_own_does(sh: Command, loopback: Start) -> None:
    refused = Fault(400, {"error": {"message": "tools are not supported"}})
    loopback(lambda request: refused if "tools" in request else '{"city": "Oslo"}')
    assert "  context: 4,096 tokens, structured output: yes, tools: no (" in sh("doctor").out
    assert sh("doctor --json").json["server"]["structured output"] == "yes"
