"""Tools that models call: asked by every client, answered and sent back, or refused."""

import asyncio
import json
from itertools import product
from typing import Any

import pytest

from chameleon.errors import EmptyReply, ModelError, ToolsRefused
from chameleon.llm import LLM, Reply
from chameleon.usage import Meter, recording
from tests.hosted_tools import SEALED, SIGNED, Calls
from tests.llm import asking
from tests.llm.asking import QUESTION, TOOLS, TWO, Host, Start, calling, connect, continued, local
from tests.loopback import Fault
from tests.loopback import Reply as Answer

OPENAI = ["openai:gpt-4.1-mini", "openai:gpt-5-mini", "openai:o4-mini", "openai:gpt-6-luna"]
CLAUDE = ["anthropic:claude-haiku-4-5", "anthropic:claude-opus-5", "anthropic:claude-haiku-5-5"]
MODELS = [*OPENAI, *CLAUDE, "google_genai:gemini-2.5-flash", "google_genai:gemini-3.8-flash"]
HI = ("user", "hi")
Log, Patch = pytest.LogCaptureFixture, pytest.MonkeyPatch


@pytest.mark.parametrize(
    ("model", "way"), [*product(MODELS, ("sync", "async")), *((model, "langchain") for model in OPENAI)]
)
def test_tools_called_and_answered(hosted: Host, monkeypatch: Patch, model: str, way: str) -> None:
    asking.use_langchain(monkeypatch, way == "langchain")
    server = hosted([TWO, Calls([("now", {})]), "Rome."])
    llm = connect(server, model)

    def ask(messages: Any) -> Reply:
        if way == "async":
            return asyncio.run(llm.aask(messages, tools=TOOLS))
        return llm.ask(messages, tools=TOOLS)

    assert llm.offers("tools")
    first = ask([("system", "Be brief."), QUESTION])
    called = [(call.name, call.args, call.fault) for call in first.tool_calls]
    assert called == [("weather", {"city": city}, "") for city in ("Rome", "Oslo")]
    assert first.text == "I look both up." and first.finish == "stop" and not first.truncated
    messages = continued(first, "31 °C", "", before=[("system", "Be brief."), QUESTION])
    second = ask(messages)
    assert [call.name for call in second.tool_calls] == ["now"] and second.text == ""
    third = ask(continued(second, "12:00", before=messages))
    assert (third.text, third.tool_calls, third.blocks) == ("Rome.", (), ())
    assert third.usage.calls == 1 and not third.dropped
    # The chat completions of a model that thinks refuse tools once; LangChain knows that of this one.
    is_refused = model == "openai:gpt-6-luna" and way != "langchain"
    assert len(server.served) == 3 and len(server.refused) == is_refused


def test_the_thoughts_of_claude_go_back_as_they_came(hosted: Host) -> None:
    server = hosted([TWO, "Rome."])
    llm = connect(server, "anthropic:claude-opus-5")
    reply = llm.ask([QUESTION], tools=TOOLS)
    assert reply.blocks[0] == {"type": "thinking", "thinking": "", "signature": SIGNED}
    json.dumps(reply.blocks)
    llm.ask(continued(reply, "31", "12"), tools=TOOLS)
    content, results = (server.requests[-1].body["messages"][place]["content"] for place in (1, 2))
    assert [block["type"] for block in content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [each["tool_use_id"] for each in results] == [call.id for call in reply.tool_calls]
    with pytest.raises(ModelError, match="Expected `thinking`"):
        llm.ask(continued(Reply(reply.text, tool_calls=reply.tool_calls), "31", "12"), tools=TOOLS)


@pytest.mark.parametrize("is_given", [False, True])
def test_an_unknown_model_is_asked_by_the_api_that_it_names(hosted: Host, is_given: bool) -> None:
    openai = pytest.importorskip("langchain_openai")
    server = hosted([TWO, "Rome."])
    chat = openai.ChatOpenAI(model="gpt-9-luna", base_url=server.openai_url, api_key="k")
    llm = LLM.connect(chat, retries=0) if is_given else connect(server, "openai:gpt-9-luna")
    asked: dict[str, Any] = {"tools": TOOLS, "reasoning": "low", "max_tokens": 100}
    llm.ask(continued(llm.ask([QUESTION], **asked), "31", "12"), **asked)
    assert [seen.path.rpartition("/v1")[2] for seen in server.served] == ["/responses"] * 2
    assert server.served[0].body["reasoning"] == {"effort": "low"}
    refused = asking.refusals(server).items()
    assert [count for said, count in refused if said.startswith("Function tools")] == [1]


def test_openais_model_that_thinks_is_asked_by_the_api_that_lets_it(hosted: Host) -> None:
    server = hosted(["plain", TWO, "Rome.", "plain"])
    llm = connect(server, "openai:gpt-6-luna", max_tokens=500)
    llm.ask([QUESTION])
    llm.ask(continued(llm.ask([QUESTION], tools=TOOLS), "31", "12"), tools=TOOLS)
    llm.ask([QUESTION])
    chat, responses = "/v1/chat/completions", "/v1/responses"
    assert [seen.path for seen in server.requests] == [chat, chat, responses, responses, chat]
    asked = server.requests[3].body
    assert asked["store"] is False and asked["max_output_tokens"] > 500
    kinds = [item.get("type", "message") for item in asked["input"]]
    assert kinds[1:] == ["reasoning", "message", *["function_call"] * 2, *["function_call_output"] * 2]
    assert asked["input"][1]["encrypted_content"] == SEALED


@pytest.mark.parametrize("theirs", [False, True])
def test_pieces_of_calls_make_one(loopback: Start, monkeypatch: pytest.MonkeyPatch, theirs: bool) -> None:
    asking.use_langchain(monkeypatch, theirs)
    args = [json.dumps({"city": "Reykjavík", "days": [1, 2, 3]}), json.dumps({"city": "Oslo"})]
    loopback([calling(("weather", args[0]), ("weather", args[1]), text="I look both up.")])
    heard: list[str | None] = []
    with recording(Meter(), heard.append):
        reply = local().ask([QUESTION], tools=TOOLS)
    called = [(call.id, json.dumps(call.args)) for call in reply.tool_calls]
    assert called == [*zip(("c0", "c1"), args, strict=True)]
    assert "".join(each for each in heard if each) == reply.text == "I look both up."


def test_calls_of_servers_that_say_little_of_them_are_told_apart(loopback: Start) -> None:
    given = [(None, None), ("", {"a": 1}), ("x", "{}"), ("x", "")]
    calls = [{"id": id, "function": {"name": "now", "arguments": args}} for id, args in given]
    loopback([Answer(None, message={"tool_calls": calls})])
    expected = [("call_1", {}), ("call_2", {"a": 1}), ("x", {}), ("call_4", {})]
    assert [(each.id, each.args) for each in local().ask("hi", tools=TOOLS).tool_calls] == expected


def test_what_a_server_tells_beside_its_calls_goes_back_to_it(loopback: Start) -> None:
    called = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    called["extra_content"] = {"google": {"thought_signature": "abc"}}
    answer = Answer(None, "tool_calls", message={"tool_calls": [called], "reasoning_content": "At noon?"})
    for hear in (None, lambda piece: None):  # whole, and in pieces
        server = loopback([answer, "noon"])
        with recording(Meter(), hear):
            local().ask(continued(local().ask("hi", tools=TOOLS), "12:00", before=[HI]), tools=TOOLS)
        sent = server.requests[1]["messages"][1]
        assert sent["reasoning_content"] == "At noon?" and sent["content"] is None
        assert sent["tool_calls"] == [called]


UNREAD = {'{"city": "Ro': "Unterminated string", "Rome": "Expecting value", '{"city": NaN}': "is not JSON"}
KINDS: list[Any] = ["[1]", '"text"', "[" * 100_000, [], 0]


@pytest.mark.parametrize(
    ("args", "fault", "theirs"),
    [(args, fault, theirs) for args, fault in UNREAD.items() for theirs in (False, True)]
    + [(args, "not a JSON object", False) for args in KINDS],
)
def test_bad_arguments(loopback: Start, monkeypatch: Patch, args: Any, fault: str, theirs: bool) -> None:
    asking.use_langchain(monkeypatch, theirs)
    server = loopback([calling(("weather", args), ("now", "{}")), "ok"])
    llm = local()
    reply = llm.ask("hi", tools=TOOLS)
    found = {call.name: call for call in reply.tool_calls}
    assert reply.error is None and found["now"].fault == "" and found["weather"].args == {}
    said, told = found["weather"].fault, "not a JSON object" if theirs else fault  # LangChain keeps the words
    assert told in said and len(said) < 400
    llm.ask(continued(reply, *["again"] * 2, before=[HI]), tools=TOOLS)
    assert len(server.requests) == 2


def test_calls_that_are_cut_off_are_asked_for_with_more_room(loopback: Start) -> None:
    cut = calling(("weather", '{"city": "Ro'))
    server = loopback([Answer(None, "length", message=cut.message), calling(("weather", '{"city": "Rome"}'))])
    reply = local().ask("hi", tools=TOOLS, max_tokens=20)
    assert reply.tool_calls[0].args == {"city": "Rome"} and reply.widened == 1
    assert [each["max_tokens"] for each in server.requests] == [20, 80]


def test_secrets_and_stop_texts_in_calls(loopback: Start) -> None:
    key = "sk-a-secret-that-is-long"
    args = json.dumps({"city": f"Key {key} END", key: [key], "lone": "\ud800"})
    loopback([calling(("weather", args), text="I END here.")])
    reply = local(api_key=key).ask("hi", tools=TOOLS, stop=["END"])
    (call,) = reply.tool_calls
    assert reply.text == "I " and key not in json.dumps(call.to_json())
    assert str(call.args["city"]).endswith(" END") and call.args["lone"] == "\ufffd"


def test_replies_without_tools_or_calls(loopback: Start) -> None:
    loopback([calling(("reply", '{"a": 1}'), text="Well."), ""])
    reply = local().ask("hi")
    assert (reply.text, reply.tool_calls) == ("Well.", ())
    with pytest.raises(EmptyReply):
        local().ask("hi", tools=TOOLS)


@pytest.mark.parametrize("model", ["openai:gpt-4.1-mini", "anthropic:claude-haiku-4-5"])
def test_names_that_a_model_made_up_can_go_back(hosted: Host, model: str) -> None:
    llm = connect(hosted([Calls([("multi_tool use.parallel", {"uses": 2}), ("", {})]), "ok"]), model)
    reply = llm.ask([QUESTION], tools=TOOLS)
    assert [call.name for call in reply.tool_calls] == ["multi_tool use.parallel", ""]
    assert llm.ask(continued(reply, "no such tool", "no such tool"), tools=TOOLS).text == "ok"


TAKES_NONE = [
    (400, {"error": {"message": "registry.ollama.ai/library/gemma3:4b does not support tools"}}),
    (400, {"error": "registry.ollama.ai/library/llama3:8b does not support tools"}),
    (400, {"message": '"auto" tool choice requires --enable-auto-tool-choice to be set', "code": 400}),
    (404, {"error": {"message": "No endpoints found that support tool use. To learn more, visit: …"}}),
    (500, {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}}),
    (500, {"error": {"code": 500, "message": "Unsupported param: tools", "type": "server_error"}}),
    (400, {"error": {"message": "Function calling is not enabled for models/gemma-3-12b-it", "code": 400}}),
    (400, {"error": {"message": "`tool calling` is not supported with this model"}}),
    (400, {"error": {"message": "deepseek-reasoner does not support Function Calling"}}),
    (400, {"error": {"message": "Unsupported parameter: 'tools' is not supported with this model."}}),
    (400, {"error": {"message": "Unrecognized request argument supplied: tools"}}),
    (422, {"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]}),
]
OTHERS = [
    "tool call validation failed: parameters for tool now did not match schema: [`/a`: expected array]",
    "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
    "Invalid schema for function 'now': schema must be a JSON Schema of 'type: \"object\"'",
    "An assistant message with 'tool_calls' must be followed by tool messages",
]


@pytest.mark.parametrize("fault", [*(Fault(*each) for each in TAKES_NONE), *map(asking.failing, OTHERS)])
def test_a_server_that_takes_no_tools_is_told_as_such_and_no_other(loopback: Start, fault: Fault) -> None:
    server = loopback([fault, "plain"], models=["local"])
    llm, takes_none = local(retries=3), (fault.status, fault.body) in TAKES_NONE
    with pytest.raises(ModelError, match="does not take tools to call" if takes_none else None) as caught:
        llm.ask("hi", tools=TOOLS)
    assert type(caught.value) is (ToolsRefused if takes_none else ModelError)
    assert bool(caught.value.hint) >= takes_none and len(server.requests) == 1
    assert llm.ask("hi").text == "plain"


# `gpt-3.5-turbo` by its name, at an address of the user's own.
KNOWN = {"openai:local": "try", "openai:gpt-3.5-turbo": "try", "openai:gpt-6-luna": "known"}
KNOWN |= {"anthropic:claude-mythos-5": "known", "google_genai:gemini-9-flash": "known"}


def test_what_is_known_of_tools_and_a_refusal_is_remembered_and_said(loopback: Start, caplog: Log) -> None:
    server = loopback()
    for model, offers in KNOWN.items():
        llm = connect(server, model)
        assert llm.offers("tools") == offers
        llm.learn("tools", works=True)
        assert llm.offers("tools") == "known"
    llm = LLM.connect("openai:gpt-4.1-mini")
    assert llm.offers("tools")
    llm.learn("tools", works=False)
    assert not llm.offers("tools") and not llm.with_params(temperature=0).offers("tools")
    assert llm.offers("schema") and "openai:gpt-4.1-mini refused tools" in caplog.text
    assert not asking.scripted(["a"]).offers("tools")
    with pytest.raises(ToolsRefused, match="scripted:script cannot be given tools"):
        asking.scripted(["a"]).ask("hi", tools=TOOLS)
