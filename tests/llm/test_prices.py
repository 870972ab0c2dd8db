"""What calls cost: by given prices, by the list of genai-prices, or not known."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.llm.capabilities import default_model, section
from chameleon.llm.prices import Pricing, TokenCounts

NOBODY = "openai:local-7b-of-mine"
counts = st.integers(0, 10_000_000)
some_prices = st.tuples(st.floats(0, 1_000), st.floats(0, 1_000), st.floats(0, 1_000))


def million(cached: int = 0) -> TokenCounts:
    return TokenCounts(1_000_000, 1_000_000, cached)


def test_given_prices_are_for_a_million_tokens() -> None:
    assert Pricing(NOBODY, given=(2.0, 8.0)).cost(million()) == pytest.approx(10.0)
    assert Pricing(NOBODY, given=(2.0, 8.0)).cost(TokenCounts(11, 7)) == pytest.approx((22 + 56) / 1e6)
    assert Pricing(NOBODY, given=(0, 0)).cost(million()) == 0


def test_cached_tokens_cost_less_where_their_price_is_given() -> None:
    assert Pricing(NOBODY, given=(2.0, 8.0, 0.5)).cost(million(400_000)) == pytest.approx(
        0.6 * 2 + 0.4 * 0.5 + 8
    )
    assert Pricing(NOBODY, given=(2.0, 8.0)).cost(million(400_000)) == pytest.approx(10.0)


@given(counts, counts, counts, some_prices)
def test_a_cost_lies_between_that_of_all_cached_and_none(
    fresh: int, cached: int, out: int, prices: tuple[float, float, float]
) -> None:
    pricing, total = Pricing(NOBODY, given=prices), fresh + cached
    cost = pricing.cost(TokenCounts(total, out, cached))
    ends = [pricing.cost(TokenCounts(total, out, part)) for part in (0, total)]
    assert cost is not None and None not in ends
    low, high = sorted(end for end in ends if end is not None)
    assert low - 1e-9 <= cost <= high + 1e-9


@pytest.mark.parametrize("tokens", [TokenCounts(), TokenCounts(5), TokenCounts(None, 5)])
@pytest.mark.parametrize("given_prices", [None, (1.0, 2.0)])
def test_unknown_tokens_have_no_known_cost(
    tokens: TokenCounts, given_prices: tuple[float, float] | None
) -> None:
    assert Pricing("openai:gpt-4.1-mini", given=given_prices).cost(tokens) is None


def test_a_listed_model_costs_what_the_list_says() -> None:
    pytest.importorskip("genai_prices")
    pricing = Pricing("openai:gpt-4.1-mini")
    assert pricing.cost(million()) == pytest.approx(0.4 + 1.6)
    assert pricing.cost(million(1_000_000)) == pytest.approx(0.1 + 1.6)
    assert Pricing("openai:gpt-4.1-mini-2025-04-14").cost(million()) == pytest.approx(2.0)


def test_what_is_written_to_the_cache_costs_more_and_what_is_read_less() -> None:
    pytest.importorskip("genai_prices")
    pricing = Pricing("anthropic:claude-opus-4-5")
    plain, read, written = (
        pricing.cost(TokenCounts(100_000, 10, cached, kept))
        for cached, kept in [(0, 0), (90_000, 0), (0, 90_000)]
    )
    assert plain is not None and read is not None and written is not None
    assert read < plain < written


@pytest.mark.parametrize("model", [NOBODY, "ollama:qwen3:8b", "nobody:gpt-4.1-mini", "scripted:x", "openai:"])
def test_a_model_that_is_not_listed_has_no_known_cost(model: str) -> None:
    assert Pricing(model).cost(million()) is None
    assert Pricing(model, given=(1.0, 2.0)).cost(million()) == pytest.approx(3.0)


def test_without_the_package_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert Pricing("openai:gpt-4.1-mini").cost(million()) is None
    assert Pricing("openai:gpt-4.1-mini", given=(1.0, 1.0)).cost(million()) == pytest.approx(2.0)


@pytest.mark.parametrize("model", ["google_genai:gemini-2.5-flash", "mistralai:mistral-small-latest"])
def test_providers_are_called_by_the_names_that_the_list_has(model: str) -> None:
    pytest.importorskip("genai_prices")
    assert (Pricing(model).cost(million()) or 0) > 0


def test_the_default_models_of_the_large_providers_have_a_price() -> None:
    pytest.importorskip("genai_prices")
    priced = {
        provider for provider in section("defaults") if Pricing(str(default_model(provider))).cost(million())
    }
    assert {"openai", "anthropic", "google_genai"} <= priced
