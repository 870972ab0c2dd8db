"""`LLM` against a server: what is sent, what comes back, and models beside it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import AuthFailed, ChameleonError, ModelError, PromptError
from chameleon.llm import LLM, ResponseStore
from tests.llm.asking import Host, Start, connect, local
from tests.loopback import Fault, Reply


def test_another_model_shares_the_store_and_its_client_is_made_once(
    loopback: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import chameleon.llm.chat_clients as module

    made: list[str] = []
    make = module.make_client
    monkeypatch.setattr(module, "make_client", lambda name, *args: (made.append(name), make(name, *args))[1])
    server = loopback(lambda request: request["model"])
    llm = connect(server, "openai:first", store=ResponseStore(tmp_path / "replies.sqlite"), seed=3)
    other = llm.with_model("second")
    assert (other.name, other.params, other.address) == ("openai:second", llm.params, llm.address)
    assert [each.ask("hi").text for each in (llm, other, llm.with_model("openai:second"))] == [
        "first",
        "second",
        "second",
    ]
    assert other.with_model("first").ask("hi").cached and llm.with_model("second").ask("hi").cached
    assert [request["model"] for request in server.requests] == ["first", "second"]
    assert sorted(set(made)) == ["openai:first", "openai:second"]
    before = len(made)
    llm.with_model("second").with_model("first").with_params(seed=3).ask("hi")
    assert len(made) == before


def test_what_one_model_refuses_another_is_still_asked_with(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "openai:o9-mini", temperature=0)
    assert set(llm.ask("hi").dropped) == {"temperature"}
    other = llm.with_model("gpt-4.1-mini")
    assert not other.ask("hi").dropped and server.requests[-1].body["temperature"] == 0
    assert set(other.with_model("o9-mini").dropped()) == {"temperature"}


def test_a_model_of_another_provider_gets_no_key_of_this_one(
    hosted: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = connect(hosted(), "openai:gpt-4.1-mini")
    with pytest.raises(ChameleonError, match="ANTHROPIC_API_KEY"):
        llm.with_model("anthropic:claude-opus-5")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-key")
    sibling = llm.with_model("anthropic:claude-opus-5")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ChameleonError, match="ANTHROPIC_API_KEY"):
        sibling.with_model("anthropic:claude-opus-4-8")


def test_many_threads_make_the_client_of_another_model_once(
    loopback: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    import chameleon.llm.chat_clients as module

    made: list[str] = []

    def slowly(name: str, *args: Any) -> Any:
        made.append(name)
        threading.Event().wait(0.05)
        return make(name, *args)

    make, llm = module.make_client, connect(loopback(), "openai:first")
    monkeypatch.setattr(module, "make_client", slowly)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: llm.with_model("second"), range(8)))
    assert made == ["openai:second"]


def test_sends_messages_and_parameters_and_reads_the_reply(loopback: Start) -> None:
    server = loopback([Reply("Paris", usage=(12, 3))])
    reply = local(temperature=0.5).ask(
        [("system", "Be brief."), ("user", "Capital?")], max_tokens=9, stop="END"
    )
    assert (reply.text, reply.finish, reply.cached, reply.attempts) == ("Paris", "stop", False, 1)
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 12, 3)
    assert reply.model == "openai:local" and not reply.truncated
    sent = server.requests[0]
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Capital?"},
    ]
    assert (sent["model"], sent["temperature"], sent["stop"]) == ("local", 0.5, ["END"])


def test_a_view_has_its_own_parameters_and_shares_the_client(loopback: Start) -> None:
    server = loopback()
    llm = local(temperature=0, seed=3)
    llm.with_params(temperature=1, seed=None).ask("hi")
    llm.ask("hi")
    assert [(sent["temperature"], sent.get("seed")) for sent in server.requests] == [(1, None), (0, 3)]
    assert llm.params == {"temperature": 0, "seed": 3}
    assert repr(llm) == "LLM('openai:local', temperature=0, seed=3)"


def test_coroutines_do_not_block_the_event_loop(loopback: Start) -> None:
    loopback(lambda request: Reply(request["messages"][-1]["content"], delay=0.3))
    llm = local()

    async def ask_two_and_count() -> tuple[list[str], int]:
        ticks = 0
        asked = [asyncio.create_task(llm.aask(text)) for text in ("a", "b")]
        while not all(task.done() for task in asked):
            ticks += 1
            await asyncio.sleep(0.01)
        return [task.result().text for task in asked], ticks

    texts, ticks = asyncio.run(ask_two_and_count())
    assert texts == ["a", "b"] and ticks >= 5


def test_cost_comes_from_the_provider_or_from_given_prices_and_is_else_unknown(loopback: Start) -> None:
    loopback([Reply("a", extra={"cost": 0.0012}), Reply("b"), Reply("c"), Reply("d", usage=None)])
    assert local().ask("a").usage.cost == 0.0012
    assert local().ask("b").usage.cost is None
    assert local(prices=(1.0, 10.0)).ask("c").usage.cost == pytest.approx((11 * 1 + 7 * 10) / 1e6)
    unknown = local(prices=(1.0, 10.0)).ask("d").usage
    assert (unknown.calls, unknown.input_tokens, unknown.output_tokens, unknown.cost) == (1, None, None, None)


def test_a_server_that_echoes_the_key_does_not_leak_it(
    loopback: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-loopback-0123456789abcdef"
    loopback([Fault(401, {"error": {"message": "bad header {authorization}"}})])
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(AuthFailed) as by_environment:
        local().ask("hi")
    monkeypatch.delenv("OPENAI_API_KEY")
    plain = "plainpassword"
    with pytest.raises(AuthFailed) as by_parameter:
        LLM.connect("openai:local", retries=0, api_key=plain).ask("hi")
    for caught in (by_environment, by_parameter):
        assert "bad header" in str(caught.value)
        assert key not in str(caught.value) and plain not in str(caught.value)
        assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert plain not in repr(LLM.connect("openai:local", api_key=plain))


def test_lone_surrogates_reach_the_server_as_replacement_characters(loopback: Start) -> None:
    server = loopback()
    local().ask("a\ud800b \ud83d\ude00")
    assert server.requests[0]["messages"][0]["content"] == "a\ufffdb \U0001f600"


@pytest.mark.parametrize(
    ("messages", "params", "kind", "said"),
    [
        ([("robot", "x")], {}, PromptError, "'robot' is not a role"),
        ([], {}, PromptError, "no message"),
        ("x", {"seed": object()}, ModelError, "seed is an object, not JSON"),
        ("x", {"api_key": "x"}, ModelError, "api_key is a setting of the connection"),
        ("x", {"reasoning": "deep"}, ModelError, "deep.*medium"),
        ("x", {"max_tokens": "9"}, ModelError, "max_tokens is '9'. Give a number"),
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
    def reply(request: dict[str, list[dict[str, str]]]) -> Reply:
        number = int(request["messages"][0]["content"])
        return Reply(str(number * number), delay=0.2 - number / 50)

    server = loopback(reply)
    replies = LLM.connect("openai:local").ask_each([str(number) for number in range(8)])
    assert [reply.text for reply in replies] == [str(number * number) for number in range(8)]
    assert server.peak > 1
