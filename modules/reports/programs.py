"""Write a program about a report and run it: of FinQA's language (Chen et al., 2021), or of Python.

The first with and without reasoning (RAG-CoT), the second as Program of Thoughts has it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from chameleon import LLMModule, Module, State, StepRejected
from chameleon.errors import ModuleError
from chameleon.module import Keys
from chameleon.modules.program.programs import in_words, program_in, run_program
from chameleon.modules.reports.finqa_program import END, calculated, tokens_of
from chameleon.modules.reports.program_text import as_text, finqa_program_in, lines_of, value_of, written
from chameleon.modules.reports.report import Report, report_slots, text_of
from chameleon.modules.reports.sources import finqa_sources, python_sources


class _ReportProgram(LLMModule):
    reads = ("input.question", "input.table?", "input.passages?", "cache.relevant_rows?")

    def slots(self, state: State) -> dict[str, Any]:
        return super().slots(state) | report_slots(state)


class FinqaProgramGenerator(_ReportProgram):
    """Writes the steps of arithmetic that answer a question about a report. For FinQA's language."""

    prompt = "finqa/few_shot"
    writes = ("cache.finqa_program",)

    def parse(self, text: str) -> str:
        """Return the program in a reply, whatever it is about."""
        return as_text(finqa_program_in(text))

    def interpret(self, text: str, state: State) -> str:
        """Return the program in a reply, with the numbers and rows of the report; see `written`.

        Raises `StepRejected` for a program that comes to nothing: the inventory's `repair` may ask again.
        """
        report = Report.of(state)
        said = [state.input["question"], *map(text_of, report.passages)]
        return written(finqa_program_in(text), report.every_table, said)


class ReportProgramGenerator(_ReportProgram):
    """Writes a Python program that sets `ans`, from the text and the table of a report."""

    prompt = "finqa/program_generator"
    writes = ("cache.program",)

    def parse(self, text: str) -> str:
        return program_in(text)


class _ReportExecutor(Module):
    writes = ("cache.program_result", "cache.sources")
    non_text: ClassVar[Keys] = ("cache.sources",)

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["value"], "sources": output["sources"]}


class FinqaExecutor(_ReportExecutor):
    """Runs the steps of a program of FinQA's language over the table. Follows finqa_program_generator."""

    reads = ("cache.finqa_program", "input.table?", "input.passages?", "cache.retrieved?")

    def run(self, state: State) -> dict[str, Any]:
        """Return `value`, a number to five places, "yes" or "no"; `steps`, each with its own; `sources`.

        The latter are the rows and columns of tables, and the passages, that its numbers come from.
        """
        program, tables = state.cache["finqa_program"], Report.of(state).every_table
        value, fault = value_of(program, tables)
        if fault:
            raise ModuleError(f"the program gave no answer: {fault}")
        tokens, lines = tokens_of(program)[:-1], lines_of(tables)
        steps = [
            {
                "step": " ".join(tokens[end - 4 : end]),
                "value": calculated([*tokens[:end], END], lines).value,
            }
            for end in range(4, len(tokens) + 1, 4)
        ]
        return {"value": value, "steps": steps, "sources": finqa_sources(state, program)}


class ReportProgramExecutor(_ReportExecutor):
    """Runs a Python program about a report in the sandbox. Follows program_verifier."""

    reads = ("cache.program", "cache.verified?", "cache.retrieved?", "input.table?", "input.passages?")

    def run(self, state: State) -> dict[str, Any]:
        """Return `value`, a number, "yes" or "no", and `sources`, the rows and passages of its numbers.

        Raises `ModuleError` where the program gives none, `StepRejected` for a value that is none of these.
        """
        result = run_program(state)
        if result.status != "ok":
            raise ModuleError(f"the program gave no answer: {in_words(result)}")
        value: Any = result.plain
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, str) and value.strip().lower() in ("yes", "no"):
            value = value.strip().lower()
        elif not (isinstance(value, int | float) and math.isfinite(value)):
            raise StepRejected(
                f"the program sets ans to {str(value)!r:.60}, which is neither a number nor yes or no",
                hint="Set ans to one number without its unit.",
            )
        return {"value": value, "sources": python_sources(state, state.cache["program"])}
