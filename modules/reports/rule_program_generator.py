"""Write a FinQA program without a model: a few forms of questions over figures found by name and year."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import Module, State
from chameleon.modules.reports.facts import table_in, tables_of
from chameleon.modules.reports.naming import content
from chameleon.modules.reports.rule_programs import Written, rule_program


class RuleProgramGenerator(Module):
    """Writes a FinQA program for changes, shares, averages and totals, without a model; declines others."""

    reads = ("input.question", "input.table?", "input.passages?")
    writes = ("cache.finqa_program", "cache.finqa_evidence")
    wordless = ("cache.finqa_evidence",)

    def check(self) -> None:
        """Raise `MissingPackage` where the words of a report cannot be read."""
        content("total")

    def run(self, state: State) -> dict[str, Any]:
        """`program`; `evidence`, the cells and passages of its numbers: row, column, passage, counted from 1.

        Raises `Declined` where the question or what it is about is not understood.
        """
        passages = state.input.get("passages") or ()
        texts = ["" if table_in(each) else _said(each) for each in passages]
        found: Written = rule_program(state.input["question"], tables_of(state.table, passages), texts)
        return {"program": found.program, "evidence": [dict(each) for each in found.evidence]}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"finqa_program": output["program"], "finqa_evidence": output["evidence"]}


def _said(passage: Any) -> str:
    """The text of a passage without the headings above it."""
    return str(passage.get("text") or "") if isinstance(passage, Mapping) else str(passage)
