"""Calls inside a run: booked on the meter, logged with the recorder, in an order that does not vary."""

from __future__ import annotations

import asyncio
import logging
import random
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chameleon.budget import Budget, Call, Meter, Usage, recording
from chameleon.errors import (
    BudgetExceeded,
    ModelError,
    RateLimited,
    Refused,
    ReplayMiss,
    ScriptExhausted,
    StoreError,
)
from chameleon.llm import LLM, Backoff, ResponseStore, ScriptedModel
from chameleon.llm.message import Request

FREE = Usage(calls=0, input_tokens=0, output_tokens=0, cost=0.0)


def priced(text: str) -> dict[str, object]:
    return {"text": text, "input_tokens": 10, "output_tokens": 2, "cost": 0.5}


def test_a_call_is_booked_and_logged() -> None:
    llm = LLM.connect(ScriptedModel([priced("Paris")]), temperature=0)
    with recording(Meter()) as recorder:
        reply = llm.ask("Capital?", max_tokens=5)
    (call,) = recorder.calls
    assert (call.model, call.messages) == ("scripted:script", (("user", "Capital?"),))
    assert (call.text, call.finish, call.error, call.attempts) == ("Paris", "stop", "", 1)
    assert call.params == {"max_tokens": 5, "temperature": 0}
    assert call.usage == reply.usage == recorder.meter.spent == Usage(1, 10, 2, 0.5, None, None)
    assert Call.from_json(call.to_json()) == call


def test_failures_are_logged_with_their_class_and_billed_as_one_call_without_tokens() -> None:
    llm = LLM.connect(ScriptedModel([ValueError("odd"), RateLimited("full")]), retries=0)
    with recording(Meter()) as recorder:
        with pytest.raises(ModelError, match="odd"):
            llm.ask("a")
        with pytest.raises(RateLimited):
            llm.ask("b")
        with pytest.raises(ScriptExhausted, match="holds 2 replies"):
            llm.ask("c")
    assert [call.error.split(":")[0] for call in recorder.calls] == [
        "ModelError",
        "RateLimited",
        "ScriptExhausted",
    ]
    assert recorder.meter.spent == Usage(3, 0, 0, 0.0)


def test_a_useless_reply_is_an_error_but_its_tokens_are_paid() -> None:
    reply = {"text": "no", "finish": "content_filter", "input_tokens": 10, "output_tokens": 1, "cost": 0.1}
    with recording(Meter()) as recorder, pytest.raises(Refused):
        LLM.connect(ScriptedModel([reply])).ask("a")
    assert recorder.meter.spent == recorder.calls[0].usage == Usage(1, 10, 1, 0.1, None, None)


def test_samples_are_logged_in_order_whoever_is_faster() -> None:
    def reply(messages: list[tuple[str, str]]) -> str:
        time.sleep(random.random() / 50)
        return "x"

    with recording(Meter()) as recorder:
        LLM.connect(ScriptedModel(reply)).ask_many("hi", 12)
    assert [call.sample for call in recorder.calls] == list(range(12))


def test_one_failed_sample_fails_the_whole_and_the_others_are_still_logged() -> None:
    llm = LLM.connect(ScriptedModel(["a", "b"]))
    with recording(Meter()) as recorder, pytest.raises(ScriptExhausted):
        llm.ask_many("hi", 3)
    assert [call.sample for call in recorder.calls] == [0, 1, 2]
    assert recorder.meter.spent.calls == 3


def test_the_budget_stops_calls_before_they_are_made_and_leaks_nothing() -> None:
    model = ScriptedModel(lambda messages: "x")
    llm = LLM.connect(model)
    with recording(Meter(Budget(calls=3))) as recorder:
        with pytest.raises(BudgetExceeded, match="3 calls"):
            llm.ask_many("hi", 8)
        assert len(recorder.calls) == recorder.meter.spent.calls == len(model.requests) == 3
        with pytest.raises(BudgetExceeded):
            llm.ask("another")
    with recording(Meter(Budget(calls=4), spent=recorder.meter.spent)):
        assert llm.ask("another").text == "x"


def test_failed_calls_give_their_reservation_back() -> None:
    llm = LLM.connect(ScriptedModel([ValueError("odd"), "fine"]), retries=0)
    with recording(Meter(Budget(calls=2))):
        with pytest.raises(ModelError):
            llm.ask("a")
        assert llm.ask("b").text == "fine"


def test_one_run_without_budget_does_not_stop_another_that_waits_for_the_same_reply() -> None:
    def slow(messages: list[tuple[str, str]]) -> str:
        time.sleep(0.05)
        return "x"

    llm = LLM.connect(ScriptedModel(slow))

    def ask(budget: Budget) -> str:
        with recording(Meter(budget)):
            try:
                return llm.ask("same").text
            except BudgetExceeded:
                return "broke"

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(ask, [Budget(calls=0), Budget(), Budget(calls=0), Budget()]))
    assert answers[1] == answers[3] == "x"
    assert {answers[0], answers[2]} <= {"broke", "x"}


def test_waiting_for_a_retry_ends_where_the_runs_time_ends() -> None:
    naps: list[float] = []
    down = [ConnectionError("down")] * 9
    llm = LLM.connect(ScriptedModel(down), retries=Backoff(retries=8, first=8, sleep=naps.append))
    with recording(Meter(Budget(seconds=60.0), seconds_before=58.0)), pytest.raises(ModelError, match="down"):
        llm.ask("a")
    assert naps == []


def test_shared_and_stored_replies_are_logged_as_cached_and_cost_nothing(tmp_path: Path) -> None:
    model = ScriptedModel([priced("x")])
    llm = LLM.connect(model, store=ResponseStore(tmp_path / "r.sqlite"))
    with recording(Meter()) as recorder:
        first, second = llm.ask("a"), llm.ask("a")
    assert (first.cached, second.cached) == (False, True)
    assert (second.text, second.finish, second.usage) == ("x", "stop", FREE)
    assert [call.cached for call in recorder.calls] == [False, True]
    assert recorder.calls[1].usage == FREE
    assert recorder.meter.spent == Usage(1, 10, 2, 0.5, None, None)
    assert len(model.requests) == 1


def test_samples_of_one_question_are_recorded_apart(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path / "r.sqlite")
    recorded = [
        reply.text for reply in LLM.connect(ScriptedModel(["a", "b", "c"]), store=store).ask_many("q", 3)
    ]
    replayed = LLM.connect(ScriptedModel([]), store=ResponseStore(store.path, "replay")).ask_many("q", 3)
    assert sorted(recorded) == ["a", "b", "c"]
    assert [reply.text for reply in replayed] == recorded


def test_a_replay_needs_neither_key_nor_package_nor_langchain(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path / "r.sqlite")
    for model in ("openai:gpt-4.1-mini", "anthropic:claude"):
        store.put(Request(model, (("user", "q"),), {"temperature": 0}), {"text": "a", "finish": "stop"})
    replay = ResponseStore(store.path, "replay")
    for model in ("gpt-4.1-mini", "anthropic:claude"):
        assert LLM.connect(model, store=replay, temperature=0).ask("q").text == "a"


def test_a_damaged_record_is_an_error(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path / "r.sqlite")
    store.put(Request("scripted:script", (("user", "q"),)), {"text": None})
    with pytest.raises(StoreError, match="damaged"):
        LLM.connect(ScriptedModel(["paid"]), store=store).ask("q")


def test_failures_are_not_recorded(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path / "r.sqlite")
    llm = LLM.connect(ScriptedModel([ValueError("odd"), {"text": ""}, "fine"]), store=store, retries=0)
    for _ in range(2):
        with pytest.raises(ModelError):
            llm.ask("a")
    assert llm.ask("a").text == "fine" and len(store) == 1


def test_a_replay_that_misses_is_logged_and_nothing_is_booked(tmp_path: Path) -> None:
    ResponseStore(tmp_path / "r.sqlite").close()
    llm = LLM.connect(ScriptedModel(["x"]), store=ResponseStore(tmp_path / "r.sqlite", "replay"))
    with recording(Meter()) as recorder, pytest.raises(ReplayMiss):
        llm.ask("a")
    assert recorder.calls[0].error.startswith("ReplayMiss")
    assert recorder.meter.spent == FREE


def test_a_full_disk_does_not_lose_a_paid_reply(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ResponseStore(tmp_path / "r.sqlite")
    with sqlite3.connect(store.path) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON replies BEGIN SELECT RAISE(FAIL, 'disk is full'); END"
        )
    connection.close()
    llm = LLM.connect(ScriptedModel(["a", "b"]), store=store)
    with caplog.at_level(logging.WARNING, "chameleon"):
        assert [llm.ask("1").text, llm.ask("2").text] == ["a", "b"]
    assert [record.message for record in caplog.records if "disk is full" in record.message] != []
    assert len(caplog.records) == 1


def test_settings_of_a_users_own_client_tell_its_recorded_replies_apart(tmp_path: Path) -> None:
    from langchain_core.language_models import FakeListChatModel

    class Named(FakeListChatModel):
        model_name: str = "one"

    store = ResponseStore(tmp_path / "r.sqlite")
    texts = [LLM.connect(Named(responses=[text]), store=store).ask("q").text for text in "aba"]
    assert texts == ["a", "b", "a"] and len(store) == 2


@pytest.mark.parametrize("key", ["model_id", "repo_id", "model_path"])
def test_clients_that_keep_their_models_name_elsewhere_are_told_apart(tmp_path: Path, key: str) -> None:
    from langchain_core.language_models import FakeListChatModel

    class Pipeline(FakeListChatModel):
        llm: Any = None

    store = ResponseStore(tmp_path / "r.sqlite")
    wrapped = [SimpleNamespace(**{key: f"tiny/{text}"}) for text in "ab"]
    llms = [LLM.connect(Pipeline(responses=["x"], llm=each), store=store) for each in wrapped]
    assert [llm.name.partition(":")[2] for llm in llms] == ["tiny/a", "tiny/b"]
    assert [llm.ask("q").cached for llm in llms] == [False, False]


def test_replies_of_a_client_without_a_name_are_not_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from langchain_core.language_models import FakeListChatModel

    store = ResponseStore(tmp_path / "r.sqlite")
    texts = [LLM.connect(FakeListChatModel(responses=[text]), store=store).ask("q").text for text in "ab"]
    assert texts == ["a", "b"] and len(store) == 0
    assert "are not recorded: it tells no name" in caplog.text


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("anthropic", "ANTHROPIC_BASE_URL"),
        ("anthropic", "ANTHROPIC_API_URL"),
        ("google_genai", "GOOGLE_GEMINI_BASE_URL"),
        ("groq", "GROQ_API_BASE"),
        ("mistralai", "MISTRAL_BASE_URL"),
        ("ollama", "OLLAMA_HOST"),
    ],
)
def test_addresses_of_the_environment_tell_servers_apart(
    monkeypatch: pytest.MonkeyPatch, provider: str, variable: str
) -> None:
    from chameleon.llm.providers import own_server

    assert own_server(provider, {}, {}) == ""
    assert own_server(provider, {}, {variable: "http://user:word@one:8000/v1/"}) == "http://one:8000/v1"
    assert own_server(provider, {}, {variable: "two:11434"}) == "http://two:11434"
    assert own_server(provider, {"base_url": "http://three"}, {variable: "two:1"}) == "http://three"


@pytest.mark.parametrize(
    "field", ["api_base", "azure_endpoint", "base_url", "endpoint_url", "host", "server_url", "url"]
)
def test_clients_of_two_servers_are_told_apart(tmp_path: Path, field: str) -> None:
    from langchain_core.language_models import FakeListChatModel
    from pydantic import create_model

    client: Any = create_model(
        "Client", __base__=FakeListChatModel, model_name=(str, "m"), **{field: (str, "")}
    )
    store = ResponseStore(tmp_path / "r.sqlite")
    for name in "ab":
        llm = LLM.connect(client(responses=[name], **{field: f"http://{name}.test/v1"}), store=store)
        assert llm.ask("q").text == name


def test_clients_built_on_openais_tell_their_servers_apart(tmp_path: Path, loopback: Any) -> None:
    from langchain_openai.chat_models.base import BaseChatOpenAI

    class Others(BaseChatOpenAI):
        def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
            return {**super()._get_ls_params(stop=stop, **kwargs), "ls_provider": "deepseek"}

    store = ResponseStore(tmp_path / "r.sqlite")
    for text in ("one", "two"):
        server = loopback([text])
        client = Others(model="m", api_key="k", base_url=server.url)  # type: ignore[call-arg, arg-type]
        assert LLM.connect(client, store=store).ask("q").text == text


def test_coroutines_and_copied_contexts_see_the_recorder() -> None:
    llm = LLM.connect(ScriptedModel(["a", "b"]))
    with recording(Meter()) as recorder:
        asyncio.run(llm.aask("1"))
        with ThreadPoolExecutor(1) as threads:
            threads.submit(copy_context().run, llm.ask, "2").result()
    assert [call.text for call in recorder.calls] == ["a", "b"]


def test_outside_a_run_nothing_is_recorded_and_nothing_fails() -> None:
    assert LLM.connect(ScriptedModel(["a"])).ask("x").text == "a"
