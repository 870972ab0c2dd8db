"""TabMWP: mathematical word problems over small tables (Lu et al., 2022)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.chameleon_rule import ChameleonRule
from chameleon.benchmarks.scorers.program_of_thought import ProgramOfThoughtRule
from chameleon.benchmarks.scorers.promptpg import PromptPGRule
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Benchmark, Problem, Scorer
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
    """TabMWP, with the scorers of Chameleon, of Program of Thoughts and of PromptPG.

    Rows are those of the original release (`problems_dev.json`, keyed by pid) and of recorded runs on it. A
    recorded run without questions gives problems whose `input` is empty: they can be scored, not run.
    """

    name = "tabmwp"
    about = "Mathematical word problems over small tables, free or multiple-choice (Lu et al., 2022)"
    columns = (*_BY_QUESTION.values(), *_BY_ANSWER.values(), "G1-6", "G7-8")
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {
        "chameleon": ChameleonRule,
        "pot": ProgramOfThoughtRule,
        "promptpg": PromptPGRule,
    }
    id_key = "pid"
    picture_folders = ("tables_png", "tables")

    def recognises(self, row: Mapping[str, Any]) -> bool:
        """Return whether the row has an id, an answer, and the types of both or a table and choices."""
        keys = row.keys()
        typed_or_whole = {"ques_type", "ans_type"} <= keys or {"question", "table", "choices"} <= keys
        return {"pid", "answer"} <= keys and typed_or_whole

    def problem(self, row: Mapping[str, Any], tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row; types of question and answer are inferred where they are not given.

        `detail` holds the raw answer, its type (`ans_type`), the unit and the choices: None where there are
        none, and no such key where it is not known. Tables stand in the rows, so `tables` is not looked at.
        """
        reader = _Row(row)
        answer, unit, grade = reader.text("answer"), reader.optional_text("unit"), reader.grade()
        known = reader.choices()
        ques_type, ans_type = reader.types(answer, known.get("choices"))
        return Problem(
            id=reader.id,
            input=reader.input(),
            gold=answer,
            columns=breakdown_columns(ques_type, ans_type, grade),
            detail={"answer": answer, "ans_type": ans_type, "unit": unit, **known},
        )

    def percent(self, column: str, correct: int, n: int) -> str:
        """Return a cell of the table: percent with two decimals, or a dash where there is no example.

        ALL is rounded to three decimals first, as in Chameleon's `evaluate.py`; it shows in rare ties only.
        """
        if not n:
            return "–"
        percentage = correct / n * 100
        return f"{round(percentage, 3) if column == 'ALL' else percentage:.2f}"


class _Row:
    """Reads one row of a data file; whatever is missing or wrong is an `InputError` that names its key."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        if isinstance(pid := row.get("pid"), bool) or not isinstance(pid, str | int):
            raise InputError('a TabMWP problem needs its id as "pid"')
        self.id = str(pid)

    def text(self, key: str) -> str:
        if not isinstance(value := self.row.get(key), str):
            raise self._wrong(key, "a text")
        return value

    def optional_text(self, key: str) -> str | None:
        """Return the text; None where it is missing, null, empty or "None"."""
        if not isinstance(value := self.row.get(key), str | None):
            raise self._wrong(key, "a text or null")
        return None if value in ("", "None") else value

    def grade(self) -> int | None:
        grade = self.row.get("grade")
        if grade is None or (grade in range(1, 9) and isinstance(grade, int)):
            return grade
        raise self._wrong("grade", "a whole number from 1 to 8")

    def choices(self) -> dict[str, list[str] | None]:
        """Return the choices under their key; no such key where it is not known whether there are any."""
        if "choices" not in self.row:
            return {"choices": None} if self.row.get("ques_type") == "free_text" else {}
        choices = self.row["choices"]
        if choices is not None and not (
            isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
        ):
            raise self._wrong("choices", "a list of texts or null")
        return {"choices": choices or None}

    def types(self, answer: str, choices: Sequence[str] | None) -> tuple[str, str]:
        """Return the type of the question and that of the answer, as given, else as inferred."""
        if "ques_type" in self.row and "ans_type" in self.row:
            ques_type, ans_type = self.text("ques_type"), self.text("ans_type")
        else:
            ques_type, ans_type = inferred_types(answer, choices, self.text("table"))
        if ques_type not in _BY_QUESTION:
            raise self._wrong("ques_type", f"one of {', '.join(_BY_QUESTION)}")
        if ans_type not in _BY_ANSWER:
            raise self._wrong("ans_type", f"one of {', '.join(_BY_ANSWER)}")
        return ques_type, ans_type

    def input(self) -> dict[str, Any]:
        if "question" not in self.row and "table" not in self.row:
            return {}
        question, text = self.text("question"), self.text("table")
        known = self.choices()
        if not known:
            raise self._wrong("choices", "a list of texts or null")
        caption = self.optional_text("table_title") or ""
        return {
            "question": question,
            "table": read_text_table(text, caption),
            "choices": known["choices"],
            "unit": self.optional_text("unit"),
        }

    def _wrong(self, key: str, expected: str) -> InputError:
        found = f"is {self.row[key]!r:.80}" if key in self.row else "is missing"
        return InputError(f'the key "{key}" {found}, and should be {expected}', where=f"problem {self.id}")


def breakdown_columns(ques_type: str, ans_type: str, grade: int | None = None) -> tuple[str, ...]:
    """Return the columns of the paper's table that a problem counts in; none by grade without one."""
    by_grade = () if grade is None else ("G1-6",) if grade <= 6 else ("G7-8",)
    return (_BY_QUESTION[ques_type], _BY_ANSWER[ans_type], *by_grade)


def inferred_types(answer: str, choices: Sequence[str] | None, table: str) -> tuple[str, str]:
    """Return the types of question and answer, for data that does not state them.

    The rule is not TabMWP's own; on the 1,000 problems of its set dev1k it gives what the set states.
    """
    if not choices:
        return "free_text", "integer_number" if _INTEGER.fullmatch(answer) else "decimal_number"
    if {choice.lower() for choice in choices} in _EITHER_OR:
        return "multi_choice", "boolean_text"
    in_table = answer.lower() in table.lower()
    return "multi_choice", "extractive_text" if in_table else "other_text"


def read_text_table(text: str, caption: str = "") -> Table:
    """Return a table in TabMWP's text form: rows by line, cells between bars.

    The first line is the header, even where it is a row like the others; short lines are filled with blanks.
    """
    lines = [[cell.strip() for cell in line.split("|")] for line in text.split("\n")]
    width = max(map(len, lines))
    header, *rows = ([*line, *[""] * (width - len(line))] for line in lines)
    return Table(header, rows, caption)
