"""Keep, of a report, the sentences and rows that the question needs (FinQA; RAG-CoT)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import PositiveInt

from chameleon import Module, State
from chameleon.modules.reports.ranking import check_way, scores
from chameleon.modules.reports.report import Report
from chameleon.table import to_text

Shown = Literal["marked", "whole", "rows"]


class ReportRetriever(Module):
    """Keeps the sentences and rows of a report that the question needs, without a model."""

    reads = ("input.question", "input.table?", "input.passages?")
    writes = ("input.table", "input.passages", "cache.retrieved", "cache.relevant_rows")
    non_text = ("cache.retrieved",)

    def __init__(self, k: PositiveInt = 5, *, by: str = "auto", table: Shown = "marked") -> None:
        """Set how facts are found, and what becomes of the table.

        - `k`: how many facts are kept, sentences and rows counted alike.
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
        check_way(self.by)

    def runtime_info(self) -> Mapping[str, Any]:
        return {"by": "lexical" if self.by == "auto" else self.by}

    def run(self, state: State) -> dict[str, Any]:
        """Return `kept`, the facts, the nearest first, and `of`, how many there were; with what is shown."""
        report = Report.of(state)
        facts = report.facts()
        near = scores(state.input["question"], facts, self.by)
        order = sorted(range(len(facts)), key=lambda number: -near[number])[: self.k]
        told = [
            {
                "id": ", ".join(f"{kind} {place}" for kind, place in facts[number].source.items()),
                "name": facts[number].name or facts[number].text[:80],
                "score": float(near[number]),
                "source": facts[number].source,
            }
            for number in order
        ]
        rows: dict[int, list[int]] = {}  # the kept rows of each passage, from 0
        names = dict[str, None]()
        for fact in (facts[number] for number in sorted(order)):
            places = rows.setdefault(fact.passage, [])
            if fact.row:
                places.append(fact.row - 1)
                names[fact.name] = None
        output: dict[str, Any] = {"kept": told, "of": len(facts)}
        if names and self.table == "marked":
            output["relevant_rows"] = "\n".join(names)
        if state.table is not None and self.table == "rows":
            output["table"] = state.table.take_rows(rows.get(0, ()))
        output["passages"] = [
            _cut(passage, rows[number]) if self.table == "rows" and rows[number] else passage
            for number, passage in enumerate(report.passages, 1)
            if number in rows
        ]
        return output

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        changes = {"passages": output["passages"]} if "passages" in input else {}
        return changes | ({"table": output["table"]} if "table" in output else {})

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        rows = {"relevant_rows": output["relevant_rows"]} if output.get("relevant_rows") else {}
        return {"retrieved": output["kept"]} | rows


def _cut(passage: Mapping[str, Any], rows: Sequence[int]) -> dict[str, Any]:
    """Return a passage whose table is cut to these rows, numbered as in the whole."""
    numbers = passage.get("rows") or range(1, len(passage["table"].rows) + 1)
    table = passage["table"].take_rows(rows)
    text = to_text(table, style="pipe")
    return {**passage, "table": table, "rows": [numbers[row] for row in rows], "text": text}
