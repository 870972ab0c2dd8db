"""What calls cost: by the prices that an inventory gives, else by those of the package `genai-prices`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chameleon.lazy import cached_property
from chameleon.usage import Usage

Prices = Sequence[float]
"""US dollars for a million input tokens, output tokens and, where it differs, cached input tokens."""

# What genai-prices calls the providers of LangChain, where it calls them something else.
_PROVIDERS: Mapping[str, str] = {
    "google_genai": "google",
    "google_vertexai": "google",
    "mistralai": "mistral",
    "xai": "x-ai",
    "azure_openai": "azure",
    "bedrock": "aws",
    "bedrock_converse": "aws",
}


@dataclass(frozen=True)
class Pricing:
    """The prices of "provider:model": those that are given, else its provider's, behind a gateway as well."""

    model: str
    given: Prices | None = None

    def cost(self, usage: Usage, cache_written: int | None = None) -> float | None:
        """Return the US dollars for one reply; None where tokens or prices are not known.

        `cache_written` tokens of its input were put into the provider's cache.
        """
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        if self.given is not None:
            price_in, price_out, price_cached = (*self.given, self.given[0])[:3]
            cached = usage.cached_tokens or 0
            fresh = usage.input_tokens - cached
            return (fresh * price_in + cached * price_cached + usage.output_tokens * price_out) / 1_000_000
        if self._of_list is None:
            return None
        from genai_prices import Usage as ListedUsage

        provider, model = self._of_list
        try:
            tokens = ListedUsage(
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cache_read_tokens=usage.cached_tokens,
                cache_write_tokens=cache_written,
            )
            price = model.calc_price(tokens, provider, genai_request_timestamp=datetime.now(UTC))
        except (LookupError, ValueError):  # a kind of token that the list does not have
            return None
        return float(price.total_price)

    @cached_property
    def _of_list(self) -> Any:
        """Look the model up in the list, once: that takes longer than to sum up a reply."""
        try:
            from genai_prices import data_snapshot

            provider, _, name = self.model.partition(":")
            listed = _PROVIDERS.get(provider, provider)
            return data_snapshot.get_snapshot().find_provider_model(name, None, listed, None)
        except (ImportError, LookupError):  # a model that the list does not have
            return None
