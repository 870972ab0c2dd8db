"""`LLM` against a server: what is sent, what comes back, and models beside it, made by users or scripted."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr, SecretStr, create_model

import chameleon.llm
import chameleon.llm.chat_clients
from chameleon import errors
from chameleon.errors import ChameleonError, InputError, ModelError
from chameleon.llm import LLM, ResponseStore, ScriptedModel
from chameleon.usage import Usage
from tests.llm.asking import Host, Json, Start, connect, failing, local, scripted, without_waits
from tests.loopback import Fault, Reply

Log = pytest.LogCaptureFixture
KEY = SecretStr("a-key-of-the-user-0123456789")


def test_a_client_is_made_once_for_a_store(loopback: Start, store: ResponseStore, monkeypatch: Any) -> None:
    made, make = list[str](), chameleon.llm.chat_clients.make_client

    def slowly(name: str, *args: Any) -> Any:
        made.append(name)
        threading.Event().wait(0.02)
        return make(name, *args)

    monkeypatch.setattr(chameleon.llm.chat_clients, "make_client", slowly)
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
    view = llm.with_params(seed=None, temperature=1)
    assert view.params == {"temperature": 1} and llm.params == {"seed": 3}
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


def test_sends_messages_and_reads_the_reply(loopback: Start) -> None:
    server = loopback([Reply("Paris", usage=(12, 3))])
    asked = [("system", "Be brief."), ("user", "Capital?\ud800 \ud83d\ude00")]
    reply = local(temperature=0.5).ask(asked, stop="END")
    assert (reply.text, reply.model, reply.usage.input_tokens) == ("Paris", "openai:local", 12)
    (sent,) = server.requests
    told = [(message["role"], message["content"]) for message in sent["messages"]]
    assert told == [("system", "Be brief."), ("user", "Capital?\ufffd \U0001f600")]
    assert sent["stop"] == ["END"] and not reply.truncated


def test_cost_comes_from_the_provider_or_from_given_prices_and_is_else_unknown(loopback: Start) -> None:
    loopback([Reply("a", extra={"cost": 0.0012}), "b", "c", Reply("d", usage=None)])
    costs = [local(**given).ask("hi").usage.cost for given in ({}, {}, {"prices": (1.0, 10.0)})]
    assert costs == [0.0012, None, pytest.approx((11 * 1 + 7 * 10) / 1e6)]
    unknown = local(prices=(1.0, 10.0)).ask("d").usage
    assert (unknown.calls, unknown.input_tokens, unknown.output_tokens, unknown.cost) == (1, None, None, None)


def test_a_key_that_is_echoed_is_told_nowhere(loopback: Start) -> None:
    key = KEY.get_secret_value()
    loopback([failing("bad header {authorization}", 401)])
    with pytest.raises(errors.AuthFailed, match="bad header") as caught:
        local(api_key=key).ask("hi")
    assert key not in str(caught.value) and key not in repr(local(api_key=key))
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    server = loopback([failing(f"Unsupported value: 'temperature' with key {key}"), "ok"])
    reply = LLM.connect(ChatOpenAI(model="m", base_url=server.url, api_key=KEY)).ask("hi", temperature=0)
    assert set(reply.dropped) == {"temperature"} and key not in str(reply.dropped)


WRONG: list[tuple[Any, Json, type[ChameleonError], str]] = [
    ([("robot", "x")], {}, errors.PromptError, "'robot' is not a role"),
    ([], {}, errors.PromptError, "no message"),
    ("x", {"seed": object()}, ModelError, "seed is an object, not JSON"),
    ("x", {"api_key": "x"}, ModelError, "api_key is a setting of the connection"),
    ("x", {"reasoning": "deep"}, ModelError, "deep.*medium"),
    ("x", {"max_tokens": "9"}, ModelError, "max_tokens is '9'"),
]


def test_wrong_requests_are_not_sent(loopback: Start) -> None:
    server = loopback()
    for messages, params, kind, said in WRONG:
        with pytest.raises(kind, match=said):
            local().ask(messages, **params)
    assert not server.requests


def test_questions_are_asked_at_once_and_answered_in_their_order(loopback: Start) -> None:
    server = loopback(lambda asked: Reply(n := asked["messages"][0]["content"], delay=0.2 - int(n) / 50))
    texts = [str(number) for number in range(8)]
    assert [reply.text for reply in LLM.connect("openai:local").ask_each(texts)] == texts and server.peak > 1


def test_settings_of_a_given_client_belong_on_that_client() -> None:
    with pytest.raises(ModelError, match="base_url must be set on the chat model itself"):
        LLM.connect(ChatOpenAI(model="m", api_key=KEY), base_url="http://127.0.0.1:1")
    with pytest.raises(errors.NoModel, match="dict is not a chat model"):
        LLM.connect({"model": "m"})
    for retries in (-1, None, 2.0, True, "3"):
        with pytest.raises(ModelError, match="retries is"):
            scripted(["x"], retries=retries)


def test_a_user_made_client_is_retried_by_us_alone(loopback: Start) -> None:
    server = loopback([Fault(500)])
    chat = ChatOpenAI(model="local", api_key=KEY, base_url=server.url, max_retries=4)
    with pytest.raises(ModelError, match="server failed"):
        without_waits(LLM.connect(chat, retries=1)).ask("hi")
    assert len(server.requests) == 2


def test_classes_of_ones_own_are_not_made_anew_and_keep_their_server(loopback: Start) -> None:
    server = loopback(["mine"])

    class Tiered(ChatOpenAI):
        _tag: str = PrivateAttr("none")

        def __init__(self, tier: str) -> None:
            super().__init__(model=f"local-{tier}", api_key=KEY, max_completion_tokens=50)

        def _get_request_payload(self, *args: Any, **options: Any) -> dict[str, Any]:
            return {**super()._get_request_payload(*args, **options), "user": self._tag}

    chat = Tiered("large")
    chat._tag = "mine"
    loopback(["another"])  # OPENAI_BASE_URL names this one now
    assert LLM.connect(chat).ask("hi", temperature=0.5, max_tokens=100).text == "mine"
    (sent,) = server.requests
    assert (sent["model"], sent["user"], sent["temperature"]) == ("local-large", "mine", 0.5)
    assert sent["max_tokens"] == 100 and "max_completion_tokens" not in sent  # one limit replaces the other


@pytest.mark.parametrize("asked", [{}, {"temperature": 0}])
def test_what_a_client_is_set_to_is_dropped_as_well(hosted: Host, asked: Json) -> None:
    anthropic, server = pytest.importorskip("langchain_anthropic"), hosted()
    made = {"base_url": server.url, "api_key": KEY, "temperature": 0.4}
    chat = anthropic.ChatAnthropic(model="claude-opus-5", **made)
    reply = LLM.connect(chat).ask("hi", **asked)
    assert reply.text == "ok" and set(reply.dropped) == {"temperature"} and not server.refused
    with pytest.raises(errors.ParameterRefused):
        LLM.connect(chat, allow_dropped=False).ask("hi", **asked)


class Named(FakeListChatModel):
    model_name: str = "one"
    llm: Any = None


def test_clients_of_ones_own_are_told_apart_by_what_they_are_set_to(
    store: ResponseStore, caplog: Log
) -> None:
    texts = [LLM.connect(Named(responses=[text]), store=store).ask("q").text for text in "aba"]
    texts += [LLM.connect(FakeListChatModel(responses=[text]), store=store).ask("q").text for text in "ab"]
    assert texts == [*"abaab"] and len(store) == 2 and "are not recorded" in caplog.text
    for key in ("model_id", "repo_id", "model_path"):
        wrapped = Named(responses=["x"], model_name="", llm=SimpleNamespace(**{key: "tiny"}))
        assert LLM.connect(wrapped).name.partition(":")[2] == "tiny"
    fields = ["api_base", "openai_api_base", "azure_endpoint", "base_url"]
    for field in (*fields, "endpoint_url", "host", "server_url", "url"):
        client: Any = create_model("Client", __base__=Named, **{field: (str, "")})
        made = [client(responses=[name], **{field: f"http://{name}.test/v1"}) for name in "cd"]
        assert [LLM.connect(each, store=store).ask("q").text for each in made] == ["c", "d"]


def test_replies_come_in_order_and_run_out() -> None:
    model = ScriptedModel(["a", {"text": "b", "finish": "length", "input_tokens": 3, "output_tokens": 1}])
    llm, messages = LLM.connect(model), [("system", "s"), ("user", "2"), ("assistant", "so far")]
    assert llm.name == "scripted:script" and llm.ask("1").text == "a"
    second = llm.ask(messages)
    assert (second.text, second.truncated, second.usage) == ("b", True, Usage(1, 3, 1, None, None, None))
    with pytest.raises(errors.ScriptExhausted, match=r"but reply 3 was requested\. Add a reply .*: 3$"):
        llm.ask("3")
    assert model.requests[1] == messages
    llm = scripted(lambda messages: messages[-1][1].upper())
    assert [llm.ask(text).text for text in ("a", "b")] == ["A", "B"]


def test_a_file_of_json_lines_is_a_script(tmp_path: Path, store: ResponseStore) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text('"one"\n\n{"text": "two", "finish": "length"}\n', encoding="utf-8")
    llm = LLM.connect(f"scripted:{script}", store=store)
    assert [llm.ask("x").text, llm.ask("y").finish] == ["one", "length"]
    assert not LLM.connect(f"scripted:{script}", store=store).ask("x").cached
    for text, said in (('"one"\n{"reply": "two"}\n', "line 2"), ('"one', "line 1")):
        script.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            LLM.connect(f"scripted:{script}")
    for path, said in ((tmp_path / "missing.jsonl", "no such file"), (tmp_path, "Is a directory")):
        with pytest.raises(InputError, match=said):
            LLM.connect(f"scripted:{path}")


def test_without_langchain_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.errors.find_spec", lambda name: None)
    monkeypatch.delitem(vars(chameleon.llm), "ScriptedModel", raising=False)  # kept since its first use
    with pytest.raises(errors.MissingPackage, match=r"pip install .*\[models\]"):
        _ = chameleon.llm.ScriptedModel
