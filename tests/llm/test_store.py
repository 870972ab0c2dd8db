"""The response store: what it keeps and for whom; and tools as they are asked, kept, logged and scripted."""

import json
import os
import pickle
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon.errors import InputError, ModelError, PromptError, ReplayMiss, StoreError
from chameleon.llm import LLM, Reply, ResponseStore, ScriptedModel
from chameleon.llm.message import ModelRequest
from chameleon.llm.tools import CallingText, ResultText, ToolCall
from chameleon.usage import Call, Meter, recording
from chameleon.web.cache import PageCache
from tests.llm import asking
from tests.llm.asking import QUESTION, TOOLS, TWO, WEATHER, Host, Json, Start, connect, continued, local

Patch = pytest.MonkeyPatch

any_text = st.text(st.characters(), max_size=60)  # lone surrogates, controls and all
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
messages = st.tuples(st.sampled_from(["system", "user", "assistant"]), any_text)
requests = st.builds(
    ModelRequest,
    model=st.sampled_from(["openai:a", "openai:b"]),
    messages=st.lists(messages, min_size=1, max_size=3).map(tuple),
    params=st.dictionaries(st.sampled_from(["temperature", "stop", "x"]), any_json, max_size=2),
    sample=st.integers(0, 3),
    schema=st.none() | st.dictionaries(any_text, any_json, max_size=2),
)


def a_request(text: str = "hi", **changes: Any) -> ModelRequest:
    return ModelRequest(**{"model": "openai:a", "messages": (("user", text),), **changes})


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recorded=st.lists(st.tuples(requests, st.dictionaries(any_text, any_json, max_size=3)), max_size=4))
def test_what_is_recorded_is_replayed(tmp_path_factory: pytest.TempPathFactory, recorded: Any) -> None:
    path = tmp_path_factory.mktemp("store") / "r.sqlite"
    with closing(ResponseStore(path)) as store:
        for request, reply in recorded:
            store.put(request, reply)
    latest = {request.key: (request, reply) for request, reply in recorded}
    with closing(ResponseStore(path, "replay" if recorded else "auto")) as replaying:
        assert all(replaying.get(request) == reply for request, reply in latest.values())
        assert len(replaying) == len(latest)


@given(a=requests, b=requests)
def test_requests_share_a_key_only_if_they_are_equal(a: ModelRequest, b: ModelRequest) -> None:
    if a.key == b.key:
        assert (a.model, a.messages, a.settings) == (b.model, b.messages, b.settings)
    turned = dict(reversed(list(a.params.items())))
    assert a.key == ModelRequest(a.model, a.messages, turned, a.sample, a.schema).key
    one = ModelRequest.of("m", "hi", {"temperature": 0, "stop": ["\n"], "seed": None})  # written differently
    assert one.key == ModelRequest.of("m", [("user", "hi")], {"stop": "\n", "temperature": 0.0}).key
    assert one.key != ModelRequest.of("m", "hi", {"temperature": 0.1, "stop": "\n"}).key


def test_modes(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    ResponseStore(path, "auto").put(a_request(), {"text": "old"})
    assert ResponseStore(path, "auto").get(a_request()) == {"text": "old"}
    assert ResponseStore(path, "record").get(a_request()) is None
    ResponseStore(path, "record").put(a_request(), {"text": "new"})
    replay = ResponseStore(path, "replay")
    replay.put(a_request("other"), {"text": "ignored"})
    assert (replay.get(a_request()), len(replay)) == ({"text": "new"}, 1)
    off = ResponseStore(tmp_path / "never.sqlite", "off")
    off.put(a_request(), {})
    assert off.get(a_request()) is None and len(off) == 0 and not off.path.exists()
    for where, mode, said in ((path, "cache", "not a mode"), (tmp_path / "none", "replay", "no recording")):
        with pytest.raises(StoreError, match=said):
            ResponseStore(where, mode)


def test_the_file_is_private_and_may_be_read_only(store: Any, monkeypatch: Patch, caplog: Any) -> None:
    store.put(a_request(), {"text": "x"})
    assert store.path.stat().st_mode & 0o077 == 0
    store.close()
    copy = store.path.with_name("copy.sqlite")
    copy.write_bytes(store.path.read_bytes())
    assert ResponseStore(copy, "replay").get(a_request()) == {"text": "x"}
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK)
    shipped = ResponseStore(store.path)
    assert shipped.get(a_request()) == {"text": "x"}
    with pytest.raises(StoreError, match="readonly"):
        shipped.put(a_request("new"), {})
    assert asking.scripted(["paid"], store=shipped).ask("1").text == "paid" and "not recorded" in caplog.text


def test_a_miss_names_the_settings_that_differ_or_shows_the_nearest_prompt(store: ResponseStore) -> None:
    def missed(request: ModelRequest) -> str:
        with pytest.raises(ReplayMiss) as caught:
            ResponseStore(store.path, "replay").get(request)
        return str(caught.value)

    assert "user: hi" in missed(a_request())
    store.put(a_request(params={"temperature": 0.5}), {})
    store.put(a_request(params={"temperature": 0.5, "top_p": 1}, sample=1), {})
    message = missed(a_request(params={"temperature": 0}))
    assert "temperature 0.5 (asked: 0)" in message and "top_p" not in message
    assert str(store.path) in message
    other = missed(a_request(model="openai:z", params={"temperature": 0.5}))
    assert "model openai:a (asked: openai:z)" in other
    lead, asked = "An example that all prompts share. " * 50, "How many dogs are there? Answer:"
    store.put(a_request(lead + asked.replace("dogs", "cats")), {})
    store.put(a_request("Quite another thing, of about the same length. " * 40), {})
    message = missed(a_request(lead + asked))
    assert "dogs are there" in message and "cats are there" in message and "Quite another" not in message
    assert len(message) < 700


@pytest.mark.parametrize("kind", [ResponseStore, PageCache])
def test_an_address_of_a_database_is_refused_without_its_password(kind: Callable[[str], object]) -> None:
    with pytest.raises(StoreError, match="postgresql:… is an address") as caught:
        kind("postgresql://ann:pa55word@127.0.0.1/chest")
    assert "pa55word" not in str(caught.value)


def test_servers_of_one_models_name_do_not_share_replies(loopback: Start, store: ResponseStore) -> None:
    for name in ("one", "two"):
        loopback([name])
        llm = LLM.connect("openai:local", store=store)
        assert [llm.ask("hi").text, llm.ask("hi").cached] == [name, True]
    assert len(store) == 2
    with_login = loopback(["three"])
    address = with_login.url.replace("//", "//user:pa55word@")
    assert LLM.connect("openai:local", store=store, base_url=address).ask("hi").text == "three"
    assert LLM.connect("openai:local", store=store, base_url=with_login.url + "/").ask("hi").cached
    store.close()
    assert b"pa55word" not in store.path.read_bytes()


def test_a_replay_elsewhere_takes_what_one_server_alone_has_said(store: ResponseStore) -> None:
    for text, server in (("hi", "one"), ("other", "one"), ("other", "two")):
        store.put(a_request(text, address=f"http://{server}/v1"), {"text": server})
    assert store.get(a_request()) is None
    replay = ResponseStore(store.path, "replay")
    for address in ("", "http://three/v1"):
        assert replay.get(a_request(address=address)) == {"text": "one"}
        with pytest.raises(ReplayMiss, match="base_url"):
            replay.get(a_request("other", address=address))
    assert replay.get(a_request("other", address="http://two/v1")) == {"text": "two"}


NO_TOOLS: list[tuple[Json, str]] = [
    *(({"name": name}, "is not the name of a tool") for name in ("my tool", "x" * 65)),
    ({}, "None is not the name of a tool"),
    ({"name": "a", "parameters": {"type": "string"}}, "not the schema of an object"),
    ({"name": "a", "parameters": {"type": "object", "x": object()}}, "not described in JSON"),
    (WEATHER, "two tools are named 'weather'"),
]


def test_a_tool_that_is_none_fails_before_anything_is_sent(loopback: Start) -> None:
    server = loopback()
    for tool, said in NO_TOOLS:
        with pytest.raises(ModelError, match=said):
            local().ask("hi", tools=[WEATHER, tool])
    with pytest.raises(ModelError, match="tools and an output schema"):
        local().ask("hi", tools=TOOLS, schema={"type": "object"})
    assert not server.requests


def test_results_of_another_role_fail_before_they_are_sent() -> None:
    model = ScriptedModel(["x"], tools=True)
    for message in (("tool", "12:00"), ("user", ResultText("12:00", "c1", "now"))):
        with pytest.raises(PromptError, match="only a message of the role tool"):
            LLM.connect(model).ask([QUESTION, message], tools=TOOLS)
    assert not model.requests


def test_keys_of_requests_without_tools_are_what_they_were() -> None:
    settings: Json = {"sample": 2, "schema": {"type": "object"}}
    recorded = ModelRequest.of("openai:m", [QUESTION], {"temperature": 0.0}, **settings)
    assert recorded.key == "eeb8d16e9936e2a258bb6da044a7471cb712b16e6b7c9ba0fc29c8cf6da405b2"
    asked: list[Json] = [{}, {"tools": TOOLS}, {"tools": TOOLS[:1]}]
    others = [ModelRequest.of("openai:m", [QUESTION], {"temperature": 0.0}, **each) for each in asked]
    assert len({each.key for each in others}) == len({each.identity for each in others}) == 3


def test_messages_are_texts() -> None:
    call = [ToolCall("weather", {"city": "Kraków"}, "c1")]
    line = '{"name": "weather", "args": {"city": "Kraków"}}'
    for each, text in (
        (CallingText("I look.", call, [{"type": "thinking"}]), f"I look.\n{line}"),
        (CallingText("", call), line),
        (ResultText("31", "c1", "weather"), "31"),
    ):
        again = pickle.loads(pickle.dumps(each))
        assert each == text and (again, vars(again)) == (each, vars(each))


def test_a_reply_is_recorded_replayed_and_logged(hosted: Host, tmp_path: Path) -> None:
    server = hosted([TWO, "Rome."])

    def run(mode: Any) -> tuple[list[Call], Reply]:
        llm = connect(server, "anthropic:claude-opus-5", store=ResponseStore(tmp_path / "r.sqlite", mode))
        with recording(Meter()) as recorder:
            first = llm.ask([QUESTION], tools=TOOLS)
            assert llm.ask(continued(first, "31", "12"), tools=TOOLS).text == "Rome."
        return recorder.calls, first

    calls, first = run("record")
    _, replayed = run("replay")
    assert len(server.served) == 2 and replayed.cached
    assert (replayed.tool_calls, replayed.blocks) == (first.tool_calls, first.blocks)
    assert all(Call.from_json(json.loads(json.dumps(call.to_json()))) == call for call in calls)
    assert calls[0].params["tools"] == ["weather", "now"] and calls[0].blocks == first.blocks and first.blocks
    called = {"name": "weather", "args": {"city": "Rome"}, "id": first.tool_calls[0].id}
    assert calls[0].tool_calls[0] == called
    said = str.__str__(CallingText(first.text, first.tool_calls))
    assert calls[1].messages[1:] == (("assistant", said), ("tool", "31"), ("tool", "12"))
    assert not {"tool_calls", "blocks"} & calls[1].to_json().keys()


DAMAGED_CALLS: list[Any] = [3, ["x"], [{"name": "a", "args": []}], [{"name": "a", "args": {}, "id": 3}]]
DAMAGED_CALLS += [[{"name": "a", "args": {}, "id": "1", "more": ""}], [{"name": "a", "args": {}}]]


def test_what_is_kept_may_be_damaged() -> None:
    written = Call("openai:m", (("user", "hi"),), {}).to_json()
    for damage in (*({"tool_calls": each} for each in DAMAGED_CALLS), {"blocks": {}}, {"blocks": [None]}):
        with pytest.raises((TypeError, ValueError)):
            Call.from_json({**written, **damage})
        with pytest.raises(StoreError, match="damaged"):
            Reply.from_record("openai:m", {"text": "", "finish": "stop", **damage})


def test_a_script_calls_tools(tmp_path: Path) -> None:
    calls = [{"name": "weather", "args": {"city": "Rome"}}, {"name": "now", "args": "noon?"}]
    model = ScriptedModel([{"tool_calls": calls, "text": "I look."}, "Rome."])
    llm = LLM.connect(model)
    assert llm.offers("tools")
    reply = llm.ask([QUESTION], tools=TOOLS)
    assert [call.id for call in reply.tool_calls] == ["call_1", "call_2"]
    assert "not a JSON object" in reply.tool_calls[1].fault and reply.tool_calls[1].fault.endswith(": noon?")
    assert llm.ask(continued(reply, "31", "no"), tools=TOOLS).text == "Rome."
    said = model.requests[1][1][1]
    assert isinstance(said, CallingText) and said.calls[0].args == {"city": "Rome"}
    assert said.startswith('I look.\n{"name": "weather"') and model.requests[1][2] == ("tool", "31")
    now = {"tool_calls": [{"name": "now", "args": {}}]}
    file = tmp_path / "replies.jsonl"
    file.write_text(f'{json.dumps(now)}\n"It is 12:00."\n', encoding="utf-8")
    answers = asking.scripted(lambda messages: "It is 12:00." if messages[-1][0] == "tool" else now)
    for each in (answers, LLM.connect(f"scripted:{file}")):
        reply = each.ask("hi", tools=TOOLS)
        assert each.offers("tools") and (reply.text, reply.tool_calls) == (
            "",
            (ToolCall("now", {}, "call_1"),),
        )
        said = continued(reply, "12:00", before=[("user", "hi")])
        assert each.ask(said, tools=TOOLS).text == "It is 12:00."
    for bad in ("[]", '[{"name": 3, "args": {}}]', '"now"'):
        file.write_text(f'{{"tool_calls": {bad}}}', encoding="utf-8")
        with pytest.raises(InputError, match="line 1"):
            LLM.connect(f"scripted:{file}")
