"""Answer from the passages of a paper without a model: the value beside a label, or in a cell of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chameleon import Declined, Module, State
from chameleon.modules.documents.lookup import looked_up
from chameleon.modules.documents.passages import nearness, source_of


class LexicalPaperReader(Module):
    """Answers with a short value beside its label, or a cell of a table, without a model; or declines."""

    reads = ("input.question", "input.passages", "input.unit?")
    writes = ("cache.program_result", "cache.sources")
    wordless = ("cache.sources",)

    def run(self, state: State) -> dict[str, Any]:
        """The value and its source. Raises `Declined`, naming the nearest passage, where none is certain.

        A figure of a table whose caption or headings give a unit is told with it, unless the question does.
        """
        passages = state.input.get("passages") or ()
        question = " ".join(state.input["question"].lower().split()).rstrip("?!. ")
        try:
            found = looked_up(question, passages, with_unit=not state.input.get("unit"))
        except Declined as why:
            raise Declined(f"{why.what}{_nearest(state, passages)}", hint=why.hint) from why
        return {"answer": found.text, "sources": [source_of(passages[found.passage - 1], found.passage)]}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["answer"], "sources": output["sources"]}


def _nearest(state: State, passages: Sequence[Mapping[str, Any]]) -> str:
    """Where to read on: the place of the passage nearest to the question."""
    if not passages:
        return ""
    near = nearness(state.input["question"], passages)
    best = passages[max(range(len(passages)), key=near.__getitem__)]
    page = f"page {best['page']}" if best.get("page") is not None else ""
    place = ", ".join(filter(None, [str(best.get("file") or ""), str(best.get("title") or ""), page]))
    return f'; the nearest passage ({place or "without a heading"}) begins "{str(best["text"])[:160]}"'
