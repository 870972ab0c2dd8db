"""Run the program in the sandbox (Chameleon, section 4.2)."""

from __future__ import annotations

import re
from typing import Any

from chameleon import Module, State, Table
from chameleon.errors import ModuleError
from chameleon.sandbox import ExecResult, shared_sandbox

_NAMES_TABLE = re.compile(r"\b(table|df)\b")


class ProgramExecutor(Module):
    """Runs the program in the sandbox and gives the value of `ans`. Follows program_verifier."""

    reads = ("cache.program", "cache.verified?", "input.table?")
    writes = ("cache.program_result",)

    def __init__(self, timeout: float | None = None) -> None:
        """`timeout`: seconds for one program, by default the sandbox's 2 (1 in the published runs)."""
        self.timeout = timeout

    def run(self, state: State) -> Any:
        result = run_program(state, self.timeout)
        if result.status != "ok":
            raise ModuleError(f"the program gave no answer: {in_words(result)}")
        return result.plain


def run_program(state: State, timeout: float | None = None) -> ExecResult:
    """Run `cache.program`; it sees the table as `table` and `df` if it names them."""
    return run_code(state.cache["program"], state.table, timeout)


def run_code(program: str, table: Table | None, timeout: float | None = None) -> ExecResult:
    """Run a program in the sandbox; it sees the table as `table` and `df` if it names them."""
    inputs = {"table": table.to_program_input()} if table and _NAMES_TABLE.search(program) else None
    return shared_sandbox().run(program, inputs, timeout=timeout)


def in_words(result: ExecResult) -> str:
    """What happened to a program that gave no answer, in a sentence's end."""
    line = f" in line {result.line}" if result.line else ""
    told = f"{result.error_type}{line}: {result.message}" if result.error_type else result.message
    return told or {"no_answer": "it does not set ans"}.get(result.status, result.status.replace("_", " "))
