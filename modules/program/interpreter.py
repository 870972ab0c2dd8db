"""Python as a tool: the planner's model computes over whole tables and sees the output."""

import ast
from typing import Annotated

from chameleon import Module, State, StepRejected
from chameleon.core.module import Traits
from chameleon.modules.program.programs import in_words, program_inputs
from chameleon.modules.program.python_text import changed, without_loading
from chameleon.sandbox import shared_sandbox

_NOTE = "a program that prints what you look for; df is there already, so load nothing"
_NO_OUTPUT = "It printed nothing. Print what you want to see."


class Python(Module):
    """Runs a Python program and gives what it prints.

    The table is the pandas DataFrame df; of several, tables has each by its name. A text is text. Nothing is
    kept from one program to the next.
    """

    reads = ("input.table?", "input.tables?", "input.text?")
    writes = ("cache.python",)
    uses = ("sandbox",)
    traits = Traits(takes_code="python")

    def __init__(self, timeout: float | None = None) -> None:
        """`timeout`: seconds for a program, by default the sandbox's 2."""
        self.timeout = timeout

    def run(self, state: State, *, code: Annotated[str, _NOTE]) -> str:
        """Return the program's output. Raises `StepRejected` if it fails or prints nothing."""
        program = _showing(without_loading(code) if state.tables else code)
        inputs = program_inputs(program, state.tables)
        if isinstance(text := state.input.get("text"), str):
            inputs["text"] = text
        result = shared_sandbox().run(program, inputs, timeout=self.timeout)
        output = result.stdout.rstrip()[:4_000]
        if result.ok and output:
            return output
        raise StepRejected(_NO_OUTPUT if result.ok else "\n".join(filter(None, [output, in_words(result)])))


def _showing(code: str) -> str:
    """Make the program print the value of its last line, as a notebook does."""
    try:
        last = ast.parse(code).body[-1]
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
        return code
    name = "ans" if isinstance(last, ast.Assign) and ast.unparse(last.targets[0]) == "ans" else "None"
    if isinstance(last, ast.Expr):
        name, begin, end = "_", last.col_offset, last.end_col_offset or 0
        code = changed(code, (last.lineno, begin, begin, "_ = ("), (last.end_lineno or 1, end, end, ")"))
    return f"{code}\n_ = {name}\nif _ is not None:\n    print(_)\nans = 0\n"  # programs must set ans
