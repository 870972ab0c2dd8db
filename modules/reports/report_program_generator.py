"""Write a Python program that computes the answer to a question about a report (Program of Thoughts)."""

from __future__ import annotations

from typing import Any

from chameleon import LLMModule, State
from chameleon.modules.program.programs import program_in
from chameleon.modules.reports.facts import report_slots


class ReportProgramGenerator(LLMModule):
    """Writes a Python program that sets `ans`, from the text and the table of a report."""

    prompt = "finqa/program_generator"
    reads = ("input.question", "input.table?", "input.passages?", "cache.relevant_rows?")
    writes = ("cache.program",)

    def slots(self, state: State) -> dict[str, Any]:
        return super().slots(state) | report_slots(state)

    def parse(self, text: str) -> str:
        return program_in(text)
