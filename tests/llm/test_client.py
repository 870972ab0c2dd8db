"""`LLM` against a server: what is sent, what comes back, and models beside it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import chameleon.llm.chat_clients
from chameleon.errors import AuthFailed, ChameleonError, ModelError, PromptError
from chameleon.llm import LLM, ResponseStore
from tests.llm.asking import Host, Json, Start, connect, local
from tests.loopback import Fault, Reply


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models whose clients are made, slowly."""
    names: list[str] = []
    make = chameleon.llm.chat_clients.make_client

    def slowly(name: str, *args: Any) -> Any:
        names.append(name)
        threading.Event().wait(0.02)
        return make(name, *args)

    monkeypatch.setattr(chameleon.llm.chat_clients, "make_client", slowly)
    return names


def test_a_client_is_made_once_and_shares_the_store(
    loopback: Start, store: ResponseStore, made: list[str]
) -> None:
    server = loopback(lambda request: request["model"])
    llm = connect(server, "openai:first", store=store, seed=3)
    other = llm.with_model("second")
    assert (other.name, other.params, other.address) == ("openai:second", llm.params, llm.address)
    texts = [each.ask("hi").text for each in (llm, other, llm.with_model("openai:second"))]
    assert texts == ["first", "second", "second"]
    assert other.with_model("first").ask("hi").cached and llm.with_model("second").ask("hi").cached
    assert [request["model"] for request in server.requests] == ["first", "second"]
    before = len(made)
    llm.with_model("second").with_model("first").with_params(seed=3).ask("hi")
    assert sorted(set(made)) == ["openai:first", "openai:second"] and len(made) == before
    made.clear()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: llm.with_model("third"), range(8)))
    assert made == ["openai:third"]


def test_what_one_model_refuses_another_is_still_asked_with(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "openai:o9-mini", temperature=0)
    assert set(llm.ask("hi").dropped) == {"temperature"}
    other = llm.with_model("gpt-4.1-mini")
    assert not other.ask("hi").dropped and server.requests[-1].body["temperature"] == 0
    assert set(other.with_model("o9-mini").dropped()) == {"temperature"}


def test_another_provider_gets_no_key_of_this_one(hosted: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = connect(hosted(), "openai:gpt-4.1-mini")
    with pytest.raises(ChameleonError, match="ANTHROPIC_API_KEY"):
        llm.with_model("anthropic:claude-opus-5")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-key")
    sibling = llm.with_model("anthropic:claude-opus-5")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ChameleonError, match="ANTHROPIC_API_KEY"):
        sibling.with_model("anthropic:claude-opus-4-8")


def test_sends_messages_and_parameters_and_reads_the_reply(loopback: Start) -> None:
    server = loopback([Reply("Paris", usage=(12, 3))])
    messages = [("system", "Be brief."), ("user", "Capital?\ud800 \ud83d\ude00")]
    reply = local(temperature=0.5).ask(messages, max_tokens=9, stop="END")
    assert (reply.text, reply.finish, reply.cached, reply.attempts) == ("Paris", "stop", False, 1)
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 12, 3)
    assert reply.model == "openai:local" and not reply.truncated
    (sent,) = server.requests
    told = [(message["role"], message["content"]) for message in sent["messages"]]
    assert told == [("system", "Be brief."), ("user", "Capital?\ufffd \U0001f600")]
    assert (sent["model"], sent["temperature"], sent["stop"]) == ("local", 0.5, ["END"])


def test_a_view_has_its_own_parameters_and_shares_the_client(loopback: Start) -> None:
    server = loopback()
    llm = local(temperature=0, seed=3)
    llm.with_params(temperature=1, seed=None).ask("hi")
    llm.ask("hi")
    assert [(sent["temperature"], sent.get("seed")) for sent in server.requests] == [(1, None), (0, 3)]
    assert llm.params == {"temperature": 0, "seed": 3}


def test_cost_comes_from_the_provider_or_from_given_prices_and_is_else_unknown(loopback: Start) -> None:
    loopback([Reply("a", extra={"cost": 0.0012}), "b", "c", Reply("d", usage=None)])
    costs = [local(**given).ask("hi").usage.cost for given in ({}, {}, {"prices": (1.0, 10.0)})]
    assert costs == [0.0012, None, pytest.approx((11 * 1 + 7 * 10) / 1e6)]
    unknown = local(prices=(1.0, 10.0)).ask("d").usage
    assert (unknown.calls, unknown.input_tokens, unknown.output_tokens, unknown.cost) == (1, None, None, None)


@pytest.mark.parametrize("key", ["sk-loopback-0123456789abcdef", "plainpassword"])
def test_a_key_that_is_echoed_is_told_nowhere(
    loopback: Start, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    loopback([Fault(401, {"error": {"message": "bad header {authorization}"}})])
    given: Json = {"api_key": key}
    if key.startswith("sk-"):
        given = {}
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(AuthFailed, match="bad header") as caught:
        local(**given).ask("hi")
    assert key not in str(caught.value) and key not in repr(local(**given))
    assert caught.value.__cause__ is None and caught.value.__context__ is None


@pytest.mark.parametrize(
    ("messages", "params", "kind", "said"),
    [
        ([("robot", "x")], {}, PromptError, "'robot' is not a role"),
        ([], {}, PromptError, "no message"),
        ("x", {"seed": object()}, ModelError, "seed is an object, not JSON"),
        ("x", {"api_key": "x"}, ModelError, "api_key is a setting of the connection"),
        ("x", {"reasoning": "deep"}, ModelError, "deep.*medium"),
        ("x", {"max_tokens": "9"}, ModelError, "max_tokens is '9'"),
    ],
)
def test_wrong_roles_and_parameters_fail_before_anything_is_sent(
    loopback: Start, messages: Any, params: Any, kind: type[ChameleonError], said: str
) -> None:
    server = loopback()
    with pytest.raises(kind, match=said):
        local().ask(messages, **params)
    assert not server.requests


def test_different_questions_are_asked_at_once_and_answered_in_their_order(loopback: Start) -> None:
    def reply(request: Json) -> Reply:
        number = int(request["messages"][0]["content"])
        return Reply(str(number * number), delay=0.2 - number / 50)

    server = loopback(reply)
    replies = LLM.connect("openai:local").ask_each([str(number) for number in range(8)])
    assert [reply.text for reply in replies] == [str(number * number) for number in range(8)]
    assert server.peak > 1
