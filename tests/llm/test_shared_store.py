"""The response store on PostgreSQL: what it keeps, each request asked once, a server that is killed."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon.errors import BudgetExceeded, MissingPackage, ModelError, ReplayMiss, StoreError
from chameleon.llm import LLM, ResponseStore, ScriptedModel, claims, shared_store
from chameleon.usage import Budget, Meter, recording
from chameleon.web.cache import PageCache
from tests.llm.asking import Json, Start
from tests.llm.test_store import a_request, any_json, any_text, requests
from tests.loopback import Fault, Reply
from tests.postgres import Postgres, ask, postgres

COUNTED = "SELECT count(*) FROM chameleon.claims"


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres() as started:
        yield started


@pytest.fixture
def address(server: Postgres) -> str:
    """The address of an empty database."""
    return server.database()


def machines(address: str, number: int = 2, **params: Any) -> list[LLM]:
    """Connect as so many machines would: they share nothing but the database."""
    return [LLM.connect("openai:local", store=ResponseStore(address), **params) for _ in range(number)]


def asked(requests: list[Json]) -> Counter[str]:
    return Counter(request["messages"][-1]["content"] for request in requests)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recorded=st.lists(st.tuples(requests, st.dictionaries(any_text, any_json, max_size=3)), max_size=4))
def test_what_is_recorded_is_replayed(address: str, recorded: list[tuple[Any, dict[str, Any]]]) -> None:
    store = ResponseStore(address)
    for request, reply in recorded:
        store.put(request, reply)
    replaying = ResponseStore(address, "replay")
    for request, reply in {request.key: (request, reply) for request, reply in recorded}.values():
        assert replaying.get(request) == reply


def test_modes_and_misses_are_those_of_a_file(address: str, tmp_path: Path) -> None:
    said = []
    for place in (tmp_path / "r.sqlite", address):
        store = ResponseStore(place)
        for number, model in enumerate(["openai:a", "openai:b", "openai:a"]):
            store.put(a_request(f"How many cats? {number % 2}", model=model), {"text": number})
        store.put(a_request("other\x00\ud800", address="http://one/v1"), {"text": "\x00\ud800é"})
        store.put(a_request("other\x00\ud800", address="http://one/v1"), {"text": "again"})
        fresh, replay = ResponseStore(place, "record"), ResponseStore(place, "replay")
        replay.put(a_request("ignored"), {})
        missed = []
        for request in (
            a_request("How many dogs? 0"),
            a_request("How many cats? 1", params={"temperature": 0.5}),
        ):
            with pytest.raises(ReplayMiss) as caught:
                replay.get(request)
            missed.append(caught.value.what)
        said.append(
            [
                *missed,
                fresh.get(a_request("How many cats? 0")),
                replay.get(a_request("How many cats? 0")),
                replay.get(a_request("other\x00\ud800")),
                (store.latest_model("http://one/v1"), store.latest_model(), len(store)),
            ]
        )
        store.put(a_request("How many cats? 1", model="openai:b"), {"text": "the last"})
        said[-1].append(store.latest_model())
    assert said[0] == said[1] and said[0][-1] == "openai:b"
    off = ResponseStore(address, "off")
    assert off.get(a_request()) is None and len(off) == 0
    assert repr(ResponseStore(address)).startswith("ResponseStore('postgresql:///database_")


def test_many_threads_lay_out_one_database(address: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(ResponseStore, [address] * 8))
        list(threads.map(lambda each: stores[each % 8].put(a_request(str(each)), {}), range(80)))
    assert len(stores[0]) == 80


def test_a_forked_process_makes_its_own_connections(address: str) -> None:
    store = ResponseStore(address)
    store.put(a_request(), {"text": "x"})
    if (child := os.fork()) == 0:
        store.put(a_request("child"), {"text": "y"})
        os._exit(0 if store.get(a_request()) == {"text": "x"} else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert store.get(a_request("child")) == {"text": "y"}


def test_what_others_have_put_there_is_refused(server: Postgres) -> None:
    older, foreign, empty = (server.database() for _ in range(3))
    ResponseStore(older)
    ask(older, "UPDATE chameleon.store SET version = 7")
    ask(foreign, "CREATE SCHEMA chameleon")
    ask(foreign, "CREATE TABLE chameleon.replies (url text)")
    for address in (older, foreign):
        for mode in ("auto", "replay"):
            with pytest.raises(StoreError, match="is not a response store of this version"):
                ResponseStore(address, mode)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="there is no recording to replay"):
        ResponseStore(empty, "replay")
    assert ask(empty, "SELECT to_regnamespace('chameleon')") == [(None,)]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://ann:pa55word@127.0.0.1:1/chest", "cannot be opened: .*[Cc]onnection refused"),
        ("postgresql://ann:pa%55%zzpa55word@127.0.0.1:1/chest", "is no address of PostgreSQL"),
        ("postgresql://ann@127.0.0.1:1/chest?pa55word=1", "is no address of PostgreSQL"),
        ("mysql://ann:pa55word@127.0.0.1/chest", "cannot be in such a place"),
    ],
)
def test_an_address_that_does_not_work_is_told_without_the_password(address: str, said: str) -> None:
    pytest.importorskip("psycopg")
    begun = time.monotonic()
    with pytest.raises(StoreError, match=said) as caught:
        ResponseStore(address)
    line = str(caught.value)
    assert "pa55word" not in line and "\n" not in line and "://127.0.0.1" in line
    assert time.monotonic() - begun < 5 and caught.value.__cause__ is None


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingPackage, match=r"chameleon-compose\[databases\]"):
        ResponseStore("postgresql://127.0.0.1:1/chest")


def test_pages_of_the_web_stay_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAMELEON_WEB_CACHE", "postgresql://ann:pa55word@127.0.0.1/chest")
    with pytest.raises(
        StoreError, match=r"the web cache is a file, and postgresql:… is an address"
    ) as caught:
        PageCache.default()
    assert "pa55word" not in str(caught.value)


def test_machines_that_want_the_same_at_once_ask_once(address: str, loopback: Start) -> None:
    server = loopback(lambda request: Reply("ok", delay=0.3))
    with ThreadPoolExecutor(4) as threads:
        replies = list(threads.map(lambda llm: llm.ask("same"), machines(address, 4)))
    assert [reply.text for reply in replies] == ["ok"] * 4 and len(server.requests) == 1
    assert sorted(reply.cached for reply in replies) == [False, True, True, True]
    assert sum(reply.usage.calls or 0 for reply in replies) == 1
    assert ask(address, COUNTED) == [(0,)]


def test_samples_of_one_question_are_shared_too(address: str, loopback: Start) -> None:
    server = loopback(lambda request: Reply("ok", delay=0.2))
    alone = LLM.connect("openai:local").ask_many("same", 3, temperature=1)
    least = len(server.requests)
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(lambda llm: llm.ask_many("same", 3, temperature=1), machines(address, 3)))
    assert [len(replies) for replies in found] == [len(alone)] * 3 == [3] * 3
    assert len(server.requests) == 2 * least
    assert ask(address, COUNTED) == [(0,)]


def test_who_waits_for_one_that_fails_asks_itself(address: str, loopback: Start) -> None:
    server = loopback([Fault(400, delay=0.3), "ok"])
    with ThreadPoolExecutor(2) as threads:
        one, other = (threads.submit(llm.ask, "same") for llm in machines(address, retries=0))
        ended = [future.exception() or future.result() for future in (one, other)]
    assert sum(isinstance(each, ModelError) for each in ended) == 1 and len(server.requests) == 2


def test_the_claim_of_a_machine_that_died_lapses(
    address: str, loopback: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "LEASE", 0.5)
    loopback(lambda request: "ok")
    (llm,) = machines(address, 1)
    dead = ResponseStore(address).claim([llm._request("same", {})])
    assert dead is not None and dead.take()
    begun = time.monotonic()
    assert llm.ask("same").text == "ok" and time.monotonic() - begun > 0.3


def test_a_claim_is_renewed_while_the_model_is_asked(
    address: str, loopback: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "LEASE", 0.4)
    monkeypatch.setattr(claims, "_RENEWED", 0.1)
    server = loopback(lambda request: Reply("ok", delay=1.2))
    ResponseStore(address)
    ask(address, "INSERT INTO chameleon.claims VALUES ('old', 'dead', now() - interval '2 hours')")
    with ThreadPoolExecutor(2) as threads:
        replies = list(threads.map(lambda llm: llm.ask("same").text, machines(address)))
    assert replies == ["ok", "ok"] and len(server.requests) == 1
    assert ask(address, COUNTED) == [(0,)]


def test_who_waits_ends_with_the_seconds_of_its_run(address: str) -> None:
    llm = LLM.connect(ScriptedModel(["paid"]), store=ResponseStore(address))
    other = ResponseStore(address).claim([llm._request("same", {})])
    assert other is not None and other.take()
    begun = time.monotonic()
    with recording(Meter(Budget(seconds=0.3))), pytest.raises(BudgetExceeded):
        llm.ask("same")
    assert time.monotonic() - begun < 2


def test_an_event_loop_goes_on_while_one_waits(address: str, loopback: Start) -> None:
    server = loopback(lambda request: Reply("ok", delay=0.5))
    one, other = machines(address)

    async def both() -> tuple[list[str], int]:
        tasks, ticks = [asyncio.create_task(llm.aask("same")) for llm in (one, other)], 0
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0.01)
            ticks += 1
        return [task.result().text for task in tasks], ticks

    texts, ticks = asyncio.run(both())
    assert texts == ["ok", "ok"] and len(server.requests) == 1 and ticks > 20


def test_synchronous_code_in_a_loop_does_not_wait_for_that_loop(address: str, loopback: Start) -> None:
    server = loopback(lambda request: Reply("ok", delay=0.2))
    one, other = machines(address)

    async def both() -> list[str]:
        first = asyncio.create_task(one.aask("same"))
        while not server.requests:
            await asyncio.sleep(0.01)
        return [other.ask("same").text, (await first).text]

    assert asyncio.run(both()) == ["ok", "ok"]


def test_a_server_that_is_killed_loses_nothing_and_each_request_is_asked_once(
    server: Postgres, address: str, loopback: Start
) -> None:
    model = loopback(lambda request: Reply(f"re: {request['messages'][-1]['content']}", delay=0.02))
    llms = machines(address, 8)
    wanted = [f"question {number // 4}" for number in range(400)]

    def work(place: int) -> list[str]:
        return [llms[place].ask(question).text for question in wanted[place::8]]

    with ThreadPoolExecutor(8) as threads:
        working = [threads.submit(work, place) for place in range(8)]
        while len(model.requests) < 40:
            time.sleep(0.01)
        server.kill()
        time.sleep(0.5)
        server.start()
        found = [future.result() for future in working]
    assert found == [[f"re: {question}" for question in wanted[place::8]] for place in range(8)]
    assert asked(model.requests) == dict.fromkeys(wanted, 1)
    assert len(ResponseStore(address, "replay")) == 100


def test_a_server_that_stays_down_is_told_and_no_reply_is_lost(
    server: Postgres,
    address: str,
    loopback: Start,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(shared_store, "PATIENCE", 0.3)
    monkeypatch.setattr(claims, "_RELEASING", 0.1)

    def reply(request: Json) -> str:
        server.kill()
        return "paid"

    loopback(reply)
    (llm,) = machines(address, 1)
    try:
        assert llm.ask("same").text == "paid"
        assert "replies are not recorded: postgresql:///database_" in caplog.text
        with pytest.raises(StoreError, match="the response store cannot be read"):
            llm.ask("other")
    finally:
        server.start()
    assert ask(address, COUNTED) == [(1,)]  # a claim outlives the server, and lapses
    assert len(ResponseStore(address)) == 0
