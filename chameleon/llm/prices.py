"""The cost of calls, from an inventory's prices or from the package `genai-prices`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chameleon.lazy import cached_property
from chameleon.usage import Usage

Prices = Sequence[float]
"""US dollars per million input tokens, output tokens and, if different, cached input tokens."""

# Names in genai-prices of LangChain's providers, where they differ.
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
    """The prices of "provider:model": those set by the user, else its provider's, even behind a gateway."""

    model: str
    given: Prices | None = None

    def cost(self, usage: Usage, cache_written: int | None = None) -> float | None:
        """Return the US dollars for one reply, or None if tokens or prices are unknown.

        `cache_written` is how many of its input tokens were written to the provider's cache.
        """
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        if self.given is not None:
            price_in, price_out, price_cached = (*self.given, self.given[0])[:3]  # by default as input
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
        except (LookupError, ValueError):  # a kind of token missing from the list
            return None
        return float(price.total_price)

    @cached_property
    def _of_list(self) -> Any:
        """Look up the model in the list once, because that is slower than pricing a reply."""
        try:
            from genai_prices import data_snapshot

            provider, _, name = self.model.partition(":")
            provider_id = _PROVIDERS.get(provider, provider)
            return data_snapshot.get_snapshot().find_provider_model(name, None, provider_id, None)
        except (ImportError, LookupError):  # a model missing from the list
            return None
