"""What calls cost: by given prices, by the list of genai-prices, or not known."""

from __future__ import annotations

import sys

import pytest

from chameleon.llm.capabilities import default_model, providers_with_default
from chameleon.llm.prices import cost_of
from chameleon.usage import Usage

NOBODY = "openai:local-7b-of-mine"
MILLION = 1_000_000


def tokens(asked: int | None = MILLION, written: int | None = MILLION, cached: int = 0) -> Usage:
    return Usage(1, asked, written, None, cached)


@pytest.mark.parametrize(
    ("usage", "prices", "cost"),
    [
        (tokens(), (2.0, 8.0), 10.0),
        (tokens(11, 7), (2.0, 8.0), (22 + 56) / 1e6),
        (tokens(), (0, 0), 0),
        (tokens(cached=400_000), (2.0, 8.0, 0.5), 0.6 * 2 + 0.4 * 0.5 + 8),
        (tokens(cached=400_000), (2.0, 8.0), 10.0),
        (tokens(None), (1.0, 2.0), None),
        (tokens(5, None), (1.0, 2.0), None),
    ],
)
def test_given_prices_are_for_a_million_tokens(usage: Usage, prices: tuple[float, ...], cost: float) -> None:
    assert cost_of(NOBODY, usage, prices) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("model", "usage", "cost"),
    [
        ("openai:gpt-4.1-mini", tokens(), 0.4 + 1.6),
        ("openai:gpt-4.1-mini-2025-04-14", tokens(), 2.0),
        ("openai:gpt-4.1-mini", tokens(cached=MILLION), 0.1 + 1.6),
        ("openai:gpt-4.1-mini", tokens(None), None),
        *(
            (name, tokens(), None)
            for name in (NOBODY, "ollama:qwen3:8b", "nobody:x", "scripted:x", "openai:")
        ),
    ],
)
def test_a_model_costs_what_the_list_says(model: str, usage: Usage, cost: float | None) -> None:
    pytest.importorskip("genai_prices")
    assert cost_of(model, usage) == pytest.approx(cost)


def test_what_is_written_to_the_cache_costs_more_and_what_is_read_less() -> None:
    pytest.importorskip("genai_prices")
    plain, read, written = (
        cost_of("anthropic:claude-opus-4-5", tokens(100_000, 10, cached), None, kept) or 0
        for cached, kept in [(0, 0), (90_000, 0), (0, 90_000)]
    )
    assert 0 < read < plain < written


def test_without_the_package_only_given_prices_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert cost_of("openai:gpt-4.1-mini", tokens()) is None
    assert cost_of("openai:gpt-4.1-mini", tokens(), (1.0, 1.0)) == pytest.approx(2.0)


def test_the_default_models_of_the_large_providers_have_a_price() -> None:
    pytest.importorskip("genai_prices")
    priced = {each for each in providers_with_default() if cost_of(str(default_model(each)), tokens())}
    assert {"openai", "anthropic", "google_genai", "mistralai"} <= priced
