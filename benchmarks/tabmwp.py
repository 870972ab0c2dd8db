"""TabMWP: mathematical word problems over small tables (Lu et al., 2022)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.promptpg import PromptPGRule
from chameleon.benchmarks.scorers.tabmwp_rule import ChameleonRule, ProgramOfThoughtRule
from chameleon.benchmarks.tables.table_benchmark import table_of, text_in, texts_in, wrong
from chameleon.evaluation.benchmark import Benchmark, Problem, Row, Scorer
from chameleon.table import Table

_BY_QUESTION = {"free_text": "FREE", "multi_choice": "MC"}
_BY_ANSWER = {
    "integer_number": "INT",
    "decimal_number": "DEC",
    "extractive_text": "EXTR",
    "boolean_text": "BOOL",
    "other_text": "OTH",
}
_EITHER_OR = [{"yes", "no"}, {"true", "false"}, {"linear", "nonlinear"}, {"shortage", "surplus"}]
_INTEGER = re.compile(r"-?[\d,]+")


class Tabmwp(Benchmark):
    """Mathematical word problems over small tables, free or multiple-choice (Lu et al., 2022).

    Rows come from the original release (`problems_dev.json`, keyed by pid) or recorded runs on it. A recorded
    run without questions gives problems with an empty `input`: they can be scored, not run.
    """

    name = "tabmwp"
    columns = (*_BY_QUESTION.values(), *_BY_ANSWER.values(), "G1-6", "G7-8")
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {
        "chameleon": ChameleonRule,
        "pot": ProgramOfThoughtRule,
        "promptpg": PromptPGRule,
    }
    id_key = "pid"
    known_by = ({"pid", "answer", "ques_type", "ans_type"}, {"pid", "answer", "question", "table", "choices"})
    picture_folders = ("tables_png", "tables")

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row, inferring missing types of question and answer.

        `detail` holds the raw answer, its type (`ans_type`), the unit and the choices: None for none, and no
        key if unknown. Tables are in the rows, so `tables` is ignored.
        """
        id, answer = self.required_id(row), text_in(row, "answer")
        grade, unit = row.get("grade"), _text_or_none(row, "unit")
        if not (grade is None or (isinstance(grade, int) and grade in range(1, 9))):
            raise wrong(row, "grade", "a whole number from 1 to 8")
        fields: dict[str, list[str] | None] = {}
        if "choices" in row or row.get("ques_type") == "free_text":
            fields = {"choices": texts_in(row, "choices", default=[]) or None}
        ques_type, ans_type = _types(row, answer, fields.get("choices"))
        input: dict[str, Any] = {}
        if "question" in row or "table" in row:
            table = read_text_table(text_in(row, "table"), _text_or_none(row, "table_title") or "")
            input = {"question": text_in(row, "question"), "table": table, **fields, "unit": unit}
            if not fields:
                raise wrong(row, "choices", "a list of texts or null")
        return Problem(
            id=id,
            input=input,
            gold=answer,
            columns=breakdown_columns(ques_type, ans_type, grade),
            detail={"answer": answer, "ans_type": ans_type, "unit": unit, **fields},
        )

    def percent(self, column: str, correct: int, n: int) -> str:
        """Return a cell; ALL is rounded to three decimals first, as by Chameleon's script (rare ties)."""
        if column != "ALL" or not n:
            return super().percent(column, correct, n)
        return f"{round(correct / n * 100, 3):.2f}"


def _text_or_none(row: Row, key: str) -> str | None:
    """Return the text, or None if it is missing, null, empty or "None"."""
    return None if row.get(key) in (None, "", "None") else text_in(row, key)


def _types(row: Row, answer: str, choices: Sequence[str] | None) -> tuple[str, str]:
    """Return the types of the question and the answer, as given or inferred."""
    if not {"ques_type", "ans_type"} <= row.keys():
        return inferred_types(answer, choices, text_in(row, "table"))
    for key, types in (("ques_type", _BY_QUESTION), ("ans_type", _BY_ANSWER)):
        if text_in(row, key) not in types:
            raise wrong(row, key, f"one of {', '.join(types)}")
    return row["ques_type"], row["ans_type"]


def breakdown_columns(ques_type: str, ans_type: str, grade: int | None = None) -> tuple[str, ...]:
    """Return the columns of the paper's table that a problem counts in; none by grade without a grade."""
    by_grade = () if grade is None else ("G1-6",) if grade <= 6 else ("G7-8",)
    return (_BY_QUESTION[ques_type], _BY_ANSWER[ans_type], *by_grade)


def inferred_types(answer: str, choices: Sequence[str] | None, table: str) -> tuple[str, str]:
    """Return the types of question and answer, for data that does not state them.

    This is not TabMWP's rule; on the 1,000 problems of its set dev1k it agrees with the stated types.
    """
    if not choices:
        return "free_text", "integer_number" if _INTEGER.fullmatch(answer) else "decimal_number"
    if {choice.lower() for choice in choices} in _EITHER_OR:
        return "multi_choice", "boolean_text"
    in_table = answer.lower() in table.lower()
    return "multi_choice", "extractive_text" if in_table else "other_text"


def read_text_table(text: str, caption: str = "") -> Table:
    """Return the table in TabMWP's text: rows are lines, cells are between bars, the header comes first."""
    return table_of([[cell.strip() for cell in line.split("|")] for line in text.split("\n")], caption)
