"""Binder's programs: how their text is read and repaired, and what they ask and come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import StepRejected, Table
from chameleon.errors import ModuleError
from chameleon.modules.sql.binder_generator import program_for
from chameleon.modules.sql.calls import all_calls, outside_quotes, steps_of
from chameleon.modules.sql.normal import normalised
from chameleon.modules.sql.query import run_sql
from chameleon.modules.sql.questions import (
    AnswerQuestion,
    MapQuestion,
    Question,
    map_answers,
    single_answer,
)
from chameleon.modules.sql.repair import nearest_cell, repaired
from chameleon.modules.sql.sql_generator import sql_in
from chameleon.modules.sql.together import run_together
from chameleon.sandbox.zygote import why_unusable

TABLE = Table(
    ["Year", "Runners Up", "Score", "Score", "", "Day", "Group"],
    [
        ["1,998", "Port Crocs (QLD)", "3", "10.4", "-", "May 4, 2024", "A"],
        ["1999", "South Cutters", "/", "8", "x", "", "B"],
        ["2000", "Port Crocs (QLD)", "12", "9.5", "930 251", "June 1, 2023", "A"],
    ],
    "Tarn (league) cup",
)
NORMAL = normalised(TABLE)


def test_a_table_is_normalised_as_published() -> None:
    assert [(column.name, column.type) for column in NORMAL.columns] == [
        ("row_id", "INTEGER"),
        ("year", "INTEGER"),
        ("runners up", "TEXT"),
        ("score", "INTEGER"),
        ("score_2", "REAL"),
        ("filledcolumnname", "TEXT"),
        ("day", "DATE"),
        ("group", "TEXT"),
    ]
    assert list(NORMAL.rows) == [
        (0, 1998, "port crocs (qld)", 3, 10.4, "none", "2024-05-04", "a"),
        (1, 1999, "south cutters", None, 8.0, "x", None, "b"),
        (2, 2000, "port crocs (qld)", 12, 9.5, "930251", "2023-06-01", "a"),
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("```sql\nSELECT year FROM w\n```", "SELECT year FROM w"),
        ("SELECT year\nFROM w;", "SELECT year FROM w"),
        ("SELECT year FROM Tarn (League) Cup", "SELECT year FROM w"),
        ("SELECT year FROM tarn_league_cup WHERE year = 1", "SELECT year FROM w WHERE year = 1"),
        ("SELECT runners up FROM w", "SELECT `runners up` FROM w"),
        ("SELECT Runners Up, year FROM w", "SELECT `Runners Up`, year FROM w"),
        ('SELECT "runners up" FROM w', 'SELECT "runners up" FROM w'),
        ("SELECT group FROM w GROUP BY group", "SELECT `group` FROM w GROUP BY `group`"),
        ("SELECT year FROM w WHERE group = 'A'", "SELECT year FROM w WHERE `group` = 'a'"),
        (
            "SELECT year FROM w WHERE runners up = 'port crocs'",
            "SELECT year FROM w WHERE `runners up` = 'port crocs (qld)'",
        ),
        (
            "SELECT year FROM w WHERE `runners up` IN ('South cutter', \"nobody\")",
            "SELECT year FROM w WHERE `runners up` IN ('south cutters', 'nobody')",
        ),
        ("SELECT 'South Cutters' FROM w", "SELECT 'South Cutters' FROM w"),
        (
            "SELECT year FROM w WHERE `runners up` LIKE '%CROC%'",
            "SELECT year FROM w WHERE `runners up` LIKE '%CROC%'",
        ),
        (
            "SELECT year FROM w WHERE day = 'June 1, 2023'",
            "SELECT year FROM w WHERE day = '2023-06-01'",
        ),
        (
            "SELECT year FROM w WHERE day < '2023-06-01 00:00:00' AND year < 'June 1, 2023'",
            "SELECT year FROM w WHERE day < '2023-06-01' AND year < 'June 1, 2023'",
        ),
        (
            "SELECT year FROM w WHERE filledcolumnname = 'runners up'",
            "SELECT year FROM w WHERE filledcolumnname = `runners up`",
        ),
        (
            "SELECT year FROM w WHERE QA(\"map@is it 'port crocs'?\"; runners up) = 'yes'",
            "SELECT year FROM w WHERE QA(\"map@is it 'port crocs'?\"; `runners up`) = 'yes'",
        ),
        ("SELECT 'unclosed FROM w", "SELECT 'unclosed FROM w"),
    ],
)
def test_programs_are_repaired(written: str, meant: str) -> None:
    assert repaired(written, NORMAL, TABLE.caption) == meant
    assert repaired(meant, NORMAL, TABLE.caption) == meant, "what is right stays"


@pytest.mark.parametrize(
    ("value", "cell"),
    [("port croc (qld)", "port crocs (qld)"), ("port crocs 7", "port crocs (qld)"), ("zebra", None)],
)
def test_the_nearest_cell_is_near_and_contradicts_no_figure(value: str, cell: str | None) -> None:
    assert nearest_cell(value, NORMAL, "runners up") == cell
    other = normalised(Table(["a"], [["score of 12"], ["score of 13 (late)"]]))
    assert nearest_cell("score of 14", other, "a") is None
    assert nearest_cell("score of 13", other, "a") == "score of 13 (late)"


@given(st.text(alphabet="QA(\"map@ans;)'`w x", max_size=40))
def test_any_text_is_read_or_rejected(text: str) -> None:
    try:
        steps = steps_of(text)
    except StepRejected:
        return
    assert steps[-1] == text.strip()
    for call in all_calls(text):
        assert call.text in text and list(all_calls(call.text))[-1] == call
    assert all(0 <= begun <= ended <= len(text) for begun, ended in outside_quotes(text))


def test_calls_nested_too_deep_are_rejected() -> None:
    with pytest.raises(StepRejected, match="nested"):
        list(all_calls('QA("ans@a"; ' * 500 + "1" + ")" * 500))


@pytest.mark.parametrize(
    "program", ['QA("what?"; a)', 'SELECT QA("map@a?"; b FROM w', "QA()", 'QA("map@a?")']
)
def test_calls_that_cannot_be_read_are_told(program: str) -> None:
    if program.endswith('a?")'):
        assert next(all_calls(program)).params == ()
        return
    with pytest.raises(StepRejected):
        program_for(program, TABLE)


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("SELECT 1", "SELECT 1"),
        ("SQL: SELECT 1;", "SELECT 1"),
        (
            "Here it is:\n```sql\nWITH a AS (SELECT 1)\nSELECT * FROM a\n```",
            "WITH a AS (SELECT 1)\nSELECT * FROM a",
        ),
        ("I would write\nSELECT a FROM w\n\nas it says what is asked.", "SELECT a FROM w"),
    ],
)
def test_a_query_is_found_in_a_reply(reply: str, query: str) -> None:
    assert sql_in(reply) == query


def test_a_reply_without_a_query_is_rejected() -> None:
    with pytest.raises(StepRejected):
        sql_in("I cannot tell.")


def test_answers_are_read_by_their_number() -> None:
    reply = "Sure:\n1 | Yes.\n| 2 | port crocs | NO |\nrow 3: 1,5\n3 | again\n7 | out\n\n4 |"
    assert map_answers(reply, 4) == {1: "yes", 2: "no", 3: "1,5"}
    assert single_answer("\nThe answer is: **Port Crocs**.\nFor it is so.") == "port crocs"
    with pytest.raises(StepRejected):
        single_answer(" \n ")


class Model:
    """Answers from a dictionary, and notes what it is asked: each list is one round of calls."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._answers = answers
        self.rounds: list[list[Question]] = []

    def __call__(self, questions: Sequence[Question], again: bool) -> list[Any]:
        self.rounds.append(list(questions))
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Any:
        if isinstance(question, AnswerQuestion):
            return self._answers[question.asked]
        texts = [self._answers.get(" | ".join(item)) for item in question.items]
        return {number: text for number, text in enumerate(texts, 1) if text is not None}


@pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")
class TestRuns:
    CELLS: Mapping[str, str] = {"port crocs (qld)": "yes", "south cutters": "no", "1998": "8", "2000": "0"}

    def outcome(self, program: str, answers: Mapping[str, str] = MappingProxyType({})) -> Any:
        self.model = Model({**self.CELLS, **answers})
        return run_together([program], NORMAL, run_sql, self.model)[program]

    @pytest.mark.parametrize(
        ("program", "outcome"),
        [
            ("SELECT year FROM w WHERE QA(\"map@a croc?\"; runners up) = 'yes'", [1998, 2000]),
            ('QA("map@a croc?"; `runners up`)', ["yes", "no", "yes"]),
            ('SELECT SUM(QA("map@last digit?"; SELECT year FROM w WHERE score > 1)) FROM w', [8]),
            ("SELECT * FROM w WHERE year = 1999", [1999, "south cutters", None, 8.0, "x", None, "b"]),
            ("SELECT row_id FROM w WHERE year = 1999", [1]),
            ("year", [1998, 1999, 2000]),
            ("`runners up`", ["port crocs (qld)", "south cutters", "port crocs (qld)"]),
            ("SELECT year FROM w WHERE 1 = 2", []),
            ("SELECT 9e999", ["inf"]),
        ],
    )
    def test_a_program_comes_to_its_cells(self, program: str, outcome: list[Any]) -> None:
        assert self.outcome(program) == outcome

    def test_a_value_is_asked_of_columns_results_and_values(self) -> None:
        params = "runners up; SELECT MAX(year) FROM w; 'the war'"
        program = f'SELECT year FROM w WHERE year > QA("ans@when?"; {params})'
        assert self.outcome(program, {"when?": "1998"}) == [1999, 2000]
        (question,) = self.model.rounds[0]
        assert isinstance(question, AnswerQuestion)
        column, result, value = question.blocks
        assert column.splitlines()[:2] == ["runners up", "port crocs (qld)"]
        assert (result, value) == ("MAX(year)\n2000", "the war")

    def test_calls_within_calls_are_answered_first(self) -> None:
        program = 'QA("ans@who?"; SELECT year FROM w WHERE QA("map@a croc?"; runners up) = \'no\')'
        assert self.outcome(program, {"who?": "o'hara"}) == ["o'hara"]
        first, second = (questions[0] for questions in self.model.rounds)
        assert isinstance(first, MapQuestion) and isinstance(second, AnswerQuestion)
        assert second.blocks == ("year\n1999",)

    def test_an_answer_cannot_end_its_quotes(self) -> None:
        program = "SELECT year FROM w WHERE `group` = QA(\"ans@which?\"; 'x') OR year = 2000"
        assert self.outcome(program, {"which?": "x' OR 1 = 1 --"}) == [2000]

    def test_equal_questions_are_asked_once_in_a_round(self) -> None:
        programs = [
            "SELECT COUNT(*) FROM w WHERE QA(\"map@a croc?\"; runners up) = 'yes'",
            "SELECT year FROM w WHERE QA(\"map@a croc?\"; `runners up`) = 'no'",
            'QA("ans@who?"; runners up)',
        ]
        model = Model(self.CELLS | {"who?": "me"})
        outcomes = run_together([*programs, programs[0]], NORMAL, run_sql, model)
        assert [outcomes[program] for program in programs] == [[2], [1999], ["me"]]
        assert len(model.rounds) == 1
        maps = [question for question in model.rounds[0] if isinstance(question, MapQuestion)]
        assert [question.items for question in maps] == [(("port crocs (qld)",), ("south cutters",))]

    def test_items_that_two_programs_ask_about_are_asked_about_once(self) -> None:
        programs = [
            'SELECT SUM(QA("map@last digit?"; year)) FROM w',
            'SELECT SUM(QA("map@last digit?"; SELECT year FROM w WHERE score > 1)) FROM w',
            'SELECT MAX(QA("map@last digit?"; year)) + SUM(QA("map@last digit?"; year)) FROM w',
        ]
        model = Model({**self.CELLS, "1999": "9"})
        outcomes = run_together(programs, NORMAL, run_sql, model)
        assert list(outcomes.values()) == [[17], [8], [26]]
        (calls,) = model.rounds
        assert [call.items for call in calls if isinstance(call, MapQuestion)] == [
            (("1998",), ("1999",), ("2000",))
        ]

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
    def test_what_does_not_work_says_why(self, program: str, reason: str) -> None:
        outcome = self.outcome(program)
        assert isinstance(outcome, ModuleError) and reason in outcome.what
