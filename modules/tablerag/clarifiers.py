"""Say what a table is about: its terms, and a description in the light of the question (TableRAG)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from chameleon import LLMModule, State, Table
from chameleon.errors import ChameleonError
from chameleon.module import Keys
from chameleon.modules.search.choose import ProviderName, Settings, choose_provider
from chameleon.modules.search.provider import SearchProvider, SearchResult
from chameleon.text import one_line
from chameleon.web import Limits, PageCache, Web

_FENCE = re.compile(r"```[a-zA-Z0-9]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_CURLY_QUOTES = str.maketrans("“”„", '"""')
_LONGEST_CAPTION = 120


class TermClarifier(LLMModule):
    """Explains names, codes and units in the table that a reader may not know."""

    prompt = "tablerag/term_clarifier"
    reads = ("input.question", "input.table")
    writes = ("cache.terms",)
    takes_cut_off = True  # the terms that were explained are of use
    max_rows: int | None = 20

    def slots(self, state: State) -> dict[str, Any]:
        return super().slots(state) | {"history": None}  # terms mean what they mean; as published

    def parse(self, text: str) -> str:
        """Return a line for each term, or the text of a reply that is no JSON of terms."""
        found = terms_in(text)
        if found is None:
            return _FENCE.sub(r"\1", text).strip()
        return "\n".join(f"{term}: {meaning}" for term, meaning in found.items())


def terms_in(text: str) -> dict[str, str] | None:
    """Return the explanations by term, from JSON by itself, fenced, nested or in prose; None without it."""
    plain = text.translate(_CURLY_QUOTES)
    try:
        value = json.loads(plain[plain.find("{") : plain.rfind("}") + 1], strict=False)
    except (ValueError, RecursionError):
        return None
    if len(value) == 1 and isinstance(inner := next(iter(value.values())), dict):
        value = inner
    if not all(isinstance(meaning, str) for meaning in value.values()):
        return None
    return {" ".join(term.split()): " ".join(said.split()) for term, said in value.items() if said.strip()}


class WikiClarifier(LLMModule):
    """Describes the table in the light of the question, with articles about its subject if it may search."""

    prompt = "tablerag/wiki_clarifier"
    own_slots = frozenset(["documents"])
    reads = ("input.question", "input.table", "input.history?")
    writes = ("cache.summary",)
    uses: ClassVar[Keys] = ("model", "web")
    takes_cut_off = True
    max_rows: int | None = 20

    def __init__(
        self,
        provider: ProviderName | Literal["none"] = "none",
        *,
        documents: PositiveInt = 2,
        characters: PositiveInt = 1000,
        endpoint: str = "",
        folder: str = "",
        language: str = "",
        timeout: float = 20.0,
        allow_private: bool = False,
    ) -> None:
        """`provider`: where articles are looked up ("wikipedia" as published), "none" for nowhere.

        - `documents`: how many are asked for, 2 as published; `characters` of each are shown.
        - the others: as for `web_search` and `wikipedia_search`.

        The caption is searched for and, where that finds nothing, the words of the header; never the
        question. Where nothing can be searched, the table alone is described, and the output says why.
        """
        self.provider, self.documents, self.characters = provider, documents, characters
        named: ProviderName = "auto" if provider == "none" else provider
        self._settings = Settings(named, endpoint, folder, allow_private=allow_private, language=language)
        self._web = Web(Limits(seconds=timeout))
        self._source: SearchProvider | str = "no search is set up"

    def runtime_info(self) -> Mapping[str, Any]:
        """Return the provider that is asked, or why none is."""
        source = self._find_provider()
        return {"without": source} if isinstance(source, str) else source.runtime_info()

    def setup(self) -> None:
        if self.provider != "none" and not self._settings.is_folder:
            self._web = replace(self._web, cache=PageCache.default())
        self._source = self._find_provider()

    def run(self, state: State) -> dict[str, Any]:
        """Return `summary`; `documents`, by title and address; and what went wrong, where something did."""
        documents, told = self._search(state.input["table"])
        # Each document stands on a line of its own, so that none can begin another.
        lines = (
            f"{number}. {one_line(each.title, 150) or 'Untitled'}: {one_line(each.text, self.characters)}"
            for number, each in enumerate(documents, 1)
        )
        shown = replace(state, cache={**state.cache, "documents": "\n".join(lines)})
        return {"summary": super().run(shown)} | told

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"summary": output["summary"]}

    def _search(self, table: Table) -> tuple[list[SearchResult], dict[str, Any]]:
        """Return what is found by the caption, or else by the header, and what is told of it."""
        queries = subjects_of(table)
        if isinstance(self._source, str) or not queries:
            why = self._source if isinstance(self._source, str) else "the table has no caption and no header"
            return [], {"documents": [], "without": why}
        found: list[SearchResult] = []
        query = ""
        for query in queries:
            try:
                found = self._source.search(query, self.documents)
            except ChameleonError as problem:
                return [], {"documents": [], "query": query, "without": problem.what}
            if found:
                break
        listed = [{"title": result.title, "url": result.url} for result in found]
        return found, {"documents": listed, "query": query}

    def _find_provider(self) -> SearchProvider | str:
        """Return the provider, or why there is none."""
        if self.provider == "none":
            return "no search is set up"
        try:
            provider = choose_provider(self._settings, self._web)
            provider.check()
        except ChameleonError as problem:
            return problem.what
        return provider


def subjects_of(table: Table) -> list[str]:
    """Return what to look up, one after the other until something is found: the caption, then the header."""
    header = " ".join(name for name in table.header if name.strip())
    return [line for text in (table.caption, header) if (line := one_line(text, _LONGEST_CAPTION))]
