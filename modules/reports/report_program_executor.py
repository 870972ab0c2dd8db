"""Run a Python program about a report in the sandbox, and say where its numbers stand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from chameleon import Module, State, StepRejected
from chameleon.errors import ModuleError
from chameleon.modules.program.programs import in_words, run_program
from chameleon.modules.reports.python_kinds import numbers_in
from chameleon.modules.reports.sources import sources_of_numbers


class ReportProgramExecutor(Module):
    """Runs a Python program about a report in the sandbox. Follows program_verifier."""

    reads = ("cache.program", "cache.verified?", "cache.retrieved?", "input.table?", "input.passages?")
    writes = ("cache.program_result", "cache.sources")
    non_text = ("cache.sources",)

    def run(self, state: State) -> dict[str, Any]:
        """`value`, a number, "yes" or "no", and `sources`: the rows, columns and passages of its numbers.

        Raises `ModuleError` where the program gives none, `StepRejected` for a value that is none of these.
        """
        result = run_program(state)
        if result.status != "ok":
            raise ModuleError(f"the program gave no answer: {in_words(result)}")
        value = _plain(result.plain)
        return {"value": value, "sources": sources_of_numbers(state, numbers_in(state.cache["program"]))}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["value"], "sources": output["sources"]}


def _plain(value: Any) -> float | int | str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value.strip().lower() in ("yes", "no"):
        return value.strip().lower()
    if isinstance(value, int | float) and math.isfinite(value):
        return value
    raise StepRejected(
        f"the program sets ans to {str(value)!r:.60}, which is neither a number nor yes or no",
        hint="Set ans to one number without its unit.",
    )
