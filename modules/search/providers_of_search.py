"""Choose the search provider: by name, or the first one that is configured."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from chameleon.errors import InventoryError
from chameleon.modules.search.duckduckgo import DuckDuckGo
from chameleon.modules.search.folder import DocumentFolder
from chameleon.modules.search.provider import WAYS, SearchProvider
from chameleon.modules.search.services import SERVICES
from chameleon.modules.search.wikipedia import LANGUAGE, Wikipedia
from chameleon.text import nearest
from chameleon.web import Web

ProviderName = Literal["auto", "brave", "tavily", "searxng", "bing", "ddgs", "wikipedia", "folder"]


@dataclass(frozen=True)
class SearchSettings:
    """Which provider to ask, and how.

    Attributes:
        endpoint: replaces the address of the provider or the environment.
        allow_private: whether `endpoint` may be in a private network.
        language: of Wikipedia; "" for the default.

    Raises:
        InventoryError: for settings that conflict on any machine.
    """

    provider: ProviderName = "auto"
    endpoint: str = ""
    folder: str = ""
    allow_private: bool = False
    language: str = ""

    def __post_init__(self) -> None:
        name = self.provider
        if name not in get_args(ProviderName):
            raise InventoryError(f"provider is {name!r}", hint=nearest(str(name), get_args(ProviderName)))
        if self.endpoint and name in ("auto", "ddgs", "folder"):
            # What auto finds depends on the machine, and one service's key must not go to another's address.
            hint = "Write provider: bing, or the provider that it belongs to, next to it."
            raise InventoryError(f"provider: {name} takes no endpoint", hint=hint)
        if name == "folder" and not self.folder:
            hint = "Write {use: web_search, provider: folder, folder: PATH}; docs/web_search.md shows it."
            raise InventoryError("provider: folder needs a folder", hint=hint)
        if self.language and not LANGUAGE.fullmatch(self.language):
            raise InventoryError(
                f"language is {self.language[:40]!r}, which is not a language of Wikipedia",
                hint="Write it as in its address: en, de, zh. For another wiki, set endpoint to its api.php.",
            )

    @property
    def is_folder(self) -> bool:
        """Return whether to search a folder rather than a service."""
        return self.provider == "folder" or (self.provider == "auto" and bool(self.folder))


def choose_provider(settings: SearchSettings, web: Web) -> SearchProvider:
    """Return the provider that these settings name.

    `auto` takes a folder if one is named, then the first of Brave, Tavily, SearXNG and Bing whose variables
    are set. DuckDuckGo and Wikipedia are used only by name, so that no question goes to them by accident.
    Raises `InventoryError` with all the options if no provider is configured.
    """
    name, endpoint = settings.provider, settings.endpoint
    if settings.is_folder:
        return DocumentFolder(Path(settings.folder).expanduser())
    if name == "ddgs":
        return DuckDuckGo(web)
    if name == "wikipedia":
        return Wikipedia(web, endpoint, settings.allow_private, settings.language)
    for service in SERVICES.values():
        if name == service.name or (name == "auto" and all(service.variables().values())):
            return service(web, endpoint, settings.allow_private)
    what = "no search provider is configured"
    for variables in (service.variables() for service in SERVICES.values()):
        if any(variables.values()):
            is_set, is_not = sorted(variables, key=lambda name: not variables[name])  # two, one of them set
            what += f": {is_set} is set, and {is_not} is not"
    raise InventoryError(what, hint=WAYS)
