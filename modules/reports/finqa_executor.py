"""Run a program of FinQA's language (Chen et al., 2021), exactly, as the official evaluator does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import Module, State
from chameleon.errors import ModuleError
from chameleon.modules.reports.facts import all_tables
from chameleon.modules.reports.finqa_program import END, calculated, tokens_of
from chameleon.modules.reports.program_writer import lines_of, value_of
from chameleon.modules.reports.sources import finqa_sources


class FinqaExecutor(Module):
    """Runs the steps of a program of FinQA's language over the table. Follows finqa_program_generator."""

    reads = ("cache.finqa_program", "input.table?", "input.passages?", "cache.retrieved?")
    writes = ("cache.program_result", "cache.sources")
    non_text = ("cache.sources",)

    def run(self, state: State) -> dict[str, Any]:
        """Return `value`, a number to five places, "yes" or "no"; `steps`, each with its own; `sources`.

        The latter are the rows and columns of tables, and the passages, that its numbers come from.
        """
        program, tables = state.cache["finqa_program"], all_tables(state)
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

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["value"], "sources": output["sources"]}
