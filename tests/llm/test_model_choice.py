"""Which model is used, and why; how models are named, and how their clients are made."""

from typing import Any

import pytest
from langchain.chat_models import base as langchain_models

from chameleon.errors import AuthFailed, MissingPackage, ModelError, NoModel
from chameleon.llm import LLM, ResponseStore, choose_model
from chameleon.llm.capabilities import default_model, section, switch_off
from chameleon.llm.model_choice import ModelChoice, offered_models
from chameleon.llm.providers import belongs_to_connection, full_name, own_server, providers
from tests.llm.asking import Start, failing, local, talking
from tests.loopback import Fault

KEY = {"OPENAI_API_KEY": "k"}
AT_OPENAI = {**KEY, "OPENAI_BASE_URL": "https://api.openai.com/v1"}
CLAUDE = {**KEY, "CHAMELEON_MODEL": "anthropic:claude"}
LUNA = str(default_model("openai"))


def at(address: str, **options: ResponseStore) -> ModelChoice:
    return choose_model(None, None, {"OPENAI_BASE_URL": address}, **options)


def test_names_win_in_order() -> None:
    for flag, inventory, environ, model, why in (
        ("gpt-x", "ollama:m", CLAUDE, "openai:gpt-x", "the caller names it"),
        (None, "ollama:m", CLAUDE, "anthropic:claude", "CHAMELEON_MODEL"),
        ("", "ollama:m", KEY, "ollama:m", "the inventory's llm.model"),
        (None, None, KEY, LUNA, "OPENAI_API_KEY is set"),
        (None, None, AT_OPENAI, LUNA, "OPENAI_API_KEY is set"),
        (None, None, {}, None, "no key such as OPENAI_API_KEY is set"),
        (None, None, {"NVIDIA_API_KEY": "k"}, None, "no default is known for NVIDIA_API_KEY"),
    ):
        choice = choose_model(flag, inventory, environ)
        assert choice.model == model and why in choice.why


def test_every_key_chooses_a_model_that_is_not_switched_off() -> None:
    for provider in section("defaults"):
        choice = choose_model(None, None, {providers()[provider].keys[0]: "k"})
        assert (choice.model, choice.ends) == (default_model(provider), "")
    ends = choose_model("gpt-4.1-mini", None, {})
    assert ends.ends == switch_off("openai:gpt-4.1-mini") and str(ends) == f"{ends.why}; {ends.ends}"


def test_a_server_is_asked_for_its_models(loopback: Start) -> None:
    one = at(loopback(models=["qwen3:8b"]).url)
    assert one.model == "openai:qwen3:8b" and "the only model" in one.why
    assert LLM.connect(str(one.model)).ask("hi").text == "ok"
    many = loopback(models=["nomic-embed-text", "llama3", "qwen3"])
    choice = choose_model(None, None, {"OPENAI_BASE_URL": many.url, "OPENAI_API_KEY": "k"})
    assert choice.model == "openai:llama3" and "the first chat model of 3" in choice.why
    address = many.url.replace("//", "//user:pa55word@")  # a password works and is not shown
    assert [*offered_models(address)] == many.models and "pa55word" not in at(address).why


def test_a_replay_takes_the_model_recorded_last(loopback: Start, store: ResponseStore) -> None:
    server = loopback()
    with pytest.raises(NoModel, match="no recorded reply to replay"):
        at(server.url, replay=store)
    LLM.connect("openai:first", store=store).ask("hi")
    LLM.connect("openai:second", store=store).ask("hi")
    LLM.connect("openai:elsewhere", store=store, base_url=loopback().url).ask("hi")
    choice = at(server.url, replay=store)
    assert choice.model == "openai:second" and "recorded it last" in choice.why
    assert choose_model(None, None, {}, replay=store).model == "openai:elsewhere"
    assert choose_model("named", None, {}, replay=store).model == "openai:named"
    assert server.model_lists == 0


def test_a_server_that_lists_nothing_is_an_error_with_what_to_do(loopback: Start) -> None:
    for server in (loopback(models=None), loopback(models=["nomic-embed-text"])):
        with pytest.raises(NoModel) as caught:
            at(server.url)
        assert caught.value.hint
    server.stop()
    for address, said in ((server.url, r"reached \(connection refused\)"), ("localhost:80", "http")):
        with pytest.raises(NoModel, match=said):
            at(address)


def test_an_unknown_model_is_answered_with_what_the_server_offers(loopback: Start) -> None:
    server = loopback(models=["qwen3:8b", "llama3.2:3b", "nomic-embed-text"], only_models=True)
    llm = LLM.connect("llama3.2:1b", retries=0)
    for _ in range(2):
        with pytest.raises(NoModel, match=r"The server offers: llama3\.2:3b, .*qwen3:8b"):
            llm.ask("hi")
    assert server.model_lists == 1


def test_a_500_about_a_model_or_a_schema_is_not_tried_again(loopback: Start) -> None:
    server = loopback([Fault(500, "Internal Server Error")], models=["qwen3", "llama3"])
    with pytest.raises(NoModel, match=r"openai:local is not a model of this server.*llama3, qwen3"):
        local(retries=4).ask("hi")
    assert len(server.requests) == 1
    server = loopback([failing("response_format: Input should be 'text'", 500)], models=["local"])
    with pytest.raises(ModelError, match="does not take this output schema"):
        local(retries=4).ask("hi", schema={"type": "object", "properties": {}})
    assert len(server.requests) == 1


NO_HTTP = {
    "ssh": b"SSH-2.0-OpenSSH_9.6\r\n",
    "deep": b"HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n" + b"[" * 400_000,
    "headers": b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(200)) + b"\r\n{}",
    "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnonsense",
    "list": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
}


def test_what_does_not_speak_http_is_one_error() -> None:
    for said in NO_HTTP.values():
        send = talking(lambda connection, said=said: connection.sendall(said))
        with send as url, pytest.raises(NoModel) as caught:
            at(url)
        assert caught.value.hint
    for address in ("http://127.0.0.1:9/ v1", "http://127.0.0.1:9/v1\n", "http://[::1/v1"):
        with pytest.raises(NoModel):
            offered_models(address)


SERVER = {"OPENAI_BASE_URL": "http://localhost:11434/v1"}


def test_names_in_full_or_the_nearest() -> None:
    for name, environ, expected in (
        ("gpt-4.1-mini", {}, "openai:gpt-4.1-mini"),
        (" google-genai:gemini-x ", {}, "google_genai:gemini-x"),
        ("ollama:llama3:8b", {}, "ollama:llama3:8b"),
        ("ft:gpt-4o:org::id", {}, "openai:ft:gpt-4o:org::id"),
        ("llama3:8b", SERVER, "openai:llama3:8b"),
        ("claude-opus-5", SERVER, "openai:claude-opus-5"),
        ("claude-opus-5", {}, "Did you mean anthropic:claude-opus-5"),
        ("antropic:claude", {}, "Did you mean anthropic:claude"),
        ("zzz:q", {}, "There are: anthropic, "),
        ("openai:", {}, "names no model"),
    ):
        if " " not in expected:
            assert full_name(name, environ) == expected
            continue
        with pytest.raises(NoModel, match=expected):
            full_name(name, environ)


def test_what_lacks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "k")
    for model, kind, said in (
        ("groq:llama", MissingPackage, "pip install 'langchain>=1,<2' 'langchain-groq'"),
        ("openai:gpt-4.1-mini", AuthFailed, "OPENAI_API_KEY"),
        ("google_genai:gemini", AuthFailed, "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ):
        with pytest.raises(kind, match=said):
            LLM.connect(model)


def test_settings_of_the_connection_are_no_parameters_and_all_providers_are_langchains() -> None:
    settings = ("api_key", "base_url", "openai_api_key", "default_headers", "azure_endpoint")
    params = ("temperature", "max_tokens", "stop", "top_p", "seed", "reasoning_effort", "num_ctx")
    assert all(map(belongs_to_connection, settings)) and not any(map(belongs_to_connection, params))
    assert set(providers()) <= set(langchain_models._BUILTIN_PROVIDERS)


VARIABLES = """
anthropic ANTHROPIC_BASE_URL | anthropic ANTHROPIC_API_URL | groq GROQ_API_BASE
google_genai GOOGLE_GEMINI_BASE_URL | mistralai MISTRAL_BASE_URL | ollama OLLAMA_HOST
azure_openai AZURE_OPENAI_ENDPOINT
"""


def test_addresses_of_the_environment_tell_servers_apart() -> None:
    for provider, variable in (pair.split() for pair in VARIABLES.replace("\n", "|").strip("|").split("|")):
        assert own_server(provider, {}, {}) == ""
        assert own_server(provider, {}, {variable: "http://user:word@one:8000/v1/"}) == "http://one:8000/v1"
        assert own_server(provider, {}, {variable: "two:11434"}) == "http://two:11434"
        assert own_server(provider, {"base_url": "http://three"}, {variable: "two:1"}) == "http://three"


def test_a_pipeline_of_hugging_face_gives_its_continuation_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr("langchain.chat_models.init_chat_model", lambda name, **made: given.update(made))
    for own in ({}, {"max_new_tokens": 9}):
        LLM.connect("huggingface:tiny/plans", **({"pipeline_kwargs": own} if own else {}))
        assert given["pipeline_kwargs"] == {"return_full_text": False, **own}
