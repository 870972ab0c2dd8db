"""Run a Python program about a report in the sandbox, and say where its numbers stand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from chameleon import Module, State, StepRejected
from chameleon.errors import ModuleError
from chameleon.modules.program.programs import in_words, run_program
from chameleon.modules.reports.sources import python_sources


class ReportProgramExecutor(Module):
    """Runs a Python program about a report in the sandbox. Follows program_verifier."""

    reads = ("cache.program", "cache.verified?", "cache.retrieved?", "input.table?", "input.passages?")
    writes = ("cache.program_result", "cache.sources")
    non_text = ("cache.sources",)

    def run(self, state: State) -> dict[str, Any]:
        """Return `value`, a number, "yes" or "no", and `sources`, the rows and passages of its numbers.

        Raises `ModuleError` where the program gives none, `StepRejected` for a value that is none of these.
        """
        result = run_program(state)
        if result.status != "ok":
            raise ModuleError(f"the program gave no answer: {in_words(result)}")
        value: Any = result.value
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

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["value"], "sources": output["sources"]}
