"""How models are named, and how their clients are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from chameleon.errors import AuthFailed, MissingPackage, NoModel
from chameleon.llm import LLM
from chameleon.llm.providers import belongs_to_connection, full_name, own_server, providers

SERVER = {"OPENAI_BASE_URL": "http://localhost:11434/v1"}


@pytest.mark.parametrize(
    ("name", "environ", "expected"),
    [
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
    ],
)
def test_names_in_full_or_errors_that_name_the_nearest(
    name: str, environ: Mapping[str, str], expected: str
) -> None:
    if " " not in expected:
        assert full_name(name, environ) == expected
        return
    with pytest.raises(NoModel, match=expected):
        full_name(name, environ)


@pytest.mark.parametrize(
    ("model", "kind", "said"),
    [
        ("groq:llama", MissingPackage, "pip install 'langchain>=1,<2' 'langchain-groq'"),
        ("openai:gpt-4.1-mini", AuthFailed, "OPENAI_API_KEY"),
        ("google_genai:gemini", AuthFailed, "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, model: str, kind: type[Exception], said: str
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "k")
    with pytest.raises(kind, match=said):
        LLM.connect(model)


def test_every_provider_that_langchain_has_built_in_is_known() -> None:
    from langchain.chat_models import base

    assert set(providers()) <= set(base._BUILTIN_PROVIDERS)


def test_settings_of_the_connection_are_told_from_parameters_of_requests() -> None:
    settings = ("api_key", "base_url", "openai_api_key", "default_headers", "azure_endpoint")
    params = ("temperature", "max_tokens", "stop", "top_p", "seed", "reasoning_effort", "num_ctx")
    assert all(map(belongs_to_connection, settings)) and not any(map(belongs_to_connection, params))


VARIABLES = [
    *(("anthropic", "ANTHROPIC_BASE_URL"), ("anthropic", "ANTHROPIC_API_URL"), ("groq", "GROQ_API_BASE")),
    *(
        ("google_genai", "GOOGLE_GEMINI_BASE_URL"),
        ("mistralai", "MISTRAL_BASE_URL"),
        ("ollama", "OLLAMA_HOST"),
    ),
]


@pytest.mark.parametrize(("provider", "variable"), VARIABLES)
def test_addresses_of_the_environment_tell_servers_apart(provider: str, variable: str) -> None:
    assert own_server(provider, {}, {}) == ""
    assert own_server(provider, {}, {variable: "http://user:word@one:8000/v1/"}) == "http://one:8000/v1"
    assert own_server(provider, {}, {variable: "two:11434"}) == "http://two:11434"
    assert own_server(provider, {"base_url": "http://three"}, {variable: "two:1"}) == "http://three"


def test_a_pipeline_of_hugging_face_is_asked_for_its_continuation_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import langchain.chat_models as models

    given: dict[str, Any] = {}
    monkeypatch.setattr(models, "init_chat_model", lambda name, **arguments: given.update(arguments))
    for own in ({}, {"max_new_tokens": 9}):
        LLM.connect("huggingface:tiny/plans", **({"pipeline_kwargs": own} if own else {}))
        assert given["pipeline_kwargs"] == {"return_full_text": False, **own}
