"""Keep the rows and columns that pandas code from a model keeps (TableRAG's LLM filter)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from chameleon import LLMModule, State, StepRejected, Table
from chameleon.modules.program.program_generator import program_in
from chameleon.modules.tablerag.consistency import agreed
from chameleon.modules.tablerag.conversation import turns
from chameleon.modules.tablerag.cut import Cut, part, whole
from chameleon.modules.tablerag.filter_code import Kept, column_names, run_filter, without_pandas
from chameleon.prompt import table_text

Agree = Literal["result", "text"]


class LLMFilter(Cut, LLMModule):
    """Keeps the rows and columns that the question may need, by pandas code. For tables with many rows."""

    prompt = "tablerag/llm_filter"
    reads = ("input.question", "input.table", "input.history?", "cache.kept?")
    samples = 5
    max_rows: int | None = 40

    def __init__(self, agree: Agree = "result", *, least_rows: int = 2, timeout: float | None = None) -> None:
        """What most samples agree on is taken, the first of them on a tie.

        - `agree`: "result": samples agree that keep the same rows and columns, and code that fails votes for
          the whole table, which loses a tie; "text": samples agree that have the same code to the letter, and
          that code is run (published).
        - `least_rows`: a table with fewer rows stays whole without a call.
        - `timeout`: seconds for one program, by default the sandbox's 2.

        Whatever goes wrong (no code, an error, an empty or foreign result) leaves the table whole, and the
        output says why.
        """
        self.agree: Agree = agree
        self.least_rows, self.timeout = least_rows, timeout

    def runtime_info(self) -> Mapping[str, Any]:
        try:
            pandas = version("pandas")
        except PackageNotFoundError:
            pandas = ""
        return {"pandas": pandas, "runs": not without_pandas()}

    def run(self, state: State) -> dict[str, Any]:
        table: Table = state.input["table"]
        if len(table.rows) < self.least_rows:
            return whole("the table is small")
        if reason := without_pandas():
            return whole(reason)
        codes, faults = self._codes(state)
        if not codes:
            return whole(faults[0]) | {"faults": faults}
        return (
            self._by_result(codes, faults, table) if self.agree == "result" else self._by_text(codes, table)
        )

    def _codes(self, state: State) -> tuple[list[str], list[str]]:
        """The code of each sample, and what is wrong with those that hold none."""
        codes, faults = list[str](), list[str]()
        for reply in self.ask(state):
            value = self._value_or_rejection(reply, state)
            if isinstance(value, StepRejected):
                faults.append(value.what)
            else:
                codes.append(value)
        return codes, faults

    def _by_result(self, codes: Sequence[str], faults: list[str], table: Table) -> dict[str, Any]:
        results = cache(lambda code: run_filter(code, table, self.timeout))
        kept = list[Kept]()
        for result in map(results, codes):
            if isinstance(result, Kept):
                kept.append(result)
            else:
                faults.append(result)
        if not kept:
            return whole(faults[0]) | {"faults": faults}
        chosen = kept[agreed([repr(each) for each in kept])]
        votes = {"votes": kept.count(chosen), "faults": faults}
        if kept.count(chosen) < len(faults):
            return whole("more samples failed than agree on what to keep") | votes
        code = next(code for code in codes if results(code) == chosen)
        return part(table, chosen.rows, chosen.columns) | {"code": code} | votes

    def _by_text(self, codes: Sequence[str], table: Table) -> dict[str, Any]:
        code = codes[agreed(codes)]
        told = {"code": code, "votes": codes.count(code)}
        result = run_filter(code, table, self.timeout)
        if isinstance(result, str):
            return whole(result) | told
        return part(table, result.rows, result.columns) | told

    def parse(self, text: str) -> str:
        return program_in(text)

    def slots(self, state: State) -> dict[str, Any]:
        """The table stands in `table` with names of its own for all columns, as the code sees them."""
        table: Table = state.input["table"]
        named = Table(column_names(table), table.rows, table.caption)
        limits = {"max_rows": self.max_rows, "max_cell": self.max_cell, "max_tokens": self.max_table_tokens}
        shown = table_text(named, style=self.table_style, **limits)
        return super().slots(state) | {"table": shown, "history": turns(state)}
