"""Write a Python program that computes the answer (Chameleon, section 4.2; Program of Thoughts)."""

from __future__ import annotations

import re

from chameleon import LLMModule, StepRejected

_FENCED = re.compile(r"```[a-zA-Z0-9]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)


class ProgramGenerator(LLMModule):
    """Writes a Python program that sets `ans`. For questions that need arithmetic, counting or comparing."""

    prompt = "tabmwp/program_generator"
    reads = (
        "input.question",
        "input.table?",
        "input.text?",
        "input.choices?",
        "input.unit?",
        "cache.knowledge?",
        "cache.table_description?",
        "cache.statute?",
    )
    writes = ("cache.program",)

    def parse(self, text: str) -> str:
        return program_in(text)


def program_in(text: str) -> str:
    """The program in a reply: its last fenced block, else the whole text. Raises `StepRejected` for none."""
    blocks = _FENCED.findall(text)
    program: str = (blocks[-1] if blocks else text).strip("\n").rstrip()
    if not program.strip():
        raise StepRejected("the reply holds no program")
    return program
