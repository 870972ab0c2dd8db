"""Run a program of FinQA's language (Chen et al., 2021), exactly, as the official evaluator does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import Module, State
from chameleon.errors import ModuleError
from chameleon.modules.reports.facts import all_tables
from chameleon.modules.reports.finqa_program import END, calculated, tokens_of
from chameleon.modules.reports.program_writer import lines_of, value_of
from chameleon.modules.reports.sources import sources_of


class FinqaExecutor(Module):
    """Runs the steps of a program of FinQA's language over the table. Follows finqa_program_generator."""

    reads = (
        "cache.finqa_program",
        "input.table?",
        "input.passages?",
        "cache.retrieved?",
        "cache.finqa_evidence?",
    )
    writes = ("cache.program_result", "cache.sources")
    non_text = ("cache.sources",)

    def run(self, state: State) -> dict[str, Any]:
        """`value`, a number to five places, "yes" or "no"; `steps`, each with its own; `sources`.

        The latter are the rows and columns of tables, and the passages, that its numbers come from.
        """
        program, tables = state.cache["finqa_program"], all_tables(state)
        lines = lines_of(tables)
        value, fault = value_of(program, tables)
        if fault:
            raise ModuleError(f"the program gave no answer: {fault}")
        tokens = tokens_of(program)[:-1]
        values = [calculated([*tokens[: place + 4], END], lines).value for place in range(0, len(tokens), 4)]
        written = [" ".join(tokens[place : place + 4]) for place in range(0, len(tokens), 4)]
        steps = [{"step": step, "value": each} for step, each in zip(written, values, strict=True)]
        return {"value": value, "steps": steps, "sources": sources_of(state, program)}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["value"], "sources": output["sources"]}
