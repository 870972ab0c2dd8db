"""Write a Python program that computes the answer, check it, run it (Chameleon, 4.2; Program of Thoughts)."""

import ast
import builtins
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chameleon import LLMModule, Module, State, StepRejected, Table
from chameleon.core.module import Traits
from chameleon.core.prompt import named_tables
from chameleon.errors import ModuleError
from chameleon.modules.documents.table_sources import table_sources
from chameleon.modules.program.answer_generator import tidy
from chameleon.modules.program.doubts import PRESETS, doubt, header_is_row, may_copy
from chameleon.modules.program.python_text import changed, parsed, without_loading
from chameleon.modules.program.solution_generator import GIVEN
from chameleon.modules.table_ops.table_query import Answer, Form, verdict_in
from chameleon.sandbox import ExecResult, importable, shared_sandbox
from chameleon.values import to_json

_BLOCK = re.compile(  # between fences; the closing one may be missing at the end
    r"^[ \t]*(?P<fence>```|~~~)[`~]*(?P<info>[^\n`~]*)(?:\n|\Z)(?P<code>.*?)"
    r"(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|(?P<open>\Z))",
    re.MULTILINE | re.DOTALL,
)
_THOUSANDS = re.compile(rb"(?<![\w.,])(\d{1,3}),(\d{3}(?:\.\d+)?)(?!\w)")  # 4,200
_NO_FIGURES = ("nan", "inf", "-inf")  # in JSON they are texts
_NAMES_TABLE = re.compile(rf"\b({'|'.join(PRESETS)})\b")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_YES_NO = {True: "yes", False: "no"}
_TRUE, _FALSE = ("yes", "true", "1"), ("no", "false", "0", "none")


class ProgramGenerator(LLMModule):
    """Writes a Python program that sets `ans`. For questions that need arithmetic, counting or comparing."""

    prompt = "tabmwp/program_generator"
    traits = Traits(shows_own_keys=True)
    reads = f"{GIVEN}, cache.statute?"
    writes = ("cache.program",)
    uses = ("model", "sandbox")

    def slots(self, state: State) -> dict[str, Any]:
        """Add `pandas` if programs can import it, and `short` if they may copy the table's values."""
        redo, table = state.step.redo if state.step else None, state.table
        copies = table is None or (may_copy(table) and (not redo or header_is_row(table)))
        copies = copies and not state.input.get("tables")
        return super().slots(state) | {"pandas": "pandas" in importable() or None, "short": copies or None}

    def _starts_over(self, state: State) -> bool:
        """Return whether the second attempt must read the table, after a first that could copy values."""
        redo, table = state.step.redo if state.step else None, state.table
        is_second = redo is not None and redo.attempt == 1 and "short?" in self._template.slots
        return is_second and table is not None and may_copy(table) and not header_is_row(table)

    def parse(self, text: str) -> str:
        """Return the program. Raises `StepRejected` if it sets a name to 4,200: a pair in Python."""
        program = program_in(text)
        lines = program.encode("utf-8", "surrogatepass").split(b"\n")  # `ast` counts bytes
        for each in ast.walk(parsed(program)):
            targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", each)]
            pair = getattr(each, "value", None)
            if not isinstance(pair, ast.Tuple) or not all(isinstance(name, ast.Name) for name in targets):
                continue
            for part in pair.elts[:-1]:
                for match in _THOUSANDS.finditer(lines[(part.end_lineno or 1) - 1]):
                    if match.end(1) == part.end_col_offset:
                        hint = f"Write {b''.join(match.groups()).decode()}."
                        what = "Python reads a number with a comma as several numbers"
                        raise StepRejected(what, hint=hint)
        return program

    def interpret(self, text: str, state: State) -> str:
        program = naming_choices(self.parse(text), state.input.get("choices") or ())
        return without_loading(program) if state.table else program


def naming_choices(program: str, choices: Sequence[str]) -> str:
    """Quote choices that the program uses as names (`ans = surplus`), or that are the whole program."""
    of_name = {choice.casefold(): choice for choice in choices}
    if (alone := of_name.get(program.strip(" \n.`*\"'").casefold())) is not None:
        return f"ans = {alone!r}"
    nodes = list(ast.walk(parsed(program)))
    names = [each for each in nodes if isinstance(each, ast.Name)]
    known = {each.id for each in names if not isinstance(each.ctx, ast.Load)} | {*vars(builtins), *PRESETS}
    for node in nodes:  # imports, definitions and parameters
        known |= {str(getattr(node, key, "")) for key in ("name", "asname", "arg")}
    free = [each for each in names if each.id not in known and each.id.casefold() in of_name]
    places = [(each.lineno, each.col_offset, each.end_col_offset or 0) for each in free]
    texts = [repr(of_name[each.id.casefold()]) for each in free]
    return changed(program, *((*at, text) for at, text in zip(places, texts, strict=True)))


def program_in(text: str, is_one: Callable[[str], object] | None = None) -> str:
    """Return the program in a reply: the last fenced block that `is_one`, else the last block, else all.

    By default, `is_one` accepts programs that set `ans`. Raises `StepRejected` for an empty reply.
    """
    blocks = blocks_in(text)
    good = [block for block in blocks if (is_one or _sets_ans)(block)] if len(blocks) > 1 else blocks
    program = "\n".join(next(reversed(good or blocks), text).splitlines()).strip("\n").rstrip()
    if not program.strip():
        raise StepRejected("the reply has no program")
    return program


def blocks_in(text: str) -> list[str]:
    """Return the code between fences; the last block may lack its closing fence.

    A single fence may also close the code above it.
    """
    text = text.replace("\r\n", "\n")
    blocks = list(_BLOCK.finditer(text))
    is_lone = len(blocks) == 1 and blocks[0]["open"] is not None and not blocks[0]["info"].strip()
    above = text[: blocks[0].start()] if is_lone else ""
    return [code for code in (above, *(block["code"] for block in blocks)) if code.strip()]


def _sets_ans(block: str) -> bool:
    names = (each for each in ast.walk(parsed(block)) if isinstance(each, ast.Name))
    return any(each.id == "ans" and isinstance(each.ctx, ast.Store) for each in names)


class ProgramVerifier(Module):
    """Checks that the program runs and sets `ans`; a bad one is rewritten. Follows program_generator."""

    reads = (
        "cache.program, input.question, input.table?, input.tables?, input.choices?, "
        "cache.knowledge?, cache.table_description?"
    )
    writes = ("cache.verified", "cache.sources")
    traits = Traits(non_text=("cache.sources",))
    uses = ("sandbox",)

    def __init__(self, timeout: float | None = None, strict: bool = False, cites: bool = False) -> None:
        """Take settings, all optional.

        Args:
            timeout: seconds for one program, by default the sandbox's 2 (1 in the published runs).
            strict: whether to rewrite a program that may have guessed, see `doubts`.
            cites: whether to record the tables, rows and columns that a good one reads, see `table_sources`.
        """
        self.timeout, self.strict, self.cites = timeout, strict, cites

    def run(self, state: State) -> dict[str, Any]:
        """Return the verdict, the `value`, and a `digest` that spares running the program again."""
        result = run_code(state.cache["program"], state.tables, self.timeout)
        if why := self.fault(result):
            raise StepRejected(why)
        value = tidy(_as_written(result.value, state.tables))
        if self.strict and (why := doubt(parsed(state.cache["program"]), value, state)):
            raise StepRejected(why)
        fields = {"type": result.value_type, "value": result.value, "digest": _digest(state, self.timeout)}
        if self.cites and state.tables:
            fields["sources"] = table_sources(state, value)
        return {"verdict": "it runs and sets ans", **fields}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        verified = {key: value for key, value in output.items() if key != "sources"}
        return {"verified": verified} | ({"sources": output["sources"]} if "sources" in output else {})

    def fault(self, result: ExecResult) -> str:
        """Return why the result means the program must be rewritten, or "" if it is good."""
        if fault := fault_of(result):
            return fault
        return "the program sets ans to nothing" if result.value in (None, "", [], {}) else ""


class ProgramExecutor(Module):
    """Runs the program in the sandbox and gives the value of `ans`. Follows program_verifier."""

    reads = ("cache.program", "cache.verified?", "input.table?", "input.tables?")
    writes = ("cache.program_result",)
    uses = ("sandbox",)

    def __init__(self, timeout: float | None = None) -> None:
        """`timeout`: same as for `program_verifier`."""
        self.timeout = timeout

    def run(self, state: State) -> Any:
        return result_of(state, self.timeout)


def result_of(state: State, timeout: float | None = None) -> Any:
    """Return the value that `cache.program` gives `ans`: the verified one, or from a run now.

    Raises `ModuleError` if the program fails.
    """
    verified = state.cache.get("verified")
    if isinstance(verified, Mapping) and verified.get("digest") == _digest(state, timeout):
        return _as_written(to_json(verified["value"]), state.tables)
    result = run_code(state.cache["program"], state.tables, timeout)
    if fault := fault_of(result):
        raise ModuleError(fault)
    return _as_written(result.value, state.tables)


def fault_of(result: ExecResult) -> str:
    """Say that a program failed, or that its result is or contains NaN or infinity; "" otherwise."""
    if result.status != "ok":
        return f"the program does not work: {in_words(result)}"
    values = result.value if isinstance(result.value, list) else [result.value]  # NaN is a text in JSON
    is_none = any(isinstance(each, str) and each in _NO_FIGURES for each in values)
    return f"the program sets ans to {result.value}, which is not a real number" if is_none else ""


def _as_written(value: Any, tables: Sequence[Table]) -> Any:
    """Return a date as the tables write it: programs see 2024-12-25 for "25/12/2024"."""
    if not isinstance(value, str) or not _DATE.match(value):
        return [_as_written(each, tables) for each in value] if isinstance(value, list) else value
    forms = {value, value.replace("T", " "), value[:10] if value.endswith("00:00:00") else value}
    columns = (each for table in tables for each in table.columns)
    dated = (each for each in columns if each.meaning.kind in ("date", "datetime"))
    dates = (date for each in dated for date in zip(each.cells, each.meaning.plain, strict=True))
    return next((cell for cell, plain in dates if plain in forms), value)


def run_code(program: str, tables: Sequence[Table], timeout: float | None = None) -> ExecResult:
    """Run a program in the sandbox with the data of `program_inputs`."""
    return shared_sandbox().run(program, program_inputs(program, tables), timeout=timeout)


def program_inputs(program: str, tables: Sequence[Table]) -> dict[str, Any]:
    """Return the tables as a program sees them: the first as `table` and `df`, with `pd` and `np`.

    If there are several, `tables` has all of them by name, see `named_tables`.
    """
    if not tables or not _NAMES_TABLE.search(program):
        return {}
    by_name = {name: each.to_program_input() for name, each in named_tables(tables, first=1)}
    return {"table": tables[0].to_program_input()} | ({"tables": by_name} if len(by_name) > 1 else {})


def _digest(state: State, timeout: float | None) -> str:
    """Return the digest of a program and everything its result depends on."""
    program = state.cache["program"]
    text = json.dumps([program, program_inputs(program, state.tables), timeout])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def in_words(result: ExecResult) -> str:
    """Describe what happened to a program without an answer, to end a sentence with."""
    line = f" in line {result.line}" if result.line else ""
    message = f"{result.error_type}{line}: {result.message}" if result.error_type else result.message
    return message or {"no_answer": "it does not set ans"}.get(result.status, result.status.replace("_", " "))


class TableAnswer(Module):
    """Gives the program's result as the answer: a list of texts, yes or no, or a text. Always the last."""

    reads = ("cache.program_result",)
    writes = ("cache.answer",)

    def __init__(self, form: Form = "items") -> None:
        """`form`: the form of the answer, as for `table_query`."""
        self.form: Form = form

    def run(self, state: State) -> Answer:
        """Convert the result to an answer, see `as_answer`.

        Raises `ModuleError` for a value that cannot be one, such as a mapping or an empty list, and
        `StepRejected` for one that is not a verdict.
        """
        value = state.cache["program_result"]
        values = list(value) if isinstance(value, list | tuple) else [value]
        if not values or any(each is None or isinstance(each, Mapping | list | tuple) for each in values):
            raise ModuleError(f"the program's result is not an answer: {str(value)[:80]}")
        if self.form == "verdict" and len(values) == 1 and isinstance(value, str):
            return verdict_in(value)
        return as_answer(values, self.form)


def as_answer(values: Sequence[Any], form: Form) -> Answer:
    """Convert the result of a program or query to an answer.

    - "items": a text for each value, without None; 3.0 is "3", True is "yes";
    - "verdict": "yes" or "no", see `truth_of`;
    - "text": the items, separated by commas.

    Raises `StepRejected` if nothing is left, or if the values are not a verdict.
    """
    if form == "verdict":
        truth = truth_of(values)
        if truth is None:
            raise StepRejected("the result is neither true nor false")
        return "yes" if truth else "no"
    kept = [each for each in values if each is not None]
    items = [_YES_NO[each] if isinstance(each, bool) else str(tidy(each)) for each in kept]
    if not items:
        raise StepRejected("the result is empty")
    return items if form == "items" else ", ".join(items)


def truth_of(values: Sequence[Any]) -> bool | None:
    """Return whether a result says that a statement is true, or None if it is not a verdict.

    1 and "yes" are true, 0 and "no" false. An empty result or a NULL is false too, since nothing in the table
    supports the statement. Several equal verdicts count as one; other numbers and texts are not verdicts.
    """
    words = {"none" if each is None else str(tidy(each)).strip().lower() for each in values} or {"none"}
    if words.issubset(_TRUE):
        return True
    return False if words.issubset(_FALSE) else None
