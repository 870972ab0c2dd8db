"""Keep, of a report, the sentences and rows that the question needs (FinQA; RAG-CoT)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import PositiveInt

from chameleon import Module, State
from chameleon.modules.reports.facts import Fact, facts_of
from chameleon.modules.reports.ranking import check_way, scores
from chameleon.table import to_text

Shown = Literal["marked", "whole", "rows"]


class ReportRetriever(Module):
    """Keeps the sentences and rows of a report that the question needs, without a model."""

    reads = ("input.question", "input.table?", "input.passages?")
    writes = ("input.table", "input.passages", "cache.retrieved", "cache.relevant_rows")
    non_text = ("cache.retrieved",)

    def __init__(self, k: PositiveInt = 5, *, by: str = "auto", table: Shown = "marked") -> None:
        """`k`: how many facts are kept, sentences and rows counted alike.

        - `by`: how near a fact is to the question: "lexical" (words, names of rows, years; the default),
          "bm25", "dense" or "dense:NAME" (embeddings), "hybrid" or "hybrid:NAME" (all of it), and after any
          of them "+rerank:NAME" (a cross-encoder).
        - `table`: what becomes of the table, which stays a table: "marked" leaves it whole and names the kept
          rows (`cache.relevant_rows`), "whole" leaves it without a word, "rows" cuts it to the kept rows.

        Kept facts stay in the order of the report. `cache.retrieved` lists them, the nearest first.
        """
        self.k, self.by = k, by
        self.table: Shown = table

    def check(self) -> None:
        """Raise `InputError` for a way that there is not, `MissingPackage` where it needs a package."""
        check_way(self.by)

    def runtime_info(self) -> Mapping[str, Any]:
        return {"by": "lexical" if self.by == "auto" else self.by}

    def run(self, state: State) -> dict[str, Any]:
        """`kept`: the facts, the nearest first; `of`: how many there were."""
        passages = state.input.get("passages") or ()
        facts = facts_of(state.table, passages)
        near = scores(state.input["question"], facts, self.by)
        order = sorted(range(len(facts)), key=lambda number: -near[number])[: self.k]
        kept = [facts[number] for number in order]
        told = [_told(fact, float(near[number])) for fact, number in zip(kept, order, strict=True)]
        output: dict[str, Any] = {"kept": told, "of": len(facts)}
        rows = sorted((fact for fact in kept if fact.kind == "row"), key=_position)
        if state.table is not None and self.table == "rows":
            output |= {"table": state.table.take_rows([row.place for row in rows if row.passage is None])}
        if rows and self.table == "marked":
            output |= {"relevant_rows": "\n".join(dict.fromkeys(row.name for row in rows))}
        return output | {"passages": self._passages(passages, kept)}

    def _passages(self, passages: Sequence[Any], kept: Sequence[Fact]) -> list[Any]:
        """The passages with kept sentences or rows; with "rows" their tables are cut as well."""
        rows: dict[int, list[int]] = {}
        for fact in kept:
            place = fact.place if fact.kind == "sentence" else fact.passage
            if place is not None:
                rows.setdefault(place, []).extend([fact.place] if fact.kind == "row" else [])
        cut = self.table == "rows"
        return [
            _cut(passages[place], sorted(rows[place])) if cut and rows[place] else passages[place]
            for place in sorted(rows)
        ]

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        changes = {"passages": output["passages"]} if "passages" in input else {}
        return changes | ({"table": output["table"]} if "table" in output else {})

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        rows = {"relevant_rows": output["relevant_rows"]} if output.get("relevant_rows") else {}
        return {"retrieved": output["kept"]} | rows


def _position(fact: Fact) -> tuple[int, int]:
    return (-1 if fact.passage is None else fact.passage, fact.place)


def _cut(passage: Mapping[str, Any], rows: Sequence[int]) -> dict[str, Any]:
    """A passage with these rows of its table, and where each stands in the whole one."""
    numbers = passage.get("rows") or range(1, len(passage["table"].rows) + 1)
    table = passage["table"].take_rows(rows)
    return {
        **passage,
        "table": table,
        "rows": [numbers[row] for row in rows],
        "text": to_text(table, style="pipe"),
    }


def _told(fact: Fact, score: float) -> dict[str, Any]:
    """A kept fact: its place is counted from 1."""
    source = fact.source
    return {
        "id": ", ".join(f"{kind} {number}" for kind, number in source.items()),
        "name": fact.name or fact.text[:80],
        "score": score,
        "source": source,
    }
