"""Choose the provider that is asked: by name, or the first one that is configured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chameleon.errors import InventoryError
from chameleon.modules.search.duckduckgo import DuckDuckGo
from chameleon.modules.search.folder import DocumentFolder
from chameleon.modules.search.provider import WAYS, SearchProvider, WebProvider
from chameleon.modules.search.services import SERVICES
from chameleon.modules.search.wikipedia import Wikipedia
from chameleon.web import Web

ProviderName = Literal["auto", "brave", "tavily", "searxng", "bing", "ddgs", "wikipedia", "folder"]


@dataclass(frozen=True)
class Settings:
    """How a provider is asked.

    `endpoint` takes the place of the provider's own or the environment's, and may lie in a private network if
    `allow_private`.
    """

    provider: ProviderName = "auto"
    endpoint: str = ""
    folder: str = ""
    allow_private: bool = False
    language: str = "en"


def choose_provider(settings: Settings, web: Web) -> SearchProvider:
    """Return the provider that these settings name.

    `auto` takes a folder if one is named, then the first of Brave, Tavily, SearXNG and Bing whose variables
    are set. DuckDuckGo and Wikipedia are asked only by name, so that nobody's questions go to them by
    accident. Raises `InventoryError` naming all ways when there is none.
    """
    name, endpoint = settings.provider, settings.endpoint
    if endpoint and name in ("auto", "ddgs", "folder"):
        # What auto finds depends on the machine, and one service's key must not go to another's address.
        raise InventoryError(
            f"provider: {name} takes no endpoint", hint="Name the provider that it belongs to."
        )
    if name == "folder" and not settings.folder:
        raise InventoryError(
            "provider: folder needs a folder",
            hint="Write {use: web_search, provider: folder, folder: PATH}; docs/search.md shows it.",
        )
    if name == "folder" or (name == "auto" and settings.folder):
        return DocumentFolder(Path(settings.folder).expanduser())
    if name == "ddgs":
        return DuckDuckGo(web)
    if name == "wikipedia":
        return Wikipedia.of(settings.language, web, endpoint, settings.allow_private)
    for service in SERVICES.values():
        if name == service.name or (name == "auto" and service.is_configured):
            return WebProvider(service, web, endpoint, settings.allow_private)
    raise InventoryError("no search provider is configured", hint=WAYS)
