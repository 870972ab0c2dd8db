"""Describe the table in the light of the question, with articles about it (TableRAG's table summary)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from chameleon import LLMModule, State, Table
from chameleon.errors import ChameleonError, EmptyReply, StepRejected
from chameleon.module import Keys
from chameleon.modules.search.choose import ProviderName, Settings, choose_provider
from chameleon.modules.search.provider import SearchProvider, SearchResult
from chameleon.modules.tablerag.conversation import turns
from chameleon.web import Limits, PageCache, Web, one_line

_LONGEST_CAPTION = 120


class WikiClarifier(LLMModule):
    """Describes the table in the light of the question, with articles about its subject if it may search."""

    prompt = "tablerag/wiki_clarifier"
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
        language: str = "en",
        timeout: float = 20.0,
        user_agent: str = "",
        allow_private: bool = False,
    ) -> None:
        """`provider`: where articles are looked up ("wikipedia" as published), "none" for nowhere.

        - `documents`: how many are asked for, 2 as published; `characters` of each are shown.
        - the others: as for `web_search` and `wikipedia_search`.

        The caption is searched for and, where that finds nothing, the words of the header; never the
        question. Where nothing can be searched, the table alone is described, and the output says why.
        """
        self.provider, self.documents, self.characters = provider, documents, characters
        self._settings = Settings(
            "auto" if provider == "none" else provider,
            endpoint,
            folder,
            allow_private=allow_private,
            language=language,
        )
        self._web = Web(Limits(seconds=timeout), user_agent=user_agent)
        self._source: SearchProvider | str = "no search is set up"

    def resolved(self) -> Mapping[str, Any]:
        """The provider that is asked, or why none is."""
        source = self._provider()
        return {"without": source} if isinstance(source, str) else source.resolved()

    def setup(self) -> None:
        self._web = replace(self._web, cache=PageCache.default())
        self._source = self._provider()

    def run(self, state: State) -> dict[str, Any]:
        """`summary`; `documents`, by title and address; and what went wrong, where something did."""
        documents, told = self._documents(state.input["table"])
        shown = {"documents": _lines(documents, self.characters), "history": turns(state)}
        messages = self.template.render(self.slots(state) | shown)
        try:
            reply = self.model.ask(messages, whole=False, **self.stop_params)
        except EmptyReply as empty:
            raise StepRejected(empty.what, hint=empty.hint) from None
        return {"summary": self.parse(reply.text)} | told

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"summary": output["summary"]}

    def _documents(self, table: Table) -> tuple[list[SearchResult], dict[str, Any]]:
        """What is found by the caption, or else by the header, and what is told of it."""
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

    def _provider(self) -> SearchProvider | str:
        if self.provider == "none":
            return "no search is set up"
        try:
            provider = choose_provider(self._settings, self._web)
            provider.check()
        except ChameleonError as problem:
            return problem.what
        return provider


def subjects_of(table: Table) -> list[str]:
    """What to look up, one after the other until something is found: the caption, the words of the header."""
    header = " ".join(name for name in table.header if name.strip())
    return [line for text in (table.caption, header) if (line := one_line(text, _LONGEST_CAPTION))]


def _lines(documents: Sequence[SearchResult], characters: int) -> str:
    """Each document on a line of its own, so that none can begin another."""
    lines = (
        f"{number}. {one_line(each.title, 150) or 'Untitled'}: {one_line(each.text, characters)}"
        for number, each in enumerate(documents, 1)
    )
    return "\n".join(lines)
