"""Write a program about a report, run it, and cite the sources of its numbers.

The program is in FinQA's language (Chen et al., 2021), with and without reasoning (RAG-CoT), or in Python
(Program of Thoughts).
"""

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from chameleon import LLMModule, Module, State, StepRejected
from chameleon.core.module import Traits
from chameleon.errors import ModuleError
from chameleon.modules.documents.paper_retriever import passage_source
from chameleon.modules.program.programs import program_in, result_of
from chameleon.modules.program.python_text import parsed
from chameleon.modules.reports.finqa_program import END, OVER_ROWS, calculated, number_in, tokens_of
from chameleon.modules.reports.program_text import (
    as_text,
    finqa_program_in,
    lines_of,
    steps_in,
    value_of,
    written,
)
from chameleon.modules.reports.report import Report, report_slots, text_of

_NUMBER = re.compile(r"\d+(?:\.\d+)?|(?<!\d)\.\d+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")

Place = tuple[int, int]
"""The number of a passage (0: the main table) and of a row (0: a passage of text)."""


class _ReportProgram(LLMModule):
    traits = Traits(shows_own_keys=True)
    reads = ("input.question", "input.table?", "input.passages?", "cache.relevant_rows?")

    def slots(self, state: State) -> dict[str, Any]:
        return super().slots(state) | report_slots(state)


class FinqaProgramGenerator(_ReportProgram):
    """Writes the steps of arithmetic that answer a question about a report. For FinQA's language."""

    prompt = "finqa/few_shot"
    writes = ("cache.finqa_program",)

    def parse(self, text: str) -> str:
        """Return the program in a reply, without checking it against a report."""
        return as_text(finqa_program_in(text))

    def interpret(self, text: str, state: State) -> str:
        """Return the program in a reply, with numbers and rows of the report. Raises as `written` does."""
        report = Report.of(state)
        texts = [state.input["question"], *map(text_of, report.passages)]
        return written(finqa_program_in(text), report.every_table, texts)


class ReportProgramGenerator(_ReportProgram):
    """Writes a Python program that sets `ans`, from the text and the table of a report."""

    prompt = "finqa/program_generator"
    writes = ("cache.program",)

    def parse(self, text: str) -> str:
        return program_in(text)


class _ReportExecutor(Module):
    writes = ("cache.program_result", "cache.sources")
    traits = Traits(non_text=("cache.sources",))

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["value"], "sources": output["sources"]}

    def cited(self, state: State, left: set[str], rows: Set[str] = frozenset()) -> list[dict[str, Any]]:
        """Return the sources of numbers and named rows: each table and passage once, the main table first."""
        report = Report.of(state)
        places = dict(self._places(report))
        cited: dict[int, dict[int, set[int]]] = {}  # columns by passage and row

        def cite(place: Place, numbers: Set[str]) -> None:
            columns = {column for number in numbers for column in places[place][number]}
            cited.setdefault(place[0], {})[place[1]] = columns
            left.difference_update(numbers)

        tables = report.tables.values()
        names = {row[0]: (item.passage, n) for item in tables for n, row in enumerate(item.table.rows, 1)}
        for name in rows & names.keys():  # the last of several rows with the same name counts
            cite(names[name], places[names[name]].keys())
        sources = [each["source"] for each in state.cache.get("retrieved") or ()]
        passages = {source["passage"] for source in sources if "passage" in source}
        every = range(1, len(report.passages) + 1)  # of the input; a retriever may have kept only some
        numbers = sorted(passages) if len(passages) == len(every) else every
        order = [(source.get("passage", 0), source.get("row", 0)) for source in sources]

        def rank(place: Place) -> tuple[int, int]:
            origin = (numbers[place[0] - 1] if place[0] else 0, place[1])
            return -len(left & places[place].keys()), order.index(origin) if origin in order else len(order)

        while candidates := [place for place in places if left & places[place].keys()]:  # most first
            best = min(candidates, key=rank)
            cite(best, left & places[best].keys())
        return [self._source(report, passage, rows, numbers) for passage, rows in sorted(cited.items())]

    @staticmethod
    def _places(report: Report) -> Iterator[tuple[Place, Mapping[str, Sequence[int]]]]:
        """Yield each row and each passage of text, with its numbers and their columns."""
        for item in report.tables.values():
            for row, (_, *cells) in enumerate(item.table.rows, 1):
                columns: dict[str, list[int]] = {}
                for column, cell in enumerate(cells, 1):
                    for number in _numbers(cell):
                        columns.setdefault(number, []).append(column)
                yield (item.passage, row), columns
        for place, passage in enumerate(report.passages, 1):
            if place not in report.tables:
                yield (place, 0), dict.fromkeys(_numbers(text_of(passage)), ())

    @staticmethod
    def _source(report: Report, passage: int, cited: Mapping[int, Set[int]], numbers: Sequence[int]) -> Any:
        """Return a table or a passage as a source, with the cited columns by row."""
        source: dict[str, Any] = {}
        data: Any = {}
        if passage:
            data = report.passages[passage - 1]
            data = data if isinstance(data, Mapping) else {"text": data}
            source = passage_source({**data, "text": text_of(data)}, numbers[passage - 1])
        if (item := report.tables.get(passage)) is None:
            return source
        table, rows, caption = item.table, sorted(cited), item.table.caption.strip()
        row_numbers = data.get("rows")  # the row numbers in the longer table that this is part of
        source["rows"] = [row_numbers[row - 1] for row in rows] if row_numbers else rows
        source["columns"] = [table.header[column] for column in sorted(set().union(*cited.values()))]
        if not passage:
            return {"table": caption or "the table", **source, "of": len(table.rows)}
        if caption and not str(source.get("heading", "")).endswith(caption):
            source["table"] = caption
        return source


class FinqaExecutor(_ReportExecutor):
    """Runs the steps of a program of FinQA's language over the table. Follows finqa_program_generator."""

    reads = ("cache.finqa_program", "input.table?", "input.passages?", "cache.retrieved?")

    def run(self, state: State) -> dict[str, Any]:
        """Return `value` (to five places, "yes" or "no"), the `steps` with their values, and `sources`."""
        program, tables = state.cache["finqa_program"], Report.of(state).every_table
        value, fault = value_of(program, tables)
        if fault:
            raise ModuleError(f"the program gave no answer: {fault}")
        tokens, lines = tokens_of(program)[:-1], lines_of(tables)
        steps = [
            {"step": " ".join(tokens[end - 4 : end]), "value": calculated([*tokens[:end], END], lines).value}
            for end in range(4, len(tokens) + 1, 4)
        ]
        return {"value": value, "steps": steps, "sources": self.sources(state, program)}

    def sources(self, state: State, program: str) -> list[dict[str, Any]]:
        """Return the passages, and the tables with rows and columns, that the numbers of a program come from.

        A row may be cited by name. Of the places that contain a number, one is cited: the one with the most
        numbers of the program; on a tie the one retrieved first (`cache.retrieved`), else the first in the
        report. Rows and passages are counted from 1; constants have no source.
        """
        steps = steps_in(program)
        rows = {first for operation, first, _ in steps if operation in OVER_ROWS}
        arguments = (each for operation, *both in steps if operation not in OVER_ROWS for each in both)
        return self.cited(state, {_plain(each) for each in arguments if each[0] not in "#c"}, rows)


class ReportProgramExecutor(_ReportExecutor):
    """Runs a Python program about a report in the sandbox. Follows program_verifier."""

    reads = ("cache.program", "cache.verified?", "cache.retrieved?", "input.table?", "input.passages?")

    def run(self, state: State) -> dict[str, Any]:
        """Return `value`, a number, "yes" or "no", and `sources`, the rows and passages of its numbers.

        Raises `ModuleError` if the program gives no value, `StepRejected` for any other value.
        """
        value = result_of(state)
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, str) and value.strip().lower() in ("yes", "no"):
            value = value.strip().lower()
        elif not (isinstance(value, int | float) and math.isfinite(value)):
            what = f"the program sets ans to {str(value)!r:.60}, which is neither a number nor yes or no"
            raise StepRejected(what, hint="Set ans to one number without its unit.")
        return {"value": value, "sources": self.sources(state, state.cache["program"])}

    def sources(self, state: State, program: str) -> list[dict[str, Any]]:
        """Return the sources of the numbers in a program, except single digits, which occur everywhere."""
        constants = (node.value for node in ast.walk(parsed(program)) if isinstance(node, ast.Constant))
        numbers = {repr(each) for each in constants if type(each) in (int, float)}
        return self.cited(state, {_plain(each) for each in numbers if len(each) > 1})


def _numbers(text: str) -> set[str]:
    return {_plain(each) for each in _NUMBER.findall(_THOUSANDS.sub("", text))}


def _plain(number: str) -> str:
    """Return a number without its sign and percent sign, in one notation, for comparison."""
    bare = number.lstrip("-").rstrip("%")
    value = number_in(bare)
    return repr(value) if value is not None else bare
