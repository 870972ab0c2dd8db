"""Searching: one interface for all providers, and how results are quoted to a model."""

from __future__ import annotations

from chameleon.modules.search.choose import Settings, choose_provider
from chameleon.modules.search.provider import Provider, SearchResult
from chameleon.modules.search.quoting import quoted
from chameleon.modules.search.search_module import SearchModule

__all__ = ["Provider", "SearchModule", "SearchResult", "Settings", "choose_provider", "quoted"]
