"""Write the program without a model: a grammar of question phrases over typed columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import Module, State
from chameleon.modules.offline.grammar import write_program


class GrammarProgramGenerator(Module):
    """Writes a program for a question that it understands from the table's structure; declines others."""

    reads = ("input.question", "input.table", "input.choices?", "input.unit?")
    writes = ("cache.program", "cache.reading")

    def run(self, state: State) -> dict[str, str]:
        given = state.input
        choices, unit = given.get("choices") or (), given.get("unit") or ""
        program = write_program(given["question"], given["table"], choices, unit)
        return {"reading": program.reading, "program": program.code}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return dict(output)
