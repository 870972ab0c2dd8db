"""Which model is used, and why: `--model`, the variable, the inventory, then what there is access to."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon.errors import NoModel
from chameleon.llm import LLM, ResponseStore, choose_model
from chameleon.llm.capabilities import default_model, switch_off
from tests.llm.asking import Start, talking


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
    assert choice.model is None and "by the caller" in choice.why and "OPENAI_BASE_URL" in choice.why


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


def test_a_server_that_lists_nothing_is_an_error_with_what_to_do(loopback: Start) -> None:
    for server in (loopback(models=None), loopback(models=["nomic-embed-text"])):
        with pytest.raises(NoModel) as caught:
            choose_model(None, None, {"OPENAI_BASE_URL": server.url})
        assert caught.value.hint
    silent = loopback()
    silent.stop()
    with pytest.raises(NoModel, match=r"the server at http://127.* cannot be reached \(connection refused\)"):
        choose_model(None, None, {"OPENAI_BASE_URL": silent.url})
    with pytest.raises(NoModel, match="begins with http"):
        choose_model(None, None, {"OPENAI_BASE_URL": "localhost:8000/v1"})


def test_a_password_in_the_address_works_and_is_not_shown(loopback: Start) -> None:
    server = loopback(models=["m"])
    address = server.url.replace("//", "//user:pa55word@")
    choice = choose_model(None, None, {"OPENAI_BASE_URL": address})
    assert choice.model == "openai:m" and "pa55word" not in choice.why
    assert server.requests == [] and server.model_lists == 1


def test_an_unknown_model_is_answered_with_what_the_server_offers(loopback: Start) -> None:
    server = loopback(models=["qwen3:8b", "llama3.2:3b", "nomic-embed-text"], only_models=True)
    llm = LLM.connect("llama3.2:1b", retries=0)
    for _ in range(2):
        with pytest.raises(NoModel, match=r"The server offers: llama3\.2:3b, .*qwen3:8b"):
            llm.ask("hi")
    assert server.model_lists == 1


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n" + b"[" * 400_000,
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(200)) + b"\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnonsense",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    ],
    ids=["ssh", "deep", "headers", "chunks", "list"],
)
def test_what_does_not_speak_http_is_one_error(said: bytes) -> None:
    with talking(lambda connection: connection.sendall(said)) as address, pytest.raises(NoModel) as caught:
        choose_model(None, None, {"OPENAI_BASE_URL": address})
    assert caught.value.hint


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/ v1", "http://127.0.0.1:9/v1\n", "http://[::1/v1"])
def test_an_address_that_is_none_is_one_error(address: str) -> None:
    with pytest.raises(NoModel):
        choose_model(None, None, {"OPENAI_BASE_URL": address})
