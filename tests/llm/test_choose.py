"""Which model is used, and why: `--model`, the variable, the inventory, then what there is access to."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from chameleon.errors import NoModel
from chameleon.llm import LLM, ResponseStore, choose_model
from chameleon.llm.capabilities import (
    EFFORTS,
    Capabilities,
    default_model,
    section,
    switch_off,
)
from chameleon.llm.providers import providers
from chameleon.llm.quirks import WIRE_NAMES
from tests.llm.asking import Start

names = st.sampled_from([*WIRE_NAMES, "n", "top_k"])
some_names = st.frozensets(names)
efforts = st.lists(st.sampled_from(EFFORTS), unique=True).map(tuple)
models = st.builds(
    Capabilities,
    thinks=st.booleans(),
    efforts=efforts,
    default_effort=st.sampled_from(["", *EFFORTS]),
    refuses=some_names,
    refuses_thinking=some_names,
    apart=st.sampled_from([(), (("temperature", "top_p"),)]),
    thinking=st.sampled_from(["", "budget", "adaptive"]),
    most_output=st.none() | st.integers(1, 200_000),
)


def test_names_win_in_order_and_the_reason_is_said() -> None:
    environ = {"CHAMELEON_MODEL": "anthropic:claude", "OPENAI_API_KEY": "k"}
    assert choose_model("gpt-x", "ollama:m", environ).why == "model openai:gpt-x, because the caller names it"
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
    assert choice.model is None and "OPENAI_API_KEY" in choice.why and "OPENAI_BASE_URL" in choice.why


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


def test_a_model_that_is_chosen_tells_when_it_ends() -> None:
    choice = choose_model("gpt-4.1-mini", None, {})
    assert choice.ends == str(switch_off("openai:gpt-4.1-mini")) and "2027-01-14" in choice.ends
    assert str(choice) == f"{choice.why}; {choice.ends}"
    assert choose_model(None, None, {"ANTHROPIC_API_KEY": "k"}).ends == ""


def test_every_key_chooses_a_model_that_is_not_switched_off() -> None:
    for provider in section("defaults"):
        choice = choose_model(None, None, {providers()[provider].keys[0]: "k"})
        assert (choice.model, choice.ends) == (default_model(provider), "")
