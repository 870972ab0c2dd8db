"""Servers and clients that take no tools."""

from __future__ import annotations

import pytest

from chameleon.errors import ModelError, ToolsRefused
from chameleon.llm import LLM
from tests.llm.asking import Json, Start, connect, failing, local, scripted
from tests.llm.tool_talk import TOOLS
from tests.loopback import Fault

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


@pytest.mark.parametrize(("status", "body"), TAKES_NONE)
def test_a_server_that_takes_no_tools_is_told_as_such(loopback: Start, status: int, body: Json) -> None:
    server = loopback([Fault(status, body), "plain"], models=["local"])
    llm = local(retries=3)
    with pytest.raises(ToolsRefused, match="does not take tools to call") as caught:
        llm.ask("hi", tools=TOOLS)
    assert caught.value.hint and len(server.requests) == 1
    assert llm.ask("hi").text == "plain"


@pytest.mark.parametrize("said", OTHERS)
def test_other_errors_about_tools_are_no_refusals(loopback: Start, said: str) -> None:
    loopback([failing(said)])
    with pytest.raises(ModelError) as caught:
        local().ask("hi", tools=TOOLS)
    assert type(caught.value) is ModelError


def test_a_refusal_is_remembered_and_said(loopback: Start, caplog: pytest.LogCaptureFixture) -> None:
    loopback()
    llm = LLM.connect("openai:gpt-4.1-mini")
    assert llm.offers("tools")
    llm.learn("tools", works=False)
    assert not llm.offers("tools") and not llm.with_params(temperature=0).offers("tools")
    assert llm.offers("schema") and "openai:gpt-4.1-mini refused tools" in caplog.text


@pytest.mark.parametrize(
    ("model", "offers"),
    [
        ("openai:local", "try"),
        ("openai:gpt-3.5-turbo", "try"),  # by its name, at an address of the user's own
        ("openai:gpt-6-luna", "known"),
        ("anthropic:claude-mythos-5", "known"),
        ("google_genai:gemini-9-flash", "known"),
    ],
)
def test_what_is_known_of_tools(loopback: Start, model: str, offers: str) -> None:
    llm = connect(loopback(), model)
    assert llm.offers("tools") == offers
    llm.learn("tools", works=True)
    assert llm.offers("tools") == "known"


def test_a_client_that_cannot_be_given_tools_refuses_them() -> None:
    llm = scripted(["a"])
    assert not llm.offers("tools")
    with pytest.raises(ToolsRefused, match="scripted:script cannot be given tools"):
        llm.ask("hi", tools=TOOLS)
