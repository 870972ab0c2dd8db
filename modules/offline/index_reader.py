"""Answer from one of the tables of an index without a model: the one that has the question's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from chameleon import Declined, State, Table
from chameleon.core.module import Traits
from chameleon.modules.documents.table_choice import Candidate, retrieved
from chameleon.modules.offline.table_reader import TableReader
from chameleon.modules.offline.words import language_of
from chameleon.modules.tablerag.table_retriever import source_of

_MOST_CELLS, _LONGEST = 500_000, 60
_NAME_IT = "Ask again with words that only the name of one has."

Found = tuple[Candidate, dict[str, Any]]


class IndexReader(TableReader):
    """Answers from the found table that has the question's words, without a model, or declines."""

    reads = ("input.question", "input.choices?", "input.unit?", "input.index", "cache.retrieved")
    writes = (*TableReader.writes, "input.table", "input.tables", "cache.table_choice")
    traits = Traits(non_text=(*TableReader.traits.non_text, "cache.table_choice"))

    def __init__(
        self,
        ahead: float = 1.5,
        at_least: Annotated[float, Field(ge=0, le=1)] = 0.0,
        max_table_rows: PositiveInt = 200_000,
    ) -> None:
        """Set when a table is a rival of the first: unless that has `ahead` times its score.

        `at_least`, `max_table_rows`: as for `table_reader`.
        """
        super().__init__(at_least, "text", max_table_rows)
        self.ahead = ahead

    def run(self, state: State) -> dict[str, Any]:
        """Return the output of the table that answers. Raises `Declined` where none or no single one does.

        Of the tables found, those count that have as many of the question's telling words as any of them, and
        of these the first with its rivals: all of them must answer alike, unless one is a part of another.
        """
        words, (found, passages) = telling_words(state.input["question"]), retrieved(state)
        had = {each.id: covered(words, _texts_in(each)) for each in found}
        most = max(map(len, had.values()), default=0)
        texts = [document for document, _ in passages]
        named = [covered(words, [text.name, text.text, *text.source.values()]) for text in texts]
        said = max((len(covered(words, [text.text])) for text in texts), default=0)
        if max(map(len, named), default=0) > most or said == most > 1:  # one word alone says nothing
            raise Declined("the question may be about a text, and no model reads it")
        if not found or (words and not most):
            raise Declined("no table in the index has to do with the question")
        fitting = [each for each in found if len(had[each.id]) == most]
        first = fitting[0].score
        near = [each for each in fitting if first <= 0 or each.score * self.ahead >= first]
        (chosen, output), *agreeing = self._agreeing(state, near)
        told = [text for word, text in words.items() if word in had[chosen.id]]
        choice: dict[str, Any] = {**chosen.to_json(), "words": told, "tried": len(near)}
        choice |= {"agreeing": [each.id for each, _ in agreeing]} if agreeing else {}
        sources = [
            source_of(each.to_json())
            | {key: value for key, value in out["sources"][0].items() if key != "table"}
            for each, out in ((chosen, output), *agreeing)
        ]
        return {**output, "sources": sources, "table_choice": choice, "table": chosen.table}

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"table": output["table"], "tables": []}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {**super().update_cache(cache, output), "table_choice": output["table_choice"]}

    def _agreeing(self, state: State, near: Sequence[Candidate]) -> list[Found]:
        """Return the tables that answer, and what. Raises `Declined` where they differ, or one does not."""
        came = {each.id: self._tried(state, each) for each in near}
        whole = [each.table for each in near if isinstance(came[each.id], dict)]
        if not whole and isinstance(why := came[near[0].id], Declined):
            what = f"of the table that fits best, {near[0].called}: {why.what}"
            raise Declined(what, hint=why.hint)
        near = [each for each in near if not _is_part(each.table, whole)]
        fits = [(each, found) for each in near if isinstance(found := came[each.id], dict)]
        is_looked_up = all("cells" in found["sources"][0] for _, found in fits)
        is_copy = all(fits[0][0].table.contains(each.table) for each, _ in fits)
        is_same = len({str(found["answer"]) for _, found in fits}) == 1 and len(fits) == len(near)
        if not is_same or (len(fits) > 1 and not (is_looked_up or is_copy)):
            said = {each.id: str(found["answer"])[:_LONGEST] for each, found in fits}
            told = "; ".join(f"{each.called}: {said.get(each.id, 'cannot tell')}" for each in near)
            raise Declined(f"it is not clear which table is meant ({told})", hint=_NAME_IT)
        return fits

    def _tried(self, state: State, each: Candidate) -> dict[str, Any] | Declined:
        try:
            return self.answered(state, each.table)
        except Declined as refusal:
            return refusal


def telling_words(question: str) -> dict[str, str]:
    """Return the words of a question that tell tables apart, by stem: no articles, no "most"."""
    words = language_of(question)
    small = words.filler | words.request | {word for phrase in words.phrases for word in phrase}
    tokens = (token for token in words.tokens(question) if token.low.isalnum() and token.low not in small)
    return {token.stem: token.text for token in tokens if token.stem not in words.licenses}


def covered(stems: Iterable[str], texts: Iterable[str]) -> frozenset[str]:
    """Return the stems that texts have, themselves or by a word of the same idea."""
    words = language_of("")
    known = {stem for text in texts for stem in words.stems(text)}
    return frozenset(stem for stem in stems if stem in known or words.ideas.get(stem, frozenset()) & known)


def _is_part(table: Table, others: Iterable[Table]) -> bool:
    """Tell whether another table has all of its rows and columns, and more."""
    return any(other.contains(table) and not table.contains(other) for other in others)


def _texts_in(candidate: Candidate) -> Iterator[str]:
    cells = islice(chain.from_iterable(candidate.table.rows), _MOST_CELLS)
    return chain([candidate.name, *candidate.source.values()], candidate.table.header, cells)
