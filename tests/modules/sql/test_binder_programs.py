"""What programs ask and come to: by hand, and Binder's recorded gpt-3.5 run through our sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from chameleon import Table
from chameleon.errors import ModuleError
from chameleon.llm import Reply
from chameleon.modules.sql.binder_programs import Answerer, AnswerQuestion, MapQuestion, ProgramRun, Question
from chameleon.modules.sql.binder_repair import repaired
from chameleon.modules.sql.binder_table import binder_table
from chameleon.modules.sql.database import Cell, SqlTable, SqlType
from chameleon.modules.sql.query import run_sql
from chameleon.sandbox import Limits
from chameleon.sandbox.sealed_process import why_unusable
from tests.benchmarks.shared_data import needs_data, rows
from tests.modules.sql.given import TABLE, Unsealed

pytestmark = pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")

TYPES: dict[str, SqlType] = {
    "object": "TEXT",
    "int64": "INTEGER",
    "float64": "REAL",
    "datetime64[ns]": "DATE",
}
# The recogniser of the original filled the day of its run into a bare time of day.
PROGRAMS = "wikitq/binder_replay.jsonl.gz"
OF_THAT_DAY = {"nu-3595", "nu-4251"}


@pytest.fixture(scope="module")
def tables() -> dict[str, dict[str, Any]]:
    return {each["table_id"]: each for each in rows("wikitq/binder_tables.jsonl.gz")}


def as_recorded(table: dict[str, Any]) -> SqlTable:
    """The table as the original's recogniser left it."""
    kinds = [TYPES[kind] for kind in table["dtypes_out"]]
    cells = [tuple(map(cell, row, kinds)) for row in table["rows_out"]]
    return SqlTable(dict(zip(table["columns_out"], kinds, strict=True)), cells)


def cell(text: str, kind: SqlType) -> Cell:
    if kind == "INTEGER":
        return int(text)
    if kind == "REAL":
        return None if text == "nan" else float(text)
    return text


RUN_QUERY = partial(run_sql, executor=Unsealed(Limits()))


def outcome_of(program: str, table: SqlTable) -> Any:
    """An outcome as the original writes it down: 0 for errors, no rows and NULL."""
    try:
        cells = ProgramRun(table, RUN_QUERY, Answerer(lambda questions, again: [])).cells(program)
    except ModuleError:
        return 0
    return 0 if cells in ([], [None]) else cells


@needs_data
def test_recorded_programs_give_the_recorded_answers(tables: dict[str, dict[str, Any]]) -> None:
    programs = rows(PROGRAMS)
    by_id = {id: as_recorded(table) for id, table in tables.items()}
    wrong = set()
    for each in programs:
        outcome = outcome_of(each["sql_postprocessed"], by_id[each["table_id"]])
        if outcome != each["recorded_pred"]:
            wrong.add(each["id"])
        executed = 0 if each["error"] or each["executed"] in ([], [None]) else each["executed"]
        assert outcome == executed, "all agree with the original executor"
    assert len(programs) == 477 and wrong == OF_THAT_DAY


@needs_data
def test_our_own_normaliser_and_repairs_come_near(tables: dict[str, dict[str, Any]]) -> None:
    """From the raw table and the program as written; most of what differs was a slip of the original."""
    captions = {each["table_id"]: each["caption"] for each in rows("wikitq/tables.jsonl.gz")}
    same = 0
    for each in rows(PROGRAMS):
        table, caption = tables[each["table_id"]], captions.get(each["table_id"], "")
        made = binder_table(Table(table["header_in"], table["rows_in"], caption))
        same += outcome_of(repaired(each["sql"], made, caption), made) == each["recorded_pred"]
    assert same == 441


NORMAL = binder_table(TABLE)
CELLS = {"port crocs (qld)": "yes", "south cutters": "no", "1998": "8", "2000": "0"}


class Model:
    """Answers from a dictionary, and notes what it is asked: each list is one round of calls."""

    def __init__(self, **answers: str) -> None:
        self.answers = CELLS | answers
        self.rounds: list[list[Question]] = []

    def __call__(self, questions: Sequence[Question], again: bool) -> list[Reply]:
        self.rounds.append(list(questions))
        return [Reply(self.answer(question)) for question in questions]

    def answer(self, question: Question) -> str:
        if isinstance(question, AnswerQuestion):
            return self.answers[question.asked]
        said = [self.answers.get(" | ".join(item), "") for item in question.items]
        return "\n".join(f"{number} | {answer}" for number, answer in enumerate(said, 1))


def run(program: str, model: Model | None = None) -> list[Cell]:
    return ProgramRun(NORMAL, run_sql, Answerer(model or Model())).cells(program)


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("SELECT year FROM w WHERE QA(\"map@a croc?\"; runners up) = 'yes'", [1998, 2000]),
        ('QA("map@a croc?"; `runners up`)', ["yes", "no", "yes"]),
        ('SELECT SUM(QA("map@last digit?"; SELECT year FROM w WHERE score > 1)) FROM w', [8]),
        ("SELECT * FROM w WHERE year = 1999", [1999, "south cutters", None, 8.0, "x", None, "b"]),
        ("year", [1998, 1999, 2000]),
        ("`runners up`", ["port crocs (qld)", "south cutters", "port crocs (qld)"]),
        ("SELECT year FROM w WHERE 1 = 2", []),
        ("SELECT 9e999", ["inf"]),
    ],
)
def test_a_program_comes_to_its_cells(program: str, outcome: list[Any]) -> None:
    assert run(program) == outcome


def test_a_value_is_asked_of_columns_results_and_values() -> None:
    params = "runners up; SELECT MAX(year) FROM w; 'the war'"
    model = Model(**{"when?": "1998"})
    assert run(f'SELECT year FROM w WHERE year > QA("ans@when?"; {params})', model) == [1999, 2000]
    (question,) = model.rounds[0]
    assert isinstance(question, AnswerQuestion)
    column, result, value = question.blocks
    assert column.splitlines()[:2] == ["runners up", "port crocs (qld)"]
    assert (result, value) == ("MAX(year)\n2000", "the war")


def test_calls_within_calls_are_answered_first_and_an_answer_cannot_end_its_quotes() -> None:
    model = Model(**{"who?": "o'hara"})
    program = 'QA("ans@who?"; SELECT year FROM w WHERE QA("map@a croc?"; runners up) = \'no\')'
    assert run(program, model) == ["o'hara"]
    (first,), (second,) = model.rounds
    assert isinstance(first, MapQuestion) and isinstance(second, AnswerQuestion)
    assert second.blocks == ("year\n1999",)
    program = "SELECT year FROM w WHERE `group` = QA(\"ans@which?\"; 'x') OR year = 2000"
    assert run(program, Model(**{"which?": "x' OR 1 = 1 --"})) == [2000]


def test_what_several_programs_ask_is_asked_once() -> None:
    model = Model(**{"1999": "9", "who?": "me"})
    answerer = Answerer(model)
    programs = {
        'SELECT SUM(QA("map@last digit?"; SELECT year FROM w WHERE score > 1)) FROM w': [8],
        'SELECT SUM(QA("map@last digit?"; year)) FROM w': [17],
        'SELECT MAX(QA("map@last digit?"; year)) + SUM(QA("map@last digit?"; year)) FROM w': [26],
        'QA("ans@who?"; runners up)': ["me"],
        'SELECT QA("ans@who?"; runners up)': ["me"],
    }
    for program, cells in programs.items():
        assert ProgramRun(NORMAL, run_sql, answerer).cells(program) == cells
    asked = [question for questions in model.rounds for question in questions]
    items = [question.items for question in asked if isinstance(question, MapQuestion)]
    assert items == [(("1998",), ("2000",)), (("1999",),)] and len(asked) == 3


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("SELECT points FROM w", "no such column: points"),
        ("ATTACH 'x' AS y", "refused"),
        ('SELECT QA("map@a croc?"; `group`) FROM w', "answered 0 of 2 items"),
        ('SELECT QA("map@a croc?") FROM w', "asks about nothing"),
        ('SELECT QA("map@a croc?"; SELECT MAX(a) FROM b) FROM w', "no such table: b"),
    ],
)
def test_what_does_not_work_says_why(program: str, reason: str) -> None:
    with pytest.raises(ModuleError, match=reason):
        run(program)
