"""Answer from the passages of a paper without a model: the value beside a label, or in a cell of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chameleon import Declined, Module, State, Table
from chameleon.modules.lexical.label_questions import wanted_by
from chameleon.modules.lexical.labelled import Found, value_of
from chameleon.modules.papers.passages import nearness, source_of

_IN_YEAR = re.compile(r"\b(?:in|during) (?=(?:fiscal (?:year )?)?\d{4}\b)")


class LexicalPaperReader(Module):
    """Answers with a short value beside its label, or a cell of a table, without a model; or declines."""

    reads = ("input.question", "input.passages")
    writes = ("cache.program_result", "cache.sources")
    wordless = ("cache.sources",)

    def run(self, state: State) -> dict[str, Any]:
        """The value and its source. Raises `Declined`, naming the nearest passage, where none is certain."""
        passages = state.input.get("passages") or ()
        question = " ".join(state.input["question"].lower().split()).rstrip("?!. ")
        wanted = wanted_by(_IN_YEAR.sub("for ", question))
        nearest = _nearest(state, passages)
        if wanted is None:
            raise Declined(f"the paper does not answer such a question by itself{nearest}")
        lines = [(line, number) for number, each in enumerate(passages, 1) for line in _lines(each)]
        try:
            found: Found = value_of(wanted, [line for line, _ in lines])
        except Declined as why:
            raise Declined(f"{why.what}{nearest}", hint=why.hint) from why
        number = next(number for line, number in lines if line == found.line)
        return {"answer": found.value, "sources": [source_of(passages[number - 1], number)]}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["answer"], "sources": output["sources"]}


def _lines(passage: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a passage; of a table, each cell beside the names of its row and its column."""
    table = passage.get("table")
    if isinstance(table, Table):
        for row in table.rows:
            for name, cell in zip(table.header[1:], row[1:], strict=True):
                if row[0] and name and cell:
                    yield f"{row[0]} for {name}: {cell}".replace("\n", " ")
    else:
        yield from (line.strip() for line in str(passage["text"]).splitlines())
    yield ""


def _nearest(state: State, passages: Sequence[Mapping[str, Any]]) -> str:
    """Where to read on: the place of the passage nearest to the question."""
    if not passages:
        return ""
    near = nearness(state.input["question"], passages)
    best = passages[max(range(len(passages)), key=near.__getitem__)]
    page = f"page {best['page']}" if best.get("page") is not None else ""
    place = ", ".join(filter(None, [str(best.get("file") or ""), str(best.get("title") or ""), page]))
    return f'; the nearest passage ({place or "without a heading"}) begins "{str(best["text"])[:160]}"'
