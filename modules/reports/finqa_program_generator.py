"""Write a program of FinQA's language (Chen et al., 2021), with and without reasoning (RAG-CoT)."""

from __future__ import annotations

from typing import Any

from chameleon import LLMModule, State
from chameleon.modules.reports.facts import all_tables, report_slots, text_of
from chameleon.modules.reports.program_reader import program_in
from chameleon.modules.reports.program_writer import as_text, written


class FinqaProgramGenerator(LLMModule):
    """Writes the steps of arithmetic that answer a question about a report. For FinQA's language."""

    prompt = "finqa/few_shot"
    reads = ("input.question", "input.table?", "input.passages?", "cache.relevant_rows?")
    writes = ("cache.finqa_program",)

    def slots(self, state: State) -> dict[str, Any]:
        return super().slots(state) | report_slots(state)

    def parse(self, text: str) -> str:
        """Return the program in a reply, whatever it is about."""
        return as_text(program_in(text))

    def interpret(self, text: str, state: State) -> str:
        """Return the program in a reply, with the numbers and rows of the report; see `written`.

        Raises `StepRejected` for a program that comes to nothing: the inventory's `repair` may ask again.
        """
        said = [state.input["question"], *map(text_of, state.input.get("passages") or ())]
        return written(program_in(text), all_tables(state), said)
