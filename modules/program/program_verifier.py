"""Check that the program parses, runs and gives an answer (Chameleon, section 4.2)."""

from __future__ import annotations

from chameleon import Module, State, StepRejected
from chameleon.modules.program.program_executor import in_words, run_program


class ProgramVerifier(Module):
    """Checks that the program runs and sets `ans`; a bad one is written anew. Follows program_generator."""

    reads = ("cache.program", "input.table?")
    writes = ("cache.verified",)

    def __init__(self, timeout: float | None = None) -> None:
        """`timeout`: seconds for one program, by default the sandbox's 2 (1 in the published runs)."""
        self.timeout = timeout

    def run(self, state: State) -> dict[str, str]:
        result = run_program(state, self.timeout)
        if result.status != "ok":
            raise StepRejected(f"the program does not work: {in_words(result)}")
        if result.value is None or result.plain in ("", (), [], {}):
            raise StepRejected("the program sets ans to nothing")
        return {"verdict": "it runs and sets ans", "type": result.value_type}
