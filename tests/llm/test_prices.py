"""What calls cost: by given prices, by the list of genai-prices, or not known."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.llm.capabilities import default_model
from chameleon.llm.prices import Pricing
from chameleon.usage import Usage

NOBODY = "openai:local-7b-of-mine"
counts = st.integers(0, 10_000_000)
some_prices = st.tuples(st.floats(0, 1_000), st.floats(0, 1_000), st.floats(0, 1_000))


def tokens(read: int | None = None, written: int | None = None, cached: int | None = None) -> Usage:
    return Usage(1, read, written, None, cached)


def million(cached: int = 0) -> Usage:
    return tokens(1_000_000, 1_000_000, cached)


@pytest.mark.parametrize(
    ("model", "prices", "usage", "cost"),
    [
        (NOBODY, (2.0, 8.0), million(), 10.0),
        (NOBODY, (2.0, 8.0), tokens(11, 7), (22 + 56) / 1e6),
        (NOBODY, (0, 0), million(), 0),
        (NOBODY, (2.0, 8.0, 0.5), million(400_000), 0.6 * 2 + 0.4 * 0.5 + 8),
        (NOBODY, (2.0, 8.0), million(400_000), 10.0),
        *[(NOBODY, (1.0, 2.0), part, None) for part in (tokens(), tokens(5), tokens(None, 5))],
        ("openai:gpt-4.1-mini", None, million(), 0.4 + 1.6),
        ("openai:gpt-4.1-mini", None, million(1_000_000), 0.1 + 1.6),
        ("openai:gpt-4.1-mini-2025-04-14", None, million(), 2.0),
        ("openai:gpt-4.1-mini", None, tokens(5), None),
        *[
            (name, None, million(), None)
            for name in (NOBODY, "ollama:qwen3:8b", "nobody:gpt-4.1-mini", "openai:")
        ],
    ],
)
def test_a_cost_is_that_of_given_prices_for_a_million_tokens_or_of_the_list(
    model: str, prices: tuple[float, ...] | None, usage: Usage, cost: float | None
) -> None:
    if prices is None:
        pytest.importorskip("genai_prices")
    assert Pricing(model, given=prices).cost(usage) == (cost if cost is None else pytest.approx(cost))


@given(counts, counts, counts, some_prices)
def test_a_cost_lies_between_that_of_all_cached_and_none(
    fresh: int, cached: int, out: int, prices: tuple[float, float, float]
) -> None:
    pricing, total = Pricing(NOBODY, given=prices), fresh + cached
    cost = pricing.cost(tokens(total, out, cached))
    ends = [pricing.cost(tokens(total, out, part)) for part in (0, total)]
    assert cost is not None and None not in ends
    low, high = sorted(end for end in ends if end is not None)
    assert low - 1e-9 <= cost <= high + 1e-9


def test_what_is_written_to_the_cache_costs_more_and_what_is_read_less() -> None:
    pytest.importorskip("genai_prices")
    pricing = Pricing("anthropic:claude-opus-4-5")
    counts = [(90_000, 0), (0, 0), (0, 90_000)]
    read, plain, written = (pricing.cost(tokens(100_000, 10, cached), kept) or 0 for cached, kept in counts)
    assert 0 < read < plain < written


def test_without_the_package_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert Pricing("openai:gpt-4.1-mini").cost(million()) is None


def test_the_large_providers_and_their_default_models_have_a_price() -> None:
    pytest.importorskip("genai_prices")
    models = [str(default_model(provider)) for provider in ("openai", "anthropic", "google_genai")]
    for model in (*models, "google_genai:gemini-2.5-flash", "mistralai:mistral-small-latest"):
        assert (Pricing(model).cost(million()) or 0) > 0
