"""What calls cost: by the prices that an inventory gives, else by those of the package `genai-prices`."""

from __future__ import annotations

from collections.abc import Sequence

from chameleon.llm.capabilities import catalogue
from chameleon.usage import Usage

Prices = Sequence[float]
"""US dollars for a million input tokens, output tokens and, where it differs, cached input tokens."""


def cost_of(
    model: str, usage: Usage, prices: Prices | None = None, written: int | None = None
) -> float | None:
    """Return the US dollars for one reply; None where its tokens or the prices are not known.

    Args:
        model: "provider:model"; behind a gateway, its provider's prices count as well.
        usage: the tokens.
        prices: those that are given.
        written: how many of the input tokens were written to the provider's cache.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    if prices is not None:
        cached = usage.cached_tokens or 0
        price_in, price_out, *rest = prices
        fresh = (usage.input_tokens - cached) * price_in
        return (
            fresh + cached * (rest[0] if rest else price_in) + usage.output_tokens * price_out
        ) / 1_000_000
    try:
        import genai_prices
    except ImportError:
        return None
    counts = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cached_tokens,
        "cache_write_tokens": written,
    }
    tokens = genai_prices.Usage(**{name: count for name, count in counts.items() if count is not None})
    provider, _, name = model.partition(":")
    try:
        listed = catalogue()["prices"].get(provider, provider)
        found = genai_prices.calc_price(tokens, model_ref=name, provider_id=listed)
    except (LookupError, ValueError):  # a model, or a kind of token, that the list does not have
        return None
    return float(found.total_price)
