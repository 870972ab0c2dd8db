"""Write a Python program that computes the answer, check it, run it (Chameleon, 4.2; Program of Thoughts)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chameleon import LLMModule, Module, State, StepRejected, Table
from chameleon.errors import ModuleError
from chameleon.modules.program.answer_generator import tidy
from chameleon.modules.table_ops.table_query import Answer, Form, verdict_in
from chameleon.sandbox import ExecResult, shared_sandbox

_FENCED = re.compile(r"```[a-zA-Z0-9]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_NAMES_TABLE = re.compile(r"\b(table|df)\b")


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
    """Return the program in a reply: its last fenced block, else all. Raises `StepRejected` for none."""
    blocks = _FENCED.findall(text)
    program: str = (blocks[-1] if blocks else text).strip("\n").rstrip()
    if not program.strip():
        raise StepRejected("the reply holds no program")
    return program


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
        if result.value in (None, "", [], {}):
            raise StepRejected("the program sets ans to nothing")
        return {"verdict": "it runs and sets ans", "type": result.value_type}


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
        return result.value


def run_program(state: State, timeout: float | None = None) -> ExecResult:
    """Run `cache.program` over the table of the state."""
    return run_code(state.cache["program"], state.table, timeout)


def run_code(program: str, table: Table | None, timeout: float | None = None) -> ExecResult:
    """Run a program in the sandbox; it sees the table as `table` and `df` if it names them."""
    inputs = {"table": table.to_program_input()} if table and _NAMES_TABLE.search(program) else None
    return shared_sandbox().run(program, inputs, timeout=timeout)


def in_words(result: ExecResult) -> str:
    """Say what happened to a program that gave no answer, in a sentence's end."""
    line = f" in line {result.line}" if result.line else ""
    told = f"{result.error_type}{line}: {result.message}" if result.error_type else result.message
    return told or {"no_answer": "it does not set ans"}.get(result.status, result.status.replace("_", " "))


class TableAnswer(Module):
    """Gives the program's result as the answer: a list of texts, yes or no, or a text. Always the last."""

    reads = ("cache.program_result",)
    writes = ("cache.answer",)

    def __init__(self, form: Form = "items") -> None:
        """`form`: what the answer is, as for `table_query`."""
        self.form: Form = form

    def run(self, state: State) -> Answer:
        """Return the result in the form of an answer: 3.0 is ["3"] among items, True and 1 are verdicts.

        Raises `ModuleError` for a value that has no such form, such as a mapping or an empty list, and
        `StepRejected` for a text that is no verdict.
        """
        value, form = state.cache["program_result"], self.form
        values = list(value) if isinstance(value, list | tuple) else [value]
        if not values or any(each is None or isinstance(each, Mapping | list | tuple) for each in values):
            raise ModuleError(f"the program's result is no answer: {str(value)[:80]}")
        if form != "verdict":
            texts = [
                {True: "yes", False: "no"}[each] if isinstance(each, bool) else str(tidy(each))
                for each in values
            ]
            return texts if form == "items" else ", ".join(texts)
        if len(values) > 1:
            raise ModuleError("the program's result is a list, and should be true or false")
        if values[0] in (0, 1):  # True and False are equal to them
            return "yes" if values[0] else "no"
        return verdict_in(str(values[0]))
