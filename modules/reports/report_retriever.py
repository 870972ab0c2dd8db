"""Keep, of a report, the sentences and rows that the question needs (FinQA; RAG-CoT)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import PositiveInt

from chameleon import Module, State, Table
from chameleon.modules.reports.facts import Fact, facts_of
from chameleon.modules.reports.ranking import check_way, scores

Shown = Literal["marked", "whole", "rows"]


class ReportRetriever(Module):
    """Keeps the sentences and rows of a report that the question needs, without a model."""

    reads = ("input.question", "input.table?", "input.passages?")
    writes = ("input.table", "input.passages", "cache.retrieved", "cache.relevant_rows")
    wordless = ("cache.retrieved",)

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

    def resolved(self) -> Mapping[str, Any]:
        return {"by": "lexical" if self.by == "auto" else self.by}

    def run(self, state: State) -> dict[str, Any]:
        """`kept`: the facts, the nearest first; `of`: how many there were."""
        given = state.input
        facts = facts_of(state.table, given.get("passages") or ())
        near = scores(given["question"], state.table, facts, self.by)
        order = sorted(range(len(facts)), key=lambda number: -near[number])[: self.k]
        kept = [_told(facts[number], float(near[number])) for number in order]
        output: dict[str, Any] = {"kept": kept, "of": len(facts)}
        rows = sorted(fact["source"]["row"] - 1 for fact in kept if "row" in fact["source"])
        if state.table is not None:
            output |= self._of_table(state.table, rows)
        places = sorted(fact["source"]["passage"] - 1 for fact in kept if "passage" in fact["source"])
        passages = given.get("passages") or ()
        return output | {"passages": [passages[place] for place in places]}

    def _of_table(self, table: Table, rows: list[int]) -> dict[str, Any]:
        if self.table == "rows":
            return {"table": table.take_rows(rows)}
        if self.table == "whole":
            return {}
        return {"relevant_rows": "\n".join(dict.fromkeys(table.rows[row][0] for row in rows))}

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        changes = {"passages": output["passages"]} if "passages" in input else {}
        return changes | ({"table": output["table"]} if "table" in output else {})

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        rows = {"relevant_rows": output["relevant_rows"]} if output.get("relevant_rows") else {}
        return {"retrieved": output["kept"]} | rows


def _told(fact: Fact, score: float) -> dict[str, Any]:
    """A kept fact: its place is counted from 1."""
    kind = "row" if fact.kind == "row" else "passage"
    return {
        "id": f"{kind} {fact.place + 1}",
        "name": fact.name or fact.text[:80],
        "score": score,
        "source": {kind: fact.place + 1},
    }
