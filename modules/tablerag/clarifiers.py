"""Explain the terms of a table, and describe it with respect to the question (TableRAG)."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from chameleon import LLMModule, State, Table
from chameleon.core.module import Keys
from chameleon.core.prompt import TableView
from chameleon.errors import ChameleonError
from chameleon.modules.search.providers_of_search import ProviderName, SearchSettings
from chameleon.modules.search.search import SearchModule as Search
from chameleon.modules.tablerag.answer import passages_in
from chameleon.text import one_line

_FENCE = re.compile(r"```[a-zA-Z0-9]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_MAX_CAPTION_CHARS = 120
_NO_SEARCH = "no search is set up"


class TermClarifier(LLMModule):
    """Explains names, codes and units in the table that a reader may not know."""

    prompt = "tablerag/term_clarifier"
    reads = ("input.question", "input.table", "input.passages?", "input.history?")
    writes = ("cache.terms",)
    _takes_cut_off = True  # the terms explained so far are useful
    table_view = TableView(max_rows=20)

    def slots(self, state: State) -> dict[str, Any]:
        return super().slots(state) | {"passages": passages_in(state, self.table_view)}

    def parse(self, text: str) -> str:
        """Return a line for each term, or the reply as it is if it is not JSON with terms."""
        terms = terms_in(text)
        if terms is None:
            return _FENCE.sub(r"\1", text).strip()
        return "\n".join(f"{term}: {meaning}" for term, meaning in terms.items())


def terms_in(text: str) -> dict[str, str] | None:
    """Return the explanations by term, from JSON that is bare, fenced or in prose, or None."""
    try:
        value = json.loads(text[text.find("{") : text.rfind("}") + 1], strict=False)
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(meaning, str) for meaning in value.values()):
        return None
    return {" ".join(term.split()): " ".join(note.split()) for term, note in value.items() if note.strip()}


class WikiClarifier(LLMModule):
    """Describes the table in the light of the question, with articles about its subject if it may search."""

    prompt = "tablerag/wiki_clarifier"
    reads = ("input.question", "input.table", "input.passages?", "input.history?")
    writes = ("cache.summary",)
    uses: ClassVar[Keys] = ("model", "web")
    _takes_cut_off = True
    table_view = TableView(max_rows=20)

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
        """Take settings, all optional.

        The query is the caption and, if that finds nothing, the words of the header; never the question. If
        no search is possible, only the table is described, and the output says why.

        Args:
            provider: where to look up articles ("wikipedia" as published), or "none".
            documents: how many to request (2 as published).
            characters: how much of each is shown; the others are as in `web_search` and `wikipedia_search`.
        """
        self.documents = documents
        name: ProviderName = "auto" if provider == "none" else provider
        settings = SearchSettings(name, endpoint, folder, allow_private=allow_private, language=language)
        self.search = None if provider == "none" else Search(settings, documents, characters, timeout)

    def runtime_info(self) -> Mapping[str, Any]:
        """Return the search provider, or the reason for not searching."""
        if self.search is None:
            return {"without": _NO_SEARCH}
        try:
            self.search.check()
        except ChameleonError as problem:
            return {"without": problem.what}
        return self.search.runtime_info()

    def run(self, state: State) -> dict[str, Any]:
        """Return `summary`, `documents` (title and address), and the reason if a search failed."""
        documents, details = self._results(state.input["table"])
        # Each document is on a separate line, so that its text cannot start another one.
        lines = (f"{n}. {each['title'] or 'Untitled'}: {each['text']}" for n, each in enumerate(documents, 1))
        view = replace(state, cache={**state.cache, "documents": "\n".join(lines)})
        links = [{key: each[key] for key in ("title", "url")} for each in documents]
        return {"summary": super().run(view), "documents": links} | details

    def slots(self, state: State) -> dict[str, Any]:
        return super().slots(state) | {"passages": passages_in(state, self.table_view)}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"summary": output["summary"]}

    def _results(self, table: Table) -> tuple[list[Mapping[str, str]], dict[str, str]]:
        """Return the results for the caption, or else for the header, and details for the output."""
        if self.search is None:
            return [], {"without": _NO_SEARCH}
        details = {"without": "the table has no caption and no header"}
        for query in subjects_of(table):
            details = {"query": query}
            try:
                if results := self.search.run(State(cache=details))["results"]:
                    return results, details
            except ChameleonError as problem:
                return [], details | {"without": problem.what}
        return [], details


def subjects_of(table: Table) -> list[str]:
    """Return the queries to try until one finds something: the caption, then the header."""
    header = " ".join(name for name in table.header if name.strip())
    return [line for text in (table.caption, header) if (line := one_line(text, _MAX_CAPTION_CHARS))]
