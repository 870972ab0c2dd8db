"""Which model is used, and why: `--model`, the variable, the inventory, then what there is access to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from chameleon.errors import AuthFailed, MissingPackage, ModelError, NoModel
from chameleon.llm import LLM, ResponseStore, choose_model
from chameleon.llm.capabilities import default_model
from chameleon.llm.offer import offered_models
from chameleon.llm.providers import belongs_to_connection, full_name, providers
from tests.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]


def test_names_win_in_order_and_the_reason_is_said() -> None:
    environ = {"CHAMELEON_MODEL": "anthropic:claude", "OPENAI_API_KEY": "k"}
    assert choose_model("gpt-x", "ollama:m", environ).why == "model openai:gpt-x, because --model names it"
    assert choose_model(None, "ollama:m", environ).model == "anthropic:claude"
    inventory = choose_model("", "ollama:m", {"OPENAI_API_KEY": "k"})
    assert (inventory.model, "inventory" in inventory.why) == ("ollama:m", True)


def test_a_key_alone_chooses_the_documented_default() -> None:
    choice = choose_model(None, None, {"OPENAI_API_KEY": "k"})
    assert choice.model == default_model("openai") and "OPENAI_API_KEY is set" in choice.why
    official = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://api.openai.com/v1"}
    assert choose_model(None, None, official).model == default_model("openai")


def test_nothing_chooses_nothing_and_says_what_to_set() -> None:
    choice = choose_model(None, None, {})
    assert choice.model is None and "--model" in choice.why and "OPENAI_BASE_URL" in choice.why


def test_a_server_is_asked_for_its_models(loopback: Start) -> None:
    one = loopback(models=["qwen3:8b"])
    choice = choose_model(None, None, {"OPENAI_BASE_URL": one.url})
    assert (
        choice.model == "openai:qwen3:8b" and "the only model of the server at http://127.0.0.1" in choice.why
    )
    assert LLM.connect(str(choice.model)).ask("hi").text == "ok"
    many = loopback(models=["nomic-embed-text", "llama3", "qwen3"])
    choice = choose_model(None, None, {"OPENAI_BASE_URL": many.url, "OPENAI_API_KEY": "k"})
    assert choice.model == "openai:llama3" and "the first chat model of 3" in choice.why


def test_a_server_that_lists_nothing_is_an_error_with_what_to_do(loopback: Start) -> None:
    for server in (loopback(models=None), loopback(models=["nomic-embed-text"])):
        with pytest.raises(NoModel) as caught:
            choose_model(None, None, {"OPENAI_BASE_URL": server.url})
        assert caught.value.hint
    server.stop()
    with pytest.raises(NoModel, match=r"the server at http://127.* cannot be reached \(connection refused\)"):
        choose_model(None, None, {"OPENAI_BASE_URL": server.url})
    with pytest.raises(NoModel, match="begins with http"):
        choose_model(None, None, {"OPENAI_BASE_URL": "localhost:8000/v1"})


def test_a_password_in_the_address_works_and_is_not_shown(loopback: Start) -> None:
    server = loopback(models=["m"])
    address = server.url.replace("//", "//user:pa55word@")
    assert [each.name for each in offered_models(address)] == ["m"]
    assert "pa55word" not in choose_model(None, None, {"OPENAI_BASE_URL": address}).why


def test_names_in_full() -> None:
    assert full_name("gpt-4.1-mini", {}) == "openai:gpt-4.1-mini"
    assert full_name(" google-genai:gemini-x ", {}) == "google_genai:gemini-x"
    assert full_name("ollama:llama3:8b", {}) == "ollama:llama3:8b"
    assert full_name("ft:gpt-4o:org::id", {}) == "openai:ft:gpt-4o:org::id"
    assert full_name("llama3:8b", {"OPENAI_BASE_URL": "http://localhost:11434/v1"}) == "openai:llama3:8b"


def test_wrong_names_are_errors_that_name_the_nearest() -> None:
    with pytest.raises(NoModel, match="Did you mean anthropic:claude"):
        full_name("antropic:claude", {})
    with pytest.raises(NoModel, match="Providers: anthropic, "):
        full_name("zzz:q", {})
    with pytest.raises(NoModel, match="names no model"):
        full_name("openai:", {})


def test_a_missing_package_gives_the_line_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "k")
    with pytest.raises(MissingPackage, match="pip install 'langchain>=1,<2' 'langchain-groq'"):
        LLM.connect("groq:llama")


def test_a_missing_key_names_the_variable() -> None:
    with pytest.raises(AuthFailed, match="OPENAI_API_KEY"):
        LLM.connect("openai:gpt-4.1-mini")
    with pytest.raises(AuthFailed, match="GOOGLE_API_KEY or GEMINI_API_KEY"):
        LLM.connect("google_genai:gemini")


def test_a_dummy_key_is_filled_in_for_a_server_only(loopback: Start) -> None:
    import os

    server = loopback()
    LLM.connect("openai:m").ask("hi")
    assert server.headers[0]["authorization"] == "Bearer not-needed"
    assert "OPENAI_API_KEY" not in os.environ


def test_settings_of_a_given_client_belong_on_that_client() -> None:
    from langchain_openai import ChatOpenAI

    with pytest.raises(ModelError, match="base_url must be set on the chat model itself"):
        LLM.connect(ChatOpenAI(model="m", api_key=SecretStr("k")), base_url="http://127.0.0.1:1")
    with pytest.raises(NoModel, match="dict is no chat model"):
        LLM.connect({"model": "m"})  # type: ignore[arg-type]


def test_every_provider_that_langchain_has_built_in_is_known() -> None:
    from langchain.chat_models import base

    ours, theirs = set(providers()), set(base._BUILTIN_PROVIDERS)
    assert ours <= theirs


@pytest.mark.parametrize(
    "name", ["api_key", "base_url", "openai_api_key", "default_headers", "azure_endpoint"]
)
def test_connection_settings(name: str) -> None:
    assert belongs_to_connection(name)


@pytest.mark.parametrize(
    "name", ["temperature", "max_tokens", "stop", "top_p", "seed", "reasoning_effort", "num_ctx"]
)
def test_request_parameters(name: str) -> None:
    assert not belongs_to_connection(name)


def test_a_replay_takes_the_model_recorded_last_and_asks_no_server(loopback: Start, tmp_path: Path) -> None:
    server = loopback()
    environ = {"OPENAI_BASE_URL": server.url}
    store = ResponseStore(tmp_path / "r.sqlite")
    with pytest.raises(NoModel, match="no recorded reply to replay"):
        choose_model(None, None, environ, replay=store)
    LLM.connect("openai:first", store=store).ask("hi")
    LLM.connect("openai:second", store=store).ask("hi")
    LLM.connect("openai:elsewhere", store=store, base_url=loopback().url).ask("hi")
    choice = choose_model(None, None, environ, replay=store)
    assert choice.model == "openai:second" and "recorded it last" in choice.why
    assert choose_model(None, None, {}, replay=store).model == "openai:elsewhere"
    assert choose_model("named", None, environ, replay=store).model == "openai:named"
    assert server.model_lists == 0
