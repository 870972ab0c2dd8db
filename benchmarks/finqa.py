"""FinQA: numeric questions over a page of a financial report, text and table (Chen et al., 2021)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.finqa_answers import AnswerRule
from chameleon.benchmarks.scorers.finqa_rule import ExecutionRule, OfficialRule, PrecisionRule, ProgramRule
from chameleon.benchmarks.tables.table_benchmark import table_of, text_in, texts_in, wrong
from chameleon.core.state import State
from chameleon.evaluation.benchmark import Benchmark, Problem, Row, Scorer
from chameleon.modules.reports.finqa_program import steps_of, tokens_of

_STEPS = ("1 step", "2 steps", "3+ steps")
_FACTS = ("table", "text", "table and text")
_YES_NO = "yes/no"

Lines = list[list[str]]


class Finqa(Benchmark):
    """Numeric questions over a page of a financial report, text and table (Chen et al., 2021).

    Rows come from the release (`pre_text`, `post_text`, `table`, `qa`), or JSON lines of single questions
    (`question`, `table`, `retrieved_context`, `program`, `exe_ans`), with texts found by some retriever.
    Predictions are lists of tokens under "predicted", as for the original script, or others.

    A run gets the sentences as `input.passages`, each with its position relative to the table. The sentences
    that a question needs (`gold_inds`) are kept in `detail`: they are gold data.
    """

    name = "finqa"
    known_by: ClassVar[tuple[set[str], ...]] = (
        {"pre_text", "post_text", "table", "qa"},
        {"question", "table", "retrieved_context", "program"},
    )
    columns = (*_FACTS, *_STEPS, _YES_NO)
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {
        "official": OfficialRule,
        "execution": ExecutionRule,
        "program": ProgramRule,
        "answer": AnswerRule,
        "pot": PrecisionRule,
    }
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"facts": _FACTS, "steps": _STEPS, "answer": (_YES_NO,)}

    def rows(self, rows: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield the rows; original predictions are renamed to the usual key."""
        for row in rows:
            yield {**row, "prediction": row["predicted"]} if "predicted" in row else row

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row; `gold` is the value of the gold program, or None.

        `detail` has the question, the gold `program`, the annotators' `answer`, the unchanged `lines` of the
        table, and `facts`: the sentences ("text_4", counted through both texts) and lines of the table
        ("table_2", the header being 0) that hold the answer. All but the question and the lines are None if
        unknown.
        """
        id = self.required_id(row)
        qa, lines = row.get("qa", row), row.get("table")
        if not isinstance(qa, Mapping):
            raise wrong(row, "qa", "an object")
        if not (isinstance(lines, list) and lines and all(isinstance(line, list) and line for line in lines)):
            raise wrong(row, "table", "a list of lines with cells, the header first")
        lines, question = [[str(cell) for cell in line] for line in lines], text_in(qa, "question")
        program, gold = _optional(qa, "program"), qa.get("exe_ans")
        if gold is not None and (isinstance(gold, bool) or not isinstance(gold, str | int | float)):
            raise wrong(qa, "exe_ans", "a number, or yes or no")
        facts = list(qa["gold_inds"]) if isinstance(qa.get("gold_inds"), Mapping | list) else None
        return Problem(
            id=id,
            input=self.given(question, lines, _passages(row, lines), facts),
            gold=gold,
            columns=_columns(program, gold, facts),
            detail={
                "question": question,
                "program": program,
                "answer": _optional(qa, "answer"),
                "lines": lines,
                "facts": facts,
            },
        )

    def given(
        self, question: str, lines: Lines, passages: list[dict[str, str]], facts: Sequence[str] | None
    ) -> dict[str, Any]:
        """Return the input of a run: the whole report, without marking the gold facts."""
        return {"question": question, "table": table_of(_with_dashes(lines)), "passages": passages}

    def found(self, state: State) -> Mapping[str, Any]:
        """Return the program that the run wrote to `cache.finqa_program`, for the official rules.

        For a program in another language, return its result as `value`: the run's answer may be rounded, or
        in percent.
        """
        program, value = state.cache.get("finqa_program"), state.cache.get("program_result")
        if isinstance(program, str):
            return {"program": program}
        return {"value": value} if isinstance(value, str | int | float) else {}


_DASH = re.compile(r"(\$\s*)?(2013|2014)(\s*%)?")
_DASHES = {"2013": "–", "2014": "—"}
# Names of rows and columns that hold years: 2013 in them is a year, not a dash.
_DATE_HEADER = re.compile(
    r"^(?:year|years|date|dates|maturity|maturities|expiration|expires)$|\b(?:date|year of)\b", re.I
)
_YEAR = re.compile(r"(?:19|20)\d\d")


def _with_dashes(lines: Lines) -> Lines:
    """Restore the dashes of blank cells, which the release has as 2013 and 2014 (U+2013, U+2014).

    A cell in a row or column with other years, or with a date as its name, is a year and is kept.
    """
    new_lines = [list(line) for line in lines]
    for row, line in enumerate(lines[1:], 1):
        for column, cell in enumerate(line[1:], 1):
            if (match := _DASH.fullmatch(cell.strip())) is None:
                continue
            neighbors = [*line[1:], *(other[column] for other in lines[1:] if column < len(other))]
            years = {each.strip() for each in neighbors if _YEAR.fullmatch(each.strip())}
            names = (line[0], *lines[0][column : column + 1])
            if years <= _DASHES.keys() and not any(_DATE_HEADER.search(name.strip()) for name in names):
                new_lines[row][column] = f"{match[1] or ''}{_DASHES[match[2]]}{match[3] or ''}"
    return new_lines


def _passages(row: Row, lines: Lines) -> list[dict[str, str]]:
    """Return the sentences with their place; retrieved ones that are lines of the table are left out."""
    if "retrieved_context" in row:
        in_table = {line_as_text(lines[0], line) for line in lines}
        texts = texts_in(row, "retrieved_context")
        return [{"title": "", "text": text} for text in texts if " ".join(text.split()) not in in_table]
    return [
        {"title": "", "text": text, "place": place}
        for key, place in (("pre_text", "before"), ("post_text", "after"))
        for text in texts_in(row, key)
    ]


def line_as_text(header: Sequence[str], line: Sequence[str]) -> str:
    """Return a line of the table as a sentence, as FinQA's retriever reads it."""
    cells = (f"the {line[0]} of {name} is {cell} ;" for name, cell in zip(header[1:], line[1:], strict=False))
    return " ".join(" ".join((header[0], *cells)).split())


def _columns(program: str | None, gold: Any, facts: Sequence[str] | None) -> tuple[str, ...]:
    columns = []
    if facts:
        kinds = {fact.partition("_")[0] for fact in facts}
        columns.append(_FACTS[2] if len(kinds) > 1 else _FACTS[0] if "table" in kinds else _FACTS[1])
    if program is not None:
        steps = len(steps_of(tokens_of(program)[:-1]))  # without the end token
        columns.append(_STEPS[min(max(steps, 1), 3) - 1])
    return (*columns, _YES_NO) if isinstance(gold, str) else tuple(columns)


def _optional(row: Row, key: str) -> str | None:
    if not isinstance(value := row.get(key), str | None):
        raise wrong(row, key, "a text")
    return value or None
